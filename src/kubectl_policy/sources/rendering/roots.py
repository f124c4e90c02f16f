"""Roots of rendering: deliveries, and folders that nothing delivers."""

from __future__ import annotations

import posixpath
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import every_mapping, mapping_at, text_at
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.rendering.argo import Files, NotRendered, applications, renderable_of
from kubectl_policy.sources.rendering.helm import CHART, Release, is_chart
from kubectl_policy.sources.rendering.kustomize import Build, first_mapping
from kubectl_policy.sources.tree.delivery import (
    Application,
    ApplicationSet,
    FluxKustomization,
    HelmRelease,
)
from kubectl_policy.sources.tree.ground import ancestors, is_in
from kubectl_policy.sources.tree.kustomization import NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendering.kustomize import Kustomizations
    from kubectl_policy.sources.tree.delivery import Delivery

Renderable: TypeAlias = Build | Release | Files | NotRendered
# So far above a folder that was named, outside of any repository, its repository may begin.
_MAX_OUTER_FOLDERS: Final = 4


class Root(Struct, frozen=True, kw_only=True):
    """Something to render."""

    renderable: Renderable
    """The build, release or files."""
    name: str
    folder: str
    """The folder that it is made from."""
    cluster: str
    """A key that the roots of one cluster have in common."""
    origin: Origin
    namespace: str = ""
    """The namespace of objects that name none, empty if nothing names one."""
    delivery: Delivery | None = None
    file: str = ""
    """The file, by its name, that declares the first of the roots that lead to it."""
    doubt: str = ""
    """The reason for which all of it may be different, if it may."""
    values: Json = None
    """The values that a chart is given; None if they are not known."""


def base_of(tree: FileTree, file: str, path: str) -> str | None:
    """Return the root of the repository from which a path in a file leads to a folder; None if none does.

    It is the outermost folder of the repository around the file in which there is such a path: repositories lie in
    others. Where there is no repository, it may also lie around the folder that was named.
    """
    if posixpath.normpath(path).partition("/")[0] == "..":
        return None
    outermost = tree.root_of(file)
    folders = [folder for folder in reversed(ancestors(file)) if is_in(folder, outermost)]
    folders += filter(None, ancestors(outermost)[:_MAX_OUTER_FOLDERS])
    return next((folder for folder in folders if tree.kind(posixpath.join(folder, path)) == "folder"), None)


def roots_of(delivery: Delivery, file: str, tree: FileTree, cluster: str) -> list[Root]:
    """Return the roots of a delivery, one for each of its sources; `file` is where it is written."""
    roots: list[Root] = []
    for part, buildable in _parts(delivery, file, tree):
        folder = "" if isinstance(buildable, NotRendered) else tree.source(buildable.folder)
        values: Json = None
        if isinstance(part, HelmRelease):
            values = part.values
        elif isinstance(part, Application):
            values = {"sources": [dict(source.helm) for source in part.sources]}
        elif not cluster:
            cluster = folder or tree.source(posixpath.dirname(file))
        root = Root(
            renderable=buildable,
            name=f"Application {part.name}" if isinstance(part, Application) else str(part.resource.ref),
            folder=folder,
            cluster=cluster,
            origin=part.resource.origin,
            namespace=part.namespace,
            delivery=part,
            values=values,
        )
        roots.append(root)
    return roots


def _parts(
    delivery: Delivery, file: str, tree: FileTree
) -> Iterator[tuple[FluxKustomization | HelmRelease | Application, Renderable]]:
    """Yield what is to be rendered for each source of a delivery, and the Application that an ApplicationSet makes."""
    if isinstance(delivery, FluxKustomization):
        base = base_of(tree, file, delivery.path)
        if base is None:
            yield delivery, NotRendered(reason=f"{delivery.path or '.'} not here")
        else:
            folder = posixpath.join(base, delivery.path).rstrip("/")
            yield delivery, Build(folder=folder, additions=delivery.additions, by_flux=True)
    elif isinstance(delivery, HelmRelease):
        base = base_of(tree, file, delivery.chart) if delivery.is_in_git and delivery.chart else None
        folder = posixpath.join(base, delivery.chart) if base is not None else ""
        if base is None or not is_chart(tree, folder):
            yield delivery, NotRendered(reason="chart not here")
        else:
            name, values = delivery.release_name, (delivery.values,) if delivery.values else ()
            yield delivery, Release(folder=folder, name=name, namespace=delivery.namespace or "default", values=values)
    elif isinstance(delivery, Application):
        for source in delivery.sources:
            # One with a name may be there for the values of others alone.
            if source.path or source.chart or not source.name:
                yield delivery, renderable_of(source, delivery, tree, base_of(tree, file, source.path))
    else:
        base = _base_of_set(delivery, file, tree)
        made_applications = applications(delivery, tree, base) if base is not None else None
        if made_applications is None:
            yield delivery.template, NotRendered(reason="what its generators give is not known here")
        for application in made_applications or ():
            yield from _parts(application, file, tree)


def _base_of_set(application_set: ApplicationSet, file: str, tree: FileTree) -> str | None:
    """Return the root of the repository for the generators of a set, by the first folder that one of them names."""
    spec = mapping_at(application_set.resource.raw, "spec")
    fields = [f"{prefix}git.{name}" for prefix in ("", "matrix.generators.") for name in ("directories", "files")]
    patterns = [pattern for name in fields for pattern in every_mapping(spec, f"generators.{name}")]
    for path in (text_at(pattern, "path").strip("/").split("/") for pattern in patterns):
        folder = "/".join(takewhile(lambda part: "*" not in part, path[:-1]))
        if (base := base_of(tree, file, folder)) is not None:
            return base
    return base_of(tree, file, "")


def entry_points(
    declared: list[tuple[str, Sequence[Root]]], kustomizations: Kustomizations
) -> list[tuple[str, Sequence[Root]]]:
    """Return the files with roots that no other root delivers; of those that deliver each other, the first."""
    by_file = grouped((file, number) for number, (file, _) in enumerate(declared))
    covered = [
        [inner for root in roots for path in _inputs_of(root, kustomizations) for inner in by_file.get(path, ())]
        for _, roots in declared
    ]
    delivered = {inner for number, inside in enumerate(covered) for inner in inside if inner != number}
    tops = [number for number in range(len(declared)) if number not in delivered]
    reached: set[int] = set()
    # What is left when all of that is rendered goes round in circles.
    for number in [*tops, *range(len(declared))]:
        if number in reached:
            continue
        if number in delivered:
            tops.append(number)
        unvisited = [number]
        while unvisited:
            inner = unvisited.pop()
            if inner not in reached:
                reached.add(inner)
                unvisited += covered[inner]
    return [declared[number] for number in tops]


def _inputs_of(root: Root, kustomizations: Kustomizations) -> set[str]:
    """Return the files and folders that a root is made from."""
    match root.renderable:
        case Build():
            return {
                path
                for kustomization in kustomizations.walk(root.renderable)
                for path in (kustomization.folder, *kustomizations.files(kustomization))
            }
        case Release():
            return {root.renderable.folder, posixpath.join(root.renderable.folder, CHART)}
        case Files():
            return {*root.renderable.files}
        case NotRendered():
            return set()


def plain_roots(
    tree: FileTree, kustomizations: Kustomizations, paths: Collection[str], namespace: str
) -> list[tuple[str, Root]]:
    """List the folders in the input that can be rendered by themselves, with their files: no components.

    A chart that nobody installs is installed under its own name.
    """
    plain: list[tuple[str, Root]] = []
    charts = {posixpath.dirname(path) for path in paths if posixpath.basename(path) == CHART}
    for path in paths:
        folder, name = posixpath.split(path)
        if any(folder.startswith(f"{chart}/") for chart in charts):
            continue
        if name in NAMES:
            kustomization = kustomizations.of(folder)
            if not (kustomization and kustomization.is_component):
                plain.append((path, _plain(tree, Build(folder=folder), folder)))
        elif name == CHART and text_at(about := first_mapping(tree, path) or {}, "type") != "library":
            release = Release(folder=folder, name=text_at(about, "name"), namespace=namespace)
            plain.append((path, _plain(tree, release, folder)))
    return plain


def _plain(tree: FileTree, buildable: Build | Release, folder: str) -> Root:
    source = tree.source(folder)
    namespace = buildable.namespace if isinstance(buildable, Release) else ""
    return Root(
        renderable=buildable, name=source, folder=source, cluster=source, origin=Origin(source), namespace=namespace
    )
