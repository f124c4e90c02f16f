"""Try edits on the input: the connections after them, and whether an API server accepts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.comparison import what_if
from kubectl_policy.network.admission import rejections
from kubectl_policy.network.cluster_admission import cluster_rejections
from kubectl_policy.network.kinds import EVALUATED_KINDS, NETWORK_POLICY
from kubectl_policy.questions.why_not.checked import CheckedEdit, are_valid, is_defined, origin_of

if TYPE_CHECKING:
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import Resource
    from kubectl_policy.questions.why_not.connections.case import ConnectionCase
    from kubectl_policy.questions.why_not.edits import Edit


class Candidate(Struct, frozen=True):
    """An edit that may help, with the other objects that change because of it: the Pods of a template."""

    edit: Edit
    implied: tuple[Resource, ...] = ()


class Trial(Struct, frozen=True):
    """Edits that were made in a copy of the input."""

    candidates: tuple[Candidate, ...]
    comparison: StateComparison
    # The case after the edits.
    case: ConnectionCase

    @property
    def size(self) -> int:
        """The number of lines that it takes to write the edits down."""
        return sum(candidate.edit.size for candidate in self.candidates)

    @property
    def edits(self) -> tuple[CheckedEdit, ...]:
        """The edits as answers show them."""
        after = self.case.analysis
        return tuple(
            CheckedEdit(
                edit.before,
                edit.after,
                origin=origin_of(edit),
                defined=edit.object.group_kind == NETWORK_POLICY or is_defined(edit, after),
            )
            for edit in (candidate.edit for candidate in self.candidates)
        )


def try_out(case: ConnectionCase, *candidates: Candidate) -> Trial | None:
    """Make edits in a copy of the input; None if they are not valid, or an end has no workloads after them."""
    edits = [candidate.edit for candidate in candidates]
    applied = [*(edit.after for edit in edits if edit.after), *(pod for each in candidates for pod in each.implied)]
    if any(map(_is_rejected, applied)):
        return None
    comparison = what_if(case.analysis, applied=applied)
    after = case.in_state(comparison.after)
    is_valid = after and are_valid(comparison.before, comparison.after, edits)
    return Trial(candidates, comparison, after) if after and is_valid else None


def _is_rejected(resource: Resource) -> bool:
    """Whether an API server rejects a network policy."""
    kind = resource.ref.group_kind
    if kind not in EVALUATED_KINDS:
        return False
    return any(rejections(resource.raw) if kind == NETWORK_POLICY else cluster_rejections(resource))
