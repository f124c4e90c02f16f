"""Collect the blind spots of an answer from the objects, policies and settings that it rests on."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kind_roles import NAMESPACE, ROUTES
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE
from kubectl_policy.model.unknown import is_open, is_unfilled
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, gaps_in_list, may_change_policy, relevant_gaps
from kubectl_policy.questions.blind_spots.unknowns import (
    FILL_IN,
    BlindSpot,
    cut_paths,
    placeholder_remedy,
    uncomputed_policies,
    unknown_below_targets,
    unknown_conditions,
    unknown_grants,
    unknown_namespaces,
    unknown_needs,
    unknown_parents,
    unknown_routes,
    unknown_targets,
)
from kubectl_policy.topology.paths import routes_on

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.network.subjects import Subjects
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.topology import Path


def possible_for(
    analysis: Analysis, subject: ObjectRef, paths: Iterable[Path], targeting: Iterable[Attachment]
) -> Iterator[BlindSpot]:
    """Placeholders that may relate further objects to a subject and to the objects on its paths."""
    if not analysis.has_placeholders:
        return
    descendants, objects = {subject: None}, {subject: None}
    for path in paths:
        on_path = [node.object for node in path]
        objects |= dict.fromkeys(on_path)
        descendants |= dict.fromkeys(on_path[on_path.index(subject) :] if subject in on_path else ())
    yield from _possible(analysis, objects, descendants)
    # A policy that is refused on one target may be refused on all.
    for policy in dict.fromkeys(attachment.policy for attachment in targeting):
        everywhere = analysis.registry.profile(policy.group_kind).refusal == "everywhere"
        for attachment in analysis.attachments[policy] if everywhere else ():
            target = attachment.target.object if attachment.target else policy
            if is_open(target) or (analysis.index.get(target) is None and analysis.index.candidates.of(target)):
                yield from unknown_targets(analysis, [attachment])
            yield from _possibly_attached(analysis, target)


def possible_for_policy(analysis: Analysis, policy: ObjectRef, paths: Iterable[Path]) -> Iterator[BlindSpot]:
    """Placeholders that may relate objects to those on the paths of a policy's targets, and rivals of its kind."""
    named = [attachment.target for attachment in analysis.attachments[policy] if attachment.target]
    through = (path for target in named for path in analysis.topology.paths_through(target))
    objects = dict.fromkeys([policy, *(node.object for path in (*paths, *through) for node in path)])
    yield from _possible(analysis, objects, objects)
    for obj in objects:
        for attachment in analysis.possible_attachments.undecided_at(obj):
            if attachment.policy != policy and attachment.policy.group_kind == policy.group_kind:
                yield from unknown_targets(analysis, [attachment])


def possible_through(analysis: Analysis, node: NodeRef) -> Iterator[BlindSpot]:
    """Placeholders that may relate objects to the ancestors or descendants of a node."""
    if analysis.has_placeholders:
        paths = analysis.topology.paths_through(node)
        objects = dict.fromkeys([node.object, *(member.object for path in paths for member in path)])
        yield from _possible(analysis, objects, objects)


def _possible(
    analysis: Analysis, objects: Collection[ObjectRef], with_children: Collection[ObjectRef]
) -> Iterator[BlindSpot]:
    """Objects that may be ancestors of some objects or attached to them, or children of those `with_children`."""
    for obj in objects:
        for ref, relation in analysis.topology.possible.related(obj):
            remedy = placeholder_remedy(relation.upper, relation.lower)
            yield BlindSpot(what=str(ref), reason=relation.message, remedy=remedy)
        # Of an object in a namespace that nothing states, `unknown_namespaces` says so.
        is_placeholder = obj.group_kind == NAMESPACE and obj.name.startswith(UNKNOWN_NAMESPACE)
        for relation in analysis.topology.possible.children(obj) if obj in with_children and not is_placeholder else ():
            remedy = placeholder_remedy(obj, relation.lower)
            yield BlindSpot(what=str(relation.lower), reason=relation.message, remedy=remedy)
        parents = {binding.parent for binding in analysis.topology.bindings(obj)} if obj.group_kind in ROUTES else ()
        for holder in (obj, *sorted(set(parents).difference(objects))):
            yield from _possibly_attached(analysis, holder)


def _possibly_attached(analysis: Analysis, obj: ObjectRef) -> Iterator[BlindSpot]:
    for attachment in analysis.possible_attachments.to(obj):
        reason = f"{attachment.declared.field} of {attachment.policy} may be about {obj}"
        yield BlindSpot(what=str(attachment.policy), reason=reason, remedy=FILL_IN)


def unfilled_settings(analysis: Analysis, policies: Iterable[ObjectRef]) -> Iterator[BlindSpot]:
    """Policies with a placeholder in the field that decides how they combine, in which order, or on which port."""
    for policy in dict.fromkeys(policies):
        profile = analysis.registry.profile(policy.group_kind)
        fields = [FieldPath.parse(field) for field in (profile.strategy_field, profile.order_field) if field]
        if profile.port_field:
            fields.append(FieldPath.parse(f"spec.{profile.port_field.field}[].{profile.port_field.key}"))
        resource = analysis.index.get(policy) if fields else None
        for pattern in fields if resource else ():
            for field, placeholder in pattern.matches(resource.raw) if resource else ():
                if isinstance(placeholder, str) and is_unfilled(placeholder):
                    yield BlindSpot(what=str(policy), reason=f"its {field} is {placeholder}", remedy=FILL_IN)


def blind_spots_for(
    analysis: Analysis,
    subject: NodeRef,
    paths: Iterable[Path],
    *,
    include_descendants: bool = False,
    needs: bool = True,
) -> tuple[BlindSpot, ...]:
    """Return the blind spots of an answer about a subject and its paths, and of its descendants if they count as well.

    What policies need matters if they are in force by the answer: those that may have an effect on the subject.
    """
    paths = tuple(paths)
    nodes = dict.fromkeys(chain.from_iterable(paths))
    objects = tuple(dict.fromkeys([subject.object, *(node.object for node in nodes)]))
    targeting = [attachment for obj in objects for attachment in analysis.attachments_to(obj)]
    neighbours = (*objects, *(attachment.policy for attachment in targeting))
    depending = _depending(analysis, nodes, paths)
    # Policies of a direct kind have an effect on their targets alone.
    reaching = (
        attachment
        for attachment in targeting
        if analysis.registry.profile(attachment.policy.group_kind).policy_class != "direct"
        or (attachment.target and attachment.target.object == subject.object)
    )
    unseen = chain(
        describe_gaps(
            analysis, relevant_gaps(analysis, [subject.object], neighbours, include_descendants=include_descendants)
        ),
        unknown_parents(analysis, objects),
        possible_for(analysis, subject.object, paths, targeting),
        unknown_targets(analysis, targeting),
        unfilled_settings(analysis, (attachment.policy for attachment in targeting)),
        unknown_needs(analysis, reaching if needs else ()),
        unknown_conditions(analysis, depending),
        unknown_grants(analysis, paths),
        unknown_namespaces(analysis, neighbours),
        uncomputed_policies(analysis, objects),
        cut_paths(paths),
    )
    return tuple(dict.fromkeys(unseen))


def _depending(analysis: Analysis, nodes: Iterable[NodeRef], paths: Iterable[Path]) -> list[tuple[GroupKind, Path]]:
    """Pair kinds that count only with some controllers or parameters with the paths on which they occur."""
    resolver, known = analysis.resolver, analysis.registry.profile
    depending = {kind for kind in resolver.kinds_at(nodes) if known(kind).controllers or known(kind).enabled_by}
    # There may be thousands of paths, and most kinds count on all of them.
    searched_paths = paths if depending else ()
    return [(kind, path) for path in searched_paths for kind in resolver.kinds_at(path) if kind in depending]


def blind_spots_in_settings(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], kinds: Collection[GroupKind] = ()
) -> tuple[BlindSpot, ...]:
    """Return what could not be seen and may set something on a subject's paths: by policies of some kinds, or of any.

    What a policy lacks that was read is no part of it: it sets nothing more without that.
    """
    paths = tuple(paths)
    nodes = dict.fromkeys(chain.from_iterable(paths))
    objects = tuple(dict.fromkeys([subject.object, *(node.object for node in nodes)]))

    def is_meant(policy: ObjectRef) -> bool:
        return not kinds or policy.group_kind in kinds

    references = [
        reference for obj in objects for reference in analysis.attachments_to(obj) if is_meant(reference.policy)
    ]
    names = {"", CRD.kind, *(kind.kind for kind in kinds)}
    relevant = relevant_gaps(analysis, [subject.object], objects)
    depending = [(kind, path) for kind, path in _depending(analysis, nodes, paths) if not kinds or kind in kinds]
    uncomputed = uncomputed_policies(analysis, objects)
    unseen = chain(
        describe_gaps(analysis, (gap for gap in relevant if not kinds or gap.kind in names)),
        possible_for(analysis, subject.object, paths, references),
        unknown_targets(analysis, references),
        unfilled_settings(analysis, (attachment.policy for attachment in references)),
        unknown_conditions(analysis, depending),
        unknown_namespaces(analysis, objects),
        (blind_spot for blind_spot in uncomputed if any(map(is_meant, blind_spot.policies))),
        cut_paths(paths),
    )
    return tuple(dict.fromkeys(unseen))


def blind_spots_for_policy(
    analysis: Analysis, enforcement: Enforcement, *, include_descendants: bool = True, needs: bool = True
) -> tuple[BlindSpot, ...]:
    """Return what the answer about a policy could not see: also what may be below a target of no effect.

    Descendants of its targets matter unless the answer is about one object; then, of what policies `needs`, only what
    those need that meet there.
    """
    policy = enforcement.policy
    attachments, profile = analysis.attachments[policy], analysis.registry.profile(policy.group_kind)
    affected = [effective.path for effective in enforcement.outcomes]
    routes = routes_on(affected)
    named = [attachment.target for attachment in attachments if attachment.target]
    targets = [attachment.target for attachment in attachments if attachment.target and attachment.state == "attached"]
    through = [path for target in targets for path in analysis.topology.paths_through(target)]
    # There may be thousands of paths, and where everything is known, nothing is asked of what is on them.
    has_gaps, is_homeless = bool(analysis.snapshot.gaps), bool(analysis.index.candidates.unknown_namespaces)
    nodes = (node.object for path in (*through, *affected) for node in path)
    is_uncertain = analysis.has_placeholders or analysis.possible_attachments.has_undecided(policy.group_kind, nodes)
    is_conditional = bool(profile.controllers or profile.enabled_by)
    is_open = has_gaps or is_homeless or is_uncertain or is_conditional
    paths = [*(path for target in targets if is_open for path in analysis.topology.paths(target)), *affected]
    subjects = (policy, *(target.object for target in named))
    has_ports = profile.port_field is not None
    participants = [
        contribution
        for resolution in (enforcement.resolutions if has_ports or has_gaps else ())
        for contribution in resolution.contributions_of
    ]
    neighbours: Collection[ObjectRef] = ()
    if has_gaps or is_homeless:
        on_paths = (node.object for path in (*paths, *through) for node in path)
        neighbours = dict.fromkeys((*on_paths, *enforcement.by, *(participants if has_gaps else ())))
    selected = {attachment.declared.kind for attachment in attachments if attachment.declared.selector is not None}
    superseding = (attachment for by in enforcement.by for attachment in analysis.attachments.get(by, ()))
    relevant = relevant_gaps(analysis, subjects, neighbours, include_descendants=include_descendants)
    changing = [gap for gap in relevant if may_change_policy(analysis, gap, policy, subjects)]
    depending = [(policy.group_kind, path) for path in paths] if is_conditional else []
    # Most routes stay in their namespaces.
    backends = ((route, backend.ref.object) for route in routes for backend in analysis.topology.backends(route))
    crosses = any(backend.namespace != route.namespace for route, backend in backends)
    unseen = chain(
        describe_gaps(analysis, (*changing, *(gaps_in_list(analysis, selected, "") if include_descendants else ()))),
        unknown_parents(analysis, routes),
        unknown_routes(analysis, targets if include_descendants else ()),
        possible_for_policy(analysis, policy, paths) if is_uncertain else (),
        unknown_targets(analysis, attachments),
        unfilled_settings(analysis, [policy, *(participants if has_ports else ())]),
        unknown_needs(analysis, (*attachments, *superseding) if needs else ()),
        unknown_conditions(analysis, depending),
        unknown_grants(analysis, affected if crosses else ()),
        unknown_namespaces(analysis, (*subjects, *neighbours) if is_homeless else ()),
        unknown_below_targets(analysis, enforcement),
        _unread_subjects(analysis, policy, enforcement.subjects) if enforcement.subjects else (),
        cut_paths(through),
    )
    return tuple(dict.fromkeys(unseen))


def _unread_subjects(analysis: Analysis, policy: ObjectRef, subjects: Subjects) -> Iterator[BlindSpot]:
    from kubectl_policy.questions.blind_spots.network import unread_subjects  # noqa: PLC0415 (few answers need it)

    return unread_subjects(analysis, policy, subjects)


def blind_spots_in_needs(analysis: Analysis, policies: Iterable[ObjectRef]) -> Iterator[BlindSpot]:
    """Find what some policies need, of which it is not known whether it is there."""
    for policy in policies:
        yield from unknown_needs(analysis, analysis.attachments.get(policy, ()))


def blind_spots_in_references(analysis: Analysis, policy: ObjectRef, *, needs: bool = True) -> tuple[BlindSpot, ...]:
    """Return what a policy refers to itself and was not read: targets and, with `needs`, what it is invalid without."""
    attachments = analysis.attachments[policy]
    unseen = chain(unknown_targets(analysis, attachments), unknown_needs(analysis, attachments if needs else ()))
    return tuple(dict.fromkeys(unseen))
