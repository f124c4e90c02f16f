"""`-o jsonpath=`, `jsonpath-as-json=` and `custom-columns=`: parts of a document by paths, in kubectl's dialect.

Paths are evaluated by a library that follows RFC 9535; what is kubectl's own is read here: templates with `{range}`,
text and escaped dots.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from msgspec import Struct

from kubectl_policy.errors import UsageError
from kubectl_policy.render.output.columns import NONE, aligned
from kubectl_policy.render.output.escape import escape_in_json, escape_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jsonpath import CompoundJSONPath, JSONPath

    from kubectl_policy.model import Json
    from kubectl_policy.render.output.go_templates import GoTemplate
    from kubectl_policy.render.output.text import View

    Path: TypeAlias = JSONPath | CompoundJSONPath

_HINT: Final = "for example: get routes -o jsonpath='{.items[*].object.name}'"
_COLUMNS_HINT: Final = "for example: get routes -o custom-columns=NAME:.object.name,POLICIES:.policies[*].name"
# `{...}`, in which a quoted text or a filter may hold a brace.
_BRACES: Final = re.compile(r"""\{((?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\}""")
_QUOTED: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*""")
# A step of a path: `..`, a name with escaped characters, or what is in brackets.
_STEP: Final = re.compile(
    r"""(?P<deep>\.\.)|\.(?P<star>\*)|\.?(?P<name>(?:[^.\[\]\\\s]|\\.)+)|(?P<brackets>\[(?:[^\[\]"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\])*\])"""
)
_ESCAPES: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r"}


class _Literal(Struct, frozen=True):
    """Text that is shown as it is."""

    text: str


class _Values(Struct, frozen=True):
    """The values at a path, which is written as `text`, with a space between them."""

    text: str
    path: Path


class _Range(Struct, frozen=True):
    """A loop over the values at a path; paths in it start from each value."""

    text: str
    path: Path
    inner: tuple[_Literal | _Values | _Range, ...]


class Template:
    """A template of `-o jsonpath=`, as kubectl has them; one without braces is a path.

    Of `-o jsonpath-as-json=`, all that it shows is a JSON array for each path, and for each text.
    """

    def __init__(self, text: str, *, as_json: bool = False) -> None:
        """Read it. Raises `UsageError` for one that cannot be understood."""
        self._write = _array if as_json else _plain
        pieces = list(_pieces(text if "{" in text else f"{{{text}}}"))
        self._parts, rest = _parts(pieces, inside=False)
        if rest:
            raise UsageError("{end} in -o jsonpath without {range}", _HINT)

    def shown(self, document: Json, view: View) -> str:
        """Evaluate the template, without a line break at the end, as kubectl prints it."""
        del view
        return "".join(_evaluated(self._parts, document, self._write))

    def lacking(self, document: Json, shown: str) -> list[str]:
        """List the fields that a document lacks, whatever else of it is shown."""
        del shown
        return list(dict.fromkeys(_lacking(self._parts, [document], "")))


def _pieces(text: str) -> Iterator[str | _Literal]:
    """Return the text outside of braces, and what stands within each pair of them."""
    end = 0
    for match in _BRACES.finditer(text):
        yield _outside(text[end : match.start()])
        yield match[1].strip()
        end = match.end()
    yield _outside(text[end:])


def _outside(text: str) -> _Literal:
    if "{" in text or "}" in text:
        raise UsageError("a brace in -o jsonpath is not closed, or not opened", _HINT)
    return _Literal(text)


def _parts(
    pieces: Sequence[str | _Literal], *, inside: bool
) -> tuple[tuple[_Literal | _Values | _Range, ...], Sequence[str | _Literal]]:
    """Return the parts up to the `end` of a range, if they are inside one, and the pieces from there on."""
    parts: list[_Literal | _Values | _Range] = []
    while pieces:
        piece, pieces = pieces[0], pieces[1:]
        if isinstance(piece, _Literal):
            parts.append(piece)
        elif piece == "end":
            return tuple(parts), pieces if inside else [piece]
        elif piece.startswith("range "):
            inner, pieces = _parts(pieces, inside=True)
            path = piece.removeprefix("range ").strip()
            parts.append(_Range(path, compiled(path), inner))
        elif quoted := _QUOTED.fullmatch(piece):
            parts.append(_Literal(re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), quoted[1][1:-1])))
        else:
            parts.append(_Values(piece, compiled(piece)))
    if inside:
        raise UsageError("{range} in -o jsonpath has no {end}", _HINT)
    return tuple(parts), ()


def _evaluated(
    parts: Iterable[_Literal | _Values | _Range], document: Json, write: Callable[[_Literal | Sequence[object]], str]
) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Literal):
            yield write(part)
        elif isinstance(part, _Values):
            yield write(part.path.findall(document))
        else:
            for value in part.path.findall(document):
                yield from _evaluated(part.inner, cast("Json", value), write)


def _plain(part: _Literal | Sequence[object]) -> str:
    return part.text if isinstance(part, _Literal) else " ".join(map(_shown, part))


def _array(part: _Literal | Sequence[object]) -> str:
    if isinstance(part, _Literal) and not part.text:
        return ""
    values = [part.text] if isinstance(part, _Literal) else list(part)
    return f"{escape_in_json(json.dumps(values, indent=4))}\n"


def _lacking(parts: Iterable[_Literal | _Values | _Range], roots: Sequence[Json], at: str) -> Iterator[str]:
    """List the fields of paths that none of these values has; the values are `at` a path."""
    for part in parts:
        if not isinstance(part, _Literal):
            yield from _lacked(part.text, roots, at or "the document")
        if isinstance(part, _Range):
            within = [cast("Json", value) for root in roots for value in part.path.findall(root)]
            yield from _lacking(part.inner, within, f"{at}{part.text}")


def _lacked(path: str, roots: Sequence[Json], at: str) -> Iterator[str]:
    """Return the first field of a path that none of some values has, and what they have; nothing if the path leads on.

    That no value fits a filter or an index is no mistake, nor is that a list is empty.
    """
    nodes, written = list(roots), ""
    steps = list(_steps(path))
    for index, step in enumerate(steps):
        path_ = _path(step.standard)
        following = [cast("Json", node) for node_ in nodes for node in path_.findall(node_)]
        if not following:
            then = steps[index + 1].name if index + 1 < len(steps) else ""
            mappings = [node for node in nodes if isinstance(node, dict)]
            if step.name and mappings:
                yield f'{written or at} has no field "{step.name}"; {_instead(mappings, written, step.name, then)}'
            elif step.name and any(isinstance(node, list) for node in nodes):
                items = (item for node in nodes if isinstance(node, list) for item in node)
                is_in_items = any(isinstance(item, dict) and step.name in item for item in items)
                meant = f"did you mean {written}[*]{step.text}?" if is_in_items else f"no item has {step.name}"
                yield f"{written or at} is a list; {meant}"
            return
        nodes, written = following, f"{written}{step.text}"


def _instead(mappings: Sequence[Mapping[str, Json]], written: str, name: str, then: str) -> str:
    """Suggest a field that may be meant by a name that some mappings lack, with a field in it if there is one."""
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    fields = {key: value for mapping in reversed(mappings) for key, value in mapping.items()}
    near = difflib.get_close_matches(name, fields, n=1)
    around = [f"{key}.{then}" for key, value in fields.items() if isinstance(value, dict) and then in value]
    meant = (near or around)[:1]
    return f"did you mean {written}.{meant[0]}?" if meant else f"it has {', '.join(fields)}"


def _shown(value: object) -> str:
    """Return text with control characters made visible; anything else as JSON."""
    text = value if isinstance(value, str) else escape_in_json(json.dumps(value))
    return escape_lines(text)


class _PathStep(Struct, frozen=True):
    """A step of a path as it was written and as RFC 9535 writes it, and the `name` if it is that of a field."""

    text: str
    standard: str
    name: str = ""


def _steps(path: str) -> Iterator[_PathStep]:
    """Parse the steps of a path; a recursive step includes the one after it. Raises `UsageError` for no path."""
    rest, deep = path.strip().removeprefix("$").removeprefix("@"), ""
    while rest and rest != ".":
        match = _STEP.match(rest)
        if not match:
            raise UsageError(f'"{path}" is not a path: "{rest}" is not understood', _HINT)
        rest = rest[match.end() :]
        if match["deep"]:
            deep += ".."
            continue
        name = re.sub(r"\\(.)", r"\1", match["name"] or "")
        standard = match["brackets"] or ("[*]" if match["star"] or name == "*" else f"[{json.dumps(name)}]")
        text = match[0] if match["brackets"] or match[0].startswith(".") else f".{match[0]}"
        is_field = name not in {"", "*"} and not deep
        yield _PathStep(
            f"{deep}{text.removeprefix('.') if deep else text}", f"{deep}{standard}", name if is_field else ""
        )
        deep = ""
    if deep:
        yield _PathStep(deep, deep)


def compiled(path: str) -> Path:
    r"""Return a path in kubectl's dialect: `.items[*].name`, `items[0]`, `$.a`, `.a.b\.c/d`, `..name`, `[?(@.a=="b")]`.

    Raises `UsageError` for one that is none.
    """
    import jsonpath  # noqa: PLC0415 (no other format needs it)

    try:
        return _path("".join(step.standard for step in _steps(path)))
    except jsonpath.JSONPathError as error:
        raise UsageError(f'"{path}" is not a path: {str(error).splitlines()[0]}', _HINT) from error


def _path(steps: str) -> Path:
    import jsonpath  # noqa: PLC0415 (no other format needs it)

    return jsonpath.JSONPathEnvironment(strict=True).compile(f"${steps}")


class CustomColumns:
    """The columns of `-o custom-columns=`: a header and a path each, for every item of a list or for one document."""

    def __init__(self, text: str) -> None:
        """Read them. Raises `UsageError` for columns that cannot be understood."""
        pairs = [column.partition(":") for column in re.split(r",(?![^\[]*\])", text)]
        if not all(header and path for header, _, path in pairs):
            raise UsageError(f'"{text}" is not a list of columns: each is HEADER:PATH', _COLUMNS_HINT)
        columns = [(header.strip(), path.strip().strip("{}")) for header, _, path in pairs]
        self._columns = [(header, path, compiled(path)) for header, path in columns]

    def shown(self, document: Json, view: View) -> str:
        """Return a line for each item, under the headers; nothing for a list without any."""
        cells = self.cells(document)
        return "".join(f"{line}\n" for line in aligned([*[self.titles][: view.headers], *cells])) if cells else ""

    @property
    def titles(self) -> list[str]:
        """The headers."""
        return [title for title, *_ in self._columns]

    def cells(self, document: Json) -> list[list[str]]:
        """Return the cells of each item."""
        return [[",".join(map(_shown, path.findall(row))) for *_, path in self._columns] for row in _rows(document)]

    def lacking(self, document: Json, shown: str) -> list[str]:
        """List the fields of columns that the items lack, if a cell is empty."""
        if NONE not in shown:
            return []
        rows = _rows(document)
        return [message for _, path, _ in self._columns for message in _lacked(path, rows, "an item")]


def _rows(document: Json) -> list[Json]:
    """Return the items of a list, or of several lists; otherwise the document itself."""
    items = document.get("items") if isinstance(document, dict) else None
    return [row for item in items for row in _rows(item)] if isinstance(items, list) else [document]


def _go_template(text: str) -> GoTemplate:
    from kubectl_policy.render.output.go_templates import GoTemplate  # noqa: PLC0415 (no other format needs it)

    return GoTemplate(text)


TEMPLATES: Final[Mapping[str, Callable[[str], Template | CustomColumns | GoTemplate]]] = {
    "jsonpath": Template,
    "jsonpath-as-json": partial(Template, as_json=True),
    "custom-columns": CustomColumns,
    "go-template": _go_template,
}
