"""Regular expressions that are compiled when they are first used: a command uses few of those that it imports."""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` makes of a text, once something is asked of it."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern(Generic[AnyStr]):
    """A regular expression that is not compiled yet; what it was asked for once is an attribute of its own."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (its methods)
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method
