"""Policies without effect, refused, or at a limit."""

from __future__ import annotations

from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import TargetLevel
from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.rules.policies.validity import (
    ancestor_limit,
    extension_unused,
    filter_and_policy_double,
    filter_unsupported,
    no_target,
    policy_invalid,
    policy_overlap_same_host_path,
    target_contended,
    target_invalid,
    target_not_enabled,
    target_status_missing,
)
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import StatusProfile
from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from tests import build
from tests.lint.rule_worlds import CLASS, GATEWAY, ROUTE, SERVED, TO_ROUTE, checked, kinds, known, said, verdicts

P: Final = build.ref("ColorPolicy", "p", group="example.com")
ON_ROUTE: Final = build.policy("p", TO_ROUTE)
FILTERS: Final = kinds("HTTPRoute")


def naming(kind: str = "HTTPRoute") -> Resource:
    """A route with a filter that names the policy."""
    return build.route("r", kind=kind, rules=[build.rule(build.backend(), filters=[build.names("p")])])


NOTHING: Final = build.policy("p", color="red")


@pytest.mark.parametrize(
    ("policy", "profiles"),
    [
        (ON_ROUTE, []),
        (build.policy("p", build.target("x")), []),
        (NOTHING, [known(attachment="none")]),
        (NOTHING, [known(attachment="partly")]),
        (NOTHING, [known(attachment="filters", filter_routes=FILTERS)]),
    ],
    ids=["on a route", "on nothing", "in an unknown way", "on all, without references", "a filter"],
)
def test_a_policy_that_has_a_target(policy: Resource, profiles: list[Any]) -> None:
    for complete in (False, True):
        assert checked(no_target, *SERVED, policy, profiles=profiles, complete=complete) == []


@pytest.mark.parametrize("references", [[], "g", [7], None], ids=str)
def test_a_policy_without_a_target(references: Json) -> None:
    """It is certain in any world; what is no reference names nothing."""
    for complete in (False, True):
        policy = build.policy("p", targetRefs=references)
        findings = checked(no_target, *SERVED, policy, profiles=[known()], complete=complete)
        assert said(findings) == [("spec", "has no target reference, so it has no effect")]


def test_targets_in_a_field_that_is_misspelt() -> None:
    (finding,) = checked(no_target, *SERVED, build.policy("p", targetrefs=[TO_ROUTE]), profiles=[known()])
    assert finding.fix == Fix(words="did you mean targetRefs, not targetrefs?")
    for other in ({"color": "red"}, {"targetrefs": [7]}, {"targetRefs": [7]}):
        (finding,) = checked(no_target, *SERVED, build.policy("p", **other), profiles=[known()])
        assert finding.fix is None


BOTH: Final = known(filter_routes=FILTERS)


def test_a_policy_that_filters_may_name() -> None:
    assert checked(no_target, CLASS, GATEWAY, naming(), NOTHING, profiles=[BOTH]) == []
    (finding,) = checked(no_target, *SERVED, NOTHING, profiles=[BOTH])
    assert finding.message == "has no target reference and is named by no filter of any route, so it has no effect"
    assert verdicts(checked(no_target, *SERVED, NOTHING, profiles=[BOTH], complete=False)) == [False]


FILTER: Final = known(attachment="filters", filter_routes=FILTERS)
PARAMETERS: Final = known(attachment="parameters")


def test_an_extension_that_something_names() -> None:
    assert checked(extension_unused, CLASS, GATEWAY, naming(), NOTHING, profiles=[FILTER]) == []
    reference: Json = {"parametersRef": {"group": "example.com", "kind": "ColorPolicy", "name": "p"}}
    assert (
        checked(extension_unused, CLASS, build.gateway(infrastructure=reference), NOTHING, profiles=[PARAMETERS]) == []
    )
    assert checked(extension_unused, *SERVED, NOTHING, profiles=[known()]) == []


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        (FILTER, "is named by no filter of any route, so it has no effect"),
        (PARAMETERS, "is not the parameters of any Gateway or GatewayClass, so it has no effect"),
    ],
)
def test_an_extension_that_nothing_names(profile: Any, message: str) -> None:  # noqa: ANN401 (a profile)
    assert said(checked(extension_unused, *SERVED, NOTHING, profiles=[profile])) == [("spec", message)]
    assert not any(verdicts(checked(extension_unused, *SERVED, NOTHING, profiles=[profile], complete=False)))


WEIGHED: Final = known(weight_annotation="example.com/weight")
NEEDY: Final = known(
    needs=(RequiredObject(field="spec.auth.secretRef", group="", kinds=("Secret",), optional=True),),
    when_invalid="errors",
)
SIZED: Final = known(least_sizes={"busy": ("single",)})


def weighing(weight: Json) -> Resource:
    metadata: Json = {"name": "p", "namespace": "default", "annotations": {"example.com/weight": weight}}
    return replace(ON_ROUTE, raw={**ON_ROUTE.raw, "metadata": metadata})


def needing(**reference: Json) -> Resource:
    """The policy with a reference to a Secret that it needs."""
    return build.policy("p", TO_ROUTE, auth={"secretRef": reference})


SECRET: Final = build.resource("Secret", "x", {}, group="")
CA: Final[Json] = {"hostname": "s", "caCertificateRefs": [{"group": "", "kind": "Pear", "name": "x"}]}
ON_SERVICE: Final = build.policy("p", build.target("s", "Service", group=""))


@pytest.mark.parametrize(
    ("policy", "profile"),
    [
        (weighing("-7"), WEIGHED),
        (needing(name="x"), NEEDY),
        (build.policy("p", TO_ROUTE, busy="8k", single="8k"), SIZED),
        (ON_ROUTE, NEEDY),
        # Other rules find objects that are not there, and certificates of backends.
        (needing(name="y"), NEEDY),
        (needing(name="y", namespace="infra"), NEEDY),
        (
            build.resource(
                "BackendTLSPolicy", "p", {"targetRefs": [build.target("s", "Service", group="")], "validation": CA}
            ),
            NEEDY,
        ),
    ],
)
def test_a_policy_that_is_valid(policy: Resource, profile: Any) -> None:  # noqa: ANN401 (a profile)
    assert checked(policy_invalid, *SERVED, SECRET, policy, profiles=[profile]) == []


@pytest.mark.parametrize(
    ("policy", "profile", "field", "message"),
    [
        (
            weighing("heavy"),
            WEIGHED,
            'metadata.annotations["example.com/weight"]',
            "the annotation example.com/weight is not a whole number; it has no effect on HTTPRoute default/r",
        ),
        (
            build.policy("p", TO_ROUTE, busy="4k", single="8k"),
            SIZED,
            "spec.busy",
            "4k is less than spec.single (8k); it has no effect on HTTPRoute default/r",
        ),
        (
            needing(kind="Pear", name="x"),
            NEEDY,
            "spec.auth.secretRef.kind",
            "Pear is not one of Secret; until that is fixed, requests to HTTPRoute default/r fail",
        ),
        (
            needing(),
            NEEDY,
            "spec.auth.secretRef",
            "names no Secret; until that is fixed, requests to HTTPRoute default/r fail",
        ),
    ],
)
def test_a_policy_that_is_invalid(policy: Resource, profile: Any, field: str, message: str) -> None:  # noqa: ANN401 (a profile)
    assert checked(policy_invalid, *SERVED, policy, profiles=[profile]) == [
        Finding(
            subject=P,
            field=field,
            message=message,
            reason="Invalid",
            related=(Related(object=build.ref("HTTPRoute", "r"), words="a target", origin=build.ORIGIN),),
        )
    ]


def test_an_invalid_policy_with_several_targets() -> None:
    policy = build.policy("p", TO_ROUTE, build.target("g"), busy="4k", single="8k")
    (finding,) = checked(policy_invalid, *SERVED, policy, profiles=[SIZED])
    assert finding.message.endswith("it has no effect on HTTPRoute default/r, Gateway default/g")


INVALID: Final = build.gateway(addresses=[{"type": "pears.example/Tree", "value": "x"}])
STRICT: Final = build.gateway_class(controller="gateway.nginx.org/nginx-gateway-controller")
NGINX: Final = {"kind": "ClientSettingsPolicy", "group": "gateway.nginx.org"}


def settings(name: str, kind: str) -> Resource:
    """A policy of a kind whose controllers ignore Gateways that are not valid."""
    return build.policy("p", targetRef=build.target(name, kind), **NGINX)  # type: ignore[arg-type]


def test_a_gateway_that_is_valid() -> None:
    assert checked(target_invalid, STRICT, GATEWAY, settings("g", "Gateway")) == []
    assert checked(target_invalid, CLASS, INVALID, build.policy("p", build.target("g"))) == []


def test_a_gateway_that_is_not_valid() -> None:
    message = "Gateway default/g is not valid: address type pears.example/Tree is not supported"
    findings = checked(target_invalid, STRICT, INVALID, settings("g", "Gateway"))
    assert said(findings) == [("spec.targetRef", message)]
    (found_on_route,) = checked(target_invalid, STRICT, INVALID, ROUTE, settings("r", "HTTPRoute"))
    assert found_on_route.message.endswith(f"and no parent of HTTPRoute default/r counts: {message}")


ENABLING: Final = RequiredParameter(group_kind=GroupKind("example.com", "Settings"), field="color.enable")
ENABLED: Final = known(enabled_by=ENABLING)


def gateway_with_settings(**spec: Json) -> list[Resource]:
    reference: Json = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "x"}}
    return [CLASS, build.gateway(infrastructure=reference), build.resource("Settings", "x", spec, group="example.com")]


def test_a_gateway_that_lets_policies_be_used() -> None:
    policy = build.policy("p", build.target("g"))
    world = gateway_with_settings(color={"enable": True})
    assert checked(target_not_enabled, *world, policy, profiles=[ENABLED]) == []
    assert checked(target_not_enabled, *gateway_with_settings()[:2], policy, profiles=[ENABLED], complete=False) == []


def test_a_gateway_that_does_not_let_policies_be_used() -> None:
    policy = build.policy("p", build.target("g", sectionNames=["http", "http"]))
    assert checked(target_not_enabled, *gateway_with_settings(), policy, profiles=[ENABLED]) == [
        Finding(
            subject=P,
            field="spec.targetRefs[0]",
            message="spec.color.enable is not set in Settings default/x of Gateway default/g",
            related=(Related(object=build.ref("Gateway", "g"), words="the target", origin=build.ORIGIN),),
        )
    ]


def test_a_filter_that_can_name_a_policy() -> None:
    assert checked(filter_unsupported, CLASS, GATEWAY, naming(), NOTHING, profiles=[FILTER]) == []


@pytest.mark.parametrize(
    ("route", "field", "message"),
    [
        (
            naming("GRPCRoute"),
            "spec.rules[0].filters[0].extensionRef",
            "a filter can name a ColorPolicy only in a rule of an HTTPRoute",
        ),
        (
            build.route("r", rules=[build.rule(build.backend(filters=[build.names("p")]))]),
            "spec.rules[0].backendRefs[0].filters[0].extensionRef",
            "a filter of a backendRef cannot name a ColorPolicy, only one of the rule itself can",
        ),
    ],
    ids=["another route", "of a backend"],
)
def test_a_filter_that_cannot_name_a_policy(route: Resource, field: str, message: str) -> None:
    findings = checked(filter_unsupported, CLASS, GATEWAY, route, NOTHING, profiles=[FILTER])
    assert findings == [
        Finding(
            subject=route.ref,
            field=field,
            message=message,
            related=(Related(object=P, words="what it names", origin=build.ORIGIN),),
        )
    ]


ALONE: Final = known(overlap="refused")


def sharing(name: str, path: str) -> Resource:
    matches: Json = [{"path": {"type": "PathPrefix", "value": path}}]
    return build.route(name, hostnames=["a.example"], rules=[build.rule(build.backend(), matches=matches)])


def test_routes_that_share_no_requests() -> None:
    both = build.policy("p", build.target("r", "HTTPRoute"), build.target("s", "HTTPRoute"))
    apart, shared = [sharing("r", "/a"), sharing("s", "/b")], [sharing("r", "/a"), sharing("s", "/a")]
    for routes, policy, profile in ((apart, ON_ROUTE, ALONE), (shared, both, ALONE), (shared, ON_ROUTE, known())):
        assert checked(policy_overlap_same_host_path, CLASS, GATEWAY, *routes, policy, profiles=[profile]) == []


def test_routes_that_share_requests() -> None:
    routes = sharing("r", "/a"), sharing("s", "/a")
    findings = checked(policy_overlap_same_host_path, CLASS, GATEWAY, *routes, ON_ROUTE, profiles=[ALONE])
    requests = "requests for a.example/a on port 80 of Gateway default/g"
    message = f"HTTPRoute default/r and HTTPRoute default/s, which the policy does not target, both take {requests}"
    assert said(findings) == [("spec.targetRefs[0]", message)]


def test_routes_that_may_share_requests() -> None:
    other = build.route("s", hostnames=["${HOST}"], rules=sharing("s", "/a").raw["spec"]["rules"])  # type: ignore[index,call-overload,arg-type]
    findings = checked(
        policy_overlap_same_host_path, CLASS, GATEWAY, sharing("r", "/a"), other, ON_ROUTE, profiles=[ALONE]
    )
    assert verdicts(findings) == [False]


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
    assert checked(ancestor_limit, *gateways(12), policy, profiles=[known()]) == []


@pytest.mark.parametrize("policy", EVERY_WAY)
def test_nearly_too_many_ancestors(policy: Resource) -> None:
    (finding,) = checked(ancestor_limit, *gateways(13), policy, profiles=[known()])
    assert finding.severity == "warning"
    assert finding.message == (
        "has 13 ancestors (Gateway default/g00, Gateway default/g01, Gateway default/g02 and 10 more), "
        "and a status has room for 16"
    )


def test_too_many_ancestors() -> None:
    """What is reported in the policy itself has no such limit, and without a profile nobody knows where it is."""
    (finding,) = checked(ancestor_limit, *gateways(17), ON_ROUTE, profiles=[known()])
    assert (finding.severity, finding.message.split()[1]) == ("error", "17")
    assert checked(ancestor_limit, *gateways(17), ON_ROUTE) == []
    in_policy = known(status=StatusProfile(placement="policy"))
    assert checked(ancestor_limit, *gateways(17), ON_ROUTE, profiles=[in_policy]) == []


def test_routes_that_others_delegate_to_may_have_more_parents() -> None:
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
BEHIND: Final = (CLASS, GATEWAY, build.service())
OWN: Final = build.route("r", labels={"team": "a"}, rules=[build.rule(build.backend(), timeouts={"request": "2s"})])


def timing(*targets: Json, **spec: Json) -> Resource:
    return build.policy("p", *targets, **{"timeout": "10s", **spec})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("route", "policy"),
    [(ROUTE, timing(TO_ROUTE)), (OWN, build.policy("p", TO_ROUTE, color="red")), (OWN, timing(build.target("g")))],
    ids=["the policy says it", "the rule says it", "the policy is a default for all routes"],
)
def test_what_is_said_once(route: Resource, policy: Resource) -> None:
    assert checked(filter_and_policy_double, *BEHIND, route, policy, profiles=[TIMED]) == []


def test_what_is_said_twice() -> None:
    findings = checked(filter_and_policy_double, *BEHIND, OWN, timing(TO_ROUTE), profiles=[TIMED])
    place = "spec.rules[0].timeouts.request"
    assert findings == [
        Finding(
            subject=P,
            field="spec.timeout",
            message="has no effect on rule[0] of HTTPRoute default/r, which sets timeouts.request itself",
            related=(
                Related(object=build.ref("HTTPRoute", "r"), words="sets it itself", field=place, origin=build.ORIGIN),
            ),
        )
    ]
    assert checked(filter_and_policy_double, CLASS, GATEWAY, OWN, timing(TO_ROUTE), profiles=[known()]) == []


def test_what_several_rules_say() -> None:
    rules = [build.rule(build.backend(), name=name, timeouts={"request": "2s"}) for name in ("a", "b")]
    route = build.route("r", rules=[build.rule(build.backend()), *rules])
    (finding,) = checked(filter_and_policy_double, *BEHIND, route, timing(TO_ROUTE), profiles=[TIMED])
    assert finding.message.startswith(
        "has no effect on rule a of HTTPRoute default/r, rule b of HTTPRoute default/r, which"
    )
    assert [related.field for related in finding.related] == ["spec.rules[1].timeouts.request"]


def test_what_the_route_says_as_a_whole() -> None:
    route = build.route("r", labels={"team": "a"})
    policy = build.policy("p", TO_ROUTE, owner={"team": "b"})
    (finding,) = checked(filter_and_policy_double, *BEHIND, route, policy, profiles=[TIMED])
    assert finding.message.endswith("which sets metadata.labels itself")
    assert [related.field for related in finding.related] == ["metadata.labels"]


def tls(name: str, secret: str, port: int = 443) -> dict[str, Json]:
    return build.listener(name, "HTTPS", port, hostname=f"{name}.example", tls={"certificateRefs": [{"name": secret}]})


SHARING: Final = known(
    exclusive_field="tls.certificateRefs",
    direct=True,
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),),
)


SHARED: Final = build.gateway("g", tls("a", "x"), tls("b", "x"))
ON_GATEWAY: Final = build.policy("p", build.target("g"))


def test_listeners_with_their_own_certificates() -> None:
    apart = build.gateway("g", tls("a", "x"), tls("b", "y"))
    assert checked(target_contended, CLASS, apart, ON_GATEWAY, profiles=[SHARING]) == []
    assert checked(target_contended, CLASS, SHARED, ON_GATEWAY, profiles=[known()]) == []


def test_listeners_that_share_a_certificate() -> None:
    findings = checked(target_contended, CLASS, SHARED, ON_GATEWAY, profiles=[SHARING])
    message = "listener b of Gateway default/g uses Secret default/x like listener a of Gateway default/g"
    assert said(findings) == [("", f"{message}; each needs its own")]


@pytest.mark.parametrize(
    ("ages", "why"),
    [((1, 2), "came first"), ((None, None), "came first, by name because creationTimestamp is missing")],
)
def test_listeners_of_two_policies_that_share_a_certificate(ages: tuple[int | None, int | None], why: str) -> None:
    policies = [
        build.policy(name, build.target("g", section=name), age=age) for name, age in zip(("a", "b"), ages, strict=True)
    ]
    (finding,) = checked(target_contended, CLASS, SHARED, *policies, profiles=[SHARING])
    assert str(finding.subject) == "ColorPolicy default/b"
    assert f", for which ColorPolicy default/a {why}; each needs its own" in finding.message


WAITING: Final = known(target_status="status.addresses")


def with_status(status: Json) -> Resource:
    return build.resource("Gateway", "g", {**GATEWAY.raw["spec"]}, status=status)  # type: ignore[dict-item]


def test_a_target_that_has_what_a_policy_waits_for() -> None:
    ready = with_status({"addresses": [{"value": "192.0.2.1"}]})
    assert checked(target_status_missing, CLASS, ready, ON_GATEWAY, profiles=[WAITING]) == []
    assert checked(target_status_missing, CLASS, with_status({"x": 1}), ON_GATEWAY, profiles=[known()]) == []
    assert checked(target_status_missing, CLASS, ON_GATEWAY, profiles=[WAITING]) == []


def test_a_target_that_has_not_what_a_policy_waits_for() -> None:
    """Manifests seldom have a status; then it is unknown."""
    findings = checked(target_status_missing, CLASS, with_status({"addresses": []}), ON_GATEWAY, profiles=[WAITING])
    message = "Gateway default/g has no status.addresses; without that, the policy does nothing"
    assert said(findings) == [("spec.targetRefs[0]", message)]
    assert verdicts(checked(target_status_missing, *SERVED, ON_GATEWAY, profiles=[WAITING])) == [False]
