"""RFC 7386, section 2, word for word, on plain values: what traced merges are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_SCALARS = st.sampled_from((0, 1, "x", True))


def merge_patch(target: Json, patch: Json) -> Json:
    """`define MergePatch(Target, Patch)`."""
    if not isinstance(patch, dict):
        return patch
    result: dict[str, Json] = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch(result.get(name), value)
    return result


def _objects(leaves: st.SearchStrategy[Json]) -> st.SearchStrategy[dict[str, Json]]:
    values = st.recursive(
        leaves, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=5
    )
    return st.dictionaries(st.sampled_from("abc"), values, max_size=3)


_LISTS: st.SearchStrategy[Json] = st.lists(st.one_of(_SCALARS, st.none()), max_size=2)
# Specs as the API server stores them hold no nulls; patches may.
SPECS = _objects(st.one_of(_SCALARS, _LISTS))
PATCHES = _objects(st.one_of(_SCALARS, _LISTS, st.none()))
