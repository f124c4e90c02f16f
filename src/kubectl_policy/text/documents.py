"""A text to its documents: each is read on its own, so that a broken one never costs the others; or to its only one."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NoReturn

from yaml import AliasEvent

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import FieldPath, Problem
from kubectl_policy.model.values import value
from kubectl_policy.patterns import pattern
from kubectl_policy.text import UNRENDERED, Document, DocumentError, Unread
from kubectl_policy.text.places import parts_of, places, repeated_key
from kubectl_policy.text.recognised import ShapedDocument, Written
from kubectl_policy.text.yaml_reader import YamlReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.text.json_reader import JsonReader
    from kubectl_policy.text.places import Place, Steps
    from kubectl_policy.text.shapes import Shapes

# At some 8 MB/s a larger document takes seconds and, as values, ten times its size; `kubectl get -o json` is read fast.
MAX_YAML_SIZE: Final = 32 * 2**20
# To make a shape takes as long as to read so many documents; to learn what shapes are, as long as so many characters.
PATIENCE: Final = 12
SMALL: Final = 2**14
# Where there is so much, what comes a few times comes many times.
LARGE: Final = 2**20
LITTLE_PATIENCE: Final = 3

_MARKER: Final = "---\n"
_CUT: Final = "\n---\n"

_BEGINNING: Final = 64
_JSON_START: Final = pattern(r"(?:---)?\s*(?=[\[{])")


class DocumentReader:
    """Reads the documents of one text after the other, keeping equal strings of all of them once."""

    def __init__(self, *, words_are_text: bool = False) -> None:
        """Start without having read anything; see `YamlReader` for words that are text."""
        self._yaml = YamlReader(words_are_text=words_are_text)
        self._json: JsonReader | None = None
        self._patience, self._small = PATIENCE, SMALL
        self._shapes: Shapes | None = None
        self._met = 0

    @property
    def words(self) -> int:
        """How many words were met so far that are booleans here and text to others."""
        return self._yaml.words

    def read(self, text: str) -> Iterator[Document | Unread]:
        """The documents of a text in their order, and where there is none that can be read, why not."""
        for found in self.recognise(text):
            yield self.made(found) if isinstance(found, ShapedDocument) else found

    def made(self, document: ShapedDocument) -> Document:
        """A document that was recognised."""
        return document.shape.document(document, self._yaml.scalars)

    def recognise(self, text: str, source: str = "") -> Iterator[Document | Unread | ShapedDocument]:
        """The same, but that documents of a known shape are not made; the text is that of a source."""
        self._met += len(text)
        if self._met < self._small or _is_uncommon(text):
            yield from self._read_parts(text, 1)
            return
        if self._shapes is None:
            from kubectl_policy.text.shapes import Shapes  # noqa: PLC0415 (most inputs are small)

            self._shapes = Shapes(self._patience if self._met < LARGE else min(self._patience, LITTLE_PATIENCE))
        written, shaped_at, find = Written(text, source), self._shapes.at, text.find
        # A part starts behind the marker of a document, if it has one.
        start, line, marker = (len(_MARKER), 2, len(_MARKER)) if text.startswith(_MARKER) else (0, 1, 0)
        last = len(text) - text.endswith("\n")
        while True:
            cut = find(_CUT, start)
            end = cut if cut >= 0 else max(start, last)
            shaped = shaped_at(written, start, end, line)
            if shaped:
                yield shaped
                line += shaped.shape.height + 2
            else:
                whole = text[start - marker : end + 1]
                yield from self._read_parts(whole, line - 1 if marker else line)
                line += text.count("\n", start, end) + 2
            if cut < 0:
                return
            start, marker = cut + len(_CUT), len(_MARKER)

    def _read_parts(self, text: str, line: int) -> Iterator[Document | Unread]:
        for part, first_line in parts_of(text):
            yield from self._read_part(part, line - 1 + first_line)

    def _read_part(self, text: str, line: int) -> Iterator[Document | Unread]:
        try:
            yield from self._read_either(text, line)
        except DocumentError as error:
            problem = error.problem
            template = text.find("{{") if problem.reason == "syntax-error" else -1
            if template >= 0:
                at = line + text.count("\n", 0, template)
                problem = Problem(message=UNRENDERED, reason="unrendered-template", line=at)
            yield Unread(problem=problem, text=text)

    def _read_either(self, text: str, line: int) -> Iterator[Document]:
        # Most manifests are YAML, and to see that takes less than to compile a pattern.
        begins = text[:_BEGINNING].removeprefix("---").lstrip()
        is_perhaps = begins.startswith(("{", "[")) or (not begins and len(text) > _BEGINNING)
        start = _JSON_START.match(text) if is_perhaps else None
        if start:
            from kubectl_policy.text.json_reader import JsonReader  # noqa: PLC0415 (most manifests are YAML)

            self._json = self._json or JsonReader()
            try:
                # All or nothing: what is not JSON from beginning to end is YAML.
                documents = list(self._json.read(text, start.end(), line + text.count("\n", 0, start.end())))
            except ValueError:
                pass
            else:
                yield from documents
                return
        if len(text) > MAX_YAML_SIZE:
            raise DocumentError(
                "too-large",
                line,
                f"a YAML document of more than {MAX_YAML_SIZE >> 20} MiB: split it, or write JSON, which is read fast",
            )
        yield from self._yaml.read(text, line)


def _is_uncommon(text: str) -> bool:
    """Whether a text has lines that end otherwise, or directives, which stand in front of a document's marker."""
    return "\r" in text or text.startswith("%") or ("%" in text and "\n%" in text)


@value(kw_only=True)
class Configuration:
    """What a file of ours says that a person wrote, and the line of everything in it; `source` is its name."""

    source: str
    value: Json
    lines: Mapping[Steps, int]
    repeated: Mapping[Steps, Steps]

    def refuse(self, steps: Iterable[str | int], message: str, hint: str) -> NoReturn:
        """Raise `ProfileError` with the line of the value at a path, the path and what is wrong there."""
        path = tuple(steps)
        where = str(FieldPath(path)) or "the file"
        raise ProfileError(f"{self.source}:{self.line_of(path)}: {where}: {message}", hint)

    def line_of(self, steps: Steps) -> int:
        """The line (from 1) of the value at a path; of what is not written out, of the nearest thing above it."""
        for end in range(len(steps), -1, -1):
            alias = self.repeated.get(steps[:end])
            if alias is not None and end < len(steps):
                return self.line_of((*alias, *steps[end:]))
            if steps[:end] in self.lines:
                return self.lines[steps[:end]]
        return 1


def read_configuration(text: str, source: str, hint: str) -> Configuration:
    """The one document of a text. Raises `ProfileError` with its line for anything but plain YAML or JSON."""
    documents: list[Document] = []
    written: list[Place] = []
    problem: Problem | None
    try:
        documents += islice(YamlReader(strict=True).read(text), 2)
        written += places(text)
    except DocumentError as error:
        problem = error.problem
    else:
        problem = next(filter(None, map(repeated_key, written)), None)
        if len(documents) > 1:
            problem = Problem(message="a second document: one file holds one", line=documents[1].line)
    if problem:
        # The end of a text is on the line after the last one.
        line = min(problem.line, text.rstrip("\n").count("\n") + 1)
        raise ProfileError(f"{source}:{line}: {problem.message}", hint)
    anchors = {place.event.anchor: place.steps for place in written if not isinstance(place.event, AliasEvent)}
    return Configuration(
        source=source,
        value=documents[0].value if documents else None,
        lines={place.steps: place.line for place in written},
        repeated={place.steps: anchors[place.event.anchor] for place in written if isinstance(place.event, AliasEvent)},
    )


def read_flawless(text: str) -> Json:
    """The one document of a text that has no flaws, without looking for the lines where these would be."""
    (document,) = YamlReader(strict=True).read(text)
    return document.value
