"""What policies have too much of, set in vain, share, or wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import TargetLevel
from kubectl_policy.lint.finding import Finding, Related
from kubectl_policy.lint.rules.policies.validity import (
    ancestor_limit,
    filter_and_policy_double,
    target_contended,
    target_status_missing,
)
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import StatusProfile
from kubectl_policy.profiles.merging import MergeStrategy
from tests import build
from tests.lint.policies import CLASS, GATEWAY, ROUTE, SERVED, TO_ROUTE, checked, known, said, verdicts

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

P: Final = build.ref("ColorPolicy", "p", group="example.com")
ON_ROUTE: Final = build.policy("p", TO_ROUTE)
ON_SERVICE: Final = build.policy("p", build.target("s", "Service", group=""))


def gateways(number: int) -> list[Resource]:
    """So many Gateways, and a route on all of them."""
    names = [f"g{place:02}" for place in range(number)]
    labels = {"a": "b"}
    each = [build.resource("Gateway", name, {**GATEWAY.raw["spec"]}, labels=labels) for name in names]  # type: ignore[dict-item]
    return [CLASS, *each, build.route("r", parents=[build.parent(name) for name in names]), build.service()]


SELECTING: Final = build.policy(
    "p", targetSelectors=[{"group": GATEWAY_API, "kind": "Gateway", "matchLabels": {"a": "b"}}]
)
EVERY_WAY: Final = [ON_ROUTE, ON_SERVICE, SELECTING]
ELSEWHERE: Final = build.policy("p", build.target("public", "GatewayClass"))


@pytest.mark.parametrize("policy", [*EVERY_WAY, ELSEWHERE])
def test_few_ancestors(policy: Resource) -> None:
    """Twelve are far from the limit."""
    assert checked(ancestor_limit, *gateways(12), policy, profiles=[known()]) == []


@pytest.mark.parametrize("policy", EVERY_WAY)
def test_nearly_too_many_ancestors(policy: Resource) -> None:
    """It is a warning."""
    (found,) = checked(ancestor_limit, *gateways(13), policy, profiles=[known()])
    assert found.severity == "warning"
    assert found.message == (
        "has 13 ancestors (Gateway default/g00, Gateway default/g01, Gateway default/g02 and 10 more), "
        "and a status has room for 16"
    )


def test_too_many_ancestors() -> None:
    """What is reported in the policy itself has no such limit, and without a profile nobody knows where it is."""
    (found,) = checked(ancestor_limit, *gateways(17), ON_ROUTE, profiles=[known()])
    assert (found.severity, found.message.split()[1]) == ("error", "17")
    assert checked(ancestor_limit, *gateways(17), ON_ROUTE) == []
    in_policy = known(status=StatusProfile(placement="policy"))
    assert checked(ancestor_limit, *gateways(17), ON_ROUTE, profiles=[in_policy]) == []


def test_routes_that_others_delegate_to_may_have_more_parents() -> None:
    """They have those of the routes above them."""
    reference = build.backend("below", None, kind="HTTPRoute", group=GATEWAY_API)
    above = build.route(
        "r", parents=[build.parent(f"g{place:02}") for place in range(13)], rules=[build.rule(reference)]
    )
    gateway_class = build.gateway_class(controller="kgateway.dev/kgateway")
    world = [gateway_class, *gateways(13)[1:14], above, build.route("below", parents=[]), build.service()]
    policy = build.policy("p", build.target("below", "HTTPRoute"))
    assert len(checked(ancestor_limit, *world, policy, profiles=[known()])) == 1


TIMED: Final = known(
    object_fields={"timeout": "rule.timeouts.request", "owner": "metadata.labels"},
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True),),
    strategy=MergeStrategy.ATOMIC_DEFAULTS,
    stanzas="none",
)
OWN: Final = build.route("r", labels={"team": "a"}, rules=[build.rule(build.backend(), timeouts={"request": "2s"})])


def timing(*targets: Json, **spec: Json) -> Resource:
    """The policy, with a time-out."""
    return build.policy("p", *targets, **{"timeout": "10s", **spec})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("route", "policy"),
    [(ROUTE, timing(TO_ROUTE)), (OWN, build.policy("p", TO_ROUTE, color="red")), (OWN, timing(build.target("g")))],
    ids=["the policy says it", "the rule says it", "the policy is a default for all routes"],
)
def test_what_is_said_once(route: Resource, policy: Resource) -> None:
    """Or further up, for those who say nothing themselves."""
    assert checked(filter_and_policy_double, CLASS, GATEWAY, route, build.service(), policy, profiles=[TIMED]) == []


def test_what_is_said_twice() -> None:
    """By the policy, and by the rule, which wins."""
    found = checked(filter_and_policy_double, CLASS, GATEWAY, OWN, build.service(), timing(TO_ROUTE), profiles=[TIMED])
    place = "spec.rules[0].timeouts.request"
    assert found == [
        Finding(
            subject=P,
            field="spec.timeout",
            message="has no effect on rule[0] of HTTPRoute default/r, which says timeouts.request itself",
            related=(
                Related(object=build.ref("HTTPRoute", "r"), words="says it itself", field=place, origin=build.ORIGIN),
            ),
        )
    ]
    assert checked(filter_and_policy_double, CLASS, GATEWAY, OWN, timing(TO_ROUTE), profiles=[known()]) == []


def test_what_several_rules_say() -> None:
    """It is one finding, at the first of them."""
    rules = [build.rule(build.backend(), name=name, timeouts={"request": "2s"}) for name in ("a", "b")]
    route = build.route("r", rules=[build.rule(build.backend()), *rules])
    (found,) = checked(
        filter_and_policy_double, CLASS, GATEWAY, route, build.service(), timing(TO_ROUTE), profiles=[TIMED]
    )
    assert found.message.startswith(
        "has no effect on rule a of HTTPRoute default/r, rule b of HTTPRoute default/r, which"
    )
    assert [each.field for each in found.related] == ["spec.rules[1].timeouts.request"]


def test_what_the_route_says_as_a_whole() -> None:
    """It need not be a field of the rule."""
    route = build.route("r", labels={"team": "a"})
    policy = build.policy("p", TO_ROUTE, owner={"team": "b"})
    (found,) = checked(filter_and_policy_double, CLASS, GATEWAY, route, build.service(), policy, profiles=[TIMED])
    assert found.message.endswith("which says metadata.labels itself")
    assert [each.field for each in found.related] == ["metadata.labels"]


def tls(name: str, secret: str, port: int = 443) -> dict[str, Json]:
    """A listener with a certificate."""
    return build.listener(name, "HTTPS", port, hostname=f"{name}.example", tls={"certificateRefs": [{"name": secret}]})


SHARING: Final = known(
    exclusive_field="tls.certificateRefs",
    direct=True,
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),),
)


def test_listeners_with_their_own_certificates() -> None:
    """And those that share one, for a kind to which that is no matter."""
    policy = build.policy("p", build.target("g"))
    assert (
        checked(target_contended, CLASS, build.gateway("g", tls("a", "x"), tls("b", "y")), policy, profiles=[SHARING])
        == []
    )
    shared = build.gateway("g", tls("a", "x"), tls("b", "x"))
    assert checked(target_contended, CLASS, shared, policy, profiles=[known()]) == []


def test_listeners_that_share_a_certificate() -> None:
    """Each pair of them is told once."""
    policy = build.policy("p", build.target("g"))
    found = checked(
        target_contended, CLASS, build.gateway("g", tls("a", "x"), tls("b", "x")), policy, profiles=[SHARING]
    )
    message = "listener b of Gateway default/g uses Secret default/x like listener a of Gateway default/g"
    assert said(found) == [("", f"{message}; each needs its own")]


@pytest.mark.parametrize(
    ("ages", "why"),
    [((1, 2), "came first"), ((None, None), "came first, by name because creationTimestamp is missing")],
)
def test_listeners_of_two_policies_that_share_a_certificate(ages: tuple[int | None, int | None], why: str) -> None:
    """The later one has it in vain."""
    policies = [
        build.policy(name, build.target("g", section=name), age=age) for name, age in zip(("a", "b"), ages, strict=True)
    ]
    gateway = build.gateway("g", tls("a", "x"), tls("b", "x"))
    (found,) = checked(target_contended, CLASS, gateway, *policies, profiles=[SHARING])
    assert str(found.subject) == "ColorPolicy default/b"
    assert f", for which ColorPolicy default/a {why}; each needs its own" in found.message


WAITING: Final = known(target_status="status.addresses")


def with_status(status: Json) -> Resource:
    """The Gateway with a status."""
    return build.resource("Gateway", "g", {**GATEWAY.raw["spec"]}, status=status)  # type: ignore[dict-item]


def test_a_target_that_has_what_a_policy_waits_for() -> None:
    """Or the policy waits for nothing, or its target does not exist."""
    policy, ready = build.policy("p", build.target("g")), with_status({"addresses": [{"value": "192.0.2.1"}]})
    assert checked(target_status_missing, CLASS, ready, policy, profiles=[WAITING]) == []
    assert checked(target_status_missing, CLASS, with_status({"x": 1}), policy, profiles=[known()]) == []
    assert checked(target_status_missing, CLASS, policy, profiles=[WAITING]) == []


def test_a_target_that_has_not_what_a_policy_waits_for() -> None:
    """Manifests seldom have a status; then it is unknown."""
    policy = build.policy("p", build.target("g"))
    found = checked(target_status_missing, CLASS, with_status({"addresses": []}), policy, profiles=[WAITING])
    message = "Gateway default/g has no status.addresses; without that, the policy does nothing"
    assert said(found) == [("spec.targetRefs[0]", message)]
    assert verdicts(checked(target_status_missing, *SERVED, policy, profiles=[WAITING])) == [False]
