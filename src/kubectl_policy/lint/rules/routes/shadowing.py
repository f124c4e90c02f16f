"""Matches that other matches deprive of requests (GWP7001 to GWP7003, GWP7005 and GWP7007)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from kubectl_policy.lint.competition import Intake, IsolatedHostname, LostMatch, hostname_field
from kubectl_policy.lint.finding import Finding, before_change, some
from kubectl_policy.lint.route_matches import PREFIX, REGULAR_EXPRESSION, RouteMatch
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.kind_roles import HTTP_ROUTE, PORT_HOLDERS, ROUTES
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.gateways import ISOLATION
from kubectl_policy.topology.gateway.hostnames import covering_names, covers
from kubectl_policy.topology.gateway.listeners import listener_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import NodeRef, ObjectRef, Resource

# In which an expression is more than the characters that it has, and those after which the one before may be absent.
_SPECIAL: Final = frozenset(r".[](){}*+?|\^$")
_MAYBE_NONE: Final = frozenset("*?{")
# So many matches are compared with one that has an expression.
_MAX_MATCHES: Final = 16


@lint_rule("GWP7001", "warning")
def rule_unreachable(world: LintWorld) -> Iterator[Finding]:
    """No request reaches a rule because other rules match all of its requests first.

    A rule with several matches is reported here once if each match repeats a match of an earlier rule, or of an older
    route on the same listeners; GWP7002 and GWP7003 report single matches. A route is reported if the requests for its
    hostnames go to a more specific listener on the same port to which it is not attached. A rule is also reported if
    its matches are outside those of the rules that delegate to its route. Remove the rule, or make it more specific
    than the rules before it.

    Source: HTTPRouteRule.Matches and GatewaySpec.Listeners, "Listener Isolation" (Gateway API, apis/v1); istio IST0130;
    envoyproxy/gateway#9135.
    """
    for (route, rule), losses in _lost_with_several_matches(world).items():
        # In its own route, a rule is called by its name alone.
        taken = grouped(
            ((_rule_words if loss.intake else _section)(world, loss.winner), str(loss.match.conditions))
            for loss in losses
        )
        winners = dict.fromkeys((loss.winner.route.ref, loss.winner.field) for loss in losses)
        where = [f"{winner} comes first for {some(conditions)}" for winner, conditions in taken.items()]
        yield Finding(
            subject=route,
            field=f"spec.rules[{rule}]",
            message=f"no request reaches it: {some(where)}",
            related=tuple(world.related(winner, "comes first", field) for winner, field in winners),
        )
    yield from _left_to_others(world)
    for node in sorted(world.relations.delegations.unreached_rules):
        rule = world.topology.sections(node.object).index(node.section)
        message = "no request reaches it: its matches lie outside those of the rules that delegate to the route"
        field, certain = f"spec.rules[{rule}]", world.has_all(*ROUTES)
        yield Finding(subject=node.object, field=field, message=message, certain=certain)


def _lost_with_several_matches(world: LintWorld) -> Mapping[tuple[ObjectRef, int], Sequence[LostMatch]]:
    lost = world.competition.lost_rules
    return {rule: losses for rule, losses in lost.items() if len({loss.match.conditions for loss in losses}) > 1}


def _left_to_others(world: LintWorld) -> Iterator[Finding]:
    by_route = grouped((isolated.route.ref, isolated) for isolated in world.competition.isolated)
    for route, every in by_route.items():
        if world.competition.intakes_of(route) or world.competition.is_elsewhere(route):
            continue
        by_listener = grouped(
            (_more_specific(world, isolated), isolated.hostname or "every host") for isolated in every
        )
        nodes = [node for node in by_listener if node]
        where = [f"those for {some(by_listener[node])} go to {listener_label(node)}" for node in nodes]
        yield Finding(
            subject=route,
            field="spec.parentRefs",
            message=f"no request reaches it: {some(where)}, to which it is not attached",
            certain=all(_is_isolated(world, isolated) for isolated in every),
            related=tuple(world.related_listener(listener, "is more specific") for listener in by_listener if listener),
        )


def _more_specific(world: LintWorld, isolated: IsolatedHostname) -> NodeRef | None:
    """Return the listener on the same port that gets the requests for a hostname."""
    listener = world.gateways.listener(isolated.listener)
    on_port = world.gateways.on_port_of(listener) if listener else ()
    covering = [candidate for candidate in on_port if covers(candidate.hostname, isolated.hostname)]
    return max(covering, key=lambda listener: len(listener.hostname)).node if covering else None


def _is_isolated(world: LintWorld, isolated: IsolatedHostname) -> bool:
    """Whether the GatewayClass reports listener isolation."""
    gateway = world.gateways.gateway_of(isolated.listener.object)
    gateway_class = world.gateways.class_of(gateway) if gateway else None
    features = items_at(world.index.defaulted(gateway_class), "status.supportedFeatures") if gateway_class else ()
    return any(ISOLATION in (feature, text_at(feature, "name")) for feature in features)


@lint_rule("GWP7002", "warning")
def match_duplicate(world: LintWorld) -> Iterator[Finding]:
    """Two routes on one listener or Service match the same requests, and only one of them gets these requests.

    Hostname, path, method, headers and query parameters are the same. The older route wins, then the first by namespace
    and name. Without `metadata.creationTimestamp` the winner is unknown, and it changes when routes are recreated.
    Merge the rules, or make one of them more specific. Routes whose parent is a Service are compared if they are in the
    namespace of the Service, or all in one other namespace, whose requests alone they take.

    Source: HTTPRouteRule.Matches and ParentReference.Namespace (Gateway API, apis/v1); kubernetes-sigs/gateway-api#3767
    and #4303; istio IST0131; RouteRulesOverlap of Envoy Gateway.
    """
    unreachable = _lost_with_several_matches(world)
    pairs: dict[tuple[ObjectRef, int, ObjectRef, bool, str], list[LostMatch]] = {}
    for loss in world.competition.losses:
        match, winner = loss.match, loss.winner
        if loss.intake and (match.route.ref, match.rule) not in unreachable:
            pair = (match.route.ref, match.rule, winner.route.ref, loss.certain, loss.doubt)
            pairs.setdefault(pair, []).append(loss)
    for losses in pairs.values():
        yield _shared(world, losses)


def _shared(world: LintWorld, losses: Sequence[LostMatch]) -> Finding:
    loss = losses[0]
    match, rival = loss.match, loss.winner
    # Which of both is to be changed is not known; of one that is there only for others, nothing is said.
    if not (loss.certain and loss.in_order) and not world.in_scope(match.route):
        match, rival = rival, match
    shared = some(dict.fromkeys(shared_loss.match.conditions for shared_loss in losses))
    message = f"{_rule_words(world, rival)} matches the same, {shared}"
    intakes = [shared_loss.intake for shared_loss in losses if shared_loss.intake]
    if loss.doubt == "identity":
        return world.unknown(match.route, match.field, f"{message}, unless the two are one route")
    if not loss.certain:
        parent = "Service" if _is_service(intakes[0]) else "listener"
        order = "" if loss.doubt == "age" else f"; {_order_words(world, loss, rival)}"
        message = f"{message}, and both routes may be attached to one {parent}{order}"
        return world.unknown(match.route, match.field, message)
    return Finding(
        subject=match.route.ref,
        field=match.field,
        message=f"{message}, {_where(world, intakes)}; {_order_words(world, loss, rival)}",
        related=(world.related(rival.route.ref, "matches the same", rival.field),),
    )


def _order_words(world: LintWorld, loss: LostMatch, rival: RouteMatch) -> str:
    """Say which of two routes gets the requests, where `rival` is the one that was named before."""
    if loss.doubt == "age":
        return "only the route that was created first gets these requests"
    which = "that" if rival is loss.winner else "this"
    known_before = before_change(loss.winner.route, loss.match.route)
    differ = known_before or loss.winner.route.created != loss.match.route.created
    age = f"older{known_before}" if differ else "as old, and comes first by name"
    if loss.doubt == "hostname":
        return f"{which} route is {age}, but has the hostname from its listener alone, which may count for less"
    if loss.doubt == "slash":
        return f"{which} route is {age}, but its path lacks the slash at the end, which may count for less"
    is_lost = (loss.match.route.ref, loss.match.rule) in world.competition.lost_rules
    outcome = "no request reaches this rule" if is_lost else "it gets these requests"
    return f"{which} route is {age}, so that {outcome}"


def _where(world: LintWorld, intakes: Sequence[Intake]) -> str:
    names = sorted({intake.hostname or "every host" for intake in intakes})
    nodes = list(dict.fromkeys(intake.listener for intake in intakes))
    if not _is_service(intakes[0]):
        return f"for {some(names)} at {some(list(map(listener_label, nodes)))}"
    service, clients = nodes[0].object, intakes[0].clients
    sections = [node.section for node in nodes if node.section]
    is_whole = {*sections} >= {*world.topology.sections(service)}
    ports = "" if is_whole else f"port {', '.join(sections)} of "
    hosts = "" if names == ["every host"] else f"for {some(names)} "
    return f"{hosts}at {ports}{service}" + (f" for requests from namespace {clients}" if clients else "")


def _is_service(intake: Intake) -> bool:
    return intake.listener.object.group_kind in PORT_HOLDERS


def _rule_words(world: LintWorld, match: RouteMatch) -> str:
    return f"{_section(world, match)} of {match.route.ref}"


def _section(world: LintWorld, match: RouteMatch) -> str:
    section = world.topology.sections(match.route.ref)[match.rule]
    return section if is_unnamed(section) else f"rule {section}"


@lint_rule("GWP7003", "warning")
def match_duplicate_in_route(world: LintWorld) -> Iterator[Finding]:
    """A route has the same match twice, and only the first one counts.

    The first rule with the match gets the requests, whatever the other rule contains. Prefixes that differ only in a
    trailing slash are the same, and so are header names that differ only in case. Remove one of the matches, or make it
    more specific.

    Source: HTTPRouteRule.Matches (Gateway API, apis/v1/httproute_types.go): "precedence MUST be granted to the FIRST
    matching rule (in list order)".
    """
    lost, unreachable = world.competition.lost_rules, _lost_with_several_matches(world)
    for loss in world.competition.losses:
        match, winner = loss.match, loss.winner
        rule = (match.route.ref, match.rule)
        if loss.intake or rule in unreachable:
            continue
        if winner.rule == match.rule:
            message = f"matches[{winner.position}] of the rule is the same, {match.conditions}"
        else:
            message = f"{_section(world, winner)} has the same match, {match.conditions}"
            if not loss.in_order:
                message += ", except for a slash at the end, which does not count; "
                message += "which of the two gets these requests is undefined"
            else:
                which = "no request reaches this rule" if rule in lost else "it gets these requests"
                message += f", and comes first, so that {which}"
        related = (world.related(winner.route.ref, "comes first", winner.field),)
        yield Finding(subject=match.route.ref, field=match.field, message=message, related=related)


@lint_rule("GWP7005", "info")
def regex_precedence_undefined(world: LintWorld) -> Iterator[Finding]:
    """The implementation decides whether a regular expression or a prefix comes first.

    Both match the same requests and lead to different rules. Some implementations evaluate regular expressions first
    (Envoy Gateway, Contour, kgateway), others prefixes (Istio, HAProxy), so that a rule for every path gets all
    requests. Use `Exact` and `PathPrefix` if possible; otherwise consult the documentation of your implementation.

    Source: HTTPRouteRule.Matches (Gateway API, apis/v1/httproute_types.go): "The precedence of RegularExpression path
    matches are implementation-specific"; kubernetes-sigs/gateway-api#1770; istio/istio#60696.
    """
    prefixes: dict[Intake, Mapping[str, Sequence[RouteMatch]]] = {}
    for route in world.competition.routes:
        for match in world.competition.matches[route.ref]:
            if match.conditions.sort != REGULAR_EXPRESSION:
                continue
            for intake in world.competition.intakes_of(route.ref):
                if intake not in prefixes:
                    prefixes[intake] = _prefixes(world, intake)
                rival = _rival(match, prefixes[intake])
                if rival:
                    yield _undecided(world, match, rival, intake)
                    break


def _prefixes(world: LintWorld, intake: Intake) -> Mapping[str, Sequence[RouteMatch]]:
    competition = world.competition
    routes = competition.routes_at[intake.listener][intake.hostname]
    every = (match for route in routes for match in competition.matches[route.ref])
    by_prefix: dict[str, list[RouteMatch]] = {}
    for match in every:
        if match.conditions.sort == PREFIX:
            by_prefix.setdefault(match.conditions.path, []).append(match)
    return by_prefix


def _rival(match: RouteMatch, prefixes: Mapping[str, Sequence[RouteMatch]]) -> RouteMatch | None:
    """Return the match with the longest prefix for some of the same requests in another rule."""
    begins = literal_start(match.conditions.path)
    for end in sorted({0, *(position for position, letter in enumerate(begins) if letter == "/")}, reverse=True):
        for candidate in islice(prefixes.get(begins[:end], ()), _MAX_MATCHES):
            is_same_rule = candidate.route is match.route and candidate.rule == match.rule
            if not is_same_rule and candidate.conditions.fits(match.conditions):
                return candidate
    return None


def literal_start(expression: str) -> str:
    """Return the literal characters at the start of a regular expression."""
    text = expression.removeprefix("^")
    if "|" in text:
        return ""
    end = next((position for position, letter in enumerate(text) if letter in _SPECIAL), len(text))
    return text[: end - 1] if end < len(text) and text[end] in _MAYBE_NONE else text[:end]


def _undecided(world: LintWorld, match: RouteMatch, rival: RouteMatch, intake: Intake) -> Finding:
    rule = _section(world, rival) if rival.route is match.route else _rule_words(world, rival)
    message = f"{rule} has {rival.conditions} for some of the same requests, {_where(world, [intake])}"
    return Finding(
        subject=match.route.ref,
        field=match.field,
        message=f"{message}; which of the two comes first is up to the implementation",
        related=(world.related(rival.route.ref, "matches some of the same requests", rival.field),),
    )


@lint_rule("GWP7007", "info")
def catch_all_shadowed_by_host(world: LintWorld) -> Iterator[Finding]:
    """A hostname has routes only for some paths, while another route accepts every path for more hostnames.

    By the API, requests for other paths may go to the route for more hostnames. Implementations that select by hostname
    first, such as those based on Envoy and NGINX, answer such requests with 404. If this is not intended, add a rule
    for `/` to a route with the hostname.

    Source: envoyproxy/gateway#5500; HTTPRouteSpec.Hostnames (Gateway API, apis/v1/httproute_types.go).
    """
    reported: set[tuple[ObjectRef, str]] = set()
    for node, by_hostname in world.competition.routes_at.items():
        wide = (name for name in by_hostname if not name or name.startswith("*."))
        catching = {name: route for name in wide if (route := _catching(world, by_hostname[name]))}
        for hostname in by_hostname if catching else ():
            wider = next(
                (name for name in (*covering_names(hostname), "") if name != hostname and name in catching), None
            )
            routes = [route for route in by_hostname[hostname] if route.ref.group_kind == HTTP_ROUTE]
            if wider is None or not hostname or not routes or _catching(world, routes):
                continue
            route = next(filter(world.in_scope, routes), routes[0])
            if (route.ref, hostname) not in reported:
                reported.add((route.ref, hostname))
                catch_all = catching[wider]
                message = (
                    f"no route for {hostname} at {listener_label(node)} takes every path; for other paths some "
                    f"implementations answer 404, although {catch_all.ref} takes every path for {wider or 'every host'}"
                )
                field = hostname_field(route, hostname)
                related = (world.related(catch_all.ref, "takes every path"),)
                yield Finding(subject=route.ref, field=field, message=message, related=related)


def _catching(world: LintWorld, routes: Iterable[Resource]) -> Resource | None:
    matches = world.competition.matches
    return next((route for route in routes if any(match.conditions.takes_all for match in matches[route.ref])), None)
