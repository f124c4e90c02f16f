"""From a policy to its attachments: by its references, by filters of routes, and none where requests are shared."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.attachment import Attachment, NotAttached, TargetReference
from kubectl_policy.attachment.references import FollowedReference, target_references
from kubectl_policy.attachment.validity import not_managed, policy_not_attached, target_not_attached
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kinds import with_article

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.gateway.hostnames import Requests
    from kubectl_policy.topology.references import RouteFilter


def attach(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> tuple[Attachment, ...]:
    """Every attachment of a policy: by its references, in the order in which it declares them, then by filters."""
    by_references = tuple(
        attachment
        for reference in target_references(policy, profile)
        for attachment in FollowedReference(policy, profile, topology, reference).attachments()
    )
    by_filters = tuple(filter_attachments(policy, profile, topology)) if profile.filter_routes else ()
    attachments = (*by_references, *by_filters) or tuple(unread_routes(policy.ref, profile, topology.index))
    return without_overlaps(attachments, topology) if profile.overlap == "refused" else attachments


def filter_attachments(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> Iterator[Attachment]:
    """The attachments by filters that name a policy, by kind and name of its route, then in the order of filters."""
    for named in topology.relations.filters_naming(policy.ref):
        route, kind = named.route, named.route.group_kind
        target = NodeRef(route, topology.sections(route)[named.rule])
        place = 0 if named.backend else named.position + 1
        declared = TargetReference(
            named.field, kind.group, kind.kind, route.name, route.namespace, target.section, named_by=route, place=place
        )
        failure = _filter_not_attached(policy, profile, topology, named, target)
        state, message = (failure.state, failure.message) if failure else ("attached", "")
        yield Attachment(policy=policy.ref, target=target, declared=declared, state=state, message=message)


def unread_routes(policy: ObjectRef, profile: PolicyKindProfile, index: Index) -> Iterator[Attachment]:
    """What is not known of a policy without any reference: whether filters of routes that were not read name it."""
    for kind in sorted(profile.filter_routes):
        if index.presence(ObjectRef(kind, policy.namespace, "")) == "unknown":
            declared = TargetReference("", kind.group, kind.kind, namespace=policy.namespace)
            message = f"no {kind.kind} of namespace {policy.namespace} was read, and a filter of one may name it"
            yield Attachment(policy=policy, target=None, declared=declared, state="target unknown", message=message)


def _filter_not_attached(
    policy: Resource, profile: PolicyKindProfile, topology: Topology, named: RouteFilter, target: NodeRef
) -> NotAttached | None:
    kind = policy.ref.kind
    if named.route.group_kind not in profile.filter_routes:
        able = " or ".join(with_article(route.kind) for route in sorted(profile.filter_routes))
        message = f"a filter can name {with_article(kind)} in a rule of {able} alone, and {named.route} is none"
        return NotAttached("filter unsupported", message)
    if named.backend and not profile.backend_filters:
        message = f"a filter of a backendRef cannot name {with_article(kind)}, only one of the rule itself can"
        return NotAttached("filter unsupported", message)
    elsewhere = not_managed(topology, named.route, kind, profile.controllers)
    if elsewhere:
        return NotAttached("not managed", elsewhere)
    invalid = policy_not_attached(policy, profile, topology.index) or target_not_attached(
        named.route, profile, topology
    )
    if invalid is None and named.backend:
        requests = f"requests of {target} to {named.backend} alone"
        return NotAttached("not computed", f"it applies to {requests}, and what it changes there is not computed")
    return invalid


# What is not enabled on its Gateways is found out later.
_LOOKED_AT: Final = frozenset({"attached", "not enabled"})


def without_overlaps(attachments: Sequence[Attachment], topology: Topology) -> tuple[Attachment, ...]:
    """The attachments of a policy; none holds if a route that it targets shares requests with one that it does not.

    What it may target, as far as is known, is not known to be another's. Where it may share requests with another
    once names are filled in, nothing of it is known to hold.
    """
    targets = {
        attachment.target.object for attachment in attachments if attachment.target and attachment.state in _LOOKED_AT
    }
    possible = {
        attachment.target.object
        for attachment in attachments
        if attachment.target and attachment.state == "target unknown"
    }
    own = targets | possible
    known = (NotAttached("target overlaps", message) for message in _shared(sorted(targets), own, topology))
    unknown = (NotAttached("target unknown", message) for message in _perhaps_shared(sorted(targets), own, topology))
    failure = next(chain(known, unknown), None)
    if failure is None:
        return tuple(attachments)
    return tuple(
        replace(attachment, state=failure.state, message=failure.message, competes=False)
        if attachment.state in _LOOKED_AT
        else attachment
        for attachment in attachments
    )


def _shared(targets: Iterable[ObjectRef], own: Collection[ObjectRef], topology: Topology) -> Iterator[str]:
    """What routes among the targets share with routes that are not the policy's own, in words."""
    for route in targets:
        for requests in topology.relations.requests_of(route):
            for other in topology.relations.routes_taking(requests):
                if other not in own:
                    yield f"{_both(route, other)} take {_in_words(requests)}"


def _perhaps_shared(targets: Iterable[ObjectRef], own: Collection[ObjectRef], topology: Topology) -> Iterator[str]:
    """What they may share with such routes, as far as is known, in words."""
    for route in targets:
        for other, requests in topology.relations.routes_that_may_share(route):
            if other not in own:
                yield f"whether {_both(route, other)} take {_in_words(requests)} cannot be known yet"


def _both(route: ObjectRef, other: ObjectRef) -> str:
    return f"{route} and {other}, which the policy does not target, both"


def _in_words(requests: Requests) -> str:
    port = "" if requests.port is None else f"port {requests.port} of "
    return f"requests for {requests.hostname}{requests.path} on {port}{requests.gateway}"
