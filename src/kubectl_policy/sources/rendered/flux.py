"""Flux: what a Kustomization adds to the kustomization of its folder, and what it fills in afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import items_at, mappings_at
from kubectl_policy.sources.tree.declared.delivery import FluxKustomization
from kubectl_policy.text.substitution import substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.tree.declared.delivery import Delivery, Reference


def filled_in(
    text: str,
    delivery: Delivery | None,
    data_of: Callable[[Reference], Mapping[str, str] | None],
    chosen: Mapping[str, str],
) -> str:
    """Fill variables into the output of Kustomize as Flux does; `chosen` are values that a person gave.

    `data_of` gives the data of a ConfigMap, or None if it is not here. What is in Secrets is nobody's business: then a
    variable without a value may have one. Raises DocumentError for what Flux would refuse.
    """
    known: dict[str, str] = {}
    is_open = True
    if isinstance(delivery, FluxKustomization):
        config_maps = [
            data_of(reference) if reference.kind == "ConfigMap" else None for reference in delivery.substitute_from
        ]
        for data in config_maps:
            known |= data or {}
        known |= delivery.substitute
        # Where there is no value at all, Flux leaves the text alone.
        is_open = None in config_maps or not known
    return substitute(text, {**known, **chosen}, closed=not is_open)


def post_rendering(raw: Mapping[str, Json]) -> dict[str, Json]:
    """Return the post-renderers of a HelmRelease as fields of a kustomization."""
    additions: dict[str, Json] = {}
    for renderer in mappings_at(raw, "spec.postRenderers"):
        for name in ("patches", "patchesStrategicMerge", "patchesJson6902", "images"):
            items = items_at(renderer, f"kustomize.{name}")
            if items:
                present = additions.get(name)
                additions[name] = [*(present if isinstance(present, list) else []), *items]
    return additions
