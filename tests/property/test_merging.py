"""Laws of merging and of JSON merge patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, leaves, plain
from kubectl_policy.model import Json
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.profiles.fields import Fold
from kubectl_policy.resolution import Contribution, Traced
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of
from kubectl_policy.resolution.merging import fold, fold_by_challenger, merge
from kubectl_policy.resolution.traced import Field, patched, trace, with_keyed_lists
from tests.property.choices import (
    KEYS,
    PATCHES,
    SPECS,
    TARGETS,
    documents,
    merge_patch,
    merging_profiles,
    named_lists,
    strategic_merge,
)
from tests.resolution.build import PATH, declares, layer, resolve, set_by, source

PATCHING = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE))
STRATEGIES = st.sampled_from(MergeStrategy)
DIRECTIONS: Final[tuple[Fold, ...]] = ("bottom-up", "top-down")


@given(spec=PATCHES, strategy=STRATEGIES, direction=st.sampled_from(DIRECTIONS))
def test_one_policy_alone_is_what_it_declares(spec: dict[str, Json], strategy: MergeStrategy, direction: Fold) -> None:
    alone = declares("p", spec, strategy)
    assert fold([alone], direction) == layer(alone)


@given(spec=PATCHES, strategy=STRATEGIES, empty=st.booleans(), profile=merging_profiles())
def test_one_challenger_alone_is_what_it_declares(
    spec: dict[str, Json], strategy: MergeStrategy, *, empty: bool, profile: PolicyKindProfile
) -> None:
    alone = declares("p", spec, strategy, empty=empty)
    assert fold_by_challenger([alone], profile) == layer(alone)


@given(spec=st.one_of(SPECS, documents(nulls=False)), strategy=STRATEGIES, profile=merging_profiles())
def test_one_policy_alone_is_effective_as_it_is_written(
    spec: dict[str, Json], strategy: MergeStrategy, profile: PolicyKindProfile
) -> None:
    """Whatever the kind takes whole, merges by keys, ignores or counts as empty; nothing of it has another fate."""
    alone = contribution_of(source("p"), DeclaredStanza("spec", strategy, spec), profile)
    effective = resolve(PATH, profile, (alone,))
    assert plain(effective.resolution.spec) == ({"default/p": spec} if strategy is MergeStrategy.ALL_APPLY else spec)
    assert {fate.state for fate in effective.resolution.fates} <= {"effective"}
    assert (effective.resolution.rejected, effective.resolution.doubts) == (frozenset(), frozenset())


@given(spec=PATCHES, strategy=PATCHING)
def test_an_empty_policy_above_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    """Of those that patch: what declares nothing sets nothing and removes nothing."""
    below = declares("p", spec)
    assert merge(layer(declares("q", {}, strategy)), layer(below)).spec == below.spec


@given(spec=st.one_of(PATCHES, documents(nulls=True)))
def test_an_empty_spec_is_neutral(spec: dict[str, Json]) -> None:
    whole = trace(spec, source("p"))
    for traced in (whole, with_keyed_lists(whole, KEYS)):
        assert patched({}, traced) == patched(traced, {}) == traced


@given(spec=PATCHES, strategy=STRATEGIES)
def test_merging_with_itself_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    one = layer(declares("p", spec, strategy))
    again = merge(one, one)
    assert (again.spec, again.strategy, again.members) == (one.spec, one.strategy, one.members)


@given(above=PATCHES, below=PATCHES, strategy=STRATEGIES)
def test_merging_once_more_with_what_is_above_changes_nothing(
    above: dict[str, Json], below: dict[str, Json], strategy: MergeStrategy
) -> None:
    """What an established policy has done to a challenger, it does once."""
    established, challenger = layer(declares("p", above, strategy)), layer(declares("q", below))
    once = merge(established, challenger)
    assert merge(established, once).spec == once.spec


@given(spec=documents(nulls=True))
def test_lists_are_not_appended_to_themselves(spec: dict[str, Json]) -> None:
    """Neither by their keys nor one after the other, where both sides are one policy's."""
    traced = with_keyed_lists(trace(spec, source("p")), KEYS)
    assert patched(traced, traced) == traced


@given(spec=st.one_of(PATCHES, documents(nulls=True)), strategy=STRATEGIES, profile=merging_profiles())
def test_a_policy_on_two_targets_of_a_path_is_in_force_as_it_is_written(
    spec: dict[str, Json], strategy: MergeStrategy, profile: PolicyKindProfile
) -> None:
    """It neither beats itself nor adds to itself, whatever the kind chooses."""
    parts = [
        contribution_of(
            replace(source("p", overrides=strategy.overrides), target=place),
            DeclaredStanza("spec", strategy, spec),
            profile,
        )
        for place in TARGETS
    ]
    alone, thrice = (resolve(PATH, profile, tuple(found)) for found in (parts[:1], parts))
    assert plain(thrice.resolution.spec) == plain(alone.resolution.spec)
    assert thrice.resolution.policies_in_force == alone.resolution.policies_in_force


@given(above=PATCHES, below=PATCHES, strategy=STRATEGIES, other=STRATEGIES)
def test_two_policies_fold_alike(
    above: dict[str, Json], below: dict[str, Json], strategy: MergeStrategy, other: MergeStrategy
) -> None:
    """There is only one pair to merge first."""
    parts = [declares("p", above, strategy), declares("q", below, other)]
    up, down = fold(parts, "bottom-up"), fold(parts, "top-down")
    assert (up.spec, up.members, up.rejected) == (down.spec, down.members, down.rejected)


NUMBERS: Final[st.SearchStrategy[dict[str, Json]]] = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))
POLICIES: Final = st.lists(st.tuples(st.sampled_from(("Patch defaults", "Patch overrides")), NUMBERS), min_size=1)


@given(policies=POLICIES)
def test_a_default_gives_way_to_all_that_is_below_it(policies: list[tuple[str, dict[str, Json]]]) -> None:
    """Whatever stands between the two, and in whichever direction one goes."""
    parts = [declares(str(place), spec, strategy) for place, (strategy, spec) in enumerate(policies)]
    for direction in DIRECTIONS:
        for field, (_, name) in set_by(fold(parts, direction).spec).items():
            place = int(name)
            below = (spec for _, spec in policies[place + 1 :])
            assert policies[place][0] == "Patch overrides" or not any(field in spec for spec in below)


Specs: TypeAlias = "st.SearchStrategy[dict[str, Json]]"
Merge: TypeAlias = "Callable[[Json, Json], Json]"
Definition: TypeAlias = "tuple[Merge, Specs, Specs, Mapping[Field, str]]"
RFC_7386: Final[Definition] = (merge_patch, SPECS, PATCHES, {})
STRATEGIC: Final[Definition] = (strategic_merge, documents(nulls=False), documents(nulls=True), KEYS)
BOTH: Final = pytest.mark.parametrize(("merge", "specs", "patches", "keys"), [RFC_7386, STRATEGIC])


def declared_by(name: str, spec: dict[str, Json], keys: Mapping[Field, str] = KEYS) -> Traced:
    """Return a spec as a policy of that name declares it, lists by their keys."""
    return with_keyed_lists(trace(spec, source(name)), keys)


@BOTH
@given(data=st.data())
def test_the_traced_merge_minus_sources_is_the_defined_one(
    merge: Merge, specs: Specs, patches: Specs, keys: Mapping[Field, str], data: st.DataObject
) -> None:
    """For any spec without nulls and any patch; tombstones that it left do not disturb a second one."""
    target, first, second = (data.draw(each) for each in (specs, patches, patches))
    once = patched(declared_by("old", target, keys), declared_by("new", first, keys))
    assert plain(once) == merge(target, first)
    assert plain(patched(once, declared_by("newer", second, keys))) == merge(merge(target, first), second)


# The examples of RFC 7386, appendix A, as far as target and patch are objects.
APPENDIX: list[tuple[dict[str, Json], dict[str, Json], dict[str, Json]]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "patch", "result"), APPENDIX, ids=str)
def test_the_examples_of_the_rfc(target: dict[str, Json], patch: dict[str, Json], result: dict[str, Json]) -> None:
    """The one difference: a null in the target is a removal here, and `{"e":null}` keeps it there."""
    assert plain(patched(trace(target, source("old")), trace(patch, source("new")))) == result


REMOVING = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE))
SETTINGS = st.one_of(SPECS, documents(nulls=False))
CHANGES = st.one_of(PATCHES, documents(nulls=True))


@given(above=SETTINGS, below=CHANGES, lowest=SETTINGS, strategy=REMOVING)
def test_what_is_removed_below_does_not_come_back_from_above(
    above: dict[str, Json], below: dict[str, Json], lowest: dict[str, Json], strategy: MergeStrategy
) -> None:
    """Neither the field nor anything in it, whatever a third policy sets there; also inside elements of lists."""
    keys: Mapping[Field, str] = KEYS if strategy is MergeStrategy.STRATEGIC_MERGE else {}
    declared = [
        declares(name, spec, strategy) for name, spec in (("above", above), ("below", below), ("lowest", lowest))
    ]
    parts = [replace(part, spec=with_keyed_lists(part.spec, keys)) for part in declared]
    removed = {field for field, leaf in leaves(parts[1].spec) if leaf.removed}
    for direction in DIRECTIONS:
        for field, leaf in leaves(fold(parts, direction).spec):
            inside = {field[:length] for length in range(1, len(field) + 1)}
            assert not inside & removed or leaf.source.object.name != "above"


@given(target=SPECS, patch=PATCHES)
def test_a_removal_has_a_source(target: dict[str, Json], patch: dict[str, Json]) -> None:
    """Every tombstone in what comes out is one that the patch put there."""
    merged = patched(trace(target, source("old")), trace(patch, source("new")))
    declared = dict(leaves(trace(patch, source("new"))))
    for field, leaf in leaves(merged):
        assert leaf.removed == (leaf.value is None)
        assert not leaf.removed or declared[field] == leaf


def keys_apart(name: str, field: str, elements: list[Json], strategy: MergeStrategy) -> Contribution:
    """Return the contribution of a policy with that list, lists by their keys."""
    part = declares(name, {field: elements}, strategy)
    return replace(part, spec=with_keyed_lists(part.spec, KEYS))


@given(spec=documents(nulls=False))
def test_what_is_taken_apart_is_still_the_same(spec: dict[str, Json]) -> None:
    """Nothing is lost or moved before there is anything to merge with; to take it apart again changes nothing."""
    once = declared_by("p", spec)
    assert plain(once) == spec
    assert with_keyed_lists(once, KEYS) == once


@given(lists=st.lists(st.tuples(named_lists(nulls=False), PATCHING), min_size=1, max_size=4), whole=st.booleans())
def test_no_element_of_anybody_is_lost(lists: list[tuple[list[Json], MergeStrategy]], *, whole: bool) -> None:
    """Of any number of policies that patch, in any direction, field by field or whole (`named[name]`)."""
    parts = [
        declares(f"p{number}", {"named": elements}, strategy, whole=[("named[name]",)])
        if whole
        else keys_apart(f"p{number}", "named", elements, strategy)
        for number, (elements, strategy) in enumerate(lists)
    ]
    for direction in DIRECTIONS:
        found = [text_at(element, "name") for element in items_at(plain(fold(parts, direction).spec), "named")]
        assert len(found) == len(set(found))
        assert set(found) == {text_at(element, "name") for elements, _ in lists for element in elements}


@given(lists=st.lists(st.tuples(st.lists(st.sampled_from("ab"), max_size=3), PATCHING), min_size=1, max_size=4))
def test_appended_lists_keep_every_element(lists: list[tuple[list[Json], MergeStrategy]]) -> None:
    parts = [keys_apart(f"p{number}", "appended", *found) for number, found in enumerate(lists)]
    for direction in DIRECTIONS:
        found = items_at(plain(fold(parts, direction).spec), "appended")
        assert sorted(map(str, found)) == sorted(str(element) for elements, _ in lists for element in elements)
