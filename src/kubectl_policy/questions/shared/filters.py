"""Filters of routes whose settings are not looked into: they name objects of kinds that nothing is known of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.topology.references import WITH_FILTERS, route_filters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.topology.references import RouteFilter


def opaque_filters(analysis: Analysis, node: NodeRef) -> Iterator[RouteFilter]:
    """The filters of a route, or of one of its rules, that do something which is not known; nothing of other nodes.

    What is known to be missing does nothing, and is said elsewhere, as are policies that no filter attaches.
    """
    route = node.object
    if route.group_kind not in WITH_FILTERS:
        return
    sections = analysis.topology.sections(route)
    for named in route_filters(analysis.index, route):
        if node.section in {"", sections[named.rule]} and is_opaque(analysis, named.object):
            yield named


def is_opaque(analysis: Analysis, obj: ObjectRef) -> bool:
    """Whether it is not known what an object does that a filter names, as far as it is not known to be missing."""
    profile = analysis.registry.profile_of(obj.group_kind)
    known = profile and (profile.known_by == "profile" or profile.filter_routes)
    return not known and analysis.index.presence(obj) != "missing"
