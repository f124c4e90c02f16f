"""What controllers would report: where, in which words, and what silences them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.profiles.status import ConditionWords, StatusProfile
from kubectl_policy.questions.policy_status import (
    AncestorStatus,
    PolicyCondition,
    PolicyStatuses,
    policy_status,
    target_conditions,
)
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, NodeRef, Resource
    from kubectl_policy.profiles.profile import SameLevel
    from kubectl_policy.profiles.status import Event

COLOR: Final = GroupKind("example.com", "ColorPolicy")
P: Final = build.ref("ColorPolicy", "p", group="example.com")
GATEWAY: Final = build.node("Gateway", "g")
ROUTE: Final = build.node("HTTPRoute", "r")
WORDS: Final[Mapping[Event, tuple[ConditionWords, ...]]] = MappingProxyType(
    {
        "accepted": (ConditionWords("Seen", "True", "Fine"),),
        "target missing": (ConditionWords("Seen", "False", "NoTarget"),),
        "section missing": (ConditionWords("Seen", "False", "NoSection"),),
        "not permitted": (ConditionWords("Seen", "False", "NoGrant"),),
        "kind unsupported": (ConditionWords("Seen", "False", "NoKind"),),
        "conflicted": (ConditionWords("Seen", "False", "Taken"),),
        "enforced": (ConditionWords("Works", "True", "All"),),
        "partially enforced": (ConditionWords("Works", "True", "Some"),),
        "overridden": (ConditionWords("Works", "False", "Beaten"),),
        "no effect": (ConditionWords("Works", "False", "Nothing"),),
        "narrowed": (ConditionWords("Narrowed", "True", "Below"),),
        "affected": (ConditionWords("Coloured", "True", "By"),),
    }
)
RULES: Final = TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True)


def kind(
    status: StatusProfile | None = None,
    *,
    strategy: MergeStrategy | None = None,
    same_level: SameLevel | None = None,
    declared: frozenset[GroupKind] = frozenset(),
) -> PolicyKindProfile:
    """An inherited kind that takes effect on rules and reports in words of its own, on itself unless told otherwise."""
    return PolicyKindProfile(
        COLOR,
        "inherited",
        "profile",
        declared_targets=declared,
        effective_targets=(RULES,),
        strategy=strategy,
        stanzas="none",
        same_level=same_level,
        status=status or StatusProfile("policy", "policies", WORDS),
    )


def colours(name: str, *targets: Mapping[str, Json], age: int = 1, **spec: int) -> Resource:
    """A ColorPolicy with those targets."""
    return build.resource(
        "ColorPolicy", name, {"targetRefs": list(targets), "color": name, **spec}, group="example.com", age=age
    )


def report(profile: PolicyKindProfile, *resources: Resource, complete: bool = True) -> dict[str, dict[str, str]]:
    """The report on policy `p`, each condition as its status and reason, by place."""
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service(), build.namespace("default"))
    analysis = analyze(build.snapshot(*world, *resources, complete=complete), profiles=[profile])
    return {
        str(found.ancestor or ""): {each.type: f"{each.status} {each.reason}" for each in found.conditions}
        for found in policy_status(analysis, P)
    }


def test_an_object_that_is_no_policy_has_no_report() -> None:
    """Neither has one that does not exist."""
    analysis = analyze(build.snapshot(build.gateway("g")))
    with pytest.raises(KeyError):
        policy_status(analysis, build.ref("Gateway", "g"))
    with pytest.raises(KeyError):
        policy_status(analysis, P)


def test_a_policy_without_references_is_not_reported_on() -> None:
    """Nor one whose target was not read, and so may be anybody's."""
    assert report(kind(), build.policy("p", color="red")) == {}
    assert report(kind(), colours("p", build.target("other", "GRPCRoute")), complete=False) == {}


def test_what_a_controller_has_no_words_for_is_not_reported() -> None:
    """It passes over in silence what is missing, and says nothing of enforcement."""
    silent = StatusProfile("policy", "policies", {"accepted": (ConditionWords("Seen", "True", "Fine"),)})
    assert report(kind(silent), colours("p", build.target("gone"))) == {}
    assert report(kind(silent), colours("p", build.target("g"))) == {"": {"Seen": "True Fine"}}
    mute = StatusProfile("policy", "policies", {})
    assert report(kind(mute), colours("p", build.target("g"))) == {}
    one_word = StatusProfile("policy", "policies", {"enforced": (ConditionWords("Works", "True", "All"),)})
    assert report(kind(one_word), colours("p", build.target("g"))) == {}


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (build.target("gone"), "NoTarget"),
        (build.target("g", section="gone"), "NoSection"),
        (build.target("g", namespace="far"), "NoGrant"),
        (build.target("s", "Service", group=""), "NoKind"),
    ],
)
def test_each_failure_has_its_words(target: dict[str, Json], reason: str) -> None:
    """A policy that is not accepted has no condition on enforcement."""
    far = build.gateway("g", namespace="far")
    assert report(kind(declared=frozenset({GATEWAY.object.group_kind})), far, colours("p", target)) == {
        "": {"Seen": f"False {reason}"}
    }


def test_of_several_targets_a_failure_stays() -> None:
    """In whichever order they are declared: a controller looks at the most specific one first."""
    for targets in (
        [build.target("g"), build.target("gone")],
        [build.target("gone"), build.target("g")],
        [build.target("g"), build.target("g", section="gone")],
    ):
        assert report(kind(), colours("p", *targets))[""]["Seen"].startswith("False")


def test_enforcement_is_told_in_the_kinds_words() -> None:
    """All of it, some of it, nothing of it, and nothing to affect."""
    on_gateway = colours("p", build.target("g"), a=1, b=1)
    assert report(kind(), on_gateway)[""]["Works"] == "True All"
    above = build.policy("above", build.target("g"), age=0, b=2)
    patching = kind(strategy=MergeStrategy.PATCH_OVERRIDES)
    on_route = colours("p", build.target("r", "HTTPRoute"), a=1, b=1)
    assert report(patching, above, on_route)[""]["Works"] == "True Some"
    assert report(kind(strategy=MergeStrategy.ATOMIC_OVERRIDES), above, on_route)[""]["Works"] == "False Beaten"
    empty = build.gateway("empty", build.listener("other"))
    assert report(kind(), empty, colours("p", build.target("empty")))[""]["Works"] == "False Nothing"


def test_an_enforcement_without_words_is_not_told() -> None:
    """A kind that reports enforced policies alone leaves the rest out."""
    some: dict[Event, tuple[ConditionWords, ...]] = {event: WORDS[event] for event in ("accepted", "enforced")}
    status = StatusProfile("policy", "policies", some)
    empty = build.gateway("empty", build.listener("other"))
    assert report(kind(status), empty, colours("p", build.target("empty"))) == {"": {"Seen": "True Fine"}}


def test_an_enforcement_state_that_is_no_event_is_not_told() -> None:
    """Accepted on one of its targets and refused on every path is told as accepted alone."""
    words: dict[Event, tuple[ConditionWords, ...]] = {
        event: WORDS[event] for event in ("accepted", "enforced", "overridden")
    }
    status = StatusProfile("policy", "policies", words)
    first = build.policy("first", build.target("g", section="http"), age=0, color="red")
    strict = kind(status, strategy=MergeStrategy.NONE)
    assert report(strict, first, colours("p", build.target("r", "HTTPRoute"))) == {"": {"Seen": "True Fine"}}


def test_of_two_on_one_target_one_is_refused() -> None:
    """Where one alone applies, and where the strategy is None; where both take part, both are accepted."""
    older = build.policy("older", build.target("g"), age=0, color="red")
    p = colours("p", build.target("g"))
    assert report(kind(same_level="one-applies"), older, p) == {"": {"Seen": "False Taken"}}
    assert report(kind(strategy=MergeStrategy.NONE), older, p) == {"": {"Seen": "False Taken"}}
    assert report(kind(), older, p)[""]["Seen"] == "True Fine"


def test_a_target_that_is_named_twice_is_in_its_own_way() -> None:
    """It is reported as a conflict although the policy is in force; what a selector selects again is not."""
    twice = colours("p", build.target("g"), build.target("g"))
    assert report(kind(same_level="one-applies"), twice) == {"": {"Seen": "False Taken"}}
    assert report(kind(), twice)[""]["Seen"] == "True Fine"
    selecting = colours("p", build.target("g"), {"group": GATEWAY_API, "kind": "Gateway", "selector": {}})
    assert report(kind(same_level="one-applies"), selecting)[""]["Seen"] == "True Fine"


def test_what_lies_below_with_policies_of_its_own_is_told() -> None:
    """In words and as references; on the most general target first claimed last, so that it counts."""
    below = build.policy("below", build.target("r", "HTTPRoute"), age=0, color="red")
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service(), below)
    analysis = analyze(build.snapshot(*world, colours("p", build.target("g"))), profiles=[kind()])
    (found,) = policy_status(analysis, P)
    assert found.conditions[1] == PolicyCondition(
        "Narrowed", "True", "Below", "narrower policies target HTTPRoute default/r", (ROUTE,)
    )


def test_reports_are_placed_on_targets_or_gateways_as_well() -> None:
    """With several places each has its own conditions; enforcement is told wherever the policy is accepted."""
    p = colours("p", build.target("g"), build.target("gone"))
    assert report(kind(StatusProfile("targets", "policies", WORDS)), p) == {
        "Gateway default/g": {"Seen": "True Fine", "Works": "True All"},
        "Gateway default/gone": {"Seen": "False NoTarget"},
    }
    on_route = colours("p", build.target("r", "HTTPRoute"))
    assert report(kind(StatusProfile("gateways", "policies", WORDS)), on_route) == {
        "Gateway default/g": {"Seen": "True Fine", "Works": "True All"}
    }


def test_a_selector_that_selects_nothing_has_a_place_of_its_own_alone() -> None:
    """There is no target to report on, only the policy."""
    p = colours("p", {"group": GATEWAY_API, "kind": "Gateway", "selector": {"matchLabels": {"a": "b"}}})
    assert report(kind(), p) == {"": {"Seen": "False NoTarget"}}
    assert report(kind(StatusProfile("targets", "policies", WORDS)), p) == {}


def test_the_most_specific_target_is_looked_at_first() -> None:
    """So of failures on one place the last one is that of the least specific target."""
    sets = build.listener_set("ls", parent="g")
    failing = [
        build.target("nowhere", "Namespace", group=""),
        build.target("g", section="x"),
        build.target("r", "HTTPRoute", "x"),
        build.target("ls", "ListenerSet", "x"),
        build.target("gone", "HTTPRoute"),
        build.target("gone", "ListenerSet"),
        build.target("gone"),
    ]
    p = colours("p", *failing)
    analysis = analyze(
        build.snapshot(build.gateway("g"), build.route("r"), sets, build.namespace("default"), p, complete=True),
        profiles=[kind()],
    )
    ((condition,),) = (found.conditions for found in policy_status(analysis, P))
    assert condition.message == "Namespace nowhere does not exist"


def test_policies_of_one_analysis_share_what_is_looked_up() -> None:
    """The answers are those that each would have by itself."""
    policies = [colours(name, build.target("g"), age=age) for age, name in enumerate("pqr")]
    analysis = analyze(build.snapshot(build.gateway("g"), *policies), profiles=[kind(same_level="one-applies")])
    together = PolicyStatuses(analysis)
    for policy in policies:
        assert together.of(policy.ref) == policy_status(analysis, policy.ref)
    seen = PolicyCondition("Seen", "True", "Fine", "it is attached to Gateway default/g")
    works = PolicyCondition("Works", "False", "Nothing", "")
    assert together.of(P) == (AncestorStatus(None, (seen, works)),)


def test_targets_are_affected_by_what_is_attached_above_them() -> None:
    """Kind by kind, also by what is beaten; a kind without words for it says nothing."""
    policies = [colours("a", build.target("g")), colours("b", build.target("r", "HTTPRoute"))]
    other = build.policy("o", build.target("g"), kind="OtherPolicy", age=1, x=1)
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    analysis = analyze(build.snapshot(*world, *policies, other), profiles=[kind()])
    (found,) = target_conditions(analysis, ROUTE)
    assert found == PolicyCondition(
        "Coloured",
        "True",
        "By",
        "attached here or above: ColorPolicy default/a, ColorPolicy default/b",
        (build.node("ColorPolicy", "a", group="example.com"), build.node("ColorPolicy", "b", group="example.com")),
    )
    assert [each.related for each in target_conditions(analysis, GATEWAY)] == [found.related[:1]]
    assert list(target_conditions(analysis, build.node("Gateway", "far"))) == []


HOSTILE: Final[list[Json]] = ["x", 1, [], {"conditions": "x"}, {"ancestors": [1, {"conditions": {}}]}]


@pytest.mark.parametrize("status", HOSTILE, ids=str)
def test_what_a_status_says_does_not_matter(status: Json) -> None:
    """Of whatever type it is: the report is computed from specs alone."""
    spec: Json = {"targetRefs": [build.target("g")]}
    p = build.resource("ColorPolicy", "p", spec, group="example.com", age=1, status=status)
    assert report(kind(), p) == {"": {"Seen": "True Fine", "Works": "True All"}}


@pytest.mark.parametrize("place", [build.node("HTTPRoute", "r", "rule[0]"), build.node("Service", "s", group="")])
def test_what_has_no_status_for_it_is_left_out(place: NodeRef) -> None:
    """A rule has no status, and that of a Service says nothing of what is before it."""
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    analysis = analyze(build.snapshot(*world, colours("a", build.target("g"))), profiles=[kind()])
    assert list(target_conditions(analysis, ROUTE))
    assert list(target_conditions(analysis, place)) == []
