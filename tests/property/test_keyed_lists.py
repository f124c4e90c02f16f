"""The laws of lists that merge by keys: they merge as Kubernetes' strategic merge does, and lose no element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, plain
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.resolution.merging import fold
from kubectl_policy.resolution.traced import keyed, patched, trace
from tests.property.strategic import KEYS, documents, named_lists, strategic_merge
from tests.resolution.specs import declares, source

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.profile import Fold
    from kubectl_policy.resolution import Contribution, Traced

DIRECTIONS: Final[tuple[Fold, ...]] = ("bottom-up", "top-down")
WAYS = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES, MergeStrategy.STRATEGIC_MERGE))


def taken_apart(spec: dict[str, Json], name: str) -> Traced:
    """A spec as a policy of that name declares it, lists by their keys."""
    return keyed(trace(spec, source(name)), KEYS)


def keys_apart(name: str, field: str, elements: list[Json], strategy: MergeStrategy) -> Contribution:
    """What a policy with that list contributes, lists by their keys."""
    part = declares(name, {field: elements}, strategy)
    return replace(part, spec=keyed(part.spec, KEYS))


@given(target=documents(nulls=False), patch=documents(nulls=True))
def test_the_keyed_merge_minus_sources_is_a_strategic_merge(target: dict[str, Json], patch: dict[str, Json]) -> None:
    """For any spec without nulls and any patch."""
    merged = patched(taken_apart(target, "old"), taken_apart(patch, "new"))
    assert plain(merged) == strategic_merge(target, patch)


@given(target=documents(nulls=False), first=documents(nulls=True), second=documents(nulls=True))
def test_so_it_is_for_patches_one_after_the_other(
    target: dict[str, Json], first: dict[str, Json], second: dict[str, Json]
) -> None:
    """Tombstones that a first patch left do not disturb the second one."""
    once = patched(taken_apart(target, "old"), taken_apart(first, "new"))
    assert plain(patched(once, taken_apart(second, "newer"))) == strategic_merge(strategic_merge(target, first), second)


@given(spec=documents(nulls=False))
def test_what_is_taken_apart_is_still_the_same(spec: dict[str, Json]) -> None:
    """Nothing is lost or moved before there is anything to merge with; to take it apart again changes nothing."""
    once = taken_apart(spec, "p")
    assert plain(once) == spec
    assert keyed(once, KEYS) == once


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
    """Equal ones as well."""
    parts = [keys_apart(f"p{number}", "appended", *found) for number, found in enumerate(lists)]
    for direction in DIRECTIONS:
        found = items_at(plain(fold(parts, direction).spec), "appended")
        assert sorted(map(str, found)) == sorted(str(element) for elements, _ in lists for element in elements)
