"""Definitions of policy kinds and of Gateway API, and deprecated versions (GWP8001 to GWP8009)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import labels_of, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.kind_roles import (
    GATEWAY_API,
    GATEWAY_API_GROUPS,
    GATEWAY_CLASS,
    LISTENER_HOLDERS,
    PORT_HOLDERS,
    ROUTES,
    TARGET_KINDS,
)
from kubectl_policy.model.kinds import CRD, POLICY_LABEL, names_in_crd, with_article
from kubectl_policy.profiles.infer import references_to_targets, refers_to_targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import GroupKind, Json, Resource

_LABEL_FIELD: Final = f'metadata.labels["{POLICY_LABEL}"]'
_CLASSES: Final = ("Direct", "Inherited")
# What a description says where a reference to another namespace needs an agreement, or reaches nobody else's traffic.
_HANDSHAKES: Final = ("referencegrant", "handshake", "same namespace")
_STRATEGY_FIELDS: Final = ("strategy", "mergeStrategy")
_QUOTED: Final = pattern(r"""['"](\w+)['"]""")
# The levels of the hierarchy, and the kinds that stand on each.
_LEVELS: Final = {
    kind.kind: level
    for level, kinds in enumerate(((GATEWAY_CLASS,), LISTENER_HOLDERS, ROUTES, PORT_HOLDERS))
    for kind in kinds
}
_NO_SCHEMA: Final[Mapping[str, Json]] = MappingProxyType({})
# What a schema is looked through for, no deeper.
_MAX_DEPTH: Final = 12
_BUNDLE: Final = f"{GATEWAY_API}/bundle-version"
_CHANNEL: Final = f"{GATEWAY_API}/channel"
_NUMBERS: Final = pattern(r"\d+")
_UNSUPPORTED: Final = {"SupportedVersion": "False"}


class _Defined(Struct, frozen=True, kw_only=True):
    """A definition in effect, with its kind and its schema."""

    definition: Resource
    kind: GroupKind
    schema: Mapping[str, Json]

    @property
    def properties(self) -> Mapping[str, Json]:
        return mapping_at(self.schema, "properties.spec.properties")

    @property
    def label(self) -> str | None:
        """The value of the policy label, or None."""
        return labels_of(self.definition.raw).get(POLICY_LABEL)

    def finding(self, message: str, field: str = "", fix: Fix | None = None) -> Finding:
        return Finding(subject=self.definition.ref, field=field, message=message, fix=fix)


def _defined(world: LintWorld) -> Iterator[_Defined]:
    """Yield the definitions in effect, except those of kinds that policies target."""
    for definition in world.of_kind(CRD):
        names = names_in_crd(definition)
        if (
            names
            and names.group_kind not in TARGET_KINDS
            and world.index.definitions.get(names.group_kind) is definition
        ):
            versions = mappings_at(definition.raw, "spec.versions")
            has_schema = any(mapping_at(version, "schema.openAPIV3Schema") for version in versions)
            schema = world.index.defaults.schema_of(names.group_kind)
            yield _Defined(definition=definition, kind=names.group_kind, schema=schema if has_schema else _NO_SCHEMA)


def _policy_kinds(world: LintWorld) -> Iterator[_Defined]:
    for defined in _defined(world):
        profile = world.registry.profile_of(defined.kind)
        if defined.label is not None or (profile and profile.role == "policy" and refers_to_targets(defined.schema)):
            yield defined


@lint_rule("GWP8001", "info")
def crd_label_missing(world: LintWorld) -> Iterator[Finding]:
    """The definition of a policy kind lacks the label by which tools recognize policy kinds.

    Objects of the kind have target references, as policies have. Without the label, tools such as gwctl do not list
    them, and other tools guess from the name of the kind. Kinds whose names do not end as those of policies do, such as
    registrations or extensions, are not reported.

    Source: PolicyLabelKey (Gateway API, apis/v1/policy_types.go).
    """
    for defined in _policy_kinds(world):
        if defined.label is None:
            fix = Fix(words=f"add the label {POLICY_LABEL}: Inherited, or Direct where it affects its targets alone")
            yield defined.finding(f"{defined.kind.kind} has target references, and no label {POLICY_LABEL}", fix=fix)


@lint_rule("GWP8002", "info")
def crd_label_value(world: LintWorld) -> Iterator[Finding]:
    """The label in the definition of a policy kind is neither Direct nor Inherited.

    Tools cannot tell whether the policies affect objects below their targets. The case of the value does not matter:
    GEP-2648 uses lower case, the API upper case.

    Source: PolicyLabelKey (Gateway API, apis/v1/policy_types.go); GEP-2648 and GEP-2649, "Standard label on
    CRD objects".
    """
    for defined in _policy_kinds(world):
        label = defined.label
        if label is not None and label.lower() not in {"direct", "inherited"}:
            state = f"is {label}" if label else "is empty"
            message = f"{state}, which is neither {' nor '.join(_CLASSES)}"
            near = next((known for known in _CLASSES if label and known.lower().startswith(label.lower()[:3])), "")
            fix = Fix(words=f"did you mean {near}?", value=near) if near else None
            yield defined.finding(message, _LABEL_FIELD, fix)


@lint_rule("GWP8003", "warning")
def crd_no_targetrefs(world: LintWorld) -> Iterator[Finding]:
    """A definition declares a policy kind whose objects cannot name a target.

    Policies declare targets in `targetRefs`, or in `targetRef` if there is at most one. With other field names, no tool
    can tell the targets of the policy.

    Source: GEP-713, "The targetRefs stanza".
    """
    for defined in _defined(world):
        if defined.label is not None and defined.properties and not any(references_to_targets(defined.schema)):
            yield defined.finding(f"{defined.kind.kind} is labelled as a policy kind, and its spec has no targetRefs")


@lint_rule("GWP8004", "warning")
def crd_no_status_conditions(world: LintWorld) -> Iterator[Finding]:
    """The objects of a policy kind have no field for conditions.

    The controller has no standard way to report whether a policy is accepted and enforced, so nobody who looks at the
    policy can know. The rule looks for a list of conditions anywhere in the status. Kinds without targets are not
    reported, because another rule reports those.

    Source: GEP-713, "The status stanza of policy objects".
    """
    for defined in _policy_kinds(world):
        status = mapping_at(defined.schema, "properties.status")
        if any(references_to_targets(defined.schema)) and not _has_conditions(status, _MAX_DEPTH):
            lacking = "its status has no conditions" if status else "it has no status"
            yield defined.finding(f"{defined.kind.kind} is a policy kind, and {lacking} in its schema")


def _has_conditions(schema: Mapping[str, Json], deep: int) -> bool:
    """Whether a schema allows conditions at any depth."""
    if schema.get("x-kubernetes-preserve-unknown-fields") is True:
        return True
    properties = mapping_at(schema, "properties")
    inner = (*properties.values(), schema.get("items"), schema.get("additionalProperties"))
    return "conditions" in properties or (
        deep > 0
        and any(_has_conditions(schema_part, deep - 1) for schema_part in inner if isinstance(schema_part, dict))
    )


@lint_rule("GWP8005", "warning")
def crd_cross_ns_no_handshake(world: LintWorld) -> Iterator[Finding]:
    """Policies of a kind can target objects in other namespaces without the consent of these namespaces.

    Without a ReferenceGrant or another agreement, anybody who may create such a policy can change objects of other
    teams. The rule expects that the description of a reference in the definition names what is required, or says that
    the policy changes only requests from its own namespace. Kinds with a profile and definitions without descriptions
    are not reported.

    Source: GEP-713, "Cross namespace references".
    """
    for defined in _policy_kinds(world):
        profile = world.registry.profile_of(defined.kind)
        if profile is None or profile.known_by == "profile":
            continue
        spec = mapping_at(defined.schema, "properties.spec")
        descriptions = (text_at(defined.schema, "description"), *_descriptions(spec))
        description = " ".join(" ".join(descriptions).lower().split())
        for name, reference in references_to_targets(defined.schema):
            has_namespace = "namespace" in mapping_at(reference, "properties")
            if has_namespace and description and not any(phrase in description for phrase in _HANDSHAKES):
                where = f"{defined.kind.kind} can target other namespaces by spec.{name}.namespace"
                yield defined.finding(f"{where}, and its descriptions name no ReferenceGrant or other agreement")


def _descriptions(schema: Mapping[str, Json], deep: int = 3) -> Iterator[str]:
    """Yield the descriptions of a field and its descendants, down to the fields of a reference in a list."""
    yield text_at(schema, "description")
    for inner in (*mapping_at(schema, "properties").values(), schema.get("items")) if deep else ():
        if isinstance(inner, dict):
            yield from _descriptions(inner, deep - 1)


@lint_rule("GWP8006", "error")
def crd_none_plus_other(world: LintWorld) -> Iterator[Finding]:
    """A policy kind has the merge strategy None and other strategies.

    With None, the oldest of several policies wins and all others are refused, so None cannot be combined with a
    strategy that merges policies. The rule reads the strategies from the values that the definition allows.

    Source: GEP-713, "Merge strategy: None" (MUST NOT be implemented in combination with any other merge strategy).
    """
    for defined in _policy_kinds(world):
        for holder in ("", "defaults.properties.", "overrides.properties."):
            for field in _STRATEGY_FIELDS:
                allowed = strings_at(defined.properties, f"{holder}{field}.enum")
                if len(allowed) > 1 and any(strategy.lower() == "none" for strategy in allowed):
                    rest = ", ".join(strategy for strategy in allowed if strategy.lower() != "none")
                    path = f"spec.{holder.replace('properties.', '')}{field}"
                    yield defined.finding(f"{path} of {defined.kind.kind} can be None, and {rest} as well")


@lint_rule("GWP8007", "info")
def crd_direct_multi_kind(world: LintWorld) -> Iterator[Finding]:
    """A policy kind is labeled Direct, but its policies can target several levels of the hierarchy.

    A direct policy affects only its target and supports one kind of target. If targets are on several levels, such as
    Gateways and routes, policies meet: users expect that the more specific policy wins (Atomic Defaults), and the label
    should be Inherited. The rule reads the possible targets from the rules and values in the definition.

    Source: GEP-713, "Classes of policies" and "Merge strategy: Atomic defaults".
    """
    for defined in _policy_kinds(world):
        if (defined.label or "").lower() != "direct":
            continue
        spec, references = mapping_at(defined.schema, "properties.spec"), dict(references_to_targets(defined.schema))
        lists = (mapping_at(spec, f"properties.{name}") for name in references)
        kinds = {kind for reference in references.values() for kind in strings_at(reference, "properties.kind.enum")}
        kinds.update(kind for schema in (*references.values(), *lists) for kind in _kinds_in_rules(schema, ".kind"))
        kinds = {kind for kind in kinds.union(_kinds_in_rules(spec, "targetRef")) if kind in _LEVELS}
        if len({_LEVELS[kind] for kind in kinds}) > 1:
            *first, last = sorted(kinds, key=lambda kind: (_LEVELS[kind], kind))
            policy, named = with_article(defined.kind.kind), f"{', '.join(first)} and {last}"
            message = f"is {defined.label}, and {policy} can target {named}, which are not on one level"
            yield defined.finding(message, _LABEL_FIELD, Fix(words="label it Inherited", value="Inherited"))


def _kinds_in_rules(schema: Mapping[str, Json], about: str) -> Iterator[str]:
    """Yield the quoted words that validation rules of a schema compare target kinds with."""
    for validation in mappings_at(schema, "x-kubernetes-validations"):
        rule = text_at(validation, "rule")
        if ".kind" in rule and about in rule and "!=" not in rule:
            yield from _QUOTED.findall(rule)


@lint_rule("GWP8008", "warning")
def crd_version_skew(world: LintWorld) -> Iterator[Finding]:
    """The definitions of Gateway API have different versions, or a version that a controller does not support.

    An installation replaced only some of the definitions, or two implementations installed their own. Fields that only
    a newer version has are silently dropped where the older definition is installed. A controller that does not support
    the version reports this in the condition SupportedVersion of its GatewayClass. Pre-release versions count as the
    release that they lead to. Definitions without the annotation of their version are not checked.

    Source: GatewayClassConditionStatusSupportedVersion (Gateway API, apis/v1/gatewayclass_types.go); Istio IST0156.
    """
    versions: dict[Resource, tuple[int, ...]] = {}
    for definition in world.index.of_kind(CRD):
        numbers = _NUMBERS.findall(_annotation(definition, _BUNDLE).partition("-")[0])[:3]
        if numbers and text_at(definition.raw, "spec.group") in GATEWAY_API_GROUPS:
            versions[definition] = tuple(int(number[:9]) for number in numbers)
    newest = max(versions, key=lambda definition: versions[definition], default=None)
    for definition, version in versions.items():
        if newest and version != versions[newest]:
            channel = _annotation(definition, _CHANNEL)
            bundle = f"{_annotation(definition, _BUNDLE)}{f' ({channel})' if channel else ''}"
            yield Finding(
                subject=definition.ref,
                field=f'metadata.annotations["{_BUNDLE}"]',
                message=f"is of Gateway API {bundle}, and {newest.ref.name} of {_annotation(newest, _BUNDLE)}",
                related=(world.related(newest.ref, "the newest one"),),
                fix=Fix(words=f"install all of {_annotation(newest, _BUNDLE)}"),
            )
    for report in world.reported.current:
        if report.resource.ref.group_kind == GATEWAY_CLASS and report.has(_UNSUPPORTED):
            field, reported = world.reported.written(report)[0], report.comparison.reported
            reason = reported.reason if reported else ""
            yield Finding(subject=report.resource.ref, field=field, message=report.phrase, reason=reason)


def _annotation(resource: Resource, name: str) -> str:
    annotation = mapping_at(resource.raw, "metadata.annotations").get(name)
    return annotation if isinstance(annotation, str) else ""


@lint_rule("GWP8009", "info")
def served_version_deprecated(world: LintWorld) -> Iterator[Finding]:
    """An object uses a deprecated version of its API.

    The API server accepts the object with a warning, until an upgrade removes the version. Objects that are stored in
    the cluster are not affected: only the manifest has to name another version. The rule checks kinds whose definition
    is in the input.

    Source: CustomResourceDefinitionVersion.deprecated (Kubernetes, apiextensions.k8s.io/v1).
    """
    for kind, definition in world.index.definitions.items():
        versions = {text_at(version, "name"): version for version in mappings_at(definition.raw, "spec.versions")}
        deprecated = {name for name, version in versions.items() if version.get("deprecated") is True}
        if not deprecated:
            continue
        fine = [name for name, entry in versions.items() if entry.get("served") is not False and name not in deprecated]
        # The one that is stored, or else any that is served.
        current = max(fine, key=lambda name: versions[name].get("storage") is True, default="")
        for resource in world.of_kind(kind):
            group, _, version = text_at(resource.raw, "apiVersion").rpartition("/")
            if version in deprecated:
                warning = text_at(versions[version], "deprecationWarning")
                yield Finding(
                    subject=resource.ref,
                    field="apiVersion",
                    message=f"{version} of {kind.kind} is deprecated{f': {warning}'.rstrip('.') if warning else ''}",
                    fix=Fix(words=f"use {current}", value=f"{group}/{current}") if current else None,
                )
