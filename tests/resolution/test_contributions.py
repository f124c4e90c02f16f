"""What a stanza brings to a path: nulls, empty settings, fields that come whole, and settings that stay apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, plain
from kubectl_policy.model import GroupKind
from kubectl_policy.resolution.contributions import Stanza, contribution_of
from tests.resolution.specs import set_by, source

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.resolution import Contribution

PLAIN: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")
IGNORING: Final = replace(PLAIN, nulls="ignore")


def brought(
    spec: dict[str, Json],
    profile: PolicyKindProfile = PLAIN,
    strategy: MergeStrategy = MergeStrategy.PATCH_DEFAULTS,
    field: str = "spec",
) -> Contribution:
    """What policy `p` brings with that spec."""
    return contribution_of(source("p"), Stanza(field, strategy, spec), profile)


class TestNulls:
    """A null removes a field, unless the kind ignores it."""

    spec: Final[dict[str, Json]] = {"a": None, "b": {"c": None, "d": 1}, "e": {"f": None}, "l": [None, {"g": None}]}

    def test_a_null_is_a_removal(self) -> None:
        """Remembered with its source."""
        assert set_by(brought(self.spec).spec) == {
            "a": (None, "p"),
            "b.c": (None, "p"),
            "b.d": (1, "p"),
            "e.f": (None, "p"),
            "l": ([None, {"g": None}], "p"),
        }

    def test_an_ignored_null_is_nothing(self) -> None:
        """At any depth of maps; the map that held it stays, and lists are values."""
        assert set_by(brought(self.spec, IGNORING).spec) == {
            "b.d": (1, "p"),
            "e": ({}, "p"),
            "l": ([None, {"g": None}], "p"),
        }


class TestEmpty:
    """A spec without the field that the kind is about."""

    about: Final = replace(PLAIN, empty_without="rules.all")

    @pytest.mark.parametrize("spec", [{}, {"a": 1}, {"rules": 7}, {"rules": {"other": 1}}, {"rules": {"all": {}}}])
    def test_without_the_field(self, spec: dict[str, Json]) -> None:
        """Or with nothing in it; a kind that is about nothing in particular is never empty."""
        assert brought(spec, self.about).empty
        assert not brought(spec).empty

    def test_with_the_field(self) -> None:
        """Whatever else there is or is not."""
        assert not brought({"rules": {"all": {"x": 1}}}, self.about).empty

    def test_a_null_is_no_setting(self) -> None:
        """Whether it removes or is ignored."""
        for profile in (self.about, replace(self.about, nulls="ignore")):
            assert brought({"rules": {"all": None}}, profile).empty

    def test_in_a_stanza_the_field_is_looked_for_in_the_stanza(self) -> None:
        """The field is one of the spec proper."""
        assert not brought({"rules": {"all": 1}}, self.about, field="spec.defaults").empty


class TestWholeFields:
    """Fields that a merge takes whole from one policy."""

    def test_those_of_the_profile(self) -> None:
        """As paths, with their patterns."""
        profile = replace(PLAIN, whole_fields=frozenset({"limits.*", "rules[name]", "a.b"}))
        spec: dict[str, Json] = {
            "limits": {"x": {"y": 1}},
            "rules": [{"name": "n", "z": {"y": 1}}],
            "a": {"b": {"c": 1}, "d": {"c": 1}},
        }
        assert set_by(brought(spec, profile).spec) == {
            "limits.x": ({"y": 1}, "p"),
            "rules.n": ({"name": "n", "z": {"y": 1}}, "p"),
            "a.b": ({"c": 1}, "p"),
            "a.d.c": (1, "p"),
        }

    def test_those_of_the_schema_in_experimental_stanzas_alone(self) -> None:
        """Maps of scalars below this stanza; not below another one, nor in a plural stanza, nor bare."""
        fields = frozenset({"default.headers", "override.labels", "defaults.headers", "headers"})
        profile = replace(PLAIN, map_fields=fields)
        spec: dict[str, Json] = {"headers": {"x": 1}, "labels": {"x": 1}}
        assert set(set_by(brought(spec, profile, field="spec.default").spec)) == {"headers", "labels.x"}
        assert set(set_by(brought(spec, profile, field="spec.override").spec)) == {"headers.x", "labels"}
        assert set(set_by(brought(spec, profile, field="spec.defaults").spec)) == {"headers.x", "labels.x"}
        assert set(set_by(brought(spec, profile).spec)) == {"headers.x", "labels.x"}


class TestAllApply:
    """Each policy keeps its settings apart, below its own name."""

    def test_below_the_name_of_the_policy(self) -> None:
        """So that those of two policies never meet."""
        found = brought({"a": {"b": 1}, "c": [2]}, strategy=MergeStrategy.ALL_APPLY)
        assert plain(found.spec) == {"default/p": {"a": {"b": 1}, "c": [2]}}
        assert found.strategy is MergeStrategy.ALL_APPLY

    def test_a_policy_that_sets_nothing_is_there_all_the_same(self) -> None:
        """An empty policy may mean a lot (deny everything)."""
        assert plain(brought({}, strategy=MergeStrategy.ALL_APPLY).spec) == {"default/p": {}}

    def test_whole_fields_are_those_of_the_spec(self) -> None:
        """The name above them does not matter."""
        profile = replace(PLAIN, whole_fields=frozenset({"m", "rules[name]"}), empty_without="m")
        found = brought({"m": {"x": 1}, "rules": [{"name": "n"}]}, profile, MergeStrategy.ALL_APPLY)
        assert set_by(found.spec) == {
            '["default/p"].m': ({"x": 1}, "p"),
            '["default/p"].rules.n': ({"name": "n"}, "p"),
        }
        assert not found.empty
