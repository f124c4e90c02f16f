"""Which references may leave their namespace."""

from __future__ import annotations

import tracemalloc

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Gap, GroupKind, Resource
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.states import apply_changes
from tests.build import grant, index, listed, ref, resource, snapshot

ROUTE = GroupKind(GATEWAY_API, "HTTPRoute")
OVEN = ref("Service", "oven", "kitchen", "")


@pytest.mark.parametrize(
    "given",
    [
        grant(namespace="elsewhere", sources=[(GATEWAY_API, "HTTPRoute", "baker")]),
        grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "butcher")]),
        grant(namespace="kitchen", sources=[(GATEWAY_API, "GRPCRoute", "baker")]),
        grant(namespace="kitchen", sources=[("", "HTTPRoute", "baker")]),
        grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "baker")], targets=[("", "Secret")]),
        grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "baker")], targets=[("", "Service", "sink")]),
    ],
)
def test_a_grant_for_something_else_does_not_permit(given: Resource) -> None:
    """Namespace of the grant, source kind and namespace, target kind and name all have to fit."""
    assert not index(given).grants.permit(ROUTE, "baker", OVEN)


@pytest.mark.parametrize("target", [("", "Service"), ("", "Service", "oven")])
def test_a_grant_permits(target: tuple[str, str] | tuple[str, str, str]) -> None:
    given = grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "baker")], targets=[target])
    assert index(given).grants.permit(ROUTE, "baker", OVEN)


def test_no_grant_is_needed_inside_a_namespace_or_for_what_has_none() -> None:
    """References that do not leave their namespace are always permitted."""
    assert index().grants.permit(ROUTE, "kitchen", OVEN)
    assert index().grants.permit(ROUTE, "baker", ref("GatewayClass", "c"))


@pytest.mark.parametrize(
    ("gap", "permitted"),
    [
        (Gap("Secret", "", "forbidden"), False),
        (Gap("ReferenceGrant", "baker", "forbidden"), False),
        (Gap("ReferenceGrant", "kitchen", "forbidden"), None),
        (Gap("ReferenceGrant", "kitchen", "patched", name="grant"), None),
        (Gap("", "", "forbidden"), None),
    ],
)
def test_grants_may_be_unread(gap: Gap, *, permitted: bool | None) -> None:
    """Where a gap covers the grants of the namespace, that there is none proves nothing."""
    assert index(complete=True, gaps=[gap]).grants.permit(ROUTE, "baker", OVEN) is permitted


def test_in_an_open_world_a_grant_may_be_somewhere_else() -> None:
    """Unless a cluster listed those of the namespace."""
    assert index().grants.permit(ROUTE, "baker", OVEN) is None
    there = resource("Service", "oven", group="", namespace="kitchen")
    assert Index(listed(snapshot(there))).grants.permit(ROUTE, "baker", OVEN) is False


def test_what_only_the_other_state_permits_is_not_permitted() -> None:
    """Whoever deletes a grant means to take the permission away."""
    given = grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "baker")])
    before, after = apply_changes(snapshot(given), deleted=[given.ref])
    assert [Index(state).grants.permit(ROUTE, "baker", OVEN) for state in (before, after)] == [True, False]
    assert Index(after).grants.permit(ROUTE, "butcher", OVEN) is None


@pytest.mark.parametrize(
    ("given", "permitted"),
    [
        (grant(namespace="?apps", sources=[(GATEWAY_API, "HTTPRoute", "baker")]), None),
        (grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "${TEAM}")]), None),
        (
            grant(
                namespace="kitchen",
                sources=[(GATEWAY_API, "HTTPRoute", "baker")],
                targets=[("", "Secret"), ("", "Service", "${OVEN}")],
            ),
            None,
        ),
        (grant(namespace="kitchen", sources=[("", "HTTPRoute", "${TEAM}")]), False),
        (grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "${TEAM}")], targets=[("", "Secret")]), False),
        (grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "b-${TEAM}")]), False),
        (grant(namespace="k-${X}", sources=[(GATEWAY_API, "HTTPRoute", "baker")]), False),
    ],
)
def test_a_grant_with_a_name_that_is_not_known_may_permit(given: Resource, *, permitted: bool | None) -> None:
    assert index(given, complete=True).grants.permit(ROUTE, "baker", OVEN) is permitted


def test_of_a_namespace_that_is_not_known_nobody_knows_what_leaves_it() -> None:
    """It may be the target's own."""
    world = index(complete=True)
    assert world.grants.permit(ROUTE, "?apps", OVEN) is None
    assert world.grants.permit(ROUTE, "baker", replace(OVEN, namespace="?apps")) is None
    assert world.grants.permit(ROUTE, "?apps", replace(OVEN, namespace="?apps"))


def test_a_grant_permits_by_its_own_entries() -> None:
    """What one grant lets in is not let in to what another one opens."""
    route = [(GATEWAY_API, "HTTPRoute", "baker")]
    secret = grant("a", namespace="kitchen", sources=route, targets=[("", "Secret")])
    other = grant("b", namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "butcher")], targets=[("", "Service")])
    assert not index(secret, other).grants.permit(ROUTE, "baker", OVEN)


def test_a_long_grant_takes_room_for_its_entries_alone() -> None:
    """Not for each pair of them: whoever writes a grant does not decide how much memory an answer takes."""
    given = grant(
        namespace="kitchen",
        sources=[(GATEWAY_API, "HTTPRoute", f"baker-{number}") for number in range(1_000)],
        targets=[("", "Service", f"oven-{number}") for number in range(1_000)],
    )
    grants = index(given).grants
    tracemalloc.start()
    try:
        assert grants.permit(ROUTE, "baker-7", replace(OVEN, name="oven-7"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * 2**20
