"""What an answer could not see: one about an object, about a policy, or about some settings."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import CRD
from kubectl_policy.questions.unseen.hidden import may_change_policy
from kubectl_policy.questions.unseen.possible import possible_for, possible_for_policy, unfilled_settings
from kubectl_policy.questions.unseen.relevance import gaps_in_list, relevant_gaps
from kubectl_policy.questions.unseen.things import (
    cut_paths,
    not_computed,
    unknown_below_targets,
    unknown_controllers,
    unknown_grants,
    unknown_namespaces,
    unknown_needs,
    unknown_parameters,
    unknown_parents,
    unknown_routes,
    unknown_targets,
)
from kubectl_policy.questions.unseen.unread import gaps
from kubectl_policy.topology.paths import routes_on

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.topology import Path


def unseen_for(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], *, below: bool = False, needs: bool = True
) -> tuple[Unseen, ...]:
    """What the answer about a subject and its paths could not see, each once; also what is `below` it, if so asked.

    What policies need matters if they are in force by the answer: those that may have an effect on the subject.
    """
    paths = tuple(paths)
    nodes = dict.fromkeys(chain.from_iterable(paths))
    objects = tuple(dict.fromkeys([subject.object, *(node.object for node in nodes)]))
    targeting = [attachment for obj in objects for attachment in analysis.attachments_to(obj)]
    kinds = _depending(analysis, nodes, paths)
    others = (*objects, *(attachment.policy for attachment in targeting))
    unseen = (
        *gaps(analysis, relevant_gaps(analysis, [subject.object], others, below=below)),
        *unknown_parents(analysis, objects),
        *(possible_for(analysis, subject.object, paths, targeting) if analysis.has_placeholders else ()),
        *unknown_targets(analysis, targeting),
        *unfilled_settings(analysis, (attachment.policy for attachment in targeting)),
        *(unknown_needs(analysis, _reaching(analysis, subject, targeting)) if needs else ()),
        *unknown_controllers(analysis, kinds),
        *unknown_parameters(analysis, kinds),
        *unknown_grants(analysis, paths),
        *unknown_namespaces(analysis, others),
        *not_computed(analysis, objects),
        *cut_paths(paths),
    )
    return tuple(dict.fromkeys(unseen))


def _depending(analysis: Analysis, nodes: Iterable[NodeRef], paths: Iterable[Path]) -> list[tuple[GroupKind, Path]]:
    """Of the kinds on paths, which have these nodes, those that count only with some controllers or parameters."""
    resolver, known = analysis.resolver, analysis.registry.known
    depending = {kind for kind in resolver.kinds_at(nodes) if known(kind).controllers or known(kind).enabled_by}
    # There may be thousands of paths, and most kinds count on all of them.
    among = paths if depending else ()
    return [(kind, path) for path in among for kind in resolver.kinds_at(path) if kind in depending]


def _reaching(analysis: Analysis, subject: NodeRef, targeting: Iterable[Attachment]) -> Iterator[Attachment]:
    """Of attachments on the paths of a subject those by which policies may have an effect on it.

    Policies of a direct kind have one on their targets alone.
    """
    for attachment in targeting:
        direct = analysis.registry.known(attachment.policy.group_kind).policy_class == "direct"
        if not direct or (attachment.target and attachment.target.object == subject.object):
            yield attachment


def unseen_settings(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], kinds: Collection[GroupKind] = ()
) -> tuple[Unseen, ...]:
    """What could not be seen and may set something on a subject's paths: by policies of some kinds, or of any.

    What a policy lacks that was read is no part of it: it sets nothing more without that.
    """
    paths = tuple(paths)
    nodes = dict.fromkeys(chain.from_iterable(paths))
    objects = tuple(dict.fromkeys([subject.object, *(node.object for node in nodes)]))
    targeting = [
        attachment
        for obj in objects
        for attachment in analysis.attachments_to(obj)
        if not kinds or attachment.policy.group_kind in kinds
    ]
    names = {kind.kind for kind in kinds}
    found = relevant_gaps(analysis, [subject.object], objects)
    on_paths = [(kind, path) for kind, path in _depending(analysis, nodes, paths) if not kinds or kind in kinds]
    unseen = (
        *gaps(analysis, (gap for gap in found if not (names and gap.kind) or gap.kind in {*names, CRD.kind})),
        *(possible_for(analysis, subject.object, paths, targeting) if analysis.has_placeholders else ()),
        *unknown_targets(analysis, targeting),
        *unfilled_settings(analysis, (attachment.policy for attachment in targeting)),
        *unknown_controllers(analysis, on_paths),
        *unknown_parameters(analysis, on_paths),
        *unknown_namespaces(analysis, objects),
        *(
            thing
            for thing in not_computed(analysis, objects)
            if not kinds or any(policy.group_kind in kinds for policy in thing.policies)
        ),
        *cut_paths(paths),
    )
    return tuple(dict.fromkeys(unseen))


def unseen_for_policy(
    analysis: Analysis, enforcement: Enforcement, *, below: bool = True, needs: bool = True
) -> tuple[Unseen, ...]:
    """What the answer about a policy could not see: in an open world, also what may be below a target of no effect.

    What is `below` its targets matters unless the answer is about one object; then, of what policies `needs`, only what
    those need that meet there.
    """
    policy = enforcement.policy
    attachments, profile = analysis.attachments[policy], analysis.registry.known(policy.group_kind)
    relations = analysis.topology.relations
    affected = [effective.path for effective in enforcement.outcomes]
    routes = routes_on(affected)
    targets = [attachment.target for attachment in attachments if attachment.target and attachment.state == "attached"]
    through = [path for target in targets for path in analysis.topology.paths_through(target)]
    # There may be thousands of paths, and where everything is known, nothing is asked of what is on them.
    has_gaps, is_homeless = bool(analysis.snapshot.gaps), bool(analysis.index.unknown_namespaces)
    nodes = (node.object for path in (*through, *affected) for node in path)
    undecided = analysis.possible_attachments.is_any_undecided(policy.group_kind, nodes)
    may_be_otherwise = analysis.has_placeholders or undecided
    is_open = has_gaps or is_homeless or may_be_otherwise
    is_conditional = bool(profile.controllers or profile.enabled_by)
    above = targets if is_open or is_conditional else ()
    paths = [*(path for target in above for path in analysis.topology.paths(target)), *affected]
    kinds = [(policy.group_kind, path) for path in paths] if is_conditional else []
    subjects = (policy, *(attachment.target.object for attachment in attachments if attachment.target))
    has_ports = profile.port_field is not None
    counts = has_ports or has_gaps
    beside = [other for each in enforcement.resolutions for other in each.contributions_of] if counts else []
    others: Collection[ObjectRef] = ()
    if has_gaps or is_homeless:
        on_paths = (node.object for path in (*paths, *through) for node in path)
        others = dict.fromkeys((*on_paths, *enforcement.by, *(beside if has_gaps else ())))
    selected = {attachment.declared.kind for attachment in attachments if attachment.declared.selector is not None}
    beating = (each for by in enforcement.by for each in analysis.attachments.get(by, ()))
    found = relevant_gaps(analysis, subjects, others, below=below) if has_gaps else ()
    changing = [gap for gap in found if may_change_policy(analysis, gap, policy, subjects)]
    unseen = (
        *(gaps(analysis, changing) if changing else ()),
        *(gaps(analysis, gaps_in_list(analysis, selected, "")) if has_gaps and below else ()),
        *unknown_targets(analysis, attachments),
        *unfilled_settings(analysis, [policy, *(beside if has_ports else ())]),
        *(unknown_needs(analysis, (*attachments, *beating)) if needs else ()),
        *unknown_parents(analysis, routes),
        *(unknown_routes(analysis, targets) if below else ()),
        *(possible_for_policy(analysis, policy, paths) if may_be_otherwise else ()),
        *(unknown_controllers(analysis, kinds) if kinds else ()),
        *(unknown_parameters(analysis, kinds) if kinds else ()),
        # Most routes stay in their namespaces.
        *(unknown_grants(analysis, affected) if any(map(relations.leaves_namespace, routes)) else ()),
        *(unknown_namespaces(analysis, (*subjects, *others)) if is_homeless else ()),
        *unknown_below_targets(analysis, enforcement),
        *cut_paths(through),
    )
    return tuple(dict.fromkeys(unseen))


def unseen_needs(analysis: Analysis, policies: Iterable[ObjectRef]) -> Iterator[Unseen]:
    """What some policies need, of which it is not known whether it is there."""
    attachments = analysis.attachments
    yield from unknown_needs(analysis, (each for policy in policies for each in attachments.get(policy, ())))


def unseen_by_references(analysis: Analysis, policy: ObjectRef, *, needs: bool = True) -> tuple[Unseen, ...]:
    """What a policy refers to itself and was not read: targets and, with `needs`, what it is invalid without."""
    attachments = analysis.attachments[policy]
    needed = unknown_needs(analysis, attachments) if needs else ()
    return tuple(dict.fromkeys((*unknown_targets(analysis, attachments), *needed)))
