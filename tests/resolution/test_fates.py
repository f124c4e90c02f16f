"""The fate of every declared field: effective, superseded by whom, or refused with its policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.resolution.outcomes import PATH, UNSAID, fates, refusing, resolve, resolved, superseders
from tests.resolution.specs import declares, leaf_at, names, set_by, source

if TYPE_CHECKING:
    from kubectl_policy.model import Json


class TestFates:
    """Says: "Effective, superseded by (which policy, where), or without effect"."""

    def test_a_field_that_another_policy_sets_is_superseded_by_it(self) -> None:
        """By the policy that set this very field, not by whoever else is in force."""
        found = fates(
            resolved(
                declares("a", {"x": 1, "y": 1}, "Patch defaults"),
                declares("b", {"x": 2}, "Patch defaults"),
                declares("c", {"z": 3}),
            )
        )
        assert (found["a", "x"].state, superseders(found["a", "x"])) == ("superseded", {"b"})
        assert found["a", "x"].value == 1
        assert {found[key].state for key in (("a", "y"), ("b", "x"), ("c", "z"))} == {"effective"}

    def test_a_spec_that_is_replaced_whole_is_superseded_by_what_is_in_force(self) -> None:
        """Atomic defaults: nobody sets the field, and it is gone all the same."""
        found = fates(resolved(declares("a", {"x": 1}), declares("b", {"y": 2})))
        assert (found["a", "x"].state, superseders(found["a", "x"])) == ("superseded", {"b"})
        assert (found["b", "y"].state, found["b", "y"].superseded_by) == ("effective", ())

    def test_a_refused_policy_is_rejected_field_by_field(self) -> None:
        """Strategy None: in conflict with what is established."""
        found = fates(resolved(declares("a", {"x": 1}, "None"), declares("b", {"y": 2, "x": 1})))
        assert found["a", "x"].state == "effective"
        for field in ("x", "y"):
            assert (found["b", field].state, superseders(found["b", field])) == ("rejected", {"a"})

    def test_a_scalar_where_a_map_is_in_force(self) -> None:
        """Superseded by everybody who set something in the map."""
        found = fates(
            resolved(
                declares("a", {"m": 1}, "Patch defaults"),
                declares("b", {"m": {"x": 1}}, "Patch defaults"),
                declares("c", {"m": {"y": 1}}, "Patch defaults"),
            )
        )
        assert superseders(found["a", "m"]) == {"b", "c"}

    def test_a_map_where_a_scalar_is_in_force(self) -> None:
        """Superseded by the scalar."""
        found = fates(resolved(declares("a", {"m": {"x": {"y": 1}}}, "Patch defaults"), declares("b", {"m": 1})))
        assert superseders(found["a", "m.x.y"]) == {"b"}

    def test_a_field_below_what_is_gone(self) -> None:
        """The whole map is absent from what is in force."""
        found = fates(resolved(declares("a", {"m": {"x": {"y": 1}}}), declares("b", {"n": 1})))
        assert superseders(found["a", "m.x.y"]) == {"b"}

    def test_a_field_of_a_map_that_was_replaced_and_set_anew(self) -> None:
        """Superseded by those who are in the new map, not by everybody who took part, let alone by itself."""
        parts = (
            declares("a", {"m": {"x": {"y": 1}}, "n": 1}, "Patch defaults"),
            declares("b", {"m": {"x": 1}}, "Patch defaults"),
            declares("c", {"m": {"x": {"z": 1}}}, "Patch defaults"),
            declares("d", {"m": {"w": 1}}, "Patch defaults"),
        )
        found = fates(resolved(*parts))
        assert superseders(found["a", "m.x.y"]) == {"c"}
        assert superseders(found["b", "m.x"]) == {"c"}

    def test_an_empty_map_is_in_force_where_there_is_a_map(self) -> None:
        """Whoever declares `{}` has what was declared, with more in it."""
        found = fates(resolved(declares("a", {"m": {}}, "Patch defaults"), declares("b", {"m": {"x": 1}})))
        assert found["a", "m"].state == "effective"

    def test_a_removal_is_in_force(self) -> None:
        """The removal is effective, and what it removed is superseded by it."""
        effective = resolved(declares("a", {"x": 1}, "Patch defaults"), declares("b", {"x": None}))
        found = fates(effective)
        assert (found["b", "x"].state, found["b", "x"].value) == ("effective", None)
        assert superseders(found["a", "x"]) == {"b"}
        assert names(frozenset({leaf_at(effective.resolution.spec, "x").source})) == {"b"}

    def test_one_policy_that_sets_a_field_twice(self) -> None:
        """As a default and bare: only the value that is in force is effective."""
        parts = (declares("a", {"x": 1}), declares("a", {"x": 2}))
        found = [(fate.value, fate.state) for fate in resolved(*parts).resolution.fates]
        assert found == [(1, "superseded"), (2, "effective")]


class TestElements:
    """The fates of lists whose elements have names."""

    whole: Final = (("rules[name]",),)

    def test_each_element_has_its_own(self) -> None:
        """Like the fields of a map."""
        found = fates(
            resolved(
                declares("a", {"rules": [{"name": "x"}, {"name": "y"}]}, "Patch defaults", whole=self.whole),
                declares("b", {"rules": [{"name": "x", "n": 1}]}, whole=self.whole),
            )
        )
        assert superseders(found["a", "rules.x"]) == {"b"}
        assert found["a", "rules.y"].state == found["b", "rules.x"].state == "effective"

    def test_an_empty_list_is_in_force_where_there_is_such_a_list(self) -> None:
        """Whoever declares `[]` has what was declared, with more in it."""
        found = fates(
            resolved(
                declares("a", {"rules": []}, "Patch defaults", whole=self.whole),
                declares("b", {"rules": [{"name": "x"}]}, whole=self.whole),
            )
        )
        assert found["a", "rules"].state == "effective"

    def test_another_list_is_superseded_by_everybody_who_has_an_element(self) -> None:
        """Elements without names are not told apart; an empty map is no empty list."""
        values: list[Json] = [[1], {}]
        for value in values:
            found = fates(
                resolved(
                    declares("a", {"rules": value}, "Patch defaults", whole=self.whole),
                    declares("b", {"rules": [{"name": "x"}]}, "Patch defaults", whole=self.whole),
                    declares("c", {"rules": [{"name": "y"}]}, whole=self.whole),
                )
            )
            assert superseders(found["a", "rules"]) == {"b", "c"}

    def test_an_element_where_another_list_is_in_force(self) -> None:
        """Superseded by the whole list."""
        found = fates(
            resolved(
                declares("a", {"rules": [{"name": "x"}]}, "Patch defaults", whole=self.whole),
                declares("b", {"rules": [1]}, whole=self.whole),
            )
        )
        assert superseders(found["a", "rules.x"]) == {"b"}


class TestRefused:
    """Where only one policy applies to a target, the others are kept out of the merge."""

    parts = (
        declares("a", {"x": 1, "y": 1}, "Patch defaults", at="g"),
        declares("b", {"x": 2}, "Patch defaults", at="h"),
        declares("c", {"x": 3, "z": 3}, "Patch overrides", at="h"),
    )
    out: Final = source("c", overrides=True, at="h")
    context: Final = refusing(source("b", at="h"), out)

    def test_nothing_of_them_is_in_force(self) -> None:
        """Not even their overrides; the others merge as if they were not there."""
        found = resolve(PATH, UNSAID, self.parts, self.context)
        assert set_by(found.resolution.spec) == {"x": (2, "b"), "y": (1, "a")}
        assert (names(found.resolution.members), found.resolution.rejected, found.resolution.refusals) == (
            {"a", "b"},
            frozenset({self.out}),
            self.context.refused,
        )
        assert {one.name for one in found.resolution.policies_in_force} == {"a", "b"}

    def test_every_field_of_theirs_is_rejected_for_the_one_that_applies_there(self) -> None:
        """It is the policy on the same target, not what else is in force on the path."""
        found = fates(resolve(PATH, UNSAID, self.parts, self.context))
        for field in ("x", "z"):
            assert (found["c", field].state, superseders(found["c", field])) == ("rejected", {"b"})

    def test_a_conflict_in_the_merge_is_another_matter(self) -> None:
        """Strategy None refuses for whoever is established."""
        parts = (declares("n", {"x": 0}, "None", at="f"), *self.parts[1:])
        found = fates(resolve(PATH, UNSAID, parts, self.context))
        assert (found["b", "x"].state, superseders(found["b", "x"])) == ("rejected", {"n"})
        assert (found["c", "x"].state, superseders(found["c", "x"])) == ("rejected", {"b"})
