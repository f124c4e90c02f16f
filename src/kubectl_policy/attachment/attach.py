"""From target references to attachments: what each reference names, and why it fails where it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_policy.attachment.references import TargetReference, target_references
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.selectors import selects
from kubectl_policy.topology.grants import permitted, unseen

if TYPE_CHECKING:
    from kubectl_policy.model import Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology

State: TypeAlias = Literal[
    "attached", "target missing", "target unknown", "section missing", "not permitted", "kind unsupported"
]


@dataclass(frozen=True, slots=True)
class Attachment:
    """One target reference of a policy and what it comes to.

    `target` is the node that the reference names, whether or not it exists; None where a selector selects nothing.
    `message` says why the state is not "attached", in words; it is empty for an ordinary attachment. `virtual` marks a
    target of a kind that no API serves.
    """

    policy: ObjectRef
    target: NodeRef | None
    declared: TargetReference
    state: State
    message: str = ""
    virtual: bool = False


def attach(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> tuple[Attachment, ...]:
    """Every attachment of a policy, in the order in which it declares its references."""
    return tuple(
        attachment
        for reference in target_references(policy, profile)
        for attachment in _Reference(policy, profile, topology, reference).attachments()
    )


@dataclass(frozen=True, slots=True)
class _Reference:
    """One reference being followed."""

    policy: Resource
    profile: PolicyKindProfile
    topology: Topology
    declared: TargetReference

    def attachments(self) -> tuple[Attachment, ...]:
        declared, profile = self.declared, self.profile
        if not declared.kind:
            return (self._fails("target missing", f"{declared.field} names no kind"),)
        if "/" in declared.group:
            message = f"{declared.field}.group {declared.group} holds a version; a target reference names a group alone"
            return (self._fails("kind unsupported", message),)
        if profile.declared_targets and self._kind not in profile.declared_targets | profile.virtual_targets:
            kinds = ", ".join(sorted(str(kind) for kind in profile.declared_targets | profile.virtual_targets))
            message = f"{profile.group_kind.kind} cannot target a {self._kind}; it takes {kinds}"
            return (self._fails("kind unsupported", message),)
        if declared.selector is None and not declared.name:
            return (self._fails("target missing", f"{declared.field} names no object and selects none"),)
        return self._by_name() if declared.selector is None else self._by_labels()

    @property
    def _kind(self) -> GroupKind:
        # Istio's documentation writes the core group as "core"; no API group has that name.
        return GroupKind("" if self.declared.group == "core" else self.declared.group, self.declared.kind)

    @property
    def _namespace(self) -> str:
        if not self.topology.index.namespaced(self._kind):
            return ""
        return self.declared.namespace or self.policy.ref.namespace

    def _fails(self, state: State, message: str, target: NodeRef | None = None) -> Attachment:
        return Attachment(self.policy.ref, target, self.declared, state, message)

    def _by_labels(self) -> tuple[Attachment, ...]:
        index, kind = self.topology.index, self._kind
        found = [
            resource.ref
            for resource in index.of_kind_in(kind, self._namespace)
            if selects(self.declared.selector or {}, labels_of(resource.raw))
        ]
        if found:
            return tuple(self._to(ref) for ref in found)
        presence = index.presence(ObjectRef(kind, self._namespace, ""))
        message = f"{self.declared.field} selects no {kind.kind}" + (
            f" in namespace {self._namespace}" if self._namespace else ""
        )
        return (self._fails("target unknown" if presence == "unknown" else "target missing", message),)

    def _by_name(self) -> tuple[Attachment, ...]:
        return (self._to(ObjectRef(self._kind, self._namespace, self.declared.name)),)

    def _to(self, ref: ObjectRef) -> Attachment:
        target = NodeRef(ref, self.declared.section)
        refused = self._refused(ref)
        if refused:
            return self._fails(*refused, target)
        if self._is_virtual(ref):
            message = f"{ref.group_kind} is a virtual kind: no API serves it"
            return Attachment(self.policy.ref, target, self.declared, "attached", message, virtual=True)
        presence = self.topology.index.presence(ref)
        if presence == "missing":
            return self._fails("target missing", f"{ref} does not exist", target)
        if presence == "unknown":
            return self._fails("target unknown", f"{ref} is not in the input", target)
        if target.section and target.section not in (sections := self.topology.sections(ref)):
            known = f"it has {', '.join(sections)}" if sections else "it has no sections"
            return self._fails("section missing", f"{ref} has no section {target.section}; {known}", target)
        return Attachment(self.policy.ref, target, self.declared, "attached")

    def _is_virtual(self, ref: ObjectRef) -> bool:
        """Whether no API serves the target's kind: the profile says so, or a complete snapshot knows of none."""
        index, kind = self.topology.index, ref.group_kind
        if kind in self.profile.virtual_targets:
            return True
        if not index.snapshot.complete or index.presence(ref) != "missing":
            return False
        return kind.group not in {known.group for known in (*index.kinds, *index.group_kinds)}

    def _refused(self, ref: ObjectRef) -> tuple[State, str] | None:
        """Why the reference may not leave its namespace, or why nobody knows whether it may; None if it may.

        GEP-713, "Cross namespace references": targeting another namespace "MUST be paired with a handshake".
        """
        home, index = self.policy.ref.namespace, self.topology.index
        if not home or not ref.namespace or ref.namespace == home:
            return None
        kind = self.policy.ref.group_kind
        if self.profile.cross_namespace is False:
            return "not permitted", f"{kind.kind} can target its own namespace {home} alone, not {ref.namespace}"
        if not self.profile.grant_required or permitted(index, kind, home, ref):
            return None
        if unseen(index, ref.namespace):
            message = f"whether {kind.kind} of {home} may target {ref} is unknown: its ReferenceGrants were not read"
            return "target unknown", message
        return (
            "not permitted",
            f"no ReferenceGrant in namespace {ref.namespace} lets {kind.kind} of {home} target {ref}",
        )
