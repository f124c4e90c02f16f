"""Why a policy has no effect on something: the first reason, and an edit that works."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze, load_manifests
from kubectl_policy.analysis import Analysis
from kubectl_policy.comparison import what_if
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.profiles.merging import TargetLevel
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.shared.effects import affecting_or_undecided
from kubectl_policy.questions.shared.reasons import RULES
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.questions.why_not.edits import Edit
from kubectl_policy.questions.why_not.no_effect import Case, effect_on, reasons_of
from tests import build
from tests.property.examples import examples
from tests.questions.build import analyzed
from tests.questions.why_not.causes import (
    ON_GATEWAY,
    ON_ROUTE,
    POLICY,
    ROUTE,
    Cause,
    anything,
    around,
    every_cause,
    object_schema,
    profiled,
    usual,
)
from tests.render.worlds import defaults, overrides

FIXTURES = Path(__file__).parents[3] / "fixtures"
SELECTED = build.ref("ColorPolicy", "u", group="example.com")
CAUSES = every_cause()


def edited(analysis: Analysis, edit: Edit) -> Analysis:
    applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
    return what_if(analysis, applied=applied, deleted=deleted).after


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_the_first_reason_and_an_edit_that_works(cause: Cause) -> None:
    """The edit, made anew, has the policy affect the node; without one, the answer says why."""
    answer = why_not(cause.analysis, cause.policy, cause.target)
    assert not answer.effect.in_force
    assert cause.policy not in affecting_or_undecided(cause.analysis, cause.target, answer.effect.paths)[0]
    assert answer.reasons[0].rule == cause.rule
    assert answer.reasons[0].message
    if cause.edited is None:
        assert answer.edits == ()
        assert answer.obstacle
        return
    assert answer.edits
    first = answer.edits[0]
    assert (first.action, first.object) == (cause.action, cause.edited)
    assert answer.obstacle == ""
    assert len(answer.edits) <= 3
    for offered in answer.edits:
        after = edited(cause.analysis, offered)
        described = describe(after, cause.target)
        assert described.requests.carries_traffic
        assert cause.policy in (*described.policies, *described.filters_in_force)
        assert why_not(after, cause.policy, cause.target).effect.in_force


WORLDS = sorted(path.name for path in FIXTURES.iterdir() if path.name not in {"profiles", "repositories"})
# So many pairs of a policy and a node are asked about in each world; in a thorough run, all of them.
PAIRS = examples(40)


@pytest.mark.unmeasured
@pytest.mark.parametrize("world", WORLDS)
def test_every_question_about_a_world_has_an_answer(world: str) -> None:
    """Of each policy and node: an effect, or reasons in causal order and an edit that works if it is made."""
    analysis = analyze(load_manifests([FIXTURES / world]))
    pairs = [*product(analysis.policies, analysis.topology.nodes)]
    for policy, node in Random(0).sample(pairs, min(PAIRS, len(pairs))):  # noqa: S311 (not for a secret)
        answer = why_not(analysis, policy.ref, node)
        rules = [RULES.index(reason.rule) for reason in answer.reasons]
        assert rules == sorted(rules)
        assert bool(answer.effect.in_force) or answer.reasons, (policy.ref, node)
        assert sum([bool(answer.effect.in_force), bool(answer.edits), bool(answer.obstacle)]) == 1
        for offered in answer.edits:
            after = edited(analysis, offered)
            assert effect_on(after, policy.ref, node).in_force, (policy.ref, node)
            assert errors(after, offered.object) <= errors(analysis, offered.object)


@pytest.mark.parametrize(
    ("world", "policy", "node", "rules", "edits"),
    [
        # In force on some of the paths.
        ("bakery", "RetryPolicy baker/resilience", "Namespace baker", ["listener-missing", "superseded"], 0),
        # Listeners of another owner.
        ("envoy-gateway", "BackendTrafficPolicy platform/plain", "ListenerSet festival/festival", ["not-on-path"], 0),
        # A backend of another rule.
        ("envoy-gateway", "BackendTrafficPolicy tickets/checkout", "Service tickets/seats", ["not-on-path"], 1),
        # A rule to which no request gets.
        ("delegation", "TrafficPolicy shop/cart", "HTTPRoute shop/cart#orders", ["not-delegated"], 0),
        # A direct policy.
        ("kuadrant", "TLSPolicy platform/staff", "HTTPRoute visits/tours", ["direct-above"], 0),
        # A route that another one overlaps.
        ("nginx-gateway-fabric", "RateLimitPolicy newsroom/archive", "Service newsroom/alerts", ["target-overlaps"], 1),
    ],
)
def test_in_worlds_of_implementations(world: str, policy: str, node: str, rules: list[str], edits: int) -> None:
    analysis = analyze(load_manifests([FIXTURES / world]))
    [asked] = [each.ref for each in analysis.policies if str(each.ref) == policy]
    [about] = [each for each in analysis.topology.nodes if str(each) == node]
    answer = why_not(analysis, asked, about)
    assert [reason.rule for reason in answer.reasons] == rules
    assert len(answer.edits) == edits


def errors(analysis: Analysis, obj: ObjectRef) -> set[str]:
    return {problem.message for problem in analysis.problems_of(obj) if problem.severity == "error"}


def test_what_is_no_policy_or_was_not_read_has_no_answer() -> None:
    analysis = usual(defaults("p", ON_ROUTE, a=1))
    with pytest.raises(UsageError, match="HTTPRoute default/r is not a policy"):
        why_not(analysis, ROUTE.object, ROUTE)
    with pytest.raises(NotFoundError, match="ColorPolicy default/q is not in the input"):
        why_not(analysis, build.ref("ColorPolicy", "q", group="example.com"), ROUTE)
    with pytest.raises(NotFoundError) as error:
        why_not(analysis, POLICY, build.node("HTTPRoute", "r", "nope"))
    assert (error.value.message, error.value.hint) == ("HTTPRoute default/r has no section nope", "it has rule[0]")
    with pytest.raises(NotFoundError) as error:
        why_not(analysis, POLICY, build.node("Namespace", "default", "nope", group=""))
    assert error.value.hint == "it has no sections"


def test_an_effect_on_some_paths_is_an_effect() -> None:
    listeners = (build.listener(), build.listener("other", port=81), build.listener("third", port=82))
    analysis = around(
        build.gateway("g", *listeners),
        build.gateway("h"),
        build.route(parents=[build.parent(), build.parent("h")]),
        overrides("o", build.target("g", section="other"), a=1),
        defaults("p", build.ON_GATEWAY, a=2),
    )
    answer = why_not(analysis, POLICY, ROUTE)
    assert (answer.effect.in_force, answer.edits, answer.obstacle, answer.tried) == ((0, 2), (), "", 0)
    reasons = [(reason.rule, reason.positions) for reason in answer.reasons]
    assert reasons == [("not-on-path", (3,)), ("superseded", (1,))]
    assert answer.reasons[0].message == "that path does not lead through Gateway default/g"


def test_a_kind_that_takes_effect_further_down_has_an_effect_above() -> None:
    """On a Gateway, if a route below it is affected by way of the Gateway; not, if by way of the route alone."""
    levels = profiled(effective_targets=(TargetLevel(HTTP_ROUTE),))
    gateway = build.node("Gateway", "g")
    assert why_not(usual(defaults("p", ON_GATEWAY, a=1), profile=levels), POLICY, gateway).effect.in_force
    both = usual(defaults("p", ON_ROUTE, a=1), defaults("o", ON_GATEWAY, b=1), profile=levels)
    assert [reason.rule for reason in why_not(both, POLICY, gateway).reasons] == ["target-below"]


def test_what_was_not_read_leaves_the_answer_open() -> None:
    by_team = build.allow("Selector", {"matchLabels": {"team": "a"}})
    analysis = analyzed(
        build.gateway("g", build.listener(allowedRoutes=by_team), build.listener("other", port=81)),
        build.route(namespace="far", parents=[build.parent(namespace="default")]),
        build.policy("p", build.target("g", section="other"), color="red"),
        build.policy("u", build.target("g", section="http"), color="red"),
    )
    answer = why_not(analysis, POLICY, build.node("HTTPRoute", "r", namespace="far"))
    assert [reason.rule for reason in answer.reasons] == ["listener-namespace"]
    assert answer.unseen
    selected = why_not(analysis, SELECTED, build.node("HTTPRoute", "r", namespace="far"))
    assert [reason.rule for reason in selected.reasons] == ["parent-unknown"]
    beside = analyzed(build.route(), defaults("p", build.target("q", "HTTPRoute", namespace="x"), a=1))
    assert [reason.rule for reason in why_not(beside, POLICY, ROUTE).reasons] == ["other-target"]
    beside = analyzed(build.service(), defaults("p", build.target("t", "Service", group="x.io"), a=1))
    service = build.node("Service", "s", group="")
    assert [reason.rule for reason in why_not(beside, POLICY, service).reasons] == ["other-target"]
    above = analyzed(build.service(), defaults("p", build.target("q", "HTTPRoute"), a=1))
    assert [reason.rule for reason in why_not(above, POLICY, service).reasons] == ["target-unknown"]
    unread = why_not(analyzed(build.route(), defaults("p", build.target("q", "Gateway"), a=1)), POLICY, ROUTE)
    assert [reason.rule for reason in unread.reasons] == ["target-unknown"]


def test_what_other_policies_need_counts_where_they_meet_the_policy() -> None:
    """Not where the policy does not come: it has no effect there, whatever the policy of the route itself needs."""
    by_team = build.allow("Selector", {"matchLabels": {"team": "a"}})
    needing = profiled(needs=(RequiredObject(field="spec.key", group="", kinds=("Secret",), optional=True),))

    def unseen(listener: dict[str, Any]) -> list[str]:
        """What the answer for a policy on the Gateway could not see, where the route's own names an unread Secret."""
        world = build.snapshot(
            build.gateway_class(),
            build.namespace("default"),
            build.gateway("g", listener),
            build.service(),
            build.route(),
            build.policy("p", ON_GATEWAY, color="red"),
            build.policy("q", ON_ROUTE, color="blue", key={"name": "k"}),
        )
        answer = why_not(analyze(world, profiles=[needing]), POLICY, ROUTE)
        assert not answer.effect.in_force
        return [each.what for each in answer.unseen]

    assert unseen(build.listener()) == ["Secret default/k"]
    assert unseen(build.listener(allowedRoutes=by_team)) == []


def test_a_field_of_the_object_itself_can_stand_in_the_way() -> None:
    profile = profiled(object_fields={"retry.attempts": "rule.retry.attempts"}, stanzas="singular")
    analysis = around(
        build.gateway(),
        build.route(rules=[build.rule(build.backend(), retry={"attempts": 3})]),
        build.policy("p", ON_ROUTE, default={"retry": {"attempts": 1}}),
        profile=replace(profile, effective_targets=(TargetLevel(HTTP_ROUTE, section=True),)),
    )
    answer = why_not(analysis, POLICY, ROUTE)
    assert [reason.message for reason in answer.reasons] == [
        "rule[0] of HTTPRoute default/r sets retry.attempts itself"
    ]
    assert [str(change.path) for change in answer.edits[0].changes] == ["spec.default", "spec.override"]


def test_what_the_edit_takes_away_is_said() -> None:
    analysis = usual(build.route("q"), build.policy("p", targetRef=build.target("q", "HTTPRoute"), color="red"))
    (offered,) = why_not(analysis, POLICY, ROUTE).edits
    assert offered.also_changes.lost == (build.node("HTTPRoute", "q"),)
    assert offered.field == "spec.targetRef.name"


def test_an_edit_that_the_api_server_would_drop_does_not_count() -> None:
    single = object_schema(targetRef=anything(), color={"type": "string"})
    answer = why_not(usual(build.policy("p", color="red"), schema=single), POLICY, ROUTE)
    assert [str(offered.changes[0].path) for offered in answer.edits] == ["spec.targetRef"]


def test_without_any_outcome_there_is_a_reason_all_the_same() -> None:
    analysis = usual(defaults("p", ON_ROUTE, a=1))
    policy = analysis.index.get(POLICY)
    assert policy
    effect = replace(effect_on(analysis, POLICY, ROUTE), in_force=())
    assert [reason.rule for reason in reasons_of(Case(analysis, policy, ROUTE, effect))] == ["not-counted"]


def test_reasons_name_the_object_and_its_origin() -> None:
    (answer,) = (why_not(one.analysis, one.policy, one.target) for one in CAUSES if one.name == "a typing error")
    reason = answer.reasons[0]
    assert (reason.object, reason.field, reason.origin, reason.reason) == (
        POLICY,
        "spec.targetRefs[0]",
        build.ORIGIN,
        "TargetNotFound",
    )
    assert reason.message == "HTTPRoute default/rr does not exist"
