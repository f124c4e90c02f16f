"""The comments for this program in files and revisions, each of which is read once for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.errors import SourceError
from kubectl_policy.sources.places.lines import text_at
from kubectl_policy.text import DocumentError
from kubectl_policy.text.comments import comments_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.model.snapshot import Comment


class Comments:
    """Finds comments by the sources of what was read."""

    def __init__(self, text_of: Callable[[str], str] = text_at) -> None:
        """`text_of` has the text of a source; it raises as `text_at` for what is no file."""
        self._text_of = text_of
        self._found: dict[str, Sequence[Comment]] = {}

    def of(self, source: str) -> Sequence[Comment]:
        """The comments in a source, in their order; none in what cannot be read, or not again."""
        if source not in self._found:
            try:
                text = self._text_of(source)
            except (OSError, ValueError, DocumentError, SourceError):
                text = ""
            self._found[source] = tuple(comments_in(text))
        return self._found[source]
