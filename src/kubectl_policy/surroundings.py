"""What a change can reach: the routes and policies around what differs, beyond which two states are alike."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import NodeRef, ObjectRef
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, NAMESPACE, ROUTES
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind

# Kinds of Gateway API itself and of Kubernetes may be what the hierarchy is made of.
STANDARD: Final = frozenset({GATEWAY_API, GATEWAY_API_EXPERIMENTAL, ""})


class Surroundings(Struct, frozen=True, kw_only=True):
    """Where two states of a world can differ.

    Other `routes` than these are attached to the same, and lead to the same, and other `policies` are attached to the
    same targets. Paths that are not in both states lead through one of these routes, or end at one of the `backends`,
    to which routes led. The policies that `share` paths with the routes may be in force otherwise.
    """

    routes: frozenset[ObjectRef]
    backends: frozenset[ObjectRef]
    policies: frozenset[ObjectRef]
    attached_otherwise: frozenset[ObjectRef]
    share: frozenset[ObjectRef]


def surroundings(before: Analysis, after: Analysis, differing: Collection[ObjectRef]) -> Surroundings | None:
    """What the objects that are `differing` can reach; None where that may be anything, or takes longer to find out.

    A route decides about itself alone: what it is attached to and leads to, and which paths there are by way of it; so
    does a policy, apart from those with which it shares a target or a path. All else is looked at by kind: on a Gateway
    depend the routes of all Namespaces, on a Namespace what selects it by labels, on a ReferenceGrant or a definition
    whatever refers to something, or is of the kind.
    """
    states = (before, after)
    if len(differing) > MAX_SINGLE_QUESTIONS or not _are_read_alike(before, after):
        return None
    if any(map(_depends_on_all, states)):
        return None
    kinds = {ref.group_kind for ref in differing}
    if not all(kind in ROUTES or _is_policy_alone(kind, state) for kind in kinds for state in states):
        return None
    routes = {ref for ref in differing if ref.group_kind in ROUTES}
    for state in states:
        routes.update(route for ref in differing for route in _routes_naming(state, ref))
    backends = {node.object for state in states for route in routes for node in _backends(state, route)}
    if any(state.index.presence(backend) == "missing" for state in states for backend in backends):
        # A path leads there as long as anything refers to it.
        return None
    policies = {ref for ref in differing if ref.group_kind not in ROUTES}
    for state in states:
        policies.update(_policies_around(state, differing, (*routes, *backends)))
    attached_otherwise = frozenset(
        policy
        for policy in policies
        if policy in differing or before.attachments.get(policy) != after.attachments.get(policy)
    )
    for state in states:
        # What a filter does depends on whether it holds.
        routes.update(each.route for ref in attached_otherwise for each in state.topology.relations.filters_naming(ref))
    return Surroundings(
        routes=frozenset(routes),
        backends=frozenset(backends),
        policies=frozenset(policies),
        attached_otherwise=attached_otherwise,
        share=frozenset(policy for state in states for policy in _policies_beside(state, routes, backends)),
    )


def _are_read_alike(before: Analysis, after: Analysis) -> bool:
    """Whether as much could be read of both states, and the same is known of kinds of policies."""
    return before.snapshot.is_read_like(after.snapshot) and (
        before.registry.policy_kinds == after.registry.policy_kinds
    )


def _depends_on_all(state: Analysis) -> bool:
    """Whether there is something that may depend on any object.

    That is what has placeholders in its name, or in what it refers to; routes that lead to routes, as requests then
    come by way of others; and policies that are not attached where routes share requests.
    """
    relations = state.topology.relations
    return (
        state.topology.possible.is_any
        or state.possible_attachments.are_open
        or bool(relations.delegations.refs)
        or not relations.kinds_of_other_backends.isdisjoint(ROUTES)
        or any(profile.overlap == "refused" for profile in state.registry.policy_kinds)
    )


def _is_policy_alone(kind: GroupKind, state: Analysis) -> bool:
    """Whether objects of a kind are policies, and nothing that routes send requests to or Gateways refer to."""
    profile, relations = state.registry.profile_of(kind), state.topology.relations
    return (
        kind.group not in STANDARD
        and profile is not None
        and profile.role == "policy"
        and kind not in relations.kinds_of_other_backends
        and kind not in relations.kinds_of_parameters
    )


def _routes_naming(state: Analysis, obj: ObjectRef) -> Iterator[ObjectRef]:
    relations = state.topology.relations
    yield from relations.routes_naming(obj)
    yield from (each.route for each in relations.filters_naming(obj))


def _backends(state: Analysis, route: ObjectRef) -> Iterator[NodeRef]:
    return (node for backend in state.topology.backends(route) for node in (backend.node, *backend.nodes))


def _policies_around(
    state: Analysis, differing: Iterable[ObjectRef], around: Iterable[ObjectRef]
) -> Iterator[ObjectRef]:
    """The policies that may be attached otherwise in another state: by what they name, and to what is around it."""
    for ref in differing:
        yield from state.policies_that_may_name(ref)
    for obj in dict.fromkeys((*differing, *around)):
        yield from (attachment.policy for attachment in state.attachments_to(obj))
        named = (each.object for each in state.topology.relations.filters_of(obj))
        yield from (each for each in named if each in state.attachments)


def _policies_beside(
    state: Analysis, routes: Iterable[ObjectRef], backends: Iterable[ObjectRef]
) -> Iterator[ObjectRef]:
    """The policies about anything on the paths through some routes, and on those of backends by themselves."""
    paths = (path for route in routes for path in state.topology.paths_through(NodeRef(route)))
    own = ((ObjectRef(NAMESPACE, "", obj.namespace), obj) for obj in backends)
    for obj in dict.fromkeys((*(node.object for path in paths for node in path), *chain.from_iterable(own))):
        yield from (attachment.policy for attachment in state.attachments_to(obj))
