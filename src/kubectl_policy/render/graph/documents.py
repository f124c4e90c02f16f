"""A picture as a versioned document: nodes and links, as programs for graphs read them, and all that is known of each.

It is what networkx calls node-link data: `networkx.node_link_graph(document, edges="links")` makes a graph of it.
Nothing is cut and nothing is folded.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.questions.graph.picture import GraphLink, GraphNode, GraphPolicy, Mark, Outcome, Picture, Win
from kubectl_policy.questions.shared.numbered import NumberedPath, numbered
from kubectl_policy.render.graph.words import graph_headline
from kubectl_policy.render.output.documents import Field, Shape, document, shape
from kubectl_policy.render.output.parts import (
    COMPLETE,
    UNSEEN,
    assumed_field,
    class_field,
    headline_field,
    known_by_field,
    numbers_field,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Json

ATTACHMENT: Final = "attachment"
# What separates the parts of an id. No API server lets any of it into a name; a file may say what it likes.
_IN_NAMES: Final = str.maketrans({"%": "%25", "/": "%2F", "#": "%23"})
_IN_KINDS: Final = _IN_NAMES | str.maketrans({".": "%2E"})


def object_id(ref: ObjectRef) -> str:
    """`HTTPRoute.gateway.networking.k8s.io/baker/menu`, `GatewayClass.gateway.networking.k8s.io/public`.

    No two objects have the same, and an object has the same in every picture.
    """
    kind, name = _kind_id(ref.group_kind), ref.name.translate(_IN_NAMES)
    return f"{kind}/{ref.namespace.translate(_IN_NAMES)}/{name}" if ref.namespace else f"{kind}/{name}"


@cache
def _kind_id(kind: GroupKind) -> str:
    # A group has dots, and what stands before the first one is the kind.
    return str(GroupKind(kind.group.translate(_IN_NAMES), kind.kind.translate(_IN_KINDS)))


def node_id(node: NodeRef) -> str:
    """The id of an object, with `#section` for a section of it."""
    return f"{object_id(node.object)}#{node.section.translate(_IN_NAMES)}" if node.section else object_id(node.object)


class _Node(Struct, frozen=True):
    """A node of the hierarchy, with what a picture knows of it besides."""

    node: GraphNode
    outcome: Outcome | None
    differs: bool


class _Link(Struct, frozen=True):
    """A link with the ids of its ends."""

    link: GraphLink
    source: str
    target: str
    key: str


class _Reference(Struct, frozen=True):
    """A reference of a policy as a link from it to what is drawn of its target."""

    attachment: Attachment
    source: str
    target: str
    key: str
    mark: Mark


class _Keys:
    """What tells links between the same two nodes apart: what they are, with a number from the second on."""

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str, str], int] = {}

    def of(self, source: str, target: str, relation: str) -> str:
        number = self._taken[source, target, relation] = self._taken.get((source, target, relation), 0) + 1
        return relation if number == 1 else f"{relation} {number}"


def _nodes(picture: Picture) -> Iterator[_Node | GraphPolicy]:
    # What is a policy and the target of another one is one thing, with one id; what it is as a policy says more.
    policies = {policy.ref for policy in picture.policies}
    for node in picture.nodes:
        if node.ref.section or node.ref.object not in policies:
            yield _Node(node, picture.outcomes.get(node.ref), node.ref in picture.differing)
    yield from picture.policies


def _links(picture: Picture) -> Iterator[_Link | _Reference]:
    keys = _Keys()
    for link in picture.links:
        source, target = node_id(link.parent), node_id(link.child)
        yield _Link(link, source, target, keys.of(source, target, link.relation))
    drawn = {node.ref for node in picture.nodes} | {NodeRef(policy.ref) for policy in picture.policies}
    for policy in picture.policies:
        source = object_id(policy.ref)
        # A policy that is new or gone brings its references with it; of any other it is not known which differ.
        mark: Mark = "" if policy.mark == "changed" else policy.mark
        for attachment in policy.attachments:
            node = _drawn_of(attachment, drawn)
            if node:
                target = node_id(node)
                yield _Reference(attachment, source, target, keys.of(source, target, ATTACHMENT), mark)


def _drawn_of(attachment: Attachment, drawn: Container[NodeRef]) -> NodeRef | None:
    """What stands for the target of a reference in a picture: an object does for its sections; None if nothing does."""
    if attachment.target is None:
        return None
    return next((node for node in (attachment.target, NodeRef(attachment.target.object)) if node in drawn), None)


def _constant(name: str, is_always: Json) -> Field:
    return Field(name, lambda _: is_always, type=Any, limits={"const": is_always})


def _ids(nodes: Iterable[NodeRef]) -> tuple[str, ...]:
    return tuple(map(node_id, nodes))


def _port(each: _Node) -> int | str | None:
    """The number of a listener's port, or of a backend's."""
    if each.node.listener:
        return each.node.listener.port
    number = each.node.port
    return int(number) if number.isdecimal() else number or None


def _of_listener(name: str, doc: str) -> Field:
    def get(each: _Node) -> str:
        text: str = getattr(each.node.listener, name) if each.node.listener else ""
        return text

    return Field(name, get, doc=doc)


def _mark(get: str = "mark") -> Field:
    return Field("mark", get, doc="Where two states are compared: whether only one has it, or not both the same.")


_ID: Final = "Kind.group/namespace/name#section, without the parts that are empty: the same in every picture."
shape(
    Win,
    "graphInForce",
    Field("policyKind", "kind"),
    Field("policies", doc="The policies that set it; none if a rule says it itself."),
    Field("summary", doc="The settings in a few short phrases, for people."),
    Field("certain", doc="False where it is not known how policies there combine, or one of them may be different."),
    numbers_field("paths", lambda win: win.paths, doc="The numbers of the paths on which it is in force."),
    doc="What is in force of one kind, the same on all of its paths.",
)
shape(
    _Node,
    "graphNode",
    Field("id", lambda each: node_id(each.node.ref), type=str, doc=_ID),
    _constant("type", "node"),
    Field("group", "node.ref.object.group_kind.group"),
    Field("kind", "node.ref.kind"),
    Field("namespace", "node.ref.object.namespace", doc="Empty for a cluster-scoped object."),
    Field("name", "node.ref.object.name"),
    Field("section", "node.ref.section", doc="Empty for the object as a whole."),
    Field("presence", "node.presence", doc="Whether it is there; unknown if it was not read."),
    Field("mayDiffer", "node.may_differ", doc="True if something was read that changes it, and not applied."),
    Field("virtual", "node.virtual", doc="True if no API serves its kind."),
    Field("origin", "node.origin"),
    Field("hostnames", "node.hostnames", doc="Those of a route, as it says them."),
    _of_listener("protocol", "Of a listener."),
    Field(
        "port",
        _port,
        doc="The number of a listener's port, or of a backend's; a text while something of it is to be filled in.",
    ),
    _of_listener("hostname", "Of a listener; empty for every host."),
    Field("matches", "node.matches", type=tuple[Any, ...], doc="Which requests a rule takes, as it says it."),
    _mark("node.mark"),
    Field("settingsDiffer", "differs", doc="Whether other settings are in force there in the other of two states."),
    Field(
        "paths",
        lambda each: numbered(each.outcome.paths) if each.outcome else (),
        type=tuple[NumberedPath, ...],
        doc="The paths of inForce: those that carry traffic there. None without --effective.",
    ),
    Field(
        "inForce",
        lambda each: each.outcome.wins if each.outcome else (),
        type=tuple[Win, ...],
        doc="What is in force at a rule or a listener. None without --effective.",
    ),
    doc="An object of the hierarchy, or one of its sections.",
)
shape(
    GraphPolicy,
    "graphPolicy",
    Field("id", lambda policy: object_id(policy.ref), type=str, doc=_ID),
    _constant("type", "policy"),
    Field("group", "ref.group_kind.group"),
    Field("kind", "ref.kind"),
    Field("namespace", "ref.namespace", doc="Empty for a cluster-scoped object."),
    Field("name", "ref.name"),
    Field("origin"),
    Field("role", "profile.role", doc="Whether it is a policy, a filter of routes, or holds parameters of Gateways."),
    class_field(),
    known_by_field(),
    assumed_field("profile.assumed"),
    Field("targets", "attachments", doc="All of its references, also those that fail, or lead to what is not drawn."),
    Field("enforcement"),
    Field("mayDiffer", doc="True if something was read that changes it, and not applied."),
    Field("earlier", doc="Its enforcement in the earlier of two states, where it was another; else null."),
    Field("contrary", doc="The condition by which a controller says that it does not work; null if none does."),
    Field(
        "affected",
        lambda policy: _ids(policy.affected),
        type=tuple[str, ...],
        doc="The ids of where it has an effective field, also of what is not drawn.",
    ),
    _mark(),
    doc="A policy, a filter, or an object with parameters.",
)


def _link_shape(of: type, name: str, *fields: Field, doc: str) -> None:
    """The shape of a link, which begins as any does."""
    ends = (
        Field("source", doc="The id of the node above, or of the policy."),
        Field("target", doc="The id of the node below, or of what the policy refers to."),
        Field("key", doc="Tells links between the same two nodes apart."),
    )
    shape(of, name, *ends, *fields, doc=doc)


def _api_reason(reference: _Reference) -> str:
    return MEANINGS[reference.attachment.state].api_reason


_REASON: Final = "The API's own word for what is wrong with it, if it has one."
_link_shape(
    _Link,
    "graphLink",
    Field(
        "relation", "link.relation", doc="gateway, listener, listener-set, route, mesh-route, rule, backend or port."
    ),
    Field("state", "link.state", doc="attached if requests run down it; broken if they do, and what is there fails."),
    Field("reason", "link.reason", doc=_REASON),
    Field("message", "link.message", doc="What is wrong with it."),
    Field("past", "link.past", doc="True if it leads past nodes that are not drawn."),
    _mark("link.mark"),
    doc="That a node is directly above another one, or would be.",
)
_link_shape(
    _Reference,
    "graphAttachment",
    _constant("relation", ATTACHMENT),
    Field("state", "attachment.state"),
    Field("reason", _api_reason, doc=_REASON),
    Field("message", "attachment.message", doc="Why it is not attached."),
    Field("declaredIn", "attachment.declared.field", doc="As in targets."),
    _mark(),
    doc="A reference of a policy. Where sections are not drawn, it leads to the object of the one that is meant.",
)


_FACTS: Final = Shape(
    Picture,
    "graphFacts",
    headline_field(graph_headline, "As above, where networkx does not look."),
    COMPLETE,
    Field("twoStates", doc="Whether two states are compared; mark is empty otherwise."),
    Field("subjects", "asked.subjects", doc="The objects of which this is what is around them; none if it is of all."),
    Field("namespace", "asked.namespace", doc="The namespace of whose objects it is; empty if of any."),
    Field("up", "asked.up", doc="Whether it has what is above them."),
    Field("down", "asked.down", doc="Whether it has what is below them."),
    Field("depth", "asked.depth", doc="How many objects further up and down it goes; null for however many."),
    Field(
        "kinds",
        lambda picture: sorted(picture.asked.kinds),
        type=tuple[GroupKind, ...],
        doc="The kinds of objects in it; empty for all.",
    ),
    Field(
        "policyKinds",
        lambda picture: sorted(picture.asked.policy_kinds),
        type=tuple[GroupKind, ...],
        doc="The kinds of policies in it; empty for all.",
    ),
    Field("sections", "asked.sections", doc="Whether it has listeners, rules and ports."),
    Field("onlyAffected", "asked.only_affected", doc="Whether what no policy is about is left out."),
    Field("effective", "asked.effective", doc="Whether nodes say what is in force there."),
    doc="What the graph is of.",
)
GRAPH: Final = document(
    Picture,
    "Graph",
    headline_field(graph_headline),
    COMPLETE,
    _constant("directed", is_always=True),
    _constant("multigraph", is_always=True),
    Field("graph", lambda picture: picture, type=Picture, shape=_FACTS),
    Field(
        "nodes",
        _nodes,
        type=tuple[_Node | GraphPolicy, ...],
        doc="From the root downward, then the policies. A policy that another one targets is a policy here.",
    ),
    Field(
        "links",
        _links,
        type=tuple[_Link | _Reference, ...],
        doc="Those of the hierarchy, then the references of policies to what is drawn.",
    ),
    UNSEEN,
    doc="The answer of graph, as networkx.node_link_graph reads it with edges='links'.",
)
