"""Random changes of random small worlds: what somebody deletes, adds or writes otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.property.strategies import worlds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tests.property.world import Policy, Route, World

    _Change = Callable[[st.DrawFn, World], World]

_PORTS: Final = ((("http", 80),), (("", 80), ("admin", 81)), (("web", 80),))


def refs_in(world: World) -> tuple[ObjectRef, ...]:
    """Every object of a world, sorted."""
    found = [ObjectRef(GroupKind("", "Namespace"), "", name) for name in world.namespaces]
    found += [ObjectRef(GroupKind(GATEWAY_API, "GatewayClass"), "", name) for name, _ in world.classes]
    found += [ObjectRef(GroupKind(GATEWAY_API, "Gateway"), *gateway[:2]) for gateway in world.gateways]
    found += [ObjectRef(GroupKind(GATEWAY_API, "HTTPRoute"), *route[:2]) for route in world.routes]
    found += [ObjectRef(GroupKind("", "Service"), *service[:2]) for service in world.services]
    found += [_grant(*grant) for grant in world.grants]
    return tuple(sorted([*found, *(policy.ref for policy in world.policies)]))


def _grant(home: str, abroad: str) -> ObjectRef:
    return ObjectRef(GroupKind(GATEWAY_API, "ReferenceGrant"), abroad, f"from-{home}")


def without(world: World, deleted: Collection[ObjectRef]) -> World:
    """A world without some of its objects."""
    kinds = {(ref.kind, ref.namespace, ref.name) for ref in deleted}
    return world._replace(
        namespaces=tuple(name for name in world.namespaces if ("Namespace", "", name) not in kinds),
        classes=tuple(
            gateway_class for gateway_class in world.classes if ("GatewayClass", "", gateway_class[0]) not in kinds
        ),
        gateways=tuple(gateway for gateway in world.gateways if ("Gateway", *gateway[:2]) not in kinds),
        routes=tuple(route for route in world.routes if ("HTTPRoute", *route[:2]) not in kinds),
        services=tuple(service for service in world.services if ("Service", *service[:2]) not in kinds),
        grants=tuple(grant for grant in world.grants if _grant(*grant) not in deleted),
        policies=tuple(policy for policy in world.policies if policy.ref not in deleted),
    )


def with_contents(world: World, ref: ObjectRef) -> frozenset[ObjectRef]:
    """Return an object and, if it is a Namespace, the objects in it."""
    inside = [one for one in refs_in(world) if ref.kind == "Namespace" and one.namespace == ref.name]
    return frozenset([ref, *inside])


@st.composite
def pairs_of_worlds(draw: st.DrawFn) -> tuple[World, World]:
    """A world, and the same one after some changes; either may be the earlier one."""
    one = other = draw(worlds())
    for change in draw(st.lists(st.sampled_from(_CHANGES), min_size=1, max_size=3)):
        other = change(draw, other)
    return draw(st.sampled_from(((one, other), (other, one))))


def _deletion(draw: st.DrawFn, world: World) -> World:
    known = refs_in(world)
    return without(world, with_contents(world, draw(st.sampled_from(known)))) if known else world


def _fewer_policies(draw: st.DrawFn, world: World) -> World:
    policies = draw(st.lists(st.sampled_from(world.policies), max_size=3)) if world.policies else []
    return world._replace(policies=tuple(policy for policy in world.policies if policy not in policies))


def _policy(draw: st.DrawFn, world: World, change: Callable[[Policy, Policy], Policy]) -> World:
    """A world in which one policy has something of another one of its kind."""
    if not world.policies:
        return world
    one, other = (draw(st.sampled_from(world.policies)) for _ in range(2))
    changed = change(one, other) if one.kind == other.kind else one
    return world._replace(policies=tuple(changed if policy is one else policy for policy in world.policies))


def _respecified(draw: st.DrawFn, world: World) -> World:
    return _policy(draw, world, lambda one, other: one._replace(parts=other.parts))


def _retargeted(draw: st.DrawFn, world: World) -> World:
    return _policy(draw, world, lambda one, other: one._replace(targets=other.targets[:1]))


def _of_other_rank(draw: st.DrawFn, world: World) -> World:
    age = draw(st.sampled_from((None, 1, 3)))
    return _policy(draw, world, lambda one, other: one._replace(created=age, number=other.number, weight=other.weight))


def _route(draw: st.DrawFn, world: World, change: Callable[[Route, Route], Route]) -> World:
    if not world.routes:
        return world
    one, other = (draw(st.sampled_from(world.routes)) for _ in range(2))
    return world._replace(routes=tuple(change(one, other) if route is one else route for route in world.routes))


def _with_other_parents(draw: st.DrawFn, world: World) -> World:
    return _route(draw, world, lambda one, other: one._replace(parents=() if one is other else other.parents))


def _with_other_rules(draw: st.DrawFn, world: World) -> World:
    fewer = draw(st.booleans())
    return _route(draw, world, lambda one, other: one._replace(rules=one.rules[:1] if fewer else other.rules))


def _with_other_settings(draw: st.DrawFn, world: World) -> World:
    return _route(draw, world, lambda one, _: one._replace(own={"a": 8} if "a" in one.own else {"a": 7, "x": [3]}))


def _with_other_ports(draw: st.DrawFn, world: World) -> World:
    ports = draw(st.sampled_from(_PORTS))
    return world._replace(services=tuple(service._replace(ports=ports) for service in world.services))


def _with_other_listeners(draw: st.DrawFn, world: World) -> World:
    first = draw(st.sampled_from((("l0", "All"), ("l0", "Same"), ("l1", "All"))))
    return world._replace(gateways=tuple(gateway._replace(listeners=(first,)) for gateway in world.gateways))


def _with_other_grants(draw: st.DrawFn, world: World) -> World:
    return world._replace(grants=draw(st.sampled_from(((), (("ns", "other"),), (("other", "ns"),)))))


_CHANGES: Final[tuple[_Change, ...]] = (
    _deletion,
    _deletion,
    _fewer_policies,
    _fewer_policies,
    _respecified,
    _respecified,
    _retargeted,
    _of_other_rank,
    _with_other_parents,
    _with_other_rules,
    _with_other_settings,
    _with_other_ports,
    _with_other_listeners,
    _with_other_grants,
)
