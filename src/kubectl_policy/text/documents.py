"""A text to its documents: each is read on its own, so that a broken one never costs the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Problem
from kubectl_policy.model.body import Body
from kubectl_policy.model.values import cached_property, replace
from kubectl_policy.patterns import pattern
from kubectl_policy.text import UNRENDERED, Bodies, Document, DocumentError, Span, Unread
from kubectl_policy.text.splitting import spans_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text.fast_yaml import FastReader, FastText
    from kubectl_policy.text.yaml_reader import YamlReader

# At some 8 MB/s a larger document takes seconds and, as values, ten times its size; `kubectl get -o json` is read fast.
MAX_YAML_SIZE: Final = 32 * 2**20
# Of what is read after so many characters, only the heads of objects are kept.
MAX_KEPT: Final = 8 * 2**20

_MARKER: Final = "---\n"
_BEGINNING: Final = 64
# In flow style of YAML, the first key has no quotes.
_JSON_START: Final = pattern(r"(?:---)?\s*(?=\[|\{\s*[\"}])")


class DocumentReader:
    """Reads the documents of one text after the other."""

    def __init__(self, *, words_are_text: bool = False) -> None:
        """Start without having read anything; see `YamlReader` for words that are text."""
        self._words_are_text = words_are_text
        self._exact: YamlReader | None = None
        self._size = 0

    @cached_property
    def _fast(self) -> FastReader | None:
        from kubectl_policy.text.fast_yaml import fast_reader  # noqa: PLC0415 (JSON does without)

        return fast_reader()

    @property
    def words(self) -> int:
        """How many words were met so far that are booleans here and text to others."""
        return self._exact.words if self._exact else 0

    def read(self, text: str) -> Iterator[Document | Unread]:
        """Read the documents of a text in their order; where there is none that can be read, say why not."""
        self._size += len(text)
        bodies = Bodies(are_deferred=self._size > MAX_KEPT)
        fast_text: FastText | None = None
        for span in spans_of(text):
            try:
                documents = _read_json(text, span, bodies)
                if documents is not None:
                    yield from documents
                    continue
                fast_text = fast_text or (self._fast.text(text, bodies) if self._fast else None)
                yield from self._read_yaml(text, span, fast_text)
            except DocumentError as error:
                problem = error.problem
                template = text.find("{{", span.start, span.end) if problem.reason == "syntax-error" else -1
                if template >= 0:
                    line = span.line + text.count("\n", span.start, template)
                    problem = Problem(message=UNRENDERED, reason="unrendered-template", line=line)
                yield Unread(problem=problem, text=text[span.start : span.end])

    def _read_yaml(self, text: str, span: Span, fast_text: FastText | None) -> Iterable[Document]:
        if fast_text:
            items = fast_text.read_items(span, lambda item: self._exact_value(text, item))
            if items is not None:
                return items
            document = fast_text.read(span) if span.end - span.start <= MAX_YAML_SIZE else None
            if document:
                return (document,)
        return self._read_exactly(text, span)

    def _read_exactly(self, text: str, span: Span) -> Iterator[Document]:
        if span.end - span.start > MAX_YAML_SIZE:
            raise DocumentError(
                "too-large",
                span.line,
                f"a YAML document of more than {MAX_YAML_SIZE >> 20} MiB: split it, or write JSON, which is read fast",
            )
        if self._exact is None:
            from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (most text is read fast)

            self._exact = YamlReader(words_are_text=self._words_are_text)
        for document in self._exact.read(text[span.start : span.end], span.line):
            content = document.content
            body = Body(content) if isinstance(content, dict) else content
            yield replace(document, content=body, span=span)

    def _exact_value(self, text: str, span: Span) -> Json:
        """Return the one value in a part of a text; None if it is not the only one, or has problems."""
        try:
            documents = [*self._read_exactly(text, span)]
        except DocumentError:
            return None
        is_sound = len(documents) == 1 and not documents[0].problems
        return documents[0].value if is_sound else None


def _read_json(text: str, span: Span, bodies: Bodies) -> Sequence[Document] | None:
    """Read a part of a text that is JSON from beginning to end; None if it is not."""
    # Most manifests are YAML, and start with a key.
    first = span.start + len(_MARKER) if text.startswith(_MARKER, span.start) else span.start
    if text[first : first + 1].isalpha():
        return None
    beginning = text[span.start : min(span.start + _BEGINNING, span.end)].removeprefix("---").lstrip()
    if not beginning.startswith(("{", "[")) and (beginning or span.end - span.start <= _BEGINNING):
        return None
    start = _JSON_START.match(text, span.start, span.end)
    if not start:
        return None
    from kubectl_policy.text.json_reader import read_json  # noqa: PLC0415 (most manifests are YAML)

    line = span.line + text.count("\n", span.start, start.end())
    try:
        return [*read_json(text, Span(start.end(), span.end, line), bodies)]
    except ValueError:
        return None
