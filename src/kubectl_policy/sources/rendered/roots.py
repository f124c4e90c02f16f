"""Roots of rendering: deliveries of folders of the tree, and those that nothing else delivers."""

from __future__ import annotations

import posixpath
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import every_mapping, mapping_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.rendered.argo import Files, NotRendered, applications, to_render
from kubectl_policy.sources.rendered.helm import CHART, Release, is_chart
from kubectl_policy.sources.rendered.kustomize import Build, first_mapping
from kubectl_policy.sources.tree.declared.delivery import (
    Application,
    ApplicationSet,
    FluxKustomization,
    HelmRelease,
)
from kubectl_policy.sources.tree.declared.kustomization import NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.model import Json
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.kustomize import Kustomizations
    from kubectl_policy.sources.tree.declared.delivery import Delivery

Rendered: TypeAlias = Build | Release | Files | NotRendered
# So far above a folder that was named, outside of any repository, its repository may begin.
_ABOVE: Final = 4


@value(kw_only=True)
class Root:
    """Something to render."""

    what: Rendered
    """The build, release or files."""
    name: str
    place: str
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
    folders = [posixpath.dirname(file)]
    while folders[-1] != outermost and folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    folders.reverse()
    outer = outermost
    for _ in range(_ABOVE):
        outer = posixpath.dirname(outer)
        if outer:
            folders.append(outer)
    return next((folder for folder in folders if tree.kind(posixpath.join(folder, path)) == "folder"), None)


def roots_of(delivery: Delivery, file: str, tree: FileTree, cluster: str) -> list[Root]:
    """Return the roots of a delivery, one for each of its sources; `file` is where it is written."""
    if isinstance(delivery, FluxKustomization):
        return [_of_flux(delivery, file, tree, cluster)]
    if isinstance(delivery, HelmRelease):
        return [_of_release(delivery, file, tree, cluster)]
    if isinstance(delivery, Application):
        return list(_of_application(delivery, file, tree, cluster))
    base = _base_of_set(delivery, file, tree)
    made_applications = applications(delivery, tree, base) if base is not None else None
    if made_applications is None:
        buildable = NotRendered(why="what its generators give is not known here")
        return [_root(delivery.template, buildable, "", cluster)]
    return [root for application in made_applications for root in _of_application(application, file, tree, cluster)]


def _base_of_set(made_by: ApplicationSet, file: str, tree: FileTree) -> str | None:
    """Return the root of the repository for the generators of a set, by the first folder that one of them names."""
    spec = mapping_at(made_by.resource.raw, "spec")
    fields = [f"{way}git.{name}" for way in ("", "matrix.generators.") for name in ("directories", "files")]
    entries = [item for name in fields for item in every_mapping(spec, f"generators.{name}")]
    for path in (text_at(entry, "path").strip("/").split("/") for entry in entries):
        folder = "/".join(takewhile(lambda part: "*" not in part, path[:-1]))
        if (base := base_of(tree, file, folder)) is not None:
            return base
    return base_of(tree, file, "")


def _of_flux(delivery: FluxKustomization, file: str, tree: FileTree, cluster: str) -> Root:
    base = base_of(tree, file, delivery.path)
    name = f"Kustomization {delivery.resource.ref.qualified_name}"
    folder = posixpath.normpath(posixpath.join(base, delivery.path)) if base is not None else ""
    folder = "" if folder == "." else folder
    buildable = (
        Build(folder=folder, additions=delivery.additions, by_flux=True)
        if base is not None
        else NotRendered(why=f"{delivery.path or '.'} not here")
    )
    return Root(
        what=buildable,
        name=name,
        place=tree.source(folder) if base is not None else "",
        cluster=cluster or tree.source(folder if base is not None else posixpath.dirname(file)),
        origin=delivery.resource.origin,
        namespace=delivery.target_namespace,
        delivery=delivery,
    )


def _of_release(delivery: HelmRelease, file: str, tree: FileTree, cluster: str) -> Root:
    home = delivery.resource.ref.namespace
    namespace = delivery.namespace or home
    path = posixpath.normpath(delivery.chart).strip("/") if delivery.chart else ""
    base = base_of(tree, file, path) if delivery.is_in_git and path else None
    folder = posixpath.join(base, path) if base is not None else ""
    default = f"{delivery.namespace}-{delivery.resource.ref.name}" if delivery.namespace else delivery.resource.ref.name
    buildable: Rendered = NotRendered(why="chart not here")
    if base is not None and is_chart(tree, folder):
        buildable = Release(
            folder=folder,
            name=delivery.release_name or default,
            namespace=namespace or "default",
            values=(delivery.values,) if delivery.values else (),
        )
    return Root(
        what=buildable,
        name=f"HelmRelease {delivery.resource.ref.qualified_name}",
        place=tree.source(folder) if folder else "",
        cluster=cluster,
        origin=delivery.resource.origin,
        namespace=namespace,
        delivery=delivery,
        values=delivery.values,
    )


def _of_application(delivery: Application, file: str, tree: FileTree, cluster: str) -> Iterator[Root]:
    for source in delivery.sources:
        # One that is there for the values of others.
        if source.name and not source.path and not source.chart:
            continue
        base = base_of(tree, file, source.path)
        if source.chart or base is None:
            buildable: Rendered = NotRendered(why="chart not here" if source.chart else f"{source.path} not here")
        else:
            buildable = to_render(source, delivery, tree, base)
        yield _root(
            delivery,
            buildable,
            tree.source(buildable.folder) if not isinstance(buildable, NotRendered) else "",
            cluster,
        )


def _root(delivery: Application, buildable: Rendered, folder: str, cluster: str) -> Root:
    return Root(
        what=buildable,
        name=f"Application {delivery.name}",
        place=folder,
        cluster=cluster,
        origin=delivery.resource.origin,
        namespace=delivery.namespace,
        delivery=delivery,
        values={"sources": [dict(source.helm) for source in delivery.sources]},
    )


@value(kw_only=True)
class Node:
    """Something in the input that may deliver, or be delivered: the file that it is written in, and its roots."""

    file: str
    roots: tuple[Root, ...]
    # Files and folders that it delivers.
    covers: frozenset[str]


def node(file: str, roots: Iterable[Root], kustomizations: Kustomizations) -> Node:
    """Return a node with everything that its roots are made from."""
    own_roots = tuple(roots)
    covers: set[str] = set()
    for root in own_roots:
        match root.what:
            case Build():
                for kustomization in kustomizations.walk(root.what):
                    covers.update((kustomization.folder, *kustomizations.files(kustomization)))
            case Release():
                covers.update((root.what.folder, posixpath.join(root.what.folder, CHART)))
            case Files():
                covers.update(root.what.files)
            case NotRendered():
                pass
    return Node(file=file, roots=own_roots, covers=frozenset(covers))


def entry_points(nodes: list[Node]) -> list[Node]:
    """Yield the nodes that no other one delivers; of those that deliver each other, the first."""
    by_file: dict[str, list[int]] = {}
    for number, item in enumerate(nodes):
        by_file.setdefault(item.file, []).append(number)
    covered = [[n for path in item.covers for n in by_file.get(path, ())] for item in nodes]
    delivered = {n for number, inner in enumerate(covered) for n in inner if n != number}
    tops = [number for number in range(len(nodes)) if number not in delivered]
    reached: set[int] = set()
    # What is left when all of that is rendered goes round in circles.
    for number in [*tops, *range(len(nodes))]:
        if number in reached:
            continue
        if number in delivered:
            tops.append(number)
        rest = [number]
        while rest:
            path = rest.pop()
            if path not in reached:
                reached.add(path)
                rest += covered[path]
    return [nodes[number] for number in tops]


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
        is_root = name in NAMES or name == CHART
        if not is_root or any(folder.startswith(f"{chart}/") for chart in charts):
            continue
        kustomization = kustomizations.of(folder) if name in NAMES else None
        if name in NAMES and not (kustomization and kustomization.is_component):
            plain.append((path, _plain(tree, Build(folder=folder), folder)))
        elif name == CHART and text_at(about := first_mapping(tree, path) or {}, "type") != "library":
            release = Release(folder=folder, name=text_at(about, "name"), namespace=namespace)
            plain.append((path, _plain(tree, release, folder)))
    return plain


def _plain(tree: FileTree, buildable: Build | Release, folder: str) -> Root:
    source = tree.source(folder)
    namespace = buildable.namespace if isinstance(buildable, Release) else ""
    return Root(what=buildable, name=source, place=source, cluster=source, origin=Origin(source), namespace=namespace)
