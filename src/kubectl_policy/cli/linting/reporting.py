"""From what was read to a report: what is found, where that is written, and what of it was known before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_policy.cli.linting.places import Places
from kubectl_policy.errors import SourceError
from kubectl_policy.lint.baseline import baseline_text, compare, read_baseline
from kubectl_policy.lint.linting import found_in
from kubectl_policy.lint.report import Report
from kubectl_policy.lint.rules import RULES
from kubectl_policy.sources.places.comments import Comments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.cli.linting.project import Project
    from kubectl_policy.cli.linting.reading import ToLint
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.linting import Found
    from kubectl_policy.lint.settings import LintSettings


class Linting:
    """What is found in what was read, by the settings of a project."""

    def __init__(self, read: ToLint, settings: LintSettings, project: Project) -> None:
        """Lint it."""
        self._read, self._settings, self._project = read, settings, project
        self._places = Places(read.lines, read.renamed)
        comments = Comments(read.lines.text)
        self._found: Found = found_in(read.worlds, settings, self._places.locate, comments.of)

    def baseline(self) -> str:
        """The text of a file with all that is found and not suppressed, however little it is."""
        return baseline_text(filter(self._project.counts, self._found.findings))

    def report(self, baseline: str = "") -> Report:
        """What is to be said of it; what is in the file of a `baseline` is known, and what was found in the base.

        Raises `SourceError` for a baseline that cannot be read.
        """
        settings, read = self._settings, self._read
        checked = {rule.id for rule in RULES if settings.has(rule)}
        findings = [each for each in self._found.findings if self._project.counts(each)]
        earlier = [each for each in _kept(baseline) if each.rule in checked]
        if read.before:
            there = Places(read.lines_before, read.renamed)
            # What was suppressed there was there.
            earlier += [each for each in found_in(read.before, settings, there.locate).every if each.certain]
        compared = compare((each for each in findings if each.certain), earlier)
        now = {each.fingerprint for each in self._found.every}
        # What makes the command end with another exit code is always said.
        blinding = {rule.id for rule in RULES if rule.blinds}
        shown = [each for each in findings if settings.shows(each.severity or "info") or each.rule in blinding]
        new = {each.fingerprint for each in compared.new}
        worlds = read.worlds
        # What is of a cluster has its name for a source, and no lines.
        sources = {each.origin.source for world in worlds for each in world.resources if each.origin.line}
        return Report(
            findings=tuple(each for each in shown if each.certain and each.fingerprint in new),
            unknowns=tuple(each for each in shown if not each.certain),
            suppressed=self._found.suppressed,
            known=tuple(each for each in shown if each.certain and each.fingerprint not in new),
            # What is suppressed now is still there.
            fixed=tuple(each for each in compared.fixed if each.fingerprint not in now),
            since=read.base or baseline,
            rules=tuple(rule for rule in RULES if rule.id in checked),
            worlds=tuple(world.name for world in worlds if world.name),
            objects=len({each.ref for world in worlds for each in world.resources}),
            files=len(sources),
            settings=settings,
            place=worlds[0].analysis.index.place,
            closed=worlds[0].analysis.snapshot.complete,
            root=self._project.root,
            folder=str(Path.cwd()),
            texts=self._places.texts,
        )


def _kept(baseline: str) -> Sequence[Finding]:
    """The findings in the file of a baseline, if there is one."""
    if not baseline:
        return ()
    try:
        text = Path(baseline).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        hint = "kubectl policy lint --write-baseline FILE writes one"
        raise SourceError(f"cannot read the baseline {baseline}: {reason}", hint) from error
    return read_baseline(text, baseline)
