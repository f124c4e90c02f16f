"""Resolve the policies of one kind on a path: how far down the kind reaches, and the outcome there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, HIERARCHY, NAMESPACE, layer_of
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile
from kubectl_policy.resolution.contributions import (
    NOBODY,
    Contribution,
    counting_part,
    ignored_fields,
    sources_for_port,
    with_chosen_strategies,
    without_ignored,
)
from kubectl_policy.resolution.merging import Doubt, PathContext, merge_contributions
from kubectl_policy.resolution.outcome import Resolution
from kubectl_policy.resolution.traced import Field, Source, leaves, with_keyed_lists, without

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.topology import Path, Topology

# An inherited policy that ends here has nothing below it to affect: these carry no traffic themselves.
CARRY_NOTHING: Final = frozenset({NAMESPACE, GATEWAY_CLASS})


def paths_by_way_of(targets: Iterable[NodeRef], profile: PolicyKindProfile, topology: Topology) -> tuple[Path, ...]:
    """Return the paths at whose ends policies of a kind take effect by way of some targets, each once.

    Also those on which no traffic runs.
    """
    by_target = [tuple(_paths(target, profile, topology)) for target in targets]
    # Whole paths by way of one target are never the same; to look for any that are takes as long as to resolve them.
    if len(by_target) == 1 and not profile.effective_targets:
        return by_target[0]
    return tuple(dict.fromkeys(path for paths in by_target for path in paths))


def _paths(target: NodeRef, profile: PolicyKindProfile, topology: Topology) -> Iterator[Path]:
    """Yield the paths at whose ends the policy takes effect by way of one target."""
    if profile.policy_class == "direct":
        for end in _direct_ends(target, profile, topology):
            yield from topology.paths(end)
        return
    for path in topology.paths_through(target):
        reached = reached_part(path, profile)
        # Every path through a target has it on it, if only as far as a kind reaches.
        if reached is path or target in reached:
            yield reached
    # What is in a target Namespace, and outside of the hierarchy, is affected though no traffic leads there.
    kinds = [level.group_kind for level in profile.effective_targets if level.group_kind not in HIERARCHY]
    for kind in kinds if target.object.group_kind == NAMESPACE else ():
        for resource in topology.index.of_kind_in(kind, target.object.name):
            yield from topology.paths(NodeRef(resource.ref))


def _direct_ends(target: NodeRef, profile: PolicyKindProfile, topology: Topology) -> list[NodeRef]:
    """Return the nodes where a direct policy takes effect: its target, or each section of it."""
    levels = [level for level in profile.effective_targets if level.group_kind == target.object.group_kind]
    if target.section or (levels and not any(level.section for level in levels)):
        return [target]
    sections = topology.sections(target.object)
    return [replace(target, section=section) for section in sections] or [target]


def takes_effect_below(node: NodeRef, profile: PolicyKindProfile) -> bool:
    """Whether an inherited kind may take effect further down than a node: it does if that is not known."""
    kind = node.object.group_kind
    return not profile.effective_targets or any(
        layer_of(level.group_kind) > layer_of(kind) or (level.group_kind == kind and level.section and not node.section)
        for level in profile.effective_targets
    )


def reached_part(path: Path, profile: PolicyKindProfile) -> Path:
    """Return the part of a path down to the deepest node at which the kind takes effect, or ()."""
    if not profile.effective_targets:
        return path if path[-1].object.group_kind not in CARRY_NOTHING else ()
    for end in range(len(path), 0, -1):
        if any(level.includes(path[end - 1]) for level in profile.effective_targets):
            return path[:end]
    return ()


_UNDATED: Final[frozenset[Doubt]] = frozenset({"age unknown"})
_UNDEFINED: Final[frozenset[Doubt]] = frozenset({"order undefined"})


def resolve(
    profile: PolicyKindProfile,
    contributions: tuple[Contribution, ...],
    context: PathContext,
    *,
    age_unknown: bool = False,
) -> Resolution:
    """Merge contributions on a path, at least one, into the effective spec of one kind.

    `age_unknown` is whether the order of policies on one node rests on their names, because some of them have no date.
    Where an invalid policy wins for which requests fail, nothing is in force; elsewhere it is left out.
    """
    outcome = _merged(profile, contributions, context, age_unknown=age_unknown)
    invalid = {part.source: part.invalid for part in contributions if part.invalid}
    if not invalid:
        return outcome
    failing = {source: reason for source, reason in invalid.items() if source in outcome.sources_in_force}
    if failing:
        return _without_settings(outcome, failing)
    valid = tuple(part for part in contributions if not part.invalid)
    refused = {source: refusal for source, refusal in context.refused.items() if source not in invalid}
    return _merged(profile, valid, replace(context, refused=refused), age_unknown=age_unknown) if valid else outcome


def _without_settings(outcome: Resolution, failing: Mapping[Source, str]) -> Resolution:
    """Return an outcome in which nothing is in force, since policies that take part are invalid."""
    source, reason = next(iter(failing.items()))
    because = f"{source.object} is not valid: {reason}"
    unheeded = {(leaf.source, field): because for field, leaf in leaves(outcome.spec)}
    return replace(
        outcome,
        spec={},
        merged=outcome.spec if outcome.merged is None else outcome.merged,
        ignored_fields={**outcome.ignored_fields, **unheeded},
        ignored_sources=outcome.ignored_sources | outcome.sources_in_force,
        failing=failing,
    )


def _merged(
    profile: PolicyKindProfile, contributions: tuple[Contribution, ...], context: PathContext, *, age_unknown: bool
) -> Resolution:
    """Merge contributions on a path as if all of them were valid."""
    contributions = tuple(with_chosen_strategies(contributions)) if profile.strategy_from_above else contributions
    counting = _heeded(contributions, profile, context)
    if counting and counting[-1].strategy is MergeStrategy.STRATEGIC_MERGE:
        keys = {tuple(name.split(".")): key for name, key in profile.list_keys.items()}
        contributions = tuple(replace(part, spec=with_keyed_lists(part.spec, keys)) for part in contributions)
        counting = _heeded(contributions, profile, context)
    is_ignoring = profile.ignores_some or any(part.ignored for part in contributions)
    counted = [(part, counting_part(part, profile, context.listener)) for part in contributions if is_ignoring]
    ignored = {
        (part.source, field): reason
        for part, counting in counted
        for field, reason in ignored_fields(part, counting, profile).items()
    }
    merge = merge_contributions(counting, profile, context)
    port_sources = sources_for_port(merge.spec, profile, context.listener)
    replaced: Field = tuple(profile.port_field.instead_of.split(".")) if port_sources and profile.port_field else ()
    merged = without(merge.spec, replaced) if replaced else merge.spec
    spec = without_ignored(merged, ignored)
    return Resolution(
        kind=profile.group_kind,
        spec=spec,
        merged=None if spec is merged else merged,
        contributions=contributions,
        members=merge.members,
        # A set takes more room than all else here, and nearly all of these have nothing in them.
        rejected=merge.rejected.union(context.refused) if context.refused else merge.rejected,
        undecided=merge.undecided.union(context.undecided),
        doubts=merge.doubts.union(_UNDATED if age_unknown else (), _UNDEFINED if context.undecided else ()),
        refusals=context.refused,
        ignored_fields=ignored,
        ignored_sources=_ignored_sources(counted, ignored) if counted else NOBODY,
        scopes=merge.scopes,
        replaced_for_port=replaced,
        port_sources=port_sources,
    )


def _ignored_sources(
    counted: Iterable[tuple[Contribution, Contribution | None]], ignored: Mapping[tuple[Source, Field], str]
) -> frozenset[Source]:
    """Return the sources of which nothing counts."""
    counting = {
        part.source
        for part, counted_part in counted
        if counted_part and not (part.spec and all((part.source, field) in ignored for field, _ in leaves(part.spec)))
    }
    return frozenset(part.source for part, _ in counted) - counting


def _heeded(
    contributions: Iterable[Contribution], profile: PolicyKindProfile, context: PathContext
) -> tuple[Contribution, ...]:
    """Return the heeded parts of the contributions that are not refused."""
    allowed = (
        [part for part in contributions if part.source not in context.refused] if context.refused else contributions
    )
    if not profile.ignores_some:
        return tuple(allowed)
    return tuple(part for part in (counting_part(part, profile, context.listener) for part in allowed) if part)
