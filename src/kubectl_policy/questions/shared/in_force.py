"""The settings in force on a set of paths: resolved per path and policy kind, then grouped where they are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.fields import WHOLE, FieldPath, number_in_annotation
from kubectl_policy.questions.shared.declared import named_fates, named_leaves
from kubectl_policy.questions.shared.places import Places, at_line, origin_of
from kubectl_policy.resolution import field_name, leaves, plain, reach, same_level_of, takes_effect_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
    from kubectl_policy.profiles.profile import SameLevel
    from kubectl_policy.questions.shared.places import Locate, Who
    from kubectl_policy.resolution import EffectivePolicy, Fate, Resolution, Source
    from kubectl_policy.resolution.traced import Field
    from kubectl_policy.topology import Path


class Setting(Struct, frozen=True, kw_only=True):
    """One effective field as its source declares it, who that is, and the declared values that it beat.

    `removed` is true if the source removes the field, `defaulted` if it leaves it out, so that the definition of its
    kind fills it in. It is not `certain` where it is not known how the policies there combine. `security` is whether
    the field is known as relevant to security. `origin` is where the source was read or, once that was looked up, where
    the field was; `declared_in` is the field of the source that says it, or the whole of it where none does, and
    `blame` is who wrote it, if somebody asked.
    """

    field: str
    value: Json
    source: Source
    removed: bool
    defaulted: bool
    certain: bool
    beaten: tuple[Fate, ...]
    origin: Origin | None = None
    declared_in: FieldPath = WHOLE
    blame: Authorship | None = None
    security: bool = False


class InForce(Struct, frozen=True, kw_only=True):
    """The effective policy of one kind, the same on all of `paths` (positions in the description's paths).

    What a rule of a route says itself is in force as well: then the kind is that of the route, and there are no
    policies.

    `policies` have an effective field here, or take part without declaring any; of those that are `undecided` it is not
    known whether they do. `at` are the nodes at which it takes effect. `beaten` are declared fields that have no
    effective counterpart. `passes_down`: the kind takes effect further down than these paths reach; these are the
    settings that it would bring. `strategies` are those that decide here, least specific first, each once; `same_level`
    is the rule for policies on one node; `assumed` names what of the kind rests on a default or a guess and matters
    here; `doubts` what could not be decided. `order` are those who say something here, least specific first, `members`
    those of them that are not replaced or refused as a whole, `strategy_of` what each says of how it merges, and
    `weights` the numbers by which the kind orders them on one target. `summary` are the settings in a few short
    phrases, `own_words` what people call the object's own settings that stand for some fields here, by these.
    """

    kind: GroupKind
    profile: PolicyKindProfile
    policies: tuple[ObjectRef, ...]
    undecided: tuple[ObjectRef, ...]
    strategies: tuple[MergeStrategy, ...]
    same_level: SameLevel
    paths: tuple[int, ...]
    at: tuple[NodeRef, ...]
    settings: tuple[Setting, ...]
    beaten: tuple[Fate, ...]
    passes_down: bool
    assumed: tuple[str, ...]
    doubts: tuple[str, ...]
    order: tuple[Source, ...]
    members: frozenset[Source]
    strategy_of: Mapping[Source, MergeStrategy]
    weights: Mapping[ObjectRef, int]
    summary: tuple[str, ...]
    own_words: Mapping[str, str]


class Entry(Struct, frozen=True, kw_only=True):
    """An effective policy on one of the paths."""

    path: int
    effective: EffectivePolicy
    passes_down: bool


def effective_entries(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], kind: GroupKind | None = None
) -> tuple[Entry, ...]:
    """The effective policy of every kind, or of one, on every path, at the level where the kind takes effect."""
    entries: list[Entry] = []
    for position, path in enumerate(paths):
        for policy_kind in (each for each in analysis.resolver.kinds_at(path) if kind in {None, each}):
            profile = analysis.registry.known(policy_kind)
            direct, reached = profile.policy_class == "direct", reach(path, profile)
            if direct:
                ends = _direct_ends(analysis, profile, path, subject)
            else:
                ends = [reached or path] if reached or takes_effect_below(path[-1], profile) else []
            below = not direct and not reached
            outcomes = filter(None, (analysis.resolver.effective_of(policy_kind, end) for end in ends))
            entries += (Entry(path=position, effective=outcome, passes_down=below) for outcome in outcomes)
    return tuple(entries)


def own_entries(analysis: Analysis, paths: Iterable[Path]) -> tuple[Entry, ...]:
    """What the rules of the routes on every path say themselves; these are no policies.

    What stands for a setting of policies that count at the rule is in the entries of these instead.
    """
    return tuple(
        Entry(path=position, effective=outcome, passes_down=False)
        for position, path in enumerate(paths)
        for outcome in analysis.resolver.own_settings(path)
    )


def _direct_ends(analysis: Analysis, profile: PolicyKindProfile, path: Path, subject: NodeRef) -> list[Path]:
    """The places from the subject downward where a direct policy can take effect: of each object, its deepest node.

    A section counts only where the kind takes effect at sections, or one of its policies is attached to this one. What
    filters of a rule do, they do to all requests to its backends.
    """
    starts = {subject.object, *((node.object for node in path) if profile.role == "filter" else ())}
    first = next(place for place, node in enumerate(path) if node.object in starts)
    whole = {level.group_kind for level in profile.effective_targets if not level.section}
    whole -= {level.group_kind for level in profile.effective_targets if level.section}
    deepest = {
        node.object: place
        for place, node in enumerate(path[first:], first)
        if not node.section
        or node.object.group_kind not in whole
        or analysis.resolver.claimants(node, profile.group_kind)
    }
    return [path[: place + 1] for place in sorted(deepest.values())]


def group_entries(analysis: Analysis, entries: Iterable[Entry]) -> tuple[InForce, ...]:
    """Entries of the same kind and outcome as one, sorted by kind, then by first path."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    outcomes: dict[Resolution, tuple[object, ...]] = {}
    for entry in entries:
        target, resolution = entry.effective.target, entry.effective.resolution
        if resolution not in outcomes:
            # What is the same where the effective policy is the same, and each field has the same fate.
            outcomes[resolution] = (
                resolution.kind,
                tuple(part.source for part in resolution.contributions),
                tuple((field, leaf.source) for field, leaf in leaves(resolution.spec)),
                resolution.ignored_fields,
                resolution.replaced_for_port,
                resolution.port_sources,
            )
        level = (target.object.group_kind, bool(target.section))
        groups.setdefault((*outcomes[resolution], level, entry.passes_down), []).append(entry)
    described = [_in_force(analysis, group) for group in groups.values()]
    return tuple(sorted(described, key=lambda group: (group.kind, group.paths, group.at)))


def _in_force(analysis: Analysis, entries: list[Entry]) -> InForce:
    effective = entries[0].effective
    parts = effective.contributions
    profile = analysis.registry.known(effective.kind).at(effective.target.object.group_kind)
    places = Places(analysis, effective, profile)
    beaten: dict[Field, list[Fate]] = {}
    for named, fate in named_fates(effective, profile):
        if fate.state not in {"effective", "undecided"}:
            origin, declared_in = origin_of(analysis, fate.source), places.field(named.field, named.leaf)
            beaten.setdefault(named.field, []).append(replace(fate, origin=origin, declared_in=declared_in))
    for field, leaf, fate in effective.resolution.own_fates:
        if fate.state == "superseded":
            origin, declared_in = origin_of(analysis, fate.source), places.field(field, leaf)
            beaten.setdefault(field, []).append(replace(fate, origin=origin, declared_in=declared_in))
    settings = tuple(
        Setting(
            field=named.name,
            value=named.leaf.value,
            source=named.leaf.source,
            removed=named.leaf.removed,
            defaulted=named.leaf.defaulted,
            certain=named.leaf.source not in effective.resolution.undecided,
            beaten=tuple(beaten.pop(named.field, ())),
            origin=origin_of(analysis, named.leaf.source),
            declared_in=places.field(named.field, named.leaf),
            security=profile.is_security(named.field[1:] if profile.all_apply else named.field),
        )
        for named in named_leaves(effective.spec, profile)
    )
    strategies = () if profile.own else tuple(dict.fromkeys(part.strategy for part in parts))
    if profile.chooser == "challenger":
        # The nearest one alone decides.
        strategies = tuple(part.strategy for part in parts if part.source not in effective.rejected)[-1:]
    return InForce(
        kind=effective.kind,
        profile=profile,
        policies=() if profile.own else tuple(sorted(effective.policies_in_force())),
        undecided=tuple(sorted(effective.resolution.policies_undecided)),
        strategies=strategies,
        same_level=same_level_of(profile, parts),
        paths=tuple(dict.fromkeys(entry.path for entry in entries)),
        at=tuple(dict.fromkeys(entry.effective.target for entry in entries)),
        settings=settings,
        beaten=tuple(fate for fates in beaten.values() for fate in fates),
        passes_down=entries[0].passes_down,
        assumed=assumed_of(profile, [effective]),
        doubts=tuple(sorted({doubt for entry in entries for doubt in entry.effective.doubts})),
        order=tuple(part.source for part in parts),
        members=effective.members,
        strategy_of={part.source: part.strategy for part in parts},
        weights=_weights(analysis, effective, profile),
        summary=summary_of(effective, profile),
        own_words=_own_words(analysis, effective),
    )


def summary_of(effective: EffectivePolicy, profile: PolicyKindProfile) -> tuple[str, ...]:
    """An effective policy in a few short phrases; where all policies apply, those of each."""
    values = plain(effective.spec)
    if not profile.all_apply:
        return profile.summary_of(values)
    policies = (spec for spec in values.values() if isinstance(spec, dict))
    return tuple(dict.fromkeys(phrase for spec in policies for phrase in profile.summary_of(spec)))


def at_lines(groups: Iterable[InForce], locate: Locate, who: Who | None = None) -> tuple[InForce, ...]:
    """The same with the lines of settings, and of what they beat, instead of those of their objects; and with authors.

    Nobody is named unless it is given who did.
    """

    def exact(setting: Setting) -> Setting:
        beaten = tuple(at_line(fate, locate, who) for fate in setting.beaten)
        return at_line(setting, locate, who, **{"beaten": beaten} if beaten else {})

    return tuple(
        replace(
            group,
            settings=tuple(map(exact, group.settings)),
            beaten=tuple(at_line(fate, locate, who) for fate in group.beaten),
        )
        for group in groups
    )


def _own_words(analysis: Analysis, effective: EffectivePolicy) -> Mapping[str, str]:
    """What people call the own settings of a rule that stand for settings of policies, by the fields of these."""
    rules = analysis.registry.own_settings_of(effective.target.object.group_kind)
    settings = rules.own if rules else None
    own = effective.resolution.own if settings else ()
    return {field_name(each.field): settings.words(each.object_field) for each in own if settings}


def assumed_of(profile: PolicyKindProfile, outcomes: Iterable[EffectivePolicy | Resolution]) -> tuple[str, ...]:
    """What of a kind rests on a default or a guess and matters for some of its outcomes.

    How specs merge matters where several meet and one has not chosen; where that is not decided, nothing is assumed.
    """
    if "merge strategy" not in profile.assumed:
        return profile.assumed
    by_guess, merges = profile.combines_by_guess, False
    for effective in outcomes:
        parts = effective.contributions
        if len(parts) > 1 and "combination unknown" not in effective.doubts:
            merges = merges or any(part.guessed if by_guess else part.field == "spec" for part in parts)
    return tuple(choice for choice in profile.assumed if choice != "merge strategy" or merges)


def _weights(analysis: Analysis, effective: EffectivePolicy, profile: PolicyKindProfile) -> Mapping[ObjectRef, int]:
    """The weight of every policy that takes part and has one, if the kind has weights."""
    if not profile.weight_annotation:
        return {}
    refs = sorted({part.source.object for part in effective.contributions})
    policies = (policy for ref in refs if (policy := analysis.index.get(ref)))
    weights = {policy.ref: number_in_annotation(policy.raw, profile.weight_annotation) for policy in policies}
    return {ref: weight for ref, weight in weights.items() if weight}
