"""Work list of a tree: roots in waves, since one of them may declare the next, and the objects that they apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Gap, ObjectRef, Resource
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.unknown import is_unknown, unknown_namespace
from kubectl_policy.sources.options import AS_IT_IS
from kubectl_policy.sources.tree import CONFIG_MAP, DELIVERING
from kubectl_policy.sources.tree.applications import parsed
from kubectl_policy.sources.tree.delivery import Application, FluxKustomization, HelmRelease, delivery_of
from kubectl_policy.sources.tree.repository import Values
from kubectl_policy.sources.tree.roots import Doubt, Release

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Diagnostic, GroupKind, Json
    from kubectl_policy.sources.options import InputOptions
    from kubectl_policy.sources.tree.deliveries import Deliveries
    from kubectl_policy.sources.tree.delivery import Reference
    from kubectl_policy.sources.tree.raw import BuildResult, RawBuilder
    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.roots import Root

# Chooses what makes the objects of a repository that has some addresses.
Renderer: TypeAlias = "Callable[[RawBuilder, Collection[str]], Builder]"
# What is rendered may name more to render, which may be made to go on for ever.
MAX_ROOTS: Final = 5_000


class Builder(Protocol):
    """Makes the objects of roots."""

    remedy: str
    """What would show more of its objects."""
    diagnostics: Mapping[str, Diagnostic]
    """What is wrong with all of its work."""

    @property
    def summary(self) -> str:
        """What was rendered, and with what; empty if nothing was."""
        ...

    def prepare(self, wave: Sequence[tuple[Root, Values | None]]) -> None:
        """Make what some roots come to, if that takes long."""

    def result_of(self, root: Root, values: Values | None) -> BuildResult:
        """Return what a root comes to, with variables filled in."""
        ...


class Applied(Struct, frozen=True, kw_only=True):
    """Object as it is once a root is applied."""

    resource: Resource
    root: Root


class Work:
    """Roots with all that comes out of them."""

    def __init__(  # noqa: PLR0913, PLR0917 (all that the work goes by)
        self,
        repository: Repository,
        deliveries: Deliveries,
        builder: Builder,
        options: InputOptions,
        cluster_scoped: Collection[GroupKind],
        config_maps: Iterable[Resource],
    ) -> None:
        """Start without anything that is applied but some ConfigMaps."""
        self._repository, self._deliveries, self._builder = repository, deliveries, builder
        self._options, self._cluster_scoped = options, cluster_scoped
        # What is made anew because it was patched takes the place of what it was before.
        self._results: dict[object, list[Applied]] = {}
        self.files: set[str] = set()
        self.rendered: set[str] = set()
        self.creators: dict[Gap, None] = {}
        self.gaps: dict[Gap, None] = {}
        self.diagnostics: dict[Diagnostic, None] = {}
        self._specs: dict[tuple[str, ObjectRef], list[Mapping[str, Json]]] = {}
        # By name, with the top that applies them and their namespaces.
        self._config_maps: dict[str, list[tuple[str, str, Mapping[str, Json]]]] = {}
        for resource in config_maps:
            self._keep_config_map("", resource.ref, mapping_at(resource.raw, "data"))

    @property
    def applied(self) -> Iterator[Applied]:
        """The objects that are applied."""
        return (entry for results in self._results.values() for entry in results)

    def run(self, tops: Iterable[Root], elsewhere: Collection[str] = ()) -> None:
        """Apply roots, and what comes out of them to be applied in turn, but for what is deployed elsewhere."""
        ready = [root for root in tops if destination_of(root) not in elsewhere]
        waiting: list[Root] = []
        total = len(ready)
        while ready or waiting:
            # What waits for values gets them from others, or not at all.
            waits = [(root, bool(ready) and self._waits(root)) for root in (*ready, *waiting)]
            waiting = [root for root, is_waiting in waits if is_waiting]
            settled = [self._with_values(root) for root, is_waiting in waits if not is_waiting]
            wave = [(root, self._values(root)) for root in settled]
            self._builder.prepare(wave)
            inside = [inner for root, values in wave for inner in self._finish(root, values)]
            ready = [root for root in inside if destination_of(root) not in elsewhere]
            total += len(ready)
            if total > MAX_ROOTS:
                raise SourceError(f"more than {MAX_ROOTS:,} folders and charts to render", "name a folder in it")

    def _waits(self, root: Root) -> bool:
        """Whether values that a root needs are not here yet."""
        references: Iterable[Reference] = ()
        if isinstance(root.delivery, FluxKustomization):
            references = root.delivery.substitute_from
        elif isinstance(root.delivery, HelmRelease):
            references = root.delivery.values_from
        return any(reference.kind == "ConfigMap" and self._data(root, reference) is None for reference in references)

    def _keep_config_map(self, top: str, ref: ObjectRef, data: Mapping[str, Json]) -> None:
        self._config_maps.setdefault(ref.name, []).append((top, ref.namespace, data))

    def _data(self, root: Root, reference: Reference) -> Mapping[str, Json] | None:
        """Return the data of the ConfigMap that a delivery means; None if there is none, or several that differ.

        One that the same top applies comes first. Where one of two namespaces is not known, they may be the same.
        """
        if reference.kind != "ConfigMap" or not root.delivery:
            return None
        home = root.delivery.resource.ref.namespace
        candidates = [
            (top, data)
            for top, namespace, data in self._config_maps.get(reference.name, ())
            if namespace == home or is_unknown(namespace or "?") or is_unknown(home or "?")
        ]
        own = [data for top, data in candidates if top == root.top] or [data for _, data in candidates]
        return own[0] if own and all(data == own[0] for data in own) else None

    def _values(self, root: Root) -> Values | None:
        """Return the values of variables that Flux fills in; None if it fills in none.

        The values in Secrets are not read: then a variable without a value may have one.
        """
        delivery = root.delivery
        if not (isinstance(delivery, FluxKustomization) and (delivery.substitutes or root.doubts)):
            return None
        if any(doubt.fields & {"", "postBuild"} for doubt in root.doubts):
            return Values(())
        known: dict[str, str] = {}
        closed = True
        for reference in delivery.substitute_from:
            data = self._data(root, reference)
            if data is None:
                closed = False
                known.clear()
            known |= {key: text for key, text in (data or {}).items() if isinstance(text, str)}
        known |= delivery.substitute
        # Where there is no value at all, Flux leaves the text alone.
        return Values(tuple(sorted(known.items())), closed and bool(known))

    def _with_values(self, root: Root) -> Root:
        """Return a root with the values that its HelmRelease takes from ConfigMaps, before its own.

        Those in Secrets are left out; of a ConfigMap that is not here, nobody knows what is in it.
        """
        if not isinstance(root.delivery, HelmRelease):
            return root
        documents: list[Mapping[str, Json]] = []
        spec = mapping_at(root.delivery.resource.raw, "spec")
        reason = "has post-renderers, which are not applied here" if spec.get("postRenderers") else ""
        is_known = True
        is_single = any(reference.get("targetPath") for reference in mappings_at(spec, "valuesFrom"))
        for reference in root.delivery.values_from:
            data = self._data(root, reference)
            values = parsed(data.get(reference.key or "values.yaml")) if data else None
            documents += [values] if isinstance(values, dict) else []
            is_known &= data is not None or reference.kind != "ConfigMap"
            if not isinstance(values, dict) or is_single:
                reason = f"takes values from {reference.kind} {reference.name}, which are not known here"
        doubts = (Doubt(reason=f"{root.name} {reason}", origin=root.origin, mentions=None),) if reason else ()
        known: Json = [*documents, root.values] if is_known else None
        changed = replace(root, values=known, doubts=(*root.doubts, *doubts))
        if isinstance(root.renderable, Release):
            renderable = replace(root.renderable, values=(*documents, *root.renderable.values))
            return replace(changed, renderable=renderable)
        return changed

    def _finish(self, root: Root, values: Values | None) -> Iterator[Root]:
        """Keep what a root comes to; yield what of that is to be applied in turn."""
        delivery, result = root.delivery, self._builder.result_of(root, values)
        if delivery:
            specs = self._specs.setdefault((root.top, delivery.resource.ref), [])
            spec = mapping_at(delivery.resource.raw, "spec")
            specs += [spec] if spec not in specs else []
        self.files |= result.files
        if result.is_rendered:
            self.rendered |= result.files
        self.gaps |= dict.fromkeys(result.gaps)
        self.diagnostics |= dict.fromkeys(result.diagnostics)
        for name, data in result.generated.items():
            self._keep_config_map(root.top, ObjectRef(CONFIG_MAP, "", name), data)
        creators = (*result.creators, *result.unfetched)
        self.creators |= dict.fromkeys(_in_namespace(gap, root.namespace) for gap in creators)
        key = (root.top, delivery.resource.ref, root.name, root.folder) if delivery else root.folder
        results = self._results[key] = []
        for resource, doubts in result.objects:
            located = self._locate(root, resource)
            results.append(Applied(resource=located, root=root))
            self.gaps |= dict.fromkeys(self._gaps_of(located, (*doubts, *root.doubts)))
            if located.ref.group_kind == CONFIG_MAP:
                self._keep_config_map(root.top, located.ref, mapping_at(located.raw, "data"))
            elif located.ref.group_kind in DELIVERING:
                yield from self._declared(root, located, doubts)

    def _declared(self, root: Root, resource: Resource, doubts: tuple[Doubt, ...]) -> Iterator[Root]:
        """Yield the roots that an applied object declares, unless it did so before."""
        delivery = delivery_of(resource)
        known = self._specs.get((root.top, resource.ref), [])
        # The same again, as where a Kustomization delivers itself; or a third way of one that changes each time.
        if delivery and mapping_at(resource.raw, "spec") not in known and len(known) <= 1:
            file = self._repository.path_of(resource.origin.source) or root.file
            # A variable that is not known is not filled in, which says enough.
            moving = (
                replace(doubt, moves=bool(doubt.fields - {"patches"}))
                for doubt in doubts
                if doubt.fields != frozenset({"postBuild"})
            )
            yield from self._deliveries.roots_of(delivery, file, root.top, (*moving, *root.doubts))

    def _locate(self, root: Root, resource: Resource) -> Resource:
        """Return an object in the namespace where it lives."""
        ref = resource.ref
        may_be_moved = isinstance(root.delivery, FluxKustomization) and any(
            doubt.fields & {"", "targetNamespace"} for doubt in root.doubts
        )
        if ref.group_kind in self._cluster_scoped:
            return replace(resource, ref=replace(ref, namespace=""), namespace_from=None)
        if may_be_moved and not text_at(resource.raw, "metadata.uid"):
            namespace, namespace_from = self._unknown(root), None
        elif ref.namespace:
            return resource
        elif root.namespace:
            namespace, namespace_from = root.namespace, root.origin
        elif self._options.namespace != AS_IT_IS.namespace:
            namespace, namespace_from = self._options.namespace, None
        else:
            namespace, namespace_from = self._unknown(root), None
        return replace(resource, ref=replace(ref, namespace=namespace), namespace_from=namespace_from)

    def _unknown(self, root: Root) -> str:
        return unknown_namespace(self._repository.short(root.folder))

    def _gaps_of(self, resource: Resource, doubts: Iterable[Doubt]) -> Iterator[Gap]:
        ref, remedy = resource.ref, self._builder.remedy
        for doubt in doubts:
            mentions = doubt.mentions
            yield Gap(ref.kind, ref.namespace, doubt.reason, doubt.origin, ref.name, remedy, mentions)
            if doubt.moves:
                reason = f"the name or the namespace of {ref} may be {doubt.reason}"
                yield Gap(ref.kind, "", reason, doubt.origin, "", remedy, mentions)


def _in_namespace(gap: Gap, default: str) -> Gap:
    """Return the gap of further objects with the namespace where they live, if that is known."""
    namespace = gap.namespace or default
    reason = f"{gap.reason} in namespace {namespace}" if namespace and not gap.name else gap.reason
    return replace(gap, namespace=namespace, reason=reason)


def destination_of(root: Root) -> str:
    """Return the cluster that Argo CD deploys a root to; empty if that is not said, or not known."""
    destination = root.delivery.cluster if isinstance(root.delivery, Application) else ""
    return "" if "{{" in destination else destination
