"""Roles of files other than manifests to be applied: patches, values, templates and the like."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kubectl_policy.sources.tree.ground import above

if TYPE_CHECKING:
    from kubectl_policy.sources.tree.chains import Chains
    from kubectl_policy.sources.tree.ground import Ground

CHART: Final = "Chart.yaml"
TEMPLATE: Final = "Helm template"
UNUSED: Final = "object of a component that nothing includes"


def roles(ground: Ground, chains: Chains) -> dict[str, str]:
    """Return the roles of files by their paths; a file that is listed as a resource somewhere is an object."""
    serving: dict[str, str] = {}
    unused: set[str] = set()
    for number, build in enumerate(chains.builds):
        serving.update(build.kustomization.serving)
        if not chains.is_included(number):
            unused.update(build.kustomization.resources if build.kustomization.is_component else ())
    charts = {posixpath.dirname(path) for path in ground.sources if posixpath.basename(path) == CHART}
    roles_of: dict[str, str] = {}
    for path in ground.sources:
        around = [path, *above(path)]
        delivered = any(chains.is_included(number) for number in chains.lists(path))
        role = next((serving[folder] for folder in around if folder in serving), "")
        chart = next((folder for folder in around if folder in charts), None)
        if chart is not None:
            role = _in_chart(posixpath.relpath(path, chart)) or role
        if not role and path in unused:
            role = UNUSED
        if role and not delivered:
            roles_of[path] = role
    return roles_of


def charts_of(ground: Ground) -> list[str]:
    """Return the folders of Helm charts that are not in other charts."""
    charts = {posixpath.dirname(path) for path in ground.sources if posixpath.basename(path) == CHART}
    return sorted(chart for chart in charts if not charts.intersection(above(chart)))


def _in_chart(path: str) -> str:
    """Return the role of a file in a chart; empty for no part of it, and for definitions, which Helm applies."""
    first = path.partition("/")[0]
    if first in {"templates", "charts"}:
        return TEMPLATE
    return "Helm values" if (path == first and first.startswith("values")) or first == "ci" else ""
