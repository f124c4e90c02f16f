"""One cause, one finding: what a change does to objects that it does not touch stands at the changed line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.comparison import StateComparison, compare
from kubectl_policy.lint.changes.causes import Causes, changed_fields
from kubectl_policy.lint.checking import findings_in
from kubectl_policy.lint.consequences import join_consequences
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Json, Origin
from tests import build
from tests.lint.policy_manifests import CORS, JWT, gateway, policy, route, service
from tests.lint.rule_worlds import document, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import ObjectRef

SELECTED: Final = LintSettings(selected=("GWP1001", "GWP1002", "GWP4", "GWP5001", "GWP5004", "GWP91"))
GATEWAY: Final = build.ref("Gateway", "public", "infra")
RENAMED: Final = "spec.listeners[0].name was http"


def states(before: str, after: str) -> StateComparison:
    return compare(snapshot_of(before, complete=True), snapshot_of(after, complete=True))


def joined(before: str, after: str, settings: LintSettings = SELECTED) -> tuple[Finding, ...]:
    """What is new, by one cause each."""
    comparison = states(before, after)
    world = LintWorld(comparison.after, settings, lambda _: True, comparison)
    known = {finding.key for finding in findings_in(LintWorld(comparison.before, settings, lambda _: True))}
    new = (finding for finding in findings_in(world) if finding.key not in known)
    return join_consequences(new, [world], settings, by_field)


def by_field(origin: Origin | None, field: str) -> Origin | None:
    """The file of an object, as are all, and as its line the number of steps to a field."""
    return Origin(origin.source, len(field.split("."))) if origin and field else origin


def told(findings: Sequence[Finding]) -> list[tuple[str, str, int]]:
    """The rule, the object and the line of each."""
    return [(finding.rule, str(finding.subject), finding.origin.line if finding.origin else 0) for finding in findings]


REST: Final = route("a", section="http", backend="cart") + route("b", section="http", backend="cart") + service()


def test_a_renamed_listener_is_one_finding() -> None:
    """At its name, with the objects that name it, the worst first, and what they may name instead."""
    (finding,) = joined(gateway() + REST, gateway(listeners=["web"]) + REST)
    assert told([finding]) == [("GWP9104", "Gateway infra/public", 3)]
    assert finding.message == (
        f"{RENAMED}, with consequences for 2 objects that the change does not touch: "
        "parent-section-not-found (2) and traffic-lost (2)"
    )
    assert finding.fix == Fix(words="at these: did you mean web?")
    assert sorted((str(related.object), related.field) for related in finding.related) == [
        ("HTTPRoute shop/a", ""),
        ("HTTPRoute shop/a", "spec.parentRefs[0].sectionName"),
        ("HTTPRoute shop/b", ""),
        ("HTTPRoute shop/b", "spec.parentRefs[0].sectionName"),
    ]
    assert (finding.severity, finding.certain, len(finding.fingerprint)) == ("error", True, 64)


def test_a_single_consequence_stands_at_the_change() -> None:
    """Its own line is related, and its fix is for that one."""
    only = replace(SELECTED, selected=("GWP4002", "GWP9104"))
    (finding,) = joined(gateway() + route(section="http"), gateway(listeners=["web"]) + route(section="http"), only)
    assert told([finding]) == [("GWP4002", "HTTPRoute shop/cart", 3)]
    assert [(str(related.object), related.field) for related in finding.related] == [
        ("HTTPRoute shop/cart", "spec.parentRefs[0].sectionName"),
        ("Gateway infra/public", ""),
    ]
    assert finding.fix == Fix(words="did you mean web?")


def test_a_change_may_touch_the_object_itself() -> None:
    """Then it is wrong there."""
    before = gateway() + route() + service()
    findings = joined(before, gateway() + route(section="htp") + service())
    assert {(rule, subject) for rule, subject, _ in told(findings)} == {
        ("GWP4002", "HTTPRoute shop/cart"),
        ("GWP9102", "HTTPRoute shop/cart"),
    }
    ignored = replace(SELECTED, ignored=("GWP9104",))
    assert len(joined(gateway() + REST, gateway(listeners=["web"]) + REST, ignored)) == 4
    assert joined(before, before) == ()


@pytest.mark.parametrize(("source", "line"), [("<stdin>", 7), ("gone.yaml", 2)])
def test_a_finding_alone_moves_to_files_of_the_input(source: str, line: int) -> None:
    """To no other one: where a file of the base belongs may not be known."""
    comparison = states(gateway() + route(section="http"), route(section="http"))
    only = replace(SELECTED, selected=("GWP4001", "GWP9104"))
    world = LintWorld(comparison.after, only, lambda _: True, comparison)

    def locate(origin: Origin | None, _: str) -> Origin | None:
        return replace(origin, source=source) if origin else None

    (finding,) = join_consequences(findings_in(world), [world], only, locate)
    assert finding.origin == Origin("<stdin>", line)


def test_security_that_is_lost_is_told_by_itself() -> None:
    """At the new policy, beside what else that does."""
    before = gateway() + REST + policy("SecurityPolicy", "Gateway/public", JWT)
    named = replace(SELECTED, selected=("GWP9101", "GWP2", "GWP9104"))
    findings = joined(before, before + policy("SecurityPolicy", "HTTPRoute/a", CORS), named)
    assert told(findings) == [
        ("GWP9101", "HTTPRoute shop/a", 41),
        ("GWP2005", "SecurityPolicy shop/a", 41),
        ("GWP9104", "SecurityPolicy shop/a", 41),
    ]
    alone = replace(SELECTED, selected=("GWP9101", "GWP2004", "GWP9104"))
    findings = joined(before, before + policy("SecurityPolicy", "HTTPRoute/a", CORS), alone)
    assert told(findings) == [("GWP9101", "HTTPRoute shop/a", 41), ("GWP2004", "SecurityPolicy infra/public", 41)]


GRANT: Final = document(
    "ReferenceGrant",
    "open",
    "{from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}], to: [{group: '', kind: Service}]}",
    version="gateway.networking.k8s.io/v1beta1",
    namespace="far",
)
FAR: Final = route().replace("name: cart, port", "name: cart, namespace: far, port") + service(namespace="far")
TEAMS: Final = gateway().replace("{from: All}", "{from: Selector, selector: {matchLabels: {team: a}}}")
SHOP: Final = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: %s}}\n"
NOISE: Final = service("noise")
NOISES: Final = NOISE.replace("port: 80}", "port: 81}")


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (gateway() + REST, REST, "Gateway infra/public"),
        (gateway() + REST, (gateway() + REST).replace(service(), ""), "Service shop/cart"),
        (gateway() + FAR + GRANT, gateway() + FAR, "ReferenceGrant far/open"),
        (TEAMS + SHOP % "a" + REST, TEAMS + SHOP % "b" + REST, "Namespace shop"),
        (
            gateway() + REST + policy("SecurityPolicy", "Gateway/public", JWT),
            gateway() + REST,
            "SecurityPolicy infra/public",
        ),
    ],
)
def test_the_cause_among_several_changes(before: str, after: str, cause: str) -> None:
    """Others have nothing to do with it."""
    comparison = states(before + NOISE, after + NOISES)
    world = LintWorld(comparison.after, SELECTED, lambda _: True, comparison)
    known = {finding.key for finding in findings_in(LintWorld(comparison.before, SELECTED, lambda _: True))}
    new = [finding for finding in findings_in(world) if finding.key not in known]
    assert new
    assert {str(Causes(comparison).of(finding)) for finding in new if finding.subject} == {cause}


def test_the_only_change_is_the_cause_and_of_many_perhaps_none() -> None:
    finding = Finding(subject=build.ref("HTTPRoute", "r", "elsewhere"), message="m")
    one = Causes(states(gateway(), gateway(listeners=["web"])))
    assert str(one.of(finding)) == "Gateway infra/public"
    assert one.of(replace(finding, subject=None)) is None
    named = Causes(states(gateway() + NOISE, gateway() + NOISES + policy("SecurityPolicy", "Gateway/public", JWT)))
    assert str(named.of(replace(finding, subject=GATEWAY))) == "SecurityPolicy infra/public"
    # What names an object of that name means one of its own namespace.
    both = Causes(states(gateway() + NOISE, gateway(listeners=["web"]) + NOISES + route("x", section="r")))
    assert both.of(finding) is None


LISTENER_SET: Final = document("ListenerSet", "set", "{parentRef: {name: public, namespace: infra}, listeners: []}")


@pytest.mark.parametrize(
    "subject",
    [
        build.ref("Gateway", "public", "infra"),
        build.ref("HTTPRoute", "a", "shop"),
        build.ref("ListenerSet", "set", "shop"),
        build.ref("SecurityPolicy", "public", "infra", "gateway.envoyproxy.io"),
        build.ref("Service", "cart", "shop", ""),
    ],
    ids=str,
)
@pytest.mark.parametrize("is_changed", [True, False])
def test_a_cause_above_an_object(subject: ObjectRef, *, is_changed: bool) -> None:
    """The class of a Gateway, for all that is below it; nothing but routes leads to a Service."""
    world = gateway() + REST + LISTENER_SET + policy("SecurityPolicy", "Gateway/public", JWT)
    after = world.replace("gatewayclass-controller", "other") if is_changed else world
    more, less = document("ConfigMap", "one", "{}", version="v1"), document("ConfigMap", "two", "{}", version="v1")
    causes = Causes(states(world + more, after + less))
    cause = causes.of(Finding(subject=subject, message="m"))
    assert str(cause) == ("GatewayClass ours" if is_changed and subject.kind != "Service" else "None")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [("a", 1)]),
        ({"a": 1, "b": 2}, {"b": 2, "c": 3}, [("", 1), ("c", None)]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [("a[1]", 2)]),
        (
            {"a": [{"name": "x", "v": 1}, {"name": "y"}]},
            {"a": [{"name": "x", "v": 2}]},
            [("a", {"name": "y"}), ("a[0].v", 1)],
        ),
        ({"a": ["x"]}, {"a": ["x", "y"]}, [("a[1]", None)]),
    ],
)
def test_changed_fields(before: Json, after: Json, expected: list[tuple[str, Json]]) -> None:
    """What is removed was in the field around it."""
    assert [(str(field), former) for field, former in changed_fields(before, after)] == expected


@pytest.mark.parametrize(
    ("after", "words", "field"),
    [
        (gateway(listeners=["web"]), RENAMED, "spec.listeners[0].name"),
        (gateway(listeners=["web", "more"]), "http is gone from spec.listeners", "spec.listeners"),
        (gateway().replace("port: 80,", "port: 80, hostname: a.example,"), "spec.listeners[0].hostname is changed", ""),
        (gateway().replace("name: public,", "name: public, labels: {a: b},"), "metadata.labels is changed", ""),
        ("", "it is deleted", "(whole)"),
    ],
)
def test_what_is_changed(after: str, words: str, field: str) -> None:
    comparison = states(gateway() + REST, after + REST)
    change = Causes(comparison).change(GATEWAY, build.ref("HTTPRoute", "a", "shop"))
    assert (change.words, str(change.field) or "(whole)") == (words, field or words.split(maxsplit=1)[0])
