"""A YAML text that a person wrote, as plain values, with the line of each; read without trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TypeAlias, cast

from kubectl_policy.errors import ProfileError

if TYPE_CHECKING:
    from collections.abc import Sequence

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"
Path: TypeAlias = "Sequence[str | int]"

# What such files hold is a few levels deep; PyYAML's C composer would end the process at some ten thousand.
MAX_DEPTH: Final = 40
# Values with what aliases repeat: some two thousand kinds.
MAX_VALUES: Final = 100_000

_TAG: Final = "tag:yaml.org,2002:"
_TRUE: Final = frozenset({"yes", "true", "on"})
_COLLECTIONS: Final = frozenset({"!", f"{_TAG}map", f"{_TAG}seq"})
# Text as it stands: a date or a base-60 number is what its author wrote, nothing here takes one.
_TEXTS: Final = frozenset({"!", *(f"{_TAG}{name}" for name in ("str", "timestamp", "value"))})


class Node(Protocol):
    """What is used of a node of PyYAML's."""

    id: str
    tag: str
    value: Any
    start_mark: Any


@dataclass(frozen=True, slots=True)
class Document:
    """What a text says; `source` is where it came from."""

    source: str
    value: Plain
    tree: Node | None

    def refuse(self, path: Path, message: str, hint: str) -> NoReturn:
        """Raise `ProfileError` with the line of the value at a path, the path and what is wrong there."""
        raise ProfileError(f"{self.source}:{self.line_of(path)}: {field_words(path)}: {message}", hint)

    def line_of(self, path: Path) -> int:
        """The line (from 1) of the value at a path, or of the nearest thing above it."""
        node, line = self.tree, _line(self.tree) if self.tree else 1
        for part in path:
            found = _below(node, part)
            if found is None:
                break
            line, node = found
        return line


def field_words(path: Path) -> str:
    """`kinds.RetryPolicy.declaredTargets[1].kind`; `the file` for the whole of it."""
    words = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return words.removeprefix(".") or "the file"


def read_document(text: str, source: str, hint: str) -> Document:
    """The one document of a text. Raises `ProfileError` with its line for anything that is not plain YAML."""
    import yaml  # noqa: PLC0415 (only where somebody wrote a file)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_structure(text, loader)
        tree = cast("Node | None", yaml.compose(text, Loader=loader))
        return Document(source, _Values().of(tree) if tree else None, tree)
    except _RefusedError as error:
        where, problem = error.line, str(error)
    except yaml.MarkedYAMLError as error:
        lines = text.rstrip("\n").split("\n")
        # The end of the text is on the line after the last one.
        where = min(error.problem_mark.line + 1 if error.problem_mark else 1, len(lines))
        problem = f"not valid YAML: {error.problem}"
        if "\t" in lines[where - 1].partition("#")[0]:
            problem += " (YAML is indented with spaces, not with tabs)"
    except (yaml.YAMLError, ValueError, OverflowError):
        where, problem = 1, "not valid YAML: it has characters that no text has"
    raise ProfileError(f"{source}:{where}: {problem}", hint)


class _RefusedError(Exception):
    """What is YAML, and no plain values."""

    def __init__(self, node: Any, message: str) -> None:  # noqa: ANN401 (a node or an event, which share their marks)
        super().__init__(message)
        self.line = _line(node)


def _line(node: Any) -> int:  # noqa: ANN401 (a node or an event)
    return int(node.start_mark.line) + 1 if node.start_mark else 1


def _check_structure(text: str, loader: Any) -> None:  # noqa: ANN401 (either of PyYAML's two parsers)
    import yaml  # noqa: PLC0415 (see read_document)

    depth = documents = 0
    for event in yaml.parse(text, Loader=loader):
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1:
            raise _RefusedError(event, "a second document: one file holds one")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _RefusedError(event, "nested too deeply")


class _Values:
    """The values of nodes, counting them with what aliases repeat."""

    def __init__(self) -> None:
        self._left = MAX_VALUES

    def of(self, node: Node, depth: int = 0) -> Plain:
        self._left -= 1
        if self._left < 0:
            raise _RefusedError(node, f"more than {MAX_VALUES} values, with what aliases repeat")
        if depth > MAX_DEPTH:
            raise _RefusedError(node, "nested too deeply: an alias stands within what it names")
        if node.id == "scalar":
            return _scalar(node)
        if node.tag not in _COLLECTIONS:
            raise _RefusedError(node, f"the tag {node.tag} means nothing here")
        if node.id == "sequence":
            return [self.of(child, depth + 1) for child in node.value]
        return self._mapping(node, depth)

    def _mapping(self, node: Node, depth: int) -> dict[str, Plain]:
        merged: dict[str, Plain] = {}
        found: dict[str, Plain] = {}
        for key, child in cast("list[tuple[Node, Node]]", node.value):
            value = self.of(child, depth + 1)
            if key.tag == f"{_TAG}merge":
                # Of several, the first counts, and what stands beside it counts before any.
                for mapping in value if isinstance(value, list) else [value]:
                    if not isinstance(mapping, dict):
                        raise _RefusedError(child, "<< takes a mapping, or a list of mappings")
                    merged = {**mapping, **merged}
                continue
            name = self.of(key, depth + 1)
            if not isinstance(name, str):
                raise _RefusedError(key, "the name of a field must be text: put it in quotes")
            if name in found:
                raise _RefusedError(key, f"{name} is given twice")
            found[name] = value
        return {**merged, **found}


def _scalar(node: Node) -> Plain:
    kind, text = node.tag.removeprefix(_TAG), str(node.value)
    if node.tag in _TEXTS:
        return text
    if kind == "bool":
        return text.lower() in _TRUE
    if kind == "null":
        return None
    if kind in {"int", "float"}:
        return _number(text)
    raise _RefusedError(node, f"the tag {node.tag} means nothing here")


def _number(text: str) -> Plain:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _below(node: Node | None, part: str | int) -> tuple[int, Node] | None:
    """The value at a key or an index, and its line; None where it comes from elsewhere, by way of a merge key."""
    if node is None or node.id == "scalar":
        return None
    if isinstance(part, int):
        item = cast("list[Node]", node.value)[part]
        return _line(item), item
    pairs = cast("list[tuple[Node, Node]]", node.value)
    return next(((_line(key), value) for key, value in pairs if key.value == part), None)
