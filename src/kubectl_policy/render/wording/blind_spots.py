"""Phrases about blind spots: a hedge at the end of a sentence, and remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Permission
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.world import grouped_by
from kubectl_policy.questions.blind_spots.relevance import in_namespaces
from kubectl_policy.questions.blind_spots.unknowns import FILL_IN, SAY_NAMESPACE
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

# So many kinds are named in a sentence.
_NAMED: Final = 3
# So many resources are named in a hint.
_MOST_RESOURCES: Final = 6
# What answers lack where an object was read without some value, by what would show that.
_VALUES: Final = {
    SAY_NAMESPACE: "not every namespace is known",
    FILL_IN: "placeholders are to be filled in",
}


def unread_hedge(unseen: Sequence[BlindSpot]) -> str:
    """`, as far as could be read: 1 file may hold more; how 2 policies attach is not computed`; empty if nothing is."""
    phrases = _unread_phrases(unseen)
    hedge = f", as far as could be read: {listed(phrases)}" if phrases else ""
    uncomputed = _uncomputed_phrase(unseen)
    return f"{hedge}; {uncomputed}" if uncomputed else hedge


def unread_reason(unseen: Sequence[BlindSpot]) -> str:
    """`RetryPolicies are hidden from you; how 2 policies attach is not computed`: why an answer is unknown."""
    return "; ".join(filter(None, (listed(_unread_phrases(unseen)), _uncomputed_phrase(unseen))))


def _unread_phrases(unseen: Sequence[BlindSpot]) -> list[str]:
    """Return phrases about input that is hidden, absent, in files, to be filled in, or may be different."""
    otherwise = {spot.what for spot in unseen if spot.is_there}
    files = {spot.origin.source for spot in unseen if spot.origin and not spot.is_there}
    lacking = [spot for spot in unseen if not (spot.origin or spot.policies or spot.is_there or spot.gaps)]
    # Of what lacks a value, nothing is missing but that value.
    remedies = {spot.remedy for spot in lacking}
    absent = {spot.what for spot in lacking if spot.remedy not in _VALUES}
    are = "is" if len(absent) == 1 else "are"
    # What a cluster did not give out is no input.
    unread = "could not be read" if any(spot.gaps for spot in unseen) else f"{are} not in the input"
    phrases = _hidden(unseen)
    phrases += [f"{count(len(absent), 'object')} {unread}"] if absent else []
    phrases += [f"{count(len(files), 'file')} may hold more"] if files else []
    phrases += [f"{count(len(otherwise), 'object')} may be different"] if otherwise else []
    phrases += [phrase for remedy, phrase in _VALUES.items() if remedy in remedies]
    return phrases


def _uncomputed_phrase(unseen: Sequence[BlindSpot]) -> str:
    """`how 2 policies attach is not computed`; empty if that is computed of all."""
    number = len({policy for spot in unseen if not spot.unevaluated for policy in spot.policies})
    by_rules = len({policy for spot in unseen if spot.unevaluated for policy in spot.policies})
    attach = f"how {count(number, 'policy')} {'attaches' if number == 1 else 'attach'} is not computed"
    rules = f"the rules of {count(by_rules, 'policy')} are not evaluated"
    return "; ".join([*([attach] if number else []), *([rules] if by_rules else [])])


def missing(world: SnapshotSource) -> str:
    """Say why something is missing, after its name."""
    return "is not in the input" if world == "the input" else "could not be read"


def _hidden(unseen: Sequence[BlindSpot]) -> list[str]:
    """`RetryPolicies are hidden from you`, `2 kinds could not be read`: what a cluster did not give out, by kinds."""
    gaps = dict.fromkeys(gap for spot in unseen for gap in spot.gaps)
    forbidden = dict.fromkeys((gap.group, gap.kind) for gap in gaps if gap.needs)
    failed = dict.fromkeys((gap.group, gap.kind) for gap in gaps if not gap.needs)
    phrases = [f"{_kinds(forbidden)} are hidden from you"] if forbidden else []
    return phrases + ([f"{_kinds(failed)} could not be read"] if failed else [])


def _kinds(kinds: Iterable[tuple[str | None, str]]) -> str:
    kind_phrases = [plural(kind) if kind else f"objects of API group {group}" for group, kind in kinds]
    return listed(kind_phrases) if len(kind_phrases) <= _NAMED else f"objects of {len(kind_phrases)} kinds"


def hidden_hints(unseen: Sequence[BlindSpot], *, namespace: str) -> list[str]:
    """Return hints where a list is empty for what may not be listed: the permissions, and one namespace instead."""
    permissions = [permission for spot in unseen for permission in spot.permissions if permission.verb == "list"]
    resources = list(dict.fromkeys(permission.resource for permission in permissions))
    if not resources:
        return []
    where = f"in namespace {namespace}" if namespace else "in all namespaces"
    hints = [f"hint: needs: list {listed(resources, _MOST_RESOURCES)} {where}"]
    if not namespace and any(permission.namespace is not None for permission in permissions):
        hints.append("hint: if you may list them in one namespace, name it: -n NAMESPACE")
    return hints


def remedy_phrase(spot: BlindSpot) -> str:
    """`To do: add the manifest that contains it`, `Needs: list retrypolicies.example.io in namespaces a and b`."""
    if not spot.permissions:
        return f"To do: {spot.remedy}"
    phrases: list[str] = []
    by_resource = grouped_by(spot.permissions, lambda permission: (permission.verb, permission.resource))
    for (verb, resource), permissions in by_resource.items():
        namespaces = [permission.namespace for permission in permissions]
        inside = [namespace for namespace in namespaces if namespace]
        everywhere = str(Permission(verb, resource, None if None in namespaces else ""))
        is_inside = len(inside) == len(namespaces)
        phrases.append(f"{verb} {resource} {in_namespaces(inside)}" if is_inside else everywhere)
    return f"Needs: {listed(phrases)}"
