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


class Unattached(Struct, frozen=True, kw_only=True):
    """Why one parentRef of a route leads nowhere."""

    parent: Annotated[ObjectRef, Meta()]
    field: Annotated[str, Meta(description="The parentRef that leads nowhere, or the field in it that is to blame.")]
    message: Annotated[str, Meta()]
    reason: Annotated[str, Meta(description="The API's own word for it, if it has one.")]
    hint: Annotated[str, Meta(description="What may have been meant; empty where nothing is near.")]
    origin: Annotated[Origin | None, Meta()]


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


def hostnames_of(analysis: Analysis, subject: NodeRef, paths: Sequence[Path]) -> tuple[str, ...]:
    """The hostnames with which requests come in, `*` for any; none where that is not a matter of the object."""
    topology, obj = analysis.topology, subject.object
    listeners = _listeners(paths)
    if obj.group_kind in ROUTES:
        names = {name for listener in listeners for name in attached_hostnames(topology, listener, obj)}
    elif obj.group_kind in WITH_LISTENERS:
        known = (topology.gateways.listener(listener) for listener in listeners)
        names = {listener.hostname or _ANY for listener in known if listener}
    else:
        names = set[str]()
    return (_ANY,) if _ANY in names else tuple(sorted(names))


def routes_at(analysis: Analysis, subject: NodeRef, paths: Sequence[Path]) -> int:
    """The number of routes that are attached to an object's listeners, or to one of them."""
    own = (listener for listener in _listeners(paths) if listener.object == subject.object)
    return len({route for listener in own for route in analysis.topology.relations.attached_to(listener)})


def _listeners(paths: Iterable[Path]) -> Iterable[NodeRef]:
    nodes = dict.fromkeys(node for path in paths for node in path)
    return [node for node in nodes if node.section and node.object.group_kind in WITH_LISTENERS]


def unattached(analysis: Analysis, route: ObjectRef, origin: Origin | None) -> Iterator[Unattached]:
    """Why each of a route's parentRefs leads nowhere, given that none leads anywhere; each reason once."""
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
            parent=parent.object, message=binding.message, reason=binding.reason, hint=hint, field=field, origin=origin
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
