"""Tests of `questions/predicted_conditions.py`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import ConditionWords, Event, GatewayProfile, StatusProfile
from kubectl_policy.profiles.fields import SameLevel
from kubectl_policy.profiles.merging import JointField, MergeScope
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.questions.predicted_conditions import (
    AncestorStatus,
    PolicyCondition,
    PolicyStatuses,
    least,
    merged_state,
    target_conditions,
)
from tests import build
from tests.questions.build import analyzed, color_kind, settings

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
    return color_kind(
        "inherited",
        strategy=strategy,
        declared_targets=declared,
        effective_targets=(RULES,),
        same_level=same_level,
        status=status or StatusProfile(placement="policy", conditions=WORDS),
    )


def colours(name: str, *targets: Mapping[str, Json], age: int = 1, **spec: int) -> Resource:
    return build.resource(
        "ColorPolicy", name, {"targetRefs": list(targets), "color": name, **spec}, group="example.com", age=age
    )


def report(profile: PolicyKindProfile, *resources: Resource, complete: bool = True) -> dict[str, dict[str, str]]:
    """The report on policy `p`, each condition as its status and reason, by place."""
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service(), build.namespace("default"))
    analysis = analyzed(*world, *resources, complete=complete, profiles=[profile])
    return {
        str(found.ancestor or ""): {each.type: f"{each.status} {each.reason}" for each in found.conditions}
        for found in PolicyStatuses(analysis).of(P)
    }


def test_an_object_that_is_no_policy_has_no_report() -> None:
    analysis = analyzed(build.gateway("g"))
    with pytest.raises(KeyError):
        PolicyStatuses(analysis).of(build.ref("Gateway", "g"))
    with pytest.raises(KeyError):
        PolicyStatuses(analysis).of(P)


def test_a_policy_without_references_is_not_reported_on() -> None:
    assert report(kind(), build.policy("p", color="red")) == {}
    assert report(kind(), colours("p", build.target("other", "GRPCRoute")), complete=False) == {}


def test_what_a_controller_has_no_words_for_is_not_reported() -> None:
    silent = StatusProfile(placement="policy", conditions={"accepted": (ConditionWords("Seen", "True", "Fine"),)})
    assert report(kind(silent), colours("p", build.target("gone"))) == {}
    assert report(kind(silent), colours("p", build.ON_GATEWAY)) == {"": {"Seen": "True Fine"}}
    mute = StatusProfile(placement="policy", conditions={})
    assert report(kind(mute), colours("p", build.ON_GATEWAY)) == {}
    one_word = StatusProfile(placement="policy", conditions={"enforced": (ConditionWords("Works", "True", "All"),)})
    assert report(kind(one_word), colours("p", build.ON_GATEWAY)) == {}


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (build.target("gone"), "NoTarget"),
        (build.target("g", section="gone"), "NoSection"),
        (build.target("g", namespace="far"), "NoGrant"),
        (build.ON_SERVICE, "NoKind"),
    ],
)
def test_each_failure_has_its_words(target: dict[str, Json], reason: str) -> None:
    far = build.gateway("g", namespace="far")
    assert report(kind(declared=frozenset({GATEWAY.object.group_kind})), far, colours("p", target)) == {
        "": {"Seen": f"False {reason}"}
    }


def test_of_several_targets_a_failure_stays() -> None:
    """In whichever order they are declared: a controller looks at the most specific one first."""
    for targets in (
        [build.ON_GATEWAY, build.target("gone")],
        [build.target("gone"), build.ON_GATEWAY],
        [build.ON_GATEWAY, build.target("g", section="gone")],
    ):
        assert report(kind(), colours("p", *targets))[""]["Seen"].startswith("False")


def test_enforcement_is_told_in_the_kinds_words() -> None:
    assert report(kind(), colours("p", build.ON_GATEWAY, a=1, b=1))[""]["Works"] == "True All"
    above = build.policy("above", build.ON_GATEWAY, age=0, b=2)
    patching = kind(strategy=MergeStrategy.PATCH_OVERRIDES)
    on_route = colours("p", build.ON_ROUTE, a=1, b=1)
    assert report(patching, above, on_route)[""]["Works"] == "True Some"
    assert report(kind(strategy=MergeStrategy.ATOMIC_OVERRIDES), above, on_route)[""]["Works"] == "False Beaten"
    empty = build.gateway("empty", build.listener("other"))
    assert report(kind(), empty, colours("p", build.target("empty")))[""]["Works"] == "False Nothing"


def test_an_enforcement_without_words_is_not_told() -> None:
    some: dict[Event, tuple[ConditionWords, ...]] = {event: WORDS[event] for event in ("accepted", "enforced")}
    status = StatusProfile(placement="policy", conditions=some)
    empty = build.gateway("empty", build.listener("other"))
    assert report(kind(status), empty, colours("p", build.target("empty"))) == {"": {"Seen": "True Fine"}}


def test_an_enforcement_state_that_is_no_event_is_not_told() -> None:
    words: dict[Event, tuple[ConditionWords, ...]] = {
        event: WORDS[event] for event in ("accepted", "enforced", "overridden")
    }
    status = StatusProfile(placement="policy", conditions=words)
    first = build.policy("first", build.target("g", section="http"), age=0, color="red")
    strict = kind(status, strategy=MergeStrategy.NONE)
    assert report(strict, first, colours("p", build.ON_ROUTE)) == {"": {"Seen": "True Fine"}}


def test_of_two_on_one_target_one_is_refused() -> None:
    """Where one alone applies, and where the strategy is None; where both take part, both are accepted."""
    older = build.policy("older", build.ON_GATEWAY, age=0, color="red")
    p = colours("p", build.ON_GATEWAY)
    assert report(kind(same_level="one-applies"), older, p) == {"": {"Seen": "False Taken"}}
    assert report(kind(strategy=MergeStrategy.NONE), older, p) == {"": {"Seen": "False Taken"}}
    assert report(kind(), older, p)[""]["Seen"] == "True Fine"


def test_a_target_that_is_named_twice_is_in_its_own_way() -> None:
    """It is reported as a conflict although the policy is in force; what a selector selects again is not."""
    twice = colours("p", build.ON_GATEWAY, build.ON_GATEWAY)
    assert report(kind(same_level="one-applies"), twice) == {"": {"Seen": "False Taken"}}
    assert report(kind(), twice)[""]["Seen"] == "True Fine"
    selecting = colours("p", build.ON_GATEWAY, {"group": GATEWAY_API, "kind": "Gateway", "selector": {}})
    assert report(kind(same_level="one-applies"), selecting)[""]["Seen"] == "True Fine"


def test_what_lies_below_with_policies_of_its_own_is_told() -> None:
    """In words and as references; on the most general target first claimed last, so that it counts."""
    below = build.policy("below", build.ON_ROUTE, age=0, color="red")
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service(), below)
    (found,) = PolicyStatuses(analyzed(*world, colours("p", build.ON_GATEWAY), profiles=[kind()])).of(P)
    assert found.conditions[1] == PolicyCondition(
        type="Narrowed",
        status="True",
        reason="Below",
        message="narrower policies target HTTPRoute default/r",
        related=(ROUTE,),
    )


def test_reports_are_placed_on_targets_or_gateways_as_well() -> None:
    """With several places each has its own conditions; enforcement is told wherever the policy is accepted."""
    p = colours("p", build.ON_GATEWAY, build.target("gone"))
    assert report(kind(StatusProfile(placement="targets", conditions=WORDS)), p) == {
        "Gateway default/g": {"Seen": "True Fine", "Works": "True All"},
        "Gateway default/gone": {"Seen": "False NoTarget"},
    }
    on_route = colours("p", build.ON_ROUTE)
    assert report(kind(StatusProfile(placement="gateways", conditions=WORDS)), on_route) == {
        "Gateway default/g": {"Seen": "True Fine", "Works": "True All"}
    }


def test_a_selector_that_selects_nothing_has_a_place_of_its_own_alone() -> None:
    p = colours("p", {"group": GATEWAY_API, "kind": "Gateway", "selector": {"matchLabels": {"a": "b"}}})
    assert report(kind(), p) == {"": {"Seen": "False NoTarget"}}
    assert report(kind(StatusProfile(placement="targets", conditions=WORDS)), p) == {}


def test_the_most_specific_target_is_looked_at_first() -> None:
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
    analysis = analyzed(
        build.gateway("g"), build.route("r"), sets, build.namespace("default"), p, complete=True, profiles=[kind()]
    )
    ((condition,),) = (found.conditions for found in PolicyStatuses(analysis).of(P))
    assert condition.message == "Namespace nowhere does not exist"


def test_policies_of_one_analysis_share_what_is_looked_up() -> None:
    policies = [colours(name, build.ON_GATEWAY, age=age) for age, name in enumerate("pqr")]
    analysis = analyzed(build.gateway("g"), *policies, profiles=[kind(same_level="one-applies")])
    together = PolicyStatuses(analysis)
    for policy in policies:
        assert together.of(policy.ref) == PolicyStatuses(analysis).of(policy.ref)
    seen = PolicyCondition(type="Seen", status="True", reason="Fine", message="it is attached to Gateway default/g")
    why = "no HTTPRoute is attached to Gateway default/g"
    works = PolicyCondition(type="Works", status="False", reason="Nothing", message=why)
    assert together.of(P) == (AncestorStatus(ancestor=None, conditions=(seen, works)),)


def test_targets_are_affected_by_what_is_attached_above_them() -> None:
    policies = [colours("a", build.ON_GATEWAY), colours("b", build.ON_ROUTE)]
    other = build.policy("o", build.ON_GATEWAY, kind="OtherPolicy", age=1, x=1)
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    analysis = analyzed(*world, *policies, other, profiles=[kind()])
    (found,) = target_conditions(analysis, ROUTE)
    assert found == PolicyCondition(
        type="Coloured",
        status="True",
        reason="By",
        message="attached here or above: ColorPolicy default/a, ColorPolicy default/b",
        related=(
            build.node("ColorPolicy", "a", group="example.com"),
            build.node("ColorPolicy", "b", group="example.com"),
        ),
    )
    assert [each.related for each in target_conditions(analysis, GATEWAY)] == [found.related[:1]]
    assert list(target_conditions(analysis, build.node("Gateway", "far"))) == []


HOSTILE: Final[list[Json]] = ["x", 1, [], {"conditions": "x"}, {"ancestors": [1, {"conditions": {}}]}]


@pytest.mark.parametrize("status", HOSTILE, ids=str)
def test_what_a_status_says_does_not_matter(status: Json) -> None:
    spec: Json = {"targetRefs": [build.ON_GATEWAY]}
    p = build.resource("ColorPolicy", "p", spec, group="example.com", age=1, status=status)
    assert report(kind(), p) == {"": {"Seen": "True Fine", "Works": "True All"}}


@pytest.mark.parametrize("place", [build.node("HTTPRoute", "r", "rule[0]"), build.node("Service", "s", group="")])
def test_what_has_no_status_for_it_is_left_out(place: NodeRef) -> None:
    world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
    analysis = analyzed(*world, colours("a", build.ON_GATEWAY), profiles=[kind()])
    assert list(target_conditions(analysis, ROUTE))
    assert list(target_conditions(analysis, place)) == []


OURS: Final = "example.com/gateway"
ENABLING: Final = RequiredParameter(GroupKind("example.com", "Settings"), "colours.enable")
MORE: Final[Mapping[Event, tuple[ConditionWords, ...]]] = MappingProxyType(
    {
        **WORDS,
        "accepted": (ConditionWords("Seen", "True", "Fine"), ConditionWords("Done", "True", "Done")),
        "conflicted": (ConditionWords("Seen", "False", "Taken"), ConditionWords("Done", "False", "Late")),
        "invalid": (ConditionWords("Seen", "False", "Wrong"), ConditionWords("Done", "False", "Waits")),
        "target invalid": (ConditionWords("Seen", "False", "BadTarget"),),
        "not enabled": (ConditionWords("Seen", "False", "Off"),),
        "overlapping": (ConditionWords("Seen", "False", "Shared"), ConditionWords("Done", "False", "Waits")),
    }
)
ON_TARGETS: Final = StatusProfile(placement="targets", conditions=MORE)
PARAMETERS: Final[Json] = {"parametersRef": {"group": "example.com", "kind": "Settings", "name": "s"}}


class TestFailures:
    plain = replace(kind(ON_TARGETS), controllers=frozenset({OURS}))

    def test_several_conditions_for_one_event(self) -> None:
        accepted = {"Seen": "True Fine", "Done": "True Done", "Works": "True All"}
        assert report(self.plain, colours("p", build.ON_GATEWAY)) == {"Gateway default/g": accepted}
        older = build.policy("older", build.ON_GATEWAY, age=0, color="red")
        strict = replace(self.plain, same_level="one-applies")
        late = {"Seen": "False Taken", "Done": "False Late"}
        assert report(strict, older, colours("p", build.ON_GATEWAY)) == {"Gateway default/g": late}

    def test_an_invalid_policy(self) -> None:
        needy = replace(self.plain, least_sizes={"a": ("b",)})
        assert report(needy, colours("p", build.ON_GATEWAY, a=1, b=2)) == {
            "Gateway default/g": {"Seen": "False Wrong", "Done": "False Waits"}
        }
        assert report(needy, colours("p", build.ON_GATEWAY, a=2, b=2))["Gateway default/g"]["Seen"] == "True Fine"

    def test_a_target_that_overlaps(self) -> None:
        alone = replace(self.plain, overlap="refused")
        p = colours("p", build.ON_ROUTE)
        shared = {"Seen": "False Shared", "Done": "False Waits"}
        assert report(alone, p, build.route("other")) == {"HTTPRoute default/r": shared}
        assert report(alone, p)["HTTPRoute default/r"]["Seen"] == "True Fine"

    def test_a_kind_that_is_not_enabled(self) -> None:
        """On any Gateway of a target: that is said of the whole target, and the Gateway and the field are named."""
        switched = replace(self.plain, enabled_by=ENABLING)
        off = build.gateway("off", infrastructure=PARAMETERS)
        on_gateway = colours("p", build.target("off"))
        assert report(switched, off, settings(enable=False), on_gateway) == {
            "Gateway default/off": {"Seen": "False Off"}
        }
        assert report(switched, off, settings(enable=True), on_gateway)["Gateway default/off"]["Seen"] == "True Fine"
        parents = [build.parent("g"), build.parent("off"), build.parent("off", "http")]
        both = build.route("both", parents=parents)
        on_route = colours("p", build.target("both", "HTTPRoute"))
        world = (
            build.gateway_class(),
            build.gateway("g"),
            off,
            both,
            build.service(),
            settings(enable=False),
            on_route,
        )
        analysis = analyzed(*world, complete=True, profiles=[switched])
        assert [found.state for found in analysis.attachments[P]] == ["attached"]
        ((condition,),) = (found.conditions for found in PolicyStatuses(analysis).of(P))
        message = "spec.colours.enable is false in Settings default/s of Gateway default/off"
        assert condition == PolicyCondition(type="Seen", status="False", reason="Off", message=message)

    def test_parameters_that_were_not_read(self) -> None:
        switched = replace(self.plain, enabled_by=ENABLING)
        off = build.gateway("off", infrastructure=PARAMETERS)
        on_gateway = colours("p", build.target("off"))
        assert report(switched, off, on_gateway, complete=False)["Gateway default/off"]["Seen"] == "True Fine"
        on_route = colours("p", build.target("both", "HTTPRoute"))
        both = build.route("both", parents=[build.parent("g"), build.parent("off")])
        found = report(switched, off, both, on_route, complete=False)
        assert found["HTTPRoute default/both"]["Seen"] == "True Fine"


class TestInvalidGateways:
    passing = replace(
        kind(StatusProfile(placement="parents", conditions=MORE)),
        controllers=frozenset({OURS}),
        gateways=GatewayProfile(invalid_parents="passedOver"),
    )
    broken = build.gateway("broken", infrastructure=PARAMETERS)

    def test_as_a_target(self) -> None:
        p = colours("p", build.target("broken"))
        assert report(self.passing, self.broken, p) == {"Gateway default/broken": {"Seen": "False BadTarget"}}
        serving = replace(self.passing, gateways=None)
        assert report(serving, self.broken, p)["Gateway default/broken"]["Seen"] == "True Fine"

    def test_as_a_place(self) -> None:
        parents = [build.parent("g"), build.parent("broken", "http")]
        p = colours("p", build.target("both", "HTTPRoute"))
        found = report(self.passing, self.broken, build.route("both", parents=parents), p)
        assert found["Gateway default/g"]["Seen"] == "True Fine"
        assert found["Gateway default/broken#http"] == {"Seen": "False BadTarget"}

    def test_that_may_be_valid(self) -> None:
        p = colours("p", build.target("broken"))
        assert report(self.passing, self.broken, p, complete=False)["Gateway default/broken"]["Seen"] == "True Fine"


class TestMerges:
    merging = kind(
        StatusProfile(placement="parents", conditions=WORDS, enforced_by="merges"),
        strategy=MergeStrategy.PATCH_DEFAULTS,
    )

    def test_by_place(self) -> None:
        world = (build.gateway("h"), build.route("both", parents=[build.parent("g"), build.parent("h")]))
        p = colours("p", build.ON_ROUTE, build.target("both", "HTTPRoute"))
        below = build.policy("below", build.target("r", "HTTPRoute", "rule[0]"), age=0, color="red")
        assert report(self.merging, *world, p) == {
            "Gateway default/g": {"Seen": "True Fine", "Works": "True All"},
            "Gateway default/h": {"Seen": "True Fine", "Works": "True All"},
        }
        assert report(self.merging, *world, below, p) == {
            "Gateway default/g": {"Seen": "True Fine", "Works": "False Beaten", "Narrowed": "True Below"},
            "Gateway default/h": {"Seen": "True Fine", "Works": "True All"},
        }
        partly = colours("p", build.ON_ROUTE, build.target("both", "HTTPRoute"), more=1)
        assert report(self.merging, *world, below, partly)["Gateway default/g"]["Works"] == "True Some"

    def test_by_paths(self) -> None:
        by_paths = kind(StatusProfile(placement="parents", conditions=WORDS), strategy=MergeStrategy.PATCH_DEFAULTS)
        world = (build.gateway("h"), build.route("both", parents=[build.parent("g"), build.parent("h")]))
        p = colours("p", build.ON_ROUTE, build.target("both", "HTTPRoute"))
        below = build.policy("below", build.target("r", "HTTPRoute", "rule[0]"), age=0, color="red")
        found = report(by_paths, *world, below, p)
        assert {place: conditions["Works"] for place, conditions in found.items()} == dict.fromkeys(
            ("Gateway default/g", "Gateway default/h"), "True Some"
        )

    def test_the_policy_itself_is_no_place_of_a_merge(self) -> None:
        on_policy = kind(StatusProfile(placement="policy", conditions=WORDS, enforced_by="merges"))
        assert report(on_policy, colours("p", build.ON_GATEWAY)) == {"": {"Seen": "True Fine"}}

    def test_a_place_where_it_is_not_accepted(self) -> None:
        found = report(self.merging, colours("p", build.ON_GATEWAY, build.target("g", section="ghost")))
        assert found == {
            "Gateway default/g": {"Seen": "True Fine", "Works": "True All"},
            "Gateway default/g#ghost": {"Seen": "False NoSection"},
        }


class TestAffected:
    told = kind(StatusProfile(placement="policy", conditions=MORE, affects="targets"))

    @staticmethod
    def affected(profile: PolicyKindProfile, place: NodeRef, *resources: Resource) -> list[tuple[str, str]]:
        world = (build.gateway_class(), build.gateway("g"), build.route("r"), build.service())
        analysis = analyzed(*world, *resources, complete=True, profiles=[profile])
        return [(found.type, found.message) for found in target_conditions(analysis, place)]

    def test_the_target_and_nothing_below(self) -> None:
        policies = [colours(name, build.ON_GATEWAY) for name in "ba"]
        said = [("Coloured", "targeted by ColorPolicy default/a, ColorPolicy default/b")]
        assert self.affected(self.told, GATEWAY, *policies) == said
        assert self.affected(self.told, ROUTE, *policies) == []
        section = build.node("Gateway", "g", "http")
        assert self.affected(self.told, section, *policies) == []
        on_section = colours("s", build.target("g", section="http"))
        assert self.affected(self.told, section, on_section) == [("Coloured", "targeted by ColorPolicy default/s")]
        assert self.affected(self.told, GATEWAY, on_section) == []

    def test_whatever_becomes_of_the_policy(self) -> None:
        p = colours("p", build.ON_GATEWAY, a=1, b=2)
        invalid = replace(self.told, least_sizes={"a": ("b",)})
        assert self.affected(invalid, GATEWAY, p) == [("Coloured", "targeted by ColorPolicy default/p")]
        assert (
            self.affected(replace(invalid, status=StatusProfile(placement="policy", conditions=MORE)), GATEWAY, p) == []
        )

    def test_what_is_not_theirs(self) -> None:
        ghost = colours("p", build.target("g", section="ghost"))
        assert self.affected(self.told, build.node("Gateway", "g", "ghost"), ghost) == []
        p = colours("p", build.ON_GATEWAY)
        declared = replace(self.told, declared_targets=frozenset({ROUTE.object.group_kind}))
        assert self.affected(declared, GATEWAY, p) == []
        assert self.affected(replace(self.told, controllers=frozenset({"example.org/x"})), GATEWAY, p) == []


HTTP: Final = build.node("Gateway", "g", "http")
ALT: Final = build.node("Gateway", "g", "alt")
PATCHING: Final = color_kind("inherited", effective_targets=(RULES,), same_level="first-wins")
WORLD: Final = (
    build.gateway_class(),
    build.gateway("g", build.listener("http"), build.listener("alt", port=81)),
    build.route("r", parents=[build.parent("g", "http")]),
    build.route("q", parents=[build.parent("g", "alt")]),
    build.service(),
    build.namespace("default"),
)


def coloured(name: str, target: Mapping[str, Json], age: int = 1, **spec: Json) -> Resource:
    return build.resource("ColorPolicy", name, {"targetRefs": [target], **spec}, group="example.com", age=age)


def analysis_of(*policies: Resource, profile: PolicyKindProfile = PATCHING) -> Analysis:
    return analyzed(*WORLD, *policies, complete=True, profiles=[profile])


def share(analysis: Analysis, name: str, place: NodeRef, target: NodeRef) -> Event:
    return merged_state(analysis, build.ref("ColorPolicy", name, group="example.com"), place, target)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((), "enforced"),
        ({"enforced"}, "enforced"),
        ({"enforced", "partially enforced"}, "partially enforced"),
        ({"enforced", "overridden"}, "overridden"),
        ({"enforced", "partially enforced", "overridden"}, "overridden"),
        ({"overridden"}, "overridden"),
    ],
)
def test_the_worst_of_several(shares: Collection[Event], expected: Event) -> None:
    assert least(shares) == expected


def test_alone() -> None:
    analysis = analysis_of(coloured("p", build.ON_GATEWAY, a=1, b=1))
    assert share(analysis, "p", GATEWAY, GATEWAY) == "enforced"
    assert share(analysis, "p", HTTP, GATEWAY) == "enforced"


def test_all_of_one_merge_and_some_of_another() -> None:
    """The least part counts at a place below which both are, and each at the listener to which it belongs."""
    analysis = analysis_of(coloured("p", build.ON_GATEWAY, a=1, b=1), coloured("below", build.ON_ROUTE, a=2))
    assert share(analysis, "p", GATEWAY, GATEWAY) == "partially enforced"
    assert share(analysis, "p", HTTP, GATEWAY) == "partially enforced"
    assert share(analysis, "p", ALT, GATEWAY) == "enforced"
    assert share(analysis, "below", GATEWAY, ROUTE) == "partially enforced"


def test_nothing_of_a_merge() -> None:
    analysis = analysis_of(coloured("p", build.ON_GATEWAY, a=1), coloured("below", build.ON_ROUTE, a=2, b=2))
    assert share(analysis, "p", HTTP, GATEWAY) == "overridden"
    assert share(analysis, "p", ALT, GATEWAY) == "enforced"
    assert share(analysis, "p", GATEWAY, GATEWAY) == "overridden"
    assert share(analysis, "below", HTTP, ROUTE) == "enforced"


def test_a_merge_in_which_it_is_not() -> None:
    """Where a nearer one takes its place as a whole there is nothing in which it could have a part."""
    atomic = replace(PATCHING, strategy=MergeStrategy.ATOMIC_DEFAULTS)
    analysis = analysis_of(coloured("p", build.ON_GATEWAY, a=1), coloured("below", build.ON_ROUTE, a=2), profile=atomic)
    assert share(analysis, "p", HTTP, GATEWAY) == share(analysis, "below", HTTP, ROUTE) == "enforced"


def test_a_place_that_the_target_does_not_lead_through() -> None:
    analysis = analysis_of(coloured("p", build.ON_ROUTE, a=1), coloured("older", build.ON_ROUTE, age=0, a=2))
    assert share(analysis, "p", HTTP, ROUTE) == "overridden"
    assert share(analysis, "p", ALT, ROUTE) == "enforced"


def test_where_no_policy_of_the_kind_counts() -> None:
    theirs = replace(PATCHING, controllers=frozenset({"example.org/other"}))
    analysis = analysis_of(coloured("p", build.ON_GATEWAY, a=1), coloured("below", build.ON_ROUTE, a=2), profile=theirs)
    assert share(analysis, "p", GATEWAY, GATEWAY) == "enforced"


def test_without_a_listener() -> None:
    direct = color_kind(same_level="first-wins")
    alone = build.target("alone", "Service", group="")
    place = build.node("Service", "alone", group="")
    policies = (coloured("p", alone, a=1), coloured("older", alone, age=0, a=2))
    analysis = analysis_of(build.service("alone"), *policies, profile=direct)
    assert share(analysis, "p", place, place) == "overridden"
    assert share(analysis, "older", place, place) == "enforced"
    assert share(analysis, "p", build.node("Service", "s", group=""), place) == "enforced"


def test_scopes_are_looked_at_one_by_one() -> None:
    scoped = replace(PATCHING, scopes=(MergeScope((RULES, TargetLevel(RULES.group_kind, section=False))),))
    analysis = analysis_of(
        coloured("p", build.ON_GATEWAY, a=1, b=1), coloured("below", build.ON_ROUTE, a=2, b=2), profile=scoped
    )
    assert share(analysis, "p", HTTP, GATEWAY) == "enforced"
    assert share(analysis, "below", HTTP, ROUTE) == "enforced"


def test_a_field_that_is_put_together_is_one() -> None:
    joint = replace(PATCHING, joint_fields=(JointField(field="rules", within=("level", "levels"), by="*"),))
    policies = (coloured("p", build.ON_ROUTE, rules={"x": 1}), coloured("older", build.ON_ROUTE, age=0, rules={"y": 2}))
    for profile, expected in ((joint, "enforced"), (PATCHING, "partially enforced")):
        analysis = analysis_of(*policies, profile=profile)
        assert share(analysis, "p", HTTP, ROUTE) == share(analysis, "older", HTTP, ROUTE) == expected
