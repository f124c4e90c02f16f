"""Check objects by one version of a definition: by its schema, and by its rules (`x-kubernetes-validations`)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeGuard

from msgspec import Struct, field

from kubectl_policy.model import Diagnostic, FieldPath, Json, Problem, Resource
from kubectl_policy.model.fields import WHOLE, mapping_at, mappings_at, text_at, value_at
from kubectl_policy.validation.expressions import MAX_TEXT, Evaluator, Result, Seen
from kubectl_policy.validation.outlines import Outline, outline
from kubectl_policy.validation.pruning import dropped_fields, is_sound, prune
from kubectl_policy.validation.schema import (
    HIDE_RULES,
    MapKey,
    Reason,
    SchemaCheck,
    refused,
    shown,
    spelled,
    type_of,
    unchecked,
)

if TYPE_CHECKING:
    from kubectl_policy.validation.quick import Check

_QUOTED: Final = (
    r"""[rR][bB]?(?:"{3}[\s\S]*?"{3}|'{3}[\s\S]*?'{3}|"[^"]*"|'[^']*')"""
    r"""|(?P<quote>"{3}|'{3}|["'])(?:\\[\s\S]|(?!(?P=quote))[\s\S])*(?P=quote)"""
)
_MISSING_KEY: Final = r'Key not found in map : "?(?P<key>.*?)"?'
# The reasons that a rule may give; others are ignored.
_REASONS: Final[Mapping[str, Reason]] = {
    "FieldValueDuplicate": "FieldValueDuplicate",
    "FieldValueForbidden": "FieldValueForbidden",
    "FieldValueRequired": "FieldValueRequired",
}
# What a problem says, before the reason, where no rule of any object can be evaluated.
WITHOUT_RULES: Final = "its rules were not checked: "
_HIDDEN: Final = "its rules were not checked, because of what else is wrong"


# The most problems that are listed for one object.
_MAX_PROBLEMS: Final = 100


class VersionSchema(Struct, frozen=True):
    """The schema of a version with its rules; `drops_status` if the status is a subresource.

    `bundle` is the version of Gateway API of a schema that no definition in the input has; `quick` and `combined`, the
    predicate and the one expression that are true only of objects without a problem, are for such a schema.
    """

    schema: Mapping[str, Json]
    rules: RuleTree | None
    drops_status: bool
    bundle: str = ""
    quick: Check | None = None
    combined: str = ""
    words: frozenset[str] = frozenset()
    """The words with which the schema and the rules compare values."""
    valid_outlines: set[Outline] = field(default_factory=set[Outline])
    """The outlines of objects without a problem; they grow with what is checked."""

    def diagnostics(self, resource: Resource, raw: Mapping[str, Json], evaluator: Evaluator) -> Iterator[Diagnostic]:
        """Yield problems of an object, and checks that were not possible; `raw` is the object with its defaults."""
        if self.quick and self._is_valid(raw, self.quick, evaluator):
            return
        if is_sound(resource.raw):
            problems = self._problems(raw, evaluator)
        else:
            problems = [unchecked(WHOLE, "it is too large, or too deep, to be checked")]
        for problem in problems:
            if self.bundle and not problem.certain:
                continue
            prefix = f"{spelled(problem.field)}: " if problem.field.steps else ""
            verdict = "the API server would refuse it: " if problem.certain and not self.bundle else ""
            source = f" (by Gateway API {self.bundle})" if self.bundle else ""
            yield Diagnostic(
                rule="schema" if problem.certain else "schema-unchecked",
                severity="error" if problem.certain else "info",
                message=f"{resource.ref}: {verdict}{prefix}{problem.message}{source}",
                subject=resource.ref,
                field=str(problem.field),
                origin=resource.origin,
            )

    def _is_valid(self, raw: Mapping[str, Json], quick: Check, evaluator: Evaluator) -> bool:
        """Whether an object is known to have no problem; without an evaluator, rules have none."""
        if not self.combined or evaluator.obstacle:
            return quick(raw)
        # Nothing else of an object is a matter of rules, or of texts.
        checked = {key: value for key, value in raw.items() if key not in {"metadata", "status"}}
        shape = outline(checked, self.words)
        if shape not in self.valid_outlines:
            if not (quick(raw) and evaluator.holds(self.combined, seen_by_rules(raw, self.schema, embedded=True))):
                return False
            self.valid_outlines.add(shape)
        return True

    def dropped(self, raw: Mapping[str, Json]) -> tuple[FieldPath, ...]:
        """Return the outermost fields of an object that its schema does not know."""
        return tuple(dropped_fields(raw, prune(raw, self.schema))) if is_sound(raw) else ()

    def _problems(self, raw: Mapping[str, Json], evaluator: Evaluator) -> list[Problem]:
        kept = prune(raw, self.schema)
        if self.drops_status:
            kept = {key: value for key, value in kept.items() if key != "status"}
        problems = SchemaCheck(evaluator).problems(kept, self.schema)
        if self.rules and evaluator.obstacle:
            problems.append(unchecked(WHOLE, f"{WITHOUT_RULES}{evaluator.obstacle}"))
        elif self.rules:
            seen = seen_by_rules(kept, self.schema, embedded=True)
            # An API server then evaluates no rule of the object at all; here, rules of other fields are checked.
            hiding = [problem.field for problem in problems if problem.reason in HIDE_RULES]
            hidden = frozenset(field for invalid in hiding for field in invalid.around)
            problems += Rules(evaluator, hidden).problems(kept, seen, self.rules)
        return _without_repetitions(problems)


def version_schema(version: Mapping[str, Json]) -> VersionSchema | None:
    """Compile a version of a definition; None if it has no usable schema."""
    schema = mapping_at(version, "schema.openAPIV3Schema")
    if not schema or not is_sound(schema):
        return None
    return VersionSchema(schema, rule_tree(schema, schema), value_at(version, "subresources.status") is not None)


def _without_repetitions(problems: list[Problem]) -> list[Problem]:
    """Return the first problems without repetitions; of an uncertain problem, only its first field."""
    first: dict[tuple[FieldPath, str], Problem] = {}
    for problem in problems:
        first.setdefault((problem.field if problem.certain else WHOLE, problem.message), problem)
    every = list(first.values())
    if len(every) <= _MAX_PROBLEMS:
        return every
    return [*every[:_MAX_PROBLEMS], unchecked(WHOLE, f"{len(every) - _MAX_PROBLEMS} more problems are not listed")]


class RuleTree(Struct, frozen=True, kw_only=True):
    """The rules for a value, and those for what is inside of it; `also` are those of `allOf`."""

    rules: tuple[Mapping[str, Json], ...]
    fields: Mapping[str, RuleTree]
    additional: RuleTree | None
    items: RuleTree | None
    also: tuple[RuleTree, ...]


def rule_tree(schema: Json, demands: Json) -> RuleTree | None:
    """Return the rules in `demands`, which is the schema itself or a part of its `allOf`; None without any.

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
        additional=rule_tree(schema.get("additionalProperties"), demands.get("additionalProperties")),
        items=rule_tree(schema.get("items"), demands.get("items")),
        also=tuple(tree for tree in also if tree),
    )
    return tree if any((tree.rules, tree.fields, tree.additional, tree.items, tree.also)) else None


def on_creation(rule: Mapping[str, Json]) -> str:
    """Return the expression of a rule for the creation of an object, without `oldSelf`; "" for rules about updates."""
    text = text_at(rule, "rule").strip()
    expression = _without_old(text)
    return expression if expression == text or rule.get("optionalOldSelf") is True else ""


@lru_cache(maxsize=10_000)
def _without_old(text: str) -> str:
    return re.sub(rf"(?P<text>{_QUOTED})|(?<![.\w])oldSelf\b", lambda match: match["text"] or "optional.none()", text)


class Rules(Struct, frozen=True):
    """Checks values against their rules; rules of `hidden` fields are not evaluated."""

    evaluator: Evaluator
    hidden: frozenset[FieldPath] = frozenset()

    def problems(self, value: Json, seen: Seen, tree: RuleTree, field: FieldPath = WHOLE) -> Iterator[Problem]:
        """Yield the rules that a value or a value inside of it breaks, and those that could not be evaluated.

        `seen` is the value as rules see it. As `Validator` in apiextensions-apiserver, pkg/apiserver/schema/cel, has
        it: rules are not for null.
        """
        if value is None:
            return
        if tree.rules:
            yield from self._broken_rules(value, seen, tree.rules, field)
        for part in tree.also:
            yield from self.problems(value, seen, part, field)
        if _is_list(value) and isinstance(seen, list) and tree.items:
            for position, item in enumerate(value):
                yield from self.problems(item, seen[position], tree.items, field / position)
        if isinstance(value, Mapping) and isinstance(seen, dict):
            for key, inner in value.items():
                if key in tree.fields:
                    yield from self.problems(inner, seen.get(escaped(key)), tree.fields[key], field / key)
                elif tree.additional and key in seen:
                    yield from self.problems(inner, seen[key], tree.additional, field / MapKey(key))

    def _broken_rules(
        self, value: Json, seen: Seen, rules: Sequence[Mapping[str, Json]], field: FieldPath
    ) -> Iterator[Problem]:
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
        """Return the detail for a broken rule: the result of its message expression, its message, or the rule."""
        expression = text_at(rule, "messageExpression").strip()
        message = self.evaluator.evaluate([expression], seen)[0].value if expression else None
        if isinstance(message, str) and message.strip() and "\n" not in message and len(message) <= MAX_TEXT:
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
    reason = result.problem or "it is neither true nor false"
    return unchecked(field, f"whether it satisfies the rule {shown(about)} was not checked: {reason}")


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
    """Convert a value by the types of its schema, as `UnstructuredToVal` in k8s.io/apiserver, pkg/cel/common, has it.

    `embedded` is true of an object with its own kind: rules see its kind and its name. Fields that the schema does not
    know are kept, for definitions that somebody has shortened.
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
    """Return the fields by their names in rules; a null in a known field counts as absent.

    Since Kubernetes 1.31, rules may call a known field by a keyword (`self.namespace`) as well as by its escaped name
    (`SetRecognizeKeywordAsFieldName` in k8s.io/apiserver, pkg/cel).
    """
    properties = {**mapping_at(schema, "properties"), **(_META if embedded else {})}
    additional = mapping_at(schema, "additionalProperties")
    seen: dict[str, Seen] = {}
    for key, inner in value.items():
        about = properties.get(key)
        if isinstance(about, Mapping):
            if inner is not None:
                seen[escaped(key)] = seen_by_rules(inner, about)
                if key in _RESERVED:
                    seen[key] = seen[escaped(key)]
        else:
            seen[key] = seen_by_rules(inner, additional)
    return seen


def escaped(name: str) -> str:
    """Return the name of a field in rules, as `Escape` in k8s.io/apiserver, pkg/cel, has it."""
    if name in _RESERVED:
        return f"__{name}__"
    return re.sub("__|[-./]", lambda match: _ESCAPES[match[0]], name)


def _text(value: str, schema: Mapping[str, Json]) -> Seen:
    form = text_at(schema, "format") if schema.get("type") == "string" else ""
    if form != "byte":
        return ... if form in _TIMES else value
    try:
        return base64.b64decode(value, altchars=b"-_", validate=True)
    except ValueError:
        return ...
