"""Answer about an object: as text, and as a table with a row for each setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.world import grouped
from kubectl_policy.questions.shared.reasons import node_phrase
from kubectl_policy.render.describe.fields import sections_of
from kubectl_policy.render.describe.headline import object_headline, told_causes
from kubectl_policy.render.describe.naming import Names, PathScopes
from kubectl_policy.render.describe.overview import by_kind, overview
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.text import Line, Segment, in_a_row
from kubectl_policy.render.wording.names import flow, mark, node_label, source_phrase
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


def object_text(answer: ObjectDescription, view: View) -> Document:
    """Return an answer about an object as text."""
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
        *section("May affect it", _possible(answer)),
        *references_section(answer.mentions.referred_to_by, answer.subject.object),
        *section("Does not apply", _not_applying(answer)),
        *section("Network policies between Gateway and backend", _backend_connections(answer)),
        *unseen_section(answer.unseen),
        *not_looked_into_section(answer.influences.not_looked_into),
        *problems_section(_problems(answer), (entry.message for entry in answer.not_applying)),
        *reported_section(answer.reports.reported),
        *events_section(answer.reports.events),
        # What controllers should report is for `status`; here it is left to who asks for everything.
        *(expected_section(answer.expected) if view.everything else ()),
        *next_section(map(describing, answer.policies), view),
    )


def _backend_connections(answer: ObjectDescription) -> Iterator[Line]:
    """Return a line for each backend whose Pods network policies have a say about."""
    from kubectl_policy.render.connections.backends import backend_line  # noqa: PLC0415 (few answers have them)

    return (backend_line(connection) for connection in answer.backend_connections)


def _problems(answer: ObjectDescription) -> Iterator[Diagnostic]:
    """List the problems, but for remarks on policies that have no effect here."""
    speaking = {source.policy for source in answer.sources}
    for problem in answer.problems:
        of_subject = problem.subject in {None, answer.subject.object, *speaking}
        if of_subject or problem.severity != "info" or answer.subject.object in problem.related:
            yield problem


def _paths(answer: ObjectDescription, scopes: PathScopes, view: View) -> tuple[Line, ...]:
    numbered = any(scopes.numbered(group.extent.positions) for group in answer.in_force)
    is_delegated = len(scopes.routes) > 1 and answer.subject.object in scopes.routes
    if not (numbered or is_delegated):
        return ()
    from kubectl_policy.render.wording.paths import path_lines  # noqa: PLC0415 (few answers have them)

    return section("Paths", path_lines(answer.paths, answer.subject, view, numbered=numbered))


def _possible(answer: ObjectDescription) -> Iterator[Line]:
    """Return a line for each place at which a route may be attached, with all the policies that count there."""
    by_cause = grouped(
        ((possible.route, possible.parent, possible.message), str(possible.policy)) for possible in answer.possible
    )
    for (route, parent, message), policies in by_cause.items():
        lead = Segment(f", if {route} is attached to {node_phrase(parent)}: ")
        yield Line((*in_a_row(policies), lead, Segment(message, prose=True)), 2)


def _not_applying(answer: ObjectDescription) -> Iterator[Line]:
    """Return a line for each reason and target, with all the policies that do not apply for it.

    Why a route is attached to nothing, the headline has said; policies that it does not get by that are named only.
    """
    mentioned = {(cause.parent, cause.message) for cause in told_causes(answer.requests.unattached)}
    together: dict[NotApplying, list[str]] = {}
    for entry in answer.not_applying:
        names = together.setdefault(replace(entry, policy=None), [])
        names += [str(entry.policy)] if entry.policy else []
    for entry, policies in together.items():
        is_said = entry.target is not None and (entry.target.object, entry.message) in mentioned
        if is_said and not policies:
            continue
        target = node_label(entry.target) if entry.target else ""
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


_OBJECT: Final[Column[_SettingRow]] = Column("OBJECT", lambda row: node_label(row.subject))
_SETTINGS: Final[tuple[Column[_SettingRow], ...]] = (
    Column("KIND", lambda row: f"{row.group.kind}{mark(row.group.profile, 'being a policy')}"),
    Column("FIELD", lambda row: row.setting.field),
    Column(
        "VALUE", lambda row: f"{'<removed>' if row.setting.removed else flow(row.setting.value)}{perhaps(row.setting)}"
    ),
    Column("SOURCE", lambda row: row.setting.source.object.qualified_name),
    Column("TARGET", lambda row: node_label(row.setting.source.target)),
    Column("PATHS", lambda row: row.paths),
    Column(
        "INSTEAD OF",
        lambda row: "; ".join(f"{flow(fate.value)} of {source_phrase(fate.source)}" for fate in row.setting.instead_of),
        narrow=False,
    ),
    Column("ORIGIN", lambda row: str(row.setting.origin or ""), narrow=False),
    Column(
        "STRATEGY", lambda row: ", ".join(strategy.value for strategy in row.group.combination.strategies), narrow=False
    ),
)


def settings_of(answers: Iterable[ObjectDescription], *, named: bool) -> Table[_SettingRow]:
    """Return a row for each effective setting of objects; `wide` adds targets, origins and strategies.

    Of several objects each row is `named` by its object.
    """
    rows: list[_SettingRow] = []
    for answer in answers:
        number = len(answer.paths)
        for group in answer.in_force:
            scope = group.extent.scope.removesuffix(" only").removeprefix("paths ").removeprefix("path ")
            everywhere = f"all {number}" if number > 1 else "1"
            paths = everywhere if len(group.extent.positions) == number else scope
            rows += (_SettingRow(setting, group, paths, answer.subject) for setting in group.settings)
    return Table((_OBJECT, *_SETTINGS) if named else _SETTINGS, rows)
