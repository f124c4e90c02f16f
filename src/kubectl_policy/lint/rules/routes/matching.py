"""Misleading matches, and listeners without routes (GWP7004, GWP7006, GWP7011 and GWP7014)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.route_matches import EXACT, PREFIX, RouteMatch
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.kind_roles import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.topology.gateway.listeners import Listener

_NOT_PROGRAMMED: Final = ", and its controller reports the listener as invalid"
# Characters at the end of a prefix that show that more of the same path element is meant to follow.
_GOES_ON: Final = ("-", "_", ".")
# The API lets a route have 128 matches.
_MAX_MATCHES: Final = 512


@lint_rule("GWP7004", "warning")
def header_name_duplicate(world: LintWorld) -> Iterator[Finding]:
    """A match names a header or query parameter twice, and only the first entry counts.

    Header names are compared without regard to case. The rule accepts requests that the ignored entry appears to
    exclude. Write one entry, with a regular expression if necessary.

    Source: HTTPHeaderMatch.Name and HTTPQueryParamMatch.Name (Gateway API, apis/v1/httproute_types.go): "Subsequent
    entries with an equivalent header name MUST be ignored".
    """
    for match in _all_matches(world):
        if match.conditions.headers:
            yield from _ignored(match, "header", "headers", len(match.conditions.headers))
        if match.conditions.parameters:
            yield from _ignored(match, "query parameter", "queryParams", len(match.conditions.parameters))


def _ignored(match: RouteMatch, noun: str, field: str, counted: int) -> Iterator[Finding]:
    """Yield the entries for a name that an earlier entry has; `counted` is the number of names."""
    entries, first = items_at(match.written, field), dict[str, int]()
    for position, entry in enumerate(entries if len(entries) > counted else ()):
        name = text_at(entry, "name")
        before = first.setdefault(name.lower() if field == "headers" else name, position)
        if before != position:
            yield Finding(
                subject=match.route.ref,
                field=f"{match.field}.{field}[{position}]",
                message=f"{noun} {name} is in {field}[{before}] already, and this one is ignored",
            )


@lint_rule("GWP7006", "info")
def trailing_slash_trap(world: LintWorld) -> Iterator[Finding]:
    """A path matches less than it appears to, because of a slash or of the text after the last slash.

    `Exact` matches one path: `/cart` does not match `/cart/`. `PathPrefix` matches whole elements: `/img-` matches
    `/img-/a`, but not `/img-a`. The rule reports exact paths that end with a slash, exact paths for which the same
    route has rules below them but none for the path with a slash, and prefixes that end in the middle of a word.

    Source: PathMatchExact and PathMatchPathPrefix (Gateway API, apis/v1/httproute_types.go).
    """
    for route in world.competition.routes:
        matches = world.competition.matches[route.ref]
        for match in matches:
            conditions = match.conditions
            if conditions.sort == PREFIX and conditions.path.endswith(_GOES_ON):
                example = f"{conditions.path}a"
                message = f"it matches {conditions.path} and the paths below {conditions.path}/, but not {example}"
                yield Finding(subject=route.ref, field=f"{match.field}.path.value", message=message)
            elif conditions.sort == EXACT and len(conditions.path) > 1 and len(matches) <= _MAX_MATCHES:
                spelling = _other_spelling(match, matches)
                if spelling:
                    message = f"it matches only {conditions.path}, and no match of the route covers {spelling}"
                    yield Finding(subject=route.ref, field=f"{match.field}.path.value", message=message)


def _other_spelling(match: RouteMatch, matches: Sequence[RouteMatch]) -> str:
    """Return an exact path with the trailing slash added or removed if users may expect it to match, or ""."""
    path = match.conditions.path
    spelling = path[:-1] if path.endswith("/") else f"{path}/"
    siblings = [sibling.conditions for sibling in matches if sibling is not match]
    is_meant = path.endswith("/") or any(conditions.path.startswith(spelling) for conditions in siblings)
    return spelling if is_meant and all(conditions.has_path(spelling) is False for conditions in siblings) else ""


@lint_rule("GWP7014", "warning")
def path_asterisk_literal(world: LintWorld) -> Iterator[Finding]:
    """A path contains an asterisk, which is matched literally.

    `PathPrefix` and `Exact` have no wildcards: `/api/*` matches the path `/api/*`, but not `/api/users`, which gets 404
    or goes to another rule. A prefix matches everything below it without an asterisk.

    Source: PathMatchType (Gateway API, apis/v1/httproute_types.go).
    """
    for match in _all_matches(world):
        conditions = match.conditions
        if conditions.sort in (EXACT, PREFIX) and "*" in conditions.path:
            prefix = conditions.path.removesuffix("/*") or "/"
            is_prefix = conditions.sort == PREFIX and "*" not in prefix
            yield Finding(
                subject=match.route.ref,
                field=f"{match.field}.path.value",
                message="the asterisk stands for itself: only paths with an asterisk are matched",
                fix=Fix(words=f"write {prefix}, which matches everything below it", value=prefix)
                if is_prefix
                else None,
            )


def _all_matches(world: LintWorld) -> Iterator[RouteMatch]:
    return (match for route in world.competition.routes for match in world.competition.matches[route.ref])


@lint_rule("GWP7011", "info", "closed world")
def no_rule_for_listener_host(world: LintWorld) -> Iterator[Finding]:
    """A listener has no routes, so every request to it fails.

    Requests to HTTP and HTTPS listeners get 404; connections to other listeners are closed. This may be intended for a
    while. Listeners that are not served, or that refuse the routes that name them, are not reported: other rules report
    the cause. It is a warning if the implementation does not accept such a listener.

    Source: GatewaySpec.Listeners (Gateway API, apis/v1/gateway_types.go); kiali: no matching route found for the
    listener.
    """
    competition, relations = world.competition, world.relations
    refusing = {listener for refusal in world.refusals if refusal.certain for listener in refusal.listeners}
    for owner, listener in world.listeners:
        if competition.routes_at.get(listener.node) or listener.node in refusing or not _takes_routes(world, listener):
            continue
        if relations.attached_to(listener.node):
            continue
        may_be = not world.once(_undecided_parents).isdisjoint({listener.node, NodeRef(owner.ref)})
        hosts = f" for {listener.hostname}" if listener.hostname else ""
        lost = f"requests{hosts} get 404" if listener.protocol in {"HTTP", "HTTPS"} else "connections are closed"
        is_needed = listener.protocol in world.gateways.profile_of(listener.gateway).routes_required
        yield Finding(
            subject=owner.ref,
            field=listener.field,
            message=f"no route is attached to it: {lost}{_NOT_PROGRAMMED if is_needed else ''}",
            severity="warning" if is_needed else None,
            certain=world.has_all(*ROUTES) and not may_be,
        )


def _undecided_parents(world: LintWorld) -> frozenset[NodeRef]:
    """Return the listeners, and parents as a whole, of which it is not known whether they take a route."""
    bindings = (binding for route in world.competition.routes for binding in world.relations.bindings(route.ref))
    return frozenset(binding.listener or NodeRef(binding.parent) for binding in bindings if binding.state == "unknown")


def _takes_routes(world: LintWorld, listener: Listener) -> bool:
    """Whether a listener is known to be served and to accept routes that name it."""
    gateways, gateway = world.gateways, listener.gateway
    if gateway is None or text_at(world.index.defaulted(gateway), "spec.defaultScope", "None") != "None":
        return False
    return bool(gateways.kinds_served(listener)) and world.is_served(listener)
