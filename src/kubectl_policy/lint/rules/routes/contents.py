"""Contents of routes that their controllers refuse (GWP4021)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.attachment.route_contents import is_refused, refused_contents
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.rule import lint_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.profiles.values import Refuses

_CONSEQUENCES: Final[Mapping[Refuses, str]] = {
    "route": "the route is not accepted",
    "rule": "no rule of the route is left, so it is not accepted",
    "backend": "requests to the rule may fail",
}


@lint_rule("GWP4021", "error")
def route_content_refused(world: LintWorld) -> Iterator[Finding]:
    """A route has a value or a filter that its controller does not support, or backends that it cannot combine.

    The controller does not accept the route, or requests to the rule fail. Gateway API leaves such limits to
    implementations: the profile of an implementation lists them. If the controller leaves out a rule of the route and
    serves the others, that is a warning.

    Source: RouteReasonUnsupportedValue and RouteConditionPartiallyInvalid (Gateway API, apis/v1/shared_types.go).
    """
    for route in world.routes:
        problems = list(refused_contents(world.topology, world.analysis.registry, route))
        served = bool(problems) and not is_refused(route.raw, problems)
        for problem in problems:
            leaves_out = served and problem.refuses == "rule"
            consequence = "the rule is left out" if leaves_out else _CONSEQUENCES[problem.refuses]
            yield Finding(
                subject=route.ref,
                field=problem.field,
                message=f"{problem.message}; {consequence}",
                reason=problem.reason,
                severity="warning" if leaves_out else None,
                related=tuple(world.related(ref) for ref in problem.related),
            )
