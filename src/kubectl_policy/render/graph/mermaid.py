"""A picture as a Mermaid flowchart, which GitHub, GitLab and many wikis draw where it is pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.render.graph.boxes import boxes
from kubectl_policy.render.graph.wording import (
    MARKS,
    drawn_kinds,
    graph_headline,
    node_details,
    node_title,
    outcome_lines,
    policy_state,
)
from kubectl_policy.render.output.escape import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.questions.graph.picture import GraphNode, Mark, Picture
    from kubectl_policy.render.graph.boxes import Arrow, Box, Boxes, End
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution.enforcement import EnforcementState

# As many things are laid out well. Mermaid itself draws nothing beyond 500 edges or 50,000 characters.
_MOST: Final = 240
_MOST_OF_ALL: Final = 480
_MOST_EDGES: Final = 490
_MOST_CHARACTERS: Final = 49_000

# What may stand in a label as it is; to write the rest as codes keeps it from being taken for syntax of any sort.
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:/_-()*+=~")
# A shape for each state, and the class that colours it.
_SHAPES: Final[Mapping[EnforcementState, tuple[str, str, str]]] = {
    "Enforced": ("([", "])", "enforced"),
    "PartiallyEnforced": ("[/", "/]", "partial"),
    "Overridden": ("[\\", "\\]", "beaten"),
    "Conflicted": ("{{", "}}", "failed"),
    "TargetNotFound": ("{{", "}}", "failed"),
    "NotPermitted": ("{{", "}}", "failed"),
    "Invalid": ("{{", "}}", "failed"),
    "NoEffect": ("(", ")", "beaten"),
    "Unknown": ("(", ")", "unknown"),
}
_CLASSES: Final = {
    "node": "fill:#ffffff,stroke:#64748b,color:#1e293b",
    "missing": "fill:#ffffff,stroke:#b91c1c,color:#1e293b,stroke-dasharray:6 4",
    "unread": "fill:#ffffff,stroke:#64748b,color:#1e293b,stroke-dasharray:2 3",
    "enforced": "fill:#fef3c7,stroke:#b45309,color:#1e293b",
    "partial": "fill:#fef9c3,stroke:#b45309,color:#1e293b",
    "beaten": "fill:#e2e8f0,stroke:#64748b,color:#1e293b",
    "failed": "fill:#fee2e2,stroke:#b91c1c,color:#1e293b",
    "unknown": "fill:#ffffff,stroke:#64748b,color:#1e293b,stroke-dasharray:2 3",
    "doubtful": "stroke-dasharray:2 3",
    "added": "stroke:#15803d,stroke-width:3px",
    "removed": "stroke:#b91c1c,stroke-width:3px,stroke-dasharray:6 4",
    "changed": "stroke:#b45309,stroke-width:3px",
}


def graph_mermaid(picture: Picture, view: View) -> str:
    """Return the picture as a flowchart, folded until Mermaid draws it; a comment and a node say what is folded."""
    limit = _MOST_OF_ALL if view.everything else _MOST
    while True:
        drawn = boxes(picture, limit)
        text = "\n".join([*_lines(picture, drawn), ""])
        limit //= 2
        if not limit or (len(text) <= _MOST_CHARACTERS and len(drawn.arrows) <= _MOST_EDGES):
            return text


def _lines(picture: Picture, drawn: Boxes) -> Iterator[str]:
    yield "flowchart LR"
    yield f"  %% {_comment(graph_headline(picture))}"
    if drawn.folded:
        yield f"  %% {_comment(drawn.folded)}"
        yield f'  folded>"{_label(drawn.folded)}"]'
    flow = _Flow(picture, drawn)
    for index, (namespace, inside) in enumerate(drawn.by_namespace(grouped=picture.asked.grouped).items()):
        if namespace:
            yield f'  subgraph ns{index}["{_label(f"namespace {shown_namespace(namespace)}")}"]'
        yield from (f"  {'  ' if namespace else ''}{flow.node(box)}" for box in inside)
        if namespace:
            yield "  end"
    yield from (f"  {flow.arrow(arrow)}" for arrow in drawn.arrows)
    yield from (f"  classDef {name} {_CLASSES[name]}" for name in sorted(flow.classes))
    yield from (f"  class {','.join(flow.classes[name])} {name}" for name in sorted(flow.classes))


class _Flow:
    """The nodes and arrows of a flowchart."""

    def __init__(self, picture: Picture, drawn: Boxes) -> None:
        """Number the boxes; `classes` map each class to its nodes, once all nodes are made."""
        self._picture, self._kinds = picture, drawn_kinds(picture)
        self._ids = {box.id: f"n{index}" for index, box in enumerate(drawn.boxes)}
        self._boxes = {box.id: box for box in drawn.boxes}
        self.classes: dict[str, list[str]] = {}

    def node(self, box: Box) -> str:
        """Return a box as a node."""
        opened, closed, name, lines = self._drawn(box)
        identifier = self._ids[box.id]
        self.classes.setdefault(name, []).append(identifier)
        first = box.members[0]
        mark = first.policy.mark if first.policy else first.node.mark if first.node else ""
        if mark and not box.group:
            self.classes.setdefault(mark, []).append(identifier)
        if any(drawn_part and drawn_part.may_differ for drawn_part in (first.policy, first.node)) and not box.group:
            self.classes.setdefault("doubtful", []).append(identifier)
        return f'{identifier}{opened}"{"<br/>".join(map(_label, lines))}"{closed}'

    def _drawn(self, box: Box) -> tuple[str, str, str, list[str]]:
        """Return the text around a node's label, its class, and the lines of the label."""
        if box.group:
            return "[[", "]]", "node", [box.label]
        (only,) = box.members
        if only.policy:
            opened, closed, name = _SHAPES[only.policy.state]
            kind, called = self._kinds[only.ref.group_kind], self._name(box)
            return opened, closed, name, [f"{kind} {called}{_marks(only.policy.mark)}", policy_state(only.policy)]
        lines = [line for node in filter(None, (only.node, *only.sections)) for line in self._told(node, box)]
        absent = {"present": "node", "missing": "missing", "unknown": "unread"}
        return "[", "]", absent[only.node.presence] if only.node else "node", lines

    def _told(self, node: GraphNode, box: Box) -> Iterator[str]:
        ref, details = node.ref, node_details(node)
        title = node_title(node) if ref.section else f"{self._kinds[ref.object.group_kind]} {self._name(box)}"
        differs = ", settings differ" if node.settings_differ else ""
        yield f"{title}{f': {details}' if details else ''}{_marks(node.mark)}{differs}"
        yield from (f"- {line}" for line in outcome_lines(node))

    def _name(self, box: Box) -> str:
        ref = box.members[0].ref
        return ref.name if self._picture.asked.grouped else ref.qualified_name

    def arrow(self, arrow: Arrow) -> str:
        """Return an arrow, with the sections that it leads from and to, and what is wrong with it."""
        labels = [*self._section(arrow.tail), *([arrow.label] if arrow.label else [])]
        labels += [f"to {title}" for title in self._section(arrow.head)]
        labels += [MARKS[arrow.mark]] if arrow.mark else []
        labels += [f"{arrow.number:,}"] if arrow.number > 1 else []
        solid = arrow.state in {"attached", "broken"}
        line = ("--o" if solid else "-.-o") if arrow.sort == "policy" else "-->" if solid else "-.->"
        label = f'|"{_label(", ".join(labels))}"|' if labels else ""
        return f"{self._ids[arrow.tail.box]} {line}{label} {self._ids[arrow.head.box]}"

    def _section(self, end: End) -> list[str]:
        """Return the section at which an arrow ends; of an object that has no other one, that goes without saying."""
        sections = self._boxes[end.box].members[0].sections
        return [] if end.section is None or len(sections) == 1 else [node_title(sections[end.section])]


def _marks(mark: Mark) -> str:
    return f" ({MARKS[mark]})" if mark else ""


def _label(text: str) -> str:
    """Return a text in which nothing is syntax of Mermaid, Markdown or HTML."""
    return "".join(
        character if character in _PLAIN or (not character.isascii() and character.isalpha()) else f"#{ord(character)};"
        for character in escape_controls(text)
    )


def _comment(text: str) -> str:
    """Return a text for a comment, which ends with the line, and in which `%%{` would be a directive."""
    return escape_controls(text).replace("{", "(").replace("}", ")")
