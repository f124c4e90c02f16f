"""Phrases for the connections of Gateways to backends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.kinds import listed, names
from kubectl_policy.model.world import grouped_by
from kubectl_policy.render.connections.wording import denying_phrase
from kubectl_policy.render.output.text import Line, Segment
from kubectl_policy.render.wording.names import node_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.questions.connections.backend_connections import BackendConnection
    from kubectl_policy.questions.connections.verdicts import SideVerdict
    from kubectl_policy.render.output.text import Style


def dropped_sentence(connections: Iterable[BackendConnection]) -> str:
    """Say which backends no Gateway may connect to: a sentence, or empty."""
    by_backend = grouped_by(connections, lambda connection: connection.backend.object)
    cut_off = [
        backend
        for backend, connections_there in by_backend.items()
        if all(connection.allowed is False for connection in connections_there)
    ]
    if not cut_off:
        return ""
    gateways = dict.fromkeys(connection.gateway for backend in cut_off for connection in by_backend[backend])
    reach = "reaches" if len(gateways) == 1 else "reach"
    return f"No request through {names(gateways)} {reach} {names(cut_off)}: network policies deny the connection."


def backend_line(connection: BackendConnection) -> Line:
    """Return a line with a Gateway, a backend, and the verdict with what decides."""
    sides = [
        side for checked in connection.connections for side in (checked.verdict.egress, checked.verdict.ingress) if side
    ]
    pair = Segment(f"{connection.gateway} to {node_label(connection.backend)}: ", prose=True)
    if connection.allowed:
        deciding = dict.fromkeys(str(rule.policy.policy) for side in sides for rule in side.deciding)
        by = f" by {listed(list(deciding))}" if deciding else ", as no network policy decides"
        return Line((pair, Segment("allowed", "value"), Segment(by, prose=True)), 2, 4)
    verdicts = {checked.verdict.allowed for checked in connection.connections}
    word = "denied" if verdicts == {False} else "not known" if None in verdicts else "denied in part"
    style: Style = "warning" if None in verdicts else "error"
    return Line((pair, Segment(word, style), Segment(_because(sides), prose=True)), 2, 4)


def _because(sides: Iterable[SideVerdict]) -> str:
    reasons = dict.fromkeys(
        f"{side.direction} by {denying_phrase(side)}" for side in sides if side.allowed is False and side.deciding
    )
    doubts = dict.fromkeys(doubt.message for side in sides for doubt in side.doubts)
    return f", {listed(list(reasons))}" if reasons else f": {'; '.join(doubts)}" if doubts else ""
