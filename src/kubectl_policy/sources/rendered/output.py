"""Output of programs: objects, and the file and line of each of them, as far as the program says."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model import Origin, Problem
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.sources.locations.written import WrittenObjects
from kubectl_policy.sources.rendered.helm import Release
from kubectl_policy.sources.rendered.kustomize import documents
from kubectl_policy.text import DocumentError, Unread
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.kustomize import Build

_ORIGIN: Final = "config.kubernetes.io/origin"
# A remote one has a repository, which was left out before.
_PATH: Final = re.compile(r"^(?:path|configuredIn): (.+)$", re.MULTILINE)
_HELM_SOURCE: Final = re.compile(r"^# Source: (.+)$", re.MULTILINE)
_START: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


class Made(Struct, frozen=True, kw_only=True):
    """An object that was made, and the file and line that it comes from, as far as the program says."""

    raw: Mapping[str, Json]
    file: str = ""
    line: int = 0


def as_written(tree: FileTree, file: str) -> Iterator[Made]:
    """Yield the objects in a file that nothing is done to."""
    for document in documents(tree, file):
        for raw, line in objects_in(document) if document else ():
            if isinstance(raw, dict):
                yield Made(raw=raw, file=file, line=line)


def _made_by_kustomize(text: str, folder: str) -> Iterator[Made | Problem]:
    for raw in _mappings(text):
        if isinstance(raw, Problem):
            yield raw
            continue
        metadata = dict(mapping_at(raw, "metadata"))
        annotations = dict(mapping_at(metadata, "annotations"))
        origin = annotations.pop(_ORIGIN, "")
        match = _PATH.search(origin) if isinstance(origin, str) else None
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
        self._written: dict[str, WrittenObjects] = {}
        self._made: dict[tuple[str, str], Sequence[Made | Problem]] = {}

    def objects(self, text: str, buildable: Build | Release) -> Sequence[Made | Problem]:
        """Return the objects in the output for a build or release, and what is wrong with it."""
        key = text, buildable.folder
        if key not in self._made:
            read = _made_by_helm if isinstance(buildable, Release) else _made_by_kustomize
            self._made[key] = tuple(read(*key))
        return self._made[key]

    def origin(self, printed: Made, otherwise: Origin) -> Origin:
        """Return the file and line of an object; the other origin if the program did not say."""
        if printed.line:
            return Origin(self._tree.source(printed.file), printed.line)
        if not printed.file or self._tree.kind(printed.file) != "file":
            return otherwise
        if printed.file not in self._written:
            try:
                text = self._tree.text(printed.file)
            except (OSError, ValueError, DocumentError):
                text = ""
            self._written[printed.file] = WrittenObjects(text)
        kind, name = text_at(printed.raw, "kind"), text_at(printed.raw, "metadata.name")
        return Origin(self._tree.source(printed.file), self._written[printed.file].line(kind, name))
