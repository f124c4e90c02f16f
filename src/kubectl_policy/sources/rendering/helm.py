"""Helm: the program that makes manifests of a chart in the tree, the files that it needs, and what it prints."""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.sources.programs.inputs import Inputs, InputsError
from kubectl_policy.sources.programs.jobs import FOLDER, Job
from kubectl_policy.sources.rendering.printed import printed_in
from kubectl_policy.sources.tree.repository import CHART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Problem
    from kubectl_policy.sources.rendering.printed import Printed
    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.roots import Release

_SOURCE: Final = re.compile(r"^# Source: (.+)$", re.MULTILINE)
_START: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)


def helm_job(program: str, release: Release, repository: Repository) -> Job:
    """Return the job that makes manifests of a release. Raises InputsError if charts that it needs are not here."""
    missing_charts = list(_missing_dependencies(repository, release.folder))
    if missing_charts:
        raise InputsError(f"it needs charts that are not here: {', '.join(missing_charts)}")
    inputs = Inputs(repository.tree)
    inputs.copy_folder(release.folder)
    arguments = [program, "template"]
    for file in release.files:
        inputs.copy_file(file)
        arguments.append(f"--values={FOLDER}/{file}")
    for number, values in enumerate(release.values):
        file = f"{release.folder}-values-{number}.json"
        inputs.write(file, json.dumps(values))
        arguments.append(f"--values={FOLDER}/{file}")
    arguments += release.settings
    if release.definitions:
        arguments.append("--include-crds")
    chart = f"{FOLDER}/{release.folder}"
    arguments += [f"--namespace={release.namespace}", "--", release.name, chart]
    return Job(command=tuple(arguments), inputs=inputs, folder=release.folder)


def _missing_dependencies(repository: Repository, folder: str) -> Iterator[str]:
    """Yield the names of charts that a chart needs and that are not in its folder `charts`."""
    inside = posixpath.join(folder, "charts")
    packed = repository.tree.names(inside)
    for file in (CHART, "requirements.yaml"):
        for document in repository.values(posixpath.join(folder, file)) or ():
            for name in (text_at(declared, "name") for declared in mappings_at(document, "dependencies")):
                is_packed = any(entry.startswith(f"{name}-") and entry.endswith(".tgz") for entry in packed)
                if name and not is_packed and not repository.is_chart(posixpath.join(inside, name)):
                    yield name


def read_helm_output(text: str, chart: str) -> Iterator[Printed | Problem]:
    """Yield the objects in the output of Helm for a chart; it names templates by the name of the chart."""
    for part in _START.split(text):
        match = _SOURCE.search(part)
        file = posixpath.join(chart, match[1].strip().partition("/")[2]) if match else ""
        yield from printed_in(part, file)
