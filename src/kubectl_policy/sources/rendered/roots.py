"""What there is to render: what delivers folders of the tree, and which of that nothing else delivers."""

from __future__ import annotations

import posixpath
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model import Origin
from kubectl_policy.model.fields import every_mapping, mapping_at, text_at
from kubectl_policy.model.values import value
from kubectl_policy.sources.rendered import flux
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
    """Something to render: what, what delivers it if anything does, and where that is written.

    `place` is the folder that it is made from. `namespace` is where objects live that name none, empty if nothing says
    it. `cluster` is what the roots of one cluster have in common, and `values` what a chart is given, None if nobody
    knows. `doubt` is why all of it may be different, if it may. `file`
    is the one, as it is called, in which it is said what is rendered first of all that leads to it.
    """

    what: Rendered
    name: str
    place: str
    cluster: str
    origin: Origin
    namespace: str = ""
    delivery: Delivery | None = None
    file: str = ""
    doubt: str = ""
    values: Json = None


def base_of(tree: FileTree, file: str, path: str) -> str | None:
    """The root of the repository from which a path in a file leads to something; None if it is nowhere.

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
    above = outermost
    for _ in range(_ABOVE):
        above = posixpath.dirname(above)
        if above:
            folders.append(above)
    return next((folder for folder in folders if tree.kind(posixpath.join(folder, path)) == "folder"), None)


def roots_of(delivery: Delivery, file: str, tree: FileTree, cluster: str) -> list[Root]:
    """What a delivery has rendered, one root for each of its sources; `file` is where it is written."""
    if isinstance(delivery, FluxKustomization):
        return [_of_flux(delivery, file, tree, cluster)]
    if isinstance(delivery, HelmRelease):
        return [_of_release(delivery, file, tree, cluster)]
    if isinstance(delivery, Application):
        return list(_of_application(delivery, file, tree, cluster))
    base = _base_of_set(delivery, file, tree)
    made = applications(delivery, tree, base) if base is not None else None
    if made is None:
        what = NotRendered(why="what its generators give is not known here")
        return [_root(delivery.template, what, "", cluster)]
    return [root for each in made for root in _of_application(each, file, tree, cluster)]


def _base_of_set(made_by: ApplicationSet, file: str, tree: FileTree) -> str | None:
    """The root of the repository that the generators of a set look into, by the first folder that one of them names."""
    spec = mapping_at(made_by.resource.raw, "spec")
    fields = [f"{way}git.{name}" for way in ("", "matrix.generators.") for name in ("directories", "files")]
    entries = [each for name in fields for each in every_mapping(spec, f"generators.{name}")]
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
    what = flux.build_of(delivery, folder) if base is not None else NotRendered(why=f"{delivery.path or '.'} not here")
    return Root(
        what=what,
        name=name,
        place=tree.source(folder) if base is not None else "",
        cluster=cluster or tree.source(folder if base is not None else posixpath.dirname(file)),
        origin=delivery.resource.origin,
        namespace=delivery.target_namespace,
        delivery=delivery,
    )


def _of_release(delivery: HelmRelease, file: str, tree: FileTree, cluster: str) -> Root:
    own = delivery.resource.ref.namespace
    namespace = delivery.namespace or own
    path = posixpath.normpath(delivery.chart).strip("/") if delivery.chart else ""
    base = base_of(tree, file, path) if delivery.is_in_git and path else None
    folder = posixpath.join(base, path) if base is not None else ""
    default = f"{delivery.namespace}-{delivery.resource.ref.name}" if delivery.namespace else delivery.resource.ref.name
    what: Rendered = NotRendered(why="chart not here")
    if base is not None and is_chart(tree, folder):
        what = Release(
            folder=folder,
            name=delivery.release_name or default,
            namespace=namespace or "default",
            values=(delivery.values,) if delivery.values else (),
        )
    return Root(
        what=what,
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
            what: Rendered = NotRendered(why="chart not here" if source.chart else f"{source.path} not here")
        else:
            what = to_render(source, delivery, tree, base)
        yield _root(delivery, what, tree.source(what.folder) if not isinstance(what, NotRendered) else "", cluster)


def _root(delivery: Application, what: Rendered, place: str, cluster: str) -> Root:
    return Root(
        what=what,
        name=f"Application {delivery.name}",
        place=place,
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
    """A node with everything that its roots are made from."""
    found = tuple(roots)
    covers: set[str] = set()
    for root in found:
        match root.what:
            case Build():
                for said in kustomizations.walk(root.what):
                    covers.update((said.folder, *kustomizations.files(said)))
            case Release():
                covers.update((root.what.folder, posixpath.join(root.what.folder, CHART)))
            case Files():
                covers.update(root.what.files)
            case NotRendered():
                pass
    return Node(file=file, roots=found, covers=frozenset(covers))


def entry_points(nodes: list[Node]) -> list[Node]:
    """The nodes that no other one delivers; of those that deliver each other, the first."""
    by_file: dict[str, list[int]] = {}
    for number, each in enumerate(nodes):
        by_file.setdefault(each.file, []).append(number)
    below = [[n for place in each.covers for n in by_file.get(place, ())] for each in nodes]
    delivered = {n for number, found in enumerate(below) for n in found if n != number}
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
            place = rest.pop()
            if place not in reached:
                reached.add(place)
                rest += below[place]
    return [nodes[number] for number in tops]


def plain_roots(
    tree: FileTree, kustomizations: Kustomizations, places: Collection[str], namespace: str
) -> list[tuple[str, Root]]:
    """The folders in the input that can be rendered by themselves, with the file that says so: no components.

    A chart that nobody installs is installed under its own name.
    """
    found: list[tuple[str, Root]] = []
    charts = {posixpath.dirname(place) for place in places if posixpath.basename(place) == CHART}
    for place in places:
        folder, name = posixpath.split(place)
        is_root = name in NAMES or name == CHART
        if not is_root or any(folder.startswith(f"{chart}/") for chart in charts):
            continue
        said = kustomizations.of(folder) if name in NAMES else None
        if name in NAMES and not (said and said.is_component):
            found.append((place, _plain(tree, Build(folder=folder), folder)))
        elif name == CHART and text_at(about := first_mapping(tree, place) or {}, "type") != "library":
            release = Release(folder=folder, name=text_at(about, "name"), namespace=namespace)
            found.append((place, _plain(tree, release, folder)))
    return found


def _plain(tree: FileTree, what: Build | Release, folder: str) -> Root:
    source = tree.source(folder)
    namespace = what.namespace if isinstance(what, Release) else ""
    return Root(what=what, name=source, place=source, cluster=source, origin=Origin(source), namespace=namespace)
