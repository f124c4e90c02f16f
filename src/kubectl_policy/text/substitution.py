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
    """A text of YAML or JSON with the variables filled in whose values are known; it keeps its lines.

    What has no value may have one that was not told, and stays, with its default; if the values are `closed`, it has
    none, and becomes its default, or nothing. Documents with the label or annotation
    `kustomize.toolkit.fluxcd.io/substitute: disabled` stay as they are. Values are text, as in Flux: what they mean
    where they stand is found out when the text is read, and they are not filled in themselves.

    Raises DocumentError where the text would become too large and, if the values are closed, for what is no variable
    or cannot be filled in here: Flux refuses the former.
    """
    if "$" not in text:
        return text
    filling = _Filling({name: re.sub(r"[\r\n]", "", known) for name, known in values.items()}, closed=closed)
    done: list[str] = []
    for span in spans_of(text):
        part = text[span.start : span.end]
        done.append(part if "$" not in part or _DISABLED.search(part) else filling.document(part))
        if filling.room < 0:
            message = f"variables that add more than {MAX_ADDED >> 20} million characters to a file"
            raise DocumentError("too-large", span.line, message)
        if closed and filling.refused:
            message = f"variables that cannot be filled in: {filling.refused}"
            raise DocumentError("syntax-error", span.line, message)
    return "".join(done)


class _OpenVariable(Struct, frozen=True, kw_only=True):
    """A variable with a default that is being read: how it began, its value, and what is written of its default."""

    begin: str
    known: str | None
    default: list[str]


class _Filling:
    """Fills in documents as long as there is room for what that adds; what it returns then is not whole.

    `refused` is how the last thing began that is no variable.
    """

    def __init__(self, known: Mapping[str, str], *, closed: bool) -> None:
        self._known, self._closed = known, closed
        self.room = MAX_ADDED
        self.refused = ""

    def document(self, text: str) -> str:
        """A document with what is known filled in.

        Kustomize writes no quotes around a variable that stands alone, so that Flux makes a number of `"${PORT}"`.
        """
        return self._filled(_QUOTED.sub(self._unquoted, text))

    def _unquoted(self, quoted: re.Match[str]) -> str:
        filled = self._filled(quoted[2])
        return filled if _TYPED.fullmatch(filled) else quoted[0]

    def _filled(self, text: str) -> str:
        """A text with what is known filled in, from its first character to its last, however it is nested."""
        whole: list[str] = []
        around: list[_OpenVariable] = []
        at = 0
        while self.room >= 0 and (token := _TOKEN.search(text, at)):
            written = around[-1].default if around else whole
            written.append(text[at : token.start()])
            at = token.end()
            if token["default"] and len(around) < _MAX_NESTED:
                around.append(_OpenVariable(begin=token[0], known=self._known_of(token["name"]), default=[]))
            elif token["end"] == "}" and around:
                ended = around.pop()
                written = around[-1].default if around else whole
                written.append(self._ended(ended))
            elif token["end"] == "\n":
                # What does not end where it began is none.
                whole.extend(self._unfinished(around))
                around.clear()
                whole.append("\n")
            elif token["escaped"]:
                written.append("$")
                # In a default, two dollar signs are two, and the second may begin a variable.
                at -= 1 if around else 0
            elif token["begin"]:
                self.refused = text[token.start() : at + 20]
                written.append(token[0])
            else:
                filled = self._value_of(token)
                written.append(token[0] if filled is None else self._count(filled))
        return "".join((*whole, *self._unfinished(around), text[at:]))

    def _known_of(self, name: str | None) -> str | None:
        return self._known.get(name or "", "" if self._closed else None)

    def _ended(self, ended: _OpenVariable) -> str:
        default = "".join(ended.default)
        return f"{ended.begin}{default}}}" if ended.known is None else self._count(ended.known or default)

    def _unfinished(self, around: list[_OpenVariable]) -> Iterator[str]:
        for opened in around:
            self.refused = opened.begin
            yield from (opened.begin, *opened.default)

    def _count(self, filled: str) -> str:
        self.room -= len(filled)
        return filled

    def _value_of(self, token: re.Match[str]) -> str | None:
        """What a variable becomes; None where its value is not known, or where it is no variable."""
        known = self._known_of(token["name"]) if token["name"] and not token["default"] else None
        if known is None:
            return None
        if token["case"]:
            change = str.upper if token["case"][0] == "^" else str.lower
            return change(known) if len(token["case"]) > 1 else change(known[:1]) + known[1:]
        if token["offset"]:
            start = int(token["offset"])
            return known[start : start + int(token["length"]) if token["length"] else None]
        return _replaced(known, token["where"], token["old"], token["new"]) if token["old"] else known


def _replaced(known: str, where: str, old: str, new: str) -> str:
    if where == "#":
        return new + known.removeprefix(old) if known.startswith(old) else known
    if where == "%":
        return known.removesuffix(old) + new if known.endswith(old) else known
    return known.replace(old, new, -1 if where else 1)
