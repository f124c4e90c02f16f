"""Reasons for which a target cannot be used: its Gateways are invalid, do not enable a kind, or are another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.attachment import NotAttached
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import ABOVE_ROUTES, ROUTES
from kubectl_policy.topology.controllers import is_enabled, is_managed, why_disabled
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.needs import RequiredParameter
    from kubectl_policy.topology import Topology


def target_failure(target: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> NotAttached | None:
    """Return the failure of a target that is ignored as invalid, or whose Gateways do not enable the kind; or None.

    Whether it lets a kind be used is in its parameters; it does if that is unknown.
    """
    invalid = topology.relations.why_ignored(NodeRef(target))
    if invalid is None and profile.targets_exist == "whenReferred":
        gateways = [NodeRef(gateway) for gateway in gateways_of(target, profile, topology)]
        problems = list(map(topology.relations.why_ignored, gateways))
        invalid = problems[0] if problems and all(problems) else None
    message = invalid.message if invalid else _why_refused(target, profile, topology)
    if message:
        return NotAttached("target invalid", message, competes=True)
    enabling = profile.enabled_by
    enabling_gateways = set(gateways_of(target, profile, topology)) if enabling else ()
    if enabling is None or not enabling_gateways:
        return None
    itself = target.group_kind not in ROUTES
    if any(is_enabled(topology, gateway, enabling, itself=itself) is not False for gateway in enabling_gateways):
        return None
    return NotAttached("not enabled", why_not_enabled(topology, enabling, enabling_gateways), competes=True)


def _why_refused(target: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> str:
    """Return why the controllers of a kind refuse the contents of a target route; "" if one accepts them."""
    if target.group_kind not in ROUTES:
        return ""
    from kubectl_policy.attachment.route_contents import why_refused  # noqa: PLC0415 (few targets are routes)

    return why_refused(topology, target, set(gateways_of(target, profile, topology)))


def why_partly_disabled(target: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> str:
    """Explain which Gateways of a target do not enable a kind; return "" if all of them do, or may."""
    enabling = profile.enabled_by
    if enabling is None:
        return ""
    gateways = set(gateways_of(target, profile, topology))
    disabling = (gateway for gateway in gateways if is_enabled(topology, gateway, enabling) is False)
    return why_not_enabled(topology, enabling, disabling)


def why_not_enabled(topology: Topology, enabling: RequiredParameter, gateways: Iterable[ObjectRef]) -> str:
    """Explain why the parameters of some Gateways do not enable a kind."""
    return "; ".join(why_disabled(topology, gateway, enabling) for gateway in sorted(gateways))


def gateways_of(target: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> Iterator[ObjectRef]:
    """Yield the Gateways of the kind's controllers that an object is or belongs to.

    Of a route these are those that it names as parents; of a backend, those of the routes that refer to it.
    """
    index, kind = topology.index, target.group_kind
    is_backend = kind not in ROUTES and kind not in ABOVE_ROUTES
    routes = topology.relations.routes_referring_to(target) if is_backend else (target,)
    parents = (parent.object for route in routes for parent in parent_refs(index, route))
    for parent in parents if is_backend or kind in ROUTES else (target,):
        gateway = topology.gateways.gateway_of(parent)
        if gateway and is_managed(topology, gateway, profile.controllers) is not False:
            yield gateway


def why_not_managed(topology: Topology, ref: ObjectRef, kind: str, controllers: Collection[str]) -> str:
    """Explain why none of the controllers of a policy kind manages an object; return "" if one does or may."""
    if is_managed(topology, ref, controllers) is not False:
        return ""
    ours = " or ".join(sorted(controllers))
    if ref.group_kind in ROUTES:
        invalid = "; ".join(dict.fromkeys(_invalid_parents(topology, ref, controllers)))
        includes = f"and no parent of {ref} counts: {invalid}" if invalid else f"which includes no parent of {ref}"
        return f"{kind} applies only to what {ours} manages, {includes}"
    theirs = topology.gateways.controller_of(ref)
    includes = f"and {ref} is managed by {theirs}" if theirs else f"which does not include {ref}"
    return f"{kind} applies only to what {ours} manages, {includes}"


def _invalid_parents(topology: Topology, route: ObjectRef, controllers: Collection[str]) -> Iterator[str]:
    """Return the reasons for which controllers ignore their parents of a route, or of routes that delegate to it."""
    for ancestor in topology.relations.delegating_routes(route):
        for parent in parent_refs(topology.index, ancestor):
            ignored = topology.relations.why_ignored(NodeRef(parent.object))
            if ignored and is_managed(topology, parent.object, controllers):
                yield ignored.message
