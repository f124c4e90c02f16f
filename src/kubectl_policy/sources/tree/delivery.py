"""Deliveries of manifests to a cluster: Kustomizations and HelmReleases of Flux, Applications of Argo CD."""

from __future__ import annotations

import fnmatch
import json
import posixpath
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct, field

from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at, value_at
from kubectl_policy.sources.tree import APPLICATION, APPLICATION_SET, HELM_RELEASE, KUSTOMIZATION
from kubectl_policy.sources.tree.kustomization import texts_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

# `{{ .path.basename }}`, `{{path[0]}}`, `{{ index .path.segments 0 }}`; what calls functions stays as it is.
_PARAMETER: Final = re.compile(
    r"\{\{-?\s*(?:index\s+\.?(?P<list>[\w.-]+)\s+(?P<number>\d+)|\.?(?P<path>[\w.\[\]-]+))\s*-?\}\}"
)
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9.-]+")
_ALTERNATIVES: Final = re.compile(r"\{([^{}]*)\}")
# Fields of a kustomization that an Application gives values to.
_OF_KUSTOMIZE: Final = ("namePrefix", "nameSuffix", "namespace", "commonAnnotations", "components", "patches")


class Reference(Struct, frozen=True, kw_only=True):
    """An object that another one names; without a namespace, it is in that one's own."""

    kind: str
    name: str
    namespace: str = ""
    # Of a ConfigMap or a Secret with values: under which key, where not all of its data are meant, and whether it has
    # to be there.
    key: str = ""
    optional: bool = False


class FluxKustomization(Struct, frozen=True, kw_only=True):
    """A Kustomization of Flux, which applies a folder of its source."""

    resource: Resource
    source: Reference
    path: str = ""
    """The folder, from the root of the source; empty for the root itself."""
    namespace: str = ""
    """The namespace of everything in it; empty if it leaves that alone."""
    additions: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    """Fields that it adds to the kustomization of the folder."""
    substitutes: bool = False
    substitute: Mapping[str, str] = field(default_factory=dict[str, str])
    """The values of variables in the manifests; they count before those of `substitute_from`."""
    substitute_from: tuple[Reference, ...] = ()


class HelmRelease(Struct, frozen=True, kw_only=True):
    """A HelmRelease of Flux."""

    resource: Resource
    chart: str = ""
    """A name, or the path of a chart in a git source."""
    source: Reference
    namespace: str = ""
    """The namespace that it deploys to."""
    release_name: str = ""
    values: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    values_from: tuple[Reference, ...] = ()

    @property
    def is_in_git(self) -> bool:
        """Whether its chart is a folder of a git repository, and not fetched by its name."""
        return self.source.kind in {"GitRepository", "Bucket"}


class ApplicationSource(Struct, frozen=True, kw_only=True):
    """One source of an Application: a folder of a git repository, or a chart that is fetched by its name."""

    address: str = ""
    path: str = ""
    chart: str = ""
    # A source with a name is there for the values files of others, unless it has a path as well.
    name: str = ""
    directory: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    kustomize: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    helm: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    plugin: bool = False

    @property
    def additions(self) -> dict[str, Json]:
        """Fields that it adds to the kustomization of its folder."""
        additions: dict[str, Json] = {name: self.kustomize[name] for name in _OF_KUSTOMIZE if self.kustomize.get(name)}
        if labels := mapping_at(self.kustomize, "commonLabels"):
            on_selectors = self.kustomize.get("labelWithoutSelector") is not True
            additions["labels"] = [{"pairs": dict(labels), "includeSelectors": on_selectors}]
        return additions

    def takes(self, path: str) -> bool:
        """Whether it applies the file at a path from its folder, where there is no kustomization."""
        include, exclude = text_at(self.directory, "include"), text_at(self.directory, "exclude")
        return (
            ("/" not in path or self.directory.get("recurse") is True)
            and (not include or _fits(path, include))
            and not (exclude and _fits(path, exclude))
        )


class Application(Struct, frozen=True, kw_only=True):
    """An Application of Argo CD, or of an ApplicationSet; then `resource` is the set."""

    resource: Resource
    name: str
    sources: tuple[ApplicationSource, ...] = ()
    namespace: str = ""
    """The namespace of objects that name none."""
    cluster: str = ""
    """The name or the address of the cluster that it deploys to, empty if it is not given."""


class ApplicationSet(Struct, frozen=True, kw_only=True):
    """An ApplicationSet of Argo CD: `template` is an Application with places that the values of `generators` fill."""

    resource: Resource
    template: Application
    generators: tuple[Mapping[str, Json], ...] = ()


Delivery: TypeAlias = FluxKustomization | HelmRelease | Application | ApplicationSet


def delivery_of(resource: Resource) -> Delivery | None:
    """Read the delivery in an object; None if it is of another kind than `DELIVERING`.

    None also for an object that was read from a cluster: what it made is there as well.
    """
    if text_at(resource.raw, "metadata.uid"):
        return None
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
            )
        case _:
            return None


def _flux_kustomization(resource: Resource) -> FluxKustomization:
    spec = mapping_at(resource.raw, "spec")
    build = mapping_at(spec, "postBuild")
    declared = [*mappings_at(spec, "patches"), *mappings_at(spec, "patchesJson6902")]
    declared += [{"patch": patch} for patch in items_at(spec, "patchesStrategicMerge")]
    patches: list[Json] = []
    for patch in declared:
        # Older versions have patches that are no texts.
        content = patch.get("patch")
        patches.append({**patch, "patch": content if isinstance(content, str) else json.dumps(content)})
    additions: dict[str, Json] = {
        "namespace": text_at(spec, "targetNamespace"),
        "namePrefix": text_at(spec, "namePrefix"),
        "nameSuffix": text_at(spec, "nameSuffix"),
        "components": list(items_at(spec, "components")),
        "patches": patches,
        "images": list(items_at(spec, "images")),
        "labels": [{"pairs": labels}] if (labels := {**mapping_at(spec, "commonMetadata.labels")}) else [],
        "commonAnnotations": {**mapping_at(spec, "commonMetadata.annotations")},
    }
    return FluxKustomization(
        resource=resource,
        source=reference_of(mapping_at(spec, "sourceRef")),
        path=path_from_root(text_at(spec, "path")),
        namespace=text_at(spec, "targetNamespace"),
        additions={name: addition for name, addition in additions.items() if addition},
        substitutes=bool(build),
        substitute=texts_at(build, "substitute"),
        substitute_from=tuple(map(reference_of, mappings_at(build, "substituteFrom"))),
    )


def _helm_release(resource: Resource) -> HelmRelease:
    spec, ref = mapping_at(resource.raw, "spec"), resource.ref
    chart, target = mapping_at(spec, "chart.spec"), text_at(spec, "targetNamespace")
    return HelmRelease(
        resource=resource,
        chart=path_from_root(text_at(chart, "chart")),
        source=reference_of(mapping_at(chart, "sourceRef") or mapping_at(spec, "chartRef")),
        namespace=target or ref.namespace,
        release_name=text_at(spec, "releaseName") or (f"{target}-{ref.name}" if target else ref.name),
        values=mapping_at(spec, "values"),
        values_from=tuple(map(reference_of, mappings_at(spec, "valuesFrom"))),
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
        address=text_at(raw, "repoURL"),
        path=path_from_root(text_at(raw, "path")),
        chart=text_at(raw, "chart"),
        name=text_at(raw, "ref"),
        directory=mapping_at(raw, "directory"),
        kustomize=mapping_at(raw, "kustomize"),
        helm=mapping_at(raw, "helm"),
        plugin=bool(raw.get("plugin")),
    )


def _fits(path: str, pattern: str) -> bool:
    """Whether a pattern of Argo CD matches a path: `*` matches any text, `{a,b}` one of several."""
    alternatives = _ALTERNATIVES.search(pattern)
    if not alternatives or pattern.count("{") > 3:  # noqa: PLR2004 (nobody writes more; each multiplies)
        return fnmatch.fnmatchcase(path, pattern)
    return any(
        _fits(path, pattern[: alternatives.start()] + alternative.strip() + pattern[alternatives.end() :])
        for alternative in alternatives[1].split(",")
    )


def folder_parameters(folder: str) -> dict[str, Json]:
    """Return the parameter `path` of a git generator for a folder."""
    name = posixpath.basename(folder)
    segments: list[Json] = list(folder.split("/"))
    normalized = _NOT_IN_NAMES.sub("-", name.lower())
    return {"path": folder, "basename": name, "basenameNormalized": normalized, "segments": segments}


def fill_in(template: Json, parameters: Mapping[str, Json]) -> Json:
    """Fill parameters into a template; expressions with functions or with unknown parameters stay."""
    if isinstance(template, dict):
        return {key: fill_in(part, parameters) for key, part in template.items()}
    if isinstance(template, list):
        return [fill_in(part, parameters) for part in template]
    if not isinstance(template, str):
        return template

    def replace_expression(expression: re.Match[str]) -> str:
        path = f"{expression['list']}[{expression['number']}]" if expression["list"] else expression["path"]
        if path == "path" and isinstance(parameters.get("path"), dict):
            path = "path.path"
        # `path[0]` without a point in front is the notation of older templates.
        path = path.replace("path[", "path.segments[") if path.startswith("path[") else path
        try:
            value = parameters[path] if path in parameters else value_at(parameters, path)
        except ValueError:
            return expression[0]
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, str | int | float) else expression[0]

    return _PARAMETER.sub(replace_expression, template)


def reference_of(raw: Mapping[str, Json]) -> Reference:
    """Read a `sourceRef`, or an entry of `substituteFrom` or `valuesFrom`."""
    return Reference(
        kind=text_at(raw, "kind"),
        name=text_at(raw, "name"),
        namespace=text_at(raw, "namespace"),
        key=text_at(raw, "valuesKey"),
        optional=raw.get("optional") is True,
    )


def path_from_root(path: str) -> str:
    """Return a path of a source from its root; empty for the root itself."""
    normal = posixpath.normpath(path.strip().lstrip("/") or ".")
    return "" if normal == "." else normal
