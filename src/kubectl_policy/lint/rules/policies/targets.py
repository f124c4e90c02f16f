"""Targets that do not exist or are not permitted (GWP1001 to GWP1005, and GWP1008)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.lint_world import LintWorld, did_you_mean, nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.policies.failures import Failure, failures, right_groups, working_attachments
from kubectl_policy.model.fields import strings_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY, ROUTES
from kubectl_policy.model.kinds import with_article
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.questions.shared.trials import near_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource, Severity

_NOT_FOUND: Final = "TargetNotFound"


@lint_rule("GWP1001", "error", "closed world")
def target_not_found(world: LintWorld) -> Iterator[Finding]:
    """A policy targets an object that does not exist.

    The policy has no effect, and its controller reports that the target is not found, or reports nothing. A misspelled
    name looks like a correct one: the requests that the policy should protect are not protected. If the policy has
    other targets that exist, partial-target-resolution reports it instead.

    Source: PolicyReasonTargetNotFound (Gateway API, apis/v1/policy_types.go); kgateway-dev/kgateway#11160.
    """
    for failure in failures(world, "target missing"):
        yield _missing(world, failure, "does not exist") if failure.certain else _unread(world, failure)


@lint_rule("GWP1008", "error", "closed world")
def partial_target_resolution(world: LintWorld) -> Iterator[Finding]:
    """A policy targets several objects, some of which do not exist.

    The policy looks healthy because it is attached to the other targets: some controllers report a policy as accepted
    as soon as one of its targets exists. The requests to the missing targets are not protected.

    Source: kgateway-dev/kgateway#14709; PolicyReasonTargetNotFound (Gateway API, apis/v1/policy_types.go).
    """
    for failure in failures(world, "some targets missing"):
        if failure.certain:
            working = working_attachments(world, failure.policy.ref)
            existing = dict.fromkeys(attachment.target for attachment in working if attachment.target)
            where = some([node_phrase(target) for target in existing])
            finding = _missing(world, failure, f"does not exist, so that the policy holds for {where} alone")
            related = tuple(world.related(target.object, "a target that exists") for target in existing)
            yield replace(finding, related=related)
        else:
            yield _unread(world, failure)


def _unread(world: LintWorld, failure: Failure) -> Finding:
    declared, target = failure.attachment.declared, failure.attachment.target
    tried = world.trials.target(failure.policy, declared, target.object) if target else ""
    return world.unknown(failure.policy, failure.field, failure.message, name=tried)


def _missing(world: LintWorld, failure: Failure, problem: str) -> Finding:
    target = failure.target.object
    return Finding(
        subject=failure.policy.ref,
        field=f"{failure.field}.name",
        message=f"{target} {problem}",
        reason=_NOT_FOUND,
        fix=world.meant(target, world.trials.target(failure.policy, failure.attachment.declared, target)),
    )


@lint_rule("GWP1002", "error")
def target_section_not_found(world: LintWorld) -> Iterator[Finding]:
    """A policy targets a listener, rule or port that its target does not have.

    Such a policy must not be attached, not even to the rest of the object: it has no effect. Sections are the listeners
    of a Gateway, the named rules of a route, and the ports of a Service, by name.

    Source: SectionName of LocalPolicyTargetReferenceWithSectionName, "the Policy must fail to attach" (Gateway API,
    apis/v1/policy_types.go).
    """
    for failure in failures(world, "section missing"):
        if failure.certain and _may_be_number(world, failure):
            yield replace(failure.doubt, message=f"{failure.message}; it may be a number, if the kind has such names")
        elif failure.certain:
            target, section = failure.target, failure.attachment.declared.section
            several = strings_at(value_at(world.index.defaulted(failure.policy.ref), failure.field), "sectionNames")
            name = f"sectionNames[{several.index(section)}]" if section in several else "sectionName"
            tried = world.trials.section(failure.policy, failure.attachment.declared, target.object)
            yield Finding(
                subject=failure.policy.ref,
                field=f"{failure.field}.{name}",
                message=failure.message,
                reason=_NOT_FOUND,
                related=(world.related(target.object, "the target"),),
                fix=_of_listener_set(world, target) or did_you_mean(tried),
            )
        else:
            yield failure.doubt


def _may_be_number(world: LintWorld, failure: Failure) -> bool:
    """Whether a section may be the number of a port or of an unnamed rule, which some implementations accept."""
    target, section = failure.target.object, failure.attachment.declared.section
    number = re.fullmatch(r"(rule-)?([1-9][0-9]{0,8})", section)
    if number is None or world.registry.profile(failure.policy.ref.group_kind).known_by == "profile":
        return False
    position = int(number[2])
    if number[1]:
        rules = world.topology.sections(target) if target.group_kind in ROUTES else ()
        return position <= len(rules) and is_unnamed(rules[position - 1])
    return position in world.relations.ports(target)


def _of_listener_set(world: LintWorld, target: NodeRef) -> Fix | None:
    sets = world.gateways.admitted(target.object) if target.object.group_kind == GATEWAY else ()
    owner = next((owner for owner in sets if target.section in world.topology.sections(owner)), None)
    return Fix(words=f"{target.section} is a listener of {owner}, which can be targeted itself") if owner else None


@lint_rule("GWP1003", "error", "profile")
def target_kind_unsupported(world: LintWorld) -> Iterator[Finding]:
    """A policy targets a kind that its own kind does not support.

    The controller refuses the policy as invalid, or the definition rejects it when it is applied. The profile of the
    policy kind lists the supported kinds; kinds without a profile are not checked.

    Source: the targets of each policy kind in its definition; `kubectl policy explain KIND` lists them.
    """
    for failure in failures(world, "kind unsupported"):
        kinds = world.registry.profile(failure.policy.ref.group_kind).declared_targets
        # What is a kind is not misspelt.
        is_kind = failure.attachment.declared.group_kind in world.index.kinds
        attachments = world.analysis.attachments[failure.policy.ref]
        is_whole = any(sibling.state == "policy invalid" for sibling in attachments)
        yield Finding(
            subject=failure.policy.ref,
            field=f"{failure.field}.kind",
            message=f"{failure.message}; the policy is invalid at its other targets, too"
            if is_whole
            else failure.message,
            reason="Invalid",
            fix=None if is_kind else did_you_mean(_other_kind(world, failure, kinds)),
        )


def _other_kind(world: LintWorld, failure: Failure, kinds: Iterable[GroupKind]) -> str:
    """Return the name of a kind that the policy can target, unless it has no object of that name, or ""."""
    declared = failure.attachment.declared
    by_name = {kind.kind: replace(declared, group=kind.group, kind=kind.kind) for kind in sorted(kinds)}
    near = near_names(declared.kind, by_name)
    return next((name for name in near if world.trials.works(failure.policy, by_name[name])), "")


@lint_rule("GWP1004", "error")
def target_group_wrong(world: LintWorld) -> Iterator[Finding]:
    """A policy names a kind with the wrong API group, or with a version in the group.

    The reference names nothing, although an object of that kind and name may exist. A target reference contains only
    the group, as in `gateway.networking.k8s.io`; the group of Services, the core group, is empty.

    Source: Group of LocalPolicyTargetReference (Gateway API, apis/v1/policy_types.go); GEP-713 has a sample with a
    version there itself.
    """
    for failure in failures(world, "group wrong"):
        policy, attachment = failure.policy, failure.attachment
        if failure.certain:
            yield _other_group(world, policy, attachment, right_groups(world, attachment))
        else:
            doubt = f"it names no group, and which {attachment.declared.kind} that means is not known"
            yield world.unknown(policy, failure.field, doubt)
    for policy, attachment in world.attachments:
        # In a closed world, nothing has such a group, unless it is known to be one that no API serves.
        meant = attachment.declared.group_kind
        if attachment.virtual and meant not in world.registry.profile(policy.ref.group_kind).virtual_targets:
            near = nearest(meant.group, (kind.group for kind in world.index.kinds if kind.kind == meant.kind))
            groups = right_groups(world, attachment) or ([near] if near else [])
            if groups:
                yield _other_group(world, policy, attachment, groups)


def _other_group(world: LintWorld, policy: Resource, attachment: Attachment, groups: Sequence[str]) -> Finding:
    declared = attachment.declared
    if "/" in declared.group:
        wrong = f"group {declared.group} has a version in it"
    elif world.registry.profile(policy.ref.group_kind).declared_targets:
        target_kind = f"{with_article(declared.kind)} of {_group(declared.group)}"
        wrong = f"{with_article(policy.ref.kind)} cannot target {target_kind}"
    else:
        wrong = f"{_group(declared.group)} has no {declared.kind}"
    return Finding(
        subject=policy.ref,
        field=f"{declared.field}.group",
        message=f"{wrong}, so the reference leads nowhere",
        reason=_NOT_FOUND,
        fix=Fix(
            words=f"{declared.kind} is in {' or '.join(map(_group, groups))}",
            value=groups[0] if len(groups) == 1 else "",
        ),
    )


def _group(name: str) -> str:
    return f"group {name}" if name else 'the core group, ""'


@lint_rule("GWP1005", "error", "profile")
def target_cross_namespace(world: LintWorld) -> Iterator[Finding]:
    """A policy targets an object in another namespace without permission.

    Policies of most kinds can target only objects in their own namespace, so that nobody changes objects of another
    team. If a kind can reach further, a ReferenceGrant in the namespace of the target has to permit it. Objects that
    labels select in namespaces without a grant are a warning, and only if other namespaces permit the reference.

    Source: GEP-713, "Cross namespace references"; ReferenceGrant (Gateway API, apis/v1beta1/referencegrant_types.go).
    """
    reported: set[tuple[ObjectRef, str, str]] = set()
    for failure in failures(world, "namespace"):
        target, is_selected = failure.target.object, failure.attachment.declared.selector is not None
        # A selector may reach many objects there, and what is wrong with it is said once.
        key = (failure.policy.ref, failure.field, target.namespace)
        if key in reported:
            continue
        reported.add(key)
        severity: Severity | None = None
        if is_selected:
            working = working_attachments(world, failure.policy.ref)
            holds = any(attachment.declared.field == failure.field for attachment in working)
            severity = "info" if holds else "warning"
        yield (
            Finding(
                subject=failure.policy.ref,
                field=failure.field if is_selected else f"{failure.field}.namespace",
                message=failure.message,
                related=(world.related(target, "the target"),),
                severity=severity,
                fix=_permitting(world, failure),
            )
            if failure.certain
            else failure.doubt
        )


def _permitting(world: LintWorld, failure: Failure) -> Fix:
    """Return a fix: a ReferenceGrant where that helps, else a change of the policy."""
    policy, target = failure.policy.ref, failure.target.object
    is_selected = failure.attachment.declared.selector is not None
    if is_selected or world.registry.profile(policy.group_kind).cross_namespace is not False:
        return world.grant_for(policy, replace(target, name="") if is_selected else target)
    near = replace(target, namespace=policy.namespace)
    if world.index.get(near):
        return Fix(words=f"there is {near}", value=policy.namespace)
    return Fix(words=f"a {policy.kind} for it has to be in namespace {target.namespace}")
