"""The difference between two states as rows: of a table, and of comments in Markdown."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.changes.connections import connection_summary
from kubectl_policy.render.changes.headlines import blast_headline, diff_headline
from kubectl_policy.render.changes.settings import value_phrase
from kubectl_policy.render.changes.summary import UNKNOWN
from kubectl_policy.render.changes.traffic import details
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.escape import code, escape_markup
from kubectl_policy.render.wording.blind_spots import remedy_phrase
from kubectl_policy.render.wording.names import count, mark, node_label, source_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from kubectl_policy.model import Diagnostic, NodeRef, ObjectRef
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import EffectChange
    from kubectl_policy.questions.differences.relations import AttachmentChange, EnforcementChange, ParentChange
    from kubectl_policy.questions.differences.traffic import TrafficChanges


class ChangeRow(Struct, frozen=True, kw_only=True):
    """One difference. A cell is empty where there is nothing to say."""

    change: str
    """One word to search for."""
    kind: str
    field: str = ""
    before: str
    after: str
    source: str
    """The object that sets the value, or is concerned."""
    objects: Sequence[NodeRef] = ()
    """Those for which it differs."""
    paths: str = ""
    owner: str = ""
    message: str = ""


_COLUMNS: Final[tuple[Column[ChangeRow], ...]] = (
    Column("CHANGE", lambda row: row.change),
    Column("KIND", lambda row: row.kind),
    Column("FIELD", lambda row: row.field),
    Column("BEFORE", lambda row: row.before),
    Column("AFTER", lambda row: row.after),
    Column("SOURCE", lambda row: row.source),
    Column("OBJECTS", lambda row: str(len(row.objects) or "")),
    Column("PATHS", lambda row: row.paths),
    Column("NAMES", lambda row: ", ".join(map(node_label, row.objects)), narrow=False),
    Column("MESSAGE", lambda row: row.message, narrow=False),
)


RowGroup: TypeAlias = Literal[
    "traffic", "connections", "settings", "targets", "parents", "policies", "introduced", "fixed"
]


def rows_of(difference: StateDiff) -> dict[RowGroup, list[ChangeRow]]:
    """Return the rows of a difference: routes that lose traffic first, then settings, worst first."""
    return {
        "traffic": list(_traffic_rows(difference.traffic)),
        "connections": [
            ChangeRow(change=change, kind="Connection", before=source, after=destination, source=ports)
            for change, ports, source, destination in connection_summary(difference.connections)
        ],
        "settings": list(chain.from_iterable(map(_setting_rows, difference.effects))),
        "targets": [_relation_row(change, change.policy, change.target) for change in difference.attachments],
        "parents": [_relation_row(change, change.route, change.parent) for change in difference.parents],
        "policies": list(map(_enforcement_row, difference.enforcement)),
        "introduced": [_problem_row(problem, "problem") for problem in difference.problems.introduced],
        "fixed": [_problem_row(problem, "fixed") for problem in difference.problems.fixed],
    }


def diff_table(difference: StateDiff) -> Table[ChangeRow]:
    """Return a row for each route with other traffic, then for each setting, target, parent, policy and problem."""
    return Table(_COLUMNS, tuple(chain.from_iterable(rows_of(difference).values())))


def diff_names(difference: StateDiff) -> Iterable[ObjectRef]:
    """Return the objects for which something differs, each once: of traffic, of settings, then of relations."""
    refs = [
        *(traffic.route for traffic in difference.traffic.routes),
        *(changed.node.object for change in difference.effects for changed in change.objects),
        *(change.route for change in difference.parents),
        *(change.policy for change in difference.attachments),
        *(change.policy for change in difference.enforcement),
    ]
    return dict.fromkeys(refs)


def _traffic_rows(traffic: TrafficChanges) -> Iterator[ChangeRow]:
    parts = (
        ("ended", traffic.lost.all),
        ("reduced", traffic.lost.some),
        ("uncontrolled", traffic.uncontrolled),
        ("begun", traffic.gained.all),
        ("increased", traffic.gained.some),
    )
    for change, routes in parts:
        for entry in routes:
            yield ChangeRow(
                change=change,
                kind=str(entry.route.group_kind),
                field=", ".join(entry.hostnames),
                before="",
                after="",
                source=str(entry.route),
                owner=entry.owner,
                message="; ".join(details(entry, gained=change in {"begun", "increased"})),
            )


def _setting_rows(change: EffectChange) -> Iterator[ChangeRow]:
    """Return a row for each field that differs; its change ends with `!` if that is relevant to security."""
    nodes = [changed.node for changed in change.objects]
    for changed in change.fields:
        setter = changed.after or changed.before
        yield ChangeRow(
            change=f"{changed.sort}{'!' if change.where == 'kept' and (changed.harmful or changed.demanding) else ''}",
            kind=f"{change.policy_kind}{mark(change.profile, 'being a policy')}",
            field=changed.field,
            before=value_phrase(changed.before, "", "<removed>"),
            after=value_phrase(changed.after, "", "<removed>"),
            source=source_phrase(setter.source) if setter else "",
            objects=nodes,
            paths=f"{len(change.paths)} {change.where}",
            message="; ".join(change.doubts),
        )


def _relation_row(change: AttachmentChange | ParentChange, ref: ObjectRef, to: NodeRef) -> ChangeRow:
    """Return the row of a policy at a target, or of a route at a parent, whose state changes."""
    if change.after in UNKNOWN:
        sort = "unknown"
    elif change.after == "attached":
        sort = "attached"
    else:
        # What is attached neither before nor after is a reference.
        sort = "detached" if change.before == "attached" else "reference"
    return ChangeRow(
        change=sort,
        kind=str(ref.group_kind),
        before=change.before or "",
        after=change.after or "",
        source=f"{ref} → {node_label(to)}",
        message=change.message,
    )


def _enforcement_row(change: EnforcementChange) -> ChangeRow:
    same = change.before == change.after
    return ChangeRow(
        change="enforcement",
        kind=str(change.policy.group_kind),
        before=_overridden(change.by_before) if same else change.before or "",
        after=_overridden(change.by) if same else change.after or "",
        source=str(change.policy),
        message=f"{change.after} as before" if same else _overridden(change.by) if change.by else "",
    )


def _overridden(by: Collection[ObjectRef]) -> str:
    return f"overridden by {', '.join(map(str, by))}" if by else "overridden by none"


def _problem_row(problem: Diagnostic, change: str) -> ChangeRow:
    """Return a problem that is introduced or fixed, with its rule for a field."""
    subject, message = problem.subject, problem.message
    return ChangeRow(
        change=change,
        kind=str(subject.group_kind) if subject else "",
        field=problem.rule,
        before=problem.severity if change == "fixed" else "",
        after="" if change == "fixed" else problem.severity,
        source=str(subject or ""),
        # The columns next to it name the subject already.
        message=message.removeprefix(f"{subject}: ") if subject else message,
    )


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


class _Part(Struct, kw_only=True):
    """Lines that belong together, their frame, and those of them that fit."""

    noun: str
    total: int
    # Made when there is room for them: there may be very many.
    lines: Iterable[str]
    title: str = ""
    columns: tuple[str, ...] = ()
    shown: list[str] = []

    @property
    def left_out(self) -> int:
        """The number of lines that are not shown."""
        return self.total - len(self.shown)

    @property
    def frame(self) -> int:
        """The characters around the lines, at most."""
        return len(self.text()) - sum(map(len, self.shown)) + len(str(self.total))

    def text(self) -> str:
        """Return the lines in their frame, with how many of all they are."""
        body = "".join(self.shown)
        if not self.columns:
            return f"{self.title}{body}"
        number = f"{len(self.shown)} of {self.total}" if self.left_out else f"{self.total}"
        head = f"| {' | '.join(self.columns)} |\n|{' --- |' * len(self.columns)}\n"
        return f"\n<details><summary>{self.title} ({number})</summary>\n\n{head}{body}\n</details>\n"


def diff_markdown(difference: StateDiff, limit: int = LIMIT) -> str:
    """Return a difference in Markdown; see `markdown`."""
    return markdown(difference, "Effects on traffic and policies", diff_headline(difference), limit)


def blast_radius_markdown(answer: BlastRadius, limit: int = LIMIT) -> str:
    """Return the changes that follow from a deletion in Markdown; see `markdown`."""
    title = f"What deleting {code(str(answer.subject))} would change"
    return markdown(answer.difference, title, blast_headline(answer), limit)


def markdown(difference: StateDiff, title: str, headline: str, limit: int) -> str:
    """Return a title, the headline, blind spots, and folded tables, in at most `limit` characters but at least 2,000.

    Rows are left out from the end of the last tables. Nothing from the input is markup, a link or a mention.
    """
    limit = max(limit, _LEAST)
    sentence = f"**{escape_markup(headline.strip())}**\n"
    sentence = sentence if len(sentence) <= limit // _SHARE else _TOO_LONG
    opening = f"### {title}\n\n{sentence}" if len(title) <= limit // _SHARE else sentence
    unseen = difference.unseen
    warning = _Part(noun="blind spot", total=len(unseen), lines=map(_unseen, unseen), title=_WARNING)
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
    remedy = remedy_phrase(unseen) if unseen.needs else unseen.remedy
    return f"> - {escape_markup(f'{unseen.what}: {unseen.reason}' + (f' ({remedy})' if remedy else ''))}\n"


def _tables(difference: StateDiff) -> list[_Part]:
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
    return _line(f"**{_TRAFFIC[row.change]}**", code(row.source), hostnames, owner, escape_markup(row.message))


def _setting(row: ChangeRow) -> str:
    change = f"**{row.change.removesuffix('!')}** (security)" if row.change.endswith("!") else row.change
    names = [code(node_label(node)) for node in row.objects[:_NAMES]]
    rest = len(row.objects) - len(names)
    objects = ", ".join(names) + (f" and {rest} more" if rest else "")
    cells = map(_cell, (row.kind, row.field, row.before, row.after, row.source))
    return _line(change, *cells, objects, row.paths)


def _relation(row: ChangeRow) -> str:
    states = (escape_markup(state) or _NOTHING for state in (row.before, row.after))
    return _line(_cell(row.source), *states, escape_markup(row.message))


def _problem(row: ChangeRow) -> str:
    return _line(row.before or row.after, row.field, _cell(row.source), escape_markup(row.message))


def _cell(text: str) -> str:
    return code(text) if text else _NOTHING


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"
