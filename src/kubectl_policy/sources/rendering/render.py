"""`--render`: choose the roots of a tree to render first, and collect the results of all of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic
from kubectl_policy.sources.rendering.argo import Files
from kubectl_policy.sources.rendering.builds import Builds, Output, temporary_folder
from kubectl_policy.sources.rendering.kustomize import Build, Kustomizations
from kubectl_policy.sources.rendering.roots import Root, entry_points, plain_roots, roots_of
from kubectl_policy.sources.rendering.work import Work
from kubectl_policy.sources.tree import DELIVERING
from kubectl_policy.sources.tree.delivery import delivery_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import ExitStack

    from kubectl_policy.model import Gap, Resource
    from kubectl_policy.sources.files.input_files import InputFile
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.options import InputOptions, Progress
    from kubectl_policy.sources.rendering.work import RenderedObject


class Rendered(Struct, frozen=True, kw_only=True):
    """Result of rendering a tree."""

    objects: tuple[RenderedObject, ...] = ()
    missing_programs: bool = False
    """Whether programs are lacking: then nothing was rendered, and files are read as they are."""
    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    files: frozenset[str] = frozenset()
    """The input files, by their names, that the objects replace."""


class Rendering:
    """Renders a tree, or several worlds that are in it: what is the same in some of them is made once.

    It has a folder of its own, from the first program that it runs to the end of the stack.
    """

    def __init__(self, tree: FileTree, stack: ExitStack, progress: Progress | None = None) -> None:
        """Start without having rendered anything; `progress` is told of everything that is begun."""
        self._tree, self._stack, self._progress = tree, stack, progress
        self._kustomizations = Kustomizations(tree)
        self._output = Output(tree)

    @cached_property
    def _builds(self) -> Builds:
        return Builds(self._tree, self._kustomizations, self._stack.enter_context(temporary_folder()))

    def render(self, files: Sequence[InputFile], objects: Sequence[Resource], options: InputOptions) -> Rendered | None:
        """Render everything in the input that can be, by its own programs.

        Where something delivers folders of the tree, that is what is delivered; elsewhere every folder that can be
        rendered and that no other one takes in. `objects` are those in the files as they are written. Where no program
        is installed that would be needed, SourceError is raised; or, by the options, that is said, and nothing is
        rendered. Neither is it then where that would change nothing.
        """
        tree = self._tree
        paths = {path: file.path for file in files if (path := tree.path_of(file.path)) is not None}
        # What a kustomization takes in from outside was read as well.
        sources = dict.fromkeys(resource.origin.source for resource in objects)
        known = {path: source for source in sources if (path := tree.path_of(source)) is not None} | paths
        tops = [replace(root, file=known.get(root.file, "")) for root in self._tops(paths, objects, options)]
        if not tops:
            return Rendered()
        by_choice = options.render == "auto"
        if by_choice and not any(root.delivery or self._kustomizations.change(root.renderable) for root in tops):
            return None
        missing_programs = self._builds.missing_programs([root.renderable for root in tops])
        are, pronoun = ("is", "it") if len(missing_programs) == 1 else ("are", "them")
        if missing_programs and by_choice:
            message = (
                f"{' and '.join(missing_programs)} {are} not installed, so nothing was rendered: install {pronoun}"
            )
            origin = min((root.origin for root in tops), default=None)
            return Rendered(
                missing_programs=True, diagnostics=(Diagnostic("not-rendered", "warning", message, origin=origin),)
            )
        if missing_programs:
            raise SourceError(
                f"{' and '.join(missing_programs)} {are} not installed, and --render needs {pronoun} here",
                f"install {pronoun}, or leave --render out: the files are then read as they are",
            )
        work = Work(tree, self._output, self._builds, self._kustomizations, options)
        work.keep_values(objects)
        work.run(tops, self._progress)
        return Rendered(
            objects=tuple(rendered for results in work.results.values() for rendered in results),
            gaps=tuple(work.gaps),
            diagnostics=tuple(work.diagnostics),
            files=frozenset(known[path] for path in known if work.replaces(path)),
        )

    def _tops(self, paths: Mapping[str, str], objects: Sequence[Resource], options: InputOptions) -> Iterator[Root]:
        """Yield the roots to render first, each with the path of the file that declares it."""
        tree, kustomizations = self._tree, self._kustomizations
        declared: list[tuple[str, Sequence[Root]]] = [
            (path, roots_of(delivery, path, tree, ""))
            for resource in objects
            if resource.ref.group_kind in DELIVERING
            and (path := tree.path_of(resource.origin.source)) is not None
            and (delivery := delivery_of(resource))
        ]
        is_delivered = any(isinstance(root.renderable, Build | Files) for _, roots in declared for root in roots)
        declared += [(file, [root]) for file, root in plain_roots(tree, kustomizations, paths, options.namespace)]
        for file, roots in entry_points(declared, kustomizations):
            for root in roots:
                # What nobody is seen to apply may be applied by hand; a chart is there for somebody to install it.
                by_hand = options.render == "auto" and isinstance(root.renderable, Build)
                if root.delivery or by_hand or not is_delivered:
                    yield replace(root, file=file)
