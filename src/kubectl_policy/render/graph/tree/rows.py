"""The rows of the tree, and how siblings that are alike become one of them: in time linear in the number of rows.

A row has numbers by which it is compared, each the same for rows that are the same in some respect. Among siblings the
name of a row does not count, nor what its object says of itself (a hostname, a port, the matches of a rule): they are
`alike` where all below them is but for names, and the `same` where it is so to the letter. To the row above it, a row
is the same `kin` where it is alike, and `exact` where nothing is different at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from kubectl_policy.questions.graph.picture import Mark
    from kubectl_policy.render.output.text import Style

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


class Row(Struct, frozen=True, gc=False):
    """A row of the tree with what is below it; it has several members if it stands for what is alike."""

    head: Head
    members: tuple[Member, ...]
    # Sentences that say what is wrong, each with names of its own.
    why: tuple[str, ...]
    # The only thing that a rule leads to, told in its row, with what is below that.
    tail: Row | None
    below: tuple[Row, ...]
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


class Rows:
    """Makes rows, and folds those that are alike."""

    def __init__(self) -> None:
        """No row is made yet."""
        self._numbers: dict[Hashable, int] = {}

    def row(
        self, head: Head, *members: Member, why: str = "", below: Iterable[Row] = (), is_shared: bool = False
    ) -> Row:
        """A row above some others, of which it tells those that are alike as one.

        What is above a row that `is_shared` is alike only where the row has the same members.
        """
        folded = self.folded(below)
        tail = _tail(head, folded)
        rest = [*tail.below, *(each for each in folded if each is not tail)] if tail else folded
        number = self._number(head)
        alike = self._number(("alike", number, bool(why), *[each.kin for each in folded]))
        same = self._number(("same", number, why, *[each.exact for each in folded]))
        return Row(
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

    def folded(self, rows: Iterable[Row]) -> list[Row]:
        """Siblings, those that are alike as one where that is worth it, in the place of the first of them."""
        rows = [*rows]
        if len(rows) <= 1:
            return rows
        alike: dict[tuple[int, int], list[Row]] = {}
        for place, row in enumerate(rows):
            # Lines, and what is in force, are about one thing: what is above them.
            alone = row.head.sort in {"line", "in force"}
            alike.setdefault((-1, place) if alone else (row.alike, 0), []).append(row)
        found: list[Row] = []
        for group in alike.values():
            if len(group) >= _ENOUGH.get(group[0].head.noun, _ENOUGH_OF_MOST):
                found.append(self._together(group))
                continue
            same: dict[int, list[Row]] = {}
            for row in group:
                same.setdefault(row.same, []).append(row)
            found += [self._together(each) for each in same.values()]
        return found

    def _together(self, rows: Sequence[Row]) -> Row:
        """Siblings as one row."""
        if len(rows) == 1:
            return rows[0]
        kin = self._number(("several", *sorted({row.kin for row in rows}), len(rows)))
        return replace(self._merged(rows), kin=kin, number=len(rows), each=0)

    def _merged(self, rows: Sequence[Row]) -> Row:
        """Rows that are alike as one, and so on below them."""
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


def _tail(head: Head, below: Sequence[Row]) -> Row | None:
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
