"""The answer about an object as a table: a row for each setting that is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.wording.names import flow, mark, node_words, source_words
from kubectl_policy.render.wording.settings import perhaps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.shared.in_force import InForce, Setting


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
    Column("STRATEGY", lambda row: ", ".join(strategy.value for strategy in row.group.strategies), narrow=False),
)


def settings_of(answers: Iterable[ObjectDescription], *, named: bool) -> Table[_SettingRow]:
    """A row for each effective setting of objects; `wide` also has where it stands, what it beat, how kinds merge.

    Of several objects each row is `named` by its object.
    """
    rows: list[_SettingRow] = []
    for answer in answers:
        number = len(answer.paths)
        for group in answer.in_force:
            words = group.scope.removesuffix(" only").removeprefix("paths ").removeprefix("path ")
            everywhere = f"all {number}" if number > 1 else "1"
            paths = everywhere if len(group.positions) == number else words
            rows += (_SettingRow(setting, group, paths, answer.subject) for setting in group.settings)
    return Table((_OBJECT, *_SETTINGS) if named else _SETTINGS, rows)
