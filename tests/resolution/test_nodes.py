"""The policies on single nodes, and which of them are refused there: on whole paths, by what each kind chooses."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import HTTP_ROUTE
from kubectl_policy.profiles.merging import SharedField, Variant
from kubectl_policy.profiles.needs import RequiredObject
from tests.build import gateway, gateway_class, namespace, node, policy, route, service, snapshot, target
from tests.resolution.specs import names, set_by

if TYPE_CHECKING:
    from kubectl_policy import Analysis
    from kubectl_policy.model import NodeRef, Resource
    from kubectl_policy.profiles.profile import RefusedOn

COLOR: Final = GroupKind("example.com", "ColorPolicy")
DISJOINT: Final = PolicyKindProfile(
    COLOR, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none", same_level="disjoint"
)
EVERYWHERE: Final = replace(DISJOINT, refusal="everywhere")
G, R, S = node("Gateway", "g"), node("HTTPRoute", "r"), node("Service", "s", group="")
ON_G, ON_R, ON_S = target("g"), target("r", "HTTPRoute"), target("s", "Service", group="")


def world(profile: PolicyKindProfile, *policies: Resource) -> Analysis:
    """A Gateway with a route to a Service."""
    objects = (namespace("default"), gateway_class(), gateway("g"), route("r"), service("s"))
    return analyze(snapshot(*objects, *policies, complete=True), profiles=[profile])


def refused(analysis: Analysis, *places: NodeRef) -> dict[str, str]:
    """Who is refused at some nodes, for whom, and for which field."""
    return {
        f"{one.ref.name} on {place.object.name}": f"{found.holder.name} {found.field}".strip()
        for one in analysis.policies
        for place in places or (G, R, S)
        if (found := analysis.resolver.refusal(one.ref, place))
    }


def states(analysis: Analysis) -> dict[str, str]:
    """What became of each policy."""
    return {one.ref.name: analysis.enforcement(one.ref).state for one in analysis.policies}


class TestDisjoint:
    """Policies on one target apply together, but the newer of two that set a common field is refused."""

    older: Final = policy("o", ON_G, age=1, m={"a": 1}, x=1)

    def test_without_a_common_field_both_apply(self) -> None:
        """A map that both have is none, nor is a field on another target."""
        newer = policy("n", ON_G, age=2, m={"b": 2})
        below = policy("b", ON_R, age=3, m={"a": 3})
        analysis = world(DISJOINT, self.older, newer, below)
        assert refused(analysis) == {}
        (found,) = analysis.effective(R)
        assert set_by(found.resolution.spec) == {"m.a": (3, "b"), "m.b": (2, "n"), "x": (1, "o")}

    def test_with_one_the_newer_is_refused_whole(self) -> None:
        """With all that it says."""
        analysis = world(DISJOINT, self.older, policy("n", ON_G, age=2, x=2, y=2))
        assert refused(analysis) == {"n on g": "o x"}
        (found,) = analysis.effective(R)
        assert plain(found.resolution.spec) == {"m": {"a": 1}, "x": 1}
        assert names(frozenset(found.resolution.refusals)) == names(found.resolution.rejected) == {"n"}
        assert states(analysis) == {"n": "Conflicted", "o": "Enforced"}

    def test_what_is_whole_is_one_field(self) -> None:
        """And a joint field none that anybody has alone."""
        newer = policy("n", ON_G, age=2, m={"b": 2})
        assert refused(world(replace(DISJOINT, whole_fields=frozenset({"m"})), self.older, newer)) == {"n on g": "o m"}
        shared = replace(DISJOINT, shared_fields=(SharedField(field="m", within=("level",), by="*"),))
        assert refused(world(shared, self.older, policy("n", ON_G, age=2, m={"a": 2}))) == {}
        elsewhere = replace(DISJOINT, shared_fields=(SharedField(field="m", within=("scopes",), by="*"),))
        assert refused(world(elsewhere, self.older, newer)) == {"n on g": "o m"}

    def test_a_policy_that_says_nothing_is_in_nobodys_way(self) -> None:
        """Nor is anybody in its way."""
        analysis = world(DISJOINT, policy("o", ON_G, age=1), self.older, policy("n", ON_G, age=2))
        assert refused(analysis) == {}
        assert set(states(analysis).values()) == {"Enforced"}


class TestExtent:
    """A policy that is refused on one target is refused there, or on all of its targets."""

    policies: Final = (
        policy("a", ON_G, age=1, x=1),
        policy("b", ON_G, ON_R, age=2, x=2, y=2),
        policy("c", ON_R, age=3, y=3),
    )

    @pytest.mark.parametrize(
        ("refusal", "expected", "spec"),
        [
            ("there", {"b on g": "a x", "c on r": "b y"}, {"x": 2, "y": 2}),
            ("everywhere", {"b on g": "a x", "b on r": "a x"}, {"x": 1, "y": 3}),
        ],
    )
    def test_where(self, refusal: RefusedOn, expected: dict[str, str], spec: dict[str, int]) -> None:
        """Who is refused everywhere is in nobody's way; the order of the input does not matter."""
        for policies in permutations(self.policies):
            analysis = world(replace(DISJOINT, refusal=refusal), *policies)
            assert refused(analysis) == expected
            (found,) = analysis.effective(R)
            assert plain(found.resolution.spec) == spec

    def test_one_applies_everywhere(self) -> None:
        """The same where a target takes one policy."""
        analysis = world(replace(EVERYWHERE, same_level="one-applies"), *self.policies)
        assert refused(analysis) == {"b on g": "a", "b on r": "a"}
        assert states(analysis) == {"a": "Enforced", "b": "Conflicted", "c": "Enforced"}

    def test_who_kept_it_out_need_not_be_on_the_path(self) -> None:
        """The fate names it all the same, where it has the target."""
        both = policy("b", ON_S, ON_R, age=2, x=2)
        analysis = world(EVERYWHERE, policy("a", ON_S, age=1, x=1), both)
        (found,) = analysis.effective(R)
        (fate,) = found.resolution.fates
        assert fate.state == "rejected"
        assert [(one.object.name, one.target) for one in fate.superseded_by] == [("a", S)]
        assert found.resolution.spec == {}
        assert analysis.enforcement(both.ref).by == (policy("a").ref,)

    def test_other_rules_refuse_nobody(self) -> None:
        """Whatever the extent."""
        for same_level in (None, "first-wins", "newest-challenges", "all-apply"):
            assert refused(world(replace(EVERYWHERE, same_level=same_level), *self.policies)) == {}


class TestCompeting:
    """A policy that is invalid may keep others out of its targets all the same."""

    def needing(self, refusal: RefusedOn, *, competes: bool) -> PolicyKindProfile:
        """A kind that needs an object."""
        need = RequiredObject(field="spec.store", group="", kinds=("Secret",), optional=True, competes=competes)
        return replace(DISJOINT, refusal=refusal, needs=(need,))

    policies: Final = (
        policy("a", ON_G, ON_S, age=1, x=1, store={"name": "missing"}),
        policy("b", ON_G, ON_R, age=2, x=2),
        policy("c", ON_R, age=3, x=3),
    )

    @pytest.mark.parametrize(
        ("refusal", "competes", "expected"),
        [
            ("there", False, {"c on r": "b x"}),
            ("there", True, {"b on g": "a x", "c on r": "b x"}),
            ("everywhere", False, {"c on r": "b x"}),
            ("everywhere", True, {"b on g": "a x", "b on r": "a x"}),
        ],
    )
    def test_who_keeps_whom_out(self, refusal: RefusedOn, *, competes: bool, expected: dict[str, str]) -> None:
        """It has no effect itself."""
        analysis = world(self.needing(refusal, competes=competes), *self.policies)
        assert refused(analysis) == expected
        assert states(analysis)["a"] == "Invalid"

    def test_where_all_others_are_refused_nothing_is_left(self) -> None:
        """The fate names who keeps them out, although it brings nothing itself."""
        analysis = world(self.needing("there", competes=True), *self.policies[:2])
        (found,) = analysis.effective(G)
        assert (found.resolution.spec, found.resolution.members, names(found.resolution.rejected)) == (
            {},
            frozenset(),
            {"b"},
        )
        (fate,) = found.resolution.fates
        assert [one.object.name for one in fate.superseded_by] == ["a"]

    def test_a_policy_that_is_attached_and_competes_elsewhere(self) -> None:
        """Only its own targets are kept."""
        analysis = world(self.needing("everywhere", competes=True), *self.policies[1:])
        assert refused(analysis) == {"c on r": "b x"}


def test_each_variant_of_a_kind_has_refusals_of_its_own() -> None:
    """Which was asked first does not matter."""
    whole = Variant(targets=frozenset({HTTP_ROUTE}), whole_fields=frozenset({"m"}))
    profile = replace(EVERYWHERE, variants=(whole,))
    policies = policy("a", ON_G, age=1, m={"x": 1}), policy("b", ON_G, age=2, m={"y": 2})
    for places in ((G, R), (R, G)):
        analysis = world(profile, *policies)
        found = {place.kind: plain(one.resolution.spec) for place in places for one in analysis.effective(place)}
        assert found == {"Gateway": {"m": {"x": 1, "y": 2}}, "HTTPRoute": {"m": {"x": 1}}}


def test_what_is_no_policy_is_not_refused() -> None:
    """Nor is anything where nothing is attached."""
    analysis = world(EVERYWHERE)
    assert analysis.resolver.refusal(G.object, G) is None
    assert analysis.resolver.refusal(policy("p").ref, G) is None


class TestWeights:
    """An annotation orders the policies on one target, greatest first, before their age does."""

    profile: Final = replace(DISJOINT, same_level="first-wins", weight_annotation="example.com/weight")

    def weighing(self, name: str, weight: str | None, age: int) -> Resource:
        """A policy with such an annotation."""
        found = policy(name, ON_G, age=age, by=name)
        metadata = found.raw["metadata"]
        assert isinstance(metadata, dict)
        annotations = {} if weight is None else {"annotations": {"example.com/weight": weight}}
        return replace(found, raw={**found.raw, "metadata": {**metadata, **annotations}})

    @pytest.mark.parametrize(
        ("a", "b", "c", "first"),
        [
            (None, None, None, "a"),
            (None, "1", "2", "c"),
            ("-1", None, "-2", "b"),
            ("3", "3", "+3", "a"),
            ("10", "9", None, "a"),
            ("5", "05", None, "a"),
        ],
    )
    def test_the_greatest_comes_first(self, a: str | None, b: str | None, c: str | None, first: str) -> None:
        """Of equal ones the oldest; a policy without one has 0."""
        weights = {"a": a, "b": b, "c": c}
        policies = [self.weighing(name, weight, age) for age, (name, weight) in enumerate(weights.items())]
        (found,) = world(self.profile, *policies).effective(R)
        assert plain(found.resolution.spec) == {"by": first}
