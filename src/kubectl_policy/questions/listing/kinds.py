"""Policy kinds as rows: those of the policies that were read, and those that are only defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.selectors import selects
from kubectl_policy.questions.shared.find import kinds_named, not_found
from kubectl_policy.questions.shared.selection import Listing, ListType, Selection
from kubectl_policy.questions.shared.unseen import Unseen, gaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.profiles import PolicyKindProfile


@dataclass(frozen=True, slots=True)
class KindRow:
    """A policy kind, its definition (None if it was not read) and its policies in every namespace.

    `complete` is false if some of its policies could not be read.
    """

    names: KindNames
    profile: PolicyKindProfile
    definition: Resource | None
    policies: tuple[ObjectRef, ...]
    complete: bool

    @property
    def name(self) -> str:
        """`plural.group`, the name of its definition."""
        group = self.profile.group_kind.group
        return f"{self.names.plural}.{group}" if group else self.names.plural

    @property
    def ref(self) -> ObjectRef:
        """The definition, whether or not it was read."""
        return ObjectRef(CRD, "", self.name)

    @property
    def raw(self) -> Mapping[str, Json]:
        """The definition as it was read; empty if it was not."""
        return self.definition.raw if self.definition else {}


def list_kinds(analysis: Analysis, type_: ListType, selection: Selection) -> Listing[KindRow]:
    """The policy kinds by name; a name that is asked for is any name of a kind, labels are those of its definition.

    Raises `NotFoundError` if there is no policy kind of a name that is asked for.
    """
    definitions = analysis.index.definitions
    present = [profile.group_kind for profile in analysis.registry.policy_kinds]
    rows = [_row(analysis, kind, definitions.get(kind)) for kind in dict.fromkeys([*present, *definitions])]
    known = [row for row in rows if row]
    wanted = _wanted(analysis, selection, known)
    labelled = [row for row in known if selects(selection.selector, labels_of(row.raw))]
    fitting = (row for row in labelled if wanted is None or row.profile.group_kind in wanted)
    unseen: tuple[Unseen, ...] = tuple(dict.fromkeys(gaps(analysis)))
    return Listing(type_, "", tuple(sorted(fitting, key=lambda row: row.name)), (), unseen)


def _row(analysis: Analysis, kind: GroupKind, definition: Resource | None) -> KindRow | None:
    profile = analysis.registry.profile_of(kind)
    if profile is None:
        return None
    names = analysis.index.names_of(kind)
    policies = tuple(policy.ref for policy in analysis.index.of_kind(kind))
    complete = not any(gap.kind in {"", kind.kind} for gap in analysis.snapshot.gaps)
    return KindRow(names, profile, definition, policies, complete)


def _wanted(analysis: Analysis, selection: Selection, known: list[KindRow]) -> set[GroupKind] | None:
    """The kinds that are asked for by name; None if every one is."""
    if not selection.names:
        return None
    wanted: set[GroupKind] = set()
    for name in selection.names:
        found = {row.profile.group_kind for row in known}.intersection(kinds_named(analysis.index, name))
        if not found:
            raise not_found([row.ref for row in known], "policykind", name)
        wanted |= found
    return wanted
