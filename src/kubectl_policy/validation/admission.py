"""What an API server does with an object of one version of a kind when it is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import mapping_at, value_at
from kubectl_policy.validation.budget import Budget
from kubectl_policy.validation.expressions import can_evaluate
from kubectl_policy.validation.finding import Finding, unchecked
from kubectl_policy.validation.pruning import pruned
from kubectl_policy.validation.rule_tree import RuleTree, rule_tree
from kubectl_policy.validation.rules import Rules, hidden_by
from kubectl_policy.validation.soundness import is_sound
from kubectl_policy.validation.structure import structural_findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

_MOST: Final = 100


class Admission(NamedTuple):
    """The schema of a version with its rules; the status is dropped where it is a subresource."""

    schema: Mapping[str, Json]
    rules: RuleTree | None
    drops_status: bool

    def findings(self, raw: Mapping[str, Json]) -> list[Finding]:
        """What is wrong with a sound object that has its defaults, and what could not be found out."""
        kept = pruned(raw, self.schema)
        if self.drops_status:
            kept = {key: value for key, value in kept.items() if key != "status"}
        budget = Budget()
        found = structural_findings(kept, self.schema, "", budget)
        if self.rules and not can_evaluate():
            found.append(unchecked("", "its rules were not checked: cel-expr-python is not installed"))
        elif self.rules:
            found += Rules(budget, hidden_by(found)).findings(kept, self.rules)
        return _once(found)


def admission_of(version: Mapping[str, Json]) -> Admission | None:
    """What a version of a definition says; None if it has no schema that can be worked with."""
    schema = mapping_at(version, "schema.openAPIV3Schema")
    if not schema or not is_sound(schema):
        return None
    return Admission(schema, rule_tree(schema, schema, root=True), value_at(version, "subresources.status") is not None)


def _once(found: list[Finding]) -> list[Finding]:
    """The findings without repetitions and with an end; of a doubt, the first field that it is about is enough."""
    first: dict[tuple[str, str], Finding] = {}
    for one in found:
        first.setdefault((one.field if one.refused else "", one.words), one)
    every = list(first.values())
    rest = [unchecked("", f"{len(every) - _MOST} more problems are not listed")] if len(every) > _MOST else []
    return every[:_MOST] + rest
