"""What an answer could not see, and what would show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, Origin
    from kubectl_policy.resolution import Enforcement


@dataclass(frozen=True, slots=True)
class Unseen:
    """Something that was not read: what it is, why, and the file or permission that would show it."""

    what: str
    reason: str
    remedy: str
    origin: Origin | None = None


def unseen_for(analysis: Analysis, subject: NodeRef) -> tuple[Unseen, ...]:
    """What the answer about a subject could not see, each once."""
    return tuple(dict.fromkeys([*gaps(analysis), *_unknown_parents(analysis, subject)]))


def unseen_for_policy(analysis: Analysis, enforcement: Enforcement) -> tuple[Unseen, ...]:
    """What the answer about a policy could not see: in an open world, also what may be below a target of no effect."""
    return tuple(dict.fromkeys([*gaps(analysis), *_below_targets(analysis, enforcement)]))


def _below_targets(analysis: Analysis, enforcement: Enforcement) -> Iterator[Unseen]:
    if enforcement.state != "NoEffect" or analysis.snapshot.complete:
        return
    for attachment in analysis.attachments[enforcement.policy]:
        target = attachment.target if attachment.state == "attached" else None
        if target and any(analysis.topology.carries_traffic(path) for path in analysis.topology.ends(target)):
            remedy = "add the manifests that hold it, or --complete if there is nothing"
            yield Unseen(f"what is below {target}", "nothing of it was read", remedy)


def gaps(analysis: Analysis) -> Iterator[Unseen]:
    """What could not be read at all."""
    for gap in analysis.snapshot.gaps:
        kinds = gap.kind or "objects of any kind"
        where = f" in namespace {gap.namespace}" if gap.namespace else ""
        yield Unseen(f"{kinds}{where}", gap.reason, "mend or leave out this input", gap.origin)


def _unknown_parents(analysis: Analysis, subject: NodeRef) -> Iterator[Unseen]:
    for binding in analysis.topology.bindings(subject.object):
        if binding.state == "unknown":
            yield Unseen(str(binding.parent), binding.message, "add the manifest that holds it")
