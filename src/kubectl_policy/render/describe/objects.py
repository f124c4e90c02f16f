"""The answer about an object: as text what is in force and from whom, then the rest; as a table a row per setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.render.describe.fields import sections_of
from kubectl_policy.render.describe.headline import object_headline, told_causes
from kubectl_policy.render.describe.naming import Names, PathScopes
from kubectl_policy.render.describe.overview import by_kind, overview
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.text import Line, Segment, in_a_row
from kubectl_policy.render.wording.names import flow, mark, node_words, source_words
from kubectl_policy.render.wording.sections import (
    BLANK,
    describing,
    events_section,
    expected_section,
    failing_section,
    headline_line,
    next_section,
    not_looked_into_section,
    problems_section,
    references_section,
    reported_section,
    section,
    unseen_section,
)
from kubectl_policy.render.wording.settings import perhaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Diagnostic, NodeRef
    from kubectl_policy.questions.describe.objects import NotApplying, ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.render.output.text import Document, View


def object_tree(answer: ObjectDescription, view: View) -> Document:
    """The answer about an object in the order of thought that every command keeps."""
    scopes, names = PathScopes(answer), Names(answer)
    short = tuple(overview(answer, scopes, names, view))
    kinds = by_kind(answer.in_force)
    return (
        headline_line(object_headline(answer)),
        *failing_section(answer.failing),
        *((BLANK, *short) if short else ()),
        *_paths(answer, scopes, view),
        *((BLANK,) if kinds else ()),
        *sections_of(kinds, scopes, names, view),
        *references_section(answer.mentions.referred_to_by, answer.subject.object),
        *section("Does not apply", _not_applying(answer)),
        *unseen_section(answer.unseen),
        *not_looked_into_section(answer.influences.not_looked_into),
        *problems_section(_problems(answer), (entry.message for entry in answer.not_applying)),
        *reported_section(answer.reports.reported),
        *events_section(answer.reports.events),
        # What controllers should report is for `status`; here it is left to who asks for everything.
        *(expected_section(answer.expected) if view.everything else ()),
        *next_section(map(describing, answer.policies), view),
    )


def _problems(answer: ObjectDescription) -> Iterator[Diagnostic]:
    """The problems, but for remarks on policies that have no say here."""
    speaking = {source.policy for source in answer.sources}
    for problem in answer.problems:
        of_subject = problem.subject in {None, answer.subject.object, *speaking}
        if of_subject or problem.severity != "info" or answer.subject.object in problem.related:
            yield problem


def _paths(answer: ObjectDescription, scopes: PathScopes, view: View) -> tuple[Line, ...]:
    """The paths, where some words name them by their numbers, or where routes lead to the route."""
    numbered = any(scopes.numbered(group.extent.positions) for group in answer.in_force)
    is_delegated = len(scopes.routes) > 1 and answer.subject.object in scopes.routes
    if not (numbered or is_delegated):
        return ()
    from kubectl_policy.render.wording.paths import path_lines  # noqa: PLC0415 (few answers have them)

    return section("Paths", path_lines(answer.paths, answer.subject, view, numbered=numbered))


def _not_applying(answer: ObjectDescription) -> Iterator[Line]:
    """A line for each reason and place, with all the policies that do not apply for it.

    Why a route is attached to nothing, the headline has said; policies that it does not get by that are named only.
    """
    said = {(cause.parent, cause.message) for cause in told_causes(answer.requests.unattached)}
    together: dict[NotApplying, list[str]] = {}
    for entry in answer.not_applying:
        names = together.setdefault(replace(entry, policy=None), [])
        names += [str(entry.policy)] if entry.policy else []
    for entry, policies in together.items():
        is_said = entry.target is not None and (entry.target.object, entry.message) in said
        if is_said and not policies:
            continue
        target = node_words(entry.target) if entry.target else ""
        if policies:
            lead = f" → {target}: " if target else ": "
        else:
            lead = "" if entry.message.startswith(target) else f"{target}: "
        reason = Segment(f" [{entry.reason}]" if entry.reason else "")
        message = "it is not attached there" if is_said else entry.message
        yield Line((*in_a_row(policies), Segment(lead), Segment(message, prose=True), reason), 2)


class _SettingRow(Struct, frozen=True):
    setting: Setting
    group: InForce
    paths: str
    subject: NodeRef


_OBJECT: Final[Column[_SettingRow]] = Column("OBJECT", lambda row: node_words(row.subject))
_SETTINGS: Final[tuple[Column[_SettingRow], ...]] = (
    Column("KIND", lambda row: f"{row.group.kind}{mark(row.group.profile, 'being a policy')}"),
    Column("FIELD", lambda row: row.setting.field),
    Column(
        "VALUE",
        lambda row: f"{'<removed>' if row.setting.removed else flow(row.setting.value)}{perhaps(row.setting)}",
    ),
    Column("SOURCE", lambda row: row.setting.source.object.qualified_name),
    Column("TARGET", lambda row: node_words(row.setting.source.target)),
    Column("PATHS", lambda row: row.paths),
    Column(
        "BEATS",
        lambda row: "; ".join(f"{flow(fate.value)} of {source_words(fate.source)}" for fate in row.setting.instead_of),
        narrow=False,
    ),
    Column("ORIGIN", lambda row: str(row.setting.origin or ""), narrow=False),
    Column(
        "STRATEGY", lambda row: ", ".join(strategy.value for strategy in row.group.combination.strategies), narrow=False
    ),
)


def settings_of(answers: Iterable[ObjectDescription], *, named: bool) -> Table[_SettingRow]:
    """A row for each effective setting of objects; `wide` also has where it stands, what it beat, how kinds merge.

    Of several objects each row is `named` by its object.
    """
    rows: list[_SettingRow] = []
    for answer in answers:
        number = len(answer.paths)
        for group in answer.in_force:
            words = group.extent.scope.removesuffix(" only").removeprefix("paths ").removeprefix("path ")
            everywhere = f"all {number}" if number > 1 else "1"
            paths = everywhere if len(group.extent.positions) == number else words
            rows += (_SettingRow(setting, group, paths, answer.subject) for setting in group.settings)
    return Table((_OBJECT, *_SETTINGS) if named else _SETTINGS, rows)
