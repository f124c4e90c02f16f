"""Argo CD: the Applications of an ApplicationSet, and what an Application applies of its sources."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from itertools import islice, product, takewhile
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import every_mapping, mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.sources.tree.delivery import application_of, fill_in, folder_parameters
from kubectl_policy.sources.tree.kustomization import within
from kubectl_policy.sources.tree.patches import merged
from kubectl_policy.sources.tree.repository import is_in
from kubectl_policy.sources.tree.roots import Build, Files, NotRendered, Release
from kubectl_policy.text import Document
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.tree.delivery import Application, ApplicationSet, ApplicationSource
    from kubectl_policy.sources.tree.own_sources import OwnSources
    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.roots import Renderable

_MAX_APPLICATIONS: Final = 2_000
FETCHED: Final = "add the manifests that it fetches"
TEMPLATE: Final = "add the output of `helm template`"


def applications_of(
    application_set: ApplicationSet, file: str, repository: Repository, own: OwnSources, passed_over: set[str]
) -> list[Application] | None:
    """Return the Applications of an ApplicationSet in a file; None if they depend on what cannot be known here.

    Folders that it excludes are added to those that are passed over.
    """
    spec = mapping_at(application_set.resource.raw, "spec")
    generators = _Generators(repository, _base_of(spec, file, repository), own, passed_over)
    made_applications: list[Application] = []
    for generator in application_set.generators:
        parameters = generators.parameters(generator)
        if parameters is None:
            return None
        for values in parameters[:_MAX_APPLICATIONS]:
            raw = fill_in(mapping_at(spec, "template"), values)
            patch: Json = parsed(text) if (text := fill_in(text_at(spec, "templatePatch"), values)) else {}
            if not isinstance(raw, dict) or not isinstance(patch, dict):
                return None
            patched = merged(raw, patch)
            made_applications.append(
                application_of(application_set.resource, patched if isinstance(patched, dict) else {})
            )
    return made_applications


def _base_of(spec: Mapping[str, Json], file: str, repository: Repository) -> str:
    """Return the root of the repository for the generators of a set, by the first folder that one of them names."""
    fields = [f"{prefix}git.{name}" for prefix in ("", "matrix.generators.") for name in ("directories", "files")]
    patterns = [pattern for name in fields for pattern in every_mapping(spec, f"generators.{name}")]
    for path in (text_at(pattern, "path").strip("/").split("/") for pattern in patterns):
        folder = "/".join(takewhile(lambda part: "*" not in part, path[:-1]))
        if (base := repository.base_of(file, folder)) is not None:
            return base
    return repository.base_of(file, "") or ""


class _Generators:
    """Generators of ApplicationSets that look into a repository."""

    def __init__(self, repository: Repository, base: str, own: OwnSources, passed_over: set[str]) -> None:
        self._repository, self._base, self._own, self._passed_over = repository, base, own, passed_over

    def parameters(self, generator: Mapping[str, Json]) -> list[Mapping[str, Json]] | None:
        """Return the values of a generator, one mapping for each Application; None if they cannot be known here."""
        listed = generator.keys() & {"list", "clusters", "git", "matrix"}
        if len(generator) != 1 or not listed or any(mapping_at(part, "template") for part in generator.values()):
            return None
        match listed.pop():
            case "list":
                is_open = bool(text_at(generator, "list.elementsYaml"))
                return None if is_open else mappings_at(generator, "list.elements")
            case "git":
                git = mapping_at(generator, "git")
                return list(self._of_git(git)) if self._own.may_be_at(text_at(git, "repoURL")) else None
            case "matrix":
                return self._of_matrix(generator)
            case _:
                # Of clusters, one stands for all: what is known of them is left open.
                return [{}]

    def _of_matrix(self, generator: Mapping[str, Json]) -> list[Mapping[str, Json]] | None:
        sides = [self.parameters(settings) for settings in mappings_at(generator, "matrix.generators")]
        known = [side for side in sides if side is not None]
        # One side may go by values of the other.
        if len(known) < len(sides) or "{{" in str(generator):
            return None
        rows = islice(product(*known), _MAX_APPLICATIONS)
        return [{key: part for side in row for key, part in side.items()} for row in rows]

    def _of_git(self, git: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
        extra: dict[str, Json] = {"values": dict(values)} if (values := mapping_at(git, "values")) else {}
        for folder in self._matching(mappings_at(git, "directories"), "folder"):
            yield {**extra, "path": folder_parameters(folder)}
        for file in self._matching(mappings_at(git, "files"), "file"):
            for document in self._repository.values(posixpath.join(self._base, file)) or ():
                path = {**folder_parameters(posixpath.dirname(file)), "filename": posixpath.basename(file)}
                if isinstance(document, dict):
                    yield {**extra, **document, "path": path}

    def _matching(self, patterns: list[Mapping[str, Json]], wanted: str) -> list[str]:
        """Return folders or files that patterns match and exclusions do not, as paths from the base."""
        excluding, including = (
            [text_at(pattern, "path") for pattern in patterns if (pattern.get("exclude") is True) is excludes]
            for excludes in (True, False)
        )
        entries = self._repository.below(self._base) if including else ()
        paths = [posixpath.relpath(path, self._base or ".") for path, kind in entries if kind == wanted]
        matching = [path for path in paths if any(_fits(path, pattern) for pattern in including)]
        excluded = {path for path in matching if any(_fits(path, pattern) for pattern in excluding)}
        self._passed_over.update(posixpath.join(self._base, path) for path in excluded)
        return sorted(path for path in matching if path not in excluded)[:_MAX_APPLICATIONS]


def _fits(path: str, pattern: str) -> bool:
    """Whether a pattern of a git generator matches a path: `*` within a name, and `**` for any number of folders."""
    names = path.split("/")
    # How many names the parts of the pattern so far may match.
    matched = {0}
    for part in pattern.strip("/").split("/"):
        if part == "**" and matched:
            matched = set(range(min(matched), len(names) + 1))
        else:
            matched = {count + 1 for count in matched if count < len(names) and fnmatchcase(names[count], part)}
    return len(names) in matched


def renderable_of(
    source: ApplicationSource, application: Application, file: str, repository: Repository, own: OwnSources
) -> Renderable:
    """Return what an Application in a file applies of a source, by the program that Argo CD would take."""
    base = repository.base_of(file, source.path) if own.may_be_at(source.address) else None
    if source.chart or base is None:
        missing, remedy = ("chart", TEMPLATE) if source.chart else (source.path or "its source", FETCHED)
        return NotRendered(reason=f"{missing} not here", remedy=remedy)
    folder = posixpath.join(base, source.path).rstrip("/")
    if source.plugin:
        return NotRendered(reason="a plugin makes its objects")
    if source.helm or (repository.is_chart(folder) and not source.kustomize and not source.directory):
        return _release(source, application, folder, repository, base)
    if source.kustomize or (repository.kustomization_file(folder) and not source.directory):
        return Build(folder=folder, additions=source.additions, origin=application.resource.origin)
    if source.directory.get("jsonnet"):
        return NotRendered(reason="Jsonnet makes its objects")
    files = repository.files_below(folder, recurse=source.directory.get("recurse") is True)
    return Files(folder=folder, files=tuple(path for path in files if source.takes(posixpath.relpath(path, folder))))


def _release(
    source: ApplicationSource, application: Application, folder: str, repository: Repository, base: str
) -> Release | NotRendered:
    helm = source.helm
    files: list[str] = []
    for file in strings_at(helm, "valueFiles"):
        # `$name/path` is a file of the source with that name.
        path = within(base, file.partition("/")[2]) if file.startswith("$") else within(folder, file)
        is_here = is_in(path, base) and repository.kind(path) == "file"
        if not is_here and helm.get("ignoreMissingValueFiles") is not True:
            return NotRendered(reason=f"values {file} not here", remedy=TEMPLATE)
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


def parsed(text: Json) -> Json:
    """Parse a text of YAML; None if there is no value in it."""
    for document in DocumentReader().read(text) if isinstance(text, str) else ():
        return document.value if isinstance(document, Document) else None
    return None
