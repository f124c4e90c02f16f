"""A picture in DOT for Graphviz: a table for each object with its sections, a shape for each policy's state."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, LISTENER_HOLDERS, NAMESPACE, ROUTES
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.render.graph.boxes import Box, boxes
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
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, ObjectRef
    from kubectl_policy.model.index import Presence
    from kubectl_policy.questions.graph.picture import GraphNode, GraphPolicy, Mark, Picture
    from kubectl_policy.render.graph.boxes import Arrow, End
    from kubectl_policy.render.output.text import View
    from kubectl_policy.resolution.enforcement import EnforcementState

# So many objects, sections and policies are laid out well, and soon; of everything, so many still in seconds.
MOST: Final = 1_000
MOST_OF_ALL: Final = 2_000
_CAPTION: Final = 140
_DETAILS: Final = 60

_INK: Final = "#1e293b"
_FAINT: Final = "#64748b"
_RED: Final = "#b91c1c"
_GREEN: Final = "#15803d"
_AMBER: Final = "#b45309"
# A shape for each state: nobody has to tell colours apart, and the words are there as well.
_SHAPES: Final[Mapping[EnforcementState, tuple[str, str, str]]] = {
    "Enforced": ("note", "#fef3c7", _AMBER),
    "PartiallyEnforced": ("tab", "#fef9c3", _AMBER),
    "Overridden": ("folder", "#e2e8f0", _FAINT),
    "Conflicted": ("octagon", "#fee2e2", _RED),
    "TargetNotFound": ("hexagon", "#fee2e2", _RED),
    "NotPermitted": ("hexagon", "#fee2e2", _RED),
    "Invalid": ("hexagon", "#fee2e2", _RED),
    "NoEffect": ("ellipse", "#e2e8f0", _FAINT),
    "Unknown": ("ellipse", "#ffffff", _FAINT),
}
_LINES: Final = {"attached": "solid", "unknown": "dotted", "target unknown": "dotted", "not computed": "dotted"}
_BORDERS: Final[Mapping[Presence, str]] = {"present": "SOLID", "missing": "DASHED", "unknown": "DOTTED"}
_FONT: Final = 'fontname="Helvetica,Arial,sans-serif", fontcolor="#1e293b"'
# What all graphs, nodes and edges have, also those of a page.
GRAPH: Final = f"rankdir=LR, fontsize=12, nodesep=0.15, ranksep=0.9, newrank=true, nslimit=2, nslimit1=2, {_FONT}"
NODES: Final = f'fontsize=11, margin="0.12,0.06", {_FONT}'
EDGES: Final = f"fontsize=9, {_FONT}"
_COLOURS: Final[Mapping[Mark, str]] = {"": _INK, "added": _GREEN, "removed": _RED, "changed": _AMBER}


def graph_dot(picture: Picture, view: View) -> str:
    """Return the picture in DOT, with what is folded in its caption."""
    drawn = boxes(picture, MOST_OF_ALL if view.everything else MOST)
    notes = [graph_headline(picture), *([drawn.folded] if drawn.folded else []), *_legend(picture)]
    caption = "".join(
        f'{_text(line)}<BR ALIGN="LEFT"/>' for note in notes for line in wrap(escape_controls(note), _CAPTION)
    )
    lines = [
        "digraph {",
        f"  graph [{GRAPH}, bgcolor=white, labelloc=t, labeljust=l, label=<{caption}>]",
        f"  node [{NODES}]",
        f"  edge [{EDGES}]",
    ]
    statements = Statements(picture)
    for index, (namespace, inside) in enumerate(drawn.by_namespace(grouped=picture.asked.grouped).items()):
        within = [f"subgraph cluster_{index} {{", f"  graph [{cluster(namespace)}]"] if namespace else []
        lines += [f"  {line}" for line in within]
        lines += [f"  {'  ' if namespace else ''}{statements.node(box)}" for box in inside]
        lines += ["  }"] if namespace else []
    lines += [f"  {_end(arrow.tail, 'e')} -> {_end(arrow.head, 'w')} [{edge(arrow)}]" for arrow in drawn.arrows]
    return "\n".join([*lines, "}", ""])


def cluster(namespace: str) -> str:
    """Return the attributes of the cluster of a namespace."""
    label = _quoted(f"namespace {shown_namespace(namespace)}")
    return (
        f'label={label}, style="rounded,filled", fillcolor="#f8fafc", color="#cbd5e1",'
        f' fontcolor="{_FAINT}", labeljust=l, margin=12, class="namespace"'
    )


def _legend(picture: Picture) -> Iterator[str]:
    """Explain the lines, as far as there are such lines."""
    states = {link.state for link in picture.links}.union(
        target.state for policy in picture.policies for target in policy.targets
    )
    entries = ["a thick line: requests run there", "a thin one: what a policy is about"]
    entries += ["dashed: refused"] if any(_line(state) == "dashed" for state in states) else []
    entries += ["dotted: not known"] if any(_line(state) == "dotted" for state in states) else []
    yield f"Lines: {'; '.join(entries)}."


class Statements:
    """The nodes of a picture in DOT; those that are `anchors` in a page are links there, with these ids."""

    def __init__(self, picture: Picture, anchors: Mapping[NodeRef, str] | None = None) -> None:
        """Remember what is drawn."""
        self._picture, self._anchors = picture, anchors or {}
        self._kinds = drawn_kinds(picture)

    def node(self, box: Box) -> str:
        """Return the statement about a box."""
        return f"{_id(box.id)} [{self.attributes(box)}, label=<{''.join(self.label(box))}>]"

    def attributes(self, box: Box) -> str:
        """Return the attributes of a box, but for its label."""
        if box.group:
            kind, is_of_policies = box.group[1], bool(box.members[0].policy)
            fill = "#f1f5f9" if kind is None else "#fef3c7" if is_of_policies else _fill(kind)
            return f'shape=box3d, style=filled, fillcolor="{fill}", color="{_FAINT}", class="group"'
        policy = box.members[0].policy
        if policy is None:
            return 'shape=plain, class="object"'
        shape, fill, colour = _SHAPES[policy.state]
        styles = ["filled", *(["dotted"] if policy.state == "Unknown" or policy.may_differ else [])]
        styles += ["dashed"] if policy.mark == "removed" else []
        colour = f'"{_COLOURS[policy.mark]}", penwidth=2' if policy.mark else f'"{colour}"'
        name, style = self._anchors.get(NodeRef(policy.ref)), ",".join(styles)
        link = f', id="{name}", URL="#{name}"' if name else ""
        return (
            f'shape={shape}, style="{style}", fillcolor="{fill}", color={colour}, class="policy {policy.state}"{link}'
        )

    def label(self, box: Box) -> list[str]:
        """Return the label of a box in Graphviz's HTML: for an object the beginning of its table, its rows, the end."""
        if box.group:
            inside = [] if box.group[1] else [_faint(f"namespace {shown_namespace(box.namespace)}")]
            return ["<BR/>".join([f"<B>{_text(escape_controls(box.label))}</B>", *inside])]
        (only,) = box.members
        if only.policy:
            return ["<BR/>".join(self._policy(only.policy))]
        return list(self._table(only.node, only.sections)) if only.node else []

    def _policy(self, policy: GraphPolicy) -> Iterator[str]:
        yield _faint(self._kinds[policy.ref.group_kind] + _marks(policy.mark))
        yield f"<B>{self._name(policy.ref)}</B>"
        yield from map(_text, wrap(escape_controls(policy_state(policy)), _DETAILS))

    def _table(self, node: GraphNode, sections: Iterable[GraphNode]) -> Iterator[str]:
        line = "DOTTED" if node.may_differ else _BORDERS[node.presence]
        line = "DASHED" if node.mark == "removed" else line
        colour = _COLOURS[node.mark] if node.mark else _RED if node.presence == "missing" else _FAINT
        ref, differs = node.ref.object, node.settings_differ
        colour = _COLOURS["changed"] if differs and not node.mark else colour
        lines = [_faint(self._kinds[ref.group_kind] + _marks(node.mark, differs=differs)), f"<B>{self._name(ref)}</B>"]
        lines += [_faint(detail) for detail in wrap(escape_controls(node_details(node)), _DETAILS)]
        lines += _outcome_lines(node)
        border, cells = 2 if node.mark or differs else 1, 'CELLBORDER="0" CELLSPACING="0" CELLPADDING="4"'
        yield (
            f'<TABLE BORDER="{border}" {cells} STYLE="{line}" COLOR="{colour}"><TR><TD PORT="h" ALIGN="LEFT"'
            f' BALIGN="LEFT" BGCOLOR="{_fill(ref.group_kind)}"{self._anchor(node)}>{"<BR/>".join(lines)}</TD></TR>'
        )
        for index, section in enumerate(sections):
            yield self._row(index, section, colour)
        yield "</TABLE>"

    def _row(self, index: int, section: GraphNode, colour: str) -> str:
        details = node_details(section)
        lines = [_text(escape_controls(node_title(section)))]
        lines[0] += f"  {_faint(details)}" if details else ""
        lines[0] += _text(_marks(section.mark, differs=section.settings_differ)).strip(" ")
        lines += _outcome_lines(section)
        line = "" if section.presence == "present" else f' STYLE="{_BORDERS[section.presence]}"'
        cell = f'ALIGN="LEFT" BALIGN="LEFT" BORDER="1" SIDES="T" COLOR="{colour}"{line}'
        return f'<TR><TD PORT="p{index}" {cell}{self._anchor(section)}>{"<BR/>".join(lines)}</TD></TR>'

    def _anchor(self, node: GraphNode) -> str:
        name = self._anchors.get(node.ref)
        return f' ID="{name}" HREF="#{name}"' if name else ""

    def _name(self, ref: ObjectRef) -> str:
        """Return the name alone where the box around it says in which namespace it is."""
        return _text(escape_controls(ref.name if self._picture.asked.grouped else ref.qualified_name))


def edge(arrow: Arrow) -> str:
    """Return the attributes of an arrow, with its label."""
    line, is_policy = _line(arrow.state), arrow.sort == "policy"
    colour = _RED if line == "dashed" or arrow.state == "broken" else _AMBER if is_policy else _INK
    colour = _COLOURS[arrow.mark] if arrow.mark else colour
    labels = [label for label in (MARKS[arrow.mark], arrow.label) if label]
    labels += [f"{arrow.number:,}"] if arrow.number > 1 else []
    lines = [_text(line) for label_ in labels for line in wrap(escape_controls(label_), _DETAILS // 2)]
    label = f', label=<{"<BR/>".join(lines)}>, fontcolor="{colour}"' if lines else ""
    head = "arrowhead=dot, arrowsize=0.5" if is_policy else "arrowhead=normal"
    width = 2 if arrow.mark else 0.8 if is_policy else 1.4
    name = f"{arrow.sort} {arrow.state.replace(' ', '-')}"
    return f'style={line}, color="{colour}", {head}, penwidth={width}{label}, class="{name}"'


def _line(state: str) -> str:
    return _LINES.get(state, "dashed")


def _outcome_lines(node: GraphNode) -> list[str]:
    return [
        f'<FONT COLOR="{_GREEN}" POINT-SIZE="9">{_text(escape_controls(line))}</FONT>' for line in outcome_lines(node)
    ]


def _marks(mark: Mark, *, differs: bool = False) -> str:
    marks = [*([MARKS[mark]] if mark else []), *(["settings differ"] if differs else [])]
    return f" ({', '.join(marks)})" if marks else ""


def _fill(kind: GroupKind) -> str:
    if kind in {GATEWAY_CLASS, NAMESPACE}:
        return "#e2e8f0"
    if kind in LISTENER_HOLDERS:
        return "#dbeafe"
    return "#dcfce7" if kind in ROUTES else "#ede9fe"


def _end(end: End, side: str) -> str:
    port = "" if end.section is None else f":p{end.section}"
    return f"{_id(end.box)}{port}:{side}"


def _faint(text: str) -> str:
    return f'<FONT COLOR="{_FAINT}" POINT-SIZE="9">{_text(escape_controls(text))}</FONT>'


def _text(text: str) -> str:
    r"""Escape a text for Graphviz's HTML, which has no empty texts, and where `\N` would be the name of the node."""
    return escape(text.replace("\\", "\\\\")) or " "


def _id(text: str) -> str:
    """Return the name of a node, which no box has twice, in quotes."""
    plain = escape_controls(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def _quoted(text: str) -> str:
    r"""Return a text in quotes, in which nothing is special: neither `\N` nor `&lt;`."""
    return _id(escape_controls(text).replace("&", "&amp;"))
