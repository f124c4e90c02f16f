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

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
from kubectl_policy.questions.blind_spots.unknowns import Answer
from kubectl_policy.questions.shared.in_force import OfKnownKind
from kubectl_policy.questions.shared.path_phrases import numbered, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.attachment.attachment import State
    from kubectl_policy.model import Diagnostic, Json, Origin
    from kubectl_policy.model.index import Presence
    from kubectl_policy.model.unknown import Port
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.fields import Role
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.questions.shared.path_phrases import NumberedPath, PathNumber
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.resolution.enforcement import Enforcement, EnforcementState
    from kubectl_policy.topology import Path

# In a picture of two states: what only the later one has, only the earlier one, or what is not the same in both.
Mark: TypeAlias = Literal["", "added", "removed", "changed"]
LinkState: TypeAlias = Literal["attached", "broken", "refused", "unknown"]

# What separates the parts of an id. No API server lets any of it into a name; a file may say what it likes.
_IN_NAMES: Final = str.maketrans({"%": "%25", "/": "%2F", "#": "%23"})
_IN_KINDS: Final = _IN_NAMES | str.maketrans({".": "%2E"})
_MARK: Final = "Where two states are compared: whether only one has it, or not both the same."
_MAY_DIFFER: Final = "True if something was read that changes it, and not applied."
_REASON: Final = "The API's own word for what is wrong with it, if it has one."


# A document has each node several times: as itself, and at the ends of its links.
@lru_cache(2**15)
def node_id(ref: NodeRef | ObjectRef) -> str:
    """Return `HTTPRoute.gateway.networking.k8s.io/baker/menu#rule`: no two nodes have the same, in any picture."""
    kind, name = _kind_id(ref.group, ref.kind), ref.name.translate(_IN_NAMES)
    section = f"#{ref.section.translate(_IN_NAMES)}" if isinstance(ref, NodeRef) and ref.section else ""
    namespace = f"{ref.namespace.translate(_IN_NAMES)}/" if ref.namespace else ""
    return f"{kind}/{namespace}{name}{section}"


@cache
def _kind_id(group: str, kind: str) -> str:
    # A group has dots, and what stands before the first one is the kind.
    return str(GroupKind(group.translate(_IN_NAMES), kind.translate(_IN_KINDS)))


class GraphOptions(Struct, frozen=True, kw_only=True):
    """What is to be in a picture: everything, or the neighbourhood of some objects."""

    subjects: Annotated[
        tuple[ObjectRef, ...], Meta(description="The objects of which this is what is around them; none if of all.")
    ] = ()
    namespace: Annotated[str, Meta(description="The namespace of whose objects it is; empty if of any.")] = ""
    up: Annotated[bool, Meta(description="Whether it has what is above them.")] = True
    down: Annotated[bool, Meta(description="Whether it has what is below them.")] = True
    depth: Annotated[
        int | None, Meta(description="How many objects further up and down it goes; null for however many.")
    ] = None
    # With kinds, links lead past the nodes of others; policies are shown that target some of these, or affect some.
    kinds: frozenset[GroupKind] = frozenset()
    policy_kinds: frozenset[GroupKind] = frozenset()
    sections: Annotated[bool, Meta(description="Whether it has listeners, rules and ports.")] = True
    only_affected: Annotated[bool, Meta(description="Whether what no policy is about is left out.")] = False
    effective: Annotated[bool, Meta(description="Whether nodes say what is in force there.")] = False
    # Whether what is in one namespace is drawn together.
    grouped: bool = True

    @property
    def kinds_(self) -> Annotated[tuple[GroupKind, ...], Meta()]:
        """The kinds of objects in it; empty for all."""
        return tuple(sorted(self.kinds))

    @property
    def policy_kinds_(self) -> Annotated[tuple[GroupKind, ...], Meta()]:
        """The kinds of policies in it; empty for all."""
        return tuple(sorted(self.policy_kinds))


class GraphFacts(GraphOptions, frozen=True, kw_only=True):
    """What the graph is of, where networkx looks."""

    complete: Annotated[bool, Meta(description="As above.")]
    two_states: Annotated[bool, Meta(description="Whether two states are compared; mark is empty otherwise.")]


class Win(Struct, frozen=True, kw_only=True):
    """Settings of one policy kind in force at a node, equal on all of its paths."""

    policy_kind: Annotated[GroupKind, Meta()]
    policies: Annotated[
        tuple[ObjectRef, ...], Meta(description="The policies that set it; none if a rule says it itself.")
    ]
    summary: Annotated[tuple[str, ...], Meta(description="The settings in a few short phrases, for people.")]
    certain: Annotated[
        bool,
        Meta(
            description="False where it is not known how policies there combine, or one of them may be different.",
        ),
    ]
    positions: tuple[int, ...] = ()
    # These paths in words, where it is told of a part of all that lead to a place.
    scope: str = ""

    @property
    def paths(self) -> Annotated[tuple[PathNumber, ...], Meta()]:
        """The numbers of the paths on which it is in force."""
        return numbers(self.positions)


class Outcome(Struct, frozen=True, kw_only=True):
    """Settings in force at a rule of a route or a listener, with the paths that carry traffic there."""

    paths: tuple[Path, ...]
    wins: tuple[Win, ...]


_TARGETS: Final = "All of its references, also those that fail, or lead to what is not drawn."


class _Drawn(Struct, frozen=True, kw_only=True):
    """Something that a picture has: an object, or a section of one."""

    ref: NodeRef | ObjectRef

    @property
    def id(self) -> Annotated[str, Meta()]:
        """Kind.group/namespace/name#section, without the parts that are empty: the same in every picture."""
        return node_id(self.ref)


class GraphNode(_Drawn, frozen=True, kw_only=True):
    """An object of the hierarchy, or one of its sections, whether or not it is there."""

    ref: Annotated[NodeRef, "inline"]
    type: Annotated[Literal["node"], Meta()] = "node"
    presence: Annotated[Presence, Meta(description="Whether it is there; unknown if it was not read.")]
    may_differ: Annotated[bool, Meta(description=_MAY_DIFFER)] = False
    virtual: Annotated[bool, Meta(description="True if no API serves its kind.")] = False
    origin: Annotated[Origin | None, Meta()] = None
    hostnames: Annotated[tuple[str, ...], Meta(description="Those of a route, as it says them.")] = ()
    protocol: Annotated[str, Meta(description="Of a listener.")] = ""
    port: Annotated[
        Port | None,
        Meta(
            description="The number of a listener's port, or of a backend's; "
            "a text while something of it is to be filled in.",
        ),
    ] = None
    hostname: Annotated[str, Meta(description="Of a listener; empty for every host.")] = ""
    matches: Annotated[tuple[Json, ...], Meta(description="Which requests a rule takes, as it says it.")] = ()
    mark: Annotated[Mark, Meta(description=_MARK)] = ""
    settings_differ: Annotated[
        bool, Meta(description="Whether other settings are in force there in the other of two states.")
    ] = False
    # None where nothing is in force, or where that was not asked for.
    outcome: Outcome | None = None

    @property
    def paths(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths of inForce: those that carry traffic there. None without --effective."""
        return numbered(self.outcome.paths) if self.outcome else ()

    @property
    def in_force(self) -> Annotated[tuple[Win, ...], Meta()]:
        """What is in force at a rule or a listener. None without --effective."""
        return self.outcome.wins if self.outcome else ()


class _GraphEdge(Struct, frozen=True, kw_only=True):
    """A link between two things that are drawn; a number tells it from others between the same."""

    parent: NodeRef
    child: NodeRef
    relation: str
    number: int = 1
    mark: Annotated[Mark, Meta(description=_MARK)] = ""

    @property
    def source(self) -> Annotated[str, Meta()]:
        """The id of the node above, or of the policy."""
        return node_id(self.parent)

    @property
    def target(self) -> Annotated[str, Meta()]:
        """The id of the node below, or of what the policy refers to."""
        return node_id(self.child)

    @property
    def key(self) -> Annotated[str, Meta()]:
        """Tells links between the same two nodes apart."""
        return self.relation if self.number == 1 else f"{self.relation} {self.number}"


class GraphLink(_GraphEdge, frozen=True, kw_only=True):
    """That one node is directly above another, or would be."""

    relation: Annotated[
        str, Meta(description="gateway, listener, listener-set, route, mesh-route, rule, backend or port.")
    ]
    state: Annotated[
        LinkState,
        Meta(description="attached if requests run down it; broken if they do, and what is there fails."),
    ] = "attached"
    reason: Annotated[str, Meta(description=_REASON)] = ""
    message: Annotated[str, Meta(description="What is wrong with it.")] = ""
    past: Annotated[bool, Meta(description="True if it leads past nodes that are not drawn.")] = False


class GraphAttachment(_GraphEdge, frozen=True, kw_only=True):
    """A reference of a policy. Where sections are not drawn, it leads to the object of the one that is meant."""

    relation: Annotated[Literal["attachment"], Meta()] = "attachment"
    state: Annotated[State, Meta(description="Whether the policy is attached, or why it is not.")]
    reason: Annotated[str, Meta(description=_REASON)]
    message: Annotated[str, Meta(description="Why it is not attached.")]
    declared_in: Annotated[str, Meta(description="As in targets.")]


class GraphPolicy(_Drawn, OfKnownKind, frozen=True, kw_only=True):
    """A policy, a filter, or an object with parameters.

    In a picture around subjects, or of a namespace, `enforcement` and `affected` are about the paths through these
    alone, but for subjects that are policies; in a picture of two states, about all paths.
    """

    ref: Annotated[ObjectRef, "inline"]
    type: Annotated[Literal["policy"], Meta()] = "policy"
    profile: PolicyKindProfile
    origin: Annotated[Origin | None, Meta()] = None
    targets: Annotated[tuple[Attachment, ...], Meta(description=_TARGETS)]
    enforcement: Annotated[Enforcement, Meta()]
    may_differ: Annotated[bool, Meta(description=_MAY_DIFFER)] = False
    earlier: Annotated[
        EnforcementState | None,
        Meta(description="Its enforcement in the earlier of two states, where it was another; else null."),
    ] = None
    contrary: Annotated[
        ReportedCondition | None,
        Meta(description="The condition by which a controller says that it does not work; null if none does."),
    ] = None
    affected: tuple[NodeRef, ...]
    mark: Annotated[Mark, Meta(description=_MARK)] = ""
    # The targets that it names in the earlier of two states alone.
    former: tuple[NodeRef, ...] = ()

    @property
    def role(self) -> Annotated[Role, Meta()]:
        """Whether it is a policy, a filter of routes, or holds parameters of Gateways."""
        return self.profile.role

    @property
    def affected_(self) -> Annotated[tuple[str, ...], Meta()]:
        """The ids of where it has an effective field, also of what is not drawn."""
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

    directed: Annotated[Literal[True], Meta(description="Links lead downward, or from policies to targets.")] = True
    multigraph: Annotated[Literal[True], Meta(description="Two nodes may have several links.")] = True
    asked: GraphOptions
    # From the root downward; links and policies are sorted by name.
    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    policies: tuple[GraphPolicy, ...]
    unseen: Annotated[tuple[BlindSpot, ...], Meta()]
    two_states: bool = False
    details: Details | None = None

    @property
    def graph(self) -> Annotated[GraphFacts, Meta()]:
        """What the graph is of, where networkx looks."""
        return GraphFacts(**asdict(self.asked), complete=self.complete, two_states=self.two_states)

    @property
    def nodes_(self) -> Annotated[tuple[GraphNode | GraphPolicy, ...], Meta()]:
        """From the root downward, then the policies. A policy that another one targets is a policy here."""
        # It is one thing, with one id; what it is as a policy says more.
        policies = {policy.ref for policy in self.policies}
        nodes = (node for node in self.nodes if node.ref.section or node.ref.object not in policies)
        return (*nodes, *self.policies)

    @property
    def links_(self) -> Annotated[tuple[GraphLink | GraphAttachment, ...], Meta()]:
        """Those of the hierarchy, then the references of policies to what is drawn."""
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
