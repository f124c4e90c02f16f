"""Redirects and rewrites (GWP6008 and GWP7008 to GWP7010)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Fix, some
from kubectl_policy.lint.route_matches import EXACT, PREFIX, Conditions
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model.fields import each_mapping, each_text, mapping_at, text_at
from kubectl_policy.model.kind_roles import HTTP_ROUTE, ROUTES
from kubectl_policy.model.unknown import port_at
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.gateway.hostnames import comparable, covering_names
from kubectl_policy.topology.gateway.listeners import listener_label
from kubectl_policy.topology.references import hostnames_of, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.lint.competition import Intake
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import FieldPath, Json, NodeRef, ObjectRef, Resource

_SCHEMES: Final = {"HTTP": "http", "HTTPS": "https"}
_PORTS: Final = {"http": 80, "https": 443}
# With these, a client makes the same request again, whatever the status is.
_REPEATED: Final = frozenset({"", "GET", "HEAD"})
# Below it are the challenges by which a hostname gets its certificate, over HTTP.
_ACME: Final = "/.well-known/acme-challenge"


class _Filter(Struct, frozen=True, gc=False):
    """A filter of a rule or a backendRef of an HTTPRoute."""

    route: Resource
    field: FieldPath
    raw: Mapping[str, Json]

    @property
    def rule(self) -> object:
        """The index of the rule."""
        return self.field.steps[2]

    @property
    def redirect(self) -> Mapping[str, Json]:
        """The redirect of the filter."""
        return mapping_at(self.raw, "requestRedirect")


def _filters(world: LintWorld) -> Sequence[_Filter]:
    return [
        _Filter(route, field, raw)
        for route in world.of_kind(HTTP_ROUTE)
        for fields in ("spec.rules.filters", "spec.rules.backendRefs.filters")
        for field, raw in each_mapping(route.raw, fields)
    ]


@lint_rule("GWP7008", "error")
def replaceprefix_needs_prefix(world: LintWorld) -> Iterator[Finding]:
    """A filter replaces a path prefix in a rule that does not have exactly one prefix match.

    The filter replaces the matched prefix, so the rule needs exactly one match, of type `PathPrefix`. An API server
    rejects other rules; if it does not, the route is not accepted, or paths are wrong. Split the rule, or use
    `ReplaceFullPath`.

    Source: HTTPRouteRule (Gateway API, apis/v1/httproute_types.go): "exactly one PathPrefix match must be specified";
    RouteReasonIncompatibleFilters.
    """
    for modifying in world.once(_filters):
        for name in ("urlRewrite", "requestRedirect"):
            modifier = mapping_at(modifying.raw, f"{name}.path")
            prefix = modifier.get("replacePrefixMatch")
            if text_at(modifier, "type") == "ReplacePrefixMatch" and isinstance(prefix, str):
                route_matches = world.competition.matches[modifying.route.ref]
                matches = [match.conditions for match in route_matches if match.rule == modifying.rule]
                unfit = [conditions for conditions in matches if conditions.sort != PREFIX]
                if unfit or len(matches) > 1:
                    has = f"it has {unfit[0]}" if unfit else f"it has {len(matches)}"
                    yield Finding(
                        subject=modifying.route.ref,
                        field=f"{modifying.field}.{name}.path",
                        message=f"to replace a prefix, the rule needs exactly one match, of a PathPrefix; {has}",
                        reason="IncompatibleFilters",
                    )


@lint_rule("GWP7009", "error")
def redirect_and_rewrite(world: LintWorld) -> Iterator[Finding]:
    """A rule both redirects and rewrites requests.

    A redirected request is not forwarded, so there is nothing to rewrite. An API server rejects such a rule; if it does
    not, the route or the rule is not accepted. Set the path and the hostname in the redirect.

    Source: HTTPRouteRule.Filters (Gateway API, apis/v1/httproute_types.go); RouteReasonIncompatibleFilters.
    """
    first: dict[object, str] = {}
    for route_filter in world.once(_filters):
        holder, sort = (route_filter.route.ref, *route_filter.field.steps[:-1]), text_at(route_filter.raw, "type")
        if sort in {"RequestRedirect", "URLRewrite"} and first.setdefault(holder, sort) != sort:
            message = "RequestRedirect and URLRewrite cannot be together"
            subject, field = route_filter.route.ref, str(route_filter.field)
            yield Finding(subject=subject, field=field, message=message, reason="IncompatibleFilters")


@lint_rule("GWP7010", "warning")
def redirect_loop(world: LintWorld) -> Iterator[Finding]:
    """A redirect leads to the rule that it comes from.

    Clients give up after some redirects ("too many redirects"). In most cases, a route that redirects to HTTPS is
    attached to both the HTTP and the HTTPS listeners: use `sectionName` to attach it only to the HTTP listener, and
    attach another route to the HTTPS listener. Or a redirect leads to a path that the same rule matches: add a rule for
    that path. Some implementations break the loop by answering 404 the second time.

    Source: HTTPRequestRedirectFilter (Gateway API, apis/v1/httproute_types.go); kubernetes-sigs/gateway-api#1185;
    cilium/cilium#28796; istio/istio#47881.
    """
    for redirect in world.once(_filters):
        # Those of backends redirect nothing.
        if text_at(redirect.raw, "type") != "RequestRedirect" or "backendRefs" in redirect.field.steps:
            continue
        intakes = world.competition.intakes_of(redirect.route.ref)
        loops = [(intake, path) for intake in intakes if (path := _path_of_loop(world, redirect, intake)) is not None]
        if loops:
            intake, path = loops[0]
            listener = world.gateways.listener(intake.listener)
            looping = [intake for intake, _ in loops]
            safe = dict.fromkeys(intake.listener for intake in intakes if intake not in looping)
            to = f"to {path}, which this rule takes as well" if path else "to the URL that they came from"
            fix = None
            if safe and listener and listener.protocol == "HTTPS" and not path:
                fix = Fix(words=f"attach the route to {some(list(map(listener_label, safe)))} alone (sectionName)")
            yield Finding(
                subject=redirect.route.ref,
                field=f"{redirect.field}.requestRedirect",
                message=f"requests at {listener_label(intake.listener)} are sent {to}: clients are sent in a loop",
                # A rule that was not read may take the path.
                certain=not path or world.has_all(*ROUTES),
                related=(world.related_listener(intake.listener, "the listener"),),
                fix=fix,
            )


def _path_of_loop(world: LintWorld, redirect: _Filter, intake: Intake) -> str | None:
    """Return the path with which a redirect leads to its own rule, "" for any request, or None for no loop."""
    hostname = _returning_hostname(world, redirect, intake)
    if hostname is None:
        return None
    matches = world.competition.matches[redirect.route.ref]
    every = (match.conditions for match in matches if match.rule == redirect.rule)
    plain = (conditions for conditions in every if not (conditions.headers or conditions.parameters))
    conditions_of_rule = [conditions for conditions in plain if conditions.method in _REPEATED]
    modifier = mapping_at(redirect.redirect, "path")
    is_prefix = text_at(modifier, "type") == "ReplacePrefixMatch"
    path = modifier.get("replacePrefixMatch" if is_prefix else "replaceFullPath")
    if not modifier:
        return "" if conditions_of_rule else None
    if not isinstance(path, str):
        return None
    # A prefix that takes itself grows with each round; it is the path of some request itself.
    path = path.rstrip("/") if is_prefix else path
    for conditions in conditions_of_rule:
        if conditions.path == path and conditions.sort == (PREFIX if is_prefix else EXACT):
            return ""
        if conditions.has_path(path or "/") and not _may_take(
            world, redirect, intake.listener, hostname, path, conditions
        ):
            return path or "/"
    return None


def _returning_hostname(world: LintWorld, redirect: _Filter, intake: Intake) -> str | None:
    """Return the hostname of the route to which a redirect leads at its own listener, or None."""
    listener = world.gateways.listener(intake.listener)
    scheme = text_at(redirect.redirect, "scheme")
    listener_scheme = _SCHEMES.get(listener.protocol, "") if listener else ""
    port = port_at(redirect.redirect, "port") or (_PORTS.get(scheme) if scheme else listener and listener.port)
    if listener is None or (scheme or listener_scheme) != listener_scheme or port != listener.port:
        return None
    # Of a hostname that a route does not name, requests need not come here.
    hostname = comparable(text_at(redirect.redirect, "hostname")) or intake.hostname
    return hostname if replace(intake, hostname=hostname) in world.competition.intakes_of(redirect.route.ref) else None


def _may_take(  # noqa: PLR0913, PLR0917 (a request, and who would have it)
    world: LintWorld, redirect: _Filter, node: NodeRef, hostname: str, path: str, by: Conditions
) -> bool:
    """Whether another rule may take requests for a path before the rule of a redirect."""
    competition = world.competition
    rivals = (
        match.conditions
        for route in competition.routes_at[node][hostname]
        for match in competition.matches[route.ref]
        if route is not redirect.route or match.rule != redirect.rule
    )
    return any(
        rival.has_path(path or "/") is not False
        and (rival.sort != PREFIX or (by.sort == PREFIX and len(rival.path) >= len(by.path)))
        for rival in rivals
    )


@lint_rule("GWP6008", "info", "closed world")
def http_without_redirect(world: LintWorld) -> Iterator[Finding]:
    """A hostname is served on plain HTTP without a redirect, although it is also served on HTTPS.

    Clients that follow a link without `https://` send cookies and tokens unencrypted. Often this is not intended: a
    route without `sectionName` is attached to all listeners. Name the HTTPS listener, and redirect requests at the HTTP
    listener with another route. Hostnames with a rule that redirects some requests, or that has a filter of an
    implementation, which may redirect, are not reported.

    Source: HTTP redirects and rewrites (Gateway API, user guides); kubernetes-sigs/gateway-api#3356.
    """
    secure = _served_on_https(world)
    for node, by_hostname in world.competition.routes_at.items() if secure else ():
        listener = world.gateways.listener(node)
        names = secure.get(listener.gateway) if listener and listener.gateway else None
        if listener is None or listener.protocol != "HTTP" or not names:
            continue
        plain: dict[ObjectRef, list[str]] = {}
        for hostname, routes in by_hostname.items():
            on_https = "" in names or any(name in names for name in covering_names(hostname))
            if on_https and not any(map(_may_redirect, routes)):
                for route in routes:
                    matches = world.competition.matches[route.ref]
                    is_for_acme = all(match.conditions.path.startswith(_ACME) for match in matches)
                    if route.ref.group_kind == HTTP_ROUTE and not is_for_acme:
                        plain.setdefault(route.ref, []).append(hostname or "every host")
        if world.has_all(*ROUTES):
            for route_ref, hostnames in plain.items():
                yield from _plain_http(world, route_ref, node, hostnames)
        elif plain:
            # Another route may redirect whatever comes: that is unknown of all of them at once.
            message = f"whether requests at {listener} are redirected to HTTPS is not known"
            yield Finding(subject=node.object, field=listener.field, message=message, certain=False)


def _served_on_https(world: LintWorld) -> Mapping[ObjectRef, Sequence[str]]:
    listeners = ((world.gateways.listener(node), names) for node, names in world.competition.routes_at.items())
    return grouped(
        (listener.gateway, name)
        for listener, names in listeners
        if listener and listener.gateway and listener.protocol == "HTTPS"
        for name in names
    )


def _may_redirect(route: Resource) -> bool:
    types = (text for _, text in each_text(route.raw, "spec.rules.filters.type"))
    return not {"RequestRedirect", "ExtensionRef"}.isdisjoint(types)


def _plain_http(world: LintWorld, route: ObjectRef, node: NodeRef, hostnames: Sequence[str]) -> Iterator[Finding]:
    binding = next(candidate for candidate in world.relations.bindings_at(route, node) if candidate.state == "attached")
    ref = next(parent for parent in parent_refs(world.index, route) if parent.position == binding.parent_index)
    # That it serves all that there is, attaches-everywhere says.
    if ref.section or ref.port is not None or hostnames_of(world.index, route):
        yield Finding(
            subject=route,
            field=f"spec.parentRefs[{binding.parent_index}]",
            message=f"requests for {some(hostnames)} at {listener_label(node)} are served on plain HTTP, without a "
            "redirect, although there is HTTPS for them",
            related=(world.related_listener(node, "the listener for plain HTTP"),),
        )
