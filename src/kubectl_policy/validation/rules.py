"""Which rules a value breaks when it is created, wherever in it they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.validation.cost import size_of
from kubectl_policy.validation.finding import Finding, below, unchecked
from kubectl_policy.validation.rule import Subject, rule_finding
from kubectl_policy.validation.values import value_for_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.validation.budget import Budget
    from kubectl_policy.validation.rule_tree import RuleTree

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
