"""Kinds of blind spots, each with its reason and the input that would show it."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import Gap, GroupKind, NodeRef, ObjectRef, Origin, Permission, Resource
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_CLASS,
    LISTENER_HOLDERS,
    NAMESPACE,
    PORT_HOLDERS,
    REFERENCE_GRANT,
    ROUTES,
)
from kubectl_policy.model.kinds import plural
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE, shown_namespace
from kubectl_policy.model.unknown import is_unknown, may_equal
from kubectl_policy.model.world import grouped_by
from kubectl_policy.topology import MAX_NODES, Binding, Path, is_truncated
from kubectl_policy.topology.controllers import unread_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.resolution.enforcement import Enforcement

_BELOW_LISTENERS: Final = frozenset({*ROUTES, *PORT_HOLDERS})
# What would show something, or several things, of which no manifest was read.
_ADD: Final = "add the manifest that contains it"
_ADD_GRANT: Final = "add the ReferenceGrant that lets it, or --complete if there is none"
SAY_NAMESPACE: Final = "ask with --render, or name it in metadata.namespace"
_ADD_ALL: Final = "add the manifests that contain them"
_SAY_PORTS: Final = "a profile can say where the ports of such objects stand: --profiles PATH"
FILL_IN: Final = "fill it in: --set VARIABLE=VALUE"
_ASK_FURTHER: Final = "ask about the objects at these ends"


BLIND_SPOTS: Final = "Blind spots: input that could not be read and that may change the answer."


class BlindSpot(Struct, frozen=True, kw_only=True):
    """A blind spot: input that an answer could not read."""

    what: Annotated[str, Meta(description="The input that could not be read, for people.")]
    reason: Annotated[str, Meta(description="The reason why it could not be read, for people.")]
    remedy: Annotated[str, Meta(description="The file or permission that is needed.")] = _ADD
    origin: Annotated[Origin | None, Meta(description="The location of the input; null if unknown.")] = None
    policies: tuple[ObjectRef, ...] = ()
    """The policies that were read and are not computed: it is not known whether they count."""
    unevaluated: bool = False
    """Whether it is known what these apply to, and their rules are not evaluated."""
    is_there: bool = False
    """Whether it was read, and may be different."""
    gaps: tuple[Gap, ...] = ()
    """What a cluster did not give out."""

    @property
    def is_gap(self) -> bool:
        """Whether this is what a cluster did not give out, and not what an answer misses for that."""
        return any(gap.reason == self.reason for gap in self.gaps)

    @property
    def permissions(self) -> tuple[Permission, ...]:
        """The permissions with which it could be seen."""
        return tuple(dict.fromkeys(gap.needs for gap in self.gaps if gap.needs))

    @property
    def needs(self) -> Annotated[tuple[str, ...], Meta()]:
        """The missing permissions, for example `list retrypolicies.example.io in namespace baker`."""
        return tuple(map(str, self.permissions))


class WithBlindSpots(Struct, frozen=True, kw_only=True):
    """An answer, or a row of one, with what could not be seen for it."""

    unseen: tuple[BlindSpot, ...]

    @property
    def complete(self) -> Annotated[bool, Meta()]:
        """False if input that may change the answer could not be read."""
        return not self.unseen


class Answer(WithBlindSpots, frozen=True, kw_only=True):
    """An answer about all that was read."""

    place: SnapshotSource = "the input"

    @property
    def found_nothing(self) -> bool:
        """Whether nothing that was read answers the question."""
        return False

    @property
    def unknown(self) -> Annotated[bool, Meta()]:
        """True if nothing that was read answers the question, and input that could not be read may."""
        return self.found_nothing and not self.complete


def _unread(analysis: Analysis, ref: ObjectRef, reason: str, remedy: str = _ADD) -> BlindSpot:
    """An object that was not read, or what decides about it; of a cluster, that is closed by what closes its gap."""
    hiding = next(analysis.index.absence.hiding(ref), None)
    if hiding is None:
        return BlindSpot(what=str(ref), reason=reason, remedy=remedy)
    explanation = reason if reason != analysis.index.absence.message(ref) else hiding.reason
    return BlindSpot(what=str(ref), reason=explanation, remedy=hiding.remedy, gaps=(hiding,))


def unknown_targets(analysis: Analysis, attachments: Iterable[Attachment]) -> Iterator[BlindSpot]:
    """Targets of attachments that may or may not exist, or whose content is unknown."""
    for attachment in attachments:
        declared, policy, target = attachment.declared, attachment.policy, attachment.target
        if attachment.doubtful:
            remedy = f"look up what the API of {policy.kind} says of it"
            yield BlindSpot(
                what=f"all that {declared.field} of {policy} says", reason=attachment.message, remedy=remedy
            )
        if attachment.state != "target unknown":
            continue
        reason = f"{policy} targets it, and {attachment.message}"
        if not declared.field:
            where = f" in namespace {shown_namespace(declared.namespace)}" if declared.namespace else ""
            how = "as its parameters" if declared.way == "parameters" else "in a filter"
            reason = f"one that was not read may name {policy} {how}"
            yield BlindSpot(what=f"{plural(declared.kind)}{where}", reason=reason, remedy=_ADD_ALL)
        elif target is None:
            yield BlindSpot(what=f"what {policy} selects", reason=reason)
        elif analysis.registry.profile(policy.group_kind).targets_exist == "whenReferred" and not target.section:
            yield BlindSpot(what=f"routes to {target}", reason=reason, remedy=_ADD_ALL)
        elif (
            target.section
            and analysis.index.get(target.object)
            and not analysis.topology.relations.has_known_sections(target.object.group_kind)
        ):
            section = f"section {target.section} of {target.object}"
            yield BlindSpot(what=section, reason=reason, remedy=_SAY_PORTS)
        else:
            yield _unread(analysis, target.object, reason)


def unknown_needs(analysis: Analysis, attachments: Iterable[Attachment]) -> Iterator[BlindSpot]:
    """Objects without which attached policies are invalid, and that may not exist or may not be named."""
    for attachment in attachments:
        for needed in analysis.unread_needs(attachment.policy) if attachment.state == "attached" else ():
            naming = f"{needed.field} of {attachment.policy} names it"
            if needed.exists:
                reason = f"{naming}, and whether it may is unknown: {analysis.index.grants.unknown_reason}"
                yield _ungranted(analysis, needed.ref, reason)
            else:
                without = f"{needed.setting} is ignored" if needed.setting else "that policy is invalid"
                reason = f"{naming}, and without it {without}"
                remedy = f"{_ADD}, or --assume-exists {needed.ref.kind.lower()}"
                yield _unread(analysis, needed.ref, reason, remedy)


def unknown_conditions(analysis: Analysis, kinds: Iterable[tuple[GroupKind, Path]]) -> Iterator[BlindSpot]:
    """The classes and parameters of Gateways on paths that decide whether kinds count there, and were not read."""
    classes: dict[tuple[ObjectRef, frozenset[str]], set[str]] = {}
    parameters: dict[tuple[ObjectRef, ObjectRef, str], set[str]] = {}
    for kind, path in kinds:
        controllers, enabling = analysis.registry.profile(kind).controllers, analysis.registry.profile(kind).enabled_by
        for node in path if controllers else ():
            if node.object.group_kind == GATEWAY_CLASS and analysis.index.is_content_unknown(node.object):
                classes.setdefault((node.object, controllers), set()).add(kind.kind)
        gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
        if enabling and gateway:
            for ref in unread_parameters(analysis.topology, gateway, enabling):
                parameters.setdefault((ref, gateway, enabling.field), set()).add(kind.kind)
    for (gateway_class, controllers), names in classes.items():
        yield _deciding(analysis, gateway_class, f"whether its controller is {_any_of(controllers)} is unknown", names)
    for (ref, gateway, field), names in parameters.items():
        yield _deciding(analysis, ref, f"whether spec.{field} is set in the parameters of {gateway} is unknown", names)


def _deciding(analysis: Analysis, ref: ObjectRef, unknown: str, kinds: Iterable[str]) -> BlindSpot:
    """An object that decides whether some kinds count."""
    return _unread(analysis, ref, f"{unknown}; only then does this count: {', '.join(sorted(kinds))}")


def _ungranted(analysis: Analysis, ref: ObjectRef, reason: str) -> BlindSpot:
    """An object that may not be referred to: the ReferenceGrants in its namespace were not read."""
    hidden_grant = _unread(analysis, ObjectRef(REFERENCE_GRANT, ref.namespace, ""), reason, _ADD_GRANT)
    return replace(hidden_grant, what=str(ref))


def unknown_grants(analysis: Analysis, paths: Iterable[Path]) -> Iterator[BlindSpot]:
    """The backends on paths of which it is not known whether their routes may refer to them."""
    index = analysis.index
    objects = ([node.object for node in path if node.object.group_kind != NAMESPACE] for path in paths)
    for route, backend in dict.fromkeys(step for on_path in objects for step in pairwise(on_path)):
        leaves = (
            route.namespace != backend.namespace and route.group_kind in ROUTES and backend.group_kind not in ROUTES
        )
        if leaves and analysis.topology.gateways.permit(route, backend) is None:
            reason = f"whether {route} may refer to it is unknown: {index.grants.unknown_reason}"
            yield _ungranted(analysis, backend, reason)


def unknown_namespaces(analysis: Analysis, objects: Iterable[ObjectRef]) -> Iterator[BlindSpot]:
    """The namespaces of objects of which nothing says what they are called, each told once."""
    every = (obj for obj in objects if is_unknown(obj.namespace) and analysis.index.get(obj))
    for homeless in grouped_by(every, lambda obj: obj.namespace).values():
        remaining = f" and {len(homeless) - 1} more" if len(homeless) > 1 else ""
        reason = "nothing that was read says which it is, so what else affects it cannot be known"
        yield BlindSpot(what=f"the namespace of {homeless[0]}{remaining}", reason=reason, remedy=SAY_NAMESPACE)


def unknown_parents(analysis: Analysis, objects: Iterable[ObjectRef]) -> Iterator[BlindSpot]:
    """The parents of routes, among some objects, of which it is not known whether they take them, or which they are."""
    for obj in objects:
        if obj.group_kind in ROUTES and analysis.index.is_assumed(obj):
            reason = f"it {analysis.index.absence.reason(obj)}, so its parents are not known"
            yield _unread(analysis, obj, reason)
        for binding in analysis.topology.bindings(obj) if obj.group_kind in ROUTES else ():
            if binding.is_unfilled:
                yield _unfilled_handshake(obj, binding)
            elif binding.state == "unknown":
                attaches = analysis.topology.gateways.is_route_parent(binding.parent.group_kind)
                remedy = _ADD if attaches else f"look at status.parents of {obj}"
                yield _unread(analysis, binding.parent, binding.message, remedy)


def unknown_routes(analysis: Analysis, targets: Iterable[NodeRef]) -> Iterator[BlindSpot]:
    """The routes of which it is not known whether listeners below some targets take them."""
    listeners: set[NodeRef] = set()
    for target in targets:
        if target.object.group_kind not in _BELOW_LISTENERS:
            for path in analysis.topology.paths_through(target):
                above_routes = takewhile(lambda node: node.object.group_kind not in ROUTES, path[path.index(target) :])
                listeners.update(
                    node for node in above_routes if node.section and node.object.group_kind in LISTENER_HOLDERS
                )
    if not listeners:
        return
    owners = dict.fromkeys(sorted(node.object for node in listeners))
    for route in dict.fromkeys(route for owner in owners for route in analysis.topology.relations.routes_naming(owner)):
        for binding in analysis.topology.bindings(route):
            if binding.state != "unknown" or binding.listener not in listeners:
                continue
            if binding.is_unfilled:
                yield _unfilled_handshake(route, binding)
            else:
                reason = f"whether it is attached to {binding.listener} is unknown: {binding.message}"
                yield BlindSpot(what=str(route), reason=reason)


def placeholder_remedy(*related: ObjectRef) -> str:
    """Return what would show whether objects are related: the namespace of one, or what is to be filled in."""
    is_homeless = any(ref.namespace.startswith(UNKNOWN_NAMESPACE) for ref in related)
    return SAY_NAMESPACE if is_homeless else FILL_IN


def _unfilled_handshake(route: ObjectRef, binding: Binding) -> BlindSpot:
    """A route with a placeholder, there or at its parent, that decides whether it is attached."""
    remedy = placeholder_remedy(binding.parent, route)
    return BlindSpot(what=str(route), reason=binding.message, remedy=remedy)


def unselectable(resources: Iterable[Resource]) -> Iterator[BlindSpot]:
    """The objects of which it is to be filled in whether they have the labels and fields that are asked for."""
    for resource in resources:
        reason = "whether it has the labels or fields that are asked for cannot be known yet"
        yield BlindSpot(what=str(resource.ref), reason=reason, remedy=FILL_IN, origin=resource.origin, is_there=True)


def cut_paths(paths: Iterable[Path]) -> Iterator[BlindSpot]:
    """The paths that are not followed to their ends, since routes refer to too many routes one after the other."""
    for path in filter(is_truncated, paths):
        first = next(node for node in path if node.object.group_kind != NAMESPACE)
        reason = f"it is followed only from {first} to {path[-1]}"
        yield BlindSpot(what=f"a path of more than {MAX_NODES} nodes", reason=reason, remedy=_ASK_FURTHER)


def unknown_class(analysis: Analysis, node: NodeRef, controllers: frozenset[str]) -> BlindSpot:
    """The unread class that decides whether one of the controllers acts on a node."""
    obj = node.object
    owner = (analysis.topology.gateways.class_of(obj) if analysis.index.get(obj) else None) or obj
    return _unread(analysis, owner, f"whether the controller there is {_any_of(controllers)} is unknown")


def _any_of(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))


def unknown_below_targets(analysis: Analysis, enforcement: Enforcement) -> Iterator[BlindSpot]:
    """The targets of a policy without effect below which nothing was read that it could have one on."""
    may_have_more = not analysis.snapshot.complete or any(map(analysis.index.is_any_assumed, ROUTES))
    if enforcement.state != "NoEffect" or enforcement.outcomes or not may_have_more:
        return
    for attachment in analysis.attachments[enforcement.policy]:
        target = attachment.target if attachment.state == "attached" else None
        if target and any(analysis.topology.carries_traffic(path) for path in analysis.topology.paths_through(target)):
            remedy = "add the manifests that contain it, or --complete if there is nothing"
            yield BlindSpot(what=f"what is below {target}", reason="nothing of it was read", remedy=remedy)


def uncomputed_policies(analysis: Analysis, objects: Sequence[ObjectRef]) -> Iterator[BlindSpot]:
    """The policies that may affect some of the objects: for their kinds, and attached in a way that is not computed.

    Those name no target, and are in the namespace of the object if their kind does not leave its own. Which they are
    is known of all that might be, and so is their number.
    """
    for profile in analysis.registry.policy_kinds:
        if profile.references_alone or profile.attachment == "connections" or profile.is_staged:
            continue
        index, kind = analysis.index, profile.group_kind
        every = index.world.refs_of(kind)
        homeless = [policy for policy in every if is_unknown(policy.namespace)]
        possible: dict[ObjectRef, list[ObjectRef]] = {}
        for obj in (obj for obj in objects if obj.group_kind in profile.declared_targets):
            near = every
            if profile.cross_namespace is False:
                candidates = every if is_unknown(obj.namespace) else homeless
                perhaps = [policy for policy in candidates if may_equal(policy.namespace, obj.namespace)]
                near = list(dict.fromkeys((*index.world.refs_of(kind, obj.namespace), *perhaps)))
            possible[obj] = [policy for policy in near if not analysis.attachments[policy]]
        policies = list(dict.fromkeys(policy for near in possible.values() for policy in near))
        if policies:
            several = len(policies) > 1
            subject = f"{len(policies)} {plural(kind.kind)}" if several else str(policies[0])
            may = ", ".join(str(obj) for obj, near in possible.items() if near)
            reason = f"whether {'they are' if several else 'it is'} attached to {may} is not computed"
            remedy = f"read what explain {kind.kind.lower()} says"
            yield BlindSpot(what=subject, reason=reason, remedy=remedy, policies=tuple(policies))
