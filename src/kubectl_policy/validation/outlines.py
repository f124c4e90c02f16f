"""Outlines of objects: what definitions of Gateway API can tell of them, so that objects alike are checked once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from kubectl_policy.model import Json

Outline: TypeAlias = "Hashable"

_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
# A word in lower case, with digits and hyphens inside.
_WORD: Final = re.compile(r"(?<![%0-9A-Za-z])([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![0-9A-Za-z])")
# Definitions limit the lengths of longer texts alone.
_MAX_LENGTH: Final = 63


def words_in(rules: str) -> frozenset[str]:
    """Return the words in the literals of rules, with which they compare values."""
    return frozenset(_WORD.findall(" ".join(_QUOTED.findall(rules))))


def outline(value: Json, kept: frozenset[str]) -> Outline:
    """Return a value in which words in lower case are numbered, but for those that are `kept`.

    The definitions of Gateway API compare texts with each other and with literals, and match patterns in which a word
    is as good as any other with hyphens, or without; so they hold for all values with the same outline, or for none.
    """
    texts: list[str] = []

    def shape(value: Json) -> Outline:
        if isinstance(value, str):
            # Schemes of URLs are words that patterns tell apart.
            if len(value) > _MAX_LENGTH or ":" in value or "\n" in value:
                return value
            texts.append(value)
            return ""
        # The abstract type is the slower one to tell.
        if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 (a union is slower to tell)
            return (*value, None, *map(shape, value.values()))
        if isinstance(value, list | tuple):
            return (*map(shape, value),)
        return type(value), value

    shaped = shape(value)
    # Every other part is a word.
    parts = _WORD.split("\n".join(texts))
    numbers: dict[str, int] = {}
    words = [
        word if word in kept else numbers.setdefault(word, ~len(numbers) if "-" in word else len(numbers))
        for word in parts[1::2]
    ]
    return shaped, tuple(parts[::2]), tuple(words)
