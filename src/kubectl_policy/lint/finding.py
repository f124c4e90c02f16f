"""Findings of rules: the problem, its location, related objects, and a fix."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping

    from kubectl_policy.model import Json, ObjectRef, Origin, Resource, Severity

    # From where an object was read, and a field of it, to where that field is written, as far as it can be told.
    Locate = Callable[[Origin | None, str], Origin | None]

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
    certain: Annotated[
        bool, Meta(description="False if the finding may be wrong, because something that decides it was not read.")
    ] = True
    is_likely: bool = False
    """Whether it counts although it is not certain: a change adds it, or a name is probably misspelt."""
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
    def counts(self) -> bool:
        """Whether it can make a run fail."""
        return self.certain or self.is_likely

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The identity of a finding across worlds."""
        return self.rule, self.subject, self.field, self.message, self.certain, self.severity, self.origin


def before_change(older: Resource, newer: Resource) -> str:
    """` (it was there before this change)` where that is why one of two objects counts as the older one; else empty."""
    return " (it was there before this change)" if newer.is_added and not older.is_added else ""


def some(names: Collection[object]) -> str:
    """Return the first names of a list and the number of further ones: `a, b, c and 4 more`."""
    rest = len(names) - _MAX_NAMES
    return ", ".join(map(str, islice(names, _MAX_NAMES))) + (f" and {rest:,} more" if rest > 0 else "")
