"""All rules, a module for each group of them, in the order of their ids."""

from types import ModuleType
from typing import Final

from kubectl_policy.lint.rule import Rule
from kubectl_policy.lint.rules import (
    backends,
    certificates,
    changes,
    conditions,
    definitions,
    duplicates,
    gateways,
    inputs,
    listeners,
    references,
    requirements,
    schemas,
    status,
    suppressions,
)
from kubectl_policy.lint.rules.network import admission, selectors
from kubectl_policy.lint.rules.policies import (
    conflicts,
    merging,
    named_settings,
    target_references,
    targets,
    unreached_targets,
    validity,
)
from kubectl_policy.lint.rules.routes import (
    contents,
    hostnames,
    matching,
    parents,
    redirects,
    retries,
    shadowing,
    unusable_backends,
)


def rules_of(*groups: ModuleType) -> tuple[Rule, ...]:
    """Return the rules of modules, in the order of their ids."""
    rules = (rule for group in groups for rule in vars(group).values() if isinstance(rule, Rule))
    return tuple(sorted(rules, key=lambda rule: rule.id))


RULES: Final = rules_of(
    *(inputs, schemas, duplicates, suppressions, definitions, status, conditions, requirements, changes),
    *(backends, unusable_backends, references, listeners, gateways, certificates),
    *(targets, target_references, unreached_targets, validity, named_settings, conflicts, merging),
    *(admission, selectors),
    *(parents, contents, hostnames, matching, shadowing, redirects, retries),
)
