"""What of the input was not read as it was meant: each thing that reading notes is found, by one rule."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

import kubectl_policy
from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Diagnostic, Gap, GroupKind, Json, Origin, Resource, Snapshot
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.snapshot import Permission
from kubectl_policy.validation.expressions import library
from tests import build
from tests.lint.rule_worlds import document, lint, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.lint.finding import Finding

# Problems that are not noted by reading: they are those of objects with others, which other groups find.
_OF_OTHERS: Final = frozenset(
    {
        "attachment-not-computed",
        "cycle",
        "filter-unsupported",
        "missing-reference",
        "no-target",
        "no-weight",
        "policy-invalid",
        "reference-not-permitted",
        "section-missing",
        "target-contended",
        "target-invalid",
        "target-kind-unsupported",
        "target-missing",
        "target-not-enabled",
        "target-not-managed",
        "target-not-permitted",
        "target-overlaps",
        "target-status-missing",
        "target-unknown",
        "unknown-reference",
        "virtual-target",
    }
)
_NAME: Final = re.compile(r"[a-z]+(-[a-z]+)*")
ROUTE: Final = document(
    "HTTPRoute",
    "checkout",
    "{parentRefs: [{name: public, namespace: infra}], rules: [{backendRefs: [{name: checkout, port: 8080}]}]}",
)


def check(read: Snapshot | str, rules: str = "GWP0", *, complete: bool = False) -> list[Finding]:
    """What the rules of the group find."""
    snapshot = snapshot_of(read, complete=complete) if isinstance(read, str) else read
    return list(lint(analyze(snapshot), LintSettings(selected=(rules,))))


def said(read: Snapshot | str, rules: str = "GWP0", *, complete: bool = False) -> list[tuple[str, str]]:
    return [(finding.rule, finding.message) for finding in check(read, rules, complete=complete)]


class TestNoted:
    def test_nothing_is_said_of_what_is_in_order(self) -> None:
        assert check(ROUTE, complete=True) == []

    @pytest.mark.unmeasured
    def test_each_thing_is_found_by_one_rule(self) -> None:
        names = {*_noted_in_code(), "something-new"} - _OF_OTHERS - {"schema", "schema-unchecked", "wrong-type"}
        assert {"syntax-error", "no-name", "duplicate-object", "definition-refused", "alias-bomb"} <= names
        noted = tuple(
            Diagnostic(name, "warning", name, origin=Origin("a.yaml", line))
            for line, name in enumerate(sorted(names), 1)
        )
        findings = sorted(check(replace(build.snapshot(), diagnostics=noted)), key=lambda finding: finding.message)
        assert [(finding.message, finding.severity, finding.origin) for finding in findings] == [
            (each.message, each.severity, each.origin) for each in noted
        ]
        assert {finding.message for finding in findings if finding.rule == "GWP0016"} == {
            "something-new",
            "too-many-worlds",
        }

    def test_what_has_no_place_is_where_all_is(self) -> None:
        noted = Diagnostic("too-many-worlds", "warning", "they are too many")
        [finding] = check(replace(build.snapshot(build.service("s")), diagnostics=(noted,)))
        assert finding.origin == Origin(build.service("s").origin.source)

    def test_messages_name_neither_the_object_nor_the_field(self) -> None:
        route = build.route("r")
        noted = Diagnostic("no-name", "error", f"{route.ref}: a.b must be text", route.ref, "a.b", reason="Why")
        [finding] = check(replace(build.snapshot(route), diagnostics=(noted,)), "GWP0013")
        assert (finding.subject, finding.field, finding.message) == (route.ref, "a.b", "must be text")
        assert (finding.severity, finding.reason, finding.origin) == ("error", "Why", route.origin)

    def test_templates_in_objects_that_can_be_read(self) -> None:
        listener = build.listener(hostname="*.{{ .Values.domain }}")
        objects = (
            build.gateway("g", listener, class_name="{{ .Values.class }}"),
            build.gateway("{{ .Release.Name }}", listener),
            build.route(
                "r",
                parents=[build.parent("{{ .Values.g }}")],
                rules=[build.rule(build.backend("{{ .Values.service }}"))],
            ),
            build.route("s", parents=[build.parent("${GATEWAY}")], hostnames=["{{ .Values.host }}", "${HOST}"]),
            build.policy("p", build.target("{{ .Values.g }}"), build.target("${G}"), header="{{ request.path }}"),
            build.policy("none", {"kind": "Gateway"}),
        )
        assert [
            (str(finding.subject), finding.field, finding.message)
            for finding in check(build.snapshot(*objects), "GWP0005")
        ] == [
            (subject, field, f"{text} is a template that was not rendered")
            for subject, field, text in (
                ("ColorPolicy default/p", "spec.targetRefs[0]", "{{ .Values.g }}"),
                ("Gateway default/g", "spec.gatewayClassName", "{{ .Values.class }}"),
                ("Gateway default/g", "spec.listeners[0].hostname", "*.{{ .Values.domain }}"),
                ("HTTPRoute default/r", "spec.parentRefs[0]", "{{ .Values.g }}"),
                ("HTTPRoute default/r", "spec.rules[0].backendRefs[0]", "{{ .Values.service }}"),
                ("HTTPRoute default/s", "spec.hostnames[0]", "{{ .Values.host }}"),
            )
        ]

    def test_a_duplicate(self) -> None:
        """With the same content in both places for information only."""
        [same] = check(ROUTE * 2, "GWP0006")
        assert same.severity == "info"
        [other] = check(ROUTE + ROUTE.replace("8080", "80"), "GWP0006")
        assert other.severity == "warning"
        assert other.message == "is also in <stdin>:2, with other content; what is here counts: remove one of the two"


def _noted_in_code() -> Iterator[str]:
    """The names under which problems are noted anywhere."""
    for path in Path(kubectl_policy.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            name = getattr(call.func, "id", getattr(call.func, "attr", "")) if isinstance(call, ast.Call) else ""
            if not isinstance(call, ast.Call) or name not in {
                "Diagnostic",
                "DocumentError",
                "Problem",
                "_warn",
                "_error",
            }:
                continue
            words = [*call.args, *(each.value for each in call.keywords if each.arg in {"rule", "reason"})]
            texts = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
            yield from (text for text in texts if _NAME.fullmatch(text) and text not in {"error", "warning", "info"})


LISTENERS: Final = "listeners: [{name: http, port: 80, protocol: HTTP}]"


class TestUnread:
    """GWP0001, GWP0002 and GWP0003: what was not read at all."""

    def test_everything_is_there(self) -> None:
        """Or nothing else is: then other rules find what is missing."""
        whole = build.snapshot(
            build.gateway_class(), build.gateway(), build.route("r", parents=[build.parent()]), build.service("s")
        )
        assert check(whole) == []
        assert check(ROUTE, complete=True) == []

    def test_a_kind_of_which_something_was_read(self) -> None:
        other = document("Gateway", "other", f"{{gatewayClassName: '${{CLASS}}', {LISTENERS}}}", namespace="infra")
        service = document("Service", "other", "{}", version="v1")
        assert check(ROUTE + other + service) == []

    def test_a_gateway_that_names_no_class(self) -> None:
        """It is an object that an API server refuses, and refers to nothing that could be missing."""
        findings = check(document("Gateway", "loose", f"{{{LISTENERS}}}"))
        assert [finding.rule for finding in findings] == ["GWP0009"]

    def test_a_name_that_is_to_be_filled_in(self) -> None:
        placed = ROUTE.replace("name: checkout, port", 'name: "${NAME}", port').replace(
            "name: public", 'name: "${NAME}"'
        )
        assert check(placed) == []

    def test_kinds_that_are_referred_to(self) -> None:
        spec = (
            '{targetRefs: [{group: "", kind: Service, name: checkout}], '
            "validation: {hostname: a.example, wellKnownCACertificates: System}}"
        )
        policy = document("BackendTLSPolicy", "checkout", spec)
        gateway = document("Gateway", "inner", f"{{gatewayClassName: inner, {LISTENERS}}}", namespace="infra")
        many = "".join(ROUTE.replace("name: checkout, namespace", f"name: r{number}, namespace") for number in range(9))
        findings = check(many + policy + gateway)
        named = "BackendTLSPolicy shop/checkout, HTTPRoute shop/r0, HTTPRoute shop/r1 and 7 more"
        assert [finding.message for finding in findings] == [
            f"no Service is in the input: {named} refer to Services, which may exist or not",
            "no GatewayClass is in the input: Gateway infra/inner refers to GatewayClasses, which may exist or not",
        ]
        assert all(
            (finding.rule, finding.severity, finding.subject) == ("GWP0001", "info", None) for finding in findings
        )
        assert len(findings[0].related) == 5

    def test_what_a_cluster_did_not_give_out(self) -> None:
        """All of one kind as one; what may not be read names the permissions that are missing."""
        needs = [Permission("list", "services", namespace) for namespace in ("shop", "infra")]
        gaps = [
            *(Gap("Service", each.namespace or "", "forbidden", remedy="ask", group="", needs=each) for each in needs),
            Gap("", "", "it did not answer", remedy="again", group="example.com"),
            Gap("Secret", "shop", "it did not answer", group="", name="tls"),
            Gap("Service", "", "a chart may create it"),
        ]
        service = build.service("s")
        findings = check(replace(build.snapshot(service), gaps=tuple(gaps)))
        needed = "list services in namespace shop, list services in namespace infra"
        assert [(finding.rule, finding.message) for finding in findings] == [
            ("GWP0002", f"Services in namespaces shop and infra may not be read: forbidden; required: {needed}"),
            ("GWP0017", "objects of API group example.com could not be read: it did not answer"),
        ]
        assert [finding.fix.words for finding in findings if finding.fix] == ["ask", "again"]
        assert {finding.origin for finding in findings} == {Origin(service.origin.source)}
        [nowhere] = check(replace(build.snapshot(), gaps=(gaps[2],)))
        assert nowhere.origin is None

    def test_a_kind_that_could_not_be_listed_is_said_once(self) -> None:
        """Not once more as nothing was read of it."""
        read = snapshot_of(ROUTE)
        gap = Gap("Service", "", "it did not answer", group="")
        assert sorted(message for _, message in said(replace(read, gaps=(gap,)))) == [
            "Services could not be read: it did not answer",
            "no Gateway is in the input: HTTPRoute shop/checkout refers to Gateways, which may exist or not",
        ]

    def test_a_policy_kind_by_its_looks(self) -> None:
        policies = [build.policy(name, build.target("g")) for name in ("a", "b")]
        assert check(build.snapshot(*policies, build.crd("ColorPolicy")), "GWP0003") == []
        profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "direct", "profile")
        analysis = analyze(build.snapshot(*policies), profiles=[profile])
        assert lint(analysis, LintSettings(selected=("GWP0003",))) == ()
        [finding] = check(build.snapshot(*policies), "GWP0003")
        assert str(finding.subject) == "ColorPolicy default/a"
        assert finding.message == (
            "a ColorPolicy is treated as a policy (there are 2 of the kind), because it has target references; "
            "no definition was read that says so"
        )
        assert lint(analyze(build.snapshot(*policies)), LintSettings(selected=("GWP0003",)), lambda _: False) == ()


SCHEMA: Final[dict[str, Json]] = {
    "properties": {
        "spec": {
            "properties": {
                "targetRefs": {"type": "array", "items": {"properties": {"kind": {"type": "string"}}}},
                "retries": {"type": "integer", "maximum": 10},
                "limits": {"additionalProperties": {"properties": {"rate": {"type": "integer"}}}},
                "extra": {"type": "object"},
            }
        }
    }
}


def policy(**spec: Json) -> Resource:
    """A policy of the kind that is defined."""
    fields: Json = {"targetRefs": [{"kind": "Gateway"}], **spec}
    return build.resource("ColorPolicy", "red", fields, group="example.com")


class TestWritten:
    """GWP0009 and GWP0015: what an API server would not take, or not keep."""

    DEFINITION: Final = build.crd("ColorPolicy", schema=SCHEMA)

    def test_what_is_allowed(self) -> None:
        """Nothing is said, of any field, and of what is to be filled in."""
        fine = policy(retries=3, limits={"all": {"rate": 3}})
        assert check(build.snapshot(self.DEFINITION, fine)) == []
        assert check(build.snapshot(self.DEFINITION, policy(retries="${RETRIES}"))) == []

    def test_what_is_not_allowed(self) -> None:
        """In the words of an API server."""
        [finding] = check(build.snapshot(self.DEFINITION, policy(retries=30)))
        assert (finding.rule, finding.severity, finding.field) == ("GWP0009", "error", "spec.retries")
        assert finding.message == "Invalid value: 30: spec.retries in body should be less than or equal to 10"

    def test_what_could_not_be_checked_is_unknown(self) -> None:
        deep: Json = {}
        for _ in range(150):
            deep = {"a": deep}
        [finding] = [
            finding
            for finding in check(build.snapshot(self.DEFINITION, policy(extra=deep)))
            if finding.rule == "GWP0009"
        ]
        assert not finding.certain
        assert finding.message == "it is too large, or too deep, to be checked"

    def test_a_wrong_type_is_said_once(self) -> None:
        wrong = build.policy("red", targetRefs="Gateway/public")
        for snapshot in (build.snapshot(self.DEFINITION, wrong), build.snapshot(wrong)):
            assert said(snapshot, "GWP0009") == [("GWP0009", "is a string, must be a list")]

    def test_versions(self) -> None:
        """One that is not served, or that there is none of."""
        versions: Json = [{"name": "v1"}, {"name": "v2", "served": True}, {"name": "v1alpha1", "served": False}]
        raw = {**self.DEFINITION.raw, "spec": {**mapping_at(self.DEFINITION.raw, "spec"), "versions": versions}}
        [finding] = check(build.snapshot(replace(self.DEFINITION, raw=raw), policy()), "GWP0009")
        assert (finding.field, finding.message) == (
            "apiVersion",
            "v1alpha1 of ColorPolicy is not served, only v1 and v2",
        )
        assert finding.fix
        assert finding.fix.value == "example.com/v1"

    def test_fields_that_there_are_none_of(self) -> None:
        """Where they are, and what may be meant; a status is a controller's."""
        misspelt = policy(retrys=3, limits={"all": {"rates": 3}}, targetRefs=[{"kind": "Gateway"}, {"knid": "Gateway"}])
        wrong = replace(misspelt, raw={**misspelt.raw, "status": {"phase": "x"}, "data": {"a": "b"}, "none": None})
        findings = check(build.snapshot(self.DEFINITION, wrong), "GWP0015")
        assert [(finding.field, finding.fix.words if finding.fix else "") for finding in findings] == [
            ("data", ""),
            ("spec.limits.all.rates", "did you mean rate?"),
            ("spec.retrys", "did you mean retries?"),
            ("spec.targetRefs[1].knid", "did you mean kind?"),
        ]
        assert findings[0].message == "ColorPolicy has no such field: it would be refused, or dropped"

    @pytest.mark.parametrize("deep", [False, True])
    def test_definitions_that_were_shortened(self, deep: bool) -> None:  # noqa: FBT001 (a parameter of a test)
        references: Json = {"type": "array", "items": {"type": "object"}}
        schema: Json = {"properties": {"spec": {"properties": {"targetRefs": references} if deep else {}}}}
        assert check(build.snapshot(build.crd("ColorPolicy", schema=schema), policy(retries=3)), "GWP0015") == []
        assert check(build.snapshot(self.DEFINITION, policy(extra={"a": 1})), "GWP0015") == []

    def test_a_field_of_another_channel(self) -> None:
        annotations: Json = {f"gateway.networking.k8s.io/{name}": text for name, text in _STANDARD.items()}
        raw = {**self.DEFINITION.raw, "metadata": {"name": "x", "annotations": annotations}}
        [finding] = check(build.snapshot(replace(self.DEFINITION, raw=raw), policy(retry=3)), "GWP0015")
        assert finding.message == (
            "ColorPolicy has no such field in Gateway API v1.3.0 standard: it would be refused, or dropped"
        )

    def test_what_is_too_deep_is_left_alone(self) -> None:
        """Hostile input."""
        deep: Json = {}
        for _ in range(150):
            deep = {"a": deep}
        assert check(build.snapshot(self.DEFINITION, policy(extra=deep, retry=3)), "GWP0015") == []


_STANDARD: Final = {"bundle-version": "v1.3.0", "channel": "standard"}


def test_rules_that_cannot_be_evaluated_are_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that evaluates them is missing: that is said once, and not for each object."""
    definition = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.io}
spec:
  group: example.io
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations: [{rule: "false"}]
        properties: {spec: {type: object}}
"""
    widgets = "".join(document("Widget", name, "{}", version="example.io/v1") for name in ("a", "b"))
    library.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    monkeypatch.setitem(sys.modules, "cel_expr_python.cel", None)
    found = lint(analyze(snapshot_of(f"{definition}---\n{widgets}")), LintSettings(selected=("GWP0009",)))
    library.cache_clear()
    (finding,) = found
    assert (finding.subject, finding.certain) == (None, False)
    assert finding.message == (
        "the rules (CEL) of definitions were not checked for Widget shop/a, Widget shop/b: "
        "cel-expr-python is not installed"
    )
