"""Laws of patches: without sources they are RFC 7386 or a strategic merge, and what is removed stays removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, leaves, plain
from kubectl_policy.model import Json
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.profiles.fields import Fold
from kubectl_policy.resolution import Contribution, Traced
from kubectl_policy.resolution.merging import fold
from kubectl_policy.resolution.traced import Field, patched, trace, with_keyed_lists
from tests.property.merges import KEYS, PATCHES, SPECS, documents, merge_patch, named_lists, strategic_merge
from tests.resolution.build import declares, source

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


DIRECTIONS: Final[tuple[Fold, ...]] = ("bottom-up", "top-down")
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


WAYS = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE))


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


@given(lists=st.lists(st.tuples(named_lists(nulls=False), WAYS), min_size=1, max_size=4), whole=st.booleans())
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


@given(lists=st.lists(st.tuples(st.lists(st.sampled_from("ab"), max_size=3), WAYS), min_size=1, max_size=4))
def test_appended_lists_keep_every_element(lists: list[tuple[list[Json], MergeStrategy]]) -> None:
    parts = [keys_apart(f"p{number}", "appended", *found) for number, found in enumerate(lists)]
    for direction in DIRECTIONS:
        found = items_at(plain(fold(parts, direction).spec), "appended")
        assert sorted(map(str, found)) == sorted(str(element) for elements, _ in lists for element in elements)
