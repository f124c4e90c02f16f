"""`-o jsonpath=` and `-o custom-columns=`: what a user wants to see of a document, in kubectl's dialect.

Paths are evaluated by a library that follows RFC 9535; what is kubectl's own is read here: templates with `{range}`,
text and escaped dots.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from kubectl_policy.errors import UsageError
from kubectl_policy.model.values import value
from kubectl_policy.render.output.columns import aligned
from kubectl_policy.render.output.escape import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jsonpath import CompoundJSONPath, JSONPath

    from kubectl_policy.model import Json
    from kubectl_policy.render.output.text import View

    Path: TypeAlias = JSONPath | CompoundJSONPath

_HINT: Final = "for example: -o jsonpath='{.items[*].object.name}'"
_COLUMNS_HINT: Final = "for example: -o custom-columns=NAME:.object.name,POLICIES:.policies[*].name"
# `{...}`, in which a quoted text or a filter may hold a brace.
_BRACES: Final = re.compile(r"""\{((?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\}""")
_QUOTED: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*""")
# A step of a path: `..`, a name with escaped characters, or what is in brackets.
_STEP: Final = re.compile(
    r"""(?P<deep>\.\.)|\.(?P<star>\*)|\.?(?P<name>(?:[^.\[\]\\\s]|\\.)+)|(?P<brackets>\[(?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\])*\])"""
)
_ESCAPES: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r"}


@value()
class _Text:
    """Text that is shown as it is."""

    text: str


@value()
class _Values:
    """The values at a path, with a space between them."""

    path: Path


@value()
class _Range:
    """What is shown for each value at a path, of which the paths in it start from."""

    path: Path
    inner: tuple[_Text | _Values | _Range, ...]


class Template:
    """A template of `-o jsonpath=`, as kubectl has them; one without braces is a path."""

    def __init__(self, text: str) -> None:
        """Read it. Raises `UsageError` for one that cannot be understood."""
        pieces = list(_pieces(text if "{" in text else f"{{{text}}}"))
        self._parts, rest = _parts(pieces, inside=False)
        if rest:
            raise UsageError("{end} in -o jsonpath without {range}", _HINT)

    def shown(self, document: Json, view: View) -> str:
        """What it says of a document, without a line break at the end, as kubectl prints it."""
        del view
        return "".join(_evaluated(self._parts, document))


def _pieces(text: str) -> Iterator[str | _Text]:
    """The text outside of braces, and what stands within each pair of them."""
    end = 0
    for match in _BRACES.finditer(text):
        yield _outside(text[end : match.start()])
        yield match[1].strip()
        end = match.end()
    yield _outside(text[end:])


def _outside(text: str) -> _Text:
    if "{" in text or "}" in text:
        raise UsageError("a brace in -o jsonpath is not closed, or not opened", _HINT)
    return _Text(text)


def _parts(
    pieces: Sequence[str | _Text], *, inside: bool
) -> tuple[tuple[_Text | _Values | _Range, ...], Sequence[str | _Text]]:
    """The parts up to the `end` of a range, if they are inside one, and the pieces from there on."""
    parts: list[_Text | _Values | _Range] = []
    while pieces:
        piece, pieces = pieces[0], pieces[1:]
        if isinstance(piece, _Text):
            parts.append(piece)
        elif piece == "end":
            return tuple(parts), pieces if inside else [piece]
        elif piece.startswith("range "):
            inner, pieces = _parts(pieces, inside=True)
            parts.append(_Range(compiled(piece.removeprefix("range ")), inner))
        elif quoted := _QUOTED.fullmatch(piece):
            parts.append(_Text(_unquoted(quoted[1])))
        else:
            parts.append(_Values(compiled(piece)))
    if inside:
        raise UsageError("{range} in -o jsonpath has no {end}", _HINT)
    return tuple(parts), ()


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


def _evaluated(parts: Iterable[_Text | _Values | _Range], document: Json) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Text):
            yield part.text
        elif isinstance(part, _Values):
            yield " ".join(map(_shown, part.path.findall(document)))
        else:
            for found in part.path.findall(document):
                yield from _evaluated(part.inner, cast("Json", found))


def _shown(found: object) -> str:
    """Text as it is but for what a terminal would obey, anything else as JSON."""
    text = found if isinstance(found, str) else json.dumps(found)
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n"))


def compiled(path: str) -> Path:
    r"""A path in kubectl's dialect: `.items[*].name`, `items[0]`, `$.a`, `.a.b\.c/d`, `..name`, `[?(@.a=="b")]`.

    Raises `UsageError` for one that is none.
    """
    import jsonpath  # noqa: PLC0415 (no other format needs it)

    steps: list[str] = []
    rest = path.strip().removeprefix("$").removeprefix("@")
    while rest and rest != ".":
        match = _STEP.match(rest)
        if not match:
            raise UsageError(f'"{path}" is not a path: "{rest}" is not understood', _HINT)
        rest = rest[match.end() :]
        steps.append(_standard(match))
    try:
        return jsonpath.JSONPathEnvironment(strict=True).compile(f"${''.join(steps)}")
    except jsonpath.JSONPathError as error:
        raise UsageError(f'"{path}" is not a path: {str(error).splitlines()[0]}', _HINT) from error


def _standard(match: re.Match[str]) -> str:
    """A step as RFC 9535 writes it."""
    if match["deep"]:
        return ".."
    if match["star"]:
        return "[*]"
    if match["name"] is None:
        return match["brackets"]
    name = re.sub(r"\\(.)", r"\1", match["name"])
    return f"[{json.dumps(name)}]" if name != "*" else "[*]"


class CustomColumns:
    """The columns of `-o custom-columns=`: a header and a path each, for every item of a list or for one document."""

    def __init__(self, text: str) -> None:
        """Read them. Raises `UsageError` for columns that cannot be understood."""
        pairs = [column.partition(":") for column in re.split(r",(?![^\[]*\])", text)]
        if not all(header and path for header, _, path in pairs):
            raise UsageError(f'"{text}" is not a list of columns: each is HEADER:PATH', _COLUMNS_HINT)
        self._columns = [(header.strip(), compiled(path.strip().strip("{}"))) for header, _, path in pairs]

    def shown(self, document: Json, view: View) -> str:
        """A line for each item, under the headers; nothing for a list without any."""
        items = document.get("items") if isinstance(document, dict) else None
        rows = items if isinstance(items, list) else [document]
        cells = [[",".join(map(_shown, path.findall(row))) for _, path in self._columns] for row in rows]
        header = [[title for title, _ in self._columns]] if view.headers else []
        return "".join(f"{line}\n" for line in aligned([*header, *cells])) if cells else ""


TEMPLATES: Final[Mapping[str, Callable[[str], Template | CustomColumns]]] = {
    "jsonpath": Template,
    "custom-columns": CustomColumns,
}
