"""Where the rules (`x-kubernetes-validations`) of a schema are, so that what has none need not be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mapping_at, mappings_at

if TYPE_CHECKING:
    from kubectl_policy.model import Json


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
