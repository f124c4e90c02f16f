"""The list that a type name asks for: policies, policy kinds, or objects of the hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_policy.questions.listing.objects import ObjectRow, list_objects
from kubectl_policy.questions.listing.policies import KindRow, PolicyRow, list_kinds, list_policies
from kubectl_policy.questions.shared.selection import Listing, Selection, select, type_named
from kubectl_policy.questions.shared.unseen import gaps

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef


class NamedRow(NamedTuple):
    """An object of which nothing but its name is asked."""

    ref: ObjectRef


AnyRow: TypeAlias = PolicyRow | KindRow | ObjectRow


def list_type(analysis: Analysis, word: str, selection: Selection) -> Listing[AnyRow]:
    """The list of a type's selected objects.

    Raises `UsageError` for an unknown type and `NotFoundError` if there is no object of a name that is asked for.
    """
    type_ = type_named(analysis, word)
    if type_.rows == "policy kinds":
        return list_kinds(analysis, type_, selection)
    selected = select(analysis, word, selection)
    return list_policies(analysis, selected) if type_.rows == "policies" else list_objects(analysis, selected)


def list_names(analysis: Analysis, word: str, selection: Selection) -> Listing[NamedRow | KindRow]:
    """`list_type` without what takes effect where, which is what a list of thousands spends its time on."""
    type_ = type_named(analysis, word)
    if type_.rows == "policy kinds":
        return list_kinds(analysis, type_, selection)
    selected = select(analysis, word, selection)
    rows = tuple(NamedRow(resource.ref) for resource in selected.resources)
    return Listing(type_, selected.namespace, rows, selected.elsewhere, tuple(dict.fromkeys(gaps(analysis))))
