"""Manifests to a snapshot: every file that is meant, every object in it, and everything that could not be read.

They are on disk, on standard input, or in a revision of a git repository.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO, TypeAlias, cast

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model import Diagnostic, ObjectRef, Origin, Resource, Snapshot
from kubectl_policy.model.kinds import (
    CRD,
    counting_definitions,
    known_kinds,
    names_in_crd,
    problem_of_definition,
)
from kubectl_policy.model.values import replace
from kubectl_policy.sources.exclusion import Exclusions
from kubectl_policy.sources.files import STDIN, Files, PackedError, find_files, has_wildcards, read_stdin, read_text
from kubectl_policy.sources.options import InputOptions, Progress
from kubectl_policy.sources.reading import Reading, resource_in
from kubectl_policy.sources.tree import DELIVERING, unknown_cluster
from kubectl_policy.text.recognised import ShapedDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kubectl_policy.model import GroupKind
    from kubectl_policy.sources.files import InputFile
    from kubectl_policy.sources.lines import Lines
    from kubectl_policy.sources.rendered.render import Rendered
    from kubectl_policy.sources.tree.input import TreeInput

    Renderer: TypeAlias = Callable[[Sequence[InputFile], Sequence[Resource]], Rendered]

AS_IT_IS: Final = InputOptions()


def load_manifests(
    paths: str | Path | Iterable[str | Path],
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """The objects in files, folders (searched recursively), glob patterns and, for `-`, standard input; in one or many.

    What cannot be read is a diagnostic and a gap. `lines` are told what is read. Raises SourceError where a path names
    nothing, cannot be read, or where there is no object in all of them.
    """

    def text_of(path: str) -> str:
        if path != STDIN:
            return read_text(path)
        text = read_stdin(stdin)
        return lines.keep(STDIN, text) if lines else text

    named = [str(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    exclusions = Exclusions(options.exclude)
    found = find_files(named, exclusions)
    files = Files(found=found, text_of=text_of, left_out=exclusions.left_out)
    return snapshot_of(files, options, _renderer(options, named, progress), lines)


def _renderer(options: InputOptions, named: Sequence[str], progress: Progress | None) -> Renderer | None:
    """What renders files on disk, if anything is to be rendered."""
    if not options.render:
        return None
    from kubectl_policy.sources.rendered.copying import Disk  # noqa: PLC0415 (few inputs need it)
    from kubectl_policy.sources.rendered.render import render  # noqa: PLC0415 (see above)

    return partial(render, Disk(named), options=options, progress=progress)


def load_state(
    operand: str,
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """The objects in what `load_manifests` takes as a path or, if there is no such file, in `REV:PATH` of git.

    REV is whatever git takes for a commit or a tree, or empty for the index. PATH is a file or a folder; it starts at
    the root of the repository, which is PATH itself if it is empty, or with `./` at the current directory. Everything
    else is as for `load_manifests`. Nothing is checked out, written or fetched. Raises SourceError also where git has
    no such revision or path, and UsageError for what `is_live`.
    """
    if operand == "-" or os.path.exists(operand):  # noqa: PTH110 (a Path raises OSError for what is too long for one)
        return load_manifests([operand], options=options, stdin=stdin, progress=progress, lines=lines)
    if is_live(operand):
        raise UsageError("live is a cluster, and no manifests", "name a file, a folder or REV:PATH in git")
    # Most input is files, and what only git needs takes time to import.
    from kubectl_policy.sources.revisions import open_revision, revision_and_path  # noqa: PLC0415 (see above)

    parts = revision_and_path(operand)
    if parts is None:
        _check_no_revision(operand)
        return load_manifests([operand], options=options, progress=progress)
    name, path = parts
    with open_revision(name) as revision:
        renderer = None
        if options.render:
            from kubectl_policy.sources.rendered.copying import InRevision  # noqa: PLC0415 (few inputs need it)
            from kubectl_policy.sources.rendered.render import render  # noqa: PLC0415 (see above)

            renderer = partial(render, InRevision(revision), options=options, progress=progress)
        exclusions = Exclusions(options.exclude)
        found = revision.find(path, exclusions)
        text_of, left_out = revision.read_text, exclusions.left_out
        files = Files(found=found, text_of=text_of, left_out=left_out, revision=f"{name}:")
        return snapshot_of(files, options, renderer, lines)


def is_live(operand: str) -> bool:
    """Whether a state is what a cluster has now: the word `live`, unless there is a file of that name."""
    return operand == "live" and not os.path.exists(operand)  # noqa: PTH110 (strings throughout)


def _check_no_revision(word: str) -> None:
    """Raise SourceError for a revision without a path; `load_manifests` says what is wrong with anything else."""
    from kubectl_policy.sources.git import tree_of  # noqa: PLC0415 (see load_state)

    try:
        is_revision = not has_wildcards(word) and bool(tree_of(word))
    except SourceError:
        return
    if is_revision:
        message = f"{word}: there is no such file or folder"
        raise SourceError(message, f"write {word}:PATH for the files in a git revision")


def snapshot_of(
    files: Files, options: InputOptions, renderer: Renderer | None = None, lines: Lines | None = None
) -> Snapshot:
    """The objects in files that were found: see `load_manifests`.

    Raises SourceError where there is no object in them.
    """
    reading = Reading(options.values, lines)
    for file in files.found:
        try:
            reading.read_file(file, files.text_of)
        except PackedError as packed:
            return _unpacked(packed.data, file, files, options)
    around = _tree_around(reading, files, options)
    rendered = renderer(around.files if around else files.found, reading.objects) if renderer else None
    not_objects = (
        around.place(_cluster_scoped(_definitions(reading)), rendered.files if rendered else None) if around else []
    )
    if rendered:
        _take_rendered(reading, rendered, around)
    if not reading.recognised:
        raise _nothing_found(reading, files.found)
    definitions = _definitions(reading)
    reading.diagnostics.extend(_wrong_definitions(definitions))
    arguments = {file.path: file.argument for file in files.found if file.argument}
    resources = _resources(reading, definitions, options.namespace, around, arguments)
    # The order of files means nothing: what is said of them does not depend on it.
    gaps = sorted(reading.gaps, key=lambda gap: (gap.origin or Origin(""), gap.kind, gap.namespace, gap.reason))
    diagnostics = sorted(reading.diagnostics, key=lambda said: (said.origin or Origin(""), said.rule, said.message))
    return Snapshot(
        resources=resources,
        gaps=tuple(gaps),
        diagnostics=tuple(diagnostics),
        complete=options.complete,
        assumed=options.assumed,
        ignored=reading.ignored,
        listed=frozenset(reading.listed),
        left_out=tuple(sorted([*files.left_out, *not_objects], key=lambda each: (each.origin, each.what))),
    )


def _unpacked(data: bytes, file: InputFile, files: Files, options: InputOptions) -> Snapshot:
    """The snapshot in a file. Raises SourceError if it is none that can be read, or if other files are meant, too."""
    from kubectl_policy.sources.snapshot import read_snapshot  # noqa: PLC0415 (most input is manifests)

    if options.cluster:
        raise unknown_cluster(options.cluster)
    if len(files.found) > 1:
        message = f"{file.path}: a snapshot is all of a world, and read alone"
        raise SourceError(message, "diff --offline SNAPSHOT -f FILE applies manifests to it")
    snapshot = read_snapshot(data, file.path)
    return replace(
        snapshot,
        complete=snapshot.complete or options.complete,
        assumed=(*snapshot.assumed, *options.assumed),
    )


def _take_rendered(reading: Reading, rendered: Rendered, around: TreeInput | None) -> None:
    """Put what was rendered in the place of what it was made from."""
    reading.leave_out(rendered.files)
    for each in rendered.objects:
        before = len(reading.objects)
        reading.read_object(each.raw, each.origin)
        for place in range(before, len(reading.objects)):
            read = reading.objects[place]
            ref = read.ref._replace(namespace=read.ref.namespace or each.namespace)
            reading.objects[place] = replace(read, ref=ref, namespace_from=each.namespace_from)
            if around:
                around.keep_in_mind(reading.objects[place], each.place, each.file, each.destination)
    reading.gaps += rendered.gaps
    reading.diagnostics += rendered.diagnostics


def _tree_around(reading: Reading, files: Files, options: InputOptions) -> TreeInput | None:
    """What stands around the objects that were read, if anything does; raises UsageError for an unknown cluster."""
    if not reading.others and DELIVERING.isdisjoint(reading.kinds):
        if options.cluster:
            raise unknown_cluster(options.cluster)
        return None
    from kubectl_policy.sources.tree.input import TreeInput  # noqa: PLC0415 (a plain folder does without)

    # Where nobody said otherwise, it is not known that it is this one.
    namespace = options.namespace if options.namespace != AS_IT_IS.namespace else ""
    around = TreeInput(files, reading, namespace=namespace, complete=options.complete)
    if options.cluster:
        around.keep(options.cluster)
    return around


def _definitions(reading: Reading) -> list[Resource]:
    return [replace(read, ref=read.ref._replace(namespace="")) for read in reading.of_kind(CRD)]


def _cluster_scoped(definitions: Sequence[Resource]) -> frozenset[GroupKind]:
    """The kinds without namespaces, which is known only when every definition was read."""
    known = known_kinds(definitions)
    return frozenset(kind for kind, names in known.items() if not names.namespaced)


def _resources(
    reading: Reading,
    definitions: Sequence[Resource],
    default: str,
    around: TreeInput | None,
    arguments: Mapping[str, int],
) -> Sequence[Resource]:
    """One object for each name, in the namespace where it lives; what was only recognised is not read."""
    cluster_scoped = _cluster_scoped(definitions)
    found: dict[ObjectRef, Resource | ShapedDocument] = {}
    repeated: dict[ObjectRef, list[Resource | ShapedDocument]] = {}
    for read in reading.objects if around else reading.recognised:
        resource = read
        if isinstance(read, ShapedDocument):
            kind, namespace, name = read.shape.group_kind, read.namespace, read.name
        else:
            kind, namespace, name = read.ref
        home = "" if kind in cluster_scoped else namespace or default
        # There may be a hundred thousand of them: this takes a third of the time of a call of the class.
        ref: ObjectRef = tuple.__new__(ObjectRef, (kind, home, name))  # pyright: ignore[reportUnknownMemberType]
        if home != namespace and isinstance(read, Resource):
            resource = replace(read, ref=ref, namespace_from=read.namespace_from if home else None)
        if around and isinstance(read, Resource) and isinstance(resource, Resource):
            around.follow(read, resource)
        first = found.setdefault(ref, resource)
        if first is not resource:
            repeated.setdefault(ref, [first]).append(resource)
    if repeated:
        found.update({each.ref: each for each in _chosen(repeated, reading, around, arguments)})
    if reading.are_all_read:
        return tuple(cast("dict[ObjectRef, Resource]", found).values())
    from kubectl_policy.sources.stored import StoredWorld  # noqa: PLC0415 (few inputs need it)

    return StoredWorld(found, default, reading.made)


def _chosen(
    repeated: Mapping[ObjectRef, Sequence[Resource | ShapedDocument]],
    reading: Reading,
    around: TreeInput | None,
    arguments: Mapping[str, int],
) -> Iterable[Resource]:
    """The one that counts of several objects of each name; what is wrong with the others is noted."""
    from kubectl_policy.sources.duplicates import one_of_each  # noqa: PLC0415 (few inputs need it)

    def folder_of(resource: Resource) -> str:
        folder = around.folders.get(resource) if around else None
        return folder or os.path.dirname(resource.origin.source) or "."  # noqa: PTH120 (REV:PATH)

    def clusters_of(resource: Resource) -> frozenset[str]:
        return around.clusters_of(resource) if around else frozenset()

    def argument_of(resource: Resource) -> int:
        return arguments.get(resource.origin.source, 0)

    several = (
        each if isinstance(each, Resource) else resource_in(each, reading.made, ref)
        for ref, same_name in repeated.items()
        for each in same_name
    )
    chosen, diagnostics, gaps = one_of_each(several, folder_of, clusters_of, argument_of)
    reading.diagnostics += diagnostics
    reading.gaps += gaps
    return chosen


def _wrong_definitions(definitions: Sequence[Resource]) -> Iterator[Diagnostic]:
    counting = counting_definitions(definitions)
    for definition in definitions:
        problem = problem_of_definition(definition)
        if problem:
            message = f"{definition.ref}: {problem.message}"
            yield Diagnostic(
                rule=problem.reason,
                severity="warning",
                message=message,
                subject=definition.ref,
                origin=definition.origin,
            )
        names = names_in_crd(definition)
        first = counting[names.group_kind] if names else definition
        if names and first.ref != definition.ref:
            message = (
                f"{definition.ref.name} defines {names.group_kind}, which {first.ref.name} does in {first.origin}: "
                "an API server takes the older one, then the first by name; remove one of the two"
            )
            yield Diagnostic(
                rule="kind-defined-twice",
                severity="warning",
                message=message,
                subject=definition.ref,
                field="spec.names.kind",
                origin=definition.origin,
                related=(first.ref,),
            )


def _nothing_found(reading: Reading, files: Sequence[InputFile]) -> SourceError:
    first = next(iter(reading.diagnostics or reading.unexplained), None)
    if first:
        return SourceError(f"{first.origin}: {first.message}", "nothing else could be read either")
    looked_at = "1 file" if len(files) == 1 else f"{len(files)} files"
    return SourceError(
        f"no Kubernetes object in {looked_at}",
        "name files or folders with manifests, or pipe `kubectl get -o yaml` to `-`",
    )
