"""What one reference to or from a policy comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from kubectl_policy.attachment.references import TargetReference
    from kubectl_policy.model import NodeRef, ObjectRef

State: TypeAlias = Literal[
    "attached",
    "target missing",
    "target unknown",
    "section missing",
    "not permitted",
    "kind unsupported",
    "not managed",
    "policy invalid",
    "target invalid",
    "not enabled",
    "target overlaps",
    "filter unsupported",
    "not computed",
]


@dataclass(frozen=True, slots=True)
class Attachment:
    """One target reference of a policy and what it comes to.

    `target` is the node that the reference names, whether or not it exists; None where a selector selects nothing.
    `message` says why the state is not "attached", in words; it is empty for an ordinary attachment. A target is "not
    managed" if another controller acts on it, a policy invalid if something that it needs is missing. `virtual` marks a
    target of a kind that no API serves. Where a filter of a route names the policy, `declared` says so; if that filter
    may not name the policy's kind, it is a "filter unsupported". What applies to one backend of a rule alone, which no
    node of the hierarchy stands for, is "not computed". A target is "invalid" if it is a Gateway that
    controllers ignore, being invalid. A policy is "not enabled" where the parameters of every Gateway
    of the target say so; a "target overlaps" if some route of the policy shares requests with one that it does not
    target. A policy that `competes` keeps others out of the target although it has failed.
    """

    policy: ObjectRef
    target: NodeRef | None
    declared: TargetReference
    state: State
    message: str = ""
    virtual: bool = False
    competes: bool = False
