"""Where objects are written that were rendered before they were read, as far as they or the text around them say it."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.values import replace, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import Json, Resource, Snapshot
    from kubectl_policy.sources.options import InputOptions
    from kubectl_policy.sources.places.below import Below
    from kubectl_policy.sources.places.lines import Lines

OWN: Final = "policy.kubectl.dev/source"
_KUSTOMIZE: Final = "config.kubernetes.io/origin"
# Of kpt and of functions (KRM), the second one in older versions.
_KPT: Final = ("internal.config.kubernetes.io/path", "config.kubernetes.io/path")
_HELM: Final = "# Source: "
_MARKS: Final = (OWN, *_KPT, _KUSTOMIZE, _HELM)

# Where documents begin, and the path of its template that Helm puts in front of each.
_PARTS: Final = re.compile(rf"^(?:---|{_HELM}(.+))", re.MULTILINE)
# Its first part is the name of the chart. People write other sources, such as URLs, in the same way.
_TEMPLATE: Final = re.compile(r"[\w.-]+/(?:.*/)?(?:templates|crds)/.+")
_PATH: Final = re.compile(r"^path:[ \t]*(.+)$", re.MULTILINE)
_CONFIGURED: Final = re.compile(r"^configuredIn:[ \t]*(.+)$", re.MULTILINE)
_REPOSITORY: Final = re.compile(r"^repo:", re.MULTILINE)
_WITH_LINE: Final = re.compile(r"(.+):([1-9][0-9]{0,8})")
_WAY_OUT: Final = re.compile(r"(?:\.{0,2}/)+")
_LONGEST: Final = 1_024
# To put so many paths together takes a second.
_PATIENCE: Final = 500_000


@value(kw_only=True)
class Said:
    """What is said of where something is written: a path and, if it is known, a line.

    What Helm says begins `in_chart`, whose name comes first; what Kustomize says, in the folder that it was called for,
    be that as it may (`in_kustomization`).
    """

    path: str
    line: int = 0
    in_chart: bool = False
    in_kustomization: bool = False


class Origins:
    """Says where the objects of texts come from that it was told of; of others, it replaces the beginnings of paths."""

    def __init__(self, below: Below, options: InputOptions, lines: Lines | None) -> None:
        """Look up files only below the current directory; `lines` are told which of them they may read."""
        self._below, self._lines = below, lines
        self._is_asked, self._path_map = options.map_origins, options.path_map
        self._read: set[str] = set()
        # Of texts that say anything of it: the lines on which their parts start, and what Helm says of each.
        self._parts: dict[str, tuple[list[int], list[str]]] = {}
        self._elsewhere: dict[Said, Sequence[str]] = {}
        self._found: dict[tuple[Said, str, str], Origin | None] = {}

    def take(self, source: str, text: str) -> None:
        """Look for what the text of a source says of where it comes from."""
        self._read.add(source)
        if not self._is_asked or not any(mark in text for mark in _MARKS):
            return
        starts, templates = [0], [""]
        line, at = 1, 0
        for part in _PARTS.finditer(text):
            line += text.count("\n", at, part.start())
            at = part.start()
            said = (part[1] or "").strip()
            starts.append(line)
            templates.append(said if _TEMPLATE.fullmatch(said) else "")
        self._parts[source] = starts, templates

    @property
    def are_elsewhere(self) -> bool:
        """Whether anything may come from elsewhere than where it was read."""
        return bool(self._parts or self._path_map)

    def mapped(self, snapshot: Snapshot, objects: Iterable[Resource]) -> Snapshot:
        """A snapshot in which everything is where it is written; `objects` are all that were read."""
        known: dict[str, dict[int, Origin]] = {}
        for each in objects:
            of_source = known.setdefault(each.origin.source, {})
            if each.origin.line not in of_source:
                of_source[each.origin.line] = self._of(each.raw, each.origin)
        starts = {source: sorted(lines) for source, lines in known.items()}

        def at(origin: Origin) -> Origin:
            """Something that is in an object, or in a document that cannot be read, is where that is."""
            source, line = origin.source, origin.line
            if line in known.get(source, {}):
                return known[source][line]
            if source in self._parts and line in self._parts[source][0]:
                # What is wrong with a document may be where it ends, and the next one begins.
                line -= 1
            lines = starts.get(source, [])
            place = bisect_right(lines, line) - 1
            if place >= 0 and self._part_at(source, lines[place]) == self._part_at(source, line):
                read, found = Origin(source, lines[place]), known[source][lines[place]]
            else:
                read = Origin(source, line)
                found = self._of({}, read)
            return origin if found == read else found

        return replace(
            snapshot,
            resources=tuple(
                replace(
                    each,
                    origin=self._of(each.raw, each.origin),
                    namespace_from=at(each.namespace_from) if each.namespace_from else None,
                )
                for each in snapshot.resources
            ),
            gaps=tuple(replace(each, origin=at(each.origin)) if each.origin else each for each in snapshot.gaps),
            diagnostics=tuple(
                replace(each, origin=at(each.origin)) if each.origin else each for each in snapshot.diagnostics
            ),
            left_out=tuple(replace(each, origin=at(each.origin)) for each in snapshot.left_out),
        )

    def _part_at(self, source: str, line: int) -> int:
        return bisect_right(self._parts[source][0], line) if source in self._parts else 0

    def _of(self, raw: Mapping[str, Json], origin: Origin) -> Origin:
        """Where an object comes from, or what was read in its place."""
        said: Said | None = None
        if origin.source in self._parts:
            template = self._parts[origin.source][1][self._part_at(origin.source, origin.line) - 1]
            said = _annotated(raw) or (Said(path=template, in_chart=True) if template else None)
        if said is None and self._renamed(self._below.path(origin.source)) is not None:
            said = Said(path=self._below.path(origin.source))
        if said is None:
            return origin
        key = said, text_at(raw, "kind"), text_at(raw, "metadata.name")
        if key not in self._found:
            self._found[key] = self._located(*key)
        return self._found[key] or origin

    def _located(self, said: Said, kind: str, name: str) -> Origin | None:
        """The file that something is said to be in, and the line there; None of what is no path."""
        renamed = self._renamed(said.path)
        meant = said.path if renamed is None else renamed
        otherwise = _inside(meant)
        if otherwise is None:
            return None
        is_here = _WAY_OUT.match(posixpath.normpath(meant)) is None
        places = [otherwise] if is_here else []
        if renamed is None:
            places += self._places_elsewhere(said)
        lines = {path: self._below.line(path, kind, name) for path in places if self._below.text(path) is not None}
        having = [path for path, line in lines.items() if line]
        # The first one is where it is said to be, taken at its word.
        if having and (having[0] == otherwise or len(having) == 1):
            path = having[0]
        else:
            path = next(iter(lines)) if len(lines) == 1 else otherwise
        source = self._below.source(path)
        if self._lines and source not in self._read:
            self._lines.read_no_more_than(source, self._below.text(path) if path in lines else None)
        return Origin(source, said.line or lines.get(path) or 1)

    def _places_elsewhere(self, said: Said) -> Sequence[str]:
        """Where it may be, by what its path is relative to."""
        folders = self._below.kustomizations if said.in_kustomization else ()
        # A stranger may say something else of each object.
        if said not in self._elsewhere and len(self._elsewhere) * len(folders) > _PATIENCE:
            return ()
        if said not in self._elsewhere:
            chart, _, inside = said.path.partition("/")
            found: list[str] = []
            if said.in_chart:
                found = [posixpath.join(folder, inside) for folder in self._below.charts.get(chart, ())]
            elif said.in_kustomization:
                found = [posixpath.join(folder, said.path) for folder in folders]
            here = self._below.manifests if found else ()
            self._elsewhere[said] = [path for path in dict.fromkeys(map(posixpath.normpath, found)) if path in here]
        return self._elsewhere[said]

    def _renamed(self, path: str) -> str | None:
        """A path with another beginning, if it is to have one."""
        path = path.removeprefix("./")
        return next((new + path[len(old) :] for old, new in self._path_map if path.startswith(old)), None)


def _annotated(raw: Mapping[str, Json]) -> Said | None:
    """What an object says itself of where it is written."""
    annotations = mapping_at(raw, "metadata.annotations")
    own = annotations.get(OWN)
    if own and isinstance(own, str):
        with_line = _WITH_LINE.fullmatch(own)
        return Said(path=with_line[1], line=int(with_line[2])) if with_line else Said(path=own)
    for name in _KPT:
        path = annotations.get(name)
        if path and isinstance(path, str):
            return Said(path=path)
    origin = annotations.get(_KUSTOMIZE)
    if isinstance(origin, str) and not _REPOSITORY.search(origin):
        found = _PATH.search(origin) or _CONFIGURED.search(origin)
        if found:
            return Said(path=found[1].strip().strip("'\""), in_kustomization=True)
    return None


def _inside(path: str) -> str | None:
    """A path without what leads out of the current directory; None if it is no path that anybody would write."""
    if len(path) > _LONGEST or not path.isprintable():
        return None
    found = posixpath.normpath(path)
    found = found[way.end() :] if (way := _WAY_OUT.match(found)) else found
    return None if found in {"", ".", ".."} else found
