"""What a picture of the hierarchy holds: nodes, links between them, the policies on them, and what wins where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import Diagnostic, GroupKind, Json, NodeRef, ObjectRef, Origin
    from kubectl_policy.model.index import Presence
    from kubectl_policy.model.snapshot import Place
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.changes.blast_radius import BlastRadius
    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.questions.shared.reported import ReportedCondition
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.resolution.enforcement import Enforcement, EnforcementState
    from kubectl_policy.topology import Path
    from kubectl_policy.topology.gateway.listeners import Listener

# In a picture of two states: what only the later one has, only the earlier one, or what is not the same in both.
Mark: TypeAlias = Literal["", "added", "removed", "changed"]
# Whether requests run down a link: they do, or would if what is there was (broken), or do not, or nobody can know.
LinkState: TypeAlias = Literal["attached", "broken", "refused", "unknown"]


class GraphOptions(Struct, frozen=True, kw_only=True):
    """What is to be in a picture: everything, or the neighbourhood of some `subjects`.

    The neighbourhood goes `up` and `down` from these, no further than `depth` objects (None: however far). With a
    `namespace`, it is that of all objects there. Without `sections` objects alone are nodes; with `kinds` only nodes of
    these are, and links lead past the others; policies are shown that target some of these, or have an effect on some.
    With `policy_kinds` only policies of these are. Of what is `only_affected`, policies that are shown have an effect
    on it, or target it, or it leads there. `effective` also finds out what wins where. What is in one namespace is
    drawn together if it is to be `grouped`.
    """

    subjects: tuple[ObjectRef, ...] = ()
    up: bool = True
    down: bool = True
    depth: int | None = None
    namespace: str = ""
    kinds: frozenset[GroupKind] = frozenset()
    policy_kinds: frozenset[GroupKind] = frozenset()
    sections: bool = True
    only_affected: bool = False
    effective: bool = False
    grouped: bool = True


class GraphNode(Struct, frozen=True, kw_only=True):
    """An object of the hierarchy, or one of its sections, whether or not it is there.

    It is `virtual` if no API serves its kind. `hostnames` are those of a route, as it says them; `listener` is what a
    listener is, `matches` what a rule says of the requests that it takes, and `port` the number of a port. An object
    that was read `may_differ` if something changes it that was not applied. Of one that is `changed`, both states have
    another version.
    """

    ref: NodeRef
    presence: Presence
    origin: Origin | None = None
    virtual: bool = False
    hostnames: tuple[str, ...] = ()
    listener: Listener | None = None
    matches: tuple[Json, ...] = ()
    port: str = ""
    may_differ: bool = False
    mark: Mark = ""


class GraphLink(Struct, frozen=True, kw_only=True):
    """That one node is directly above another, or would be. `relation` is the name of its row in `LINKS`.

    `reason` is the API's own word for what is wrong with it, `message` says so in a sentence; empty if nothing is. A
    link that leads `past` nodes that are left out stands for several.
    """

    parent: NodeRef
    child: NodeRef
    relation: str
    state: LinkState = "attached"
    reason: str = ""
    message: str = ""
    past: bool = False
    mark: Mark = ""


class GraphPolicy(Struct, frozen=True, kw_only=True):
    """A policy, filter, or object with parameters, with all of its references, also those that fail.

    `affected` is where it has an effective field. In a picture around subjects, or of a namespace, `enforcement` and
    `affected` are about the paths through these alone, but for subjects that are policies. `contrary` is what a
    controller reports to the contrary. It `may_differ` as a node may. In a picture of two states, all paths count,
    `earlier` is its state in the earlier one where that is another, and `former` are the targets that it names there
    alone.
    """

    ref: ObjectRef
    profile: PolicyKindProfile
    enforcement: Enforcement
    attachments: tuple[Attachment, ...]
    affected: tuple[NodeRef, ...]
    origin: Origin | None = None
    contrary: ReportedCondition | None = None
    may_differ: bool = False
    mark: Mark = ""
    earlier: EnforcementState | None = None
    former: tuple[NodeRef, ...] = ()

    @property
    def state(self) -> EnforcementState:
        """How far it is enforced."""
        return self.enforcement.state


class Win(Struct, frozen=True, kw_only=True):
    """What is in force of one kind, the same on all of `paths` (positions): who set it, and in a few phrases what.

    It is not `certain` where it is not known how the policies combine, or where one that takes part may be otherwise.
    """

    kind: GroupKind
    policies: tuple[ObjectRef, ...]
    summary: tuple[str, ...]
    certain: bool
    paths: tuple[int, ...]


class Outcome(Struct, frozen=True, kw_only=True):
    """What is in force at a place: a rule of a route, or a listener. `paths` are those that carry traffic there."""

    place: NodeRef
    paths: tuple[Path, ...]
    wins: tuple[Win, ...]


class EffectsOn(Struct, frozen=True, kw_only=True):
    """What is in force on an object: on which of its `paths` (positions), each of which outcomes (positions as well).

    Of one that `passes_down`, the kind takes effect further down than these paths reach.
    """

    subject: ObjectRef
    paths: tuple[Path, ...]
    in_force: tuple[tuple[int, tuple[int, ...]], ...]


class Details(Struct, frozen=True, kw_only=True):
    """The answers: what is in force where, each outcome once; and of policies what deleting them would change.

    Policies that are missing among `deletions` affect too much. `problems` are those of what is drawn, or where that is
    too much those from reading alone: then not `all_checked`.
    """

    outcomes: tuple[InForce, ...]
    effects: tuple[EffectsOn, ...]
    deletions: Mapping[ObjectRef, BlastRadius]
    problems: tuple[Diagnostic, ...]
    all_checked: bool


class Picture(Struct, frozen=True, kw_only=True):
    """The answer: nodes from the root downward, links and policies by name, and what could not be seen.

    `outcomes` is what is in force at the nodes where something is, if that was asked for. `differing` are the nodes of
    a picture of two states at which settings are in force that are not the same in both. `two_states` tells such one.
    `details` are what can be asked of it, where that was looked for.
    """

    asked: GraphOptions
    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    policies: tuple[GraphPolicy, ...]
    unseen: tuple[Unseen, ...]
    outcomes: Mapping[NodeRef, Outcome] = field(default_factory=dict["NodeRef", Outcome])
    differing: frozenset[NodeRef] = frozenset()
    two_states: bool = False
    details: Details | None = None
    place: Place = "the input"

    @property
    def is_part(self) -> bool:
        """Whether this is a part of what there is, and policies are as far enforced as they are in this part."""
        return bool(self.asked.subjects or self.asked.namespace) and not self.two_states
