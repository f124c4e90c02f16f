"""The rules (`x-kubernetes-validations`) of a schema: where they are, and which of them a value breaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.validation.expressions import TEXT, Result, Size, cost_of_rule, evaluate, size_of
from kubectl_policy.validation.findings import Finding, below, invalid, shown, unchecked
from kubectl_policy.validation.schema import type_of
from kubectl_policy.validation.values import value_for_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.validation.findings import Budget
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


@dataclass(frozen=True, slots=True)
class RuleTree:
    """The rules for a value, and those for what is inside of it; `also` are those of `allOf`."""

    schema: Mapping[str, Json]
    root: bool
    rules: tuple[Mapping[str, Json], ...]
    fields: Mapping[str, RuleTree]
    others: RuleTree | None
    items: RuleTree | None
    also: tuple[RuleTree, ...]


def rule_tree(schema: Json, demands: Json, *, root: bool = False) -> RuleTree | None:
    """The rules in `demands`, which is the schema itself or a part of its `allOf`; None if there are none.

    Rules see a value by its own schema, so `allOf` has rules for those fields alone that the schema has.
    """
    if not isinstance(schema, Mapping) or not isinstance(demands, Mapping):
        return None
    properties, demanded = mapping_at(schema, "properties"), mapping_at(demands, "properties")
    inside = {name: rule_tree(properties.get(name), about) for name, about in demanded.items()}
    also = (rule_tree(schema, part, root=root) for part in mappings_at(demands, "allOf"))
    tree = RuleTree(
        schema,
        root,
        tuple(mappings_at(demands, "x-kubernetes-validations")),
        {name: found for name, found in inside.items() if found},
        rule_tree(schema.get("additionalProperties"), demands.get("additionalProperties")),
        rule_tree(schema.get("items"), demands.get("items")),
        tuple(found for found in also if found),
    )
    return tree if any((tree.rules, tree.fields, tree.others, tree.items, tree.also)) else None


# What it takes to show one value to rules.
_UNITS: Final = 30
_HIDDEN: Final = "its rules were not checked, because of what else is wrong"


class Rules(NamedTuple):
    """Holds values against their rules; `hidden` are the fields of which the rules mean nothing."""

    budget: Budget
    hidden: frozenset[str] = frozenset()

    def findings(self, value: Json, tree: RuleTree, field: str = "") -> Iterator[Finding]:
        """The rules that a value and what is inside of it break, and those of which nobody knows.

        As `Validator` in apiextensions-apiserver, pkg/apiserver/schema/cel, has it: rules are not for null.
        """
        if value is None:
            return
        yield from self._own(value, tree, field)
        for part in tree.also:
            yield from self.findings(value, part, field)
        if isinstance(value, list | tuple) and tree.items:
            for position, item in enumerate(value):
                yield from self.findings(item, tree.items, f"{field}[{position}]")
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key in tree.fields:
                    yield from self.findings(inner, tree.fields[key], below(field, key))
                elif tree.others:
                    yield from self.findings(inner, tree.others, f"{field}[{key}]")

    def _own(self, value: Json, tree: RuleTree, field: str) -> Iterator[Finding]:
        if not tree.rules:
            return
        if _plain(field) in self.hidden:
            yield unchecked(field, _HIDDEN)
            return
        seen = value_for_rules(value, tree.schema, embedded=tree.root)
        size = size_of(seen)
        self.budget.spend(_UNITS * size.total)
        subject = Subject(value, seen, size, field)
        for rule in tree.rules:
            found = rule_finding(subject, rule, self.budget)
            if found:
                yield found


def hidden_by(found: Iterable[Finding]) -> frozenset[str]:
    """The fields whose rules mean nothing: those that have a wrong one in them.

    An API server then evaluates no rule at all; but what is broken here is broken whatever is put right there.
    """
    return frozenset(
        plain[:end]
        for one in found
        if one.hides_rules
        for plain in [_plain(one.field)]
        for end in (0, *(position for position, letter in enumerate(f"{plain}.") if letter == "."))
    )


def _plain(field: str) -> str:
    """A path in which keys of mappings and positions in lists are written like names."""
    return field.replace("[", ".").replace("]", "")
