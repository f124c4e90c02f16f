"""From the filters of routes to attachments: what comes of each filter that names a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.attachment import Attachment
from kubectl_policy.attachment.references import TargetReference
from kubectl_policy.attachment.validity import not_managed, policy_failure, target_failure
from kubectl_policy.model import NodeRef, ObjectRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.attachment.attachment import State
    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.references import RouteFilter


def filter_attachments(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> Iterator[Attachment]:
    """What comes of every filter that names a policy, by kind and name of its route, then in the order of filters."""
    for found in topology.relations.filters_naming(policy.ref):
        route, kind = found.route, found.route.group_kind
        target = NodeRef(route, topology.sections(route)[found.rule])
        place = 0 if found.backend else found.position + 1
        declared = TargetReference(
            found.field, kind.group, kind.kind, route.name, route.namespace, target.section, named_by=route, place=place
        )
        state, message = _outcome(policy, profile, topology, found, target)
        yield Attachment(policy.ref, target, declared, state, message)


def unread_routes(policy: ObjectRef, profile: PolicyKindProfile, index: Index) -> Iterator[Attachment]:
    """What is not known of a policy without any reference: whether filters of routes that were not read name it."""
    for kind in sorted(profile.filter_routes):
        if index.presence(ObjectRef(kind, policy.namespace, "")) == "unknown":
            declared = TargetReference("", kind.group, kind.kind, namespace=policy.namespace)
            message = f"no {kind.kind} of namespace {policy.namespace} was read, and a filter of one may name it"
            yield Attachment(policy, None, declared, "target unknown", message)


def _outcome(
    policy: Resource, profile: PolicyKindProfile, topology: Topology, found: RouteFilter, target: NodeRef
) -> tuple[State, str]:
    kind = policy.ref.kind
    if found.route.group_kind not in profile.filter_routes:
        able = " or ".join(f"an {route.kind}" for route in sorted(profile.filter_routes))
        return (
            "filter unsupported",
            f"a filter can name a {kind} in a rule of {able} alone, and {found.route} is none",
        )
    if found.backend and not profile.backend_filters:
        return "filter unsupported", f"a filter of a backendRef cannot name a {kind}, only one of the rule itself can"
    elsewhere = not_managed(topology, found.route, kind, profile.controllers)
    if elsewhere:
        return "not managed", elsewhere
    invalid = policy_failure(policy, profile, topology.index) or target_failure(found.route, profile, topology)
    if invalid:
        return invalid.state, invalid.message
    if found.backend:
        requests = f"requests of {target} to {found.backend} alone"
        return "not computed", f"it applies to {requests}, and what it changes there is not computed"
    return "attached", ""
