"""What a sentence ends with if not everything could be seen that its answer depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Permission
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.questions.blind_spots.relevance import in_namespaces
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

# So many kinds are named in a sentence.
_NAMED: Final = 3


def as_far_as(unseen: Sequence[BlindSpot]) -> str:
    """`, as far as could be read: 1 file may hold more; how 2 policies attach is not computed`; empty if nothing is."""
    otherwise = {thing.what for thing in unseen if thing.is_there}
    files = {thing.origin.source for thing in unseen if thing.origin and not thing.is_there}
    others = {thing.what for thing in unseen if not (thing.origin or thing.policies or thing.is_there or thing.gaps)}
    are = "is" if len(others) == 1 else "are"
    # What a cluster did not give out is no input.
    unread = "could not be read" if any(thing.gaps for thing in unseen) else f"{are} not in the input"
    told = _hidden(unseen)
    told += [f"{count(len(others), 'object')} {unread}"] if others else []
    told += [f"{count(len(files), 'file')} may hold more"] if files else []
    told += [f"{count(len(otherwise), 'object')} may be different"] if otherwise else []
    hedge = f", as far as could be read: {listed(told)}" if told else ""
    number = len({policy for thing in unseen for policy in thing.policies})
    attach = "attaches" if number == 1 else "attach"
    return hedge + (f"; how {count(number, 'policy')} {attach} is not computed" if number else "")


def missing(place: SnapshotSource) -> str:
    """What follows `what`, of something that an answer misses."""
    return "is not in the input" if place == "the input" else "could not be read"


def _hidden(unseen: Sequence[BlindSpot]) -> list[str]:
    """`RetryPolicies are hidden from you`, `2 kinds could not be read`: what a cluster did not give out, by kinds."""
    found = dict.fromkeys(gap for thing in unseen for gap in thing.gaps)
    forbidden = dict.fromkeys((gap.group, gap.kind) for gap in found if gap.needs)
    failed = dict.fromkeys((gap.group, gap.kind) for gap in found if not gap.needs)
    told = [f"{_kinds(forbidden)} are hidden from you"] if forbidden else []
    return told + ([f"{_kinds(failed)} could not be read"] if failed else [])


def _kinds(kinds: Iterable[tuple[str | None, str]]) -> str:
    words = [plural(kind) if kind else f"objects of API group {group}" for group, kind in kinds]
    return listed(words) if len(words) <= _NAMED else f"objects of {len(words)} kinds"


def what_to_do(thing: BlindSpot) -> str:
    """`To do: add the manifest that holds it`, `Needs: list retrypolicies.example.io in namespaces baker and infra`."""
    if not thing.permissions:
        return f"To do: {thing.remedy}"
    places: dict[tuple[str, str], list[str | None]] = {}
    for permission in thing.permissions:
        places.setdefault((permission.verb, permission.resource), []).append(permission.namespace)
    said: list[str] = []
    for (verb, resource), namespaces in places.items():
        inside = [namespace for namespace in namespaces if namespace]
        everywhere = str(Permission(verb, resource, None if None in namespaces else ""))
        is_inside = len(inside) == len(namespaces)
        said.append(f"{verb} {resource} {in_namespaces(inside)}" if is_inside else everywhere)
    return f"Needs: {listed(said)}"
