"""Files below the current directory, and the objects that are written in manifests and templates."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import text_at
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.files.finding import ABOUT_OTHERS, is_manifest
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import DocumentReader, objects_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.sources.files.tree import FileTree

# No file that a person wrote is larger.
MAX_SIZE: Final = 32 * 2**20

_CHART: Final = "Chart.yaml"
_CHART_NAME: Final = re.compile(r"^name[ \t]*:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)
# Whoever asks from the root of a disk does not wait for all of it.
_MAX_ENTRIES: Final = 50_000

_CHARACTER: Final = re.compile(r"[^\n]")
# Stands for each character of what a template fills in.
_PLACEHOLDER: Final = "\ue000"
_PLACEHOLDERS: Final = re.compile(f"{_PLACEHOLDER}+")


class LocalFiles:
    """Files of a tree by their paths from the current directory, none of which leads out of it."""

    def __init__(self, tree: FileTree) -> None:
        """Look up nothing yet."""
        self._tree, self._here = tree, tree.here()

    def source(self, path: str) -> str:
        """Return the name of a file in messages, be it there or not."""
        return self._tree.source(self._here + path)

    def path(self, source: str) -> str:
        """Return the path of a file that has a name in messages."""
        return source.removeprefix(self.source(""))

    @cached_property
    def _top(self) -> str:
        return self._tree.resolve(self._here)[0].rstrip("/")

    @cached_method
    def text(self, path: str) -> str | None:
        """Return the text of a file; None if there is none that can be read."""
        with suppress(OSError, ValueError, DocumentError):
            real, kind = self._tree.resolve(self._here + path)
            data = self._tree.read(real, MAX_SIZE) if kind == "file" and real.startswith(f"{self._top}/") else None
            return decoded(data) if data is not None and len(data) <= MAX_SIZE else None
        return None

    @cached_method
    def objects(self, path: str) -> WrittenObjects:
        """Return the objects in a file; none if it cannot be read."""
        return WrittenObjects(self.text(path) or "")

    @cached_property
    def manifests(self) -> frozenset[str]:
        """The paths of all manifests, but for hidden folders, linked ones and closed ones."""
        paths: list[str] = []
        rest, entries = [""], 0
        while rest and entries < _MAX_ENTRIES:
            folder = rest.pop()
            with suppress(OSError):
                for name, kind in self._tree.entries(self._here + folder):
                    entries += 1
                    if kind == "folder" and not name.startswith("."):
                        rest.append(f"{folder}{name}/")
                    elif kind != "folder" and is_manifest(name):
                        paths.append(folder + name)
        return frozenset(paths)

    @cached_property
    def charts(self) -> Mapping[str, Sequence[str]]:
        """The folders of Helm charts, by the names of these."""
        charts = [path for path in sorted(self.manifests) if posixpath.basename(path) == _CHART]
        names = ((path, _CHART_NAME.search(self.text(path) or "")) for path in charts)
        return grouped((name[1], posixpath.dirname(path)) for path, name in names if name)

    @cached_property
    def kustomizations(self) -> Sequence[str]:
        """The folders that Kustomize may be called for."""
        names = ABOUT_OTHERS - {_CHART}
        return sorted({posixpath.dirname(path) for path in self.manifests if posixpath.basename(path) in names})


class _Object(NamedTuple):
    """An object as it is written; its name may have placeholders."""

    kind: str
    name: str
    line: int


class WrittenObjects:
    """The objects that are written in a text, a manifest or a template."""

    def __init__(self, text: str) -> None:
        """Read the text; what a template fills in stays open."""
        self._objects = [
            _Object(text_at(raw, "kind"), text_at(raw, "metadata.name"), line)
            for document in DocumentReader().read(without_actions(text, _PLACEHOLDER))
            if isinstance(document, Document)
            for raw, line in objects_in(document)
        ]

    def line(self, kind: str, name: str) -> int:
        """Return the line of the object that became one of a kind and name; 0 if it cannot be told.

        Prefixes and suffixes are added to what is written, and placeholders are filled in.
        """
        objects = [item for item in self._objects if kind and item.kind == kind]
        exact = [item.line for item in objects if item.name == name]
        fitting = [(fit, -item.line) for item in objects if (fit := _fit(item.name, name))]
        if exact or len(objects) == 1:
            return (exact or [objects[0].line])[0]
        return -max(fitting, default=(0, 0))[1]


def without_actions(text: str, placeholder: str = "x") -> str:
    """Return a template as YAML, line by line: an action is a word, or nothing where it stands alone on its line."""
    parts, start = list[str](), 0
    while (action := text.find("{{", start)) >= 0 and (end := text.find("}}", action) + 2) > 1:
        parts += text[start:action], _CHARACTER.sub("\0", text[action:end])
        start = end
    lines = f"{''.join(parts)}{text[start:]}".split("\n") if parts else [text]
    return "\n".join(line.replace("\0", placeholder) if line.strip("\0 \t\r") else "" for line in lines)


def _fit(written: str, name: str) -> int:
    """Return how many letters of a name are written; 0 if the name cannot have come of that."""
    first, *rest = parts = _PLACEHOLDERS.split(written)
    if not rest:
        return len(written) if written in name else 0
    fits = len(first) + len(rest[-1]) <= len(name) and name.startswith(first) and name.endswith(rest[-1])
    return sum(map(len, parts)) if fits else 0
