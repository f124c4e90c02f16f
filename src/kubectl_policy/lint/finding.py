"""Rules, with their selection by settings, and their findings: problem, location, related objects, and a fix."""

from __future__ import annotations

from inspect import cleandoc
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Mapping

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.lint.settings import Level, LintSettings
    from kubectl_policy.model import Json, ObjectRef, Origin, Severity

# The worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")

# The number of related objects, if a finding concerns many in the same way.
MAX_RELATED: Final = 3
# The number of names in a list in a message.
_MAX_NAMES: Final = 3


class Related(Struct, frozen=True, kw_only=True):
    """Another object that a finding is about."""

    object: Annotated[ObjectRef, Meta(description="The other object.")]
    words: Annotated[str, Meta(description='The role of the object in the finding, for example "the listener".')] = ""
    field: Annotated[
        str, Meta(description="The dotted path of the relevant field in the object; empty if there is none.")
    ] = ""
    origin: Annotated[Origin | None, Meta(description="The location of the object; null if it was not read.")] = None


class Fix(Struct, frozen=True, kw_only=True):
    """A remedy for a finding; programs can apply one with a value or a manifest."""

    words: Annotated[str, Meta(description="The remedy, for people: name HTTPRoute shop/checkout.")]
    value: Annotated[
        str, Meta(description="The new value of the field; empty if a new value is not a complete remedy.")
    ] = ""
    manifest: Annotated[
        Mapping[str, Json] | None, Meta(description="The object to add; null if the remedy is not a new object.")
    ] = None


class Finding(Struct, frozen=True, kw_only=True):
    """A problem. The rule creates it; linting adds the rule, the worlds and the fingerprint."""

    rule: Annotated[str, Meta(description="The id of the rule.")] = ""
    name: Annotated[
        str, Meta(description="The name of the rule; empty if the rule is not among the checked rules.")
    ] = ""
    subject: ObjectRef | None
    field: Annotated[
        str, Meta(description="The dotted path of the field in the object; empty for the whole object.")
    ] = ""
    message: Annotated[str, Meta(description="The problem, without the name of the object.")]
    certain: bool = True
    """False if it may be wrong: something that decides it was not read."""
    reason: Annotated[str, Meta(description="The reason as the API spells it; empty if the API defines none.")] = ""
    severity: Severity | None = None
    """A rule sets it only if its findings have several; linting sets it for all."""
    origin: Annotated[Origin | None, Meta(description="The location of the finding; null if unknown.")] = None
    related: Annotated[tuple[Related, ...], Meta(description="Other objects that the finding is about.")] = ()
    fix: Annotated[Fix | None, Meta(description="A remedy; null if none is known.")] = None
    worlds: Annotated[
        tuple[str, ...],
        Meta(
            description="The inputs with the finding, if several inputs were linted separately; empty for all inputs."
        ),
    ] = ()
    fingerprint: Annotated[
        str, Meta(description="The identity of the finding across runs; unique within a report.")
    ] = ""

    @property
    def object(self) -> Annotated[ObjectRef | None, Meta()]:
        """The object of the finding; null if it is about something else, such as a file."""
        return self.subject

    @property
    def severity_(self) -> Annotated[Severity, Meta()]:
        """The severity of the finding."""
        return self.severity or "info"

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The identity of a finding across worlds."""
        return self.rule, self.subject, self.field, self.message, self.certain, self.severity, self.origin


def some(names: Collection[object]) -> str:
    """Return the first names of a list and the number of further ones: `a, b, c and 4 more`."""
    rest = len(names) - _MAX_NAMES
    return ", ".join(map(str, islice(names, _MAX_NAMES))) + (f" and {rest:,} more" if rest > 0 else "")


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
