"""Condition of a route that reports whether rules are replaced by an error response, where controllers report that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.questions.differences.serving import Serving
from kubectl_policy.questions.predicted_conditions import PolicyCondition
from kubectl_policy.questions.shared.failing_routes import failing_routes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef


class RoutePrograms:
    """Predicted reports on the rules of routes; what they rest on is computed once, and only if somebody reports it."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis

    @cached_method
    def _serving(self) -> Serving:
        return Serving(self._analysis, failing_routes(self._analysis))

    def conditions(self, route: ObjectRef, parent: ObjectRef) -> Iterator[PolicyCondition]:
        """Yield the condition of a route for a parent: a Gateway, a ListenerSet, or a route that delegates to it."""
        topology = self._analysis.topology
        routes = topology.relations.delegating_routes(parent) if parent.group_kind in ROUTES else ()
        bindings = (binding for delegating in routes for binding in topology.bindings(delegating))
        holders = (parent, *(binding.parent for binding in bindings))
        profiles = (topology.gateways.profile_of(topology.gateways.gateway_of(holder)) for holder in holders)
        reported = next((profile.rule_replacement for profile in profiles if profile.rule_replacement), None)
        if reported is None:
            return
        replaced = [rule for rule in self._serving().rules(route) if rule.invalid and not rule.status]
        words = reported.replaced if replaced else reported.programmed
        message = "; ".join(f"{rule.rule.section}: {rule.invalid}" for rule in replaced) or "every rule is programmed"
        yield PolicyCondition(type=words.type, status=words.status, reason=words.reason, message=message)
