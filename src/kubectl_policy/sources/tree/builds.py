"""Builds of a tree: its kustomizations, and those that Flux, Argo CD and its ApplicationSets make of folders."""

from __future__ import annotations

import fnmatch
import posixpath
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.sources.tree import DELIVERING
from kubectl_policy.sources.tree.chains import DeclaredBuild
from kubectl_policy.sources.tree.delivery import (
    Application,
    ApplicationSet,
    FluxKustomization,
    application_of,
    delivery_of,
    fill_in,
    folder_parameters,
)
from kubectl_policy.sources.tree.ground import ancestors, is_in
from kubectl_policy.sources.tree.kustomization import NAMES, Kustomization, extend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.tree.delivery import ApplicationSource, Delivery
    from kubectl_policy.sources.tree.ground import Ground

_MAX_APPLICATIONS: Final = 1_000


class DeclaredBuilds:
    """The builds of a tree, and which delivery each of them belongs to."""

    def __init__(
        self, ground: Ground, kustomizations: Mapping[str, Kustomization], objects: Iterable[Resource]
    ) -> None:
        """Find what is built; kustomizations are given by their folders."""
        self._ground = ground
        self._kustomizations = kustomizations
        self._paths = sorted(ground.sources)
        self.all = [
            DeclaredBuild(folder=folder, kustomization=kustomization)
            for folder, kustomization in kustomizations.items()
        ]
        # By the number of a build, what applies it; and what delivers something that is not in this tree.
        self.applied_by: dict[int, FluxKustomization | Application] = {}
        self.deliveries: list[Delivery] = []
        for resource in objects:
            declared = delivery_of(resource) if resource.ref.group_kind in DELIVERING else None
            if isinstance(declared, ApplicationSet):
                self.deliveries += applications_of_set(declared, ground)
            elif declared:
                self.deliveries.append(declared)
        for delivery in self.deliveries:
            for build in self._built_by(delivery):
                self.applied_by[len(self.all)] = delivery  # type: ignore[assignment]
                self.all.append(build)

    def _built_by(self, delivery: Delivery) -> Iterator[DeclaredBuild]:
        path = self._ground.absolute_path(delivery.resource.origin.source)
        if isinstance(delivery, FluxKustomization):
            folder = self._ground.resolve(delivery.path, path)
            if folder is not None:
                kustomization = self._kustomizations.get(folder) or self._of_everything_in(folder, delivery.resource)
                changed = extend(kustomization, delivery.additions, delivery.resource.origin)
                yield DeclaredBuild(folder=folder, kustomization=changed, is_applied=True)
        elif isinstance(delivery, Application):
            for source in delivery.sources:
                folder = self._ground.resolve(source.path, path) if source.path else None
                if folder is not None and f"{folder}/Chart.yaml" not in self._ground.sources:
                    yield self._of_argo(delivery, source, folder)

    def _of_argo(self, delivery: Application, source: ApplicationSource, folder: str) -> DeclaredBuild:
        """Return the build of Argo CD for a folder: of its kustomization as Flux does, or of the manifests in it."""
        origin, kustomization = delivery.resource.origin, self._kustomizations.get(folder)
        if kustomization:
            kustomization = extend(kustomization, source.additions, origin)
        else:
            manifests = [path for path in self.files_in(folder) if source.takes(posixpath.relpath(path, folder))]
            kustomization = Kustomization(folder=folder, origin=origin, resources=tuple(manifests))
        return DeclaredBuild(
            folder=folder, kustomization=kustomization, default=delivery.namespace, default_from=origin, is_applied=True
        )

    def is_kustomize(self, number: int) -> bool:
        """Whether Kustomize builds it: all but the folders without a kustomization that Argo CD applies as they are."""
        is_plain = self.all[number].folder not in self._kustomizations
        return not (is_plain and isinstance(self.applied_by.get(number), Application))

    def _of_everything_in(self, folder: str, resource: Resource) -> Kustomization:
        """Return the kustomization that Flux makes for a folder without one: all manifests in it and below it."""
        resources: dict[str, None] = {}
        for path in self.files_in(folder):
            parent = posixpath.dirname(path)
            # A folder below with a kustomization of its own is taken in as such.
            inside = [
                ancestor for ancestor in (parent, *ancestors(parent)) if ancestor != folder and is_in(ancestor, folder)
            ]
            built = [ancestor for ancestor in inside if ancestor in self._kustomizations]
            if built:
                if not self._kustomizations[built[-1]].is_component:
                    resources[built[-1]] = None
            else:
                resources[path] = None
        return Kustomization(folder=folder, origin=resource.origin, resources=tuple(resources))

    def files_in(self, folder: str) -> Iterator[str]:
        """List the files in a folder and below it."""
        if folder in self._ground.sources:
            yield folder
        start = folder.rstrip("/") + "/"
        for position in range(bisect_left(self._paths, start), len(self._paths)):
            if not self._paths[position].startswith(start):
                return
            if posixpath.basename(self._paths[position]) not in NAMES:
                yield self._paths[position]


def applications_of_set(application_set: ApplicationSet, ground: Ground) -> list[Application]:
    """List the Applications of a set; for generators other than lists and folders, its template."""
    path = ground.absolute_path(application_set.resource.origin.source)
    template = mapping_at(application_set.resource.raw, "spec.template")
    applications: list[Application] = []
    for generator in application_set.generators:
        parameters = list(islice(_parameters(generator, path, ground), _MAX_APPLICATIONS))
        filled = [fill_in(template, values) for values in parameters]
        applications += [application_of(application_set.resource, raw) for raw in filled if isinstance(raw, dict)]
        if not parameters:
            applications.append(application_set.template)
    return applications


def _parameters(generator: Mapping[str, Json], file: str, ground: Ground) -> Iterator[Mapping[str, Json]]:
    yield from mappings_at(generator, "list.elements")
    directories = mappings_at(generator, "git.directories")
    patterns = [text_at(directory, "path") for directory in directories if directory.get("exclude") is not True]
    excluded = [text_at(directory, "path") for directory in directories if directory.get("exclude") is True]
    for path in _folders(patterns, excluded, file, ground):
        yield {"path": folder_parameters(path)}


def _folders(patterns: list[str], excluded: list[str], file: str, ground: Ground) -> list[str]:
    """List the folders that patterns match, from the outermost folder around a file below which there are any."""
    for root in reversed(ancestors(file)) if patterns else ():
        inside = [posixpath.relpath(folder, root) for folder in ground.folders if folder.startswith(root)]
        matching = [path for path in inside if any(_matches(path, pattern) for pattern in patterns)]
        if matching:
            return sorted(path for path in matching if not any(_matches(path, pattern) for pattern in excluded))
    return []


def _matches(path: str, pattern: str) -> bool:
    parts, names = path.split("/"), pattern.strip("/").split("/")
    if names[-1] == "**":
        return len(parts) >= len(names) and all(map(fnmatch.fnmatchcase, parts, names[:-1]))
    return len(parts) == len(names) and all(map(fnmatch.fnmatchcase, parts, names))
