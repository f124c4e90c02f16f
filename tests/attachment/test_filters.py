"""What filters of routes attach: in which state, to which rule, and what is said of those that fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Analysis, PolicyKindProfile, Topology, analyze
from kubectl_policy.attachment import Attachment, attach
from kubectl_policy.model import Gap, GroupKind, Json, ObjectRef, Resource, Snapshot
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.world import Loaded
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.topology import referring
from kubectl_policy.topology.references import RouteFilter, route_filters
from tests.build import (
    backend,
    gateway,
    gateway_class,
    index,
    names,
    node,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)

COLOR: Final = GroupKind("example.com", "ColorPolicy")
HTTP_ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
EITHER: Final = PolicyKindProfile(COLOR, "inherited", "profile", filter_routes=frozenset({HTTP_ROUTE}))
ALONE: Final = replace(EITHER, attachment="filters")
BACKENDS: Final = replace(EITHER, backend_filters=True)
FILTER: Final = names("p")


def filtered(*filters: Json, name: str = "r", kind: str = "HTTPRoute", namespace: str = "default") -> Resource:
    return route(name, kind=kind, namespace=namespace, rules=[rule(backend(), name="buy", filters=list(filters))])


def attachments(
    *world: Resource,
    profile: PolicyKindProfile = EITHER,
    found: Resource | None = None,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> tuple[Attachment, ...]:
    """The attachments of policy p, which names nothing itself, in a world with others."""
    one = found or policy("p")
    return attach(one, profile, Topology(index(one, *world, complete=complete, gaps=gaps)))


class TestAttached:
    def test_to_the_rule(self) -> None:
        """With the place of the filter, which counts from 1 whatever stands before it."""
        (found,) = attachments(filtered({"type": "URLRewrite"}, FILTER))
        assert (found.state, found.message, found.target) == ("attached", "", node("HTTPRoute", "r", "buy"))
        declared = found.declared
        assert (declared.field, declared.named_by) == ("spec.rules[0].filters[1].extensionRef", ref("HTTPRoute", "r"))
        assert declared.filter_position == 2

    def test_every_filter_is_an_attachment(self) -> None:
        """Of each rule and route, after the policy's own references, also where one names it twice."""
        two = route("b", rules=[rule(filters=[FILTER]), rule(filters=[names("q"), FILTER, FILTER])])
        own = policy("p", target("g"))
        found = attachments(gateway("g"), two, filtered(FILTER, name="a"), found=own)
        assert [str(one.target) for one in found] == [
            "Gateway default/g",
            "HTTPRoute default/a#buy",
            "HTTPRoute default/b#rule[0]",
            "HTTPRoute default/b#rule[1]",
            "HTTPRoute default/b#rule[1]",
        ]
        assert [one.declared.filter_position for one in found] == [0, 1, 1, 2, 3]

    def test_to_a_kind_that_attaches_in_no_other_way(self) -> None:
        (found,) = attachments(gateway("g"), filtered(FILTER), profile=ALONE, found=policy("p", target("g")))
        assert found.target == node("HTTPRoute", "r", "buy")

    def test_a_cluster_scoped_policy(self) -> None:
        wide = resource("GatewayClass", "p")
        profile = replace(EITHER, group_kind=wide.ref.group_kind)
        (found,) = attachments(filtered(names("p", "GatewayClass", GATEWAY_API)), found=wide, profile=profile)
        assert found.state == "attached"


@pytest.mark.parametrize(
    "item",
    [
        names("p", group="example.org"),
        names("p", group=""),
        names("p", "ColourPolicy"),
        names("q"),
        names(""),
        names("p", type="RequestHeaderModifier"),
        names("p", type=None),
        {"type": "ExtensionRef"},
        {"type": "ExtensionRef", "extensionRef": {"kind": "ColorPolicy", "name": "p"}},
        {"type": "ExtensionRef", "extensionRef": {"group": "example.com", "name": "p"}},
        {"type": "ExtensionRef", "extensionRef": [FILTER["extensionRef"]]},
        "ExtensionRef",
        None,
        [FILTER],
    ],
    ids=str,
)
def test_a_filter_that_names_something_else(item: Json) -> None:
    assert attachments(filtered(item)) == ()
    assert attachments(filtered(item, FILTER))[0].declared.filter_position == 2


class TestElsewhere:
    """Filters that cannot reach the policy."""

    def test_a_policy_of_another_namespace(self) -> None:
        """The reference is local: a namespace in it means nothing."""
        far: Json = {"type": "ExtensionRef", "extensionRef": {**_reference(FILTER), "namespace": "default"}}
        assert attachments(filtered(far, namespace="other")) == ()

    @pytest.mark.parametrize("kind", ["TLSRoute", "TCPRoute", "UDPRoute"])
    def test_a_route_without_filters(self, kind: str) -> None:
        """Whatever stands there, only rules of HTTPRoutes and GRPCRoutes have filters."""
        assert attachments(filtered(FILTER, kind=kind)) == ()

    def test_a_kind_that_no_filter_names(self) -> None:
        """Where its profile does not say that one may."""
        assert attachments(filtered(FILTER), profile=replace(EITHER, filter_routes=frozenset())) == ()


def test_routes_are_gone_through_only_for_kinds_that_filters_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding the filters of every route takes time, and most kinds have no use for them."""
    looked: set[ObjectRef] = set()

    def noted(index: Index, route: ObjectRef) -> tuple[RouteFilter, ...]:
        looked.add(route)
        return route_filters(index, route)

    monkeypatch.setattr(referring, "route_filters", noted)
    for profile, routes in ((replace(EITHER, filter_routes=frozenset[GroupKind]()), 0), (EITHER, 1)):
        analysis = analyze(snapshot(policy("p"), filtered(FILTER)), profiles=[profile])
        assert dict(analysis.attachments)
        assert len(looked) == routes


class TestFailing:
    def test_a_route_of_another_kind(self) -> None:
        """Its filters may not name the kind, and the message says whose may."""
        (found,) = attachments(filtered(FILTER, kind="GRPCRoute"))
        assert (found.state, found.message) == (
            "filter unsupported",
            "a filter can name a ColorPolicy only in a rule of an HTTPRoute",
        )

    def test_a_backend_of_a_kind_that_applies_to_rules_alone(self) -> None:
        (found,) = attachments(route(rules=[rule({**backend(), "filters": [FILTER]})]))
        assert (found.state, found.target, found.declared.filter_position) == (
            "filter unsupported",
            node("HTTPRoute", "r", "rule[0]"),
            0,
        )
        assert found.declared.field == "spec.rules[0].backendRefs[0].filters[0].extensionRef"
        assert "a filter of a backendRef cannot name a ColorPolicy" in found.message

    def test_a_backend(self) -> None:
        """No node stands for one backend of a rule, and that is said."""
        (found,) = attachments(route(rules=[rule({**backend(), "filters": [FILTER]})]), profile=BACKENDS)
        requests = "requests of HTTPRoute default/r#rule[0] to Service default/s"
        assert found.state == "not computed"
        assert found.message == f"it applies only to {requests}, and what it changes there is not computed"

    def test_a_route_of_another_controller(self) -> None:
        (found,) = attachments(
            gateway_class(),
            gateway("g"),
            filtered(FILTER),
            profile=replace(EITHER, controllers=frozenset({"example.com/ours"})),
        )
        assert (found.state, found.message) == (
            "not managed",
            (
                "ColorPolicy applies only to what example.com/ours manages, which includes no parent of "
                "HTTPRoute default/r"
            ),
        )

    def test_a_policy_without_what_it_needs(self) -> None:
        profile = replace(EITHER, needs=(RequiredObject(field="spec.source", group="", kinds=("ConfigMap",)),))
        (found,) = attachments(filtered(FILTER), profile=profile)
        assert (found.state, found.message) == ("policy invalid", "spec.source names no ConfigMap")


class TestUnread:
    def test_routes_that_were_not_read(self) -> None:
        (found,) = attachments(complete=False)
        assert (found.state, found.target, found.declared.field) == ("target unknown", None, "")
        assert (
            found.message == "no HTTPRoute of namespace default that was read names it in a filter, and another one may"
        )

    def test_others_of_the_namespace_were_read(self) -> None:
        """What they do not name, one that is not in the input may; but not where all are known to be there."""
        assert attachments(filtered(), complete=False) != ()
        assert attachments(filtered()) == ()
        assert attachments(filtered(), gaps=[Gap("HTTPRoute", "default", "forbidden")]) != ()

    def test_a_policy_with_a_reference_of_its_own(self) -> None:
        """What it names is told, and nothing is guessed of filters."""
        (found,) = attachments(found=policy("p", target("g")), complete=False)
        assert found.target == node("Gateway", "g")


def asked(*world: Resource, profile: PolicyKindProfile = BACKENDS, complete: bool = True) -> Analysis:
    return analyze(snapshot(gateway_class(), gateway("g"), service(), *world, complete=complete), profiles=[profile])


class TestProblems:
    """What is said of filters that fail, where they stand."""

    def test_a_policy_that_does_not_exist(self) -> None:
        """The route's own problem, whether or not there is any policy of the kind."""
        found = filtered(names("gone"))
        (problem,) = asked(found).problems_of(found.ref)
        assert (problem.rule, problem.severity, problem.field, problem.origin, problem.related) == (
            "missing-reference",
            "error",
            "spec.rules[0].filters[0].extensionRef",
            found.origin,
            (ref("ColorPolicy", "gone", group="example.com"),),
        )
        assert problem.message.endswith("default/gone does not exist; requests to this rule get an error response")

    def test_a_policy_of_another_namespace_does_not_exist(self) -> None:
        found = filtered(FILTER)
        (problem,) = asked(found, policy("p", namespace="other")).problems_of(found.ref)
        assert (problem.rule, problem.related) == ("missing-reference", (ref("ColorPolicy", "p", group="example.com"),))

    def test_a_filter_of_a_backend(self) -> None:
        found = route(rules=[rule({**backend(), "filters": [FILTER]})])
        (problem,) = asked(found).problems_of(found.ref)
        assert problem.message.endswith("does not exist; requests to Service default/s get an error response")

    def test_a_policy_that_was_not_read(self) -> None:
        """It may exist."""
        found = filtered(FILTER)
        (problem,) = asked(found, complete=False).problems_of(found.ref)
        assert (problem.rule, problem.severity) == ("unknown-reference", "info")

    def test_a_policy_that_exists(self) -> None:
        found, one = filtered(FILTER), policy("p")
        assert asked(found, one).problems_of(found.ref) == ()
        assert asked(found, one).problems_of(one.ref) == ()

    def test_a_policy_of_a_kind_that_no_filter_attaches(self) -> None:
        """Known of kinds with a profile; of one that is guessed to be a policy kind, nobody knows."""
        found, one = filtered(FILTER), policy("p", target("g"))
        profile = replace(EITHER, filter_routes=frozenset())
        (problem,) = asked(found, one, profile=profile).problems_of(found.ref)
        assert (problem.rule, problem.severity, problem.message) == (
            "filter-unsupported",
            "warning",
            f"{found.ref}: spec.rules[0].filters[0].extensionRef: no filter is known to attach a ColorPolicy",
        )
        guessed = analyze(snapshot(gateway_class(), gateway("g"), service(), found, one, complete=True))
        assert guessed.problems_of(found.ref) == ()

    def test_a_filter_that_does_not_attach(self) -> None:
        one = policy("p")
        (problem,) = asked(filtered(FILTER, kind="GRPCRoute"), one).problems_of(one.ref)
        assert (problem.rule, problem.severity, problem.subject, problem.field) == (
            "filter-unsupported",
            "error",
            one.ref,
            "spec.rules[0].filters[0].extensionRef",
        )
        assert problem.message.startswith(f"{one.ref}: spec.rules[0].filters[0].extensionRef of GRPCRoute default/r: ")

    def test_what_is_not_computed(self) -> None:
        """A note, since nothing is wrong with it."""
        one = policy("p")
        (problem,) = asked(route(rules=[rule({**backend(), "filters": [FILTER]})]), one).problems_of(one.ref)
        assert (problem.rule, problem.severity) == ("attachment-not-computed", "info")

    @pytest.mark.parametrize(
        ("profile", "lacks"),
        [
            (EITHER, "has no target reference and is named by no filter of any route"),
            (ALONE, "is named by no filter of any route"),
        ],
    )
    def test_a_policy_that_nothing_attaches(self, profile: PolicyKindProfile, lacks: str) -> None:
        """It has no effect, which is said; of routes that were not read, that they may name it."""
        one = policy("p", a=1)
        closed = asked(one, profile=profile)
        (problem,) = closed.problems_of(one.ref)
        assert (problem.rule, problem.message) == ("no-target", f"{one.ref} {lacks}, so it has no effect")
        assert closed.enforcement(one.ref).state == "NoEffect"
        (problem,) = asked(one, profile=profile, complete=False).problems_of(one.ref)
        assert (problem.rule, problem.severity) == ("target-unknown", "info")
        assert asked(one, profile=profile, complete=False).enforcement(one.ref).state == "Unknown"


class TestEnforcement:
    def test_on_a_rule(self) -> None:
        """Where its route carries traffic."""
        one = policy("p", a=1)
        assert asked(filtered(FILTER), one).enforcement(one.ref).state == "Enforced"
        assert asked(filtered(FILTER), one).affected_by(node("HTTPRoute", "r", "buy")) == (one.ref,)

    def test_on_a_route_that_is_attached_to_nothing(self) -> None:
        lost = route(parents=[], rules=[rule(backend(), filters=[FILTER])])
        one = policy("p", a=1)
        analysis = asked(lost, one)
        assert [found.state for found in analysis.attachments[one.ref]] == ["attached"]
        assert analysis.enforcement(one.ref).state == "NoEffect"

    @pytest.mark.parametrize(("profile", "state"), [(BACKENDS, "Unknown"), (EITHER, "Invalid")])
    def test_on_a_backend(self, profile: PolicyKindProfile, state: str) -> None:
        """Not known if it applies, none if the filter is refused; and the rule has nothing of it."""
        one = policy("p", a=1)
        analysis = asked(route(rules=[rule({**backend(), "filters": [FILTER]})]), one, profile=profile)
        assert analysis.enforcement(one.ref).state == state
        assert analysis.affected_by(node("HTTPRoute", "r", "rule[0]")) == ()


def _reference(item: Json) -> dict[str, Json]:
    assert isinstance(item, dict)
    found = item["extensionRef"]
    assert isinstance(found, dict)
    return dict(found)


def test_policies_that_a_route_names() -> None:
    """Of what filters name, only what there is of the kind is attached."""
    asked = filtered(FILTER, names("gone"), names("o", kind="OtherPolicy"))
    world = [asked, policy("p"), resource("OtherPolicy", "o", {}, group="example.com")]
    analysis = analyze(Snapshot(Loaded(world)), profiles=[EITHER])
    assert [found.policy for found in analysis.attachments_to(asked.ref)] == [
        ref("ColorPolicy", "p", group="example.com")
    ]


FIELDS: tuple[str, ...] = (
    *("rules", "filters", "backendRefs", "type", "extensionRef"),
    *("group", "kind", "name", "namespace"),
)
VALUES: Final[st.SearchStrategy[Json]] = st.sampled_from(
    ("ExtensionRef", "example.com", "ColorPolicy", "p", "", 1, -1.5, True, None)
)
WHOLE: Final[st.SearchStrategy[Json]] = st.sampled_from((FILTER, names("q"), {"rules": [{"filters": [FILTER]}]}))


def _nested(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4))


SPECS: Final[st.SearchStrategy[Json]] = st.recursive(st.one_of(VALUES, WHOLE), _nested, max_leaves=20)


@given(st.lists(st.tuples(st.sampled_from(["HTTPRoute", "GRPCRoute"]), SPECS), max_size=3), SPECS)
def test_whatever_the_shape_there_is_an_answer(routes: list[tuple[str, Json]], spec: Json) -> None:
    """Attaching never fails, and each attachment by a filter is to a rule that its route has."""
    found = resource("ColorPolicy", "p", spec, group="example.com")
    world = [resource(kind, f"r{place}", one) for place, (kind, one) in enumerate(routes)]
    analysis = analyze(snapshot(found, *world, complete=True), profiles=[BACKENDS])
    for one in analysis.attachments[found.ref]:
        if one.declared.named_by and one.target:
            assert one.target.section in analysis.topology.sections(one.declared.named_by)
    assert all(problem.message for problem in analysis.diagnostics)
    assert analysis.enforcement(found.ref).policy == found.ref
