"""What alone is asked for in a description: policies of some kinds, and fields that begin in some way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeVar

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import GroupKind


class WithField(Protocol):
    """What is about a field, as its policy writes it."""

    @property
    def field(self) -> str:
        """The field: `timeout.request`, `rules[0].limit`."""
        ...


_Named = TypeVar("_Named", bound=WithField)


class Focus(Struct, frozen=True, kw_only=True):
    """What alone is asked for."""

    kinds: Annotated[tuple[GroupKind, ...], Meta(description="The kinds of policies; empty for all.")] = ()
    fields: Annotated[tuple[str, ...], Meta(description="What the fields begin with; empty for all.")] = ()

    def has_kind(self, kind: GroupKind) -> bool:
        """Whether policies of a kind are asked for."""
        return not self.kinds or kind in self.kinds

    def has_field(self, field: str) -> bool:
        """Whether a field is asked for: `timeout` has `timeout.http`, and `rules` has `rules[0].limit`."""
        return not self.fields or any(
            field == name or field.startswith((f"{name}.", f"{name}[")) for name in self.fields
        )

    def of(self, fields: Iterable[_Named]) -> tuple[_Named, ...]:
        """Those of some fields that are asked for."""
        return tuple(each for each in fields if self.has_field(each.field))


EVERYTHING: Final = Focus()
