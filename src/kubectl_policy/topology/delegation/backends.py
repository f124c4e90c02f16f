"""What the references of a route come to by which it delegates to routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.topology.backends import Backend
from kubectl_policy.topology.delegation.order import circle_words
from kubectl_policy.topology.grants import unseen
from kubectl_policy.topology.references import HTTP_ROUTE

if TYPE_CHECKING:
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.delegation.delegations import Delegations
    from kubectl_policy.topology.delegation.references import DelegatingRef


def delegating_backends(index: Index, delegations: Delegations, route: ObjectRef) -> dict[str, Backend]:
    """What each such reference of a route comes to, by its field; where several readings are possible, the best."""
    found: dict[str, Backend] = {}
    for ref in delegations.refs.get(route, ()):
        backend = _outcome(index, delegations, ref)
        known = found.get(ref.ref.field)
        if known is None or (known.state != "resolved" and backend.state == "resolved"):
            found[ref.ref.field] = backend
    return found


def _outcome(index: Index, delegations: Delegations, ref: DelegatingRef) -> Backend:
    found = Backend(ref.ref, NodeRef(ref.ref.object), routes=delegations.takers(ref), is_any=not ref.names_one)
    circle = delegations.order.circles.get(ref.place)
    if not ref.permitted:
        return _not_permitted(index, ref, found)
    if circle:
        message = f"a request would circle: {circle_words(circle)}"
        return found._replace(state="broken", reason="RefNotPermitted", message=message)
    if not (ref.children or ref.strangers or ref.presence == "missing"):
        return found._replace(state="unknown", message=_words(ref, "was not read", "was read"))
    if not (ref.children or ref.strangers):
        message = _words(ref, "does not exist", "exists")
    elif delegations.lacks(ref):
        message = (
            "some of its matches find no route"
            if found.routes
            else _words(ref, "takes none of its requests", "takes its requests")
        )
    else:
        return found
    return found._replace(state="broken", reason="BackendNotFound", message=message)


def _not_permitted(index: Index, ref: DelegatingRef, found: Backend) -> Backend:
    route, namespace = ref.parent.object, ref.ref.object.namespace
    if unseen(index, namespace):
        message = f"whether {route} may refer to routes there is unknown: not all ReferenceGrants were read"
        return found._replace(state="unknown", message=message)
    message = f"no ReferenceGrant in namespace {namespace} lets {route} refer to an HTTPRoute"
    return found._replace(state="broken", reason="RefNotPermitted", message=message)


def _words(ref: DelegatingRef, of_one: str, of_any: str) -> str:
    """What is so of the one route that a reference names, or of none of those that it stands for."""
    target = ref.ref.object
    if ref.names_one:
        return f"{target} {of_one}"
    by_label = ref.profile.by_label
    if target.group_kind == HTTP_ROUTE or by_label is None:
        return f"no HTTPRoute in namespace {target.namespace} {of_any}"
    where = "" if target.namespace == by_label.all_namespaces else f" in namespace {target.namespace}"
    return f"no HTTPRoute{where} with the label {by_label.label}={target.name} {of_any}"
