"""What this project says of policies, as the cases of kgateway write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import GroupKind, Leaf
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.questions.predicted.policies import PolicyStatuses
from kubectl_policy.resolution.traced import KeyedList
from tests.cases.names import identity, listener_name, reference, slashed
from tests.cases.objects import WITH_RULES, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy import Analysis, EffectivePolicy, Path
    from kubectl_policy.questions.predicted.policies import AncestorStatus
    from kubectl_policy.resolution.traced import Traced
    from tests.cases.kgateway_paths import Reached
    from tests.cases.objects import Entry

_GROUP: Final = "gateway.kgateway.dev"
_BY_ELEMENT: Final = "perPort"
_BACKEND_TLS: Final = GroupKind(GATEWAY_API, "BackendTLSPolicy")


def policies(analysis: Analysis) -> list[Entry]:
    """Every policy of kgateway's own kinds, and BackendTLSPolicies, with what the controller would write about it."""
    statuses = PolicyStatuses(analysis)
    return [
        {**identity(policy.ref), "ancestors": list(_ancestors(statuses.of(policy.ref)))}
        for policy in analysis.policies
        if policy.ref.group_kind.group == _GROUP or policy.ref.group_kind == _BACKEND_TLS
    ]


def _ancestors(statuses: Iterable[AncestorStatus]) -> Iterator[Entry]:
    for status in statuses:
        if status.ancestor:
            conditions = {condition.type: outcome(condition) for condition in status.conditions}
            yield {"ref": reference(status.ancestor.object, status.ancestor.section), "conditions": conditions}


def effective(analysis: Analysis, rules: Iterable[Reached]) -> list[Entry]:
    """What each policy kind amounts to for each rule of a route at each listener, by each way to the rule.

    Of the rules that delegate, those are left out that are delegated to themselves: the format has none of them.
    """
    return [
        {
            "listener": listener_name(rule.gateway, rule.listener),
            "route": slashed(rule.path[-1].object),
            "rule": rule.rules[-1][1],
            "via": rule.via,
            "replaced": _is_replaced(rule),
            **in_force(analysis, rule.path),
        }
        for rule in rules
        if rule.path[-1].kind in WITH_RULES and not (rule.delegates and rule.via)
    ]


def _is_replaced(_: Reached) -> bool:
    """Whether a rule answers with an error because of an invalid policy, of which this project has no notion."""
    return False


def in_force(analysis: Analysis, path: Path) -> Entry:
    """By kind, who set each of the fields in force at the end of a path."""
    kinds = [kind for kind in analysis.resolver.kinds_at(path) if kind.group == _GROUP]
    found = (analysis.resolver.effective_of(kind, path) for kind in kinds)
    return {policy.kind.kind: {"fields": fields_in_force(policy)} for policy in found if policy}


def fields_in_force(policy: EffectivePolicy) -> dict[str, list[str]]:
    """By field, the names of the policies that it comes from; what is not of a policy of the kind is left out."""
    found: dict[str, set[str]] = {}
    for field, leaf in _leaves(policy.spec):
        if leaf.source.object.group_kind == policy.kind and not leaf.removed:
            found.setdefault(field, set()).add(leaf.source.object.qualified_name)
    return {field: sorted(names) for field, names in found.items()}


def _leaves(spec: Traced, above: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every leaf by its field; of the lists with keys, the format tells apart the elements of one alone."""
    for key, child in spec.items():
        name = f"{above}.{key}" if above else key
        if isinstance(spec, KeyedList):
            name = f"{above}[{key}]" if above == _BY_ELEMENT else above
        if isinstance(child, Leaf):
            yield name, child
        else:
            yield from _leaves(child, name)
