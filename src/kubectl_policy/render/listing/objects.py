"""The columns of the objects that policies affect, by their sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from kubectl_policy.render.listing.cells import distinct, reported
from kubectl_policy.render.output.columns import Column, Number, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.questions.listing.objects import (
        BackendRow,
        GatewayClassRow,
        GatewayRow,
        NamespaceRow,
        ObjectRow,
        RouteRow,
    )
    from kubectl_policy.questions.shared.selection import RowSort

_Object = TypeVar("_Object", bound="ObjectRow")


def _above(row: GatewayRow) -> str:
    return row.above.qualified_name if row.above else ""


def _attached(row: RouteRow) -> Number:
    states = [parent.state for parent in row.parents]
    attached, more = states.count("attached"), "+" if "unknown" in states else ""
    return Number(attached, f"{attached}{more} of {len(states)}")


def _affected(row: NamespaceRow) -> Number:
    held, affected = number(len(row.holds), complete=not row.listed.unseen), len(row.affected)
    complete = not row.unseen or (affected == held.value and not row.listed.unseen)
    return Number(affected, f"{number(affected, complete=complete).text} of {held.text}")


_GATEWAY_CLASS: Final[tuple[Column[GatewayClassRow], ...]] = (
    Column("CONTROLLER", lambda row: row.controller),
    Column("GATEWAYS", lambda row: number(len(row.gateways), complete=not row.listed.unseen)),
)
_LISTENERS: Final[tuple[Column[GatewayRow], ...]] = (
    Column("LISTENERS", lambda row: number(len(row.listeners))),
    Column("ROUTES", lambda row: number(len(row.routes), complete=not (row.undecided or row.listed.unseen))),
)
_ROUTE: Final[tuple[Column[RouteRow], ...]] = (
    Column("KIND", lambda row: row.ref.kind),
    Column("HOSTNAMES", lambda row: row.hostnames),
    Column("PARENTS", lambda row: distinct(str(parent.object) for parent in row.parents)),
    Column("ATTACHED", _attached),
)
_BACKEND: Final[Column[BackendRow]] = Column("REFERRED BY", lambda row: tuple(map(str, row.referred_by)))


def _targeted_by(row: ObjectRow) -> tuple[str, ...]:
    """The policies that name the object, with what is wrong with the reference if it fails."""
    states = ((str(it.policy), "" if it.state == "attached" else f" ({it.state})") for it in row.listed.attachments)
    return distinct(policy + state for policy, state in states)


def _policies(row: ObjectRow) -> Number:
    """How many policies affect the object; `1 to 3` where it is not known how some of them combine."""
    certain, undecided = len(row.listed.policies), len(row.listed.undecided)
    most = number(certain + undecided, complete=not row.listed.unseen)
    # Of those that are undecided, one holds at least.
    least = certain or min(undecided, 1)
    return Number(least, f"{least} to {most.text}") if most.value > least else most


def _object(*own: Column[_Object]) -> tuple[Column[_Object], ...]:
    return (
        Column("NAME", lambda row: row.ref.name),
        *own,
        Column("POLICIES", _policies),
        Column("TARGETED BY", _targeted_by, narrow=False),
        Column("REPORTED", lambda row: reported(row.listed.reported), narrow=False),
    )


OBJECT_COLUMNS: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "gateway classes": _object(*_GATEWAY_CLASS),
    "gateways": _object(Column("CLASS", _above), *_LISTENERS),
    "listener sets": _object(Column("GATEWAY", _above), *_LISTENERS),
    "routes": _object(*_ROUTE),
    "backends": _object(_BACKEND),
    "namespaces": _object(Column("AFFECTED", _affected)),
}
