"""Kustomize: what a folder is built from, a copy of that without anything remote, and the command that builds it."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import items_at, text_at
from kubectl_policy.model.values import field, value
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.rendered.copying import is_below
from kubectl_policy.sources.rendered.programs import Job, program
from kubectl_policy.sources.tree.declared.kustomization import NAMES, is_remote, read_kustomization, within
from kubectl_policy.text import Document, DocumentError
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.copying import Copy
    from kubectl_policy.sources.tree.declared.kustomization import Kustomization

# A file that says how to build is read by people; everything larger is something else.
_MAX_SIZE: Final = 2**20
_MAX_FOLDERS: Final = 5_000
# Where what was made before is put; no file has such a name.
_MADE: Final = ".~made.yaml"
_LONGEST_PATH: Final = 1_024
# Fields of a kustomization that change nothing in an object but its namespace.
_PLAIN: Final = frozenset({"apiVersion", "kind", "metadata", "resources", "bases", "namespace"})


@value(kw_only=True)
class Build:
    """A folder to build, and what somebody adds to its kustomization.

    `additions` replace fields, but add to those that are lists. What Flux builds need not have a kustomization, and may
    take in files from the whole repository (`by_flux`). Instead of what is in the folder, it may be built from what was
    `made` of it before.
    """

    folder: str
    additions: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    by_flux: bool = False
    made: str = ""

    @property
    def key(self) -> tuple[str, str, bool, str]:
        """What tells builds apart: two that have it in common give the same."""
        return self.folder, json.dumps(self.additions, sort_keys=True), self.by_flux, self.made


@value(kw_only=True)
class Remote:
    """Something that would have to be fetched and is left out: what it is, where it is named, and its namespace."""

    what: str
    origin: Origin
    namespace: str = ""


@value(kw_only=True)
class Sources:
    """What a folder is built from: files of the tree, by their places, and what is left out of them."""

    files: frozenset[str]
    remote: tuple[Remote, ...]
    # Whether a path in it leads where nobody may read.
    escapes: bool
    # The outermost of the kustomizations that give everything a namespace.
    namespace_from: Origin | None


def builder() -> tuple[str, ...]:
    """The command that builds a folder with Kustomize; empty if no program is installed that does."""
    if kubectl := program("kubectl"):
        return kubectl, "kustomize"
    kustomize = program("kustomize")
    return (kustomize, "build") if kustomize else ()


def job(command: tuple[str, ...], build: Build, sources: Sources, copy: Copy) -> Job:
    """How a folder is built from its copy. Nothing else than Kustomize itself is run."""
    restrictor = "LoadRestrictionsNone" if build.by_flux and not sources.escapes else "LoadRestrictionsRootOnly"
    path = copy.path(build.folder)
    return Job(command=(*command, f"--load-restrictor={restrictor}", str(path)), folder=path)


class Kustomizations:
    """The kustomizations of a tree, each read once."""

    def __init__(self, tree: FileTree) -> None:
        """Nothing is read before it is asked for."""
        self._tree = tree
        self._read: dict[str, Kustomization | None] = {}
        self._files: dict[str, str] = {}

    def file(self, folder: str) -> str:
        """The place of the kustomization of a folder; empty if it has none."""
        if folder not in self._files:
            paths = (posixpath.join(folder, name) for name in NAMES)
            self._files[folder] = next((path for path in paths if self._kind(path) == "file"), "")
        return self._files[folder]

    def of(self, folder: str) -> Kustomization | None:
        """What the kustomization of a folder says; None if it has none, or one that cannot be read."""
        if folder not in self._read:
            file = self.file(folder)
            raw = first_mapping(self._tree, file) if file else None
            origin = Origin(self._tree.source(file), 1)
            self._read[folder] = read_kustomization(raw, folder, origin) if raw is not None else None
        return self._read[folder]

    def walk(self, build: Build) -> Iterator[Kustomization]:
        """The kustomization of a folder, with what is added to it, and those that it takes in, from the outside in."""
        rest, seen = [build.folder], set[str]()
        while rest and len(seen) < _MAX_FOLDERS:
            folder = rest.pop(0)
            if folder in seen:
                continue
            seen.add(folder)
            said = self._edited(build) if folder == build.folder else self.of(folder)
            if said:
                yield said
                taken = [*said.resources, *said.components, *said.serving]
                rest += [place for place in taken if self._may_take(place, folder) and self._kind(place) == "folder"]

    def change(self, what: object) -> bool:
        """Whether something that is built does more than to take in files and to say where the objects live."""
        return not isinstance(what, Build) or any(
            not said.raw.keys() <= _PLAIN or said.remote or said.is_component for said in self.walk(what)
        )

    def _may_take(self, place: str, folder: str) -> bool:
        """Whether a kustomization in a folder may take something in: it is in the same repository, if there is one."""
        repository = self._tree.repository_of(folder)
        return not place.startswith(("/", "..")) and (repository is None or is_below(place, repository))

    def _edited(self, build: Build) -> Kustomization | None:
        if build.made:
            raw = _with({"resources": [_MADE]}, build.additions)
            return read_kustomization(raw, build.folder, Origin(self._tree.source(build.folder)))
        said = self.of(build.folder)
        if said is None and (self.file(build.folder) or not build.by_flux):
            return None
        origin = said.origin if said else Origin(self._tree.source(build.folder))
        written: Mapping[str, Json] = said.raw if said else {"resources": self.generated(build.folder)}
        return read_kustomization(_with(written, build.additions), build.folder, origin)

    def files(self, said: Kustomization) -> list[str]:
        """The places of the file that a kustomization is in, and of those that it lists."""
        listed = [place for place in (*said.resources, *said.serving) if self._may_take(place, said.folder)]
        return [place for place in (self.file(said.folder), *listed) if self._kind(place) == "file"]

    def copy(self, build: Build, copy: Copy) -> Sources:
        """Copy what a folder is built from, without anything remote; which files of the tree that is."""
        copy.vary(build.folder)
        if build.made:
            copy.write(posixpath.join(build.folder, _MADE), build.made)
        repository = self._tree.root_of(build.folder)
        files: dict[str, None] = {}
        remote: list[Remote] = []
        escapes = False
        namespaces: list[Origin] = []
        for said in self.walk(build):
            if said.namespace:
                namespaces.append(said.origin)
            local, left = without_remote(said)
            remote += left
            if said.folder == build.folder:
                local = _with(local, {"buildMetadata": ["originAnnotations"]})
            copy.write(self.file(said.folder) or posixpath.join(said.folder, NAMES[0]), json.dumps(local))
            files.update(dict.fromkeys(self.files(said)))
            for text in _texts(local):
                place = within(said.folder, text.rpartition("=")[2])
                escapes |= text.startswith("/") or place.partition("/")[0] == ".."
                if self._kind(place) == "file" and any(is_below(place, top) for top in (repository, said.folder)):
                    copy.take(place)
                elif self.file(place) and self.of(place) is None:
                    # Kustomize says best what is wrong with it.
                    copy.take(self.file(place))
        if self.file(build.folder):
            copy.take(self.file(build.folder))
        return Sources(
            files=frozenset(files),
            remote=tuple(remote),
            escapes=escapes,
            namespace_from=namespaces[0] if namespaces else None,
        )

    def _kind(self, place: str) -> str:
        return self._tree.kind(place) if not place.startswith(("/", "..")) else ""

    def generated(self, folder: str) -> list[Json]:
        """What Flux takes in from a folder without a kustomization: manifests below it, and folders that have one."""
        found: list[Json] = []
        rest = [folder]
        while rest and len(found) < _MAX_FOLDERS:
            place = rest.pop()
            for name in self._tree.names(place):
                path = posixpath.join(place, name)
                kind = self._tree.kind(path) if not name.startswith(".") else ""
                if kind == "folder":
                    (found if self.file(path) else rest).append(
                        posixpath.relpath(path, folder) if self.file(path) else path
                    )
                elif kind == "file" and name.endswith((".yaml", ".yml")) and is_manifest(self._tree, path):
                    found.append(posixpath.relpath(path, folder))
        return sorted(found, key=str)


def first_mapping(tree: FileTree, file: str) -> Mapping[str, Json] | None:
    """The first document of a file, if it is a mapping that can be read; None otherwise."""
    for document in documents(tree, file):
        return document.value if isinstance(document, Document) and isinstance(document.value, dict) else None
    return None


def documents(tree: FileTree, file: str, limit: int = _MAX_SIZE) -> Iterator[Document | None]:
    """The documents of a file; None for one that cannot be read, or has the same key twice."""
    try:
        data = tree.read(file, limit)
        text = decoded(data) if len(data) <= limit else None
    except (OSError, ValueError, DocumentError):
        text = None
    if text is None:
        yield None
        return
    for document in DocumentReader().read(text):
        yield document if isinstance(document, Document) and not document.problems else None


def is_manifest(tree: FileTree, file: str) -> bool:
    """Whether every document of a file that is not empty is an object."""
    found = [document.value if document else "" for document in documents(tree, file, 32 * _MAX_SIZE)]
    objects = [value for value in found if value is not None]
    return bool(objects) and all(isinstance(each, dict) and {"apiVersion", "kind"} <= each.keys() for each in objects)


def without_remote(said: Kustomization) -> tuple[dict[str, Json], list[Remote]]:
    """A kustomization without what it takes from elsewhere and the charts that Helm would have to make, and these."""
    raw = dict(said.raw)
    remote: list[Remote] = []
    for name in (
        "resources",
        "bases",
        "components",
        "crds",
        "configurations",
        "generators",
        "transformers",
        "validators",
    ):
        entries = items_at(raw, name)
        left = [entry for entry in entries if isinstance(entry, str) and is_remote(entry) and "\n" not in entry]
        if left:
            raw[name] = [entry for entry in entries if entry not in left]
            remote += [Remote(what=entry, origin=said.origin, namespace=said.namespace) for entry in left]
    for name in ("helmCharts", "helmChartInflationGenerator"):
        for chart in items_at(raw, name):
            what = f"chart {text_at(chart, 'name') or text_at(chart, 'chartName')}"
            namespace = text_at(chart, "namespace")
            remote.append(Remote(what=what, origin=said.origin, namespace=said.namespace or namespace))
        raw.pop(name, None)
    raw.pop("helmGlobals", None)
    return raw, remote


def _with(raw: Mapping[str, Json], additions: Mapping[str, Json]) -> dict[str, Json]:
    """A kustomization with what is added to it: lists become longer, anything else is replaced."""
    changed = dict(raw)
    for name, added in additions.items():
        if isinstance(added, list):
            present = items_at(changed, name)
            changed[name] = [*present, *(entry for entry in added if entry not in present)]
        else:
            changed[name] = added
    return changed


def _texts(raw: Json) -> Iterator[str]:
    """Every text in a value that may be a path; keys are none."""
    rest = [raw]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            rest.extend(each.values())
        elif isinstance(each, list):
            rest.extend(each)
        elif isinstance(each, str) and len(each) < _LONGEST_PATH and each and "\n" not in each:
            yield each
