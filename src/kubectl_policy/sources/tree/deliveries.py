"""Roots that deliveries declare: the folders and charts that Flux and Argo CD apply, as far as they are here."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.sources.tree.applications import FETCHED, TEMPLATE, applications_of, renderable_of
from kubectl_policy.sources.tree.delivery import (
    Application,
    ApplicationSet,
    FluxKustomization,
    HelmRelease,
    delivery_of,
)
from kubectl_policy.sources.tree.own_sources import OwnSources
from kubectl_policy.sources.tree.roots import Build, NotRendered, Release, Root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.tree.delivery import Delivery
    from kubectl_policy.sources.tree.repository import Repository
    from kubectl_policy.sources.tree.roots import Doubt, Renderable


class Deliveries:
    """Deliveries in the files of a repository."""

    def __init__(self, repository: Repository, objects: Iterable[Resource], delivering: Iterable[Resource]) -> None:
        """Find out which sources can be this repository, by those of the deliveries that are in its files."""
        self._repository = repository
        # Folders that an ApplicationSet excludes.
        self.passed_over: set[str] = set()
        self.written: list[tuple[str, Delivery]] = [
            (path, delivery)
            for resource in delivering
            if (delivery := delivery_of(resource)) and (path := repository.path_of(resource.origin.source))
        ]
        self._own = OwnSources(self.written, objects, repository)

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses of sources that stand for this repository."""
        return self._own.addresses

    def roots_of(self, delivery: Delivery, file: str, top: str = "", doubts: tuple[Doubt, ...] = ()) -> list[Root]:
        """Return the roots of a delivery in a file, one for each of its sources."""
        roots = self._roots(delivery, file)
        return [replace(root, top=top, doubts=doubts) for root in roots]

    def _roots(self, delivery: Delivery, file: str) -> Iterator[Root]:
        match delivery:
            case FluxKustomization():
                ref, renderable = delivery.resource.ref, self._of_flux(delivery, file)
                values: Json = [ref.name, delivery.path, dict(delivery.substitute)]
                yield self._root(delivery, str(ref), file, renderable, delivery.namespace, values)
            case HelmRelease():
                ref, renderable = delivery.resource.ref, self._of_helm(delivery, file)
                values = [ref.name, delivery.release_name, delivery.chart, delivery.namespace, dict(delivery.values)]
                yield self._root(delivery, str(ref), file, renderable, delivery.namespace, values)
            case Application():
                yield from self._of_application(delivery, file)
            case ApplicationSet():
                made_applications = applications_of(delivery, file, self._repository, self._own, self.passed_over)
                if made_applications is None:
                    renderable = NotRendered(reason="what its generators give is not known here")
                    name = str(delivery.resource.ref)
                    yield self._root(delivery.template, name, file, renderable, delivery.template.namespace, None)
                for application in made_applications or ():
                    yield from self._of_application(application, file)

    def _root(  # noqa: PLR0913, PLR0917 (the fields of a root)
        self,
        delivery: FluxKustomization | HelmRelease | Application,
        name: str,
        file: str,
        renderable: Renderable,
        namespace: str,
        values: Json,
    ) -> Root:
        origin = delivery.resource.origin
        return Root(
            renderable=renderable,
            name=name,
            file=file,
            origin=origin,
            namespace="" if "{{" in namespace else namespace,
            delivery=delivery,
            values=values,
        )

    def _of_application(self, application: Application, file: str) -> Iterator[Root]:
        for source in application.sources:
            # One with a name may be there for the values of others alone.
            if source.path or source.chart or not source.name:
                renderable = renderable_of(source, application, file, self._repository, self._own)
                name = f"{application.resource.ref.kind} {application.name}"
                values: Json = [dict(source.helm), application.name, source.chart, source.path]
                yield self._root(application, name, file, renderable, application.namespace, values)

    def _of_flux(self, delivery: FluxKustomization, file: str) -> Renderable:
        if not self._own.may_be(delivery.source, delivery.path):
            source = f"{delivery.source.kind} {delivery.source.name}".strip() or "its source"
            return NotRendered(reason=f"{source} not here", remedy=FETCHED)
        base = self._repository.base_of(file, delivery.path)
        if base is None:
            return NotRendered(reason=f"{delivery.path or '.'} not here", remedy=FETCHED)
        folder = posixpath.join(base, delivery.path).rstrip("/")
        return Build(folder=folder, additions=delivery.additions, by_flux=True, origin=delivery.resource.origin)

    def _of_helm(self, release: HelmRelease, file: str) -> Renderable:
        base = None
        if release.is_in_git and release.chart and self._own.may_be(release.source, release.chart):
            base = self._repository.base_of(file, release.chart)
        folder = posixpath.join(base, release.chart) if base is not None else ""
        if base is None or not self._repository.is_chart(folder):
            return NotRendered(reason="chart not here", remedy=TEMPLATE)
        values = (release.values,) if release.values else ()
        return Release(
            folder=folder, name=release.release_name, namespace=release.namespace or "default", values=values
        )
