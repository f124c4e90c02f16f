"""Definitions of policy kinds: what of GEP-713 they are held to, and what of it is not asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import FieldPath, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests import build
from tests.lint.rule_worlds import lint

if TYPE_CHECKING:
    from collections.abc import Mapping


_NOTHING: Final = "no ReferenceGrant or other agreement"
LABEL: Final = "gateway.networking.k8s.io/policy"
REFERENCE: Final[Mapping[str, Json]] = {name: {"type": "string"} for name in ("group", "kind", "name")}
CONDITIONS: Final[Json] = {"properties": {"conditions": {"type": "array"}}}


def schema(*, reference: Mapping[str, Json] = REFERENCE, status: Json = CONDITIONS, **spec: Json) -> dict[str, Json]:
    """The schema of a policy kind, which has a list of references unless `spec` says something else of it."""
    references: Json = {"type": "array", "items": {"properties": reference}}
    return {"properties": {"spec": {"properties": {"targetRefs": references, **spec}}, "status": status}}


FINE: Final = schema()


def definition(label: str | None = "Inherited", of: Json = FINE, kind: str = "ColorPolicy") -> Resource:
    return build.crd(kind, schema=of, labels=None if label is None else {LABEL: label})


def changed(resource: Resource, path: str, value: Json) -> Resource:
    raw = FieldPath.parse(path).put(resource.raw, value)
    assert isinstance(raw, dict)
    return replace(resource, raw=raw)


def check(*resources: Resource, rules: str = "GWP8", profiles: tuple[PolicyKindProfile, ...] = ()) -> list[Finding]:
    """What the rules of the group find."""
    return list(lint(analyze(build.snapshot(*resources), profiles=profiles), LintSettings(selected=(rules,))))


def said(*resources: Resource) -> list[tuple[str, str]]:
    return [(finding.rule, finding.message) for finding in check(*resources)]


@pytest.mark.parametrize("label", ["Direct", "Inherited", "direct", "inherited"])
def test_in_order(label: str) -> None:
    """In either case of the word: GEP-2648 and the API write it differently."""
    assert check(definition(label)) == []


def test_what_is_no_policy_kind() -> None:
    assert check(definition(None, schema(status=None), "ColorBinding")) == []
    assert check(definition(None, schema(targetRefs={"type": "string"}, status=None))) == []
    workload = schema(reference={**REFERENCE, "apiVersion": {"type": "string"}}, status=None)
    assert check(definition(None, workload)) == []
    assert check(build.crd("HTTPRoute", GATEWAY_API, schema=schema(status=None), labels={LABEL: "x"})) == []
    assert check(changed(definition("x"), "spec.names", {})) == []


def test_what_does_not_count() -> None:
    first, second = definition(), definition("x")
    second = replace(second, ref=replace(second.ref, name="other.example.com"))
    assert check(first, second) == []


def test_what_has_no_schema_is_held_to_nothing() -> None:
    assert check(build.crd("ColorPolicy", labels={LABEL: "Direct"})) == []
    assert [rule for rule, _ in said(build.crd("ColorPolicy", labels={LABEL: ""}))] == ["GWP8002"]


def test_labels() -> None:
    """One that is missing, and values that say nothing."""
    [finding] = check(definition(None))
    assert (finding.rule, finding.message) == ("GWP8001", f"ColorPolicy has target references, and no label {LABEL}")
    assert finding.fix
    [finding] = check(definition("true"))
    assert (finding.rule, finding.message) == ("GWP8002", "is true, which is neither Direct nor Inherited")
    assert finding.field == f'metadata.labels["{LABEL}"]'
    assert finding.fix is None
    [finding] = check(definition("dir"))
    assert finding.fix == Fix(words="did you mean Direct?", value="Direct")
    assert check(definition(""))[0].message == "is empty, which is neither Direct nor Inherited"


def test_targets() -> None:
    """In a list or alone; without any, nothing else is asked of the kind."""
    assert check(definition(of=schema(targetRefs=None, targetRef={"properties": REFERENCE}))) == []
    of: Json = {"properties": {"spec": {"properties": {"route": {"type": "string"}}}}}
    assert said(definition(of=of)) == [
        ("GWP8003", "ColorPolicy is labelled as a policy kind, and its spec has no targetRefs")
    ]


def test_conditions() -> None:
    """Anywhere in the status, or where it may have anything."""
    ancestors: Json = {"properties": {"ancestors": {"type": "array", "items": CONDITIONS}}}
    by_name: Json = {"properties": {"zones": {"additionalProperties": CONDITIONS}}}
    for status in (ancestors, by_name, {"x-kubernetes-preserve-unknown-fields": True}):
        assert check(definition(of=schema(status=status))) == []
    phase: Json = {"properties": {"phase": {"type": "string"}, "more": 3}}
    assert said(definition(of=schema(status=phase))) == [
        ("GWP8004", "ColorPolicy is a policy kind, and its status has no conditions in its schema")
    ]
    assert said(definition(of=schema(status=None))) == [
        ("GWP8004", "ColorPolicy is a policy kind, and it has no status in its schema")
    ]
    deep: Json = {}
    for _ in range(40):
        deep = {"properties": {"more": deep}}
    assert [rule for rule, _ in said(definition(of=schema(status=deep)))] == ["GWP8004"]


@pytest.mark.parametrize(
    "words",
    [
        "Needs a ReferenceGrant.",
        "Subject to the handshake.",
        "It MUST only apply to traffic originating from\nthe same   namespace as the policy.",
    ],
)
def test_other_namespaces_with_an_agreement(words: str) -> None:
    reference = {**REFERENCE, "namespace": {"type": "string", "description": words}}
    assert check(definition(of=schema(reference=reference))) == []


def test_other_namespaces() -> None:
    """Not found of kinds that a profile describes, nor where nothing is described at all."""
    bare = {**REFERENCE, "namespace": {"type": "string"}}
    assert check(definition(of=schema(reference=bare))) == []
    described = definition(of=schema(reference={**bare, "name": {"description": "The name of the target."}}))
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")
    assert check(described, profiles=(profile,)) == []
    [(name, message)] = said(described)
    assert (name, message) == (
        "GWP8005",
        f"ColorPolicy can target other namespaces by spec.targetRefs.namespace, and its descriptions name {_NOTHING}",
    )


def test_strategies() -> None:
    """None stands alone, wherever the strategy is chosen."""
    for fine in (["None"], ["AtomicDefaults", "PatchDefaults"], [], "None"):
        assert check(definition(of=schema(strategy={"enum": fine}))) == []
    inside: Json = {"properties": {"strategy": {"enum": ["none", "merge"]}}}
    assert said(definition(of=schema(defaults=inside, mergeStrategy={"enum": ["None", "Merge", "Patch"]}))) == [
        ("GWP8006", "spec.defaults.strategy of ColorPolicy can be None, and merge as well"),
        ("GWP8006", "spec.mergeStrategy of ColorPolicy can be None, and Merge, Patch as well"),
    ]


def rule(text: str) -> dict[str, Json]:
    return {"x-kubernetes-validations": [{"rule": text}]}


def test_levels_of_direct_kinds() -> None:
    routes = {**REFERENCE, "kind": {"enum": ["HTTPRoute", "GRPCRoute", "Colour"]}}
    assert check(definition("Direct", schema(reference=routes))) == []
    several = {**REFERENCE, "kind": {"enum": ["HTTPRoute", "Gateway"]}}
    assert check(definition("Inherited", schema(reference=several))) == []
    for text in (
        "self.kind != 'Service' || self.name == 'Gateway'",
        "self.backendRef.kind == 'Service' || self.x == 'Gateway'",
    ):
        of = FieldPath.parse("properties.spec.x-kubernetes-validations").put(schema(), [{"rule": text}])
        assert check(definition("Direct", of)) == []


@pytest.mark.parametrize(
    "of",
    [
        schema(reference={**REFERENCE, "kind": {"enum": ["HTTPRoute", "Gateway"]}}),
        schema(
            targetRefs={
                "items": {"properties": REFERENCE},
                **rule("self.all(t, t.kind == 'Gateway' || t.kind == \"HTTPRoute\")"),
            }
        ),
        schema(targetRefs={"items": {"properties": REFERENCE, **rule("self.kind in ['Gateway', 'HTTPRoute']")}}),
        {
            "properties": {
                "spec": {
                    "properties": {"targetRef": {"properties": REFERENCE}},
                    **rule("self.targetRef.kind in ['Gateway', 'HTTPRoute']"),
                },
                "status": CONDITIONS,
            }
        },
    ],
)
def test_direct_kinds_on_several_levels(of: Json) -> None:
    [finding] = check(definition("Direct", of))
    assert (finding.rule, finding.severity) == ("GWP8007", "info")
    assert (
        finding.message == "is Direct, and a ColorPolicy can target Gateway and HTTPRoute, which are not on one level"
    )
    assert finding.fix
    assert finding.fix.value == "Inherited"


def bundle(kind: str, version: str = "", channel: str = "", group: str = GATEWAY_API) -> Resource:
    names = {"bundle-version": version, "channel": channel}
    said_of = {f"{GATEWAY_API}/{name}": text for name, text in names.items() if text}
    return changed(build.crd(kind, group), "metadata.annotations", dict(said_of))


def test_one_version_of_gateway_api() -> None:
    same = bundle("Gateway", "v1.3.0"), bundle("HTTPRoute", "v1.3.0-rc.1"), bundle("TCPRoute")
    other = bundle("ColorPolicy", "v0.1.0", group="example.com")
    odd = changed(bundle("GRPCRoute"), "metadata.annotations", {f"{GATEWAY_API}/bundle-version": 3})
    assert check(*same, other, odd, bundle("TLSRoute", "latest")) == []


def test_versions_of_gateway_api() -> None:
    old = bundle("TCPRoute", "v1.0.0", "experimental")
    findings = check(bundle("Gateway", "v1.10.0"), old, bundle("HTTPRoute", "v1.9.0"))
    assert [(str(finding.subject), finding.message) for finding in findings] == [
        (
            "CustomResourceDefinition httproutes.gateway.networking.k8s.io",
            "is of Gateway API v1.9.0, and gateways.gateway.networking.k8s.io of v1.10.0",
        ),
        (
            "CustomResourceDefinition tcproutes.gateway.networking.k8s.io",
            "is of Gateway API v1.0.0 (experimental), and gateways.gateway.networking.k8s.io of v1.10.0",
        ),
    ]
    assert [related.words for related in findings[0].related] == ["the newest one"]


def test_a_version_that_a_controller_does_not_support() -> None:
    unsupported: Json = {"type": "SupportedVersion", "status": "False", "reason": "UnsupportedVersion"}
    status: Json = {"conditions": [{"type": "Accepted", "status": "True", "reason": "Accepted"}, unsupported]}
    [finding] = check(build.resource("GatewayClass", "public", {"controllerName": "x"}, status=status))
    assert (finding.rule, finding.reason) == ("GWP8008", "UnsupportedVersion")
    assert finding.message == "its controller reports SupportedVersion=False (UnsupportedVersion)"
    assert finding.field == "status.conditions[1]"


def served(*versions: Mapping[str, Json]) -> Resource:
    return changed(definition(), "spec.versions", list(versions))


def test_deprecated_versions() -> None:
    """With the warning that an API server gives, and with what to use instead."""
    old: dict[str, Json] = {"name": "v1alpha1", "served": True, "deprecated": True, "deprecationWarning": "Use v1."}
    policy = build.policy("red", build.target("g"))
    fine: dict[str, Json] = {"name": "v1", "served": True, "storage": True}
    for versions in ([{"name": "v1alpha1", "served": True}, fine], [fine, {**old, "name": "v1alpha2"}]):
        assert check(served(*versions), policy, rules="GWP8009") == []
    [finding] = check(served({"name": "v2"}, old, fine), policy, rules="GWP8009")
    assert (finding.field, finding.severity) == ("apiVersion", "info")
    assert finding.message == "v1alpha1 of ColorPolicy is deprecated: Use v1"
    assert finding.fix == Fix(words="use v1", value="example.com/v1")
    [finding] = check(served({"name": "v2", "served": False}, old), policy, rules="GWP8009")
    assert finding.fix is None
