"""Objects that the input contains more than once (GWP0006)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.lint.finding import Finding, Related
from kubectl_policy.lint.rule import lint_rule
from kubectl_policy.lint.rules.inputs import DUPLICATES, finding_of
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Diagnostic


@lint_rule("GWP0006", "warning")
def duplicate_object(world: LintWorld) -> Iterator[Finding]:
    """The input contains an object more than once.

    Which version is applied last depends on the order of applying; the other findings are about the version that the
    message names. Each file has one finding, with its other duplicates as related objects. The finding is an info if
    the versions have the same contents, or if several have other contents, because such files are probably
    alternatives. Objects for different clusters, and objects in directories that are applied separately, are not
    reported.

    Source: kustomize, "may not add resource with an already registered id".
    """
    noted = [diagnostic for diagnostic in world.snapshot.diagnostics if diagnostic.rule in DUPLICATES]
    by_file = grouped((diagnostic.origin.source if diagnostic.origin else "", diagnostic) for diagnostic in noted)
    for duplicates in by_file.values():
        yield _duplicates_of_file(duplicates)


def _duplicates_of_file(duplicates: Sequence[Diagnostic]) -> Finding:
    differing = [duplicate for duplicate in duplicates if duplicate.severity != "info"]
    first, *rest = sorted(duplicates, key=lambda duplicate: duplicate.severity == "info")
    finding = finding_of(first)
    if not rest:
        return finding
    objects = f"{len(rest)} more objects of this file are" if len(rest) > 1 else "another object of this file is"
    alternatives = "; if the files are alternatives, name one of them" if len(differing) > 1 else ""
    return replace(
        finding,
        message=f"{finding.message}; {objects} in other files as well{alternatives}",
        severity="info" if alternatives else finding.severity,
        related=tuple(
            Related(object=duplicate.subject, words="in several files", origin=duplicate.origin)
            for duplicate in rest
            if duplicate.subject
        ),
    )
