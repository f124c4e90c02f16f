"""What differs in what routes say themselves, beside what policies say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import TargetLevel
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.model import Json, Resource
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.diff import StateDiff, diff
from kubectl_policy.render.changes.settings import effect_sections
from kubectl_policy.render.describe.policies import policy_text
from kubectl_policy.render.output.text import View, to_text
from tests import build
from tests.questions.build import analyzed, color_kind

PROFILE: Final = color_kind(
    "inherited",
    effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
    object_fields={"timeout": "rule.timeouts.request"},
)
WORLD: Final = (build.gateway_class(), build.namespace("default"), build.gateway(), build.service("s"))
POLICY: Final = build.policy("p", build.ON_GATEWAY, timeout="15s", color="red")
Rules = "tuple[Mapping[str, Json], ...]"


def rule(**own: Any) -> dict[str, Json]:  # noqa: ANN401 (whatever a rule may hold)
    """A rule that sends requests to a Service, and says something itself."""
    return {"backendRefs": [build.backend()], **own}


def redirect(code: int) -> list[Json]:
    return [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": code}}]


def state(*rules: Mapping[str, Json], others: tuple[Resource, ...] = ()) -> tuple[Resource, ...]:
    return (*WORLD, build.route("r", rules=rules), *others)


def differing(before: tuple[Resource, ...], after: tuple[Resource, ...]) -> StateDiff:
    states = [build.snapshot(*resources, complete=True) for resources in (before, after)]
    return diff(compare(*states, profiles=[PROFILE]))


def told(difference: StateDiff) -> list[str]:
    """Every field that differs: of which kind, where, how, from what to what, and by whom."""
    return [
        f"{change.policy_kind.kind} {change.objects[0].node.section}: {field.field} {field.sort} {change.where} "
        + " → ".join(
            f"{value.value} by {value.source.object.name}" if value else "nothing"
            for value in (field.before, field.after)
        )
        for change in difference.effects
        for field in change.fields
    ]


class TestRoutes:
    """Of a route that both states have, what it says itself is compared as settings of policies are."""

    def test_a_time_out(self) -> None:
        found = differing(state(rule(timeouts={"request": "120s"})), state(rule(timeouts={"request": "1s"})))
        assert told(found) == ["HTTPRoute rule[0]: timeouts.request changed kept 120s by r → 1s by r"]
        assert found.changes
        (change,) = found.effects
        assert (change.profile.route_settings is not None, change.harmful) == (True, False)
        assert [str(value.declared_in) for value in (change.fields[0].before, change.fields[0].after) if value] == [
            "spec.rules[0].timeouts.request"
        ] * 2

    def test_what_is_new_or_lost(self) -> None:
        """Weights, and a redirect to https, which protects."""
        before = state(rule(filters=redirect(301)), {"backendRefs": [build.backend(), build.backend("t")]})
        after = state(rule(), {"backendRefs": [build.backend(), build.backend("t", weight=9)]})
        found = differing(before, after)
        assert told(found) == [
            "HTTPRoute rule[0]: requestRedirect.scheme lost kept https by r → nothing",
            "HTTPRoute rule[0]: requestRedirect.statusCode lost kept 301 by r → nothing",
            "HTTPRoute rule[1]: backendRefs[s:8080].weight gained kept nothing → 1 by r",
            "HTTPRoute rule[1]: backendRefs[t:8080].weight gained kept nothing → 9 by r",
        ]
        assert [change.harmful for change in found.effects] == [True, False]

    def test_one_element_among_others(self) -> None:
        filters = [
            [{"requestHeaderModifier": {"set": [{"name": "x", "value": "1"}, {"name": "y", "value": value}]}}]
            for value in "ab"
        ]
        before, after = (state(rule(filters=each)) for each in filters)
        assert told(differing(before, after)) == [
            "HTTPRoute rule[0]: requestHeaderModifier.set[y] changed kept a by r → b by r"
        ]

    def test_a_rule_that_comes_or_goes(self) -> None:
        before, after = state(rule()), state(rule(), rule(name="new", timeouts={"request": "1s"}))
        assert told(differing(before, after)) == ["HTTPRoute new: timeouts.request gained new nothing → 1s by r"]
        assert told(differing(after, before)) == ["HTTPRoute new: timeouts.request lost gone 1s by r → nothing"]

    def test_a_rule_that_pushes_others_down(self) -> None:
        """Rules without a name are those with the same matches, so that what follows one does not differ."""
        own = [rule(timeouts={"request": f"{each}s"}, matches=[{"path": {"value": f"/{each}"}}]) for each in (1, 2)]
        new = rule(timeouts={"request": "9s"}, matches=[{"path": {"value": "/new"}}])
        before, after = state(*own), state(new, *own)
        assert told(differing(before, after)) == ["HTTPRoute rule[0]: timeouts.request gained new nothing → 9s by r"]
        assert told(differing(after, before)) == [
            "HTTPRoute former rule[0]: timeouts.request lost gone 9s by r → nothing"
        ]
        assert told(differing(state(*own), state(*reversed(own)))) == []

    def test_a_policy_on_the_first_rule(self) -> None:
        counting = replace(PROFILE, unnamed_rules="rule-{n}")
        first = build.policy("p", build.target("r", "HTTPRoute", "rule-1"), color="red")
        own, new = ({**rule(), "matches": [{"path": {"value": value}}]} for value in ("/own", "/new"))
        states = [build.snapshot(*world, first, complete=True) for world in (state(own), state(new, own))]
        assert told(diff(compare(*states, profiles=[counting]))) == [
            "ColorPolicy rule[1]: color lost kept red by p → nothing",
            "ColorPolicy rule[0]: color gained new nothing → red by p",
        ]

    def test_a_route_that_comes_or_goes(self) -> None:
        own = state(rule(timeouts={"request": "1s"}))
        assert told(differing(own, WORLD)) == told(differing(WORLD, own)) == []

    def test_a_route_that_is_attached_to_nothing(self) -> None:
        before, after = (
            (*WORLD, build.route("r", parents=[], rules=[rule(timeouts={"request": value})])) for value in ("1s", "2s")
        )
        assert told(differing(before, after)) == []

    def test_what_did_not_change(self) -> None:
        own = rule(timeouts={"request": "1s"})
        assert told(differing(state(own), state({**own, "matches": [{"path": {"value": "/a"}}]}))) == []
        assert told(differing(state(own), state(own))) == []


class TestBesidePolicies:
    """Where a setting of the rule stands for one of a policy, it is compared among those, and once."""

    own: Final = rule(timeouts={"request": "5s"})
    longer: Final = rule(timeouts={"request": "9s"})

    def test_the_value_of_the_rule(self) -> None:
        found = differing(state(self.own, others=(POLICY,)), state(self.longer, others=(POLICY,)))
        assert told(found) == ["ColorPolicy rule[0]: timeout changed kept 5s by r → 9s by r"]

    def test_the_rule_says_nothing_any_more(self) -> None:
        found = differing(state(self.own, others=(POLICY,)), state(rule(), others=(POLICY,)))
        assert told(found) == ["ColorPolicy rule[0]: timeout changed kept 5s by r → 15s by p"]

    def test_the_policy_goes(self) -> None:
        analysis = analyzed(*state(self.own, others=(POLICY,)), complete=True, profiles=[PROFILE])
        lost = ["ColorPolicy rule[0]: color lost kept red by p → nothing"]
        assert told(diff(what_if(analysis, deleted=[POLICY.ref]))) == lost
        assert told(blast_radius(analysis, POLICY.ref).difference) == lost

    def test_the_route_goes_or_comes(self) -> None:
        """With the policy or without it, what the policy sets is lost, or gained, with the path, and nothing else."""
        own, lost = state(self.own, others=(POLICY,)), ["ColorPolicy rule[0]: color lost gone red by p → nothing"]
        assert told(differing(own, WORLD)) == lost
        assert told(differing(own, (*WORLD, POLICY)))[:1] == lost
        assert told(differing(WORLD, own)) == ["ColorPolicy rule[0]: color gained new nothing → red by p"]

    def test_the_policy_comes(self) -> None:
        found = differing(state(self.own), state(self.own, others=(POLICY,)))
        assert told(found) == ["ColorPolicy rule[0]: color gained kept nothing → red by p"]

    def test_the_policy_goes_as_the_rule_changes(self) -> None:
        found = differing(state(self.own, others=(POLICY,)), state(self.longer))
        assert told(found) == [
            "ColorPolicy rule[0]: color lost kept red by p → nothing",
            "HTTPRoute rule[0]: timeouts.request changed kept 5s by r → 9s by r",
        ]


@pytest.mark.parametrize(
    ("names", "heading"),
    [
        (("a",), "Changed · the route's own settings · 1 object"),
        (("a", "b"), "Changed · the routes' own settings · 2 objects"),
    ],
    ids=["one", "several"],
)
def test_as_text(names: tuple[str, ...], heading: str) -> None:
    before, after = (
        (*WORLD, *(build.route(name, rules=[rule(timeouts={"request": value})]) for name in names))
        for value in ("1s", "2s")
    )
    lines = effect_sections(differing(before, after).effects, View(width=100))
    text = "\n".join("".join(span.text for span in line.spans) for line in lines)
    assert heading in text
    assert text.count("timeouts.request   1s   → 2s\n") == 1


class TestSeveralRoutes:
    """Routes that differ only in what they say themselves are looked at once, and each is told for itself."""

    routes: Final = tuple(
        build.route(name, rules=[rule(timeouts={"request": value})])
        for name, value in zip("ab", ("1s", "2s"), strict=True)
    )
    analysis: Final = analyzed(*WORLD, *routes, POLICY, complete=True, profiles=[PROFILE])

    def test_whoever_beats_a_policy(self) -> None:
        assert [ref.name for ref in self.analysis.enforcement(POLICY.ref).by] == ["a", "b"]

    def test_the_fields_of_the_policy(self) -> None:
        answer = describe_policy(self.analysis, POLICY.ref)
        (timeout,) = [field for field in answer.fields if field.field == "timeout"]
        assert [(each.by.target.object.name, each.positions) for each in timeout.superseded] == [
            ("a", (0,)),
            ("b", (1,)),
        ]
        assert "replaced by what these HTTPRoutes set themselves" in to_text(policy_text(answer, View(width=100)), 100)

    def test_the_policy_goes(self) -> None:
        (change,) = blast_radius(self.analysis, POLICY.ref).difference.effects
        assert [(field.field, field.sort) for field in change.fields] == [("color", "lost")]
        assert [changed.node.object.name for changed in change.objects] == ["a", "b"]
