"""The events of a YAML text, from whichever of PyYAML's two parsers is there."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

import yaml

from kubectl_policy.text.document import MAX_DEPTH, Document, DocumentError
from kubectl_policy.text.yaml_dialect import MERGE_KEY, PlainKeys, PlainScalars, key_of, plain_scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.text.yaml_dialect import Scalar


class EventParser(Protocol):
    """What is used of a loader: its events, one after the other, up to a StreamEndEvent."""

    def get_event(self) -> yaml.Event:
        """The next event; raises yaml.YAMLError, and ValueError or OverflowError for characters that do not exist."""
        ...

    def peek_event(self) -> yaml.Event:
        """The event that comes next."""
        ...


# The C parser takes a tenth of the time; where PyYAML is built without it, the other one reports the same events.
# Neither recurses, nor does anything that reads their events, so that no nesting can exhaust the stack.
EVENT_PARSER: Final = cast("Callable[[str], EventParser]", getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def line_of(event: yaml.Event) -> int:
    """The line, from 0, on which what an event tells of starts."""
    return event.start_mark.line if event.start_mark else 0


# A document with aliases is expanded by whatever walks it; generated manifests repeat some hundreds of values.
MAX_REPEATED: Final = 100_000


class _Merge(Enum):
    KEY = MERGE_KEY


_Container: TypeAlias = "dict[str, Json] | list[Json]"
_Key: TypeAlias = "str | _Merge | None"

_STANDARD: Final = "tag:yaml.org,2002:"
_COLLECTION_TAGS: Final = ("!", _STANDARD + "map", _STANDARD + "seq")
_TEXT_TAGS: Final = (_STANDARD + "str", _STANDARD + "timestamp")
_SCALAR_TAGS: Final[dict[str | None, tuple[type[object], ...]]] = {
    _STANDARD + "bool": (bool,),
    _STANDARD + "float": (int, float),
    _STANDARD + "int": (int,),
    _STANDARD + "null": (type(None),),
}


class YamlReader:
    """Reads YAML as kubectl does; one reader keeps equal keys and scalars of all that it reads once."""

    def __init__(self) -> None:
        """Start without having met any scalar."""
        self._scalars = PlainScalars()
        self._keys = PlainKeys()

    def read(self, text: str, first_line: int = 1) -> Iterator[Document]:
        """The documents of a text of which the first line has the given number.

        Raises DocumentError (syntax-error, too-deep, alias-bomb) where the text goes wrong, after what went before it.
        """
        builder = _Builder(self._scalars, self._keys, first_line)
        handlers = builder.handlers
        try:
            parser = EVENT_PARSER(text)
            next_event = parser.get_event
            while (kind := (event := next_event()).__class__) is not yaml.StreamEndEvent:
                if kind in handlers:
                    handlers[kind](event)
                elif kind is yaml.DocumentStartEvent:
                    builder.start_document(line_of(parser.peek_event()))
                elif kind is yaml.DocumentEndEvent:
                    yield builder.document
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line if error.problem_mark else 0
            raise DocumentError("syntax-error", first_line + line, f"not valid YAML: {error.problem}") from None
        except (yaml.YAMLError, ValueError, OverflowError):
            raise DocumentError("syntax-error", first_line, "a character that YAML does not allow") from None


class _Builder:
    """The document that is being read: the innermost open container, its key without a value, and the outer ones."""

    def __init__(self, scalars: PlainScalars, keys: PlainKeys, first_line: int) -> None:
        self._scalars, self._keys, self._first_line = scalars, keys, first_line
        self.handlers: dict[type[yaml.Event], Callable[..., None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._start_mapping,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceStartEvent: self._start_sequence,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
        }
        self.start_document(0)

    def start_document(self, line: int) -> None:
        """Forget the last document; the content of the next one starts at a line of the text, counted from 0."""
        self._line = self._first_line + line
        self._root: list[Json] = []
        self._container: _Container = self._root
        self._key: _Key = None
        self._stack: list[tuple[_Container, _Key]] = []
        self._anchors: dict[str, Json] = {}
        self._repeated = 0
        self._item_lines: dict[int, int] = {}

    @property
    def document(self) -> Document:
        """The document, once it is complete."""
        return Document(self._root[0], self._line, self._item_lines)

    def _error(self, event: yaml.Event, message: str, rule: str = "syntax-error") -> DocumentError:
        return DocumentError(rule, self._first_line + line_of(event), message)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.anchor or event.tag:
            self._put(event, self._marked_scalar(event))
            return
        # Most events come here: hence no further calls, and the tables of what was met before.
        plain, text, container = event.implicit[0], event.value, self._container
        if isinstance(container, list):
            container.append(self._scalars[text] if plain else _printable(text))
        elif self._key is None:
            key = self._keys[text] if plain else _printable(text)
            self._key = self._unusual_key(event, text) if key is None else key
        elif self._key is _Merge.KEY:
            self._merge(event, container, text)
        else:
            container[self._key] = self._scalars[text] if plain else _printable(text)
            self._key = None

    def _marked_scalar(self, event: yaml.ScalarEvent) -> Scalar:
        """A scalar with an anchor or a tag."""
        value: Scalar = _printable(event.value)
        if event.tag in _SCALAR_TAGS:
            value = plain_scalar(event.value)
            if type(value) not in _SCALAR_TAGS[event.tag]:
                raise self._error(event, "a value that is not of the type that its tag (!) names")
        elif event.tag in {None, "!"}:
            value = plain_scalar(event.value) if event.implicit[0] else value
        elif event.tag not in _TEXT_TAGS:
            raise self._error(event, "a tag (!) that no Kubernetes object has")
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _start_mapping(self, event: yaml.MappingStartEvent) -> None:
        mapping: dict[str, Json] = {}
        if self._stack and self._stack[-1][1] == "items" and isinstance(self._container, list):
            self._item_lines[id(mapping)] = self._first_line + line_of(event)
        self._start(event, mapping)

    def _start_sequence(self, event: yaml.SequenceStartEvent) -> None:
        self._start(event, [])

    def _start(self, event: yaml.CollectionStartEvent, container: _Container) -> None:
        if self._key is None and isinstance(self._container, dict):
            raise self._error(event, "a mapping key that is itself a mapping or a list")
        if event.tag and event.tag not in _COLLECTION_TAGS:
            raise self._error(event, "a tag (!) that no Kubernetes object has")
        if len(self._stack) >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep", "too-deep")
        if event.anchor:
            self._anchors[event.anchor] = container
        self._stack.append((self._container, self._key))
        self._container, self._key = container, None

    def _end(self, event: yaml.CollectionEndEvent) -> None:
        value = self._container
        self._container, self._key = self._stack.pop()
        self._add(event, value)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise self._error(event, "an alias (*) of something that has no anchor (&) above it")
        value = self._anchors[event.anchor]
        if value is self._container or any(value is container for container, _ in self._stack):
            raise self._error(event, "an alias (*) inside of what it repeats", "alias-bomb")
        self._repeated += _size(value, MAX_REPEATED)
        if self._repeated > MAX_REPEATED:
            raise self._error(event, f"aliases (*) that repeat more than {MAX_REPEATED:,} values", "alias-bomb")
        self._put(event, value)

    def _put(self, event: yaml.NodeEvent, value: Json) -> None:
        """Take a value that may stand where a key is expected."""
        if self._key is not None or isinstance(self._container, list):
            self._add(event, value)
        elif isinstance(value, list | dict):
            raise self._error(event, "a mapping key that is itself a mapping or a list")
        else:
            key = key_of(cast("Scalar", value))
            self._key = self._unusual_key(event, "") if key is None else key

    def _unusual_key(self, event: yaml.Event, text: str) -> _Merge:
        if text != MERGE_KEY:
            raise self._error(event, "a mapping key that is null")
        return _Merge.KEY

    def _add(self, event: yaml.Event, value: Json) -> None:
        container = self._container
        if isinstance(container, list):
            container.append(value)
        elif isinstance(self._key, str):
            container[self._key] = value
            self._key = None
        else:
            self._merge(event, container, value)

    def _merge(self, event: yaml.Event, into: dict[str, Json], value: Json) -> None:
        """Merge where the key stands, the first of several mappings last, as `merge` in goyaml.v2/decode.go does it.

        So a key above the merge key is overwritten, unlike what YAML's own definition of the merge key says.
        """
        values = value if isinstance(value, list) else [value]
        for mapping in reversed(values):
            if not isinstance(mapping, dict):
                raise self._error(event, "a merge key (<<) with something else than a mapping or a list of mappings")
            into.update(mapping)
        self._key = None


def _printable(text: str) -> str:
    """A text; ValueError for half a surrogate pair, which the C parser refuses anyway and the other one lets in."""
    return text if text.isascii() else text.encode().decode()


def _size(value: Json, limit: int) -> int:
    """How many values there are in a value, counted until there are more than the limit."""
    count, rest = 0, [value]
    while rest and count <= limit:
        item = rest.pop()
        count += 1
        if isinstance(item, list):
            rest.extend(item)
        elif isinstance(item, dict):
            rest.extend(item.values())
    return count
