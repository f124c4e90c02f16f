"""Enforcement of policies about connections: by whether there are workloads to which a policy applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.resolution.enforcement import Enforcement

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.network.subjects import Subjects
    from kubectl_policy.resolution.enforcement import EnforcementState


def enforce_on_connections(policy: ObjectRef, subjects: Subjects) -> Enforcement:
    """Return the enforcement of a policy about connections, given the workloads to which it applies.

    `Enforced` if there are any; `NoEffect` if there can be none, or if the policy has no rules; else `Unknown`.
    """
    return Enforcement(policy, _state(subjects), (), (), subjects=subjects)


def draft(policy: ObjectRef) -> Enforcement:
    """Return the enforcement of a policy that is only staged: it has no effect."""
    return Enforcement(policy, "NoEffect", (), ())


def _state(subjects: Subjects) -> EnforcementState:
    if not subjects.has_rules:
        return "NoEffect"
    if subjects.pods.certain:
        return "Enforced"
    return "Unknown" if subjects.pods.possible or subjects.may_have_more else "NoEffect"
