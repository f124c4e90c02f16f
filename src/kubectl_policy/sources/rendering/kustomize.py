"""Kustomize: the files of a build, a copy of them without remote ones, and the command that builds it."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Origin
from kubectl_policy.model.fields import items_at, strings_at, text_at
from kubectl_policy.sources.mentions import texts_in
from kubectl_policy.sources.rendering.programs import Job, find_program
from kubectl_policy.sources.tree.ground import is_in
from kubectl_policy.sources.tree.kustomization import (
    LISTS_OF_FILES,
    NAMES,
    extend,
    is_remote,
    read_kustomization,
    within,
)
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendering.programs import Copy
    from kubectl_policy.sources.tree.kustomization import Kustomization

_MAX_FOLDERS: Final = 5_000
_MAX_PATH: Final = 1_024
# Fields of a kustomization that list files and folders, which may be remote.
_FILE_LISTS: Final = ("resources", "bases", "components", *LISTS_OF_FILES)
# Fields of a kustomization that change nothing in an object but its namespace.
_PLAIN: Final = frozenset({"apiVersion", "kind", "metadata", "resources", "bases", "namespace"})


class Build(Struct, frozen=True, kw_only=True):
    """Folder to build."""

    folder: str
    additions: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    """Fields that replace those of its kustomization, or add to those that are lists."""
    by_flux: bool = False
    """Whether it needs no kustomization, and may take in files from the whole repository."""


class Remote(Struct, frozen=True, kw_only=True):
    """Something that would have to be fetched and is left out: what it is, where it is named, and its namespace."""

    description: str
    origin: Origin
    namespace: str = ""


class Sources(Struct, frozen=True, kw_only=True):
    """The files of a tree from which a folder is built, and what is left out of them."""

    files: frozenset[str]
    remote: tuple[Remote, ...]
    # Whether a path in it leads where nobody may read.
    escapes: bool
    # The outermost of the kustomizations that give everything a namespace.
    namespace_from: Origin | None


def builder() -> tuple[str, ...]:
    """Return the command that builds a folder with Kustomize; empty if no program is installed that does."""
    if kubectl := find_program("kubectl"):
        return kubectl, "kustomize"
    kustomize = find_program("kustomize")
    return (kustomize, "build") if kustomize else ()


def job(command: tuple[str, ...], build: Build, sources: Sources, copy: Copy) -> Job:
    """Return the job that builds a folder from its copy. Nothing else than Kustomize itself is run."""
    restrictor = "LoadRestrictionsNone" if build.by_flux and not sources.escapes else "LoadRestrictionsRootOnly"
    path = copy.folder / build.folder
    return Job(command=(*command, f"--load-restrictor={restrictor}", str(path)), folder=path)


class Kustomizations:
    """The kustomizations of a tree, each read once."""

    def __init__(self, tree: FileTree) -> None:
        """Nothing is read before it is asked for."""
        self._tree = tree

    @cached_method
    def file(self, folder: str) -> str:
        """Return the path of the kustomization of a folder; empty if it has none."""
        paths = (posixpath.join(folder, name) for name in NAMES)
        return next((path for path in paths if self._kind(path) == "file"), "")

    @cached_method
    def of(self, folder: str) -> Kustomization | None:
        """Return the kustomization of a folder; None if it has none, or one that cannot be read."""
        file = self.file(folder)
        raw = first_mapping(self._tree, file) if file else None
        return read_kustomization(raw, folder, Origin(self._tree.source(file), 1)) if raw is not None else None

    def walk(self, build: Build) -> Iterator[Kustomization]:
        """Yield the kustomization of a folder, with additions, and those that it takes in, from the outside in."""
        folders, seen = [build.folder], set[str]()
        while folders and len(seen) < _MAX_FOLDERS:
            folder = folders.pop(0)
            if folder in seen:
                continue
            seen.add(folder)
            kustomization = self._edited(build) if folder == build.folder else self.of(folder)
            if kustomization:
                yield kustomization
                references = [*kustomization.resources, *kustomization.components, *kustomization.serving]
                folders += [
                    path for path in references if self._may_take(path, folder) and self._kind(path) == "folder"
                ]

    def change(self, buildable: object) -> bool:
        """Whether something that is built does more than to take in files and to say where the objects live."""
        return not isinstance(buildable, Build) or any(
            not kustomization.raw.keys() <= _PLAIN or kustomization.remote or kustomization.is_component
            for kustomization in self.walk(buildable)
        )

    def _may_take(self, path: str, folder: str) -> bool:
        """Whether a kustomization in a folder may take something in: it is in the same repository, if there is one."""
        repository = self._tree.repository_of(folder)
        return not path.startswith(("/", "..")) and (repository is None or is_in(path, repository))

    def _edited(self, build: Build) -> Kustomization | None:
        kustomization = self.of(build.folder)
        if kustomization is None and (self.file(build.folder) or not build.by_flux):
            return None
        if kustomization is None:
            origin = Origin(self._tree.source(build.folder))
            kustomization = read_kustomization({"resources": self._generated(build.folder)}, build.folder, origin)
        return extend(kustomization, build.additions, kustomization.origin)

    def files(self, kustomization: Kustomization) -> list[str]:
        """Return the paths of the file that a kustomization is in, and of those that it lists."""
        listed = [
            path
            for path in (*kustomization.resources, *kustomization.serving)
            if self._may_take(path, kustomization.folder)
        ]
        return [path for path in (self.file(kustomization.folder), *listed) if self._kind(path) == "file"]

    def copy(self, build: Build, copy: Copy) -> Sources:
        """Copy what a folder is built from, without anything remote; which files of the tree that is."""
        repository = self._tree.root_of(build.folder)
        files: set[str] = set()
        remote: list[Remote] = []
        escapes = False
        namespace_from: Origin | None = None
        for kustomization in self.walk(build):
            if kustomization.namespace and not namespace_from:
                namespace_from = kustomization.origin
            local, not_local = without_remote(kustomization)
            remote += not_local
            if kustomization.folder == build.folder:
                local["buildMetadata"] = [*items_at(local, "buildMetadata"), "originAnnotations"]
            copy.write(
                self.file(kustomization.folder) or posixpath.join(kustomization.folder, NAMES[0]), json.dumps(local)
            )
            files.update(self.files(kustomization))
            texts = texts_in([local], keys=False)
            # Every text may be a path.
            for text in (text for text in texts if 0 < len(text) < _MAX_PATH and "\n" not in text):
                path = within(kustomization.folder, text.rpartition("=")[2])
                escapes |= text.startswith("/") or path.partition("/")[0] == ".."
                if self._kind(path) == "file" and any(is_in(path, top) for top in (repository, kustomization.folder)):
                    copy.copy_file(path)
                elif self.file(path) and self.of(path) is None:
                    # Kustomize says best what is wrong with it.
                    copy.copy_file(self.file(path))
        if self.file(build.folder):
            copy.copy_file(self.file(build.folder))
        return Sources(files=frozenset(files), remote=tuple(remote), escapes=escapes, namespace_from=namespace_from)

    def _kind(self, path: str) -> str:
        return self._tree.kind(path) if not path.startswith(("/", "..")) else ""

    def _generated(self, folder: str) -> list[Json]:
        """List the resources of Flux for a folder without a kustomization: manifests, and folders that have one."""
        resources: list[Json] = []
        folders = [folder]
        while folders and len(resources) < _MAX_FOLDERS:
            subfolder = folders.pop()
            for name in self._tree.names(subfolder):
                path = posixpath.join(subfolder, name)
                kind = self._tree.kind(path) if not name.startswith(".") else ""
                may_be_manifest = kind == "file" and name.endswith((".yaml", ".yml"))
                if kind == "folder" and not self.file(path):
                    folders.append(path)
                elif kind == "folder" or (may_be_manifest and is_manifest(self._tree, path)):
                    resources.append(posixpath.relpath(path, folder))
        return sorted(resources, key=str)


def first_mapping(tree: FileTree, file: str) -> Mapping[str, Json] | None:
    """Return the first document of a file, if it is a mapping that can be read; None otherwise."""
    for document in documents(tree, file):
        return document.value if isinstance(document, Document) and isinstance(document.value, dict) else None
    return None


def documents(tree: FileTree, file: str) -> Iterator[Document | None]:
    """Yield the documents of a file; None for one that cannot be read, or has the same key twice."""
    try:
        text = tree.text(file)
    except (OSError, ValueError, DocumentError):
        yield None
        return
    for document in DocumentReader().read(text):
        yield document if isinstance(document, Document) and not document.problems else None


def is_manifest(tree: FileTree, file: str) -> bool:
    """Whether every document of a file that is not empty is an object."""
    values = [document.value if document else "" for document in documents(tree, file)]
    objects = [value for value in values if value is not None]
    return bool(objects) and all(
        isinstance(object_value, dict) and {"apiVersion", "kind"} <= object_value.keys() for object_value in objects
    )


def without_remote(kustomization: Kustomization) -> tuple[dict[str, Json], list[Remote]]:
    """Split a kustomization into its local fields and its remote entries and charts."""
    raw = dict(kustomization.raw)
    remote: list[Remote] = []
    for name in _FILE_LISTS:
        references = items_at(raw, name)
        remote_references = [
            reference for reference in strings_at(raw, name) if is_remote(reference) and "\n" not in reference
        ]
        if remote_references:
            raw[name] = [reference for reference in references if reference not in remote_references]
            remote += [
                Remote(description=reference, origin=kustomization.origin, namespace=kustomization.namespace)
                for reference in remote_references
            ]
    for name in ("helmCharts", "helmChartInflationGenerator"):
        for chart in items_at(raw, name):
            chart_name = f"chart {text_at(chart, 'name') or text_at(chart, 'chartName')}"
            namespace = text_at(chart, "namespace")
            remote.append(
                Remote(
                    description=chart_name, origin=kustomization.origin, namespace=kustomization.namespace or namespace
                )
            )
        raw.pop(name, None)
    raw.pop("helmGlobals", None)
    return raw, remote
