"""Argo CD: the Applications of an ApplicationSet, and the builds and releases for the sources of an Application."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from itertools import islice, product
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.sources.rendering.helm import Release, is_chart, parsed
from kubectl_policy.sources.rendering.kustomize import Build, first_mapping
from kubectl_policy.sources.tree.delivery import application_of, fill_in, folder_parameters
from kubectl_policy.sources.tree.ground import is_in
from kubectl_policy.sources.tree.kustomization import NAMES, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.tree.delivery import Application, ApplicationSet, ApplicationSource

_MAX_APPLICATIONS: Final = 2_000
_MAX_DEPTH: Final = 64


class Files(Struct, frozen=True, kw_only=True):
    """Manifests that are applied as they are, by their places."""

    folder: str
    files: tuple[str, ...]


class NotRendered(Struct, frozen=True, kw_only=True):
    """Source of a delivery that cannot be rendered here, and the reason."""

    reason: str


def applications(application_set: ApplicationSet, tree: FileTree, base: str) -> list[Application] | None:
    """Return the Applications of an ApplicationSet; None if they depend on what cannot be known here.

    `base` is the root of the repository that its generators look into.
    """
    spec = mapping_at(application_set.resource.raw, "spec")
    if "templatePatch" in spec:
        return None
    made_applications: list[Application] = []
    for generator in application_set.generators:
        parameters = _parameters(generator, tree, base)
        if parameters is None:
            return None
        for values in parameters[:_MAX_APPLICATIONS]:
            raw = fill_in(mapping_at(spec, "template"), values)
            if isinstance(raw, dict):
                made_applications.append(application_of(application_set.resource, raw))
    return made_applications


def _parameters(generator: Mapping[str, Json], tree: FileTree, base: str) -> list[Mapping[str, Json]] | None:
    """Return the values of a generator, one mapping for each Application; None if they cannot be known here."""
    listed = generator.keys() & {"list", "clusters", "git", "matrix"}
    if len(generator) != 1 or not listed or any(mapping_at(settings, "template") for settings in generator.values()):
        return None
    name = listed.pop()
    # Of clusters, one stands for all: what is known of them is left open.
    parameters: list[Mapping[str, Json]] | None = [{}]
    if name == "list":
        parameters = mappings_at(generator, "list.elements") if not text_at(generator, "list.elementsYaml") else None
    elif name == "git":
        parameters = list(_git_parameters(mapping_at(generator, "git"), tree, base))
    elif name == "matrix":
        sides = [_parameters(settings, tree, base) for settings in mappings_at(generator, "matrix.generators")]
        known = [side for side in sides if side is not None]
        # One side may go by values of the other.
        is_known = len(known) == len(sides) and "{{" not in str(generator)
        rows = islice(product(*known), _MAX_APPLICATIONS)
        parameters = (
            [{key: settings for side in row for key, settings in side.items()} for row in rows] if is_known else None
        )
    return parameters


def _git_parameters(git: Mapping[str, Json], tree: FileTree, base: str) -> Iterator[Mapping[str, Json]]:
    extra: dict[str, Json] = {"values": dict(values)} if (values := mapping_at(git, "values")) else {}
    for folder in _matching(mappings_at(git, "directories"), tree, base, "folder"):
        yield {**extra, "path": folder_parameters(folder)}
    for file in _matching(mappings_at(git, "files"), tree, base, "file"):
        document = first_mapping(tree, posixpath.join(base, file))
        if document is not None:
            path = {**folder_parameters(posixpath.dirname(file)), "filename": posixpath.basename(file)}
            yield {**extra, **document, "path": path}


def _matching(patterns: list[Mapping[str, Json]], tree: FileTree, base: str, kind: str) -> list[str]:
    """Return folders or files that patterns match and exclusions do not, as paths from the base."""
    matches: dict[str, None] = {}
    for pattern in patterns:
        if pattern.get("exclude") is not True:
            parts = text_at(pattern, "path").strip("/").split("/")
            matches.update(dict.fromkeys(_matches(tree, base, parts, kind)))
    excluded = [text_at(pattern, "path") for pattern in patterns if pattern.get("exclude") is True]
    return sorted(path for path in matches if not any(_fits(path, pattern) for pattern in excluded))


def _matches(tree: FileTree, base: str, parts: list[str], kind: str) -> Iterator[str]:
    paths = [""]
    for number, part in enumerate(parts):
        if part == "**" and kind == "file":
            paths = list(dict.fromkeys(inner for path in paths for inner in _descendants(tree, base, path)))
            continue
        wanted_kind = kind if number == len(parts) - 1 else "folder"
        candidates = [
            posixpath.join(path, name)
            for path in paths
            for name in tree.names(posixpath.join(base, path))
            if fnmatchcase(name, part) and not name.startswith(".")
        ]
        paths = [path for path in candidates if tree.kind(posixpath.join(base, path)) == wanted_kind][
            :_MAX_APPLICATIONS
        ]
    yield from paths


def _descendants(tree: FileTree, base: str, top: str) -> Iterator[str]:
    folders = [top]
    while folders:
        folder = folders.pop()
        yield folder
        inside = (posixpath.join(folder, name) for name in tree.names(posixpath.join(base, folder)) if name[0] != ".")
        folders.extend(path for path in inside if tree.kind(posixpath.join(base, path)) == "folder")


def _fits(path: str, pattern: str) -> bool:
    names, patterns = path.split("/"), pattern.strip("/").split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))


def renderable_of(
    source: ApplicationSource, application: Application, tree: FileTree, base: str | None
) -> Build | Release | Files | NotRendered:
    """Return the build, release or files for a source of an Application, by the program that Argo CD would take.

    `base` is the root of the repository that its path starts at; None if it leads nowhere.
    """
    if source.chart or base is None:
        return NotRendered(reason="chart not here" if source.chart else f"{source.path} not here")
    folder = posixpath.join(base, source.path).rstrip("/")
    if source.plugin:
        return NotRendered(reason="a plugin makes its objects")
    has_kustomization = any(tree.kind(posixpath.join(folder, name)) == "file" for name in NAMES)
    if source.helm or (is_chart(tree, folder) and not source.kustomize and not source.directory):
        return _release(source, application, folder, tree, base)
    if source.kustomize or (has_kustomization and not source.directory):
        return Build(folder=folder, additions=source.additions)
    if source.directory.get("jsonnet"):
        return NotRendered(reason="Jsonnet makes its objects")
    files = _files(tree, folder, "", recurse=source.directory.get("recurse") is True)
    return Files(folder=folder, files=tuple(posixpath.join(folder, file) for file in files if source.takes(file)))


def _files(tree: FileTree, folder: str, top: str, *, recurse: bool) -> Iterator[str]:
    for name in tree.names(posixpath.join(folder, top)):
        path = posixpath.join(top, name)
        kind = tree.kind(posixpath.join(folder, path))
        if kind == "file" and name.endswith((".yaml", ".yml", ".json")):
            yield path
        elif kind == "folder" and recurse and not name.startswith(".") and path.count("/") < _MAX_DEPTH:
            yield from _files(tree, folder, path, recurse=recurse)


def _release(
    source: ApplicationSource, application: Application, folder: str, tree: FileTree, base: str
) -> Release | NotRendered:
    helm = source.helm
    files: list[str] = []
    for file in strings_at(helm, "valueFiles"):
        # `$name/path` is a file of the source with that name.
        path = within(base, file.partition("/")[2]) if file.startswith("$") else within(folder, file)
        is_here = is_in(path, base) and tree.kind(path) == "file"
        if not is_here and helm.get("ignoreMissingValueFiles") is not True:
            return NotRendered(reason=f"values {file} not here")
        files += [path] if is_here else []
    settings: list[str] = []
    for parameter in mappings_at(helm, "parameters"):
        option = "--set-string" if parameter.get("forceString") is True else "--set"
        text = text_at(parameter, "value").replace(",", "\\,")
        settings.append(f"{option}={text_at(parameter, 'name')}={text}")
    values = value_at(helm, "valuesObject") or parsed(text_at(helm, "values"))
    return Release(
        folder=folder,
        name=text_at(helm, "releaseName") or application.name,
        namespace=text_at(helm, "namespace") or application.namespace or "default",
        files=tuple(files),
        values=(values,) if isinstance(values, dict) else (),
        settings=tuple(settings),
        definitions=helm.get("skipCrds") is not True,
    )
