"""Conditions that a conformant controller would report on routes, for each parent, and on BackendTLSPolicies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Problem, Resource
from kubectl_policy.model.fields import items_at, mappings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, HTTP_ROUTE, SERVICE
from kubectl_policy.topology.gateway.certificates import (
    CONFIG_MAP,
    ELSEWHERE,
    INVALID_KIND,
    CertificateRef,
    authority_problem,
)
from kubectl_policy.topology.gateway.conditions import Condition, true_condition, unknown_condition
from kubectl_policy.topology.gateway.handshake import INVALID_LISTENER, NO_PARENT, Binding
from kubectl_policy.topology.references import parent_refs, refer

if TYPE_CHECKING:
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.delegation.delegations import Delegation
    from kubectl_policy.topology.graph import Topology

# How far a handshake got, nearest miss last: of several refusals the nearest miss is the one to report.
_STEPS: Final = (NO_PARENT, "NotAllowedByListeners", "NoMatchingListenerHostname", "UnsupportedValue")
BACKEND_TLS_POLICY: Final = GroupKind(GATEWAY_API, "BackendTLSPolicy")


def attached_routes(topology: Topology, listener: NodeRef) -> tuple[ObjectRef, ...]:
    """Return the routes that ListenerStatus.AttachedRoutes counts, also those of a conflicted listener; sorted."""
    if topology.gateways.listener(listener) is None:
        return ()
    return tuple(
        route
        for route in topology.relations.routes_naming(listener.object)
        if any(binding.listener == listener and binding.counts_as_attached for binding in topology.bindings(route))
    )


def route_parent_conditions(topology: Topology, route: ObjectRef) -> tuple[tuple[NodeRef, tuple[Condition, ...]], ...]:
    """Return every parent for which a route gets a status, with Accepted and ResolvedRefs.

    First the parents that it names, in their order, as it names them (with the section), unless they are known not to
    exist; then the routes that delegate to it without being named. A route is a parent only if it delegates: what its
    matches keep out, or what names other parents, gets no status from it.
    """
    conditions: dict[NodeRef, tuple[Condition, ...]] = {}
    for parent in parent_refs(topology.index, route):
        node = NodeRef(parent.object, parent.section)
        if parent.object.group_kind == HTTP_ROUTE:
            conditions[NodeRef(parent.object)] = _reached_conditions(topology, route, parent.object)
        elif node not in conditions and not _gets_no_status(topology, node):
            conditions[node] = route_conditions(topology, route, parent.position)
    for parent_route in parent_routes(topology, route):
        conditions.setdefault(NodeRef(parent_route), _reached_conditions(topology, route, parent_route))
    return tuple((node, reported) for node, reported in conditions.items() if reported)


def route_conditions(topology: Topology, route: ObjectRef, parent_index: int) -> tuple[Condition, ...]:
    """Accepted and ResolvedRefs for one entry of `spec.parentRefs` (RouteConditionType).

    Accepted is True if at least one listener takes the route, even if that one is conflicted and serves nothing.
    ResolvedRefs does not depend on Accepted. For a parent that is a route see `delegated_conditions`.
    """
    bindings = [binding for binding in topology.bindings(route) if binding.parent_index == parent_index]
    if any(binding.parent.group_kind == HTTP_ROUTE for binding in bindings):
        return delegated_conditions(topology, route, bindings[0].parent)
    return _route_accepted(topology, route, bindings), _route_resolved(topology.backends(route))


def parent_routes(topology: Topology, route: ObjectRef) -> tuple[ObjectRef, ...]:
    """Return the routes that delegate to a route, and so are its parents, named or not; sorted."""
    return tuple(sorted({delegation.parent.object for delegation in _reported_delegations(topology, route)}))


def delegated_conditions(topology: Topology, route: ObjectRef, parent: ObjectRef) -> tuple[Condition, ...]:
    """Accepted and ResolvedRefs for a parent that is a route; nothing if that one does not delegate, so is no parent.

    They are unknown if it was not read, or if it is not known whether it delegates.
    """
    doubts = [
        binding.message
        for binding in topology.bindings(route)
        if binding.parent == parent and binding.state == "unknown"
    ]
    if not doubts and topology.index.is_content_unknown(parent):
        doubts = [topology.index.absence.message(parent)]
    if doubts:
        return unknown_condition("Accepted", doubts[0]), _route_resolved(topology.backends(route))
    return _reached_conditions(topology, route, parent)


def _reached_conditions(topology: Topology, route: ObjectRef, parent: ObjectRef) -> tuple[Condition, ...]:
    """Return the conditions for a parent that delegates: only the rules that it reaches count."""
    delegated = [
        delegation for delegation in _reported_delegations(topology, route) if delegation.parent.object == parent
    ]
    if not delegated:
        return ()
    sections = topology.sections(route)
    reached = {sections.index(rule) for delegation in delegated for rule in delegation.rules}
    refused = next((delegation for delegation in delegated if not delegation.is_accepted), None)
    accepted = (
        Condition("Accepted", "False", refused.reason, refused.message) if refused else true_condition("Accepted")
    )
    return accepted, _route_resolved(backend for backend in topology.backends(route) if backend.ref.rule in reached)


def _reported_delegations(topology: Topology, route: ObjectRef) -> list[Delegation]:
    """Return the delegations to a route for which it gets a status."""
    relations = topology.relations
    known = (
        delegation for delegation in relations.delegations_to(route) if delegation.is_accepted or delegation.reason
    )
    return [delegation for delegation in known if not relations.is_unattached(delegation.parent.object)]


def _route_accepted(topology: Topology, route: ObjectRef, bindings: Sequence[Binding]) -> Condition:
    gateways = topology.gateways
    profiles = [gateways.profile_of(gateways.gateway_of(binding.parent)) for binding in bindings]
    if any(binding.counts_as_attached for binding in bindings):
        # Where controllers ignore invalid listeners, one that would take the route is reported at all its parents.
        invalid = [binding for binding in topology.bindings(route) if binding.reason == INVALID_LISTENER]
        if invalid and any(profile.ignores_invalid for profile in profiles):
            return Condition("Accepted", "False", INVALID_LISTENER, invalid[0].message)
        return true_condition("Accepted")
    doubts = [binding.message for binding in bindings if binding.state == "unknown"]
    if doubts:
        return unknown_condition("Accepted", "; ".join(dict.fromkeys(doubts)))
    # The last one of these is reported if several hold.
    refusals = next((profile.refusals for profile in profiles if profile.refusals), ())
    steps = (*(step for step in _STEPS if step not in refusals), *reversed(refusals))
    reason = max((binding.reason for binding in bindings), key=steps.index, default=NO_PARENT)
    messages = dict.fromkeys(binding.message for binding in bindings if binding.reason == reason)
    return Condition("Accepted", "False", reason, "; ".join(messages) or "the reference names no parent")


def _gets_no_status(topology: Topology, parent: NodeRef) -> bool:
    """Whether a parent does not exist, or not to controllers: they ignore it, and no listener of it is named."""
    if topology.index.presence(parent.object) == "missing":
        return True
    ignored = None if parent.section else topology.relations.why_ignored(parent)
    return ignored is not None and ignored.reason == NO_PARENT


def _route_resolved(references: Iterable[Backend]) -> Condition:
    backends = tuple(references)
    broken = [backend for backend in backends if backend.state == "broken"]
    if broken:
        messages = dict.fromkeys(backend.message for backend in broken)
        return Condition("ResolvedRefs", "False", broken[0].reason, "; ".join(messages))
    doubts = dict.fromkeys(backend.message for backend in backends if backend.state == "unknown")
    return unknown_condition("ResolvedRefs", "; ".join(doubts)) if doubts else true_condition("ResolvedRefs")


def backend_tls_conditions(topology: Topology, policy: ObjectRef) -> Mapping[ObjectRef, tuple[Condition, ...]]:
    """Accepted and ResolvedRefs of a BackendTLSPolicy for each Gateway from which traffic reaches its targets.

    Reasons are those of PolicyConditionReason and BackendTLSPolicyConditionReason. Of policies with the same target the
    oldest is accepted, then the first by namespace and name (GEP-713, "Conflict Resolution"); a target with and one
    without a sectionName are different targets.
    """
    resource = topology.index.get(policy)
    if resource is None:
        return {}
    targets = _policy_targets(topology, policy)
    paths = (path for target in targets for path in topology.paths(target))
    gateways = sorted({node.object for path in paths for node in path if node.object.group_kind == GATEWAY})
    problems = _certificate_problems(topology, policy)
    conditions = (_policy_accepted(topology, resource, targets, problems), _policy_resolved(problems))
    return dict.fromkeys(gateways, conditions)


def certificate_conditions(topology: Topology, policy: ObjectRef) -> tuple[Condition, ...]:
    """Return the conditions of a BackendTLSPolicy that its certificate references alone decide.

    ResolvedRefs, and Accepted if none of them can be used.
    """
    problems = _certificate_problems(topology, policy)
    refused = _without_certificates(problems)
    return ((refused,) if refused else ()) + (_policy_resolved(problems),)


def _policy_targets(topology: Topology, policy: ObjectRef) -> list[NodeRef]:
    """Return the targets, which are in the policy's own namespace (LocalPolicyTargetReferenceWithSectionName)."""
    targets: list[NodeRef] = []
    for reference in mappings_at(topology.index.defaulted(policy), "spec.targetRefs"):
        target = refer(topology.index, {**reference, "namespace": None}, policy.namespace, SERVICE)
        if target.name:
            targets.append(NodeRef(target, text_at(reference, "sectionName")))
    return targets


def authority_refs(topology: Topology, policy: ObjectRef) -> Iterator[CertificateRef]:
    """Yield the references of a BackendTLSPolicy to CA certificates, which are in its own namespace."""
    field = "spec.validation.caCertificateRefs"
    references = items_at(topology.index.defaulted(policy), field)
    for position, reference in enumerate(references):
        if isinstance(reference, Mapping):
            target = refer(topology.index, {**reference, "namespace": None}, policy.namespace, CONFIG_MAP)
            problem = authority_problem(topology.gateways, policy, target)
            if problem and problem.reason == ELSEWHERE and len(references) > 1:
                message = f"{target} names a certificate elsewhere, so that it must be the only reference"
                problem = Problem(message=message, reason=ELSEWHERE)
            yield CertificateRef(field=f"{field}[{position}]", target=target, problem=problem)


def _certificate_problems(topology: Topology, policy: ObjectRef) -> tuple[Problem | None, ...]:
    return tuple(ref.problem for ref in authority_refs(topology, policy))


def _policy_accepted(
    topology: Topology, policy: Resource, targets: list[NodeRef], problems: tuple[Problem | None, ...]
) -> Condition:
    for target in targets:
        is_read = topology.index.world.has(target.object)
        lacks = is_read and target.section and target.section not in topology.sections(target.object)
        if lacks or topology.index.presence(target.object) == "missing":
            return Condition("Accepted", "False", "TargetNotFound", f"{target} does not exist")
    for rival in topology.index.of_kind(BACKEND_TLS_POLICY):
        if rival.seniority < policy.seniority:
            shared = [target for target in _policy_targets(topology, rival.ref) if target in targets]
            if shared:
                return Condition("Accepted", "False", "Conflicted", f"{shared[0]} has {rival.ref} already")
    refused = _without_certificates(problems)
    if refused:
        return refused
    known = value_at(policy.raw, "spec.validation.wellKnownCACertificates")
    if known is not None and known != "System":
        return Condition("Accepted", "False", "Invalid", "spec.validation.wellKnownCACertificates is not System")
    return true_condition("Accepted")


def _without_certificates(problems: tuple[Problem | None, ...]) -> Condition | None:
    certain = [problem for problem in problems if problem and problem.certain]
    if not certain or len(certain) < len(problems):
        return None
    messages = dict.fromkeys(problem.message for problem in certain)
    return Condition("Accepted", "False", "NoValidCACertificate", "; ".join(messages))


def _policy_resolved(problems: tuple[Problem | None, ...]) -> Condition:
    wrong = [problem for problem in problems if problem]
    certain = next((problem for problem in wrong if problem.certain), None)
    if certain:
        reason = INVALID_KIND if certain.reason == INVALID_KIND else "InvalidCACertificateRef"
        return Condition("ResolvedRefs", "False", reason, certain.message)
    return unknown_condition("ResolvedRefs", wrong[0].message) if wrong else true_condition("ResolvedRefs")
