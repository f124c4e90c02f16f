"""Variables that Flux fills in, and in which files: `postBuild` of its Kustomizations, and the ConfigMaps it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.sources.tree import CONFIG_MAP
from kubectl_policy.sources.tree.declared.delivery import FluxKustomization

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import Resource
    from kubectl_policy.sources.tree.builds import DeclaredBuilds
    from kubectl_policy.sources.tree.chains import Chains
    from kubectl_policy.sources.tree.clusters import Clusters
    from kubectl_policy.sources.tree.declared.delivery import Reference
    from kubectl_policy.sources.tree.ground import Ground


class Values(Struct, frozen=True, kw_only=True):
    """Values of variables; where they are `closed`, every other variable has none."""

    known: Mapping[str, str]
    closed: bool


class Variables:
    """Variables that are filled in, with their values for each file."""

    def __init__(
        self, ground: Ground, builds: DeclaredBuilds, chains: Chains, clusters: Clusters, objects: Iterable[Resource]
    ) -> None:
        """Know the ConfigMaps among the objects of a tree."""
        self._ground, self._builds, self._chains, self._clusters = ground, builds, chains, clusters
        self._config_maps: dict[str, list[Resource]] = {}
        for resource in objects:
            if resource.ref.group_kind == CONFIG_MAP:
                self._config_maps.setdefault(resource.ref.name, []).append(resource)

    def of_file(self, path: str) -> Values | None:
        """Return the values in a file on which all deliveries agree; None if nothing is filled in there."""
        chains = self._chains.of_file(path)
        per_chain = [next(filter(None, map(self._of, chain.builds)), None) for chain in chains]
        values_known = [values for values in per_chain if values]
        if not values_known:
            return None
        if all(values == values_known[0] for values in per_chain):
            return values_known[0]
        same = {
            name: known
            for name, known in values_known[0].known.items()
            if all(values and values.known.get(name) == known for values in per_chain)
        }
        return Values(known=same, closed=False) if same else None

    @cached_method
    def _of(self, number: int) -> Values | None:
        """Return the values that the delivery of a build fills in, if it fills in any."""
        delivery = self._builds.applied_by.get(number)
        if not (isinstance(delivery, FluxKustomization) and delivery.substitutes):
            return None
        known: dict[str, str] = {}
        closed = True
        for reference in delivery.substitute_from:
            data = self._data(reference, delivery)
            # What is not here may give any of them another value.
            if data is None and not reference.optional:
                closed = False
                known.clear()
            known.update(data or {})
        return Values(known={**known, **delivery.substitute}, closed=closed)

    def _data(self, reference: Reference, delivery: FluxKustomization) -> dict[str, str] | None:
        """Return the values in the one ConfigMap for the clusters of a delivery; None if it is not here."""
        if reference.kind != "ConfigMap":
            return None
        clusters = self._clusters.of(self._ground.place_of(delivery.resource.origin.source))
        config_maps = [
            entry
            for entry in self._config_maps.get(reference.name, ())
            if not clusters
            or not (its := self._clusters.of(self._ground.place_of(entry.origin.source)))
            or its & clusters
        ]
        namespaces = {delivery.resource.ref.namespace, ""}
        config_maps = [entry for entry in config_maps if entry.ref.namespace in namespaces] or config_maps
        data = [mapping_at(entry.raw, "data") for entry in config_maps]
        if not data or any(entry != data[0] for entry in data):
            return None
        return {name: entry for name, entry in data[0].items() if isinstance(entry, str)}
