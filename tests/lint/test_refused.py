"""Policies that nothing attaches, and those that their controllers refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.rules.policies.validity import (
    extension_unused,
    filter_unsupported,
    no_target,
    policy_invalid,
    policy_overlap_same_host_path,
    target_invalid,
    target_not_enabled,
)
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from tests import build
from tests.lint.policies import CLASS, GATEWAY, ROUTE, SERVED, TO_ROUTE, checked, kinds, known, said, verdicts

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

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
    """Or of which it is not known whether it has, or of which that is said elsewhere."""
    for complete in (False, True):
        assert checked(no_target, *SERVED, policy, profiles=profiles, complete=complete) == []


@pytest.mark.parametrize("references", [[], "g", [7], None], ids=str)
def test_a_policy_without_a_target(references: Json) -> None:
    """It is certain in any world; what is no reference names nothing."""
    for complete in (False, True):
        policy = build.policy("p", targetRefs=references)
        found = checked(no_target, *SERVED, policy, profiles=[known()], complete=complete)
        assert said(found) == [("spec", "has no target reference, so it has no effect")]


def test_targets_in_a_field_that_is_misspelt() -> None:
    """The field that is meant is offered."""
    (found,) = checked(no_target, *SERVED, build.policy("p", targetrefs=[TO_ROUTE]), profiles=[known()])
    assert found.fix == Fix(words="did you mean targetRefs, not targetrefs?")
    (found,) = checked(no_target, *SERVED, build.policy("p", color="red"), profiles=[known()])
    assert found.fix is None


BOTH: Final = known(filter_routes=FILTERS)


def test_a_policy_that_filters_may_name() -> None:
    """In an open world, routes elsewhere may do so."""
    assert checked(no_target, CLASS, GATEWAY, naming(), NOTHING, profiles=[BOTH]) == []
    (found,) = checked(no_target, *SERVED, NOTHING, profiles=[BOTH])
    assert found.message == "has no target reference and is named by no filter of any route, so it has no effect"
    assert verdicts(checked(no_target, *SERVED, NOTHING, profiles=[BOTH], complete=False)) == [False]


FILTER: Final = known(attachment="filters", filter_routes=FILTERS)
PARAMETERS: Final = known(attachment="parameters")


def test_an_extension_that_something_names() -> None:
    """A rule of a route, a Gateway, or a GatewayClass; policies are another matter."""
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
    """In an open world, something elsewhere may."""
    assert said(checked(extension_unused, *SERVED, NOTHING, profiles=[profile])) == [("spec", message)]
    assert not any(verdicts(checked(extension_unused, *SERVED, NOTHING, profiles=[profile], complete=False)))


WEIGHED: Final = known(weight_annotation="example.com/weight")
NEEDY: Final = known(
    needs=(RequiredObject(field="spec.auth.secretRef", group="", kinds=("Secret",), optional=True),),
    when_invalid="errors",
)
SIZED: Final = known(least_sizes={"busy": ("single",)})


def weighing(weight: Json) -> Resource:
    """The policy with a weight."""
    metadata: Json = {"name": "p", "namespace": "default", "annotations": {"example.com/weight": weight}}
    return replace(ON_ROUTE, raw={**ON_ROUTE.raw, "metadata": metadata})


SECRET: Final = build.resource("Secret", "x", {}, group="")


@pytest.mark.parametrize(
    ("policy", "profile"),
    [
        (weighing("-7"), WEIGHED),
        (build.policy("p", TO_ROUTE, auth={"secretRef": {"name": "x"}}), NEEDY),
        (build.policy("p", TO_ROUTE, busy="8k", single="8k"), SIZED),
        (ON_ROUTE, NEEDY),
    ],
)
def test_a_policy_that_is_valid(policy: Resource, profile: Any) -> None:  # noqa: ANN401 (a profile)
    """All that it needs is there."""
    assert checked(policy_invalid, *SERVED, SECRET, policy, profiles=[profile]) == []


def test_an_object_that_a_policy_needs_and_is_not_there() -> None:
    """That it is missing, or may not be referred to, is for another rule to say."""
    missing = build.policy("p", TO_ROUTE, auth={"secretRef": {"name": "y"}})
    assert checked(policy_invalid, *SERVED, missing, profiles=[NEEDY]) == []
    away = build.policy("p", TO_ROUTE, auth={"secretRef": {"name": "y", "namespace": "infra"}})
    assert checked(policy_invalid, *SERVED, away, profiles=[NEEDY]) == []


def test_certificates_of_backends() -> None:
    """They have a rule of their own."""
    validation: Json = {"hostname": "s", "caCertificateRefs": [{"group": "", "kind": "Pear", "name": "x"}]}
    policy = build.resource(
        "BackendTLSPolicy", "p", {"targetRefs": [build.target("s", "Service", group="")], "validation": validation}
    )
    assert checked(policy_invalid, *SERVED, policy) == []


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
            build.policy("p", TO_ROUTE, auth={"secretRef": {"kind": "Pear", "name": "x"}}),
            NEEDY,
            "spec.auth.secretRef.kind",
            "Pear is not one of Secret; until that is fixed, requests to HTTPRoute default/r fail",
        ),
        (
            build.policy("p", TO_ROUTE, auth={"secretRef": {}}),
            NEEDY,
            "spec.auth.secretRef",
            "names no Secret; until that is fixed, requests to HTTPRoute default/r fail",
        ),
    ],
)
def test_a_policy_that_is_invalid(policy: Resource, profile: Any, field: str, message: str) -> None:  # noqa: ANN401 (a profile)
    """With what is wrong, and what follows."""
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
    """It is one finding."""
    policy = build.policy("p", TO_ROUTE, build.target("g"), busy="4k", single="8k")
    (found,) = checked(policy_invalid, *SERVED, policy, profiles=[SIZED])
    assert found.message.endswith("it has no effect on HTTPRoute default/r, Gateway default/g")


INVALID: Final = build.gateway(addresses=[{"type": "pears.example/Tree", "value": "x"}])
STRICT: Final = build.gateway_class(controller="gateway.nginx.org/nginx-gateway-controller")
NGINX: Final = {"kind": "ClientSettingsPolicy", "group": "gateway.nginx.org"}


def settings(name: str, kind: str) -> Resource:
    """A policy of a kind whose controllers ignore Gateways that are not valid."""
    return build.policy("p", targetRef=build.target(name, kind), **NGINX)  # type: ignore[arg-type]


def test_a_gateway_that_is_valid() -> None:
    """Or that is not, and nobody cares."""
    assert checked(target_invalid, STRICT, GATEWAY, settings("g", "Gateway")) == []
    assert checked(target_invalid, CLASS, INVALID, build.policy("p", build.target("g"))) == []


def test_a_gateway_that_is_not_valid() -> None:
    """It is ignored, with the policies on it, and on the routes of which it is the only parent."""
    message = "Gateway default/g is not valid: address type pears.example/Tree is not supported"
    found = checked(target_invalid, STRICT, INVALID, settings("g", "Gateway"))
    assert said(found) == [("spec.targetRef", message)]
    (found_on_route,) = checked(target_invalid, STRICT, INVALID, ROUTE, settings("r", "HTTPRoute"))
    assert found_on_route.message.endswith(f"and no parent of HTTPRoute default/r counts: {message}")


ENABLING: Final = RequiredParameter(group_kind=GroupKind("example.com", "Settings"), field="color.enable")
ENABLED: Final = known(enabled_by=ENABLING)


def gateway_with_settings(**spec: Json) -> list[Resource]:
    """A Gateway with parameters."""
    reference: Json = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "x"}}
    return [CLASS, build.gateway(infrastructure=reference), build.resource("Settings", "x", spec, group="example.com")]


def test_a_gateway_that_lets_policies_be_used() -> None:
    """By its parameters; or they were not read."""
    policy = build.policy("p", build.target("g"))
    world = gateway_with_settings(color={"enable": True})
    assert checked(target_not_enabled, *world, policy, profiles=[ENABLED]) == []
    assert checked(target_not_enabled, *gateway_with_settings()[:2], policy, profiles=[ENABLED], complete=False) == []


def test_a_gateway_that_does_not_let_policies_be_used() -> None:
    """It is told with the field that has to be set, once for each target."""
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
    """Of a rule of such a route."""
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
    """What is wrong is the filter, in its route."""
    found = checked(filter_unsupported, CLASS, GATEWAY, route, NOTHING, profiles=[FILTER])
    assert found == [
        Finding(
            subject=route.ref,
            field=field,
            message=message,
            related=(Related(object=P, words="what it names", origin=build.ORIGIN),),
        )
    ]


ALONE: Final = known(overlap="refused")


def sharing(name: str, path: str) -> Resource:
    """A route for a path."""
    matches: Json = [{"path": {"type": "PathPrefix", "value": path}}]
    return build.route(name, hostnames=["a.example"], rules=[build.rule(build.backend(), matches=matches)])


def test_routes_that_share_no_requests() -> None:
    """Or of which a policy targets both, or of a kind to which that is no matter."""
    both = build.policy("p", build.target("r", "HTTPRoute"), build.target("s", "HTTPRoute"))
    apart, shared = [sharing("r", "/a"), sharing("s", "/b")], [sharing("r", "/a"), sharing("s", "/a")]
    for routes, policy, profile in ((apart, ON_ROUTE, ALONE), (shared, both, ALONE), (shared, ON_ROUTE, known())):
        assert checked(policy_overlap_same_host_path, CLASS, GATEWAY, *routes, policy, profiles=[profile]) == []


def test_routes_that_share_requests() -> None:
    """The policy is for one of them."""
    found = checked(
        policy_overlap_same_host_path,
        CLASS,
        GATEWAY,
        sharing("r", "/a"),
        sharing("s", "/a"),
        ON_ROUTE,
        profiles=[ALONE],
    )
    requests = "requests for a.example/a on port 80 of Gateway default/g"
    message = f"HTTPRoute default/r and HTTPRoute default/s, which the policy does not target, both take {requests}"
    assert said(found) == [("spec.targetRefs[0]", message)]


def test_routes_that_may_share_requests() -> None:
    """A hostname is to be filled in."""
    other = build.route("s", hostnames=["${HOST}"], rules=sharing("s", "/a").raw["spec"]["rules"])  # type: ignore[index,call-overload,arg-type]
    found = checked(
        policy_overlap_same_host_path, CLASS, GATEWAY, sharing("r", "/a"), other, ON_ROUTE, profiles=[ALONE]
    )
    assert verdicts(found) == [False]
