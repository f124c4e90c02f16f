"""Two analyses side by side: what they share, and the outcomes that can differ between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.comparison import StateComparison, compare, what_if
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.diff import diff
from kubectl_policy.states import cascade
from kubectl_policy.topology import Path, Topology
from tests import build, differences
from tests.differences import attachments, between, concerned, parents, ref, told, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


COLOR: Final = GroupKind("example.com", "ColorPolicy")
ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
INHERITED: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none"
)
DIRECT: Final = replace(INHERITED, policy_class="direct")
ON_ROUTES: Final = replace(DIRECT, sections="refine", effective_targets=(TargetLevel(ROUTE),))
NAMESPACE: Final = build.namespace("default")
GATEWAY: Final = build.gateway()
ROUTE_R: Final = build.route()
SERVICE: Final = build.service()
WORLD: Final = (build.gateway_class(), NAMESPACE, GATEWAY, ROUTE_R, SERVICE)
TO_G: Final = build.target("g")
TO_R: Final = build.target("r", "HTTPRoute")
TO_S: Final = build.target("s", "Service", group="")


def color(name: str = "p", target: Mapping[str, Json] = TO_G, **spec: Json) -> Resource:
    """A ColorPolicy, on the Gateway unless told otherwise."""
    return differences.color(name, target, age=None, **spec)


def world_without(absent: Resource) -> list[Resource]:
    """The world without one of its objects."""
    return [resource for resource in WORLD if resource is not absent]


def compared(
    before: Sequence[Resource], after: Sequence[Resource], *profiles: PolicyKindProfile, complete: bool = False
) -> StateComparison:
    """The comparison of two states that were read apart."""
    states = (build.snapshot(*before, complete=complete), build.snapshot(*after, complete=complete))
    return compare(*states, profiles=profiles)


def paths(comparison: StateComparison) -> list[tuple[str, bool, bool]]:
    """The paths of the pairs, and in which states they are."""
    return [(words(pair.path), pair.in_before, pair.in_after) for pair in comparison.pairs()]


class TestWhatIsShared:
    @pytest.mark.parametrize(
        "changed",
        [
            pytest.param(SERVICE, id="a Service"),
            pytest.param(ROUTE_R, id="a route"),
            pytest.param(NAMESPACE, id="a Namespace"),
            pytest.param(build.resource("ConfigMap", "c", group=""), id="what is not a policy"),
            pytest.param(build.crd("ColorPolicy"), id="a definition"),
            pytest.param(build.grant(), id="a grant"),
            pytest.param(build.policy("p", TO_S, kind="BackendTLSPolicy", group=GATEWAY_API), id="policy of the API"),
            pytest.param(
                build.policy("p", TO_S, kind="XBackendTrafficPolicy", group="gateway.networking.x-k8s.io"),
                id="policy of the experimental API",
            ),
        ],
    )
    def test_not_if_the_hierarchy_may_be_made_of_it(self, changed: Resource) -> None:
        rest = [resource for resource in WORLD if resource is not changed]
        assert not compared([*rest, changed], rest, INHERITED).shares_topology
        assert not compared(rest, [*rest, changed], INHERITED).shares_topology

    @pytest.mark.parametrize(
        "more",
        [
            pytest.param(
                build.route(rules=[build.rule(build.backend(), filters=[build.names("p")])]), id="filter of a route"
            ),
            pytest.param(
                build.route(rules=[build.rule(build.backend("p", kind="ColorPolicy", group="example.com"))]),
                id="backend of a route",
            ),
            pytest.param(
                build.gateway(
                    infrastructure={"parametersRef": {"group": "example.com", "kind": "ColorPolicy", "name": "q"}}
                ),
                id="parameters of a Gateway",
            ),
            pytest.param(
                build.gateway_class(parametersRef={"group": "example.com", "kind": "ColorPolicy", "name": "q"}),
                id="parameters of a class",
            ),
        ],
    )
    def test_not_if_the_hierarchy_refers_to_the_policy(self, more: Resource) -> None:
        world = [*(resource for resource in WORLD if resource.ref != more.ref), more]
        assert not compared([*world, color(a=1)], world, INHERITED).shares_topology
        assert not compared(world, [*world, color(a=1)], INHERITED).shares_topology

    def test_a_filter_that_names_another_policy(self) -> None:
        naming = build.route(rules=[build.rule(build.backend(), filters=[build.names("other")])])
        world = [build.gateway_class(), NAMESPACE, GATEWAY, naming, SERVICE]
        assert compared([*world, color(a=1)], world, INHERITED).shares_topology

    def test_if_nothing_differs(self) -> None:
        comparison = compared(WORLD, WORLD)
        assert comparison.shares_topology
        assert comparison.after.topology.relations is comparison.before.topology.relations
        assert not comparison.changed

    def test_if_policies_differ(self) -> None:
        """Each state has its own objects all the same."""
        comparison = compared([*WORLD, color(a=1)], [*WORLD, color(a=2), color("q", b=1)], INHERITED)
        assert comparison.shares_topology
        assert comparison.after.topology.relations is comparison.before.topology.relations
        assert comparison.after.topology.index is comparison.after.index


def test_which_objects_differ() -> None:
    """One is created, one deleted, one written otherwise, and the rest are what they were."""
    old, new = [*WORLD, color("old"), color("both", a=1)], [*WORLD, color("new"), color("both", a=2)]
    comparison = compared(old, new)
    assert {*comparison.created} == {ref("new")}
    assert {*comparison.deleted} == {ref("old")}
    assert {*comparison.updated} == {ref("both")}
    assert {*comparison.changed} == {ref("new"), ref("old"), ref("both")}


def test_a_kind_that_is_guessed_stays_what_it_is_without_its_objects() -> None:
    for before, after in (([*WORLD, color(a=1)], WORLD), (WORLD, [*WORLD, color(a=1)])):
        comparison = compared(before, after)
        assert comparison.kinds == (COLOR,)
        assert comparison.shares_topology
        assert [
            state.registry.profile_of(COLOR) == analyze(build.snapshot(color(a=1))).registry.profile_of(COLOR)
            for state in (comparison.before, comparison.after)
        ] == [True, True]


class TestWhatIsKnown:
    """Objects that are in one state alone, as the other one knows them."""

    def test_the_only_gateway_of_a_namespace(self) -> None:
        difference = between([*WORLD, color(a=1)], [*world_without(GATEWAY), color(a=1)], INHERITED)
        assert attachments(difference) == [("p", "Gateway default/g", "attached", "target missing")]
        assert parents(difference) == [
            ("r", "Gateway default/g#http", "attached", None, "Gateway default/g does not exist")
        ]

    def test_behind_a_gap_it_is_unknown(self) -> None:
        left = [*world_without(GATEWAY), color(a=1)]
        difference = between([*WORLD, color(a=1)], left, INHERITED, gaps=[Gap("Gateway", "", "forbidden")])
        assert attachments(difference) == [("p", "Gateway default/g", "attached", "target unknown")]
        assert parents(difference)[0] == (
            "r",
            "Gateway default/g",
            None,
            "unknown",
            "Gateway default/g is not in the input",
        )
        assert (difference.unseen[0].what, difference.unseen[0].reason) == ("Gateway", "forbidden")

    def test_what_somebody_deletes_is_gone_behind_a_gap_as_well(self) -> None:
        snapshot = build.snapshot(*WORLD, color(a=1), gaps=[Gap("Gateway", "", "forbidden")])
        difference = diff(what_if(analyze(snapshot, profiles=[INHERITED]), deleted=[GATEWAY.ref]))
        assert attachments(difference) == [("p", "Gateway default/g", "attached", "target missing")]


class TestOneAfterTheOther:
    def test_nothing_is_changed(self) -> None:
        """What differed from the first state is not told again."""
        without = what_if(analyze(build.snapshot(*WORLD, color(a=1)), profiles=[INHERITED]), deleted=[ref()])
        again = what_if(without.after)
        assert not again.changed
        assert not diff(again).changes

    def test_something_else_is(self) -> None:
        analysis = analyze(build.snapshot(*WORLD, color(a=1), color("q", b=1)), profiles=[INHERITED])
        without = what_if(analysis, deleted=[ref()])
        assert without.before is analysis
        again = diff(what_if(without.after, deleted=[ref("q")]))
        assert again.deleted == (ref("q"),)
        assert told(again) == ["kept default/g/http/r/rule[0]/s/8080 b: 1 q -> nothing"]


class TestPaths:
    def test_a_policy_is_deleted(self) -> None:
        second = (build.gateway("far"), build.route("q", parents=[build.parent("far")]))
        world = [*WORLD, *second, color("far", build.target("far"), a=1)]
        comparison = compared([*world, color(a=1)], world, INHERITED)
        assert paths(comparison) == [("default/g/http/r/rule[0]/s/8080", True, True)]
        assert comparison.differing(COLOR) == {build.node("Gateway", "g")}

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ([*world_without(ROUTE_R), ROUTE_R], [*world_without(ROUTE_R), build.route(rules=[build.rule()])]),
            # A Service that was not read gets ports as soon as it is; nothing is otherwise.
            (world_without(SERVICE), WORLD),
        ],
        ids=["a rule loses its backend", "a backend without ports"],
    )
    def test_the_way_to_a_rule_is_the_same_without_its_backend(
        self, before: list[Resource], after: list[Resource]
    ) -> None:
        comparison = compared([*before, color(a=1)], [*after, color(a=1)], INHERITED)
        assert paths(comparison) == [("default/g/http/r/rule[0]/s/8080", True, True)]
        assert told(diff(comparison)) == []

    def test_a_rule_loses_one_of_two_backends(self) -> None:
        """Then this path is gone, as is the way to the Service."""
        two = build.route(rules=[build.rule(build.backend(), build.backend("t"))])
        world = [*world_without(ROUTE_R), build.service("t"), color(a=1)]
        difference = between([*world, two], [*world, ROUTE_R], INHERITED)
        assert told(difference) == ["gone default/g/http/r/rule[0]/t/8080 a: 1 p -> nothing"]
        assert concerned(difference) == [["Service default/t"]]

    def test_a_backend_that_is_deleted_with_its_policy_on_it(self) -> None:
        world = [*WORLD, color(target=TO_S, a=1)]
        difference = between(world, [one for one in world if one is not SERVICE], DIRECT)
        assert told(difference) == ["gone default/g/http/r/rule[0]/s/8080 a: 1 p -> nothing"]

    def test_a_listener_gets_its_first_route_or_loses_its_only_one(self) -> None:
        world = [*world_without(ROUTE_R), color(a=1)]
        new, gone = (between(*states, INHERITED) for states in ((world, [*world, ROUTE_R]), ([*world, ROUTE_R], world)))
        assert told(new) == ["new default/g/http/r/rule[0]/s/8080 a: nothing -> 1 p"]
        assert told(gone) == ["gone default/g/http/r/rule[0]/s/8080 a: 1 p -> nothing"]
        assert concerned(new) == concerned(gone) == [["Service default/s"]]

    def test_a_route_without_traffic(self) -> None:
        alone = build.route("alone", parents=[])
        world = [*WORLD, alone]
        difference = between([*world, color(target=build.target("alone", "HTTPRoute"), a=1)], world, INHERITED)
        assert told(difference) == []
        assert [change.before for change in difference.enforcement] == ["NoEffect"]


class TestWhatIsNotThere:
    def test_a_gateway_that_is_deleted_gains_nothing(self) -> None:
        on_namespace = build.policy("n", build.target("default", "Namespace", group=""), b=2)
        world = [*WORLD, color(a=1), on_namespace]
        difference = between(world, [one for one in world if one is not GATEWAY], INHERITED)
        assert {line.partition(" ")[0] for line in told(difference)} == {"gone"}

    @pytest.mark.parametrize("profile", [DIRECT, INHERITED])
    def test_a_service_to_which_no_route_leads(self, profile: PolicyKindProfile) -> None:
        lonely = build.service("lonely")
        world = [*WORLD, lonely, color(target=build.target("lonely", "Service", group=""), a=1)]
        left = [one for one in world if one is not lonely]
        assert told(between(world, left, profile)) == ["gone default/lonely/8080 a: 1 p -> nothing"]
        assert told(between(left, world, profile)) == ["new default/lonely/8080 a: nothing -> 1 p"]

    def test_a_backend_with_a_policy_of_its_own(self) -> None:
        world = [*WORLD, color(target=TO_S, a=1)]
        comparison = what_if(analyze(build.snapshot(*world), profiles=[DIRECT]), deleted=[GATEWAY.ref])
        assert paths(comparison) == [("default/g/http/r/rule[0]/s/8080", True, False)]

    def test_a_port_that_is_deleted(self) -> None:
        lonely, less = build.service("lonely", ("http", 80), ("admin", 81)), build.service("lonely", ("http", 80))
        world = [*WORLD, color(target=build.target("lonely", "Service", group=""), a=1)]
        assert told(between([*world, lonely], [*world, less], DIRECT)) == [
            "gone default/lonely/admin a: 1 p -> nothing"
        ]

    def test_a_policy_that_counts_on_the_way_to_a_missing_backend(self) -> None:
        far = build.route(rules=[build.rule(build.backend("ghost", namespace="far"))])
        grant = build.grant(namespace="far")
        on_far = build.policy("far", build.target("far", "Namespace", group=""), a=2)
        rest = [build.gateway_class(), NAMESPACE, GATEWAY, build.namespace("far"), far, grant, SERVICE]
        world = [*rest, color(a=1)]
        comparison = compared([*world, on_far], world, INHERITED, complete=True)
        assert comparison.shares_topology
        assert told(diff(comparison)) == ["kept default/g/http/r/rule[0]/far/ghost a: 2 far -> 1 p"]
        assert told(diff(compared([*rest, on_far], rest, INHERITED, complete=True))) == []


def test_a_section_whose_policies_stand_beside_those_of_the_whole() -> None:
    """A policy of the route counts at the rule, as soon as the rule has one as well."""
    on_rule = color("rule", build.target("r", "HTTPRoute", "named"), b=1)
    named = build.route(rules=[build.rule(build.backend(), name="named")])
    world = [*world_without(ROUTE_R), named, on_rule]
    comparison = compared([*world, color(target=TO_R, a=1)], world, ON_ROUTES)
    assert comparison.shares_topology
    assert told(diff(comparison)) == [
        "kept default/g/http/r a: 1 p -> nothing",
        "kept default/g/http/r/named a: 1 p -> nothing",
    ]


@pytest.mark.parametrize("label", ["direct", "inherited"])
def test_a_definition_is_deleted_with_all_its_policies(label: str) -> None:
    definition = build.crd("ColorPolicy", labels={"gateway.networking.k8s.io/policy": label})
    analysis = analyze(build.snapshot(*WORLD, definition, color(a=1)))
    by_definition = diff(what_if(analysis, deleted=cascade(analysis.index, [definition.ref])))
    by_policy = diff(what_if(analysis, deleted=[ref()]))
    place = "default/g/http" if label == "direct" else "default/g/http/r/rule[0]/s/8080"
    assert told(by_definition) == told(by_policy) == [f"kept {place} a: 1 p -> nothing"]


def test_no_path_is_looked_at_twice() -> None:
    far = build.route(rules=[build.rule(build.backend("ghost", namespace="far"))])
    rest = [build.gateway_class(), NAMESPACE, GATEWAY, build.namespace("far"), far, build.grant(namespace="far")]
    spaces = [build.target(name, "Namespace", group="") for name in ("default", "far")]
    both = [color("two", spaces[0], a=1), color("far", spaces[1], b=1), color("g", a=0)]
    comparison = compared([*rest, *both], [*rest, both[-1]], INHERITED, complete=True)
    assert comparison.shares_topology
    assert paths(comparison) == [("default/g/http/r/rule[0]/far/ghost", True, True)]


def test_no_path_is_looked_for_below_a_route_that_nothing_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[tuple[Topology, NodeRef]] = []
    through = Topology.paths_through

    def noted(topology: Topology, node: NodeRef) -> tuple[Path, ...]:
        looked_for.append((topology, node))
        return through(topology, node)

    monkeypatch.setattr(Topology, "paths_through", noted)
    analysis = analyze(build.snapshot(*WORLD, color(target=TO_R, a=1)), profiles=[INHERITED])
    comparison = what_if(analysis, deleted=[GATEWAY.ref])
    assert paths(comparison) == [("default/g/http/r/rule[0]/s/8080", True, False)]
    assert looked_for == [(comparison.before.topology, NodeRef(ROUTE_R.ref))]


def test_a_definition_says_that_a_kind_is_no_policy_kind() -> None:
    spec: Json = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema: Json = {"type": "object", "properties": {"spec": spec}}
    world = [*WORLD, color(a=1)]
    found = between(world, [*world, build.crd("ColorPolicy", schema=schema)])
    assert told(found) == ["kept default/g/http/r/rule[0]/s/8080 a: 1 p -> nothing"]
    found = between([*world, build.crd("ColorPolicy", schema=schema)], world)
    assert told(found) == ["kept default/g/http/r/rule[0]/s/8080 a: nothing -> 1 p"]


@pytest.mark.parametrize("sections", ["refine", "replace"])
def test_a_policy_of_a_whole_object_differs_at_its_sections_also_where_the_hierarchy_differs(
    sections: Literal["refine", "replace"],
) -> None:
    profile = replace(DIRECT, sections=sections)
    before = analyze(build.snapshot(*WORLD, color("p", TO_S, hue=1)), profiles=[profile])
    difference = diff(what_if(before, applied=[color("p", TO_S, hue=2), build.route("new")]))
    assert "kept default/g/http/r/rule[0]/s/8080 hue: 1 p -> 2 p" in told(difference)


POD: Final = build.resource("Pod", "web", {"containers": []}, group="", labels={"app": "web"})
ISOLATED, OPEN = (
    build.resource("NetworkPolicy", name, {"podSelector": {}}, group="networking.k8s.io") for name in ("deny", "open")
)
OPENED: Final = replace(OPEN, raw={**OPEN.raw, "spec": {"podSelector": {}, "ingress": [{}]}})
LABELLED: Final = build.with_metadata(POD, labels={"app": "other"})


@pytest.mark.parametrize(
    ("applied", "shares_workloads"),
    [([POD], True), ([OPENED], True), ([build.namespace("new")], False), ([OPENED, LABELLED], False)],
    ids=["nothing differs", "a policy", "a Namespace", "a policy and a Pod"],
)
def test_states_that_differ_in_network_policies_alone_have_their_workloads_in_common(
    applied: Sequence[Resource], *, shares_workloads: bool
) -> None:
    comparison = what_if(analyze(build.snapshot(POD, ISOLATED, OPEN)), applied=applied)
    states = (comparison.before, comparison.after)
    assert (states[0].workloads is states[1].workloads) == shares_workloads
    assert [policy.ref.name for policy in states[1].network.policies] == ["deny", "open"]
    rules = len(states[1].network.by_ref[OPEN.ref].ingress)
    assert rules == (1 if OPENED in applied else 0)
    is_same = states[0].network.by_ref[ISOLATED.ref] is states[1].network.by_ref[ISOLATED.ref]
    assert is_same == shares_workloads


def test_states_that_were_read_with_other_gaps_have_no_workloads_in_common() -> None:
    gap = Gap("Pod", "", "forbidden")
    before, after = build.snapshot(POD, OPEN), build.snapshot(POD, OPENED, gaps=[gap])
    comparison = compare(before, after)
    assert comparison.before.workloads is not comparison.after.workloads
