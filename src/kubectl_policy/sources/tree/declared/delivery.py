"""Deliveries of manifests to a cluster: Kustomizations and HelmReleases of Flux, Applications of Argo CD."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model.fields import mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.model.values import field, value
from kubectl_policy.sources.tree import APPLICATION, APPLICATION_SET, HELM_RELEASE, KUSTOMIZATION
from kubectl_policy.sources.tree.declared.patches import Patch, inline_patch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource


@value(kw_only=True)
class Reference:
    """An object that another one names; without a namespace, it is in that one's own."""

    kind: str
    name: str
    namespace: str = ""
    # Of a ConfigMap or a Secret with values: under which key, where not all of its data are meant, and whether it has
    # to be there.
    key: str = ""
    optional: bool = False


@value(kw_only=True)
class FluxKustomization:
    """A Kustomization of Flux, which applies a folder of its source."""

    resource: Resource
    path: str = ""
    """The folder, from the root of the source; empty for the root itself."""
    source: Reference
    target_namespace: str = ""
    name_prefix: str = ""
    name_suffix: str = ""
    components: tuple[str, ...] = ()
    """Folders of components, from `path`."""
    patches: tuple[Patch, ...] = ()
    substitutes: bool = False
    substitute: Mapping[str, str] = field(default_factory=dict[str, str])
    """The values of variables in the manifests; they count before those of `substitute_from`."""
    substitute_from: tuple[Reference, ...] = ()
    depends_on: tuple[Reference, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    cluster: str = ""
    """The name of the Secret by which it reaches another cluster than its own."""
    suspended: bool = False


@value(kw_only=True)
class HelmRelease:
    """A HelmRelease of Flux."""

    resource: Resource
    chart: str = ""
    """A name, or the path of a chart in a git source."""
    version: str = ""
    source: Reference
    namespace: str = ""
    """The namespace that it deploys to, its targetNamespace; empty if it is its own."""
    release_name: str = ""
    storage_namespace: str = ""
    values: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    values_from: tuple[Reference, ...] = ()
    depends_on: tuple[Reference, ...] = ()

    @property
    def is_in_git(self) -> bool:
        """Whether its chart is a folder of a git repository, and not fetched by its name."""
        return self.source.kind in {"GitRepository", "Bucket"}


@value(kw_only=True)
class ApplicationSource:
    """One source of an Application: a folder of a git repository, or a chart that is fetched by its name."""

    repository: str = ""
    revision: str = ""
    path: str = ""
    chart: str = ""
    # A source with a name is there for the values files of others, unless it has a path as well.
    name: str = ""
    directory: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    kustomize: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    helm: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    plugin: bool = False


@value(kw_only=True)
class Application:
    """An Application of Argo CD, or of an ApplicationSet; then `resource` is the set."""

    resource: Resource
    name: str
    sources: tuple[ApplicationSource, ...] = ()
    namespace: str = ""
    """The namespace of objects that name none."""
    cluster: str = ""
    """The name or the address of the cluster that it deploys to, empty if it is not given."""


@value(kw_only=True)
class ApplicationSet:
    """An ApplicationSet of Argo CD: `template` is an Application with places that the values of `generators` fill."""

    resource: Resource
    template: Application
    generators: tuple[Mapping[str, Json], ...] = ()
    go_template: bool = False


Delivery: TypeAlias = FluxKustomization | HelmRelease | Application | ApplicationSet


def delivery_of(resource: Resource) -> Delivery | None:
    """Read the delivery in an object; None if it is of another kind than `DELIVERING`."""
    match resource.ref.group_kind:
        case group_kind if group_kind == KUSTOMIZATION:
            return _flux_kustomization(resource)
        case group_kind if group_kind == HELM_RELEASE:
            return _helm_release(resource)
        case group_kind if group_kind == APPLICATION:
            return application_of(resource, resource.raw)
        case group_kind if group_kind == APPLICATION_SET:
            return ApplicationSet(
                resource=resource,
                template=application_of(resource, mapping_at(resource.raw, "spec.template")),
                generators=tuple(mappings_at(resource.raw, "spec.generators")),
                go_template=value_at(resource.raw, "spec.goTemplate") is True,
            )
        case _:
            return None


def _flux_kustomization(resource: Resource) -> FluxKustomization:
    spec = mapping_at(resource.raw, "spec")
    build = mapping_at(spec, "postBuild")
    merges = [inline_patch(patch, None, resource.origin) for patch in _items(spec, "patchesStrategicMerge")]
    patches = [*mappings_at(spec, "patches"), *mappings_at(spec, "patchesJson6902")]
    return FluxKustomization(
        resource=resource,
        path=_from_root(text_at(spec, "path")),
        source=reference_of(mapping_at(spec, "sourceRef")),
        target_namespace=text_at(spec, "targetNamespace"),
        name_prefix=text_at(spec, "namePrefix"),
        name_suffix=text_at(spec, "nameSuffix"),
        components=tuple(strings_at(spec, "components")),
        patches=(
            *(inline_patch(patch.get("patch"), patch.get("target"), resource.origin) for patch in patches),
            *merges,
        ),
        substitutes=bool(build),
        substitute=_texts(build, "substitute"),
        substitute_from=tuple(map(reference_of, mappings_at(build, "substituteFrom"))),
        depends_on=tuple(map(reference_of, mappings_at(spec, "dependsOn"))),
        labels=_texts(spec, "commonMetadata.labels"),
        annotations=_texts(spec, "commonMetadata.annotations"),
        cluster=text_at(spec, "kubeConfig.secretRef.name") or text_at(spec, "kubeConfig.configMapRef.name"),
        suspended=spec.get("suspend") is True,
    )


def _helm_release(resource: Resource) -> HelmRelease:
    spec = mapping_at(resource.raw, "spec")
    chart = mapping_at(spec, "chart.spec")
    return HelmRelease(
        resource=resource,
        chart=text_at(chart, "chart"),
        version=text_at(chart, "version"),
        source=reference_of(mapping_at(chart, "sourceRef") or mapping_at(spec, "chartRef")),
        namespace=text_at(spec, "targetNamespace"),
        release_name=text_at(spec, "releaseName"),
        storage_namespace=text_at(spec, "storageNamespace"),
        values=mapping_at(spec, "values"),
        values_from=tuple(map(reference_of, mappings_at(spec, "valuesFrom"))),
        depends_on=tuple(map(reference_of, mappings_at(spec, "dependsOn"))),
    )


def application_of(resource: Resource, raw: Mapping[str, Json]) -> Application:
    """Read the Application in `raw`: the object itself, or the template of an ApplicationSet, filled in or not."""
    spec, single = mapping_at(raw, "spec"), mapping_at(raw, "spec.source")
    destination = mapping_at(spec, "destination")
    return Application(
        resource=resource,
        name=text_at(raw, "metadata.name"),
        sources=tuple(map(_source, mappings_at(spec, "sources") or ([single] if single else []))),
        namespace=text_at(destination, "namespace"),
        cluster=text_at(destination, "name") or text_at(destination, "server"),
    )


def _source(raw: Mapping[str, Json]) -> ApplicationSource:
    return ApplicationSource(
        repository=text_at(raw, "repoURL"),
        revision=text_at(raw, "targetRevision"),
        path=_from_root(text_at(raw, "path")),
        chart=text_at(raw, "chart"),
        name=text_at(raw, "ref"),
        directory=mapping_at(raw, "directory"),
        kustomize=mapping_at(raw, "kustomize"),
        helm=mapping_at(raw, "helm"),
        plugin=bool(raw.get("plugin")),
    )


def reference_of(raw: Mapping[str, Json]) -> Reference:
    """Read a `sourceRef`, or an entry of `substituteFrom`, `valuesFrom` or `dependsOn`."""
    return Reference(
        kind=text_at(raw, "kind"),
        name=text_at(raw, "name"),
        namespace=text_at(raw, "namespace"),
        key=text_at(raw, "valuesKey"),
        optional=raw.get("optional") is True,
    )


def _from_root(path: str) -> str:
    """Return a path of a source from its root; empty for the root itself."""
    normal = posixpath.normpath(path.strip().lstrip("/") or ".")
    return "" if normal == "." else normal


def _texts(raw: Json, path: str) -> dict[str, str]:
    entries = mapping_at(raw, path).items()
    return {key: text for key, text in entries if isinstance(text, str)}


def _items(raw: Mapping[str, Json], name: str) -> list[Json]:
    items = raw.get(name)
    return list(items) if isinstance(items, list) else []
