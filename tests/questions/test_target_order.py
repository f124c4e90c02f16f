"""Tests of the order of targets in `questions/status_ancestors.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import ConditionWords, NarrowedBy, StatusProfile
from kubectl_policy.profiles.merging import Chooser
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.policies_below import PolicyMerge, TargetOrder
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from kubectl_policy.questions.status_ancestors import PolicyMerge, TargetOrder
from tests import build
from tests.questions.build import analyzed, color_kind

OURS: Final = "example.com/gateway"
GATEWAY: Final = build.node("Gateway", "g")
SET: Final = build.node("ListenerSet", "ls")
MERGED: Final = {
    "accepted": (ConditionWords("Accepted", "True", "Accepted"),),
    "merged": (ConditionWords("Merged", "True", "Merged"),),
    "merged into": (ConditionWords("Merged", "True", "MergedInto"),),
    "narrowed": (ConditionWords("Overridden", "True", "Overridden"),),
}


def colours(name: str, *targets: Mapping[str, Json], merge: str = "", age: int = 1) -> Resource:
    """A ColorPolicy; `merge` is its strategy."""
    spec: dict[str, Json] = {"targetRefs": list(targets), "color": name}
    return build.resource(
        "ColorPolicy", name, {**spec, "merge": merge} if merge else spec, group="example.com", age=age
    )


def to_route(name: str = "r", section: str = "") -> dict[str, Json]:
    return build.target(name, "HTTPRoute", section)


def to_set(section: str = "") -> dict[str, Json]:
    """A reference to ListenerSet `ls` or a listener of it."""
    return build.target("ls", "ListenerSet", section)


def by_set(name: str = "r", section: str = "") -> Resource:
    """A route on ListenerSet `ls`."""
    return build.route(name, parents=[build.parent("ls", section, kind="ListenerSet")])


def profile(
    narrowed_by: NarrowedBy = "policies", *levels: TargetLevel, chooser: Chooser = "challenger"
) -> PolicyKindProfile:
    """A kind whose policies choose by `spec.merge` whether they merge with the closest one on some levels."""
    return color_kind(
        "inherited",
        strategy=MergeStrategy.ATOMIC_DEFAULTS,
        effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True),),
        controllers=frozenset({OURS}),
        strategy_field="spec.merge",
        chooser=chooser,
        merges_with="closest",
        merge_parents=levels,
        same_level="one-applies",
        status=StatusProfile(placement="parents", narrowed_by=narrowed_by, conditions=MERGED),  # type: ignore[arg-type]
    )


def order(kind: PolicyKindProfile, *resources: Resource, admits: bool = True) -> TargetOrder:
    """The scopes in a world with a Gateway, which admits its ListenerSet or not, and what is given."""
    admitted: Json = {"namespaces": {"from": "All" if admits else "None"}}
    world = (
        build.gateway_class("public", OURS),
        build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443), allowedListeners=admitted),
        build.listener_set("ls", build.listener("films", port=81)),
        build.namespace("default"),
        build.service(),
    )
    return TargetOrder(analyzed(*world, *resources, profiles=[kind]), kind)


def more_specific(target: NodeRef, *resources: Resource, by: NarrowedBy = "policies", admits: bool = True) -> list[str]:
    return [str(node) for node in order(profile(by), *resources, admits=admits).more_specific(target)]


ROUTE: Final = build.node("HTTPRoute", "r")
HTTP: Final = replace(GATEWAY, section="http")
ON_ROUTE: Final = colours("on-route", to_route())


def test_nothing_lies_below_without_policies() -> None:
    plain = build.route("r")
    assert more_specific(GATEWAY, plain) == more_specific(SET, plain) == more_specific(ROUTE, plain) == []
    assert more_specific(build.node("Service", "s", group=""), plain, ON_ROUTE) == []
    assert more_specific(build.node("HTTPRoute", "r", "rule[0]"), plain, ON_ROUTE) == []
    assert more_specific(build.node("ListenerSet", "unread"), plain, ON_ROUTE) == []


def test_policies_on_listeners_and_listenersets_lie_below_their_gateway() -> None:
    """And those on a listener of a ListenerSet below that as well; a section has no sections."""
    policies = [colours("a", build.target("g", section="http")), colours("b", to_set()), colours("c", to_set("films"))]
    assert more_specific(GATEWAY, *policies) == [
        "Gateway default/g#http",
        "ListenerSet default/ls",
        "ListenerSet default/ls#films",
    ]
    assert more_specific(SET, *policies) == ["ListenerSet default/ls#films"]
    assert more_specific(HTTP, *policies) == more_specific(replace(SET, section="films"), *policies) == []


def test_rules_lie_below_their_route_and_count_as_the_route_further_up() -> None:
    policies = [ON_ROUTE, colours("on-rule", to_route("r", "rule[0]"))]
    assert more_specific(ROUTE, build.route("r"), *policies) == ["HTTPRoute default/r#rule[0]"]
    assert more_specific(GATEWAY, build.route("r"), *policies) == ["HTTPRoute default/r"]
    assert more_specific(GATEWAY, build.route("r"), *policies[1:]) == ["HTTPRoute default/r"]


def test_a_route_lies_below_what_its_parent_references_name() -> None:
    """Whether or not it is taken: below that listener, or below all of them if it names none."""
    whole, one = build.route("r"), build.route("r", parents=[build.parent("g", "https")])
    assert more_specific(GATEWAY, whole, ON_ROUTE) == more_specific(HTTP, whole, ON_ROUTE) == ["HTTPRoute default/r"]
    assert more_specific(GATEWAY, one, ON_ROUTE) == ["HTTPRoute default/r"]
    assert more_specific(HTTP, one, ON_ROUTE) == []
    refused = build.route("r", hostnames=["a.example.com"], parents=[build.parent("g", "ghost")])
    assert more_specific(GATEWAY, refused, ON_ROUTE) == ["HTTPRoute default/r"]
    elsewhere = build.route("r", parents=[build.parent("far"), build.service_parent()])
    assert more_specific(GATEWAY, elsewhere, ON_ROUTE) == []


def test_a_route_on_a_listenerset_lies_below_it_and_below_its_gateway() -> None:
    """Not below a listener of the Gateway, and not at all if the Gateway does not admit the ListenerSet."""
    for section in ("", "films"):
        route = by_set("r", section)
        assert more_specific(SET, route, ON_ROUTE) == more_specific(GATEWAY, route, ON_ROUTE) == ["HTTPRoute default/r"]
        assert more_specific(replace(SET, section="films"), route, ON_ROUTE) == ["HTTPRoute default/r"]
        assert more_specific(HTTP, route, ON_ROUTE) == []
    assert (
        more_specific(SET, by_set(), ON_ROUTE, admits=False)
        == more_specific(GATEWAY, by_set(), ON_ROUTE, admits=False)
        == []
    )


def test_a_policy_whose_rule_is_missing_still_lies_below() -> None:
    """Its reference names the route, which is what is looked at; one that names no route at all does not."""
    ghost, gone = colours("ghost", to_route("r", "ghost")), colours("gone", to_route("gone"))
    assert more_specific(GATEWAY, build.route("r"), ghost, gone) == ["HTTPRoute default/r"]
    nothing = colours("nothing", {"group": GATEWAY_API, "kind": "HTTPRoute", "selector": {"matchLabels": {"a": "b"}}})
    assert more_specific(GATEWAY, build.route("r"), nothing) == []


def test_where_a_narrower_policy_takes_effect_instead() -> None:
    """At a listener with a policy of its own, and at every one of a ListenerSet that has one."""
    on_set, on_film = colours("b", to_set()), colours("c", to_set("films"))
    films = ["ListenerSet default/ls#films"]
    assert more_specific(GATEWAY, on_set, by="targets") == more_specific(GATEWAY, on_film, by="targets") == films
    assert more_specific(SET, on_film, by="targets") == films
    assert more_specific(SET, on_set, by="targets") == []
    assert more_specific(GATEWAY, colours("a", build.target("g", section="http")), by="targets") == [
        "Gateway default/g#http"
    ]
    assert more_specific(HTTP, on_set, by="targets") == []


def merges(*resources: Resource, kind: PolicyKindProfile | None = None, admits: bool = True) -> list[tuple[str, str]]:
    """The merges of policy `p` by way of route `r`: the listener and the policy above."""
    found = order(kind or profile(), *resources, admits=admits).merges_of(P, ROUTE)
    assert all(merge.target == ROUTE for merge in found)
    return [(str(merge.listener), merge.parent.name) for merge in found]


P: Final = build.ref("ColorPolicy", "p", group="example.com")
MERGING: Final = colours("p", to_route(), merge="Patch defaults")
ABOVE: Final = colours("above", build.target("g"))


def test_a_policy_that_does_not_merge_has_no_merges() -> None:
    """Nor has any where the one above chooses, or where there is none above; one on a Gateway never merges."""
    route = build.route("r")
    assert merges(route, ABOVE, colours("p", to_route())) == []
    assert merges(route, ABOVE, MERGING, kind=profile(chooser="established")) == []
    assert merges(route, MERGING) == []
    on_gateway = colours("q", build.target("g"), merge="Patch defaults")
    assert order(profile(), route, on_gateway).merges_of(on_gateway.ref, GATEWAY) == ()


def test_a_policy_merges_at_each_listener_with_the_closest_one() -> None:
    at_http = colours("at-http", build.target("g", section="http"))
    found = merges(build.route("r"), ABOVE, at_http, MERGING)
    assert found == [("Gateway default/g#http", "at-http"), ("Gateway default/g#https", "above")]
    exact = order(profile(), build.route("r"), at_http, MERGING).merges_of(P, ROUTE)
    assert exact == (PolicyMerge(target=ROUTE, listener=HTTP, parent=at_http.ref, parent_node=HTTP, failed=False),)


def test_by_way_of_a_listenerset_its_policies_come_first() -> None:
    """Then those of the ListenerSet as a whole, then those of the Gateway; its listeners' are no concern."""
    at_http = colours("at-http", build.target("g", section="http"))
    layers = [ABOVE, at_http, colours("on-set", to_set()), colours("on-film", to_set("films"))]
    films = "ListenerSet default/ls#films"
    for depth, expected in ((2, "above"), (3, "on-set"), (4, "on-film")):
        assert merges(by_set(), MERGING, *layers[:depth]) == [(films, expected)]
    assert merges(by_set(), MERGING, ABOVE, admits=False) == []


def test_only_some_levels_are_merged_with() -> None:
    levels = [TargetLevel(GATEWAY.object.group_kind)]
    at_http = colours("at-http", build.target("g", section="http"))
    found = merges(build.route("r"), ABOVE, at_http, MERGING, kind=profile("policies", *levels))
    assert found == [("Gateway default/g#http", "above"), ("Gateway default/g#https", "above")]


def test_a_route_merges_where_a_listener_lets_it_in() -> None:
    """Or would but for its hostname; not at one that takes no routes of its namespace, nor at another controller's."""
    other = build.gateway(
        "o", build.listener("shut", allowedRoutes=build.allow("None")), build.listener("h", hostname="a.b")
    )
    on_other = colours("on-other", build.target("o"))
    route = build.route("r", parents=[build.parent("o")], hostnames=["c.d"])
    assert merges(route, other, on_other, MERGING) == [("Gateway default/o#h", "on-other")]
    foreign = build.gateway("f", class_name="foreign")
    theirs = build.gateway_class("foreign", "example.com/foreign")
    both = build.route("r", parents=[build.parent("f"), build.parent("g", "http")])
    assert merges(both, foreign, theirs, ABOVE, MERGING) == [("Gateway default/g#http", "above")]
    ghost = build.route("r", parents=[build.parent("g", "ghost"), build.service_parent()])
    assert merges(ghost, ABOVE, MERGING) == []


def test_a_refused_policy_merges_with_nothing() -> None:
    """The older one on the route applies, and it alone; a reference that fails leads nowhere."""
    older = colours("older", to_route(), age=0)
    assert merges(build.route("r"), ABOVE, older, MERGING) == []
    failing = colours("p", to_route("r", "ghost"), merge="Patch defaults")
    assert merges(build.route("r"), ABOVE, failing) == []


def test_what_is_merged_into_a_policy() -> None:
    """By way of one target of it: routes, each once and sorted, also where one of their rules has the policy."""
    on_rule = colours("q", to_route("a", "rule[0]"), merge="StrategicMerge")
    both = colours("above", build.target("g"), build.target("g", section="http"))
    found = order(profile(), build.route("r"), build.route("a"), both, MERGING, on_rule)
    routes = (build.node("HTTPRoute", "a"), ROUTE)
    assert found.merged_into(both.ref, GATEWAY) == found.merged_into(both.ref, HTTP) == routes
    assert found.merged_into(both.ref, SET) == found.merged_into(P, GATEWAY) == ()


def test_the_report_has_what_merges_and_not_what_it_would_override() -> None:
    """A route that is merged is no longer told as overriding; the merged policy has a place per listener."""
    own = colours("own", to_route("own"))
    resources = (build.route("r"), build.route("own"), ABOVE, MERGING, own)
    world = (build.gateway_class("public", OURS), build.gateway("g"), build.service(), *resources)
    analysis = analyzed(*world, profiles=[profile()])

    def report(policy: ObjectRef) -> dict[str, dict[str, tuple[str, tuple[NodeRef, ...]]]]:
        return {
            str(found.ancestor): {each.type: (each.reason, each.related) for each in found.conditions}
            for found in PolicyStatuses(analysis).of(policy)
        }

    assert report(ABOVE.ref) == {
        "Gateway default/g": {
            "Accepted": ("Accepted", ()),
            "Merged": ("MergedInto", (ROUTE,)),
            "Overridden": ("Overridden", (build.node("HTTPRoute", "own"),)),
        }
    }
    assert report(P) == {
        "Gateway default/g": {"Accepted": ("Accepted", ())},
        "Gateway default/g#http": {"Merged": ("Merged", (NodeRef(ABOVE.ref),))},
    }


def test_a_policy_that_would_merge_with_an_invalid_one_is_invalid_there() -> None:
    """At the listeners below that one; where the one above lacks nothing, or keeps nobody out, it is not."""

    def reasons(*, competes: bool = True, exists: bool = False) -> dict[str, tuple[str, str]]:
        need = RequiredObject(field="spec.key", group="", kinds=("Secret",), optional=True, competes=competes)
        words = {**MERGED, "invalid": (ConditionWords("Accepted", "False", "Invalid"),)}
        status = StatusProfile(placement="parents", conditions=words)  # type: ignore[arg-type]
        kind = replace(profile(), needs=(need,), status=status)
        spec: Json = {"targetRefs": [build.target("g", section="http")], "key": {"name": "k"}}
        above = build.resource("ColorPolicy", "above", spec, group="example.com", age=0)
        gateway = build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443))
        world = (build.gateway_class("public", OURS), gateway, build.service(), build.route("r"), above, MERGING)
        secrets = [build.resource("Secret", "k", group="")] if exists else []
        analysis = analyzed(*world, *secrets, complete=True, profiles=[kind])
        return {
            str(found.ancestor): (each.reason, each.message)
            for found in PolicyStatuses(analysis).of(P)
            for each in found.conditions
        }

    fine = ("Accepted", "it is attached to HTTPRoute default/r")
    merged = "it is merged with ColorPolicy default/above"
    assert reasons() == {
        "Gateway default/g": fine,
        "Gateway default/g#http": ("Invalid", f"{merged}, which is not valid"),
    }
    assert reasons(exists=True) == {"Gateway default/g": fine, "Gateway default/g#http": ("Merged", merged)}
    assert reasons(competes=False) == {"Gateway default/g": fine}


LOOSE: Final[list[Json]] = [None, "g", 1, [], {}, {"parentRef": "g"}, {"parentRef": {"kind": "Service", "name": "s"}}]


@pytest.mark.parametrize("spec", LOOSE, ids=str)
def test_a_listenerset_without_a_gateway_has_nothing_above_it(spec: Json) -> None:
    loose = build.resource("ListenerSet", "loose", spec)
    route = build.route("r", parents=[build.parent("loose", kind="ListenerSet")])
    found = order(profile(), loose, route, MERGING, colours("on-loose", build.target("loose", "ListenerSet")))
    assert found.more_specific(build.node("ListenerSet", "loose")) == ()
    assert found.merges_of(P, ROUTE) == ()
