"""Builds read from their files alone: where their objects live, and what may be different once they are rendered."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.model import Gap
from kubectl_policy.model.fields import labels_of, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.sources.mentions import mentions_of, words_in
from kubectl_policy.sources.tree import DELIVERING
from kubectl_policy.sources.tree.applications import FETCHED, TEMPLATE
from kubectl_policy.sources.tree.kustomization import extend, read_kustomization, within
from kubectl_policy.sources.tree.labels import NEVER_RENAMED, with_labels
from kubectl_policy.sources.tree.roots import Build, Doubt, Files, NotRendered, Release, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Diagnostic, GroupKind, Json, Origin, Resource
    from kubectl_policy.sources.tree.kustomization import Kustomization
    from kubectl_policy.sources.tree.patches import Patch, Target
    from kubectl_policy.sources.tree.repository import Contents, Repository, Values
    from kubectl_policy.sources.tree.roots import Root

RENDER: Final = "--render"
# More steps no build takes that somebody means.
_MAX_STEPS: Final = 100_000
_GENERATORS: Final = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
# Fields of a configuration of Kustomize: where it puts names, namespaces, labels and annotations in objects.
_CONFIGURATION_FIELDS: Final = (
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "templateLabels",
    "commonAnnotations",
)
# Fields of a Kustomization of Flux that say nothing of the objects that it applies (kustomize.toolkit.fluxcd.io/v1).
_HARMLESS: Final = frozenset(
    {
        "decryption",
        "deletionPolicy",
        "dependsOn",
        "force",
        "healthCheckExprs",
        "healthChecks",
        "interval",
        "prune",
        "retryInterval",
        "serviceAccountName",
        "timeout",
        "wait",
    }
)


class Made(Struct, frozen=True, kw_only=True):
    """What a build, a release or files come to."""

    objects: Sequence[tuple[Resource, tuple[Doubt, ...]]] = ()
    """The objects, with what is in doubt of them."""
    files: frozenset[str] = frozenset()
    """The paths of the files from which they are made."""
    is_rendered: bool = False
    """Whether a program made them, so that what is in the files counts no more."""
    creators: Sequence[Gap] = ()
    """The gaps of further objects that it may come to."""
    generated: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, "Mapping[str, Json]"])
    """The data of ConfigMaps that a generator makes of files, by their names without what is added to these."""
    unfetched: Sequence[Gap] = ()
    """The gaps of objects that only something elsewhere holds."""
    gaps: Sequence[Gap] = ()
    diagnostics: Sequence[Diagnostic] = ()


class _Object:
    """Object on its way through kustomizations."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.names = [resource.ref.name]
        # For Kustomize, an object without a namespace is in this one.
        self.namespaces = [resource.ref.namespace or "default"]
        self.doubts: dict[Doubt, None] = {}

    def rename(self, name: str) -> None:
        """Give it another name."""
        self.names.append(name)
        self.resource = replace(self.resource, ref=replace(self.resource.ref, name=name))

    def move(self, namespace: str, origin: Origin) -> None:
        """Put it into a namespace, if it lives in one; a Namespace is called so."""
        self.namespaces.append(namespace)
        if self.resource.ref.group_kind == NAMESPACE:
            self.rename(namespace)
        ref = replace(self.resource.ref, namespace=namespace)
        changed = origin if ref != self.resource.ref else self.resource.namespace_from
        self.resource = replace(self.resource, ref=ref, namespace_from=changed)


class _Level:
    """Kustomization on the way through a build, with the objects below it, and the gaps of others."""

    def __init__(self, kustomization: Kustomization, outer: _Level | None = None) -> None:
        """Start without objects, or with those of an outer level that includes it as a component."""
        self.kustomization, self.is_component = kustomization, outer is not None
        self.objects: list[_Object] = outer.objects if outer else []
        self.creators: list[Gap] = outer.creators if outer else []
        self.unfetched: list[Gap] = outer.unfetched if outer else []
        # With the names of their files; they count for what is further out as well.
        self.configurations: list[tuple[Json, str]] = outer.configurations if outer else []
        resources = [(path, False) for path in kustomization.resources]
        self.unvisited = [*resources, *((path, True) for path in kustomization.components)]
        self.unvisited.reverse()


class RawBuilder:
    """Makes objects of the files of a repository as far as these say by themselves what comes out."""

    remedy = RENDER
    summary = ""

    def __init__(self, repository: Repository) -> None:
        """Start without having made anything of the files."""
        self.repository = repository
        self._made: dict[bytes, Made] = {}
        self._files: dict[bytes, frozenset[str]] = {}

    def prepare(self, wave: Sequence[tuple[Root, Values | None]]) -> None:
        """Nothing has to be made in advance."""

    def made(self, root: Root, values: Values | None) -> Made:
        """Return what a root comes to, with variables filled in."""
        match root.renderable:
            case Build():
                key = key_of(root.renderable, values)
                if key not in self._made:
                    self._made[key] = self._build(root.renderable, values)
                return self._made[key]
            case Files(files=files):
                contents = [self.repository.objects(path, values) for path in files]
                return _made_of(contents, frozenset(files))
            case Release(folder=folder):
                chart = list(self.repository.files_below(folder, recurse=True))
                texts = [self.repository.text(path) for path in chart]
                creators = [gap_of_root(root, "chart not rendered", RENDER, texts)]
                return Made(creators=creators, files=frozenset(chart))
            case NotRendered(reason=reason, remedy=remedy):
                return Made(creators=[gap_of_root(root, reason, remedy)])

    def files(self, build: Build) -> frozenset[str]:
        """Return the paths of the files that a build takes in, kustomizations among them."""
        key = key_of(build)
        if key in self._files:
            return self._files[key]
        paths: set[str] = set()
        for level, path in self._walk(build):
            if path:
                paths.add(path)
            else:
                kustomization = level.kustomization
                paths.add(self.repository.kustomization_file(kustomization.folder))
                paths.update(path for path in kustomization.serving if self.repository.kind(path) == "file")
        self._files[key] = frozenset(paths - {""})
        return self._files[key]

    def kustomizations(self, build: Build) -> Sequence[Kustomization]:
        """Return the kustomizations of a build, the outermost last."""
        return [level.kustomization for level, path in self._walk(build) if not path]

    def _walk(self, build: Build) -> Iterator[tuple[_Level, str]]:
        """Yield the levels of a build with the files that they take in, and then without one, from the inside out.

        A component is part of the level that includes it. What is there twice, Kustomize refuses; here it counts once.
        """
        top = self._kustomization_of(build)
        levels = [_Level(top)] if top else []
        seen = {build.folder}
        for _ in range(_MAX_STEPS):
            if not levels:
                return
            level = levels[-1]
            if not level.unvisited:
                yield level, ""
                levels.pop()
                if levels and not level.is_component:
                    levels[-1].objects += level.objects
                    levels[-1].creators += level.creators
                    levels[-1].unfetched += level.unfetched
                    levels[-1].configurations += level.configurations
                continue
            path, is_component = level.unvisited.pop()
            kind = self.repository.kind(path) if self.repository.may_take(path, level.kustomization.folder) else ""
            inner = self.repository.kustomization(path) if kind == "folder" else None
            if inner and is_component:
                # A component may be part of several levels.
                levels.append(_Level(inner, level))
            elif inner and path not in seen:
                seen.add(path)
                levels.append(_Level(inner))
            elif kind == "file" and not is_component:
                yield level, path
            elif not inner:
                reference = posixpath.relpath(path, level.kustomization.folder)
                level.creators.append(_missing(level.kustomization, reference))

    def _kustomization_of(self, build: Build) -> Kustomization | None:
        kustomization = self.repository.kustomization(build.folder)
        if not kustomization:
            resources: list[Json] = []
            if build.by_flux and not self.repository.kustomization_file(build.folder):
                below = self.repository.resources_below(build.folder)
                resources += [posixpath.relpath(path, build.folder) for path in below]
            kustomization = read_kustomization({"resources": resources}, build.folder, build.origin)
        return extend(kustomization, build.additions, build.origin) if build.additions else kustomization

    def _build(self, build: Build, values: Values | None) -> Made:
        diagnostics: list[Diagnostic] = []
        gaps: list[Gap] = []
        generated: dict[str, Mapping[str, Json]] = {}
        outermost: _Level | None = None
        for level, path in self._walk(build):
            if path:
                contents = self.repository.objects(path, values, kustomized=True)
                level.objects += map(_Object, contents.objects)
                gaps += contents.gaps
                diagnostics += contents.diagnostics
            else:
                generated |= self._generated(level.kustomization)
                self._change(level)
                outermost = level
        if outermost is None:
            return Made()
        objects = [(_with_metadata(entry.resource), tuple(entry.doubts)) for entry in outermost.objects]
        return Made(
            objects=objects,
            files=self.files(build),
            creators=outermost.creators,
            unfetched=outermost.unfetched,
            generated=generated,
            gaps=gaps,
            diagnostics=diagnostics,
        )

    def _change(self, level: _Level) -> None:
        """Change the objects of a level as its kustomization does, and note what it may do besides."""
        kustomization = level.kustomization
        level.creators += self._creators(kustomization)
        level.unfetched += self._unfetched(kustomization)
        if namespace := kustomization.namespace:
            for gaps in (level.creators, level.unfetched):
                gaps[:] = [replace(gap, namespace=namespace) for gap in gaps]
        patches = self._patches_by_kind(kustomization)
        level.configurations += [
            (value, self.repository.source_of(path))
            for path, role in kustomization.serving.items()
            if role == "configuration of Kustomize"
            for value in self.repository.values(path) or ()
        ]
        for entry in level.objects:
            # An object that was read from a cluster is where it is.
            if text_at(entry.resource.raw, "metadata.uid"):
                continue
            kind = entry.resource.ref.group_kind
            targets = (*patches.get(kind.kind, ()), *patches.get("", ()))
            _apply(entry, ((patch, target) for patch, target in targets if not patch.replaces), kustomization)
            if kustomization.namespace:
                entry.move(kustomization.namespace, kustomization.namespace_from or kustomization.origin)
            prefix, suffix = kustomization.name_prefix, kustomization.name_suffix
            if (prefix or suffix) and kind not in NEVER_RENAMED:
                entry.rename(f"{prefix}{entry.resource.ref.name}{suffix}")
            _apply(entry, ((patch, target) for patch, target in targets if patch.replaces), kustomization)
            if kustomization.labels or kustomization.annotations:
                entry.resource = replace(entry.resource, raw=with_labels(entry.resource, kustomization))
            if kustomization.raw.get("transformers"):
                reason = f"changed by transformers of {kustomization.origin.source}"
                doubt = Doubt(reason=reason, origin=kustomization.origin, mentions=None, moves=True)
                entry.doubts[doubt] = None
            for configuration, source in level.configurations:
                renames = bool(kustomization.generates) or len(entry.names) > 1
                if not _refers_to_nothing(kind) and _configures(configuration, kind.kind, renames=renames):
                    named = words_in([dict(entry.resource.raw)])
                    mentions = frozenset(prefix + mention + suffix for mention in named)
                    doubt = Doubt(reason=f"changed by {source}", origin=kustomization.origin, mentions=mentions)
                    entry.doubts[doubt] = None

    def _patches_by_kind(self, kustomization: Kustomization) -> dict[str, list[tuple[Patch, Target]]]:
        """Return patches by the kind that they name alone; those of several kinds, or any, by an empty one."""
        by_kind: dict[str, list[tuple[Patch, Target]]] = {}
        for declared in kustomization.patches:
            path, patch = declared.file, declared
            if path:
                patch = declared.read(self.repository.values(path), self.repository.source_of(path))
            for target in patch.targets:
                kind = target.kind if target.exact or target.kind.isalnum() else ""
                by_kind.setdefault(kind, []).append((patch, target))
        return by_kind

    def _generated(self, kustomization: Kustomization) -> Iterator[tuple[str, Mapping[str, Json]]]:
        """Yield the ConfigMaps that are generated of files alone, with their data."""
        for generator in mappings_at(kustomization.raw, "configMapGenerator"):
            files = [path.rpartition("=") for path in strings_at(generator, "files")]
            if not generator.keys() & {"env", "envs", "literals"}:
                data = {
                    key or posixpath.basename(path): self.repository.text(within(kustomization.folder, path))
                    for key, _, path in files
                }
                yield text_at(generator, "name"), data

    def _creators(self, kustomization: Kustomization) -> Iterator[Gap]:
        """Yield the gaps of objects that a kustomization may add to those in its files."""
        origin = kustomization.origin
        for generators, kind in _GENERATORS.items():
            for generator in mappings_at(kustomization.raw, generators):
                if name := text_at(generator, "name"):
                    namespace = text_at(generator, "namespace") or kustomization.namespace
                    reason = f"a generator of {origin.source} makes it"
                    yield Gap(kind, namespace, reason, origin, name, RENDER, frozenset())
        if kustomization.raw.get("generators"):
            yield Gap("", "", f"generators of {origin.source} may create objects", origin, "", RENDER)

    def _unfetched(self, kustomization: Kustomization) -> Iterator[Gap]:
        """Yield the gaps of objects that a kustomization takes from elsewhere."""
        origin = kustomization.origin
        for reference in kustomization.remote:
            yield _missing(kustomization, reference)
        for chart in kustomization.charts:
            files = [text_at(chart, "valuesFile"), *strings_at(chart, "additionalValuesFiles")]
            texts = [self.repository.text(within(kustomization.folder, file)) for file in files if file]
            mentions = words_in([chart, *texts]) if all(texts) else None
            reason = f"{origin.source} may create objects of chart {text_at(chart, 'name')}"
            yield Gap("", text_at(chart, "namespace"), reason, origin, "", TEMPLATE, mentions)


def gap_of_root(root: Root, reason: str, remedy: str, texts: Sequence[Json] = ()) -> Gap:
    """Return the gap of the objects of a root that cannot be made, for a reason; `texts` are what they are made of."""
    mentions = None if root.values is None else words_in([root.values, *texts])
    return Gap("", root.namespace, f"{root.name} ({reason}) may create objects", root.origin, "", remedy, mentions)


def _made_of(contents: Sequence[Contents], files: frozenset[str]) -> Made:
    return Made(
        objects=[(resource, ()) for part in contents for resource in part.objects],
        files=files,
        gaps=[gap for part in contents for gap in part.gaps],
        diagnostics=[diagnostic for part in contents for diagnostic in part.diagnostics],
    )


def _missing(kustomization: Kustomization, reference: str) -> Gap:
    origin = kustomization.origin
    reason = f"{origin.source} takes in {reference}, which is not here and may create objects"
    return Gap("", kustomization.namespace, reason, origin, "", FETCHED, words_in([reference]))


def _apply(entry: _Object, targets: Iterable[tuple[Patch, Target]], kustomization: Kustomization) -> None:
    """Apply the patches of a kustomization that may mean an object."""
    ref, labels = entry.resource.ref, labels_of(entry.resource.raw)
    namespaces = [*entry.namespaces, *filter(None, (kustomization.namespace,))]
    for patch, target in targets:
        if any(target.may_be(ref.group_kind, name, namespaces, labels) for name in entry.names):
            _patch(entry, patch)


def _patch(entry: _Object, patch: Patch) -> None:
    """Apply a patch to an object that delivers others; any other object is in doubt."""
    kind = entry.resource.ref.group_kind
    if kind in DELIVERING:
        patched = patch.applied_to(entry.resource.raw)
        if patched is not None:
            entry.resource = replace(entry.resource, raw=patched)
            return
        if not patch.fields - _HARMLESS:
            return
    entry.doubts[
        Doubt(
            reason=f"changed by {patch.origin.source}",
            origin=patch.origin,
            mentions=frozenset() if _refers_to_nothing(kind) else patch.mentions,
            moves=patch.moves,
            fields=patch.fields,
        )
    ] = None


def _configures(configuration: Json, kind: str, *, renames: bool) -> bool:
    """Whether a configuration of Kustomize says of a kind where to put names that change, or labels."""
    specs = [spec for field in _CONFIGURATION_FIELDS for spec in mappings_at(configuration, field)]
    for reference in mappings_at(configuration, "nameReference") if renames else ():
        specs += mappings_at(reference, "fieldSpecs")
    return any(text_at(spec, "kind") in {"", kind} for spec in specs)


def _with_metadata(resource: Resource) -> Resource:
    """Return an object whose metadata say the name and the namespace that it has come to."""
    metadata = mapping_at(resource.raw, "metadata")
    changed: dict[str, Json] = {**metadata, "name": resource.ref.name}
    if metadata.get("namespace"):
        changed["namespace"] = resource.ref.namespace
    return resource if changed == metadata else replace(resource, raw={**resource.raw, "metadata": changed})


def _refers_to_nothing(group_kind: GroupKind) -> bool:
    """Whether objects of a kind are about no others that answers are about: those of Kubernetes, and of deliveries."""
    return group_kind in DELIVERING or mentions_of(group_kind, None) == frozenset()
