"""What of a policy counts on a path at all: what controllers ignore, and settings for single ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import EffectivePolicy, MergeStrategy, PolicyKindProfile, TargetLevel, plain
from kubectl_policy.model import Json, NodeRef
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.profiles.merging import IgnoredPart, JointField, PortField
from kubectl_policy.resolution.contributions import counting_part, ignored_fields
from kubectl_policy.resolution.merging import PathContext
from kubectl_policy.resolution.traced import trace, without
from kubectl_policy.topology.gateway.listeners import Listener
from tests.build import node
from tests.resolution.build import UNSAID, brings, fates, listener_at, owners, refusing, resolve, source, superseders

G, L, R = node("Gateway", "g"), node("Gateway", "g", "l"), node("HTTPRoute", "r")
PATH: Final = (G, L, R)
PATCHING: Final = replace(UNSAID, strategy=MergeStrategy.PATCH_DEFAULTS, stanzas="none")
ON_LISTENERS: Final = (TargetLevel(GATEWAY, section=True),)
ON_GATEWAYS: Final = (TargetLevel(GATEWAY),)
HTTP, HTTPS = listener_at(L), listener_at(L, "HTTPS", 443)
PORTS: Final = replace(
    PATCHING,
    joint_fields=(JointField(field="ports", within=("level",), by="[n]"),),
    port_field=PortField("ports", "n", "all.of"),
)


def passing_over(
    *fields: str,
    levels: tuple[TargetLevel, ...] = ON_LISTENERS,
    protocols: str = "",
    values: tuple[str, ...] = (),
    profile: PolicyKindProfile = PATCHING,
) -> PolicyKindProfile:
    return replace(
        profile,
        ignored=(
            IgnoredPart(levels=levels, fields=fields, protocols=frozenset(protocols.split()), values=frozenset(values)),
        ),
    )


def at_route(
    profile: PolicyKindProfile,
    *policies: tuple[str, NodeRef, Mapping[str, Json]],
    listener: Listener | None = HTTP,
    refused: str = "",
) -> EffectivePolicy:
    """What policies amount to at the route, by way of a listener; some of them are refused for another one."""
    parts = tuple(brings(name, spec, where, profile) for name, where, spec in policies)
    out = [part.source for part in parts if part.source.object.name in refused.split()]
    context = refusing(source("older"), *out) if out else PathContext()
    return resolve(PATH, profile, parts, replace(context, listener=listener))


class TestLevels:
    """Policies on some levels count for nothing, perhaps only below listeners of some protocols."""

    @pytest.mark.parametrize(
        ("protocols", "listener", "counts"),
        [
            ("", HTTP, False),
            ("", None, False),
            ("HTTP", HTTP, False),
            ("HTTP TLS", HTTP, False),
            ("HTTP", HTTPS, True),
            ("HTTP", None, True),
        ],
    )
    def test_below_which_listeners(self, protocols: str, listener: Listener | None, *, counts: bool) -> None:
        """Without protocols everywhere; a path by way of no listener has none of them."""
        found = at_route(passing_over(protocols=protocols), ("p", L, {"a": 1}), listener=listener)
        assert plain(found.resolution.spec) == ({"a": 1} if counts else {})
        assert owners(found.resolution.members) == ({"p"} if counts else set())
        assert owners(found.resolution.ignored_sources) == (set() if counts else {"p"})
        assert found.resolution.policies_in_force == {one.object for one in found.resolution.members}
        assert fates(found)["p", "a"].state == ("effective" if counts else "unheeded")

    def test_on_other_levels_nothing_is_passed_over(self) -> None:
        found = at_route(passing_over(), ("p", G, {"a": 1}), ("q", R, {"b": 1}))
        assert plain(found.resolution.spec) == {"a": 1, "b": 1}
        assert (found.resolution.ignored_sources, found.resolution.ignored_fields) == (frozenset(), {})

    def test_who_would_win_does_not(self) -> None:
        """What it would have beaten stands, and nobody has beaten it."""
        found = at_route(passing_over(), ("p", G, {"a": 1}), ("q", L, {"a": 2}))
        assert plain(found.resolution.spec) == {"a": 1}
        assert (fates(found)["q", "a"].state, fates(found)["q", "a"].superseded_by) == ("unheeded", ())
        assert fates(found)["p", "a"].state == "effective"

    def test_of_any_kind(self) -> None:
        """Whatever strategy decides: one that would refuse, replace or override others does not."""
        for strategy in MergeStrategy:
            profile = passing_over(profile=replace(PATCHING, strategy=strategy))
            found = at_route(profile, ("p", L, {"a": 1}), ("q", R, {"b": 2}))
            assert owners(found.resolution.members) == {"q"}
            assert found.resolution.rejected == frozenset()
            assert {fate.state for fate in found.resolution.fates if fate.source.object.name == "p"} == {"unheeded"}

    def test_a_policy_that_declares_nothing(self) -> None:
        found = at_route(passing_over(), ("p", L, {}))
        assert (owners(found.resolution.ignored_sources), found.resolution.policies_in_force) == ({"p"}, frozenset())
        assert found.resolution.fates == ()

    def test_what_is_refused_is_refused(self) -> None:
        found = at_route(passing_over(), ("p", L, {"a": 1}), refused="p")
        assert fates(found)["p", "a"].state == "rejected"


class TestFields:
    def test_some_fields(self) -> None:
        profile = passing_over("a", "m.x", "m.y.z", "n.x", "ghost", "b.c")
        spec: Mapping[str, Json] = {"a": {"b": 1}, "m": {"x": 1, "w": 1, "y": {"z": 1}}, "n": {"x": 1}, "b": 1}
        found = at_route(profile, ("p", L, spec))
        assert plain(found.resolution.spec) == {"m": {"w": 1}, "b": 1}
        unheeded = {fate.field for fate in found.resolution.fates if fate.state == "unheeded"}
        assert unheeded == {"a.b", "m.x", "m.y.z", "n.x"}
        assert found.resolution.ignored_sources == frozenset()

    def test_every_field(self) -> None:
        """Then the policy is not in force, and beats nobody."""
        profile = passing_over("a.b", profile=replace(PATCHING, strategy=MergeStrategy.ATOMIC_DEFAULTS))
        found = at_route(profile, ("p", G, {"c": 1}), ("q", L, {"a": {"b": 1}}))
        assert plain(found.resolution.spec) == {"c": 1}
        assert owners(found.resolution.ignored_sources) == {"q"}

    @pytest.mark.parametrize(
        ("value", "counts"), [(False, False), (0, True), (True, True), ("false", True), ("off", False), (None, True)]
    )
    def test_some_values(self, value: Json, *, counts: bool) -> None:
        profile = passing_over("m.x", values=("false", '"off"'))
        found = at_route(profile, ("p", L, {"m": {"x": value}, "a": 1}))
        assert (fates(found)["p", "m.x"].state == "effective") == counts

    def test_where_policies_stand_beside_each_other(self) -> None:
        """The name below which the settings of each stand is none of its fields."""
        for profile in (replace(PATCHING, strategy=MergeStrategy.ALL_APPLY), replace(PATCHING, same_level="all-apply")):
            found = at_route(passing_over("a", profile=profile), ("p", L, {"a": 1, "b": 1}), ("q", L, {"a": 1}))
            assert plain(found.resolution.spec) == {"default/p": {"b": 1}}
            assert owners(found.resolution.ignored_sources) == {"q"}

    def test_the_same_value_of_another_policy(self) -> None:
        """The Gateway's true is not undone by a route's false that nobody writes down."""
        levels = (*ON_GATEWAYS, TargetLevel(HTTP_ROUTE))
        profile = passing_over("dry", levels=levels, values=("false",))
        found = at_route(profile, ("p", G, {"dry": True}), ("q", R, {"dry": False, "a": 1}))
        assert plain(found.resolution.spec) == {"dry": True, "a": 1}
        assert fates(found)["q", "dry"].state == "unheeded"


class TestPorts:
    """For the port of the path, an entry of a list stands instead of a field."""

    spec: Final[Mapping[str, Json]] = {
        "all": {"of": {"a": 1, "b": 1}, "other": 1},
        "ports": [{"n": 80, "a": 2}, {"n": 443, "a": 3}],
    }

    @pytest.mark.parametrize(
        ("listener", "expected"),
        [
            (HTTP, {"all": {"other": 1}, "ports": [{"n": 80, "a": 2}]}),
            (HTTPS, {"all": {"other": 1}, "ports": [{"n": 443, "a": 3}]}),
            (listener_at(L, port=81), {"all": {"of": {"a": 1, "b": 1}, "other": 1}}),
            (listener_at(L, port=None), {"all": {"of": {"a": 1, "b": 1}, "other": 1}}),
            (None, spec),
        ],
    )
    def test_by_way_of_a_listener(self, listener: Listener | None, expected: Mapping[str, Json]) -> None:
        """By its port; by way of none, all of it stands as it is."""
        found = at_route(PORTS, ("p", G, self.spec), listener=listener)
        assert plain(found.resolution.spec) == expected

    def test_it_beats_what_others_say_of_every_port(self) -> None:
        """Field by field or not; other ports' entries are passed over."""
        found = at_route(PORTS, ("p", G, {"ports": self.spec["ports"]}), ("q", L, {"all": {"of": {"b": 2}}, "c": 2}))
        assert plain(found.resolution.spec) == {"c": 2, "ports": [{"n": 80, "a": 2}]}
        assert superseders(fates(found)["q", "all.of.b"]) == {"p"}
        assert fates(found)["p", "ports.443.a"].state == "unheeded"
        assert fates(found)["p", "ports.80.a"].state == "effective"

    def test_what_is_lost_for_another_reason(self) -> None:
        profile = replace(PORTS, joint_fields=(*PORTS.joint_fields, JointField(field="m", within=("scopes",), by="*")))
        found = at_route(profile, ("p", G, {"ports": self.spec["ports"], "x": None}), ("q", L, {"m": {}, "x": 1}))
        assert superseders(fates(found)["p", "x"]) == {"q"}
        other = replace(PORTS, strategy=MergeStrategy.ATOMIC_DEFAULTS)
        lost = at_route(other, ("p", G, {"x": 1}), ("q", R, {"ports": self.spec["ports"], "all": {"of": 1}}))
        assert superseders(fates(lost)["p", "x"]) == {"q"}

    @pytest.mark.parametrize("ports", [[], {}, 7, [{"n": 80}, {"n": 80}], [{}], None, "80"], ids=str)
    def test_what_says_nothing_of_a_port(self, ports: Json) -> None:
        found = at_route(PORTS, ("p", G, {"all": {"of": {"a": 1}}, "ports": ports}))
        assert plain(found.resolution.spec)["all"] == {"of": {"a": 1}}

    def test_only_other_ports(self) -> None:
        found = at_route(PORTS, ("p", G, {"ports": [{"n": 443, "a": 3}]}))
        assert (found.resolution.spec, owners(found.resolution.ignored_sources), found.resolution.members) == (
            {},
            {"p"},
            frozenset(),
        )


def test_what_counts_whole_is_the_same_value() -> None:
    """Nothing is copied where nothing is passed over."""
    part = brings("p", {"a": 1}, L, PATCHING)
    assert counting_part(part, PATCHING, HTTP) is part
    assert ignored_fields(part, part, PATCHING) == {}
    assert ignored_fields(part, None, PATCHING) == {("a",): ""}


def test_a_spec_without_a_field() -> None:
    """A map that held nothing else goes with it; what is not there is not missed."""
    spec = trace({"a": {"b": {"c": 1}}, "d": 1}, source("p"))
    assert plain(without(spec, ["a", "b", "c"])) == {"d": 1}
    assert plain(without(spec, ["a", "b"])) == {"d": 1}
    assert plain(without(spec, ["d"])) == {"a": {"b": {"c": 1}}}
    for keys in (["x"], ["a", "x"], ["d", "x"], ["a", "b", "c", "x"]):
        assert plain(without(spec, keys)) == plain(spec)
