"""Values of a class from strategies for its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

Class = TypeVar("Class")


def values_of(
    cls: Callable[..., Class], *arguments: st.SearchStrategy[object], **fields: st.SearchStrategy[object]
) -> st.SearchStrategy[Class]:
    """Like `builds`, which would resolve the types of all fields: they are imported for type checkers alone."""

    def make(*values: object, **named: object) -> Class:
        return cls(*values, **named)

    return st.builds(make, *arguments, **fields)
