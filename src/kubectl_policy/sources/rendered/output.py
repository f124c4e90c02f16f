"""What a program made: objects, and the file and line that each of them comes from, as far as the program says."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.places.written import MAX_SIZE, WrittenObjects, objects_in
from kubectl_policy.sources.rendered.kustomize import documents
from kubectl_policy.text import DocumentError, Unread
from kubectl_policy.text.documents import DocumentReader

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
    """The objects in a file that nothing is done to."""
    for document in documents(tree, file, MAX_SIZE):
        for raw, line in objects_in(document) if document else ():
            if isinstance(raw, dict):
                yield Made(raw=raw, file=file, line=line)


def _made_by_kustomize(text: str, folder: str) -> Iterator[Made | Problem]:
    """The objects in what Kustomize printed of a folder."""
    for raw in _mappings(text):
        if isinstance(raw, Problem):
            yield raw
            continue
        metadata = dict(mapping_at(raw, "metadata"))
        annotations = dict(mapping_at(metadata, "annotations"))
        said = annotations.pop(_ORIGIN, "")
        origin = said if isinstance(said, str) else ""
        # A remote one has a repository, which was left out before.
        found = _PATH.search(origin) or _CONFIGURED.search(origin)
        metadata["annotations"] = annotations
        if not annotations:
            del metadata["annotations"]
        file = posixpath.normpath(posixpath.join(folder, found[1].strip().strip("'\""))) if found else ""
        yield Made(raw={**raw, "metadata": metadata} if "metadata" in raw else raw, file=file)


def _made_by_helm(text: str, chart: str) -> Iterator[Made | Problem]:
    """The objects in what Helm printed of a chart in a folder; it names templates by the name of the chart."""
    for part in _START.split(text):
        found = _HELM_SOURCE.search(part)
        file = posixpath.join(chart, found[1].strip().partition("/")[2]) if found else ""
        for raw in _mappings(part):
            yield raw if isinstance(raw, Problem) else Made(raw=raw, file=file)


def _mappings(text: str) -> Iterator[Mapping[str, Json] | Problem]:
    for document in DocumentReader().read(text):
        if isinstance(document, Unread):
            yield replace(document.problem, line=0)
        else:
            yield from (raw for raw, _ in objects_in(document) if isinstance(raw, dict))


class Output:
    """What programs made of a tree. Each text is read once, and so is each file in which objects of it are written."""

    def __init__(self, tree: FileTree) -> None:
        """Nothing is read before it is asked for."""
        self._tree = tree
        self._objects: dict[str, WrittenObjects] = {}
        self._made: dict[tuple[str, str], Sequence[Made | Problem]] = {}

    def of_kustomize(self, text: str, folder: str) -> Sequence[Made | Problem]:
        """The objects in what Kustomize printed of a folder."""
        if (text, folder) not in self._made:
            self._made[text, folder] = tuple(_made_by_kustomize(text, folder))
        return self._made[text, folder]

    def of_helm(self, text: str, chart: str) -> Sequence[Made | Problem]:
        """The objects in what Helm printed of a chart in a folder."""
        if (text, chart) not in self._made:
            self._made[text, chart] = tuple(_made_by_helm(text, chart))
        return self._made[text, chart]

    def origin(self, made: Made, otherwise: Origin) -> Origin:
        """The file and line of an object; what is otherwise known of it if the program did not say."""
        if made.line:
            return Origin(self._tree.source(made.file), made.line)
        if not made.file or self._tree.kind(made.file) != "file":
            return otherwise
        if made.file not in self._objects:
            self._objects[made.file] = WrittenObjects(self._text(made.file))
        kind, name = text_at(made.raw, "kind"), text_at(made.raw, "metadata.name")
        return Origin(self._tree.source(made.file), self._objects[made.file].line(kind, name))

    def _text(self, file: str) -> str:
        """The text of a file; empty if there is none that can be read."""
        try:
            data = self._tree.read(file, MAX_SIZE)
            return decoded(data) if len(data) <= MAX_SIZE else ""
        except (OSError, ValueError, DocumentError):
            return ""
