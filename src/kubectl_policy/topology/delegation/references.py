"""References by which rules delegate, and the routes that each of them selects."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kind_roles import HTTP_ROUTE, LISTENER_HOLDERS
from kubectl_policy.model.world import grouped
from kubectl_policy.topology.references import BackendRef, parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model.index import Index, Presence
    from kubectl_policy.profiles.controllers import DelegationProfile
    from kubectl_policy.topology.gateway.gateways import Gateways

# A route, the field of a reference in it, and the group of the profile by which that is read.
RefKey: TypeAlias = "tuple[ObjectRef, str, str]"


class DelegatingRef(Struct, frozen=True, kw_only=True):
    """A backendRef that stands for routes."""

    parent: NodeRef
    ref: BackendRef
    profile: DelegationProfile
    # The routes that may be delegated to from this parent.
    children: Mapping[ObjectRef, None]
    # The routes that name other parents alone.
    foreign_routes: Mapping[ObjectRef, None]
    # Whether routes that the reference does not find are missing, or may not be in the input.
    presence: Presence
    # False without a ReferenceGrant that is needed; None where that is not known.
    permitted: bool | None = True

    @property
    def names_a_route(self) -> bool:
        """Whether it is the name of a route, and does not mean any that there is."""
        target = self.ref.object
        return target.group_kind == HTTP_ROUTE and target.name not in {"", self.profile.every_route}

    @property
    def key(self) -> RefKey:
        """The key that identifies the reference: route, field and group of the profile."""
        return self.parent.object, self.ref.field, self.profile.group


def delegating_refs(
    gateways: Gateways, forwards: Iterable[tuple[ObjectRef, BackendRef]], profiles: Sequence[DelegationProfile]
) -> dict[ObjectRef, tuple[DelegatingRef, ...]]:
    """Return the delegating references of each route that has some, in the order of its rules.

    `forwards` are the routes with their references. A reference delegates if the controller of a Gateway that the route
    names, or that a route above it names, delegates that way; or if nothing is known of any such controller.
    """
    lookup = _Lookup(gateways.index)
    possible: dict[ObjectRef, list[DelegatingRef]] = {}
    for route, ref in forwards:
        for profile in profiles if route.group_kind == HTTP_ROUTE else ():
            kinds = (HTTP_ROUTE, profile.by_label.group_kind) if profile.by_label else (HTTP_ROUTE,)
            if ref.object.group_kind in kinds:
                possible.setdefault(route, []).append(lookup.resolve(route, ref, profile))
    valid = _valid_profiles(gateways, possible, profiles)
    delegating = {
        route: tuple(ref for ref in refs if ref.profile in valid.get(route, profiles))
        for route, refs in possible.items()
    }
    return {route: refs for route, refs in delegating.items() if refs}


class _Lookup(Struct, frozen=True, dict=True, eq=False):
    """Finds the routes that references stand for."""

    _index: Index

    def resolve(self, route: ObjectRef, ref: BackendRef, profile: DelegationProfile) -> DelegatingRef:
        named = self._candidates(ref.object, profile)
        grants = self._index.grants if profile.grant_required else None
        verdicts = {child: grants.permit(HTTP_ROUTE, route.namespace, child) if grants else True for child in named}
        permitted = [child for child, verdict in verdicts.items() if verdict is not False]
        children: dict[ObjectRef, None] = {}
        for child in permitted:
            parents = [parent.object for parent in parent_refs(self._index, child)]
            # A route that names parents may be delegated to by these alone.
            children |= {child: None} if not parents or route in parents else {}
        strangers = dict.fromkeys(child for child in permitted if child not in children and child != route)
        every = profile.by_label is not None and ref.object.namespace == profile.by_label.all_namespaces
        namespace = "" if every and ref.object.group_kind != HTTP_ROUTE else ref.object.namespace
        name = "" if ref.object.name == profile.every_route else ref.object.name
        presence = self._index.presence(ObjectRef(HTTP_ROUTE, namespace, name))
        parent = NodeRef(route, self._index.rules_of(route)[ref.rule])
        return DelegatingRef(
            parent=parent,
            ref=ref,
            profile=profile,
            children=children,
            foreign_routes=strangers,
            presence=presence,
            permitted=None if None in verdicts.values() else bool(permitted) or not named,
        )

    def _candidates(self, target: ObjectRef, profile: DelegationProfile) -> Sequence[ObjectRef]:
        if target.group_kind == HTTP_ROUTE:
            if target.name in {"", profile.every_route}:
                return [route.ref for route in self._index.of_kind_in(HTTP_ROUTE, target.namespace)]
            return [target] if self._index.get(target) else []
        label, everywhere = (profile.by_label.label, profile.by_label.all_namespaces) if profile.by_label else ("", "")
        labelled = self._by_label(label).get(target.name, ())
        return [route for route in labelled if target.namespace in {everywhere, route.namespace}]

    @cached_method
    def _by_label(self, label: str) -> Mapping[str | None, Sequence[ObjectRef]]:
        return grouped((labels_of(route.raw).get(label), route.ref) for route in self._index.of_kind(HTTP_ROUTE))


def _valid_profiles(
    gateways: Gateways, possible: Mapping[ObjectRef, Sequence[DelegatingRef]], profiles: Sequence[DelegationProfile]
) -> dict[ObjectRef, set[DelegationProfile]]:
    """Return the profiles of each route whose controllers are known, by its Gateways or those of its parents."""
    valid: dict[ObjectRef, set[DelegationProfile]] = {}
    for route in possible:
        direct = _profiles_of_gateways(gateways, route, profiles)
        if direct is not None:
            valid[route] = direct
    waiting = deque(valid)
    while waiting:
        route = waiting.popleft()
        for ref in possible[route]:
            passed_on = {ref.profile} & valid[route]
            for child in ref.children:
                if child in possible and (child not in valid or passed_on - valid[child]):
                    valid.setdefault(child, set()).update(passed_on)
                    waiting.append(child)
    return valid


def _profiles_of_gateways(
    gateways: Gateways, route: ObjectRef, profiles: Sequence[DelegationProfile]
) -> set[DelegationProfile] | None:
    """Return the profiles of the Gateways that a route names; None if it names none that is known."""
    index = gateways.index
    parents = [parent.object for parent in parent_refs(index, route)]
    controllers = {gateways.controller_of(obj) for obj in parents if obj.group_kind in LISTENER_HOLDERS}
    known = {controller for controller in controllers if controller}
    theirs = {profile for profile in profiles if known & profile.controllers}
    if not theirs and (not known or None in controllers):
        return None
    return theirs | {profile for profile in profiles if not profile.controllers}
