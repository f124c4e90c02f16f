"""The work list of `--render`: what is rendered when, and what comes out of it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Gap, GroupKind, Json, ObjectRef, Origin, Problem, Resource
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.unknown import unknown_namespace
from kubectl_policy.model.values import cached_property, replace, value
from kubectl_policy.sources.rendered import flux, helm
from kubectl_policy.sources.rendered.argo import Files, NotRendered
from kubectl_policy.sources.rendered.builds import Builds, temporary_folder
from kubectl_policy.sources.rendered.helm import Release
from kubectl_policy.sources.rendered.kustomize import Build, Kustomizations
from kubectl_policy.sources.rendered.output import Made, Output, as_written
from kubectl_policy.sources.rendered.roots import Root, entry_points, node, plain_roots, roots_of
from kubectl_policy.sources.rendered.unrendered import Unrendered
from kubectl_policy.sources.tree import DELIVERING
from kubectl_policy.sources.tree.clusters import name_of_cluster
from kubectl_policy.sources.tree.declared.delivery import Application, FluxKustomization, HelmRelease, delivery_of
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from kubectl_policy.sources.files.finding import InputFile
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.options import InputOptions, Progress
    from kubectl_policy.sources.tree.declared.delivery import Reference

# What is rendered may name more to render, which may be made to go on for ever.
MAX_ROOTS: Final = 5_000
_NOTHING: Final[Mapping[str, Json]] = {}
_CONFIG_MAP: Final = GroupKind("", "ConfigMap")


@value(kw_only=True)
class RenderedObject:
    """Object that was rendered."""

    raw: Mapping[str, Json]
    origin: Origin
    place: str
    """The folder that it was rendered from."""
    file: str
    """The file that declares the first of the roots that lead to it."""
    destination: str
    """The cluster that Argo CD deploys it to, if that is known."""
    namespace: str
    """The namespace where it lives if it names none."""
    namespace_from: Origin | None = None
    """The place where that namespace is written."""


@value(kw_only=True)
class Rendered:
    """Result of rendering a tree."""

    objects: tuple[RenderedObject, ...] = ()
    lacking: bool = False
    """Whether programs are lacking: then nothing was rendered, and files are read as they are."""
    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    files: frozenset[str] = frozenset()
    """The input files, by their names, that the objects replace."""


class Rendering:
    """Renders a tree, or several worlds that are in it: what is the same in some of them is made once.

    It has a folder of its own, from the first program that it runs to the end of a `with`.
    """

    def __init__(self, tree: FileTree, progress: Progress | None = None) -> None:
        """Start without having rendered anything; `progress` is told of everything that is begun."""
        self._tree, self._progress = tree, progress
        self._kustomizations = Kustomizations(tree)
        self._output = Output(tree)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Nothing is made before it is needed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder."""
        self._stack.close()

    @cached_property
    def _builds(self) -> Builds:
        return Builds(self._tree, self._kustomizations, self._stack.enter_context(temporary_folder()))

    def render(self, files: Sequence[InputFile], objects: Sequence[Resource], options: InputOptions) -> Rendered | None:
        """Render everything in the input that can be, by its own programs.

        Where something delivers folders of the tree, that is what is delivered; elsewhere every folder that can be
        rendered and that no other one takes in. `objects` are those in the files as they are written. Where no program
        is installed that would be needed, SourceError is raised; or, by the options, that is said, and nothing is
        rendered. Neither is it
        then where that would change nothing.
        """
        tree = self._tree
        paths = {path: file.path for file in files if (path := tree.path_of(file.path)) is not None}
        # What a kustomization takes in from outside was read as well.
        sources = dict.fromkeys(resource.origin.source for resource in objects)
        outside = {
            path: source for source in sources if (path := tree.path_of(source)) is not None and path not in paths
        }
        known = {**paths, **outside}
        tops = [replace(root, file=known.get(root.file, "")) for root in self._tops(paths, objects, options)]
        if not tops:
            return Rendered()
        by_choice = options.render == "auto"
        if by_choice and not any(root.delivery or self._kustomizations.change(root.what) for root in tops):
            return None
        lacking = self._builds.lacking([root.what for root in tops])
        are, pronoun = ("is", "it") if len(lacking) == 1 else ("are", "them")
        if lacking and by_choice:
            message = f"{' and '.join(lacking)} {are} not installed, so that nothing was rendered: install {pronoun}"
            origin = min((root.origin for root in tops), default=None)
            return Rendered(lacking=True, diagnostics=(Diagnostic("not-rendered", "warning", message, origin=origin),))
        if lacking:
            raise SourceError(
                f"{' and '.join(lacking)} {are} not installed, and --render needs {pronoun} here",
                f"install {pronoun}, or leave --render out: the files are then read as they are",
            )
        work = _Work(tree, self._output, self._builds, Unrendered(tree, self._kustomizations), options)
        work.keep_values(objects)
        work.run(tops, self._progress)
        return replace(work.result(), files=frozenset(known[path] for path in known if work.stands_for(path)))

    def _tops(self, paths: Mapping[str, str], objects: Sequence[Resource], options: InputOptions) -> Iterator[Root]:
        """Yield the roots to render first, each with the path of the file that declares it."""
        tree, kustomizations = self._tree, self._kustomizations
        deliveries = [
            (path, delivery)
            for entry in objects
            if entry.ref.group_kind in DELIVERING
            and (path := tree.path_of(entry.origin.source)) is not None
            and (delivery := delivery_of(entry))
        ]
        nodes = [node(path, roots_of(delivery, path, tree, ""), kustomizations) for path, delivery in deliveries]
        is_delivered = any(isinstance(root.what, Build | Files) for entry in nodes for root in entry.roots)
        plain = plain_roots(tree, kustomizations, paths, options.namespace)
        nodes += [node(file, [root], kustomizations) for file, root in plain]
        for entry in entry_points(nodes):
            for root in entry.roots:
                # What nobody is seen to apply may be applied by hand; a chart is there for somebody to install it.
                by_hand = options.render == "auto" and isinstance(root.what, Build)
                if root.delivery or by_hand or not is_delivered:
                    yield replace(root, file=entry.file)


class _Work:
    """Roots that are rendered one wave after the other: what one of them makes may be the roots of the next."""

    def __init__(
        self, tree: FileTree, output: Output, builds: Builds, unrendered: Unrendered, options: InputOptions
    ) -> None:
        """Start without anything that is rendered."""
        self._tree, self._builds, self._unrendered, self._options = tree, builds, unrendered, options
        self._destinations: set[str] = set()
        self._output = output
        self._results: dict[object, list[RenderedObject]] = {}
        self._specs: dict[tuple[str, ObjectRef], list[Mapping[str, Json]]] = {}
        self._files: set[str] = set()
        self._charts: set[str] = set()
        self._config_maps: dict[tuple[str, str, str], Mapping[str, Json]] = {}

    def keep_values(self, objects: Iterable[Resource]) -> None:
        """Keep the ConfigMaps that are in the input as they are written."""
        for resource in objects:
            if resource.ref.group_kind == _CONFIG_MAP:
                self._config_maps.setdefault(
                    ("", resource.ref.namespace, resource.ref.name), mapping_at(resource.raw, "data")
                )

    def run(self, tops: list[Root], progress: Progress | None) -> None:
        """Render roots, and what comes out of them to be rendered."""
        total, begun = len(tops), 0

        def started(name: str) -> None:
            nonlocal begun
            begun += 1
            if progress:
                progress(begun, total, name)

        rest, waiting = tops, list[Root]()
        while rest or waiting:
            wave, still = list[Root](), list[Root]()
            self._destinations.update(map(_destination, rest))
            for root in filter(self._is_meant, (*rest, *waiting)):
                # What waits for values gets them from others, or not at all.
                if rest and self._waits(root):
                    still.append(root)
                else:
                    wave.append(self._with_values(root))
            waiting = still
            built = [(root.name, root.what) for root in wave if isinstance(root.what, Build | Release)]
            self._builds.run(built, started)
            rest = [inner for root in wave for inner in self._finish(root)]
            total += len(rest)
            if total > MAX_ROOTS:
                raise SourceError(f"more than {MAX_ROOTS:,} folders and charts to render", "name a folder in it")

    def result(self) -> Rendered:
        """Return all rendered objects, in the order of the roots."""
        objects = tuple(entry for rendered in self._results.values() for entry in rendered)
        return Rendered(objects=objects, gaps=self._unrendered.gaps, diagnostics=self._unrendered.diagnostics)

    def stands_for(self, path: str) -> bool:
        """Whether something that was rendered takes the place of a file."""
        return path in self._files or any(path.startswith(f"{chart}/") for chart in self._charts)

    def _is_meant(self, root: Root) -> bool:
        """Whether a root is not for another cluster than the one that was chosen."""
        chosen, destination = self._options.cluster, name_of_cluster(_destination(root))
        return not destination or destination == chosen or chosen not in map(name_of_cluster, self._destinations)

    def _waits(self, root: Root) -> bool:
        """Whether values that a root needs are not here yet."""
        wanted: Iterable[Reference] = ()
        if isinstance(root.delivery, FluxKustomization):
            wanted = root.delivery.substitute_from
        elif isinstance(root.delivery, HelmRelease):
            wanted = root.delivery.values_from
        return any(reference.kind == "ConfigMap" and self._data(root, reference.name) is None for reference in wanted)

    def _data(self, root: Root, name: str) -> Mapping[str, Json] | None:
        """Return the data of a ConfigMap that was rendered for a cluster or else is written in the input."""
        home = root.delivery.resource.ref.namespace if root.delivery else ""
        data = self._config_maps.get((root.cluster, home, name))
        return data if data is not None else self._config_maps.get(("", home, name))

    def _with_values(self, root: Root) -> Root:
        """Return a root with the values that its HelmRelease takes from ConfigMaps, before its own.

        Those in Secrets are left out; of a ConfigMap that is not here, nobody knows what is in it.
        """
        if not isinstance(root.delivery, HelmRelease):
            return root
        documents: list[Mapping[str, Json]] = []
        known, doubt = True, ""
        single = [
            entry for entry in mappings_at(root.delivery.resource.raw, "spec.valuesFrom") if entry.get("targetPath")
        ]
        for reference in root.delivery.values_from:
            data = self._data(root, reference.name) if reference.kind == "ConfigMap" else _NOTHING
            text = data.get(reference.key or "values.yaml") if data else None
            parsed = helm.parsed(text) if isinstance(text, str) else None
            documents += [parsed] if isinstance(parsed, dict) else []
            known &= data is not None
            if not isinstance(parsed, dict) or single:
                doubt = f"takes values from {reference.kind} {reference.name}, which are not known here"
        values: dict[str, Json] = {"values": [*documents, root.delivery.values]}
        changed = replace(root, values=values if known else None, doubt=doubt)
        if isinstance(root.what, Release):
            return replace(changed, what=replace(root.what, values=(*documents, *root.what.values)))
        return changed

    def _finish(self, root: Root) -> Iterator[Root]:
        """Keep what came out of a root; what of that is to be rendered in turn."""
        delivery = root.delivery
        if isinstance(root.what, Release) and isinstance(delivery, HelmRelease):
            changes, done = flux.post_rendering(delivery.resource.raw), self._builds.of(root.what)
            if changes and not done.complaint:
                yield replace(root, what=Build(folder=root.what.folder, additions=changes, made=done.text))
                return
        printed = self._made(root)
        if printed is None:
            return
        # What is rendered anew because it was patched takes the place of what it was before.
        key = (root.cluster, delivery.resource.ref, root.name, root.place) if delivery else root.place
        results = self._results[key] = []
        for entry in printed:
            raw = without_secrets(entry.raw)
            rendered = self._object(root, raw, self._output.origin(entry, root.origin))
            results.append(rendered)
            yield from self._further(root, rendered, entry.file)

    def _made(self, root: Root) -> list[Made] | None:
        """Return the objects that came out of a root; None, and note it, if it could not be rendered."""
        buildable = root.what
        if root.delivery:
            specs = self._specs.setdefault((root.cluster, root.delivery.resource.ref), [])
            spec = mapping_at(root.delivery.resource.raw, "spec")
            specs += [spec] if spec not in specs else []
        if isinstance(buildable, NotRendered):
            self._unrendered.miss(root, buildable.why)
            return None
        if isinstance(buildable, Files):
            self._files.update(buildable.files)
            return [entry for file in buildable.files for entry in as_written(self._tree, file)]
        done = self._builds.of(buildable)
        mentions = self._unrendered.words(buildable) if done.complaint and isinstance(buildable, Build) else None
        if done.complaint:
            self._unrendered.fail(root, done.complaint, mentions)
            return None
        if isinstance(buildable, Release):
            self._charts.add(buildable.folder)
            self._files.update(buildable.files)
            return self._without_problems(root, self._output.of_helm(done.text, buildable.folder))
        try:
            text = self._filled_in(root, done.text)
        except DocumentError as error:
            self._unrendered.fail(root, str(error), self._unrendered.words(buildable))
            return None
        if buildable.made:
            self._charts.add(buildable.folder)
        if done.sources:
            self._files.update(done.sources.files)
            for remote in done.sources.remote:
                self._unrendered.leave(root, remote)
        return self._without_problems(root, self._output.of_kustomize(text, buildable.folder))

    def _filled_in(self, root: Root, text: str) -> str:
        """Fill variables into the output of Kustomize. Raises DocumentError for what Flux would refuse."""

        def data_of(reference: Reference) -> Mapping[str, str] | None:
            data = self._data(root, reference.name)
            return {key: text for key, text in data.items() if isinstance(text, str)} if data is not None else None

        return flux.filled_in(text, root.delivery, data_of, self._options.values)

    def _without_problems(self, root: Root, printed: Iterable[Made | Problem]) -> list[Made]:
        objects: list[Made] = []
        for entry in printed:
            if isinstance(entry, Problem):
                self._unrendered.fail(root, entry.message, None)
            else:
                objects.append(entry)
        return objects

    def _object(self, root: Root, raw: Mapping[str, Json], origin: Origin) -> RenderedObject:
        sources = self._builds.of(root.what).sources if isinstance(root.what, Build) else None
        namespace_from = root.origin if root.namespace else sources.namespace_from if sources else None
        is_said = bool(text_at(raw, "metadata.namespace"))
        return RenderedObject(
            raw=raw,
            origin=origin,
            place=root.place,
            file=root.file,
            destination=_destination(root),
            namespace="" if is_said else root.namespace or unknown_namespace(root.place),
            namespace_from=namespace_from if not is_said or isinstance(root.what, Build) else None,
        )

    def _further(self, root: Root, rendered: RenderedObject, file: str) -> Iterator[Root]:
        """Yield the roots that a rendered object declares; keep values that others need, and note doubts."""
        group_kind = GroupKind(text_at(rendered.raw, "apiVersion").rpartition("/")[0], text_at(rendered.raw, "kind"))
        namespace = text_at(rendered.raw, "metadata.namespace") or rendered.namespace
        ref = ObjectRef(group_kind, namespace, text_at(rendered.raw, "metadata.name"))
        if root.doubt:
            self._unrendered.doubt(root, ref, rendered.raw, rendered.origin)
        if group_kind == _CONFIG_MAP:
            self._config_maps[root.cluster, namespace, ref.name] = mapping_at(rendered.raw, "data")
        if group_kind not in DELIVERING:
            return
        delivery = delivery_of(Resource(ref=ref, origin=rendered.origin, raw=rendered.raw))
        known = self._specs.get((root.cluster, ref), [])
        # The same again, as where a Kustomization delivers itself; or a third way of one that changes each time.
        if delivery and mapping_at(rendered.raw, "spec") not in known and len(known) <= 1:
            path = file or self._tree.path_of(rendered.origin.source) or ""
            for inner in roots_of(delivery, path, self._tree, root.cluster):
                yield replace(inner, file=root.file)


def _destination(root: Root) -> str:
    """Return the cluster that Argo CD deploys a root to; empty if that is not said, or not known."""
    destination = root.delivery.cluster if isinstance(root.delivery, Application) else ""
    return "" if "{{" in destination else destination


def without_secrets(raw: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return an object without what a Secret keeps."""
    if raw.get("kind") != "Secret" or raw.get("apiVersion") != "v1":
        return raw
    return {key: part for key, part in raw.items() if key not in {"data", "stringData"}}
