"""An independent reading of the semantics: brute force over a small world, as naive as the definitions are.

It enumerates every path and computes each answer from scratch; how policies merge is in `oracle_merging`. It shares no
code with what it judges but the names of things.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.property.world import Gateway, Kind, Policy, Rule, World

GATEWAY_API = "gateway.networking.k8s.io"
Path: TypeAlias = tuple[NodeRef, ...]


def obj(group: str, kind: str, namespace: str, name: str) -> NodeRef:
    """The node of an object."""
    return NodeRef(ObjectRef(GroupKind(group, kind), namespace, name))


def namespace_node(name: str) -> NodeRef:
    """The node of a Namespace."""
    return obj("", "Namespace", "", name)


def _at(node: NodeRef, section: str) -> NodeRef:
    return NodeRef(node.object, section)


def sections(world: World) -> dict[NodeRef, list[str]]:
    """Every object of the world with the names of its sections."""
    names_by_node: dict[NodeRef, list[str]] = {namespace_node(name): [] for name in world.namespaces}
    names_by_node |= {obj(GATEWAY_API, "GatewayClass", "", name): [] for name, _ in world.classes}
    for gateway in world.gateways:
        names_by_node[obj(GATEWAY_API, "Gateway", gateway.namespace, gateway.name)] = [
            name for name, _ in gateway.listeners
        ]
    for route in world.routes:
        names = [rule.name or f"rule[{number}]" for number, rule in enumerate(route.rules)]
        names_by_node[obj(GATEWAY_API, "HTTPRoute", route.namespace, route.name)] = names
    for service in world.services:
        names_by_node[obj("", "Service", service.namespace, service.name)] = [
            name or str(port) for name, port in service.ports
        ]
    return names_by_node


def full_paths(world: World) -> set[Path]:
    """Every path from a root down to where nothing is below, with the Namespaces."""
    heads = _heads(world)
    taken = {head for found in heads.values() for head in found}
    whole = {head for head in _listeners(world) if head not in taken}
    used_classes = {gateway.gateway_class for gateway in world.gateways}
    whole |= {(obj(GATEWAY_API, "GatewayClass", "", name),) for name, _ in world.classes if name not in used_classes}
    for route in world.routes:
        node = obj(GATEWAY_API, "HTTPRoute", route.namespace, route.name)
        for number, rule in enumerate(route.rules):
            end = (node, _at(node, rule.name or f"rule[{number}]"))
            tails = list(_tails(world, route.namespace, rule)) or [()]
            whole |= {(*head, *end, *tail) for head, tail in product(heads[node], tails)} or {end}
    reached = {node for path in whole for node in path}
    for service in world.services:
        node = obj("", "Service", service.namespace, service.name)
        if node not in reached:
            whole |= {(node, _at(node, name or str(port))) for name, port in service.ports}
    empty = [name for name in world.namespaces if not any(_lives_in(name, path) for path in whole)]
    return {with_namespaces(path) for path in whole} | {(namespace_node(name),) for name in empty}


def carries_traffic(path: Path) -> bool:
    """Whether traffic can come down a path: to a route it comes through a Gateway."""
    kinds = {node.kind for node in path}
    return "HTTPRoute" not in kinds or "Gateway" in kinds


def _listeners(world: World) -> dict[Path, tuple[Gateway, str, str]]:
    """The way down to each listener, with its Gateway, its name and where it takes routes from."""
    found: dict[Path, tuple[Gateway, str, str]] = {}
    for gateway in world.gateways:
        gateway_class = obj(GATEWAY_API, "GatewayClass", "", gateway.gateway_class)
        node = obj(GATEWAY_API, "Gateway", gateway.namespace, gateway.name)
        found |= {(gateway_class, node, _at(node, name)): (gateway, name, source) for name, source in gateway.listeners}
    return found


def _heads(world: World) -> dict[NodeRef, list[Path]]:
    """The ways down to the listeners that each route attaches to."""
    return {
        obj(GATEWAY_API, "HTTPRoute", route.namespace, route.name): [
            head
            for head, (gateway, name, source) in _listeners(world).items()
            if {(*gateway[:2], ""), (*gateway[:2], name)} & set(route.parents)
            and (source == "All" or route.namespace == gateway.namespace)
        ]
        for route in world.routes
    }


def _lives_in(namespace: str, path: Path) -> bool:
    return any(node.object.namespace == namespace for node in path)


def _tails(world: World, home: str, rule: Rule) -> Iterator[Path]:
    for namespace, name, port in rule.backends:
        if namespace != home and (home, namespace) not in world.grants:
            continue
        node = obj("", "Service", namespace, name)
        service = next(
            (service for service in world.services if (service.namespace, service.name) == (namespace, name)), None
        )
        if service is None:
            yield (node,)
            continue
        for port_name, number in service.ports:
            if port in {None, number}:
                yield (node, _at(node, port_name or str(number)))


def with_namespaces(path: Path) -> Path:
    """A path with the Namespace of each object before it, once."""
    whole: list[NodeRef] = []
    for node in path:
        namespace = namespace_node(node.object.namespace)
        if node.object.namespace and namespace not in whole:
            whole.append(namespace)
        whole.append(node)
    return tuple(whole)


def paths_to(world: World, node: NodeRef) -> set[Path]:
    """Every path from a root down to a node; the node alone if nothing leads to it."""
    paths = {path[: path.index(node) + 1] for path in full_paths(world) if node in path}
    alone = (node,) if not node.section else (NodeRef(node.object), node)
    if node.object.kind == "Namespace":
        return {alone}
    return paths or {with_namespaces(alone)}


def attached(world: World, policy: Policy) -> tuple[list[NodeRef], set[str]]:
    """The targets that a policy attaches to, and why it fails to attach to the others."""
    there: list[NodeRef] = []
    failures, known = set[str](), sections(world)
    kind = next(kind for kind in world.kinds if kind.name == policy.kind)
    for target in policy.targets:
        home, abroad = policy.namespace, target.object.namespace
        if abroad and abroad != home and (home, abroad) not in world.grants:
            failures.add("NotPermitted")
        elif NodeRef(target.object) not in known:
            failures.add("TargetNotFound")
        elif not acts_on(world, kind, NodeRef(target.object)):
            failures.add("NoEffect")
        elif target.section not in ("", *known[NodeRef(target.object)]):
            failures.add("TargetNotFound")
        else:
            there.append(target)
    return there, failures


def acts_on(world: World, kind: Kind, node: NodeRef) -> bool:
    """Whether a kind's controllers manage an object; of a route, one of its parents, attached there or not."""
    ours = {name for name, controller in world.classes if controller in kind.controllers}
    gateways = {
        obj(GATEWAY_API, "Gateway", gateway.namespace, gateway.name)
        for gateway in world.gateways
        if gateway.gateway_class in ours
    }
    if not kind.controllers or node.kind in {"Namespace", "Service"}:
        return True
    if node.kind == "GatewayClass":
        return node.object.name in ours
    if node.kind == "Gateway":
        return NodeRef(node.object) in gateways
    route = next(
        route for route in world.routes if (route.namespace, route.name) == (node.object.namespace, node.object.name)
    )
    return any(obj(GATEWAY_API, "Gateway", *parent[:2]) in gateways for parent in route.parents)


def is_ours(world: World, kind: Kind, path: Path) -> bool:
    """Whether the Gateway of a path, if it has one, is managed by the kind's controllers."""
    return all(acts_on(world, kind, node) for node in path if node.kind == "Gateway")
