"""A text to its documents: each is read on its own, so that a broken one never costs the others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.lazy import pattern
from kubectl_policy.model import Problem
from kubectl_policy.model.body import Body
from kubectl_policy.model.fields import items_at
from kubectl_policy.text import UNRENDERED, Document, DocumentError, TextSpan, Unread, fast_yaml, inherited_fields
from kubectl_policy.text.fast_yaml import FastText, Gate
from kubectl_policy.text.scalars import OLD_BOOLEANS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.text import MakeBody
    from kubectl_policy.text.yaml_reader import YamlReader

# At some 6 MB/s a larger document takes seconds and, as values, ten times its size; `kubectl get -o json` is read fast.
MAX_YAML_SIZE: Final = 32 * 2**20
# Of what is read after so many characters, only the heads of objects are kept.
MAX_KEPT: Final = 8 * 2**20

# After so many documents that cannot be read, a text is given up: each takes its time.
MAX_UNREAD: Final = 1_000
_REST: Final = f"after {MAX_UNREAD:,} documents that cannot be read, the rest of the file is not read"
_MARKER: Final = pattern(r"\n---(?=[ \t\r\n]|\Z)")
# A document without content, of which a file may have many.
_EMPTY: Final = pattern(r"---[ \r\n]*\n")
_DIRECTIVES: Final = pattern(r"(?:[ \t\r]*(?:#.*)?\n)*(?P<first>%.*\n(?:%.*\n|[ \t\r]*(?:#.*)?\n)*)")
# In flow style of YAML, the first key has no quotes.
_JSON_START: Final = pattern(r"(?:---)?\s*(?=\[|\{\s*[\"}])")
_AMBIGUOUS: Final = pattern(rf"(?<![^\s:,\[{{])(?:{'|'.join(OLD_BOOLEANS)})(?![^\s:,\]}}])")


def spans_of(text: str) -> Iterator[TextSpan]:
    """Cut a text above each document marker (`---`), or above the directives that precede the marker."""
    has_directives = text.startswith("%") or "\n%" in text
    line, start = 1, 0
    for marker in _MARKER.finditer(text):
        end = marker.start() + 1
        if has_directives:
            end = _directives_above(text, start, end)
        if end > start:
            yield TextSpan(start, end, line)
        line += text.count("\n", start, end)
        start = end
    yield TextSpan(start, len(text), line)


def _directives_above(text: str, start: int, marker: int) -> int:
    """Find where the directives (`%YAML 1.1`) above a marker start; the marker itself where there are none."""
    # They can only stand at the very beginning or after the end (`...`) of the document before.
    end = text.rfind("\n...", start, marker) + 1
    first_line = text.find("\n", end) + 1 if end else 0
    match = _DIRECTIVES.fullmatch(text, first_line, marker) if end or not start else None
    return match.start("first") if match else marker


def objects_in(document: Document) -> Iterator[tuple[Json, int]]:
    """Yield the object in a document, or the items of a List however deep it is in other Lists, with their lines."""
    unread: list[tuple[Json, int]] = [(document.value, document.line)]
    while unread:
        content, line = unread.pop()
        inherited = inherited_fields(content)
        if inherited is None or not isinstance(content, Mapping):
            yield content, line
            continue
        for item in reversed(items_at(content, "items")):
            item_line = document.lines.start_of(item) or line
            unread.append(({**inherited, **item} if inherited and isinstance(item, Mapping) else item, item_line))


class DocumentReader:
    """Reads the documents of one text after the other."""

    def __init__(self, *, old_booleans_are_text: bool = False) -> None:
        """Start without having read anything; see `YamlReader` for words that are text."""
        self._words_are_text = old_booleans_are_text
        self._size = 0
        self._gate = Gate()
        # How many documents had words that are booleans to kubectl and text to others.
        self.ambiguous = 0

    @cached_property
    def _exact(self) -> YamlReader:
        from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (most text is read fast)

        return YamlReader(old_booleans_are_text=self._words_are_text)

    def read(self, text: str) -> Iterator[Document | Unread]:
        """Read the documents of a text in their order; where there is none that can be read, say why not."""
        self._size += len(text)
        make_body = Body.deferred if self._size > MAX_KEPT else Body
        unread = 0
        parse = fast_yaml.fast_parser()
        fast_text: FastText | None = None
        for span in spans_of(text):
            if _EMPTY.fullmatch(text, span.start, span.end):
                line = span.line + text.count("\n", span.start, span.end)
                yield Document(content=None, line=line, span=span)
                continue
            try:
                documents = _read_json(text, span, make_body)
                if documents is not None:
                    yield from documents
                    continue
                if parse and not fast_text:
                    fast_text = FastText(text, self._gate, parse, make_body)
                yield from self._read_yaml(text, span, fast_text)
            except DocumentError as error:
                problem = error.problem
                template = text.find("{{", span.start, span.end) if problem.reason == "syntax-error" else -1
                if template >= 0:
                    line = span.line + text.count("\n", span.start, template)
                    problem = Problem(message=UNRENDERED, reason="unrendered-template", line=line)
                unread += 1
                if unread > MAX_UNREAD:
                    yield Unread(problem=replace(problem, message=_REST), text=text[span.start :])
                    return
                yield Unread(problem=problem, text=text[span.start : span.end])

    def _read_yaml(self, text: str, span: TextSpan, fast_text: FastText | None) -> Iterable[Document]:
        if fast_text:
            items = fast_text.read_items(span, lambda item: self._exact_value(text, item))
            if items is not None:
                return items
            document = fast_text.read(span) if span.end - span.start <= MAX_YAML_SIZE else None
            if document:
                return (document,)
        return self._read_exactly(text, span)

    def _read_exactly(self, text: str, span: TextSpan) -> Iterator[Document]:
        if span.end - span.start > MAX_YAML_SIZE:
            raise DocumentError(
                "too-large",
                span.line,
                f"a YAML document of more than {MAX_YAML_SIZE >> 20} MiB: split it, or write JSON, which is read fast",
            )
        part = text[span.start : span.end]
        self.ambiguous += bool(_AMBIGUOUS.search(part))
        for document in self._exact.read(part, span.line):
            content = document.content
            yield replace(document, content=Body(content) if isinstance(content, dict) else content, span=span)

    def _exact_value(self, text: str, span: TextSpan) -> Json:
        """Return the one value in a part of a text; None if it is not the only one, or has problems."""
        try:
            documents = [*self._read_exactly(text, span)]
        except DocumentError:
            return None
        is_sound = len(documents) == 1 and not documents[0].problems
        return documents[0].value if is_sound else None


def _read_json(text: str, span: TextSpan, make_body: MakeBody) -> Sequence[Document] | None:
    """Read a part of a text that is JSON from beginning to end; None if it is not."""
    start = _JSON_START.match(text, span.start, span.end)
    if not start:
        return None
    from kubectl_policy.text.json_reader import read_json  # noqa: PLC0415 (most manifests are YAML)

    line = span.line + text.count("\n", span.start, start.end())
    try:
        return [*read_json(text, TextSpan(start.end(), span.end, line), make_body)]
    except ValueError:
        return None
