"""Columns of the tables of `get` for Pods and the controllers of Pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model.fields import text_at
from kubectl_policy.render.metadata_columns import UNKNOWN
from kubectl_policy.render.object_columns import object_columns
from kubectl_policy.render.output.columns import NOTHING, Column, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.questions.shared.selection import RowSort
    from kubectl_policy.questions.workload_rows import PodRow, WorkloadIsolation, WorkloadRow
    from kubectl_policy.render.output.columns import Cell


def _isolation(isolation: WorkloadIsolation | None, row: WorkloadRow) -> Cell:
    if isolation is None:
        return NOTHING
    if row.workload.host_network:
        return f"{UNKNOWN.text if isolation == 'unknown' else isolation} (host network)"
    return UNKNOWN if isolation == "unknown" else isolation


def _affected_by(row: WorkloadRow) -> tuple[str, ...]:
    """Name the policies, also those of which it is unknown whether they affect the object."""
    uncertain = (*row.listed.undecided_policies, *row.listed.possible_policies)
    return (*map(str, row.listed.policies), *(f"{ref} (undecided)" for ref in uncertain))


def _node(row: PodRow) -> Cell:
    """Return the node of a Pod; none if an API server says that it has none."""
    return row.node or ("" if text_at(row.raw, "metadata.uid") else UNKNOWN)


_CONNECTIONS: Final[tuple[Column[WorkloadRow], ...]] = (
    Column("INGRESS", lambda row: _isolation(row.workload.ingress, row), rank=1),
    Column("EGRESS", lambda row: _isolation(row.workload.egress, row), rank=1),
)
_MORE: Final[tuple[Column[WorkloadRow], ...]] = (
    Column("SERVICES", lambda row: tuple(ref.name for ref in row.workload.services), narrow=False),
    Column("AFFECTED BY", _affected_by, narrow=False),
)
_POD_STATUS: Final[Column[PodRow]] = Column("STATUS", lambda row: row.phase or UNKNOWN, rank=3)
_POD_PLACE: Final[tuple[Column[PodRow], ...]] = (
    Column("IP", lambda row: row.addresses or UNKNOWN, narrow=False),
    Column("NODE", _node, narrow=False),
    Column("CONTROLLER", lambda row: str(row.controller or ""), narrow=False),
)
_WORKLOAD: Final[tuple[Column[WorkloadRow], ...]] = (
    Column("KIND", lambda row: row.ref.kind, rank=2),
    Column("PODS", lambda row: number(len(row.workload.pods), complete=row.workload.has_all_pods), rank=3),
)


def _columns(*special: Column[Any], after: Sequence[Column[Any]]) -> tuple[Column[Any], ...]:
    """Return the columns of workloads, of which no reported conditions are read."""
    columns = object_columns(*special, after=after)
    return tuple(column for column in columns if column.title != "REPORTED")


WORKLOAD_COLUMNS: Final[Mapping[RowSort, tuple[Column[Any], ...]]] = {
    "pods": _columns(_POD_STATUS, after=(*_CONNECTIONS, *_POD_PLACE, *_MORE)),
    "workloads": _columns(*_WORKLOAD, after=(*_CONNECTIONS, *_MORE)),
}
