"""The answer about an object as text: what is in force and from whom, path by path, then the rest; and as rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.values import value
from kubectl_policy.render.describe.blocks import alike, joined, targets_of
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.words.headlines import object_headline
from kubectl_policy.render.words.names import flow, mark, node_words, section_words, source_words
from kubectl_policy.render.words.next_commands import after_object, next_section
from kubectl_policy.render.words.paths import Phrase, WhichPaths, path_lines
from kubectl_policy.render.words.reasons import basis_lines, doubts_of
from kubectl_policy.render.words.sections import (
    BLANK,
    calls_section,
    events_section,
    expected_section,
    filters_section,
    headline_line,
    problems_section,
    reported_section,
    section,
    unseen_section,
)
from kubectl_policy.render.words.settings import perhaps, place_words, setting_lines, strategy_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.describe.objects import NotApplying, ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.render.output.text import Document, View


def object_tree(answer: ObjectDescription, view: View) -> Document:
    """The answer about an object in the order of thought that every command keeps."""
    which = WhichPaths(answer.paths)
    blocks: list[Line] = []
    numbered = False
    for _, of_kind in groupby(answer.in_force, lambda group: group.kind):
        groups = tuple(of_kind)
        for together in alike(groups):
            block = joined(together)
            # Where a kind takes effect at one place alone, that place says on which paths.
            at_one_place = block.profile.policy_class == "direct" and len(block.at) == 1
            phrase = Phrase("") if at_one_place else which.phrase(block.paths)
            numbered = numbered or phrase.numbered
            blocks += (BLANK, _heading(block, phrase.words, answer.subject))
            blocks += (*setting_lines(block, view, targets_of(together)), *doubts_of(block, groups))
        blocks += basis_lines(groups)
    return (
        headline_line(object_headline(answer)),
        *_paths(answer, view, numbered=numbered),
        *blocks,
        *calls_section(answer.called_by),
        *filters_section(answer.filters),
        *section("Does not apply", _not_applying(answer.not_applying)),
        *expected_section(answer.expected),
        *reported_section(answer.reported),
        *events_section(answer.events),
        *unseen_section(answer.unseen),
        *problems_section(answer.diagnostics, (entry.message for entry in answer.not_applying)),
        *next_section(after_object(answer), view),
    )


def _paths(answer: ObjectDescription, view: View, *, numbered: bool) -> tuple[Line, ...]:
    obj = answer.subject.object
    trivial = all(len(path) == 1 and path[0].object == obj and obj.group_kind == NAMESPACE for path in answer.paths)
    lines = () if trivial else section("Paths", path_lines(answer.paths, answer.subject, view, numbered=numbered))
    alone = all(node.object == obj or node.object.group_kind == NAMESPACE for path in answer.paths for node in path)
    if answer.carries_traffic and alone and not answer.called_by and answer.targeted_by and obj.namespace:
        lines += (Line((Span("Nothing that was read leads to it.", "aside"),), 2),)
    return lines


def _heading(group: InForce, paths: str, subject: NodeRef) -> Line:
    """The kind, how it merges, where it takes effect, and on which paths this is so; no place is named twice."""
    words = ("same on " if paths.startswith(("both", "all")) else "") + paths
    if len(group.at) == 1 and group.at[0].section and not group.passes_down:
        section = section_words(group.at[0])
        words = words.replace(f" with {section} only", " only").removeprefix(f"{section} only")
    rest = "".join(f" · {part}" for part in (strategy_words(group), place_words(group, subject), words) if part)
    kind = Span(f"{group.kind}{mark(group.profile, 'being a policy')}", "heading")
    return Line((kind, Span(rest, prose=True)), 0, 2)


def _not_applying(entries: Iterable[NotApplying]) -> Iterator[Line]:
    """A line for each reason and place, with all the policies that do not apply for it."""
    together: dict[NotApplying, list[str]] = {}
    for entry in entries:
        names = together.setdefault(replace(entry, policy=None), [])
        names += [str(entry.policy)] if entry.policy else []
    for entry, policies in together.items():
        target = node_words(entry.target) if entry.target else ""
        if policies:
            lead = f" → {target}: " if target else ": "
        else:
            lead = "" if entry.message.startswith(target) else f"{target}: "
        last = len(policies) - 1
        who = (
            Span(f"{' ' if place else ''}{name}{',' if place < last else ''}") for place, name in enumerate(policies)
        )
        reason = Span(f" [{entry.reason}]" if entry.reason else "")
        yield Line((*who, Span(lead), Span(entry.message, prose=True), reason), 2)


@value()
class _SettingRow:
    setting: Setting
    group: InForce
    paths: str


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
        lambda row: "; ".join(f"{flow(fate.value)} of {source_words(fate.source)}" for fate in row.setting.beaten),
        narrow=False,
    ),
    Column("STRATEGY", lambda row: ", ".join(strategy.value for strategy in row.group.strategies), narrow=False),
)


def settings(answer: ObjectDescription, _: View) -> Table[_SettingRow]:
    """A row for each effective setting of an object; `wide` also has what each beat and how its kind merges."""
    which, number = WhichPaths(answer.paths), len(answer.paths)
    rows: list[_SettingRow] = []
    for group in answer.in_force:
        words = which.words(group.paths).removesuffix(" only").removeprefix("paths ").removeprefix("path ")
        everywhere = f"all {number}" if number > 1 else "1"
        paths = everywhere if len(group.paths) == number else words
        rows += (_SettingRow(setting, group, paths) for setting in group.settings)
    return Table(_SETTINGS, rows)


def policies_in_force(answer: ObjectDescription) -> Iterable[ObjectRef]:
    """The policies that affect an object."""
    return answer.policies
