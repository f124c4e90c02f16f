"""Regular expressions compiled at first use: a command uses few of those that it imports."""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns; the expression is compiled when the first method is looked up."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))


class _LazyPattern(Generic[AnyStr]):
    """A regular expression that is compiled at first use; a method becomes an attribute once it was looked up."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (its methods)
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method
