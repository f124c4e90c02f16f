"""Uncertain effects of a policy: whether input that was not read may give it one, and what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.kinds import names
from kubectl_policy.questions.shared.reasons import (
    failure_phrase,
    possible_phrase,
    undecided_phrase,
    undecided_subjects_phrase,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.enforcement import Enforcement


def is_idle(enforcement: Enforcement, attachments: Iterable[Attachment]) -> bool:
    """Whether nothing is below the targets of an attached policy that it could affect."""
    has_nothing = enforcement.state == "NoEffect" and not enforcement.outcomes
    return has_nothing and any(attachment.state == "attached" for attachment in attachments)


def may_affect_more(enforcement: Enforcement, attachments: Iterable[Attachment]) -> bool:
    """Whether a policy affects nothing where it is attached, which unread objects below its targets might change.

    A route itself names what it is attached to.
    """
    attachments = tuple(attachments)
    targets = [attachment.target for attachment in attachments if attachment.state == "attached"]
    is_above_routes = any(target and target.object.group_kind not in ROUTES for target in targets)
    return is_above_routes and is_idle(enforcement, attachments)


def possibly_affected(enforcement: Enforcement, profile: PolicyKindProfile) -> tuple[ObjectRef, ...]:
    """Return the routes that a policy affects if they are attached, which is not known; sorted.

    None are returned if its kind is known to take effect on other objects alone.
    """
    levels = {level.group_kind for level in profile.effective_targets}
    routes = {possible.route for possible in enforcement.possible_routes}
    return tuple(sorted(route for route in routes if not levels or route.group_kind in levels))


def unknown_phrase(enforcement: Enforcement, attachments: Iterable[Attachment]) -> str:
    """Explain why it is unknown whether a policy has an effect."""
    if enforcement.subjects:
        return undecided_subjects_phrase(enforcement.subjects)
    if rivals := enforcement.undecided_with:
        return undecided_phrase(enforcement.policy, rivals)
    failed = failure_phrase(attachments)
    if not failed and enforcement.undecided_gateways and not enforcement.possible_routes:
        return f"which controller acts on {names(enforcement.undecided_gateways)} is not known"
    return failed or possible_phrase(enforcement.possible_routes) or "how it attaches is not computed"
