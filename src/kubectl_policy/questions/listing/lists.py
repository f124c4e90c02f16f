"""The list that a type name asks for: policies, policy kinds, or objects of the hierarchy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model.values import value
from kubectl_policy.questions.listing.objects import ObjectRow, listener_rows, object_row
from kubectl_policy.questions.listing.policies import KindRow, PolicyRow, kind_rows, policy_row
from kubectl_policy.questions.shared.relevance import gaps_in_list
from kubectl_policy.questions.shared.selection import (
    LeftOutKind,
    Listing,
    Row_co,
    Selected,
    Selection,
    is_any_policy,
    select,
    type_named,
)
from kubectl_policy.questions.shared.unseen import gaps, unknown_labels
from kubectl_policy.topology.references import HIERARCHY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.unseen import Unseen


@value()
class NamedRow:
    """An object of which nothing but its name is asked."""

    ref: ObjectRef


AnyRow: TypeAlias = PolicyRow | KindRow | ObjectRow


def list_type(analysis: Analysis, word: str, selection: Selection, *, all_kinds: bool = False) -> Listing[AnyRow]:
    """The list of a type's selected objects; of policies without names, those of the hierarchy or of `all_kinds`.

    Raises `UsageError` for an unknown type and `NotFoundError` if there is no object of a name that is asked for.
    """
    kinds = _kinds(analysis, word, selection)
    if kinds:
        return kinds
    selected, left_out = _selected(analysis, word, selection, all_kinds=all_kinds)
    rows: tuple[PolicyRow | ObjectRow, ...]
    if selected.type.rows == "policies":
        rows = tuple(policy_row(analysis, resource) for resource in selected.resources)
    elif selected.type.rows == "listeners":
        rows = tuple(row for resource in selected.resources for row in listener_rows(analysis, resource))
    else:
        rows = tuple(object_row(analysis, selected.type.rows, resource) for resource in selected.resources)
    return _listing(analysis, selected, rows, (thing for row in rows for thing in row.unseen), left_out)


def list_names(
    analysis: Analysis, word: str, selection: Selection, *, all_kinds: bool = False
) -> Listing[NamedRow | KindRow]:
    """`list_type` without what takes effect where, which is what a list of thousands spends its time on."""
    kinds = _kinds(analysis, word, selection)
    if kinds:
        return kinds
    selected, left_out = _selected(analysis, word, selection, all_kinds=all_kinds)
    rows = tuple(NamedRow(resource.ref) for resource in selected.resources)
    return _listing(analysis, selected, rows, left_out=left_out)


def _selected(
    analysis: Analysis, word: str, selection: Selection, *, all_kinds: bool
) -> tuple[Selected, tuple[LeftOutKind, ...]]:
    """The objects to be listed and, of policies of no certain kind, how many are left out, by their kinds."""
    selected, registry = select(analysis, word, selection), analysis.registry
    if selected.type.rows == "listeners" and selected.elsewhere:
        there = (it.ref for kind in selected.type.kinds for it in analysis.index.of_kind(kind) if selection.fits(it))
        sections = (ref.namespace for ref in there for _ in analysis.topology.sections(ref))
        return replace(selected, elsewhere=tuple(sections)), ()
    if selection.names or not is_any_policy(word):
        return selected, ()
    kept, undecided = (
        tuple(it for it in resources if all_kinds or _of_hierarchy(registry.known(it.ref.group_kind)))
        for resources in (selected.resources, selected.undecided)
    )
    others = Counter(it.ref.group_kind for it in selected.resources)
    others.subtract(it.ref.group_kind for it in kept)
    alike = (resource for kind in registry.look_alikes for resource in analysis.index.of_kind(kind))
    here = Counter(it.ref.group_kind for it in alike if selection.fits(it) and selection.reaches(it))
    return replace(selected, resources=kept, undecided=undecided), (
        *(LeftOutKind(kind, number, other=True) for kind, number in sorted(others.items()) if number),
        *(LeftOutKind(kind, number, other=False) for kind, number in sorted(here.items())),
    )


def _of_hierarchy(profile: PolicyKindProfile) -> bool:
    """Whether a kind may be about Gateways, routes or what these lead to; network policies and the like are not."""
    return profile.attaches_as_known or any(kind in HIERARCHY for kind in profile.declared_targets)


def _kinds(analysis: Analysis, word: str, selection: Selection) -> Listing[KindRow] | None:
    """The list of policy kinds, if that is what is asked for: kinds are no objects of a namespace."""
    type_ = type_named(analysis, word)
    if type_.rows != "policy kinds":
        return None
    rows = kind_rows(analysis, selection)
    return _listing(analysis, Selected(type=type_, resources=(), namespace="", elsewhere=()), rows)


def _listing(
    analysis: Analysis,
    selected: Selected,
    rows: tuple[Row_co, ...],
    unseen: Iterable[Unseen] = (),
    left_out: tuple[LeftOutKind, ...] = (),
) -> Listing[Row_co]:
    type_, policies = selected.type, selected.type.noun in {"policy", "policy kind"}
    hiding = gaps_in_list(analysis, {kind.kind for kind in type_.kinds}, selected.namespace, policies=policies)
    return Listing(
        type=type_,
        namespace=selected.namespace,
        rows=rows,
        elsewhere=selected.elsewhere,
        unseen=tuple(dict.fromkeys((*gaps(analysis, hiding), *unknown_labels(selected.undecided), *unseen))),
        left_out=left_out,
    )
