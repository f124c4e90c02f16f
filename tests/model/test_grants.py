"""Which references may leave their namespace."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Gap, GroupKind, Resource
from kubectl_policy.model.kinds import GATEWAY_API
from tests.build import grant, index, ref

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
    """By kind, or for one object by name."""
    given = grant(namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "baker")], targets=[target])
    assert index(given).grants.permit(ROUTE, "baker", OVEN)


def test_no_grant_is_needed_inside_a_namespace_or_for_what_has_none() -> None:
    """References that do not leave their namespace are always permitted."""
    assert index().grants.permit(ROUTE, "kitchen", OVEN)
    assert index().grants.permit(ROUTE, "baker", ref("GatewayClass", "c"))


@pytest.mark.parametrize(
    ("gap", "hidden"),
    [
        (Gap("Secret", "", "forbidden"), False),
        (Gap("ReferenceGrant", "baker", "forbidden"), False),
        (Gap("ReferenceGrant", "kitchen", "forbidden"), True),
        (Gap("", "", "forbidden"), True),
    ],
)
def test_grants_may_be_unread(gap: Gap, *, hidden: bool) -> None:
    """A gap that covers the grants of the namespace means that a missing grant proves nothing."""
    assert index(gaps=[gap]).grants.may_be_unread("kitchen") is hidden


def test_a_grant_permits_by_its_own_entries() -> None:
    """What one grant lets in is not let in to what another one opens."""
    route = [(GATEWAY_API, "HTTPRoute", "baker")]
    secret = grant("a", namespace="kitchen", sources=route, targets=[("", "Secret")])
    other = grant("b", namespace="kitchen", sources=[(GATEWAY_API, "HTTPRoute", "butcher")], targets=[("", "Service")])
    assert not index(secret, other).grants.permit(ROUTE, "baker", OVEN)
