"""In how much of the merges that it is in a policy has a part: in all of it, in some, or in nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.resolution import leaves, reach

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.status import Event
    from kubectl_policy.resolution import ScopeOutcome
    from kubectl_policy.topology import Path

# From the worst to the best.
SHARES: Final[tuple[Event, ...]] = ("overridden", "partially enforced", "enforced")


def share_of(analysis: Analysis, policy: ObjectRef, place: NodeRef, target: NodeRef) -> Event:
    """The least part that a policy has, by way of a target, in a merge below a place at which it is reported.

    "enforced" is a part in every field of every merge, and also where there is nothing to be merged; "partially
    enforced" in some fields, "overridden" in none. Only one scope is looked at, not what a narrower one sets instead.
    """
    profile = analysis.registry.known(policy.group_kind)
    found: set[Event] = {
        _part(policy, scope, profile)
        for path in analysis.topology.ends(target)
        if _leads_through(analysis, path, place)
        for scope in _scopes(analysis, policy, reach(path, profile) or path)
    }
    return worst(found)


def worst(shares: Collection[Event]) -> Event:
    """The least of some shares; all of it where there is none."""
    for event in SHARES:
        if event in shares:
            return event
    return SHARES[-1]


def _leads_through(analysis: Analysis, path: Path, place: NodeRef) -> bool:
    """Whether a path leads through the listener that a place is, or through a listener of it."""
    listener = analysis.topology.listener_on(path)
    if listener is None:
        return place in path
    return place in {listener.node, listener.node._replace(section="")}


def _scopes(analysis: Analysis, policy: ObjectRef, path: Path) -> Iterator[ScopeOutcome]:
    """The scopes of a path in which a policy takes part."""
    effective = analysis.resolver.effective_of(policy.group_kind, path)
    for scope in effective.scopes if effective else ():
        if any(source.object == policy for source in scope.members):
            yield scope


def _part(policy: ObjectRef, scope: ScopeOutcome, profile: PolicyKindProfile) -> Event:
    joint = [tuple(found.field.split(".")) for found in profile.joint_fields]
    holders: dict[tuple[str, ...], set[ObjectRef]] = {}
    for field, leaf in leaves(scope.spec):
        unit = next((other for other in joint if field[: len(other)] == other), field)
        holders.setdefault(unit, set()).add(leaf.source.object)
    held = [policy in found for found in holders.values()]
    return "enforced" if all(held) else "partially enforced" if any(held) else "overridden"
