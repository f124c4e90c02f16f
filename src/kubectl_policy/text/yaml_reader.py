"""Exact reader of YAML: values as kubectl has them, and their lines; nothing recurses and no tag is acted on."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import yaml

from kubectl_policy.model import FieldPath, Problem
from kubectl_policy.text import MAX_DEPTH, Document, DocumentError, ValueLines
from kubectl_policy.text.scalars import MERGE_KEY, OLD_BOOLEANS, PlainScalars, key_of, plain_scalar, require_encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.text.scalars import Scalar


# The C parser takes a tenth of the time; where PyYAML is built without it, the other one reports the same events.
# Neither recurses, nor does anything that reads their events, so that no nesting can exhaust the stack.
PARSER: Final[type[Any]] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# A document with aliases is expanded by what walks or prints it; generated manifests repeat some hundreds of values.
MAX_REPEATED: Final = 100_000
MAX_REPEATED_CHARACTERS: Final = 100 * MAX_REPEATED


class _Merge:
    """The key under which stands what a mapping takes over from others."""


_Container: TypeAlias = "dict[str, Json] | list[Json]"
_Key: TypeAlias = "str | _Merge | None"

_MERGE: Final = _Merge()
_STANDARD: Final = "tag:yaml.org,2002:"
_MERGE_TAG: Final = _STANDARD + "merge"
_BINARY_TAG: Final = _STANDARD + "binary"
_SCALAR_TAGS: Final[dict[str | None, tuple[type[object], ...]]] = {
    _STANDARD + "bool": (bool,),
    _STANDARD + "float": (int, float),
    _STANDARD + "int": (int,),
    _STANDARD + "null": (type(None),),
}


class YamlReader:
    """Reads YAML as kubectl does, one text after the other; equal scalars of all texts are kept once.

    The document that is being read is the innermost open container, its key without a value, and the outer ones.
    """

    def __init__(self, *, old_booleans_are_text: bool = False, merge_replaces: bool = True) -> None:
        """Start without a text; `yes`, `no`, `on`, `off`, `y` and `n` are booleans, or else text.

        A merge key replaces keys above it, as goyaml.v2 has it, or none, as YAML defines it.
        """
        self._merge_replaces = merge_replaces
        self._scalars = PlainScalars(OLD_BOOLEANS if old_booleans_are_text else {})
        self._handlers: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.DocumentStartEvent: self._start_document,
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._start,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceStartEvent: self._start,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
        }

    def read(self, text: str, first_line: int = 1) -> Iterator[Document]:
        """Read the documents of a text of which the first line has the given number.

        Raises DocumentError (syntax-error, too-deep, alias-bomb) where the text goes wrong, after the documents above.
        """
        self._first_line = first_line
        self._start_document()
        try:
            for event in yaml.parse(text, Loader=PARSER):
                kind = event.__class__
                if kind in self._handlers:
                    self._handlers[kind](event)
                elif kind is yaml.DocumentEndEvent:
                    yield self.document
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line if error.problem_mark else 0
            lines = text.split("\n", line + 1)
            written = lines[line].partition("#")[0] if line < len(lines) else ""
            problem = error.problem or ""
            if "\t" in written:
                hint = "YAML indents with spaces"
                problem = f"a tab; {hint}" if "cannot start any token" in problem else f"{problem} ({hint}, not tabs)"
            raise DocumentError("syntax-error", first_line + line, f"not valid YAML: {problem}") from None
        except (yaml.YAMLError, ValueError, OverflowError):
            raise DocumentError("syntax-error", first_line, "a character that YAML does not allow") from None

    @property
    def document(self) -> Document:
        """The document that is being read, as far as it was read."""
        content = self._root[0] if self._root else None
        line = self._lines.fields[id(self._root)].get(0, self._first_line)
        return Document(content=content, line=line, lines=self._lines, problems=tuple(self._problems))

    def _start_document(self, _: object = None) -> None:
        self._root: list[Json] = []
        self._container: _Container = self._root
        self._key: _Key = None
        self._key_line = 0
        self._stack: list[tuple[_Container, _Key]] = []
        self._anchors: dict[str, Json] = {}
        self._repeated = 0
        self._repeated_characters = 0
        self._lines = ValueLines()
        self._fields = self._lines.fields[id(self._root)] = {}
        # Keys that a merge key brought into an open mapping, which may be given again.
        self._merged: set[tuple[int, str]] = set()
        # What is merged or replaced is kept: an identity stands for one container as long as the document is read.
        self._kept: list[Json] = []
        self._problems: list[Problem] = []

    def _line_of(self, event: yaml.Event) -> int:
        return self._first_line + (event.start_mark.line if event.start_mark else 0)

    def _error(self, event: yaml.Event, message: str, rule: str = "syntax-error") -> DocumentError:
        return DocumentError(rule, self._line_of(event), message)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        """Take a scalar, as `isMerge` and `scalar` in goyaml.v2/decode.go read it."""
        text, container, key = event.value, self._container, self._key
        if event.tag:
            value = self._tagged_scalar(event)
        else:
            value = self._scalars[text] if event.implicit[0] else require_encodable(text)
        if event.anchor:
            self._anchors[event.anchor] = value
        if isinstance(container, dict) and isinstance(key, str) and key not in container:
            # Most values come here: hence no further calls.
            container[key] = value
            self._fields[key] = self._key_line
            self._key = None
        elif isinstance(container, dict) and key is None:
            is_merge = text == MERGE_KEY and (event.implicit[0] or event.tag == _MERGE_TAG)
            self._start_field(event, _MERGE if is_merge else value)
        else:
            self._add(event, value)

    def _tagged_scalar(self, event: yaml.ScalarEvent) -> Scalar:
        """Return the value of a scalar with a tag; with an unknown tag, it is text."""
        tag, text = event.tag, require_encodable(event.value)
        if tag in _SCALAR_TAGS:
            value = plain_scalar(text)
            if type(value) not in _SCALAR_TAGS[tag]:
                raise self._error(event, "a value that is not of the type that its tag (!) names")
            return value
        if tag != _BINARY_TAG:
            return text
        try:
            data = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
        except ValueError:
            raise self._error(event, "a value that is not the base64 that its tag (!!binary) names") from None
        return data.decode("utf-8", "replace")

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep", "too-deep")
        parent, key = self._container, self._key
        container: _Container = {} if event.__class__ is yaml.MappingStartEvent else []
        if key is not _MERGE:
            self._add(event, container)
        if event.anchor:
            self._anchors[event.anchor] = container
        self._stack.append((parent, key))
        self._container, self._key = container, None
        self._fields = self._lines.fields[id(container)] = {None: self._line_of(event)}
        if parent.__class__ is list:
            self._lines.items.append(container)

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        value = self._container
        self._container, key = self._stack.pop()
        self._fields = self._lines.fields[id(self._container)]
        self._key = None
        if key is _MERGE:
            self._merge(event, value)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise self._error(event, "an alias (*) of something that has no anchor (&) above it")
        value = self._anchors[event.anchor]
        if value is self._container or any(value is container for container, _ in self._stack):
            raise self._error(event, "an alias (*) inside of what it repeats", "alias-bomb")
        self._count_repeated(value)
        if self._repeated > MAX_REPEATED or self._repeated_characters > MAX_REPEATED_CHARACTERS:
            limit = f"{MAX_REPEATED:,} values, or {MAX_REPEATED_CHARACTERS:,} characters"
            raise self._error(event, f"aliases (*) that repeat more than {limit}", "alias-bomb")
        self._add(event, value)

    def _count_repeated(self, value: Json) -> None:
        """Count the values in a value and their characters, no further than what may be repeated."""
        uncounted = [value]
        while uncounted and self._repeated <= MAX_REPEATED:
            part = uncounted.pop()
            self._repeated += 1
            if isinstance(part, str):
                self._repeated_characters += len(part)
            elif isinstance(part, list):
                uncounted.extend(part)
            elif isinstance(part, dict):
                self._repeated_characters += sum(map(len, part))
                uncounted.extend(part.values())

    def _add(self, event: yaml.NodeEvent, value: Json) -> None:
        """Take an item, a key or the value of a key, and note its line."""
        container, key = self._container, self._key
        if isinstance(container, list):
            self._fields[len(container)] = self._line_of(event)
            container.append(value)
        elif isinstance(key, str):
            if (id(container), key) in self._merged:
                self._merged.remove((id(container), key))
            elif key in container:
                self._kept.append(container[key])
                path = FieldPath((*self._steps(), key))
                message = f"{path} is given twice: it is on line {self._fields[key]} as well"
                self._problems.append(Problem(message=message, reason="repeated-key", line=self._key_line))
            self._fields[key] = self._key_line
            container[key] = value
            self._key = None
        elif key is _MERGE:
            self._merge(event, value)
        else:
            self._start_field(event, value)

    def _start_field(self, event: yaml.NodeEvent, value: Json | _Merge) -> None:
        if isinstance(value, str | _Merge):
            self._key = value
        elif isinstance(value, list | dict):
            raise self._error(event, "a mapping key that is itself a mapping or a list")
        else:
            self._key = key_of(cast("Scalar", value))
            if self._key is None:
                raise self._error(event, "a mapping key that is null")
        self._key_line = self._line_of(event)

    def _steps(self) -> Iterator[str | int]:
        for container, key in self._stack[1:]:
            yield len(container) - 1 if isinstance(container, list) else key if isinstance(key, str) else MERGE_KEY

    def _merge(self, event: yaml.Event, value: Json) -> None:
        """Merge where the key stands, the first of several mappings last, as `merge` in goyaml.v2/decode.go does it."""
        self._key = None
        self._kept.append(value)
        container, fields = cast("dict[str, Json]", self._container), self._fields
        kept = () if self._merge_replaces else frozenset(container)
        for mapping in reversed(value if isinstance(value, list) else [value]):
            if not isinstance(mapping, dict):
                raise self._error(event, "a merge key (<<) with something else than a mapping or a list of mappings")
            for key in mapping:
                if key not in kept:
                    container[key], fields[key] = mapping[key], self._lines.fields[id(mapping)][key]
                    self._merged.add((id(container), key))
