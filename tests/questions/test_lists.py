"""Tests of `questions/lists.py` and of policies and policy kinds as rows."""

from __future__ import annotations

from typing import Final, cast

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.analysis import Analysis
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import Gap, GroupKind, Origin, Resource
from kubectl_policy.model.selectors import parse_label_query
from kubectl_policy.questions.lists import Lists, Only, list_names, list_type
from kubectl_policy.questions.object_rows import ListenerRow
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow, kind_rows
from kubectl_policy.questions.shared.selection import LeftOutKind, Listing, Selection
from kubectl_policy.render.lists import list_remarks
from tests import build
from tests.questions.build import analyzed
from tests.render.shown import document_of
from tests.render.worlds import DIRECT, INHERITED, about_policy, colourful, defaults, world

NETWORK: Final = GroupKind("networking.k8s.io", "NetworkPolicy")
REGISTRATION: Final = GroupKind("example.com", "ServerRegistration")
FLEET: Final = GroupKind("policy.open-cluster-management.io", "ConfigurationPolicy")
ROUTE: Final = build.ON_ROUTE
WORLD: Final = analyzed(
    build.gateway(),
    build.route(),
    build.policy("color", ROUTE, red=1),
    *(build.resource("NetworkPolicy", name, {"podSelector": {}}, group=NETWORK.group) for name in "ab"),
    build.resource("NetworkPolicy", "c", {}, group=NETWORK.group, namespace="other"),
    build.resource("ConfigurationPolicy", "f", {}, group=FLEET.group, labels={"a": "b"}),
    build.policy("server", ROUTE, kind="ServerRegistration"),
    build.policy("server", ROUTE, kind="ServerRegistration", namespace="other", labels={"a": "b"}),
    build.resource("Deployment", "d", {"targetRef": ROUTE}, group="apps"),
    build.resource("Application", "d", {}, group="example.com"),
)
EVERYWHERE: Final = Selection()


def names(*arguments: object, all_kinds: bool = False) -> list[str]:
    selection = next((each for each in arguments if isinstance(each, Selection)), EVERYWHERE)
    word = next((each for each in arguments if isinstance(each, str)), "policies")
    only = Only(all_kinds=all_kinds)
    listed = list_names(WORLD, word, selection, only)
    assert [row.ref for row in list_type(WORLD, word, selection, only).rows] == [row.ref for row in listed.rows]
    return [row.ref.name for row in listed.rows]


def test_policies_of_other_things_are_left_out_unless_asked_for() -> None:
    assert names() == ["color"]
    assert names(all_kinds=True) == ["a", "b", "color", "f", "c"]
    assert names("networkpolicies") == ["a", "b", "c"]
    assert names(Selection(names=("a", "color"))) == ["a", "color"]


def test_what_is_left_out_is_counted() -> None:
    assert list_names(WORLD, "policies", EVERYWHERE).left_out == (
        LeftOutKind(NETWORK, 3, policies=True),
        LeftOutKind(FLEET, 1, policies=True),
        LeftOutKind(REGISTRATION, 2, policies=False),
    )
    assert list_names(WORLD, "policies", Selection("other")).left_out == (
        LeftOutKind(NETWORK, 1, policies=True),
        LeftOutKind(REGISTRATION, 1, policies=False),
    )
    labelled = Selection(selector={"matchLabels": {"a": "b"}})
    assert [left.kind for left in list_names(WORLD, "policies", labelled).left_out] == [FLEET, REGISTRATION]
    for word in ("routes", "networkpolicies"):
        assert list_names(WORLD, word, EVERYWHERE).left_out == ()


def test_it_is_said() -> None:
    listing = list_type(WORLD, "policies", EVERYWHERE)
    first, second, *_ = list_remarks(Lists((listing,)), empty=False)
    assert first == (
        "left out, as no policies of Gateways, routes or backends: 3 NetworkPolicies and 1 ConfigurationPolicy;"
        " --all-kinds shows them"
    )
    assert second == "not treated as policies, although they refer to targets: 2 ServerRegistrations; explain says why"
    left_out = document_of(listing)["leftOut"]
    assert isinstance(left_out, list)
    assert left_out[0] == {"kind": {"group": NETWORK.group, "kind": "NetworkPolicy"}, "number": 3, "policies": True}


@pytest.mark.parametrize("word", ["policies", "policykinds"])
def test_of_all_kinds_nothing_but_what_looks_alike_is_left_out(word: str) -> None:
    left_out = list_type(WORLD, word, EVERYWHERE, Only(all_kinds=True)).left_out
    assert [left.kind for left in left_out] == ([REGISTRATION] if word == "policies" else [])


EVERY = Selection()


def policies(analysis: Analysis, *states: str) -> list[str]:
    return [row.ref.name for row in list_type(analysis, "policies", EVERY, Only(states=frozenset(states))).rows]  # type: ignore[arg-type]  # of a test


def test_policies_are_left_by_their_state() -> None:
    assert policies(colourful(), "Conflicted") == ["second"]
    assert policies(colourful(), "Conflicted", "PartiallyEnforced") == ["base", "own", "second"]
    assert policies(colourful(), "Invalid") == []
    assert len(policies(colourful())) == 6


def test_what_is_left_out_may_be_in_that_state_after_all() -> None:
    analysis = world(defaults("p", build.target("unread", "GRPCRoute"), a=1))
    listing = list_type(analysis, "policies", EVERY, Only(states=frozenset({"Enforced"})))
    assert listing.rows == ()
    assert [thing.what for thing in listing.unseen] == ["GRPCRoute default/unread"]


@pytest.mark.parametrize("word", ["gateways", "policykinds", "routes"])
def test_only_policies_have_a_state(word: str) -> None:
    with pytest.raises(UsageError, match="has no enforcement"):
        list_type(colourful(), word, EVERY, Only(states=frozenset({"Enforced"})))


@pytest.mark.parametrize("word", ["gateways", "policykinds", "policies"])
def test_only_routes_and_listeners_have_hostnames(word: str) -> None:
    with pytest.raises(UsageError, match="has no hostnames"):
        list_names(colourful(), word, EVERY, Only(hostname="a.example.com"))


def hosts() -> Analysis:
    """Routes with hostnames of their own, those of their listeners, and none."""
    return world(
        build.gateway(
            "h",
            build.listener("shop", hostname="*.shop.example"),
            build.listener("exact", hostname="pay.shop.example"),
            build.listener("tcp", "TCP", 9000),
        ),
        build.route("own", parents=[build.parent("h")], hostnames=["web.shop.example", "web.other.example"]),
        build.route("wild", parents=[build.parent("h", "shop")]),
        build.route("pay", parents=[build.parent("h", "exact")], hostnames=["*.shop.example"]),
        build.route("lost", parents=[build.parent("h", "gone")], hostnames=["web.shop.example"]),
        build.route("lone", parents=[]),
        build.route("mesh", parents=[build.service_parent("s")], hostnames=["web.shop.example"]),
        build.route("tcp", kind="TCPRoute", parents=[build.parent("h", "tcp")]),
        complete=True,
    )


@pytest.mark.parametrize(
    ("hostname", "expected"),
    [
        ("web.shop.example", ["lost", "mesh", "own", "r", "wild"]),
        ("WEB.shop.example", ["lost", "mesh", "own", "r", "wild"]),
        ("pay.shop.example", ["pay", "r"]),
        ("web.other.example", ["r"]),
        ("a.b.shop.example", ["r", "wild"]),
        ("shop.example", ["r"]),
        ("*.shop.example", ["lost", "mesh", "own", "pay", "r", "wild"]),
        ("", ["lone", "lost", "mesh", "own", "pay", "r", "tcp", "wild"]),
    ],
)
def test_routes_are_looked_up_by_hostname(hostname: str, expected: list[str]) -> None:
    """As their listeners let requests in; what is attached to nothing is found by what it asks for."""
    only = Only(hostname=hostname)
    assert [row.ref.name for row in list_type(hosts(), "routes", EVERY, only).rows] == expected
    assert [row.ref.name for row in list_names(hosts(), "routes", EVERY, only).rows] == expected


def test_listeners_are_looked_up_by_hostname() -> None:
    found = list_type(hosts(), "listeners", Selection(names=("h",)), Only(hostname="web.shop.example"))
    assert [row.listener.name for row in found.rows if isinstance(row, ListenerRow)] == ["shop", "tcp"]


def test_several_lists_lack_what_each_of_them_lacks() -> None:
    one = list_type(world(defaults("p", build.target("unread", "GRPCRoute"), a=1)), "policies", EVERY)
    assert Lists((one, one)).unseen == one.unseen != ()


def test_several_lists_are_unknown_if_one_of_them_is() -> None:
    forbidden = analyze(build.snapshot(build.gateway(), gaps=[Gap("HTTPRoute", "", "forbidden")]))
    gateways, routes = (list_type(forbidden, type_name, EVERY) for type_name in ("gateways", "httproutes"))
    assert [Lists(lists).unknown for lists in ((gateways,), (gateways, routes))] == [False, True]


def listed(analysis: Analysis, word: str = "policies") -> Listing[PolicyRow]:
    return cast("Listing[PolicyRow]", list_type(analysis, word, Selection()))


def row(analysis: Analysis, name: str) -> PolicyRow:
    return next(found for found in listed(analysis).rows if found.ref.name == name)


def test_what_an_unread_target_hides_is_unknown() -> None:
    analysis = world(build.policy("p", build.target("unread", "GRPCRoute"), defaults={"a": 1}))
    found = row(analysis, "p")
    assert (found.enforcement.state, found.affected) == ("Unknown", None)
    assert [thing.what for thing in listed(analysis).unseen] == ["GRPCRoute default/unread"]


def test_what_may_be_below_an_unread_part_is_unknown() -> None:
    resources = (
        build.gateway_class(),
        build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": "inherited"}),
        build.policy("p", build.target("public", "GatewayClass"), a=1),
    )
    open_world, closed = analyzed(*resources), analyzed(*resources, complete=True)
    assert (row(open_world, "p").enforcement.state, row(open_world, "p").affected) == ("NoEffect", None)
    assert (row(closed, "p").enforcement.state, row(closed, "p").affected) == ("NoEffect", ())


def test_a_gap_makes_every_row_incomplete() -> None:
    gap = Gap("", "", "broken", Origin("bad.yaml", 7))
    analysis = world(build.policy("p", build.ON_GATEWAY, defaults={"a": 1}), gaps=[gap])
    assert [thing.reason for thing in row(analysis, "p").unseen] == ["broken"]
    assert [thing.reason for thing in listed(analysis).unseen] == ["broken"]
    assert [thing.reason for thing in listed(world(gaps=[gap])).unseen] == ["broken"]


def test_a_row_says_what_the_description_says() -> None:
    analysis = colourful()
    found = listed(analysis).rows
    assert [one.ref.name for one in found] == ["base", "first", "lost", "own", "second", "strict"]
    for one in found:
        description = about_policy(analysis, one.ref.name, one.ref.kind)
        assert one.enforcement == description.enforcement
        assert one.affected == description.affected
        assert one.targets == description.targets
        assert tuple(dict.fromkeys(stanza.strategy for stanza in one.stanzas)) == description.strategies
        assert one.unseen == description.unseen


def test_a_row_has_the_stanzas_that_take_effect() -> None:
    analysis = world(
        build.policy("both", build.ON_GATEWAY, defaults={"a": 1}, overrides={"strategy": "patch", "b": 1}),
        build.policy("bare", build.target("g", "Gateway", "http"), kind="LimitPolicy", a=1),
        build.policy("lost", build.target("gone", "HTTPRoute"), defaults={"a": 1}),
    )
    assert [(stanza.field, stanza.strategy.value) for stanza in row(analysis, "both").stanzas] == [
        ("spec.overrides", "Patch overrides"),
        ("spec.defaults", "Atomic defaults"),
    ]
    assert [(stanza.field, stanza.strategy.value) for stanza in row(analysis, "bare").stanzas] == [("spec", "None")]
    assert row(analysis, "lost").stanzas == ()


def test_a_row_has_what_was_reported() -> None:
    policy = build.resource(
        "ColorPolicy",
        "p",
        {"targetRefs": [build.ON_GATEWAY], "defaults": {"a": 1}},
        group="example.com",
        status={"conditions": [{"type": "Accepted", "status": "True"}]},
    )
    found = row(world(policy), "p")
    assert [condition.type for condition in found.reported] == ["Accepted"]
    assert found.raw == policy.raw


def kinds(*resources: Resource, selection: Selection | None = None, gaps: tuple[Gap, ...] = ()) -> tuple[KindRow, ...]:
    return kind_rows(analyzed(*resources, gaps=gaps), selection or Selection())


def test_what_is_no_policy_kind_is_left_out() -> None:
    assert kinds(build.crd("Widget"), build.gateway(), build.crd("ColorPolicy", schema={"type": "object"})) == ()


def test_a_kind_without_policies_is_listed() -> None:
    (found,) = kinds(build.crd("ColorPolicy", labels=DIRECT))
    assert (found.name, found.profile.policy_class, found.profile.known_by) == (
        "colorpolicys.example.com",
        "direct",
        "label",
    )
    assert (found.policies, found.complete) == ((), True)
    assert found.raw["kind"] == "CustomResourceDefinition"
    assert str(found.ref) == "CustomResourceDefinition colorpolicys.example.com"


def test_a_kind_without_a_definition_is_listed() -> None:
    (found,) = kinds(build.policy("a", build.ON_GATEWAY), build.policy("b", build.ON_GATEWAY, namespace="far"))
    assert (found.name, found.definition, found.raw) == ("colorpolicies.example.com", None, {})
    assert [ref.qualified_name for ref in found.policies] == ["default/a", "far/b"]


def test_a_kind_of_the_core_group_has_its_plural_alone_as_name() -> None:
    """As kubectl names such kinds."""
    profile = PolicyKindProfile(GroupKind("", "ColorPolicy"), "direct", "profile")
    world = build.snapshot(build.policy("a", build.ON_GATEWAY, group=""))
    (found,) = kind_rows(analyze(world, profiles=[profile]), Selection())
    assert found.name == "colorpolicies"


def test_kinds_are_sorted_by_name() -> None:
    found = kinds(
        build.crd("ZooPolicy", labels=DIRECT),
        build.policy("p", build.ON_GATEWAY),
        build.crd("ColorPolicy", labels=INHERITED),
        build.policy("q", build.ON_GATEWAY, kind="AntPolicy"),
    )
    assert [row.name for row in found] == [
        "antpolicies.example.com",
        "colorpolicys.example.com",
        "zoopolicys.example.com",
    ]


@pytest.mark.parametrize(("kind", "complete"), [("", False), ("ColorPolicy", False), ("Gateway", True)])
def test_policies_that_could_not_be_read_are_not_counted_as_none(kind: str, complete: bool) -> None:  # noqa: FBT001 (a parameter)
    (found,) = kinds(build.crd("ColorPolicy", labels=DIRECT), gaps=(Gap(kind, "", "forbidden"),))
    assert found.complete is complete


def test_a_kind_is_named_as_people_name_it() -> None:
    world = (build.crd("ColorPolicy", labels=DIRECT), build.crd("LimitPolicy", labels=DIRECT), build.gateway())
    for name in ("colorpolicys", "ColorPolicy", "colorpolicys.example.com"):
        assert [row.profile.group_kind.kind for row in kinds(*world, selection=Selection("", (name,)))] == [
            "ColorPolicy"
        ]
    with pytest.raises(NotFoundError) as error:
        kinds(*world, selection=Selection("", ("colorpolicys", "gateways")))
    assert error.value.message == 'policykind "gateways" not found'
    with pytest.raises(NotFoundError) as error:
        kinds(*world, selection=Selection("", ("limitpolicys.example.org",)))
    assert error.value.hint == "did you mean limitpolicys.example.com, colorpolicys.example.com?"


def test_labels_are_those_of_the_definition() -> None:
    world = (build.crd("ColorPolicy", labels=DIRECT), build.policy("p", build.ON_GATEWAY, kind="AntPolicy"))
    for query, expected in (
        ("gateway.networking.k8s.io/policy=direct", "ColorPolicy"),
        ("!a,!gateway.networking.k8s.io/policy", "AntPolicy"),
    ):
        found = kinds(*world, selection=Selection("", (), parse_label_query(query)))
        assert [row.profile.group_kind.kind for row in found] == [expected]
