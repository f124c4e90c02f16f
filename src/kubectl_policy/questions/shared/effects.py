"""Paths that an answer covers, the policies and nodes affected on them, and the problems that concern them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import Diagnostic, GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import ROUTES, depth_of
from kubectl_policy.model.world import grouped_by
from kubectl_policy.questions.shared.in_force import effective_entries
from kubectl_policy.resolution import CARRY_NOTHING, EffectivePolicy, Resolution
from kubectl_policy.topology.problems import dangling_references
from kubectl_policy.topology.references import backend_refs, parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.topology import Path

# Namespace, object, section: the path of a section to which nothing leads from above.
_OWN_LENGTH: Final = 3


def covered_paths(analysis: Analysis, subject: NodeRef) -> tuple[Path, ...]:
    """The full paths that an answer about the subject covers.

    A route or rule: from the root down to the backends. Anything else: from the root down to the subject's own
    sections, where a Service's ports count only if some route leads to them or a policy is attached to them.
    """
    topology, obj = analysis.topology, subject.object
    if obj.group_kind in ROUTES:
        return tuple(topology.paths_through(subject))
    if subject.section:
        return topology.paths(subject)
    nodes = [NodeRef(obj, section) for section in topology.sections(obj)] or [subject]
    paths = [path for node in nodes for path in topology.paths(node)]
    led_to = [path for path in paths if len(path) > _OWN_LENGTH or analysis.resolver.policies_at(path[-1])]
    return tuple(led_to or topology.paths(subject))


def affecting_or_undecided(
    analysis: Analysis, subject: NodeRef, paths: Collection[Path]
) -> tuple[tuple[ObjectRef, ...], tuple[ObjectRef, ...], tuple[ObjectRef, ...]]:
    """The policies with an effective field on an object's paths, and those that may have one; none without traffic.

    Of the second part it is not known how they combine with others; of the third, whether requests come to them or
    their controllers act there. Those that take effect only below the object, and not on it or on what its paths lead
    through, are left out, and so are filters and parameters.
    """
    if not any(analysis.topology.carries_traffic(path) for path in paths):
        return (), (), ()
    entries = (entry for entry in effective_entries(analysis, subject, paths) if not entry.passes_down)
    outcomes = dict.fromkeys((entry.effective.resolution, bool(entry.doubt)) for entry in entries)
    reached = [outcome for outcome, is_doubtful in outcomes if not is_doubtful]
    certain = {ref for outcome in reached for ref in outcome.policies_in_force - outcome.policies_undecided}
    undecided = {ref for outcome in reached for ref in outcome.policies_in_force} - certain
    doubtful = {ref for outcome, _ in outcomes for ref in outcome.policies_in_force} - certain - undecided

    def of_policies(refs: Iterable[ObjectRef]) -> tuple[ObjectRef, ...]:
        return tuple(ref for ref in sorted(refs) if analysis.registry.profile(ref.group_kind).role == "policy")

    return of_policies(certain), of_policies(undecided), of_policies(doubtful)


def affected_nodes(enforcement: Enforcement, profile: PolicyKindProfile) -> tuple[NodeRef, ...]:
    """Nodes on which a policy has an effective field, from the root downward.

    These are the levels at which its kind takes effect or, where that is not known, what the policy
    targets and every object below that on such a path. Of a policy about connections, they are its subjects.
    """
    if enforcement.subjects:
        return enforcement.subjects.certain if enforcement.state == "Enforced" else ()
    in_force = (outcome for outcome in policy_outcomes(enforcement) if outcome.in_force)
    return tuple(from_the_root({node for outcome in in_force for node in outcome.nodes(profile)}))


class PolicyOutcome(Struct, frozen=True, gc=False):
    """An outcome that a policy has a part in, by way of some of its targets, and whether a field of it is in force."""

    effective: EffectivePolicy
    targets: frozenset[NodeRef]
    in_force: bool

    def nodes(self, profile: PolicyKindProfile) -> tuple[NodeRef, ...]:
        """Nodes on the path on which the policy has its effects, if it has any."""
        return affected_on(self.effective.path, profile, self.targets)


def policy_outcomes(enforcement: Enforcement) -> Iterator[PolicyOutcome]:
    """Every outcome that a policy takes part in."""
    policy = enforcement.policy
    parts: dict[Resolution, tuple[frozenset[NodeRef], bool]] = {}
    for effective in enforcement.outcomes:
        resolution = effective.resolution
        known = parts.get(resolution)
        if known is None:
            targets = frozenset([part.source.target for part in resolution.contributions_of.get(policy, ())])
            known = parts[resolution] = targets, policy in resolution.policies_in_force
        yield PolicyOutcome(effective, *known)


def affected_on(path: Path, profile: PolicyKindProfile, targets: Iterable[NodeRef]) -> tuple[NodeRef, ...]:
    """Nodes on a path on which the policies of a kind on some targets have their effects, from the root downward."""
    if profile.policy_class == "direct" or profile.effective_targets:
        return path[-1:]
    start = min([path.index(target) for target in targets if target in path], default=len(path) - 1)
    return tuple(
        [
            node
            for node in path[start:]
            if (not node.section or node is path[start]) and node.object.group_kind not in CARRY_NOTHING
        ]
    )


def from_the_root(nodes: Iterable[NodeRef]) -> list[NodeRef]:
    """Nodes from the root downward, then sorted by kind and name."""
    # Many come sorted at each depth, and of all depths in turns.
    by_depth = grouped_by(nodes, lambda node: depth_of(node.object.group_kind))
    return [node for depth in sorted(by_depth) for node in sorted(by_depth[depth])]


def relevant_diagnostics(analysis: Analysis, subject: NodeRef, paths: tuple[Path, ...]) -> tuple[Diagnostic, ...]:
    """The subject's own problems, those of policies attached on its paths, and references of routes that miss it."""
    objects = dict.fromkeys([subject.object, *(node.object for path in paths for node in path)])
    policies = dict.fromkeys(a.policy for obj in objects for a in analysis.attachments_to(obj))
    about = [problem for obj in (subject.object, *policies) for problem in analysis.problems_of(obj)]
    routes = filter(None, map(analysis.index.get, _routes_referring_to(analysis, subject.object)))
    relations = analysis.topology.relations
    missed = (problem for route in routes for problem in dangling_references(relations, route))
    return tuple(dict.fromkeys([*about, *(problem for problem in missed if subject.object in problem.related)]))


def _routes_referring_to(analysis: Analysis, obj: ObjectRef) -> Iterable[ObjectRef]:
    """The routes that name an object as a parent or a backend, in the order of these."""
    index, relations = analysis.index, analysis.topology.relations
    if analysis.registry.profile_of(obj.group_kind) is None:
        return (*relations.routes_naming(obj), *relations.routes_referring_to(obj))
    # No API takes a policy for a parent or a backend: a cluster is not asked for routes that do so all the same.
    read = [route.ref for kind in ROUTES for route in index.read_with_strings(kind, obj.kind, obj.name)]
    by_parent = (route for route in read if any(ref.object == obj for ref in parent_refs(index, route)))
    by_backend = (route for route in read if any(ref.object == obj for ref in backend_refs(index, route)))
    return (*by_parent, *by_backend)


class WayInForce(Struct, frozen=True, kw_only=True):
    """Settings in force on one full path from the root down to a rule, a backend, or wherever it ends."""

    path: Path
    carries_traffic: bool
    effective: tuple[EffectivePolicy, ...]
    """One for each kind that is in force there, or may be (`resolution.policies_undecided`); none without traffic."""


def in_force(analysis: Analysis, node: NodeRef, kind: GroupKind | None = None) -> tuple[WayInForce, ...]:
    """Settings in force at every rule and backend below an object or section, of all policy kinds or of one.

    There is an entry for each way through it, also where nothing is in force: "all requests to this route need JWT" is
    a question about all of them. Raises `NotFoundError` for an object that was not read, for a section that it has not,
    and for a kind that is no policy kind.
    """
    analysis.require(node)
    if kind is not None:
        analysis.require_kind(kind)
    paths = analysis.topology.paths_through(node)
    by_path: dict[int, list[EffectivePolicy]] = {}
    for entry in effective_entries(analysis, node, paths, kind):
        # Where all that stands there is refused or ignored, nothing is in force.
        if entry.effective.resolution.spec or entry.effective.resolution.policies_in_force:
            by_path.setdefault(entry.path, []).append(entry.effective)
    carrying = [analysis.topology.carries_traffic(path) for path in paths]
    return tuple(
        WayInForce(path=path, carries_traffic=carries, effective=tuple(by_path.get(position, ())) if carries else ())
        for position, (path, carries) in enumerate(zip(paths, carrying, strict=True))
    )
