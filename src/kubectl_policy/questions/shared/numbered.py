"""Numbers of paths, from 1, by which documents refer to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.topology import Path

PathNumber: TypeAlias = Annotated[int, Meta(ge=1)]


class NumberedPath(Struct, frozen=True):
    """A path with its number, by which the rest of the document refers to it."""

    number: Annotated[int, Meta(ge=1)]
    nodes: Annotated[Path, Meta(description="Least specific first, Namespaces included.")]


def numbered(paths: Iterable[Path]) -> tuple[NumberedPath, ...]:
    """Return paths with their numbers."""
    return tuple(NumberedPath(number, path) for number, path in enumerate(paths, 1))


def numbers(positions: Iterable[int]) -> tuple[PathNumber, ...]:
    """Return the numbers of the paths at some positions."""
    return tuple(position + 1 for position in positions)
