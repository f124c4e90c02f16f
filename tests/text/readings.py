"""Reading texts with each of the two readers of YAML, and what commands print then."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Final, Literal, NamedTuple, TypeAlias

import pytest

from kubectl_policy.cli import run
from kubectl_policy.model import Json
from kubectl_policy.text import Document, Unread, documents, fast_yaml, inherited_fields
from kubectl_policy.text.documents import DocumentReader
from kubectl_policy.text.yaml_reader import YamlReader

# As both readers read, as the exact one reads alone, and with nothing kept but heads.
Mode: TypeAlias = Literal["usual", "exact", "deferred"]
MODES: Final[tuple[Mode, ...]] = ("usual", "exact", "deferred")


@contextmanager
def reading(mode: Mode) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        if mode == "exact":
            patched.setattr(fast_yaml, "fast_parser", lambda: None)
        if mode == "deferred":
            patched.setattr(documents, "MAX_KEPT", 0)
        yield


def read(text: str, mode: Mode = "usual") -> list[Document | Unread]:
    with reading(mode):
        return list(DocumentReader().read(text))


def contents(found: Sequence[Document | Unread]) -> list[object]:
    """All that is known of documents, so that 1 and True differ, and the order of keys; items of a List one by one."""
    return [line for document in found for line in _contents(document)]


def _contents(document: Document | Unread) -> list[object]:
    if isinstance(document, Unread):
        return [document]
    inherited = documents_in_list(document)
    if document.is_item and not isinstance(document.content, Mapping):
        return [repr(document.content)]
    if inherited is None:
        return [(repr(_plain(document.content)), document.line, document.problems)]
    return [*inherited, document.problems] if document.problems else inherited


def documents_in_list(document: Document) -> list[object] | None:
    """The items of a List that was not split, as if it had been; None of anything else."""
    inherited = inherited_fields(document.content)
    value = document.value
    if inherited is None or not isinstance(value, Mapping) or document.is_item:
        return None
    items = value["items"]
    assert isinstance(items, list | None)
    return [
        (repr({**inherited, **item}), document.lines.start_of(item) or document.line, ())
        if isinstance(item, Mapping)
        else repr(item)
        for number, item in enumerate(items or ())
    ]


def _plain(value: Json) -> Json:
    return dict(value) if isinstance(value, Mapping) else value


def read_exactly(text: str) -> list[str]:
    """The parts of a text that take the exact reader."""
    parts: list[str] = []
    read_part = YamlReader.read

    def record(reader: YamlReader, part: str, first_line: int = 1) -> Iterator[Document]:
        parts.append(part)
        return read_part(reader, part, first_line)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(YamlReader, "read", record)
        read(text)
    return parts


def same_in_all_modes(text: str) -> list[Document | Unread]:
    """Read a text, which is the same in all modes."""
    found = [read(text, mode) for mode in MODES]
    assert contents(found[0]) == contents(found[1])
    assert contents(found[0]) == contents(found[2])
    return found[0]


class Printed(NamedTuple):
    code: int
    out: str
    err: str


def printed(arguments: Sequence[str], mode: Mode = "usual") -> Printed:
    """What a command prints if its input is read in a mode."""
    out, err = io.StringIO(), io.StringIO()
    with reading(mode), redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return Printed(code, out.getvalue(), err.getvalue())


def says_the_same(arguments: Sequence[str]) -> str:
    """What a command prints; it is the same and ends in the same way in all modes."""
    usual, *others = (printed(arguments, mode) for mode in MODES)
    assert [usual] * len(others) == others
    return usual.out
