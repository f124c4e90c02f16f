"""Paths through the hierarchy: what is above a node, and what is below it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.topology.links import LINKS
from kubectl_policy.topology.references import ROUTES, WITH_PORTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.topology.links import Link
    from kubectl_policy.topology.relations import Relations

Path: TypeAlias = "tuple[NodeRef, ...]"

_TRAFFIC: Final = tuple(link for link in LINKS if link.carries == "traffic")
_FRONTENDS: Final = tuple(link for link in LINKS if link.carries == "frontend")
# Deeper than any hierarchy in use, shallow enough for the stack: where routes refer to routes, input decides the depth.
_MOST_NODES: Final = 60
_FEW: Final = 4


# Kinds are few, but input may name any number of them.
@lru_cache(256)
def _links_below(kind: GroupKind) -> tuple[Link, ...]:
    """The links by which traffic runs on from nodes of a kind."""
    return tuple(link for link in _TRAFFIC if kind in link.above)


@lru_cache(256)
def _links_above(kind: GroupKind) -> tuple[Link, ...]:
    """The links by which traffic comes to nodes of a kind."""
    return tuple(link for link in _TRAFFIC if not link.below or kind in link.below)


def _children(relations: Relations, node: NodeRef) -> Iterator[NodeRef]:
    return (child for link in _links_below(node.object.group_kind) for child in link.children(relations, node))


def _parents(relations: Relations, node: NodeRef) -> Iterator[NodeRef]:
    return (parent for link in _links_above(node.object.group_kind) for parent in link.parents(relations, node))


def chains_to(relations: Relations, node: NodeRef) -> Iterator[Path]:
    """Every way down to a node from a root, without Namespaces; at least one, perhaps with repetitions.

    No way leads through a route that is known to be attached to nothing; one to such a route starts there.
    A section is preceded by its object. The paths to a Service are those of every rule that reaches it, on any port;
    the paths to a port are those of rules that name the port, or none. A parent Service starts paths as well. Of a
    route that another one delegates to, a way leads to the rules that requests reach. Where routes refer to each other
    in circles that nothing else leads to, a way starts at the node.
    """
    found = False
    for chain in _ways_to(relations, node, ()):
        found = True
        yield chain
    if not found:
        yield _extended((), node)


def _ways_to(relations: Relations, node: NodeRef, below: Path) -> Iterable[Path]:
    """The ways down to a node, looked up once unless a circle of routes above it makes them depend on what is below."""
    known = relations.ways_to.get(node)
    if known is not None:
        return known
    parents = tuple(_feeding(relations, node)) if len(below) < _MOST_NODES else ()
    found = tuple(_climb(relations, node, parents, below))
    if len(below) < _MOST_NODES and all(parent in relations.ways_to for parent in parents):
        relations.ways_to[node] = found
    return found


def _climb(relations: Relations, node: NodeRef, parents: Sequence[NodeRef], below: Path) -> Iterator[Path]:
    entered = bool(parents)
    for parent in parents:
        # A circle is no way down: those that lead to it come by another parent.
        for chain in _ways_to(relations, parent, (*below, node)) if parent not in below else ():
            if _goes_on(relations, chain, node):
                yield _extended(chain, node)
    for link in _FRONTENDS:
        for parent in link.parents(relations, node):
            entered = True
            yield _extended(_extended((), parent), node)
    if not entered or any(True for link in _FRONTENDS for _ in link.children(relations, node)):
        yield _extended((), node)


def _feeding(relations: Relations, node: NodeRef) -> Iterable[NodeRef]:
    """The nodes from which traffic reaches a node; for a backend with ports the rules, whatever their port is."""
    if node.object.group_kind not in WITH_PORTS:
        return dict.fromkeys(parent for parent in _parents(relations, node) if _leads(relations, parent, node))
    whole = NodeRef(node.object)
    ports = [NodeRef(node.object, section) for section in relations.sections(node.object)]
    entries = (node, whole) if node.section else (whole, *ports)
    found = (parent for entry in entries for parent in _parents(relations, entry))
    return dict.fromkeys(parent for parent in found if parent.object != node.object and _leads(relations, parent, node))


def _leads(relations: Relations, above: NodeRef, below: NodeRef) -> bool:
    """Whether traffic can come from one node to the next; it never gets to what an unattached route refers to."""
    if above.object == below.object or above.object.group_kind not in ROUTES:
        return True
    return not relations.is_unattached(above.object)


def _goes_on(relations: Relations, chain: Path, node: NodeRef) -> bool:
    """Whether a request that comes down a chain goes on to a node: there are conditions only where routes delegate."""
    if node.object.group_kind not in ROUTES or chain[-1].object.group_kind not in ROUTES:
        return True
    if not node.section:
        return relations.delegations.goes_to(chain, node.object)
    return len(chain) == 1 or chain[-2].object.group_kind not in ROUTES or relations.delegations.reaches(chain, node)


def descend(relations: Relations, chain: Path) -> Iterator[Path]:
    """Every way on from the end of a chain, down to where nothing is below."""
    ended = True
    for child in _fed(relations, chain):
        if not _goes_on(relations, chain, child):
            continue
        if len(chain) < _MOST_NODES and (child not in chain or child.object.group_kind in WITH_PORTS):
            ended = False
            yield from descend(relations, _extended(chain, child))
    if ended:
        yield chain


def _fed(relations: Relations, chain: Path) -> Iterable[NodeRef]:
    node = chain[-1]
    if node.section and node.object.group_kind in WITH_PORTS and chain[0].object != node.object:
        return ()
    below = dict.fromkeys(child for child in _children(relations, node) if _leads(relations, node, child))
    starts = chain[0].object == node.object
    if starts:
        return below | dict.fromkeys(child for link in _FRONTENDS for child in link.children(relations, node))
    if node.section or node.object.group_kind not in WITH_PORTS:
        return below
    # Of a Service's ports, a rule reaches those that it names, or all of them if it names none.
    named = dict.fromkeys(_children(relations, chain[-2]))
    return below if node in named else (port for port in below if port in named)


def _extended(chain: Path, node: NodeRef) -> Path:
    """A chain with one more node; the object of a section stands before it."""
    whole = NodeRef(node.object)
    return (*chain, whole, node) if node.section and chain[-1:] != (whole,) else (*chain, node)


def on_path(nodes: Collection[NodeRef], path: Path) -> list[NodeRef]:
    """The nodes of a set that are on a path, in its order.

    To compare a few nodes with each on the path takes less time than to look up every node of the path among them.
    """
    if len(nodes) > _FEW:
        return [node for node in path if node in nodes]
    return sorted((node for node in nodes if node in path), key=path.index)


def with_namespaces(chain: Path) -> Path:
    """A path: the chain with each object's Namespace before it, unless the path has that Namespace already."""
    path: list[NodeRef] = []
    entered = {node.object.name for node in chain if node.object.group_kind == NAMESPACE}
    for node in chain:
        namespace = node.object.namespace
        if namespace and namespace not in entered:
            entered.add(namespace)
            path.append(NodeRef(ObjectRef(NAMESPACE, "", namespace)))
        path.append(node)
    return tuple(path)
