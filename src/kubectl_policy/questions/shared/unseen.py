"""What an answer could not see, and what would show it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kinds import CRD, NAMESPACE, plural
from kubectl_policy.model.unknown import is_open, is_unfilled, is_unknown, may_equal
from kubectl_policy.model.values import value
from kubectl_policy.questions.shared.relevance import gaps_in_list, relevant_gaps
from kubectl_policy.topology import MOST_NODES, is_cut
from kubectl_policy.topology.parameters import unread_parameters
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, ROUTES, WITH_LISTENERS, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Gap, GroupKind, NodeRef, ObjectRef, Origin, Resource
    from kubectl_policy.resolution import Enforcement
    from kubectl_policy.topology import Path


# What would show something, or several things, of which no manifest was read.
_ADD: Final = "add the manifest that holds it"
_ADD_GRANT: Final = "add the ReferenceGrant that lets it, or --complete if there is none"
_SAY_NAMESPACE: Final = "ask with --render, or name it in metadata.namespace"
_ADD_ALL: Final = "add the manifests that hold them"
_SAY_PORTS: Final = "a profile can say where the ports of such objects stand: --profiles PATH"
_FIX: Final = "fix or leave out this input"
_FILL_IN: Final = "fill it in: --set VARIABLE=VALUE"
_ASK_FURTHER: Final = "ask about what is at these ends"


@value(kw_only=True)
class Unseen:
    """Something that was not seen: what it is, why, and the file or permission that would show it.

    `policies` are set of what was read and is not computed: of these policies it is not known whether they count. What
    `is_there` was read, and may be different.
    """

    what: str
    reason: str
    remedy: str = _ADD
    origin: Origin | None = None
    policies: tuple[ObjectRef, ...] = ()
    is_there: bool = False


def unseen_for(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], *, below: bool = False, needs: bool = True
) -> tuple[Unseen, ...]:
    """What the answer about a subject and its paths could not see, each once; also what is `below` it, if so asked.

    What policies need matters if they are in force by the answer: those that may have an effect on the subject.
    """
    paths = tuple(paths)
    objects = tuple(dict.fromkeys([subject.object, *(node.object for path in paths for node in path)]))
    targeting = [attachment for obj in objects for attachment in analysis.attachments_to(obj)]
    kinds = [(kind, path) for path in paths for kind in analysis.resolver.kinds_at(path)]
    others = (*objects, *(attachment.policy for attachment in targeting))
    unseen = (
        *gaps(analysis, relevant_gaps(analysis, [subject.object], others, below=below)),
        *unknown_parents(analysis, objects),
        *(_possible_for(analysis, subject.object, paths, targeting) if analysis.may_be_otherwise else ()),
        *_unknown_targets(analysis, targeting),
        *_unfilled_settings(analysis, (attachment.policy for attachment in targeting)),
        *(_unknown_needs(analysis, _reaching(analysis, subject, targeting)) if needs else ()),
        *_unknown_controllers(analysis, kinds),
        *_unknown_parameters(analysis, kinds),
        *_unknown_grants(analysis, paths),
        *_unknown_namespaces(analysis, others),
        *_not_computed(analysis, objects),
        *cut_paths(paths),
    )
    return tuple(dict.fromkeys(unseen))


def unseen_settings(
    analysis: Analysis, subject: NodeRef, paths: Iterable[Path], kinds: Collection[GroupKind] = ()
) -> tuple[Unseen, ...]:
    """What could not be seen and may set something on a subject's paths: by policies of some kinds, or of any.

    What a policy lacks that was read is no part of it: it sets nothing more without that.
    """
    paths = tuple(paths)
    objects = tuple(dict.fromkeys([subject.object, *(node.object for path in paths for node in path)]))
    targeting = [
        attachment
        for obj in objects
        for attachment in analysis.attachments_to(obj)
        if not kinds or attachment.policy.group_kind in kinds
    ]
    names = {kind.kind for kind in kinds}
    found = relevant_gaps(analysis, [subject.object], objects)
    on_paths = [
        (kind, path) for path in paths for kind in analysis.resolver.kinds_at(path) if not kinds or kind in kinds
    ]
    unseen = (
        *gaps(analysis, (gap for gap in found if not (names and gap.kind) or gap.kind in {*names, CRD.kind})),
        *(_possible_for(analysis, subject.object, paths, targeting) if analysis.may_be_otherwise else ()),
        *_unknown_targets(analysis, targeting),
        *_unfilled_settings(analysis, (attachment.policy for attachment in targeting)),
        *_unknown_controllers(analysis, on_paths),
        *_unknown_parameters(analysis, on_paths),
        *_unknown_namespaces(analysis, objects),
        *(
            thing
            for thing in _not_computed(analysis, objects)
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
    attachments = analysis.attachments[policy]
    on_paths = (node.object for effective in enforcement.outcomes for node in effective.path)
    routes = dict.fromkeys(obj for obj in on_paths if obj.group_kind in ROUTES)
    targets = [attachment.target for attachment in attachments if attachment.target and attachment.state == "attached"]
    paths = [path for target in targets for path in analysis.topology.paths(target)]
    paths += [effective.path for effective in enforcement.outcomes]
    through = [path for target in targets for path in analysis.topology.paths_through(target)]
    kinds = [(policy.group_kind, path) for path in paths]
    subjects = (policy, *(attachment.target.object for attachment in attachments if attachment.target))
    resolutions = dict.fromkeys(effective.resolution for effective in enforcement.outcomes)
    has_ports = analysis.registry.known(policy.group_kind).port_field is not None
    counts = has_ports or bool(analysis.snapshot.gaps)
    beside = [other for each in resolutions for other in each.contributions_of] if counts else []
    # There may be thousands of paths, and where everything is known, nothing is asked of what is on them.
    in_doubt = (*paths, *through) if analysis.snapshot.gaps or analysis.index.unknown_namespaces else ()
    on_paths = (node.object for path in in_doubt for node in path)
    others = tuple(dict.fromkeys((*on_paths, *enforcement.by, *(beside if analysis.snapshot.gaps else ()))))
    selected = {attachment.declared.kind for attachment in attachments if attachment.declared.selector is not None}
    beating = (each for by in enforcement.by for each in analysis.attachments.get(by, ()))
    unseen = (
        *gaps(analysis, relevant_gaps(analysis, subjects, others, below=below)),
        *gaps(analysis, gaps_in_list(analysis, selected, "") if below else ()),
        *_unknown_targets(analysis, attachments),
        *_unfilled_settings(analysis, [policy, *(beside if has_ports else ())]),
        *(_unknown_needs(analysis, (*attachments, *beating)) if needs else ()),
        *unknown_parents(analysis, routes),
        *(_unknown_routes(analysis, targets) if below else ()),
        *(_possible_for_policy(analysis, policy, paths) if analysis.may_be_otherwise else ()),
        *_unknown_controllers(analysis, kinds),
        *_unknown_parameters(analysis, kinds),
        *_unknown_grants(analysis, (effective.path for effective in enforcement.outcomes)),
        *_unknown_namespaces(analysis, (*subjects, *others)),
        *_below_targets(analysis, enforcement),
        *cut_paths(through),
    )
    return tuple(dict.fromkeys(unseen))


def _reaching(analysis: Analysis, subject: NodeRef, targeting: Iterable[Attachment]) -> Iterator[Attachment]:
    """Of attachments on the paths of a subject those by which policies may have an effect on it.

    Policies of a direct kind have one on their targets alone.
    """
    for attachment in targeting:
        direct = analysis.registry.known(attachment.policy.group_kind).policy_class == "direct"
        if not direct or (attachment.target and attachment.target.object == subject.object):
            yield attachment


def unseen_needs(analysis: Analysis, policies: Iterable[ObjectRef]) -> Iterator[Unseen]:
    """What some policies need, of which it is not known whether it is there."""
    attachments = analysis.attachments
    yield from _unknown_needs(analysis, (each for policy in policies for each in attachments.get(policy, ())))


def unseen_by_references(analysis: Analysis, policy: ObjectRef, *, needs: bool = True) -> tuple[Unseen, ...]:
    """What a policy refers to itself and was not read: targets and, with `needs`, what it is invalid without."""
    attachments = analysis.attachments[policy]
    needed = _unknown_needs(analysis, attachments) if needs else ()
    return tuple(dict.fromkeys((*_unknown_targets(analysis, attachments), *needed)))


def unseen_class(analysis: Analysis, node: NodeRef, controllers: frozenset[str]) -> Unseen:
    """What decides whether one of the controllers acts on a node, where that was not read."""
    obj = node.object
    owner = (analysis.topology.gateways.class_of(obj) if analysis.index.get(obj) else None) or obj
    return Unseen(what=str(owner), reason=f"whether the controller there is {_any_of(controllers)} is unknown")


def _any_of(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))


def _unknown_targets(analysis: Analysis, attachments: Iterable[Attachment]) -> Iterator[Unseen]:
    for attachment in attachments:
        declared, policy, target = attachment.declared, attachment.policy, attachment.target
        reason = f"{policy} targets it, and {attachment.message}"
        if attachment.doubtful:
            remedy = f"look up what the API of {policy.kind} says of it"
            yield Unseen(what=f"all that {declared.field} of {policy} says", reason=attachment.message, remedy=remedy)
        if attachment.state != "target unknown":
            continue
        if not declared.field:
            where = f" in namespace {declared.namespace}" if declared.namespace else ""
            how = "as its parameters" if declared.way == "parameters" else "in a filter"
            reason = f"one that was not read may name {policy} {how}"
            yield Unseen(what=f"{plural(declared.kind)}{where}", reason=reason, remedy=_ADD_ALL)
        elif target is None:
            yield Unseen(what=f"what {policy} selects", reason=reason)
        elif analysis.registry.known(policy.group_kind).targets_exist == "whenReferred" and not target.section:
            yield Unseen(what=f"routes to {target}", reason=reason, remedy=_ADD_ALL)
        elif analysis.index.presence(target.object) == "present" and not _has_known_sections(analysis, target):
            what = f"section {target.section} of {target.object}"
            yield Unseen(what=what, reason=reason, remedy=_SAY_PORTS)
        else:
            yield Unseen(what=str(target.object), reason=reason)


def _has_known_sections(analysis: Analysis, node: NodeRef) -> bool:
    return not node.section or analysis.topology.relations.has_known_sections(node.object.group_kind)


def _unknown_needs(analysis: Analysis, attachments: Iterable[Attachment]) -> Iterator[Unseen]:
    for attachment in attachments:
        for needed in analysis.unread_needs(attachment.policy) if attachment.state == "attached" else ():
            naming = f"{needed.field} of {attachment.policy} names it"
            if needed.is_there:
                reason = f"{naming}, and whether it may is unknown: no ReferenceGrant in the input says so"
                yield Unseen(what=str(needed.ref), reason=reason, remedy=_ADD_GRANT)
            else:
                reason = f"{naming}, and without it that policy is invalid"
                remedy = f"{_ADD}, or --assume-exists {needed.ref.kind.lower()}"
                yield Unseen(what=str(needed.ref), reason=reason, remedy=remedy)


def _unknown_controllers(analysis: Analysis, kinds: Iterable[tuple[GroupKind, Path]]) -> Iterator[Unseen]:
    """The classes on paths that decide whether kinds of some controllers count there, and were not read."""
    deciding: dict[tuple[ObjectRef, frozenset[str]], set[str]] = {}
    for kind, path in kinds:
        controllers = analysis.registry.known(kind).controllers
        for node in path if controllers else ():
            if node.object.group_kind == GATEWAY_CLASS and analysis.index.presence(node.object) == "unknown":
                deciding.setdefault((node.object, controllers), set()).add(kind.kind)
    for (gateway_class, controllers), names in deciding.items():
        yield _deciding(gateway_class, f"whether its controller is {_any_of(controllers)} is unknown", names)


def _unknown_parameters(analysis: Analysis, kinds: Iterable[tuple[GroupKind, Path]]) -> Iterator[Unseen]:
    """What was not read and decides whether the parameters of Gateways on paths let kinds be used there."""
    deciding: dict[tuple[ObjectRef, ObjectRef, str], set[str]] = {}
    for kind, path in kinds:
        enabling = analysis.registry.known(kind).enabled_by
        gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
        if enabling and gateway:
            for ref in unread_parameters(analysis.topology, gateway, enabling):
                deciding.setdefault((ref, gateway, enabling.field), set()).add(kind.kind)
    for (ref, gateway, field), names in deciding.items():
        yield _deciding(ref, f"whether spec.{field} is set in the parameters of {gateway} is unknown", names)


def _unknown_grants(analysis: Analysis, paths: Iterable[Path]) -> Iterator[Unseen]:
    """The backends on paths of which it is not known whether their routes may refer to them."""
    permit = analysis.index.grants.permit
    chains = ([node.object for node in path if node.object.group_kind != NAMESPACE] for path in paths)
    steps = dict.fromkeys(step for chain in chains for step in pairwise(chain))
    for route, backend in steps:
        leads = route.group_kind in ROUTES and backend.group_kind not in ROUTES
        if leads and permit(route.group_kind, route.namespace, backend) is None:
            reason = f"whether {route} may refer to it is unknown: no ReferenceGrant in the input says so"
            yield Unseen(what=str(backend), reason=reason, remedy=_ADD_GRANT)


def _unknown_namespaces(analysis: Analysis, objects: Iterable[ObjectRef]) -> Iterator[Unseen]:
    """The namespaces of objects of which nothing says what they are called, each told once."""
    unknown: dict[str, list[ObjectRef]] = {}
    for obj in objects:
        if is_unknown(obj.namespace) and analysis.index.get(obj):
            unknown.setdefault(obj.namespace, []).append(obj)
    for homeless in unknown.values():
        more = f" and {len(homeless) - 1} more" if len(homeless) > 1 else ""
        reason = "nothing that was read says which it is, so what else is about it cannot be known"
        yield Unseen(what=f"the namespace of {homeless[0]}{more}", reason=reason, remedy=_SAY_NAMESPACE)


def _deciding(ref: ObjectRef, unknown: str, kinds: Iterable[str]) -> Unseen:
    """An object that decides whether some kinds count."""
    return Unseen(what=str(ref), reason=f"{unknown}; only then does this count: {', '.join(sorted(kinds))}")


def _below_targets(analysis: Analysis, enforcement: Enforcement) -> Iterator[Unseen]:
    if enforcement.state != "NoEffect" or enforcement.outcomes or analysis.snapshot.complete:
        return
    for attachment in analysis.attachments[enforcement.policy]:
        target = attachment.target if attachment.state == "attached" else None
        if target and any(analysis.topology.carries_traffic(path) for path in analysis.topology.paths_through(target)):
            remedy = "add the manifests that hold it, or --complete if there is nothing"
            yield Unseen(what=f"what is below {target}", reason="nothing of it was read", remedy=remedy)


def gaps(analysis: Analysis, found: Iterable[Gap]) -> Iterator[Unseen]:
    """What could not be read, or not as it is."""
    for gap in found:
        where = f" in namespace {gap.namespace}" if gap.namespace else ""
        one = f"{gap.kind} {gap.namespace}/{gap.name}" if gap.namespace else f"{gap.kind} {gap.name}"
        what = one if gap.name else f"{gap.kind or 'objects of any kind'}{where}"
        is_there = analysis.index.absence.is_read(gap)
        remedy = gap.remedy or _FIX
        yield Unseen(what=what, reason=gap.reason, remedy=remedy, origin=gap.origin, is_there=is_there)


def cut_paths(paths: Iterable[Path]) -> Iterator[Unseen]:
    """The paths that are not followed to their ends, since routes refer to too many routes one after the other."""
    for path in paths:
        if is_cut(path):
            first = next(node for node in path if node.object.group_kind != NAMESPACE)
            reason = f"it is followed only from {first} to {path[-1]}"
            yield Unseen(what=f"a path of more than {MOST_NODES} nodes", reason=reason, remedy=_ASK_FURTHER)


def unknown_parents(analysis: Analysis, objects: Iterable[ObjectRef]) -> Iterator[Unseen]:
    """The parents of routes, among some objects, of which it is not known whether they take them."""
    for obj in objects:
        for binding in analysis.topology.bindings(obj) if obj.group_kind in ROUTES else ():
            if binding.state == "unknown":
                attaches = binding.parent.group_kind in (*WITH_LISTENERS, *WITH_PORTS)
                remedy = _ADD if attaches else f"look at status.parents of {obj}"
                yield Unseen(what=str(binding.parent), reason=binding.message, remedy=remedy)


def _unknown_routes(analysis: Analysis, targets: Iterable[NodeRef]) -> Iterator[Unseen]:
    """The routes of which it is not known whether listeners below some targets take them."""
    below = (
        node
        for target in targets
        if target.object.group_kind not in (*ROUTES, *WITH_PORTS)
        for path in analysis.topology.paths_through(target)
        for node in path[path.index(target) :]
    )
    listeners = {node for node in below if node.object.group_kind in WITH_LISTENERS and node.section}
    owners = dict.fromkeys(sorted(node.object for node in listeners))
    for route in dict.fromkeys(route for owner in owners for route in analysis.topology.relations.routes_naming(owner)):
        for binding in analysis.topology.bindings(route):
            if binding.state == "unknown" and binding.listener in listeners:
                reason = f"whether it is attached to {binding.listener} is unknown: {binding.message}"
                yield Unseen(what=str(route), reason=reason, remedy=_ADD)


def _possible_for(
    analysis: Analysis, subject: ObjectRef, paths: Iterable[Path], targeting: Iterable[Attachment]
) -> Iterator[Unseen]:
    """What may be related to an object and what is on its paths, as something is to be filled in."""
    below, objects = {subject: None}, {subject: None}
    for path in paths:
        on_path = [node.object for node in path]
        objects |= dict.fromkeys(on_path)
        below |= dict.fromkeys(on_path[on_path.index(subject) :] if subject in on_path else ())
    yield from _possible(analysis, objects, below)
    # A policy that is refused on one target may be refused on all.
    for policy in dict.fromkeys(attachment.policy for attachment in targeting):
        everywhere = analysis.registry.known(policy.group_kind).refusal == "everywhere"
        for attachment in analysis.attachments[policy] if everywhere else ():
            target = attachment.target.object if attachment.target else policy
            if is_open(target) or (analysis.index.get(target) is None and analysis.index.candidates(target)):
                yield from _unknown_targets(analysis, [attachment])
            yield from _possibly_attached(analysis, target)


def _unfilled_settings(analysis: Analysis, policies: Iterable[ObjectRef]) -> Iterator[Unseen]:
    """The policies of which it is to be filled in how they combine with others, which comes first, or on which port."""
    for policy in dict.fromkeys(policies):
        profile, resource = analysis.registry.known(policy.group_kind), analysis.index.get(policy)
        fields = [FieldPath.parse(field) for field in (profile.strategy_field, profile.order_field) if field]
        if profile.port_field:
            fields.append(FieldPath.parse(f"spec.{profile.port_field.field}[].{profile.port_field.key}"))
        for pattern in fields if resource else ():
            for field, found in pattern.each(resource.raw) if resource else ():
                if isinstance(found, str) and is_unfilled(found):
                    yield Unseen(what=str(policy), reason=f"its {field} is {found}", remedy=_FILL_IN)


def unknown_labels(resources: Iterable[Resource]) -> Iterator[Unseen]:
    """The objects of which it is to be filled in whether they have the labels that are asked for."""
    for resource in resources:
        reason = "whether it has the labels that are asked for cannot be known yet"
        yield Unseen(what=str(resource.ref), reason=reason, remedy=_FILL_IN, origin=resource.origin, is_there=True)


def possible_through(analysis: Analysis, node: NodeRef) -> Iterator[Unseen]:
    """What may be related to anything above or below a node, as something is to be filled in."""
    if analysis.may_be_otherwise:
        paths = analysis.topology.paths_through(node)
        objects = dict.fromkeys([node.object, *(each.object for path in paths for each in path)])
        yield from _possible(analysis, objects, objects)


def _possible_for_policy(analysis: Analysis, policy: ObjectRef, paths: Iterable[Path]) -> Iterator[Unseen]:
    """What may be related to what is above and below the targets of a policy, and other policies of its kind there."""
    named = [attachment.target for attachment in analysis.attachments[policy] if attachment.target]
    through = (path for target in named for path in analysis.topology.paths_through(target))
    objects = dict.fromkeys([policy, *(node.object for path in (*paths, *through) for node in path)])
    yield from _possible(analysis, objects, objects)
    for obj in objects:
        for attachment in analysis.possible_attachments.undecided_at(obj):
            if attachment.policy != policy and attachment.policy.group_kind == policy.group_kind:
                yield from _unknown_targets(analysis, [attachment])


def _possible(analysis: Analysis, objects: Collection[ObjectRef], below: Collection[ObjectRef]) -> Iterator[Unseen]:
    """What may be above some objects, or attached to them, and what may be directly below some of them."""
    for obj in objects:
        for what, message in analysis.topology.possible.around(obj):
            yield Unseen(what=str(what), reason=message, remedy=_FILL_IN)
        for relation in analysis.topology.possible.below(obj) if obj in below else ():
            yield Unseen(what=str(relation.lower), reason=relation.message, remedy=_FILL_IN)
        parents = {binding.parent for binding in analysis.topology.bindings(obj)} if obj.group_kind in ROUTES else ()
        for place in (obj, *sorted(set(parents).difference(objects))):
            yield from _possibly_attached(analysis, place)


def _possibly_attached(analysis: Analysis, obj: ObjectRef) -> Iterator[Unseen]:
    for attachment in analysis.possible_attachments.to(obj):
        reason = f"{attachment.declared.field} of {attachment.policy} may be about {obj}"
        yield Unseen(what=str(attachment.policy), reason=reason, remedy=_FILL_IN)


def _not_computed(analysis: Analysis, objects: Sequence[ObjectRef]) -> Iterator[Unseen]:
    """The policies that may affect some of the objects: for their kinds, and attached in a way that is not computed.

    Those name no target, and are in the namespace of the object if their kind does not leave its own.
    """
    for profile in analysis.registry.policy_kinds:
        if profile.attaches_as_known and profile.references_alone:
            continue
        index, kind = analysis.index, profile.group_kind
        homeless = [policy for policy in index.of_kind(kind) if is_unknown(policy.ref.namespace)]
        possible: dict[ObjectRef, list[ObjectRef]] = {}
        for obj in (obj for obj in objects if obj.group_kind in profile.declared_targets):
            near: Sequence[Resource] = index.of_kind(kind)
            if profile.cross_namespace is False:
                others = near if is_unknown(obj.namespace) else homeless
                perhaps = [each for each in others if may_equal(each.ref.namespace, obj.namespace)]
                near = list(dict.fromkeys((*index.of_kind_in(kind, obj.namespace), *perhaps)))
            possible[obj] = [policy.ref for policy in near if not analysis.attachments[policy.ref]]
        policies = list(dict.fromkeys(policy for near in possible.values() for policy in near))
        if policies:
            several = len(policies) > 1
            what = f"{len(policies)} {plural(kind.kind)}" if several else str(policies[0])
            may = ", ".join(str(obj) for obj, near in possible.items() if near)
            reason = f"whether {'they are' if several else 'it is'} attached to {may} is not computed"
            remedy = f"read what explain {kind.kind.lower()} says"
            yield Unseen(what=what, reason=reason, remedy=remedy, policies=tuple(policies))
