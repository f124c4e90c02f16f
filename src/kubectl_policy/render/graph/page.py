"""A picture as one self-contained HTML page: a viewer, and its data, safely embedded."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.refs import shown_namespace
from kubectl_policy.render.changes.headlines import blast_headline
from kubectl_policy.render.graph.boxes import Box, drawn_objects
from kubectl_policy.render.graph.dot import EDGES, GRAPH, NODES, Statements, cluster
from kubectl_policy.render.graph.wording import (
    STATES,
    api_reason,
    drawn_kinds,
    graph_headline,
    node_details,
    node_title,
    policy_state,
    presence_phrase,
)
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.wording.names import flow, source_phrase
from kubectl_policy.render.wording.settings import why_superseded, without_effect_phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.differences.effects import EffectiveValue
    from kubectl_policy.questions.graph.picture import Details, GraphNode, GraphPolicy, Picture
    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.render.graph.boxes import Drawn, Group
    from kubectl_policy.resolution import Fate
    from kubectl_policy.topology import Path


# Where a page has what is put into it: `<!-- graphviz.js -->`, `<!-- data -->`, `{{script-src}}`.
_PLACE: Final = re.compile(r"<!-- (?P<part>[a-z_.-]+) -->|\{\{(?P<value>[a-z-]+)\}\}")


def graph_page(picture: Picture) -> str:
    """Return the page. The same picture makes the same page, byte for byte."""
    return assembled(page_data(picture))


def assembled(data: Mapping[str, Json]) -> str:
    """Return the page that shows some data. Only its own scripts run in it, and it asks nobody anything."""
    folder = files("kubectl_policy.render.graph") / "assets"
    page = (folder / "page.html").read_text("utf-8")
    names = [match["part"] for match in _PLACE.finditer(page) if match["part"] and match["part"] != "data"]
    parts = {name: (folder / name).read_text("utf-8") for name in names}
    values = {
        "script-src": " ".join(_hash(text) for name, text in parts.items() if name.endswith(".js")),
        "style-src": " ".join(_hash(text) for name, text in parts.items() if name.endswith(".css")),
        "title": escape(str(data["title"])),
    }
    parts["data"] = embedded(data)
    return _PLACE.sub(lambda slot: parts[slot["part"]] if slot["part"] else values[slot["value"]], page)


def embedded(data: Mapping[str, Json]) -> str:
    """Encode data as JSON in which nothing ends the element around it, or is taken for anything but data."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # What a CI would obey in its log is written out when this is printed, unless it is here already.
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.replace("##", "#\\u0023")


def _hash(text: str) -> str:
    """Return the hash by which the page's policy allows one script or style sheet."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def page_data(picture: Picture) -> dict[str, Json]:
    """Return all that the page shows: everything once, in lists, and referred to by its position there."""
    return _Data(picture).all()


class _Data:
    """The lists in the making."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.names = drawn_kinds(picture)
        self.objects = drawn_objects(picture)
        self.nodes = {node.ref: index for index, node in enumerate(picture.nodes)}
        self.places = {object_.ref: index for index, object_ in enumerate(self.objects)}
        self.kinds = {kind: index for index, kind in enumerate(self.names)}
        anchors = {node: f"n{index}" for node, index in self.nodes.items()}
        anchors |= {NodeRef(policy.ref): f"o{self.places[policy.ref]}" for policy in picture.policies}
        self.statements = Statements(picture, anchors)
        self.members: dict[Group, list[Drawn]] = {}
        for object_ in self.objects:
            self.members.setdefault((object_.group[0], None), []).append(object_)
            self.members.setdefault(object_.group, []).append(object_)
        self.groups: dict[Group, int] = {group: index for index, group in enumerate(self.members)}
        self.paths: dict[Path, int] = {}

    def all(self) -> dict[str, Json]:
        picture, details = self.picture, self.picture.details
        return {
            "title": "kubectl policy graph",
            "headline": graph_headline(picture),
            "dot": {"graph": GRAPH, "nodes": NODES, "edges": EDGES},
            "states": {str(state): phrase for state, phrase in STATES.items()},
            "unseen": [{"what": spot.what, "reason": spot.reason, "remedy": spot.remedy} for spot in picture.unseen],
            "problems": problems(details),
            "kinds": list(self.names.values()),
            "objects": list(map(self.object, self.objects)),
            "nodes": list(map(self.node, picture.nodes)),
            "links": [
                [
                    self.nodes[link.parent],
                    self.nodes[link.child],
                    link.relation,
                    link.state,
                    link.reason,
                    link.message,
                    link.mark,
                ]
                for link in picture.links
            ],
            "attachments": [
                [
                    self.places[policy.ref],
                    self.nodes.get(target.target) if target.target else None,
                    target.state,
                    api_reason(target),
                    target.message,
                ]
                for policy in picture.policies
                for target in policy.targets
            ],
            "groups": [self.group(group, index) for group, index in self.groups.items()],
            "grouped": picture.asked.grouped,
            "outcomes": [self.outcome(outcome) for outcome in (details.outcomes if details else ())],
            "effects": self.effects(details),
            "reach": {str(self.places[policy.ref]): self.reach(policy, details) for policy in picture.policies},
            # Last, as the others number them.
            "paths": [[self.nodes[node] for node in path if node in self.nodes] for path in self.paths],
        }

    def node(self, node: GraphNode) -> Json:
        """Return a node, with what its section is called, and what it says itself."""
        document: dict[str, Json] = {"object": self.places[node.ref.object]}
        if node.ref.section:
            document |= {"section": escape_controls(node.ref.section), "title": escape_controls(node_title(node))}
        details = node_details(node)
        optional: dict[str, Json] = {
            "details": escape_controls(details),
            "mark": node.mark,
            "settingsDiffer": node.settings_differ,
        }
        return document | {name: value for name, value in optional.items() if value}

    def object(self, drawn: Drawn) -> Json:
        """Return an object or a policy."""
        ref, node, policy = drawn.ref, drawn.node, drawn.policy
        box = Box(id=f"o{self.places[ref]}", namespace=drawn.group[0], members=(drawn,))
        head, *rows = self.statements.label(box)
        document: dict[str, Json] = {
            "kind": self.kinds[ref.group_kind],
            "namespace": escape_controls(shown_namespace(ref.namespace)),
            "name": escape_controls(ref.name),
            "group": self.groups[drawn.group],
            "dot": [
                self.statements.attributes(box),
                head,
                [[row, self.nodes[section.ref]] for row, section in zip(rows[:-1], drawn.sections, strict=True)],
                *rows[-1:],
            ],
        }
        if policy:
            document |= {"state": policy.state, "words": escape_controls(policy_state(policy))}
        elif node and presence_phrase(node):
            document["state"] = presence_phrase(node)
        origin = policy.origin if policy else node.origin if node else None
        optional: dict[str, Json] = {
            "policy": bool(policy),
            "origin": escape_controls(str(origin or "")),
            "mark": policy.mark if policy else node.mark if node else "",
        }
        return document | {name: value for name, value in optional.items() if value}

    def group(self, group: Group, index: int) -> Json:
        namespace, kind = group
        box = Box(id=f"g{index}", namespace=namespace, members=tuple(self.members[group]), group=group)
        return {
            "label": escape_controls(box.label),
            "namespace": shown_namespace(namespace),
            "parent": None if kind is None else self.groups[namespace, None],
            "dot": [self.statements.attributes(box), "".join(self.statements.label(box)), []],
            "cluster": cluster(namespace),
        }

    def outcome(self, group: InForce) -> Json:
        """Return an effective policy as `describe` has it."""
        return {
            "kind": self.kind(group.kind),
            "own": bool(group.profile.route_settings),
            "summary": list(group.summary),
            "policies": [self.places[ref] for ref in group.policies if ref in self.places],
            "passesDown": group.extent.passes_down,
            "settings": [
                {
                    "field": setting.field,
                    "value": setting.value,
                    "source": escape_controls(source_phrase(setting.source)),
                    "origin": escape_controls(str(setting.origin or "")),
                    "certain": setting.certain,
                    "removed": setting.removed,
                    "insteadOf": [
                        self.superseded(fate, why_superseded(fate, setting.source, group))
                        for fate in setting.instead_of
                    ],
                }
                for setting in group.settings
            ],
            "withoutEffect": [
                self.superseded(fate, without_effect_phrase(fate, group)) for fate in group.without_effect
            ],
            "assumed": list(group.combination.assumed),
            "doubts": list(group.combination.doubts),
        }

    def superseded(self, fate: Fate, why: str) -> Json:
        """Return a declared value that is not in force, and why."""
        return {
            "field": fate.field,
            "value": fate.value,
            "source": escape_controls(source_phrase(fate.source)),
            "why": why,
        }

    def effects(self, details: Details | None) -> dict[str, Json]:
        """Map the index of each object to its paths, and to the paths of each outcome."""
        by_object: dict[str, Json] = {}
        for effects in details.effects if details else ():
            paths = [self.paths.setdefault(path, len(self.paths)) for path in effects.paths]
            in_force: list[Json] = [[outcome, list(positions)] for outcome, positions in effects.in_force]
            by_object[str(self.places[effects.subject])] = {"paths": paths, "inForce": in_force}
        return by_object

    def reach(self, policy: GraphPolicy, details: Details | None) -> Json:
        """Return the objects that a policy affects, and the changes without it or a command that lists them."""
        deletion = details.deletions.get(policy.ref) if details else None
        affected = [self.nodes[node] for node in policy.affected if node in self.nodes]
        name = shlex.quote(escape_controls(f"{str(policy.ref.group_kind).lower()}/{policy.ref.qualified_name}"))
        consequences = self.deletion(deletion) if deletion else {"command": f"kubectl policy blast-radius {name}"}
        return {"affected": affected, "elsewhere": len(policy.affected) - len(affected), "deletion": consequences}

    def deletion(self, answer: BlastRadius) -> Json:
        """Return the changes that follow from deleting a policy, worst first."""
        return {
            "headline": escape_controls(blast_headline(answer)),
            "changes": [
                {
                    "sort": field.sort,
                    "kind": self.kind(effect.policy_kind),
                    "field": field.field,
                    "before": _value(field.before),
                    "after": _value(field.after),
                    "objects": [self.nodes[changed.node] for changed in effect.objects if changed.node in self.nodes],
                    "number": len(effect.objects),
                }
                for effect in answer.difference.effects
                for field in effect.fields
            ],
        }

    def kind(self, kind: GroupKind) -> str:
        """Return the name of a kind, also of one that is not drawn."""
        return self.names.get(kind, str(kind))


def problems(details: Details | None) -> list[Json]:
    """List the problems of the input, and a remark if not all of it was examined."""
    documents: list[Json] = [
        {"severity": it.severity, "message": it.message, "where": str(it.origin or ""), "about": str(it.subject or "")}
        for it in (details.problems if details else ())
    ]
    if details and not details.all_checked:
        message = "There are too many objects to check each of them: describe TYPE/NAME checks one"
        documents.append({"severity": "info", "message": message, "where": "", "about": ""})
    return documents


def _value(value: EffectiveValue | None) -> Json:
    """Return a value with who sets it; null where nothing does."""
    if value is None:
        return None
    shown = "nothing (removed)" if value.removed else escape_controls(flow(value.value))
    return {"value": shown, "source": escape_controls(source_phrase(value.source))}
