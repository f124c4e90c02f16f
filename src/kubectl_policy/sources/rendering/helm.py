"""Helm: releases of charts in the tree, their values, and the command that makes manifests of them."""

from __future__ import annotations

import json
import posixpath
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.sources.rendering.kustomize import first_mapping
from kubectl_policy.sources.rendering.programs import Job
from kubectl_policy.text import Document
from kubectl_policy.text.documents import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendering.programs import Copy

CHART: Final = "Chart.yaml"


class Release(Struct, frozen=True, kw_only=True):
    """Chart in a folder, to be installed under a name into a namespace."""

    folder: str
    name: str
    namespace: str
    files: tuple[str, ...] = ()
    """Paths of files with values, the later before the earlier ones."""
    values: tuple[Mapping[str, Json], ...] = ()
    """Further values, which count before those in files."""
    settings: tuple[str, ...] = ()
    """Arguments of Helm that set single values."""
    definitions: bool = True


def is_chart(tree: FileTree, folder: str) -> bool:
    """Whether there is a chart in a folder."""
    return tree.kind(posixpath.join(folder, CHART)) == "file"


def missing_dependencies(tree: FileTree, folder: str) -> Iterator[str]:
    """Yield the names of charts that a chart needs and that are not in its folder `charts`."""
    inside = posixpath.join(folder, "charts")
    packed = tree.names(inside)
    listed = [first_mapping(tree, posixpath.join(folder, file)) or {} for file in (CHART, "requirements.yaml")]
    for dependency in (declared for document in listed for declared in mappings_at(document, "dependencies")):
        name = text_at(dependency, "name")
        vendored = any(file.startswith(f"{name}-") and file.endswith(".tgz") for file in packed)
        if name and not vendored and not is_chart(tree, posixpath.join(inside, name)):
            yield name


def job(program: str, release: Release, copy: Copy, home: Path) -> Job:
    """Copy a chart, write its values into a folder, and how Helm makes manifests of it. Raises CopyError."""
    copy.copy_folder(release.folder)
    arguments = [program, "template"]
    for file in release.files:
        copy.copy_file(file)
        arguments.append(f"--values={copy.folder / file}")
    for values in release.values:
        with NamedTemporaryFile("w", suffix=".json", dir=home, delete=False) as file_of_values:
            json.dump(values, file_of_values)
        arguments.append(f"--values={file_of_values.name}")
    arguments += release.settings
    if release.definitions:
        arguments.append("--include-crds")
    arguments += [f"--namespace={release.namespace}", "--", release.name, str(copy.folder / release.folder)]
    return Job(command=tuple(arguments), folder=home)


def parsed(text: str) -> Json:
    """Parse a text of YAML; None if there is no value in it."""
    for document in DocumentReader().read(text):
        return document.value if isinstance(document, Document) else None
    return None
