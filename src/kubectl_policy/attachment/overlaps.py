"""Policies on routes that must not share their requests with other routes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.attachment.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.requests import Requests


# What is not enabled on its Gateways is found out later.
_LOOKED_AT: Final = frozenset({"attached", "not enabled"})


def without_overlaps(attachments: Sequence[Attachment], topology: Topology) -> tuple[Attachment, ...]:
    """The attachments of a policy; none holds if a route that it targets shares requests with one that it does not.

    What it may target, as far as is known, is not known to be another's.
    """
    targets = {found.target.object for found in attachments if found.target and found.state in _LOOKED_AT}
    possible = {found.target.object for found in attachments if found.target and found.state == "target unknown"}
    message = next(_shared(sorted(targets), targets | possible, topology), "")
    if not message:
        return tuple(attachments)
    return tuple(
        replace(found, state="target overlaps", message=message, competes=False) if found.state in _LOOKED_AT else found
        for found in attachments
    )


def _shared(targets: Iterable[ObjectRef], own: Collection[ObjectRef], topology: Topology) -> Iterator[str]:
    """What routes among the targets share with routes that are not the policy's own, in words."""
    for route in targets:
        for requests in topology.relations.requests_of(route):
            for other in topology.relations.routes_taking(requests):
                if other not in own:
                    yield f"{route} and {other}, which the policy does not target, both take {_words(requests)}"


def _words(shared: Requests) -> str:
    port = "" if shared.port is None else f"port {shared.port} of "
    return f"requests for {shared.hostname}{shared.path} on {port}{shared.gateway}"
