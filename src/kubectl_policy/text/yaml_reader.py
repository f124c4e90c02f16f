"""YAML text to values, built from the parser's events, so that nothing recurses and no tag is ever acted on."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import yaml

from kubectl_policy.text import MAX_DEPTH, Document, DocumentError
from kubectl_policy.text.events import EVENT_PARSER, line_of, repeated_keys
from kubectl_policy.text.scalars import MERGE_KEY, ONLY_WORDS, PlainKeys, PlainScalars, key_of, plain_scalar, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json, Problem
    from kubectl_policy.text import ItemPosition
    from kubectl_policy.text.scalars import Scalar


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
# The tags that a file of our own may have.
_COLLECTION_TAGS: Final = ("!", _STANDARD + "map", _STANDARD + "seq")
_TEXT_TAGS: Final = ("!", _STANDARD + "str", _STANDARD + "timestamp", _BINARY_TAG)
_SCALAR_TAGS: Final[dict[str | None, tuple[type[object], ...]]] = {
    _STANDARD + "bool": (bool,),
    _STANDARD + "float": (int, float),
    _STANDARD + "int": (int,),
    _STANDARD + "null": (type(None),),
}


class YamlReader:
    """Reads YAML as kubectl does; one reader keeps equal keys and scalars of all that it reads once."""

    def __init__(self, *, strict: bool = False, words_are_text: bool = False) -> None:
        """Start without having met any scalar; `yes`, `no`, `on`, `off`, `y` and `n` are booleans, if not text.

        A strict one is for files of our own: it refuses keys that are not text, where kubectl takes what JSON makes of
        them, and tags that say nothing to it; what a merge key brings never replaces what is written next to it.
        """
        self.scalars = PlainScalars()
        self._keys = PlainKeys(only_text=strict)
        if words_are_text:
            self.scalars.update(ONLY_WORDS)
            self._keys.update(ONLY_WORDS)
        self._strict = strict

    @property
    def words(self) -> int:
        """How many booleans were met that are text to others."""
        return self.scalars.words + self._keys.words

    def read(self, text: str, first_line: int = 1) -> Iterator[Document]:
        """The documents of a text of which the first line has the given number.

        Raises DocumentError (syntax-error, too-deep, alias-bomb) where the text goes wrong, after what went before it.
        """
        builder = _Builder(self.scalars, self._keys, first_line, strict=self._strict)
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
                    yield builder.document(text, line_of(event))
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


class _Builder:
    """The document that is being read: the innermost open container, its key without a value, and the outer ones."""

    def __init__(self, scalars: PlainScalars, keys: PlainKeys, first_line: int, *, strict: bool) -> None:
        self._scalars, self._keys, self._first_line, self._strict = scalars, keys, first_line, strict
        self.handlers: dict[type[yaml.Event], Callable[..., None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._start,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceStartEvent: self._start,
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
        self._repeated_characters = 0
        self._item_lines: dict[ItemPosition, int] = {}
        self._has_repeated_keys = False

    def document(self, text: str, end: int) -> Document:
        """The document, once it is complete, in the text that it is read from; it ends on a line counted from 0."""
        problems: tuple[Problem, ...] = ()
        if self._has_repeated_keys:
            # A key below a merge key looks repeated here, and the line of the first one was not kept.
            lines = range(self._line, self._first_line + end + 1)
            problems = tuple(problem for problem in repeated_keys(text, self._first_line) if problem.line in lines)
        return Document(content=self._root[0], line=self._line, item_lines=self._item_lines, problems=problems)

    def _error(self, event: yaml.Event, message: str, rule: str = "syntax-error") -> DocumentError:
        return DocumentError(rule, self._first_line + line_of(event), message)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.anchor or event.tag:
            self._put_marked(event)
            return
        # Most events come here: hence no further calls, and the tables of what was met before.
        plain, text, container = event.implicit[0], event.value, self._container
        if isinstance(container, list):
            container.append(self._scalars[text] if plain else printable(text))
        elif self._key is None:
            key = self._keys[text] if plain else printable(text)
            self._key = self._unusual_key(event, text) if key is None else key
        elif isinstance(self._key, _Merge):
            self._merge(event, container, text)
        else:
            if self._key in container:
                self._has_repeated_keys = True
            container[self._key] = self._scalars[text] if plain else printable(text)
            self._key = None

    def _put_marked(self, event: yaml.ScalarEvent) -> None:
        """Take a scalar with an anchor or a tag, as `isMerge` and `scalar` in goyaml.v2/decode.go read it."""
        value = self._marked_scalar(event)
        if event.anchor:
            self._anchors[event.anchor] = value
        is_key = self._key is None and isinstance(self._container, dict)
        if is_key and event.value == MERGE_KEY and (event.implicit[0] or event.tag == _MERGE_TAG):
            self._key = _MERGE
        else:
            self._put(event, value)

    def _marked_scalar(self, event: yaml.ScalarEvent) -> Scalar:
        """The value of a scalar with an anchor or a tag; with a tag that nothing is known of, it is text."""
        tag, text = event.tag, printable(event.value)
        if not tag:
            return self._scalars[text] if event.implicit[0] else text
        if tag in _SCALAR_TAGS:
            value = plain_scalar(text)
            if type(value) not in _SCALAR_TAGS[tag]:
                raise self._error(event, "a value that is not of the type that its tag (!) names")
            return value
        if tag == _BINARY_TAG:
            return self._text_in_base64(event)
        if self._strict and tag not in _TEXT_TAGS:
            raise self._error(event, f"the tag {tag} means nothing here")
        return text

    def _text_in_base64(self, event: yaml.ScalarEvent) -> str:
        try:
            data = base64.b64decode(event.value.replace("\r", "").replace("\n", ""), validate=True)
        except ValueError:
            raise self._error(event, "a value that is not the base64 that its tag (!!binary) names") from None
        return data.decode("utf-8", "replace")

    def _start(self, event: yaml.CollectionStartEvent) -> None:
        stack, is_mapping = self._stack, event.__class__ is yaml.MappingStartEvent
        if self._key is None and isinstance(self._container, dict):
            raise self._error(event, "a mapping key that is itself a mapping or a list")
        if self._strict and event.tag and event.tag not in _COLLECTION_TAGS:
            raise self._error(event, f"the tag {event.tag} means nothing here")
        if len(stack) >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep", "too-deep")
        in_list = len(stack) > 1 and isinstance(self._container, list)
        if is_mapping and in_list and all(key == "items" for _, key in stack[1::2]):
            # An item of a List, which nothing but such lists is around.
            lists = [*(container for container, _ in stack[2::2]), self._container]
            self._item_lines[tuple(map(len, lists))] = self._first_line + line_of(event)
        container: _Container = {} if is_mapping else []
        if event.anchor:
            self._anchors[event.anchor] = container
        stack.append((self._container, self._key))
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
        self._count_repeated(value)
        if self._repeated > MAX_REPEATED or self._repeated_characters > MAX_REPEATED_CHARACTERS:
            limit = f"{MAX_REPEATED:,} values, or {MAX_REPEATED_CHARACTERS:,} characters"
            raise self._error(event, f"aliases (*) that repeat more than {limit}", "alias-bomb")
        self._put(event, value)

    def _count_repeated(self, value: Json) -> None:
        """Count the values in a value and their characters, no further than what may be repeated."""
        rest = [value]
        while rest and self._repeated <= MAX_REPEATED:
            item = rest.pop()
            self._repeated += 1
            if isinstance(item, str):
                self._repeated_characters += len(item)
            elif isinstance(item, list):
                rest.extend(item)
            elif isinstance(item, dict):
                self._repeated_characters += sum(map(len, item))
                rest.extend(item.values())

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
        if text == MERGE_KEY:
            return _MERGE
        raise self._error(event, self._keys.refusal)

    def _add(self, event: yaml.Event, value: Json) -> None:
        container = self._container
        if isinstance(container, list):
            container.append(value)
        elif isinstance(self._key, str):
            self._has_repeated_keys |= self._key in container
            container[self._key] = value
            self._key = None
        else:
            self._merge(event, container, value)

    def _merge(self, event: yaml.Event, into: dict[str, Json], value: Json) -> None:
        """Merge where the key stands, the first of several mappings last, as `merge` in goyaml.v2/decode.go does it.

        So a key above the merge key is overwritten, unlike what YAML's own definition of the merge key says, which a
        strict reader follows.
        """
        values = value if isinstance(value, list) else [value]
        merged: dict[str, Json] = {}
        for mapping in reversed(values):
            if not isinstance(mapping, dict):
                raise self._error(event, "a merge key (<<) with something else than a mapping or a list of mappings")
            merged.update(mapping)
        if self._strict:
            merged.update(into)
        into.update(merged)
        self._key = None
