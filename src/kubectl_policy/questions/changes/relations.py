"""What differs in the relations of two states: what policies and routes are attached to, and whether policies count."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model import NodeRef
from kubectl_policy.topology.references import GATEWAY_CLASS, ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.attachment.attachment import State
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.resolution.enforcement import EnforcementState
    from kubectl_policy.topology import Binding, BindingState


class AttachmentChange(NamedTuple):
    """What a policy's reference to a target comes to in each state; None where there is no such reference.

    `message` says why it is not attached, in the state in which it is not.
    """

    policy: ObjectRef
    target: NodeRef
    before: State | None
    after: State | None
    message: str


class ParentChange(NamedTuple):
    """What becomes of a route at a parent or listener in each state; None where it does not name it there."""

    route: ObjectRef
    parent: NodeRef
    before: BindingState | None
    after: BindingState | None
    message: str


class EnforcementChange(NamedTuple):
    """What has become of a policy in each state; None where there is no such policy. `by` beat it in the later one."""

    policy: ObjectRef
    before: EnforcementState | None
    after: EnforcementState | None
    by: tuple[ObjectRef, ...]


def attachment_changes(comparison: StateComparison) -> tuple[AttachmentChange, ...]:
    """Every target that policies gain, lose or reach in another way; sorted by policy and target."""
    old, new = comparison.before.attachments, comparison.after.attachments
    found = (
        change
        for policy in sorted({*old, *new})
        if old.get(policy, ()) != new.get(policy, ())
        for change in _of_policy(policy, old.get(policy, ()), new.get(policy, ()))
    )
    return tuple(found)


def _of_policy(
    policy: ObjectRef, old: Collection[Attachment], new: Collection[Attachment]
) -> Iterator[AttachmentChange]:
    before, after = _by_target(old), _by_target(new)
    for target in sorted({*before, *after}):
        one, other = before.get(target), after.get(target)
        states = (one.state if one else None, other.state if other else None)
        if states[0] != states[1]:
            message = next((found.message for found in (other, one) if found and found.state != "attached"), "")
            yield AttachmentChange(policy, target, *states, message)


def _by_target(attachments: Collection[Attachment]) -> Mapping[NodeRef, Attachment]:
    """An attachment for each target, one that holds rather than another one."""
    ordered = sorted(attachments, key=lambda attachment: attachment.state == "attached")
    return {attachment.target: attachment for attachment in ordered if attachment.target}


def parent_changes(comparison: StateComparison) -> tuple[ParentChange, ...]:
    """Every parent or listener that routes gain or lose, or of which that is no longer known; sorted."""
    if comparison.shares_topology:
        return ()
    routes = sorted({*_routes(comparison.before), *_routes(comparison.after)})
    return tuple(change for route in routes for change in _of_route(comparison, route))


def cut_off(comparison: StateComparison, changes: Iterable[ParentChange]) -> tuple[ObjectRef, ...]:
    """The routes, of both states, that are attached to something in the earlier one and to nothing in the later one."""
    after = comparison.after
    lost = {change.route for change in changes if change.before == "attached" and after.index.get(change.route)}
    return tuple(sorted(route for route in lost if after.topology.relations.is_unattached(route)))


def without_class(comparison: StateComparison) -> tuple[ObjectRef, ...]:
    """The Gateways, of both states, whose GatewayClass is gone: no controller acts on them any more."""
    after = comparison.after
    classes = (ref for ref in comparison.deleted if ref.group_kind == GATEWAY_CLASS)
    found = (gateway for ref in classes for gateway in after.topology.relations.gateways_of(ref))
    return tuple(sorted(gateway for gateway in found if gateway not in comparison.created))


def _routes(analysis: Analysis) -> Iterator[ObjectRef]:
    return (route.ref for kind in ROUTES for route in analysis.index.of_kind(kind))


def _of_route(comparison: StateComparison, route: ObjectRef) -> Iterator[ParentChange]:
    before, after = _by_parent(comparison.before, route), _by_parent(comparison.after, route)
    for parent in sorted({*before, *after}):
        one, other = before.get(parent), after.get(parent)
        states = (one.state if one else None, other.state if other else None)
        if states[0] != states[1] and {*states} != {None, "refused"}:
            there = [found for found in (other, *after.values()) if found and found.parent == parent.object]
            message = next((found.message for found in (*there, one) if found and found.message), "")
            yield ParentChange(route, parent, *states, message)


def _by_parent(analysis: Analysis, route: ObjectRef) -> Mapping[NodeRef, Binding]:
    bindings = sorted(analysis.topology.bindings(route), key=lambda binding: binding.state == "attached")
    return {binding.listener or NodeRef(binding.parent): binding for binding in bindings}


def enforcement_changes(comparison: StateComparison, concerned: Collection[ObjectRef]) -> tuple[EnforcementChange, ...]:
    """What differs in what has become of policies, of those that may be concerned; sorted."""
    found: list[EnforcementChange] = []
    for policy in sorted(concerned):
        one, other = (
            state.enforcement(policy) if policy in state.attachments else None
            for state in (comparison.before, comparison.after)
        )
        states = (one.state if one else None, other.state if other else None)
        by = other.by if other else ()
        if states[0] != states[1] or (one and one.by != by):
            found.append(EnforcementChange(policy, *states, by))
    return tuple(found)
