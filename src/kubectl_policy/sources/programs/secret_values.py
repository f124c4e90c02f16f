"""Remove the values of Secrets from the output of programs, which is kept on disk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_policy.text import Unread
from kubectl_policy.text.documents import DocumentReader, spans_of

if TYPE_CHECKING:
    from kubectl_policy.model import Json

_MAY_BE_SECRET: Final = re.compile(r"""kind["']?[ \t]*:[^\n]{0,40}\bSecret\b""")
_VALUES: Final = frozenset({"data", "stringData"})
# Helm names the template of an object in a comment above it.
_COMMENTS: Final = re.compile(r"(?:---.*\n)?(?:[ \t]*(?:#.*)?\n)*")


def without_secret_values(text: str) -> str | None:
    """Return a text without the fields `data` and `stringData` of Secrets, also of those in lists.

    A document without Secret stays as it is written. None if a Secret might be in one that cannot be read.
    """
    if not _MAY_BE_SECRET.search(text):
        return text
    parts: list[str] = []
    for span in spans_of(text):
        part = text[span.start : span.end]
        if _MAY_BE_SECRET.search(part):
            values: list[Json] = []
            for document in DocumentReader().read(part):
                if isinstance(document, Unread):
                    return None
                values.append(document.value)
            shorter = [_without_values(value) for value in values]
            if shorter != values:
                head = _COMMENTS.match(part)
                documents = "\n---\n".join(msgspec.json.encode(value).decode() for value in shorter)
                part = f"{head[0] if head else ''}{documents}\n"
        parts.append(part)
    return "".join(parts)


def _without_values(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "Secret" and value.get("apiVersion") == "v1":
        return {key: part for key, part in value.items() if key not in _VALUES}
    return {**value, "items": _without_values(value["items"])} if isinstance(value.get("items"), list) else value
