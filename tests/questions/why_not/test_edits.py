"""Edits of why-not: their fields, values and side effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from kubectl_policy.analysis import Analysis
from kubectl_policy.model import FieldPath, Json, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, ROUTES
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.merging import IgnoredPart
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.why_not import search
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.questions.why_not.edits import Edit, FieldEdit, edited
from kubectl_policy.questions.why_not.no_effect import effect_on
from kubectl_policy.questions.why_not.search import Offered
from tests import build
from tests.questions.build import analyzed
from tests.questions.why_not.causes import (
    LIST,
    ON_GATEWAY,
    ON_ROUTE,
    POLICY,
    ROUTE,
    Cause,
    anything,
    around,
    object_schema,
    profiled,
    usual,
)
from tests.questions.why_not.test_why_not import CAUSES
from tests.questions.why_not.test_why_not import edited as after_edit
from tests.render.shown import shown
from tests.render.worlds import defaults, overrides

EDITED = build.route(hostnames=["a.example", "b.example", "c.example"], labels={"a/b.c": "d"})


def edit(path: str, removed: tuple[Json, ...], added: tuple[Json, ...]) -> FieldEdit:
    return FieldEdit(FieldPath.parse(path), removed, added)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.hostnames[1]", "x", [edit("spec.hostnames[1]", ("b.example",), ("x",))]),
        ("spec.hostnames[3]", "x", [edit("spec.hostnames[3]", (), ("x",))]),
        ("spec.new.deep[0].x", 1, [edit("spec.new", (), ({"deep": [{"x": 1}]},))]),
        ('metadata.labels["a/b.c"]', "e", [edit('metadata.labels["a/b.c"]', ("d",), ("e",))]),
        ("spec.rules[0]", True, None),
    ],
)
def test_an_edited_copy_differs_where_it_was_edited(path: str, value: Json, expected: list[FieldEdit] | None) -> None:
    before = repr(EDITED.raw)
    (found,) = edited(EDITED, (FieldPath.parse(path), value))
    assert found.after
    raw = found.after.raw
    assert list(found.changes) == expected if expected is not None else len(found.changes) == 1
    assert repr(EDITED.raw) == before
    assert all([change.path.get(raw)] == [*change.added] for change in found.changes if change.added)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.hostnames[1]", edit("spec.hostnames[1]", ("b.example",), ())),
        ("spec.hostnames", edit("spec.hostnames", (["a.example", "b.example", "c.example"],), ())),
        ('metadata.labels["a/b.c"]', edit('metadata.labels["a/b.c"]', ("d",), ())),
    ],
)
def test_what_is_taken_out(path: str, expected: FieldEdit) -> None:
    (found,) = edited(EDITED, without=[FieldPath.parse(path)])
    assert found.changes == (expected,)


@pytest.mark.parametrize("path", ["spec.hostnames[4]", "spec.hostnames.name", "kind[0]", "kind.name.x"])
def test_what_has_another_shape_is_not_edited(path: str) -> None:
    assert not list(edited(EDITED, (FieldPath.parse(path), "x")))


@pytest.mark.parametrize("path", ["spec.absent", "spec.hostnames[3]"])
def test_what_changes_nothing_is_no_edit(path: str) -> None:
    assert not list(edited(EDITED, without=[FieldPath.parse(path)]))
    assert not list(edited(EDITED, (FieldPath.parse("spec.hostnames[0]"), "a.example")))


def test_the_size_of_an_edit_is_the_number_of_its_lines() -> None:
    (both,) = edited(EDITED, (FieldPath.parse("spec.hostnames[3]"), "y"), (FieldPath.parse("metadata.labels.e"), "f"))
    assert (both.size, both.field) == (2, "metadata.labels")
    assert (Edit(EDITED, None).size, Edit(EDITED, None).field) == (1, "")
    created = build.resource("Thing", "t", {"a": 1, "b": {"c": [], "d": [1, 2]}, "e": [{"f": 1, "g": 2}]})
    assert Edit(None, created).size - Edit(None, build.resource("Thing", "t", {})).size == 9


STRATEGY = {"type": "string"}


def defining(strategy: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema of a kind with stanzas whose field `strategy` is so."""
    fields = {"strategy": strategy, "color": {"type": "string"}, "shade": {"type": "string"}}
    stanza = {"type": "object", "properties": fields}
    return object_schema(targetRefs=LIST, defaults=stanza, overrides=stanza)


def merging(analysis: Analysis, policy: ObjectRef = POLICY) -> list[tuple[str, tuple[Json, ...]]]:
    """The fields that the first edit changes, and what it puts there."""
    first = why_not(analysis, policy, ROUTE).edits[0]
    return [(str(change.path), change.added) for change in first.changes]


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        (defining({**STRATEGY, "enum": ["atomic", "merge"]}), "merge"),
        (defining({**STRATEGY, "enum": ["Atomic", "Patch"]}), "Patch"),
        (defining(STRATEGY), "patch"),
    ],
)
def test_the_definition_lists_the_strategies(schema: Mapping[str, Json], word: str) -> None:
    """One that it does not know would be refused; where it lists none, the word is GEP-713's."""
    nearer = build.policy("o", ON_ROUTE, age=1, defaults={"color": "red"})
    policy = build.policy("p", ON_GATEWAY, age=2, defaults={"color": "blue", "shade": "dark"})
    assert merging(usual(nearer, policy, schema=schema)) == [("spec.defaults.strategy", (word,))]


def test_the_profile_knows_the_strategies() -> None:
    """Without a definition: Kuadrant's API takes atomic and merge."""
    deny: Json = {"rules": {"authorization": {"d": {}}}}
    auth = build.policy("p", kind="AuthPolicy", group="kuadrant.io", targetRef=ON_GATEWAY, defaults=deny)
    nearer = build.policy(
        "o", kind="AuthPolicy", group="kuadrant.io", targetRef=ON_ROUTE, rules={"authentication": {"a": {}}}
    )
    world = (build.gateway_class(), build.gateway(), build.route(), build.service(), build.namespace("default"))
    analysis = analyzed(*world, auth, nearer, complete=True)
    assert merging(analysis, auth.ref) == [("spec.defaults.strategy", ("merge",))]


NAME: Final = "kubernetes.io/metadata.name"
FAR: Final = build.node("HTTPRoute", "r", namespace="far")
FAR_ROUTE: Final = build.route(namespace="far", parents=[build.parent(namespace="default")], rules=[{}])


def offered(analysis: Analysis, target: NodeRef = ROUTE, policy: ObjectRef = POLICY) -> tuple[Offered, ...]:
    """The edits that would give ColorPolicy `p` an effect."""
    return why_not(analysis, policy, target).edits


def places(edits: tuple[Offered, ...]) -> list[tuple[str, str]]:
    """The objects that they change, and the first field of each."""
    return [(each.object.name, str(each.changes[0].path) if each.changes else "") for each in edits]


def test_what_changes_nothing_else_comes_first() -> None:
    """To name a Gateway that other routes share would change these, too; to name the route changes it alone."""
    analysis = usual(
        build.route("other"),
        build.route("q", parents=[]),
        build.policy("p", build.target("q", "HTTPRoute"), color="red"),
    )
    first, *_ = offered(analysis)
    assert places((first,)) == [("p", "spec.targetRefs[1]")]
    assert first.changes[0].added == ({"group": ON_ROUTE["group"], "kind": "HTTPRoute", "name": "r"},)
    assert (first.also_changes.harm, first.also_changes.settings, first.also_changes.objects) == ("none", 0, ())


def test_what_it_changes_elsewhere_is_counted() -> None:
    """Each setting at each object: a kind that can name Gateways alone reaches every route behind one."""
    gateway_alone = profiled(declared_targets=frozenset({GATEWAY}))
    analysis = usual(
        build.route("other"),
        build.gateway("h"),
        build.policy("p", build.target("h"), color="red", shade="dark"),
        profile=gateway_alone,
    )
    (only,) = [each for each in offered(analysis) if each.object == POLICY]
    assert only.also_changes.objects == (build.ref("HTTPRoute", "other"),)
    assert (only.also_changes.harm, only.also_changes.settings) == ("some", 2)


def test_a_listener_lets_in_one_more_namespace_and_no_fewer() -> None:
    on_gateway = defaults("p", ON_GATEWAY, a=1)
    local = profiled(declared_targets=frozenset({GATEWAY}))
    world = (build.namespace("far"), build.route("near"), FAR_ROUTE, on_gateway)

    def expressions(analysis: Analysis) -> object:
        first = offered(analysis, FAR)[0]
        assert (first.also_changes.harm, first.also_changes.losing) == ("none", ())
        assert first.after
        listeners = first.after.raw["spec"]["listeners"]  # type: ignore[index,call-overload]
        return listeners[0]["allowedRoutes"]["namespaces"]["selector"]["matchExpressions"]  # type: ignore[index,call-overload]

    wanted = [{"key": NAME, "operator": "In", "values": ["default", "far"]}]
    assert expressions(around(build.gateway(), *world, profile=local)) == wanted
    for selector in (
        {"matchLabels": {NAME: "default"}},
        {"matchExpressions": [{"key": NAME, "operator": "In", "values": ["default"]}]},
    ):
        by_name = build.gateway("g", build.listener(allowedRoutes=build.allow("Selector", selector)))
        assert expressions(around(by_name, *world, profile=local)) == wanted


def test_all_namespaces_are_let_in_only_where_no_less_would_do() -> None:
    by_team = build.gateway(
        "g", build.listener(allowedRoutes=build.allow("Selector", {"matchLabels": {"team": "a", "tier": "b"}}))
    )
    on_gateway = defaults("p", ON_GATEWAY, a=1)
    local = profiled(declared_targets=frozenset({GATEWAY}))
    read = around(by_team, build.namespace("far"), FAR_ROUTE, on_gateway, profile=local)
    assert [each.object.kind for each in offered(read, FAR)] == ["Namespace"]
    nothing: dict[str, Json] = {"matchExpressions": [{"key": "team", "operator": "In", "values": []}]}
    closed = build.gateway("g", build.listener(allowedRoutes=build.allow("Selector", nothing)))
    (only,) = offered(around(closed, build.namespace("far"), FAR_ROUTE, on_gateway, profile=local), FAR)
    assert only.changes[0].added == ("All",)


def test_among_many_objects_the_search_ends_with_what_changes_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = usual(build.route("q", parents=[]), build.policy("p", build.target("gone", "HTTPRoute"), color="red"))
    assert len(offered(elsewhere)) == 2
    monkeypatch.setattr(search, "_LARGE", 1)
    assert len(offered(elsewhere)) == 1


def test_routes_that_a_label_lets_in_are_said() -> None:
    by_team = build.gateway("g", build.listener(allowedRoutes=build.allow("Selector", {"matchLabels": {"team": "a"}})))
    second = build.route("second", namespace="far", parents=[build.parent(namespace="default")])
    local = profiled(declared_targets=frozenset({GATEWAY}))
    on_gateway = defaults("p", ON_GATEWAY, a=1)
    analysis = around(
        by_team, build.namespace("far"), build.service(namespace="far"), FAR_ROUTE, second, on_gateway, profile=local
    )
    first = offered(analysis, FAR)[0]
    assert first.also_changes.gaining == (second.ref,)
    assert first.also_changes.harm == "some"


def test_what_takes_something_away_is_offered_only_if_nothing_else_helps() -> None:
    """A policy is not deleted where a merge would do; where nothing else helps, it is said to be gone."""
    edits = offered(usual(overrides("o", ON_GATEWAY, a=1), defaults("p", ON_ROUTE, a=2)))
    assert edits
    assert not any(each.also_changes.deletes for each in edits)
    (conflict,) = [cause for cause in CAUSES if cause.name == "a conflict"]
    (only,) = offered(conflict.analysis, conflict.target, conflict.policy)
    assert (only.action, only.also_changes.harm, only.also_changes.deletes) == ("delete", "loss", True)


def test_settings_of_others_that_are_replaced_there_are_said() -> None:
    whole = profiled(strategy=MergeStrategy.ATOMIC_DEFAULTS)
    analysis = usual(
        build.route("q", parents=[]),
        build.policy("o", ON_GATEWAY, color="red", shade="dark"),
        build.policy("p", build.target("q", "HTTPRoute"), color="blue"),
        profile=whole,
    )
    first = offered(analysis)[0]
    assert (first.also_changes.replaced, first.also_changes.harm) == (("shade",), "some")


def test_protection_that_is_lost_elsewhere_is_said() -> None:
    single = object_schema(targetRef=anything(), jwt={"type": "string"})
    secured = profiled(security_fields=frozenset({"jwt"}))
    analysis = usual(
        build.route("q"),
        build.policy("p", targetRef=build.target("q", "HTTPRoute"), jwt="a"),
        schema=single,
        profile=secured,
    )
    first = offered(analysis)[0]
    assert first.also_changes.unprotected == (build.ref("HTTPRoute", "q"),)
    assert (first.also_changes.harm, first.also_changes.lost) == ("loss", (build.node("HTTPRoute", "q"),))


def test_what_no_definition_says_is_not_checked() -> None:
    """Of policies: what the kinds of Gateway API and Kubernetes take is known."""
    ours = build.gateway_class(controller="gateway.envoyproxy.io/gatewayclass-controller")
    world = (ours, build.gateway(), build.route(), build.route("q"), build.service(), build.namespace("default"))
    on_other = build.target("q", "HTTPRoute")
    cors = build.policy(
        "p", on_other, group="gateway.envoyproxy.io", kind="SecurityPolicy", cors={"allowOrigins": ["*"]}
    )
    analysis = analyzed(*world, cors, complete=True)
    assert {each.defined for each in offered(analysis, policy=cors.ref)} == {False}
    assert all(each.defined for each in offered(usual(defaults("p", build.target("q", "HTTPRoute"), a=1))))


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_nothing_is_lost_silently(cause: Cause) -> None:
    """A law: the routes that are attached to less after an edit, and what is less protected, are named with it."""
    answer = why_not(cause.analysis, cause.policy, cause.target)
    harms = [each.also_changes.harm for each in answer.edits]
    assert "loss" not in harms or set(harms) == {"loss"}
    assert [each.also_changes.rank for each in answer.edits] == sorted(each.also_changes.rank for each in answer.edits)
    for each in answer.edits:
        after = after_edit(cause.analysis, each)
        for kind in ROUTES:
            for route in after.index.of_kind(kind):
                before = attached(cause.analysis, route.ref)
                assert before <= attached(after, route.ref) or route.ref in each.also_changes.losing
        for policy in cause.analysis.policies:
            kept = after.index.get(policy.ref)
            assert kept or each.also_changes.deletes


def attached(analysis: Analysis, route: ObjectRef) -> set[NodeRef | None]:
    """The listeners, or parents, that a route is attached to."""
    bindings = analysis.topology.bindings(route)
    return {binding.listener or NodeRef(binding.parent) for binding in bindings if binding.state == "attached"}


LOCAL: Final = profiled(declared_targets=frozenset({GATEWAY, HTTP_ROUTE}), cross_namespace=False)


def misdirected(fields: Mapping[str, Json]) -> Analysis:
    """A route with a typing error in its parentRef, which the listener that is meant would not take either."""
    route = build.route(parents=[build.parent(section="htp")], hostnames=["b.example"])
    on_route = build.policy("p", targetRef=ON_ROUTE, color="red")
    two = build.gateway("g", {**build.listener(), **fields}, {**build.listener("other", port=81), **fields})
    return around(two, route, on_route, profile=LOCAL)


def test_two_changes_of_one_object_are_one_edit() -> None:
    (edit,) = offered(misdirected({"hostname": "a.example"}))
    changes = {str(change.path): change.added for change in edit.changes}
    assert changes == {"spec.parentRefs[0].sectionName": ("http",), "spec.hostnames[1]": ("a.example",)}
    assert effect_on(after_edit(misdirected({"hostname": "a.example"}), edit), POLICY, ROUTE).in_force


GRPC_ALONE: Final = build.allow(kinds=["GRPCRoute"])


def test_two_edits_that_help_together() -> None:
    """If none helps alone: what is left after one is removed by the other; both are tried on the input at once."""
    analysis = misdirected({"allowedRoutes": GRPC_ALONE})
    answer = why_not(analysis, POLICY, ROUTE)
    assert answer.edits == ()
    left = "listener http of Gateway default/g accepts only GRPCRoute, not HTTPRoute"
    assert answer.obstacle.endswith(f"with spec.parentRefs[0].sectionName of HTTPRoute default/r changed, {left}")
    assert answer.pair
    first, second = answer.pair.edits
    assert [(edit.object.kind, str(edit.changes[0].path)) for edit in (first, second)] == [
        ("HTTPRoute", "spec.parentRefs[0].sectionName"),
        ("Gateway", "spec.listeners[0].allowedRoutes.kinds[1]"),
    ]
    assert (first.defined, second.origin, answer.pair.also_changes.harm) == (True, build.ORIGIN, "none")
    both = after_edit(after_edit(analysis, first), second)
    assert effect_on(both, POLICY, ROUTE).in_force
    assert not any(effect_on(after_edit(analysis, edit), POLICY, ROUTE).in_force for edit in (first, second))


def test_how_a_pair_is_shown() -> None:
    text = shown(why_not(misdirected({"allowedRoutes": GRPC_ALONE}), POLICY, ROUTE), "tree")
    assert text.endswith(
        """
Two changes that would make it effective together (checked):
  1. HTTPRoute default/r (test.yaml:1)
     spec.parentRefs[0]:
     - sectionName: htp
     + sectionName: http
  2. Gateway default/g (test.yaml:1)
     spec.listeners[0].allowedRoutes.kinds:
     + - {group: gateway.networking.k8s.io, kind: HTTPRoute}
  Changes nothing else.
"""
    )


def test_pairs_are_tried_within_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A smaller one among many objects."""
    monkeypatch.setattr(search, "_LARGE", 1)
    assert why_not(misdirected({"allowedRoutes": GRPC_ALONE}), POLICY, ROUTE).pair
    monkeypatch.setattr(search, "_MOST_PAIRS_IN_LARGE", 0)
    assert why_not(misdirected({"allowedRoutes": GRPC_ALONE}), POLICY, ROUTE).pair is None


def test_the_pair_with_the_fewest_side_effects_is_proposed() -> None:
    """Of two listeners that could take the route, the one that no other route waits for."""
    waiting = build.route("q", parents=[build.parent(section="http")])
    route = build.route(parents=[build.parent(section="htp")])
    closed: dict[str, Json] = {"allowedRoutes": GRPC_ALONE}
    two = build.gateway("g", {**build.listener(), **closed}, {**build.listener("other", port=81), **closed})
    answer = why_not(
        around(two, route, waiting, build.policy("p", targetRef=ON_ROUTE, color="red"), profile=LOCAL), POLICY, ROUTE
    )
    assert answer.pair
    assert answer.pair.edits[0].changes[0].added == ("other",)
    assert answer.pair.also_changes.harm == "none"


def test_what_three_edits_would_take_has_the_next_obstacle_alone() -> None:
    answer = why_not(misdirected({"allowedRoutes": GRPC_ALONE, "hostname": "a.example"}), POLICY, ROUTE)
    assert (answer.edits, answer.pair) == ((), None)
    assert "with spec.parentRefs[0].sectionName of HTTPRoute default/r changed" in answer.obstacle


def test_an_annotation_that_switches_a_policy_off_is_taken_away() -> None:
    ignored = profiled(ignored=(IgnoredPart(annotations={"example.com/off": ("true",)}),))
    off = build.with_metadata(
        build.policy("p", ON_ROUTE, color="red"), annotations={"example.com/off": "true", "a": "b"}
    )
    first, *_ = offered(usual(off, profile=ignored))
    assert [(str(change.path), change.removed) for change in first.changes] == [
        ('metadata.annotations["example.com/off"]', ("true",))
    ]


def test_a_setting_that_lacks_a_grant_gets_one() -> None:
    """Where the setting alone is ignored without it."""
    need = RequiredObject(field="spec.store", group="", kinds=("Secret",), optional=True, fail_open="spec.store.open")
    store: Json = {"name": "k", "namespace": "far", "open": True}
    secret = build.resource("Secret", "k", group="", namespace="far")
    first, *_ = offered(usual(build.policy("p", ON_ROUTE, store=store), secret, profile=profiled(needs=(need,))))
    assert (first.action, first.object) == ("create", build.ref("ReferenceGrant", "k-for-default", "far"))
