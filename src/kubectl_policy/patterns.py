"""Regular expressions compiled at first use: a command uses few of those that it imports."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns; the expression is compiled when the first method is looked up."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    """A regular expression that is compiled at first use; a method becomes an attribute once it was looked up."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (its methods)
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method
