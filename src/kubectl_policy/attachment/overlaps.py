"""Policies on routes that must not share their requests with other routes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import mappings_at, strings_at, text_at
from kubectl_policy.topology.hostnames import intersection
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.attachment.attachment import Attachment
    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.topology import Topology


# What is not enabled on its Gateways is found out later.
_LOOKED_AT: Final = frozenset({"attached", "not enabled"})


class Requests(NamedTuple):
    """Requests that a route takes, without regard to how it compares their path, their method and their headers."""

    gateway: ObjectRef
    port: int | None
    hostname: str
    path: str


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


def _shared(targets: Sequence[ObjectRef], own: Collection[ObjectRef], topology: Topology) -> Iterator[str]:
    """What routes among the targets share with routes that are not the policy's own, in words."""
    for route in targets:
        requests = dict.fromkeys(_requests(route, topology))
        for other in _rivals(requests, topology):
            if other not in own:
                for shared in (found for found in _requests(other, topology) if found in requests):
                    yield f"{route} and {other}, which the policy does not target, both take {_words(shared)}"


def _words(shared: Requests) -> str:
    port = "" if shared.port is None else f"port {shared.port} of "
    return f"requests for {shared.hostname}{shared.path} on {port}{shared.gateway}"


def _rivals(requests: Iterable[Requests], topology: Topology) -> Iterator[ObjectRef]:
    """The other routes on the Gateways of some requests."""
    for gateway in dict.fromkeys(found.gateway for found in requests):
        for owner in (gateway, *topology.relations.listener_sets(gateway)):
            for listener in topology.relations.listeners(owner):
                yield from topology.relations.attached_to(listener.node)


def _requests(route: ObjectRef, topology: Topology) -> Iterator[Requests]:
    raw = topology.index.raw(route)
    paths = [path for rule in mappings_at(raw, "spec.rules") for path in _paths(route, rule)]
    for binding in topology.bindings(route):
        listeners = topology.relations.listeners(binding.parent) if binding.state == "attached" else ()
        for listener in listeners:
            if listener.node == binding.listener and listener.gateway:
                for hostname in strings_at(raw, "spec.hostnames") or [""]:
                    common = intersection(hostname, listener.hostname)
                    if common is not None:
                        yield from (Requests(listener.gateway, listener.port, common, path) for path in paths)


def _paths(route: ObjectRef, rule: Json) -> Iterator[str]:
    """The paths of a rule: a GRPCRoute's are those of its services and methods; without any it is every path."""
    matches = mappings_at(rule, "matches") or [{}]
    for match in matches:
        if route.group_kind == HTTP_ROUTE:
            yield text_at(match, "path.value", "/")
        elif route.group_kind == GRPC_ROUTE:
            service, method = text_at(match, "method.service"), text_at(match, "method.method")
            yield f"/{service}/{method}" if service or method else "/"
