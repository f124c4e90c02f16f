"""Requests that go to another route after a change, and the protection that they lose by that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.lint.competition import Competition, Intake
from kubectl_policy.lint.losses import protecting_fields
from kubectl_policy.lint.route_matches import EXACT, GRPC_METHOD, PREFIX, Conditions, RouteMatch
from kubectl_policy.model import NodeRef
from kubectl_policy.topology.gateway.hostnames import covering_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef

# The types of paths of which it is known which requests they take.
_DECIDED: Final = frozenset({EXACT, PREFIX, GRPC_METHOD})
# The matches at a hostname by the type and the value of their paths.
_ByPath = dict[tuple[str, str], list[RouteMatch]]


class Takeover(Struct, frozen=True, kw_only=True):
    """Requests for one match at a listener that another route has served before the change."""

    conditions: Conditions
    intake: Intake
    former: RouteMatch
    """The match that served the requests before."""
    match: RouteMatch
    """The match that serves them now."""
    is_given_up: bool
    """Whether the former route is changed, and does not ask for these requests any more."""
    lost: tuple[str, ...]
    """The settings that protected the requests, and that are not in force for them now."""


def takeovers(comparison: StateComparison, now: Competition) -> Iterator[Takeover]:
    """Yield the requests of matches of changed routes that go to another route than before.

    `now` is the competition of routes after the change.
    """
    states = (comparison.before, comparison.after)
    old, new = _Service(states[0], Competition(states[0])), _Service(states[1], now)
    seen: set[tuple[Intake, Conditions]] = set()
    for route in sorted(comparison.changed):
        for service in (new, old):
            competition = service.competition
            for match in competition.matches.get(route, ()):
                for intake in competition.intakes_of(route):
                    if (intake, match.conditions) not in seen:
                        seen.add((intake, match.conditions))
                        yield from _taken(intake, match.conditions, old, new)


def _taken(intake: Intake, conditions: Conditions, old: _Service, new: _Service) -> Iterator[Takeover]:
    former, match = old.serving(intake, conditions), new.serving(intake, conditions)
    if former and match and former.route.ref != match.route.ref:
        protected, now = old.protection(intake.listener, former), new.protection(intake.listener, match)
        yield Takeover(
            conditions=conditions,
            intake=intake,
            former=former,
            match=match,
            is_given_up=not new.asks(former.route.ref, intake, conditions),
            lost=tuple(field for field in protected if field not in now),
        )


class _Service:
    """The routes of one state as they serve requests."""

    def __init__(self, analysis: Analysis, competition: Competition) -> None:
        self._analysis, self.competition = analysis, competition

    def serving(self, intake: Intake, request: Conditions) -> RouteMatch | None:
        """Return the match that gets the requests of a match; None without any, and if an expression decides."""
        for hostname in dict.fromkeys((intake.hostname, *covering_names(intake.hostname), "")):
            by_path = self._by_path(intake.listener, hostname)
            if by_path is None:
                return None
            for path in _paths(request):
                candidates = [match for match in by_path.get(path, ()) if _fulfils(request, match.conditions)]
                if candidates:
                    return min(candidates, key=_precedence)
        return None

    def asks(self, route: ObjectRef, intake: Intake, request: Conditions) -> bool:
        """Whether a route asks for the requests of a match, be it in vain."""
        paths = {*_paths(request)}
        return any(
            (match.conditions.sort, match.conditions.path) in paths and _fulfils(request, match.conditions)
            for own in self.competition.intakes_of(route)
            for match in (self.competition.matches[route] if own.listener == intake.listener else ())
        )

    @cached_method
    def _by_path(self, listener: NodeRef, hostname: str) -> _ByPath | None:
        """Return the matches at a hostname by their paths, or None if there are expressions among these."""
        by_path: _ByPath = {}
        for route in self.competition.routes_at.get(listener, {}).get(hostname, ()):
            for match in self.competition.matches[route.ref]:
                by_path.setdefault((match.conditions.sort, match.conditions.path), []).append(match)
        has_expressions = any(sort not in _DECIDED for sort, _ in by_path)
        return None if has_expressions else by_path

    @cached_method
    def _protection_of(self, listener: NodeRef, rule: NodeRef) -> Mapping[str, None]:
        analysis = self._analysis
        paths = [path for path in analysis.topology.paths(rule) if listener in path]
        return {
            f"{field} of {profile.group_kind.kind}": None
            for profile in analysis.registry.policy_kinds
            if profile.security_fields and paths
            for effective in [analysis.resolver.effective_of(profile.group_kind, paths[0])]
            if effective
            for field in protecting_fields(effective.resolution, profile)
        }

    def protection(self, listener: NodeRef, match: RouteMatch) -> Mapping[str, None]:
        """Return the settings that protect the requests of a match."""
        route = match.route.ref
        return self._protection_of(listener, NodeRef(route, self._analysis.topology.sections(route)[match.rule]))


def _paths(request: Conditions) -> Iterator[tuple[str, str]]:
    """Yield the types and values of paths that take the requests of a match, the most specific first."""
    sort, path = request.sort, request.path
    if sort not in {EXACT, PREFIX}:
        service, _, method = path.partition("/")
        yield from ((sort, f"{named}/{called}") for named in dict.fromkeys((service, "")) for called in (method, ""))
        return
    if sort == EXACT:
        yield EXACT, path
        path = path.rstrip("/")
    while path:
        yield PREFIX, path
        path = path.rpartition("/")[0]
    yield PREFIX, ""


def _fulfils(request: Conditions, conditions: Conditions) -> bool:
    """Whether requests of a match fulfil other conditions, but for their paths."""
    return (
        conditions.method in {"", request.method}
        and {*conditions.headers} <= {*request.headers}
        and {*conditions.parameters} <= {*request.parameters}
    )


def _precedence(match: RouteMatch) -> tuple[object, ...]:
    """Sort key of matches with the same path, the first one wins."""
    conditions = match.conditions
    rank = (not conditions.method, -len(conditions.headers), -len(conditions.parameters))
    return *rank, match.route.seniority, match.rule, match.position
