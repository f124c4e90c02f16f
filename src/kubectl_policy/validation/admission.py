"""Which objects an API server would refuse, as far as their CustomResourceDefinitions were read, and what it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

from kubectl_policy.model import Diagnostic
from kubectl_policy.model.fields import WHOLE, mapping_at, value_at
from kubectl_policy.validation.schema import spelled, unchecked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import FieldPath, Json, Problem, Resource
    from kubectl_policy.validation.expressions import Evaluator
    from kubectl_policy.validation.rules import RuleTree

# Everything here recurses on values; real definitions are 50 levels deep.
_DEEPEST: Final = 100
# etcd takes 1.5 MiB, and a value that is repeated by an alias counts each time.
_LARGEST: Final = 300_000
# Of one object, no more problems are listed.
_MOST: Final = 100


def is_sound(value: object) -> bool:
    """Whether a value is made of the types of JSON, with text as keys, and is neither endless nor enormous."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while waiting:
        part, depth = waiting.pop()
        seen += 1
        if seen > _LARGEST or depth > _DEEPEST:
            return False
        if isinstance(part, Mapping):
            fields = cast("Mapping[object, object]", part)
            if not all(isinstance(key, str) for key in fields):
                return False
            waiting += [(inner, depth + 1) for inner in fields.values()]
        elif isinstance(part, list | tuple):
            waiting += [(inner, depth + 1) for inner in cast("Sequence[object]", part)]
        elif part is not None and not isinstance(part, bool | int | float | str):
            return False
    return True


class VersionSchema(Struct, frozen=True):
    """The schema of a version with its rules; the status is dropped where it is a subresource."""

    schema: Mapping[str, Json]
    rules: RuleTree | None
    drops_status: bool

    def diagnostics(self, resource: Resource, raw: Mapping[str, Json], evaluator: Evaluator) -> Iterator[Diagnostic]:
        """What is wrong with an object, and what could not be found out; `raw` is the object with its defaults."""
        if is_sound(resource.raw):
            problems = self._problems(raw, evaluator)
        else:
            problems = [unchecked(WHOLE, "it is too large, or too deep, to be checked")]
        for problem in problems:
            field = f"{spelled(problem.field)}: " if problem.field.steps else ""
            refused = "the API server would refuse it: " if problem.certain else ""
            yield Diagnostic(
                rule="schema" if problem.certain else "schema-unchecked",
                severity="error" if problem.certain else "info",
                message=f"{resource.ref}: {refused}{field}{problem.message}",
                subject=resource.ref,
                field=str(problem.field),
                origin=resource.origin,
            )

    def dropped(self, raw: Mapping[str, Json]) -> tuple[FieldPath, ...]:
        """The fields of an object that its schema does not know, the outer ones of those that are in each other."""
        return tuple(_dropped(raw, pruned(raw, self.schema), WHOLE)) if is_sound(raw) else ()

    def _problems(self, raw: Mapping[str, Json], evaluator: Evaluator) -> list[Problem]:
        from kubectl_policy.validation.rules import Rules, hidden_by, seen_by_rules  # noqa: PLC0415 (see `version_schema`)
        from kubectl_policy.validation.schema import SchemaCheck  # noqa: PLC0415 (see `version_schema`)

        kept = pruned(raw, self.schema)
        if self.drops_status:
            kept = {key: value for key, value in kept.items() if key != "status"}
        problems = SchemaCheck(evaluator).problems(kept, self.schema)
        if self.rules and evaluator.obstacle:
            problems.append(unchecked(WHOLE, f"its rules were not checked: {evaluator.obstacle}"))
        elif self.rules:
            seen = seen_by_rules(kept, self.schema, embedded=True)
            problems += Rules(evaluator, hidden_by(problems)).problems(kept, seen, self.rules)
        return _once(problems)


def version_schema(version: Mapping[str, Json]) -> VersionSchema | None:
    """What a version of a definition says; None if it has no schema that can be worked with."""
    schema = mapping_at(version, "schema.openAPIV3Schema")
    if not schema or not is_sound(schema):
        return None
    from kubectl_policy.validation.rules import rule_tree  # noqa: PLC0415 (most definitions that are tried have no schema)

    return VersionSchema(schema, rule_tree(schema, schema), value_at(version, "subresources.status") is not None)


def _once(problems: list[Problem]) -> list[Problem]:
    """The problems without repetitions and with an end; of a doubt, the first field that it is about is enough."""
    first: dict[tuple[FieldPath, str], Problem] = {}
    for problem in problems:
        first.setdefault((problem.field if problem.certain else WHOLE, problem.message), problem)
    every = list(first.values())
    rest = [unchecked(WHOLE, f"{len(every) - _MOST} more problems are not listed")] if len(every) > _MOST else []
    return every[:_MOST] + rest


# Of the object itself, and of an object that is embedded in it, these are never dropped.
_META: Final = frozenset({"apiVersion", "kind", "metadata"})


def pruned(raw: Mapping[str, Json], schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The object without unknown fields and without nulls that stand for nothing; `raw` is not mutated.

    As `Prune` and `PruneNonNullableNullsWithoutDefaults` in apiextensions-apiserver, pkg/apiserver/schema, have it.
    """
    return _kept_fields(raw, schema, keep_unknown=_preserves(schema), embedded=True)


def _dropped(value: Json, kept: Json, field: FieldPath) -> Iterator[FieldPath]:
    if isinstance(value, Mapping) and isinstance(kept, Mapping):
        for key, inner in value.items():
            if key in kept:
                yield from _dropped(inner, kept[key], field / key)
            elif inner is not None:
                yield field / key
    elif isinstance(value, list) and isinstance(kept, list):
        for position, (item, left) in enumerate(zip(value, kept, strict=True)):
            yield from _dropped(item, left, field / position)


def _kept(value: Json, schema: Json, *, keep_unknown: bool = False) -> Json:
    about: Mapping[str, Json] = schema if isinstance(schema, Mapping) else {}
    keep_unknown = keep_unknown or _preserves(about)
    if isinstance(value, Mapping):
        embedded = about.get("x-kubernetes-embedded-resource") is True
        return _kept_fields(value, about, keep_unknown=keep_unknown, embedded=embedded)
    if isinstance(value, list):
        # Inside of a list, unknown fields are kept wherever the list itself keeps them.
        return [_kept(item, about.get("items"), keep_unknown=keep_unknown) for item in value]
    return value


def _kept_fields(
    value: Mapping[str, Json], schema: Mapping[str, Json], *, keep_unknown: bool, embedded: bool
) -> Mapping[str, Json]:
    properties, others = mapping_at(schema, "properties"), schema.get("additionalProperties")
    kept: dict[str, Json] = {}
    for key, inner in value.items():
        about = properties.get(key, others)
        if embedded and key in _META:
            kept[key] = inner
        elif isinstance(about, Mapping):
            if inner is not None or about.get("nullable") is True or about.get("default") is not None:
                kept[key] = _kept(inner, about)
        elif keep_unknown:
            kept[key] = inner
        elif about is True:
            kept[key] = _kept(inner, None)
    return kept


def _preserves(schema: Mapping[str, Json]) -> bool:
    return schema.get("x-kubernetes-preserve-unknown-fields") is True
