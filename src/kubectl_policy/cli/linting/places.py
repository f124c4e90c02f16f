"""Where what is found is written: the lines of fields, and what stands on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import FieldPath, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.sources import Lines


class Places:
    """Looks up the lines of fields, each once, and remembers those on which fields really are."""

    def __init__(self, lines: Lines, renamed: Callable[[str], str]) -> None:
        """Go by the lines of what was read; files are `renamed` to what people know them by."""
        self._lines, self._renamed = lines, renamed
        self._known: dict[tuple[Origin, str], Origin] = {}
        self._names: dict[str, str] = {}
        self._exact: set[Origin] = set()

    def locate(self, origin: Origin | None, field: str) -> Origin | None:
        """The line of a field of an object, else of what it would stand in, else of the object."""
        if origin is None:
            return None
        if field and origin.line:
            if (origin, field) not in self._known:
                self._known[origin, field] = self._located(origin, field)
            origin = self._known[origin, field]
        source = origin.source
        if source not in self._names:
            self._names[source] = self._renamed(source)
        name = self._names[source]
        return origin if name == source else Origin(name, origin.line)

    def _located(self, origin: Origin, field: str) -> Origin:
        try:
            steps = FieldPath.parse(field).steps
        except ValueError:
            # No path says a key with a quote in it.
            return origin
        for length in range(len(steps), 0, -1):
            line = self._lines.locate(origin, FieldPath(steps[:length]))
            if line:
                found = Origin(origin.source, line)
                if length == len(steps):
                    self._exact.add(found)
                return found
        return origin

    @property
    def texts(self) -> Mapping[Origin, str]:
        """What stands on the lines on which fields are, as far as it can be read again."""
        texts: dict[str, Sequence[str]] = {}
        found: dict[Origin, str] = {}
        for origin in self._exact:
            if origin.source not in texts:
                texts[origin.source] = self._lines.text(origin.source).splitlines()
            lines = texts[origin.source]
            if origin.line <= len(lines):
                found[origin] = lines[origin.line - 1]
        return found
