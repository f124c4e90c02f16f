"""An independent reading of the semantics: brute force over a small world, as naive as the definitions are.

It enumerates every path, keeps specs as flat dictionaries of leaf paths, and computes each answer from scratch. It
shares no code with what it judges but the names of things.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from tests.property.world import Gateway, Kind, Policy, Rule, World

GATEWAY_API = "gateway.networking.k8s.io"
Path: TypeAlias = tuple[NodeRef, ...]
Field: TypeAlias = tuple[str, ...]
Who: TypeAlias = tuple[ObjectRef, NodeRef, bool]
Flat: TypeAlias = "dict[Field, tuple[Json, Who]]"


class Part(NamedTuple):
    """What one stanza of a policy declares at one node."""

    who: Who
    strategy: str
    spec: Flat


class Outcome(NamedTuple):
    """The effective spec at the end of a path; a removed field has the value None."""

    spec: Flat
    parts: list[Part]
    members: set[Who]
    rejected: set[Who]


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
    found: dict[NodeRef, list[str]] = {namespace_node(name): [] for name in world.namespaces}
    found |= {obj(GATEWAY_API, "GatewayClass", "", name): [] for name in world.classes}
    for gateway in world.gateways:
        found[obj(GATEWAY_API, "Gateway", gateway.namespace, gateway.name)] = [name for name, _ in gateway.listeners]
    for route in world.routes:
        names = [rule.name or f"rule[{number}]" for number, rule in enumerate(route.rules)]
        found[obj(GATEWAY_API, "HTTPRoute", route.namespace, route.name)] = names
    for service in world.services:
        found[obj("", "Service", service.namespace, service.name)] = [name or str(port) for name, port in service.ports]
    return found


def full_paths(world: World) -> set[Path]:
    """Every path from a root down to where nothing is below, with the Namespaces."""
    heads = _heads(world)
    taken = {head for found in heads.values() for head in found}
    whole = {head for head in _listeners(world) if head not in taken}
    used_classes = {gateway.gateway_class for gateway in world.gateways}
    whole |= {(obj(GATEWAY_API, "GatewayClass", "", name),) for name in world.classes if name not in used_classes}
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
        service = next((one for one in world.services if (one.namespace, one.name) == (namespace, name)), None)
        if service is None:
            yield (node,)
            continue
        for port_name, number in service.ports:
            if port in {None, number}:
                yield (node, _at(node, port_name or str(number)))


def with_namespaces(path: Path) -> Path:
    """A path with the Namespace of each object before it, once."""
    found: list[NodeRef] = []
    for node in path:
        namespace = namespace_node(node.object.namespace)
        if node.object.namespace and namespace not in found:
            found.append(namespace)
        found.append(node)
    return tuple(found)


def paths_to(world: World, node: NodeRef) -> set[Path]:
    """Every path from a root down to a node; the node alone if nothing leads to it."""
    found = {path[: path.index(node) + 1] for path in full_paths(world) if node in path}
    alone = (node,) if not node.section else (NodeRef(node.object), node)
    if node.object.kind == "Namespace":
        return {alone}
    return found or {with_namespaces(alone)}


def attached(world: World, policy: Policy) -> tuple[list[NodeRef], set[str]]:
    """The targets that a policy attaches to, and why it fails to attach to the others."""
    there: list[NodeRef] = []
    failures, known = set[str](), sections(world)
    for target in policy.targets:
        home, abroad = policy.namespace, target.object.namespace
        if abroad and abroad != home and (home, abroad) not in world.grants:
            failures.add("NotPermitted")
        elif target.section not in ("", *known.get(NodeRef(target.object), ())) or NodeRef(target.object) not in known:
            failures.add("TargetNotFound")
        else:
            there.append(target)
    return there, failures


def flatten(spec: Mapping[str, Json], whole: frozenset[str], above: Field = ()) -> dict[Field, Json]:
    """The leaves of a spec: all that is no map, empty maps, and the maps that are replaced whole."""
    flat: dict[Field, Json] = {}
    for key, value in spec.items():
        field = (*above, key)
        if isinstance(value, dict) and value and ".".join(field) not in whole:
            flat |= flatten(value, whole, field)
        else:
            flat[field] = value
    return flat


def _covers(above: Field, below: Field) -> bool:
    return above != below and below[: len(above)] == above


def patch(target: Flat, change: Flat) -> Flat:
    """RFC 7386, leaf by leaf; a removal stays, as a leaf that is None."""
    result = dict(target)
    for field, leaf in change.items():
        if leaf[0] == {} and any(_covers(field, other) for other in target):
            continue  # an empty map changes nothing in a map
        result = {other: kept for other, kept in result.items() if not (_covers(field, other) or _covers(other, field))}
        result[field] = leaf
    return result


class Merged(NamedTuple):
    """Parts of a path as one; those of `order` take part, each patching what the ones before it amount to."""

    order: list[Flat]
    strategy: str
    members: set[Who]
    rejected: set[Who]

    @property
    def spec(self) -> Flat:
        """What the parts amount to."""
        result = self.order[0]
        for change in self.order[1:]:
            result = patch(result, change)
        return result


def _merge(established: Merged, challenger: Merged) -> Merged:
    rejected = established.rejected | challenger.rejected
    both = established.members | challenger.members
    table = {
        "None": (established.order, established.members, rejected | challenger.members),
        "Atomic defaults": (challenger.order, challenger.members, rejected),
        "Atomic overrides": (established.order, established.members, rejected),
        "Patch defaults": (established.order + challenger.order, both, rejected),
        "Patch overrides": (challenger.order + established.order, both, rejected),
    }
    order, members, refused = table[established.strategy]
    return Merged(order, established.strategy, members, refused)


def fold(parts: list[Part], direction: str) -> Merged:
    """All parts of a path as one, the two most specific first or the two least specific first."""
    layers = [Merged([part.spec], part.strategy, {part.who}, set()) for part in parts]
    if direction == "bottom-up":
        while len(layers) > 1:
            layers[-2:] = [_merge(layers[-2], layers[-1])]
    while len(layers) > 1:
        merged = _merge(layers[0], layers[1])
        keeps = "None" if layers[0].strategy == "None" else layers[1].strategy
        layers[:2] = [merged._replace(strategy=keeps)]
    return layers[0]


def parts_on(world: World, kind: Kind, node: NodeRef) -> list[Part]:
    """What the policies of a kind at one node declare, in the order in which they are folded."""
    policies = [one for one in world.policies if one.kind == kind.name and node in one.targets]
    policies = [one for one in policies if node in attached(world, one)[0]]
    policies.sort(key=lambda one: (one.created is None, one.created or 0, f"{one.namespace}/{one.name}"))
    parts: list[Part] = []
    for policy in policies:
        for strategy, spec in policy.parts:
            who = (policy.ref, node, strategy.endswith("overrides"))
            flat = {field: (value, who) for field, value in flatten(spec, kind.whole).items()}
            parts.append(Part(who, strategy, flat))
    if kind.same_level == "newest-challenges" or (kind.same_level is None and kind.style != "singular"):
        return parts
    defaults = [part for part in parts if part.strategy.endswith("defaults")]
    return [part for part in parts if part not in defaults] + defaults[::-1]


def parts_at_end(world: World, kind: Kind, path: Path) -> list[Part]:
    """What counts at the end of a path, least specific first."""
    if kind.direct:
        return parts_on(world, kind, path[-1]) or parts_on(world, kind, NodeRef(path[-1].object))
    once = [node for place, node in enumerate(path) if node not in path[:place]]
    return [part for node in once for part in parts_on(world, kind, node)]


def own_value(world: World, node: NodeRef, field: str) -> Json:
    """A setting of a route itself."""
    for route in world.routes:
        if obj(GATEWAY_API, "HTTPRoute", route.namespace, route.name).object == node.object:
            return route.own.get(field.removeprefix("spec.own."))
    return None


def effective(world: World, kind: Kind, path: Path) -> Outcome | None:
    """The effective policy of a kind at the end of a path; None where no policy contributes."""
    parts = parts_at_end(world, kind, path)
    if not parts:
        return None
    merged = fold(parts, kind.fold or "bottom-up")
    spec = dict(merged.spec)
    for policy_field, object_field in kind.object_fields.items():
        field, value = tuple(policy_field.split(".")), own_value(world, path[-1], object_field)
        meets = [other for other in spec if other == field or _covers(field, other) or _covers(other, field)]
        if value in (None, "", [], {}) or any(spec[other][1][2] for other in meets):
            continue
        spec = {other: leaf for other, leaf in spec.items() if other not in meets}
        spec[field] = (value, (path[-1].object, path[-1], False))
    return Outcome(spec, parts, merged.members, merged.rejected)


def direction_matters(world: World, kind: Kind, path: Path) -> bool:
    """Whether the two directions of folding differ in what they make effective or refuse."""
    up, down = (fold(parts_at_end(world, kind, path), direction) for direction in ("bottom-up", "top-down"))
    return (up.spec, up.rejected) != (down.spec, down.rejected)
