"""`get` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.lists import Lists
    from kubectl_policy.questions.shared.selection import RowSort
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.text import View

KINDS: Final[Mapping[RowSort, str]] = {
    "policies": "PolicyList",
    "policy kinds": "PolicyKindList",
    "gateway classes": "GatewayClassList",
    "gateways": "GatewayList",
    "listener sets": "ListenerSetList",
    "listeners": "ListenerList",
    "routes": "RouteList",
    "backends": "BackendList",
    "namespaces": "NamespaceList",
}


class _Lists(Forms["Lists"]):
    def headline(self, answer: Lists) -> str:
        from kubectl_policy.render.wording.headlines import list_headline

        return " ".join(map(list_headline, answer.lists))

    def table(self, answer: Lists, view: View) -> Sequence[Table[Any]]:
        from kubectl_policy.render.listing.tables import list_tables

        return list_tables(answer, view)

    def document(self, answer: Lists, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.output.encoding import document, envelope
        from kubectl_policy.render.wording.headlines import list_headline

        only = context if len(answer.lists) == 1 else ""
        items = [document(KINDS[listing.type.rows], list_headline(listing), listing, only) for listing in answer.lists]
        if len(items) == 1:
            return items[0]
        head = {"headline": self.headline(answer), "complete": not answer.unseen}
        return envelope("Lists", {**head, "items": items}, context)

    def names(self, answer: Lists) -> Iterable[ObjectRef]:
        # Of a policy kind it is its definition, of a listener what it belongs to.
        return dict.fromkeys(row.ref for listing in answer.lists for row in listing.rows)

    def remarks(self, answer: Lists, *, empty: bool, complete: bool) -> Sequence[str]:
        from kubectl_policy.render.listing.tables import list_remarks

        del complete
        return list_remarks(answer, empty=empty)


LISTS: Final = _Lists()
