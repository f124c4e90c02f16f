"""Creators of objects that no manifest here shows, as gaps: charts, generators, and remote resources."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.sources.tree.changes import RENDER
from kubectl_policy.sources.tree.declared.delivery import (
    Application,
    FluxKustomization,
    HelmRelease,
    delivery_of,
)
from kubectl_policy.sources.tree.declared.mentions import words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, Origin, Resource
    from kubectl_policy.sources.tree.chains import Chain, DeclaredBuild
    from kubectl_policy.sources.tree.ground import Ground

_TEMPLATE: Final = "add the output of `helm template`"
_FETCHED: Final = "add the manifests that it fetches"
_GENERATORS: Final[Mapping[str, str]] = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}


def creating(
    creator: str, namespace: str, origin: Origin | None, remedy: str = "", mentions: frozenset[str] | None = None
) -> Gap:
    """Return the gap for any objects that something may create."""
    reason = f"{creator} in namespace {namespace}" if namespace else creator
    return Gap(kind="", namespace=namespace, reason=reason, origin=origin, remedy=remedy, mentions=mentions)


def by_release(resource: Resource, ground: Ground, values_of: Callable[[str], Sequence[Json] | None]) -> Iterator[Gap]:
    """Yield the gaps of a placed HelmRelease; `values_of` returns the values in a ConfigMap that is here."""
    release = delivery_of(resource)
    if not isinstance(release, HelmRelease):
        return
    path = ground.place_of(resource.origin.source)
    is_here = release.is_in_git and ground.resolve(release.chart, path) is not None
    # What is secret is not read, and rarely names anything.
    config_maps = [values_of(entry.name) for entry in release.values_from if entry.kind == "ConfigMap"]
    values = [entry for known in config_maps for entry in known or ()]
    names = [resource.ref.name, release.release_name, release.chart, release.namespace]
    yield creating(
        f"{resource.ref} (chart not {'rendered' if is_here else 'here'}) may create objects",
        release.namespace,
        resource.origin,
        RENDER if is_here else _TEMPLATE,
        None if None in config_maps else words_in([release.values, *values, *names]),
    )


def by_application(application: Application, ground: Ground) -> Iterator[Gap]:
    """Yield the gaps of an Application for sources that are no manifests here."""
    resource = application.resource
    path = ground.place_of(resource.origin.source)
    for source in application.sources:
        folder = ground.resolve(source.path, path) if source.path else None
        is_chart = folder is not None and f"{folder}/Chart.yaml" in ground.sources
        if (source.name and not source.path and not source.chart) or (folder is not None and not is_chart):
            continue
        missing = "chart" if source.chart else source.path or "its source"
        problem = "chart not rendered" if is_chart else f"{missing} not here"
        yield creating(
            f"{resource.ref.kind} {application.name} ({problem}) may create objects",
            application.namespace,
            resource.origin,
            RENDER if is_chart else _TEMPLATE if source.chart else _FETCHED,
            words_in([source.helm, application.name, source.chart, source.path]),
        )


def by_flux(delivery: FluxKustomization, ground: Ground) -> Iterator[Gap]:
    """Yield the gap of a Kustomization of Flux for a folder that is not here."""
    resource = delivery.resource
    if ground.resolve(delivery.path, ground.place_of(resource.origin.source)) is None:
        creator = f"{resource.ref} ({delivery.path or 'its source'} not here) may create objects"
        mentions = words_in([resource.ref.name, delivery.path, dict(delivery.substitute)])
        yield creating(creator, delivery.namespace, resource.origin, _FETCHED, mentions)


def by_chart(folder: str, ground: Ground, values_in: Callable[[str], str]) -> Gap:
    """Yield the gap of a chart that is here, wherever it is installed."""
    source = ground.source_of(folder)
    inside = [path for path in ground.sources if path.startswith(f"{folder}/")]
    mentions = words_in([values_in(path) for path in inside])
    return creating(f"the Helm chart {source} (not rendered) may create objects", "", None, RENDER, mentions)


def by_build(build: DeclaredBuild, chain: Chain, is_here: Callable[[str], bool]) -> Iterator[Gap]:
    """Yield the gaps of a kustomization on one way for objects that its files do not show."""
    kustomization = build.kustomization
    namespace, origin = chain.namespace or kustomization.namespace, kustomization.origin
    missing = [path for path in (*kustomization.resources, *kustomization.components) if not is_here(path)]
    for entry in (*kustomization.remote, *(posixpath.relpath(path, kustomization.folder) for path in missing)):
        creator = f"{origin.source} takes in {entry}, which is not here and may create objects"
        yield creating(creator, namespace, origin, _FETCHED, words_in([entry]))
    for field, kind in _GENERATORS.items():
        for generator in mappings_at(kustomization.raw, field):
            if text_at(generator, "name"):
                yield Gap(
                    kind=kind,
                    namespace=text_at(generator, "namespace") or namespace,
                    name=text_at(generator, "name"),
                    reason=f"a generator of {origin.source} makes it",
                    origin=origin,
                    remedy=RENDER,
                    mentions=frozenset(),
                )
    for chart in kustomization.charts:
        creator = f"{origin.source} may create objects of chart {text_at(chart, 'name')}"
        mentions = None if text_at(chart, "valuesFile") else words_in([chart])
        yield creating(creator, text_at(chart, "namespace") or namespace, origin, _TEMPLATE, mentions)
    if kustomization.raw.get("generators"):
        yield creating(f"generators of {origin.source} may create objects", namespace, origin, RENDER, None)
