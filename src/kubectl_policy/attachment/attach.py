"""Attachments of one policy: by its references, filters and parameters; none where its requests overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.attachment.attachment import Attachment, IgnoredSetting, NotAttached, TargetReference
from kubectl_policy.attachment.references import FollowedReference, target_references
from kubectl_policy.attachment.target_validity import target_failure, why_not_managed
from kubectl_policy.attachment.validity import ignored_settings, policy_failure
from kubectl_policy.model import NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import PARAMETERS
from kubectl_policy.model.kinds import with_article

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.references import RouteFilter
    from kubectl_policy.topology.requests import Requests


def attach(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> tuple[Attachment, ...]:
    """Return all attachments of a policy: by its references, in their order, then by objects that name it."""
    by_references = tuple(
        attachment
        for reference in target_references(policy, profile)
        for attachment in FollowedReference(policy, profile, topology, reference).attachments()
    )
    named = tuple(named_attachments(policy, profile, topology))
    attachments = (*by_references, *named) or tuple(unread_holders(policy.ref, profile, topology.index))
    if profile.wrong_kinds == "policy":
        attachments = _without_wrong_kinds(attachments)
    if profile.overlap == "refused":
        attachments = without_overlaps(attachments, topology)
    ignored = tuple(ignored_settings(topology.index, policy, profile))
    return _with_ignored(attachments, ignored) if ignored else attachments


def _with_ignored(attachments: Iterable[Attachment], ignored: tuple[IgnoredSetting, ...]) -> tuple[Attachment, ...]:
    return tuple(
        replace(attachment, ignored=ignored) if attachment.state == "attached" else attachment
        for attachment in attachments
    )


# What a policy that is invalid as a whole is refused on; a target that is ignored says so itself.
_REFUSED: Final = frozenset({"attached", "not enabled", "target overlaps", "not permitted", "policy invalid"})


def _without_wrong_kinds(attachments: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
    """Fail the attachments of a policy that names a kind which it cannot target."""
    wrong = next((attachment for attachment in attachments if attachment.state == "kind unsupported"), None)
    if wrong is None:
        return attachments
    kind = with_article(str(wrong.declared.group_kind))
    message = f"{wrong.declared.field} names {kind}, which makes the policy invalid as a whole"
    return tuple(
        replace(attachment, state="policy invalid", message=message, competes=False)
        if attachment.state in _REFUSED
        else attachment
        for attachment in attachments
    )


# What is not enabled on its Gateways is found out later.
_LOOKED_AT: Final = frozenset({"attached", "not enabled"})


def without_overlaps(attachments: Sequence[Attachment], topology: Topology) -> tuple[Attachment, ...]:
    """Fail the attachments of a policy if a targeted route shares requests with one that it does not target.

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
    targeted = targets | possible
    failure = next(_overlaps(sorted(targets), targeted, topology), None)
    if failure is None:
        return tuple(attachments)
    return tuple(
        replace(attachment, state=failure.state, message=failure.message, competes=False, fails_requests=False)
        if attachment.state in _LOOKED_AT
        else attachment
        for attachment in attachments
    )


def _overlaps(
    targets: Iterable[ObjectRef], targeted: Collection[ObjectRef], topology: Topology
) -> Iterator[NotAttached]:
    """Yield a failure for each request that a target shares, or else may share, with a route that is no target."""
    shared = topology.shared_requests
    for route in targets:
        for requests in shared.requests_of(route):
            for rival in shared.routes_taking(requests):
                if rival not in targeted:
                    message = f"{_pair_phrase(route, rival)} take {_requests_phrase(requests)}"
                    yield NotAttached("target overlaps", message)
    for route in targets:
        for rival, requests in shared.routes_that_may_share(route):
            if rival not in targeted:
                phrase = f"{_pair_phrase(route, rival)} take {_requests_phrase(requests)}"
                yield NotAttached("target unknown", f"whether {phrase} cannot be known yet")


def _pair_phrase(route: ObjectRef, rival: ObjectRef) -> str:
    return f"{route} and {rival}, which the policy does not target, both"


def _requests_phrase(requests: Requests) -> str:
    port = "" if requests.port is None else f"port {requests.port} of "
    return f"requests for {requests.hostname}{requests.path} on {port}{requests.gateway}"


def named_attachments(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> Iterator[Attachment]:
    """Yield the attachments by what names a policy: by filters, if its kind has them, or as parameters."""
    if profile.filter_routes:
        yield from _by_filters(policy, profile, topology)
    if profile.attachment == "parameters":
        yield from _as_parameters(policy, profile, topology)


def unread_holders(policy: ObjectRef, profile: PolicyKindProfile, index: Index) -> Iterator[Attachment]:
    """Return an attachment of unknown target for each kind whose unread objects may name a policy."""
    for kind in sorted(profile.filter_routes):
        if index.presence(ObjectRef(kind, policy.namespace, "")) == "unknown":
            where = f"of namespace {policy.namespace}"
            message = f"no {kind.kind} {where} that was read names it in a filter, and another one may"
            declared = TargetReference("", kind.group, kind.kind, namespace=policy.namespace, way="filter")
            yield NotAttached("target unknown", message).attachment(policy, declared)
    for kind in sorted(PARAMETERS) if profile.attachment == "parameters" else ():
        namespace = policy.namespace if index.namespaced(kind) else ""
        if index.presence(ObjectRef(kind, namespace, "")) == "unknown":
            where = f" of namespace {namespace}" if namespace else ""
            message = f"no {kind.kind}{where} that was read names it as its parameters, and another one may"
            declared = TargetReference("", kind.group, kind.kind, namespace=namespace, way="parameters")
            yield NotAttached("target unknown", message).attachment(policy, declared)


def _as_parameters(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> Iterator[Attachment]:
    """Yield the attachments to the classes and the Gateways that name an object as their parameters."""
    for named in topology.relations.holders_of(policy.ref):
        holder, kind = named.holder, named.holder.group_kind
        declared = TargetReference(
            named.field, kind.group, kind.kind, holder.name, holder.namespace, named_by=holder, way="parameters"
        )
        elsewhere = why_not_managed(topology, holder, policy.ref.kind, profile.controllers)
        failure = (
            NotAttached("not managed", elsewhere)
            if elsewhere
            else policy_failure(policy, profile, topology.index, kind) or target_failure(holder, profile, topology)
        )
        yield _attachment(policy, NodeRef(holder), declared, failure)


def _by_filters(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> Iterator[Attachment]:
    """Yield the attachments by filters that name a policy, by kind and name of its route, then in the order of filters.

    A filter of a backendRef attaches what is no policy, but a filter itself, to that backend, for that rule's requests.
    """
    for named in topology.relations.filters_naming(policy.ref):
        route = named.route
        rule = NodeRef(route, topology.sections(route)[named.rule])
        backend = _backend(topology, named) if named.backend and profile.role == "filter" else None
        target, failure = backend or rule, _filter_not_attached(policy, profile, topology, named)
        if failure is None and named.backend and backend is None:
            requests = f"requests of {rule} to {named.backend}"
            message = f"it applies only to {requests}, and what it changes there is not computed"
            failure = NotAttached("not computed", message)
        obj = target.object
        declared = TargetReference(
            named.field,
            obj.group_kind.group,
            obj.group_kind.kind,
            obj.name,
            obj.namespace,
            target.section,
            named_by=route,
            filter_position=0 if named.backend and not backend else named.position + 1,
            way="backend filter" if named.backend else "filter",
            rule=rule if backend else None,
        )
        is_valid = failure is None or failure.state == "policy invalid"
        yield _attachment(policy, target if is_valid else rule, declared, failure)


def _backend(topology: Topology, named: RouteFilter) -> NodeRef | None:
    """Return the backend of the backendRef that a filter is of; None for one that stands for routes."""
    holder = named.field.rpartition(".filters[")[0]
    match = next((backend for backend in topology.backends(named.route) if backend.ref.field == holder), None)
    return match.node if match and match.routes is None else None


def _attachment(
    policy: Resource, target: NodeRef, declared: TargetReference, failure: NotAttached | None
) -> Attachment:
    if failure:
        return replace(failure, competes=False).attachment(policy.ref, declared, target)
    return Attachment(policy=policy.ref, target=target, declared=declared, state="attached")


def _filter_not_attached(
    policy: Resource, profile: PolicyKindProfile, topology: Topology, named: RouteFilter
) -> NotAttached | None:
    kind = policy.ref.kind
    if named.route.group_kind not in profile.filter_routes:
        able = " or ".join(with_article(route.kind) for route in sorted(profile.filter_routes))
        message = f"a filter can name {with_article(kind)} only in a rule of {able}"
        return NotAttached("filter unsupported", message)
    if named.backend and not profile.backend_filters:
        message = f"a filter of a backendRef cannot name {with_article(kind)}, only one of the rule itself can"
        return NotAttached("filter unsupported", message)
    elsewhere = why_not_managed(topology, named.route, kind, profile.controllers)
    if elsewhere:
        return NotAttached("not managed", elsewhere)
    failure = policy_failure(policy, profile, topology.index, named.route.group_kind)
    return failure or target_failure(named.route, profile, topology)
