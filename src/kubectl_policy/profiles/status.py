"""The words in which a policy kind's controller reports: which conditions it writes, and on which objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

# Where a controller writes: into `status.conditions` of the policy; or into `status.ancestors`, with one entry for
# each target itself, for each parent of a target route, the same with the owners of listeners (a Gateway or a
# ListenerSet) in their stead, for each Gateway above a target, or for each that routes to a target name as a parent.
Placement: TypeAlias = Literal["policy", "targets", "parents", "owners", "gateways", "parentGateways"]

# What conditions on enforcement go by: what became of a policy on all of its paths; or, at each place where it is
# reported, in how much of every merge there it has a part. In all of it is "enforced", in some "partially enforced".
EnforcedBy: TypeAlias = Literal["paths", "merges"]

# On which objects a condition says that a policy affects them: on all that it counts for, or on its own targets alone,
# whatever becomes of it.
Affects: TypeAlias = Literal["below", "targets"]

# What a policy's "narrowed" condition is about: the targets further down that have policies of their own, or the places
# further down at which the kind takes effect and where such policies do so instead.
NarrowedBy: TypeAlias = Literal["policies", "targets"]

# What can be said of a policy, or (`affected`) of an object that it affects. A `contended` policy shares what must not
# be shared (`exclusive_field`), and an `overlapping` one has a route as a target that must not share its requests;
# below the target of a `narrowed` one others of its kind have targets; a `merged` one is
# merged with another above it, which is the one that it is `merged into`.
Event: TypeAlias = Literal[
    "accepted",
    "target missing",
    "section missing",
    "not permitted",
    "kind unsupported",
    "conflicted",
    "invalid",
    "target invalid",
    "overlapping",
    "not enabled",
    "filter unsupported",
    "not computed",
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
_STANDARD: Final[Mapping[Event, tuple[ConditionWords, ...]]] = MappingProxyType(
    {
        "accepted": (ConditionWords("Accepted", "True", "Accepted"),),
        "target missing": (ConditionWords("Accepted", "False", "TargetNotFound"),),
        "section missing": (ConditionWords("Accepted", "False", "TargetNotFound"),),
        "not permitted": (ConditionWords("Accepted", "False", "TargetNotFound"),),
        "kind unsupported": (ConditionWords("Accepted", "False", "Invalid"),),
        "conflicted": (ConditionWords("Accepted", "False", "Conflicted"),),
        "invalid": (ConditionWords("Accepted", "False", "Invalid"),),
    }
)


@dataclass(frozen=True, slots=True)
class StatusProfile:
    """Where and in which words a kind's controller reports.

    An event may be reported in several conditions; one without words is not reported at all. `target_annotation` is the
    name of an annotation on targets that names the policies attached there.
    """

    placement: Placement = "gateways"
    narrowed_by: NarrowedBy = "policies"
    conditions: Mapping[Event, tuple[ConditionWords, ...]] = field(default_factory=lambda: _STANDARD)
    enforced_by: EnforcedBy = "paths"
    affects: Affects = "below"
    target_annotation: str = ""


STANDARD_STATUS: Final = StatusProfile()
