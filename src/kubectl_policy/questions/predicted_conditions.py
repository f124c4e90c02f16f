"""Conditions that the controllers of a policy kind would report on a policy and on its targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.attachment import MEANINGS, Attachment
from kubectl_policy.attachment.target_validity import why_partly_disabled
from kubectl_policy.attachment.validity import ignored_settings
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_HOLDERS, LISTENER_SETS, ROUTES
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.resolution import ScopeOutcome, leaves, reached_part

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles.controllers import ConditionWords, Event, StatusProfile
    from kubectl_policy.questions.status_ancestors import TargetOrder

# What a policy is in merges, from the least to the best.
_MERGED_MESSAGES: Final[Mapping[Event, str]] = {
    "overridden": "others set every field of something that is merged there",
    "partially enforced": "fields that are merged there are set by others",
    "enforced": "it has a part in every field that is merged there",
}


def merged_state(analysis: Analysis, policy: ObjectRef, ancestor: NodeRef, target: NodeRef) -> Event:
    """The least part that a policy has, by way of a target, in a merge below a place at which it is reported.

    "enforced" is a part in every field of every merge, and also where there is nothing to be merged; "partially
    enforced" in some fields, "overridden" in none. Only one scope is looked at, not what a more specific one sets
    instead.
    """
    profile = analysis.registry.profile(policy.group_kind)
    states: set[Event] = set()
    for path in analysis.topology.paths_through(target):
        listener = analysis.topology.listener_on(path)
        if ancestor not in ({listener.node, NodeRef(listener.node.object)} if listener else path):
            continue
        effective = analysis.resolver.effective_of(policy.group_kind, reached_part(path, profile) or path)
        for scope in effective.resolution.scopes if effective else ():
            if any(source.object == policy for source in scope.members):
                states.add(_state_in(scope, policy, profile))
    return least(states)


def least(states: Iterable[Event]) -> Event:
    """The least of some states of a policy in merges; "enforced" where there is none."""
    occurring = {*states, "enforced"}
    return next(state for state in _MERGED_MESSAGES if state in occurring)


def _state_in(scope: ScopeOutcome, policy: ObjectRef, profile: PolicyKindProfile) -> Event:
    joint = [tuple(shared.field.split(".")) for shared in profile.joint_fields]
    holders: dict[tuple[str, ...], set[ObjectRef]] = {}
    for field, leaf in leaves(scope.spec):
        unit = next((unit_field for unit_field in joint if field[: len(unit_field)] == unit_field), field)
        holders.setdefault(unit, set()).add(leaf.source.object)
    held = [policy in policies for policies in holders.values()]
    return "enforced" if all(held) else "partially enforced" if any(held) else "overridden"


_RELATED: Final = (
    "The targets that override the policy, the policy that it is merged with, or the routes that are merged."
)


class PolicyCondition(Struct, frozen=True, kw_only=True):
    """A condition that the controller of a policy kind should report."""

    type: Annotated[str, Meta(description="The type of the condition.")]
    status: Annotated[str, Meta(description="The status of the condition: True, False or Unknown.")]
    reason: Annotated[str, Meta(description="The reason of the condition.")]
    message: Annotated[
        str, Meta(description="The reason for the condition, for people; not the text of the controller.")
    ]
    related: Annotated[tuple[NodeRef, ...], Meta(description=_RELATED)] = ()


class AncestorStatus(Struct, frozen=True, kw_only=True):
    """The conditions that should be reported in one entry of the status of a policy."""

    ancestor: Annotated[
        NodeRef | None, Meta(description="The ancestor in status.ancestors; null for status.conditions of the policy.")
    ]
    conditions: Annotated[tuple[PolicyCondition, ...], Meta(description="The conditions.")]


class PolicyStatuses:
    """Predicted reports on the policies of one analysis; shared facts are computed once."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis
        self._orders: dict[GroupKind, TargetOrder] = {}

    def of(self, policy: ObjectRef) -> tuple[AncestorStatus, ...]:
        """The report on a policy, place by place; empty if its controller would not report at all.

        Raises `KeyError` for an object that is not a policy.
        """
        kind = policy.group_kind
        profile = self._analysis.registry.profile(kind)
        from kubectl_policy.questions.status_ancestors import TargetOrder  # noqa: PLC0415 (see `_Report`)

        order = self._orders.setdefault(kind, TargetOrder(self._analysis, profile))
        return _Report(self._analysis, profile, order, policy).ancestor_statuses()


class _Report:
    """The report on one policy, being written; descriptions of other objects do without what is imported for it."""

    def __init__(self, analysis: Analysis, profile: PolicyKindProfile, order: TargetOrder, policy: ObjectRef) -> None:
        self.analysis, self.profile, self.order, self.policy = analysis, profile, order, policy
        self.conditions: dict[NodeRef | None, dict[str, PolicyCondition]] = {}
        self.targets_at: dict[NodeRef | None, list[NodeRef]] = {}

    def ancestor_statuses(self) -> tuple[AncestorStatus, ...]:
        named: set[NodeRef] = set()
        for attachment in sorted(self.analysis.attachments[self.policy], key=_specificity):
            event, message = self._event(attachment, named)
            if attachment.target and attachment.declared.selector is None:
                named.add(attachment.target)
            if event:
                self._write(attachment, event, message)
        self._enforced()
        return tuple(
            AncestorStatus(ancestor=ancestor, conditions=tuple(conditions.values()))
            for ancestor, conditions in self.conditions.items()
        )

    def _event(self, attachment: Attachment, named: Collection[NodeRef]) -> tuple[Event | None, str]:
        """Return the event of an attachment; a policy that names one target twice conflicts with itself."""
        target, resolver = attachment.target, self.analysis.resolver
        # Another policy that keeps this one out is looked for first, where this one competes for its target.
        competes = attachment.state == "attached" or attachment.competes
        refusal = resolver.refusal(self.policy, target) if target and competes else None
        if refusal:
            how = f"sets {refusal.field} of" if refusal.field else "is attached to"
            return "conflicted", f"{refusal.holder} {how} {refusal.target} already"
        if attachment.state != "attached" or target is None:
            # What a policy needs and may not refer to makes it invalid; so does no target that it may not name.
            event = "invalid" if attachment.fails_requests else MEANINGS[attachment.state].event
            return event, attachment.message
        # That is reported on the whole target.
        why_disabled = why_partly_disabled(target.object, self.profile, self.analysis.topology)
        if why_disabled:
            return "not enabled", why_disabled
        first = resolver.policies_of_kind(target, self.policy.group_kind)[0].ref
        again = target in named and attachment.declared.selector is None
        one_applies = self.profile.same_level == "one-applies" or self.profile.default_strategy is MergeStrategy.NONE
        if one_applies and self.analysis.enforcement(self.policy).is_undecided:
            return None, ""
        if one_applies and (first != self.policy or again):
            return "conflicted", f"{first} is attached to {target} already"
        ignored = self._ignored_setting()
        return ("setting ignored", ignored) if ignored else ("accepted", f"it is attached to {target}")

    def _ignored_setting(self) -> str:
        """Describe a setting that controllers ignore and report on, since its object is missing; else return ""."""
        resource = self.analysis.index.get(self.policy)
        if resource is None or "setting ignored" not in self.profile.status.conditions:
            return ""
        index = self.analysis.index
        return next((part.reason for part in ignored_settings(index, index.with_defaults(resource), self.profile)), "")

    def _write(self, attachment: Attachment, event: Event, message: str) -> None:
        target = attachment.target
        from kubectl_policy.questions.status_ancestors import ancestors_of  # noqa: PLC0415 (see the class)

        statuses = ancestors_of(self.analysis, self.profile, attachment)
        for ancestor, status in statuses.items():
            invalid = (
                self.analysis.topology.relations.why_ignored(ancestor) if ancestor and event == "accepted" else None
            )
            self._put(ancestor, status, "target invalid" if invalid else event, invalid.message if invalid else message)
            if target and attachment.state == "attached":
                self.targets_at.setdefault(ancestor, []).append(target)
        is_in_force = event in {"accepted", "setting ignored"}
        if target is None or not (is_in_force or (event == "invalid" and attachment.competes)):
            return
        # What more specific policies below the target, and less specific ones above it, make of the policy.
        for merge in self.order.merges_of(self.policy, target) if is_in_force else ():
            message, related = f"it is merged with {merge.parent}", (NodeRef(merge.parent),)
            if merge.failed:
                message = f"{message}, which is not valid"
            self._put(merge.listener, self.profile.status, "invalid" if merge.failed else "merged", message, related)
        into = self.order.merged_into(self.policy, target)
        narrower = tuple(node for node in self.order.more_specific(target) if node not in into)
        for ancestor, status in statuses.items():
            if into:
                self._put(ancestor, status, "merged into", f"merged with it: {', '.join(map(str, into))}", into)
            if narrower:
                message = f"narrower policies target {', '.join(map(str, narrower))}"
                self._put(ancestor, status, "narrowed", message, narrower)

    def _enforced(self) -> None:
        """Conditions on enforcement; a policy that is not accepted has none."""
        status = self.profile.status
        ways = status.conditions.get("accepted", ())
        accepted = ways[0] if ways else None
        from kubectl_policy.resolution.enforcement import ENFORCEMENT  # noqa: PLC0415 (see the class)

        accepting = [
            ancestor
            for ancestor, conditions in self.conditions.items()
            if accepted and accepted.type in conditions and conditions[accepted.type].status == accepted.status
        ]
        if not accepting or not any(meaning.event in status.conditions for meaning in ENFORCEMENT.values()):
            return
        if status.enforced_by == "merges":
            for node in filter(None, accepting):
                targets = self.targets_at.get(node, ())
                state = least(merged_state(self.analysis, self.policy, node, target) for target in targets)
                self._put(node, status, state, _MERGED_MESSAGES[state])
            return
        enforcement = self.analysis.enforcement(self.policy)
        event = "contended" if self.analysis.contentions(self.policy) else ENFORCEMENT[enforcement.state].event
        message = f"by {', '.join(map(str, enforcement.by))}" if enforcement.by else ""
        if event == "no effect":
            from kubectl_policy.questions.shared.without_effect import why_without_effect  # noqa: PLC0415 (see the class)

            message = "".join(reason.message for reason in why_without_effect(self.analysis, self.policy, limit=1))
        if event:
            for ancestor in accepting:
                self._put(ancestor, status, event, message)

    def _put(
        self,
        ancestor: NodeRef | None,
        status: StatusProfile,
        event: Event,
        message: str,
        related: tuple[NodeRef, ...] = (),
    ) -> None:
        """Write a condition; of several on one place a failure stays, and the last one written counts."""
        for words in status.conditions.get(event, ()):
            conditions = self.conditions.setdefault(ancestor, {})
            if event != "accepted" or words.type not in conditions:
                conditions[words.type] = _condition(words, message, related)


def _condition(words: ConditionWords, message: str, related: tuple[NodeRef, ...]) -> PolicyCondition:
    return PolicyCondition(type=words.type, status=words.status, reason=words.reason, message=message, related=related)


def _specificity(attachment: Attachment) -> int:
    """Most specific first, which is the order in which controllers go through targets."""
    if attachment.target is None:
        return 0
    kind, section = attachment.target.object.group_kind, attachment.target.section
    if kind in ROUTES:
        return 0 if section else 1
    if section:
        return 2
    return 3 if kind in LISTENER_SETS else 4 if kind == GATEWAY else 5


def target_conditions(analysis: Analysis, node: NodeRef) -> Iterator[PolicyCondition]:
    """Conditions that the controllers of policies would report on an object or section, kind by kind.

    A policy counts that is attached to the node or above it on one of its paths, even if something supersedes it.
    Gateways, listeners and routes have such a place in their status; rules, ports and what is behind them have none.
    """
    kind, registry = node.object.group_kind, analysis.registry
    if kind not in LISTENER_HOLDERS and (node.section or kind not in ROUTES):
        return
    ancestors = {parent for path in analysis.topology.paths(node) for parent in path}
    attached = {policy.ref for parent in ancestors for policy in analysis.resolver.policies_at(parent)}
    # Of kinds that say so on the targets themselves, whether or not the policy is in force.
    targeting = {
        attachment.policy
        for attachment in analysis.attachments_to(node.object)
        if attachment.target == node and MEANINGS[attachment.state].on_target
    }
    policies: dict[GroupKind, list[ObjectRef]] = {}
    for affects, refs in (("below", attached), ("targets", targeting)):
        for ref in sorted(refs):
            if registry.profile(ref.group_kind).status.affects == affects:
                policies.setdefault(ref.group_kind, []).append(ref)
    for policy_kind, of_kind in sorted(policies.items()):
        status = registry.profile(policy_kind).status
        how = "targeted by" if status.affects == "targets" else "attached here or above:"
        for words in status.conditions.get("affected", ()):
            yield _condition(words, f"{how} {', '.join(map(str, of_kind))}", tuple(map(NodeRef, of_kind)))
