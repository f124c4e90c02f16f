"""Attachments that placeholders leave open."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, GroupKind, PolicyKindProfile, Topology, analyze
from kubectl_policy.attachment import attach
from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.build import backend, gateway, index, listener, policy, ref, resource, route, rule, service, snapshot, target

PROFILE = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    declared_targets=frozenset(
        {GroupKind("gateway.networking.k8s.io", kind) for kind in ("Gateway", "HTTPRoute")} | {GroupKind("", "Service")}
    ),
)


def attached(reference: dict[str, Json], *others: Resource) -> list[tuple[str, str, str]]:
    """State, target and message of each attachment in a complete world."""
    found = policy("p", reference)
    every = attach(found, PROFILE, Topology(index(found, *others, complete=True)))
    return [(each.state, str(each.target or ""), each.message) for each in every]


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        (target("g", "${K}"), "${K}.gateway.networking.k8s.io"),
        (target("g", "Gateway", group="${G}/v1"), "Gateway.${G}/v1"),
        (target("g", "{{ .Kind }}", group=""), "{{ .Kind }}"),
    ],
)
def test_kinds(reference: dict[str, Json], kind: str) -> None:
    message = f"which kind spec.targetRefs[0] names cannot be known yet: {kind} is a placeholder"
    assert attached(reference, gateway()) == [("target unknown", "", message)]


def test_sections() -> None:
    """A section may be any that fits, or none: then it is missing."""
    world = gateway("g", listener("http"), listener("https", port=443))
    ((state, _, message),) = attached(target("g", section="${S}"), world)
    assert (state, message) == ("target unknown", "which section of Gateway default/g ${S} is cannot be known yet")
    ((state, _, _),) = attached(target("g", section="x-${S}"), world)
    assert state == "section missing"
    ((state, _, _),) = attached(target("g", section="http"), gateway("g", listener("${L}")))
    assert state == "target unknown"
    ((state, _, _),) = attached(target("r", "HTTPRoute", "one"), route(rules=[rule(), rule(name="${R}")]))
    assert state == "target unknown"
    ((state, _, _),) = attached(target("r", "HTTPRoute", "one"), route(rules=[rule()]))
    assert state == "section missing"
    ((state, _, _),) = attached(target("s", "Service", "web", group=""), service("s", ("${P}", 80)))
    assert state == "target unknown"


@pytest.mark.parametrize(("selector", "labels"), [({"app": "a"}, {"app": "${A}"}), ({"app": "${A}"}, {"app": "a"})])
def test_labels(selector: dict[str, Json], labels: dict[str, str]) -> None:
    reference: dict[str, Json] = {
        "group": "gateway.networking.k8s.io",
        "kind": "HTTPRoute",
        "selector": {"matchLabels": selector},
    }
    other = resource("HTTPRoute", "other", {}, labels={"tier": "web"})
    message = "whether spec.targetRefs[0] selects it cannot be known yet: a label contains a placeholder"
    assert attached(reference, route(labels=labels), other) == [("target unknown", "HTTPRoute default/r", message)]
    both = attached(reference, route(labels=labels), resource("HTTPRoute", "same", {}, labels=dict(selector)))  # type: ignore[arg-type]  # they are text
    assert ("attached", "HTTPRoute default/same", "") in both
    assert ("target unknown", "HTTPRoute default/r", message) in both


def test_labels_of_expressions() -> None:
    """A placeholder anywhere in a selector."""
    expression: Json = {"key": "app", "operator": "In", "values": ["${A}"]}
    reference: dict[str, Json] = {
        "group": "gateway.networking.k8s.io",
        "kind": "HTTPRoute",
        "selector": {"matchExpressions": [expression], "matchLabels": {"tier": 1, "x": None}},
    }
    assert [state for state, _, _ in attached(reference, route(labels={"app": "a"}))] == ["target missing"]


def test_a_namespace_that_may_be_the_policys_own() -> None:
    """Where a kind may not leave its own, that is undecided."""
    profile = replace(PROFILE, cross_namespace=False)
    found = policy("p", target("g", namespace="${NS}"))
    (attachment,) = attach(found, profile, Topology(index(found, gateway(), complete=True)))
    assert attachment.state == "target unknown"
    assert attachment.message.endswith("own namespace default, not ${NS}, if these are not the same")


def test_a_route_that_others_may_delegate_to_may_be_managed() -> None:
    """As long as it is not known what these name."""
    child = route("child", parents=[])
    above = route("above", parents=[], rules=[rule(backend("${R}", None, kind="HTTPRoute", group=GATEWAY_API))])
    profile = replace(PROFILE, controllers=frozenset({"example.com/gateway"}))
    found = policy("p", target("child", "HTTPRoute"))
    (attachment,) = attach(found, profile, Topology(index(found, child, above, complete=True)))
    assert attachment.state == "attached"


SELECTING = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
ROUTES: Json = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "selector": {"matchLabels": {"app": "a"}}}


def analysed(*world: Resource) -> Analysis:
    return analyze(snapshot(*world, complete=True), profiles=[SELECTING])


def possible(obj: ObjectRef, *world: Resource) -> list[str]:
    return [str(found.policy) for found in analysed(*world).possible_attachments.to(obj)]


@pytest.mark.parametrize(
    "reference",
    [target("${G}"), target("g", namespace="${NS}"), target("g", "${K}"), target("g", "${K}", namespace="default")],
)
def test_a_reference_that_may_name_an_object(reference: dict[str, Json]) -> None:
    assert possible(ref("Gateway", "g"), gateway(), policy("p", reference)) == ["ColorPolicy default/p"]
    assert possible(ref("Gateway", "g"), gateway(), policy("p", target("other"))) == []


def test_a_reference_of_an_unknown_kind_to_something_else() -> None:
    world = (gateway(), policy("p", target("other", "${K}")))
    assert possible(ref("Gateway", "g"), *world) == []
    assert possible(ref("GatewayClass", "other"), *world) == ["ColorPolicy default/p"]


def test_an_object_whose_name_is_not_known() -> None:
    """It may be what a reference names that finds nothing else."""
    world = (gateway("${G}"), policy("p", target("g")))
    assert possible(ref("Gateway", "${G}"), *world) == ["ColorPolicy default/p"]


def test_selectors_of_namespaces_that_are_not_known() -> None:
    """They may be about the namespace of an object with the labels."""
    homeless = route("r", namespace="${NS}", labels={"app": "a"})
    other = route("other", namespace="${NS}", labels={"app": "b"})
    world = (homeless, other, policy("p", ROUTES))  # type: ignore[arg-type]  # a mapping
    assert possible(homeless.ref, *world) == ["ColorPolicy default/p"]
    assert possible(other.ref, *world) == []
    assert possible(ref("HTTPRoute", "none", "${NS}"), *world) == []


def test_what_is_undecided_of_objects_that_are_there() -> None:
    """As a section of them."""
    world = analysed(gateway(), policy("p", target("g", section="${S}"), target("${G}")))
    assert [found.state for found in world.possible_attachments.undecided_at(ref("Gateway", "g"))] == ["target unknown"]
    assert world.is_uncertain
    assert not analysed(gateway(), policy("p", target("g"))).is_uncertain


SECTION = target("g", section="${SECTION}")


def test_whether_any_policy_is_undecided() -> None:
    """At some objects or, where all attachments are worked out at once, anywhere."""
    world = (gateway(), gateway("h"), policy("p", SECTION), policy("q", target("h")), policy("r", {"name": "g"}))
    for is_known in (False, True):
        found = analysed(*world)
        if is_known:
            found.index.expect_questions(1_000)
            assert found.attachments_to(ref("Gateway", "h"))
        possible_attachments, kind = found.possible_attachments, SELECTING.group_kind
        assert possible_attachments.has_undecided(kind, [ref("Gateway", "g")])
        assert possible_attachments.has_undecided(kind, [ref("Gateway", "h")]) is is_known
        assert not possible_attachments.has_undecided(GroupKind("", "Other"), [ref("Gateway", "g")])
