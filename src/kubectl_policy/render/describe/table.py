"""Descriptions as rows (the settings of an object, the targets of a policy), and as names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.values import value
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.words.headlines import fully_enforced, object_headline, policy_headline
from kubectl_policy.render.words.names import attachment_words, flow, node_words, source_words
from kubectl_policy.render.words.paths import WhichPaths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.render.output.text import View


@value()
class _SettingRow:
    setting: Setting
    group: InForce
    paths: str


@value()
class _TargetRow:
    attachment: Attachment
    answer: PolicyDescription
    paths: str
    objects: int


_SETTINGS: Final[tuple[Column[_SettingRow], ...]] = (
    Column("KIND", lambda row: str(row.group.kind)),
    Column("FIELD", lambda row: row.setting.field),
    Column("VALUE", lambda row: "<removed>" if row.setting.removed else flow(row.setting.value)),
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
_TARGETS: Final[tuple[Column[_TargetRow], ...]] = (
    Column("POLICY", lambda row: row.answer.policy.qualified_name),
    Column("TARGET", lambda row: attachment_words(row.attachment)),
    Column("STATE", lambda row: row.attachment.state),
    Column("ENFORCEMENT", lambda row: row.answer.enforcement.state),
    Column("PATHS", lambda row: row.paths),
    Column("AFFECTS", lambda row: str(row.objects), narrow=False),
    Column("BEATEN BY", lambda row: ", ".join(map(str, row.answer.enforcement.by)), narrow=False),
    Column("REASON", lambda row: row.attachment.message, narrow=False),
)


def settings(answer: ObjectDescription, _: View) -> Table[_SettingRow]:
    """A row for each effective setting of an object; `wide` also has what each beat and how its kind merges."""
    which = WhichPaths(answer.paths)
    rows = [
        _SettingRow(setting, group, paths)
        for group in answer.in_force
        for paths in [_paths(group, which, len(answer.paths))]
        for setting in group.settings
    ]
    return Table(_SETTINGS, rows)


def targets(answer: PolicyDescription, _: View) -> Table[_TargetRow]:
    """A row for each target of a policy; `wide` also has what it affects, and why it is not enforced."""
    objects = len({node.object for node in answer.affected})
    paths = f"{fully_enforced(answer)}/{len(answer.paths)}"
    return Table(_TARGETS, [_TargetRow(attachment, answer, paths, objects) for attachment in answer.attachments])


def policies_in_force(answer: ObjectDescription) -> Iterable[ObjectRef]:
    """The policies that affect an object."""
    return answer.policies


def affected_objects(answer: PolicyDescription) -> Iterable[ObjectRef]:
    """The objects that a policy affects, each once."""
    return dict.fromkeys(node.object for node in answer.affected)


def beside_settings(answer: ObjectDescription, empty: bool) -> list[str]:  # noqa: FBT001 (see Forms)
    """The headline next to rows that are not all there is, or of which there is none."""
    return [object_headline(answer)] if answer.unseen or empty else []


def beside_targets(answer: PolicyDescription, empty: bool) -> list[str]:  # noqa: FBT001 (see Forms)
    """The same of a policy."""
    return [policy_headline(answer)] if answer.unseen or empty else []


def _paths(group: InForce, which: WhichPaths, number: int) -> str:
    if len(group.paths) == number:
        return f"all {number}" if number > 1 else "1"
    return which.words(group.paths).removesuffix(" only").removeprefix("paths ").removeprefix("path ")
