"""References of filters, policies and Gateways, and the grants for references: what is in order, and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules.certificates import ca_and_wellknown, ca_ref_invalid
from kubectl_policy.lint.rules.references import (
    extensionref_not_found,
    filter_attaches_nothing,
    parameters_not_found,
    policy_side_ref_missing,
    policy_side_ref_needs_grant,
    refgrant_too_broad,
    refgrant_unused,
)
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.needs import RequiredObject
from tests import build
from tests.lint.rule_worlds import SERVED, TO_ROUTE, checked, kinds, known, said, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


R: Final = build.ref("HTTPRoute", "r")
P: Final = build.ref("ColorPolicy", "p", group="example.com")
PEM: Final = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def need(field: str = "spec.keyRef", kind: str = "Secret", **choices: Any) -> RequiredObject:  # noqa: ANN401 (any)
    """What a policy needs, by a field of it."""
    return RequiredObject(
        field=field, group=choices.pop("group", ""), kinds=(kind,), optional=choices.pop("optional", True), **choices
    )


def filtered(kind: str, name: str) -> Resource:
    """A route whose rule has a filter that names an object."""
    filters: Json = [build.names(name, kind)]
    return build.route("r", rules=[build.rule(build.backend(), filters=filters)])


class TestCertificates:
    @staticmethod
    def policy(*names: str, kind: str = "ConfigMap", group: str = "", **more: Json) -> Resource:
        references: Json = [{"group": group, "kind": kind, "name": name} for name in names]
        return build.resource("BackendTLSPolicy", "p", {"validation": {"caCertificateRefs": references, **more}})

    @staticmethod
    def config_map(data: Mapping[str, Json] | None, name: str = "ca", kind: str = "ConfigMap") -> Resource:
        return build.resource(kind, name, group="", data=dict(data) if data is not None else None)

    @pytest.mark.parametrize(
        ("policy", "read"),
        [
            (policy("ca"), config_map({"ca.crt": PEM})),
            (policy("ca"), config_map({"ca.crt": "${CA}"})),
            (policy("ca", kind="Secret"), config_map(None, kind="Secret")),
            (
                build.resource("BackendTLSPolicy", "p", {"validation": {"caCertificateRefs": [7, None]}}),
                build.service(),
            ),
        ],
        ids=["there", "to be filled in", "withheld", "no reference"],
    )
    def test_in_order(self, policy: Resource, read: Resource) -> None:
        assert checked(ca_ref_invalid, policy, read) == []

    @pytest.mark.parametrize(
        ("policy", "read"),
        [
            (policy("${CA}"), config_map({"ca.crt": PEM})),
            (policy("ca", kind="Secret"), config_map({"url": "dXJs"}, kind="Secret")),
            (policy("ca", kind="ClusterTrustBundle", group="certificates.k8s.io"), config_map({"ca.crt": PEM})),
        ],
        ids=["a name to be filled in", "a Secret of an own kind", "a kind of its own"],
    )
    def test_what_is_up_to_the_implementation(self, policy: Resource, read: Resource) -> None:
        assert verdicts(checked(ca_ref_invalid, policy, read)) == [False]

    def test_where_not_all_is_known(self) -> None:
        field = "spec.validation.caCertificateRefs[0]"
        message = "? ConfigMap default/ca is not in the input"
        assert said(checked(ca_ref_invalid, self.policy("ca"), complete=False)) == [(field, message)]

    @pytest.mark.parametrize(("data", "certain"), [({"url": "eA==", "secretName": "eA=="}, False), ({"url": ""}, True)])
    def test_a_secret_that_names_the_certificate_elsewhere(self, data: dict[str, Json], *, certain: bool) -> None:
        """Controllers use it only if that is enabled, which is not known; one without its keys is of no use."""
        envoy = build.gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller")
        secret = build.resource("Secret", "ca", group="", type="gateway.envoyproxy.io/sds", data=data)
        findings = checked(ca_ref_invalid, envoy, self.policy("ca", kind="Secret"), secret)
        assert [(finding.certain, finding.severity) for finding in findings] == [(certain, "warning")]

    def test_one_that_does_not_exist(self) -> None:
        policy = self.policy("shop-cas")
        assert checked(ca_ref_invalid, policy, self.config_map({"ca.crt": PEM}, "shop-ca")) == [
            Finding(
                subject=policy.ref,
                field="spec.validation.caCertificateRefs[0].name",
                message="ConfigMap default/shop-cas does not exist; connections to the backend fail",
                reason="InvalidCACertificateRef",
                fix=Fix(words="did you mean shop-ca?", value="shop-ca"),
            )
        ]

    @pytest.mark.parametrize(
        ("data", "severity", "unless"),
        [
            ({}, None, ""),
            ({"ca.crt": "none"}, None, ""),
            ({"tls.crt": PEM}, "warning", "unless the implementation takes another key, "),
        ],
        ids=["empty", "no certificate", "another key"],
    )
    def test_one_that_is_none(self, data: Mapping[str, Json], severity: str | None, unless: str) -> None:
        """Some implementations look under other keys."""
        read = self.config_map(data)
        [finding] = checked(ca_ref_invalid, self.policy("ca"), read)
        message = f"ConfigMap default/ca has no valid ca.crt; {unless}connections to the backend fail"
        assert (finding.message, finding.severity) == (message, severity)
        assert finding.related == (Related(object=read.ref, origin=build.ORIGIN),)

    @pytest.mark.parametrize(
        ("section", "data", "words"),
        [
            ("", {"ca.crt": "none"}, "it sends requests there"),
            ("http", {"ca.crt": "none"}, "it sends requests there"),
            ("admin", {"ca.crt": "none"}, ""),
            ("", None, "requests to it get an error response"),
        ],
        ids=["the backend", "its port", "another port", "no certificate at all"],
    )
    def test_routes_to_the_backend(self, section: str, data: Mapping[str, Json] | None, words: str) -> None:
        """Controllers report on the routes that they cannot resolve the reference to the backend."""
        reference = build.target("s", "Service", section, group="")
        authority: dict[str, Json] = {
            "validation": {"caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": "ca"}]}
        }
        policy = build.resource("BackendTLSPolicy", "p", {"targetRefs": [reference], **authority})
        world = (build.gateway_class(), build.gateway(), build.service("s", ("http", 8080), ("admin", 9090)))
        route = build.route("r", rules=[build.rule(build.backend())])
        read = [self.config_map(data)] if data is not None else []
        [finding] = checked(ca_ref_invalid, *world, route, policy, *read)
        named = [related for related in finding.related if related.object == R]
        assert named == ([Related(object=R, words=words, origin=build.ORIGIN)] if words else [])

    def test_a_kind_that_can_be_none(self) -> None:
        """It is known of kinds that no implementation is known to have."""
        [finding] = checked(ca_ref_invalid, self.policy("ca", kind="Service"))
        assert (finding.field, finding.reason) == ("spec.validation.caCertificateRefs[0].kind", "InvalidKind")

    @pytest.mark.parametrize(
        "policy",
        [
            policy("ca"),
            policy(wellKnownCACertificates="System"),
            build.resource("BackendTLSPolicy", "p", {"tls": {"caCertRefs": [{"kind": "ConfigMap", "name": "ca"}]}}),
        ],
        ids=["own", "well known", "of an older version"],
    )
    def test_one_of_the_two(self, policy: Resource) -> None:
        assert checked(ca_and_wellknown, policy) == []

    @pytest.mark.parametrize(
        ("policy", "which"),
        [
            (policy("ca", wellKnownCACertificates="System"), "both caCertificateRefs and"),
            (policy(), "neither caCertificateRefs nor"),
            (build.resource("BackendTLSPolicy", "p"), "neither caCertificateRefs nor"),
        ],
        ids=["both", "neither", "nothing"],
    )
    def test_both_or_neither(self, policy: Resource, which: str) -> None:
        """An API server refuses it."""
        message = f"it has {which} wellKnownCACertificates, and must have one of the two"
        assert said(checked(ca_and_wellknown, policy)) == [("spec.validation", message)]


class TestFilters:
    FIELD: Final = "spec.rules[0].filters[0].extensionRef"

    def test_in_order(self) -> None:
        """What exists, and what is of a kind that filters attach, or of which nothing is known."""
        route = filtered("ColorPolicy", "p")
        assert checked(extensionref_not_found, route, build.policy()) == []
        assert checked(filter_attaches_nothing, route, build.policy()) == []
        by_filter = known(filter_routes=kinds("HTTPRoute"))
        assert checked(filter_attaches_nothing, route, build.policy(), profiles=[by_filter]) == []
        assert checked(extensionref_not_found, build.route()) == []
        assert checked(filter_attaches_nothing, build.route()) == []

    def test_one_that_may_exist(self) -> None:
        assert verdicts(checked(extensionref_not_found, filtered("ColorPolicy", "p"), complete=False)) == [False]
        assert verdicts(checked(extensionref_not_found, filtered("ColorPolicy", "${NAME}"))) == [False]

    def test_one_that_does_not_exist(self) -> None:
        assert checked(extensionref_not_found, filtered("ColorPolicy", "bleu"), build.policy("blue")) == [
            Finding(
                subject=R,
                field=f"{self.FIELD}.name",
                message="ColorPolicy default/bleu does not exist; requests to this rule get an error response",
                fix=Fix(words="did you mean blue?", value="blue"),
            )
        ]

    def test_that_of_a_backend(self) -> None:
        route = build.route("r", rules=[build.rule(build.backend(filters=[build.names("p")]))])
        message = "ColorPolicy default/p does not exist; requests to Service default/s get an error response"
        assert said(checked(extensionref_not_found, route)) == [
            ("spec.rules[0].backendRefs[0].filters[0].extensionRef.name", message)
        ]

    def test_a_kind_that_no_filter_attaches(self) -> None:
        [finding] = checked(filter_attaches_nothing, filtered("ColorPolicy", "p"), build.policy(), profiles=[known()])
        assert (finding.field, finding.message) == (self.FIELD, "no filter is known to attach a ColorPolicy")
        assert finding.related == (Related(object=P, origin=build.ORIGIN),)
        # That there is none is another rule's.
        assert checked(filter_attaches_nothing, filtered("ColorPolicy", "p"), profiles=[known()]) == []


class TestParameters:
    REFERENCE: Final[Mapping[str, Json]] = {"group": "example.com", "kind": "Settings", "name": "large"}

    def test_in_order(self) -> None:
        """Without any, and with those that exist."""
        settings = build.resource("Settings", "large", group="example.com")
        gateway = build.gateway(infrastructure={"parametersRef": self.REFERENCE})
        assert checked(parameters_not_found, gateway, settings, build.gateway_class()) == []

    @pytest.mark.parametrize(
        ("holder", "field"),
        [
            (build.gateway(infrastructure={"parametersRef": REFERENCE}), "spec.infrastructure.parametersRef.name"),
            (build.gateway_class(parametersRef={**REFERENCE, "namespace": "default"}), "spec.parametersRef.name"),
        ],
        ids=["Gateway", "GatewayClass"],
    )
    def test_those_that_do_not_exist(self, holder: Resource, field: str) -> None:
        [finding] = checked(parameters_not_found, holder)
        harm = f"controllers should not accept the {holder.ref.kind} for that"
        assert (finding.field, finding.message) == (field, f"Settings default/large does not exist; {harm}")
        assert finding.reason == "InvalidParameters"
        assert verdicts(checked(parameters_not_found, holder, complete=False)) == [False]


class TestSettings:
    SECRET: Final = build.resource("Secret", "key", group="")

    @staticmethod
    def policy(**spec: Any) -> Resource:  # noqa: ANN401 (of any type)
        return build.policy("p", TO_ROUTE, **spec)

    def missing(
        self,
        policy: Resource,
        *more: Resource,
        needs: Iterable[RequiredObject],
        **choices: Any,  # noqa: ANN401 (of any type)
    ) -> list[Finding]:
        profile = known(needs=tuple(needs), **choices)
        return checked(policy_side_ref_missing, *SERVED, policy, *more, profiles=[profile])

    @pytest.mark.parametrize(
        ("spec", "needs"),
        [
            ({"keyRef": {"name": "key"}}, need()),
            ({"keyRef": {"name": "other"}}, need("spec.elsewhere")),
            ({"keyRef": {"kind": "Service", "name": "s"}}, need()),
            ({}, need(optional=False)),
            ({"selector": {"matchLabels": {"a": "b"}}}, need("spec.selector", by="labels")),
            ({"keyRef": {"name": "x"}}, need(namespace_of=GroupKind("example.com", "Operator"))),
        ],
        ids=["there", "not said to be one", "another kind", "none", "by labels", "in a namespace that is not known"],
    )
    def test_in_order(self, spec: Mapping[str, Json], needs: RequiredObject) -> None:
        """Or another rule's: what names nothing makes a policy invalid by itself."""
        assert self.missing(self.policy(**spec), self.SECRET, needs=[needs]) == []

    def test_without_a_profile(self) -> None:
        """It is not known what it refers to."""
        assert checked(policy_side_ref_missing, *SERVED, self.policy(keyRef={"name": "x"})) == []

    def test_what_may_exist(self) -> None:
        policy, profile = self.policy(keyRef={"name": "x"}), known(needs=(need(),))
        findings = checked(policy_side_ref_missing, *SERVED, policy, profiles=[profile], complete=False)
        assert said(findings) == [("spec.keyRef.name", "? Secret default/x is not in the input")]

    def test_what_does_not_exist(self) -> None:
        secret = build.resource("Secret", "login-key", group="")
        assert self.missing(self.policy(keyRef={"name": "login-kye"}), secret, needs=[need()]) == [
            Finding(
                subject=P,
                field="spec.keyRef.name",
                message="Secret default/login-kye does not exist; without it, the policy is not valid",
                fix=Fix(words="did you mean login-key?", value="login-key"),
                severity="error",
            )
        ]

    @pytest.mark.parametrize(
        ("choices", "when_invalid", "severity", "harm"),
        [
            ({}, "errors", "error", "; until that is fixed, requests there get an error response"),
            ({"when_missing": "ignored"}, "ignored", "warning", "; without it, this setting is ignored"),
            ({"when_missing": "unknown"}, "ignored", "warning", ""),
        ],
        ids=["requests fail", "setting ignored", "unknown"],
    )
    def test_what_follows(self, choices: dict[str, Any], when_invalid: str, severity: str, harm: str) -> None:
        policy = self.policy(keyRef={"name": "x"})
        [finding] = self.missing(policy, needs=[need(**choices)], when_invalid=when_invalid)
        assert (finding.severity, finding.message) == (severity, f"Secret default/x does not exist{harm}")

    def test_a_name_alone(self) -> None:
        """It is the field itself that is wrong."""
        findings = self.missing(self.policy(key="x"), needs=[need("spec.key", by="name")])
        assert [finding.field for finding in findings] == ["spec.key"]

    def test_a_backend_that_the_policy_asks(self) -> None:
        policy = self.policy(auth={"backendRef": {"name": "x", "port": 80}})
        calls = ("spec.auth.backendRef",)
        message = "Service default/x does not exist; {}"
        findings = self.missing(policy, needs=[], backend_fields=calls)
        assert said(findings) == [("spec.auth.backendRef.name", message.format("what the policy asks there fails"))]
        findings = self.missing(policy, needs=[need("spec.auth.backendRef", "Service")], backend_fields=calls)
        assert said(findings) == [("spec.auth.backendRef.name", message.format("without it, the policy is not valid"))]

    @pytest.mark.parametrize("linted", [True, False])
    def test_what_an_object_that_it_needs_needs_itself(self, *, linted: bool) -> None:
        through = need(
            "spec.extensionRef", "Extension", group="example.com", through=(need("spec.backendRef", "Service"),)
        )
        extension = build.resource("Extension", "e", {"backendRef": {"name": "x"}}, group="example.com")
        policies = [build.policy(name, TO_ROUTE, extensionRef={"name": "e"}) for name in ("p", "q")]
        read = build.snapshot(*SERVED, *policies, extension, complete=True)
        analysis = analyze(read, profiles=[known(needs=(through,))])
        world = LintWorld(analysis, LintSettings(), lambda resource: linted or resource is policies[0])
        [finding] = policy_side_ref_missing.check(world)
        if linted:
            assert (finding.subject, finding.field) == (extension.ref, "spec.backendRef.name")
        else:
            assert (finding.subject, finding.field) == (P, "")
            assert "(spec.backendRef of Extension default/e)" in finding.message

    def test_routes_that_fail_without_it(self) -> None:
        """The policies that need the wrong object and the routes that they make fail are related to the finding."""
        through = need(
            "spec.extensionRef", "Extension", group="example.com", through=(need("spec.backendRef", "Service"),)
        )
        extension = build.resource("Extension", "e", {"backendRef": {"name": "x"}}, group="example.com")
        policies = [build.policy(name, TO_ROUTE, extensionRef={"name": "e"}) for name in ("p", "q")]
        direct = self.policy(keyRef={"name": "absent"})
        failed = Related(object=R, words="requests to it get an error response", origin=build.ORIGIN)
        needing = [Related(object=policy.ref, words="needs it", origin=build.ORIGIN) for policy in policies]
        for when_invalid, routes in (("errors", [failed]), ("ignored", [])):
            profile = known(needs=(through,), when_invalid=when_invalid)
            [finding] = checked(policy_side_ref_missing, *SERVED, *policies, extension, profiles=[profile])
            assert finding.related == (*needing, *routes)
            profile = known(needs=(need(),), when_invalid=when_invalid)
            [finding] = checked(policy_side_ref_missing, *SERVED, direct, profiles=[profile])
            assert finding.related == tuple(routes)

    def test_what_may_be_referred_to(self) -> None:
        policy = self.policy(keyRef={"name": "key", "namespace": "b"})
        secret = build.resource("Secret", "key", group="", namespace="b")
        let_in = build.grant(
            namespace="b", sources=[("example.com", "ColorPolicy", "default")], targets=[("", "Secret", "key")]
        )
        world = (*SERVED, policy, secret)
        granted = known(needs=(need(),))
        assert checked(policy_side_ref_needs_grant, *world, let_in, profiles=[granted]) == []
        free = known(needs=(need(grant_required=False),))
        assert checked(policy_side_ref_needs_grant, *world, profiles=[free]) == []

    def test_what_may_not(self) -> None:
        """The grant to add is told; that it does not exist either is not said besides."""
        policy = self.policy(keyRef={"name": "key", "namespace": "b"})
        other = build.grant("other", namespace="b")
        [finding] = checked(policy_side_ref_needs_grant, *SERVED, policy, other, profiles=[known(needs=(need(),))])
        assert (finding.subject, finding.field, finding.reason) == (P, "spec.keyRef.namespace", "RefNotPermitted")
        lets = "no ReferenceGrant in namespace b lets it refer to Secret b/key"
        assert finding.message == f"{lets}; without it, the policy is not valid"
        assert finding.related == (Related(object=other.ref, words="does not let it in", origin=build.ORIGIN),)
        assert finding.fix
        assert (finding.fix.manifest or {})["spec"] == {
            "from": [{"group": "example.com", "kind": "ColorPolicy", "namespace": "default"}],
            "to": [{"group": "", "kind": "Secret", "name": "key"}],
        }
        assert self.missing(policy, other, needs=[need()]) == []

    @pytest.mark.parametrize("namespace", ["default", "b"])
    @pytest.mark.parametrize("is_overridden", [False, True], ids=["of the class", "not of the Gateway"])
    def test_what_connections_to_backends_use(self, namespace: str, *, is_overridden: bool) -> None:
        """The routes to backends with such a policy fail, if their Gateways have the parameters."""
        tls = GroupKind("example.com", "TLSPolicy")
        key = need(when_missing="unknown", same_namespace=True, backend_policies=frozenset({tls}))
        profiles = [known("Proxy", attachment="parameters", needs=(key,)), known("TLSPolicy", direct=True)]
        named: dict[str, Json] = {"group": "example.com", "kind": "Proxy", "name": "wide"}
        above = build.gateway_class(parametersRef={**named, "namespace": "default"})
        infrastructure: Json = {"parametersRef": {**named, "name": "near"}}
        gateway = build.gateway(infrastructure=infrastructure) if is_overridden else build.gateway()
        wide = build.resource("Proxy", "wide", {"keyRef": {"name": "x", "namespace": namespace}}, group="example.com")
        near = build.resource("Proxy", "near", {"size": 1}, group="example.com")
        secured = build.policy("t", build.ON_SERVICE, kind="TLSPolicy")
        world = (above, gateway, build.route("r"), build.service(), wide, near, secured)
        rule = policy_side_ref_missing if namespace == "default" else policy_side_ref_needs_grant
        [finding] = checked(rule, *world, profiles=profiles)
        problem = (
            "Secret default/x does not exist"
            if namespace == "default"
            else "it can refer to objects of its own namespace alone, and not to Secret b/x"
        )
        failed = Related(object=R, words="requests to its backends fail", origin=build.ORIGIN)
        assert finding.message == f"{problem}; requests to backends with a TLSPolicy fail"
        assert (finding.related, finding.fix) == (() if is_overridden else (failed,), None)

    def test_where_a_grant_may_be_elsewhere(self) -> None:
        policy, profile = self.policy(keyRef={"name": "key", "namespace": "b"}), known(needs=(need(),))
        findings = checked(policy_side_ref_needs_grant, *SERVED, policy, profiles=[profile], complete=False)
        message = "? whether Secret b/key may be referred to is unknown: no ReferenceGrant in the input says so"
        assert said(findings) == [("spec.keyRef.namespace", message)]
        assert checked(policy_side_ref_missing, *SERVED, policy, profiles=[profile], complete=False) == []


class TestGrants:
    TO_STOCK: Final = build.route("r", rules=[build.rule(build.backend("stock", namespace="b"))])
    STOCK: Final = build.service("stock", namespace="b")
    LEDGER: Final = build.service("ledger", namespace="b")

    @pytest.mark.parametrize(
        "target",
        [("", "Service", "stock"), ("", "Service"), ("", "Service", "${NAME}")],
        ids=["name", "kind", "unknown"],
    )
    def test_one_that_is_used(self, target: tuple[str, str]) -> None:
        grant = build.grant(namespace="b", targets=[("", "Secret", "x"), target])
        findings = checked(refgrant_unused, self.TO_STOCK, self.STOCK, grant)
        assert [finding for finding in findings if finding.certain] == []

    def test_for_what_is_selected(self) -> None:
        selecting = build.policy(
            targetSelectors=[
                {"group": GATEWAY_API, "kind": "HTTPRoute", "namespaces": {"from": "All"}, "matchLabels": {"a": "b"}}
            ]
        )
        selected = build.route("r", namespace="b", labels={"a": "b"})
        elsewhere = build.route("r", namespace="c", labels={"a": "b"})
        sources = [("example.com", "ColorPolicy", "default")]
        grant = build.grant(namespace="b", sources=sources, targets=[(GATEWAY_API, "HTTPRoute", "r")])
        profile = known(reference_fields=("spec.targetSelectors",))
        assert checked(refgrant_unused, selecting, selected, elsewhere, grant, profiles=[profile]) == []
        every = build.route("site", rules=[build.rule(build.backend("*", None, kind="HTTPRoute", namespace="b"))])
        named = build.grant(namespace="b", targets=[(GATEWAY_API, "HTTPRoute", "r")])
        assert checked(refgrant_unused, every, selected, named) == []

    @pytest.mark.parametrize("spec", [{}, {"from": [], "to": []}, {"from": 7, "to": [None]}], ids=repr)
    def test_one_that_permits_nothing(self, spec: dict[str, Json]) -> None:
        """An API server refuses it."""
        assert checked(refgrant_unused, build.resource("ReferenceGrant", "g", spec)) == []

    @pytest.mark.parametrize("place", ["a namespace", "a reference"])
    def test_what_is_to_be_filled_in(self, place: str) -> None:
        home = "${NAMESPACE}" if place == "a namespace" else "b"
        route = build.route("r", rules=[build.rule(build.backend("stock", namespace="${OTHER}"))])
        assert verdicts(checked(refgrant_unused, route, build.grant(namespace=home))) == [False]

    def test_where_not_all_is_known(self) -> None:
        findings = checked(refgrant_unused, self.STOCK, build.grant(namespace="b"), complete=False)
        why = "there may be HTTPRoutes in namespace default that were not read"
        assert said(findings) == [("", f"? whether anything uses it is not known: {why}")]

    def test_one_that_is_not_used(self) -> None:
        sources = [(GATEWAY_API, kind, "default") for kind in ("HTTPRoute", "GRPCRoute")]
        grant = build.grant(namespace="b", sources=sources, targets=[("", "Secret", "x")])
        message = (
            "nothing uses it: no reference from HTTPRoutes of default, GRPCRoutes of default leads to what it permits"
        )
        another = build.grant("another", namespace="b", sources=sources, targets=[("", "Secret", "y")])
        assert said(checked(refgrant_unused, self.TO_STOCK, self.STOCK, grant, another)) == [("", message)] * 2

    @pytest.mark.parametrize(
        ("target", "read"),
        [
            (("", "Service", "stock"), [STOCK, LEDGER]),
            (("", "Service"), [STOCK]),
            ((GATEWAY_API, "HTTPRoute"), [build.route("stock", namespace="b"), build.route("x", namespace="b")]),
            (("", "Secret"), [build.resource("Secret", name, group="", namespace="b") for name in ("x", "y")]),
        ],
        ids=["by name", "there is no other", "routes", "none is used"],
    )
    def test_one_that_is_not_too_broad(self, target: tuple[str, str], read: list[Resource]) -> None:
        assert checked(refgrant_too_broad, self.TO_STOCK, build.grant(namespace="b", targets=[target]), *read) == []

    def test_one_that_is_used_for_several(self) -> None:
        both = build.route("q", rules=[build.rule(build.backend("ledger", namespace="b"))])
        grant = build.grant(namespace="b")
        assert checked(refgrant_too_broad, self.TO_STOCK, both, self.STOCK, self.LEDGER, grant) == []

    @pytest.mark.parametrize(("kind", "severity"), [("Service", "info"), ("Secret", "warning")])
    def test_one_that_is_too_broad(self, kind: str, severity: str) -> None:
        read = [build.resource(kind, name, group="", namespace="b") for name in ("stock", "ledger")]
        grant = build.grant(namespace="b", targets=[("", kind), ("", "ConfigMap"), ("", "ConfigMap")])
        assert checked(refgrant_too_broad, self.TO_STOCK, grant, *read) == [
            Finding(
                subject=grant.ref,
                field="spec.to[0].name",
                message=f"it permits references to all 2 {kind}s of its namespace; only stock is used",
                severity="warning" if severity == "warning" else "info",
                related=(Related(object=read[0].ref, words="the only one that is used", origin=build.ORIGIN),),
                fix=Fix(words="name stock", value="stock"),
            )
        ]
        assert verdicts(checked(refgrant_too_broad, self.TO_STOCK, grant, *read, complete=False)) == [False]
