"""Enforcement, computed: what became of a policy over all the paths that it takes part in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kubectl_policy.model.kinds import GATEWAY_API, NAMESPACE
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.effective import EffectivePolicy, Fate
    from kubectl_policy.resolution.resolver import Resolver
    from kubectl_policy.resolution.traced import Source
    from kubectl_policy.topology import Path, Topology

EnforcementState: TypeAlias = Literal[
    "Enforced",
    "PartiallyEnforced",
    "Overridden",
    "Conflicted",
    "TargetNotFound",
    "NotPermitted",
    "Invalid",
    "NoEffect",
    "Unknown",
]

# An inherited policy that ends here has nothing below it to affect: these carry no traffic themselves.
CARRY_NOTHING: Final = frozenset({NAMESPACE, GroupKind(GATEWAY_API, "GatewayClass")})


@dataclass(frozen=True, slots=True)
class Enforcement:
    """The state of a policy, who beats it, and its fate on each path.

    `Enforced`: every declared field is effective on every path; `PartiallyEnforced`: some are, somewhere;
    `Overridden`: none is, anywhere; `Conflicted`: refused everywhere for a conflict; `NoEffect`: attached, but
    nothing below it to affect. Without any attachment that holds: `TargetNotFound`, `NotPermitted`, `Invalid` (no
    usable reference), or `Unknown` (the target is not in the input). `by` are the policies, or objects with fields of
    their own, that beat it.
    """

    policy: ObjectRef
    state: EnforcementState
    by: tuple[ObjectRef, ...]
    outcomes: tuple[EffectivePolicy, ...]


def enforce(
    policy: ObjectRef,
    profile: PolicyKindProfile,
    attachments: Collection[Attachment],
    topology: Topology,
    resolver: Resolver,
) -> Enforcement:
    """The enforcement of a policy, given all of its attachments."""
    targets = [found.target for found in attachments if found.target and found.state == "attached"]
    if not targets:
        return Enforcement(policy, _unattached(attachments), (), ())
    paths = dict.fromkeys(path for target in targets for path in _paths(target, profile, topology))
    carrying = (path for path in paths if topology.carries_traffic(path))
    found = (resolver.effective_of(profile.group_kind, path) for path in carrying)
    outcomes = tuple(effective for effective in found if effective)
    if not outcomes:
        return Enforcement(policy, "NoEffect", (), ())
    by = {ref for effective in outcomes for ref in _beaten_by(policy, effective)} - {policy}
    return Enforcement(policy, _state(policy, outcomes), tuple(sorted(by)), outcomes)


def fates_of(policy: ObjectRef, effective: EffectivePolicy) -> list[Fate]:
    """The fates of one policy's fields on a path."""
    return [fate for fate in effective.fates() if fate.source.object == policy]


def _state(policy: ObjectRef, outcomes: Collection[EffectivePolicy]) -> EnforcementState:
    in_force = [policy in effective.policies_in_force() for effective in outcomes]
    if all(in_force) and not any(_beaten(policy, effective) for effective in outcomes):
        return "Enforced"
    if any(in_force):
        return "PartiallyEnforced"
    own = [(_sources(policy, effective), effective.rejected) for effective in outcomes]
    refused = [sources <= rejected for sources, rejected in own if sources]
    return "Conflicted" if refused and all(refused) else "Overridden"


def _sources(policy: ObjectRef, effective: EffectivePolicy) -> set[Source]:
    return {part.source for part in effective.contributions if part.source.object == policy}


def _beaten(policy: ObjectRef, effective: EffectivePolicy) -> list[Fate]:
    """The fates of a policy's lost fields; one that it sets to the same value elsewhere on the path is not lost."""
    fates = fates_of(policy, effective)
    held = [(fate.field, fate.value) for fate in fates if fate.state == "effective"]
    return [fate for fate in fates if (fate.field, fate.value) not in held]


def _beaten_by(policy: ObjectRef, effective: EffectivePolicy) -> set[ObjectRef]:
    """What beats a policy on a path: field by field or, where it has no fields there, as a whole."""
    if fates_of(policy, effective):
        return {source.object for fate in _beaten(policy, effective) for source in fate.superseded_by}
    in_force = effective.policies_in_force()
    return set() if policy in in_force else set(in_force)


def _unattached(attachments: Collection[Attachment]) -> EnforcementState:
    states = {attachment.state for attachment in attachments}
    if "target unknown" in states:
        return "Unknown"
    if states & {"target missing", "section missing"}:
        return "TargetNotFound"
    return "NotPermitted" if "not permitted" in states else "Invalid"


def _paths(target: NodeRef, profile: PolicyKindProfile, topology: Topology) -> Iterator[Path]:
    """The paths at whose ends the policy takes effect by way of one target."""
    if profile.policy_class == "direct":
        for end in _direct_ends(target, profile, topology):
            yield from topology.paths(end)
        return
    for path in topology.ends(target):
        reached = reach(path, profile)
        if reached and target in reached:
            yield reached


def _direct_ends(target: NodeRef, profile: PolicyKindProfile, topology: Topology) -> list[NodeRef]:
    """Where a direct policy takes effect: at its target, or at each section, which may have a policy of its own."""
    levels = [level for level in profile.effective_targets if level.group_kind == target.object.group_kind]
    if target.section or (levels and not any(level.section for level in levels)):
        return [target]
    sections = topology.sections(target.object)
    return [target._replace(section=section) for section in sections] or [target]


def reach(path: Path, profile: PolicyKindProfile) -> Path:
    """The part of a path down to the deepest node at which the kind takes effect; empty if there is none on it."""
    if not profile.effective_targets:
        return path if path[-1].object.group_kind not in CARRY_NOTHING else ()
    for end in range(len(path), 0, -1):
        if any(level.includes(path[end - 1]) for level in profile.effective_targets):
            return path[:end]
    return ()
