"""From a policy to its attachments: by its references, by what names it, and none where requests are shared."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.named import named_attachments, unread_holders
from kubectl_policy.attachment.references import FollowedReference, target_references

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.attachment.attachment import Attachment
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.gateway.hostnames import Requests


def attach(policy: Resource, profile: PolicyKindProfile, topology: Topology) -> tuple[Attachment, ...]:
    """Every attachment of a policy: by its references, in the order in which these stand, then by what names it."""
    by_references = tuple(
        attachment
        for reference in target_references(policy, profile)
        for attachment in FollowedReference(policy, profile, topology, reference).attachments()
    )
    named = tuple(named_attachments(policy, profile, topology))
    attachments = (*by_references, *named) or tuple(unread_holders(policy.ref, profile, topology.index))
    return without_overlaps(attachments, topology) if profile.overlap == "refused" else attachments


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
        replace(attachment, state=failure.state, message=failure.message, competes=False, fails_requests=False)
        if attachment.state in _LOOKED_AT
        else attachment
        for attachment in attachments
    )


def _shared(targets: Iterable[ObjectRef], own: Collection[ObjectRef], topology: Topology) -> Iterator[str]:
    """What routes among the targets share with routes that are not the policy's own, in words."""
    for route in targets:
        for requests in topology.shared_requests.requests_of(route):
            for other in topology.shared_requests.routes_taking(requests):
                if other not in own:
                    yield f"{_both(route, other)} take {_in_words(requests)}"


def _perhaps_shared(targets: Iterable[ObjectRef], own: Collection[ObjectRef], topology: Topology) -> Iterator[str]:
    """What they may share with such routes, as far as is known, in words."""
    for route in targets:
        for other, requests in topology.shared_requests.routes_that_may_share(route):
            if other not in own:
                yield f"whether {_both(route, other)} take {_in_words(requests)} cannot be known yet"


def _both(route: ObjectRef, other: ObjectRef) -> str:
    return f"{route} and {other}, which the policy does not target, both"


def _in_words(requests: Requests) -> str:
    port = "" if requests.port is None else f"port {requests.port} of "
    return f"requests for {requests.hostname}{requests.path} on {port}{requests.gateway}"
