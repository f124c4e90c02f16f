"""Answer why a connection is denied, or is not, with the edits that would allow or deny it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from kubectl_policy.errors import UsageError
from kubectl_policy.questions.connections.connection import ConnectionDescription, PortQuery, describe_connection
from kubectl_policy.questions.why_not.connections.case import ConnectionCase, Wanted
from kubectl_policy.questions.why_not.connections.search import (
    ConnectionEditPair,
    OfferedConnectionEdit,
    SearchResult,
    find_edits,
)

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.connections.endpoints import NamedEnd


class ConnectionExplanation(ConnectionDescription, frozen=True, kw_only=True):
    """The answer about connections, with edits that would allow or deny them."""

    wanted: Annotated[Wanted, Meta(description="What is asked for: connections that are allowed, or denied.")]
    edits: Annotated[
        tuple[OfferedConnectionEdit, ...],
        Meta(description="The alternative edits, those with the fewest side effects first.", max_length=3),
    ]
    pair: Annotated[
        ConnectionEditPair | None,
        Meta(description="Two edits that help together, if no edit of one object helps; null if none were found."),
    ]
    tried: Annotated[int, Meta(description="The number of edits that were tried.", ge=0)]
    obstacle: Annotated[
        str, Meta(description="The reason why no edit of one object helps; empty if one helps, or none is needed.")
    ]

    @property
    def fulfilled(self) -> Annotated[bool, Meta()]:
        """Whether the connections are as they are wanted."""
        return self.allowed is (self.wanted == "allowed")


def why_not_connected(
    analysis: Analysis, source: NamedEnd, destination: NamedEnd, port: PortQuery | None, wanted: Wanted
) -> ConnectionExplanation:
    """Return why connections between two ends are not allowed, or not denied, and edits that would do so.

    Raises `UsageError` if no port is asked for and the destination declares none.
    """
    description = describe_connection(analysis, source, destination, port)
    if not description.connections:
        name = destination.object or destination.address
        raise UsageError(f"{name} declares no port", "name a port: --port 8080, or --port 53/UDP")
    case = ConnectionCase(analysis=analysis, source=source, destination=destination, query=port, wanted=wanted)
    result = SearchResult() if case.is_fulfilled or not case.sides else find_edits(case)
    return ConnectionExplanation(
        **{field: getattr(description, field) for field in description.__struct_fields__},
        wanted=wanted,
        edits=result.edits,
        pair=result.pair,
        tried=result.tried,
        obstacle="" if case.is_fulfilled or result.edits else _obstacle(case, result, description),
    )


def _obstacle(case: ConnectionCase, result: SearchResult, description: ConnectionDescription) -> str:
    """Explain why no edit of one object helps."""
    if not case.decided:
        return "no network policy can deny the connections of a Pod with itself"
    if not case.sides:
        return next(iter(_doubts(description)), "what decides is not known")
    if result.pair:
        return "both sides deny it"
    verb = "allow" if case.wanted == "allowed" else "deny"
    if not result.tried:
        return f"no change to one object would {verb} it"
    return f"of the {result.tried} that were tried, none would certainly {verb} it"


def _doubts(description: ConnectionDescription) -> list[str]:
    """Return the reasons why verdicts are not known."""
    verdicts = [checked.verdict for checked in description.connections]
    sides = [side for verdict in verdicts for side in (verdict.egress, verdict.ingress) if side]
    return [doubt.message for side in sides for doubt in side.doubts]
