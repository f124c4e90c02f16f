"""Findings of rules: the problem, its location, related objects, and a fix."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from kubectl_policy.model import Json, ObjectRef, Origin, Severity

# The worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")

# The number of related objects, if a finding concerns many in the same way.
MAX_RELATED: Final = 3
# The number of names in a list in a message.
_MAX_NAMES: Final = 3


class Related(Struct, frozen=True, kw_only=True):
    """Another object that a finding is about."""

    object: Annotated[ObjectRef, Meta()]
    words: Annotated[str, Meta(description="What it has to do with the finding: the listener.")] = ""
    field: Annotated[str, Meta(description="The dotted path in it that matters; empty if none does.")] = ""
    origin: Annotated[Origin | None, Meta(description="Where it was read; null if it was not.")] = None


class Fix(Struct, frozen=True, kw_only=True):
    """A remedy for a finding; programs can apply one with a value or a manifest."""

    words: Annotated[str, Meta(description="What to do, for people: name HTTPRoute shop/checkout.")]
    value: Annotated[
        str, Meta(description="What to write in the place of the field; empty if that is not all there is to do.")
    ] = ""
    manifest: Annotated[
        Mapping[str, Json] | None, Meta(description="An object to add; null if that is not what is to be done.")
    ] = None


class Finding(Struct, frozen=True, kw_only=True):
    """A problem. The rule creates it; linting adds the rule, the worlds and the fingerprint."""

    rule: Annotated[str, Meta(description="The id of the rule.")] = ""
    name: Annotated[str, Meta(description="The name of the rule; empty if it is none of those that were checked.")] = ""
    subject: ObjectRef | None
    field: Annotated[str, Meta(description="The dotted path in the object; empty for the whole.")] = ""
    message: Annotated[str, Meta(description="What is wrong with it, without its name.")]
    certain: bool = True
    """False if it may be wrong: something that decides it was not read."""
    reason: Annotated[str, Meta(description="The API's own word for it, if it has one.")] = ""
    severity: Severity | None = None
    """A rule sets it only if its findings have several; linting sets it for all."""
    origin: Annotated[Origin | None, Meta()] = None
    related: Annotated[tuple[Related, ...], Meta(description="What else it is about.")] = ()
    fix: Annotated[Fix | None, Meta()] = None
    worlds: Annotated[tuple[str, ...], Meta(description="In which of several worlds it is; empty if in all.")] = ()
    fingerprint: Annotated[str, Meta(description="What it is known by in other runs; no two have the same.")] = ""

    @property
    def object(self) -> Annotated[ObjectRef | None, Meta()]:
        """What it is about; null for what is no object, such as a file."""
        return self.subject

    @property
    def severity_(self) -> Annotated[Severity, Meta()]:
        """How bad it is."""
        return self.severity or "info"

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The identity of a finding across worlds."""
        return self.rule, self.subject, self.field, self.message, self.certain, self.severity, self.origin


def some(names: Collection[object]) -> str:
    """Return the first names of a list and the number of further ones: `a, b, c and 4 more`."""
    rest = len(names) - _MAX_NAMES
    return ", ".join(map(str, islice(names, _MAX_NAMES))) + (f" and {rest:,} more" if rest > 0 else "")
