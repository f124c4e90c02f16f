"""All rules, a module for each group of them, in the order of their ids."""

from typing import Final

from kubectl_policy.lint.rule import Rule
from kubectl_policy.lint.rules.definitions import schemas, versions
from kubectl_policy.lint.rules.effects import conflicts, losing, merging
from kubectl_policy.lint.rules.input import suppressions, visibility, written
from kubectl_policy.lint.rules.listeners import addresses, certificates, distinct
from kubectl_policy.lint.rules.matching import matching, redirects, shadowing
from kubectl_policy.lint.rules.policies import attachment, declared, limits, refused, targets
from kubectl_policy.lint.rules.references import backends, others, permissions, serving
from kubectl_policy.lint.rules.routes import gateways, hostnames, parents, unreached
from kubectl_policy.lint.rules.status import drift, trouble
from kubectl_policy.lint.rules.teams import changes, coverage, governance

_RULES: Final = (
    *visibility.RULES,
    *written.RULES,
    *suppressions.RULES,
    *targets.RULES,
    *declared.RULES,
    *attachment.RULES,
    *limits.RULES,
    *refused.RULES,
    *conflicts.RULES,
    *losing.RULES,
    *merging.RULES,
    *trouble.RULES,
    *drift.RULES,
    *parents.RULES,
    *unreached.RULES,
    *hostnames.RULES,
    *gateways.RULES,
    *backends.RULES,
    *serving.RULES,
    *permissions.RULES,
    *others.RULES,
    *distinct.RULES,
    *certificates.RULES,
    *addresses.RULES,
    *matching.RULES,
    *shadowing.RULES,
    *redirects.RULES,
    *schemas.RULES,
    *versions.RULES,
    *coverage.RULES,
    *governance.RULES,
    *changes.RULES,
)
RULES: Final[tuple[Rule, ...]] = tuple(sorted(_RULES, key=lambda rule: rule.id))
