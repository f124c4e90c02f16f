"""Verdicts of network policies on a connection: the rules that decide on both sides, pass it on, or come too late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.network.connection import Connection, Endpoint, decision_of, is_to_itself, sides_of
from kubectl_policy.network.evaluation import Chain
from kubectl_policy.questions.connections.doubts import Doubt, doubts_of
from kubectl_policy.questions.connections.rule_views import RuleView, rule_view, with_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.network.connection import SideDecision
    from kubectl_policy.network.evaluation import Selecting, Step
    from kubectl_policy.network.network import Network
    from kubectl_policy.network.policy import Direction, Protocol, Tier
    from kubectl_policy.questions.connections.rule_views import Locate

_OTHERS: Final = (
    "The rules of further policies that match the connection, in the order of evaluation: what they would decide if no"
    " policy before them did. A NetworkPolicy without a rule for the connection denies it."
)


class SideVerdict(Struct, frozen=True, kw_only=True):
    """The verdict of the policies at one end of a connection."""

    direction: Annotated[Direction, Meta(description="Egress at the source, or ingress at the destination.")]
    allowed: Annotated[
        bool | None, Meta(description="Whether the connection is allowed on this side; null if unknown.")
    ]
    tier: Annotated[
        Tier | None,
        Meta(
            description="The tier that decides; Default if no policy does; null if it is not known which one decides."
        ),
    ]
    deciding: Annotated[
        tuple[RuleView, ...], Meta(description="The rules that decide; those that may decide if that is not known.")
    ]
    passing: Annotated[
        tuple[RuleView, ...], Meta(description="The rules of the Admin tier that passed the connection on.")
    ]
    others: Annotated[tuple[RuleView, ...], Meta(description=_OTHERS)]
    doubts: Annotated[
        tuple[Doubt, ...], Meta(description="The reasons why the verdict, or what decides, is not known.")
    ]


class Verdict(Struct, frozen=True, kw_only=True):
    """The verdict on a connection."""

    protocol: Annotated[Protocol, Meta(description="TCP, UDP or SCTP.")]
    port: Annotated[int, Meta(description="The port of the destination.")]
    allowed: Annotated[bool | None, Meta(description="Whether both sides allow the connection; null if unknown.")]
    egress: Annotated[
        SideVerdict | None, Meta(description="The verdict at the source; null for an address outside of the cluster.")
    ]
    ingress: Annotated[
        SideVerdict | None,
        Meta(description="The verdict at the destination; null for an address outside of the cluster."),
    ]


def verdict_on(network: Network, connection: Connection) -> Verdict:
    """Return the verdict on a connection."""
    sides = {side.direction: side for side in sides_of(network, connection)}
    views = {direction: _side_verdict(network, connection, side) for direction, side in sides.items()}
    verdicts = {view.allowed for view in views.values()}
    return Verdict(
        protocol=connection.protocol,
        port=connection.port,
        allowed=False if False in verdicts else None if None in verdicts else True,
        egress=views.get("egress"),
        ingress=views.get("ingress"),
    )


def verdict_with_lines(verdict: Verdict, locate: Locate) -> Verdict:
    """Return a verdict with the lines of its rules."""

    def side_with_lines(side: SideVerdict | None) -> SideVerdict | None:
        return side and replace(
            side,
            deciding=with_lines(side.deciding, locate),
            passing=with_lines(side.passing, locate),
            others=with_lines(side.others, locate),
        )

    return replace(verdict, egress=side_with_lines(verdict.egress), ingress=side_with_lines(verdict.ingress))


def _side_verdict(network: Network, connection: Connection, side: SideDecision) -> SideVerdict:
    if is_to_itself(network, connection):
        return SideVerdict(
            direction=side.direction, allowed=True, tier="Default", deciding=(), passing=(), others=(), doubts=()
        )
    is_egress = side.direction == "egress"
    subject, peer = (connection.source, connection.destination)[:: 1 if is_egress else -1]
    position = subject.position
    return SideVerdict(
        direction=side.direction,
        allowed=side.allowed,
        tier=side.tier,
        deciding=_views(network, side.deciding),
        passing=_views(network, side.passing),
        others=tuple(_others(network, connection, side, peer)),
        doubts=doubts_of(network, side, position, peer) if position is not None else (),
    )


def _views(network: Network, steps: tuple[Step, ...]) -> tuple[RuleView, ...]:
    return tuple(rule_view(network.index, step.policy, step.rule, step.action) for step in steps)


def _others(network: Network, connection: Connection, side: SideDecision, peer: Endpoint) -> Iterator[RuleView]:
    """Yield what each further policy would decide by itself."""
    known = {step.policy.ref for step in (*side.deciding, *side.passing)}
    for selecting in side.chain.policies:
        # NetworkPolicies add up: one that does not allow what another one allows says nothing against it.
        is_counted = side.tier == "NetworkPolicy" == selecting.policy.tier
        if selecting.policy.ref in known or is_counted:
            continue
        alone = _alone(selecting, side.chain)
        decision = decision_of(network, connection, alone, peer)
        if decision.steps:
            step = decision.steps[0]
            yield rule_view(network.index, step.policy, step.rule, step.action)


def _alone(selecting: Selecting, chain: Chain) -> Chain:
    """Return a chain of one policy."""
    tier, only = selecting.policy.tier, (selecting,)
    return Chain(
        direction=chain.direction,
        admin=(only,) if tier == "Admin" else (),
        network=only if tier == "NetworkPolicy" else (),
        baseline=(only,) if tier == "Baseline" else (),
    )
