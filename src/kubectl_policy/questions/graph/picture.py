"""The answer of `graph`: nodes, links between them, the policies on them, and what is in force where.

As a document it is what networkx calls node-link data: `networkx.node_link_graph(document, edges="links")` makes a
graph of it. Nothing is cut and nothing is folded.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from kubectl_policy.attachment import MEANINGS, Attachment
from kubectl_policy.model import Diagnostic, GroupKind, Json, NodeRef, ObjectRef, Origin
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.shared.in_force import InForce, OfKnownKind
from kubectl_policy.questions.shared.path_phrases import NumberedPath, PathNumber, numbered, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.attachment.attachment import State
    from kubectl_policy.model.index import Presence
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.fields import Role
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.resolution.enforcement import Enforcement, EnforcementState
    from kubectl_policy.topology import Path

# In a picture of two states: what only the later one has, only the earlier one, or what is not the same in both.
Mark: TypeAlias = Literal["", "added", "removed", "changed"]
LinkState: TypeAlias = Literal["attached", "broken", "refused", "unknown"]

# What separates the parts of an id. No API server lets any of it into a name; a file may say what it likes.
_IN_NAMES: Final = str.maketrans({"%": "%25", "/": "%2F", "#": "%23"})
_IN_KINDS: Final = _IN_NAMES | str.maketrans({".": "%2E"})
_MARK: Final = "In a comparison of two states: whether only one state has the element, or whether it differs."
_MAY_DIFFER: Final = "True if a patch that changes the object was read but not applied."
_REASON: Final = "The reason as the API spells it, if the link fails; otherwise empty."


# A document has each node several times: as itself, and at the ends of its links.
@lru_cache(2**15)
def node_id(ref: NodeRef | ObjectRef) -> str:
    """Return `HTTPRoute.gateway.networking.k8s.io/baker/menu#rule`: no two nodes have the same, in any picture."""
    kind, name = _kind_id(ref.group, ref.kind), ref.name.translate(_IN_NAMES)
    section = f"#{ref.section.translate(_IN_NAMES)}" if isinstance(ref, NodeRef) and ref.section else ""
    # Objects of two unknown namespaces may have one name: the folder tells them apart.
    home = ref.namespace.replace(UNKNOWN_NAMESPACE, "unknown:", 1)
    namespace = f"{home.translate(_IN_NAMES)}/" if home else ""
    return f"{kind}/{namespace}{name}{section}"


@cache
def _kind_id(group: str, kind: str) -> str:
    # A group has dots, and what stands before the first one is the kind.
    return str(GroupKind(group.translate(_IN_NAMES), kind.translate(_IN_KINDS)))


class GraphOptions(Struct, frozen=True, kw_only=True):
    """What is to be in a picture: everything, or the neighbourhood of some objects."""

    subjects: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="The objects around which the graph is drawn; empty for a graph of all objects."),
    ] = ()
    namespace: Annotated[str, Meta(description="The namespace of the objects; empty for all namespaces.")] = ""
    up: Annotated[bool, Meta(description="Whether the graph contains the objects above the subjects.")] = True
    down: Annotated[bool, Meta(description="Whether the graph contains the objects below the subjects.")] = True
    depth: Annotated[
        int | None,
        Meta(description="The number of objects to follow up and down from the subjects; null for no limit."),
    ] = None
    # With kinds, links lead past the nodes of others; policies are shown that target some of these, or affect some.
    kinds: frozenset[GroupKind] = frozenset()
    policy_kinds: frozenset[GroupKind] = frozenset()
    sections: Annotated[bool, Meta(description="Whether the graph contains listeners, rules and ports.")] = True
    only_affected: Annotated[
        bool, Meta(description="Whether the graph contains only objects that a policy affects.")
    ] = False
    effective: Annotated[bool, Meta(description="Whether nodes have the settings in force (--effective).")] = False
    # Whether what is in one namespace is drawn together.
    grouped: bool = True

    @property
    def kinds_(self) -> Annotated[tuple[GroupKind, ...], Meta()]:
        """The kinds of objects in the graph; empty for all kinds."""
        return tuple(sorted(self.kinds))

    @property
    def policy_kinds_(self) -> Annotated[tuple[GroupKind, ...], Meta()]:
        """The policy kinds in the graph; empty for all kinds."""
        return tuple(sorted(self.policy_kinds))


class GraphFacts(GraphOptions, frozen=True, kw_only=True):
    """The attributes of the graph, in the place where networkx expects them."""

    complete: Annotated[bool, Meta(description="False if input that may change the answer could not be read.")]
    two_states: Annotated[bool, Meta(description="Whether two states are compared; otherwise mark is empty.")]


_CERTAIN: Final = "False if it is unknown how the policies combine, or if a policy may differ from its manifest."


class KindInForce(Struct, frozen=True, kw_only=True):
    """Settings of one policy kind in force at a node, equal on all of its paths."""

    policy_kind: Annotated[GroupKind, Meta(description="The policy kind.")]
    policies: Annotated[
        tuple[ObjectRef, ...],
        Meta(description="The policies that set the values; empty if a rule of a route sets them itself."),
    ]
    summary: Annotated[tuple[str, ...], Meta(description="The settings in short phrases, for people.")]
    certain: Annotated[bool, Meta(description=_CERTAIN)]
    positions: tuple[int, ...] = ()
    # These paths in words, where it is told of a part of all that lead to a place.
    scope: str = ""

    @property
    def paths(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which the settings are in force."""
        return numbers(self.positions)


class NodeInForce(Struct, frozen=True, kw_only=True):
    """Settings in force at a rule of a route or a listener, with the paths that carry traffic there."""

    paths: tuple[Path, ...]
    groups: tuple[KindInForce, ...]


_TARGETS: Final = (
    "All target references of the policy, including those that fail or that lead to nodes that are not drawn."
)


class _Drawn(Struct, frozen=True, kw_only=True):
    """Something that a picture has: an object, or a section of one."""

    ref: NodeRef | ObjectRef

    @property
    def id(self) -> Annotated[str, Meta()]:
        """The stable id of the node, Kind.group/namespace/name#section, without empty parts."""
        return node_id(self.ref)


_PORT: Final = "The port number of a listener or backend; a string if it contains a variable without a value."


class GraphNode(_Drawn, frozen=True, kw_only=True):
    """An object of the hierarchy or one of its sections, whether or not it exists."""

    ref: Annotated[NodeRef, "inline"]
    type: Annotated[Literal["node"], Meta(description="The type of the node.")] = "node"
    presence: Annotated[Presence, Meta(description="Whether the object exists; unknown if it was not read.")]
    may_differ: Annotated[bool, Meta(description=_MAY_DIFFER)] = False
    virtual: Annotated[bool, Meta(description="True if no API serves the kind.")] = False
    origin: Annotated[Origin | None, Meta(description="The location of the object; null if it was not read.")] = None
    hostnames: Annotated[
        tuple[str, ...], Meta(description="The hostnames in the spec of the route; empty for other objects.")
    ] = ()
    protocol: Annotated[str, Meta(description="The protocol of a listener; empty for other nodes.")] = ""
    port: Annotated[Port | None, Meta(description=_PORT)] = None
    hostname: Annotated[str, Meta(description="The hostname of a listener; empty for any hostname.")] = ""
    matches: Annotated[tuple[Json, ...], Meta(description="The matches of a rule, as in its spec.")] = ()
    mark: Annotated[Mark, Meta(description=_MARK)] = ""
    settings_differ: Annotated[
        bool, Meta(description="In a comparison of two states: whether the settings in force differ.")
    ] = False
    # None where nothing is in force, or where that was not asked for.
    outcome: NodeInForce | None = None

    @property
    def paths(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths of inForce that carry traffic; empty without --effective."""
        return numbered(self.outcome.paths) if self.outcome else ()

    @property
    def in_force(self) -> Annotated[tuple[KindInForce, ...], Meta()]:
        """The settings in force at a rule or a listener; empty without --effective."""
        return self.outcome.groups if self.outcome else ()


class _GraphEdge(Struct, frozen=True, kw_only=True):
    """A link between two things that are drawn; a number tells it from others between the same."""

    parent: NodeRef
    child: NodeRef
    relation: str
    number: int = 1
    mark: Annotated[Mark, Meta(description=_MARK)] = ""

    @property
    def source(self) -> Annotated[str, Meta()]:
        """The id of the upper node, or of the policy."""
        return node_id(self.parent)

    @property
    def target(self) -> Annotated[str, Meta()]:
        """The id of the lower node, or of the target of the policy."""
        return node_id(self.child)

    @property
    def key(self) -> Annotated[str, Meta()]:
        """The key that distinguishes links between the same two nodes."""
        return self.relation if self.number == 1 else f"{self.relation} {self.number}"


class GraphLink(_GraphEdge, frozen=True, kw_only=True):
    """A link between two nodes: the source is, or would be, directly above the target."""

    relation: Annotated[
        str, Meta(description=("gateway, listener, listener-set, route, mesh-route, rule, backend or port."))
    ]
    state: Annotated[
        LinkState,
        Meta(description="attached: requests follow the link; broken: requests follow the link and fail at its end."),
    ] = "attached"
    reason: Annotated[str, Meta(description=_REASON)] = ""
    message: Annotated[str, Meta(description="The problem of the link, for people; empty if there is none.")] = ""
    past: Annotated[bool, Meta(description="True if nodes between source and target are not drawn.")] = False


class GraphAttachment(_GraphEdge, frozen=True, kw_only=True):
    """A reference of a policy. If sections are not drawn, it leads to the object of the section."""

    relation: Annotated[Literal["attachment"], Meta(description="The type of the link.")] = "attachment"
    state: Annotated[State, Meta(description="The state of the attachment: attached, or the reason why not.")]
    reason: Annotated[str, Meta(description=_REASON)]
    message: Annotated[str, Meta(description="The reason why the policy is not attached; empty if it is attached.")]
    declared_in: Annotated[str, Meta(description="The field with the reference, as in targets.")]


_CONTRARY: Final = "The condition in which a controller reports that the policy does not work; null if there is none."


class GraphPolicy(_Drawn, OfKnownKind, frozen=True, kw_only=True):
    """A policy, a filter, or an object with parameters.

    In a picture around subjects, or of a namespace, `enforcement` and `affected` are about the paths through these
    alone, but for subjects that are policies; in a picture of two states, about all paths.
    """

    ref: Annotated[ObjectRef, "inline"]
    type: Annotated[Literal["policy"], Meta(description="The type of the node.")] = "policy"
    profile: PolicyKindProfile
    origin: Annotated[Origin | None, Meta(description="The location of the object; null if it was not read.")] = None
    targets: Annotated[tuple[Attachment, ...], Meta(description=_TARGETS)]
    enforcement: Annotated[Enforcement, Meta(description="The enforcement state of the policy.")]
    may_differ: Annotated[bool, Meta(description=_MAY_DIFFER)] = False
    earlier: Annotated[
        EnforcementState | None,
        Meta(description="The enforcement in the earlier of two states, if it differs; otherwise null."),
    ] = None
    contrary: Annotated[ReportedCondition | None, Meta(description=_CONTRARY)] = None
    affected: tuple[NodeRef, ...]
    mark: Annotated[Mark, Meta(description=_MARK)] = ""
    # The targets that it names in the earlier of two states alone.
    former: tuple[NodeRef, ...] = ()

    @property
    def role(self) -> Annotated[Role, Meta()]:
        """The role of the object: a policy, a filter of routes, or parameters of Gateways."""
        return self.profile.role

    @property
    def affected_(self) -> Annotated[tuple[str, ...], Meta()]:
        """The ids of the nodes with an effective field of the policy, including nodes that are not drawn."""
        return tuple(map(node_id, self.affected))

    @property
    def state(self) -> EnforcementState:
        """The enforcement of the policy."""
        return self.enforcement.state


class EffectsOn(Struct, frozen=True, kw_only=True):
    """Settings in force on an object."""

    subject: ObjectRef
    paths: tuple[Path, ...]
    in_force: tuple[tuple[int, tuple[int, ...]], ...]
    """Positions of outcomes in `Details.outcomes`, each with the positions of the paths on which it is in force."""


class Details(Struct, frozen=True, kw_only=True):
    """Answers to the questions that a page can ask: settings in force, and effects of deleting policies."""

    outcomes: tuple[InForce, ...]
    effects: tuple[EffectsOn, ...]
    deletions: Mapping[ObjectRef, BlastRadius]
    """Without the policies that affect too much."""
    problems: tuple[Diagnostic, ...]
    """Those of what is drawn, or where that is too much (not `all_checked`) those from reading alone."""
    all_checked: bool


class Picture(Answer, frozen=True, kw_only=True):
    """The answer of graph, as networkx.node_link_graph reads it with edges='links'."""

    directed: Annotated[
        Literal[True], Meta(description="Always true: links lead downward, or from policies to targets.")
    ] = True
    multigraph: Annotated[Literal[True], Meta(description="Always true: two nodes can have several links.")] = True
    asked: GraphOptions
    # From the root downward; links and policies are sorted by name.
    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    policies: tuple[GraphPolicy, ...]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]
    two_states: bool = False
    details: Details | None = None

    @property
    def found_nothing(self) -> bool:
        """Whether there is nothing to draw."""
        return not (self.nodes or self.policies)

    @property
    def graph(self) -> Annotated[GraphFacts, Meta()]:
        """The attributes of the graph, in the place where networkx expects them."""
        return GraphFacts(**asdict(self.asked), complete=self.complete, two_states=self.two_states)

    @property
    def nodes_(self) -> Annotated[tuple[GraphNode | GraphPolicy, ...], Meta()]:
        """The nodes of the hierarchy from the root downward, followed by the policies, including targeted policies."""
        # It is one thing, with one id; what it is as a policy says more.
        policies = {policy.ref for policy in self.policies}
        nodes = (node for node in self.nodes if node.ref.section or node.ref.object not in policies)
        return (*nodes, *self.policies)

    @property
    def links_(self) -> Annotated[tuple[GraphLink | GraphAttachment, ...], Meta()]:
        """The links of the hierarchy, followed by the references of policies to drawn nodes."""
        return (*self.links, *self._attachments())

    @property
    def is_part(self) -> bool:
        """Whether this is a part of what there is, and policies are as far enforced as they are in this part."""
        return bool(self.asked.subjects or self.asked.namespace) and not self.two_states

    def _attachments(self) -> Iterator[GraphAttachment]:
        drawn = {node.ref for node in self.nodes} | {NodeRef(policy.ref) for policy in self.policies}
        for policy in self.policies:
            # A policy that is new or gone brings its references with it; of any other it is not known which differ.
            mark: Mark = "" if policy.mark == "changed" else policy.mark
            source, numbers_by_target = NodeRef(policy.ref), Counter[NodeRef]()
            for attachment in policy.targets:
                target = attachment.target
                # An object stands for its sections where these are not drawn.
                nodes = (target, NodeRef(target.object)) if target else ()
                node = next((node for node in nodes if node in drawn), None)
                if node:
                    numbers_by_target[node] += 1
                    number = numbers_by_target[node]
                    yield GraphAttachment(
                        parent=source,
                        child=node,
                        number=number,
                        mark=mark,
                        state=attachment.state,
                        reason=MEANINGS[attachment.state].api_reason,
                        message=attachment.message,
                        declared_in=attachment.declared_in,
                    )


def numbered_links(links: Iterable[GraphLink]) -> tuple[GraphLink, ...]:
    """Sort links, and number those between the same two nodes with the same relation."""
    times = Counter[tuple[NodeRef, NodeRef, str]]()
    numbered_: list[GraphLink] = []
    for link in sorted(links, key=lambda link: (link.parent, link.child, link.relation)):
        ends = link.parent, link.child, link.relation
        times[ends] += 1
        numbered_.append(link if link.number == times[ends] else replace(link, number=times[ends]))
    return tuple(numbered_)
