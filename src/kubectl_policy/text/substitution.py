"""Variables in a text (`${NAME}`) filled in as Flux does it after Kustomize, as far as their values are known.

Flux goes by a fork of drone/envsubst: `$NAME` is plain text, `$$` is a dollar sign, `${NAME:=default}` and its likes
take the default where there is no value, or an empty one. What nobody knows stays in the text as it is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.text import DocumentError
from kubectl_policy.text.documents import spans_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# More than any document of Kubernetes may hold; each variable may stand in a text as often as it likes.
MAX_ADDED: Final = 32 * 2**20
# Flux takes them one in the other without a limit; nobody writes more than two.
_MAX_NESTED: Final = 20

# What an expression is made of, in the notation of envsubst's parser; on one line, as Kustomize writes them.
_TOKEN: Final = re.compile(
    r"\$(?P<escaped>\$)"
    r"|\$\{(?P<name>\w+)(?:"
    r"(?P<default>:[-=?+]|=)"
    r"|(?P<case>\^\^?|,,?)?\}"
    r"|:(?P<offset>\d+)(?::(?P<length>\d+))?\}"
    r"|/(?P<where>[/#%]?)(?P<old>[^/${}\n]+)/(?P<new>[^${}\n]*)\})"
    r"|(?P<begin>\$\{)"
    r"|(?P<end>[}\n])"
)
_TYPED: Final = re.compile(r"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_QUOTED: Final = re.compile(r"""(?<![^\s,:\[{])(["'])(\$\{[^"'\n]*\})\1""")
# Whoever reads it must not fill it in; a label does as well as an annotation.
_DISABLED: Final = re.compile(r"""kustomize\.toolkit\.fluxcd\.io/substitute["']?[ \t]*:[ \t]*["']?disabled\b""")


def substitute(text: str, values: Mapping[str, str], *, closed: bool = False) -> str:
    """Fill in the variables of a YAML or JSON text whose values are known; the text keeps its lines.

    What has no value may have one that was not told, and stays, with its default; if the values are `closed`, it has
    none, and becomes its default, or nothing. Documents with the label or annotation
    `kustomize.toolkit.fluxcd.io/substitute: disabled` stay as they are. Values are text, as in Flux: what they mean
    where they stand is found out when the text is read, and they are not filled in themselves.

    Raises DocumentError where the text would become too large and, if the values are closed, for what is no variable
    or cannot be filled in here: Flux refuses the former.
    """
    if "$" not in text:
        return text
    substitution = _Substitution({name: re.sub(r"[\r\n]", "", known) for name, known in values.items()}, closed=closed)
    parts: list[str] = []
    for span in spans_of(text):
        part = text[span.start : span.end]
        parts.append(part if "$" not in part or _DISABLED.search(part) else substitution.fill_document(part))
        if substitution.room < 0:
            message = f"variables that add more than {MAX_ADDED >> 20} million characters to a file"
            raise DocumentError("too-large", span.line, message)
        if closed and substitution.refused:
            message = f"variables that cannot be filled in: {substitution.refused}"
            raise DocumentError("syntax-error", span.line, message)
    return "".join(parts)


class _OpenVariable(Struct, frozen=True, kw_only=True):
    """A variable with a default that is being read: how it began, its value, and what is written of its default."""

    begin: str
    known: str | None
    default: list[str]


class _Substitution:
    """Substitution in documents, as long as there is room for what it adds; then a document is not whole."""

    def __init__(self, known: Mapping[str, str], *, closed: bool) -> None:
        self._values, self._closed = known, closed
        self.room = MAX_ADDED
        # The beginning of the last expression that is no variable.
        self.refused = ""

    def fill_document(self, text: str) -> str:
        """Fill in a document.

        Kustomize writes no quotes around a variable that stands alone, so that Flux makes a number of `"${PORT}"`, and
        null of an empty value.
        """
        return self._fill(_QUOTED.sub(self._unquote, text))

    def _unquote(self, quoted: re.Match[str]) -> str:
        filled = self._fill(quoted[2])
        if not filled.strip():
            return "null"
        return filled if _TYPED.fullmatch(filled) else quoted[0]

    def _fill(self, text: str) -> str:
        """Fill in a text from its first character to its last, with variables in the defaults of others."""
        output: list[str] = []
        open_variables: list[_OpenVariable] = []
        position = 0
        while self.room >= 0 and (token := _TOKEN.search(text, position)):
            written = open_variables[-1].default if open_variables else output
            written.append(text[position : token.start()])
            position = token.end()
            if token["default"] and len(open_variables) < _MAX_NESTED:
                open_variables.append(_OpenVariable(begin=token[0], known=self._lookup(token["name"]), default=[]))
            elif token["end"] == "}" and open_variables:
                ended = open_variables.pop()
                written = open_variables[-1].default if open_variables else output
                written.append(self._close(ended))
            elif token["end"] == "\n":
                # What does not end where it began is none.
                output.extend(self._close_unfinished(open_variables))
                open_variables.clear()
                output.append("\n")
            elif token["escaped"]:
                written.append("$")
                # In a default, two dollar signs are two, and the second may begin a variable.
                position -= 1 if open_variables else 0
            elif token["begin"]:
                self.refused = text[token.start() : position + 20]
                written.append(token[0])
            else:
                filled = self._expand(token)
                written.append(token[0] if filled is None else self._take_room(filled))
        return "".join((*output, *self._close_unfinished(open_variables), text[position:]))

    def _lookup(self, name: str | None) -> str | None:
        return self._values.get(name or "", "" if self._closed else None)

    def _close(self, ended: _OpenVariable) -> str:
        default = "".join(ended.default)
        return f"{ended.begin}{default}}}" if ended.known is None else self._take_room(ended.known or default)

    def _close_unfinished(self, open_variables: list[_OpenVariable]) -> Iterator[str]:
        for opened in open_variables:
            self.refused = opened.begin
            yield from (opened.begin, *opened.default)

    def _take_room(self, filled: str) -> str:
        self.room -= len(filled)
        return filled

    def _expand(self, token: re.Match[str]) -> str | None:
        """Return the value that replaces a variable; None where its value is not known, or where it is no variable."""
        known = self._lookup(token["name"]) if token["name"] and not token["default"] else None
        if known is None:
            return None
        if token["case"]:
            change = str.upper if token["case"][0] == "^" else str.lower
            return change(known) if len(token["case"]) > 1 else change(known[:1]) + known[1:]
        if token["offset"]:
            start = int(token["offset"])
            return known[start : start + int(token["length"]) if token["length"] else None]
        return _replace(known, token["where"], token["old"], token["new"]) if token["old"] else known


def _replace(known: str, where: str, old: str, new: str) -> str:
    if where == "#":
        return new + known.removeprefix(old) if known.startswith(old) else known
    if where == "%":
        return known.removesuffix(old) + new if known.endswith(old) else known
    return known.replace(old, new, -1 if where else 1)
