"""Policies and policy kinds as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.selectors import selects
from kubectl_policy.questions.shared.effects import affected
from kubectl_policy.questions.shared.reported import ReportedCondition, reported_conditions
from kubectl_policy.questions.shared.selection import Listing, ListType, Selected, Selection, kinds_named, not_found
from kubectl_policy.questions.shared.unseen import Unseen, gaps, unseen_for_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.resolution.enforcement import EnforcementState


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """A policy.

    `stanzas` are the parts that take effect somewhere, each with its merge strategy: `spec` alone for a policy without
    stanzas, none for one that is attached to nothing. `by` are those that beat it. `affected` is None where nothing can
    be said of it, because what the policy targets, or what is below that, was not read.
    """

    resource: Resource
    profile: PolicyKindProfile
    attachments: tuple[Attachment, ...]
    stanzas: tuple[tuple[str, MergeStrategy], ...]
    state: EnforcementState
    by: tuple[ObjectRef, ...]
    affected: tuple[NodeRef, ...] | None
    reported: tuple[ReportedCondition, ...]
    unseen: tuple[Unseen, ...]

    @property
    def ref(self) -> ObjectRef:
        """The name of the policy."""
        return self.resource.ref

    @property
    def raw(self) -> Mapping[str, Json]:
        """The policy as it was read."""
        return self.resource.raw


def list_policies(analysis: Analysis, selected: Selected) -> Listing[PolicyRow]:
    """The policies that were selected."""
    rows = tuple(_row(analysis, resource) for resource in selected.resources)
    unseen = (*gaps(analysis), *(thing for row in rows for thing in row.unseen))
    return Listing(selected.type, selected.namespace, rows, selected.elsewhere, tuple(dict.fromkeys(unseen)))


def _row(analysis: Analysis, resource: Resource) -> PolicyRow:
    policy = resource.ref
    profile = analysis.registry.known(policy.group_kind)
    enforcement = analysis.enforcement(policy)
    unseen = unseen_for_policy(analysis, enforcement)
    nothing_seen = enforcement.state == "Unknown" or (enforcement.state == "NoEffect" and unseen)
    parts = (part for outcome in enforcement.outcomes for part in outcome.contributions if part.source.object == policy)
    return PolicyRow(
        resource,
        profile,
        analysis.attachments[policy],
        tuple(dict.fromkeys((part.field, part.strategy) for part in parts)),
        enforcement.state,
        enforcement.by,
        None if nothing_seen else affected(enforcement, profile),
        reported_conditions(resource.raw),
        unseen,
    )


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
    rows = [_kind_row(analysis, kind, definitions.get(kind)) for kind in dict.fromkeys([*present, *definitions])]
    known = [row for row in rows if row]
    wanted = _wanted(analysis, selection, known)
    labelled = [row for row in known if selects(selection.selector, labels_of(row.raw))]
    fitting = (row for row in labelled if wanted is None or row.profile.group_kind in wanted)
    unseen: tuple[Unseen, ...] = tuple(dict.fromkeys(gaps(analysis)))
    return Listing(type_, "", tuple(sorted(fitting, key=lambda row: row.name)), (), unseen)


def _kind_row(analysis: Analysis, kind: GroupKind, definition: Resource | None) -> KindRow | None:
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
