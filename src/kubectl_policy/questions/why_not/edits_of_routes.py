"""Edits by which requests come from a Gateway to a route, and from a route to a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import FieldPath, items_at, mapping_at, strings_at, text_at
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.refs import ObjectRef
from kubectl_policy.questions.why_not.edit import GONE, altered
from kubectl_policy.questions.why_not.edits_of_references import granted, relabelled
from kubectl_policy.topology.gateway.namespaces import NAME_LABEL
from kubectl_policy.topology.hierarchy import WITH_LISTENERS
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.questions.why_not.edit import Case, Edit, Gone
    from kubectl_policy.questions.why_not.reasons import Reason

_MOST_LISTENERS: Final = 4
_MOST_GATEWAYS: Final = 4


def name_parent(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route names a parent: what the policy is attached to, or a Gateway."""
    kinds = (node for node in reason.related[1:] if node.object.group_kind in WITH_LISTENERS)
    wanted = [node for node in kinds for _ in case.read(node.object)]
    for route in case.read(reason.related[0].object):
        end = len(items_at(route.raw, "spec.parentRefs"))
        for node in wanted or _gateways(case):
            reference = _parent_ref(node, route.ref.namespace)
            yield from case.change(altered(route, (FieldPath(("spec", "parentRefs", end)), reference)))


def fix_parent(case: Case, reason: Reason) -> Iterator[Edit]:
    """The reference to the parent names another Gateway."""
    path = FieldPath.parse(reason.field).parent
    for owner in case.read(reason.object):
        for node in _gateways(case):
            name: tuple[FieldPath, Json | Gone] = (path / "name", node.object.name)
            away = node.object.namespace != owner.ref.namespace
            namespace: tuple[FieldPath, Json | Gone] = (path / "namespace", node.object.namespace if away else GONE)
            yield from case.change(altered(owner, name, namespace))


def _gateways(case: Case) -> list[NodeRef]:
    return [NodeRef(gateway.ref) for gateway in case.analysis.index.of_kind(GATEWAY)[:_MOST_GATEWAYS]]


def _parent_ref(node: NodeRef, home: str) -> Json:
    """A parentRef without what its type says by default."""
    obj = node.object
    kind = {} if obj.group_kind == GATEWAY else {"group": obj.group_kind.group, "kind": obj.kind}
    namespace = {} if obj.namespace == home else {"namespace": obj.namespace}
    section = {"sectionName": node.section} if node.section else {}
    return {**kind, "name": obj.name, **namespace, **section}


def choose_listener(case: Case, reason: Reason) -> Iterator[Edit]:
    """The parentRef names another listener, or port, or none."""
    path = FieldPath(FieldPath.parse(reason.field).steps[:3])
    listeners = case.analysis.topology.relations.listeners(reason.related[-1].object)[:_MOST_LISTENERS]
    others: list[tuple[str, Json | Gone]] = [
        *(("sectionName", listener.node.section) for listener in listeners),
        *(("port", listener.port) for listener in listeners),
        ("sectionName", GONE),
        ("port", GONE),
    ]
    for route in case.read(reason.related[0].object):
        for field, value in others:
            if (path / field).get(route.raw) is not None:
                yield from case.change(altered(route, (path / field, value)))


def admit_listener_set(case: Case, reason: Reason) -> Iterator[Edit]:
    """The Gateway lets in ListenerSets of that namespace, or of all."""
    guest = reason.related[-1].object.namespace
    for gateway in case.read(reason.object):
        yield from _opened(case, gateway, FieldPath.parse("spec.allowedListeners.namespaces"), guest)


def open_namespaces(case: Case, reason: Reason) -> Iterator[Edit]:
    """The listener takes routes of that namespace, or of all; or the Namespace gets the labels that it selects."""
    guest, path = reason.related[0].object.namespace, FieldPath.parse(reason.field)
    for owner in case.read(reason.object):
        namespaces = path.get(owner.raw)
        if text_at(namespaces, "from") == "Selector":
            for namespace in case.read(ObjectRef(NAMESPACE, "", guest)):
                yield from relabelled(case, namespace, mapping_at(namespaces, "selector"))
        yield from _opened(case, owner, path, guest)


def _opened(case: Case, owner: Resource, path: FieldPath, guest: str) -> Iterator[Edit]:
    """An object that lets in what is in one namespace, or in all of them."""
    by_name: Json = {"from": "Selector", "selector": {"matchLabels": {NAME_LABEL: guest}}}
    same: Json = {"from": "Same"} if guest == owner.ref.namespace else by_name
    for value in (same, {"from": "All"}):
        yield from case.change(altered(owner, (path, value)))


def allow_kind(case: Case, reason: Reason) -> Iterator[Edit]:
    """The listener takes routes of the kind."""
    path, kind = FieldPath.parse(reason.field), reason.related[0].object.group_kind
    for owner in case.read(reason.object):
        end = len(items_at({"kinds": path.get(owner.raw)}, "kinds"))
        yield from case.change(altered(owner, (path / end, {"group": kind.group, "kind": kind.kind})))


def add_hostname(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route has a hostname that the listener has, under its own first name where that is a wildcard."""
    node = reason.related[-1]
    hostnames = [one.hostname for one in case.analysis.topology.relations.listeners(node.object) if one.node == node]
    for route in case.read(reason.related[0].object):
        own = strings_at(route.raw, "spec.hostnames")
        end = len(items_at(route.raw, "spec.hostnames"))
        for hostname in filter(None, hostnames):
            first = [f"{own[0].split('.')[0]}{hostname[1:]}"] if hostname.startswith("*.") and own else []
            for name in (*first, hostname):
                yield from case.change(altered(route, (FieldPath(("spec", "hostnames", end)), name)))


def narrow_hostname(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route has a hostname inside that of a listener on its paths."""
    nodes = dict.fromkeys(node for path in case.paths for node in path if node.object.group_kind in WITH_LISTENERS)
    for node in nodes:
        yield from add_hostname(case, reason._replace(related=(NodeRef(reason.object), node)))


def grant_backend(case: Case, reason: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the route name the backend in another namespace."""
    yield granted(case, reason.related[0].object, reason.related[1].object)


def choose_class(case: Case, reason: Reason) -> Iterator[Edit]:
    """The Gateway is of a class that one of the kind's controllers has."""
    index = case.analysis.index
    named = [reason.object, *(node.object for node in reason.related)]
    parents = [parent.object for obj in named for parent in parent_refs(index, obj, index.raw(obj))]
    gateways = dict.fromkeys(obj for obj in (*named, *parents) if obj.group_kind == GATEWAY)
    classes = [
        found.ref.name
        for found in index.of_kind(GATEWAY_CLASS)
        if text_at(found.raw, "spec.controllerName") in case.profile.controllers
    ]
    for gateway in (found for ref in gateways for found in case.read(ref)):
        for name in classes[:_MOST_GATEWAYS]:
            yield from case.change(altered(gateway, (FieldPath.parse("spec.gatewayClassName"), name)))


def enable_kind(case: Case, _: Reason) -> Iterator[Edit]:
    """The parameters of Gateways have the field that lets the kind be used, where it is one that is true or false."""
    index = case.analysis.index
    for enabling in filter(None, [case.profile.enabled_by]):
        path = FieldPath.parse(f"spec.{enabling.field}")
        schema = case.schema_at(enabling.group_kind, path)
        for found in index.of_kind(enabling.group_kind):
            if text_at(schema, "type") == "boolean" or path.get(found.raw) is False:
                yield from case.change(altered(found, (path, True)))
