"""Helm: a chart that is in the tree, the values that it is given, and the command that makes manifests of it."""

from __future__ import annotations

import json
import posixpath
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.rendered.kustomize import first_mapping
from kubectl_policy.sources.rendered.programs import Job, program
from kubectl_policy.text import Document
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.copying import Copy

CHART: Final = "Chart.yaml"


@value(kw_only=True)
class Release:
    """A chart in a folder, to be installed under a name into a namespace.

    `files` are places of files with values and `values` more of them, the later before the earlier ones. `settings` are
    arguments of Helm that set single values.
    """

    folder: str
    name: str
    namespace: str
    files: tuple[str, ...] = ()
    values: tuple[Mapping[str, Json], ...] = ()
    settings: tuple[str, ...] = ()
    definitions: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """What tells releases apart: two that have it in common give the same."""
        return (
            self.folder,
            self.name,
            self.namespace,
            json.dumps(self.values, sort_keys=True),
            *self.files,
            "",
            *self.settings,
            str(self.definitions),
        )


def helm() -> tuple[str, ...]:
    """The command by which Helm is called; empty if it is not installed."""
    found = program("helm")
    return (found,) if found else ()


def is_chart(tree: FileTree, folder: str) -> bool:
    """Whether there is a chart in a folder."""
    return tree.kind(posixpath.join(folder, CHART)) == "file"


def missing_dependencies(tree: FileTree, folder: str) -> Iterator[str]:
    """The names of charts that a chart needs and that are not in its folder `charts`; Helm would have to fetch them."""
    inside = posixpath.join(folder, "charts")
    packed = tree.names(inside)
    listed = [first_mapping(tree, posixpath.join(folder, file)) or {} for file in (CHART, "requirements.yaml")]
    for dependency in (each for said in listed for each in mappings_at(said, "dependencies")):
        name = text_at(dependency, "name")
        vendored = any(file.startswith(f"{name}-") and file.endswith(".tgz") for file in packed)
        if name and not vendored and not is_chart(tree, posixpath.join(inside, name)):
            yield name


def job(command: tuple[str, ...], release: Release, copy: Copy, home: Path) -> Job:
    """Copy a chart, write its values into a folder, and how Helm makes manifests of it. Raises CopyError."""
    copy.vary(None)
    copy.take_all(release.folder)
    words = [*command, "template"]
    for file in release.files:
        copy.take(file)
        words.append(f"--values={copy.path(file)}")
    for values in release.values:
        with NamedTemporaryFile("w", suffix=".json", dir=home, delete=False) as file_of_values:
            json.dump(values, file_of_values)
        words.append(f"--values={file_of_values.name}")
    words += release.settings
    if release.definitions:
        words.append("--include-crds")
    words += [f"--namespace={release.namespace}", "--", release.name, str(copy.path(release.folder))]
    return Job(command=tuple(words), folder=home)


def parsed(text: str) -> Json:
    """The value of a text of YAML; None if there is none in it."""
    for document in DocumentReader().read(text):
        return document.value if isinstance(document, Document) else None
    return None
