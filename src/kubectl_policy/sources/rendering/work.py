"""Work list of `--render`: render roots in waves, and collect their objects, gaps and diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Gap, GroupKind, Json, ObjectRef, Problem, Resource
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.unknown import unknown_namespace
from kubectl_policy.sources.mentions import texts_in
from kubectl_policy.sources.rendering import helm
from kubectl_policy.sources.rendering.argo import Files, NotRendered
from kubectl_policy.sources.rendering.builds import objects_in_file
from kubectl_policy.sources.rendering.helm import Release
from kubectl_policy.sources.rendering.kustomize import Build
from kubectl_policy.sources.rendering.roots import Root, roots_of
from kubectl_policy.sources.tree import CONFIG_MAP, DELIVERING
from kubectl_policy.sources.tree.clusters import name_of_cluster
from kubectl_policy.sources.tree.delivery import Application, FluxKustomization, HelmRelease, delivery_of
from kubectl_policy.sources.tree.unrendered import creator_gap
from kubectl_policy.text import DocumentError
from kubectl_policy.text.substitution import substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Origin
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.options import InputOptions, Progress
    from kubectl_policy.sources.rendering.builds import Builds, Output, PrintedObject
    from kubectl_policy.sources.rendering.kustomize import Kustomizations
    from kubectl_policy.sources.tree.delivery import Reference

# What is rendered may name more to render, which may be made to go on for ever.
MAX_ROOTS: Final = 5_000
_NOTHING: Final[Mapping[str, Json]] = {}


class RenderedObject(Struct, frozen=True, kw_only=True):
    """Object that was rendered."""

    raw: Mapping[str, Json]
    origin: Origin
    folder: str
    """The folder that it was rendered from."""
    file: str
    """The file that declares the first of the roots that lead to it."""
    destination: str
    """The cluster that Argo CD deploys it to, if that is known."""
    namespace: str
    """The namespace where it lives if it names none."""
    namespace_from: Origin | None = None
    """The place where that namespace is written."""


class Work:
    """Roots that are rendered one wave after the other: what one of them makes may be the roots of the next."""

    def __init__(
        self, tree: FileTree, output: Output, builds: Builds, kustomizations: Kustomizations, options: InputOptions
    ) -> None:
        """Start without anything that is rendered."""
        self._tree, self._output, self._builds = tree, output, builds
        self._kustomizations, self._options = kustomizations, options
        # What is rendered anew because it was patched takes the place of what it was before.
        self.results: dict[object, list[RenderedObject]] = {}
        self.gaps: dict[Gap, None] = {}
        self.diagnostics: dict[Diagnostic, None] = {}
        self._destinations: set[str] = set()
        self._specs: dict[tuple[str, ObjectRef], list[Mapping[str, Json]]] = {}
        self._files: set[str] = set()
        self._charts: set[str] = set()
        self._config_maps: dict[tuple[str, str, str], Mapping[str, Json]] = {}

    def keep_values(self, objects: Iterable[Resource]) -> None:
        """Keep the ConfigMaps that are in the input as they are written."""
        for resource in objects:
            if resource.ref.group_kind == CONFIG_MAP:
                key = "", resource.ref.namespace, resource.ref.name
                self._config_maps.setdefault(key, mapping_at(resource.raw, "data"))

    def run(self, tops: list[Root], progress: Progress | None) -> None:
        """Render roots, and what comes out of them to be rendered."""
        total, started_count = len(tops), 0

        def started(name: str) -> None:
            nonlocal started_count
            started_count += 1
            if progress:
                progress(started_count, total, name)

        ready, waiting = tops, list[Root]()
        while ready or waiting:
            wave, postponed = list[Root](), list[Root]()
            self._destinations.update(map(_destination, ready))
            for root in filter(self._is_meant, (*ready, *waiting)):
                # What waits for values gets them from others, or not at all.
                if ready and self._waits(root):
                    postponed.append(root)
                else:
                    wave.append(self._with_values(root))
            waiting = postponed
            built = [(root.name, root.renderable) for root in wave if isinstance(root.renderable, Build | Release)]
            self._builds.run(built, started)
            ready = [inner for root in wave for inner in self._finish(root)]
            total += len(ready)
            if total > MAX_ROOTS:
                raise SourceError(f"more than {MAX_ROOTS:,} folders and charts to render", "name a folder in it")

    def replaces(self, path: str) -> bool:
        """Whether something that was rendered takes the place of a file."""
        return path in self._files or any(path.startswith(f"{chart}/") for chart in self._charts)

    def _is_meant(self, root: Root) -> bool:
        """Whether a root is not for another cluster than the one that was chosen."""
        chosen, destination = self._options.cluster, name_of_cluster(_destination(root))
        return not destination or destination == chosen or chosen not in map(name_of_cluster, self._destinations)

    def _waits(self, root: Root) -> bool:
        """Whether values that a root needs are not here yet."""
        references: Iterable[Reference] = ()
        if isinstance(root.delivery, FluxKustomization):
            references = root.delivery.substitute_from
        elif isinstance(root.delivery, HelmRelease):
            references = root.delivery.values_from
        return any(reference.kind == "ConfigMap" and self._data(root, reference) is None for reference in references)

    def _data(self, root: Root, reference: Reference) -> Mapping[str, Json] | None:
        """Return the data of a ConfigMap that was rendered for a cluster or else is written in the input."""
        if reference.kind != "ConfigMap" or not root.delivery:
            return None
        home = root.delivery.resource.ref.namespace
        data = self._config_maps.get((root.cluster, home, reference.name))
        return data if data is not None else self._config_maps.get(("", home, reference.name))

    def _with_values(self, root: Root) -> Root:
        """Return a root with the values that its HelmRelease takes from ConfigMaps, before its own.

        Those in Secrets are left out; of a ConfigMap that is not here, nobody knows what is in it.
        """
        if not isinstance(root.delivery, HelmRelease):
            return root
        documents: list[Mapping[str, Json]] = []
        spec = mapping_at(root.delivery.resource.raw, "spec")
        doubt = "has post-renderers, which are not applied here" if spec.get("postRenderers") else ""
        known = True
        single = any(reference.get("targetPath") for reference in mappings_at(spec, "valuesFrom"))
        for reference in root.delivery.values_from:
            data = self._data(root, reference) if reference.kind == "ConfigMap" else _NOTHING
            text = data.get(reference.key or "values.yaml") if data else None
            parsed = helm.parsed(text) if isinstance(text, str) else None
            documents += [parsed] if isinstance(parsed, dict) else []
            known &= data is not None
            if not isinstance(parsed, dict) or single:
                doubt = f"takes values from {reference.kind} {reference.name}, which are not known here"
        values: dict[str, Json] = {"values": [*documents, root.delivery.values]}
        changed = replace(root, values=values if known else None, doubt=doubt)
        if isinstance(root.renderable, Release):
            return replace(changed, renderable=replace(root.renderable, values=(*documents, *root.renderable.values)))
        return changed

    def _finish(self, root: Root) -> Iterator[Root]:
        """Keep what came out of a root; what of that is to be rendered in turn."""
        delivery = root.delivery
        if delivery:
            specs = self._specs.setdefault((root.cluster, delivery.resource.ref), [])
            spec = mapping_at(delivery.resource.raw, "spec")
            specs += [spec] if spec not in specs else []
        printed = self._printed_objects(root)
        if printed is None:
            return
        key = (root.cluster, delivery.resource.ref, root.name, root.folder) if delivery else root.folder
        results = self.results[key] = []
        for printed_object in printed:
            if isinstance(printed_object, Problem):
                self._fail(root, printed_object.message, None)
                continue
            rendered = self._object(
                root, without_secrets(printed_object.raw), self._output.origin(printed_object, root.origin)
            )
            results.append(rendered)
            yield from self._declared_roots(root, rendered, printed_object.file)

    def _printed_objects(self, root: Root) -> Iterable[PrintedObject | Problem] | None:
        """Return the objects that came out of a root; None, and note it, if it could not be rendered."""
        buildable = root.renderable
        if isinstance(buildable, NotRendered):
            mentions = every_word_in(root.values) if root.values is not None else None
            if mentions is not None and isinstance(root.delivery, HelmRelease):
                # Charts call their objects after the release.
                mentions |= {root.delivery.release_name}
            creator = f"{root.name} ({buildable.reason}) may create objects"
            self.gaps[creator_gap(creator, root.namespace, root.origin, mentions=mentions)] = None
            return None
        if isinstance(buildable, Files):
            self._files.update(buildable.files)
            return [printed for file in buildable.files for printed in objects_in_file(self._tree, file)]
        result = self._builds.of(buildable)
        text, complaint = result.text, result.complaint
        if isinstance(buildable, Build) and not complaint:
            try:
                text = self._filled_in(root, text)
            except DocumentError as error:
                complaint = str(error)
        if complaint:
            self._fail(root, complaint, self._words_of(buildable) if isinstance(buildable, Build) else None)
            return None
        if isinstance(buildable, Release):
            self._charts.add(buildable.folder)
            self._files.update(buildable.files)
        if result.sources:
            self._files.update(result.sources.files)
            for remote in result.sources.remote:
                creator = f"{remote.description} was not fetched, and may create objects"
                self.gaps[creator_gap(creator, root.namespace or remote.namespace, remote.origin)] = None
        return self._output.objects(text, buildable)

    def _fail(self, root: Root, reason: str, mentions: frozenset[str] | None) -> None:
        """Note that a program failed: what it would have made is not known, but for what it could mention."""
        message = f"{root.name} could not be rendered: {reason}"
        self.diagnostics[Diagnostic("not-rendered", "warning", message, origin=root.origin)] = None
        gap = Gap(kind="", namespace=root.namespace, reason=message, origin=root.origin, mentions=mentions)
        self.gaps[gap] = None

    def _words_of(self, build: Build) -> frozenset[str]:
        """Return everything that is written in the files of a build."""
        walked = self._kustomizations.walk(build)
        files = [file for kustomization in walked for file in self._kustomizations.files(kustomization)]
        return every_word_in([printed.raw for file in files for printed in objects_in_file(self._tree, file)])

    def _filled_in(self, root: Root, text: str) -> str:
        """Fill variables into the output of Kustomize as Flux does. Raises DocumentError for what Flux would refuse.

        What is in Secrets is nobody's business: then a variable without a value may have one.
        """
        known: dict[str, str] = {}
        closed = False
        if isinstance(root.delivery, FluxKustomization):
            config_maps = [self._data(root, reference) for reference in root.delivery.substitute_from]
            for data in config_maps:
                known |= {key: text for key, text in (data or {}).items() if isinstance(text, str)}
            known |= root.delivery.substitute
            # Where there is no value at all, Flux leaves the text alone.
            closed = bool(known) and None not in config_maps
        return substitute(text, {**known, **self._options.values}, closed=closed)

    def _object(self, root: Root, raw: Mapping[str, Json], origin: Origin) -> RenderedObject:
        sources = self._builds.of(root.renderable).sources if isinstance(root.renderable, Build) else None
        namespace_from = root.origin if root.namespace else sources.namespace_from if sources else None
        is_said = bool(text_at(raw, "metadata.namespace"))
        return RenderedObject(
            raw=raw,
            origin=origin,
            folder=root.folder,
            file=root.file,
            destination=_destination(root),
            namespace="" if is_said else root.namespace or unknown_namespace(root.folder),
            namespace_from=namespace_from if not is_said or isinstance(root.renderable, Build) else None,
        )

    def _declared_roots(self, root: Root, rendered: RenderedObject, file: str) -> Iterator[Root]:
        """Yield the roots that a rendered object declares; keep values that others need, and note doubts."""
        group_kind = GroupKind(text_at(rendered.raw, "apiVersion").rpartition("/")[0], text_at(rendered.raw, "kind"))
        namespace = text_at(rendered.raw, "metadata.namespace") or rendered.namespace
        ref = ObjectRef(group_kind, namespace, text_at(rendered.raw, "metadata.name"))
        if root.doubt:
            gap = Gap(
                kind=ref.kind,
                namespace=namespace,
                name=ref.name,
                reason=f"{root.name} {root.doubt}",
                origin=rendered.origin,
                mentions=every_word_in(rendered.raw),
            )
            self.gaps[gap] = None
        if group_kind == CONFIG_MAP:
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


def every_word_in(values: Json) -> frozenset[str]:
    """Return everything in values that may be a name: keys, texts, and the words in these."""
    texts = texts_in([values], keys=False)
    parts = (part for text in texts for part in text.replace("/", " ").split())
    return frozenset((*texts_in([values], keys=True), *texts, *parts))
