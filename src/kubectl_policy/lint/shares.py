"""How the rules of routes share their requests among backends, and what of these is lost with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mappings_at, value_at
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Topology
    from kubectl_policy.topology.backends import Backend


def sharing(backends: Sequence[Backend]) -> Mapping[int, Sequence[Backend]]:
    """The backends among which each rule of a route shares its requests, by the position of the rule."""
    rules: dict[int, list[Backend]] = {}
    for each in backends:
        if each.ref.forwards and each.routes is None:
            rules.setdefault(each.ref.rule, []).append(each)
    return rules


def lost_with(topology: Topology, route: ObjectRef, backend: Backend, status: str = "500") -> str:
    """What becomes of the requests that a rule would send to a backend that cannot take them, in words.

    They follow a semicolon; none if that is not known, or the rule answers requests itself.
    """
    if is_mirror(backend):
        return "; nothing is mirrored"
    if not backend.ref.forwards:
        return "; requests to this rule are refused, as nothing can let them in"
    filters = mappings_at(topology.index.raw(route), f"spec.rules[{backend.ref.rule}].filters")
    if backend.routes is not None or any(value_at(each, "requestRedirect") is not None for each in filters):
        return ""
    what, fail = "connections", "fail"
    if route.group_kind in (HTTP_ROUTE, GRPC_ROUTE):
        what, fail = "requests", f"get status {'UNAVAILABLE' if route.group_kind == GRPC_ROUTE else status}"
    own, whole = backend.ref.weight, sum(max(each.ref.weight, 0) for each in _beside(topology, route, backend))
    if own <= 0:
        return f"; none of the {what} fail, as its weight is 0"
    share = "" if own == whole else f"{max(round(100 * own / whole), 1)}% of the "
    return f"; {share}{what} to this rule {fail}"


def is_mirror(backend: Backend) -> bool:
    """Whether requests are only mirrored to a backend."""
    return ".requestMirror." in backend.ref.field


def _beside(topology: Topology, route: ObjectRef, backend: Backend) -> Sequence[Backend]:
    return sharing(topology.backends(route)).get(backend.ref.rule, ())
