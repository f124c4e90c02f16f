"""The report of `lint`: findings that count, findings that do not, and the scope."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.lint.finding import SEVERITIES, Finding
from kubectl_policy.lint.settings import LintSettings, Threshold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.lint.rule import Rule
    from kubectl_policy.model import Origin, Severity
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot

SuppressionForm: TypeAlias = Literal["annotation", "comment", "baseline"]


class Suppressed(Struct, frozen=True, kw_only=True):
    """A finding with the suppression that hides it."""

    how: Annotated[SuppressionForm, Meta(description="The form of the suppression.")]
    reason: Annotated[str, Meta(description="The reason of the suppression; empty if none is given.")] = ""
    finding: Annotated[Finding, Meta(description="The suppressed finding.")]


_WORLDS: Final = "The inputs that were linted separately, such as clusters; empty for a single input."
_SINCE: Final = "The baseline or base with which findings are compared; empty if none is given."
_UNKNOWN: Final = "Findings that cannot be decided, because objects or fields that decide them could not be read."


class Scope(Struct, frozen=True, kw_only=True):
    """The worlds and objects that were linted, and the baseline."""

    worlds: Annotated[tuple[str, ...], Meta(description=_WORLDS)] = ()
    since: Annotated[str, Meta(description=_SINCE)] = ""
    objects: Annotated[int, Meta(description="The number of linted objects.", ge=0)]
    files: Annotated[int, Meta(description="The number of files with these objects.", ge=0)] = 0
    is_open: bool = True
    """Whether manifests that were not given may decide more, as nobody said that there are none."""


class Checkout(Struct, frozen=True, kw_only=True):
    """The location of the repository and the lines of findings, for formats that need paths and columns."""

    root: str = ""
    """The absolute path at which the repository begins."""
    folder: str = ""
    """The absolute path of the folder to which the sources of origins are relative."""
    texts: Mapping[Origin, str] = field(default_factory=dict["Origin", str])
    """The lines that are known to have the fields of findings; they are never shown."""


class Report(Struct, frozen=True, kw_only=True):
    """The result of linting, sorted by file and line."""

    scope: Annotated[Scope, "inline"]
    findings: Annotated[tuple[Finding, ...], Meta(description="The findings that count.")]
    unknown: Annotated[tuple[Finding, ...], Meta(description=_UNKNOWN)] = ()
    known: Annotated[
        tuple[Finding, ...], Meta(description="Findings that do not count, because they are in the baseline or base.")
    ] = ()
    fixed: Annotated[
        tuple[Finding, ...], Meta(description="Findings of the baseline or base that no longer exist.")
    ] = ()
    suppressed: Annotated[tuple[Suppressed, ...], Meta(description="Suppressed findings; they do not count.")] = ()
    rules: Annotated[
        tuple[Rule, ...], Meta(description="The rules that were checked, with their severities in this run.")
    ]
    unseen: Annotated[
        tuple[BlindSpot, ...],
        Meta(description="Blind spots: input that could not be read and that may change the answer."),
    ] = ()
    settings: LintSettings = field(default_factory=LintSettings)
    checkout: Checkout = Checkout()

    @property
    def counts(self) -> Mapping[Severity, int]:
        """The number of findings of each severity, the worst first."""
        numbers = Counter(finding.severity for finding in self.findings)
        return {severity: numbers[severity] for severity in SEVERITIES}

    @property
    def errors(self) -> Annotated[int, Meta(ge=0)]:
        """The number of findings of this severity that count."""
        return self.counts["error"]

    @property
    def warnings(self) -> Annotated[int, Meta(ge=0)]:
        """The number of findings of this severity that count."""
        return self.counts["warning"]

    @property
    def infos(self) -> Annotated[int, Meta(ge=0)]:
        """The number of findings of this severity that count."""
        return self.counts["info"]

    @property
    def fail_on(self) -> Annotated[Threshold, Meta()]:
        """The lowest severity with which a finding fails the run."""
        return self.settings.fail_on

    @property
    def fails(self) -> Annotated[bool, Meta()]:
        """Whether a finding has at least the severity failOn, so that the run fails."""
        return any(number and self.settings.fails(severity) for severity, number in self.counts.items())

    @property
    def is_blind(self) -> bool:
        """Whether a finding says that something could not be linted."""
        blinding = {rule.id for rule in self.rules if rule.blinds}
        return any(finding.rule in blinding for finding in self.findings)

    @property
    def complete(self) -> Annotated[bool, Meta()]:
        """False if some findings could not be decided, because input could not be read."""
        return not (self.unknown or self.unseen) and all(finding.certain for finding in self.findings)
