"""Outlines of objects: what rules of Gateway API can tell of them, so that objects alike are evaluated once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from kubectl_policy.model import Json

Outline: TypeAlias = "Hashable"

_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORD: Final = re.compile(r"(?<![%0-9A-Za-z])[a-z][a-z0-9]*(?![0-9A-Za-z])")
# Rules limit the lengths of texts.
_MAX_LENGTH: Final = 50


def words_in(rules: str) -> frozenset[str]:
    """Return the words in the literals of rules, with which they compare values."""
    return frozenset(_WORD.findall(" ".join(_QUOTED.findall(rules))))


def outline(value: Json, kept: frozenset[str]) -> Outline:
    """Return a value in which words in lower case are numbered, but for those that are `kept`.

    The rules of Gateway API compare texts with each other and with literals, and match patterns in which a letter is as
    good as any other; so they hold for all values with the same outline, or for none.
    """
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        word = match[0]
        return word if word in kept else numbers.setdefault(word, f"w{len(numbers)}")

    def outlined(value: Json) -> Outline:
        if isinstance(value, str):
            return value if len(value) > _MAX_LENGTH else _WORD.sub(numbered, value)
        # The abstract type is the slower one to tell.
        if isinstance(value, dict | Mapping):
            return tuple([(key, outlined(inner)) for key, inner in value.items()])
        if isinstance(value, list | tuple):
            return tuple(map(outlined, value))
        return type(value), value

    return outlined(value)
