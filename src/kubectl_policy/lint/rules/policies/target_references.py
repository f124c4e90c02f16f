"""The form of target references (GWP1006, GWP1007, GWP1009 to GWP1011, GWP1020 and GWP1021)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.lint_world import LintWorld, nearest
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.policies.failures import Failure, failures, working_attachments
from kubectl_policy.model.fields import items_at, labels_of, mapping_at, value_at
from kubectl_policy.model.selectors import selects
from kubectl_policy.profiles.fields import TARGET_FIELDS
from kubectl_policy.profiles.load import built_in_profiles
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.questions.shared.trials import near_names
from kubectl_policy.topology.conditions import BACKEND_TLS_POLICY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile

_SINGULAR, _PLURAL, _ = TARGET_FIELDS
# What is misspelt in references.
_MEMBERS: Final = ("group", "kind", "name", "namespace", "sectionName", "matchLabels", "matchExpressions")


@lint_rule("GWP1006", "warning", "closed world")
def selector_matches_nothing(world: LintWorld) -> Iterator[Finding]:
    """A policy selects its targets by labels that no object has.

    The policy has no effect. In most cases a label is misspelled or was removed from a route; nothing fails, and most
    controllers report nothing.

    Source: envoyproxy/gateway#8927 and #6887; istioctl IST0127 and kiali KIA0004 are such checks of workloads.
    """
    for failure in failures(world, "nothing selected"):
        # What is in doubt may be one object of several.
        working = working_attachments(world, failure.policy.ref)
        if any(attachment.declared.field == failure.field for attachment in working):
            continue
        if not failure.certain:
            yield failure.doubt
        elif _may_be_global(world, failure):
            yield replace(failure.doubt, message=f"{failure.message}, unless policies there are for all namespaces")
        else:
            fix = _similar_label(world, failure)
            yield Finding(subject=failure.policy.ref, field=failure.field, message=failure.message, fix=fix)


def _may_be_global(world: LintWorld, failure: Failure) -> bool:
    """Whether the policy may select in all namespaces, which depends on a setting that is not given."""
    kind, declared, index = failure.policy.ref.group_kind, failure.attachment.declared, world.index
    built_in = built_in_profiles(kind.group).get(kind)
    if built_in is None or not built_in.global_namespace or world.registry.profile(kind).global_namespace:
        return False
    target = declared.group_kind
    return any(index.selected(target, home, declared.selector or {}) for home in index.namespaces_of(target))


def _similar_label(world: LintWorld, failure: Failure) -> Fix | None:
    """Return a label in use that is similar to a selected one that is not, and selects an object, as a fix."""
    declared, index = failure.attachment.declared, world.index
    home = declared.namespace or failure.policy.ref.namespace
    inside = index.of_kind(declared.group_kind) if declared.namespaces else index.of_kind_in(declared.group_kind, home)
    labels = [labels_of(resource.raw) for resource in inside]
    wanted = mapping_at(declared.selector or {}, "matchLabels")

    def selects_any(match_labels: Mapping[str, Json]) -> bool:
        selector = {**(declared.selector or {}), "matchLabels": match_labels}
        return any(selects(selector, object_labels) for object_labels in labels)

    for key, value in wanted.items():
        values = {object_labels[key] for object_labels in labels if key in object_labels}
        if value in values:
            continue
        for near in near_names(str(value), values):
            if selects_any({**wanted, key: near}):
                return Fix(words=f"did you mean {key}: {near}?")
        rest = {name: label for name, label in wanted.items() if name != key}
        for near in near_names(key, {name for object_labels in labels for name in object_labels}):
            if selects_any({**rest, near: value}):
                return Fix(words=f"did you mean the label {near}?")
    return None


@lint_rule("GWP1007", "warning")
def selector_matches_all(world: LintWorld) -> Iterator[Finding]:
    """A policy selects its targets by labels but names no label, and so selects all objects.

    Objects that are added later are also affected, whoever adds them. Name the targets, or require a label. Kinds for
    which an empty selector selects nothing are not reported.

    Source: envoyproxy/gateway#6899; LabelSelector (Kubernetes), "An empty label selector matches all objects".
    """
    reported: set[tuple[Resource, str]] = set()
    for policy, attachment in world.attachments:
        selector, key = attachment.declared.selector, (policy, attachment.declared.field)
        if selector is None or selector.get("matchLabels") or selector.get("matchExpressions") or key in reported:
            continue
        reported.add(key)
        # Where there is nothing to select, selector-matches-nothing says so.
        takes_all = world.registry.profile(policy.ref.group_kind).empty_selector == "everything"
        if takes_all and attachment.declared.kind and attachment.state != "target missing":
            declared = attachment.declared
            home = "" if declared.namespaces else declared.namespace or policy.ref.namespace
            where = f" in namespace {home}" if home else ""
            message = f"selects every {declared.kind}{where}, also those to come: it asks for no label"
            yield Finding(subject=policy.ref, field=key[1], message=message)


@lint_rule("GWP1009", "warning")
def duplicate_target(world: LintWorld) -> Iterator[Finding]:
    """A policy names the same target twice.

    The second reference adds nothing, and if a target accepts one policy of the kind, it may conflict with the first.
    An API server rejects a BackendTLSPolicy with duplicate targets, including one that names both a Service and one of
    its ports.

    Source: TargetRefs of BackendTLSPolicySpec, "TargetRefs must be distinct" (Gateway API,
    apis/v1/backendtlspolicy_types.go).
    """
    for policy in world.policies:
        fields: dict[NodeRef, str] = {}
        firsts: dict[ObjectRef, NodeRef] = {}
        attachments = world.analysis.attachments[policy.ref]
        for attachment in attachments if len(attachments) > 1 else ():
            target, field = attachment.target, attachment.declared.field
            if target is None or attachment.declared.selector is not None or attachment.declared.named_by:
                continue
            before = target if target in fields else firsts.setdefault(target.object, target)
            with_and_without = policy.ref.group_kind == BACKEND_TLS_POLICY and "" in {before.section, target.section}
            if fields.setdefault(target, field) != field or (before != target and with_and_without):
                yield Finding(
                    subject=policy.ref,
                    field=field,
                    message=f"{fields[before]} names {node_phrase(before)} already",
                    related=(world.related(target.object, "the target"),),
                )


@lint_rule("GWP1010", "info")
def multiple_targetrefs_unsupported(world: LintWorld) -> Iterator[Finding]:
    """A BackendTLSPolicy has more than one target.

    Gateway API allows several targets, but advises implementations to support only one until it defines how conflicts
    between several are resolved and reported. Whether the other targets count depends on the implementation. Use a
    policy for each target.

    Source: TargetRefs of BackendTLSPolicySpec, "Implementations SHOULD NOT support more than one targetRef" (Gateway
    API, apis/v1/backendtlspolicy_types.go).
    """
    for policy in world.of_kind(BACKEND_TLS_POLICY):
        number = len(items_at(policy.raw, _PLURAL))
        if number > 1:
            message = f"has {number} targets, of which not every implementation supports more than one"
            yield Finding(subject=policy.ref, field=_PLURAL, message=message)


@lint_rule("GWP1011", "info")
def deprecated_targetref_singular(world: LintWorld) -> Iterator[Finding]:
    """A policy names its target in `targetRef`, although its kind has `targetRefs`.

    The singular field exists for older manifests: kinds first stop documenting it and then drop it. The definition of
    the kind, if it is in the input, or its profile says whether the kind has both fields.

    Source: GEP-713, which asks for targetRefs; istio/istio#54027, about a targetRef that is documented no more.
    """
    both = {profile.group_kind for profile in world.registry.policy_kinds if _has_both(world, profile)}
    for policy in world.policies if both else ():
        if policy.ref.group_kind in both and value_at(policy.raw, _SINGULAR) is not None:
            yield Finding(
                subject=policy.ref,
                field=_SINGULAR,
                message=f"is the old spelling: {policy.ref.kind} has {_PLURAL}, a list, instead",
                fix=Fix(words=f"name the target in {_PLURAL}"),
            )


def _has_both(world: LintWorld, profile: PolicyKindProfile) -> bool:
    """Whether a kind is known to have both spellings of target references."""
    fields: Collection[str] = ()
    if profile.group_kind in world.index.definitions:
        schema = world.index.defaults.schema_of(profile.group_kind)
        fields = [f"spec.{name}" for name in mapping_at(schema, "properties.spec.properties")]
    elif profile.known_by == "profile" and profile.reference_fields != TARGET_FIELDS:
        fields = profile.reference_fields
    return {_SINGULAR, _PLURAL} <= {*fields}


@lint_rule("GWP1020", "error")
def target_unnamed(world: LintWorld) -> Iterator[Finding]:
    """A target reference lacks a kind, or has neither a name nor labels.

    The reference names nothing, and the policy has no effect through it. If the definition of the kind requires these
    fields, an API server rejects the policy.

    Source: LocalPolicyTargetReference (Gateway API, apis/v1/policy_types.go), where group, kind and name are required.
    """
    for failure in failures(world, "nothing named"):
        yield Finding(subject=failure.policy.ref, field=failure.field, message=failure.message, reason="TargetNotFound")


@lint_rule("GWP1021", "warning", "profile")
def target_field_misspelt(world: LintWorld) -> Iterator[Finding]:
    """A target reference has an unknown field whose name resembles that of a known field.

    An API server drops the field or rejects the policy. If the field is dropped, the policy applies to more than
    intended: `sectioName: https` targets the whole Gateway. The rule checks kinds with a profile. If the definition of
    a kind is in the input, the policy is validated against the definition instead.

    Source: LocalPolicyTargetReferenceWithSectionName (Gateway API, apis/v1/policy_types.go).
    """
    for policy, attachment in world.attachments:
        declared, kind = attachment.declared, policy.ref.group_kind
        named = world.index.defaulted(policy.ref) if declared.unknown else None
        entry = mapping_at(named, declared.field)
        for name in declared.unknown:
            near = nearest(name, _MEMBERS)
            # A field that is set already cannot be meant.
            if (
                near
                and near not in entry
                and world.registry.profile(kind).known_by == "profile"
                and kind not in world.index.definitions
            ):
                yield Finding(
                    subject=policy.ref,
                    field=f"{declared.field}.{name}",
                    message="is no field of a target reference, so it has no effect",
                    fix=Fix(words=f"did you mean {near}?"),
                )
