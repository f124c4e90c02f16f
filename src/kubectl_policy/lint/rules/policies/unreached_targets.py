"""Policies on targets that get no requests (GWP1012 to GWP1014, and GWP1016)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, some
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.policies.failures import Failure, failures, finding_about
from kubectl_policy.model import NodeRef, ObjectRef, Problem, Resource
from kubectl_policy.model.fields import value_at
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, LISTENER_HOLDERS, LISTENER_SETS, PORT_HOLDERS, ROUTES
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.topology.gateway.listeners import ROUTES_BY_PROTOCOL
from kubectl_policy.topology.references import backend_refs, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.profiles import PolicyKindProfile

_Attached: TypeAlias = "tuple[Resource, Attachment, NodeRef]"
_EXPORT: Final = "ServiceExport"
# So many reasons are named.
_MAX_REASONS: Final = 2


def _attached(world: LintWorld) -> Sequence[_Attached]:
    """Return the working attachments by references of policies."""
    every = world.analysis.attachments
    return [
        (policy, attachment, attachment.target)
        for policy in world.policies
        for attachment in every[policy.ref]
        if attachment.state == "attached" and attachment.target and not attachment.declared.named_by
    ]


@lint_rule("GWP1012", "warning", "closed world")
def target_unattached(world: LintWorld) -> Iterator[Finding]:
    """A policy targets an object that gets no requests because it is not attached to anything.

    The target is a route that no listener accepts, a ListenerSet that its Gateway does not allow, or a Gateway without
    an existing GatewayClass, on which no controller acts. Another finding reports the cause; this one names the
    policies that have no effect until it is fixed.

    Source: envoyproxy/gateway#9837, a policy on a route whose parent does not exist.
    """
    failed = [(failure.policy, failure.attachment, failure.target) for failure in failures(world, "target unattached")]
    unattached: dict[tuple[Resource, str, Problem], dict[ObjectRef, None]] = {}
    for policy, attachment, node in (*failed, *world.once(_attached)):
        is_route = node.object.group_kind in ROUTES
        problem = _why_unattached(world, node.object) if is_route else world.once(_unserved).get(node.object)
        if problem:
            field = "" if attachment.declared.named_by else attachment.declared.field
            unattached.setdefault((policy, field, problem), {})[node.object] = None
    for (policy, field, problem), targets in unattached.items():
        verb = "get" if len(targets) > 1 else "gets"
        yield Finding(
            subject=policy.ref,
            field=field,
            message=f"{_target_list(targets)} {verb} no requests, so this has no effect there: {problem.message}",
            certain=problem.certain,
            related=world.related_to(targets, "the target"),
        )


def _target_list(targets: Iterable[NodeRef | ObjectRef]) -> str:
    return some([node_phrase(target) if isinstance(target, NodeRef) else str(target) for target in targets])


def _why_unattached(world: LintWorld, route: ObjectRef) -> Problem | None:
    """Return the problem because of which no request reaches a route, or None."""
    bindings = world.relations.bindings(route)
    attached = [binding for binding in bindings if binding.state == "attached"]
    if attached:
        unserved = world.once(_unserved)
        return unserved.get(attached[0].parent) if all(binding.parent in unserved for binding in attached) else None
    if world.relations.is_unattached(route):
        refusals = list(dict.fromkeys(binding.message for binding in bindings))
        return Problem(message="; ".join(refusals[:_MAX_REASONS])) if refusals else _why_no_parent(world, route)
    doubts = [binding.message for binding in bindings if binding.state == "unknown" and not binding.is_delegated]
    return Problem(message=doubts[0], certain=False) if doubts else None


def _why_no_parent(world: LintWorld, route: ObjectRef) -> Problem | None:
    """Return the problem that a route names no parent, unless it uses the default Gateways (GEP-3793)."""
    if value_at(world.index.defaulted(route), "spec.useDefaultGateways") is not None:
        return None
    relations = world.relations
    # Another implementation may have its own way to let routes delegate to routes.
    delegating_kinds = [kind for kind in relations.kinds_of_backends if kind in ROUTES or not relations.has_ports(kind)]
    certain = world.has_all(*ROUTES) and not delegating_kinds
    return Problem(message="it names no parent, and no route delegates to it", certain=certain)


def _unserved(world: LintWorld) -> Mapping[ObjectRef, Problem]:
    """Return the Gateways and ListenerSets that no controller serves, with the problem."""
    problems: dict[ObjectRef, Problem] = {}
    for kind in LISTENER_HOLDERS:
        for ref in world.index.world.refs_of(kind):
            parent = world.gateways.class_of(ref) if kind == GATEWAY else world.gateways.gateway_of(ref)
            if parent is None:
                problems[ref] = Problem(message=f"it names no {'GatewayClass' if kind == GATEWAY else 'Gateway'}")
            elif world.index.presence(parent) == "missing":
                problems[ref] = Problem(message=f"{parent} does not exist")
            elif kind != GATEWAY and world.index.get(parent) and world.gateways.admits(parent, ref) is False:
                problems[ref] = Problem(message=f"{parent} does not allow it (spec.allowedListeners)")
            elif parent in problems:
                problems[ref] = problems[parent]
    return problems


@lint_rule("GWP1013", "info", "closed world")
def target_gateway_no_routes(world: LintWorld) -> Iterator[Finding]:
    """A policy targets a Gateway, listener or ListenerSet without attached routes.

    There are no requests that the policy could affect. This is expected before the first route is created, but not if
    the routes are attached to another listener. The rule checks policies that affect objects below their target.

    Source: envoyproxy/gateway#9896, a condition with the reason NoAttachedRoutes.
    """
    known: dict[NodeRef, bool | None] = {}
    without_routes: dict[tuple[Resource, str, bool], dict[NodeRef, None]] = {}
    for policy, attachment, target in world.once(_attached):
        is_inherited = world.registry.profile(policy.ref.group_kind).policy_class == "inherited"
        if is_inherited and target.object.group_kind in LISTENER_HOLDERS:
            if target not in known:
                known[target] = _is_without_routes(world, target)
            if known[target] is not False:
                certain = known[target] is True
                without_routes.setdefault((policy, attachment.declared.field, certain), {})[target] = None
    for (policy, field, certain), targets in without_routes.items():
        yield Finding(
            subject=policy.ref,
            field=field,
            message=f"no route is attached to {_target_list(targets)}, so the policy has no effect there",
            certain=certain,
            related=world.related_to(dict.fromkeys(node.object for node in targets), "the target"),
        )


def _is_without_routes(world: LintWorld, target: NodeRef) -> bool | None:
    """Whether no route is, or was meant to be, attached to a Gateway or listener; None if unknown."""
    gateways, relations, owner = world.gateways, world.relations, target.object
    is_whole = owner.group_kind == GATEWAY and not target.section
    owners = [owner, *(gateways.admitted(owner) if is_whole else ())]
    listeners = [
        listener
        for holder in owners
        for listener in gateways.listeners(holder)
        if not target.section or listener.node == target
    ]
    if owner in world.once(_unserved) or any(relations.has_attached_routes(listener.node) for listener in listeners):
        return False
    # What else a listener may serve is not known, as on the Gateways of a mesh.
    if any(
        listener.protocol not in ROUTES_BY_PROTOCOL or not ROUTES.keys() >= {*listener.named_kinds}
        for listener in listeners
    ):
        return False
    bindings = [
        binding
        for parent in (owner, *(gateways.listener_sets(owner) if is_whole else ()))
        for route in relations.routes_naming(parent)
        for binding in relations.bindings_at(route, parent)
    ]
    # A route that is attached to nothing is a finding of its own.
    if any(relations.is_unattached(binding.route) for binding in bindings):
        return False
    in_doubt = any(binding.state == "unknown" for binding in bindings)
    return True if world.has_all(*ROUTES, *LISTENER_SETS) and not in_doubt else None


@lint_rule("GWP1014", "warning", "closed world", "profile")
def backend_policy_unreferenced(world: LintWorld) -> Iterator[Finding]:
    """A policy on a backend has no effect because no route sends requests there.

    A policy for the connection from a Gateway to a backend, such as a BackendTLSPolicy, applies to no other requests.
    The policy may target a port of the backend to which no route refers. The rule does not report policies of a mesh,
    where clients reach the backend without a route, nor Services that other objects refer to: another policy, a mirror,
    or a ServiceExport for other clusters.

    Source: istioctl IST0167 (IneffectivePolicy).
    """
    for failure in failures(world, "not referred to"):
        yield finding_about(world, failure.policy, failure.attachment, failure.message, certain=failure.certain)
    for policy, attachment, target in world.once(_attached):
        backend = target.object
        is_backend = backend.group_kind in PORT_HOLDERS or world.relations.has_ports(backend.group_kind)
        if not is_backend or not _is_of_gateways(world.registry.profile(policy.ref.group_kind)):
            continue
        relations, place = world.relations, str(backend)
        if relations.routes_naming(backend):
            continue
        if relations.referring.naming.to(backend):
            used = world.once(_used_ports).get(backend, frozenset())
            if not target.section or not used or used & {"", target.section}:
                continue
            place = f"port {target.section} of {backend}"
        may_be_named = not world.has_all(*ROUTES) or world.topology.possible.may_be_backend(backend)
        if may_be_named or not _has_other_references(world, backend):
            message = f"no route sends requests to {place}, so the policy has no effect there"
            yield finding_about(world, policy, attachment, message, certain=not may_be_named)


def _used_ports(world: LintWorld) -> Mapping[ObjectRef, AbstractSet[str]]:
    """Return the ports to which routes refer, by backend; "" where a reference names none, or it is not known which."""
    used: dict[ObjectRef, set[str]] = {}
    for route in (route for kind in ROUTES for route in world.index.of_kind(kind)):
        for backend in world.topology.backends(route.ref):
            used.setdefault(backend.node.object, set()).add(backend.node.section)
    return used


def _is_of_gateways(profile: PolicyKindProfile) -> bool:
    """Whether policies of a kind are known to act on requests through Gateways."""
    is_known = profile.known_by == "profile" and profile.attachment == "references"
    return is_known and bool(profile.controllers or profile.group_kind.group == GATEWAY_API)


def _has_other_references(world: LintWorld, backend: ObjectRef) -> bool:
    """Whether anything but a rule of a route refers, or may refer, to a backend."""
    exports = (kind for kind in world.index.group_kinds if kind.kind == _EXPORT)
    return (
        backend in world.once(_filter_backends)
        or world.once(_has_mesh_routes)
        or any(world.index.get(replace(backend, group_kind=kind)) for kind in exports)
        or bool(world.analysis.references_to(backend))
    )


def _has_mesh_routes(world: LintWorld) -> bool:
    routes = (route for kind in ROUTES for route in world.index.world.refs_of(kind))
    return any(
        parent.object.group_kind in PORT_HOLDERS for route in routes for parent in parent_refs(world.index, route)
    )


def _filter_backends(world: LintWorld) -> AbstractSet[ObjectRef]:
    """Return the backends in filters of routes: mirrors and external authorization."""
    routes = (route for kind in ROUTES for route in world.index.world.refs_of(kind))
    return {ref.object for route in routes for ref in backend_refs(world.index, route) if not ref.forwards}


@lint_rule("GWP1016", "warning", "profile")
def foreign_controller(world: LintWorld) -> Iterator[Finding]:
    """A policy targets an object that belongs to another implementation.

    Each implementation reads only policies of its own kinds, and acts only on Gateways of its own classes. A policy of
    one implementation on a Gateway or route of another has no effect, and no controller reports it. A Gateway whose
    GatewayClass was not read is not reported.

    Source: envoyproxy/gateway#2520; GatewayClass.spec.controllerName (Gateway API, apis/v1/gatewayclass_types.go).
    """
    foreign: dict[tuple[Resource, str, ObjectRef | None], dict[ObjectRef, Failure]] = {}
    for failure in failures(world, "other controller"):
        key = (failure.policy, failure.field, failure.attachment.declared.named_by)
        foreign.setdefault(key, {}).setdefault(failure.target.object, failure)
    for (policy, _, _), targets in foreign.items():
        first, *remaining = targets.values()
        others_named = f", nor {some([failure.target.object for failure in remaining])}" if remaining else ""
        yield finding_about(world, policy, first.attachment, f"{first.message}{others_named}")
