"""What controllers reported: which of it is found, by which one rule, and what of it is only unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Gap, GroupKind
from kubectl_policy.profiles.controllers import ConditionWords, Event, StatusProfile
from tests.lint.rule_worlds import document, lint, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Sequence


OURS: Final = "example.com/gateway"
NOON: Final = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def condition(type_: str, status: str = "True", reason: str = "", seen: int | None = None, **more: str) -> str:
    fields = {"type": type_, "status": f'"{status}"', "reason": reason or type_, **more}
    fields |= {} if seen is None else {"observedGeneration": str(seen)}
    return "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}"


ACCEPTED: Final = condition("Accepted")
RESOLVED: Final = condition("ResolvedRefs")
PENDING: Final = condition("Accepted", "Unknown", "Pending", lastTransitionTime='"1970-01-01T00:00:00Z"')
REFUSED: Final = condition("Accepted", "False", "Invalid", message="no such setting.")


def status(*conditions: str, listeners: str = "") -> str:
    """The status of an object with conditions of its own."""
    listed = f"\n  listeners: [{listeners}]" if listeners else ""
    return f"status:\n  conditions: [{', '.join(conditions)}]{listed}\n"


def places(what: str, *entries: tuple[str, Sequence[str]], controller: str = OURS) -> str:
    """The status of an object with an entry for each parent or ancestor."""
    lines = [
        f"    - {{{what}Ref: {{{ref}}}, controllerName: {controller}, conditions: [{', '.join(conditions)}]}}\n"
        for ref, conditions in entries
    ]
    return f"status:\n  {what}s:\n{''.join(lines)}"


PUBLIC: Final = "name: public, namespace: infra"
TO_ROUTE: Final = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}"


def parents(*conditions: str, ref: str = PUBLIC, controller: str = OURS) -> str:
    """The status of a route for one parent."""
    return places("parent", (ref, conditions), controller=controller)


def ancestors(*conditions: str, ref: str = PUBLIC, controller: str = OURS) -> str:
    """The status of a policy for one ancestor."""
    return places("ancestor", (ref, conditions), controller=controller)


def gateway_class(reported: str = "", metadata: str = "") -> str:
    return document("GatewayClass", "public", f"{{controllerName: {OURS}}}", namespace="", meta=metadata, rest=reported)


def gateway(reported: str = "", metadata: str = "", routes: str = "All", name: str = "public") -> str:
    listener = f"{{name: http, protocol: HTTP, port: 80, allowedRoutes: {{namespaces: {{from: {routes}}}}}}}"
    spec = f"{{gatewayClassName: public, listeners: [{listener}]}}"
    return document("Gateway", name, spec, namespace="infra", meta=metadata, rest=reported)


def route(reported: str = "", metadata: str = "", refs: str = f"{{{PUBLIC}}}") -> str:
    spec = f"{{parentRefs: [{refs}], rules: [{{backendRefs: [{{name: checkout, port: 8080}}]}}]}}"
    return document("HTTPRoute", "checkout", spec, meta=metadata, rest=reported)


SERVICE: Final = document("Service", "checkout", "{ports: [{port: 8080}]}", version="v1")


def tls_policy(reported: str = "", metadata: str = "", name: str = "checkout", target: str = "checkout") -> str:
    validation = "{hostname: checkout.shop, wellKnownCACertificates: System}"
    spec = f'{{targetRefs: [{{group: "", kind: Service, name: {target}}}], validation: {validation}}}'
    return document("BackendTLSPolicy", name, spec, meta=metadata, rest=reported)


def limit(*conditions: str, name: str = "checkout", target: str = "checkout", kind: str = "HTTPRoute") -> str:
    """A RateLimitPolicy of Kuadrant, which reports on the policy as a whole, and on what it affects."""
    reference = f"{{group: gateway.networking.k8s.io, kind: {kind}, name: {target}}}"
    spec = f"{{targetRef: {reference}, limits: {{all: {{rates: [{{limit: 10, window: 1s}}]}}}}}}"
    reported = status(*conditions) if conditions else ""
    return document("RateLimitPolicy", name, spec, version="kuadrant.io/v1", rest=reported)


HTTP: Final = f"{{name: http, conditions: [{ACCEPTED}, {RESOLVED}]}}"
FINE: Final = status(ACCEPTED, listeners=HTTP)


def traffic(reported: str = "", name: str = "checkout") -> str:
    """A BackendTrafficPolicy of Envoy Gateway, which reports for each Gateway."""
    version = "gateway.envoyproxy.io/v1alpha1"
    spec = f"{{targetRefs: [{TO_ROUTE}], retry: {{numRetries: 3}}}}"
    return document("BackendTrafficPolicy", name, spec, version=version, rest=reported)


ENVOY: Final = "gateway.envoyproxy.io/gatewayclass-controller"
CLASS: Final = gateway_class(status(ACCEPTED))
WORLD: Final = CLASS + gateway(FINE) + SERVICE
ATTACHED: Final = WORLD + route(parents(ACCEPTED, RESOLVED))
OF_ENVOY: Final = ATTACHED.replace(OURS, ENVOY)


def check(
    manifests: str,
    rules: str = "GWP3",
    *,
    complete: bool = False,
    gaps: tuple[Gap, ...] = (),
    now: datetime | None = None,
) -> list[Finding]:
    """What the rules of the group find."""
    snapshot = snapshot_of(manifests.removeprefix("---\n"), complete=complete)
    settings = LintSettings(selected=(rules,), now=now)
    return list(lint(analyze(replace(snapshot, gaps=(*snapshot.gaps, *gaps))), settings))


def said(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """The rules and what they found, for what is certain."""
    return [(finding.rule, finding.message) for finding in findings if finding.certain]


def rules(findings: Sequence[Finding]) -> list[str]:
    """The rules that found something, and in doubt something that may be."""
    return [finding.rule if finding.certain else f"{finding.rule}?" for finding in findings]


@pytest.mark.parametrize("complete", [False, True])
def test_manifests_have_no_status_and_nobody_misses_it(complete: bool) -> None:  # noqa: FBT001 (a parameter of a test)
    manifests = gateway_class() + gateway() + route() + SERVICE + tls_policy() + limit()
    assert check(manifests, complete=complete) == []


def test_what_is_reported_as_computed_is_fine() -> None:
    """Nothing is found, in any world."""
    manifests = WORLD + route(parents(ACCEPTED, RESOLVED), ", generation: 1") + tls_policy(ancestors(ACCEPTED))
    assert check(manifests) == []
    assert check(manifests, complete=True) == []


def test_a_shape_that_is_none_is_no_report() -> None:
    """Whatever a status is made of."""
    for reported in (
        "status: 3\n",
        "status: []\n",
        "status: {parents: 7, conditions: x}\n",
        "status: {parents: [3]}\n",
    ):
        assert [rule for rule, _ in said(check(WORLD + route(reported)))] == ["GWP3002"]
    odd = "status: {parents: [{conditions: [3, {type: [], status: 4}]}]}\n"
    assert "GWP3003" not in rules(check(WORLD + route(odd)))


class TestStale:
    """GWP3001."""

    OLD: Final = ancestors(condition("Accepted", seen=3))

    def test_not_for_an_object_that_was_just_written(self) -> None:
        """Where it is known what time it is: controllers need some of it."""
        managed = ', generation: 4, managedFields: [{time: "2026-01-01T11:58:00Z"}]'
        assert check(WORLD + route() + tls_policy(self.OLD, managed), "GWP3001", now=NOON) == []
        created = ', generation: 4, creationTimestamp: "2026-01-01T11:58:00Z"'
        assert check(WORLD + route() + tls_policy(self.OLD, created), "GWP3001", now=NOON) == []

    def test_that_a_status_was_written_is_no_change_of_the_object(self) -> None:
        managed = ', generation: 4, managedFields: [{time: "2026-01-01T11:58:00Z", subresource: status}]'
        assert rules(check(WORLD + route() + tls_policy(self.OLD, managed), "GWP3001", now=NOON)) == ["GWP3001"]
        assert rules(check(WORLD + route() + tls_policy(self.OLD, ", generation: 4"), "GWP3001", now=NOON)) == [
            "GWP3001"
        ]

    def test_once_for_a_controller_and_with_nothing_else(self) -> None:
        old = places(
            "ancestor",
            (PUBLIC, [condition("Accepted", "False", "Invalid", seen=3), condition("ResolvedRefs", "False", seen=3)]),
            ("name: inner, namespace: infra", [condition("Accepted", "False", "Invalid", seen=2)]),
        )
        [finding] = check(WORLD + gateway(FINE, name="inner") + tls_policy(old, ", generation: 4"))
        assert finding.rule == "GWP3001"
        assert finding.field == "status.ancestors[0].conditions[0]"
        assert finding.message == (
            "example.com/gateway has seen generation 3 of it, and it is at generation 4: "
            "whether its last change is in force is not known"
        )
        assert [str(related.object) for related in finding.related] == ["Gateway infra/public"]

    def test_of_gateways_and_classes_too(self) -> None:
        listener = f"{{name: http, attachedRoutes: 7, conditions: [{condition('Accepted', seen=1)}]}}"
        manifests = gateway_class(status(condition("Accepted", seen=1)), ", generation: 2") + gateway(
            status(condition("Accepted", seen=2), listeners=listener), ", generation: 2"
        )
        findings = check(manifests)
        assert [(str(finding.subject), finding.rule) for finding in findings] == [
            ("GatewayClass public", "GWP3001"),
            ("Gateway infra/public", "GWP3001"),
        ]


class TestNoStatus:
    """GWP3002."""

    STORED: Final = ", uid: 0a1b"

    def test_not_where_nobody_would_report(self) -> None:
        manifests = (
            WORLD + tls_policy(metadata=self.STORED, target="cart") + route(metadata=self.STORED, refs="{name: x}")
        )
        assert said(check(manifests, complete=True)) == []
        assert said(check(gateway(metadata=self.STORED), complete=True)) == []

    def test_not_what_hangs_on_something_that_nobody_takes(self) -> None:
        of_class = gateway_class(status(PENDING)) + gateway(metadata=self.STORED) + route(metadata=self.STORED)
        assert rules(check(of_class)) == ["GWP3009"]
        of_gateway = CLASS + gateway(metadata=self.STORED) + route(metadata=self.STORED)
        assert rules(check(of_gateway)) == ["GWP3002"]

    def test_not_where_only_a_mark_of_a_policy_should_be(self) -> None:
        """A route without a parent that anybody would report on."""
        working = limit(ACCEPTED, condition("Enforced"), target="public", kind="Gateway").replace("shop}", "infra}", 1)
        pending = CLASS + gateway(status(PENDING))
        assert "GWP3002" not in rules(check(pending + route() + SERVICE + working))

    def test_not_of_a_new_object(self) -> None:
        new = ', uid: 0a1b, creationTimestamp: "2026-01-01T11:58:00Z"'
        assert check(WORLD + route(metadata=new), now=NOON) == []

    def test_of_a_route_that_is_stored(self) -> None:
        [finding] = check(WORLD + route(metadata=self.STORED))
        assert (finding.rule, finding.field) == ("GWP3002", "status")
        assert finding.message == (
            "no controller has reported anything on it, where Accepted and ResolvedRefs should be for "
            "Gateway infra/public: none has on any HTTPRoute, so it may not be running, or not know the kind"
        )

    def test_of_one_among_others_that_were_reported_on(self) -> None:
        other = route(parents(ACCEPTED, RESOLVED)).replace("name: checkout, namespace", "name: cart, namespace")
        [finding] = check(WORLD + route() + other)
        assert finding.message.endswith("should be for Gateway infra/public")

    def test_of_a_policy_as_a_whole(self) -> None:
        """Where controllers write on the policy itself."""
        stored = limit().replace("namespace: shop}", "namespace: shop, uid: 0a1b}")
        [finding] = [finding for finding in check(ATTACHED + stored) if finding.certain]
        assert finding.message.startswith(
            "no controller has reported anything on it, where Accepted and Enforced should"
        )

    def test_is_unknown_where_the_class_was_not_read(self) -> None:
        """Nobody can say whose Gateway it is."""
        reported = gateway(FINE)
        [finding] = check(reported + route(metadata=self.STORED) + SERVICE)
        assert not finding.certain
        assert finding.message.startswith("whether anything should be reported on it is unknown: ")
        manifests = reported + route(parents(ACCEPTED, RESOLVED)) + SERVICE
        [finding] = check(manifests + traffic().replace("shop}", "shop, uid: 0a1b}"))
        assert not finding.certain
        assert finding.message.startswith("whether anything should be reported on it is unknown: GatewayClass public: ")

    def test_not_where_the_class_is_known_to_be_of_another_controller(self) -> None:
        assert check(ATTACHED + traffic().replace("shop}", "shop, uid: 0a1b}"), complete=True) == []


class TestRefused:
    """GWP3003 and GWP3004."""

    def test_not_what_is_found_by_its_cause(self) -> None:
        kuadrant = limit(condition("Accepted", "False", "TargetNotFound"), target="cart")
        assert check(WORLD + kuadrant, complete=True) == []
        first = traffic(ancestors(ACCEPTED, controller=ENVOY), "a")
        second = traffic(ancestors(condition("Accepted", "False", "Conflicted"), controller=ENVOY), "b")
        assert check(OF_ENVOY + first + second, complete=True) == []

    def test_not_what_another_controller_says_beside_the_one_of_the_gateway(self) -> None:
        both = (
            places("ancestor", (PUBLIC, [ACCEPTED]))
            + places("ancestor", (PUBLIC, [REFUSED]), controller="other.example/controller").partition("ancestors:\n")[
                2
            ]
        )
        assert check(ATTACHED + tls_policy(both)) == []

    def test_by_the_words_of_the_controller(self) -> None:
        [finding] = check(ATTACHED + tls_policy(ancestors(REFUSED)))
        assert (finding.rule, finding.severity, finding.reason) == ("GWP3003", "error", "Invalid")
        assert finding.field == "status.ancestors[0].conditions[0]"
        assert finding.message == (
            "example.com/gateway reports Accepted=False (Invalid) for Gateway infra/public: no such setting; "
            "as computed, it is True: it is attached to Service shop/checkout"
        )
        assert [str(related.object) for related in finding.related] == ["Gateway infra/public"]
        assert finding.fix == Fix(words="correct the setting that the controller names")

    def test_a_reason_of_its_own_gets_no_advice_and_much_is_cut(self) -> None:
        """A controller may say anything, on any number of lines."""
        long = condition("Accepted", "False", "Nope", message='"one\\n  two ' + "x" * 300 + '"')
        [finding] = check(WORLD + tls_policy(ancestors(long)))
        assert finding.fix is None
        assert finding.message.endswith(f"for Gateway infra/public: one two {'x' * 192}…")

    def test_what_is_not_accepted_is_not_enforced_either(self) -> None:
        refused = [condition("Accepted", "False", "Invalid"), condition("Enforced", "False", "Unknown")]
        assert rules(check(ATTACHED + limit(*refused))) == ["GWP3003"]

    def test_what_is_accepted_and_not_enforced(self) -> None:
        for reason, severity in (("MissingDependency", "error"), ("Overridden", "warning"), ("Reconciling", "warning")):
            enforced = condition("Enforced", "False", reason, lastTransitionTime='"2026-01-01T11:58:00Z"')
            [finding] = check(ATTACHED + limit(ACCEPTED, enforced))
            assert (finding.rule, finding.severity, finding.reason) == ("GWP3004", severity, reason)
            assert finding.message == f"its controller reports Enforced=False ({reason})"
            assert rules(check(ATTACHED + limit(ACCEPTED, enforced), now=NOON)) == (
                [] if reason == "Reconciling" else ["GWP3004"]
            )


class TestContradictions:
    """GWP3005."""

    def test_not_of_what_rests_on_something_that_was_not_read(self) -> None:
        manifests = CLASS + route(parents(ACCEPTED, RESOLVED))
        assert rules(check(manifests)) == ["GWP3005?"]
        gap = Gap("ReferenceGrant", "", "the API server did not answer", group="gateway.networking.k8s.io")
        closed = gateway(FINE, routes="Same") + CLASS + SERVICE
        findings = [
            finding
            for finding in check(closed + route(parents(ACCEPTED, RESOLVED)), gaps=(gap,))
            if not finding.certain
        ]
        assert rules(findings) == ["GWP3005?"]
        assert findings[0].message == (
            "whether what is reported for Gateway infra/public is right is unknown: not everything could be read"
        )

    def test_not_where_the_class_may_not_have_been_read(self) -> None:
        manifests = ATTACHED + traffic(ancestors(ACCEPTED, controller=ENVOY))
        [finding] = check(manifests)
        assert not finding.certain
        assert finding.message.endswith(
            "is unknown: no GatewayClass was read that says whether a controller acts on it"
        )
        assert rules(check(manifests, complete=True)) == ["GWP3005"]

    def test_not_for_a_gateway_that_is_not_accepted(self) -> None:
        twice = f"{{{PUBLIC}}}, {{name: inner, namespace: infra}}"
        refused = status(condition("Accepted", "False", "InvalidParameters"), listeners=HTTP)
        manifests = WORLD + gateway(refused, name="inner") + route(parents(ACCEPTED, RESOLVED), refs=twice)
        assert rules(check(manifests)) == ["GWP3008"]

    def test_one_parent_of_which_nothing_is_said(self) -> None:
        twice = f"{{{PUBLIC}}}, {{name: inner, namespace: infra}}"
        manifests = WORLD + gateway(FINE, name="inner") + route(parents(ACCEPTED, RESOLVED), refs=twice)
        [finding] = check(manifests)
        assert (finding.rule, finding.severity, finding.field) == ("GWP3005", "warning", "status")
        assert finding.message == (
            "nothing is reported for Gateway infra/inner, where Accepted=True and ResolvedRefs=True should be"
        )

    def test_a_listener_of_which_nothing_is_said(self) -> None:
        [finding] = check(gateway_class() + gateway(status(ACCEPTED)))
        assert finding.severity == "info"
        assert finding.message == (
            "nothing is reported for listener http, where Accepted=True and ResolvedRefs=True should be"
        )

    def test_one_condition_that_is_missing(self) -> None:
        """A warning only if it would say that something is wrong."""
        [finding] = check(WORLD + route(parents(ACCEPTED)))
        assert (finding.severity, finding.message) == (
            "info",
            "ResolvedRefs is not reported for Gateway infra/public; as computed, it is True",
        )
        [finding] = check(WORLD.replace(SERVICE, "") + route(parents(ACCEPTED)), complete=True)
        assert finding.severity == "warning"
        assert finding.message == (
            "ResolvedRefs is not reported for Gateway infra/public; as computed, it is False (BackendNotFound): "
            "Service shop/checkout does not exist"
        )

    def test_another_reason_for_the_same(self) -> None:
        [finding] = check(WORLD + route(parents(condition("Accepted", "True", "Fine"), RESOLVED)))
        assert (finding.rule, finding.severity) == ("GWP3005", "info")
        assert finding.message.endswith(
            "reports Accepted=True (Fine) for Gateway infra/public; as computed, it is True"
        )

    def test_something_that_should_not_be_there(self) -> None:
        other = gateway(FINE, name="inner").replace("gatewayClassName: public", "gatewayClassName: inner")
        inner = CLASS.replace("name: public", "name: inner").replace(OURS, "example.com/inner")
        reported = ancestors(ACCEPTED, ref="name: inner, namespace: infra", controller=ENVOY)
        world = OF_ENVOY + other + inner
        messages = [message for _, message in said(check(world + traffic(reported), complete=True))]
        assert messages[0] == "nothing is reported for Gateway infra/public, where Accepted=True should be"
        assert messages[1] == (
            f"{ENVOY} reports Accepted=True for Gateway infra/inner; as computed, the Gateway is another controller's,"
            " by its GatewayClass"
        )
        merged = traffic(ancestors(ACCEPTED, condition("Overridden"), controller=ENVOY))
        [finding] = check(OF_ENVOY + merged, complete=True)
        assert finding.message.endswith(
            "reports Overridden=True for Gateway infra/public; as computed, there is no reason to"
        )


class TestMarks:
    """GWP3006 and GWP3007."""

    MARK: Final = condition("kuadrant.io/RateLimitPolicyAffected", "True", "Accepted")
    POLICY: Final = limit(ACCEPTED, condition("Enforced"))

    def test_not_where_the_controller_reports_nothing(self) -> None:
        assert rules(check(ATTACHED + limit())) == ["GWP3002"]

    def test_a_mark_that_is_missing(self) -> None:
        [finding] = check(ATTACHED + self.POLICY)
        assert (finding.rule, finding.severity, str(finding.subject)) == ("GWP3006", "info", "HTTPRoute shop/checkout")
        assert finding.message == (
            "it lacks kuadrant.io/RateLimitPolicyAffected, although a RateLimitPolicy affects it "
            "(attached here or above: RateLimitPolicy shop/checkout)"
        )

    def test_a_mark_that_is_left(self) -> None:
        marked = WORLD + route(parents(ACCEPTED, RESOLVED, self.MARK))
        other = limit(condition("Accepted", "False", "TargetNotFound"), target="cart")
        [finding] = check(marked + other, complete=True)
        assert (finding.rule, finding.severity) == ("GWP3007", "warning")
        assert finding.field == "status.parents[0].conditions[2]"
        assert finding.message == (
            "kuadrant.io/RateLimitPolicyAffected says that a RateLimitPolicy affects it, and none does"
        )
        [finding] = check(marked, complete=True)
        assert finding.message.endswith("for Gateway infra/public, and none does")
        [finding] = check(marked)
        assert (finding.rule, finding.certain) == ("GWP3007", False)
        assert finding.message.endswith("is unknown: no RateLimitPolicy was read")

    def test_other_conditions_that_are_called_so(self) -> None:
        for mark in (condition("example.com/ColorPolicyAffected"), self.MARK.replace('"True"', '"False"')):
            assert check(WORLD + route(parents(ACCEPTED, RESOLVED, mark)), complete=True) == []

    def test_marks_of_several_kinds(self) -> None:
        auth = self.POLICY.replace("RateLimit", "Auth").replace(
            "limits: {all: {rates: [{limit: 10, window: 1s}]}}", "rules: {}"
        )
        findings = check(ATTACHED + self.POLICY + auth)
        assert [finding.message.partition(",")[0] for finding in findings] == [
            "it lacks kuadrant.io/AuthPolicyAffected",
            "it lacks kuadrant.io/RateLimitPolicyAffected",
        ]

    @pytest.mark.parametrize("approximate", [False, True])
    def test_an_annotation(self, approximate: bool) -> None:  # noqa: FBT001 (a parameter of a test)
        """Some controllers mark targets by one that names the policies."""
        words: dict[Event, tuple[ConditionWords, ...]] = {"accepted": (ConditionWords("Accepted", "True", "Accepted"),)}
        reported = StatusProfile(placement="policy", conditions=words, target_annotation="example.com/colors")
        profile = PolicyKindProfile(
            GroupKind("example.com", "ColorPolicy"), "direct", "profile", status=reported, approximate=approximate
        )
        spec = f"{{targetRefs: [{TO_ROUTE}]}}"
        policy = document("ColorPolicy", "red", spec, version="example.com/v1", rest=status(ACCEPTED))
        told = {
            "blue": "example.com/colors is shop/blue, and should be shop/red",
            "red": "",
            None: "it lacks example.com/colors, although a ColorPolicy affects it",
        }
        if approximate:
            unknown = "is unknown: how policies of the kind work is known only in part"
            told["blue"] = f"whether a ColorPolicy affects it, as example.com/colors says, {unknown}"
            told[None] = f"whether example.com/colors should be there {unknown}"
        for named, expected in told.items():
            marked = f", annotations: {{example.com/colors: shop/{named}}}" if named else ""
            manifests = WORLD + route(parents(ACCEPTED, RESOLVED), marked) + policy
            analysis = analyze(snapshot_of(manifests.removeprefix("---\n"), complete=True), profiles=[profile])
            findings = lint(analysis, LintSettings(selected=("GWP3",)))
            assert [finding.message for finding in findings] == ([expected] if expected else [])
            assert all(finding.certain is not approximate for finding in findings)
            if named and expected:
                assert findings[0].field == 'metadata.annotations["example.com/colors"]'

    def test_a_mark_with_another_status(self) -> None:
        mark = self.MARK.replace('"True"', '"False"')
        [finding] = check(WORLD + route(parents(ACCEPTED, RESOLVED, mark)) + self.POLICY)
        assert finding.message == "kuadrant.io/RateLimitPolicyAffected is False, and should be True"


class TestObjects:
    """GWP3008, GWP3009 and GWP3013: what is said against Gateways, listeners and routes."""

    def test_not_what_follows_from_the_manifests(self) -> None:
        refused = parents(condition("Accepted", "False", "NotAllowedByListeners"), RESOLVED)
        world = CLASS + gateway(FINE, routes="Same") + SERVICE
        assert check(world + route(refused)) == []
        assert check(world + route(refused), complete=True) == []

    def test_not_what_repeats_what_is_said_of_a_listener(self) -> None:
        listener = f"{{name: http, conditions: [{condition('Accepted', 'False', 'PortUnavailable')}, {RESOLVED}]}}"
        whole = status(
            condition("Accepted", "True", "ListenersNotValid"),
            condition("Programmed", "False", "ListenersNotValid"),
            listeners=listener,
        )
        findings = [finding for finding in check(CLASS + gateway(whole)) if finding.rule == "GWP3008"]
        assert [finding.message for finding in findings] == [
            "its controller reports Accepted=False (PortUnavailable) for listener http"
        ]
        listener = (
            f"{{name: http, conditions: [{ACCEPTED}, {RESOLVED}, {condition('Programmed', 'False', 'Invalid')}]}}"
        )
        whole = status(condition("Accepted", "False", "InvalidParameters"), listeners=listener)
        findings = check(CLASS + gateway(whole), "GWP3008")
        assert [finding.message for finding in findings] == [
            "its controller reports Accepted=False (InvalidParameters)"
        ]

    def test_not_what_other_rules_are_about(self) -> None:
        for type_ in ("OverlappingTLSConfig", "InsecureFrontendValidationMode"):
            reported = status(ACCEPTED, condition(type_), listeners=HTTP)
            assert check(CLASS + gateway(reported), "GWP3008") == []
        certificates = status(
            ACCEPTED, condition("OverlappingTLSConfig", "True", "OverlappingCertificates"), listeners=HTTP
        )
        assert rules(check(CLASS + gateway(certificates), "GWP3008")) == ["GWP3008"]

    def test_what_only_the_controller_knows(self) -> None:
        reported = status(ACCEPTED, condition("Programmed", "False", "AddressNotAssigned"), listeners=HTTP)
        [finding] = check(CLASS + gateway(reported))
        assert (finding.rule, finding.field) == ("GWP3008", "status.conditions[1]")
        [finding] = check(gateway_class(status(condition("Accepted", "False", "InvalidParameters"))))
        assert finding.message == "its controller reports Accepted=False (InvalidParameters)"
        down = f"{{name: http, conditions: [{ACCEPTED}, {RESOLVED}, {condition('Programmed', 'False', 'Invalid')}]}}"
        [finding] = check(gateway_class() + gateway(status(ACCEPTED, listeners=down)))
        assert finding.field == "status.listeners[0].conditions[2]"

    def test_a_warning_about_a_policy(self) -> None:
        warning = condition("Warning", "True", "DeprecatedField", message="rateLimit.type is deprecated")
        [finding] = check(OF_ENVOY + traffic(ancestors(ACCEPTED, warning, controller=ENVOY)), complete=True)
        assert (finding.rule, finding.reason) == ("GWP3008", "DeprecatedField")

    def test_pending_but_not_for_long(self) -> None:
        created = ', creationTimestamp: "2026-01-01T11:58:00Z"'
        assert check(gateway_class(status(PENDING), created), now=NOON) == []
        moved = condition("Accepted", "Unknown", "Pending", lastTransitionTime='"2026-01-01T11:58:00Z"')
        assert check(gateway_class(status(moved)), now=NOON) == []

    def test_pending_below_a_class_that_is_not_there(self) -> None:
        assert check(gateway(status(PENDING)), "GWP3009", complete=True) == []

    def test_pending_below_a_gateway_that_is_pending(self) -> None:
        spec = f"{{parentRef: {{{PUBLIC}}}, listeners: [{{name: more, protocol: HTTP, port: 81}}]}}"
        listeners = document("ListenerSet", "more", spec, namespace="infra", meta=", uid: 0a1b")
        manifests = CLASS + gateway(status(PENDING)) + listeners
        assert [str(finding.subject) for finding in check(manifests)] == ["Gateway infra/public"]
        assert [str(finding.subject) for finding in check(manifests + status(PENDING))] == ["Gateway infra/public"]

    def test_pending_without_a_class(self) -> None:
        nameless = gateway(status(PENDING)).replace("gatewayClassName: public", "addresses: []")
        assert rules(check(nameless, "GWP3009")) == ["GWP3009"]

    def test_pending(self) -> None:
        """A class, or a Gateway of one that is fine."""
        created = ', creationTimestamp: "2026-01-01T11:00:00Z"'
        [finding] = check(gateway_class(status(PENDING), created) + gateway(status(PENDING)), now=NOON)
        assert (finding.rule, str(finding.subject)) == ("GWP3009", "GatewayClass public")
        assert finding.message == (
            "Accepted has been Unknown (Pending) since 2026-01-01 11:00 UTC: "
            "no controller that goes by example.com/gateway has acted on it"
        )
        both = status(PENDING, condition("Programmed", "Unknown", "Pending"))
        [finding] = check(CLASS + gateway(both), "GWP3009")
        assert finding.message == "Accepted and Programmed have been Unknown (Pending): no controller has acted on it"

    def test_a_part_of_a_route(self) -> None:
        words = {
            '"Dropped Rule 2"': "Dropped Rule 2; its other rules are in force",
            '"Fall Back to generation 3."': (
                "Fall Back to generation 3; the last valid version of it is in force, not this one"
            ),
            "some rules": "some rules",
        }
        for message, expected in words.items():
            partly = condition("PartiallyInvalid", "True", "UnsupportedValue", message=message)
            [finding] = check(WORLD + route(parents(ACCEPTED, RESOLVED, partly)))
            assert finding.rule == "GWP3013"
            assert finding.message.endswith(f"(UnsupportedValue) for Gateway infra/public: {expected}")


class TestWhatIsLeft:
    """GWP3010 to GWP3012: entries for what is not there, and numbers."""

    def test_a_route_that_delegates_is_a_parent_without_being_named(self) -> None:
        above = parents(ACCEPTED, RESOLVED, ref="kind: HTTPRoute, name: above")
        assert check(WORLD + route(above), "GWP3010") == []

    def test_entries_for_what_is_not_there(self) -> None:
        old = places("parent", (PUBLIC, [ACCEPTED, RESOLVED]), ("name: old, namespace: infra", [REFUSED, RESOLVED]))
        [finding] = check(WORLD + route(old))
        assert (finding.rule, finding.field) == ("GWP3010", "status.parents[1].conditions[0]")
        assert finding.message == (
            "example.com/gateway reports for Gateway infra/old, which it does not name as its parent"
        )
        listeners = f"{HTTP}, {{name: gone, conditions: [{ACCEPTED}]}}"
        [finding] = check(gateway_class() + gateway(status(ACCEPTED, listeners=listeners)))
        assert finding.message == "its controller reports on listener gone, which does not exist"
        gone = ancestors(ACCEPTED, ref="name: old, namespace: infra")
        [finding] = [finding for finding in check(WORLD + tls_policy(gone), complete=True) if finding.rule == "GWP3010"]
        assert finding.message == "example.com/gateway reports for Gateway infra/old, which does not exist"

    def test_more_routes_than_were_read(self) -> None:
        counted = HTTP.replace("name: http", "name: http, attachedRoutes: 3")
        world = CLASS + gateway(status(ACCEPTED, listeners=counted)) + SERVICE
        manifests = world + route(parents(ACCEPTED, RESOLVED))
        [finding] = check(manifests)
        assert (finding.rule, finding.certain) == ("GWP3012", False)
        assert finding.message == (
            "its controller reports attachedRoutes=3 for listener http; as computed, it is 1: HTTPRoute shop/checkout; "
            "others may not have been read"
        )
        [finding] = check(manifests, complete=True)
        assert (finding.severity, finding.field) == ("warning", "status.listeners[0].attachedRoutes")

    def test_as_many_as_there_are(self) -> None:
        counted = HTTP.replace("name: http", "name: http, attachedRoutes: 1")
        world = CLASS + gateway(status(ACCEPTED, listeners=counted)) + SERVICE
        assert check(world + route(parents(ACCEPTED, RESOLVED))) == []

    def test_what_was_cut(self) -> None:
        """A status with as many ancestors as there may be."""
        world = OF_ENVOY
        [finding] = check(
            world + traffic(ancestors(ACCEPTED, condition("Aggregated"), controller=ENVOY)), complete=True
        )
        assert (finding.rule, finding.severity) == ("GWP3011", "info")
