"""The settings in force on a set of paths: resolved per path and policy kind, then grouped where they are the same."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model.fields import FieldPath, Json, number_in_annotation
from kubectl_policy.questions.shared.fields import FieldLocations, named_fates, named_leaves, origin_of, with_line
from kubectl_policy.questions.shared.path_phrases import PathNumber, PathPhrases, numbers
from kubectl_policy.resolution import field_name, leaves, plain, reached_part, same_level_of, takes_effect_below
from kubectl_policy.resolution.outcome import DeclaredField, Fate
from kubectl_policy.resolution.protection import Protection
from kubectl_policy.resolution.uncertain_paths import PathDoubt, path_doubt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.profiles.fields import KnownBy, PolicyClass, SameLevel
    from kubectl_policy.questions.shared.fields import FindAuthor, LocateLine
    from kubectl_policy.resolution import EffectivePolicy, Resolution, Source
    from kubectl_policy.resolution.merging import Doubt
    from kubectl_policy.resolution.traced import Field
    from kubectl_policy.topology import Path


_PASSES_DOWN: Final = (
    "True if the policies take effect only below these paths; settings then lists what they pass down."
)
ASSUMED: Final = "Properties of the policy kind that are assumed, because no profile defines them."
_CERTAIN: Final = "False if the value may not be in force: it is unknown how policies combine, or there is a doubt."
_DOUBT: Final = (
    "The reason why it is unknown whether the settings take effect on these paths: it is unknown whether requests take "
    "them, or which controller acts there; empty if they do."
)

Assumption: TypeAlias = Annotated[str, Meta(extra_json_schema={"enum": ["being a policy", "class", "merge strategy"]})]


class Setting(DeclaredField, frozen=True, kw_only=True):
    """A field in force, with its value and source."""

    removed: Annotated[bool, Meta(description="Whether the source removes the field.")]
    certain: Annotated[bool, Meta(description=_CERTAIN)]
    security: Annotated[bool, Meta(description="Whether the field is known to be relevant to security.")] = False
    instead_of: Annotated[tuple[Fate, ...], Meta(description="The declared values that this value supersedes.")]


class WithProfile(Protocol):
    """Something about the policies of one kind."""

    @property
    def profile(self) -> PolicyKindProfile:
        """The profile of the kind."""
        ...


class OfPolicyKind(Struct, frozen=True):
    """The members of documents that say how a kind is known."""

    @property
    def class_(self: WithProfile) -> Annotated[PolicyClass, Meta()]:
        """The class of the policy kind."""
        return self.profile.policy_class

    @property
    def known_by(self: WithProfile) -> Annotated[KnownBy, Meta()]:
        """How the kind is known to be a policy kind: by its profile, its label or its shape."""
        return self.profile.known_by


class OfKnownKind(OfPolicyKind, frozen=True):
    """Members that say how a kind is known, and how far a profile covers it."""

    @property
    def assumed(self: WithProfile) -> Annotated[tuple[str, ...], Meta()]:
        """Properties of the policy kind that are assumed, because no profile defines them."""
        return self.profile.assumed


class Contest(Struct, frozen=True, kw_only=True):
    """The sources that say something of one kind on some paths, and what decides between them."""

    order: tuple[Source, ...]
    """All of them, least specific first."""
    members: frozenset[Source]
    """Those that are not replaced or refused as a whole."""
    failing: frozenset[Source]
    """Those that are invalid, so that requests get an error response and nothing is in force."""
    same_level: SameLevel
    strategy_of: Mapping[Source, MergeStrategy]
    weights: Mapping[ObjectRef, int]
    """The numbers by which the kind orders its policies on one target."""
    own_words: Mapping[str, str]
    """What people call the object's own settings that stand for some fields, by these."""


class Combination(Struct, frozen=True, kw_only=True):
    """How policies of one kind combine, as far as that is known."""

    strategies: Annotated[tuple[MergeStrategy, ...], Meta(description="The merge strategies, least specific first.")]
    assumed: Annotated[tuple[Assumption, ...], Meta(description=ASSUMED)]
    doubts: Annotated[tuple[Doubt, ...], Meta(description="Questions that could not be decided.")]


class Extent(Struct, frozen=True, kw_only=True):
    """Where something is in force."""

    positions: tuple[int, ...]
    """The positions of the paths."""
    scope: Annotated[str, Meta(description="A description of the paths, for people; empty if there is only one path.")]
    at: Annotated[tuple[NodeRef, ...], Meta(description="The nodes at which the settings take effect.")]
    passes_down: Annotated[bool, Meta(description=_PASSES_DOWN)]
    doubt: Annotated[PathDoubt, Meta(description=_DOUBT)]


class InForce(OfPolicyKind, frozen=True, kw_only=True):
    """The settings in force of one policy kind, or of the rules of routes themselves, equal on some paths."""

    kind: GroupKind
    profile: PolicyKindProfile
    combination: Annotated[Combination, "inline"]
    policies: Annotated[
        tuple[ObjectRef, ...], Meta(description="The policies with at least one effective field, or without any field.")
    ]
    undecided: Annotated[tuple[ObjectRef, ...], Meta(description="The policies among them whose effect is unknown.")]
    extent: Annotated[Extent, "inline"]
    summary: Annotated[tuple[str, ...], Meta(description="The settings in short phrases, for people.")]
    settings: Annotated[tuple[Setting, ...], Meta(description="The settings in force.")]
    without_effect: Annotated[
        tuple[Fate, ...], Meta(description="Declared fields that have no effect and that no setting replaces.")
    ]
    contest: Contest

    @property
    def policy_kind(self) -> Annotated[GroupKind, Meta()]:
        """The kind of the policies, or of the routes whose rules set the fields."""
        return self.kind

    @property
    def paths(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths."""
        return numbers(self.extent.positions)

    @property
    def patches(self) -> Annotated[bool, Meta()]:
        """True if the policies patch the proxy configuration, so that any setting may change."""
        return self.profile.patches


class EffectiveEntry(Struct, frozen=True, kw_only=True):
    """An effective policy on one of the paths."""

    path: int
    effective: EffectivePolicy
    passes_down: bool
    doubt: PathDoubt = ""


def effective_entries(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], kind: GroupKind | None = None
) -> tuple[EffectiveEntry, ...]:
    """The effective policy of every kind, or of one, on every path, at the level where the kind takes effect."""
    entries: list[EffectiveEntry] = []
    for position, path in enumerate(paths):
        for policy_kind in (occurring for occurring in analysis.resolver.kinds_at(path) if kind in {None, occurring}):
            profile = analysis.registry.profile(policy_kind)
            direct, reached = profile.policy_class == "direct", reached_part(path, profile)
            if direct:
                ends = _direct_ends(analysis, profile, path, subject)
            else:
                ends = [reached or path] if reached or takes_effect_below(path[-1], profile) else []
            passes_down = not direct and not reached
            outcomes = list(filter(None, (analysis.resolver.effective_of(policy_kind, end) for end in ends)))
            doubt = path_doubt(analysis.topology, profile, path) if outcomes else ""
            entries += (
                EffectiveEntry(path=position, effective=outcome, passes_down=passes_down, doubt=doubt)
                for outcome in outcomes
            )
    return tuple(entries)


def own_settings_entries(analysis: Analysis, paths: Iterable[Path]) -> tuple[EffectiveEntry, ...]:
    """Settings of the rules themselves on every path; these are no policies.

    What stands for a setting of policies that count at the rule is in the entries of these instead.
    """
    return tuple(
        EffectiveEntry(path=position, effective=outcome, passes_down=False)
        for position, path in enumerate(paths)
        for outcome in analysis.resolver.rule_settings(path)
    )


def _direct_ends(analysis: Analysis, profile: PolicyKindProfile, path: Path, subject: NodeRef) -> list[Path]:
    """The places from the subject downward where a direct policy can take effect: of each object, its deepest node.

    A section counts only where the kind takes effect at sections, or one of its policies is attached to this one. What
    filters of a rule do, they do to all requests to its backends.
    """
    starts = {subject.object, *((node.object for node in path) if profile.role == "filter" else ())}
    first = next(position for position, node in enumerate(path) if node.object in starts)
    whole = {level.group_kind for level in profile.effective_targets if not level.section}
    whole -= {level.group_kind for level in profile.effective_targets if level.section}
    deepest = {
        node.object: position
        for position, node in enumerate(path[first:], first)
        if not node.section
        or node.object.group_kind not in whole
        or analysis.resolver.policies_of_kind(node, profile.group_kind)
    }
    return [path[: position + 1] for position in sorted(deepest.values())]


def group_entries(
    analysis: Analysis, entries: Iterable[EffectiveEntry], which: PathPhrases | None = None
) -> tuple[InForce, ...]:
    """Entries of the same kind and outcome as one, sorted by kind, then by first path; `which` puts these in words."""
    groups: dict[tuple[object, ...], list[EffectiveEntry]] = {}
    outcomes: dict[Resolution, tuple[object, ...]] = {}
    for entry in entries:
        target, resolution = entry.effective.target, entry.effective.resolution
        if resolution not in outcomes:
            # What is the same where the effective policy is the same, and each field has the same fate.
            outcomes[resolution] = (
                resolution.kind,
                tuple(part.source for part in resolution.contributions),
                tuple((field, leaf.source) for field, leaf in leaves(resolution.spec)),
                frozenset(resolution.ignored_fields.items()),
                resolution.replaced_for_port,
                resolution.port_sources,
            )
        level = (target.object.group_kind, bool(target.section))
        groups.setdefault((*outcomes[resolution], level, entry.passes_down, entry.doubt), []).append(entry)
    described = [_in_force(analysis, group, which) for group in groups.values()]
    return tuple(sorted(described, key=lambda group: (group.kind, group.extent.positions, group.extent.at)))


def _in_force(analysis: Analysis, entries: list[EffectiveEntry], which: PathPhrases | None) -> InForce:
    effective, resolution, doubt = entries[0].effective, entries[0].effective.resolution, entries[0].doubt
    parts = resolution.contributions
    locations = FieldLocations(analysis, effective)
    profile = locations.profile
    fates = [(it.field, it.leaf, fate) for it, fate in chain.from_iterable(named_fates(resolution, profile))]
    protection = Protection(resolution.spec, profile)
    superseded: dict[Field, list[Fate]] = {}
    for field, leaf, fate in (*fates, *resolution.object_fates):
        if fate.state not in {"effective", "undecided"}:
            origin, declared_in = origin_of(analysis, fate.source), locations.field(field, leaf)
            superseded.setdefault(field, []).append(replace(fate, origin=origin, declared_in=declared_in))
    settings = tuple(
        Setting(
            field=named.name,
            value=named.leaf.value,
            source=named.leaf.source,
            removed=named.leaf.removed,
            defaulted=named.leaf.defaulted,
            certain=not doubt and named.leaf.source not in resolution.undecided,
            instead_of=tuple(
                fate
                for fate in superseded.pop(named.field, ())
                # By another of its targets, a policy may lose against itself.
                if (fate.source.object, fate.value) != (named.leaf.source.object, named.leaf.value)
            ),
            origin=origin_of(analysis, named.leaf.source),
            declared_in=locations.field(named.field, named.leaf),
            security=protection.protects(named.field),
        )
        for named in named_leaves(resolution.spec, profile)
    )
    strategies = () if profile.route_settings else tuple(dict.fromkeys(part.strategy for part in parts))
    if profile.chooser == "challenger":
        # The nearest one alone decides.
        strategies = tuple(part.strategy for part in parts if part.source not in resolution.rejected)[-1:]
    rules = analysis.registry.route_settings_of(effective.target.object.group_kind)
    own_words = (
        {
            field_name(setting.field): rules.route_settings.setting_name(setting.object_field)
            for setting in resolution.object_values
        }
        if rules and rules.route_settings
        else {}
    )
    positions = tuple(dict.fromkeys(entry.path for entry in entries))
    return InForce(
        kind=resolution.kind,
        profile=profile,
        policies=() if profile.route_settings else tuple(sorted(resolution.policies_in_force)),
        undecided=tuple(sorted(resolution.policies_in_force if doubt else resolution.policies_undecided)),
        combination=Combination(
            strategies=strategies,
            assumed=assumed_of(profile, [resolution]),
            doubts=tuple(sorted({doubt for entry in entries for doubt in entry.effective.resolution.doubts})),
        ),
        extent=Extent(
            positions=positions,
            scope=which.words(positions) if which else "",
            at=tuple(dict.fromkeys(entry.effective.target for entry in entries)),
            passes_down=entries[0].passes_down,
            doubt=doubt,
        ),
        settings=settings,
        without_effect=tuple(fate for fates in superseded.values() for fate in fates),
        contest=Contest(
            order=tuple(part.source for part in parts),
            members=resolution.members,
            failing=frozenset(resolution.failing),
            same_level=same_level_of(profile, parts),
            strategy_of={part.source: part.strategy for part in parts},
            weights=_weights(analysis, effective, profile),
            own_words=own_words,
        ),
        summary=summary_of(effective, profile),
    )


def summary_of(effective: EffectivePolicy, profile: PolicyKindProfile, field: str = "") -> tuple[str, ...]:
    """Summarise an effective policy in a few short phrases, or what it has below a field."""
    values = plain(effective.resolution.spec)
    # Where all policies apply, the settings of each stand below its name.
    specs = [spec for spec in values.values() if isinstance(spec, dict)] if profile.all_apply else [values]
    phrases = (profile.summary_of(_reduced_to(spec, field) if field else spec) for spec in specs)
    return tuple(dict.fromkeys(chain.from_iterable(phrases)))


def _reduced_to(spec: Mapping[str, Json], field: str) -> Mapping[str, Json]:
    """Settings with nothing in them but one field; none if that cannot be told."""
    try:
        path = FieldPath.parse(field)
    except ValueError:
        return {}
    nested: Json = path.get(spec)
    keys = [step for step in path.steps if isinstance(step, str)]
    if nested is None or len(keys) < len(path.steps):
        return {}
    for key in reversed(keys):
        nested = {key: nested}
    return nested if isinstance(nested, dict) else {}


def with_lines(
    groups: Iterable[InForce], locate: LocateLine, author_of: FindAuthor | None = None
) -> tuple[InForce, ...]:
    """Return groups with the lines of their settings instead of those of their objects, and with authors.

    Nobody is named unless it is given who did.
    """

    def exact(setting: Setting) -> Setting:
        instead_of = tuple(with_line(fate, locate, author_of) for fate in setting.instead_of)
        return with_line(setting, locate, author_of, **{"instead_of": instead_of} if instead_of else {})

    return tuple(
        replace(
            group,
            settings=tuple(map(exact, group.settings)),
            without_effect=tuple(with_line(fate, locate, author_of) for fate in group.without_effect),
        )
        for group in groups
    )


def assumed_of(profile: PolicyKindProfile, resolutions: Iterable[Resolution]) -> tuple[str, ...]:
    """Choices about a kind that rest on a default or a guess, and that matter for some of its outcomes.

    How specs merge matters where several meet and one has not chosen; where that is not decided, nothing is assumed.
    """
    if "merge strategy" not in profile.assumed:
        return profile.assumed
    by_guess, merges = profile.combines_by_guess, False
    for resolution in resolutions:
        parts = resolution.contributions
        if len(parts) > 1 and "combination unknown" not in resolution.doubts:
            merges = merges or any(part.guessed if by_guess else part.field == "spec" for part in parts)
    return tuple(choice for choice in profile.assumed if choice != "merge strategy" or merges)


def _weights(analysis: Analysis, effective: EffectivePolicy, profile: PolicyKindProfile) -> Mapping[ObjectRef, int]:
    """The weight of every policy that takes part and has one, if the kind has weights."""
    if not profile.weight_annotation:
        return {}
    refs = sorted({part.source.object for part in effective.resolution.contributions})
    policies = (policy for ref in refs if (policy := analysis.index.get(ref)))
    weights = {policy.ref: number_in_annotation(policy.raw, profile.weight_annotation) for policy in policies}
    return {ref: weight for ref, weight in weights.items() if weight}
