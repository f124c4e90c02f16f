"""The rules (`x-kubernetes-validations`) of a schema: where they are, what they see, and which a value breaks."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeGuard

from msgspec import Struct

from kubectl_policy.model import FieldPath
from kubectl_policy.model.fields import WHOLE, mapping_at, mappings_at, text_at
from kubectl_policy.validation.expressions import LARGEST_TEXT
from kubectl_policy.validation.schema import HIDE_RULES, MapKey, refused, shown, type_of, unchecked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import Json, Problem
    from kubectl_policy.validation.expressions import Evaluator, Result, Seen
    from kubectl_policy.validation.schema import Reason

_QUOTED: Final = (
    r"""[rR][bB]?(?:"{3}[\s\S]*?"{3}|'{3}[\s\S]*?'{3}|"[^"]*"|'[^']*')"""
    r"""|(?P<quote>"{3}|'{3}|["'])(?:\\[\s\S]|(?!(?P=quote))[\s\S])*(?P=quote)"""
)
_MISSING_KEY: Final = r'Key not found in map : "?(?P<key>.*?)"?'
# Those that a rule may give; any other one counts for nothing.
_REASONS: Final[Mapping[str, Reason]] = {
    "FieldValueDuplicate": "FieldValueDuplicate",
    "FieldValueForbidden": "FieldValueForbidden",
    "FieldValueRequired": "FieldValueRequired",
}
_HIDDEN: Final = "its rules were not checked, because of what else is wrong"


class RuleTree(Struct, frozen=True, kw_only=True):
    """The rules for a value, and those for what is inside of it; `also` are those of `allOf`."""

    rules: tuple[Mapping[str, Json], ...]
    fields: Mapping[str, RuleTree]
    others: RuleTree | None
    items: RuleTree | None
    also: tuple[RuleTree, ...]


def rule_tree(schema: Json, demands: Json) -> RuleTree | None:
    """The rules in `demands`, which is the schema itself or a part of its `allOf`; None if there are none.

    Rules see a value by its own schema, so `allOf` has rules for those fields alone that the schema has.
    """
    if not isinstance(schema, Mapping) or not isinstance(demands, Mapping):
        return None
    properties, demanded = mapping_at(schema, "properties"), mapping_at(demands, "properties")
    inside = {name: rule_tree(properties.get(name), about) for name, about in demanded.items()}
    also = (rule_tree(schema, part) for part in mappings_at(demands, "allOf"))
    tree = RuleTree(
        rules=tuple(rule for rule in mappings_at(demands, "x-kubernetes-validations") if on_creation(rule)),
        fields={name: tree for name, tree in inside.items() if tree},
        others=rule_tree(schema.get("additionalProperties"), demands.get("additionalProperties")),
        items=rule_tree(schema.get("items"), demands.get("items")),
        also=tuple(tree for tree in also if tree),
    )
    return tree if any((tree.rules, tree.fields, tree.others, tree.items, tree.also)) else None


def on_creation(rule: Mapping[str, Json]) -> str:
    """The expression that holds when an object is created; empty of a rule that is only for changes.

    There is nothing in place of `oldSelf`, as there is no old value then.
    """
    text = text_at(rule, "rule").strip()
    found = _without_old(text)
    return found if found == text or rule.get("optionalOldSelf") is True else ""


@lru_cache(maxsize=10_000)
def _without_old(text: str) -> str:
    return re.sub(rf"(?P<text>{_QUOTED})|(?<![.\w])oldSelf\b", lambda found: found["text"] or "optional.none()", text)


class Rules(Struct, frozen=True):
    """Holds values against their rules; `hidden` are the fields of which the rules mean nothing."""

    evaluator: Evaluator
    hidden: frozenset[FieldPath] = frozenset()

    def problems(self, value: Json, seen: Seen, tree: RuleTree, field: FieldPath = WHOLE) -> Iterator[Problem]:
        """The rules that a value and what is inside of it break, and those of which that is not known.

        `seen` is what rules see of the value. As `Validator` in apiextensions-apiserver, pkg/apiserver/schema/cel, has
        it: rules are not for null.
        """
        if value is None:
            return
        if tree.rules:
            yield from self._own(value, seen, tree.rules, field)
        for part in tree.also:
            yield from self.problems(value, seen, part, field)
        if _is_list(value) and isinstance(seen, list) and tree.items:
            for position, item in enumerate(value):
                yield from self.problems(item, seen[position], tree.items, field / position)
        if isinstance(value, Mapping) and isinstance(seen, dict):
            for key, inner in value.items():
                if key in tree.fields:
                    yield from self.problems(inner, seen.get(escaped(key)), tree.fields[key], field / key)
                elif tree.others and key in seen:
                    yield from self.problems(inner, seen[key], tree.others, field / MapKey(key))

    def _own(self, value: Json, seen: Seen, rules: Sequence[Mapping[str, Json]], field: FieldPath) -> Iterator[Problem]:
        if field in self.hidden:
            yield unchecked(field, _HIDDEN)
            return
        results = self.evaluator.evaluate([*map(on_creation, rules)], seen)
        for rule, result in zip(rules, results, strict=True):
            if result.value is False:
                yield _broken(value, rule, field, self._detail(seen, rule))
            elif result.value is not True:
                yield _undecided(value, rule, field, result)

    def _detail(self, seen: Seen, rule: Mapping[str, Json]) -> str:
        """What is said of a broken rule: the result of its message expression, its message, or the rule itself."""
        expression = text_at(rule, "messageExpression").strip()
        message = self.evaluator.evaluate([expression], seen)[0].value if expression else None
        if isinstance(message, str) and message.strip() and "\n" not in message and len(message) <= LARGEST_TEXT:
            return message.strip()
        return text_at(rule, "message") or f"failed rule: {text_at(rule, 'rule').strip()}"


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, list | tuple)


def _undecided(value: Json, rule: Mapping[str, Json], field: FieldPath, result: Result) -> Problem:
    about = text_at(rule, "message").strip() or text_at(rule, "rule").strip()
    missing = re.fullmatch(_MISSING_KEY, result.problem)
    if missing:
        detail = f"no such key: {missing['key']} evaluating rule: {about}"
        return refused(field, "FieldValueInvalid", shown(type_of(value)), detail)
    why = result.problem or "it is neither true nor false"
    return unchecked(field, f"whether it satisfies the rule {shown(about)} was not checked: {why}")


def _broken(value: Json, rule: Mapping[str, Json], field: FieldPath, detail: str) -> Problem:
    with suppress(ValueError):
        field = FieldPath((*field.steps, *FieldPath.parse(text_at(rule, "fieldPath")).steps))
    reason: Reason = _REASONS.get(text_at(rule, "reason"), "FieldValueInvalid")
    if reason == "FieldValueDuplicate":
        return refused(field, reason, shown(value))
    if reason != "FieldValueInvalid":
        return refused(field, reason, detail)
    single = [] if isinstance(value, Mapping | list | tuple) else [shown(value)]
    return refused(field, reason, *single, detail)


def hidden_by(problems: Iterable[Problem]) -> frozenset[FieldPath]:
    """The fields whose rules mean nothing: those that have a wrong one in them.

    An API server then evaluates no rule at all; but what is broken here is broken whatever is put right there.
    """
    return frozenset(field for problem in problems if problem.reason in HIDE_RULES for field in problem.field.around)


_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_META: Final[Mapping[str, Json]] = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}},
}
_TIMES: Final = ("date", "date-time", "duration")
# No integer of an API has more bits; beyond, JSON numbers are decimals to the API server.
_LARGEST_INTEGER: Final = 2**63


def seen_by_rules(value: Json, schema: Mapping[str, Json], *, embedded: bool = False) -> Seen:
    """The value by the types of its schema, as `UnstructuredToVal` in k8s.io/apiserver, pkg/cel/common, has it.

    `embedded` is true of an object with a kind of its own: rules see its kind and its name. What a schema keeps without
    knowing it is shown as it is, for definitions that somebody has shortened.
    """
    if isinstance(value, Mapping):
        return _fields(value, schema, embedded=embedded or schema.get("x-kubernetes-embedded-resource") is True)
    if isinstance(value, str):
        return _text(value, schema)
    if _is_list(value):
        items = mapping_at(schema, "items")
        return [seen_by_rules(item, items) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and schema.get("type") == "number":
        return float(value) if abs(value) < _LARGEST_INTEGER else ...
    return value if isinstance(value, int | float | None) else ...


def _fields(value: Mapping[str, Json], schema: Mapping[str, Json], *, embedded: bool) -> dict[str, Seen]:
    """The fields under the names by which rules can call them; where fields have names, null is absence."""
    properties = {**mapping_at(schema, "properties"), **(_META if embedded else {})}
    others = mapping_at(schema, "additionalProperties")
    found: dict[str, Seen] = {}
    for key, inner in value.items():
        about = properties.get(key)
        if isinstance(about, Mapping):
            if inner is not None:
                found[escaped(key)] = seen_by_rules(inner, about)
        else:
            found[key] = seen_by_rules(inner, others)
    return found


def escaped(name: str) -> str:
    """The name of a field in rules, as `Escape` in k8s.io/apiserver, pkg/cel, has it."""
    if name in _RESERVED:
        return f"__{name}__"
    return re.sub("__|[-./]", lambda found: _ESCAPES[found[0]], name)


def _text(value: str, schema: Mapping[str, Json]) -> Seen:
    form = text_at(schema, "format") if schema.get("type") == "string" else ""
    if form != "byte":
        return ... if form in _TIMES else value
    try:
        return base64.b64decode(value, altchars=b"-_", validate=True)
    except ValueError:
        return ...
