"""The comments in a text that are meant for this program, and the lines that each of them is about."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model.snapshot import Comment
from kubectl_policy.patterns import pattern
from kubectl_policy.text.splitting import spans_of

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Protocol

    import yaml

    class Scanner(Protocol):
        """What is used of a loader: its tokens, one after the other, up to a StreamEndToken."""

        def get_token(self) -> yaml.Token:
            """The next token; raises as a parser of events does."""
            ...


# What such a comment begins with, behind its `#`: a text without it has none.
MARK: Final = "kubectl-policy:"
_START: Final = rf"(?<!\S)#[ \t]*{MARK}"
_COMMENT: Final = pattern(rf"{_START}[ \t]*([^\r\n]*?)[ \t]*(?={_START}|[\r\n]|\Z)")
# A line with nothing but a comment or a document marker, or with a directive.
_SILENT: Final = pattern(r"[ \t\r]*(#.*)?\Z|(---|\.\.\.)[ \t\r]*(#.*)?\Z|%")
_BLOCK_STYLES: Final = frozenset("|>")
# What may stand before a comment that is about the next line: a document marker, or the dashes of items.
_BEFORE: Final = " \t-"


def comments_in(text: str) -> Iterator[Comment]:
    """The comments for this program, in their order; what only looks like one, in a value, is none."""
    if MARK not in text:
        return
    lines = _Lines(text)
    for span in spans_of(text):
        part = text[span.start : span.end]
        line, counted = span.line, 0
        # Most documents have none, and need not be scanned.
        for found in _outside_of_values(part) if MARK in part else ():
            line += part.count("\n", counted, found.start())
            counted = found.start()
            about = lines.below(line) if _is_alone(found) else range(line, line + 1)
            yield Comment(line=line, says=found[1], lines=about)


def _outside_of_values(text: str) -> Iterator[re.Match[str]]:
    """What looks like such a comment in a document, without what values hold.

    From where it is no YAML, as templates are, only what has a line of its own is a comment.
    """
    import yaml  # noqa: PLC0415 (most texts have no such comment)

    from kubectl_policy.text.events import EVENT_PARSER  # noqa: PLC0415 (see above)

    found = deque(_COMMENT.finditer(text))
    scanner = cast("Scanner", EVENT_PARSER(text))
    try:
        while found and not isinstance(token := scanner.get_token(), yaml.StreamEndToken):
            if not isinstance(token, yaml.ScalarToken):
                continue
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in _BLOCK_STYLES:
                # Behind its | or > there may be a comment.
                start = max(text.find("\n", start, end), 0) or end
            while found and found[0].start() < start:
                yield found.popleft()
            while found and found[0].start() < end:
                found.popleft()
    except (yaml.YAMLError, ValueError, OverflowError):
        found = deque(filter(_is_alone, found))
    yield from found


def _is_alone(found: re.Match[str]) -> bool:
    """Whether nothing stands before a comment on its line."""
    text, at = found.string, found.start()
    while at and text[at - 1] in _BEFORE:
        at -= 1
    return at == 0 or text[at - 1] == "\n"


class _Lines:
    """The lines of a text, which are asked for in their order, and what comes below each."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        # The first lines of documents, and for each that was asked for, the first that says something.
        self._parts = [span.line for span in spans_of(text)]
        self._first: dict[int, int] = {}
        # Above the last one of these, nothing is said.
        self._silent = range(0)

    def below(self, line: int) -> range:
        """The next line that says something or, if that is the first one of a document, all of that; else none."""
        if line not in self._silent:
            self._silent = range(line, self._next(line + 1))
        following = self._silent.stop
        if following > len(self._lines):
            return range(0)
        place = bisect_right(self._parts, following)
        part = self._parts[place - 1]
        if part not in self._first:
            self._first[part] = self._next(part)
        if self._first[part] < following:
            return range(following, following + 1)
        return range(min(line, part), self._parts[place] if place < len(self._parts) else len(self._lines) + 1)

    def _next(self, line: int) -> int:
        """The first line from one on that says something; one below the last one if none does."""
        while line <= len(self._lines) and _SILENT.match(self._lines[line - 1]):
            line += 1
        return line
