"""Network policies of all tiers: which connections between workloads, and with addresses outside, they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_policy.model.index import Index
    from kubectl_policy.network.network import Network


def read_network(index: Index) -> Network:
    """Return the network policies and workloads of an index; nothing of them is read before it is asked for."""
    from kubectl_policy.network.network import Network  # noqa: PLC0415 (few answers need it)
    from kubectl_policy.topology.workloads import Workloads  # noqa: PLC0415 (few answers need it)

    return Network(index, Workloads(index))
