"""Retries that multiply, and timeouts that contradict each other (GWP9003 and GWP9004)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import pattern
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.losses import effective_at
from kubectl_policy.lint.route_matches import Conditions, matches_of
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import each_text, integer_at, items_at, mapping_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, SERVICE
from kubectl_policy.questions.shared.in_force import effective_entries, own_settings_entries
from kubectl_policy.resolution import Leaf, plain
from kubectl_policy.topology import attached_hostnames
from kubectl_policy.topology.gateway.hostnames import have_common_hostname

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.lint.lint_world import LintWorld

# GEP-1762: what an implementation makes for a Gateway, its Service among that, has its name in this label.
_OF_GATEWAY: Final = "gateway.networking.k8s.io/gateway-name"
# By these words profiles say which field is the number of retries.
_RETRIES: Final = "{# retry}"
_REWRITING: Final = frozenset({"URLRewrite", "RequestHeaderModifier", "ExtensionRef"})
_REQUEST: Final = "rule.timeouts.request"
_DURATION: Final = pattern(r"(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|s))+")
_SPAN: Final = pattern(r"([0-9]+(?:\.[0-9]+)?)(h|ms|m|s)")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class _RetryingRule(Struct, frozen=True, gc=False):
    """A rule of a route that retries, with its index, the number of retries, and its matches."""

    node: NodeRef
    position: int
    retries: int
    conditions: tuple[Conditions, ...]


@lint_rule("GWP9003", "warning")
def retry_amplification(world: LintWorld) -> Iterator[Finding]:
    """A Gateway retries requests that the next Gateway retries again.

    A failing backend gets the product of both: 3 retries before 4 retries result in 20 requests for one, at the time
    when the backend can handle them least. The rule checks the retries in force, from routes and policies. The label
    `gateway.networking.k8s.io/gateway-name` of a Service identifies the next Gateway. Retries of meshes and
    applications are unknown to this tool.

    Retry in one place, preferably next to the backend.

    Source: GEP-1731, for retries; GEP-1762, for the label; the parable of GEP-713, in which nobody sees a RetryPolicy.
    """
    gateways = {gateway.ref for gateway in world.index.of_kind(GATEWAY)}
    for service in world.index.of_kind(SERVICE) if len(gateways) > 1 else ():
        labels, selector = (mapping_at(service.raw, field) for field in ("metadata.labels", "spec.selector"))
        name = labels.get(_OF_GATEWAY) or selector.get(_OF_GATEWAY)
        gateway = ObjectRef(GATEWAY, service.ref.namespace, name) if isinstance(name, str) else None
        if gateway and gateway in gateways:
            for first in world.relations.routes_forwarding_to(service.ref):
                yield from _amplified(world, first, service.ref, gateway)


def _amplified(world: LintWorld, first: ObjectRef, service: ObjectRef, gateway: ObjectRef) -> Iterator[Finding]:
    before = [
        rule
        for rule in _retrying(world, first)
        if any(node.object == service for node in world.relations.rule_backends(rule.node))
    ]
    # What comes in at the next Gateway is not what these rules matched.
    filters = {text for _, text in each_text(world.index.defaulted(first), "spec.rules.filters.type")}
    if not before or filters & _REWRITING:
        return
    behind = dict.fromkeys(
        (listener.node, route)
        for listener in world.gateways.listeners(gateway)
        for route in world.relations.attached_to(listener.node)
        if route != first
    )
    nodes = dict.fromkeys(binding.listener for binding in world.relations.bindings(first) if binding.listener)
    hosts = {name for node in nodes for name in attached_hostnames(world.topology, node, first)}
    again = [
        rule
        for listener, route in behind
        if _share_host(hosts, attached_hostnames(world.topology, listener, route))
        for rule in _retrying(world, route)
    ]
    for rule in before:
        overlapping = [candidate for candidate in again if _overlap(rule.conditions, candidate.conditions)]
        if overlapping:
            worst = max(overlapping, key=lambda candidate: (candidate.retries, candidate.node))
            tries, next_tries = rule.retries + 1, worst.retries + 1
            yield Finding(
                subject=first,
                field=f"spec.rules[{rule.position}]",
                message=f"makes up to {tries} tries of a request, and {gateway} behind {service} makes up to"
                f" {next_tries} of each by {worst.node.object}: {tries * next_tries} requests to the backend for one",
                related=(
                    world.related(worst.node.object, "retries again", f"spec.rules[{worst.position}]"),
                    world.related(gateway, "the next Gateway"),
                ),
            )


def _retrying(world: LintWorld, route: ObjectRef) -> Iterator[_RetryingRule]:
    resource = world.index.get(route)
    matches = matches_of(resource) if resource else []
    for position, section in enumerate(world.topology.sections(route)):
        node = NodeRef(route, section)
        retries = _retries(world, node)
        if retries:
            conditions = tuple(match.conditions for match in matches if match.rule == position)
            yield _RetryingRule(node, position, retries, conditions)


def _retries(world: LintWorld, rule: NodeRef) -> int:
    """Return the maximum number of retries by a rule or by policies in force on it."""
    paths = [path for path in world.topology.paths(rule) if world.topology.carries_traffic(path)]
    entries = (*effective_entries(world.analysis, rule, paths), *own_settings_entries(world.analysis, paths))
    numbers = (
        integer_at(plain(entry.effective.resolution.spec), part.field)
        for entry in entries
        for part in world.registry.profile(entry.effective.resolution.kind).summary
        if part.words == _RETRIES
    )
    return max(filter(None, numbers), default=0)


def _share_host(hostnames: Iterable[str], other_hostnames: Iterable[str]) -> bool:
    """Whether two sets of hostnames have one in common; `*` is every host."""
    plain_names = (["" if name == "*" else name for name in names] for names in (hostnames, other_hostnames))
    return any(have_common_hostname(hostname, other_hostname) for hostname, other_hostname in product(*plain_names))


def _overlap(conditions: Sequence[Conditions], other_conditions: Sequence[Conditions]) -> bool:
    """Whether a request can match both, as far as paths decide."""
    pairs = product(conditions, other_conditions)
    return any(
        first.fits(second) and (first.has_path(second.path) or second.has_path(first.path)) for first, second in pairs
    )


@lint_rule("GWP9004", "warning")
def timeout_inversion(world: LintWorld) -> Iterator[Finding]:
    """The timeout of a rule for single attempts is longer than the timeout for the whole request.

    A request ends with its own timeout: a longer timeout for single attempts never expires, and of several attempts the
    last ones are cut off. If the rule sets no request timeout, that of a policy counts, including policies of the
    Gateway. If only all attempts together may take longer, the finding is an info.

    Increase the request timeout, or decrease the timeout of attempts.

    Source: HTTPRouteTimeouts (Gateway API, apis/v1/httproute_types.go), by which a backend request must not be given
    longer than the request; GEP-1731, by which all retries are within the timeout of the request.
    """
    for route in world.of_kind(HTTP_ROUTE):
        for position, rule in enumerate(items_at(route.raw, "spec.rules")):
            # Hardly any rule has it.
            try_timeout = _seconds(value_at(rule, "timeouts.backendRequest")) if value_at(rule, "timeouts") else 0
            if try_timeout:
                yield from _inverted(world, route, position, rule, try_timeout)


def _inverted(world: LintWorld, route: Resource, position: int, rule: Json, try_timeout: float) -> Iterator[Finding]:
    tries = (integer_at(rule, "retry.attempts") or 0) + 1
    try_text = text_at(rule, "timeouts.backendRequest")
    for request_text, source in _request_timeouts(world, route.ref, position, rule):
        whole = _seconds(request_text)
        if not whole or whole >= try_timeout * tries:
            continue
        by = f" by {source}" if source != route.ref else ""
        longer = try_timeout > whole
        allowed = f"{tries} tries of {try_text} each may take {try_timeout * tries:g}s"
        if longer:
            allowed = f"a try may take {try_text}"
        yield Finding(
            subject=route.ref,
            field=f"spec.rules[{position}].timeouts.backendRequest",
            message=f"{allowed}, and requests end after {request_text}{by}",
            severity=None if longer else "info",
            related=(world.related(source, "the timeout of requests"),) if by else (),
        )


def _request_timeouts(
    world: LintWorld, route: ObjectRef, position: int, rule: Json
) -> dict[tuple[str, ObjectRef], None]:
    """Return the request timeouts of a rule, each with its source: the rule, or else policies."""
    rule_timeout = text_at(rule, "timeouts.request")
    if rule_timeout:
        return {(rule_timeout, route): None}
    node = NodeRef(route, world.topology.sections(route)[position])
    paths = [path for path in world.topology.paths(node) if world.topology.carries_traffic(path)]
    timeouts: dict[tuple[str, ObjectRef], None] = {}
    for entry in effective_entries(world.analysis, node, paths):
        effective = entry.effective
        profile = world.registry.profile(effective.resolution.kind).at(effective.target.object.group_kind)
        for field, stands_for in profile.object_fields.items():
            leaf = effective_at(effective.resolution.spec, field.split(".")) if stands_for == _REQUEST else None
            if isinstance(leaf, Leaf) and isinstance(leaf.value, str):
                timeouts[leaf.value, leaf.source.object] = None
    return timeouts


def _seconds(duration: Json) -> float:
    """Return a duration in seconds, or 0 if there is none or it is malformed."""
    if not isinstance(duration, str) or not _DURATION.fullmatch(duration):
        return 0
    return sum(float(number) * _SECONDS[unit] for number, unit in _SPAN.findall(duration))
