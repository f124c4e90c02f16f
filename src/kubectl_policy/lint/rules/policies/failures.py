"""Attachments of policies that fail, or may fail, each assigned to the rule that reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.references import why_absent
from kubectl_policy.attachment.validity import missing_need, named_needs
from kubectl_policy.lint.finding import Finding
from kubectl_policy.model.fields import value_at
from kubectl_policy.model.kind_roles import (
    GATEWAY_API_GROUPS,
    HIERARCHY,
    LISTENER_HOLDERS,
    PORT_HOLDERS,
    ROUTES,
)
from kubectl_policy.model.kinds import is_kubernetes_own
from kubectl_policy.questions.shared.reasons import attachment_reason
from kubectl_policy.topology.conditions import BACKEND_TLS_POLICY
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import NodeRef, ObjectRef, Resource

# What is wrong with an attachment. Which need is not met is for GWP5012, GWP5016 and GWP5017 to say.
Concern: TypeAlias = Literal[
    "nothing named",
    "target missing",
    "some targets missing",
    "section missing",
    "group wrong",
    "kind unsupported",
    "namespace",
    "nothing selected",
    "not referred to",
    "target unattached",
    "other controller",
    "policy invalid",
    "need not met",
    "target invalid",
    "not enabled",
    "target overlaps",
    "filter unsupported",
    "not named",
]
# The groups of which all kinds with names of the hierarchy are known, with those of Kubernetes; definitions of others
# have a dot in their group.


class Failure(Struct, frozen=True, gc=False):
    """An attachment that fails or, unless it is `certain`, may fail."""

    policy: Resource
    attachment: Attachment
    certain: bool

    @property
    def target(self) -> NodeRef:
        """The target; only for failures that have one."""
        assert self.attachment.target is not None  # noqa: S101 (the concerns for which it is asked have one)
        return self.attachment.target

    @property
    def field(self) -> str:
        """The path of the reference."""
        return self.attachment.declared.field

    @property
    def doubt(self) -> Finding:
        """The failure as an uncertain finding."""
        return Finding(subject=self.policy.ref, field=self.field, message=self.message, certain=False)

    @property
    def message(self) -> str:
        """The message, without the path of the reference."""
        return self.attachment.message.removeprefix(f"{self.attachment.declared.field} ")


def finding_about(
    world: LintWorld, policy: Resource, attachment: Attachment, message: str, *, certain: bool = True
) -> Finding:
    """Return a finding about the policy of an attachment, or about the object that names it."""
    holder, target = attachment.declared.named_by, attachment.target
    related = policy.ref if holder else target.object if target else None
    return Finding(
        subject=holder or policy.ref,
        field=attachment.declared.field,
        message=message,
        certain=certain,
        related=(world.related(related, "what it names" if holder else "the target"),) if related else (),
    )


def failures(world: LintWorld, concern: Concern) -> Sequence[Failure]:
    """Return the attachments with a concern, in order."""
    return world.once(_by_concern).get(concern, ())


def _by_concern(world: LintWorld) -> Mapping[Concern, Sequence[Failure]]:
    failures_of: dict[Concern, list[Failure]] = {}
    for policy, attachment in world.failed_attachments:
        # What a filter of a backend does is not computed, and nothing wrong.
        if attachment.state != "not computed" and not _follows_from_wrong_kind(world, attachment):
            concern = _concern(world, policy, attachment)
            is_known = attachment.state != "target unknown"
            certain = _is_group_known(world, attachment) if concern == "group wrong" else is_known
            failures_of.setdefault(concern, []).append(Failure(policy, attachment, certain))
    return failures_of


def _follows_from_wrong_kind(world: LintWorld, attachment: Attachment) -> bool:
    """Whether a policy is refused at a target because another one is of a kind that it cannot have."""
    policy = attachment.policy
    if attachment.state != "policy invalid" or world.registry.profile(policy.group_kind).wrong_kinds != "policy":
        return False
    return any(sibling.state == "kind unsupported" for sibling in world.analysis.attachments[policy])


def _concern(world: LintWorld, policy: Resource, attachment: Attachment) -> Concern:
    match attachment.state:
        case "policy invalid":
            return "need not met" if _lacks_need(world, policy, attachment) else "policy invalid"
        case "kind unsupported":
            return "group wrong" if right_groups(world, attachment) else "kind unsupported"
        case "not permitted":
            is_need = attachment_reason(world.analysis, attachment).rule == "need-not-permitted"
            return "need not met" if is_need else "namespace"
        case "not managed":
            return _controller_concern(world, attachment)
        case "target missing" | "target unknown" | "attached" | "not computed":
            return _absence_concern(world, attachment)
        case concern:
            return concern


def _lacks_need(world: LintWorld, policy: Resource, attachment: Attachment) -> bool:
    """Whether a policy is invalid because an object that it refers to is missing, not because of its own settings."""
    if policy.ref.group_kind == BACKEND_TLS_POLICY:
        return True
    index, profile = world.index, world.registry.profile(policy.ref.group_kind)
    need = missing_need(index, index.with_defaults(policy), profile)
    named = named_needs(index, index.with_defaults(policy), profile.every_need)
    wrong = {need.message for need in named if isinstance(need, NotAttached)}
    return need is not None and need.message not in wrong and attachment.message.startswith(need.message)


def _absence_concern(world: LintWorld, attachment: Attachment) -> Concern:
    """Return the concern of an attachment whose target is missing or unknown."""
    declared, target, is_unknown = attachment.declared, attachment.target, attachment.state == "target unknown"
    if target is None and not declared.field:
        return "not named"
    if target and right_groups(world, attachment):
        return "group wrong"
    if target and is_unknown and _may_not_cross(world, attachment, target.object):
        return "namespace"
    if declared.selector is not None:
        return "nothing selected"
    if target is None:
        return "target missing" if is_unknown else "nothing named"
    return _name_concern(world, attachment, target)


def _name_concern(world: LintWorld, attachment: Attachment, target: NodeRef) -> Concern:
    profile = world.registry.profile(attachment.policy.group_kind)
    if why_absent(target.object, profile, world.topology) is None:
        is_there = not target.section or target.section in world.topology.sections(target.object)
        return "target overlaps" if is_there else "section missing"
    if profile.targets_exist == "whenReferred" and world.index.get(target.object):
        return "not referred to"
    return "some targets missing" if working_attachments(world, attachment.policy) else "target missing"


def _may_not_cross(world: LintWorld, attachment: Attachment, target: ObjectRef) -> bool:
    """Whether a reference is not known to be allowed into another namespace."""
    policy = attachment.policy
    if not policy.namespace or target.namespace in {"", policy.namespace}:
        return False
    profile = world.registry.profile(policy.group_kind)
    if profile.cross_namespace is False and attachment.declared.selector is None:
        return True
    return profile.grant_required and world.index.grants.permit(policy.group_kind, policy.namespace, target) is None


def _controller_concern(world: LintWorld, attachment: Attachment) -> Concern:
    """Return the concern of a target that the controllers of the policy do not handle."""
    owners = set(_owners(world, attachment.target.object)) if attachment.target else set[str]()
    if not owners.isdisjoint(world.registry.profile(attachment.policy.group_kind).controllers):
        # They would act on it, and ignore it.
        return "target invalid"
    return "other controller" if owners else "target unattached"


def _owners(world: LintWorld, target: ObjectRef) -> Iterator[str]:
    """Yield the controllers of a Gateway, its parts, or a route; the mesh has the name ""."""
    if target.group_kind not in ROUTES:
        yield from filter(None, [world.gateways.controller_of(target)])
        return
    for route in world.relations.delegating_routes(target):
        for parent in parent_refs(world.index, route):
            if parent.object.group_kind in LISTENER_HOLDERS:
                yield from filter(None, [world.gateways.controller_of(parent.object)])
    bindings = world.relations.bindings(target)
    if any(binding.state == "attached" and binding.parent.group_kind in PORT_HOLDERS for binding in bindings):
        yield ""


def working_attachments(world: LintWorld, policy: ObjectRef) -> list[Attachment]:
    """Return the working attachments of a policy by its own references."""
    attachments = world.analysis.attachments[policy]
    attached = (attachment for attachment in attachments if attachment.state == "attached")
    return [attachment for attachment in attached if not attachment.declared.named_by]


def right_groups(world: LintWorld, attachment: Attachment) -> list[str]:
    """Return the groups that have the kind of a reference whose group is wrong, or [] if it is right."""
    kind, profile = attachment.declared.group_kind, world.registry.profile(attachment.policy.group_kind)
    takes = profile.declared_targets
    if "/" in kind.group:
        return [kind.group.partition("/")[0]]
    if takes:
        may_be = kind in takes or kind in profile.virtual_targets
        return [] if may_be else [target.group for target in sorted(takes) if target.kind == kind.kind]
    is_known = kind.group in GATEWAY_API_GROUPS or is_kubernetes_own(kind) or "." not in kind.group
    if not is_known or kind in {*HIERARCHY, *world.index.kinds, *world.index.group_kinds}:
        return []
    return [hierarchy_kind.group for hierarchy_kind in HIERARCHY if hierarchy_kind.kind == kind.kind]


def _is_group_known(world: LintWorld, attachment: Attachment) -> bool:
    """Whether the group of a reference is written or known; the API may have a default for it."""
    kind = attachment.policy.group_kind
    entry = value_at(world.index.defaulted(attachment.policy), attachment.declared.field)
    is_written = isinstance(entry, Mapping) and "group" in entry
    return is_written or world.registry.profile(kind).known_by == "profile" or kind in world.index.definitions
