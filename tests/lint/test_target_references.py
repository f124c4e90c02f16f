"""How references of policies are written: labels, several targets, older spellings, and mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.rules.policies.target_references import (
    deprecated_targetref_singular,
    duplicate_target,
    multiple_targetrefs_unsupported,
    selector_matches_all,
    selector_matches_nothing,
    target_field_misspelt,
    target_unnamed,
)
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests import build
from tests.lint.rule_worlds import GATEWAY, ROUTE, SERVED, TO_ROUTE, checked, known, said, verdicts

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

P: Final = build.ref("ColorPolicy", "p", group="example.com")
KGATEWAY: Final = "gateway.kgateway.dev"


def selecting(
    *, namespaces: Json = None, namespace: str = "default", kind: str = "HTTPRoute", **selector: Json
) -> Resource:
    reference: dict[str, Json] = {"group": GATEWAY_API, "kind": kind, **selector}
    if namespaces is not None:
        reference["namespaces"] = namespaces
    return build.policy("p", targetSelectors=[reference], namespace=namespace)


GOLD: Final = build.route("r", labels={"tier": "gold", "team": "shop"})


@pytest.mark.parametrize(
    "policy",
    [
        selecting(matchLabels={"tier": "gold"}),
        selecting(matchExpressions=[{"key": "tier", "operator": "In", "values": ["gold", "silver"]}]),
        selecting(matchLabels={}),
        selecting(matchLabels={"tier": "gold"}, namespaces={"from": "All"}, namespace="infra"),
    ],
)
def test_a_selector_that_selects_something(policy: Resource) -> None:
    assert checked(selector_matches_nothing, GOLD, policy) == []


@pytest.mark.parametrize("label", ["${TIER}", "go{{ .ld }}"])
def test_a_label_to_be_filled_in_may_be_the_one(label: str) -> None:
    findings = checked(
        selector_matches_nothing, build.route(labels={"tier": label}), selecting(matchLabels={"tier": "gold"})
    )
    assert verdicts(findings) == [False]
    assert verdicts(checked(selector_matches_nothing, GOLD, selecting(matchLabels={"tier": label}))) == [False]


def test_what_may_be_selected_beside_what_is() -> None:
    unknown = build.route("s", labels={"tier": "${TIER}"})
    assert checked(selector_matches_nothing, GOLD, unknown, selecting(matchLabels={"tier": "gold"})) == []


def test_a_selector_that_selects_nothing() -> None:
    policy = selecting(matchLabels={"tier": "platinum"})
    assert checked(selector_matches_nothing, GOLD, policy) == [
        Finding(subject=P, field="spec.targetSelectors[0]", message="selects no HTTPRoute in namespace default")
    ]
    assert verdicts(checked(selector_matches_nothing, GOLD, policy, complete=False)) == [False]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (selecting(matchLabels={"team": "shop", "tier": "golden"}), "did you mean tier: gold?"),
        (selecting(matchLabels={"teir": "gold"}), "did you mean the label tier?"),
        (
            selecting(matchLabels={"tier": "golden"}, namespaces={"from": "All"}, namespace="x"),
            "did you mean tier: gold?",
        ),
        # With these, nothing would be selected either.
        (selecting(matchLabels={"team": "shopp", "tier": "golden"}), None),
        (selecting(matchLabels={"teir": "silver"}), None),
    ],
)
def test_a_label_that_is_misspelt(policy: Resource, words: str | None) -> None:
    (finding,) = checked(selector_matches_nothing, GOLD, policy)
    assert finding.fix == (Fix(words=words) if words else None)


@pytest.mark.parametrize("labels", [{"tier": 1}, {"tier": None}, "x", ["tier"]], ids=str)
def test_labels_of_any_shape(labels: Json) -> None:
    for finding in checked(selector_matches_nothing, GOLD, selecting(matchLabels=labels)):
        assert finding.fix is None


def test_a_namespace_for_policies_of_all_namespaces() -> None:
    policy = build.policy(
        "p",
        targetSelectors=[{"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"tier": "gold"}}],
        kind="TrafficPolicy",
        group=KGATEWAY,
        namespace="infra",
    )
    assert verdicts(checked(selector_matches_nothing, GOLD, policy)) == [False]
    assert verdicts(checked(selector_matches_nothing, build.route(), policy)) == [True]


@pytest.mark.parametrize(
    "policy",
    [selecting(matchLabels={"tier": "gold"}), selecting(matchExpressions=[{"key": "tier"}]), selecting(kind="")],
)
def test_a_selector_that_asks_for_something(policy: Resource) -> None:
    assert checked(selector_matches_all, GOLD, policy) == []


def test_a_selector_that_asks_for_nothing() -> None:
    """It is certain in any world, and said once, whatever is selected."""
    for complete in (False, True):
        findings = checked(
            selector_matches_all, GOLD, ROUTE, build.route("s"), selecting(matchLabels={}), complete=complete
        )
        assert said(findings) == [
            (
                "spec.targetSelectors[0]",
                "selects every HTTPRoute in namespace default, also those to come: it asks for no label",
            )
        ]


def test_a_selector_that_asks_for_nothing_anywhere() -> None:
    (finding,) = checked(selector_matches_all, GOLD, selecting(matchLabels={}, namespaces={"from": "All"}))
    assert finding.message == "selects every HTTPRoute, also those to come: it asks for no label"


def test_an_empty_selector_that_selects_nothing() -> None:
    nothing = [known(empty_selector="nothing")]
    assert checked(selector_matches_all, GOLD, selecting(matchLabels={}), profiles=nothing) == []
    assert verdicts(checked(selector_matches_nothing, GOLD, selecting(matchLabels={}), profiles=nothing)) == [True]
    assert checked(selector_matches_all, GATEWAY, selecting(matchLabels={})) == []


@pytest.mark.parametrize("selector", ["${LABELS}", "{{ .Values.labels }}"])
def test_a_selector_to_be_filled_in_asks_for_something(selector: str) -> None:
    assert checked(selector_matches_all, GOLD, selecting(selector=selector)) == []
    assert checked(selector_matches_all, GOLD, selecting(matchLabels=selector)) == []


CA: Final = {"validation": {"hostname": "s.example", "wellKnownCACertificates": "System"}}


def tls(*targets: Json) -> Resource:
    return build.resource("BackendTLSPolicy", "p", {"targetRefs": list(targets), **CA})


def port(section: str = "") -> dict[str, Json]:
    """A reference to a Service, or to one of its ports."""
    return build.target("s", "Service", section, group="")


SERVICE: Final = build.service("s", ("web", 80), ("admin", 81))


@pytest.mark.parametrize(
    "policy",
    [
        build.policy("p", TO_ROUTE),
        build.policy("p", TO_ROUTE, build.target("r", "GRPCRoute")),
        build.policy("p", build.target("g"), build.target("g", section="http")),
        build.policy("p", TO_ROUTE, targetSelectors=[{"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {}}]),
        build.policy("p", build.target("g", sectionNames=["http", "http"])),
        tls(port("web"), port("admin")),
    ],
)
def test_targets_that_are_distinct(policy: Resource) -> None:
    assert checked(duplicate_target, *SERVED, SERVICE, policy) == []


def test_a_target_that_is_named_twice() -> None:
    policy = build.policy("p", TO_ROUTE, build.target("g"), TO_ROUTE)
    assert checked(duplicate_target, *SERVED, policy) == [
        Finding(
            subject=P,
            field="spec.targetRefs[2]",
            message="spec.targetRefs[0] names HTTPRoute default/r already",
            related=(Related(object=build.ref("HTTPRoute", "r"), words="the target", origin=build.ORIGIN),),
        )
    ]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (tls(port(), port("web")), "spec.targetRefs[0] names Service default/s already"),
        (tls(port("web"), port()), "spec.targetRefs[0] names port web of Service default/s already"),
        (tls(port("web"), port("web")), "spec.targetRefs[0] names port web of Service default/s already"),
    ],
)
def test_a_service_and_one_of_its_ports(policy: Resource, message: str) -> None:
    """An API server takes no BackendTLSPolicy that names both."""
    assert said(checked(duplicate_target, SERVICE, policy)) == [("spec.targetRefs[1]", message)]


def test_targets_that_do_not_exist_may_be_the_same() -> None:
    policy = build.policy("p", build.target("x", "HTTPRoute"), build.target("x", "HTTPRoute"))
    assert len(checked(duplicate_target, policy)) == 1


def test_one_target_of_a_backend_tls_policy() -> None:
    assert checked(multiple_targetrefs_unsupported, tls(port()), build.policy("p", TO_ROUTE, TO_ROUTE)) == []


def test_several_targets_of_a_backend_tls_policy() -> None:
    """It is information: some implementations support it."""
    findings = checked(multiple_targetrefs_unsupported, tls(port(), build.target("t", "Service", group="")))
    assert said(findings) == [
        ("spec.targetRefs", "has 2 targets, of which not every implementation supports more than one")
    ]


def defined(*names: str) -> Resource:
    """The definition of the kind, whose spec has some fields."""
    reference: Json = {"type": "object", "properties": {"kind": {"type": "string"}, "name": {"type": "string"}}}
    properties: dict[str, Json] = {name: {"type": "array", "items": reference} for name in names}
    return build.crd("ColorPolicy", schema={"properties": {"spec": {"type": "object", "properties": properties}}})


OLD: Final = build.policy("p", targetRef=TO_ROUTE)


def test_the_spelling_that_a_kind_has() -> None:
    assert checked(deprecated_targetref_singular, OLD) == []
    assert checked(deprecated_targetref_singular, OLD, profiles=[known()]) == []
    assert checked(deprecated_targetref_singular, OLD, defined("targetRef")) == []
    assert checked(deprecated_targetref_singular, build.policy("p", TO_ROUTE), defined("targetRef", "targetRefs")) == []


def test_the_older_spelling_of_two() -> None:
    expected = [
        Finding(
            subject=P,
            field="spec.targetRef",
            message="is the old spelling: ColorPolicy has spec.targetRefs, a list, instead",
            fix=Fix(words="name the target in spec.targetRefs"),
        )
    ]
    assert checked(deprecated_targetref_singular, OLD, defined("targetRef", "targetRefs")) == expected
    both = known(reference_fields=("spec.targetRef", "spec.targetRefs"))
    assert checked(deprecated_targetref_singular, OLD, profiles=[both]) == expected


@pytest.mark.parametrize("reference", [TO_ROUTE, {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {}}])
def test_a_reference_that_names_something(reference: dict[str, Json]) -> None:
    assert checked(target_unnamed, GOLD, build.policy("p", reference)) == []


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"group": GATEWAY_API, "name": "r"}, "names no kind"),
        ({"group": GATEWAY_API, "kind": "HTTPRoute"}, "names no object and selects none"),
        ({"group": GATEWAY_API, "kind": "HTTPRoute", "name": 7}, "names no object and selects none"),
    ],
)
def test_a_reference_that_names_nothing(reference: dict[str, Json], message: str) -> None:
    """It is certain in any world."""
    for complete in (False, True):
        findings = checked(target_unnamed, GOLD, build.policy("p", TO_ROUTE, reference), complete=complete)
        assert said(findings) == [("spec.targetRefs[1]", message)]


def test_a_field_that_a_kind_may_have() -> None:
    """Of kinds without a profile it is not known; a definition that was read says it; and other words may be right."""
    policy = build.policy("p", build.target("g", sectioName="http"))
    assert checked(target_field_misspelt, *SERVED, policy) == []
    assert checked(target_field_misspelt, *SERVED, policy, defined("targetRefs"), profiles=[known()]) == []
    both = build.policy("p", {**build.target("g", "Gateway", "http"), "sectioName": "https"})
    assert checked(target_field_misspelt, *SERVED, both, profiles=[known()]) == []
    other = build.policy("p", build.target("g", weight=1, sectionName="http"))
    assert checked(target_field_misspelt, *SERVED, other, profiles=[known()]) == []


def test_a_field_that_is_misspelt() -> None:
    policy = build.policy("p", build.target("g", sectioName="http"), build.target("x", nmespace="infra"))
    findings = checked(target_field_misspelt, *SERVED, policy, profiles=[known()])
    assert [(finding.field, finding.fix) for finding in findings] == [
        ("spec.targetRefs[0].sectioName", Fix(words="did you mean sectionName?")),
        ("spec.targetRefs[1].nmespace", Fix(words="did you mean namespace?")),
    ]
    assert {finding.message for finding in findings} == {"is no field of a target reference, so it has no effect"}
