"""Statements on reports of controllers: where they are, and which conditions they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.controllers import EVENTS
from kubectl_policy.render.wording.names import either

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Event, Placement, StatusProfile
    from kubectl_policy.render.explain.combining import Saying

_PLACES: Final[Mapping[Placement, str]] = {
    "policy": "status.conditions of the policy",
    "targets": "status.ancestors of the policy, one entry per target",
    "parents": "status.ancestors of the policy, one entry per parent of a target route",
    "owners": "status.ancestors of the policy, one entry per parent of a target route or owner of a listener",
    "parentGateways": "status.ancestors of the policy, one entry per parent Gateway of a route to the target",
    "gateways": "status.ancestors of the policy, one entry per Gateway above the target",
    "namesakes": "status.ancestors of the policy, one entry per Gateway with the name of a target",
}
# The meanings of events if conditions are about the single merges (`enforcedBy: merges`).
_OF_MERGES: Final[Mapping[Event, str]] = {
    "enforced": "the policy contributes to every merged field",
    "partially enforced": "the policy contributes to some merged fields",
    "overridden": "the policy contributes to no field of some merge",
}


def report_sayings(profile: PolicyKindProfile) -> Iterator[Saying]:
    """List the statements about where controllers report on policies of a kind, and with which conditions."""
    yield "conditions", ("status",), _status(profile.status)
    otherwise = (
        f"by {name}, {line}" if line.startswith("in ") else line
        for name, status in profile.status_by.items()
        for line in _status(status)
    )
    yield "other controllers", ("status_by",), otherwise


def _status(status: StatusProfile) -> Iterator[str]:
    yield f"in {_PLACES[status.placement]}" if status.conditions else "no known conditions"
    meanings = dict(EVENTS) | (dict(_OF_MERGES) if status.enforced_by == "merges" else {})
    if status.affects == "targets":
        meanings["affected"] = "a policy targets the object that has the condition"
    if status.narrowed_by == "targets":
        meanings["narrowed"] = "policies further down take effect instead of it"
    events = grouped(
        (f"{condition.type} {condition.status} ({condition.reason})", meanings[event])
        for event, conditions in status.conditions.items()
        for condition in conditions
    )
    yield from (f"{condition} if {either(causes)}" for condition, causes in events.items())
    if status.target_annotation:
        yield f"the annotation {status.target_annotation} of a target names the policies attached to it"
