"""Files of our own, of which each value is reported with its line."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NoReturn

from kubectl_policy.errors import ProfileError
from kubectl_policy.model import FieldPath, Problem
from kubectl_policy.model.values import value
from kubectl_policy.text import Bodies, DocumentError, Span
from kubectl_policy.text.fast_yaml import fast_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.text import Document
    from kubectl_policy.text.events import Place, Steps


@value(kw_only=True)
class Configuration:
    """What a file of ours says that a person wrote, and the line of everything in it; `source` is its name."""

    source: str
    value: Json
    lines: Mapping[Steps, int]
    repeated: Mapping[Steps, Steps]

    def refuse(self, steps: Iterable[str | int], message: str, hint: str) -> NoReturn:
        """Raise `ProfileError` with the line of the value at a path, the path and what is wrong there."""
        path = tuple(steps)
        where = str(FieldPath(path)) or "the file"
        raise ProfileError(f"{self.source}:{self.line_of(path)}: {where}: {message}", hint)

    def line_of(self, steps: Steps) -> int:
        """The line (from 1) of the value at a path; of what is not written out, of the nearest thing above it."""
        for end in range(len(steps), -1, -1):
            alias = self.repeated.get(steps[:end])
            if alias is not None and end < len(steps):
                return self.line_of((*alias, *steps[end:]))
            if steps[:end] in self.lines:
                return self.lines[steps[:end]]
        return 1


def read_configuration(text: str, source: str, hint: str) -> Configuration:
    """The one document of a text. Raises `ProfileError` with its line for anything but plain YAML or JSON."""
    from yaml import AliasEvent  # noqa: PLC0415 (most files of our own are flawless)

    from kubectl_policy.text.events import places, repeated_key  # noqa: PLC0415 (see above)
    from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (see above)

    documents: list[Document] = []
    written: list[Place] = []
    problem: Problem | None
    try:
        documents += islice(YamlReader(strict=True).read(text), 2)
        written += places(text)
    except DocumentError as error:
        problem = error.problem
    else:
        problem = next(filter(None, map(repeated_key, written)), None)
        if len(documents) > 1:
            problem = Problem(message="a second document: one file holds one", line=documents[1].line)
    if problem:
        # The end of a text is on the line after the last one.
        line = min(problem.line, text.rstrip("\n").count("\n") + 1)
        raise ProfileError(f"{source}:{line}: {problem.message}", hint)
    anchors = {place.event.anchor: place.steps for place in written if not isinstance(place.event, AliasEvent)}
    return Configuration(
        source=source,
        value=documents[0].value if documents else None,
        lines={place.steps: place.line for place in written},
        repeated={place.steps: anchors[place.event.anchor] for place in written if isinstance(place.event, AliasEvent)},
    )


def read_flawless(text: str) -> Json:
    """The one document of a text that has no flaws, without looking for the lines where these would be."""
    fast = fast_reader()
    document = fast.text(text, Bodies()).read(Span(0, len(text), 1)) if fast else None
    if document is None:
        from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (see above)

        (document,) = YamlReader(strict=True).read(text)
    return document.value
