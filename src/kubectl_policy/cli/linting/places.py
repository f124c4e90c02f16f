"""The lines of fields that findings are about, and the text of these lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import FieldPath, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.sources import Lines


class FindingLines:
    """Looks up lines of fields, each once, and remembers the exact ones."""

    def __init__(self, lines: Lines, renamed: Callable[[str], str]) -> None:
        """Keep the lines of the input, and a function that returns the name of a file for people."""
        self._lines, self._renamed = lines, renamed
        self._origins: dict[tuple[Origin, str], Origin] = {}
        self._names: dict[str, str] = {}
        self._exact: set[Origin] = set()

    def locate(self, origin: Origin | None, field: str) -> Origin | None:
        """Return the line of a field, else of its nearest parent that exists, else of the object."""
        if origin is None:
            return None
        if field and origin.line:
            if (origin, field) not in self._origins:
                self._origins[origin, field] = self._find(origin, field)
            origin = self._origins[origin, field]
        source = origin.source
        if source not in self._names:
            self._names[source] = self._renamed(source)
        name = self._names[source]
        return origin if name == source else Origin(name, origin.line)

    def _find(self, origin: Origin, field: str) -> Origin:
        try:
            steps = FieldPath.parse(field).steps
        except ValueError:
            # A key with a quote cannot be part of a path.
            return origin
        for length in range(len(steps), 0, -1):
            line = self._lines.locate(origin, FieldPath(steps[:length]))
            if line:
                field_origin = Origin(origin.source, line)
                if length == len(steps):
                    self._exact.add(field_origin)
                return field_origin
        return origin

    @property
    def texts(self) -> Mapping[Origin, str]:
        """The text of each line that has a field, if the file can be read again."""
        files: dict[str, Sequence[str]] = {}
        texts: dict[Origin, str] = {}
        for origin in self._exact:
            if origin.source not in files:
                files[origin.source] = self._lines.text(origin.source).splitlines()
            lines = files[origin.source]
            if origin.line <= len(lines):
                texts[origin] = lines[origin.line - 1]
        return texts
