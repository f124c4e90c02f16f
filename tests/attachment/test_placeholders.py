"""Target references in which something is to be filled in: undecided, and what they may mean is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy import GroupKind, PolicyKindProfile, Topology
from kubectl_policy.attachment import attach
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.build import backend, gateway, index, listener, policy, resource, route, rule, service, target

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

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
    """A kind that is not known may be one that the policy takes."""
    message = f"which kind spec.targetRefs[0] names cannot be known yet: {kind} is to be filled in"
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


@pytest.mark.parametrize(
    ("selector", "labels"),
    [({"app": "a"}, {"app": "${A}"}), ({"app": "${A}"}, {"app": "a"})],
)
def test_labels(selector: dict[str, Json], labels: dict[str, str]) -> None:
    """What a selector may select is named, beside what it selects."""
    reference: dict[str, Json] = {
        "group": "gateway.networking.k8s.io",
        "kind": "HTTPRoute",
        "selector": {"matchLabels": selector},
    }
    other = resource("HTTPRoute", "other", {}, labels={"tier": "web"})
    message = "whether spec.targetRefs[0] selects it cannot be known yet: a label is to be filled in"
    assert attached(reference, route(labels=labels), other) == [
        ("target unknown", "HTTPRoute default/r", message),
    ]
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
