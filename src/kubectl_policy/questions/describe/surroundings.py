"""What a description says around its settings: hostnames, why a route is attached to nothing, where policies stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.questions.shared.reported import ReportedCondition, contrary_report
from kubectl_policy.questions.shared.selection import did_you_mean
from kubectl_policy.topology import attached_hostnames
from kubectl_policy.topology.references import ROUTES, WITH_LISTENERS, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.topology import Path

_ANY: Final = "*"
_CARRIES_TRAFFIC: Final = "False for a route that is attached to nothing: what is in force then has nothing to act on."
_HOSTNAMES: Final = "Those with which requests come in, * for any; empty where that is no matter of its kind."
_UNATTACHED: Final = "Of a route that is attached to nothing, why each of its parentRefs leads nowhere."


class Unattached(Struct, frozen=True, kw_only=True):
    """Why one parentRef of a route leads nowhere."""

    parent: Annotated[ObjectRef, Meta()]
    field: Annotated[str, Meta(description="The parentRef that leads nowhere, or the field in it that is to blame.")]
    message: Annotated[str, Meta()]
    reason: Annotated[str, Meta(description="The API's own word for it, if it has one.")]
    hint: Annotated[str, Meta(description="What may have been meant; empty where nothing is near.")]
    origin: Annotated[Origin | None, Meta()]


class IncomingRequests(Struct, frozen=True, kw_only=True):
    """How requests come to an object."""

    hostnames: Annotated[tuple[str, ...], Meta(description=_HOSTNAMES)]
    routes: Annotated[int, Meta(description="The number of routes that are attached to its listeners.", ge=0)]
    carries_traffic: Annotated[bool, Meta(description=_CARRIES_TRAFFIC)]
    unattached: Annotated[tuple[Unattached, ...], Meta(description=_UNATTACHED)]


class PolicyInAnswer(Struct, frozen=True, kw_only=True):
    """A policy that an answer speaks of."""

    policy: Annotated[ObjectRef, Meta()]
    origin: Annotated[Origin | None, Meta()]
    contrary: Annotated[
        ReportedCondition | None,
        Meta(description="The condition by which a controller says that it does not work here; null if none does."),
    ]
    otherwise: Annotated[
        str, Meta(description="Why it may not be as it was read; empty where nothing speaks for that.")
    ] = ""


def requests_to(analysis: Analysis, subject: NodeRef, paths: Sequence[Path]) -> IncomingRequests:
    """Return how requests come to an object on its paths."""
    topology, obj = analysis.topology, subject.object
    nodes = dict.fromkeys(node for path in paths for node in path)
    listeners = [node for node in nodes if node.section and node.object.group_kind in WITH_LISTENERS]
    names = set[str]()
    if obj.group_kind in ROUTES:
        names.update(name for listener in listeners for name in attached_hostnames(topology, listener, obj))
    elif obj.group_kind in WITH_LISTENERS:
        known = (topology.gateways.listener(listener) for listener in listeners)
        names.update(listener.hostname or _ANY for listener in known if listener)
    own = (listener for listener in listeners if listener.object == obj)
    carries_traffic = any(topology.carries_traffic(path) for path in paths)
    is_route_of_nothing = obj.group_kind in ROUTES and not carries_traffic
    return IncomingRequests(
        hostnames=(_ANY,) if _ANY in names else tuple(sorted(names)),
        routes=len({route for listener in own for route in topology.relations.attached_to(listener)}),
        carries_traffic=carries_traffic,
        unattached=tuple(dict.fromkeys(_unattached(analysis, obj))) if is_route_of_nothing else (),
    )


def _unattached(analysis: Analysis, route: ObjectRef) -> Iterator[Unattached]:
    """Why each of a route's parentRefs leads nowhere."""
    resource = analysis.index.get(route)
    parents = {parent.position: parent for parent in parent_refs(analysis.index, route)}
    for binding in analysis.topology.bindings(route):
        parent, place = parents[binding.parent_index], f"spec.parentRefs[{binding.parent_index}]"
        sections = analysis.topology.sections(parent.object)
        if analysis.index.presence(parent.object) != "present":
            others = {each.ref.name for each in analysis.index.of_kind(parent.object.group_kind)}
            hint, field = did_you_mean(parent.object.name, others), f"{place}.name"
        elif parent.section and parent.section not in sections:
            hint, field = did_you_mean(parent.section, sections), f"{place}.sectionName"
        else:
            hint, field = "", place
        yield Unattached(
            parent=parent.object,
            message=binding.message,
            reason=binding.reason,
            hint=hint,
            field=field,
            origin=resource.origin if resource else None,
        )


def policies_in(analysis: Analysis, policies: Iterable[ObjectRef], paths: Sequence[Path]) -> Iterator[PolicyInAnswer]:
    """Each of some policies, with where it was read and what a controller reports of it for what is on some paths."""
    around = {node.object for path in paths for node in path}
    for resource in filter(None, map(analysis.index.get, policies)):
        gap = next(analysis.index.absence.gaps_of(resource.ref), None)
        yield PolicyInAnswer(
            policy=resource.ref,
            origin=resource.origin,
            contrary=contrary_report(resource, around),
            otherwise=gap.reason if gap else "",
        )
