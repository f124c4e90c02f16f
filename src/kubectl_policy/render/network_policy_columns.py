"""Columns of the tables of `get` for network policies that are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_policy.render.output.columns import Column, Number, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.questions.network_policy_rows import NetworkPolicyRow

# Columns of policies of all kinds that say something of network policies.
_SHARED = ("NAME", "KIND", "ENFORCEMENT", "REASON", "AGE", "REPORTED", "CREATED")


def network_policy_columns(columns: Iterable[Column[Any]], rows: Sequence[NetworkPolicyRow]) -> Iterator[Column[Any]]:
    """Yield columns of policies that say something of network policies, and those that only these have.

    Tiers and priorities are in the table only where these say more than the kind.
    """
    has_tiers = any(row.summary.tier != "NetworkPolicy" for row in rows)
    has_priorities = any(row.summary.priority is not None for row in rows)
    for column in columns:
        if column.title in _SHARED:
            yield column
        if column.title == "KIND":
            yield Column("TIER", _tier, narrow=has_tiers, rank=2)
            yield Column("PRIORITY", _priority, narrow=has_priorities, rank=2)
        elif column.title == "ENFORCEMENT":
            yield Column("SELECTS", _selects, rank=1)
            yield Column("DIRECTIONS", _directions, rank=3)
            yield Column("RULES", _rules, rank=4)


def _tier(row: NetworkPolicyRow) -> str:
    return row.summary.tier


def _priority(row: NetworkPolicyRow) -> str | Number:
    return "" if row.summary.priority is None else number(row.summary.priority)


def _selects(row: NetworkPolicyRow) -> Number:
    """Count workloads: `2`; `2+` if there may be others that were not read, `2 to 5` if 3 are undecided."""
    least = row.summary.selects
    maximum = number(least + row.summary.may_select, complete=not row.summary.may_select_unread)
    return Number(least, f"{least} to {maximum.text}") if maximum.value > least else maximum


def _directions(row: NetworkPolicyRow) -> tuple[str, ...]:
    return tuple(direction.title() for direction in row.summary.directions)


def _rules(row: NetworkPolicyRow) -> Number:
    return number(row.summary.ingress_rules + row.summary.egress_rules)
