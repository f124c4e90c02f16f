"""The words in which a policy kind's controller reports: which conditions it writes, and on which objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

# Where a controller writes: into `status.conditions` of the policy; or into `status.ancestors`, with one entry for
# each target itself, for each parent of a target route, or for each Gateway above a target.
Placement: TypeAlias = Literal["policy", "targets", "parents", "gateways"]

# What a policy's "narrowed" condition is about: the targets further down that have policies of their own, or the places
# further down at which the kind takes effect and where such policies do so instead.
NarrowedBy: TypeAlias = Literal["policies", "targets"]

# What can be said of a policy, or (`affected`) of an object that it affects. A `contended` policy shares what must not
# be shared (`exclusive_field`); below the target of a `narrowed` one others of its kind have targets; a `merged` one is
# merged with another above it, which is the one that it is `merged into`.
Event: TypeAlias = Literal[
    "accepted",
    "target missing",
    "section missing",
    "not permitted",
    "kind unsupported",
    "conflicted",
    "invalid",
    "enforced",
    "partially enforced",
    "overridden",
    "no effect",
    "contended",
    "narrowed",
    "merged",
    "merged into",
    "affected",
]


class ConditionWords(NamedTuple):
    """A condition as one implementation words it."""

    type: str
    status: str
    reason: str


# GEP-713, "Policy status", and apis/v1/policy_types.go: PolicyConditionAccepted with its reasons.
_STANDARD: Final[Mapping[Event, ConditionWords]] = MappingProxyType(
    {
        "accepted": ConditionWords("Accepted", "True", "Accepted"),
        "target missing": ConditionWords("Accepted", "False", "TargetNotFound"),
        "section missing": ConditionWords("Accepted", "False", "TargetNotFound"),
        "not permitted": ConditionWords("Accepted", "False", "TargetNotFound"),
        "kind unsupported": ConditionWords("Accepted", "False", "Invalid"),
        "conflicted": ConditionWords("Accepted", "False", "Conflicted"),
        "invalid": ConditionWords("Accepted", "False", "Invalid"),
    }
)


@dataclass(frozen=True, slots=True)
class StatusProfile:
    """Where and in which words a kind's controller reports; an event without words is not reported at all.

    `target_annotation` is the name of an annotation on targets that names the policies attached there.
    """

    placement: Placement = "gateways"
    narrowed_by: NarrowedBy = "policies"
    conditions: Mapping[Event, ConditionWords] = field(default_factory=lambda: _STANDARD)
    target_annotation: str = ""


STANDARD_STATUS: Final = StatusProfile()
