"""Short forms of pictures, for tests that assert them by value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_policy import PolicyKindProfile
from kubectl_policy.model import Gap, NodeRef, ObjectRef, Resource
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphLink, GraphNode, GraphOptions, GraphPolicy, NodeInForce, Picture
from tests.questions.build import analyzed


def drawn(
    resources: Sequence[Resource],
    asked: GraphOptions | None = None,
    *,
    profiles: Sequence[PolicyKindProfile] = (),
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> Picture:
    """The picture of some objects, which are all that there is; of everything unless something is asked for."""
    analysis = analyzed(*resources, complete=complete, gaps=gaps, profiles=profiles)
    return graph(analysis, asked or GraphOptions())


def around(*subjects: ObjectRef, **asked: object) -> GraphOptions:
    return GraphOptions(subjects=subjects, **asked)  # type: ignore[arg-type]


def nodes(picture: Picture) -> list[str]:
    """The nodes by name, without the namespace `default`; with what is particular about each."""
    return list(map(_node, picture.nodes))


def _node(node: GraphNode) -> str:
    presence = "" if node.presence == "present" else f" ({node.presence})"
    return f"{_marked(node.mark)}{short(node.ref)}{presence}{' virtual' if node.virtual else ''}"


def _marked(mark: str) -> str:
    return f"{mark}: " if mark else ""


def short(node: NodeRef | ObjectRef) -> str:
    """`Gateway g#http`."""
    return str(node).replace(" default/", " ")


def links(picture: Picture, *relations: str) -> list[str]:
    """The links, of all relations or of some: `Gateway g > HTTPRoute r refused NoMatchingParent`."""
    return [_link(link) for link in picture.links if not relations or link.relation in relations]


def _link(link: GraphLink) -> str:
    words = [f"{_marked(link.mark)}{short(link.parent)} > {short(link.child)}"]
    words += [] if link.state == "attached" else [link.state]
    words += [link.reason] if link.reason else []
    return " ".join(words + (["past"] if link.past else []))


def failing(picture: Picture) -> list[str]:
    return [f"{_link(link)}: {link.message}" for link in picture.links if link.state != "attached"]


def policies(picture: Picture) -> list[str]:
    """The policies: `p Enforced at HTTPRoute r`."""
    return list(map(_policy, picture.policies))


def _policy(policy: GraphPolicy) -> str:
    earlier = f" was {policy.earlier}" if policy.earlier else ""
    where = f" at {', '.join(map(short, policy.affected))}" if policy.affected else ""
    former = f" no more on {', '.join(map(short, policy.former))}" if policy.former else ""
    return f"{_marked(policy.mark)}{policy.ref.name} {policy.state}{earlier}{where}{former}"


def unseen(picture: Picture) -> list[str]:
    return [thing.what for thing in picture.unseen]


def groups(picture: Picture) -> dict[str, list[tuple[str, ...]]]:
    """What is in force where: the kind, the policies, and the positions of the paths."""
    return {
        short(place): [
            (group.policy_kind.kind, _names(group.policies), "".join(map(str, group.positions)))
            for group in outcome.groups
        ]
        for place, outcome in outcomes(picture).items()
    }


def outcomes(picture: Picture) -> dict[NodeRef, NodeInForce]:
    return {node.ref: node.outcome for node in picture.nodes if node.outcome}


def _names(refs: Iterable[ObjectRef]) -> str:
    return " ".join(ref.name for ref in refs)
