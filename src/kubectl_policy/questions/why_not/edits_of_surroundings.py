"""Edits of what lets a policy have an effect: labels, ReferenceGrants, filters and parents of routes, listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.attachment.validity import named_needs
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Origin
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.fields import FieldPath, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_CLASS, LISTENER_HOLDERS, NAMESPACE, REFERENCE_GRANT
from kubectl_policy.model.snapshot import Resource
from kubectl_policy.questions.why_not.edits import Edit, edited
from kubectl_policy.questions.why_not.labels import relabelled
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.why_not.no_effect import Case

_LONGEST_NAME: Final = 253
_MOST_LISTENERS: Final = 4
_MOST_GATEWAYS: Final = 4
_PARENTS: Final = FieldPath(("spec", "parentRefs"))
_HOSTNAMES: Final = FieldPath(("spec", "hostnames"))


def label_it(case: Case, reason: Reason) -> Iterator[Edit]:
    """The node's object gets the labels that a selector of the policy asks for."""
    declared = (attachment.declared for attachment in case.attachments)
    selector = next((reference.selector for reference in declared if reference.field == reason.field), None)
    for resource in case.read(case.target.object):
        yield from relabelled(resource, selector or {})


def grant_target(case: Case, reason: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the policy name its target in another namespace."""
    yield from (_granted(case, case.policy.ref, node.object) for node in reason.related)


def grant_need(case: Case, _: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the policy name what it needs in another namespace."""
    index, policy = case.analysis.index, case.policy
    for need in named_needs(index, index.with_defaults(policy), case.profile.every_need):
        if not isinstance(need, NotAttached) and need.ref.namespace not in {"", need.owner.namespace}:
            yield _granted(case, need.owner, need.ref)


def grant_backend(case: Case, reason: Reason) -> Iterator[Edit]:
    """A ReferenceGrant lets the route name the backend in another namespace."""
    yield _granted(case, reason.related[0].object, reason.related[1].object)


def give_weight(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route sends requests to the backend as to any other one."""
    for route in case.read(reason.object):
        yield from edited(route, (FieldPath.parse(reason.field), 1))


def _granted(case: Case, source: ObjectRef, target: ObjectRef) -> Edit:
    """A new ReferenceGrant that lets objects of a kind and namespace refer to one object."""
    index = case.analysis.index
    grants = index.of_kind(REFERENCE_GRANT)
    version = text_at(grants[0].raw, "apiVersion") if grants else f"{REFERENCE_GRANT.group}/v1beta1"
    stem = f"{target.name}-for-{source.namespace}"[: _LONGEST_NAME - 4]
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(grants) + 2))
    refs = (ObjectRef(REFERENCE_GRANT, target.namespace, name) for name in names)
    ref = next(ref for ref in refs if index.get(ref) is None)
    raw: dict[str, Json] = {
        "apiVersion": version,
        "kind": REFERENCE_GRANT.kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {
            "from": [{**_kind(source.group_kind), "namespace": source.namespace}],
            "to": [{**_kind(target.group_kind), "name": target.name}],
        },
    }
    return Edit(None, Resource(ref, Origin(""), raw))


def _kind(kind: GroupKind) -> dict[str, Json]:
    return {"group": kind.group, "kind": kind.kind}


def name_in_filter(case: Case, _: Reason) -> Iterator[Edit]:
    """A rule on the paths through the node names the policy in a filter."""
    ref = case.policy.ref
    reference: Json = {"type": "ExtensionRef", "extensionRef": {**_kind(ref.group_kind), "name": ref.name}}
    for node in dict.fromkeys(node for path in case.effect.paths for node in path if node.section):
        if node.object.group_kind in case.profile.filter_routes and node.object.namespace == ref.namespace:
            rule = case.analysis.topology.sections(node.object).index(node.section)
            for route in case.read(node.object):
                yield from _appended(route, FieldPath(("spec", "rules", rule, "filters")), reference)


def _appended(resource: Resource, path: FieldPath, item: Json) -> Iterator[Edit]:
    """An object with one more item in a list."""
    items = path.get(resource.raw)
    return edited(resource, (path / (len(items) if isinstance(items, list) else 0), item))


def name_parent(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route names a parent: what the policy is attached to, or a Gateway."""
    wanted = [
        node
        for node in reason.related[1:]
        if node.object.group_kind in LISTENER_HOLDERS and case.analysis.index.get(node.object)
    ]
    for route in case.read(reason.related[0].object):
        for node in wanted or _gateways(case):
            yield from _appended(route, _PARENTS, _parent_ref(node, route.ref.namespace))


def fix_parent(case: Case, reason: Reason) -> Iterator[Edit]:
    """The reference to the parent names another Gateway."""
    path = FieldPath.parse(reason.field).parent
    for owner in case.read(reason.object):
        for node in _gateways(case):
            name, namespace = (path / "name", node.object.name), (path / "namespace", node.object.namespace)
            if node.object.namespace == owner.ref.namespace:
                yield from edited(owner, name, without=[path / "namespace"])
            else:
                yield from edited(owner, name, namespace)


def _gateways(case: Case) -> list[NodeRef]:
    return [NodeRef(gateway.ref) for gateway in case.analysis.index.of_kind(GATEWAY)[:_MOST_GATEWAYS]]


def _parent_ref(node: NodeRef, home: str) -> Json:
    """A parentRef without what its type says by default."""
    obj = node.object
    kind = {} if obj.group_kind == GATEWAY else _kind(obj.group_kind)
    namespace = {} if obj.namespace == home else {"namespace": obj.namespace}
    section = {"sectionName": node.section} if node.section else {}
    return {**kind, "name": obj.name, **namespace, **section}


def choose_listener(case: Case, reason: Reason) -> Iterator[Edit]:
    """The parentRef names another listener, first one of a similar name, or port, or none."""
    from difflib import get_close_matches  # noqa: PLC0415 (few questions need it)

    steps = FieldPath.parse(reason.field).steps
    parent = FieldPath(steps[:3])
    every = case.analysis.topology.gateways.listeners(reason.related[-1].object)
    for route in case.read(reason.related[0].object):
        sections = [listener.node.section for listener in every]
        meant = get_close_matches(text_at(parent.get(route.raw), "sectionName"), sections, 1)
        listeners = sorted(every, key=lambda listener: listener.node.section not in meant)[:_MOST_LISTENERS]
        has = {field: (parent / field).get(route.raw) is not None for field in ("sectionName", "port")}
        if has["sectionName"]:
            for listener in listeners:
                yield from edited(route, (parent / "sectionName", listener.node.section))
        if has["port"]:
            for listener in listeners:
                yield from edited(route, (parent / "port", listener.port))
        for field in (field for field in has if has[field]):
            yield from edited(route, without=[parent / field])


def admit_listener_set(case: Case, reason: Reason) -> Iterator[Edit]:
    """The Gateway lets in ListenerSets of that namespace, too."""
    path = FieldPath(("spec", "allowedListeners", "namespaces"))
    for gateway in case.read(reason.object):
        yield from _opened(case, gateway, path, reason.related[-1].object.namespace, "None")


def open_namespaces(case: Case, reason: Reason) -> Iterator[Edit]:
    """The listener takes routes of that namespace, too; or the Namespace gets the labels that it selects."""
    guest, path = reason.related[0].object.namespace, FieldPath.parse(reason.field)
    for owner in case.read(reason.object):
        yield from _opened(case, owner, path, guest, "Same")


def _opened(case: Case, owner: Resource, path: FieldPath, guest: str, default: str) -> Iterator[Edit]:
    """An object that lets in what is in one namespace beside what it lets in already, or a Namespace that it selects.

    All namespaces are let in only where that is the one way to have this one among them.
    """
    namespaces, home = path.get(owner.raw), owner.ref.namespace
    source, selector = text_at(namespaces, "from", default), mapping_at(namespaces, "selector")
    selected = _selected_names(selector) if source == "Selector" else [home] if source == "Same" else []
    if source == "Selector" and not selected:
        read = case.read(ObjectRef(NAMESPACE, "", guest))
        labelled = [edit for namespace in read for edit in relabelled(namespace, selector)]
        yield from labelled or edited(owner, (path, {"from": "All"}))
    elif not selected and guest == home:
        yield from edited(owner, (path, {"from": "Same"}))
    else:
        by_name: Json = {"matchExpressions": [{"key": NAME_LABEL, "operator": "In", "values": [*selected, guest]}]}
        only: Json = {"matchLabels": {NAME_LABEL: guest}}
        yield from edited(owner, (path, {"from": "Selector", "selector": by_name if selected else only}))


def _selected_names(selector: Mapping[str, Json]) -> list[str]:
    """The names of the namespaces that a selector selects, if it goes by their names alone."""
    labels, expressions = mapping_at(selector, "matchLabels"), mappings_at(selector, "matchExpressions")
    if len(labels) + len(expressions) != 1:
        return []
    if labels:
        return [name for key, name in labels.items() if key == NAME_LABEL and isinstance(name, str)]
    by_name = (text_at(expressions[0], "key"), text_at(expressions[0], "operator")) == (NAME_LABEL, "In")
    return list(strings_at(expressions[0], "values")) if by_name else []


def allow_kind(case: Case, reason: Reason) -> Iterator[Edit]:
    """The listener takes routes of the kind."""
    for owner in case.read(reason.object):
        yield from _appended(owner, FieldPath.parse(reason.field), _kind(reason.related[0].object.group_kind))


def add_hostname(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route has a hostname that the listener has, under its own first name where that is a wildcard."""
    yield from _with_hostname_of(case, reason.related[-1], reason.related[0].object)


def narrow_hostname(case: Case, reason: Reason) -> Iterator[Edit]:
    """The route has a hostname inside that of a listener on its paths."""
    nodes = (node for path in case.effect.paths for node in path if node.object.group_kind in LISTENER_HOLDERS)
    for node in dict.fromkeys(nodes):
        yield from _with_hostname_of(case, node, reason.object)


def _with_hostname_of(case: Case, node: NodeRef, ref: ObjectRef) -> Iterator[Edit]:
    listener = case.analysis.topology.gateways.listener(node)
    hostname = listener.hostname if listener else ""
    for route in case.read(ref) if hostname else ():
        hostnames = strings_at(route.raw, "spec.hostnames")
        if hostname.startswith("*.") and hostnames:
            yield from _appended(route, _HOSTNAMES, f"{hostnames[0].split('.')[0]}{hostname[1:]}")
        yield from _appended(route, _HOSTNAMES, hostname)


def choose_class(case: Case, reason: Reason) -> Iterator[Edit]:
    """The Gateway is of a class that one of the kind's controllers has."""
    index = case.analysis.index
    named = [reason.object, *(node.object for node in reason.related)]
    parents = [parent.object for obj in named for parent in parent_refs(index, obj)]
    gateways = dict.fromkeys(obj for obj in (*named, *parents) if obj.group_kind == GATEWAY)
    classes = [
        resource.ref.name
        for resource in index.of_kind(GATEWAY_CLASS)
        if text_at(resource.raw, "spec.controllerName") in case.profile.controllers
    ]
    for gateway in case.read(*gateways):
        for name in classes[:_MOST_GATEWAYS]:
            yield from edited(gateway, (FieldPath(("spec", "gatewayClassName")), name))


def enable_kind(case: Case, _: Reason) -> Iterator[Edit]:
    """The parameters of Gateways have the field that lets the kind be used, where it is one that is true or false."""
    enabling = case.profile.enabled_by
    assert enabling  # noqa: S101 (else the kind would not lack it)
    path = FieldPath.parse(f"spec.{enabling.field}")
    is_boolean = text_at(case.schema_at(enabling.group_kind, path), "type") == "boolean"
    for resource in case.analysis.index.of_kind(enabling.group_kind):
        if is_boolean or path.get(resource.raw) is False:
            yield from edited(resource, (path, True))
