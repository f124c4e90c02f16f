"""The columns of the objects that policies affect, by their sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace

from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.questions.listing.objects import ListenerRow
from kubectl_policy.render.listing.cells import UNKNOWN, distinct, reported
from kubectl_policy.render.output.columns import Column, Number, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.questions.listing.objects import (
        BackendRow,
        GatewayClassRow,
        GatewayRow,
        NamespaceRow,
        ObjectRow,
        RouteRow,
    )
    from kubectl_policy.questions.shared.selection import ListType, RowSort
    from kubectl_policy.render.output.text import Style

_Object = TypeVar("_Object", bound="ObjectRow")


def _name(row: ObjectRow) -> str:
    return row.name if isinstance(row, ListenerRow) else row.ref.name


def _routes(row: GatewayRow | ListenerRow) -> Number:
    return number(len(row.routes), complete=not (row.undecided_routes or row.listed.unseen))


def _style(status: str) -> Style:
    """Of a condition that is reported."""
    return "error" if status == "False" else "value" if status == "True" else ""


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
    Column("ACCEPTED", lambda row: row.accepted or UNKNOWN, style=lambda row: _style(row.accepted)),
    Column("GATEWAYS", lambda row: number(len(row.gateways), complete=not row.listed.unseen)),
)
_LISTENERS: Final[tuple[Column[GatewayRow], ...]] = (
    Column("PORTS", lambda row: tuple(map(str, row.ports)), rank=2),
    Column("PROGRAMMED", lambda row: row.programmed or UNKNOWN, rank=3, style=lambda row: _style(row.programmed)),
    Column("LISTENERS", lambda row: number(len(row.listeners)), rank=4),
    Column("ROUTES", _routes, rank=1),
)
_GATEWAY: Final[tuple[Column[GatewayRow], ...]] = (
    Column("CLASS", _above, rank=1),
    Column("ADDRESSES", lambda row: UNKNOWN if row.addresses is None else row.addresses, rank=5),
    *_LISTENERS,
)
_LISTENER: Final[tuple[Column[ListenerRow], ...]] = (
    Column("OF", lambda row: f"{row.ref.kind} {row.ref.name}"),
    Column("HOSTNAME", lambda row: row.listener.hostname or "*"),
    Column("PORT", lambda row: "" if row.listener.port is None else str(row.listener.port)),
    Column("PROTOCOL", lambda row: row.listener.protocol, rank=1),
    Column("ROUTES", _routes),
)
_ROUTE: Final[tuple[Column[RouteRow], ...]] = (
    Column("KIND", lambda row: row.ref.kind, rank=3),
    Column("HOSTNAMES", lambda row: row.hostnames, rank=1),
    Column("PARENTS", lambda row: distinct(str(parent.object) for parent in row.parents), rank=2),
    Column("ATTACHED", _attached),
)
_BACKEND: Final[Column[BackendRow]] = Column("REFERRED BY", lambda row: tuple(map(str, row.referred_by)), rank=1)
_SERVICE: Final[tuple[Column[BackendRow], ...]] = (
    Column("TYPE", lambda row: row.type, rank=3),
    Column("PORTS", lambda row: row.ports, rank=2),
    _BACKEND,
)
_NAMESPACE: Final[tuple[Column[NamespaceRow], ...]] = (
    Column("STATUS", lambda row: row.phase or UNKNOWN),
    Column("AFFECTED", _affected),
)


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
        Column("NAME", _name),
        *own,
        Column("POLICIES", _policies),
        Column("TARGETED BY", _targeted_by, narrow=False),
        Column("REPORTED", lambda row: reported(row.listed.reported), narrow=False),
    )


_OF_SORT: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "gateway classes": _object(*_GATEWAY_CLASS),
    "gateways": _object(*_GATEWAY),
    "listener sets": _object(Column("GATEWAY", _above, rank=1), *_LISTENERS),
    "listeners": _object(*_LISTENER),
    "routes": _object(*_ROUTE),
    "backends": _object(_BACKEND),
    "namespaces": _object(*_NAMESPACE),
}
# What stands in the status, as it is reported.
_REPORTED: Final = frozenset({"ACCEPTED", "ADDRESSES", "PROGRAMMED", "STATUS"})
_SERVICES: Final = _object(*_SERVICE)


def object_columns(type_: ListType, rows: Sequence[ObjectRow]) -> tuple[Column[Any], ...]:
    """The columns of objects of a type; what only Services have is left out for other backends.

    What is reported is for the wide table alone where nothing is reported of any of the rows.
    """
    columns: tuple[Column[Any], ...] = _SERVICES if type_.kinds == (SERVICE,) else _OF_SORT[type_.rows]
    return tuple(
        replace(column, narrow=False)
        if column.title in _REPORTED and all(column.cell(row) == UNKNOWN for row in rows)
        else column
        for column in columns
    )
