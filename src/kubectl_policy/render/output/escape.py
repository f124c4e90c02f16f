"""Text from the input, made harmless for a terminal, for the log of a CI, and for GitHub Flavored Markdown."""

from __future__ import annotations

import re
from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape_controls(text: str) -> str:
    r"""Return the text with everything that a terminal would obey or hide written out: `\x1b`, `\n`, `\u202e`.

    That is what Unicode calls Other (control, format, surrogate, unassigned) or Separator, the space excepted: escape
    sequences, line breaks, bidirectional controls, zero-width characters, strange spaces. Letters of all scripts stay.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def escape_lines(text: str) -> str:
    """Return the text with everything escaped that `escape_controls` escapes, but for line breaks and tabs."""
    return "\n".join("\t".join(map(escape_controls, line.split("\t"))) for line in text.split("\n"))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 (the largest code that \x can write)
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (the largest code of \u)


# What a CI obeys when it reads its log: GitHub lines that begin with `::name`, and `##[name]` anywhere; others know
# `##vso[` and the like.
_COMMAND: Final = r"(?m)^(?P<indent>[^\S\n]*):(?=:)|#(?=#\w*\[)"


class Commands(str):
    """Text that a CI is to obey: whoever makes it sees to it that nothing from the input is a command."""

    __slots__ = ()


def has_commands(text: str) -> bool:
    """Whether a CI that reads the text in its log would obey something in it."""
    return ("::" in text or "##" in text) and re.search(_COMMAND, text) is not None


def escape_commands(text: str, written: str = "\\x") -> str:
    r"""Replace what a CI would obey: the first character of each command is `written` out."""
    if not has_commands(text):
        return text
    return re.sub(_COMMAND, lambda match: f"{match['indent'] or ''}{written}{ord(match[0][-1]):02x}", text)


def escape_in_json(text: str) -> str:
    r"""Replace what a CI would obey in JSON, of which no string has other escapes than `\u0023`."""
    return escape_commands(text, "\\u00")


# GitHub looks for mentions, references, emoji and links when entities are characters again. It does so piece by piece,
# and an empty comment ends a piece. https://github.com/github/cmark-gfm/issues/181
_PIECE_END: Final = "<!-- -->"
_READ_BY_GITHUB: Final = frozenset("@#:$")
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ,/-.();%?\"'→·")
# What becomes a link without any of these, `GH-26` and `www.example.com`, and what begins a list: `1.` and `1)`.
_LINKED: Final = r"(?<=[A-Za-z])-(?=[0-9])|(?<=[Ww]{3})\."
_LIST: Final = r"[0-9]+(?=[.)])"
# What code spans cannot hold, or not in every cell of a table; and what is looked for afterwards, to be sure.
_UNSPANNED: Final = frozenset("`|\\<>&@#$")


def escape_markup(text: str) -> str:
    """Escape text so that no markup, HTML, link, mention or reference is left, nor anything that ends a line or cell.

    Letters, digits, spaces and the punctuation of a sentence stay as they are (a colon before a space), all else is
    written as numeric character references.
    """
    shown = escape_controls(text)
    linked = {match.start() for match in re.finditer(_LINKED, shown)}
    begun = re.match(_LIST, shown)
    listed = begun.end() if begun else -1
    return "".join(
        ":"
        if character == ":" and shown[index + 1 : index + 2] == " "
        else _escape_markup_character(character, is_plain=index != listed, ends_piece=index in linked)
        for index, character in enumerate(shown)
    )


def _escape_markup_character(character: str, *, is_plain: bool, ends_piece: bool) -> str:
    safe = (is_plain and character in _PLAIN) or (not character.isascii() and character.isalpha())
    encoded = character if safe else f"&#{ord(character)};"
    return f"{encoded}{_PIECE_END}" if ends_piece or character in _READ_BY_GITHUB else encoded


def code(text: str) -> str:
    """Return a name or a value as code in GitHub Flavored Markdown, `escape_markup` also in a cell of a table."""
    shown = escape_controls(text)
    if shown.strip(" ") != shown or not shown or not _UNSPANNED.isdisjoint(shown) or has_commands(shown):
        return f"<code>{escape_markup(shown)}</code>"
    return f"`{shown}`"
