"""What a rule finds: where it is, what is wrong there, what else is concerned, and how it could be put right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Json, ObjectRef, Origin, Severity

# The worst first.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")

# Of a list in a message, so many are named.
_MOST_NAMED: Final = 3


class Related(Struct, frozen=True, kw_only=True):
    """Another object that a finding is about, and the field of it that matters, if one does.

    `words` say what it is there, as in `the listener`; `origin` is where it was read, None for what was not.
    """

    object: ObjectRef
    words: str = ""
    field: str = ""
    origin: Origin | None = None


class Fix(Struct, frozen=True, kw_only=True):
    """What would put it right, in `words` that say what to do (`name HTTPRoute shop/checkout`).

    It can be done by a program where it is a `value` to write in the place of the field of the finding, or a `manifest`
    to add, which may be empty.
    """

    words: str
    value: str = ""
    manifest: Mapping[str, Json] | None = None


class Finding(Struct, frozen=True, kw_only=True):
    """What is wrong, or may be where it is not `certain`, as what decides it was not read.

    A rule says the `message`, which has neither the name of the subject nor the field in it, the `subject`, which is
    None for what is no object, and the `field` of the subject that it is about, as a dotted path, empty for the whole.
    `reason` is the API's own word for it where it has one. What is said of no object has an `origin` all the same. A
    rule gives a `severity` only where it has several.

    The rest is added: the id of the `rule`, in which `worlds` of several it was found, none if in all of them, and the
    `fingerprint` by which it is known in other runs.
    """

    subject: ObjectRef | None
    message: str
    field: str = ""
    certain: bool = True
    reason: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None
    origin: Origin | None = None
    rule: str = ""
    worlds: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What two findings have in common that are the same, in whichever worlds."""
        return self.rule, self.subject, self.field, self.message, self.certain, self.severity, self.origin


def some(words: Sequence[str]) -> str:
    """The first of a list for a message, and how many more there are: `a, b, c and 4 more`."""
    rest = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
