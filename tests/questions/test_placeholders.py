"""What an answer says of what is to be filled in."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from kubectl_policy import Analysis, GroupKind, PolicyKindProfile
from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
from kubectl_policy.profiles.merging import JointField, PortField
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.lists import list_names
from kubectl_policy.questions.shared.selection import Selection
from tests.build import backend, gateway, gateway_class, namespace, parent, policy, ref, route, rule, service, target
from tests.questions.build import analyzed

PROFILE = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    strategy_field="spec.how",
    order_field="spec.order",
    refusal="everywhere",
)


def analysed(*world: Resource) -> Analysis:
    every = (gateway_class(), gateway(), namespace("default"), service(), *world)
    return analyzed(*every, complete=True, profiles=[PROFILE])


def unseen(obj: ObjectRef, *world: Resource) -> list[tuple[str, str]]:
    """What an answer about an object could not see, and why."""
    analysis = analysed(*world)
    is_policy = obj in analysis.attachments
    answer = describe_policy(analysis, obj) if is_policy else describe(analysis, NodeRef(obj))
    return [(thing.what, thing.reason) for thing in answer.unseen]


def test_policies_that_may_be_about_an_object() -> None:
    one, other = policy("one", target("${G}"), a=1, age=1), policy("other", target("g"), a=2, age=2)
    doubt = ("ColorPolicy default/one", "spec.targetRefs[0] of ColorPolicy default/one may be about Gateway default/g")
    assert doubt in unseen(ref("Gateway", "g"), one, other)
    assert doubt in unseen(ref("HTTPRoute", "r"), route(), one, other)
    assert doubt in unseen(other.ref, one, other)
    assert unseen(ref("Gateway", "g"), other) == []


def test_policies_on_sections_that_are_not_known() -> None:
    one, other = policy("one", target("g", section="${S}"), a=1), policy("other", target("g"), a=2)
    assert [what for what, _ in unseen(other.ref, one, other)] == ["Gateway default/g"]
    assert unseen(other.ref, other) == []


def test_how_a_policy_combines_with_others() -> None:
    found = policy("p", target("g"), how="${HOW}", order="${N}", a=1)
    doubts = [("ColorPolicy default/p", "its spec.how is ${HOW}"), ("ColorPolicy default/p", "its spec.order is ${N}")]
    assert unseen(found.ref, found) == doubts
    assert unseen(ref("Gateway", "g"), found) == doubts
    plain = policy("p", target("g"), how="replace", order=1, a=1)
    assert unseen(plain.ref, plain) == []


def test_other_targets_of_a_policy_that_is_refused_everywhere() -> None:
    one = policy("one", target("g"), target("r", "HTTPRoute"), a=1)
    other = policy("other", target("${R}", "HTTPRoute"), a=2)
    whats = {what for what, _ in unseen(ref("Gateway", "g"), route(), one, other)}
    assert "ColorPolicy default/other" in whats
    unknown = policy("one", target("g"), target("${R}", "HTTPRoute"), a=1)
    assert "HTTPRoute default/${R}" in {what for what, _ in unseen(ref("Gateway", "g"), route(), unknown)}


def test_what_may_be_above_and_below() -> None:
    found = route(parents=[parent("${G}")], rules=[rule(backend("${S}"))])
    doubt = ("HTTPRoute default/r", "spec.parentRefs[0] of HTTPRoute default/r may name it")
    assert doubt in unseen(ref("Gateway", "g"), found)
    backends = ("Service default/s", "spec.rules[0].backendRefs[0] of HTTPRoute default/r may name it")
    assert backends in unseen(found.ref, found)
    assert ("HTTPRoute default/r", backends[1]) in unseen(ref("Service", "s", group=""), found)


PORTS = replace(
    PROFILE,
    strategy_field="",
    order_field="",
    joint_fields=(JointField(field="perPort", within=("level",), by="[port]"),),
    port_field=PortField("perPort", "port", "default"),
)


def test_settings_for_a_port() -> None:
    world = [gateway_class(), gateway(), namespace("default"), service()]
    entry: Json = {"port": "${PORT}", "x": 1}
    one, other = policy("one", target("g"), perPort=[entry]), policy("other", target("g"), default={"x": 2})
    analysis = analyzed(*world, one, other, route(), complete=True, profiles=[PORTS])
    doubts = [("ColorPolicy default/one", "its spec.perPort[0].port is ${PORT}")]
    for ref_ in (one.ref, other.ref):
        assert [(each.what, each.reason) for each in describe_policy(analysis, ref_).unseen] == doubts
    answer = describe(analysis, NodeRef(ref("Gateway", "g")))
    assert [(each.what, each.reason) for each in answer.unseen] == doubts


UNCOMPUTED = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "direct",
    "profile",
    attachment="none",
    cross_namespace=False,
    declared_targets=frozenset({GroupKind("", "Service")}),
)


def test_policies_of_a_namespace_that_is_not_known() -> None:
    world = [gateway_class(), gateway(), namespace("default"), service(), service(namespace="${TEAM}-a")]

    def said(namespace: str, of: str = "default") -> list[str]:
        found = policy("p", a=1, namespace=namespace)
        analysis = analyzed(*world, found, complete=True, profiles=[UNCOMPUTED])
        unseen = describe(analysis, NodeRef(ref("Service", "s", group="", namespace=of))).unseen
        return [each.what for each in unseen if each.policies]

    assert said("default") == ["ColorPolicy default/p"]
    assert said("${X}") == ["ColorPolicy ${X}/p"]
    assert said("other") == said("${X}-other") == []
    assert said("${X}", "${TEAM}-a") == ["ColorPolicy ${X}/p"]
    assert said("b-a", "${TEAM}-a") == ["ColorPolicy b-a/p"]
    assert said("b", "${TEAM}-a") == []


def test_objects_that_may_have_the_labels_that_are_asked_for() -> None:
    found = policy("p", target("g"), a=1, labels={"team": "${TEAM}"})
    analysis = analysed(found, policy("q", target("g"), a=1, labels={"team": "a"}))

    def asked(selector: Mapping[str, str], word: str = "policies", namespace: str = "") -> list[str]:
        selection = Selection(namespace=namespace, selector={"matchLabels": dict(selector)})
        reason = "whether it has the labels or fields that are asked for cannot be known yet"
        return [each.what for each in list_names(analysis, word, selection).unseen if each.reason == reason]

    assert asked({"team": "a"}) == asked({"team": "a"}, "colorpolicies") == ["ColorPolicy default/p"]
    assert asked({"team": "a"}, namespace="default") == ["ColorPolicy default/p"]
    assert asked({"team": "a"}, namespace="other") == asked({"team": "a"}, "gateways") == []
    assert asked({"color": "red"}) == asked({}) == []
