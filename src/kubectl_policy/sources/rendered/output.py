"""Output of programs: objects, and the file and line of each of them, as far as the program says."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.locations.written import MAX_SIZE, WrittenObjects
from kubectl_policy.sources.rendered.kustomize import documents
from kubectl_policy.text import DocumentError, Unread
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree

_ORIGIN: Final = "config.kubernetes.io/origin"
_PATH: Final = re.compile(r"^path: (.+)$", re.MULTILINE)
_CONFIGURED: Final = re.compile(r"^configuredIn: (.+)$", re.MULTILINE)
_HELM_SOURCE: Final = re.compile(r"^# Source: (.+)$", re.MULTILINE)
_START: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


@value(kw_only=True)
class Made:
    """An object that was made, and the file and line that it comes from, as far as the program says."""

    raw: Mapping[str, Json]
    file: str = ""
    line: int = 0


def as_written(tree: FileTree, file: str) -> Iterator[Made]:
    """Yield the objects in a file that nothing is done to."""
    for document in documents(tree, file, MAX_SIZE):
        for raw, line in objects_in(document) if document else ():
            if isinstance(raw, dict):
                yield Made(raw=raw, file=file, line=line)


def _made_by_kustomize(text: str, folder: str) -> Iterator[Made | Problem]:
    """Yield the objects in the output of Kustomize for a folder."""
    for raw in _mappings(text):
        if isinstance(raw, Problem):
            yield raw
            continue
        metadata = dict(mapping_at(raw, "metadata"))
        annotations = dict(mapping_at(metadata, "annotations"))
        origin_text = annotations.pop(_ORIGIN, "")
        origin = origin_text if isinstance(origin_text, str) else ""
        # A remote one has a repository, which was left out before.
        match = _PATH.search(origin) or _CONFIGURED.search(origin)
        metadata["annotations"] = annotations
        if not annotations:
            del metadata["annotations"]
        file = posixpath.normpath(posixpath.join(folder, match[1].strip().strip("'\""))) if match else ""
        yield Made(raw={**raw, "metadata": metadata} if "metadata" in raw else raw, file=file)


def _made_by_helm(text: str, chart: str) -> Iterator[Made | Problem]:
    """Yield the objects in the output of Helm for a chart; it names templates by the name of the chart."""
    for part in _START.split(text):
        match = _HELM_SOURCE.search(part)
        file = posixpath.join(chart, match[1].strip().partition("/")[2]) if match else ""
        for raw in _mappings(part):
            yield raw if isinstance(raw, Problem) else Made(raw=raw, file=file)


def _mappings(text: str) -> Iterator[Mapping[str, Json] | Problem]:
    for document in DocumentReader().read(text):
        if isinstance(document, Unread):
            yield replace(document.problem, line=0)
        else:
            yield from (raw for raw, _ in objects_in(document) if isinstance(raw, dict))


class Output:
    """Output of programs for a tree. Each text is read once, and so is each file in which its objects are written."""

    def __init__(self, tree: FileTree) -> None:
        """Nothing is read before it is asked for."""
        self._tree = tree
        self._objects: dict[str, WrittenObjects] = {}
        self._made: dict[tuple[str, str], Sequence[Made | Problem]] = {}

    def of_kustomize(self, text: str, folder: str) -> Sequence[Made | Problem]:
        """Return the objects in the output of Kustomize for a folder."""
        if (text, folder) not in self._made:
            self._made[text, folder] = tuple(_made_by_kustomize(text, folder))
        return self._made[text, folder]

    def of_helm(self, text: str, chart: str) -> Sequence[Made | Problem]:
        """Return the objects in the output of Helm for a chart in a folder."""
        if (text, chart) not in self._made:
            self._made[text, chart] = tuple(_made_by_helm(text, chart))
        return self._made[text, chart]

    def origin(self, printed: Made, otherwise: Origin) -> Origin:
        """Return the file and line of an object; the other origin if the program did not say."""
        if printed.line:
            return Origin(self._tree.source(printed.file), printed.line)
        if not printed.file or self._tree.kind(printed.file) != "file":
            return otherwise
        if printed.file not in self._objects:
            self._objects[printed.file] = WrittenObjects(self._text(printed.file))
        kind, name = text_at(printed.raw, "kind"), text_at(printed.raw, "metadata.name")
        return Origin(self._tree.source(printed.file), self._objects[printed.file].line(kind, name))

    def _text(self, file: str) -> str:
        """Return the text of a file; empty if there is none that can be read."""
        try:
            data = self._tree.read(file, MAX_SIZE)
            return decoded(data) if len(data) <= MAX_SIZE else ""
        except (OSError, ValueError, DocumentError):
            return ""
