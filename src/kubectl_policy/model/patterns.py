"""Regular expressions that are compiled when they are first used: a command uses few of those that it imports."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` makes of a text, once something is asked of it."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    """A regular expression that is not compiled yet; what it was asked for once is an attribute of its own."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (its methods)
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found
