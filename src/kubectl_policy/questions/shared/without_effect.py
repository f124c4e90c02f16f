"""Why a policy has no effect anywhere, or none on a path: what does not attach, gets no requests, or does not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import NodeRef
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.questions.shared.beaten import lost_to_others
from kubectl_policy.questions.shared.reasons import Reason, in_causal_order, named
from kubectl_policy.questions.shared.unattached import failed, no_reference, not_sent, refused
from kubectl_policy.resolution import paths_by_way_of
from kubectl_policy.resolution.enforcement import ENFORCEMENT
from kubectl_policy.topology import too_wide
from kubectl_policy.topology.controllers import controlled, enabled_on, why_disabled
from kubectl_policy.topology.gateway.handshake import WITH_HOSTNAMES
from kubectl_policy.topology.references import GATEWAY, ROUTES, WITH_LISTENERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Path


def why_without_effect(analysis: Analysis, policy: ObjectRef, most: int = 3) -> tuple[Reason, ...]:
    """Why a policy has no effect anywhere, the first cause first; empty if it has one, or may have.

    These are as many of the reasons as are wanted, which are found first: the others are not looked for.
    """
    meaning = ENFORCEMENT[analysis.enforcement(policy).state]
    if meaning.in_force or not meaning.known:
        return ()
    distinct: dict[Reason, None] = {}
    for reason in _reasons(analysis, policy):
        distinct.setdefault(reason)
        if len(distinct) == most:
            break
    return in_causal_order(analysis, distinct)


def _reasons(analysis: Analysis, policy: ObjectRef) -> Iterator[Reason]:
    attachments, enforcement = analysis.attachments[policy], analysis.enforcement(policy)
    if not attachments:
        yield no_reference(analysis, policy)
    yield from (failed(analysis, attachment) for attachment in attachments if attachment.state != "attached")
    resolutions = {effective.resolution: effective for effective in enforcement.outcomes}
    for effective in resolutions.values():
        yield from lost_to_others(analysis, policy, effective)
    if not resolutions:
        for target in dict.fromkeys(each.target for each in attachments if each.target and each.state == "attached"):
            yield from _nothing_below(analysis, policy, target)


def _nothing_below(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> Iterator[Reason]:
    """Why a policy that is attached to a node, and with which no other one meets, affects nothing by way of it."""
    paths = paths_by_way_of([target], analysis.registry.known(policy.group_kind), analysis.topology)
    for path in paths:
        if analysis.topology.carries_traffic(path):
            yield does_not_count(analysis, policy, path, target)
        else:
            yield from no_traffic_on(analysis, path)
    if not paths:
        yield from _nothing_attached(analysis, policy, target)


def _nothing_attached(analysis: Analysis, policy: ObjectRef, target: NodeRef) -> Iterator[Reason]:
    """That nothing on which a policy could take effect is below a node, and which routes are refused there."""
    routes = analysis.topology.relations.routes_naming(target.object)
    refusals = (reason for route in routes for reason in refused(analysis, route, target) if reason.reason)
    first = next(refusals, None)
    if first:
        yield first
        yield from refusals
        return
    levels = analysis.registry.known(policy.group_kind).effective_targets
    kinds = sorted({level.group_kind.kind for level in levels}) if levels else ["route"]
    names = " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    kind = target.object.group_kind
    where = "attached to" if kind in WITH_LISTENERS else "in" if kind == NAMESPACE else "below"
    message = f"no {names} is {where} {named(target)}"
    yield Reason("nothing-below", message, target.object, related=(target,))


def no_traffic_on(analysis: Analysis, path: Path) -> Iterator[Reason]:
    """Why no request comes down a path: its first route is attached to nothing, or another one cuts it off.

    To the backend on a path without routes they all give weight 0.
    """
    relations = analysis.topology.relations
    route = next((node.object for node in path if node.object.group_kind in ROUTES), None)
    if route is None:
        backend = path[-1].object
        for above in relations.routes_referring_to(backend):
            yield from not_sent(analysis, above, backend)
    elif relations.is_unattached(route):
        yield from refused(analysis, route)
    else:
        message = f"no request gets to {route} by the routes that delegate to it"
        yield Reason("not-delegated", message, route, field="spec.rules", related=(NodeRef(route),))


def does_not_count(analysis: Analysis, policy: ObjectRef, path: Path, node: NodeRef) -> Reason:
    """Why a policy, which is attached to a node of a path, does not count at the end of the path."""
    profile, topology = analysis.registry.known(policy.group_kind), analysis.topology
    gateway = next((node.object for node in path if node.object.group_kind == GATEWAY), None)
    enabling = profile.enabled_by if gateway else None
    if gateway and enabling and enabled_on(topology, gateway, enabling) is False:
        return Reason("not-enabled", why_disabled(topology, gateway, enabling), gateway)
    if not controlled(topology, path, profile.controllers):
        ours = " or ".join(sorted(profile.controllers))
        message = f"{policy.kind} counts only for what {ours} manages, and {gateway or 'this path'} is not"
        field = "spec.gatewayClassName" if gateway else ""
        return Reason("other-controller", message, gateway or policy, field=field)
    wide = too_wide(topology, path) if profile.hostnames == "inside" else ""
    if wide:
        message = f"{policy.kind} counts only for hostnames inside the listener's, and {wide}"
        route = next(node.object for node in path if node.object.group_kind in WITH_HOSTNAMES)
        return Reason("hostname-too-wide", message, route, field="spec.hostnames")
    if profile.policy_class == "direct":
        return direct_above(analysis, policy, node)
    levels = ", ".join(dict.fromkeys(str(level.group_kind) for level in profile.effective_targets))
    where = f"at {levels}" if levels else "at what carries requests"
    message = f"{policy.kind} takes effect {where}, and on the way there is none below {named(node)}"
    return Reason("takes-effect-elsewhere", message, policy, related=(node,))


def direct_above(analysis: Analysis, policy: ObjectRef, node: NodeRef) -> Reason:
    """Why a direct policy has no effect below its target, or a filter none on requests of other rules."""
    profile = analysis.registry.known(policy.group_kind)
    message = (
        f"{policy.kind} is {profile.class_words}: it applies only to its target {named(node)}, not to what is below it"
    )
    if profile.role == "filter":
        rules = {each.declared.rule for each in analysis.attachments[policy] if each.target == node}
        of_rules = " and ".join(named(rule) for rule in sorted(filter(None, rules)))
        message = f"it applies only to requests of {of_rules or named(node)}"
        message += f", and of these to those for {named(node)}" if of_rules else ""
    return Reason("direct-above", message, policy, related=(node,))
