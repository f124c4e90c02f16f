"""Columns of the tables of `get` for objects that are neither policies nor workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from kubectl_policy.questions.object_rows import ListenerRow
from kubectl_policy.render.metadata_columns import (
    UNKNOWN,
    accepted_column,
    age_column,
    distinct,
    reported_phrases,
    status_style,
)
from kubectl_policy.render.output.columns import Column, Number, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.questions.object_rows import (
        BackendRow,
        GatewayClassRow,
        GatewayRow,
        NamespaceRow,
        ObjectRow,
        RouteRow,
    )
    from kubectl_policy.questions.shared.selection import RowSort

_Object = TypeVar("_Object", bound="ObjectRow")


def _routes(row: GatewayRow | ListenerRow) -> Number:
    return number(len(row.routes), complete=not (row.undecided_routes or row.listed.unseen))


def _above(row: GatewayRow) -> str:
    return row.above.qualified_name if row.above else ""


def _attached(row: RouteRow) -> Number:
    states = [parent.state for parent in row.parents]
    attached, mark_ = states.count("attached"), "+" if "unknown" in states else ""
    return Number(attached, f"{attached}{mark_} of {len(states)}")


def _affected(row: NamespaceRow) -> Number:
    held, affected = number(len(row.holds), complete=not row.listed.unseen), len(row.affected)
    complete = not row.unseen or (affected == held.value and not row.listed.unseen)
    return Number(affected, f"{number(affected, complete=complete).text} of {held.text}")


_GATEWAY_CLASS: Final[tuple[Column[GatewayClassRow], ...]] = (
    Column("CONTROLLER", lambda row: row.controller),
    Column("ACCEPTED", lambda row: row.accepted or UNKNOWN, style=lambda row: status_style(row.accepted)),
    Column("GATEWAYS", lambda row: number(len(row.gateways), complete=not row.listed.unseen)),
)
_LISTENERS: Final[tuple[Column[GatewayRow], ...]] = (
    Column("PORTS", lambda row: tuple(map(str, row.ports)), rank=2),
    Column("PROGRAMMED", lambda row: row.programmed or UNKNOWN, rank=3, style=lambda row: status_style(row.programmed)),
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
    accepted_column(lambda row: row.listed.reported, rank=4),
)
_BACKEND: Final[tuple[Column[BackendRow], ...]] = (
    Column("ROUTES", lambda row: number(len(row.referred_by), complete=not row.listed.unseen), rank=1),
    Column("REFERRED BY", lambda row: tuple(map(str, row.referred_by)), narrow=False),
)
_SERVICE: Final[tuple[Column[BackendRow], ...]] = (
    Column("TYPE", lambda row: row.type, rank=3),
    Column("PORTS", lambda row: row.ports, rank=2),
    *_BACKEND,
)
_NAMESPACE: Final[tuple[Column[NamespaceRow], ...]] = (
    Column("STATUS", lambda row: row.phase or UNKNOWN),
    Column("AFFECTED", _affected),
)


def _targeted_by(row: ObjectRow) -> tuple[str, ...]:
    """Return the policies that name the object, with what is wrong with the reference if it fails."""
    return distinct(f"{it.policy}{'' if it.state == 'attached' else f' ({it.state})'}" for it in row.listed.targeted_by)


def _policies(row: ObjectRow) -> Number:
    """Count the policies that affect an object; `1 to 3` where it is not known of some of them whether they do."""
    certain, undecided = len(row.listed.policies), len(row.listed.undecided_policies)
    maximum = number(certain + undecided + len(row.listed.possible_policies), complete=not row.listed.unseen)
    # Of those of which it is not known how they combine, one holds at least.
    least = certain or min(undecided, 1)
    return Number(least, f"{least} to {maximum.text}") if maximum.value > least else maximum


def object_columns(*special: Column[_Object], after: Sequence[Column[_Object]] = ()) -> tuple[Column[_Object], ...]:
    """Return the columns of objects with special ones before, and others after, the number of policies."""
    return (
        Column("NAME", lambda row: row.listener.name if isinstance(row, ListenerRow) else row.ref.name),
        *special,
        Column("POLICIES", _policies),
        *after,
        age_column(lambda row: row.listed.resource),
        Column("TARGETED BY", _targeted_by, narrow=False),
        Column("REPORTED", lambda row: reported_phrases(row.listed.reported), narrow=False),
    )


OBJECT_COLUMNS: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "gateway classes": object_columns(*_GATEWAY_CLASS),
    "gateways": object_columns(*_GATEWAY),
    "listener sets": object_columns(Column("GATEWAY", _above, rank=1), *_LISTENERS),
    "listeners": object_columns(*_LISTENER),
    "routes": object_columns(*_ROUTE),
    "backends": object_columns(*_BACKEND),
    "namespaces": object_columns(*_NAMESPACE),
}
SERVICE_COLUMNS: Final = object_columns(*_SERVICE)
