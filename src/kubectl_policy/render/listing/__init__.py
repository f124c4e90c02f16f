"""`get` for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.render.output.formats import Forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.listing.lists import Lists
    from kubectl_policy.questions.shared.selection import Listing, RowSort
    from kubectl_policy.render.output.columns import Table, Tables
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


class _Listing(Forms["Listing[Any]"]):
    def headline(self, answer: Listing[Any]) -> str:
        from kubectl_policy.render.wording.headlines import list_headline

        return list_headline(answer)

    def table(self, answer: Listing[Any], view: View) -> Table[Any] | Tables:
        from kubectl_policy.render.listing.columns import list_table

        return list_table(answer, view)

    def document(self, answer: Listing[Any], context: str = "") -> dict[str, object]:
        from kubectl_policy.render.output.encoding import document

        return document(KINDS[answer.type.rows], self.headline(answer), answer, context)

    def names(self, answer: Listing[Any]) -> Iterable[ObjectRef]:
        from kubectl_policy.render.listing.columns import listed_objects

        return listed_objects(answer)

    def remarks(self, answer: Listing[Any], *, empty: bool, complete: bool) -> Sequence[str]:
        from kubectl_policy.render.listing.columns import remarks

        del complete
        return remarks(answer, empty=empty)


class _Several(Forms["Lists"]):
    def headline(self, answer: Lists) -> str:
        from kubectl_policy.render.listing.several import lists_headline

        return lists_headline(answer)

    def table(self, answer: Lists, view: View) -> Table[Any] | Tables:
        from kubectl_policy.render.listing.several import lists_tables

        return lists_tables(answer, view)

    def document(self, answer: Lists, context: str = "") -> dict[str, object]:
        from kubectl_policy.render.output.encoding import envelope

        items = [LISTING.document(listing) for listing in answer.lists]
        head = {"headline": self.headline(answer), "complete": not answer.unseen}
        return envelope("Lists", {**head, "items": items}, context)

    def names(self, answer: Lists) -> Iterable[ObjectRef]:
        from kubectl_policy.render.listing.several import lists_objects

        return lists_objects(answer)

    def remarks(self, answer: Lists, *, empty: bool, complete: bool) -> Sequence[str]:
        from kubectl_policy.render.listing.several import lists_remarks

        del complete
        return lists_remarks(answer, empty=empty)


LISTING: Final = _Listing()
SEVERAL: Final = _Several()
