"""Explanation of a policy kind: its profile, the source of each choice, and the kinds that its policies target."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from kubectl_policy.attachment.references import target_references
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model.kinds import CRD, KindNames, is_kubernetes_own
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.profiles.load import built_in_groups, profile_file
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, gaps_in_list
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.shared.in_force import OfKnownKind
from kubectl_policy.questions.shared.selection import did_you_mean, is_called, kinds_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, Origin

# Where a choice is from: a profile, the label or the schema of the definition, the kind's shape; or from nowhere, as a
# guess that answers speak of (`assumed`) or as what holds wherever nothing else is said (`default`).
Basis: TypeAlias = Literal["profile", "label", "schema", "shape", "assumed", "default"]

_ASSUMED: Final = {"policy_class": "class", "strategy": "merge strategy"}


class NamedLevel(TargetLevel, frozen=True, kw_only=True):
    """A level of the hierarchy that policies target, with the number of references."""

    references: Annotated[int, Meta(description="The number of target references to the level.", ge=1)]


class Explanation(Answer, OfKnownKind, frozen=True, kw_only=True):
    """The answer about a policy kind."""

    profile: PolicyKindProfile
    names: Annotated[KindNames, Meta(description="The names of the kind on the command line.")]
    origin: Annotated[
        Origin | None, Meta(description="The location of the profile, of the definition, or of a policy of the kind.")
    ]
    defined: bool
    """Whether its definition was read."""
    policies: Annotated[int, Meta(description="The number of policies of the kind in the input.", ge=0)]
    targets: Annotated[tuple[NamedLevel, ...], Meta(description="The levels that these policies target.")]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]

    @property
    def policy_kind(self) -> Annotated[GroupKind, Meta()]:
        """The policy kind."""
        return self.profile.group_kind

    @property
    def default_strategy(self) -> Annotated[MergeStrategy | None, Meta()]:
        """The merge strategy of a policy that chooses none; null for a kind that does not attach by references."""
        return self.profile.default_strategy if self.profile.attaches_by_references else None

    @property
    def evidence(self) -> Annotated[tuple[str, ...], Meta()]:
        """The sources of the profile: repository, file and line, or URL."""
        return self.profile.evidence

    @property
    def profile_(self) -> Annotated[dict[str, Json], Meta()]:
        """The known and assumed properties in the format of profile files; see docs/profiles.md."""
        return profile_file(self.profile)

    @property
    def notes(self) -> Annotated[str, Meta()]:
        """Notes that no other field expresses; empty if there are none."""
        return self.profile.notes_about()

    def basis(self, *fields: str) -> Basis:
        """Return the source of a choice that some fields of the profile make together."""
        profile = self.profile
        by_label = "policy_class" in fields and profile.policy_class == "direct" and profile.known_by == "label"
        if not by_label and any(_ASSUMED.get(field) in profile.assumed for field in fields):
            return "assumed"
        if "policy_class" in fields:
            return profile.known_by
        blank = PolicyKindProfile(profile.group_kind, profile.policy_class, profile.known_by)
        if all(getattr(profile, field) == getattr(blank, field) for field in fields):
            return "default"
        return "profile" if profile.known_by == "profile" else "schema" if self.defined else "shape"


def explain(analysis: Analysis, type_name: str) -> Explanation:
    """The answer for a policy kind by one of its names, alone or with its group; it need not have any objects.

    Raises `UsageError` for a name that several policy kinds have and `NotFoundError` for one that none has.
    """
    kind = _meant(analysis, type_name)
    profile = analysis.registry.profile(kind)
    policies = analysis.index.world.refs_of(kind)
    first = analysis.index.get(policies[0]) if policies else None
    definition = analysis.index.definitions.get(kind)
    origins = (profile.origin, *(resource.origin for resource in (definition, first) if resource))
    targets = sorted(_targets(analysis, profile).items(), key=lambda named: (named[0].group_kind, named[0].section))
    return Explanation(
        profile=profile,
        names=analysis.registry.kind_names(kind),
        origin=next(filter(None, origins), None),
        defined=definition is not None,
        policies=len(policies),
        targets=tuple(NamedLevel(level.group_kind, level.section, references=times) for level, times in targets),
        unseen=tuple(dict.fromkeys(describe_gaps(analysis, gaps_in_list(analysis, {kind.kind, CRD.kind}, "")))),
        place=analysis.index.source,
    )


def _meant(analysis: Analysis, type_name: str) -> GroupKind:
    """The policy kind that is meant: one that occurs, before those that only a profile knows."""
    index, registry = analysis.index, analysis.registry
    named = kinds_named(analysis, type_name)
    occurring = {*index.group_kinds, *index.definitions}
    for candidates in (occurring.intersection(named), {*named, *_profiled(analysis, type_name)}):
        meant = sorted(kind for kind in candidates if registry.profile_of(kind))
        # As for kubectl, a name means a kind of Kubernetes itself rather than one of another group.
        own = list(filter(is_kubernetes_own, meant)) if "." not in type_name else []
        meant = own if len(own) == 1 else meant
        if len(meant) > 1:
            options = ", ".join(str(kind).lower() for kind in meant)
            raise UsageError(f'"{type_name}" names several policy kinds', f"say which one: {options}")
        if meant:
            return meant[0]
    if named:
        hint = f"it {registry.why_not_policy_kind(named[0])}; a profile can say that it is one"
        raise NotFoundError(f"{named[0]} is not a policy kind", hint)
    known = {*registry.profiled(built_in_groups()), *(profile.group_kind for profile in registry.policy_kinds)}
    near = did_you_mean(type_name.lower(), {(str(kind) if "." in type_name else kind.kind).lower() for kind in known})
    hint = near or "--offline PATH shows its definition or one of its policies, --profiles PATH says what it is"
    raise NotFoundError(f'there is no policy kind "{type_name}"', hint)


def _profiled(analysis: Analysis, type_name: str) -> Iterator[GroupKind]:
    """The kinds of that name that have a profile. Without a group in the name, every built-in profile is read."""
    rest = type_name.lower().partition(".")[2]
    groups = (rest, rest.partition(".")[2]) if rest else built_in_groups()
    registry = analysis.registry
    return (kind for kind in registry.profiled(groups) if is_called(registry.kind_names(kind), type_name))


def _targets(analysis: Analysis, profile: PolicyKindProfile) -> Counter[TargetLevel]:
    """Return what policies of a kind are about, each level with the number of references."""
    world, relations, kind = analysis.index.world, analysis.topology.relations, profile.group_kind
    levels: Counter[TargetLevel] = Counter()
    for policy in world.of_kind(kind):
        for reference in target_references(policy, profile):
            if reference.kind:
                levels[TargetLevel(reference.group_kind, bool(reference.section))] += 1
    # Of what others name, these know how often they do.
    for ref in world.refs_of(kind) if profile.role == "parameters" or profile.filter_routes else ():
        for holder in relations.holders_of(ref) if profile.role == "parameters" else ():
            levels[TargetLevel(holder.holder.group_kind)] += 1
        for named in relations.filters_naming(ref) if profile.filter_routes else ():
            if named.route.group_kind in profile.filter_routes:
                levels[TargetLevel(named.route.group_kind, section=True)] += 1
    return levels
