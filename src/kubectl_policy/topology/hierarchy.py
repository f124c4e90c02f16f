"""The kinds of the hierarchy in their order, from the root down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS, ROUTES, WITH_PORTS

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind

WITH_LISTENERS: Final = (GATEWAY, *LISTENER_SETS)
HIERARCHY: Final[tuple[GroupKind, ...]] = (GATEWAY_CLASS, *WITH_LISTENERS, *ROUTES, *WITH_PORTS)


def layer_of(kind: GroupKind) -> int:
    """The layer of a kind on paths from the root, where no object leads to another one of its layer.

    Kinds that are not of the hierarchy are taken for backends, but for Namespaces, which may stand above anything.
    """
    layers: tuple[tuple[GroupKind, ...], ...] = ((NAMESPACE,), (GATEWAY_CLASS,), (GATEWAY,), LISTENER_SETS, ROUTES)
    return next((number for number, kinds in enumerate(layers) if kind in kinds), len(layers))


def depth_of(kind: GroupKind) -> int:
    """How far down the hierarchy a kind stands, from 0 at the root; kinds that are not of it come after all others."""
    return HIERARCHY.index(kind) if kind in HIERARCHY else len(HIERARCHY)
