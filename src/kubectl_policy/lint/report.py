"""What linting says: the findings that count and those that do not, and how much was looked at."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

from kubectl_policy.lint.finding import SEVERITIES
from kubectl_policy.lint.settings import LintSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.model import Origin, Severity
    from kubectl_policy.model.snapshot import Place
    from kubectl_policy.questions.unseen.things import Unseen

How: TypeAlias = Literal["annotation", "comment", "baseline"]


class Suppressed(Struct, frozen=True, kw_only=True):
    """A finding that does not count since somebody said so, by an annotation say, and the reason if one was given."""

    finding: Finding
    how: How
    reason: str = ""


class Report(Struct, frozen=True, kw_only=True):
    """What linting says; all findings are by file and line, and have a fingerprint each.

    `findings` are what counts. `unknowns` could not be decided; what was `suppressed` does not count, nor what is
    `known` from the baseline or the base that the program was told, `since` which some may be `fixed`: that is their
    name, empty where nothing was told. There may be several `worlds`, such as clusters, of which each finding says in
    which it is.

    `rules` are those that were checked, of so many `objects` in so many `files`. `unseen` is what rules could not see;
    the world is `closed` if somebody said that there is nothing else.

    Origins are as the program was told of files. `root` is where their repository begins, and `folder` where the
    program was started, both as absolute paths, for what knows files from the root on. `texts` are the lines on which
    the fields of findings are known to be, for what knows columns: they are never shown.
    """

    findings: tuple[Finding, ...]
    rules: tuple[Rule, ...]
    objects: int
    files: int = 0
    unknowns: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    known: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    since: str = ""
    worlds: tuple[str, ...] = ()
    settings: LintSettings = field(default_factory=LintSettings)
    place: Place = "the input"
    unseen: tuple[Unseen, ...] = ()
    closed: bool = False
    root: str = ""
    folder: str = ""
    texts: Mapping[Origin, str] = field(default_factory=dict["Origin", str])

    @property
    def counts(self) -> Mapping[Severity, int]:
        """How many findings that count there are of each severity, the worst first."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in SEVERITIES}

    @property
    def fails(self) -> bool:
        """Whether anything is so bad that a run is to fail."""
        return any(number and self.settings.fails(severity) for severity, number in self.counts.items())

    @property
    def is_blind(self) -> bool:
        """Whether something that should have been linted could not be, and nobody said that this is known."""
        blinding = {rule.id for rule in self.rules if rule.blinds}
        return any(finding.rule in blinding for finding in self.findings)

    @property
    def complete(self) -> bool:
        """Whether all that was to be checked could be."""
        return not (self.unknowns or self.unseen)
