"""A picture in boxes: one for each object with its sections and for each policy; many are folded into groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, NAMESPACE, section_noun
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.model.world import grouped_by
from kubectl_policy.render.graph.wording import api_reason, link_reason
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.wording.names import count, kind_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind
    from kubectl_policy.questions.graph.picture import GraphNode, GraphPolicy, Mark, Picture

# To fold so few objects of a kind hides more than it clears up.
_FEW: Final = 3
# So many arrows for each thing that may be drawn: what is attached to a few listeners has some more than one.
_ARROWS: Final = 2

# What an arrow stands for: requests that run down it, or what a policy refers to.
Sort: TypeAlias = Literal["traffic", "policy"]
# The objects of a kind in a namespace; without a kind, all that is in it.
Group: TypeAlias = "tuple[str, GroupKind | None]"


class Drawn(Struct, frozen=True, kw_only=True):
    """An object of the hierarchy with those of its sections that are drawn, or a policy."""

    ref: ObjectRef
    node: GraphNode | None = None
    sections: tuple[GraphNode, ...] = ()
    policy: GraphPolicy | None = None

    @property
    def group(self) -> tuple[str, GroupKind]:
        """Its namespace, or the one that it is, and its kind."""
        return (self.ref.name if self.ref.group_kind == NAMESPACE else self.ref.namespace), self.ref.group_kind


class Box(Struct, frozen=True, kw_only=True):
    """One box of a picture: an object or a policy, or (`group`) several in a namespace, of one kind or any.

    `id` is its name within the picture.
    """

    id: str
    namespace: str
    members: tuple[Drawn, ...]
    group: Group | None = None

    @property
    def label(self) -> str:
        """`48 HTTPRoutes`: what a box of several holds."""
        return kind_counts(member.ref.group_kind for member in self.members)


class End(Struct, frozen=True, kw_only=True):
    """An end of an arrow: a box, or a section that is drawn in it, by its index there."""

    box: str
    section: int | None = None


class Arrow(Struct, frozen=True, kw_only=True):
    """A line between two boxes, which stands for as many links as its `number` says.

    `state` is that of the link, or of the reference of a policy: "attached" if nothing is wrong. `words` say what is.
    """

    tail: End
    head: End
    sort: Sort
    state: str
    label: str = ""
    number: int = 1
    mark: Mark = ""


class Folding(Struct, frozen=True, kw_only=True):
    """Nodes that are not drawn singly: sections but those of Gateways, objects of some groups, whole namespaces."""

    sections: bool = False
    groups: frozenset[Group] = frozenset()

    def shows_sections_of(self, drawn: Drawn) -> bool:
        """Whether the sections of an object are drawn, if it is drawn itself."""
        return not self.sections or drawn.ref.group_kind in LISTENER_HOLDERS

    def group_of(self, drawn: Drawn) -> Group | None:
        """Return the group that stands for an object; None if it is drawn itself."""
        namespace, kind = drawn.group
        return next((group for group in ((namespace, None), (namespace, kind)) if group in self.groups), None)


class Boxes(Struct, frozen=True, kw_only=True):
    """A picture in boxes, from the root downward, with a sentence about what is folded; empty if nothing is."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    folded: str = ""

    def by_namespace(self, *, grouped: bool) -> Mapping[str, Sequence[Box]]:
        """Group the boxes by the namespace that is drawn around them; all under "" unless `grouped`."""
        return grouped_by(self.boxes, lambda box: box.namespace if grouped else "")


def drawn_objects(picture: Picture) -> tuple[Drawn, ...]:
    """Return the objects of a picture from the root downward, then its policies, also those that others are about."""
    sections = grouped_by((node for node in picture.nodes if node.ref.section), lambda node: node.ref.object)
    policies = {policy.ref for policy in picture.policies}
    objects = (node for node in picture.nodes if not node.ref.section and node.ref.object not in policies)
    return (
        *(Drawn(ref=node.ref.object, node=node, sections=tuple(sections.get(node.ref.object, ()))) for node in objects),
        *(Drawn(ref=policy.ref, policy=policy) for policy in picture.policies),
    )


def folding(objects: Sequence[Drawn], limit: int) -> Folding:
    """Fold as little as it takes to draw no more than so many boxes, if that is possible.

    Sections are folded first, then the kinds of which there are most in a namespace, then the largest namespaces.
    """
    total = len(objects) + sum(len(drawn.sections) for drawn in objects)
    if total <= limit:
        return Folding()
    fold = Folding(sections=True)
    total -= sum(len(drawn.sections) for drawn in objects if not fold.shows_sections_of(drawn))
    groups = grouped_by(objects, lambda drawn: drawn.group)
    sizes = {
        group: sum(1 + (len(drawn.sections) if fold.shows_sections_of(drawn) else 0) for drawn in members)
        for group, members in groups.items()
    }
    folded: set[Group] = set()
    for group in sorted(groups, key=lambda group: (-sizes[group], group)):
        if total > limit and len(groups[group]) >= _FEW:
            folded.add(group)
            total -= sizes[group] - 1
            sizes[group] = 1
    inside: dict[str, list[int]] = {}
    for group, size in sizes.items():
        inside.setdefault(group[0], []).extend([size] if group in folded else [1] * (len(groups[group]) - 1) + [size])
    for namespace, parts in sorted(inside.items(), key=lambda item: (-sum(item[1]), item[0])):
        if total > limit and namespace and len(parts) > 1:
            folded.add((namespace, None))
            total -= sum(parts) - 1
    return Folding(sections=True, groups=frozenset(folded))


def boxes(picture: Picture, limit: int) -> Boxes:
    """Return a picture in boxes: no more than `limit` of them with all that is drawn inside, if that can be done.

    Nor are there more arrows than can be laid out soon: routes that are attached to many listeners are folded before.
    """
    objects = drawn_objects(picture)
    total = min(limit, len(picture.nodes) + len(picture.policies))
    drawn = _boxed(picture, objects, folding(objects, total))
    while len(drawn.arrows) > _ARROWS * limit and total:
        total //= 2
        drawn = _boxed(picture, objects, folding(objects, total))
    return drawn


def _boxed(picture: Picture, objects: Sequence[Drawn], fold: Folding) -> Boxes:
    members: dict[tuple[Group | None, ObjectRef | None], list[Drawn]] = {}
    for drawn in objects:
        group, shown = fold.group_of(drawn), drawn if fold.shows_sections_of(drawn) else replace(drawn, sections=())
        members.setdefault((group, None if group else drawn.ref), []).append(shown)
    taken: set[str] = set()
    boxes_ = tuple(
        Box(id=_unused(_called(group, ref), taken), namespace=inside[0].group[0], members=tuple(inside), group=group)
        for (group, ref), inside in members.items()
    )
    arrows: dict[tuple[End, End, Sort, str, Mark], Arrow] = {}
    for arrow in _arrows(picture, boxes_):
        same = (arrow.tail, arrow.head, arrow.sort, arrow.state, arrow.mark)
        known = arrows.get(same)
        arrows[same] = replace(known, number=known.number + 1) if known else arrow
    return Boxes(boxes=boxes_, arrows=tuple(arrows.values()), folded=_folded_phrase(boxes_, objects, fold))


def _called(group: Group | None, ref: ObjectRef | None) -> str:
    """`HTTPRoute baker/menu`, `HTTPRoutes in baker`, `everything in baker`: the name of a box."""
    if group is None:
        return str(ref)
    namespace, kind = group
    return f"{plural(kind.kind) if kind else 'everything'} in {shown_namespace(namespace) or 'no namespace'}"


def _unused(name: str, taken: set[str]) -> str:
    """Return a name, with a number if another one is shown in the same way."""
    shown, number = escape_controls(name), 1
    while (unused := shown if number == 1 else f"{shown} {number}") in taken:
        number += 1
    taken.add(unused)
    return unused


def _arrows(picture: Picture, all_boxes: Iterable[Box]) -> Iterator[Arrow]:
    ends: dict[NodeRef, End] = {}
    for box in all_boxes:
        for member in box.members:
            ends[NodeRef(member.ref)] = End(box=box.id)
            if not box.group:
                ends |= {it.ref: End(box=box.id, section=index) for index, it in enumerate(member.sections)}

    def between(*nodes: NodeRef | None, sort: Sort, state: str, reason: str = "", mark: Mark = "") -> Iterator[Arrow]:
        # What is about a section that is not drawn is about its object.
        tail, head = ((ends.get(node) or ends.get(NodeRef(node.object))) if node else None for node in nodes)
        if tail and head and tail.box != head.box:
            yield Arrow(tail=tail, head=head, sort=sort, state=state, label=reason, mark=mark)

    for link in picture.links:
        reason = link_reason(link)
        yield from between(link.parent, link.child, sort="traffic", state=link.state, reason=reason, mark=link.mark)
    for policy in picture.policies:
        policy_node, mark = NodeRef(policy.ref), "" if policy.mark == "changed" else policy.mark
        for attachment in policy.targets:
            reason, state = api_reason(attachment), attachment.state
            yield from between(policy_node, attachment.target, sort="policy", state=state, reason=reason, mark=mark)
        for target in policy.former:
            yield from between(policy_node, target, sort="policy", state="attached", mark="removed")


def _folded_phrase(all_boxes: Iterable[Box], objects: Iterable[Drawn], fold: Folding) -> str:
    """Say what is not drawn singly, and how to have it drawn."""
    if not fold.sections:
        return ""
    folded = [member for box in all_boxes if box.group for member in box.members]
    bare = (member.ref.group_kind for member in objects if member.sections and not fold.shows_sections_of(member))
    nouns = sorted({plural(section_noun(kind)) for kind in bare})
    phrases = [f"{listed(nouns)} are left out"] if nouns else []
    phrases += [f"{count(len(folded), 'object')} are drawn together, by kind and namespace"] if folded else []
    return f"Too much to draw singly: {' and '.join(phrases)}; --show-all draws more, TYPE/NAME, -n or --kind a part"
