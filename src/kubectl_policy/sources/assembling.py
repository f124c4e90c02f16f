"""Assemble snapshots of files: one object for each name, as it is once applied, with gaps and diagnostics."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.model import Diagnostic, ObjectRef, Origin, Resource, Snapshot
from kubectl_policy.model.kinds import CRD, known_kinds, names_in_crd, problem_of_definition, valid_definitions
from kubectl_policy.model.world import Loaded
from kubectl_policy.sources.files.decoding import PackedError
from kubectl_policy.sources.reading import Reading
from kubectl_policy.sources.tree import DELIVERING, AppliedBy, unknown_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.sources.files.input_files import InputFile, InputFiles
    from kubectl_policy.sources.lines import Lines
    from kubectl_policy.sources.options import InputOptions
    from kubectl_policy.sources.rendered_origins import Origins
    from kubectl_policy.sources.tree.input import TreeInput
    from kubectl_policy.sources.tree.work import Renderer


def snapshot_of(
    files: InputFiles, options: InputOptions, lines: Lines | None = None, renderer: Renderer | None = None
) -> Snapshot:
    """Return the objects in files: see `load_manifests`. Raises SourceError where there is no object in them."""
    reading = read_files(files, options, lines)
    if isinstance(reading, Snapshot):
        return reading
    tree = tree_of_objects(reading, files, options)
    if options.cluster and tree is None:
        raise unknown_cluster(options.cluster)
    snapshot = assemble(reading, tree, files, options, renderer)
    if not snapshot.resources:
        raise no_objects_error(reading, files)
    return snapshot


def read_files(files: InputFiles, options: InputOptions, lines: Lines | None = None) -> Reading | Snapshot:
    """Read files, or the snapshot that one of them holds, which has to be the only one."""
    origins: Origins | None = None
    if options.map_origins or options.path_map:
        from kubectl_policy.sources.rendered_origins import LocalFiles, Origins  # noqa: PLC0415 (few commands ask for it)

        origins = Origins(LocalFiles(files.tree), options, lines)
    reading = Reading(options.values, lines, origins)
    for file in files.files:
        try:
            reading.read_file(file, files.text_of)
        except PackedError as packed:
            return _read_only_snapshot(packed.data, file, files, options)
    return reading


def tree_of_objects(reading: Reading, files: InputFiles, options: InputOptions) -> TreeInput | None:
    """Return the tree that the objects are part of, if they are."""
    if not reading.others and DELIVERING.isdisjoint(reading.kinds):
        return None
    from kubectl_policy.sources.tree.input import TreeInput  # noqa: PLC0415 (a plain folder does without)

    return TreeInput(files, reading, options, _cluster_scoped(_definitions(reading)))


def assemble(
    reading: Reading, tree: TreeInput | None, files: InputFiles, options: InputOptions, renderer: Renderer | None
) -> Snapshot:
    """Return the snapshot of the objects that were read, as the tree around them applies them to `options.cluster`."""
    not_objects: tuple[LeftOut, ...] = ()
    rendered, clusters = "", tuple[str, ...]()
    applied_by: Mapping[Resource, AppliedBy] = {}
    if tree:
        world = tree.applied(options.cluster, renderer)
        reading, not_objects, applied_by = world.reading, world.left_out, world.applied_by
        rendered = world.rendered
        clusters = () if options.cluster or len(tree.worlds.clusters) == 1 else tuple(tree.worlds.clusters)
    # Origins are those of all objects that were read.
    origins = reading.origins if reading.origins and reading.origins.may_differ else None
    objects = reading.objects if origins else ()
    definitions = _definitions(reading)
    reading.diagnostics.extend(_problems_of_definitions(definitions))
    resources = _resources(reading, definitions, options.namespace, applied_by, files)
    # The order of files means nothing.
    gaps = sorted(reading.gaps, key=lambda gap: (gap.origin or Origin(""), gap.kind, gap.namespace, gap.reason))
    diagnostics = sorted(
        reading.diagnostics, key=lambda finding: (finding.origin or Origin(""), finding.rule, finding.message)
    )
    snapshot = Snapshot(
        resources=resources,
        gaps=tuple(gaps),
        diagnostics=tuple(diagnostics),
        complete=options.complete,
        assumed=options.assumed,
        ignored=reading.ignored,
        rendered=rendered,
        clusters=clusters,
        listed=frozenset(reading.listed),
        left_out=tuple(sorted([*files.left_out, *not_objects], key=lambda finding: (finding.origin, finding.subject))),
    )
    return origins.mapped(snapshot, objects) if origins else snapshot


def _read_only_snapshot(data: bytes, file: InputFile, files: InputFiles, options: InputOptions) -> Snapshot:
    """Read the snapshot in a file. Raises SourceError if it cannot be read, or if there are other files."""
    from kubectl_policy.sources.snapshot import read_snapshot  # noqa: PLC0415 (most input is manifests)

    if options.cluster:
        raise unknown_cluster(options.cluster)
    if len(files.files) > 1:
        message = f"{file.path}: a snapshot is a complete input and cannot be combined with other paths"
        raise SourceError(message, "diff --offline SNAPSHOT -f FILE applies manifests to it")
    snapshot = read_snapshot(data, file.path)
    return replace(
        snapshot, complete=snapshot.complete or options.complete, assumed=(*snapshot.assumed, *options.assumed)
    )


def _definitions(reading: Reading) -> list[Resource]:
    return [replace(read, ref=replace(read.ref, namespace="")) for read in reading.of_kind(CRD)]


def _cluster_scoped(definitions: Sequence[Resource]) -> frozenset[GroupKind]:
    """Return the kinds without namespaces, which are known only when every definition was read."""
    known = known_kinds(definitions)
    return frozenset(kind for kind, names in known.items() if not names.namespaced)


def _resources(
    reading: Reading,
    definitions: Sequence[Resource],
    default: str,
    applied_by: Mapping[Resource, AppliedBy],
    files: InputFiles,
) -> Sequence[Resource]:
    """Return one object for each name, in the namespace where it lives."""
    cluster_scoped = _cluster_scoped(definitions)
    resources: dict[ObjectRef, Resource] = {}
    read_as: dict[Resource, Resource] = {}
    repeated: dict[ObjectRef, list[Resource]] = {}
    for read in reading.objects:
        resource, ref = read, read.ref
        kind, namespace, name = ref.group_kind, ref.namespace, ref.name
        home = "" if kind in cluster_scoped else namespace or default
        if home != namespace:
            ref = ObjectRef(kind, home, name)
            resource = replace(read, ref=ref, namespace_from=read.namespace_from if home else None)
            read_as[resource] = read
        first = resources.setdefault(ref, resource)
        if first is not resource:
            repeated.setdefault(ref, [first]).append(resource)
    if repeated:
        from kubectl_policy.sources.duplicates import choose_object  # noqa: PLC0415 (few inputs need it)

        arguments = {file.path: file.argument for file in files.files if file.argument}
        prefix = files.tree.prefix

        def by_whom(resource: Resource) -> AppliedBy:
            source, by = resource.origin.source, applied_by.get(read_as.get(resource, resource), AppliedBy())
            folder = by.folder or prefix + posixpath.dirname(source.removeprefix(prefix)) or "."
            return AppliedBy(arguments.get(source, 0), folder, by.clusters)

        resources.update({ref: choose_object(same_name, reading, by_whom) for ref, same_name in repeated.items()})
    return Loaded(resources.values())


def _problems_of_definitions(definitions: Sequence[Resource]) -> Iterator[Diagnostic]:
    counting = valid_definitions(definitions)
    for definition in definitions:
        problem = problem_of_definition(definition)
        if problem:
            message = f"{definition.ref}: {problem.message}"
            yield Diagnostic(problem.reason, "warning", message, definition.ref, origin=definition.origin)
        names = names_in_crd(definition)
        first = counting[names.group_kind] if names else definition
        if names and first.ref != definition.ref:
            message = (
                f"{definition.ref.name} defines {names.group_kind}, which {first.ref.name} does in {first.origin}: "
                "an API server takes the older one, then the first by name; remove one of the two"
            )
            twice, field = "kind-defined-twice", "spec.names.kind"
            yield Diagnostic(twice, "warning", message, definition.ref, field, definition.origin, (first.ref,))


def no_objects_error(reading: Reading, files: InputFiles) -> NothingThereError:
    """Return the error for files without any object, or without any that is applied."""
    if reading.objects:
        origin = min(resource.origin for resource in reading.objects)
        return NothingThereError(
            f"nothing applies the objects in these files, such as {origin}",
            "list the files in a kustomization.yaml, or name them themselves",
        )
    first = next(iter(reading.diagnostics or reading.unexplained), None)
    if first:
        return NothingThereError(f"{first.origin}: {first.message}", "nothing else could be read either")
    looked_at = "1 file" if len(files.files) == 1 else f"{len(files.files)} files"
    return NothingThereError(
        f"no Kubernetes object in {looked_at}",
        "name files or folders with manifests, or pipe `kubectl get -o yaml` to `-`",
    )
