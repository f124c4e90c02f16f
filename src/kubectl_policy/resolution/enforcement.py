"""Enforcement of a policy over all its paths; contentions for entries that targets must not share."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.attachment import MEANINGS, Attachment
from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.world import grouped
from kubectl_policy.resolution.effective import paths_by_way_of
from kubectl_policy.resolution.precedence import in_order
from kubectl_policy.resolution.uncertain_paths import path_doubt, undecided_attachments, undecided_gateway

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef
    from kubectl_policy.network.subjects import Subjects
    from kubectl_policy.profiles import PolicyKindProfile, Registry
    from kubectl_policy.profiles.controllers import Event
    from kubectl_policy.resolution.outcome import EffectivePolicy, FieldOutcome, Resolution
    from kubectl_policy.resolution.resolver import Resolver
    from kubectl_policy.resolution.traced import Field
    from kubectl_policy.topology import Path, Topology
    from kubectl_policy.topology.possible_routes import PossibleRoute

EnforcementState: TypeAlias = Literal[
    "Enforced",
    "PartiallyEnforced",
    "Overridden",
    "Conflicted",
    "TargetNotFound",
    "NotPermitted",
    "Invalid",
    "NoEffect",
    "Unknown",
]


_HELD: Final = frozenset({"effective", "undecided"})


class EnforcementMeaning(Struct, frozen=True, kw_only=True):
    """The meaning of a state of a policy to the rest of the program."""

    # What the kind's controllers would report, if anything.
    event: Event | None = None
    # Whether a field of the policy is effective somewhere, as far as that is `known`.
    in_force: bool = False
    known: bool = True


ENFORCEMENT: Final[Mapping[EnforcementState, EnforcementMeaning]] = MappingProxyType(
    {
        "Enforced": EnforcementMeaning(event="enforced", in_force=True),
        "PartiallyEnforced": EnforcementMeaning(event="partially enforced", in_force=True),
        "Overridden": EnforcementMeaning(event="overridden"),
        "Conflicted": EnforcementMeaning(),
        "TargetNotFound": EnforcementMeaning(),
        "NotPermitted": EnforcementMeaning(),
        "Invalid": EnforcementMeaning(),
        "NoEffect": EnforcementMeaning(event="no effect"),
        "Unknown": EnforcementMeaning(known=False),
    }
)


class Enforcement(Struct, frozen=True, dict=True):
    """The enforcement state of a policy, and the sources that supersede it.

    `Enforced`: every declared field is effective on every path; `PartiallyEnforced`: some are, somewhere, or some
    Gateways do not enable the policy;
    `Overridden`: none is, anywhere; `Conflicted`: refused everywhere for a conflict; `NoEffect`: attached, but
    nothing below it to affect, or only to what another controller acts on; or that nothing names, of a kind that is
    named by filters of routes or as the parameters of Gateways; or the controllers ignore all that it says. Without any
    attachment that holds:
    `TargetNotFound`, `NotPermitted`, `Invalid` (no usable reference, or something that it needs is missing), or
    `Unknown` (the target is not in the input, or it is not known how the kind attaches). That is also the state of one
    that is attached where it is not known how it combines with other policies of its kind, whether there is a route
    below its targets, or whether requests come to them: the Gateway or its class was not read.
    """

    policy: ObjectRef
    state: Annotated[EnforcementState, Meta(description="The enforcement state.")]
    by: Annotated[
        tuple[ObjectRef, ...],
        Meta(
            description=(
                "The policies, or objects with fields of their own, that supersede the policy on at least one path."
            )
        ),
    ]
    outcomes: tuple[EffectivePolicy, ...]
    idle_paths: tuple[Path, ...] = ()
    """Paths below its targets on which no traffic runs."""
    possible_routes: tuple[PossibleRoute, ...] = ()
    """The routes that may be attached below the targets of a policy that has no effect otherwise."""
    disabled_paths: tuple[Path, ...] = ()
    """Paths below Gateways whose parameters do not enable the policy."""
    undecided_gateways: tuple[ObjectRef, ...] = ()
    """The Gateways of which it is unknown whether a controller of the kind acts on them, if it has no effect else."""
    subjects: Subjects | None = None
    """The workloads to which a policy about connections applies; None for any other policy."""

    @cached_property
    def resolutions(self) -> Collection[Resolution]:
        """The resolutions on its paths, each once: on many paths the same policies meet."""
        return dict.fromkeys(outcome.resolution for outcome in self.outcomes)

    @property
    def is_undecided(self) -> bool:
        """Whether the policy is attached, and it is not known how it combines with others."""
        is_reached = not (self.possible_routes or self.undecided_gateways)
        return self.state == "Unknown" and bool(self.outcomes) and is_reached

    @property
    def undecided_with(self) -> Annotated[tuple[ObjectRef, ...], Meta()]:
        """The policies with which it is unknown how this policy combines; the state is then Unknown."""
        resolutions = self.resolutions if self.is_undecided else ()
        together = ({source.object for source in resolution.undecided} for resolution in resolutions)
        return tuple(sorted({ref for refs in together if self.policy in refs for ref in refs} - {self.policy}))


class Enforcements(Struct, frozen=True, dict=True, eq=False):
    """The enforcement of each policy, computed once for those that are asked for."""

    _topology: Topology
    _registry: Registry
    _attachments: Mapping[ObjectRef, tuple[Attachment, ...]]
    _resolver: Resolver

    def of(self, policy: ObjectRef) -> Enforcement:
        """Return the enforcement of a policy over all its paths; raise `KeyError` for another object."""
        enforcement = self._without_contentions(policy)
        contended = self.contentions(policy)
        if not contended or enforcement.state == "Unknown":
            return enforcement
        holders = {contention.holder for contention in contended} - {policy}
        return replace(enforcement, state="PartiallyEnforced", by=tuple(sorted({*enforcement.by, *holders})))

    def contentions(self, policy: ObjectRef) -> tuple[Contention, ...]:
        """Return the contentions of a policy's targets for exclusive entries; see `PolicyKindProfile`."""
        return self._contentions_of_kind(policy.group_kind).get(policy, ())

    @cached_method
    def _contentions_of_kind(self, kind: GroupKind) -> Mapping[ObjectRef, tuple[Contention, ...]]:
        profile = self._registry.profile(kind)
        if not profile.exclusive_field:
            return {}
        ordered = in_order(map(self._topology.index.with_defaults, self._topology.index.of_kind(kind)), profile)
        enforcements = (self._without_contentions(policy.ref) for policy in ordered)
        shared = contentions(enforcements, profile.exclusive_field, self._topology)
        return grouped((contention.policy, contention) for contention in shared)

    @cached_method
    def _without_contentions(self, policy: ObjectRef) -> Enforcement:
        profile = self._registry.profile(policy.group_kind)
        return enforce(policy, profile, self._attachments[policy], self._topology, self._resolver)


def enforce(
    policy: ObjectRef,
    profile: PolicyKindProfile,
    attachments: Collection[Attachment],
    topology: Topology,
    resolver: Resolver,
) -> Enforcement:
    """Return the enforcement of a policy, given all of its attachments."""
    attached = [attachment for attachment in attachments if attachment.target and attachment.state == "attached"]
    targets = [attachment.target for attachment in attached if attachment.target]
    # What filters of backendRefs name is about the requests of their rules alone.
    rules = {attachment.declared.rule for attachment in attached}
    if not targets:
        return Enforcement(policy, _unattached(attachments, profile), (), ())
    outcomes: list[EffectivePolicy] = []
    idle_paths: list[Path] = []
    disabled_paths: list[Path] = []
    for path in paths_by_way_of(targets, profile, topology):
        if None not in rules and rules.isdisjoint(path):
            continue
        if not topology.carries_traffic(path):
            idle_paths.append(path)
        elif effective := resolver.effective_of(profile.group_kind, path):
            outcomes.append(effective)
        elif resolver.is_disabled(path, profile):
            disabled_paths.append(path)
    state, by = overall_state(policy, [outcome.resolution for outcome in outcomes])
    if disabled_paths and state == "Enforced":
        state = "PartiallyEnforced"
    possible: tuple[PossibleRoute, ...] = ()
    gateways: tuple[ObjectRef, ...] = ()
    if not outcomes:
        possible = tuple(_possible_routes(targets, profile, topology))
    elif ENFORCEMENT[state].in_force:
        paths = [outcome.path for outcome in outcomes if policy in outcome.resolution.policies_in_force]
        possible, gateways = _unread_parents(paths, profile, topology)
    return Enforcement(
        policy,
        "Unknown" if possible or gateways else state,
        by,
        tuple(outcomes),
        tuple(idle_paths),
        possible,
        tuple(disabled_paths),
        gateways,
    )


def _unread_parents(
    paths: Collection[Path], profile: PolicyKindProfile, topology: Topology
) -> tuple[tuple[PossibleRoute, ...], tuple[ObjectRef, ...]]:
    """Return the unknown attachments of routes, and the Gateways in doubt; none if any path is in no doubt."""
    if not all(path_doubt(topology, profile, path) for path in paths):
        return (), ()
    possible = dict.fromkeys(it for path in paths for it in undecided_attachments(topology, path))
    gateways = (undecided_gateway(topology, profile, path) for path in paths)
    return tuple(possible), tuple(dict.fromkeys(filter(None, gateways)))


def _possible_routes(
    targets: Iterable[NodeRef], profile: PolicyKindProfile, topology: Topology
) -> Iterator[PossibleRoute]:
    """Yield the routes that may be attached below some targets, and that a kind may have an effect on."""
    if profile.policy_class == "direct":
        return
    levels = {level.group_kind for level in profile.effective_targets}
    for target in targets:
        for possible in topology.possible_routes.below(target):
            if possible.route.group_kind in levels or not levels <= ROUTES.keys():
                yield possible


def overall_state(
    policy: ObjectRef, resolutions: Iterable[Resolution]
) -> tuple[EnforcementState, tuple[ObjectRef, ...]]:
    """Return the state of a policy that is attached, and what supersedes it, by its fate on all of its paths."""
    alike: dict[object, list[Resolution]] = {}
    for resolution in resolutions:
        alike.setdefault(resolution.comparison_key, []).append(resolution)
    if not alike:
        return "NoEffect", ()
    parts: list[_PolicyPart] = []
    by: set[ObjectRef] = set()
    for first, *equivalents in alike.values():
        part = _part_of(policy, first)
        parts.append(part)
        by |= part.superseded_by
        # Where one object's own settings supersede the policy, so do those of the others.
        if first.object_values and first.target_object in part.superseded_by:
            by.update(filter(None, (equivalent.target_object for equivalent in equivalents)))
    return _state(parts), tuple(sorted(by - {policy}))


class _PolicyPart(Struct, frozen=True, kw_only=True):
    """The part of a policy in one outcome."""

    in_force: bool
    # Whether it is not known if what the policy brings is in force.
    undecided: bool
    # Whether all that the policy brings is refused for a conflict; None if it brings nothing that counts.
    refused: bool | None
    # Whether the policy loses fields.
    loses: bool
    superseded_by: frozenset[ObjectRef]
    # Whether the policy brings something that the controllers ignore, and nothing else.
    ignored: bool


def _part_of(policy: ObjectRef, resolution: Resolution) -> _PolicyPart:
    """Return a policy's part of one outcome; a field that it sets to the same value elsewhere on the path is not lost.

    The policies that supersede it are found field by field or, where it has no fields there, as a whole.
    """
    fates, in_force = resolution.outcomes_of(policy), resolution.policies_in_force
    lost = lost_fields(fates)
    sources = frozenset(part.source for part in resolution.contributions_of.get(policy, ()))
    counting = sources - (resolution.ignored_sources - resolution.rejected)
    ignored = bool(sources) and not counting
    # Of a policy without fields there, it is not known whether it takes all the others' away.
    undecided = bool(resolution.undecided) and (
        any(state == "undecided" for _, _, state, _ in fates) if fates else not sources.isdisjoint(resolution.undecided)
    )
    whole: frozenset[ObjectRef] = frozenset() if policy in in_force or ignored else in_force
    failing = frozenset(source.object for source in resolution.failing)
    return _PolicyPart(
        in_force=policy in in_force,
        undecided=undecided,
        refused=counting <= resolution.rejected if counting else None,
        loses=bool(lost),
        superseded_by=failing.union([source.object for *_, by in lost for source in by] if fates else whole),
        ignored=ignored,
    )


def lost_fields(fates: Collection[FieldOutcome]) -> list[FieldOutcome]:
    """Return the outcomes of a policy's fields on a path that are not in force.

    A field that the policy sets to the same value elsewhere on the path is not lost.
    """
    lost = [outcome for outcome in fates if outcome[2] not in _HELD]
    if not lost or len(lost) == len(fates):
        return lost
    held: dict[Field, list[Json]] = {}
    for field, leaf, state, _ in fates:
        if state in _HELD:
            held.setdefault(field, []).append(leaf.value)
    return [outcome for outcome in lost if outcome[1].value not in held.get(outcome[0], ())]


def _state(parts: Collection[_PolicyPart]) -> EnforcementState:
    if any(part.undecided for part in parts):
        return "Unknown"
    if all(part.in_force and not part.loses for part in parts):
        return "Enforced"
    if any(part.in_force for part in parts):
        return "PartiallyEnforced"
    if all(part.ignored for part in parts):
        return "NoEffect"
    refused = [part.refused for part in parts if part.refused is not None]
    return "Conflicted" if refused and all(refused) else "Overridden"


def _unattached(attachments: Collection[Attachment], profile: PolicyKindProfile) -> EnforcementState:
    if not attachments and not profile.references_alone:
        return "Unknown"
    if not attachments and (profile.filter_routes or profile.role == "parameters"):
        return "NoEffect"
    states = {attachment.state for attachment in attachments}
    meanings = [MEANINGS[attachment.state] for attachment in attachments]
    if not all(meaning.known for meaning in meanings):
        return "Unknown"
    if any(meaning.api_reason == "TargetNotFound" for meaning in meanings):
        return "TargetNotFound"
    if "not permitted" in states:
        return "NotPermitted"
    return "NoEffect" if "not managed" in states else "Invalid"


class Contention(Struct, frozen=True, kw_only=True):
    """A section in which a policy is in force, and another one with the same entry and its policy.

    Of two policies it is the later one's; of two sections of one policy both are in contention.
    """

    policy: ObjectRef
    section: NodeRef
    entry: str
    rival_section: NodeRef
    holder: ObjectRef


def contentions(enforcements: Iterable[Enforcement], field: str, topology: Topology) -> Iterator[Contention]:
    """Yield the contentions for entries at a field among policies of one kind, in their order of precedence."""
    held: dict[str, tuple[ObjectRef, NodeRef]] = {}
    for enforcement in enforcements:
        policy = enforcement.policy
        ends = dict.fromkeys(
            effective.target for effective in enforcement.outcomes if policy in effective.resolution.policies_in_force
        )
        for section in ends:
            for entry in _entries(section, field, topology):
                holder, holder_section = held.setdefault(entry, (policy, section))
                if holder_section != section:
                    yield Contention(
                        policy=policy, section=section, entry=entry, rival_section=holder_section, holder=holder
                    )
                if holder_section != section and holder == policy:
                    yield Contention(
                        policy=policy, section=holder_section, entry=entry, rival_section=section, holder=policy
                    )


def _entries(section: NodeRef, field: str, topology: Topology) -> dict[str, None]:
    """Return the objects that references in a listener name; their namespace defaults to the listener's."""
    listener, home = topology.gateways.listener(section), section.object.namespace
    return dict.fromkeys(
        f"{text_at(reference, 'kind', 'Secret')} {text_at(reference, 'namespace') or home}/{name}"
        for reference in (mappings_at(listener.raw, field) if listener else ())
        if (name := text_at(reference, "name"))
    )
