"""Answers to gwctl's questions about a policy: its enforcement, its reach, and the world without it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.shared.reported import reported_conditions
from tests.cases.worlds import fields, items

if TYPE_CHECKING:
    from kubectl_policy import EffectivePolicy, Path
    from kubectl_policy.model import Json
    from kubectl_policy.questions.differences.effects import EffectiveValue
    from tests.cases.gwctl_question import Question


def reached_by(question: Question) -> tuple[EffectivePolicy, ...]:
    """Return the effective policies, one per path, to which the policy of the question contributes."""
    policy = question.subject
    if policy is None or policy not in question.before.attachments:
        return ()
    return question.before.enforcement(policy).outcomes


def on_path(path: Path, name: str) -> bool:
    """Whether a path has the objects of `g1>r1>b1` in this order and ends with the last of them."""
    wanted = name.split(">")
    names = iter(node.object.name for node in path)
    return path[-1].object.name == wanted[-1] and all(part in names for part in wanted)


def short(path: Path) -> str:
    """Return a path as gwctl's cases write it: the names of its objects from the Gateway on."""
    return ">".join(dict.fromkeys(node.object.name for node in path if node.object.namespace))


def delete_changes(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare, by path, what deleting the policy does to each field: `color red -> none`."""
    wanted = fields(expected)
    return wanted, {name: change for name, change in _changes(question, list(wanted)).items() if change}


def delete_unchanged(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the paths on which deleting the policy changes nothing."""
    wanted = [str(name) for name in items(expected)]
    changes = _changes(question, wanted)
    return sorted(wanted), sorted(name for name in wanted if changes.get(name) == "")


def _changes(question: Question, names: list[str]) -> dict[str, str]:
    """Return what deleting the policy changes on each path that it reaches, by the name of the path."""
    changes = {_name(policy.path, names): "" for policy in reached_by(question)}
    if question.subject is None:
        return changes
    for change in blast_radius(question.before, question.subject).difference.effects:
        fields = ", ".join(f"{field.field} {_shown(field.before)} -> {_shown(field.after)}" for field in change.fields)
        changes |= {_name(path, names): fields for path in change.paths if change.sort != "moved"}
    return changes


def _name(path: Path, names: list[str]) -> str:
    return next((name for name in names if on_path(path, name)), short(path))


def _shown(value: EffectiveValue | None) -> object:
    return "none" if value is None or value.removed else value.value


def enforcement(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare the state of the policy named by the key, and the policies that override it: `Overridden by p3`."""
    state, _, rest = str(expected).partition(" ")
    named = (policy.ref for policy in question.before.policies if policy.ref.name == key)
    enforcements = [question.before.enforcement(policy) for policy in named]
    got = [(enforcement.state, sorted(ref.name for ref in enforcement.by)) for enforcement in enforcements]
    return [(state, sorted(re.findall(r"by (\S+)", rest)))], got


def paths(question: Question, _: str, expected: Json) -> tuple[object, object]:
    """Compare the paths to which the policy contributes."""
    wanted = [str(name) for name in items(expected)]
    reached = [policy.path for policy in reached_by(question)]
    names = {next((name for name in wanted if on_path(path, name)), short(path)) for path in reached}
    return sorted(wanted), sorted(names)


def reported(question: Question, key: str, expected: Json) -> tuple[object, object]:
    """Compare, for policies by `namespace/name`, the status of the condition that a controller reported."""
    statuses: dict[str, str] = {}
    for policy in question.before.policies:
        for condition in reported_conditions(policy.raw):
            if condition.type.lower() == key and policy.ref.qualified_name in fields(expected):
                statuses[policy.ref.qualified_name] = condition.status
    return expected, statuses
