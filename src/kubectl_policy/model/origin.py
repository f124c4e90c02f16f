"""Where something was read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A file and a line (from 1), or a cluster context with line 0."""

    source: str
    line: int = 0

    def __str__(self) -> str:
        """`file:line`, as compilers print it."""
        return f"{self.source}:{self.line}" if self.line else self.source
