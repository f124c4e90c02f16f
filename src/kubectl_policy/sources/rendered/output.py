"""What a program made: objects, and the file and line that each of them comes from, as far as the program says."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources.rendered.kustomize import documents
from kubectl_policy.text import Unread
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.rendered.copying import Tree
    from kubectl_policy.text import Document

_MAX_SIZE: Final = 32 * 2**20
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


def made_by_kustomize(text: str, folder: str) -> Iterator[Made | Problem]:
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


def made_by_helm(text: str, chart: str) -> Iterator[Made | Problem]:
    """The objects in what Helm printed of a chart in a folder; it names templates by the name of the chart."""
    for part in _START.split(text):
        found = _HELM_SOURCE.search(part)
        file = posixpath.join(chart, found[1].strip().partition("/")[2]) if found else ""
        for raw in _mappings(part):
            yield raw if isinstance(raw, Problem) else Made(raw=raw, file=file)


def as_written(tree: Tree, file: str) -> Iterator[Made]:
    """The objects in a file that nothing is done to."""
    for document in documents(tree, file, _MAX_SIZE):
        for raw, line in _objects_in(document) if document else ():
            if isinstance(raw, dict):
                yield Made(raw=raw, file=file, line=line)


def _mappings(text: str) -> Iterator[Mapping[str, Json] | Problem]:
    for document in DocumentReader().read(text):
        if isinstance(document, Unread):
            yield replace(document.problem, line=0)
        else:
            yield from (raw for raw, _ in _objects_in(document) if isinstance(raw, dict))


class Written:
    """Where objects are written in the files of a tree, each of which is read once."""

    def __init__(self, tree: Tree) -> None:
        """Nothing is read before it is asked for."""
        self._tree = tree
        self._objects: dict[str, list[tuple[str, str, int]]] = {}

    def origin(self, made: Made, otherwise: Origin) -> Origin:
        """The file and line of an object; what is otherwise known of it if the program did not say."""
        if made.line:
            return Origin(self._tree.source(made.file), made.line)
        if not made.file or self._tree.kind(made.file) != "file":
            return otherwise
        kind, name = text_at(made.raw, "kind"), text_at(made.raw, "metadata.name")
        written = [(line, its_name) for its_kind, its_name, line in self._in(made.file) if its_kind == kind]
        # Prefixes and suffixes are added to what is written.
        near = [(line, its_name) for line, its_name in written if its_name and its_name in name]
        best = max(
            near, key=lambda each: (len(each[1]), -each[0]), default=written[0] if len(written) == 1 else (0, "")
        )
        return Origin(self._tree.source(made.file), best[0])

    def _in(self, file: str) -> list[tuple[str, str, int]]:
        if file not in self._objects:
            self._objects[file] = [
                (text_at(raw, "kind"), text_at(raw, "metadata.name"), line)
                for document in documents(self._tree, file, _MAX_SIZE)
                if document
                for raw, line in _objects_in(document)
            ]
        return self._objects[file]


def _objects_in(document: Document) -> Iterator[tuple[Json, int]]:
    """An object, or those in a List, with their lines."""
    items = document.value.get("items") if isinstance(document.value, dict) else None
    if isinstance(items, list):
        yield from ((item, document.item_lines.get((place,), document.line)) for place, item in enumerate(items))
    else:
        yield document.value, document.line
