"""What a conformant controller would report on BackendTLSPolicies (GEP-1897)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind, NodeRef
from kubectl_policy.model.fields import mappings_at, text_at, value_at
from kubectl_policy.model.kinds import GATEWAY_API, SERVICE
from kubectl_policy.topology.gateway.certificates import CONFIG_MAP, INVALID_KIND, authority_problem
from kubectl_policy.topology.gateway.conditions import Condition, true, unknown
from kubectl_policy.topology.references import GATEWAY, refer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import ObjectRef, Problem, Resource
    from kubectl_policy.topology.graph import Topology

BACKEND_TLS_POLICY: Final = GroupKind(GATEWAY_API, "BackendTLSPolicy")


def backend_tls_conditions(topology: Topology, policy: ObjectRef) -> Mapping[ObjectRef, tuple[Condition, ...]]:
    """Accepted and ResolvedRefs of a BackendTLSPolicy for each Gateway from which traffic reaches its targets.

    Reasons are those of PolicyConditionReason and BackendTLSPolicyConditionReason. Of policies with the same target the
    oldest is accepted, then the first by namespace and name (GEP-713, "Conflict Resolution"); a target with and one
    without a sectionName are different targets.
    """
    resource = topology.index.get(policy)
    if resource is None:
        return {}
    targets = _targets(topology, policy)
    paths = (path for target in targets for path in topology.paths(target))
    gateways = sorted({node.object for path in paths for node in path if node.object.group_kind == GATEWAY})
    problems = _problems(topology, policy)
    conditions = (_accepted(topology, resource, targets, problems), _resolved(problems))
    return dict.fromkeys(gateways, conditions)


def certificate_conditions(topology: Topology, policy: ObjectRef) -> tuple[Condition, ...]:
    """What the certificate references of a BackendTLSPolicy alone decide, wherever it is reported.

    ResolvedRefs, and Accepted if none of them can be used.
    """
    problems = _problems(topology, policy)
    refused = _refused(problems)
    return ((refused,) if refused else ()) + (_resolved(problems),)


def _targets(topology: Topology, policy: ObjectRef) -> list[NodeRef]:
    """The targets, which are in the policy's own namespace (LocalPolicyTargetReferenceWithSectionName)."""
    found: list[NodeRef] = []
    for reference in mappings_at(topology.index.raw(policy), "spec.targetRefs"):
        target = refer(topology.index, {**reference, "namespace": None}, policy.namespace, SERVICE)
        if target.name:
            found.append(NodeRef(target, text_at(reference, "sectionName")))
    return found


def _problems(topology: Topology, policy: ObjectRef) -> tuple[Problem | None, ...]:
    references = mappings_at(topology.index.raw(policy), "spec.validation.caCertificateRefs")
    targets = [
        refer(topology.index, {**reference, "namespace": None}, policy.namespace, CONFIG_MAP)
        for reference in references
    ]
    return tuple(authority_problem(topology.gateways, policy, target) for target in targets)


def _accepted(
    topology: Topology, policy: Resource, targets: list[NodeRef], problems: tuple[Problem | None, ...]
) -> Condition:
    for target in targets:
        presence = topology.index.presence(target.object)
        lacks = presence == "present" and target.section and target.section not in topology.sections(target.object)
        if presence == "missing" or lacks:
            return Condition("Accepted", "False", "TargetNotFound", f"{target} does not exist")
    for other in topology.index.of_kind(BACKEND_TLS_POLICY):
        if other.seniority < policy.seniority:
            shared = [target for target in _targets(topology, other.ref) if target in targets]
            if shared:
                return Condition("Accepted", "False", "Conflicted", f"{shared[0]} has {other.ref} already")
    refused = _refused(problems)
    if refused:
        return refused
    known = value_at(policy.raw, "spec.validation.wellKnownCACertificates")
    if known is not None and known != "System":
        return Condition("Accepted", "False", "Invalid", "spec.validation.wellKnownCACertificates is not System")
    return true("Accepted")


def _refused(problems: tuple[Problem | None, ...]) -> Condition | None:
    certain = [problem for problem in problems if problem and problem.certain]
    if not certain or len(certain) < len(problems):
        return None
    messages = dict.fromkeys(problem.message for problem in certain)
    return Condition("Accepted", "False", "NoValidCACertificate", "; ".join(messages))


def _resolved(problems: tuple[Problem | None, ...]) -> Condition:
    found = [problem for problem in problems if problem]
    certain = next((problem for problem in found if problem.certain), None)
    if certain:
        reason = INVALID_KIND if certain.reason == INVALID_KIND else "InvalidCACertificateRef"
        return Condition("ResolvedRefs", "False", reason, certain.message)
    return unknown("ResolvedRefs", found[0].message) if found else true("ResolvedRefs")
