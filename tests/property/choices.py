"""Random profiles with every choice that merging depends on, and contributions of policies along a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import GroupKind, MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.resolution import Contribution
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of
from tests.build import node
from tests.property.merges import KEYS, PATCHES, documents
from tests.resolution.build import source

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
