"""Differences in the relations of two states: attachments of policies and routes, and enforcement of policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.differences.enforcing import change_of_standing
from kubectl_policy.topology.references import GATEWAY_CLASS, ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.attachment.attachment import State
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.resolution.enforcement import EnforcementState
    from kubectl_policy.topology import Binding, BindingState


class AttachmentChange(Struct, frozen=True, kw_only=True):
    """A change of the state of a policy's reference to a target."""

    policy: Annotated[ObjectRef, Meta()]
    target: Annotated[NodeRef, Meta()]
    before: Annotated[State | None, Meta(description="Null where there is no such reference.")]
    after: Annotated[State | None, Meta(description="Null where there is no such reference.")]
    message: Annotated[str, Meta(description="Why it is not attached, in the state in which it is not.")]


class ParentChange(Struct, frozen=True, kw_only=True):
    """A change of the state of a route at a parent or listener."""

    route: Annotated[ObjectRef, Meta()]
    parent: Annotated[NodeRef, Meta()]
    before: Annotated[BindingState | None, Meta(description="Null where the route does not name it, or it is missing.")]
    after: Annotated[BindingState | None, Meta(description="Null where the route does not name it, or it is missing.")]
    message: Annotated[str, Meta()]


class EnforcementChange(Struct, frozen=True, kw_only=True):
    """A change of the enforcement of a policy."""

    policy: Annotated[ObjectRef, Meta()]
    before: Annotated[EnforcementState | None, Meta(description="Null where there is no such policy.")]
    after: Annotated[EnforcementState | None, Meta(description="Null where there is no such policy.")]
    by: Annotated[tuple[ObjectRef, ...], Meta(description="What beats it in the later state.")]
    by_before: Annotated[tuple[ObjectRef, ...], Meta(description="What beats it in the earlier state.")] = ()


def attachment_changes(comparison: StateComparison) -> tuple[AttachmentChange, ...]:
    """Every target that policies gain, lose or reach in another way; sorted by policy and target."""
    old, new, around = comparison.before.attachments, comparison.after.attachments, comparison.surroundings
    return tuple(
        change
        for policy in sorted(around.attached_otherwise if around else {*old, *new})
        if old.get(policy, ()) != new.get(policy, ())
        for change in _targets_of(policy, old.get(policy, ()), new.get(policy, ()))
    )


def _targets_of(
    policy: ObjectRef, attached: Collection[Attachment], attached_then: Collection[Attachment]
) -> Iterator[AttachmentChange]:
    before, after = _by_target(attached), _by_target(attached_then)
    # A port of a Service that does not exist any more is the Service: the same reference still names it.
    still = {*map(_named, before.values())} & {*map(_named, after.values())}
    for target in sorted({*before, *after}):
        earlier, later = before.get(target), after.get(target)
        old, new = earlier.state if earlier else None, later.state if later else None
        reference = earlier or later
        if old != new and not (reference and (old is None or new is None) and _named(reference) in still):
            failed = (attachment for attachment in (later, earlier) if attachment and attachment.state != "attached")
            message = next((attachment.message for attachment in failed), "")
            yield AttachmentChange(policy=policy, target=target, before=old, after=new, message=message)


def _named(attachment: Attachment) -> tuple[str, ObjectRef | None, ObjectRef | None, State]:
    """A reference, whatever section of its object it comes to, and its state."""
    declared, target = attachment.declared, attachment.target
    return declared.field, declared.named_by, target.object if target else None, attachment.state


def _by_target(attachments: Collection[Attachment]) -> Mapping[NodeRef, Attachment]:
    """An attachment for each target, one that holds rather than another one."""
    ordered = sorted(attachments, key=lambda attachment: attachment.state == "attached")
    return {attachment.target: attachment for attachment in ordered if attachment.target}


def parent_changes(comparison: StateComparison) -> tuple[ParentChange, ...]:
    """Every parent or listener that routes gain or lose, or of which that is no longer known; sorted."""
    if comparison.shares_topology:
        return ()
    states, around = (comparison.before, comparison.after), comparison.surroundings
    routes: Collection[ObjectRef] = (
        around.routes
        if around
        else dict.fromkeys(route for state in states for kind in ROUTES for route in state.index.world.names_of(kind))
    )
    return tuple(change for route in sorted(routes) for change in _parents_of(comparison, route))


def _parents_of(comparison: StateComparison, route: ObjectRef) -> Iterator[ParentChange]:
    held, holding = comparison.before.topology.bindings(route), comparison.after.topology.bindings(route)
    if held is holding:
        return
    before, after = _by_parent(held), _by_parent(holding)
    for parent in sorted({*before, *after}):
        earlier, later = before.get(parent), after.get(parent)
        old, new = earlier.state if earlier else None, later.state if later else None
        if old != new and {old, new} != {None, "refused"}:
            # A route that names no listener any more may be refused by the parent as a whole.
            now = [binding for binding in (later, *after.values()) if binding and binding.parent == parent.object]
            message = next((binding.message for binding in (*now, earlier) if binding and binding.message), "")
            yield ParentChange(route=route, parent=parent, before=old, after=new, message=message)


def _by_parent(bindings: Collection[Binding]) -> Mapping[NodeRef, Binding]:
    """A binding for each parent or listener, one that holds rather than another one."""
    ordered = sorted(bindings, key=lambda binding: binding.state == "attached") if len(bindings) > 1 else bindings
    return {binding.listener or NodeRef(binding.parent): binding for binding in ordered}


def cut_off(comparison: StateComparison, changes: Iterable[ParentChange]) -> tuple[ObjectRef, ...]:
    """The routes, of both states, that are attached to something in the earlier one and to nothing in the later one."""
    after = comparison.after
    # They come in their order, which a set would lose.
    lost = dict.fromkeys(
        change.route for change in changes if change.before == "attached" and after.index.get(change.route)
    )
    return tuple(sorted(route for route in lost if after.topology.relations.is_unattached(route)))


def without_class(comparison: StateComparison) -> tuple[ObjectRef, ...]:
    """The Gateways, of both states, whose GatewayClass is gone: no controller acts on them any more."""
    after = comparison.after
    classes = (ref for ref in comparison.deleted if ref.group_kind == GATEWAY_CLASS)
    gateways = (gateway for ref in classes for gateway in after.topology.gateways.of_class(ref))
    return tuple(sorted(gateway for gateway in gateways if gateway not in comparison.created))


def enforcement_changes(comparison: StateComparison, concerned: Collection[ObjectRef]) -> tuple[EnforcementChange, ...]:
    """The policies with another enforcement than before, of those that may be concerned; sorted."""
    changes: list[EnforcementChange] = []
    for policy in sorted(concerned):
        standings = change_of_standing(comparison, policy)
        if standings:
            (old, by_before), (new, by) = (standing or (None, ()) for standing in standings)
            changes.append(EnforcementChange(policy=policy, before=old, after=new, by=by, by_before=by_before))
    return tuple(changes)
