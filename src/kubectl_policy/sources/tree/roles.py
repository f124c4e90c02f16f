"""What the files of a tree are, other than manifests to be applied: patches, values, templates and the like."""

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
    """What files are, by their places; a file that is listed as a resource somewhere is an object nevertheless."""
    serving: dict[str, str] = {}
    unused: set[str] = set()
    for number, build in enumerate(chains.builds):
        serving.update(build.kustomization.serving)
        if not chains.is_included(number):
            unused.update(build.kustomization.resources if build.kustomization.is_component else ())
    charts = {posixpath.dirname(place) for place in ground.sources if posixpath.basename(place) == CHART}
    found: dict[str, str] = {}
    for place in ground.sources:
        around = [place, *above(place)]
        delivered = any(chains.is_included(number) for number in chains.lists(place))
        what = next((serving[each] for each in around if each in serving), "")
        chart = next((each for each in around if each in charts), None)
        if chart is not None:
            what = _in_chart(posixpath.relpath(place, chart)) or what
        if not what and place in unused:
            what = UNUSED
        if what and not delivered:
            found[place] = what
    return found


def charts_of(ground: Ground) -> list[str]:
    """The folders of Helm charts that are not in other charts."""
    charts = {posixpath.dirname(place) for place in ground.sources if posixpath.basename(place) == CHART}
    return sorted(chart for chart in charts if not charts.intersection(above(chart)))


def _in_chart(path: str) -> str:
    """What a file in a chart is; empty for one that is no part of it, and for definitions, which Helm applies."""
    first = path.partition("/")[0]
    if first in {"templates", "charts"}:
        return TEMPLATE
    return "Helm values" if (path == first and first.startswith("values")) or first == "ci" else ""
