"""The rows of a tree, merged where they are equal, and the outcomes that stand in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, NAMESPACE
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.graph.picture import Mark, Outcome, Picture, Win
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
    """What rows that are alike have in common: all that they say but for names."""

    sort: Sort
    noun: str = ""
    # How the row is led to.
    lead: str = ""
    # What stands between a name and what its object says of itself.
    joint: str = "  "
    # Settings in force; their policies follow in brackets, those of one member first, then those that all have.
    what: str = ""
    others: tuple[str, ...] = ()
    # After the names: where it holds, then what is wrong or remarkable, and the API's own word for that.
    scope: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""
    # How the notes look.
    tone: Style = ""
    mark: Mark = ""


class TreeRow(Struct, frozen=True, gc=False):
    """A row of the tree with what is below it; it has several members if it stands for what is alike."""

    head: Head
    members: tuple[Member, ...]
    # Sentences that say what is wrong, each with names of its own.
    why: tuple[str, ...]
    # The only thing that a rule leads to, told in its row, with what is below that.
    tail: TreeRow | None
    below: tuple[TreeRow, ...]
    alike: int
    same: int
    kin: int
    exact: int
    # Whether something is wrong with it, or below it.
    troubled: bool
    # How many siblings it stands for; and below several rows that became one, how many each of these had (0: the same).
    number: int = 1
    each: int = 0

    @property
    def is_silent(self) -> bool:
        """Whether it says no more than its name."""
        return not (self.below or self.why or self.head.notes or self.head.mark)


class TreeRows:
    """Makes rows, and folds those that are alike."""

    def __init__(self) -> None:
        """No row is made yet."""
        self._numbers: dict[Hashable, int] = {}

    def row(
        self, head: Head, *members: Member, why: str = "", below: Iterable[TreeRow] = (), is_shared: bool = False
    ) -> TreeRow:
        """A row above some others, of which it tells those that are alike as one.

        What is above a row that `is_shared` is alike only where the row has the same members.
        """
        folded = self.folded(below)
        tail = _tail(head, folded)
        rest = [*tail.below, *(each for each in folded if each is not tail)] if tail else folded
        number = self._number(head)
        alike = self._number(("alike", number, bool(why), *[each.kin for each in folded]))
        same = self._number(("same", number, why, *[each.exact for each in folded]))
        return TreeRow(
            head=head,
            members=members,
            why=(why,) if why else (),
            tail=tail,
            below=tuple(sorted(rest, key=lambda row: _ORDER[row.head.sort])),
            alike=alike,
            same=same,
            kin=self._number(("kin", alike, members if is_shared else len(members))),
            exact=self._number(("exact", same, members)),
            troubled=head.tone in _TROUBLE or any(each.troubled for each in folded),
        )

    def folded(self, rows: Iterable[TreeRow]) -> list[TreeRow]:
        """Siblings, those that are alike as one where that is worth it, in the place of the first of them."""
        rows = [*rows]
        if len(rows) <= 1:
            return rows
        alike: dict[tuple[int, int], list[TreeRow]] = {}
        for place, row in enumerate(rows):
            # Lines, and what is in force, are about one thing: what is above them.
            alone = row.head.sort in {"line", "in force"}
            alike.setdefault((-1, place) if alone else (row.alike, 0), []).append(row)
        found: list[TreeRow] = []
        for group in alike.values():
            if len(group) >= _ENOUGH.get(group[0].head.noun, _ENOUGH_OF_MOST):
                found.append(self._together(group))
                continue
            same: dict[int, list[TreeRow]] = {}
            for row in group:
                same.setdefault(row.same, []).append(row)
            found += [self._together(each) for each in same.values()]
        return found

    def _together(self, rows: Sequence[TreeRow]) -> TreeRow:
        """Siblings as one row."""
        if len(rows) == 1:
            return rows[0]
        kin = self._number(("several", *sorted({row.kin for row in rows}), len(rows)))
        return replace(self._merged(rows), kin=kin, number=len(rows), each=0)

    def _merged(self, rows: Sequence[TreeRow]) -> TreeRow:
        """TreeRows that are alike as one, and so on below them."""
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
            below=tuple([self._merged(column) for column in zip(*[row.below for row in rows], strict=True)]),
            exact=self._number(("merged", *[row.exact for row in rows])),
            each=(first.each or len(first.members)) if len(members) > len(first.members) else 0,
        )

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _tail(head: Head, below: Sequence[TreeRow]) -> TreeRow | None:
    """The only thing that a rule leads to, if it is plain in one row which policies are on the rule, and which on that.

    That is so where the rule has none.
    """
    leads_to = [row for row in below if row.head.lead == ARROW]
    if head.noun != "rule" or head.notes or len(leads_to) != 1:
        return None
    only = leads_to[0]
    has_more = any(row.head.sort != "in force" for row in below if row is not only)
    return only if not (has_more and only.below) and only.head.mark in {"", head.mark} else None


def _all(several: Iterable[Sequence[Item]]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(item for items in several for item in items))


# What policies on these have in force, they have for much else as well.
_OUTSIDE_ROUTES: Final = ABOVE_ROUTES | {NAMESPACE}


class Wins:
    """What is in force at places, by the branches that lead there."""

    def __init__(self, picture: Picture, names: Mapping[GroupKind, str]) -> None:
        """`names` are what kinds are called. What is looked up is looked up once."""
        self._outcomes, self._names = {node.ref: node.outcome for node in picture.nodes}, names
        self._only_targets = {
            policy.ref: policy.targets[0].target for policy in picture.policies if len(policy.targets) == 1
        }

    def at(
        self, place: NodeRef, above: Path, backends: Sequence[NodeRef] = ()
    ) -> tuple[tuple[Win, ...], Mapping[NodeRef, tuple[Win, ...]]]:
        """What is in force at a place, on the paths through all that is `above` it on a branch.

        Of several backends that a place leads to, what is in force for all requests to some of them, and for no others,
        is told at these.
        """
        outcome = self._outcomes.get(place)
        if not outcome:
            return (), {}
        positions = self._positions(place, above)
        found: list[Win] = []
        further: dict[NodeRef, list[Win]] = {}
        leading: dict[NodeRef, set[int]] = {}
        if len(backends) > 1:
            leading = {each: {number for number in positions if each in outcome.paths[number]} for each in backends}
        for win in outcome.wins:
            told = replace(win, positions=())
            if len(win.positions) == len(outcome.paths) and positions:
                found.append(told)
                continue
            on = set(win.positions).intersection(positions)
            ends = [backend for backend, through in leading.items() if through and through <= on]
            if on and len(on) == len(positions):
                found.append(told)
            elif ends and len(on) == len(set[int]().union(*(leading[backend] for backend in ends))):
                for backend in ends:
                    further.setdefault(backend, []).append(told)
            elif on:
                found.append(replace(told, scope=_scope(outcome, on, positions)))
        return tuple(found), {backend: tuple(wins) for backend, wins in further.items()}

    def at_each(self, places: Sequence[NodeRef], above: Path) -> tuple[Win, ...]:
        """What is in force at each of some places, on all paths of a branch, as the first of them has it."""
        if not places:
            return ()
        first, *others = ([told for told in self.at(place, above)[0] if not told.scope] for place in places)
        return tuple([told for told in first if all(told in other for other in others)])

    def head(self, win: Win, place: NodeRef, where: str, *, is_gone: bool) -> tuple[Head, list[Member]]:
        """What a row says of it, and the policies that are there for the place alone: other places have others."""
        own = [policy for policy in win.policies if self._is_own(policy, place)]
        others = [policy.qualified_name for policy in win.policies if policy not in own]
        is_certain, was_certain = ("in force", "may be in force"), ("was in force", "may have been in force")
        perhaps = (was_certain if is_gone else is_certain)[not win.certain]
        head = Head(
            sort="in force",
            # What the route says itself is of no kind of policies.
            noun=self._names.get(win.policy_kind, win.policy_kind.kind) if win.policies else "",
            lead=f"{perhaps}{where}: ",
            what=", ".join(win.summary),
            others=tuple(others) if win.policies else ("the route itself",),
            scope=f", on {win.scope}" if win.scope else "",
        )
        return head, [(policy.qualified_name, "") for policy in own]

    def _is_own(self, policy: ObjectRef, place: NodeRef) -> bool:
        target = self._only_targets.get(policy)
        return target is not None and (target.object == place.object or target.object.group_kind not in _OUTSIDE_ROUTES)

    def _positions(self, place: NodeRef, above: Path) -> Sequence[int]:
        """The paths to a place that run down a branch."""
        ways = self._ways(place)
        if above in ways:
            return ways[above]
        # Something is left out of the picture.
        return [position for way, positions in ways.items() if set(above).issubset(way) for position in positions]

    @cached_method
    def _ways(self, place: NodeRef) -> Mapping[Path, tuple[int, ...]]:
        """What is above a place on its paths, and which of them these are."""
        outcome = self._outcomes[place]
        paths = outcome.paths if outcome else ()
        return grouped((tuple(_above(place, path)), position) for position, path in enumerate(paths))


def _above(place: NodeRef, path: Path) -> Iterator[NodeRef]:
    """What is above a place on a path, without Namespaces, which the tree has elsewhere."""
    for node in path:
        if node == place:
            return
        if node.object.group_kind != NAMESPACE:
            yield node


def _scope(outcome: Outcome, on: Collection[int], positions: Sequence[int]) -> str:
    """On which of the paths of a branch: `listener http only`."""
    phrase = PathPhrases([outcome.paths[position] for position in positions]).phrase(
        [number for number, position in enumerate(positions) if position in on]
    )
    # There are no numbers here that it could mean.
    return f"{len(on)} of its {count(len(positions), 'path')}" if phrase.numbered else phrase.words
