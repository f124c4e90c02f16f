"""Files that a person wrote for this program, of which each value is reported with its line."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import FieldPath, Problem
from kubectl_policy.model.body import Body
from kubectl_policy.text import Document, DocumentError, TextSpan
from kubectl_policy.text.fast_yaml import FastText, Gate, fast_parser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Json
    from kubectl_policy.text import Steps


class Configuration(Struct, frozen=True, kw_only=True):
    """The content of a file that a person wrote for this program."""

    # The name of the file.
    source: str
    document: Document

    @property
    def value(self) -> Json:
        """The content as plain values."""
        return self.document.value

    def refuse(self, steps: Iterable[str | int], message: str, hint: str) -> NoReturn:
        """Raise `ProfileError` with the line of the value at a path, the path and what is wrong there."""
        path = tuple(steps)
        field = str(FieldPath(path)) or "the file"
        raise ProfileError(f"{self.source}:{self.line_of(path)}: {field}: {message}", hint)

    def line_of(self, steps: Steps) -> int:
        """Return the line (from 1) of the value at a path or, where it is not written out, of the nearest parent."""
        document = self.document
        return [document.line, *(line for line, _ in document.lines.follow(document.value, steps))][-1]


def read_configuration(text: str, source: str, hint: str) -> Configuration:
    """Return the one document of a text. Raises `ProfileError` with its line for anything but plain YAML or JSON."""
    from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (most files are flawless)

    try:
        documents = [*islice(YamlReader(merge_replaces=False).read(text), 2)]
        problems = [problem for document in documents[:1] for problem in document.problems]
        if len(documents) > 1:
            problems.append(Problem(message="a second document: one file holds one", line=documents[1].line))
    except DocumentError as error:
        documents, problems = [], [error.problem]
    for problem in problems:
        # The end of a text is on the line after the last one.
        line = min(problem.line, text.rstrip("\n").count("\n") + 1)
        raise ProfileError(f"{source}:{line}: {problem.message}", hint)
    return Configuration(source=source, document=documents[0] if documents else Document(content=None, line=1))


def read_flawless(text: str) -> Json:
    """Return the one document of a text that has no flaws."""
    parse = fast_parser()
    document = FastText(text, Gate(), parse, Body).read(TextSpan(0, len(text), 1)) if parse else None
    if document is None:
        from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (see above)

        (document,) = YamlReader(merge_replaces=False).read(text)
    return document.value
