"""Two states of the world compared by their effective policies, not by their text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import Diagnostic, Gap, NodeRef, ObjectRef
from kubectl_policy.model.kinds import CRD
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.questions.blind_spots.answers import (
    blind_spots_for,
    blind_spots_for_policy,
    blind_spots_in_needs,
    blind_spots_in_references,
    possible_through,
)
from kubectl_policy.questions.blind_spots.relevance import describe_gaps
from kubectl_policy.questions.blind_spots.unknowns import Answer, BlindSpot, cut_paths, unknown_parents
from kubectl_policy.questions.connections.changes import (
    NO_CONNECTION_CHANGES,
    ConnectionChanges,
    connection_changes,
    unread_for_changes,
)
from kubectl_policy.questions.differences.comparing import effect_changes
from kubectl_policy.questions.differences.relations import (
    AttachmentChange,
    EnforcementChange,
    ParentChange,
    attachment_changes,
    cut_off,
    enforcement_changes,
    parent_changes,
    without_class,
)
from kubectl_policy.questions.differences.traffic import NO_TRAFFIC, TrafficChanges, traffic_changes
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.failing_routes import FailingRoute, failing_routes, newly_failing
from kubectl_policy.questions.shared.fields import LocateLine, with_line
from kubectl_policy.questions.shared.not_looked_into import ReferenceRole, unexamined_references
from kubectl_policy.topology import nodes_on_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import Pair, StateComparison
    from kubectl_policy.questions.differences.effects import EffectChange, FieldChange


# How something is named that is not looked into, by whom.
_AS: Final[Mapping[ReferenceRole, str]] = {
    "filter": "filters of {} name it",
    "backend": "{} may send requests to it",
    "parameters": "it is the parameters of {}",
}


class ProblemChanges(Struct, frozen=True, kw_only=True):
    """Problems of two states."""

    introduced: Annotated[tuple[Diagnostic, ...], Meta(description="The problems that only the later state has.")]
    fixed: Annotated[tuple[Diagnostic, ...], Meta(description="The problems that only the earlier state has.")]
    unchanged: Annotated[
        tuple[Diagnostic, ...], Meta(description="The problems of changed objects that both states have.")
    ]


# The rules of problems with references to what was not read.
_UNDECIDED: Final = frozenset({"unknown-reference", "target-unknown"})
_FAILING: Final = (
    "The routes whose requests newly get an error response, because a policy is not valid any more. Their former"
    " settings are not among the effects."
)


_FRAGMENT: Final = (
    "The state that lacks nearly all objects of the other one, so that it may be only a part of it; empty if neither"
    " does, and for changes to one state."
)
# A state with few of the other's objects is one with less than one in so many, if that many are missing at all.
_MIN_MISSING: Final = 10


class StateDiff(Answer, frozen=True, kw_only=True):
    """The differences between two states and their consequences; sorted by name unless stated otherwise."""

    created: Annotated[tuple[ObjectRef, ...], Meta(description="The objects that only the later state has.")]
    deleted: Annotated[tuple[ObjectRef, ...], Meta(description="The objects that only the earlier state has.")]
    updated: Annotated[tuple[ObjectRef, ...], Meta(description="The objects that differ between the states.")]
    traffic: Annotated[TrafficChanges, Meta(description="The traffic that routes lose and gain.")] = NO_TRAFFIC
    effects: Annotated[tuple[EffectChange, ...], Meta(description="Differences of effective policies, worst first.")]
    attachments: Annotated[tuple[AttachmentChange, ...], Meta(description="The changed states of target references.")]
    parents: Annotated[tuple[ParentChange, ...], Meta(description="The changed states of routes at parents.")]
    cut_off: Annotated[tuple[ObjectRef, ...], Meta(description="The routes that receive no requests any more.")] = ()
    without_class: Annotated[
        tuple[ObjectRef, ...], Meta(description="The Gateways that no controller manages any more.")
    ] = ()
    failing: Annotated[tuple[FailingRoute, ...], Meta(description=_FAILING)] = ()
    connections: Annotated[
        ConnectionChanges, Meta(description="The connections that network policies newly allow or deny.")
    ] = NO_CONNECTION_CHANGES
    enforcement: Annotated[
        tuple[EnforcementChange, ...], Meta(description="The changed enforcement states of policies.")
    ]
    problems: Annotated[ProblemChanges, Meta(description="The differences between the problems of the states.")]
    fragment: Annotated[Literal["", "before", "after"], Meta(description=_FRAGMENT)] = ""
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description="The blind spots of both states.")]

    @property
    def found_nothing(self) -> bool:
        """Whether no difference is known to have a consequence."""
        return not self.changes

    @property
    def changes(self) -> Annotated[bool, Meta()]:
        """Whether the differences have any consequence."""
        changes = (self.effects, self.attachments, self.parents, self.enforcement, self.without_class, self.failing)
        is_changed = bool(self.traffic.routes or self.problems.introduced or self.problems.fixed)
        return any(changes) or is_changed or bool(self.connections)


def diff(comparison: StateComparison, owner_key: str = "", *, separate: bool = False) -> StateDiff:
    """Compare two states; `owner_key` is the label or annotation that names owners.

    If they are `separate`, and not one before and after changes, either may be only a part of the other.
    """
    pairs = tuple(comparison.pairs())
    attachments = attachment_changes(comparison)
    parents = parent_changes(comparison)
    concerned = _concerned_policies(
        comparison, {change.policy for change in attachments} | _policies_on_paths(comparison, pairs)
    )
    failing = (failing_routes(comparison.before), failing_routes(comparison.after))
    settings = (*_without_failing(pairs, newly_failing(*failing)), *comparison.route_pairs())
    effects = effect_changes(comparison, settings)
    enforcement = enforcement_changes(comparison, concerned)
    connections = connection_changes(comparison)
    unseen = (
        *unread_for_changes(comparison, connections),
        *_blind_spots(comparison, concerned),
        *_blind_spots_in_relations(comparison, attachments, parents),
        *_blind_spots_of_unexamined(comparison),
        *_blind_spots_of_changed(comparison, effects, {change.policy for change in enforcement}),
    )
    orphans = without_class(comparison)
    return StateDiff(
        created=tuple(sorted(comparison.created)),
        deleted=tuple(sorted(comparison.deleted)),
        updated=tuple(sorted(comparison.updated)),
        effects=effects,
        attachments=attachments,
        parents=parents,
        connections=connections,
        enforcement=enforcement,
        problems=_problem_changes(comparison, concerned),
        unseen=tuple(dict.fromkeys(unseen)),
        cut_off=cut_off(comparison, parents),
        without_class=orphans,
        fragment=_fragment(comparison) if separate else "",
        traffic=traffic_changes(comparison, orphans, failing, owner_key),
        failing=newly_failing(*failing),
    )


def _fragment(comparison: StateComparison) -> Literal["", "before", "after"]:
    """The state that has hardly any of the objects of the other one."""
    before, after = (len(state.snapshot.resources) for state in (comparison.before, comparison.after))
    if len(comparison.deleted) >= _MIN_MISSING * max(after, 1):
        return "after"
    return "before" if len(comparison.created) >= _MIN_MISSING * max(before, 1) else ""


def _without_failing(pairs: Iterable[Pair], failing: Iterable[FailingRoute]) -> Iterator[Pair]:
    """The pairs of outcomes without those of a kind where its policies now make requests fail, whatever they set."""
    gone = {(failure.policy.group_kind, path) for failure in failing for path in failure.paths}
    lengths = {(kind, len(path)) for kind, path in gone}
    return (
        pair
        for pair in pairs
        if not any(kind == pair.kind and (kind, pair.path[:length]) in gone for kind, length in lengths)
    )


def with_lines(difference: StateDiff, locate: LocateLine) -> StateDiff:
    """Return a diff with the lines of effective values instead of those of their objects."""

    def located(field: FieldChange) -> FieldChange:
        before, after = (value and with_line(value, locate) for value in (field.before, field.after))
        return replace(field, before=before, after=after)

    effects = (replace(effect, fields=tuple(map(located, effect.fields))) for effect in difference.effects)
    return replace(difference, effects=tuple(effects))


def _policies_on_paths(comparison: StateComparison, pairs: Iterable[Pair]) -> set[ObjectRef]:
    """The policies on the paths of pairs of outcomes, also those that have no part in these."""
    if comparison.surroundings:
        met = dict.fromkeys((node, pair.kind) for pair in pairs for node in pair.path)
        both = (comparison.before.resolver, comparison.after.resolver)
        return {
            claimant.ref
            for node, kind in met
            for resolver in both
            for claimant in resolver.policies_of_kind(node, kind)
        }
    unvisited = {kind: {*comparison.nodes_with(kind)} for kind in comparison.kinds}
    policies: set[ObjectRef] = set()
    for pair in pairs:
        for node in nodes_on_path(unvisited[pair.kind], pair.path):
            unvisited[pair.kind].remove(node)
            for state in (comparison.before, comparison.after):
                policies.update(policy.ref for policy in state.resolver.policies_of_kind(node, pair.kind))
    return policies


def _concerned_policies(comparison: StateComparison, otherwise: Collection[ObjectRef]) -> frozenset[ObjectRef]:
    """Return the policies that may have another effect or state than before."""
    states, around = (comparison.before, comparison.after), comparison.surroundings
    policies = {policy for state in states for policy in state.attachments}
    if not (comparison.shares_topology or around):
        return frozenset(policies)
    # Where the hierarchy is the same: those that are changed, or whose targets are, or that share a path with one.
    affected = {*otherwise, *comparison.changed}
    if around:
        affected |= around.reattached if comparison.shares_topology else around.share | around.policies
    exclusive = {
        profile.group_kind for state in states for profile in state.registry.policy_kinds if profile.exclusive_field
    }
    kinds = exclusive & {ref.group_kind for ref in affected}
    return frozenset(policy for policy in policies if policy in affected or policy.group_kind in kinds)


def _problem_changes(comparison: StateComparison, concerned: Iterable[ObjectRef]) -> ProblemChanges:
    """Compare the problems of the concerned objects, and those from reading, without their lines."""
    states, changed, around = (comparison.before, comparison.after), comparison.changed, comparison.surroundings
    # A definition decides on the shape of all objects of its kind.
    redefined = any(ref.group_kind == CRD for ref in changed)
    # In order: neighbours were read one after the other, and are found again sooner.
    every = dict.fromkeys(changed)
    if comparison.shares_topology:
        every |= dict.fromkeys(concerned)
    elif around:
        every |= dict.fromkeys((*concerned, *around.routes, *around.policies))
    else:
        # The hierarchy differs: every object is concerned that may have problems by way of others.
        kinds = {kind for state in states for kind in state.index.group_kinds if redefined or state.has_relations(kind)}
        every |= dict.fromkeys(ref for kind in kinds for state in states for ref in state.index.world.refs_of(kind))
    whole = every if redefined else changed
    old, new = _problems(states, every, whole)
    return ProblemChanges(
        introduced=_ordered(
            _as_warning(problem) if problem.subject in changed else problem
            for key, problem in new.items()
            if key not in old
        ),
        fixed=_ordered(problem for key, problem in old.items() if key not in new),
        unchanged=_ordered(problem for key, problem in new.items() if key in old and problem.subject in changed),
    )


def _as_warning(problem: Diagnostic) -> Diagnostic:
    """Return a problem; a reference that a change adds, and of which it is not known where it leads, is a warning."""
    return replace(problem, severity="warning") if problem.rule in _UNDECIDED else problem


def _problems(
    states: Iterable[Analysis], every: Iterable[ObjectRef], whole: Collection[ObjectRef]
) -> list[dict[tuple[object, ...], Diagnostic]]:
    """Return the problems of each state by their content; of objects in `whole`, also those without other objects."""
    by_state = [
        (state, {_content(problem): problem for problem in state.snapshot.diagnostics if problem.subject is None})
        for state in states
    ]
    # Object by object: what one state has looked up of it lies near for the other one.
    for ref in every:
        for state, problems in by_state:
            for problem in state.problems_of(ref) if ref in whole else state.relation_problems_of(ref):
                problems[_content(problem)] = problem
    return [problems for _, problems in by_state]


def _content(problem: Diagnostic) -> tuple[object, ...]:
    # Hints at other objects may differ though the problem is the same.
    message = problem.message.partition("; ")[0] if problem.severity == "info" else problem.message
    return problem.rule, problem.severity, problem.subject, problem.field, message


def _ordered(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    def key(problem: Diagnostic) -> tuple[object, ...]:
        severity = ("error", "warning", "info").index(problem.severity)
        return severity, str(problem.subject or ""), problem.rule, problem.message

    return tuple(sorted(problems, key=key))


def _blind_spots(comparison: StateComparison, concerned: Collection[ObjectRef]) -> Iterator[BlindSpot]:
    for state in (comparison.before, comparison.after):
        yield from describe_gaps(state, _gaps_of_one_state(state, comparison))
        for ref in sorted(comparison.changed):
            yield from _blind_spots_about(state, ref)
        # Of those that are not alike that is said above.
        alike = {*concerned} - comparison.changed if comparison.shares_topology else set[ObjectRef]()
        for policy in sorted(policy for policy in alike if policy in state.attachments):
            yield from blind_spots_for_policy(state, state.enforcement(policy), needs=False)


def _gaps_of_one_state(state: Analysis, comparison: StateComparison) -> Iterator[Gap]:
    """Return the gaps of a state that the other one has not: what they cover may differ."""
    other_state = comparison.after if state is comparison.before else comparison.before
    other_gaps = {*other_state.snapshot.gaps}
    # What could not be read at another line is the same if it is known to mention the same.
    alike = {replace(gap, origin=None) for gap in other_gaps if gap.mentions is not None}
    gaps = (gap for gap in state.snapshot.gaps if gap not in other_gaps)
    return (gap for gap in gaps if replace(gap, origin=None) not in alike)


def _blind_spots_of_unexamined(comparison: StateComparison) -> Iterator[BlindSpot]:
    """The objects that are not alike, that routes or Gateways name, and of which it is not known what they do."""
    for obj in () if comparison.shares_topology else sorted(comparison.updated):
        for state in (comparison.before, comparison.after):
            for sort, refs in unexamined_references(state, obj).items():
                reason = f"{_AS[sort].format(', '.join(map(str, refs)))}, and what a {obj.kind} does is not looked into"
                yield BlindSpot(what=f"what differs in {obj}", reason=reason, remedy="compare its settings yourself")


def _blind_spots_of_changed(
    comparison: StateComparison, effects: Collection[EffectChange], policies: Collection[ObjectRef]
) -> Iterator[BlindSpot]:
    """The objects that something happens to, and the policies that do it, which may not be as they were read."""
    values = (value for change in effects for field in change.fields for value in (field.before, field.after))
    sources = (value.source.object for value in values if value)
    # Whether a policy was valid matters where it comes into force; it does not where it is in force before and after.
    fields = [field for change in effects if change.where != "gone" for field in change.fields]
    old = {field.before.source.object for field in fields if field.before}
    setting = sorted({field.after.source.object for field in fields if field.after} - old)
    targets = (node.node.object for change in effects for node in change.objects)
    objects = dict.fromkeys((*sorted(policies), *sources, *targets))
    for state in (comparison.before, comparison.after):
        for ref in objects if state.snapshot.gaps else ():
            yield from describe_gaps(state, state.index.absence.gaps_of(ref))
    # What was valid and goes may have been invalid: then less is lost than is said.
    yield from blind_spots_in_needs(comparison.after, (*setting, *sorted(comparison.created | comparison.updated)))


def _blind_spots_in_relations(
    comparison: StateComparison, attachments: Collection[AttachmentChange], parents: Collection[ParentChange]
) -> Iterator[BlindSpot]:
    """Unread targets and parents of the policies and routes that lose or get one."""
    policies = dict.fromkeys(change.policy for change in attachments)
    routes = dict.fromkeys(change.route for change in parents)
    for state in (comparison.before, comparison.after):
        yield from unknown_parents(state, routes)
        for policy in policies:
            if policy in state.attachments:
                yield from blind_spots_in_references(state, policy, needs=False)


def _blind_spots_about(analysis: Analysis, ref: ObjectRef) -> Iterator[BlindSpot]:
    if ref in analysis.attachments:
        enforcement = analysis.enforcement(ref)
        unseen = blind_spots_for_policy(analysis, enforcement, needs=False)
        yield from unseen
        is_unknown = enforcement.state == "Unknown" and not (unseen or enforcement.is_undecided)
        is_evaluated = ref.group_kind in EVALUATED_KINDS
        if is_unknown and not is_evaluated:
            reason = "how it attaches, and with that what it affects, is not computed"
            yield BlindSpot(
                what=str(ref), reason=reason, remedy=f"read what explain {ref.kind.lower()} says", policies=(ref,)
            )
    elif analysis.index.get(ref):
        node = NodeRef(ref)
        yield from blind_spots_for(analysis, node, covered_paths(analysis, node), include_descendants=True, needs=False)
        yield from cut_paths(analysis.topology.paths_through(node))
        yield from possible_through(analysis, node)
