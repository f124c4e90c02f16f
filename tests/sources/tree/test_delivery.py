"""What delivers manifests, as values."""

from __future__ import annotations

from typing import TypeVar

import yaml

from kubectl_policy.model import GroupKind, ObjectRef, Origin, Resource
from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.tree.delivery import (
    Application,
    ApplicationSet,
    Delivery,
    FluxKustomization,
    HelmRelease,
    Reference,
    delivery_of,
)
from kubectl_policy.sources.tree.kustomization import Kustomization, Labels, extend
from kubectl_policy.sources.tree.patches import Target

ORIGIN = Origin("clusters/prod/apps.yaml", 3)
Sort = TypeVar("Sort", bound=Delivery)


def _resource(text: str) -> Resource:
    raw = yaml.safe_load(text)
    kind = GroupKind(raw["apiVersion"].rpartition("/")[0], raw["kind"])
    return Resource(ref=ObjectRef(kind, "flux-system", text_at(raw, "metadata.name")), origin=ORIGIN, raw=raw)


def _read(text: str, sort: type[Sort]) -> Sort:
    found = delivery_of(_resource(text))
    assert isinstance(found, sort)
    return found


FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\n"
HELM = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: echo}\n"
ARGO = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\n"
SET = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all}\n"


def test_a_flux_kustomization() -> None:
    """Everything that it says of what it applies."""
    found = _read(
        FLUX
        + """\
spec:
  path: ./apps/prod/
  sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}
  targetNamespace: shop
  namePrefix: a-
  nameSuffix: -z
  components: [../../parts/tls]
  patches: [{patch: "kind: Gateway\\nmetadata: {name: gw}\\n"}, {patch: "[]", target: {kind: HTTPRoute}}]
  patchesStrategicMerge: [{kind: Gateway, metadata: {name: gw}}]
  patchesJson6902: [{patch: [{op: add, path: /x}], target: {kind: Gateway}}]
  commonMetadata: {labels: {a: b}, annotations: {c: d}}
  postBuild:
    substitute: {DOMAIN: example.com, NUMBER: 5}
    substituteFrom: [{kind: ConfigMap, name: vars, optional: true}, {kind: Secret, name: s}]
  dependsOn: [{name: infra}]
  kubeConfig: {secretRef: {name: staging}}
  suspend: true
""",
        FluxKustomization,
    )
    assert (found.path, found.namespace) == ("apps/prod", "shop")
    added = extend(Kustomization(folder="apps/prod", origin=ORIGIN), found.additions, ORIGIN)
    assert (added.namespace, added.name_prefix, added.name_suffix) == ("shop", "a-", "-z")
    assert added.components == ("parts/tls",)
    gateway = Target(kind="Gateway", name="gw", exact=True)
    assert [patch.targets for patch in added.patches] == [
        (gateway,),
        (Target(kind="HTTPRoute"),),
        (Target(kind="Gateway"),),
        (gateway,),
    ]
    assert (added.labels, added.annotations) == ((Labels(pairs={"a": "b"}),), {"c": "d"})
    assert found.substitutes
    assert found.substitute == {"DOMAIN": "example.com"}
    assert found.substitute_from == (
        Reference(kind="ConfigMap", name="vars", optional=True),
        Reference(kind="Secret", name="s"),
    )


def test_paths_start_at_the_root() -> None:
    """However the root is written."""
    for path in ("", "./", ".", "/"):
        assert not _read(f"{FLUX}spec: {{path: '{path}'}}", FluxKustomization).path
    assert _read(f"{FLUX}spec: {{path: ./.hidden//x/}}", FluxKustomization).path == ".hidden/x"


def test_a_helm_release() -> None:
    """Its chart, where it deploys to, and its values."""
    found = _read(
        HELM
        + """\
spec:
  targetNamespace: network
  releaseName: e
  storageNamespace: flux-system
  chart: {spec: {chart: ./charts/echo, version: 1.2.3, sourceRef: {kind: GitRepository, name: here}}}
  values: {route: {enabled: true}}
  valuesFrom: [{kind: ConfigMap, name: v, valuesKey: k}]
  dependsOn: [{name: crds, namespace: infra}]
""",
        HelmRelease,
    )
    assert (found.chart, found.is_in_git) == ("charts/echo", True)
    assert (found.namespace, found.release_name) == ("network", "e")
    assert found.values == {"route": {"enabled": True}}
    assert found.values_from == (Reference(kind="ConfigMap", name="v", key="k"),)


def test_a_helm_release_of_a_chart_that_is_fetched() -> None:
    """A chart from a registry is in no folder."""
    found = _read(HELM + "spec: {chartRef: {kind: OCIRepository, name: echo}}", HelmRelease)
    assert (found.source.kind, found.is_in_git) == ("OCIRepository", False)


def test_an_application() -> None:
    """Its one source and its destination."""
    found = _read(
        ARGO
        + """\
spec:
  source: {repoURL: 'https://x.example/y.git', targetRevision: HEAD, path: apps/shop, kustomize: {namePrefix: a-}}
  destination: {namespace: shop, server: 'https://kubernetes.default.svc'}
""",
        Application,
    )
    source = found.sources[0]
    assert source.path == "apps/shop"
    assert source.kustomize == {"namePrefix": "a-"}
    assert (found.name, found.namespace, found.cluster) == ("shop", "shop", "https://kubernetes.default.svc")


def test_an_application_with_several_sources() -> None:
    """Several sources count instead of one."""
    found = _read(
        ARGO
        + """\
spec:
  source: {path: not/this}
  sources: [{chart: echo, helm: {valueFiles: [$values/v.yaml]}}, {ref: values}, {path: x, directory: {recurse: true}}]
  destination: {name: prod}
""",
        Application,
    )
    assert [(source.chart, source.name, source.path) for source in found.sources] == [
        ("echo", "", ""),
        ("", "values", ""),
        ("", "", "x"),
    ]
    assert found.cluster == "prod"


def test_an_application_set() -> None:
    """The template is an Application with places to fill in."""
    found = _read(
        SET
        + """\
spec:
  goTemplate: true
  generators: [{list: {elements: [{name: a}]}}]
  template:
    metadata: {name: '{{.name}}'}
    spec: {source: {path: 'apps/{{.name}}'}, destination: {namespace: '{{.name}}'}}
""",
        ApplicationSet,
    )
    assert found.generators == ({"list": {"elements": [{"name": "a"}]}},)
    assert (found.template.name, found.template.namespace) == ("{{.name}}", "{{.name}}")
    assert found.template.sources[0].path == "apps/{{.name}}"


def test_nothing_else_delivers() -> None:
    """Another object delivers nothing."""
    assert delivery_of(_resource("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}")) is None


def test_any_shape_is_taken() -> None:
    """Fields of another shape are as if they were not there."""
    for text in (FLUX, HELM, ARGO, SET):
        for spec in (
            "",
            "spec: 7",
            "spec: {path: [1], patches: x, chart: 1, source: 2, sources: 3, patchesStrategicMerge: {}}",
        ):
            assert delivery_of(_resource(text + spec))
