"""New findings of a change: those that its base lacks, also undecided ones, which count as warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.lint.finding import Finding, Locate

# A message may sound certain.
_UNDECIDED: Final = " (undecided)"


def with_undecided(findings: Iterable[Finding], in_base: Iterable[Finding], locate: Locate) -> Iterator[Finding]:
    """Yield findings; an undecided one that the base has in no form counts, as a warning at the line of its field.

    The base has it in another form if the same is unknown there for another object of the namespace. An undecided
    finding of less than a warning is only a remark on what was read, and does not count.
    """
    known: set[object] = set()
    for finding in in_base:
        known |= {finding.fingerprint} if finding.certain else {finding.fingerprint, _unknown(finding)}
    for finding in findings:
        is_known = finding.fingerprint in known or _unknown(finding) in known
        if finding.counts or is_known or finding.severity_ == "info":
            yield finding
        else:
            yield replace(
                finding,
                is_likely=True,
                severity="warning",
                message=f"{finding.message}{_UNDECIDED}",
                origin=locate(finding.origin, finding.field),
            )


def _unknown(finding: Finding) -> tuple[str, str, str]:
    """Return what is unknown, and in which namespace that matters."""
    return finding.rule, finding.message, finding.subject.namespace if finding.subject else ""
