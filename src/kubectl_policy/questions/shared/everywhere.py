"""What is in force at every place below an object, way by way: for those who decide by it, such as a check in CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from kubectl_policy.questions.shared.in_force import effective_entries

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, NodeRef
    from kubectl_policy.resolution import EffectivePolicy
    from kubectl_policy.topology import Path


class WayInForce(Struct, frozen=True, kw_only=True):
    """What is in force on one way: a full path from the root down to a rule, a backend, or wherever it ends.

    `effective` has an effective policy for each kind that is in force there, or may be: what is not decided is in its
    `resolution.policies_undecided`. If it carries no traffic, as a route that is attached to nothing, nothing is.
    """

    path: Path
    carries_traffic: bool
    effective: tuple[EffectivePolicy, ...]


def in_force(analysis: Analysis, node: NodeRef, kind: GroupKind | None = None) -> tuple[WayInForce, ...]:
    """What is in force at every rule and backend below an object, or a section of it; of one policy kind, if given.

    There is an entry for each way through it, also where nothing is in force: "all requests to this route need JWT" is
    a question about all of them. Raises `NotFoundError` for an object that was not read, for a section that it has not,
    and for a kind that is no policy kind.
    """
    analysis.require(node)
    if kind is not None:
        analysis.require_kind(kind)
    paths = analysis.topology.paths_through(node)
    by_path: dict[int, list[EffectivePolicy]] = {}
    for entry in effective_entries(analysis, node, paths, kind):
        # Where all that stands there is refused or ignored, nothing is in force.
        if entry.effective.spec or entry.effective.policies_in_force():
            by_path.setdefault(entry.path, []).append(entry.effective)
    carrying = [analysis.topology.carries_traffic(path) for path in paths]
    return tuple(
        WayInForce(path=path, carries_traffic=carries, effective=tuple(by_path.get(place, ())) if carries else ())
        for place, (path, carries) in enumerate(zip(paths, carrying, strict=True))
    )
