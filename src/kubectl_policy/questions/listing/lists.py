"""The list that a type name asks for: policies, policy kinds, or objects of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model.values import value
from kubectl_policy.questions.listing.objects import ObjectRow, object_row
from kubectl_policy.questions.listing.policies import KindRow, PolicyRow, kind_rows, policy_row
from kubectl_policy.questions.shared.relevance import gaps_in_list
from kubectl_policy.questions.shared.selection import Listing, Row_co, Selected, Selection, select, type_named
from kubectl_policy.questions.shared.unseen import gaps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.shared.unseen import Unseen


@value()
class NamedRow:
    """An object of which nothing but its name is asked."""

    ref: ObjectRef


AnyRow: TypeAlias = PolicyRow | KindRow | ObjectRow


def list_type(analysis: Analysis, word: str, selection: Selection) -> Listing[AnyRow]:
    """The list of a type's selected objects.

    Raises `UsageError` for an unknown type and `NotFoundError` if there is no object of a name that is asked for.
    """
    kinds = _kinds(analysis, word, selection)
    if kinds:
        return kinds
    selected = select(analysis, word, selection)
    rows: tuple[PolicyRow | ObjectRow, ...]
    if selected.type.rows == "policies":
        rows = tuple(policy_row(analysis, resource) for resource in selected.resources)
    else:
        rows = tuple(object_row(analysis, selected.type.rows, resource) for resource in selected.resources)
    return _listing(analysis, selected, rows, (thing for row in rows for thing in row.unseen))


def list_names(analysis: Analysis, word: str, selection: Selection) -> Listing[NamedRow | KindRow]:
    """`list_type` without what takes effect where, which is what a list of thousands spends its time on."""
    kinds = _kinds(analysis, word, selection)
    if kinds:
        return kinds
    selected = select(analysis, word, selection)
    return _listing(analysis, selected, tuple(NamedRow(resource.ref) for resource in selected.resources))


def _kinds(analysis: Analysis, word: str, selection: Selection) -> Listing[KindRow] | None:
    """The list of policy kinds, if that is what is asked for: kinds are no objects of a namespace."""
    type_ = type_named(analysis, word)
    if type_.rows != "policy kinds":
        return None
    rows = kind_rows(analysis, selection)
    return _listing(analysis, Selected(type=type_, resources=(), namespace="", elsewhere=()), rows)


def _listing(
    analysis: Analysis, selected: Selected, rows: tuple[Row_co, ...], unseen: Iterable[Unseen] = ()
) -> Listing[Row_co]:
    type_, policies = selected.type, selected.type.noun in {"policy", "policy kind"}
    hiding = gaps_in_list(analysis, type_.kinds, selected.namespace, policies=policies)
    return Listing(
        type=type_,
        namespace=selected.namespace,
        rows=rows,
        elsewhere=selected.elsewhere,
        unseen=tuple(dict.fromkeys((*gaps(hiding), *unseen))),
    )
