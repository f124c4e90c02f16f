"""Random profiles with every choice that merging depends on, contributions, and the merges that they are held to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import GroupKind, MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import Json
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.resolution import Contribution
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of
from kubectl_policy.resolution.traced import Field
from tests.build import node
from tests.resolution.build import source

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


# The lists of the documents below and the keys of their elements; an empty key appends.
KEYS: Final[Mapping[Field, str]] = {
    ("named",): "name",
    ("named", "inner"): "id",
    ("deep", "named"): "name",
    ("appended",): "",
}


def strategic_merge(target: Json, patch: Json, field: Field = ()) -> Json:
    """Maps key by key, where a null removes; lists with a key by their elements; all else is replaced.

    `mergeSlice` of apimachinery's strategicpatch: an element whose key is known merges with that one, the others are
    appended. Lists whose elements cannot be told apart are replaced, which there is an error.
    """
    if isinstance(patch, dict):
        result: dict[str, Json] = dict(target) if isinstance(target, dict) else {}
        for name, value in patch.items():
            result[name] = strategic_merge(result.get(name), value, (*field, name))
        return {name: value for name, value in result.items() if value is not None}
    if not isinstance(patch, list) or field not in KEYS:
        return patch
    if KEYS[field] == "":
        return [
            *_items(target),
            *(strategic_merge({}, item, field) if isinstance(item, dict) else item for item in patch),
        ]
    known, changes = _by_name(target, field), _by_name(patch, field)
    if len(changes) < len(patch) or (not patch and not known):
        return patch
    merged = {name: strategic_merge(known.get(name, {}), change, field) for name, change in changes.items()}
    return list((known | merged).values())


def _items(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else []


def _by_name(value: Json, field: Field) -> dict[str, Json]:
    """The elements of a list by the key of the list; none if one has no key, or not one of its own."""
    found: dict[str, Json] = {
        name: element
        for element in _items(value)
        if isinstance(element, dict) and isinstance(name := element.get(KEYS[field]), str)
    }
    return found if len(found) == len(_items(value)) else {}


def named_lists(*, nulls: bool) -> st.SearchStrategy[list[Json]]:
    """Lists of elements with a name each, some with a list inside."""
    scalars: st.SearchStrategy[Json] = st.sampled_from((1, 2, "v", None) if nulls else (1, 2, "v"))
    inner: st.SearchStrategy[Json] = _elements("id", _some(v=scalars))
    return _elements("name", _some(v=scalars, m=_some(a=scalars, b=scalars), inner=inner))


def documents(*, nulls: bool) -> st.SearchStrategy[dict[str, Json]]:
    """Specs with lists of every sort, and with other things in their places."""
    named = named_lists(nulls=nulls)
    scalars: st.SearchStrategy[Json] = st.sampled_from((1, "v", None) if nulls else (1, "v"))
    odd: tuple[Json, ...] = ([{"name": "x"}, {"name": "x"}], [{"v": 1}], [1], 7, {}, {"x": 1}, None if nulls else [])
    some: st.SearchStrategy[Json] = st.one_of(named, named, named, st.sampled_from(odd))
    appended: st.SearchStrategy[Json] = st.lists(st.one_of(st.integers(0, 2), _some(v=scalars)), max_size=2)
    return _some(named=some, deep=_some(named=some, other=scalars), appended=appended, plain=appended)


def _some(**values: st.SearchStrategy[Json]) -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries({}, optional=values)


def _elements(key: str, values: st.SearchStrategy[dict[str, Json]]) -> st.SearchStrategy[list[Json]]:
    return st.dictionaries(st.sampled_from("xyz"), values, max_size=3).map(
        lambda elements: [{key: name, **element} for name, element in elements.items()]
    )


Class = TypeVar("Class")


def values_of(
    cls: Callable[..., Class], *arguments: st.SearchStrategy[object], **fields: st.SearchStrategy[object]
) -> st.SearchStrategy[Class]:
    """Like `builds`, which would resolve the types of all fields: they are imported for type checkers alone."""

    def make(*values: object, **named: object) -> Class:
        return cls(*values, **named)

    return st.builds(make, *arguments, **fields)


TARGETS: Final = (node("Gateway", "g"), node("Gateway", "g", "http"), node("HTTPRoute", "r"))
_WHOLE: Final = st.frozensets(st.sampled_from(("a", "*", "b.*", "deep.other", "named[name]", "deep.named[name]")))
_LEVELS: Final = st.sampled_from(
    ((), (TargetLevel(GATEWAY),), (TargetLevel(GATEWAY, section=True), TargetLevel(HTTP_ROUTE)))
)


def merging_profiles() -> st.SearchStrategy[PolicyKindProfile]:
    """Profiles of a kind `ColorPolicy`."""
    return values_of(
        PolicyKindProfile,
        st.just(GroupKind("example.com", "ColorPolicy")),
        st.just("inherited"),
        st.just("profile"),
        whole_fields=_WHOLE,
        list_keys=st.sampled_from(({}, {".".join(field): key for field, key in KEYS.items()})),
        nulls=st.sampled_from(("remove", "ignore")),
        empty_without=st.sampled_from(("", "", "a", "named")),
        chooser=st.sampled_from(("established", "challenger")),
        merges_with=st.sampled_from(("every", "closest")),
        merge_parents=_LEVELS,
        fold=st.sampled_from((None, "bottom-up", "top-down")),
    )


@st.composite
def contributions(draw: st.DrawFn, profile: PolicyKindProfile) -> tuple[Contribution, ...]:
    """Draw the contributions of a few policies to a path, least specific first, each at one of its nodes."""
    places = sorted(draw(st.lists(st.sampled_from(range(len(TARGETS))), min_size=1, max_size=4)))
    specs = st.one_of(PATCHES, documents(nulls=True))
    found: list[Contribution] = []
    for number, place in enumerate(places):
        strategy = draw(st.sampled_from(MergeStrategy))
        who = replace(source(f"p{number}", overrides=strategy.overrides), target=TARGETS[place])
        found.append(contribution_of(who, DeclaredStanza("spec", strategy, draw(specs)), profile))
    return tuple(found)
