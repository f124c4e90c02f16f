"""Where objects are written, in manifests or in a template, and which of them became one that was rendered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import text_at
from kubectl_policy.text import Document
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterator


# No file that a person wrote is larger.
MAX_SIZE: Final = 32 * 2**20

_MARKER: Final = re.compile(r"^---.*$", re.MULTILINE)
# Templates leave these as they are: the keys of an object, and its name, or the beginning and the end of that.
_FIRST: Final = re.compile(r"^(?:apiVersion|kind|metadata)[ \t]*:", re.MULTILINE)
_KIND: Final = re.compile(r"^kind[ \t]*:[ \t]*[\"']?([A-Za-z][A-Za-z0-9]*)[\"']?[ \t]*\r?$", re.MULTILINE)
_METADATA: Final = re.compile(r"^metadata[ \t]*:", re.MULTILINE)
_NAME: Final = re.compile(r"(?<![-\w./])[\"']?name[\"']?[ \t]*:[ \t]*((?:\{\{[^{}\n]{0,200}\}\}|[^{},\s#]){1,253})")
_PLACE: Final = re.compile(r"\{\{[^{}\n]{0,200}\}\}")
_LETTER: Final = re.compile(r"[^\n]")


class _Object(NamedTuple):
    """An object as it is written: its kind, its name, which may have places to be filled in, and its line (from 1)."""

    kind: str
    name: str
    line: int


class WrittenObjects:
    """The objects that are written in a text, by their kinds."""

    def __init__(self, text: str) -> None:
        """Look for them."""
        self._of_kind: dict[str, list[_Object]] = {}
        self._called: dict[tuple[str, str], int] = {}
        for each in _objects(text):
            self._of_kind.setdefault(each.kind, []).append(each)
            self._called.setdefault((each.kind, each.name), each.line)

    def line(self, kind: str, name: str) -> int:
        """The line of the object that became one of a kind and name; 0 if nothing tells which one it is.

        Prefixes and suffixes are added to what is written, and places are filled in.
        """
        if kind and (kind, name) in self._called:
            return self._called[kind, name]
        of_kind = self._of_kind.get(kind, []) if kind else []
        fitting = [(fit, -each.line) for each in of_kind if (fit := _fit(each.name, name))]
        if fitting:
            return -max(fitting)[1]
        return of_kind[0].line if len(of_kind) == 1 else 0


def without_actions(text: str) -> str:
    """A template as YAML, line by line: what is filled in is some word, and what stands alone on its line nothing."""
    parts, at = list[str](), 0
    while (start := text.find("{{", at)) >= 0 and (end := text.find("}}", start) + 2) > 1:
        parts += text[at:start], _LETTER.sub("\0", text[start:end])
        at = end
    lines = f"{''.join(parts)}{text[at:]}".split("\n")
    return "\n".join(line.replace("\0", "x") if line.strip("\0 \t\r") else "" for line in lines)


def _objects(text: str) -> Iterator[_Object]:
    at = above = 0
    for document in DocumentReader().read(text):
        if isinstance(document, Document):
            for raw, line in objects_in(document):
                yield _Object(text_at(raw, "kind"), text_at(raw, "metadata.name"), line)
        else:
            start = max(at, text.find(document.text, at))
            above += text.count("\n", at, start)
            yield from _in_template(document.text, above)
            at = start + len(document.text)
            above += document.text.count("\n")


def _in_template(text: str, above: int) -> Iterator[_Object]:
    """What a text that is no YAML has at the beginning of its lines, with so many lines above it."""
    markers = [*_MARKER.finditer(text)]
    starts = [0, *(marker.end() for marker in markers)]
    ends = [*(marker.start() for marker in markers), len(text)]
    for start, end in zip(starts, ends, strict=True):
        first, kind = _FIRST.search(text, start, end), _KIND.search(text, start, end)
        if first and kind:
            metadata = _METADATA.search(text, start, end)
            name = _NAME.search(text, metadata.end(), end) if metadata else None
            yield _Object(kind[1], name[1].strip("\"'") if name else "", above + text.count("\n", 0, first.start()) + 1)


def _fit(written: str, name: str) -> int:
    """How many letters of a name are written; 0 if the name cannot have come of that."""
    if "{{" not in written:
        return len(written) if written in name else 0
    first, *_, last = parts = _PLACE.split(written)
    fits = len(first) + len(last) <= len(name) and name.startswith(first) and name.endswith(last)
    return sum(map(len, parts)) if fits else 0
