"""All rules, a module for each group of them, in the order of their ids."""

from types import ModuleType
from typing import Final

from kubectl_policy.lint.rule import Rule
from kubectl_policy.lint.rules import definitions
from kubectl_policy.lint.rules.effects import conflicts, losing, merging
from kubectl_policy.lint.rules.input import suppressions, visibility, written
from kubectl_policy.lint.rules.listeners import certificates, distinct
from kubectl_policy.lint.rules.matching import matching, redirects, shadowing
from kubectl_policy.lint.rules.policies import attachment, declared, limits, refused, targets
from kubectl_policy.lint.rules.references import backends, others, permissions, serving
from kubectl_policy.lint.rules.routes import hostnames, parents, unreached
from kubectl_policy.lint.rules.status import drift, trouble
from kubectl_policy.lint.rules.teams import changes, coverage, governance


def rules_of(*groups: ModuleType) -> tuple[Rule, ...]:
    """Return the rules of modules, in the order of their ids."""
    rules = (rule for group in groups for rule in vars(group).values() if isinstance(rule, Rule))
    return tuple(sorted(rules, key=lambda rule: rule.id))


RULES: Final = rules_of(
    *(visibility, written, suppressions, targets, declared, attachment, limits, refused),
    *(conflicts, losing, merging, trouble, drift, parents, unreached, hostnames),
    *(backends, serving, permissions, others, distinct, certificates),
    *(matching, shadowing, redirects, definitions, coverage, governance, changes),
)
