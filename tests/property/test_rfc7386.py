"""The law that a traced merge without its sources is RFC 7386's merge of the plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from kubectl_policy import plain
from kubectl_policy.resolution.traced import patched, trace
from tests.property.rfc7386 import PATCHES, SPECS, merge_patch
from tests.resolution.specs import source

if TYPE_CHECKING:
    from kubectl_policy.model import Json


@given(target=SPECS, patch=PATCHES)
def test_the_traced_merge_minus_sources_is_rfc_7386(target: dict[str, Json], patch: dict[str, Json]) -> None:
    """For any spec without nulls and any patch."""
    assert plain(patched(trace(target, source("old")), trace(patch, source("new")))) == merge_patch(target, patch)


@given(target=SPECS, first=PATCHES, second=PATCHES)
def test_so_it_is_for_patches_one_after_the_other(
    target: dict[str, Json], first: dict[str, Json], second: dict[str, Json]
) -> None:
    """Tombstones that a first patch left do not disturb the second one."""
    once = patched(trace(target, source("old")), trace(first, source("new")))
    assert plain(patched(once, trace(second, source("newer")))) == merge_patch(merge_patch(target, first), second)


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
