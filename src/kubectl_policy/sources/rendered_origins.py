"""Origins of objects in input that was rendered elsewhere, by notes in them and in the text around them."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Origin
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.files.decoding import decode_text
from kubectl_policy.sources.files.input_files import ABOUT_OTHERS, is_manifest
from kubectl_policy.sources.lines import WrittenObjects
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import Diagnostic, Gap, Json, Resource, Snapshot
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.lines import Lines
    from kubectl_policy.sources.options import InputOptions

_Located = TypeVar("_Located", "Gap", "Diagnostic")
SOURCE_ANNOTATION: Final = "policy.kubectl.dev/source"
_KUSTOMIZE: Final = "config.kubernetes.io/origin"
# Of kpt and of functions (KRM), the second one in older versions.
_KPT: Final = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
_HELM: Final = "# Source: "
_MARKS: Final = (SOURCE_ANNOTATION, *_KPT, _KUSTOMIZE, _HELM)
# Where documents begin, and the path of its template that Helm puts in front of each.
_PARTS: Final = re.compile(rf"^(?:---|{_HELM}(.+))", re.MULTILINE)
# Its first part is the name of the chart. People write other sources, such as URLs, in the same way.
_TEMPLATE: Final = re.compile(r"[\w.-]+/(?:.*/)?(?:templates|crds)/.+")
_PATH: Final = re.compile(r"^path:[ \t]*(.+)$", re.MULTILINE)
_CONFIGURED: Final = re.compile(r"^configuredIn:[ \t]*(.+)$", re.MULTILINE)
_REPOSITORY: Final = re.compile(r"^repo:", re.MULTILINE)
_WITH_LINE: Final = re.compile(r"(.+):([1-9][0-9]{0,8})")
_UPWARDS: Final = re.compile(r"(?:\.{0,2}/)+")
_MAX_PATH: Final = 1_024
# To look for a path in so many folders takes a fraction of a millisecond.
_MAX_FOLDERS: Final = 100
# No file that a person wrote is larger.
MAX_SIZE: Final = 32 * 2**20
_CHART: Final = "Chart.yaml"
_CHART_NAME: Final = re.compile(r"^name[ \t]*:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)
# Whoever asks from the root of a disk does not wait for all of it.
_MAX_ENTRIES: Final = 50_000


class SourceNote(Struct, frozen=True, kw_only=True):
    """Path of the file that an object comes from, according to the object or to the text around it."""

    path: str
    # 0 if it is not known.
    line: int = 0
    # Whether the path begins with the name of a Helm chart.
    in_chart: bool = False
    # Whether the path is relative to a folder that Kustomize was called for.
    in_kustomization: bool = False


class Origins:
    """Origins of objects in rendered texts according to notes in these; of other objects, by the map of paths."""

    def __init__(self, files: LocalFiles, options: InputOptions, lines: Lines | None) -> None:
        """Look up files only below the current directory; `lines` are told which of them they may read."""
        self._files, self._lines = files, lines
        self._follows_notes, self._path_map = options.map_origins, options.path_map
        self._read: set[str] = set()
        # Of texts with notes: the lines on which their parts start, and the template that Helm names for each part.
        self._parts: dict[str, tuple[list[int], list[str]]] = {}

    def read_notes(self, source: str, text: str) -> None:
        """Look for notes in the text of a source."""
        self._read.add(source)
        if not self._follows_notes or not any(mark in text for mark in _MARKS):
            return
        starts, templates = [0], [""]
        line, counted = 1, 0
        for part in _PARTS.finditer(text):
            line += text.count("\n", counted, part.start())
            counted = part.start()
            template = (part[1] or "").strip()
            starts.append(line)
            templates.append(template if _TEMPLATE.fullmatch(template) else "")
        self._parts[source] = starts, templates

    @property
    def may_differ(self) -> bool:
        """Whether anything may come from another file than the one that was read."""
        return bool(self._parts or self._path_map)

    def mapped(self, snapshot: Snapshot, objects: Iterable[Resource]) -> Snapshot:
        """Return a snapshot in which everything is where it is written; `objects` are all that were read."""
        # By source and line.
        origins: dict[str, dict[int, Origin]] = {}
        for resource in objects:
            source, line = resource.origin.source, resource.origin.line
            if line not in origins.setdefault(source, {}):
                origins[source][line] = self._origin(resource.raw, resource.origin)
        starts = {source: sorted(lines) for source, lines in origins.items()}

        def origin_around(origin: Origin) -> Origin:
            """Return the origin of the object, or of the document that cannot be read, around a line."""
            source, line = origin.source, origin.line
            if line not in origins.get(source, {}) and source in self._parts and line in self._parts[source][0]:
                # What is wrong with a document may be where it ends, and the next one begins.
                line -= 1
            number = bisect_right(starts.get(source, []), line) - 1
            start = starts[source][number] if number >= 0 else 0
            if start and self._part_at(source, start) == self._part_at(source, line):
                read, mapped = Origin(source, start), origins[source][start]
            else:
                read = Origin(source, line)
                mapped = self._origin({}, read)
            return origin if mapped == read else mapped

        def with_origins(items: Iterable[_Located]) -> tuple[_Located, ...]:
            return tuple(
                replace(located, origin=origin_around(located.origin)) if located.origin else located
                for located in items
            )

        resources = (
            replace(
                resource,
                origin=self._origin(resource.raw, resource.origin),
                namespace_from=origin_around(resource.namespace_from) if resource.namespace_from else None,
            )
            for resource in snapshot.resources
        )
        return replace(
            snapshot,
            resources=tuple(resources),
            gaps=with_origins(snapshot.gaps),
            diagnostics=with_origins(snapshot.diagnostics),
            left_out=tuple(replace(located, origin=origin_around(located.origin)) for located in snapshot.left_out),
        )

    def _part_at(self, source: str, line: int) -> int:
        return bisect_right(self._parts[source][0], line) if source in self._parts else 0

    def _origin(self, raw: Mapping[str, Json], origin: Origin) -> Origin:
        """Return the origin of an object, which is where it was read if there is no note."""
        note: SourceNote | None = None
        if origin.source in self._parts:
            template = self._parts[origin.source][1][self._part_at(origin.source, origin.line) - 1]
            note = _note_in(raw) or (SourceNote(path=template, in_chart=True) if template else None)
        if note is None and self._renamed(self._files.path(origin.source)) is not None:
            note = SourceNote(path=self._files.path(origin.source))
        if note is None:
            return origin
        return self._noted_origin((note, text_at(raw, "kind"), text_at(raw, "metadata.name"))) or origin

    @cached_method
    def _noted_origin(self, noted_object: tuple[SourceNote, str, str]) -> Origin | None:
        """Return the file that a note names, and the line of the object in it; None if it names no path."""
        note, kind, name = noted_object
        renamed = self._renamed(note.path)
        noted = posixpath.normpath(note.path if renamed is None else renamed)
        upwards = _UPWARDS.match(noted)
        # A path that leads out of the current directory is shown from there, and not looked up.
        local = noted[upwards.end() :] if upwards else noted
        if len(noted) > _MAX_PATH or not noted.isprintable() or local in {"", ".", ".."}:
            return None
        paths = [] if upwards else [local]
        if renamed is None:
            paths += self._relative_paths(note)
        existing = [path for path in paths if self._files.text(path) is not None]
        lines = {path: self._files.objects(path).line(kind, name) for path in existing}
        with_object = [path for path, line in lines.items() if line]
        # The noted path counts before what it may be relative to, of which only one may have the object.
        if with_object and (with_object[0] == local or len(with_object) == 1):
            path = with_object[0]
        else:
            path = next(iter(lines)) if len(lines) == 1 else local
        source = self._files.source(path)
        if self._lines and source not in self._read:
            self._lines.keep(source, (self._files.text(path) if path in lines else None) or "")
        return Origin(source, note.line or lines.get(path) or 1)

    def _relative_paths(self, note: SourceNote) -> Iterable[str]:
        """Return the paths of manifests that a note may mean by a path in a chart or from a kustomization."""
        folders: Sequence[str] = ()
        inside = note.path
        if note.in_chart:
            chart, _, inside = note.path.partition("/")
            folders = self._files.charts.get(chart, ())
        elif note.in_kustomization:
            folders = self._files.kustomizations[:_MAX_FOLDERS]
        paths = dict.fromkeys(posixpath.normpath(posixpath.join(folder, inside)) for folder in folders)
        return [path for path in paths if path in self._files.manifests]

    def _renamed(self, path: str) -> str | None:
        path = path.removeprefix("./")
        return next((new + path[len(old) :] for old, new in self._path_map if path.startswith(old)), None)


def _note_in(raw: Mapping[str, Json]) -> SourceNote | None:
    annotations = mapping_at(raw, "metadata.annotations")
    texts = {name: text for name, text in annotations.items() if isinstance(text, str)}
    if noted := texts.get(SOURCE_ANNOTATION):
        with_line = _WITH_LINE.fullmatch(noted)
        return SourceNote(path=with_line[1], line=int(with_line[2])) if with_line else SourceNote(path=noted)
    if path := next(filter(None, map(texts.get, _KPT)), None):
        return SourceNote(path=path)
    origin = texts.get(_KUSTOMIZE, "")
    match = None if _REPOSITORY.search(origin) else _PATH.search(origin) or _CONFIGURED.search(origin)
    return SourceNote(path=match[1].strip().strip("'\""), in_kustomization=True) if match else None


class LocalFiles:
    """Files of a tree by their paths from the current directory, none of which leads out of it."""

    def __init__(self, tree: FileTree) -> None:
        """Look up nothing yet."""
        self._tree, self._directory = tree, tree.here()

    def source(self, path: str) -> str:
        """Return the name of a file in messages, be it there or not."""
        return self._tree.source(self._directory + path)

    def path(self, source: str) -> str:
        """Return the path of a file that has a name in messages."""
        return source.removeprefix(self.source(""))

    @cached_property
    def _top(self) -> str:
        return self._tree.resolve(self._directory)[0].rstrip("/")

    @cached_method
    def text(self, path: str) -> str | None:
        """Return the text of a file; None if there is none that can be read."""
        with suppress(OSError, ValueError, DocumentError):
            real, kind = self._tree.resolve(self._directory + path)
            data = self._tree.read(real, MAX_SIZE) if kind == "file" and real.startswith(f"{self._top}/") else None
            return decode_text(data) if data is not None and len(data) <= MAX_SIZE else None
        return None

    @cached_method
    def objects(self, path: str) -> WrittenObjects:
        """Return the objects in a file; none if it cannot be read."""
        return WrittenObjects(self.text(path) or "")

    @cached_property
    def manifests(self) -> frozenset[str]:
        """The paths of all manifests, but for hidden folders, linked ones and closed ones."""
        paths: list[str] = []
        folders, passed = [""], 0
        while folders and passed < _MAX_ENTRIES:
            folder = folders.pop()
            with suppress(OSError):
                for name, kind in self._tree.entries(self._directory + folder):
                    passed += 1
                    if kind == "folder" and not name.startswith("."):
                        folders.append(f"{folder}{name}/")
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
