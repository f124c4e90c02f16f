"""Rules: names, severities, needs, and selection by settings."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.settings import Level, LintSettings
    from kubectl_policy.model import Severity

# What must be known, beyond the objects in question, for a finding to be certain: that nothing else exists, what was
# reported by controllers, what a profile says of the kind, what the config file asks for, or what was before a change.
Need: TypeAlias = Literal["closed world", "status", "profile", "configuration", "base"]
_UNKNOWN_RULE: Final = "unknown-rule-id"
Check: TypeAlias = "Callable[[LintWorld], Iterator[Finding]]"


class Rule(Struct, frozen=True):
    """A rule; the docstring of its function is its documentation."""

    id: Annotated[str, Meta(description="The id of the rule; ids are never reused.")]
    severity: Annotated[
        Severity, Meta(description="The default severity of findings; a finding can have another severity.")
    ]
    check: Check
    needs: Annotated[tuple[Need, ...], Meta(description="The input that the rule needs.")] = ()
    guards: bool = False
    """Whether it is about security, such as settings that get lost."""
    blinds: bool = False
    """Whether it reports input that could not be linted, in which other rules found nothing."""

    @property
    def name(self) -> Annotated[str, Meta()]:
        """The name of the rule: `target-not-found`."""
        return getattr(self.check, "__name__", "").replace("_", "-")

    def exactness(self, name: str) -> int:
        """Return the length of the match of a name with the rule's name, ID, or prefix of the ID; 0 for none."""
        if name == self.name:
            return len(self.id)
        return len(name) if name.startswith("GWP") and self.id.startswith(name) else 0

    def is_called(self, name: str) -> bool:
        """Whether a name is the rule's name, its ID, or a prefix of the ID."""
        return self.exactness(name) > 0

    def _level_in(self, settings: LintSettings) -> Level | None:
        names = sorted(filter(self.is_called, settings.severities), key=self.exactness)
        return settings.severities[names[-1]] if names else None

    def severity_in(self, settings: LintSettings) -> Severity | None:
        """Return the severity that settings give to the rule, by its most exact name, or None."""
        level = self._level_in(settings)
        return None if level == "off" else level

    def is_checked(self, settings: LintSettings) -> bool:
        """Whether settings select the rule; the more exact one of a selecting and an ignoring name counts.

        The rule about unknown rule names is always selected, as a misspelt name selects nothing; so are the rules about
        input that could not be linted.
        """
        if self._level_in(settings) == "off":
            return False
        selected = max(map(self.exactness, settings.selected), default=1)
        ignored = max(map(self.exactness, settings.ignored), default=0)
        return (selected or self.blinds or self.name == _UNKNOWN_RULE) > ignored

    @property
    def summary(self) -> Annotated[str, Meta()]:
        """The mistake that the rule finds, in one sentence."""
        return cleandoc(self.check.__doc__ or "").partition("\n\n")[0].replace("\n", " ")

    @property
    def explanation(self) -> str:
        """The documentation after the summary."""
        return cleandoc(self.check.__doc__ or "").partition("\n\n")[2]


def lint_rule(
    id_: str, severity: Severity, *needs: Need, guards: bool = False, blinds: bool = False
) -> Callable[[Check], Rule]:
    """Make a rule of the function that checks it."""
    return lambda check: Rule(id_, severity, check, needs, guards=guards, blinds=blinds)
