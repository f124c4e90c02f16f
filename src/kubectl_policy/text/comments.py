"""The comments in a text that are meant for this program, and the lines that each of them is about."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import pattern
from kubectl_policy.model.snapshot import Comment
from kubectl_policy.text.documents import spans_of

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# What such a comment begins with, behind its `#`: a text without it has none.
MARK: Final = "kubectl-policy:"
_START: Final = rf"(?<!\S)#[ \t]*{MARK}"
_COMMENT: Final = pattern(rf"{_START}[ \t]*([^\r\n]*?)[ \t]*(?={_START}|[\r\n]|\Z)")
# A line with nothing but a comment or a document marker, or with a directive.
_SILENT: Final = pattern(r"[ \t\r]*(#.*)?\Z|(---|\.\.\.)[ \t\r]*(#.*)?\Z|%")
_BLOCK_STYLES: Final = frozenset("|>")
_BEFORE: Final = " \t-"


def comments_in(text: str) -> Iterator[Comment]:
    """Yield the comments for this program, in their order; what only looks like one, in a value, is none."""
    if MARK not in text:
        return
    lines = text.split("\n")
    # For each line (from 1), the first line from there on that is not silent; one below the last one if there is none.
    content_lines = [len(lines) + 1] * (len(lines) + 2)
    for number in range(len(lines), 0, -1):
        content_lines[number] = content_lines[number + 1] if _SILENT.match(lines[number - 1]) else number
    spans = [*spans_of(text)]
    starts = [span.line for span in spans] + [len(lines) + 1]
    for span in spans:
        part = text[span.start : span.end]
        line, counted = span.line, 0
        # Most documents have none, and need not be scanned.
        for comment in _outside_of_values(part) if MARK in part else ():
            line += part.count("\n", counted, comment.start())
            counted = comment.start()
            about = range(line, line + 1)
            if _is_alone(comment):
                # It is about the next line with content or, if that is the first one of a document, all of that.
                content_line = content_lines[line + 1]
                number = bisect_right(starts, content_line)
                about = range(content_line, content_line + 1)
                if content_line > len(lines):
                    about = range(0)
                elif content_line == content_lines[starts[number - 1]]:
                    about = range(min(line, starts[number - 1]), starts[number])
            yield Comment(line=line, says=comment[1], lines=about)


def _outside_of_values(text: str) -> Iterator[re.Match[str]]:
    """Find what looks like such a comment in a document, outside of its values.

    From where it is no YAML, as templates are, only what has a line of its own is a comment.
    """
    import yaml  # noqa: PLC0415 (most texts have no such comment)

    from kubectl_policy.text.yaml_reader import PARSER  # noqa: PLC0415 (see above)

    comments = deque(_COMMENT.finditer(text))
    try:
        for token in yaml.scan(text, Loader=PARSER):
            if not isinstance(token, yaml.ScalarToken):
                continue
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in _BLOCK_STYLES:
                # Behind its | or > there may be a comment.
                start = max(text.find("\n", start, end), 0) or end
            while comments and comments[0].start() < start:
                yield comments.popleft()
            while comments and comments[0].start() < end:
                comments.popleft()
    except (yaml.YAMLError, ValueError, OverflowError):
        comments = deque(filter(_is_alone, comments))
    yield from comments


def _is_alone(comment: re.Match[str]) -> bool:
    """Whether nothing but a document marker or the dashes of items stands before a comment on its line."""
    text, start = comment.string, comment.start()
    line_start = text.rfind("\n", 0, start) + 1
    return not text[line_start:start].strip(_BEFORE)
