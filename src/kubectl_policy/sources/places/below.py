"""Files below the current directory of a tree: no path that a stranger wrote is looked up elsewhere."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.values import cached_property
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.files.finding import ABOUT_OTHERS, is_manifest
from kubectl_policy.sources.places.written import MAX_SIZE, WrittenObjects
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.sources.files.tree import FileTree

CHART: Final = "Chart.yaml"
# Whoever asks from the root of a disk does not wait for all of it.
_MAX_ENTRIES: Final = 50_000
_NAME: Final = re.compile(r"^name[ \t]*:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


class Below:
    """Files of a tree by their paths from the current directory, none of which leads out of it."""

    def __init__(self, tree: FileTree) -> None:
        """Look up nothing yet."""
        self._tree, self._here = tree, tree.here()
        self._texts: dict[str, str | None] = {}
        self._written: dict[str, WrittenObjects] = {}

    def source(self, path: str) -> str:
        """Return the name of a file in messages, be it there or not."""
        return self._tree.source(self._here + path)

    def path(self, source: str) -> str:
        """Return the path of a file that has a name in messages."""
        return source.removeprefix(self.source(""))

    @cached_property
    def _top(self) -> str:
        return self._tree.resolve(self._here)[0].rstrip("/")

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if there is none that can be read."""
        if path not in self._texts:
            self._texts[path] = None
            with suppress(OSError, ValueError, DocumentError):
                real, kind = self._tree.resolve(self._here + path)
                data = self._tree.read(real, MAX_SIZE) if kind == "file" and real.startswith(f"{self._top}/") else None
                self._texts[path] = decoded(data) if data is not None and len(data) <= MAX_SIZE else None
        return self._texts[path]

    def line(self, path: str, kind: str, name: str) -> int:
        """The line of the object in a file that became one of a kind and name; 0 if nothing tells that."""
        if path not in self._written:
            self._written[path] = WrittenObjects(self.text(path) or "")
        return self._written[path].line(kind, name)

    @cached_property
    def manifests(self) -> frozenset[str]:
        """The paths of all manifests, but for hidden folders, linked ones and closed ones."""
        found: list[str] = []
        rest, passed = [""], 0
        while rest and passed < _MAX_ENTRIES:
            folder = rest.pop()
            with suppress(OSError):
                for name, kind in self._tree.entries(self._here + folder):
                    passed += 1
                    if kind == "folder" and not name.startswith("."):
                        rest.append(f"{folder}{name}/")
                    elif kind != "folder" and is_manifest(name):
                        found.append(folder + name)
        return frozenset(found)

    @cached_property
    def charts(self) -> Mapping[str, Sequence[str]]:
        """The folders of Helm charts, by the names of these."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.manifests):
            if posixpath.basename(path) == CHART and (name := _NAME.search(self.text(path) or "")):
                found.setdefault(name[1], []).append(posixpath.dirname(path))
        return found

    @cached_property
    def kustomizations(self) -> Sequence[str]:
        """The folders that Kustomize may be called for."""
        about = ABOUT_OTHERS - {CHART}
        return sorted({posixpath.dirname(path) for path in self.manifests if posixpath.basename(path) in about})
