"""Random policy kinds: every choice of a profile that merging depends on, the usual ones most often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kinds import GATEWAY_API
from tests.property.world import OURS, Kind

if TYPE_CHECKING:
    from tests.property.world import Levels, Style

_GATEWAY, _HTTP_ROUTE = GroupKind(GATEWAY_API, "Gateway"), GroupKind(GATEWAY_API, "HTTPRoute")
_SERVICE = GroupKind("", "Service")
_LEVELS: Final[tuple[Levels, ...]] = (
    (),
    ((_SERVICE, False),),
    ((_SERVICE, True), (_SERVICE, False)),
    ((_HTTP_ROUTE, False),),
    ((_HTTP_ROUTE, True),),
    ((_GATEWAY, True),),
)
_PARENTS: Final[tuple[Levels, ...]] = ((), (), ((_GATEWAY, False), (_GATEWAY, True)), ((_HTTP_ROUTE, False),))
_STYLES: Final[tuple[Style, ...]] = ("bare", "bare", "bare", "plural", "plural", "singular", "apart", "keyed")
_WHOLE: Final = (
    frozenset[str](),
    frozenset({"m"}),
    frozenset({"m.*"}),
    frozenset({"*"}),
    frozenset({"l[name]"}),
    frozenset({"l[name]", "*.x", "m.l[name]"}),
)


@st.composite
def kinds(draw: st.DrawFn) -> Kind:
    """A kind without a name; challengers choose only where a policy can say how it merges."""
    style = draw(st.sampled_from(_STYLES))
    by_challenger = style == "bare" and draw(st.booleans())
    return Kind(
        "",
        direct=draw(st.sampled_from((False, False, True))),
        style=style,
        fold=draw(st.sampled_from((None, None, "bottom-up", "top-down"))),
        same_level=draw(
            st.sampled_from((None, None, "newest-challenges", "first-wins", "one-applies", "disjoint", "disjoint"))
        ),
        levels=draw(st.sampled_from(_LEVELS)),
        object_fields=draw(st.sampled_from(({}, {}, {"a": "spec.own.a", "m.x": "spec.own.x"}))),
        whole=draw(st.sampled_from(_WHOLE)),
        chooser="challenger" if by_challenger else "established",
        merges_with=draw(st.sampled_from(("every", "every", "closest"))) if by_challenger else "every",
        merge_parents=draw(st.sampled_from(_PARENTS)) if by_challenger else (),
        sections=draw(st.sampled_from((None, None, "refine", "replace"))),
        controllers=draw(st.sampled_from((frozenset[str](), frozenset[str](), frozenset({OURS, "x.com/other"})))),
        nulls=draw(st.sampled_from(("remove", "remove", "ignore"))),
        ordered=draw(st.sampled_from((False, False, True))),
        about=draw(st.sampled_from(("", "", "e"))),
        refusal=draw(st.sampled_from(("there", "everywhere"))),
        weighted=draw(st.sampled_from((False, False, True))),
    )
