"""Policies and policy kinds as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import labels_of, text_at
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.selectors import selects
from kubectl_policy.questions.shared.effects import affected
from kubectl_policy.questions.shared.in_force import assumed_of
from kubectl_policy.questions.shared.reported import ReportedCondition, reported_conditions
from kubectl_policy.questions.shared.selection import Selection, kinds_named, not_found
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.questions.unseen.answers import unseen_for_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.resolution.enforcement import Enforcement


class Stanza(Struct, frozen=True):
    """A part of a policy, such as `spec.defaults`, and how it merges, which may be `assumed` where that matters."""

    field: str
    strategy: MergeStrategy
    assumed: bool


class PolicyRow(Struct, frozen=True, kw_only=True):
    """A policy.

    `stanzas` are the parts that take effect somewhere, each with its merge strategy: `spec` alone for a policy without
    stanzas, none for one that is attached to nothing. `affected` is None where nothing can be said of it, because what
    the policy targets, or what is below that, was not read; it has also what the policy may affect. `reasons` are why
    it has no effect anywhere; none if it has one, or may have.
    """

    resource: Resource
    profile: PolicyKindProfile
    attachments: tuple[Attachment, ...]
    stanzas: tuple[Stanza, ...]
    enforcement: Enforcement
    affected: tuple[NodeRef, ...] | None
    reasons: tuple[Reason, ...]
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

    @property
    def created(self) -> str:
        """Its creationTimestamp; empty if that is not known."""
        return text_at(self.raw, "metadata.creationTimestamp") if self.resource.created else ""


def policy_row(analysis: Analysis, resource: Resource) -> PolicyRow:
    """The row of a policy."""
    policy = resource.ref
    profile = analysis.registry.known(policy.group_kind)
    enforcement = analysis.enforcement(policy)
    unseen = unseen_for_policy(analysis, enforcement)
    nothing_seen = (enforcement.state == "Unknown" and not enforcement.is_undecided) or (
        enforcement.state == "NoEffect" and unseen
    )
    return PolicyRow(
        resource=resource,
        profile=profile,
        attachments=analysis.attachments[policy],
        stanzas=_stanzas(enforcement, profile),
        enforcement=enforcement,
        affected=None if nothing_seen else affected(enforcement, profile),
        reasons=why_without_effect(analysis, policy),
        reported=reported_conditions(resource.raw),
        unseen=unseen,
    )


def _stanzas(enforcement: Enforcement, profile: PolicyKindProfile) -> tuple[Stanza, ...]:
    """The parts of a policy that take effect somewhere, each once."""
    policy, guesses = enforcement.policy, "merge strategy" in assumed_of(profile, enforcement.resolutions)
    distinct: dict[tuple[str, MergeStrategy, bool], None] = {}
    for resolution in enforcement.resolutions:
        for part in resolution.contributions_of.get(policy, ()):
            distinct[part.field, part.strategy, guesses and part.guessed] = None
    return tuple([Stanza(*stanza) for stanza in distinct])


class KindRow(Struct, frozen=True, kw_only=True):
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


def kind_rows(analysis: Analysis, selection: Selection) -> tuple[KindRow, ...]:
    """The policy kinds by name; a name that is asked for is any name of a kind, labels are those of its definition.

    Raises `NotFoundError` if there is no policy kind of a name that is asked for.
    """
    registry, definitions = analysis.registry, analysis.index.definitions
    kinds = dict.fromkeys([*(profile.group_kind for profile in registry.policy_kinds), *definitions])
    known = (profile for kind in kinds if (profile := registry.profile_of(kind)))
    profiles = [profile for profile in known if profile.role == "policy"]
    rows = [_kind_row(analysis, profile, definitions.get(profile.group_kind)) for profile in profiles]
    wanted: set[GroupKind] = set()
    for name in selection.names:
        named = set(kinds_named(analysis, name)).intersection(profile.group_kind for profile in profiles)
        if not named:
            raise not_found([row.ref for row in rows], "policykind", name)
        wanted |= named
    fitting = (row for row in rows if not selection.names or row.profile.group_kind in wanted)
    labelled = (row for row in fitting if selects(selection.selector, labels_of(row.raw)))
    return tuple(sorted(labelled, key=lambda row: row.name))


def _kind_row(analysis: Analysis, profile: PolicyKindProfile, definition: Resource | None) -> KindRow:
    kind = profile.group_kind
    return KindRow(
        names=analysis.registry.names_of(kind),
        profile=profile,
        definition=definition,
        policies=tuple(policy.ref for policy in analysis.index.of_kind(kind)),
        complete=not any(gap.kind in {"", kind.kind} for gap in analysis.snapshot.gaps),
    )
