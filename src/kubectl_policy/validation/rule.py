"""Whether a value keeps one rule (`x-kubernetes-validations`), and what an API server says if it does not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import text_at
from kubectl_policy.validation.cost import TEXT, Size, cost_of_rule
from kubectl_policy.validation.expressions import Result, evaluate
from kubectl_policy.validation.finding import Finding, below, invalid, shown, unchecked
from kubectl_policy.validation.scalars import type_of

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.validation.budget import Budget
    from kubectl_policy.validation.values import Seen

_LONGEST: Final = 10_000
_LONGEST_MESSAGE: Final = 5_000
_TEXT_OR_OLD: Final = re.compile(rf"(?P<text>{TEXT.pattern})|(?<![.\w])oldSelf\b")
_MISSING_KEY: Final = re.compile(r'Key not found in map : "?(?P<key>.*?)"?')
_REASONS: Final = {"FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required value"}


class Subject(NamedTuple):
    """A value that has rules: as it is, as they see it, and where it is."""

    value: Json
    seen: Seen
    size: Size
    field: str


def rule_finding(subject: Subject, rule: Mapping[str, Json], budget: Budget) -> Finding | None:
    """That a value breaks a rule, or that nobody knows; None if it keeps it, or if the rule is only for changes."""
    text = text_at(rule, "rule").strip()
    on_creation = _on_creation(text[: _LONGEST + 1])
    if not text or (on_creation != text[: _LONGEST + 1] and rule.get("optionalOldSelf") is not True):
        return None
    result = _result(subject, on_creation, budget)
    if result.value is True:
        return None
    about, field = text_at(rule, "message").strip() or text, subject.field
    missing = _MISSING_KEY.fullmatch(result.problem)
    if missing:
        kind = shown(type_of(subject.value))
        return Finding(field, f"Invalid value: {kind}: no such key: {missing['key']} evaluating rule: {about}")
    if result.value is not False:
        why = result.problem or "it is neither true nor false"
        return unchecked(field, f"whether it keeps the rule {shown(about)} was not checked: {why}")
    return _broken(subject, rule, budget)


@lru_cache(maxsize=10_000)
def _on_creation(text: str) -> str:
    """An expression with nothing in place of `oldSelf`, as there is no old value of what is created."""
    return _TEXT_OR_OLD.sub(lambda found: found["text"] or "optional.none()", text)


def _result(subject: Subject, text: str, budget: Budget) -> Result:
    if len(text) > _LONGEST or not budget.afford(subject.size.total + cost_of_rule(text, subject.size)):
        return Result(problem="it would take too long")
    return evaluate(text, subject.seen)


def _broken(subject: Subject, rule: Mapping[str, Json], budget: Budget) -> Finding:
    path, reason = text_at(rule, "fieldPath"), text_at(rule, "reason")
    field = below(subject.field, path[1:]) if path.startswith(".") else subject.field + path
    if reason == "FieldValueDuplicate":
        return Finding(field, f"Duplicate value: {shown(subject.value)}")
    detail = _detail(subject, rule, budget)
    if reason in _REASONS:
        return Finding(field, f"{_REASONS[reason]}: {detail}")
    if isinstance(subject.value, Mapping | list | tuple):
        return Finding(field, f"Invalid value: {detail}")
    return invalid(field, subject.value, detail)


def _detail(subject: Subject, rule: Mapping[str, Json], budget: Budget) -> str:
    """What is said of a broken rule: what its expression comes to, its message, or the rule itself."""
    expression = text_at(rule, "messageExpression").strip()
    found = _result(subject, expression, budget).value if expression else None
    if isinstance(found, str) and found.strip() and "\n" not in found and len(found) <= _LONGEST_MESSAGE:
        return found.strip()
    return text_at(rule, "message") or f"failed rule: {text_at(rule, 'rule').strip()}"
