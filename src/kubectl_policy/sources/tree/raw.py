"""Builds read from their files alone: where their objects live, and what may be different once they are rendered."""

from __future__ import annotations

import posixpath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from kubectl_policy.model import Gap
from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.sources.declarations import declared_kinds
from kubectl_policy.sources.mentions import words_in
from kubectl_policy.sources.tree.applications import FETCHED, TEMPLATE
from kubectl_policy.sources.tree.kustomization import extend, read_kustomization, within
from kubectl_policy.sources.tree.levels import Level, PassingObject
from kubectl_policy.sources.tree.repository import is_in
from kubectl_policy.sources.tree.roots import Build, Doubt, Files, NotRendered, Release, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Diagnostic, Json, Resource
    from kubectl_policy.sources.tree.kustomization import Kustomization
    from kubectl_policy.sources.tree.repository import Contents, Repository, Values
    from kubectl_policy.sources.tree.roots import Root

RENDER: Final = "--render"
# More steps no build takes that somebody means.
_MAX_STEPS: Final = 100_000
_GENERATORS: Final = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}


class BuildResult(Struct, frozen=True, kw_only=True):
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


class RawBuilder:
    """Makes objects of the files of a repository as far as these say by themselves what comes out."""

    remedy = RENDER
    summary = ""
    diagnostics: Mapping[str, Diagnostic] = MappingProxyType({})

    def __init__(self, repository: Repository) -> None:
        """Start without having made anything of the files."""
        self.repository = repository
        self._results: dict[bytes, BuildResult] = {}
        self._files: dict[bytes, frozenset[str]] = {}

    def prepare(self, wave: Sequence[tuple[Root, Values | None]]) -> None:
        """Nothing has to be made in advance."""

    def result_of(self, root: Root, values: Values | None) -> BuildResult:
        """Return what a root comes to, with variables filled in."""
        match root.renderable:
            case Build():
                key = key_of(root.renderable, values)
                if key not in self._results:
                    self._results[key] = self._build(root.renderable, values)
                return self._results[key]
            case Files(files=files):
                contents = [self.repository.objects(path, values) for path in files]
                return _result_of_files(contents, frozenset(files))
            case Release():
                return self._release(root, root.renderable)
            case NotRendered(reason=reason, remedy=remedy):
                return BuildResult(creators=[gap_of_root(root, reason, remedy)])

    def _release(self, root: Root, release: Release) -> BuildResult:
        """Return the definitions of a chart, which Helm applies as they are, and the gap of what its templates make."""
        files = self.repository.files_of_chart(release.folder)
        texts = [self.repository.text(path) for path in files]
        gap = gap_of_root(root, "chart not rendered", RENDER, texts)
        is_known = root.values is not None and not root.doubts
        creators = [replace(gap, declares=declared_kinds(texts, root.values) if is_known else None)]
        inside = posixpath.join(release.folder, "crds")
        definitions = [path for path in files if release.definitions and is_in(path, inside)]
        result = _result_of_files([self.repository.objects(path) for path in definitions], frozenset(files))
        return replace(result, creators=creators)

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

    def _walk(self, build: Build) -> Iterator[tuple[Level, str]]:
        """Yield the levels of a build with the files that they take in, and then without one, from the inside out.

        A component is part of the level that includes it. What is there twice, Kustomize refuses; here it counts once.
        """
        top = self._kustomization_of(build)
        levels = [Level(top)] if top else []
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
                levels.append(Level(inner, level))
            elif inner and path not in seen:
                seen.add(path)
                levels.append(Level(inner))
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

    def _build(self, build: Build, values: Values | None) -> BuildResult:
        diagnostics: list[Diagnostic] = []
        gaps: list[Gap] = []
        generated: dict[str, Mapping[str, Json]] = {}
        outermost: Level | None = None
        for level, path in self._walk(build):
            if path:
                contents = self.repository.objects(path, values, kustomized=True)
                level.objects += map(PassingObject, contents.objects)
                gaps += contents.gaps
                diagnostics += contents.diagnostics
            else:
                generated |= self._generated(level.kustomization)
                self._add_gaps(level)
                level.change(self.repository)
                outermost = level
        if outermost is None:
            return BuildResult()
        return BuildResult(
            objects=[entry.result for entry in outermost.objects],
            files=self.files(build),
            creators=outermost.creators,
            unfetched=outermost.unfetched,
            generated=generated,
            gaps=gaps,
            diagnostics=diagnostics,
        )

    def _add_gaps(self, level: Level) -> None:
        """Note what a kustomization adds to the objects in its files, in the namespace that it sets."""
        level.creators += self._creators(level.kustomization)
        level.unfetched += self._unfetched(level.kustomization)
        if namespace := level.kustomization.namespace:
            for gaps in (level.creators, level.unfetched):
                gaps[:] = [replace(gap, namespace=namespace) for gap in gaps]

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
        yield from self._charts(kustomization, here=True)
        if kustomization.raw.get("generators"):
            yield Gap("", "", f"generators of {origin.source} may create objects", origin, "", RENDER)

    def _unfetched(self, kustomization: Kustomization) -> Iterator[Gap]:
        """Yield the gaps of objects that a kustomization takes from elsewhere."""
        for reference in kustomization.remote:
            yield _missing(kustomization, reference)
        yield from self._charts(kustomization, here=False)

    def _charts(self, kustomization: Kustomization, *, here: bool) -> Iterator[Gap]:
        """Yield the gaps of the charts of a kustomization that are here, or of those that are not."""
        origin, remedy = kustomization.origin, RENDER if here else TEMPLATE
        for chart in kustomization.charts:
            folder = kustomization.chart_folder(chart)
            if self.repository.is_chart(folder) is not here:
                continue
            paths = [text_at(chart, "valuesFile"), *strings_at(chart, "additionalValuesFiles")]
            values = [self.repository.text(within(kustomization.folder, path)) for path in paths if path]
            inside = [self.repository.text(path) for path in self.repository.files_of_chart(folder)]
            mentions = words_in([chart, *values, *inside]) if all(values) else None
            reason = f"{origin.source} may create objects of chart {text_at(chart, 'name')}"
            yield Gap("", text_at(chart, "namespace"), reason, origin, "", remedy, mentions)


def gap_of_root(root: Root, reason: str, remedy: str, texts: Sequence[Json] = ()) -> Gap:
    """Return the gap of the objects of a root that cannot be made, for a reason; `texts` are what they are made of."""
    mentions = None if root.values is None else words_in([root.values, *texts])
    return Gap("", root.namespace, f"{root.name} ({reason}) may create objects", root.origin, "", remedy, mentions)


def _result_of_files(contents: Sequence[Contents], files: frozenset[str]) -> BuildResult:
    return BuildResult(
        objects=[(resource, ()) for part in contents for resource in part.objects],
        files=files,
        gaps=[gap for part in contents for gap in part.gaps],
        diagnostics=[diagnostic for part in contents for diagnostic in part.diagnostics],
    )


def _missing(kustomization: Kustomization, reference: str) -> Gap:
    origin = kustomization.origin
    reason = f"{origin.source} takes in {reference}, which is not here and may create objects"
    return Gap("", kustomization.namespace, reason, origin, "", FETCHED, words_in([reference]))
