"""ApplicationSets of Argo CD: the Applications that they make of lists, and of the folders of their repository."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.sources.tree.declared.delivery import application_of
from kubectl_policy.sources.tree.ground import above

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.tree.declared.delivery import Application, ApplicationSet
    from kubectl_policy.sources.tree.ground import Ground

_PLACE: Final = re.compile(r"\{\{-?\s*\.?([\w.-]+(?:\[\d+\])?)\s*-?\}\}")
_MOST: Final = 1_000


def applications_of(made_by: ApplicationSet, ground: Ground) -> list[Application]:
    """List the Applications of a set; for generators other than lists and folders, its template."""
    path = ground.place_of(made_by.resource.origin.source)
    template = mapping_at(made_by.resource.raw, "spec.template")
    applications: list[Application] = []
    for generator in made_by.generators:
        values = list(_values(generator, path, ground))[:_MOST]
        applications += [
            application_of(made_by.resource, _filled_mapping(template, parameters)) for parameters in values
        ]
        if not values:
            applications.append(made_by.template)
    return applications


def _values(generator: Mapping[str, Json], file: str, ground: Ground) -> Iterator[dict[str, str]]:
    for element in mappings_at(generator, "list.elements"):
        yield {name: str(parameter) for name, parameter in element.items() if isinstance(parameter, str | int)}
    wanted = mappings_at(generator, "git.directories")
    patterns = [text_at(entry, "path") for entry in wanted if entry.get("exclude") is not True]
    excluded = [text_at(entry, "path") for entry in wanted if entry.get("exclude") is True]
    for path in _folders(patterns, excluded, file, ground):
        segments = path.split("/")
        numbered = {f"path[{position}]": segment for position, segment in enumerate(segments)}
        yield {
            "path": path,
            "path.path": path,
            "path.basename": segments[-1],
            "path.basenameNormalized": re.sub(r"[^a-z0-9-]", "-", segments[-1].lower()),
            **numbered,
        }


def _folders(patterns: list[str], excluded: list[str], file: str, ground: Ground) -> list[str]:
    """List the folders that patterns match, from the outermost folder around a file below which there are any."""
    for root in reversed(above(file)) if patterns else ():
        inside = [posixpath.relpath(folder, root) for folder in ground.folders if folder.startswith(root)]
        matching = [path for path in inside if any(_matches(path, pattern) for pattern in patterns)]
        if matching:
            return sorted(path for path in matching if not any(_matches(path, pattern) for pattern in excluded))
    return []


def _matches(path: str, pattern: str) -> bool:
    parts, wanted = path.split("/"), pattern.strip("/").split("/")
    if wanted[-1] == "**":
        return len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted[:-1]))
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def _filled(value: Json, known: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return _PLACE.sub(lambda expression: known.get(expression[1], expression[0]), value)
    if isinstance(value, dict):
        return _filled_mapping(value, known)
    return [_filled(item, known) for item in value] if isinstance(value, list) else value


def _filled_mapping(value: Mapping[str, Json], known: Mapping[str, str]) -> dict[str, Json]:
    return {key: _filled(item, known) for key, item in value.items()}
