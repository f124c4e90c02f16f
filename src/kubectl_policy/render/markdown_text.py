"""Text from the input as GitHub Flavored Markdown that means nothing but itself."""

from __future__ import annotations

import re
from typing import Final

from kubectl_policy.render.escape import visible

# GitHub looks for mentions, references, emoji and links when entities are characters again. It does so piece by piece,
# and an empty comment ends a piece. https://github.com/github/cmark-gfm/issues/181
_APART: Final = "<!-- -->"
_MARKS: Final = frozenset("@#:$")
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ,/-")
# What becomes a link without any of the marks: `GH-26` and `www.example.com`.
_LINKED: Final = re.compile(r"(?<=[A-Za-z])-(?=[0-9])|(?<=[Ww]{3})\.")


def inert(text: str) -> str:
    """A text in which no markup, HTML, link, mention or reference is left, and nothing that would end a line or a cell.

    Letters, digits, spaces and `,/-` stay as they are, all else is written as numeric character references.
    """
    shown = visible(text)
    linked = {match.start() for match in _LINKED.finditer(shown)}
    return "".join(_inert(character, apart=place in linked) for place, character in enumerate(shown))


def _inert(character: str, *, apart: bool) -> str:
    safe = character in _PLAIN or (not character.isascii() and character.isalpha())
    encoded = character if safe else f"&#{ord(character)};"
    return f"{encoded}{_APART}" if apart or character in _MARKS else encoded
