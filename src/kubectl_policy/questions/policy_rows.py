"""Policies and policy kinds as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin
from kubectl_policy.model.fields import labels_of, text_at
from kubectl_policy.model.kinds import CRD, KindNames
from kubectl_policy.model.selectors import selects
from kubectl_policy.model.snapshot import Resource  # noqa: TC001 (its members are in the document)
from kubectl_policy.questions.blind_spots.answers import blind_spots_for_policy
from kubectl_policy.questions.blind_spots.unknowns import WithBlindSpots
from kubectl_policy.questions.shared.effects import affected_nodes
from kubectl_policy.questions.shared.in_force import OfKnownKind, assumed_of
from kubectl_policy.questions.shared.reported import REPORTED, ReportedCondition, reported_conditions
from kubectl_policy.questions.shared.selection import Selection, kinds_named, not_found, require_selectable
from kubectl_policy.questions.shared.uncertain_effects import unknown_phrase
from kubectl_policy.questions.shared.without_effect import why_without_effect
from kubectl_policy.resolution.enforcement import ENFORCEMENT, Enforcement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel
    from kubectl_policy.profiles.fields import Stanzas
    from kubectl_policy.questions.shared.reasons import Reason


class Stanza(Struct, frozen=True):
    """A stanza of a policy and its merge strategy."""

    field: Annotated[str, Meta(description="The path of the stanza, for example spec.defaults.")]
    strategy: Annotated[MergeStrategy, Meta(description="The merge strategy of the stanza.")]
    assumed: Annotated[bool, Meta(description="True if the strategy is assumed and the policy meets other policies.")]


_REASONS: Final = "The reasons why the policy has no effect, first cause first; empty if it has or may have an effect."
_AFFECTED: Final = "The nodes with an effective field of the policy, as in a PolicyDescription; null if unknown."


class PolicyRow(OfKnownKind, WithBlindSpots, frozen=True, kw_only=True):
    """A policy."""

    resource: Annotated[Resource, "inline"]
    profile: PolicyKindProfile
    stanzas: Annotated[
        tuple[Stanza, ...],
        Meta(description="The stanzas of the policy that take effect; only spec if it has no stanzas."),
    ]
    targets: Annotated[
        tuple[Attachment, ...], Meta(description="All target references of the policy, including those that fail.")
    ]
    enforcement: Annotated[Enforcement, Meta(description="The enforcement state of the policy.")]
    reasons: Annotated[tuple[Reason, ...], Meta(description=_REASONS)]
    affected: Annotated[tuple[NodeRef, ...] | None, Meta(description=_AFFECTED)]
    reported: Annotated[tuple[ReportedCondition, ...], Meta(description=REPORTED)]

    @property
    def policy(self) -> Annotated[ObjectRef, Meta()]:
        """The policy."""
        return self.resource.ref

    @property
    def reason(self) -> Annotated[str, Meta()]:
        """The reason why the policy is not in force, or a contrary report of its controller; empty if there is none."""
        if self.reasons:
            return self.reasons[0].message
        if ENFORCEMENT[self.enforcement.state].in_force:
            contrary = (it for it in self.reported if it.type == "Accepted" and it.status == "False" and not it.stale)
            return next((f"controller reports {it.reason or 'Accepted False'}" for it in contrary), "")
        return unknown_phrase(self.enforcement, self.targets)

    @property
    def ref(self) -> ObjectRef:
        """The name of the policy."""
        return self.resource.ref

    @property
    def raw(self) -> Mapping[str, Json]:
        """The policy as it was read."""
        return self.resource.raw

    @property
    def created(self) -> Annotated[str, Meta()]:
        """The creationTimestamp of the policy; empty if unknown."""
        return text_at(self.raw, "metadata.creationTimestamp") if self.resource.created else ""


def policy_row(analysis: Analysis, resource: Resource) -> PolicyRow:
    """The row of a policy."""
    policy = resource.ref
    profile = analysis.registry.profile(policy.group_kind)
    enforcement = analysis.enforcement(policy)
    unseen = blind_spots_for_policy(analysis, enforcement)
    nothing_seen = (enforcement.state == "Unknown" and not enforcement.is_undecided) or (
        enforcement.state == "NoEffect" and unseen
    )
    return PolicyRow(
        resource=resource,
        profile=profile,
        targets=analysis.attachments[policy],
        stanzas=_stanzas(enforcement, profile),
        enforcement=enforcement,
        affected=None if nothing_seen else affected_nodes(enforcement, profile),
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


class KindRow(OfKnownKind, frozen=True, kw_only=True):
    """A policy kind, with its policies in all namespaces."""

    names: KindNames
    profile: PolicyKindProfile
    definition: Resource | None
    policies: Annotated[tuple[ObjectRef, ...], Meta(description="The policies of the kind.")]
    complete: Annotated[bool, Meta(description="False if some policies of the kind could not be read.")]

    @property
    def policy_kind(self) -> Annotated[GroupKind, Meta()]:
        """The policy kind."""
        return self.profile.group_kind

    @property
    def origin(self) -> Annotated[Origin | None, Meta()]:
        """The location of the definition; null if it was not read."""
        return self.definition.origin if self.definition else None

    @property
    def namespaced(self) -> Annotated[bool, Meta()]:
        """Whether the policies of the kind are namespaced."""
        return self.names.namespaced

    @property
    def strategy(self) -> Annotated[MergeStrategy | None, Meta()]:
        """The merge strategy of all policies of the kind; null if each policy chooses."""
        return self.profile.strategy

    @property
    def strategy_field(self) -> Annotated[str, Meta()]:
        """The field in which a policy chooses its merge strategy; empty if there is none."""
        return self.profile.strategy_field

    @property
    def stanzas(self) -> Annotated[Stanzas | None, Meta()]:
        """The stanzas: plural (defaults and overrides), singular (default and override) or none; null if unknown."""
        return self.profile.stanzas

    @property
    def default_strategy(self) -> Annotated[MergeStrategy, Meta()]:
        """The merge strategy of a policy that chooses none."""
        return self.profile.default_strategy

    @property
    def target_fields(self) -> Annotated[tuple[str, ...], Meta()]:
        """The fields with target references; empty if it is unknown how policies of the kind attach."""
        return self.profile.target_fields

    @property
    def declared_targets(self) -> Annotated[tuple[GroupKind, ...], Meta()]:
        """The kinds that policies of the kind can target; empty for any kind."""
        return tuple(sorted(self.profile.declared_targets))

    @property
    def effective_targets(self) -> Annotated[tuple[TargetLevel, ...], Meta()]:
        """The levels at which the kind takes effect; empty if unknown."""
        return self.profile.effective_targets

    @property
    def name(self) -> Annotated[str, Meta()]:
        """The name of the definition: plural.group."""
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

    Raises `NotFoundError` if there is no policy kind of a name that is asked for, and `UsageError` for fields by which
    an API server does not select definitions.
    """
    require_selectable(analysis, [CRD], selection)
    registry, definitions = analysis.registry, analysis.index.definitions
    kinds = dict.fromkeys([*(profile.group_kind for profile in registry.policy_kinds), *definitions])
    known = (profile for kind in kinds if (profile := registry.profile_of(kind)))
    profiles = [profile for profile in known if profile.role == "policy"]
    rows = [
        KindRow(
            names=registry.kind_names(profile.group_kind),
            profile=profile,
            definition=definitions.get(profile.group_kind),
            policies=tuple(policy.ref for policy in analysis.index.of_kind(profile.group_kind)),
            complete=not any(gap.kind in {"", profile.group_kind.kind} for gap in analysis.snapshot.gaps),
        )
        for profile in profiles
    ]
    wanted: set[GroupKind] = set()
    for name in selection.names:
        named = set(kinds_named(analysis, name)).intersection(profile.group_kind for profile in profiles)
        if not named and not selection.lenient:
            raise not_found([row.ref for row in rows], "policykind", name)
        wanted |= named
    fitting = (row for row in rows if not selection.names or row.profile.group_kind in wanted)
    labelled = [row for row in fitting if selects(selection.selector, labels_of(row.raw))]
    picked = (row for row in labelled if all((it.value == row.name) is not it.negated for it in selection.fields))
    return tuple(sorted(picked, key=lambda row: row.name))
