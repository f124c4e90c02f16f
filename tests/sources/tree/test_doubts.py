"""What may be different once it is rendered, and what may be there besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.sources import InputOptions
from tests.sources.tree.build import argo, doubts, flux, read, refs, service

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Json

PATCH = "apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {x: y}\n"
RELEASE = (
    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: apps}\n"
    "spec: {chart: {spec: {chart: %s, sourceRef: {kind: %s, name: x}}}, %s}\n---\n"
)


def test_patched_objects(tmp_path: Path) -> None:
    """In files and inline, by name and by target; those that are not meant stay certain, and no patch is an object."""
    snapshot = read(
        tmp_path,
        {
            "base/kustomization.yaml": "resources: [a.yaml]",
            "base/a.yaml": "---\n".join(map(service, "abcde")),
            "over/kustomization.yaml": (
                "namespace: o\nnamePrefix: p-\nresources: [../base]\n"
                "patches:\n- path: one.yaml\n- {path: json.yaml, target: {kind: Service, name: 'b|x.*'}}\n"
                "- {path: none.yaml}\n"
                "- patch: '[{op: replace, path: /metadata/name, value: z}]'\n  target: {kind: Service, name: c}\n"
                "replacements:\n- {path: r.yaml}\n- {source: {kind: X}, targets: [{select: {name: p-d}}]}\n"
            ),
            "over/one.yaml": PATCH % "a",
            "over/json.yaml": "- {op: add, path: /spec/z, value: other}",
            "over/none.yaml": "a: 1",
            "over/r.yaml": "- {source: {kind: X}, targets: [{select: {kind: Service, name: e}}]}",
        },
    )
    assert refs(snapshot) == ["o/p-a", "o/p-b", "o/p-c", "o/p-d", "o/p-e"]
    assert doubts(snapshot, tmp_path) == [
        "Service */*: the name or the namespace of Service o/p-c may be changed by over/kustomization.yaml",
        "Service o/p-a: changed by over/one.yaml",
        "Service o/p-b: changed by over/json.yaml",
        "Service o/p-c: changed by over/kustomization.yaml",
        "Service o/p-d: changed by over/kustomization.yaml",
        "Service o/p-e: changed by over/r.yaml",
    ]
    assert {gap.remedy for gap in snapshot.gaps} == {"--render"}
    assert sorted(left_out.subject for left_out in snapshot.left_out) == ["patch"] * 4 + ["replacement"] * 2


def test_a_patch_that_cannot_be_read_may_change_anything(tmp_path: Path) -> None:
    """It is no less a patch for it; nothing is known of what it mentions."""
    files = {
        "kustomization.yaml": "namespace: o\nresources: [a.yaml]\npatches: [{path: p.yaml}, {path: gone.yaml}]",
        "a.yaml": service("a"),
        "p.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: [}",
    }
    snapshot = read(tmp_path, files)
    assert doubts(snapshot, tmp_path) == ["Service o/a: changed by gone.yaml", "Service o/a: changed by p.yaml"]


def test_what_a_patch_mentions(tmp_path: Path) -> None:
    """Of kinds that may be about others, what they are made to name; None where it is by labels."""
    policy = "apiVersion: x.example/v1\nkind: P\nmetadata: {name: %s}\nspec: {}\n---\n"
    files = {
        "kustomization.yaml": (
            "namespace: o\nresources: [a.yaml]\npatches:\n"
            "- patch: '{kind: P, metadata: {name: a}, spec: {targetRef: {name: web.shop}}}'\n"
            "- patch: '{kind: P, metadata: {name: b}, spec: {targetSelectors: [{matchLabels: {c: d}}]}}'\n"
        ),
        "a.yaml": policy % "a" + policy % "b",
    }
    one, other = read(tmp_path, files).gaps
    assert one.mentions
    assert {"web.shop", "web", "shop"} <= one.mentions
    assert other.mentions is None


def test_what_only_kustomize_knows(tmp_path: Path) -> None:
    """Transformers, and configurations where they let more names change in what may be about other objects."""
    policy = "apiVersion: x.example/v1\nkind: P\nmetadata: {name: p, namespace: x}\nspec: {targetRef: {name: web}}\n"
    names = "nameReference: [{kind: Service, fieldSpecs: [{kind: P, path: spec/targetRef/name}]}]\n"
    files = {
        "kustomization.yaml": "resources: [a.yaml]\nconfigurations: [c.yaml]",
        "a.yaml": policy + "---\n" + service("a", "x"),
        "c.yaml": names + "commonLabels: [{path: spec/x, kind: Other}]\nnamespace: [{path: spec/ns, kind: Other}]\n",
        "renames/kustomization.yaml": "namePrefix: n-\nresources: [..]",
        "transforms/kustomization.yaml": "namespace: t\nresources: [..]\ntransformers: [t.yaml]",
        "transforms/t.yaml": "apiVersion: builtin\nkind: X\nmetadata: {name: t}\n",
    }
    snapshot = read(tmp_path, files)
    transformed = "changed by transformers of transforms/kustomization.yaml"
    assert doubts(snapshot, tmp_path) == [
        f"P */*: the name or the namespace of P t/p may be {transformed}",
        f"P t/p: {transformed}",
        "P x/n-p: changed by c.yaml",
        f"Service */*: the name or the namespace of Service t/a may be {transformed}",
        f"Service t/a: {transformed}",
    ]
    mentions = {gap.reason.rpartition("/")[2]: gap.mentions for gap in snapshot.gaps if gap.name}
    assert "n-web" in (mentions["c.yaml"] or ())
    assert mentions["kustomization.yaml"] is None


def test_what_is_made_and_fetched(tmp_path: Path) -> None:
    """Generators, charts, remote resources and missing folders; the namespace of a kustomization is theirs."""
    files = {
        "kustomization.yaml": (
            "namespace: o\nresources: [a.yaml, gone.yaml, 'https://x/y.yaml']\n"
            "configMapGenerator: [{name: made, files: [v.yaml]}, {}]\nsecretGenerator: [{name: s, namespace: other}]\n"
            "generators: [g.yaml]\nhelmCharts: [{name: c, namespace: h, valuesFile: w.yaml}, {name: d}]\n"
        ),
        "a.yaml": service("a"),
        "g.yaml": "apiVersion: builtin\nkind: X\nmetadata: {name: t}\n",
        "v.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: no}\n",
        "w.yaml": "a: b",
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["o/a"]
    assert doubts(snapshot, tmp_path) == [
        "* o/*: generators of kustomization.yaml may create objects in namespace o",
        "* o/*: kustomization.yaml may create objects of chart c in namespace o",
        "* o/*: kustomization.yaml may create objects of chart d in namespace o",
        "* o/*: kustomization.yaml takes in gone.yaml, which is not here and may create objects in namespace o",
        "* o/*: kustomization.yaml takes in https://x/y.yaml, which is not here and may create objects in namespace o",
        "ConfigMap o/made: a generator of kustomization.yaml makes it",
        "Secret o/s: a generator of kustomization.yaml makes it",
    ]
    assert not read(tmp_path, {}, options=InputOptions(complete=True)).gaps


@pytest.mark.parametrize(
    ("more", "values", "kinds"),
    [
        ("", "{open: true}", {"ColorPolicy"}),
        ("metadata:\n  namespace: infra\n", "{open: true}", None),
        ("", "{space: {namespace: infra}}", None),
    ],
)
def test_what_the_chart_of_a_release_declares(tmp_path: Path, more: str, values: str, kinds: set[str] | None) -> None:
    """It is known which kinds it may hold if none of its objects states a namespace."""
    files = {
        "a.yaml": RELEASE % ("near", "./charts/echo", "GitRepository", f"values: {values}"),
        "charts/echo/Chart.yaml": "apiVersion: v2\nname: echo\nversion: 1.0.0\n",
        "charts/echo/templates/a.yaml": "apiVersion: example.com/v1\nkind: ColorPolicy\n" + more,
    }
    (gap,) = read(tmp_path, files).gaps
    assert (gap.declares and {kind.kind for kind in gap.declares}) == kinds


def test_releases(tmp_path: Path) -> None:
    """Where they deploy, and what their values name, also in ConfigMaps that are here."""
    files = {
        "a.yaml": RELEASE % ("far", "echo", "HelmRepository", "targetNamespace: net, values: {route: public.gw}")
        + RELEASE % ("near", "./charts/echo", "GitRepository", "valuesFrom: [{kind: ConfigMap, name: v}]")
        + RELEASE
        % ("open", "x", "HelmRepository", "valuesFrom: [{kind: ConfigMap, name: gone}, {kind: Secret, name: s}]")
        + RELEASE % ("made", "x", "HelmRepository", "valuesFrom: [{kind: ConfigMap, name: made}]"),
        "v.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v}\ndata: {values.yaml: 'name: fromhere'}",
        "k/kustomization.yaml": "configMapGenerator: [{name: made, files: [values.yaml=x.yaml]}]",
        "k/x.yaml": "name: generated",
        "charts/echo/Chart.yaml": "apiVersion: v2\nname: echo\nversion: 1.0.0\n",
        "charts/echo/values.yaml": "host: named.example\n",
        "charts/echo/ci/test-values.yaml": "a: b\n",
        "charts/echo/templates/a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n",
        "charts/echo/charts/inner/Chart.yaml": "apiVersion: v2\nname: inner\nversion: 1.0.0\n",
        "charts/echo/crds/c.yaml": service("c", "really"),
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["really/c"]
    assert [text for text in doubts(snapshot, tmp_path) if text[0] == "*"] == [
        "* apps/*: HelmRelease apps/made (chart not here) may create objects in namespace apps",
        "* apps/*: HelmRelease apps/near (chart not rendered) may create objects in namespace apps",
        "* apps/*: HelmRelease apps/open (chart not here) may create objects in namespace apps",
        "* net/*: HelmRelease apps/far (chart not here) may create objects in namespace net",
    ]
    mentions = {gap.reason.split()[1]: gap.mentions for gap in snapshot.gaps if gap.reason.startswith("HelmRelease")}
    assert {"public.gw", "public", "gw", "far", "net"} <= (mentions["apps/far"] or set())
    assert "fromhere" in (mentions["apps/near"] or ())
    assert "generated" in (mentions["apps/made"] or ())
    assert mentions["apps/open"] is None
    remedies = {gap.reason.split()[1]: gap.remedy for gap in snapshot.gaps if gap.reason.startswith("HelmRelease")}
    assert remedies["apps/near"] == "--render"
    assert remedies["apps/far"] == "add the output of `helm template`"
    assert sorted(left_out.subject for left_out in snapshot.left_out) == [
        "Helm template",
        "Helm values",
        "Helm values",
        "file of a generator",
    ]


def test_deliveries_of_what_is_not_here(tmp_path: Path) -> None:
    """A folder of another repository, a chart, values of others."""
    files = {
        "a.yaml": flux("far", "./elsewhere", "  targetNamespace: f\n")
        + argo("chart", "''", "c", ", chart: echo")
        + argo("local", "charts/x", "l")
        + argo("values", "''", "v", ", ref: values"),
        "charts/x/Chart.yaml": "apiVersion: v2\nname: x\nversion: 1.0.0\n",
        "s.yaml": service("a"),
    }
    snapshot = read(tmp_path, files)
    assert doubts(snapshot, tmp_path) == [
        "* c/*: Application chart (chart not here) may create objects in namespace c",
        "* f/*: Kustomization flux-system/far (elsewhere not here) may create objects in namespace f",
        "* l/*: Application local (chart not rendered) may create objects in namespace l",
    ]


def test_alternatives(tmp_path: Path) -> None:
    """Of several folders, the first object with a spec is shown, and the others are named; not where they are equal."""
    files = {
        "a/x.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\n" + service("same"),
        "b/x.yaml": service("x") + "---\n" + service("same"),
        "c/x.yaml": service("x", spec="{ports: [{port: 81}]}"),
    }
    snapshot = read(tmp_path, files)
    shown = next(resource for resource in snapshot.resources if resource.ref.name == "x")
    assert shown.origin.source == str(tmp_path / "b" / "x.yaml")
    (gap,) = snapshot.gaps
    assert doubts(snapshot, tmp_path) == ["Service default/x: it is different in a/x.yaml:1, c/x.yaml:1"]
    assert gap.remedy == " or ".join(f"--offline {tmp_path / name}" for name in "bac")
    assert [(diagnostic.rule, diagnostic.severity) for diagnostic in snapshot.diagnostics] == [
        ("duplicate-object", "info")
    ]


def test_many_alternatives(tmp_path: Path) -> None:
    """A message names three of them."""
    snapshot = read(tmp_path, {f"{n}/x.yaml": service("x", spec=f"{{a: {n}}}") for n in range(6)})
    assert doubts(snapshot, tmp_path) == [
        "Service default/x: it is different in 1/x.yaml:1, 2/x.yaml:1, 3/x.yaml:1 and 2 more"
    ]


@pytest.mark.parametrize(
    "text", ["", "7", "[]", "resources: {a: b}", "resources: ['\\0', '../../../../../..']", "a: ["]
)
def test_any_kustomization_is_read(tmp_path: Path, text: str) -> None:
    """Whatever is in it, and whatever else there is."""
    files = {"other/a.yaml": service("a"), "k/kustomization.yaml": text, "k/b.yaml": service("b"), "k/Chart.yaml": text}
    snapshot = read(tmp_path, files)
    beside = ["default/b"] if not text.startswith("resources") else []
    assert refs(snapshot) == ["default/a", *beside]
    unlisted = [left_out.origin.source for left_out in snapshot.left_out]
    assert unlisted == ([] if beside else [str(tmp_path / "k" / "b.yaml")])


def test_a_chart_that_is_not_rendered(tmp_path: Path) -> None:
    """Its definitions are applied as they are; its templates may name what is in any of them; others lie beside it."""
    files = {
        "c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        "c/templates/_route.tpl": '{{ define "parent" }}public{{ end }}',
        "c/templates/a.yaml": "kind: {{ .Values.kind }}\n",
        "c/crds/d.yaml": service("definition"),
        "c/examples/e.yaml": service("example"),
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["default/definition", "default/example"]
    (gap,) = snapshot.gaps
    assert doubts(snapshot, tmp_path) == ["* default/*: c (chart not rendered) may create objects in namespace default"]
    assert "public" in (gap.mentions or ())
    assert "definition" in (gap.mentions or ())
    assert gap.remedy == "--render"


@pytest.mark.parametrize("home", ["charts", "../charts"])
def test_a_chart_of_a_kustomization_that_is_here(tmp_path: Path, home: str) -> None:
    """It is nothing that somebody installs besides; it may name what is in its templates, or in its values."""
    files = {
        "k/kustomization.yaml": (
            f"namespace: o\nhelmGlobals: {{chartHome: {home}}}\n"
            "helmCharts: [{name: c, valuesFile: v.yaml}]\nresources: [a.yaml]"
        ),
        "k/a.yaml": service("a"),
        "k/v.yaml": "host: named.example",
        f"k/{home}/c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        f"k/{home}/c/templates/a.yaml": "parent: public",
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["o/a"]
    (gap,) = snapshot.gaps
    assert doubts(snapshot, tmp_path) == ["* o/*: k/kustomization.yaml may create objects of chart c in namespace o"]
    assert {"public", "named.example"} <= (gap.mentions or set())
    assert gap.remedy == "--render"


def test_a_chart_without_its_definitions(tmp_path: Path) -> None:
    """As Argo CD applies it, if it is told so."""
    files = {
        "a.yaml": argo("c", "c", "n", ", helm: {skipCrds: true}"),
        "c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        "c/crds/d.yaml": service("definition"),
        "b.yaml": service("b"),
    }
    assert refs(read(tmp_path, files)) == ["default/b"]


WORDS = """apiVersion: v1
kind: ConfigMap
metadata: {name: c, labels: {y: on}}
data:
  a: yes
  b: "no"
  c: &c off
  d:
    N
  e: [Yes, true, TRUE, no]
  on: 1
"""
AS_TEXT = {"a": "yes", "b": "no", "c": "off", "d": "N", "e": ["Yes", True, True, "no"], "on": 1}
AS_BOOLEANS = {"a": True, "b": "no", "c": False, "d": False, "e": [True, True, True, False], "true": 1}


class TestWords:
    """What is a boolean to kubectl, and text to Kustomize: `yes`, `no`, `on`, `off`, `y` and `n`."""

    @staticmethod
    def data(folder: Path, files: dict[str, str]) -> list[Json]:
        """What the ConfigMaps of a tree hold."""
        snapshot = read(folder, files)
        return [resource.raw["data"] for resource in snapshot.resources if resource.ref.kind == "ConfigMap"]

    def test_in_a_kustomization(self, tmp_path: Path) -> None:
        """They are text; also where Flux makes one for a folder."""
        assert self.data(tmp_path / "a", {"kustomization.yaml": "resources: [c.yaml]", "c.yaml": WORDS}) == [AS_TEXT]
        assert self.data(tmp_path / "b", {"c/c.yaml": WORDS, "flux.yaml": flux("c", "./c")}) == [AS_TEXT]

    def test_elsewhere(self, tmp_path: Path) -> None:
        """They are booleans."""
        assert self.data(tmp_path / "a", {"c.yaml": WORDS}) == [AS_BOOLEANS]
        assert self.data(tmp_path / "b", {"c/c.yaml": WORDS, "argo.yaml": argo("c", "c")}) == [AS_BOOLEANS]
        files = {"k/kustomization.yaml": "resources: [d.yaml]", "k/d.yaml": service("s"), "e/c.yaml": WORDS}
        assert self.data(tmp_path / "c", files) == [AS_BOOLEANS]
