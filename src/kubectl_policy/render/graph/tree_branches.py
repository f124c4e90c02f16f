"""The branches of a tree: for each node its policies, what is in force there, and the nodes below it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, ROUTES, depth_of, section_noun
from kubectl_policy.model.kinds import listed
from kubectl_policy.questions.graph.picture import GraphLink
from kubectl_policy.render.graph.tree_rows import ARROW, REFUSED, BranchOutcomes, Head, TreeRows
from kubectl_policy.render.graph.wording import drawn_kinds, node_details, policy_state, presence_phrase
from kubectl_policy.render.wording.names import attachment_phrase, filter_phrase, node_label, sections_phrase
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from kubectl_policy.topology.references import section_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.graph.picture import GraphPolicy, KindInForce, LinkState, Mark, Picture
    from kubectl_policy.render.graph.tree_rows import TreeRow
    from kubectl_policy.render.output.text import Style
    from kubectl_policy.resolution.enforcement import EnforcementState
    from kubectl_policy.topology import Path

_WITH_SECTIONS: Final = frozenset({*LISTENER_HOLDERS, *ROUTES})
_DIGITS: Final = re.compile(r"([0-9]+)")


class TreeLinks:
    """The links and the policies of a picture, by its nodes."""

    def __init__(self, picture: Picture) -> None:
        """Find them all."""
        self.nodes = {node.ref: node for node in picture.nodes}
        # What a node leads to, or would if it was there: its own sections first, then by kind and name.
        self.children: defaultdict[NodeRef, list[GraphLink]] = defaultdict(list)
        # The routes that name a node as their parent and that it refuses, and what is no longer below it.
        self.refused_at: defaultdict[NodeRef, list[GraphLink]] = defaultdict(list)
        # What a route names as its parents and is not attached to, or no longer.
        self.refused_by: defaultdict[NodeRef, list[GraphLink]] = defaultdict(list)
        # What is below something.
        self.entered: set[NodeRef] = set()
        # What routes of a mesh have as their parents: paths start there, whatever else leads there.
        self.fronts: set[ObjectRef] = set()
        # The policies that name a node, or a section of it that is not drawn, each with that reference; those that no
        # longer name it have None.
        self.policies: defaultdict[NodeRef, list[tuple[GraphPolicy, Attachment | None]]] = defaultdict(list)
        # The policies of which nothing is drawn that they refer to.
        self.elsewhere: list[GraphPolicy] = []
        for link in picture.links:
            self._add(link)
        for policy in picture.policies:
            self._place(policy)
        for node in self.nodes:
            # Sections that there are not, and that policies name: they belong where they were looked for.
            whole = NodeRef(node.object)
            if (
                node.object.group_kind in _WITH_SECTIONS
                and node.section
                and node not in self.entered
                and whole in self.nodes
            ):
                self._add(GraphLink(parent=whole, child=node, relation=section_noun(node.object.group_kind)))
        for links in self.children.values():
            if len(links) > 1:
                links.sort(key=_place_of)

    def _add(self, link: GraphLink) -> None:
        # Of what is gone, all that it led to is told as it was.
        is_gone = link.mark == "removed" and "removed" not in {
            self.nodes[link.child].mark,
            self.nodes[link.parent].mark,
        }
        if is_gone or (link.state == "refused" and link.child.object.group_kind in ROUTES and not link.past):
            self.refused_at[link.parent].append(link)
            self.refused_by[link.child].append(link)
            return
        self.children[link.parent].append(link)
        self.entered.add(link.child)
        if link.relation == "backend":
            # Rules lead to ports, which the tree tells with what has them.
            self.entered.add(NodeRef(link.child.object))
        elif link.relation == "mesh-route":
            self.fronts.add(link.parent.object)

    def _place(self, policy: GraphPolicy) -> None:
        named = [(attachment.target, attachment) for attachment in policy.targets if attachment.target]
        is_drawn = False
        for target, attachment in (*named, *((target, None) for target in policy.former)):
            node = next((end for end in (target, NodeRef(target.object)) if end in self.nodes), None)
            if node:
                is_drawn = is_drawn or attachment is not None
                self.policies[node].append((policy, attachment))
        if not is_drawn:
            self.elsewhere.append(policy)


def _place_of(link: GraphLink) -> tuple[object, ...]:
    """Return the sort key of a link among those from the same node; numbers in names count as such."""
    child = link.child
    kind = child.object.group_kind
    names = (child.object.namespace, child.object.name, child.section)
    is_other = child.object != link.parent.object
    return is_other, depth_of(kind), kind, tuple(map(_natural, names))


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    # Digits by how many there are: names may have more of them than there are numbers.
    pieces = re.split(_DIGITS, name)
    return tuple((len(piece.lstrip("0")), piece) if index % 2 else (0, piece) for index, piece in enumerate(pieces))


# Where routes refer to routes, input decides how deep the tree is, and how often a route is in it.
_DEEPEST: Final = 60
_MOST_OFTEN: Final = 8
# So many targets of a policy are named.
_NAMED: Final = 3
# The states of policies that something is wrong with; others that are not in force may be so on purpose.
_WRONG: Final[frozenset[EnforcementState]] = frozenset({"Conflicted", "TargetNotFound", "NotPermitted", "Invalid"})
_LINK_WORDS: Final[Mapping[LinkState, str]] = {
    "attached": "",
    "broken": "requests fail",
    "refused": "gets no requests",
    "unknown": "not known",
}


class Branches:
    """The rows of nodes, branch by branch: what is on several branches has a row on each."""

    def __init__(self, picture: Picture, links: TreeLinks) -> None:
        """See the class."""
        self._picture, self._links = picture, links
        self._names = drawn_kinds(picture)
        self._groups = BranchOutcomes(picture, self._names)
        self._times: dict[NodeRef, int] = {}
        asked = picture.asked
        # What leads to something may be in the picture with some of its rules only, but not what it is made of.
        self._has_some_rules = bool(asked.namespace or asked.only_affected or (asked.subjects and asked.up))
        self.rows = TreeRows()
        # What has a row by now, and what is attached to nothing, which is told elsewhere.
        self.seen: set[NodeRef] = set()
        self.unattached: frozenset[NodeRef] = frozenset()

    def row(
        self,
        node: NodeRef,
        link: GraphLink | None = None,
        ancestors: Path = (),
        shown: frozenset[KindInForce] = frozenset(),
        lines: Iterable[TreeRow] = (),
    ) -> TreeRow:
        """Return the row of a node on a branch, with `lines` and its descendants, without the outcomes `shown`."""
        # A section below its own object needs no name but its own.
        is_inside = bool(node.section and link and link.parent.object == node.object)
        self.seen.update((node,) if is_inside else (node, NodeRef(node.object)))
        ending = self._ending(node, link, ancestors)
        branch = (*ancestors, node)
        links = () if ending else self._leading_on(node, link)
        outcomes, now_shown = self._outcome_rows(node, links, ancestors, shown)
        lines = [*lines, *outcomes.pop(node, ())]
        children = [
            (down, self.row(down.child, down, branch, now_shown, outcomes.get(down.child, ()))) for down in links
        ]
        # Ports of which there is nothing to tell are told in a word.
        silent = [down.child for down, row in children if down.relation == "port" and row.is_silent]
        notes, why, tone = self._notes(node, link, is_inside=is_inside)
        head = Head(
            sort="node",
            noun=section_noun(node.object.group_kind) if is_inside else self._names[node.object.group_kind],
            lead=ARROW if link and (link.relation == "backend" or link.past) else "",
            joint=", " if node.section and not is_inside else "  ",
            notes=(*notes, ending) if ending else notes,
            reason=link.reason if link and link.state != "attached" else "",
            tone=tone,
            mark=self._mark(node, link),
        )
        name = node.section if is_inside else node.object.qualified_name
        rows = [row for down, row in children if down.child not in silent]
        if not ending:
            rows[:0] = [*lines, *self._policy_rows(node, is_inside=is_inside)]
            rows += [self._refused(down) for down in self._links.refused_at[node]]
        return self.rows.row(head, (name, self._details(node, silent, is_inside=is_inside)), why=why, children=rows)

    def _ending(self, node: NodeRef, link: GraphLink | None, ancestors: Path) -> str:
        """Say why a branch ends with a node, whatever its descendants; empty if it does not."""
        if node in ancestors and node.object.group_kind in ROUTES:
            return "leads back to itself"
        if len(ancestors) > _DEEPEST:
            return "and so on"
        if link and link.relation == "backend" and node.object.group_kind in ROUTES:
            self._times[node] = self._times.get(node, 0) + 1
            return "as above" if self._times[node] > _MOST_OFTEN else ""
        return ""

    def _leading_on(self, node: NodeRef, link: GraphLink | None) -> Sequence[GraphLink]:
        links = self._links.children[node]
        if link and link.relation == "backend":
            # What routes of a mesh do to requests for a Service, they do not do to those that a Gateway sends there.
            return tuple(child_link for child_link in links if child_link.relation != "mesh-route")
        return links

    def _details(self, node: NodeRef, ports: Sequence[NodeRef], *, is_inside: bool) -> str:
        described = self._links.nodes[node]
        if node.section and not is_inside:
            port = "" if described.port is None else str(described.port)
            return section_words(node) + (f" ({port})" if port not in {"", node.section} else "")
        details = [node_details(described).removesuffix(presence_phrase(described)).removesuffix(", ")]
        details += [sections_phrase(node.object.group_kind, [port.section for port in ports])] if ports else []
        return ", ".join(filter(None, details))

    def _mark(self, node: NodeRef, link: GraphLink | None) -> Mark:
        """Return the mark of a node, or of the link to it; empty if all of its ancestors have the same."""
        node_mark, parent_mark = self._links.nodes[node].mark, self._links.nodes[link.parent].mark if link else ""
        mark = link.mark if link and link.mark == "added" else node_mark or (link.mark if link else "")
        return "" if mark == parent_mark and mark in {"added", "removed"} else mark

    def _notes(self, node: NodeRef, link: GraphLink | None, *, is_inside: bool) -> tuple[tuple[str, ...], str, Style]:
        """Return the remarks on a node of a branch, the reason why it gets no requests, and its style."""
        described = self._links.nodes[node]
        whole = self._links.nodes.get(NodeRef(node.object), described)
        absent, why = presence_phrase(described), ""
        tone: Style = "error" if described.presence == "missing" else "warning" if absent else ""
        if described.presence == "missing" and whole.presence == "present" and not is_inside:
            # That it does not exist would be said of the backend.
            absent = f"has no such {section_noun(node.object.group_kind)}"
        elif link and link.state != "attached" and not absent:
            tone, why = "error" if link.state == "broken" or link.reason else "warning", link.message
        notes = [absent]
        if link and not absent and not (link.state == "unknown" and why):
            # What is not known, the message says as well.
            notes.append(_LINK_WORDS[link.state])
        if described.mark != "added" and self._mark(node, link) == "added":
            notes.append("new here")
        if described.settings_differ:
            tone = tone or "warning"
            notes.append("settings differ")
        return tuple(filter(None, notes)), why, tone

    def _outcome_rows(
        self, node: NodeRef, links: Sequence[GraphLink], ancestors: Path, shown: frozenset[KindInForce]
    ) -> tuple[dict[NodeRef, list[TreeRow]], frozenset[KindInForce]]:
        """Return the rows of outcomes that are new at a node and its children, and all outcomes shown so far.

        What is so at all of its sections is told at the node.
        """
        if not links and not self._links.nodes[node].outcome:
            return {}, shown
        branch, noun = (*ancestors, node), section_noun(node.object.group_kind)
        sections = [link_.child for link_ in links if link_.relation in {"rule", "listener"}]
        # What is told at a Gateway would be taken to hold for its ListenerSets as well.
        has_others = noun == "listener" and len(sections) < len(links)
        is_one_of_some = self._has_some_rules and node.object not in self._picture.asked.subjects
        if has_others or (len(sections) == 1 and (noun == "listener" or is_one_of_some)):
            sections = []
        common = self._groups.at_each(sections, branch)
        where = f" on each {noun} below" if len(sections) > 1 else ""
        direct, at_ends = self._groups.at(
            node, ancestors, [link_.child for link_ in links if link_.relation == "backend"]
        )
        rows = {end: [self._win_row(group, node) for group in groups] for end, groups in at_ends.items()}
        rows[node] = [self._win_row(group, node) for group in direct if group not in shown]
        rows[node] += [self._win_row(group, node, where) for group in common if group not in shown]
        return rows, shown.union(common, [group for group in direct if not group.scope])

    def _win_row(self, group: KindInForce, node: NodeRef, where: str = "") -> TreeRow:
        head, members = self._groups.head(group, node, where, is_gone=self._links.nodes[node].mark == "removed")
        return self.rows.row(head, *members)

    def _policy_rows(self, node: NodeRef, *, is_inside: bool) -> Iterator[TreeRow]:
        """Return the policies on a node; on a backend as well, if it is told with its port."""
        for policy, attachment in self._links.policies[node]:
            yield self._policy_row(policy, attachment, is_inside=is_inside)
        if node.section and not is_inside:
            for policy, attachment in self._links.policies[NodeRef(node.object)]:
                yield self._policy_row(policy, attachment, is_inside=True)

    def _policy_row(self, policy: GraphPolicy, attachment: Attachment | None, *, is_inside: bool) -> TreeRow:
        if attachment is None:
            head = Head("policy", self._names[policy.ref.group_kind], notes=("no longer on this",), mark="removed")
            return self.rows.row(head, (policy.ref.qualified_name, ""))
        target = attachment.target
        section = f" on {section_words(target)}" if target and target.section and not is_inside else ""
        scope = f"{filter_phrase(attachment)}{section}"
        return self._of_policy(policy, attachment, scope, is_shared=len(policy.targets) > 1)

    def policy_elsewhere(self, policy: GraphPolicy) -> TreeRow:
        """Return the row of a policy whose targets are not drawn: its targets, and why it is not attached."""
        failing = next((target for target in policy.targets if target.state != "attached"), None)
        targets = [attachment_phrase(target) for target in policy.targets if target.target]
        scope = f" → {listed(targets, _NAMED)}" if targets else ""
        return self._of_policy(policy, failing, scope, is_shared=False)

    def _of_policy(self, policy: GraphPolicy, attachment: Attachment | None, scope: str, *, is_shared: bool) -> TreeRow:
        """Return the row of a policy: how far it is enforced or, of a failing reference, why it fails."""
        state_phrase, why, reason = policy_state(policy), "", ""
        is_fine = ENFORCEMENT[policy.state].in_force and not policy.contrary
        tone: Style = "error" if policy.state in _WRONG else "" if is_fine else "warning"
        if policy.mark == "removed":
            state_phrase, tone = "", ""
        elif attachment and attachment.state != "attached":
            meaning = MEANINGS[attachment.state]
            if any(target.state == "attached" for target in policy.targets):
                state_phrase = "not attached here" if meaning.known else "whether it is attached here is not known"
            tone, why, reason = "error" if meaning.known else "warning", attachment.message, meaning.api_reason
        head = Head(
            sort="policy",
            noun=self._names[policy.ref.group_kind],
            scope=scope,
            notes=(state_phrase,) if state_phrase else (),
            reason=reason,
            tone=tone,
            mark=policy.mark,
        )
        return self.rows.row(head, (policy.ref.qualified_name, ""), why=why, is_shared=is_shared)

    def why_unattached(self, route: NodeRef) -> Iterator[TreeRow]:
        """Say why a route is attached to nothing: a row for each parent that it names."""
        refused = self._links.refused_by[route]
        if not refused:
            is_entered = route in self._links.entered
            no_route = "only routes that it leads to lead to it" if is_entered else "no route leads to it"
            yield self.rows.row(Head("line", tone="warning"), why=f"names no parent, and {no_route}")
        for link in refused:
            parent = node_label(link.parent)
            if link.mark == "removed":
                yield self.rows.row(Head("line", tone="error", mark="removed"), why=f"was attached to {parent}")
                continue
            message = link.message or "it does not say why"
            by = "refused: " if str(link.parent.object) in message else f"refused by {parent}: "
            yield self.rows.row(Head("line", lead=by, reason=link.reason, tone="error"), why=message)

    def _refused(self, link: GraphLink) -> TreeRow:
        """Return a route that names a node as its parent, which refuses it; or what is no longer below a node."""
        child, is_refused, is_told = link.child, link.mark != "removed", link.child in self.unattached
        head = Head(
            sort="node",
            noun=self._names[child.object.group_kind],
            lead=REFUSED if is_refused else ARROW if link.relation == "backend" else "",
            joint=", " if child.section else "  ",
            notes=() if not is_refused else ("attached to nothing, see below",) if is_told else (),
            reason=link.reason if is_refused else "",
            tone="error",
            mark=link.mark,
        )
        details = self._details(child, (), is_inside=False) if child.section else ""
        why = "no longer here" if not is_refused else "" if is_told else link.message
        return self.rows.row(head, (child.object.qualified_name, details), why=why)
