"""What references of policies name: what is there and may be named, and what is said of all else."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_policy.lint.finding import Finding, Fix, Related
from kubectl_policy.lint.rules.policies.targets import (
    partial_target_resolution,
    target_cross_namespace,
    target_group_wrong,
    target_kind_unsupported,
    target_not_found,
    target_section_not_found,
)
from kubectl_policy.model import Gap, GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests import build
from tests.lint.rule_worlds import CLASS, GATEWAY, ROUTE, SERVED, TO_ROUTE, checked, kinds, known, said, verdicts

P: Final = build.ref("ColorPolicy", "p", group="example.com")
SETS: Final = build.listener_set("ls", build.listener("extra", port=81))
OPEN: Final = build.gateway(allowedListeners={"namespaces": {"from": "All"}})


@pytest.mark.parametrize(
    "reference",
    [
        TO_ROUTE,
        build.target("g"),
        build.target("s", "Service", group=""),
        build.target("default", "Namespace", group=""),
    ],
    ids=lambda reference: str(reference["kind"]),
)
def test_what_exists_is_found(reference: dict[str, Json]) -> None:
    assert checked(target_not_found, *SERVED, build.policy("p", reference)) == []


@pytest.mark.parametrize(
    ("reference", "gaps"),
    [
        *((build.target(name, "HTTPRoute"), []) for name in ("${ROUTE}", "{{ .name }}", "ROUTE_NAME")),
        (build.target("r", "${KIND}"), []),
        (build.target("x", "HTTPRoute"), [Gap("HTTPRoute", "default", "forbidden")]),
    ],
)
def test_what_is_to_be_filled_in_or_could_not_be_read_may_exist(reference: dict[str, Json], gaps: list[Gap]) -> None:
    assert verdicts(checked(target_not_found, *SERVED, build.policy("p", reference), gaps=gaps)) == [False]


def test_what_does_not_exist() -> None:
    findings = checked(
        target_not_found, *SERVED, build.route("cart"), build.policy("p", build.target("crat", "HTTPRoute"))
    )
    assert findings == [
        Finding(
            subject=P,
            field="spec.targetRefs[0].name",
            message="HTTPRoute default/crat does not exist",
            reason="TargetNotFound",
            fix=Fix(words="did you mean cart?", value="cart"),
        )
    ]


def test_a_reference_may_be_the_only_one() -> None:
    policy = build.policy("p", targetRef=build.target("x", "HTTPRoute"))
    assert said(checked(target_not_found, *SERVED, policy)) == [
        ("spec.targetRef.name", "HTTPRoute default/x does not exist")
    ]


def test_a_service_that_nothing_refers_to_is_another_matter() -> None:
    profile = known(targets_exist="whenReferred")
    policy = build.policy("p", build.target("s", "Service", group=""))
    assert checked(target_not_found, CLASS, GATEWAY, build.service(), policy, profiles=[profile]) == []
    assert said(checked(target_not_found, CLASS, GATEWAY, policy, profiles=[profile])) == [
        ("spec.targetRefs[0].name", "Service default/s does not exist")
    ]


TWO: Final = build.policy("p", TO_ROUTE, build.target("x", "HTTPRoute"))


def test_one_of_two_targets_is_missing() -> None:
    assert checked(target_not_found, *SERVED, TWO) == []
    assert checked(partial_target_resolution, *SERVED, TWO) == [
        Finding(
            subject=P,
            field="spec.targetRefs[1].name",
            message="HTTPRoute default/x does not exist, so that the policy holds for HTTPRoute default/r alone",
            reason="TargetNotFound",
            related=(Related(object=build.ref("HTTPRoute", "r"), words="a target that exists", origin=build.ORIGIN),),
        )
    ]


def test_one_of_two_targets_may_be_elsewhere() -> None:
    assert verdicts(checked(partial_target_resolution, *SERVED, TWO, complete=False)) == [False]
    assert checked(partial_target_resolution, *SERVED, build.policy("p", TO_ROUTE, build.target("g"))) == []


NAMED: Final = build.route("r", rules=[build.rule(build.backend(), name="all")])


def on(section: str, kind: str = "Gateway", name: str = "g", group: str = GATEWAY_API, **fields: Json) -> Resource:
    """The policy, on a section of something."""
    return build.policy("p", build.target(name, kind, section, group=group, **fields))


@pytest.mark.parametrize("policy", [on("http"), on("all", "HTTPRoute", "r"), on("8080", "Service", "s", ""), on("")])
def test_a_section_that_is_there(policy: Resource) -> None:
    assert checked(target_section_not_found, CLASS, GATEWAY, NAMED, build.service(), policy) == []


def test_a_section_that_is_not_there() -> None:
    assert checked(target_section_not_found, *SERVED, on("htpp")) == [
        Finding(
            subject=P,
            field="spec.targetRefs[0].sectionName",
            message="Gateway default/g has no section htpp; it has http",
            reason="TargetNotFound",
            related=(Related(object=build.ref("Gateway", "g"), words="the target", origin=build.ORIGIN),),
            fix=Fix(words="did you mean http?", value="http"),
        )
    ]


def test_one_of_several_sections_is_not_there() -> None:
    policy = build.policy("p", build.target("g", sectionNames=["http", "x"]))
    findings = checked(target_section_not_found, *SERVED, policy)
    assert [(finding.field, finding.fix) for finding in findings] == [("spec.targetRefs[0].sectionNames[1]", None)]


def test_a_rule_without_a_name_is_not_offered() -> None:
    """Nobody can name it."""
    (finding,) = checked(target_section_not_found, *SERVED, on("rule0", "HTTPRoute", "r"))
    assert finding.fix is None


def test_a_listener_of_a_listener_set() -> None:
    (finding,) = checked(target_section_not_found, CLASS, OPEN, SETS, on("extra"))
    assert finding.fix == Fix(words="extra is a listener of ListenerSet default/ls, which can be targeted itself")
    assert verdicts(checked(target_section_not_found, CLASS, GATEWAY, SETS, on("extra"))) == [True]


@pytest.mark.parametrize(
    "policy",
    [
        on("${LISTENER}"),
        on("rule-1", "HTTPRoute", "r"),
        on("8080", "Service", "s", ""),
        on("x", "Pear", "x", "example.com"),
    ],
    ids=["a placeholder", "a rule by its place", "a port by its number", "a kind that nobody knows"],
)
def test_a_section_in_doubt(policy: Resource) -> None:
    """Some implementations have names for rules without one, and take the number of a port that has a name."""
    service, pear = build.service("s", ("web", 8080)), build.resource("Pear", "x", {}, group="example.com")
    assert verdicts(checked(target_section_not_found, CLASS, GATEWAY, ROUTE, service, pear, policy)) == [False]


@pytest.mark.parametrize(
    "policy", [on("rule-2", "HTTPRoute", "r"), on("rule-1", "Gateway"), on("9090", "Service", "s", "")]
)
def test_a_number_of_nothing(policy: Resource) -> None:
    service = build.service("s", ("web", 8080))
    assert verdicts(checked(target_section_not_found, CLASS, GATEWAY, ROUTE, service, policy)) == [True]
    # A profile would say how the kind calls rules without a name.
    findings = checked(target_section_not_found, *SERVED, on("rule-1", "HTTPRoute", "r"), profiles=[known()])
    assert verdicts(findings) == [True]


FOR_ROUTES: Final = known(declared_targets=kinds("HTTPRoute"))


@pytest.mark.parametrize("profiles", [[], [known()], [known(declared_targets=kinds("HTTPRoute", "Gateway"))]])
def test_a_kind_that_can_be_targeted(profiles: list[Any]) -> None:
    assert checked(target_kind_unsupported, *SERVED, on(""), profiles=profiles) == []


def test_a_kind_that_cannot_be_targeted() -> None:
    assert checked(target_kind_unsupported, *SERVED, on(""), profiles=[FOR_ROUTES]) == [
        Finding(
            subject=P,
            field="spec.targetRefs[0].kind",
            message="ColorPolicy cannot target a Gateway.gateway.networking.k8s.io; "
            "it takes HTTPRoute.gateway.networking.k8s.io",
            reason="Invalid",
        )
    ]


def test_a_kind_that_is_misspelt() -> None:
    (finding,) = checked(target_kind_unsupported, *SERVED, on("", "HTTPRoutes", "r"), profiles=[FOR_ROUTES])
    assert finding.fix == Fix(words="did you mean HTTPRoute?", value="HTTPRoute")


def of_group(group: str | None, kind: str = "HTTPRoute", name: str = "r") -> Resource:
    """The policy, with a reference that has a group, or none."""
    reference: dict[str, Json] = {"kind": kind, "name": name}
    return build.policy("p", reference if group is None else {**reference, "group": group})


PEARS: Final = build.crd("HTTPRoute", "pears.example.com")


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(
    "policy",
    [
        of_group(GATEWAY_API),
        of_group("", "Service", "s"),
        of_group("core", "Service", "s"),
        of_group("pears.example.com"),
        of_group("${GROUP}"),
        of_group("policy.example.com", "Server", "x"),
    ],
)
def test_a_group_that_may_have_the_kind(policy: Resource, *, complete: bool) -> None:
    assert checked(target_group_wrong, *SERVED, PEARS, policy, complete=complete) == []


@pytest.mark.parametrize(
    ("policy", "wrong", "group"),
    [
        (of_group("", name="x"), 'the core group, "" has no HTTPRoute', GATEWAY_API),
        (of_group("apps"), "group apps has no HTTPRoute", GATEWAY_API),
        (of_group("v1", "Service", "s"), "group v1 has no Service", ""),
        (of_group(f"{GATEWAY_API}/v1"), f"group {GATEWAY_API}/v1 has a version in it", GATEWAY_API),
    ],
)
def test_a_group_that_has_not_the_kind(policy: Resource, wrong: str, group: str) -> None:
    """It is certain in any world: the kinds of these groups are known."""
    for complete in (False, True):
        [finding] = checked(target_group_wrong, *SERVED, policy, complete=complete)
        message = f"{wrong}, so the reference leads nowhere"
        assert said([finding]) == [("spec.targetRefs[0].group", message)]
        assert (finding.reason, finding.fix and finding.fix.value) == ("TargetNotFound", group)


def test_a_group_that_is_misspelt() -> None:
    policy = of_group("gateway.networking.k8.io")
    (finding,) = checked(target_group_wrong, *SERVED, policy)
    assert finding.fix == Fix(words="HTTPRoute is in group gateway.networking.k8s.io", value=GATEWAY_API)
    assert checked(target_group_wrong, *SERVED, policy, complete=False) == []
    assert checked(target_group_wrong, *SERVED, of_group("example.org")) == []


def test_the_wrong_group_for_a_kind_with_a_profile() -> None:
    findings = checked(target_group_wrong, *SERVED, PEARS, of_group("pears.example.com"), profiles=[FOR_ROUTES])
    message = "a ColorPolicy cannot target an HTTPRoute of group pears.example.com, so the reference leads nowhere"
    assert said(findings) == [("spec.targetRefs[0].group", message)]


def test_a_group_that_is_left_out() -> None:
    """The definition of a kind may have a default, so that it is not known where that was not read."""
    assert verdicts(checked(target_group_wrong, *SERVED, of_group(None))) == [False]
    assert verdicts(checked(target_group_wrong, *SERVED, of_group(None), build.crd("ColorPolicy"))) == [True]
    assert verdicts(checked(target_group_wrong, *SERVED, of_group(None), profiles=[known()])) == [True]


def test_a_kind_that_no_api_serves() -> None:
    profile = known(declared_targets=kinds("HTTPRoute"), virtual_targets=frozenset({GroupKind("a.example", "Host")}))
    policy = of_group("a.example", "Host", "example.com")
    assert checked(target_group_wrong, *SERVED, build.crd("Host", "b.example"), policy, profiles=[profile]) == []


AWAY: Final = build.policy("p", TO_ROUTE | {"namespace": "infra"})
INFRA: Final = build.route("r", namespace="infra")


def let_in(namespace: str) -> Resource:
    """The grant of a namespace for the policy."""
    sources, targets = [("example.com", "ColorPolicy", "default")], [(GATEWAY_API, "HTTPRoute")]
    return build.grant(namespace=namespace, sources=sources, targets=targets)


def test_a_reference_that_may_leave_its_namespace() -> None:
    assert checked(target_cross_namespace, INFRA, let_in("infra"), AWAY) == []
    assert checked(target_cross_namespace, INFRA, AWAY, profiles=[known(grant_required=False)]) == []
    assert checked(target_cross_namespace, ROUTE, build.policy("p", TO_ROUTE | {"namespace": "default"})) == []


def test_a_reference_that_needs_a_grant() -> None:
    (finding,) = checked(target_cross_namespace, INFRA, AWAY)
    assert (finding.field, finding.certain) == ("spec.targetRefs[0].namespace", True)
    assert finding.message == (
        "no ReferenceGrant in namespace infra lets ColorPolicy of default target HTTPRoute infra/r"
    )
    assert finding.fix
    assert finding.fix.manifest
    assert finding.fix.manifest["spec"] == {
        "from": [{"group": "example.com", "kind": "ColorPolicy", "namespace": "default"}],
        "to": [{"group": GATEWAY_API, "kind": "HTTPRoute", "name": "r"}],
    }
    assert verdicts(checked(target_cross_namespace, INFRA, AWAY, complete=False)) == [False]


def test_a_kind_that_never_reaches_another_namespace() -> None:
    closed = [known(cross_namespace=False)]
    (finding,) = checked(target_cross_namespace, INFRA, let_in("infra"), AWAY, profiles=closed)
    assert finding.message == "ColorPolicy can only target its own namespace default, not infra"
    assert finding.fix == Fix(words="a ColorPolicy for it has to be in namespace infra")
    (finding,) = checked(target_cross_namespace, INFRA, ROUTE, AWAY, profiles=closed)
    assert finding.fix == Fix(words="there is HTTPRoute default/r", value="default")
    assert verdicts(checked(target_cross_namespace, INFRA, AWAY, profiles=closed, complete=False)) == [True]


def test_a_namespace_to_be_filled_in_may_be_its_own() -> None:
    policy = build.policy("p", TO_ROUTE | {"namespace": "${NAMESPACE}"})
    assert verdicts(checked(target_cross_namespace, ROUTE, policy, profiles=[known(cross_namespace=False)])) == [False]


def selecting(**fields: Json) -> Resource:
    """The policy, with a selector for the routes of all namespaces."""
    selector = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"tier": "gold"}, **fields}
    return build.policy("p", targetSelectors=[{**selector, "namespaces": {"from": "All"}}])


GOLD: Final = [
    build.route(name, namespace=home, labels={"tier": "gold"}) for home in ("one", "two") for name in ("a", "b")
]


def test_what_a_selector_reaches_in_namespaces_that_do_not_let_it_in() -> None:
    findings = checked(target_cross_namespace, *GOLD, selecting())
    assert [(finding.severity, [str(it.object) for it in finding.related]) for finding in findings] == [
        ("warning", ["HTTPRoute one/a"]),
        ("warning", ["HTTPRoute two/a"]),
    ]
    (fix, _) = (finding.fix for finding in findings)
    assert fix
    assert fix.manifest
    assert fix.manifest["spec"] == {
        "from": [{"group": "example.com", "kind": "ColorPolicy", "namespace": "default"}],
        "to": [{"group": GATEWAY_API, "kind": "HTTPRoute"}],
    }


def test_what_a_selector_reaches_besides() -> None:
    (finding,) = checked(target_cross_namespace, *GOLD, let_in("one"), selecting())
    assert (finding.severity, finding.field) == ("info", "spec.targetSelectors[0]")
