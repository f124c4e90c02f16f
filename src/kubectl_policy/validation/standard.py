"""Definitions of Gateway API that come with the program, for kinds whose definition is not in the input.

They are those of the experimental channel, which allow the most. That an object breaks one of their rules is certain
for that version of Gateway API; what could not be checked is not reported.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubectl_policy.model.fields import strings_at
from kubectl_policy.validation.admission import RuleTree, VersionSchema, escaped, on_creation, rule_tree
from kubectl_policy.validation.outlines import words_in
from kubectl_policy.validation.quick import quick_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json

# `python -m tests.validation.gateway_api` writes it.
FILE: Final = Path(__file__).with_name("gateway-api.json")


class Definitions(msgspec.Struct, frozen=True):
    """The contents of the file: the version of Gateway API, and the number of the schema of each version of a kind."""

    bundle: str
    versions: dict[str, dict[str, int]]
    schemas: list[dict[str, Any]]


@lru_cache(maxsize=1)
def definitions() -> Definitions:
    """Return the definitions of the file, which is read once."""
    return msgspec.json.decode(FILE.read_bytes(), type=Definitions)


@lru_cache(maxsize=64)
def standard_schema(kind: GroupKind, version: str) -> VersionSchema | None:
    """Return the compiled schema of a version of a kind of Gateway API; None if that is not known."""
    known = definitions()
    number = known.versions.get(f"{kind.kind}.{kind.group}", {}).get(version)
    if number is None:
        return None
    schema = known.schemas[number]
    rules = rule_tree(schema, schema)
    combined = combined_rule(rules, on_creation, escaped) if rules else ""
    return VersionSchema(
        schema,
        rules,
        drops_status=True,
        bundle=known.bundle,
        quick=quick_check(schema),
        combined=combined,
        words=words_in(combined) | frozenset(_allowed_texts(schema)),
    )


def _allowed_texts(schema: Json) -> Iterator[str]:
    """Yield the texts to which parts of a schema limit values."""
    if isinstance(schema, dict):
        yield from strings_at(schema, "enum")
        for part in schema.values():
            yield from _allowed_texts(part)


def combined_rule(tree: RuleTree, rule_of: Callable[[Mapping[str, Json]], str], name_of: Callable[[str], str]) -> str:
    """Return one expression that is true of a value if all rules in a tree are.

    `rule_of` returns the expression of a rule, and `name_of` the name of a field in rules. In a loop over one value,
    that value is called `self` again.
    """
    return " && ".join(_terms(tree, rule_of, name_of))


def _terms(
    tree: RuleTree, rule_of: Callable[[Mapping[str, Json]], str], name_of: Callable[[str], str]
) -> Iterator[str]:
    yield from (f"({rule_of(rule)})" for rule in tree.rules)
    for part in tree.also:
        yield from _terms(part, rule_of, name_of)
    for field, inside in tree.fields.items():
        name = name_of(field)
        yield f"(!has(self.{name}) || [self.{name}].all(self, {combined_rule(inside, rule_of, name_of)}))"
    if tree.items:
        yield f"self.all(self, {combined_rule(tree.items, rule_of, name_of)})"
    if tree.additional:
        yield f"self.all(key, [self[key]].all(self, {combined_rule(tree.additional, rule_of, name_of)}))"
