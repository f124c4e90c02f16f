"""What was read, to a snapshot: one object for each name, as it is once applied, and all that is not known of it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.model import Diagnostic, ObjectRef, Origin, Resource, Snapshot
from kubectl_policy.model.kinds import (
    CRD,
    counting_definitions,
    known_kinds,
    names_in_crd,
    problem_of_definition,
)
from kubectl_policy.model.values import replace, value
from kubectl_policy.model.world import Loaded
from kubectl_policy.sources.files.decoding import PackedError
from kubectl_policy.sources.options import AS_IT_IS, InputOptions
from kubectl_policy.sources.reading import Reading
from kubectl_policy.sources.tree import DELIVERING, unknown_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.sources.files.finding import InputFile, InputFiles
    from kubectl_policy.sources.places.lines import Lines
    from kubectl_policy.sources.places.origins import Origins
    from kubectl_policy.sources.rendered.render import Rendered
    from kubectl_policy.sources.tree.input import TreeInput

    # What renders files, of which these are the objects as they are written; None where they are to be read as such.
    Renderer: TypeAlias = Callable[[Sequence[InputFile], Sequence[Resource], InputOptions], Rendered | None]


@value(kw_only=True)
class Input:
    """Files that were found, and what renders them, if anything is to be rendered."""

    files: InputFiles
    renderer: Renderer | None = None


def snapshot_of(found: Input, options: InputOptions, lines: Lines | None = None) -> Snapshot:
    """The objects in files that were found: see `load_manifests`.

    Raises SourceError where there is no object in them.
    """
    reading = read_files(found, options, lines)
    if isinstance(reading, Snapshot):
        return reading
    around = tree_around(reading, found.files, options)
    if options.cluster:
        if around is None:
            raise unknown_cluster(options.cluster)
        around.keep(options.cluster)
    snapshot = assembled(reading, around, found, options)
    if not snapshot.resources:
        raise nothing_found(reading, found.files)
    return snapshot


def read_files(found: Input, options: InputOptions, lines: Lines | None = None) -> Reading | Snapshot:
    """What is in files, or the snapshot that one of them holds, which has to be the only one."""
    reading = Reading(options.values, lines, _origins(found, options, lines))
    for file in found.files.files:
        try:
            reading.read_file(file, found.files.text_of)
        except PackedError as packed:
            return _unpacked(packed.data, file, found.files, options)
    return reading


def _origins(found: Input, options: InputOptions, lines: Lines | None) -> Origins | None:
    """What tells where things come from, if that is asked for."""
    if not (options.map_origins or options.path_map):
        return None
    from kubectl_policy.sources.places.below import Below  # noqa: PLC0415 (few commands ask for it)
    from kubectl_policy.sources.places.origins import Origins  # noqa: PLC0415 (few commands ask for it)

    return Origins(Below(found.files.tree), options, lines)


def tree_around(reading: Reading, files: InputFiles, options: InputOptions) -> TreeInput | None:
    """What stands around the objects that were read, if anything does."""
    if not reading.others and DELIVERING.isdisjoint(reading.kinds):
        return None
    from kubectl_policy.sources.tree.input import TreeInput  # noqa: PLC0415 (a plain folder does without)

    # Where nobody said otherwise, it is not known that it is this one.
    namespace = options.namespace if options.namespace != AS_IT_IS.namespace else ""
    return TreeInput(files, reading, namespace=namespace, complete=options.complete)


def assembled(reading: Reading, around: TreeInput | None, found: Input, options: InputOptions) -> Snapshot:
    """The snapshot of what was read, with what stands around it."""
    files = found.files
    not_objects = _as_applied(reading, around, options, found.renderer) if around else []
    # To say where something comes from, all of them are read, and here only once.
    origins = reading.origins if reading.origins and reading.origins.are_elsewhere else None
    objects = reading.objects if origins else ()
    definitions = _definitions(reading)
    reading.diagnostics.extend(_wrong_definitions(definitions))
    resources = _resources(reading, definitions, options.namespace, around, files)
    # The order of files means nothing: what is said of them does not depend on it.
    gaps = sorted(reading.gaps, key=lambda gap: (gap.origin or Origin(""), gap.kind, gap.namespace, gap.reason))
    diagnostics = sorted(reading.diagnostics, key=lambda said: (said.origin or Origin(""), said.rule, said.message))
    snapshot = Snapshot(
        resources=resources,
        gaps=tuple(gaps),
        diagnostics=tuple(diagnostics),
        complete=options.complete,
        assumed=options.assumed,
        ignored=reading.ignored,
        listed=frozenset(reading.listed),
        left_out=tuple(sorted([*files.left_out, *not_objects], key=lambda each: (each.origin, each.what))),
    )
    return origins.mapped(snapshot, objects) if origins else snapshot


def _as_applied(reading: Reading, around: TreeInput, options: InputOptions, renderer: Renderer | None) -> list[LeftOut]:
    """Make objects what they are once what stands around them is applied; what is no object of its own."""
    rendered = renderer(around.files, reading.objects, options) if renderer else None
    if rendered and rendered.lacking:
        reading.diagnostics += rendered.diagnostics
        rendered = None
    if rendered:
        # First, as what is said of the others may be said by these files.
        reading.leave_out(rendered.files)
    not_objects = around.place(_cluster_scoped(_definitions(reading)), rendered.files if rendered else None)
    if rendered:
        _take_rendered(reading, rendered, around)
    return not_objects


def _unpacked(data: bytes, file: InputFile, files: InputFiles, options: InputOptions) -> Snapshot:
    """The snapshot in a file. Raises SourceError if it is none that can be read, or if other files are meant, too."""
    from kubectl_policy.sources.snapshot import read_snapshot  # noqa: PLC0415 (most input is manifests)

    if options.cluster:
        raise unknown_cluster(options.cluster)
    if len(files.files) > 1:
        message = f"{file.path}: a snapshot is all of a world, and read alone"
        raise SourceError(message, "diff --offline SNAPSHOT -f FILE applies manifests to it")
    snapshot = read_snapshot(data, file.path)
    return replace(
        snapshot,
        complete=snapshot.complete or options.complete,
        assumed=(*snapshot.assumed, *options.assumed),
    )


def _take_rendered(reading: Reading, rendered: Rendered, around: TreeInput) -> None:
    """Put what was rendered in the place of what it was made from."""
    for each in rendered.objects:
        before = len(reading.objects)
        reading.read_object(each.raw, each.origin)
        for place in range(before, len(reading.objects)):
            read = reading.objects[place]
            ref = replace(read.ref, namespace=read.ref.namespace or each.namespace)
            reading.objects[place] = replace(read, ref=ref, namespace_from=each.namespace_from)
            around.keep_in_mind(reading.objects[place], each.place, each.file, each.destination)
    reading.gaps += rendered.gaps
    reading.diagnostics += rendered.diagnostics


def _definitions(reading: Reading) -> list[Resource]:
    return [replace(read, ref=replace(read.ref, namespace="")) for read in reading.of_kind(CRD)]


def _cluster_scoped(definitions: Sequence[Resource]) -> frozenset[GroupKind]:
    """The kinds without namespaces, which is known only when every definition was read."""
    known = known_kinds(definitions)
    return frozenset(kind for kind, names in known.items() if not names.namespaced)


def _resources(
    reading: Reading,
    definitions: Sequence[Resource],
    default: str,
    around: TreeInput | None,
    files: InputFiles,
) -> Sequence[Resource]:
    """One object for each name, in the namespace where it lives."""
    cluster_scoped = _cluster_scoped(definitions)
    found: dict[ObjectRef, Resource] = {}
    repeated: dict[ObjectRef, list[Resource]] = {}
    for read in reading.objects:
        resource, ref = read, read.ref
        kind, namespace, name = ref.group_kind, ref.namespace, ref.name
        home = "" if kind in cluster_scoped else namespace or default
        if home != namespace:
            ref = ObjectRef(kind, home, name)
            resource = replace(read, ref=ref, namespace_from=read.namespace_from if home else None)
        if around:
            around.follow(read, resource)
        first = found.setdefault(ref, resource)
        if first is not resource:
            repeated.setdefault(ref, [first]).append(resource)
    if repeated:
        found.update({each.ref: each for each in _chosen(repeated, reading, around, files)})
    return Loaded(found.values())


def _chosen(
    repeated: Mapping[ObjectRef, Sequence[Resource]],
    reading: Reading,
    around: TreeInput | None,
    files: InputFiles,
) -> Iterable[Resource]:
    """The one that counts of several objects of each name; what is wrong with the others is noted."""
    from kubectl_policy.sources.duplicates import one_of_each  # noqa: PLC0415 (few inputs need it)

    arguments = {file.path: file.argument for file in files.files if file.argument}

    def folder_of(resource: Resource) -> str:
        prefix, folder = files.tree.prefix, around.folders.get(resource) if around else None
        return folder or prefix + posixpath.dirname(resource.origin.source.removeprefix(prefix)) or "."

    def clusters_of(resource: Resource) -> frozenset[str]:
        return around.clusters_of(resource) if around else frozenset()

    def argument_of(resource: Resource) -> int:
        return arguments.get(resource.origin.source, 0)

    several = (resource for same_name in repeated.values() for resource in same_name)
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


def nothing_found(reading: Reading, files: InputFiles) -> NothingThereError:
    """What is said of files without any object."""
    first = next(iter(reading.diagnostics or reading.unexplained), None)
    if first:
        return NothingThereError(f"{first.origin}: {first.message}", "nothing else could be read either")
    looked_at = "1 file" if len(files.files) == 1 else f"{len(files.files)} files"
    return NothingThereError(
        f"no Kubernetes object in {looked_at}",
        "name files or folders with manifests, or pipe `kubectl get -o yaml` to `-`",
    )
