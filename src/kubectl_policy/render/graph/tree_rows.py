"""The rows of a tree, merged where they are equal, and the outcomes that stand in them."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, NAMESPACE
from kubectl_policy.model.world import grouped, grouped_by
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.wording.names import count, kind_itself

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef
    from kubectl_policy.questions.graph.picture import KindInForce, Mark, NodeInForce, Picture
    from kubectl_policy.render.output.text import Style
    from kubectl_policy.topology import Path

# A name, and what its object says of itself.
Member: TypeAlias = "tuple[str, str]"
# What a row is about: a line that is about what is above it, a policy, what is in force, or a node of the hierarchy.
Sort: TypeAlias = Literal["line", "policy", "in force", "node"]

# Stands before what a rule leads to.
ARROW: Final = "→ "
# Stands before a route that is not below its parent.
REFUSED: Final = "refused "
Item = TypeVar("Item")
_ORDER: Final[Mapping[Sort, int]] = {"line": 0, "policy": 1, "in force": 2, "node": 3}
# So many siblings with other names below them are worth one row, which does not tell what belongs to what. To tell
# which requests go where is what rules are for.
_ENOUGH: Final[Mapping[str, int]] = {"rule": 6}
_ENOUGH_OF_MOST: Final = 3
_TROUBLE: Final = frozenset({"error", "warning"})


class Head(Struct, frozen=True, gc=False):
    """The common part of rows that are alike: everything but names."""

    sort: Sort
    noun: str = ""
    # How the row is led to.
    lead: str = ""
    # What stands between a name and what its object says of itself.
    joint: str = "  "
    # Settings in force; their policies follow in brackets, those of one member first, then those that all have.
    summary: str = ""
    policies: tuple[str, ...] = ()
    # After the names: where it holds, then what is wrong or remarkable, and the API's own word for that.
    scope: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""
    # How the notes look.
    tone: Style = ""
    mark: Mark = ""


class TreeRow(Struct, frozen=True, gc=False):
    """A row of the tree with its children; it has several members if it stands for several that are alike."""

    head: Head
    members: tuple[Member, ...]
    # Sentences that say what is wrong, each with names of its own.
    why: tuple[str, ...]
    # The only thing that a rule leads to, told in its row, with what is below that.
    tail: TreeRow | None
    children: tuple[TreeRow, ...]
    alike: int
    same: int
    kin: int
    exact: int
    # Whether something is wrong with it, or below it.
    troubled: bool
    # How many siblings it stands for; and below several rows that became one, how many each of these had (0: the same).
    number: int = 1
    members_each: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether it says no more than its name."""
        return not (self.children or self.why or self.head.notes or self.head.mark)


class TreeRows:
    """Factory of rows that folds those that are alike."""

    def __init__(self) -> None:
        """Start without rows."""
        self._numbers: dict[Hashable, int] = {}

    def row(
        self, head: Head, *members: Member, why: str = "", children: Iterable[TreeRow] = (), is_shared: bool = False
    ) -> TreeRow:
        """Make a row with children, of which those that are alike become one.

        Ancestors of a row that `is_shared` are alike only where the row has the same members.
        """
        folded = self.folded(children)
        tail = _tail(head, folded)
        rest = [*tail.children, *(child for child in folded if child is not tail)] if tail else folded
        number = self._number(head)
        alike = self._number(("alike", number, bool(why), *[child.kin for child in folded]))
        same = self._number(("same", number, why, *[child.exact for child in folded]))
        return TreeRow(
            head=head,
            members=members,
            why=(why,) if why else (),
            tail=tail,
            children=tuple(sorted(rest, key=lambda row: _ORDER[row.head.sort])),
            alike=alike,
            same=same,
            kin=self._number(("kin", alike, members if is_shared else len(members))),
            exact=self._number(("exact", same, members)),
            troubled=head.tone in _TROUBLE or any(child.troubled for child in folded),
        )

    def folded(self, rows: Iterable[TreeRow]) -> list[TreeRow]:
        """Fold siblings that are alike into one where that is worth it, in the position of the first."""
        rows = [*rows]
        if len(rows) <= 1:
            return rows
        alike: dict[tuple[int, int], list[TreeRow]] = {}
        for index, row in enumerate(rows):
            # Lines and outcomes are about their parent alone.
            is_line = row.head.sort in {"line", "in force"}
            alike.setdefault((-1, index) if is_line else (row.alike, 0), []).append(row)
        rows_folded: list[TreeRow] = []
        for group in alike.values():
            if len(group) >= _ENOUGH.get(group[0].head.noun, _ENOUGH_OF_MOST):
                rows_folded.append(self._together(group))
                continue
            rows_folded += map(self._together, grouped_by(group, lambda row: row.same).values())
        return rows_folded

    def _together(self, rows: Sequence[TreeRow]) -> TreeRow:
        if len(rows) == 1:
            return rows[0]
        kin = self._number(("several", *sorted({row.kin for row in rows}), len(rows)))
        return replace(self._merged(rows), kin=kin, number=len(rows), members_each=0)

    def _merged(self, rows: Sequence[TreeRow]) -> TreeRow:
        """Merge rows that are alike, and their descendants."""
        first = rows[0]
        if all(row.exact == first.exact for row in rows):
            return first
        tails = [row.tail for row in rows if row.tail]
        members = _all(row.members for row in rows)
        return replace(
            first,
            members=members,
            why=_all(row.why for row in rows),
            tail=self._merged(tails) if tails else None,
            children=tuple([self._merged(column) for column in zip(*[row.children for row in rows], strict=True)]),
            exact=self._number(("merged", *[row.exact for row in rows])),
            members_each=(first.members_each or len(first.members)) if len(members) > len(first.members) else 0,
        )

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _tail(head: Head, children: Sequence[TreeRow]) -> TreeRow | None:
    """Return the only backend of a rule, if one row can tell whether policies are on the rule or on the backend.

    It can where the rule has none.
    """
    leads_to = [row for row in children if row.head.lead == ARROW]
    if head.noun != "rule" or head.notes or len(leads_to) != 1:
        return None
    only = leads_to[0]
    has_more = any(row.head.sort != "in force" for row in children if row is not only)
    return only if not (has_more and only.children) and only.head.mark in {"", head.mark} else None


def _all(several: Iterable[Sequence[Item]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(item for items in several for item in items))


# What policies on these have in force, they have for much else as well.
_OUTSIDE_ROUTES: Final = ABOVE_ROUTES | {NAMESPACE}


class BranchOutcomes:
    """Outcomes at nodes, by the branches that lead there."""

    def __init__(self, picture: Picture, names: Mapping[GroupKind, str]) -> None:
        """`names` are the names of kinds."""
        self._outcomes, self._names = {node.ref: node.outcome for node in picture.nodes}, names
        self._only_targets = {
            policy.ref: policy.targets[0].target for policy in picture.policies if len(policy.targets) == 1
        }

    def at(
        self, node: NodeRef, ancestors: Path, backends: Sequence[NodeRef] = ()
    ) -> tuple[tuple[KindInForce, ...], Mapping[NodeRef, tuple[KindInForce, ...]]]:
        """Return the outcomes at a node, on the paths through its ancestors on a branch.

        Outcomes for all requests to some of several backends, and for no others, are returned for these backends.
        """
        outcome = self._outcomes.get(node)
        if not outcome:
            return (), {}
        positions = self._positions(node, ancestors)
        groups: list[KindInForce] = []
        backend_wins: dict[NodeRef, list[KindInForce]] = {}
        leading = {
            backend: {number for number in positions if backend in outcome.paths[number]}
            for backend in (backends if len(backends) > 1 else ())
        }
        for group in outcome.groups:
            scoped = replace(group, positions=())
            if len(group.positions) == len(outcome.paths) and positions:
                groups.append(scoped)
                continue
            on = set(group.positions).intersection(positions)
            ends = [backend for backend, through in leading.items() if through and through <= on]
            if on and len(on) == len(positions):
                groups.append(scoped)
            elif ends and len(on) == len(set[int]().union(*(leading[backend] for backend in ends))):
                for backend in ends:
                    backend_wins.setdefault(backend, []).append(scoped)
            elif on:
                groups.append(replace(scoped, scope=_scope(outcome, on, positions)))
        return tuple(groups), {backend: tuple(scoped_wins) for backend, scoped_wins in backend_wins.items()}

    def at_each(self, nodes: Sequence[NodeRef], ancestors: Path) -> tuple[KindInForce, ...]:
        """Return the outcomes at every one of some nodes, on all paths of a branch, as the first node has them."""
        if not nodes:
            return ()
        first, *remaining = ([group for group in self.at(node, ancestors)[0] if not group.scope] for node in nodes)
        return tuple([group for group in first if all(group in groups for groups in remaining)])

    def head(self, group: KindInForce, node: NodeRef, where: str, *, is_gone: bool) -> tuple[Head, list[Member]]:
        """Return the head of an outcome's row, and the policies that apply at this node alone."""
        targets = {policy: self._only_targets.get(policy) for policy in group.policies}
        direct = [
            policy
            for policy, target in targets.items()
            if target and (target.object == node.object or target.object.group_kind not in _OUTSIDE_ROUTES)
        ]
        elsewhere = [policy.qualified_name for policy in group.policies if policy not in direct]
        is_certain, was_certain = ("in force", "may be in force"), ("was in force", "may have been in force")
        perhaps = (was_certain if is_gone else is_certain)[not group.certain]
        head = Head(
            sort="in force",
            # What the route says itself is of no kind of policies.
            noun=self._names.get(group.policy_kind, group.policy_kind.kind) if group.policies else "",
            lead=f"{perhaps}{where}: ",
            summary=", ".join(group.summary),
            policies=tuple(elsewhere) if group.policies else (kind_itself(group.policy_kind),),
            scope=f", on {group.scope}" if group.scope else "",
        )
        return head, [(policy.qualified_name, "") for policy in direct]

    def _positions(self, node: NodeRef, ancestors: Path) -> Sequence[int]:
        """Return the paths to a node that run down a branch."""
        ways = self._ways(node)
        if ancestors in ways:
            return ways[ancestors]
        # Something is left out of the picture.
        return [position for way, positions in ways.items() if set(ancestors).issubset(way) for position in positions]

    @cached_method
    def _ways(self, node: NodeRef) -> Mapping[Path, tuple[int, ...]]:
        outcome = self._outcomes[node]
        paths = outcome.paths if outcome else ()
        # Namespaces the tree has elsewhere.
        ancestors = (
            tuple([up for up in takewhile(lambda up: up != node, path) if up.object.group_kind != NAMESPACE])
            for path in paths
        )
        return grouped((ways, position) for position, ways in enumerate(ancestors))


def _scope(outcome: NodeInForce, on: Collection[int], positions: Sequence[int]) -> str:
    """`listener http only`: name some of the paths of a branch."""
    phrase = PathPhrases([outcome.paths[position] for position in positions]).phrase(
        [number for number, position in enumerate(positions) if position in on]
    )
    # There are no numbers here that it could mean.
    return f"{len(on)} of its {count(len(positions), 'path')}" if phrase.numbered else phrase.text
