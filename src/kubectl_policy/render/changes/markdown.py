"""What differs between two states as a comment on a pull request, in GitHub Flavored Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.changes.table import rows_of
from kubectl_policy.render.output.escape import code, inert
from kubectl_policy.render.wording.names import count, node_words
from kubectl_policy.render.wording.unseen import what_to_do

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.render.changes.table import ChangeRow, RowGroup

# A comment holds 65,536 characters; what is around it needs some.
LIMIT: Final = 60_000
_LEAST: Final = 2_000
# The sentence about what was left out, at its longest.
_NOTE: Final = 400
# A row that takes more than this part of all is left out alone, so that not all that follows is left out with it.
_SHARE: Final = 4
_NAMES: Final = 5
_TRAFFIC: Final = {
    "ended": "loses all",
    "reduced": "loses some",
    "uncontrolled": "is left without a controller",
    "begun": "gets traffic",
    "increased": "gets more",
}
_NOTHING: Final = "*nothing*"
_TOO_LONG: Final = "**What changes cannot be said in one short sentence.**\n"
_WARNING: Final = "\n> [!WARNING]\n> Not everything could be seen or computed, so this may not be all that changes:\n"


@dataclass(slots=True)
class _Part:
    """Lines that belong together: what they are called, what stands before and after them, and those that fit."""

    noun: str
    total: int
    # Made when there is room for them: there may be very many.
    lines: Iterable[str]
    title: str = ""
    columns: tuple[str, ...] = ()
    shown: list[str] = field(default_factory=list[str])

    @property
    def left_out(self) -> int:
        """The number of lines that are not shown."""
        return self.total - len(self.shown)

    @property
    def frame(self) -> int:
        """The characters around the lines, at most."""
        return len(self.text()) - sum(map(len, self.shown)) + len(str(self.total))

    def text(self) -> str:
        """The lines in their frame, with how many of all they are."""
        body = "".join(self.shown)
        if not self.columns:
            return f"{self.title}{body}"
        number = f"{len(self.shown)} of {self.total}" if self.left_out else f"{self.total}"
        head = f"| {' | '.join(self.columns)} |\n|{' --- |' * len(self.columns)}\n"
        return f"\n<details><summary>{self.title} ({number})</summary>\n\n{head}{body}\n</details>\n"


def diff_markdown(difference: StateDiff, limit: int = LIMIT) -> str:
    """What differs between two states; see `markdown`."""
    return markdown(difference, "Effects on traffic and policies", diff_headline(difference), limit)


def blast_radius_markdown(answer: BlastRadius, limit: int = LIMIT) -> str:
    """What deleting an object would change; see `markdown`."""
    title = f"What deleting {code(str(answer.subject))} would change"
    return markdown(answer.difference, title, blast_headline(answer), limit)


def markdown(difference: StateDiff, title: str, headline: str, limit: int) -> str:
    """Return a title, the headline, blind spots, and folded tables, in at most `limit` characters but at least 2,000.

    Rows are left out from the end of the last tables. Nothing from the input is markup, a link or a mention.
    """
    limit = max(limit, _LEAST)
    sentence = f"**{inert(headline.strip())}**\n"
    sentence = sentence if len(sentence) <= limit // _SHARE else _TOO_LONG
    opening = f"### {title}\n\n{sentence}" if len(title) <= limit // _SHARE else sentence
    unseen = difference.unseen
    warning = _Part(noun="unseen thing", total=len(unseen), lines=map(_unseen, unseen), title=_WARNING)
    parts = [part for part in (warning, *_tables(difference)) if part.total]
    _fill(parts, limit - len(opening) - _NOTE, limit // _SHARE)
    # That something was not seen is said even if there is no room for what it was.
    shown = "".join(part.text() for part in parts if part.shown or not part.columns)
    cut = [count(part.left_out, part.noun) for part in parts if part.left_out]
    note = f"\nNot shown for lack of room: {listed(cut)}. The output of `-o json` has everything.\n" if cut else ""
    return f"{opening}{shown}{note}"


def _fill(parts: Iterable[_Part], room: int, longest: int) -> None:
    """Give the parts as many of their lines as there is room for, the first ones first."""
    for part in parts:
        room -= part.frame
        for line in part.lines:
            if len(line) > longest:
                continue
            if len(line) > room:
                return
            part.shown.append(line)
            room -= len(line)
        if not part.shown:
            room += part.frame


def _unseen(unseen: BlindSpot) -> str:
    remedy = what_to_do(unseen) if unseen.needs else unseen.remedy
    return f"> - {inert(f'{unseen.what}: {unseen.reason}' + (f' ({remedy})' if remedy else ''))}\n"


def _tables(difference: StateDiff) -> list[_Part]:
    """The tables, the most important ones first."""
    rows, states, problem = rows_of(difference), ("Before", "After", "Why"), ("Severity", "Rule", "Object", "Problem")
    setting = ("Change", "Kind", "Field", "Before", "After", "Set by", "Objects", "Paths")
    traffic = ("Traffic", "Route", "Hostnames", "Owner", "What")
    tables: list[tuple[str, str, tuple[str, ...], RowGroup, Callable[[ChangeRow], str]]] = [
        ("route", "Traffic", traffic, "traffic", _traffic),
        ("setting", "Settings", setting, "settings", _setting),
        ("target", "Targets of policies", ("Target", *states), "targets", _relation),
        ("parent", "Parents of routes", ("Parent", *states), "parents", _relation),
        ("policy", "Whether policies have an effect", ("Policy", *states), "policies", _relation),
        ("problem", "Problems introduced", problem, "introduced", _problem),
        ("fixed problem", "Problems fixed", problem, "fixed", _problem),
    ]
    return [
        _Part(noun=noun, total=len(rows[part]), lines=map(line, rows[part]), title=title, columns=columns)
        for noun, title, columns, part, line in tables
    ]


def _traffic(row: ChangeRow) -> str:
    hostnames = ", ".join(map(code, row.field.split(", "))) if row.field else ""
    owner = code(row.owner) if row.owner else ""
    return _line(f"**{_TRAFFIC[row.change]}**", code(row.source), hostnames, owner, inert(row.message))


def _setting(row: ChangeRow) -> str:
    change = f"**{row.change.removesuffix('!')}** (security)" if row.change.endswith("!") else row.change
    names = [code(node_words(node)) for node in row.objects[:_NAMES]]
    rest = len(row.objects) - len(names)
    objects = ", ".join(names) + (f" and {rest} more" if rest else "")
    cells = map(_cell, (row.kind, row.field, row.before, row.after, row.source))
    return _line(change, *cells, objects, row.paths)


def _relation(row: ChangeRow) -> str:
    states = (inert(state) or _NOTHING for state in (row.before, row.after))
    return _line(_cell(row.source), *states, inert(row.message))


def _problem(row: ChangeRow) -> str:
    return _line(row.before or row.after, row.field, _cell(row.source), inert(row.message))


def _cell(text: str) -> str:
    return code(text) if text else _NOTHING


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"
