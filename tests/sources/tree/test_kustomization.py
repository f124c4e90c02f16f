"""What one kustomization.yaml says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from msgspec.structs import replace

from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.sources.tree.kustomization import Kustomization, Labels, is_remote, read_kustomization
from kubectl_policy.sources.tree.patches import Patch, Target, moves_objects, targets_in

if TYPE_CHECKING:
    from kubectl_policy.model import Json

ORIGIN = Origin("apps/shop/kustomization.yaml", 1)
ROUTE = GroupKind("gateway.networking.k8s.io", "HTTPRoute")


def _read(text: str, folder: str = "apps/shop") -> Kustomization:
    return read_kustomization(yaml.safe_load(text), folder, ORIGIN)


def test_what_it_takes_in() -> None:
    """Files and folders, next to what is fetched from elsewhere."""
    read = _read(
        "resources: [r.yaml, ./sub/, ../../base, 'https://x.example/y.yaml', '', 7]\n"
        "bases: [../old]\ncomponents: [../../parts/tls, 'github.com/a/b//parts?ref=v1']"
    )
    assert read.resources == ("apps/shop/r.yaml", "apps/shop/sub", "base", "apps/old")
    assert read.components == ("parts/tls",)
    assert read.remote == ("https://x.example/y.yaml", "github.com/a/b//parts?ref=v1")


def test_remote_entries() -> None:
    """What kustomize would fetch; a folder may have a dot in its name."""
    for entry in (
        "https://example.com/x.yaml",
        "git@github.com:owner/repo",
        "git::https://example.com/repo",
        "ssh://git@example.com/x",
        "github.com/owner/repo/path",
        "example.com/owner/repo?ref=v1.2.3",
    ):
        assert is_remote(entry), entry
    for entry in ("../base", "crds.d/gateway", "github.community/x", "./a:b.yaml", "a@b/c.yaml"):
        assert not is_remote(entry), entry


def test_what_it_says_of_all_objects() -> None:
    """Namespace, names, labels and annotations."""
    read = _read(
        "kind: Component\nnamespace: shop\nnamePrefix: a-\nnameSuffix: -z\ncommonLabels: {app: shop, wrong: 1}\n"
        "labels: [{pairs: {team: x}}, {pairs: {a: b}, includeSelectors: true, fields: [{path: p}]}, "
        "{pairs: {c: d}, includeTemplates: true}]\ncommonAnnotations: {note: x}"
    )
    assert read.is_component
    assert (read.namespace, read.name_prefix, read.name_suffix) == ("shop", "a-", "-z")
    assert read.labels == (
        Labels(pairs={"app": "shop"}, selectors=True, templates=True),
        Labels(pairs={"team": "x"}),
        Labels(pairs={"a": "b"}, selectors=True, templates=True),
        Labels(pairs={"c": "d"}, templates=True),
    )
    assert read.annotations == {"note": "x"}
    assert not read.generates


def test_patches() -> None:
    """In all the ways in which they can be written."""
    read = _read("""\
patches:
- path: p.yaml
- {path: q.yaml, target: {kind: HTTPRoute, name: "shop-.*"}, options: {allowNameChange: true}}
- patch: |
    kind: HTTPRoute
    apiVersion: gateway.networking.k8s.io/v1
    metadata: {name: shop}
- patch: |
    - {op: replace, path: /metadata/name, value: x}
  target: {kind: HTTPRoute, group: gateway.networking.k8s.io, labelSelector: app=shop}
- patch: "[nothing"
patchesJson6902:
- {path: j.json, target: {kind: Gateway, name: gw, namespace: infra}}
patchesStrategicMerge:
- s.yaml
- |
  kind: Gateway
  metadata: {name: gw}
""")
    origin = ORIGIN
    assert tuple(replace(patch, values=()) for patch in read.patches) == (
        Patch(origin=origin, file="apps/shop/p.yaml"),
        Patch(
            origin=origin,
            file="apps/shop/q.yaml",
            targets=(Target(kind="HTTPRoute", name="shop-.*"),),
            moves=True,
        ),
        Patch(origin=origin, targets=(Target(group=ROUTE.group, kind="HTTPRoute", name="shop", exact=True),)),
        Patch(
            origin=origin,
            targets=(Target(group=ROUTE.group, kind="HTTPRoute", labels="app=shop"),),
            moves=True,
        ),
        Patch(origin=origin, targets=(Target(),)),
        Patch(
            origin=origin,
            file="apps/shop/j.json",
            targets=(Target(kind="Gateway", name="gw", namespace="infra"),),
        ),
        Patch(origin=origin, file="apps/shop/s.yaml"),
        Patch(origin=origin, targets=(Target(kind="Gateway", name="gw", exact=True),)),
    )
    assert read.serving == {
        "apps/shop/p.yaml": "patch",
        "apps/shop/q.yaml": "patch",
        "apps/shop/j.json": "patch",
        "apps/shop/s.yaml": "patch",
    }


def test_files_that_serve_otherwise() -> None:
    """Files that a kustomization lists, and that are no objects."""
    read = _read("""\
replacements: [{path: r.yaml}, {source: {kind: X}, targets: [{select: {kind: Gateway}}]}]
configurations: [names.yaml]
crds: [crd.json]
openapi: {path: schema.json}
transformers: [t/, "apiVersion: builtin\\nkind: X\\n"]
generators: [g.yaml, 'https://x.example/g.yaml']
validators: [v.yaml]
configMapGenerator: [{name: c, files: [a.yaml, k=b.yaml], envs: [c.env], env: d.env}]
secretGenerator: [{name: s, files: [k=s.yaml]}]
helmGlobals: {chartHome: ../charts}
helmCharts: [{name: echo, valuesFile: values.yaml, additionalValuesFiles: [more.yaml]}]
""")
    assert {path.removeprefix("apps/"): what for path, what in read.serving.items()} == {
        "shop/r.yaml": "replacement",
        "shop/names.yaml": "configuration of Kustomize",
        "shop/crd.json": "schema for Kustomize",
        "shop/schema.json": "schema for Kustomize",
        "shop/t": "transformer",
        "shop/g.yaml": "generator",
        "shop/v.yaml": "validator",
        "shop/a.yaml": "file of a generator",
        "shop/b.yaml": "file of a generator",
        "shop/c.env": "file of a generator",
        "shop/d.env": "file of a generator",
        "shop/s.yaml": "file of a generator",
        "shop/values.yaml": "Helm values",
        "shop/more.yaml": "Helm values",
    }
    assert read.patches[1].targets == (Target(kind="Gateway"),)
    assert read.generates == ("configMapGenerator", "secretGenerator", "generators", "helmCharts")


def test_any_shape_is_read() -> None:
    """Whatever is not as it should be is as if it were not there."""
    read = _read(
        "resources: {a: b}\nnamespace: [x]\npatches: [1, {path: [p]}, {patch: 3}]\nlabels: [x, {pairs: [a]}]\n"
        "commonLabels: x\nreplacements: [{}, 5]\nhelmCharts: [{}, x]\nconfigMapGenerator: x\nhelmGlobals: 7\n"
        "patchesStrategicMerge: [{a: b}]\n"
    )
    assert (read.resources, read.namespace, read.components) == ((), "", ())


def test_which_objects_a_patch_may_change() -> None:
    """In doubt, it may."""

    def chosen(target: Target, name: str = "shop", namespaces: tuple[str, ...] = ("a",)) -> bool:
        return target.may_be(ROUTE, name, namespaces, {"app": "shop"})

    assert chosen(Target())
    assert chosen(Target(kind="HTTPRoute", name="shop", exact=True))
    assert not chosen(Target(kind="HTTPRoute", name="sho", exact=True))
    assert not chosen(Target(kind="HTTPRoute", name="sho.", exact=True))
    assert chosen(Target(kind="HTTP.*|GRPCRoute", name="^sho.$"))
    assert not chosen(Target(kind="Gateway|GRPCRoute"))
    assert not chosen(Target(kind="HTTPRoute", name="sho"))
    # What would take long to match may match.
    assert chosen(Target(name="(x+)+y"))
    assert not chosen(Target(group="gateway.envoyproxy.io"))
    assert chosen(Target(group=ROUTE.group))
    assert chosen(Target(namespace="b"), namespaces=("a", "b"))
    assert not chosen(Target(namespace="c"), namespaces=("a", "b"))
    assert chosen(Target(namespace="c"), namespaces=("?apps",))
    assert chosen(Target(name="x"), name="${NAME}")
    assert chosen(Target(labels="app in (shop, other)"))
    assert not chosen(Target(labels="app=other"))
    assert chosen(Target(labels="app>5"))


def test_what_patches_name() -> None:
    """Lists of patches are read as well; what names no object changes none."""
    patch: Json = {"kind": "Gateway", "apiVersion": "gateway.networking.k8s.io/v1", "metadata": {"name": "gw"}}
    target = Target(group="gateway.networking.k8s.io", kind="Gateway", name="gw", exact=True)
    assert list(targets_in([patch, {"kind": "List", "items": [patch, 1]}, {"kind": "x"}, None])) == [target, target]


def test_patches_that_rename() -> None:
    """What a JSON patch may do to the name of an object."""
    assert moves_objects([{"op": "replace", "path": "/metadata/namespace", "value": "x"}])
    assert moves_objects([{"op": "replace"}])
    assert not moves_objects([{"op": "replace", "path": "/spec/x", "value": "x"}])
    assert not moves_objects({"metadata": {"name": "x"}})
