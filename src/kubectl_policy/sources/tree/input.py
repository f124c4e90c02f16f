"""Input that is a tree: read files that its kustomizations take in from outside, and fill in variables."""

from __future__ import annotations

import posixpath
from copy import copy
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin
from kubectl_policy.sources.files.input_files import InputFile, is_manifest
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.sources.tree import CONFIG_MAP, DELIVERING
from kubectl_policy.sources.tree.clusters import name_of_cluster
from kubectl_policy.sources.tree.ground import Ground
from kubectl_policy.sources.tree.kustomization import NAMES, read_kustomization
from kubectl_policy.sources.tree.tree import Tree
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Collection, Container

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.sources.files.input_files import InputFiles
    from kubectl_policy.sources.reading import Reading
    from kubectl_policy.sources.tree.kustomization import Kustomization

# Kustomizations of Flux may fill in others, which nobody does more often than once or twice.
_MAX_ROUNDS: Final = 3
_MAX_FILES: Final = 10_000


class TreeInput:
    """The files of a tree, as `reading` has them, and those that its kustomizations take in from elsewhere."""

    def __init__(self, files: InputFiles, reading: Reading, *, namespace: str, complete: bool) -> None:
        """Look around in what was read; of what is `complete`, nothing creates more.

        `namespace` is where objects live if nothing says where; if it is empty, that is unknown.
        """
        self._namespace = namespace
        self._complete, self._cluster = complete, ""
        self._files: dict[str, InputFile] = {
            file.path: file for file in files.files if not file.problem and file.path != STDIN
        }
        self._text_of, self._file_tree, self.reading = files.text_of, files.tree, reading
        # The folder of what applies each object that was placed.
        self.folders: dict[Resource, str] = {}
        self._rendered_by: dict[Resource, tuple[str, str]] = {}
        self._outside: set[str] = set()
        self._values: dict[str, list[Json] | None] = {}
        self._documents = DocumentReader()
        self.ground: Ground = self._survey()
        self.tree: Tree = self._build_tree()
        self._read_as_kustomize_does()
        self._fill_in()

    def keep(self, cluster: str) -> None:
        """Leave out what is meant for other clusters only; raises UsageError for an unknown one."""
        self._leave_out(self.tree.clusters.sources_for_others(cluster))
        self._cluster = cluster

    def of_world(self, name: str) -> TreeInput:
        """Return a copy without the files for other worlds only; nothing is read again."""
        copied = copy(self)
        copied.become_world(name)
        return copied

    def become_world(self, name: str) -> None:
        """Leave out what is meant for other worlds only, in a copy of everything that anybody else may go on with."""
        worlds, read = self.tree.worlds, self.reading
        self.reading, self.folders, self._rendered_by = read.copy(), {}, {}
        self._outside, self._values = {*self._outside}, {**self._values}
        self.reading.gaps += worlds.unknown_in(name)
        self._leave_out(worlds.sources_for_others(name))
        self._cluster = name

    def _leave_out(self, sources: Collection[str]) -> None:
        if sources:
            self._files = {source: file for source, file in self._files.items() if source not in sources}
            self.reading.forget(sources)
            self.ground = self._survey()
            self.tree = self._build_tree()
            # What several clusters fill in otherwise can be filled in for one.
            self._fill_in()

    def place(self, cluster_scoped: Collection[GroupKind], rendered: Collection[str] | None) -> list[LeftOut]:
        """Put the objects where they are once applied, but for those in files that were `rendered`, if any were.

        What is no object of its own is left out; what is not known of the others, or of what they create, are gaps.
        """
        tree, reading = self.tree, self.reading
        if rendered:
            # Whatever takes them in was rendered with them.
            reading.forget(self._outside)
        consumed = frozenset(rendered or ())
        left_out = [resource for resource in tree.left_out() if resource.origin.source not in consumed]
        reading.forget({self.ground.source_of(path) for path in tree.roles} - consumed)
        order = {source: position for position, source in enumerate(self._files)}
        objects: list[Resource] = []
        in_tree: list[Resource] = []
        for resource in reading.objects:
            if resource.origin.source not in consumed:
                (in_tree if resource.origin.source in order else objects).append(resource)
        in_tree.sort(key=lambda resource: order[resource.origin.source])
        placed, gaps = tree.place(in_tree, cluster_scoped, self.values_in, reading.with_variables)
        for applied in placed:
            self.folders[applied.resource] = applied.folder
            objects.append(applied.resource)
        reading.objects = objects
        reading.gaps += gaps
        if rendered is None and not self._complete:
            reading.gaps += dict.fromkeys(tree.creators(placed, self._text_in, self._is_file, self._cluster))
        return left_out

    @property
    def files(self) -> list[InputFile]:
        """The files of the input that are not left out."""
        return list(self._files.values())

    def clusters_of(self, resource: Resource) -> frozenset[str]:
        """Return the clusters that an object is meant for: by what rendered it, else by its file."""
        file, destination = self._rendered_by.get(resource, (resource.origin.source, ""))
        name = name_of_cluster(destination) if destination else ""
        if name in self.tree.clusters.names:
            return frozenset({name})
        return self.tree.clusters.of(self.ground.absolute_path(file))

    def note_rendered(self, resource: Resource, folder: str, file: str, destination: str) -> None:
        """Note of an object the folder that it was rendered from, the file that said so, and for which destination."""
        self.folders[resource] = folder
        self._rendered_by[resource] = file, destination

    def follow(self, resource: Resource, moved: Resource) -> None:
        """Take what is known of an object for known of what it became."""
        if resource in self.folders:
            self.folders[moved] = self.folders[resource]
        if resource in self._rendered_by:
            self._rendered_by[moved] = self._rendered_by[resource]

    def values_in(self, path: str) -> list[Json] | None:
        """Return the values of the documents in a file; None if it cannot be read."""
        if path not in self._values:
            text = self._text_in(path)
            documents = list(self._documents.read(text)) if text else []
            is_whole = bool(text) and all(isinstance(document, Document) for document in documents)
            values = [document.value for document in documents if isinstance(document, Document)]
            self._values[path] = values if is_whole else None
        return self._values[path]

    def _text_in(self, path: str) -> str:
        """Return the text of a file, empty where there is none that may be read."""
        try:
            return self._text_of(self.ground.source_of(path)) if self.ground.may_read(path) else ""
        except (OSError, ValueError, DocumentError):
            return ""

    def _is_file(self, path: str) -> bool:
        return path in self.ground.sources or path in self.ground.folders

    def _survey(self) -> Ground:
        return Ground(self._file_tree, self._files, [file.root for file in self._files.values()])

    def _build_tree(self) -> Tree:
        """Build the tree of all files, and of those that its kustomizations take in from elsewhere."""
        kustomizations: dict[str, Kustomization] = {}
        unread = [path for path in self.ground.sources if posixpath.basename(path) in NAMES]
        outside_files = 0
        while unread:
            path = unread.pop()
            folder = posixpath.dirname(path)
            read = self.reading.others.get(self.ground.sources.get(path, ""))
            values = [read.value] if read else self.values_in(path)
            raw = values[0] if values else None
            # Of several names, kustomize takes none; the first one is as good as any.
            if not isinstance(raw, dict) or folder in kustomizations:
                continue
            origin = Origin(self.ground.source_of(path), read.line if read else 1)
            kustomization = read_kustomization(raw, folder, origin)
            kustomizations[folder] = kustomization
            for listed in (*kustomization.resources, *kustomization.components):
                if listed not in self.ground.sources and listed not in kustomizations and outside_files < _MAX_FILES:
                    outside = self._read_outside_file(listed)
                    outside_files += len(outside)
                    unread += [path for path in outside if posixpath.basename(path) in NAMES]
        return Tree(self.ground, kustomizations, self.reading.objects, self._namespace)

    def _read_outside_file(self, path: str) -> list[str]:
        """Read a file, or the kustomization in a folder, that nobody named; its place, if it is there."""
        candidates = [path] if is_manifest(posixpath.basename(path)) else [f"{path}/{name}" for name in NAMES]
        for file_path in candidates:
            if file_path in self.ground.sources:
                return []
            if self.values_in(file_path) is not None:
                source = self.ground.add(file_path)
                file = InputFile(source, root=posixpath.dirname(source))
                self._files[source] = file
                self._outside.add(source)
                self.reading.read_file(file, self._text_of)
                return [file_path]
        return []

    def _read_as_kustomize_does(self) -> None:
        """Read files again in which words are booleans to kubectl and text to Kustomize, which takes these files in."""
        reading = self.reading
        sources = (reading.with_old_booleans & self._files.keys()) - reading.others.keys()
        reading.kustomized = {
            source for source in sources if self.tree.is_kustomized(self.ground.absolute_path(source))
        }
        reading.forget(reading.kustomized)
        for source in sorted(reading.kustomized):
            reading.read_file(self._files[source], self._text_of)
        if self._delivering(reading.kustomized):
            self.tree = self._build_tree()

    def _fill_in(self) -> None:
        """Read files again in which Flux fills in variables, until nothing changes any more."""
        from kubectl_policy.text.substitution import substitute  # noqa: PLC0415 (few trees need it)

        for _ in range(_MAX_ROUNDS):
            texts = self.reading.with_variables
            changed = self.tree.values(self.reading.objects, sorted(texts.keys() & self._files.keys())) if texts else {}
            if not changed:
                return
            before = self._delivering(changed)
            self.reading.forget(changed.keys())
            for source, values in changed.items():
                text = texts[source]
                try:
                    filled = substitute(text, values.known, closed=values.closed)
                except DocumentError:
                    filled = substitute(text, values.known)
                self.reading.read_file(self._files[source], {source: filled}.__getitem__)
                # Other values may be found for what was written there.
                texts[source] = text
                self._values.pop(self.ground.absolute_path(source), None)
            # Most variables are in what is delivered, and not in what delivers it.
            if not before and not self._delivering(changed):
                return
            self.tree = self._build_tree()

    def _delivering(self, sources: Container[str]) -> bool:
        """Whether files say what is delivered, or with which values."""
        return any(source in sources for source in self.reading.others) or any(
            resource.ref.group_kind in DELIVERING or resource.ref.group_kind == CONFIG_MAP
            for resource in self.reading.objects
            if resource.origin.source in sources
        )
