"""Text from the input, made harmless for a terminal."""

from __future__ import annotations

from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""The text with everything that a terminal would obey or hide written out: `\x1b`, `\n`, `\u202e`.

    That is what Unicode calls Other (control, format, surrogate, unassigned) or Separator, the space excepted: escape
    sequences, line breaks, bidirectional controls, zero-width characters, strange spaces. Letters of all scripts stay.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 (the largest code that \x can write)
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (the largest code of \u)
