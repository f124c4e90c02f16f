"""Meaning of YAML scalars and keys to kubectl: null, booleans, numbers and text."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from kubectl_policy.lazy import pattern

MERGE_KEY: Final = "<<"

Scalar: TypeAlias = bool | int | float | str | None

# resolveTable and resolveMap in sigs.k8s.io/yaml, goyaml.v2/resolve.go. JSON has no .inf and .nan: they stay text.
_NAMED_SCALARS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
# What YAML 1.2 has for booleans: whatever reads it, as Kustomize does, takes the others for text, and quotes them.
_BOOLEANS: Final = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
# By themselves, the words that are booleans to kubectl and text to others.
OLD_BOOLEANS: Final = {
    text: text for text, meaning in _NAMED_SCALARS.items() if isinstance(meaning, bool) and text not in _BOOLEANS
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_IN_NUMBERS: Final = frozenset("+-._0123456789abcdefABCDEFoOxX")
# strconv.ParseInt with base 0; a longer decimal is out of its range, and left to the next pattern.
_INTEGER: Final = pattern(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]{0,18}|0))")
_BASES: Final = {2: 16, 3: 2, 4: 8, 5: 10}
_FLOAT: Final = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# So many digits may be out of the range of an integer.
_LONG: Final = 19
_INT64: Final = range(-(2**63), 2**63)
_FLOAT_BITS: Final = 1023


class PlainScalars(dict[str, Scalar]):
    """Values of unquoted scalars, computed when they are first met; equal strings are kept once."""

    def __missing__(self, text: str) -> Scalar:
        """Compute a scalar that was not met before."""
        value = self[text] = plain_scalar(text)
        return value


def plain_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar: null, a boolean, a number, or else the text itself.

    There are no dates and no numbers to base 60. A number means what it means after a trip through JSON (`1.0` is 1).
    """
    if text in _NAMED_SCALARS:
        return _NAMED_SCALARS[text]
    value = _parse_number(text) if text[0] in _NUMBER_STARTS else text
    return json_number(value) if isinstance(value, float) else value


def json_number(value: float) -> int | float:
    """Return a number as an API server gives it back: JSON writes an integral one without a point."""
    return int(value) if value.is_integer() and int(value) in _INT64 else value


def key_of(value: Scalar) -> str | None:
    """Return a mapping key as JSON has it (convertToJSONableObject in sigs.k8s.io/yaml); None for null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # As `strconv.FormatFloat(value, 'g', -1, 32)`, up to six digits.
        return f"{value:g}"
    return None if value is None else str(value)


def _parse_number(text: str) -> int | float | str:
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) < _LONG:
        return int(text)
    if not _IN_NUMBERS.issuperset(text):
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    integer = _INTEGER.fullmatch(digits)
    whole = int(integer[1] + integer[integer.lastindex or 0], _BASES[integer.lastindex or 0]) if integer else 0
    if integer and whole in _INT64:
        return whole
    if _FLOAT.fullmatch(digits):
        value = float(digits)
        return value if math.isfinite(value) else text
    return float(whole) if integer and whole.bit_length() <= _FLOAT_BITS else text


def require_encodable(text: str) -> str:
    """Return a text. Raises ValueError for half a surrogate pair, which only the C parser refuses by itself."""
    return text if text.isascii() else text.encode().decode()
