"""Repositories around the input: the objects, values and kustomizations in their files, each read once."""

from __future__ import annotations

import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Origin
from kubectl_policy.model.world import grouped_by
from kubectl_policy.sources.files.input_files import InputFile, is_manifest
from kubectl_policy.sources.tree.kustomization import NAMES, read_kustomization
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Diagnostic, Gap, Json, Resource
    from kubectl_policy.sources.files.input_files import InputFiles
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.reading import Reading
    from kubectl_policy.sources.tree.kustomization import Kustomization

# So far above a folder that was named, outside of any repository, its repository may begin.
_MAX_OUTER_FOLDERS: Final = 4
# More than any repository has; links may lead round in circles.
_MAX_ENTRIES: Final = 500_000
_MAX_DEPTH: Final = 64
CHART: Final = "Chart.yaml"
_CHART_FOLDERS: Final = ("templates", "charts", "crds")
_CHART_FILES: Final = (CHART, "requirements.yaml", "values.yaml")


class Values(Struct, frozen=True):
    """Values of variables; where they are `closed`, every other variable has none."""

    known: tuple[tuple[str, str], ...]
    closed: bool = False


class Contents(Struct, frozen=True, kw_only=True):
    """The objects in a file, with the gaps and diagnostics of what cannot be read in it."""

    objects: Sequence[Resource] = ()
    gaps: Sequence[Gap] = ()
    diagnostics: Sequence[Diagnostic] = ()


class Repository:
    """Files of the input and of the repositories around them. Paths are those of the tree, sources are their names."""

    def __init__(self, tree: FileTree, files: InputFiles, reading: Reading, values: Mapping[str, str]) -> None:
        """Know what was read of the input; `values` are those of variables that the call sets."""
        self.tree, self._values = tree, values
        self.reading, self._text_of = reading, files.text_of
        self.inputs: dict[str, InputFile] = {}
        for file in files.files:
            if path := "" if file.problem else self.path_of(file.path):
                self.inputs.setdefault(path, file)
        self._objects = grouped_by(reading.objects, lambda resource: resource.origin.source)
        self._folders = {folder for path in self.inputs for folder in ancestors(path)}
        named = (tree.path_of(file.root) for file in self.inputs.values() if file.root)
        self._searched = {path for path in named if path is not None}
        self._documents = DocumentReader()
        self._named = posixpath.commonpath(self._searched or {posixpath.dirname(path) for path in self.inputs} or {""})
        # The files that were read anew: what was wrong with them before counts no more.
        self.read_anew: set[str] = set()
        self.kustomizations: dict[str, Kustomization] = {}
        for path in self.inputs:
            folder, name = posixpath.split(path)
            if name in NAMES and folder not in self.kustomizations and (kustomization := self.kustomization(folder)):
                self.kustomizations[folder] = kustomization

    def kind(self, path: str) -> str:
        """Return the kind of a path; "" if it leads nowhere, or out of the tree."""
        if path in self.inputs:
            return "file"
        if path in self._folders:
            return "folder"
        return "" if path.startswith(("/", "..")) else self._kind(path)

    @cached_method
    def _kind(self, path: str) -> str:
        return self.tree.kind(path)

    def source_of(self, path: str) -> str:
        """Return the name of a file or folder in messages."""
        return self.inputs[path].path if path in self.inputs else self.tree.source(path)

    def origin_of(self, path: str) -> Origin:
        """Return the origin of what a whole file says."""
        return Origin(self.source_of(path), 1)

    def short(self, folder: str) -> str:
        """Return a folder by its path in the folders that were named."""
        inside = posixpath.relpath(f"/{folder}", f"/{self._named}")
        return "" if inside == "." else folder.strip("/") if inside.startswith("..") else inside

    @cached_method
    def path_of(self, source: str) -> str:
        """Return the path of a file by its name in messages; "" of standard input."""
        return self.tree.path_of(source) or ""

    @cached_method
    def kustomization_file(self, folder: str) -> str:
        """Return the path of the kustomization of a folder; empty if it has none."""
        paths = (posixpath.join(folder, name) for name in NAMES)
        return next((path for path in paths if self.kind(path) == "file"), "")

    @cached_method
    def kustomization(self, folder: str) -> Kustomization | None:
        """Return the kustomization of a folder; None if it has none, or one that cannot be read."""
        path = self.kustomization_file(folder)
        if not path:
            return None
        document = self.reading.others.get(self.source_of(path))
        values = [document.value] if document else self.values(path)
        raw = values[0] if values else None
        origin = Origin(self.source_of(path), document.line if document else 1)
        return read_kustomization(raw, folder, origin) if isinstance(raw, dict) else None

    def may_take(self, path: str, folder: str) -> bool:
        """Whether a kustomization in a folder may take something in: it is in the same repository, if there is one."""
        repository = self.tree.repository_of(folder)
        return not path.startswith(("/", "..")) and (repository is None or is_in(path, repository))

    @cached_method
    def values(self, path: str) -> Sequence[Json] | None:
        """Return the values of the documents in a file; None if it cannot be read."""
        text = self.text(path)
        documents = list(self._documents.read(text)) if text else []
        if not documents or not all(isinstance(document, Document) for document in documents):
            return None
        return [document.value for document in documents if isinstance(document, Document)]

    def text(self, path: str) -> str:
        """Return the text of a file; empty if it cannot be read."""
        try:
            return self._text_of(self.inputs[path].path) if path in self.inputs else self.tree.text(path)
        except (OSError, ValueError, DocumentError):
            return ""

    def objects(self, path: str, values: Values | None = None, *, kustomized: bool = False) -> Contents:
        """Return the objects in a file, with variables filled in; Kustomize takes `yes` and its likes for text."""
        source, reading = self.source_of(path), self.reading
        if path in self.inputs:
            values = values if source in reading.with_variables else None
            kustomized = kustomized and source in reading.with_old_booleans
            if not values and not kustomized:
                return Contents(objects=self._objects.get(source, ()))
        elif not is_manifest(posixpath.basename(path)):
            return Contents()
        self.read_anew.add(source)
        return self._read(path, values, kustomized)

    @cached_method
    def _read(self, path: str, values: Values | None, kustomized: bool) -> Contents:  # noqa: FBT001 (part of a key)
        source, text = self.source_of(path), self.text(path)
        if values and "$" in text:
            from kubectl_policy.text.substitution import substitute  # noqa: PLC0415 (few trees need it)

            known = {**dict(values.known), **self._values}
            try:
                text = substitute(text, known, closed=values.closed)
            except DocumentError:
                text = substitute(text, known)
        anew = self.reading.anew()
        anew.kustomized = {source} if kustomized else set()
        anew.read_file(self.inputs.get(path) or InputFile(source, root=posixpath.dirname(source)), lambda _: text)
        return Contents(objects=anew.objects, gaps=anew.gaps, diagnostics=anew.diagnostics)

    @cached_method
    def below(self, folder: str) -> Sequence[tuple[str, str]]:
        """List everything in a folder and below it, but for what is hidden, with its kind."""
        entries: list[tuple[str, str]] = []
        folders = [folder]
        while folders and len(entries) < _MAX_ENTRIES:
            outer = folders.pop()
            for name in self.tree.names(outer):
                path = posixpath.join(outer, name)
                kind = self.kind(path) if not name.startswith(".") else ""
                entries.append((path, kind))
                if kind == "folder" and path.count("/") - folder.count("/") < _MAX_DEPTH:
                    folders.append(path)
        return entries

    def resources_below(self, folder: str) -> list[str]:
        """List the resources of Flux for a folder without a kustomization: manifests, and folders that have one."""
        kustomized = {path for path, kind in self.below(folder) if kind == "folder" and self.kustomization_file(path)}
        outermost = {path for path in kustomized if kustomized.isdisjoint(ancestors(path))}
        files = (path for path in self.files_below(folder, recurse=True) if path.endswith((".yaml", ".yml")))
        plain = (path for path in files if outermost.isdisjoint(ancestors(path)))
        return sorted([*plain, *filter(self._is_no_component, outermost)])

    def _is_no_component(self, folder: str) -> bool:
        kustomization = self.kustomization(folder)
        return not (kustomization and kustomization.is_component)

    def _is_left_out(self, path: str) -> bool:
        """Whether a file is in a folder that was searched, and was not taken there."""
        return path not in self.inputs and any(is_in(path, folder) for folder in self._searched)

    def files_below(self, folder: str, *, recurse: bool) -> list[str]:
        """List the manifests in a folder, also in the folders in it if they count."""
        return [
            path
            for path, kind in self.below(folder)
            if kind == "file" and path.endswith((".yaml", ".yml", ".json")) and not self._is_left_out(path)
            if recurse or posixpath.dirname(path) == folder
        ]

    def files_of_chart(self, folder: str) -> list[str]:
        """List the files that Helm takes for parts of the chart in a folder; others may lie beside them."""
        beside = [(path, self.kind(path)) for path in (posixpath.join(folder, name) for name in _CHART_FILES)]
        inside = [entry for name in _CHART_FOLDERS for entry in self.below(posixpath.join(folder, name))]
        return [path for path, kind in (*beside, *inside) if kind == "file"]

    def is_chart(self, folder: str) -> bool:
        """Whether there is a chart in a folder."""
        return self.kind(posixpath.join(folder, CHART)) == "file"

    def base_of(self, file: str, path: str) -> str | None:
        """Return the root of the repository from which a path in a file leads to a folder; None if none does.

        It is the outermost folder of the repository around the file in which there is such a path: repositories lie in
        others. Where there is no repository, it may also lie around the folder that was named.
        """
        return self._base_of(posixpath.dirname(file), path)

    @cached_method
    def _base_of(self, around: str, path: str) -> str | None:
        if posixpath.normpath(path).partition("/")[0] == "..":
            return None
        targets = ((base, posixpath.join(base, path).rstrip("/")) for base in self._bases_of(around))
        return next((base for base, target in targets if self.kind(target) == "folder"), None)

    @cached_method
    def _bases_of(self, folder: str) -> Sequence[str]:
        """Return the folders in which the repository around a folder may begin, the most likely first."""
        outermost = self.tree.root_of(f"{folder}/file")
        inside = [around for around in reversed((folder, *ancestors(folder))) if is_in(around, outermost)]
        return [*inside, *filter(None, ancestors(outermost)[:_MAX_OUTER_FOLDERS])]


def ancestors(path: str) -> tuple[str, ...]:
    """Return the folders around a path, from the nearest to the outermost."""
    return _with_ancestors(posixpath.dirname(path)) if path not in {"", "/"} else ()


@lru_cache(maxsize=100_000)
def _with_ancestors(folder: str) -> tuple[str, ...]:
    folders = [folder]
    while folders[-1] not in {"", "/"}:
        folders.append(posixpath.dirname(folders[-1]))
    return tuple(folders)


def is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder, or below it."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")
