"""The kinds of the hierarchy in their order."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_API,
    GATEWAY_CLASS,
    HIERARCHY,
    HTTP_ROUTE,
    LISTENER_SETS,
    NAMESPACE,
    ROUTES,
    SERVICE,
    depth_of,
    layer_of,
)

POOL = GroupKind("example.net", "Pool")


def test_layers_from_the_root_down() -> None:
    """A Namespace may stand above anything; what is not of the hierarchy is taken for a backend."""
    order = (NAMESPACE, GATEWAY_CLASS, GATEWAY, LISTENER_SETS[0], HTTP_ROUTE, SERVICE)
    assert all(layer_of(above) < layer_of(below) for above, below in pairwise(order))
    assert layer_of(POOL) == layer_of(SERVICE)


@pytest.mark.parametrize("kinds", [LISTENER_SETS, ROUTES], ids=["listener sets", "routes"])
def test_kinds_of_one_layer(kinds: tuple[GroupKind, ...]) -> None:
    """None leads to another one of them."""
    assert len({layer_of(kind) for kind in kinds}) == 1


def test_depth_is_the_place_in_the_hierarchy() -> None:
    """Kinds that are not of it come after all others."""
    assert [depth_of(kind) for kind in HIERARCHY] == list(range(len(HIERARCHY)))
    assert depth_of(POOL) == depth_of(GroupKind(GATEWAY_API, "ReferenceGrant")) == len(HIERARCHY)
