"""Edits by which requests come from a Gateway to a route, and from a route to a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import items_at, mapping_at, strings_at, text_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.refs import ObjectRef
from kubectl_policy.questions.editing import GONE, altered, steps
from kubectl_policy.questions.edits_of_references import granted, relabelled
from kubectl_policy.topology.namespaces import NAME_LABEL
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, parent_refs, port_names
from kubectl_policy.topology.tiers import WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.edit import Case, Edit
    from kubectl_policy.questions.editing import Steps
    from kubectl_policy.questions.reason import Reason

_MOST_LISTENERS: Final = 4
_MOST_GATEWAYS: Final = 4


def _route(case: Case, reason: Reason) -> Resource | None:
    return case.analysis.index.get(reason.related[0].object)


def name_parent(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route names a parent: what the policy is attached to, or a Gateway."""
    route = _route(case, reason)
    wanted = [node for node in reason.related[1:] if node.object.group_kind in WITH_LISTENERS]
    gateways = [NodeRef(gateway.ref) for gateway in case.analysis.index.of_kind(GATEWAY)[:_MOST_GATEWAYS]]
    for node in wanted or gateways if route else ():
        parent: dict[str, Json] = {"name": node.object.name}
        if node.object.group_kind != GATEWAY:
            parent = {"group": node.object.group_kind.group, "kind": node.object.kind, **parent}
        if node.object.namespace != route.ref.namespace:
            parent["namespace"] = node.object.namespace
        if node.section:
            parent["sectionName"] = node.section
        yield from case.change(
            altered(route, (("spec", "parentRefs", len(items_at(route.raw, "spec.parentRefs"))), parent))
        )


def choose_listener(case: Case, reason: Reason) -> Iterator[Edit]:
    """The parentRef names another listener, or port, or none."""
    route, path = _route(case, reason), steps(reason.field)[:3]
    listeners = case.analysis.topology.relations.listeners(reason.related[-1].object)
    for alterations in (
        *(((("sectionName", listener.node.section)),) for listener in listeners[:_MOST_LISTENERS]),
        *(((("port", listener.port)),) for listener in listeners[:_MOST_LISTENERS]),
        ((("sectionName", GONE)),),
        ((("port", GONE)),),
    ):
        if route and all(
            key in mapping_at({"at": items_at(route.raw, "spec.parentRefs")[path[2]]}, "at") for key, _ in alterations
        ):
            yield from case.change(altered(route, *(((*path, key), value) for key, value in alterations)))


def admit_listener_set(case: Case, reason: Reason) -> Iterator[Edit]:
    """The Gateway lets in ListenerSets of that namespace, or of all."""
    gateway = case.analysis.index.get(reason.object)
    guest = reason.related[-1].object.namespace
    if gateway:
        yield from _opened(case, gateway, ("spec", "allowedListeners", "namespaces"), guest)


def open_namespaces(case: Case, reason: Reason) -> Iterator[Edit]:
    """The listener takes routes of that namespace, or of all; or the Namespace gets the labels that it selects."""
    owner = case.analysis.index.get(reason.object)
    guest = reason.related[0].object.namespace
    namespace = case.analysis.index.get(ObjectRef(NAMESPACE, "", guest))
    path = steps(reason.field)
    if owner:
        listener = _listener_raw(owner, path)
        if namespace and text_at(listener, "allowedRoutes.namespaces.from") == "Selector":
            yield from relabelled(case, namespace, mapping_at(listener, "allowedRoutes.namespaces.selector"))
        yield from _opened(case, owner, path, guest)


def _listener_raw(owner: Resource, path: Steps) -> Json:
    place = path[2]
    listeners = items_at(owner.raw, "spec.listeners")
    return listeners[place] if isinstance(place, int) else None


def _opened(case: Case, owner: Resource, path: Steps, guest: str) -> Iterator[Edit]:
    """An object that lets in what is in one namespace, or in all of them."""
    by_name: Json = {"from": "Selector", "selector": {"matchLabels": {NAME_LABEL: guest}}}
    same = {"from": "Same"} if guest == owner.ref.namespace else by_name
    for value in (same, {"from": "All"}):
        yield from case.change(altered(owner, (path, value)))


def take_kind(case: Case, reason: Reason) -> Iterator[Edit]:
    """The listener takes routes of the kind."""
    owner, path, kind = case.analysis.index.get(reason.object), steps(reason.field), reason.related[0].object.group_kind
    if owner:
        end = len(items_at(_listener_raw(owner, path), "allowedRoutes.kinds"))
        yield from case.change(altered(owner, ((*path, end), {"group": kind.group, "kind": kind.kind})))


def add_hostname(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route has a hostname that the listener has, under its own first name where that is a wildcard."""
    route, node = _route(case, reason), reason.related[-1]
    listeners = case.analysis.topology.relations.listeners(node.object)
    hostname = next((listener.hostname for listener in listeners if listener.node == node), "")
    hostnames = strings_at(route.raw, "spec.hostnames") if route else []
    if route and hostname:
        names = [f"{hostnames[0].split('.')[0]}{hostname[1:]}"] if hostname.startswith("*.") and hostnames else []
        end = len(items_at(route.raw, "spec.hostnames"))
        for name in (*names, hostname):
            yield from case.change(altered(route, (("spec", "hostnames", end), name)))


def narrow_hostname(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route has a hostname inside that of a listener on its paths."""
    route = case.analysis.index.get(reason.object)
    nodes = dict.fromkeys(node for path in case.paths for node in path if node.object.group_kind in WITH_LISTENERS)
    for node in nodes if route else ():
        yield from add_hostname(case, reason._replace(related=(NodeRef(reason.object), node)))


def grant_backend(case: Case, reason: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the route name the backend in another namespace."""
    yield granted(case, reason.related[0].object, reason.related[1].object)


def mend_port(case: Case, reason: Reason) -> Iterator[Edit]:
    """The backendRef names a port that the backend has."""
    route = _route(case, reason)
    for port in port_names(case.analysis.index.raw(reason.related[1].object)) if route else ():
        yield from case.change(altered(route, ((*steps(reason.field), "port"), port)))


def choose_class(case: Case, reason: Reason) -> Iterator[Edit]:
    """The Gateway is of a class that one of the kind's controllers has."""
    index = case.analysis.index
    named = [reason.object, *(node.object for node in reason.related)]
    routes = [parent.object for obj in named for parent in parent_refs(index, obj, index.raw(obj))]
    gateways = dict.fromkeys(obj for obj in (*named, *routes) if obj.group_kind == GATEWAY)
    classes = [
        found.ref.name
        for found in index.of_kind(GATEWAY_CLASS)
        if text_at(found.raw, "spec.controllerName") in case.profile.controllers
    ]
    for gateway in filter(None, map(index.get, gateways)):
        for name in classes[:_MOST_GATEWAYS]:
            yield from case.change(altered(gateway, (("spec", "gatewayClassName"), name)))


def switch_on(case: Case, _: Reason) -> Iterator[Edit]:
    """The parameters of Gateways have the field that lets the kind be used, where it is one that is true or false."""
    switch, index = case.profile.enabled_by, case.analysis.index
    if switch:
        schema: Json = index.defaults.schema_of(switch.group_kind)
        for key in ("spec", *switch.field.split(".")):
            schema = mapping_at(mapping_at(schema, "properties"), key)
        for found in index.of_kind(switch.group_kind):
            path = steps(f"spec.{switch.field}")
            if text_at(schema, "type") == "boolean" or _is_false(found, path):
                yield from case.change(altered(found, (path, True)))


def _is_false(resource: Resource, path: Steps) -> bool:
    value: Json = resource.raw
    for key in path:
        value = mapping_at({"at": value}, "at").get(str(key))
    return value is False
