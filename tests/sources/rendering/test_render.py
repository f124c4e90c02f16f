"""Trees that are rendered by the real programs: which objects come out, where they are from, and what is not known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.model.fields import labels_of
from kubectl_policy.sources import InputOptions, load_state
from tests.repository import Repository
from tests.sources.rendering.trees import SERVICE, helm, kubectl, program, refs, rendered, write

if TYPE_CHECKING:
    from pathlib import Path

FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec: {{path: {path}, sourceRef: {{kind: GitRepository, name: flux-system}}{more}}}
---
"""
COMPONENT = "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n"
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "values.yaml": "port: 80\n",
    "templates/service.yaml": (
        "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n"
        "spec: {ports: [{port: {{ .Values.port }}}]}\n"
    ),
}


def _flux(name: str, path: str, more: str = "") -> str:
    return FLUX.format(name=name, path=path, more=f", {more}" if more else "")


@kubectl
class TestKustomize:
    """Folders with a kustomization that nothing delivers."""

    def test_an_overlay(self, tmp_path: Path) -> None:
        """Its base lies outside of what was named; patches are applied, and what was in the files is gone."""
        write(
            tmp_path,
            {
                "base/kustomization.yaml": "resources: [a.yaml]",
                "base/a.yaml": SERVICE % "a" + "---\n" + SERVICE % "b",
                "over/kustomization.yaml": (
                    "namespace: x\nnamePrefix: p-\nresources: [../base]\npatches: [{path: p.yaml}]\n"
                ),
                "over/p.yaml": (SERVICE % "a").replace("port: 80", "port: 80, name: http"),
            },
        )
        snapshot = rendered(tmp_path / "over")
        assert refs(snapshot) == ["Service x/p-a", "Service x/p-b"]
        first, second = snapshot.resources
        assert first.raw["spec"] == {"ports": [{"name": "http", "port": 80}]}
        assert first.raw["metadata"] == {"name": "p-a", "namespace": "x"}
        assert str(first.origin) == f"{tmp_path}/base/a.yaml:1"
        assert str(second.origin) == f"{tmp_path}/base/a.yaml:6"
        assert str(first.namespace_from) == f"{tmp_path}/over/kustomization.yaml:1"
        assert (snapshot.gaps, snapshot.diagnostics) == ((), ())

    def test_without_a_namespace(self, tmp_path: Path) -> None:
        """It is not known where the objects live."""
        write(tmp_path, {"app/kustomization.yaml": "resources: [a.yaml]", "app/a.yaml": SERVICE % "a"})
        (resource,) = rendered(tmp_path).resources
        assert resource.ref.namespace.startswith("?")

    def test_what_is_remote(self, tmp_path: Path) -> None:
        """Is never fetched, and is a gap; the rest is rendered."""
        write(
            tmp_path,
            {
                "kustomization.yaml": (
                    "namespace: x\nnamePrefix: p-\nresources: [a.yaml, 'https://localhost:1/b.yaml', github.com/o/r]"
                ),
                "a.yaml": SERVICE % "a",
            },
        )
        snapshot = rendered(tmp_path)
        assert refs(snapshot) == ["Service x/p-a"]
        reason = f"{tmp_path}/kustomization.yaml takes in %s, which is not here and may create objects in namespace x"
        assert sorted((gap.namespace, gap.reason, gap.remedy) for gap in snapshot.gaps) == [
            ("x", reason % address, "add the manifests that it fetches")
            for address in ("github.com/o/r", "https://localhost:1/b.yaml")
        ]

    def test_what_cannot_be_built(self, tmp_path: Path) -> None:
        """Is said in the words of the program, with the names of the files; they are read as they are."""
        write(tmp_path, {"app/kustomization.yaml": "resources: [a.yaml, b.yaml]", "app/a.yaml": SERVICE % "a"})
        snapshot = rendered(tmp_path)
        assert [resource.ref.name for resource in snapshot.resources] == ["a"]
        (found,) = [diagnostic for diagnostic in snapshot.diagnostics if diagnostic.rule == "not-rendered"]
        assert found.message.startswith(f"{tmp_path}/app could not be rendered: accumulating resources")
        assert "no such file or directory" in found.message
        assert "kubectl-policy-" not in found.message
        (gap,) = [gap for gap in snapshot.gaps if gap.reason == found.message]
        assert gap.mentions is not None
        assert "a" in gap.mentions

    def test_generators(self, tmp_path: Path) -> None:
        """What they make comes from the kustomization, and what a Secret keeps is not kept."""
        write(
            tmp_path,
            {
                "kustomization.yaml": (
                    "namespace: x\nconfigMapGenerator: [{name: c, envs: [c.env]}]\n"
                    "secretGenerator: [{name: s, literals: [a=hidden]}]\n"
                    "generatorOptions: {disableNameSuffixHash: true}\n"
                ),
                "c.env": "A=1\n",
            },
        )
        config_map, secret = rendered(tmp_path).resources
        assert config_map.raw["data"] == {"A": "1"}
        assert config_map.origin.source == f"{tmp_path}/kustomization.yaml"
        assert "hidden" not in str(secret.raw)
        assert "data" not in secret.raw

    def test_two_overlays(self, tmp_path: Path) -> None:
        """Both are rendered, their base is not."""
        write(tmp_path, {"base/kustomization.yaml": "resources: [a.yaml]", "base/a.yaml": SERVICE % "a"})
        for name in ("dev", "prod"):
            write(tmp_path, {f"{name}/kustomization.yaml": f"namespace: {name}\nresources: [../base]"})
        assert refs(rendered(tmp_path)) == ["Service dev/a", "Service prod/a"]

    def test_what_nothing_lists(self, tmp_path: Path) -> None:
        """Is not applied, as it is where nothing is rendered."""
        write(tmp_path, {"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: p-\nnamespace: x"})
        write(tmp_path, {"a.yaml": SERVICE % "a", "b.yaml": SERVICE % "b"})
        snapshot = rendered(tmp_path)
        assert refs(snapshot) == ["Service x/p-a"]
        assert [str(left_out.origin) for left_out in snapshot.left_out] == [f"{tmp_path}/b.yaml"]
        assert snapshot.gaps == ()

    def test_what_was_rendered(self, tmp_path: Path) -> None:
        """Is counted, and named with the program and its version; a plain folder needs none."""
        write(
            tmp_path, {"plain/kustomization.yaml": "namespace: z\nresources: [b.yaml]", "plain/b.yaml": SERVICE % "b"}
        )
        assert rendered(tmp_path).rendered == ""
        for name in ("one", "two"):
            write(tmp_path, {f"{name}/kustomization.yaml": f"namespace: {name}\nnamePrefix: p-\nresources: [a.yaml]"})
            write(tmp_path, {f"{name}/a.yaml": SERVICE % "a"})
        snapshot = rendered(tmp_path)
        assert refs(snapshot) == ["Service one/p-a", "Service two/p-a", "Service z/b"]
        assert re.fullmatch(r"2 folders with kubectl kustomize \d+\.\d+\.\d+", snapshot.rendered)

    def test_nothing_is_written(self, tmp_path: Path) -> None:
        """The files are as they were."""
        write(tmp_path, {"kustomization.yaml": "resources: [a.yaml]", "a.yaml": SERVICE % "a"})
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        rendered(tmp_path)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before

    def test_a_revision(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of git is rendered from what is stored there, links included."""
        made = Repository(tmp_path / "repository")
        made.write("base/kustomization.yaml", "resources: [a.yaml]")
        made.write("base/real.yaml", SERVICE % "a")
        made.link("base/a.yaml", "real.yaml")
        made.write("over/kustomization.yaml", "namespace: x\nresources: [../base]")
        made.commit()
        made.write("base/real.yaml", SERVICE % "changed")
        monkeypatch.chdir(made.folder)
        snapshot = load_state("HEAD:over", options=InputOptions(render=True))
        assert refs(snapshot) == ["Service x/a"]
        assert str(snapshot.resources[0].origin) == "HEAD:base/a.yaml:1"

    def test_a_link_that_leaves_the_repository(self, tmp_path: Path) -> None:
        """Is not followed."""
        write(
            tmp_path,
            {
                "secret.yaml": SERVICE % "a",
                "r/.git/HEAD": "",
                "r/kustomization.yaml": "namePrefix: p-\nresources: [a.yaml]",
            },
        )
        (tmp_path / "r" / "a.yaml").symlink_to("../secret.yaml")
        (tmp_path / "r" / "b.yaml").write_text(SERVICE % "b")
        snapshot = rendered(tmp_path / "r")
        assert "could not be rendered" in snapshot.diagnostics[0].message


@kubectl
class TestFlux:
    """Kustomizations of Flux."""

    def test_what_a_cluster_is_given(self, tmp_path: Path) -> None:
        """A Kustomization delivers itself and others; these are rendered with all that they say."""
        write(
            tmp_path,
            {
                ".git/HEAD": "",
                "clusters/one/flux.yaml": _flux("cluster", "./clusters/one")
                + _flux(
                    "apps",
                    "./apps",
                    "targetNamespace: shop, namePrefix: p-, components: [../parts], commonMetadata: {labels: {a: b}},"
                    "postBuild: {substitute: {PORT: '81'}, substituteFrom: [{kind: ConfigMap, name: settings}]}",
                ),
                "clusters/one/settings.yaml": (
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\n"
                    "data: {NAME: named, PORT: '80'}\n"
                ),
                "apps/deep/a.yaml": SERVICE % "${NAME}" + "---\n" + SERVICE.replace("80", '"${PORT}"') % "b${NONE}",
                "apps/notes.txt": "no manifest",
                "parts/kustomization.yaml": COMPONENT + "resources: [c.yaml]",
                "parts/c.yaml": SERVICE % "c",
            },
        )
        snapshot = rendered(tmp_path)
        services = [resource for resource in snapshot.resources if resource.ref.group_kind.kind == "Service"]
        assert sorted(service.ref.qualified_name for service in services) == ["shop/p-b", "shop/p-c", "shop/p-named"]
        ports = {service.ref.name: service.raw["spec"] for service in services}
        assert ports["p-b"] == {"ports": [{"port": 81}]}
        assert all(labels_of(service.raw) == {"a": "b"} for service in services)
        assert {str(service.namespace_from) for service in services} == {f"{tmp_path}/clusters/one/flux.yaml:6"}
        assert snapshot.gaps == ()

    def test_what_a_secret_may_say(self, tmp_path: Path) -> None:
        """Is not known, so that variables stay."""
        more = "targetNamespace: x, postBuild: {substituteFrom: [{kind: Secret, name: s}], substitute: {A: a}}"
        write(tmp_path, {"f.yaml": _flux("f", "./apps", more), "apps/a.yaml": SERVICE % "${A}-${B}"})
        assert "Service x/a-${B}" in refs(rendered(tmp_path))

    def test_patches_of_a_kustomization(self, tmp_path: Path) -> None:
        """One that is patched by the one that delivers it is rendered as it is then, once."""
        operation = '[{"op": "add", "path": "/spec/targetNamespace", "value": "y"}]'
        patch = f"{{target: {{kind: Kustomization, name: apps}}, patch: '{operation}'}}"
        write(
            tmp_path,
            {
                "c/f.yaml": _flux("c", "./c", f"patches: [{patch}]") + _flux("apps", "./apps"),
                "apps/a.yaml": SERVICE % "a",
            },
        )
        assert "Service y/a" in refs(rendered(tmp_path))
        assert len(rendered(tmp_path).resources) == 3

    def test_kustomizations_in_circles(self, tmp_path: Path) -> None:
        """Each is rendered once."""
        write(tmp_path, {"a/f.yaml": _flux("b", "./b"), "b/f.yaml": _flux("a", "./a")})
        assert refs(rendered(tmp_path)) == ["Kustomization flux-system/a", "Kustomization flux-system/b"]

    def test_a_path_that_is_not_here(self, tmp_path: Path) -> None:
        """Is a gap of the namespace that it is for."""
        write(tmp_path, {"f.yaml": _flux("apps", "./elsewhere", "targetNamespace: x")})
        (gap,) = rendered(tmp_path).gaps
        assert gap.reason == "Kustomization flux-system/apps (elsewhere not here) may create objects in namespace x"
        assert gap.namespace == "x"


class TestReleases:
    """HelmReleases, Applications and charts."""

    RELEASE = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: echo, namespace: network}\n"
        "spec: {chart: {spec: {chart: %s, sourceRef: {kind: %s, name: s}}}, values: {port: 81, host: echo.example},"
        " valuesFrom: [{kind: ConfigMap, name: more}]}\n"
    )
    MORE = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: network}\ndata: {values.yaml: 'port: 82'}\n"
    )

    def test_a_chart_that_is_not_here(self, tmp_path: Path) -> None:
        """May create objects that its values mention."""
        write(tmp_path, {"a.yaml": self.RELEASE % ("echo", "HelmRepository") + "---\n" + self.MORE})
        (gap,) = rendered(tmp_path).gaps
        assert gap.reason == "HelmRelease network/echo (chart not here) may create objects in namespace network"
        assert gap.mentions == frozenset({"echo.example", "echo", "example", "network"})

    def test_without_helm(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The gap of a chart says which program is lacking, and not to render what is rendered."""
        monkeypatch.setenv("PATH", str(tmp_path))
        program(tmp_path, "kubectl", f"echo '{SERVICE % 'made'}'")
        write(tmp_path / "t", {"a.yaml": self.RELEASE % ("./charts/shop", "GitRepository") + "---\n" + self.MORE})
        write(tmp_path / "t" / "charts" / "shop", CHART)
        assert {gap.remedy for gap in rendered(tmp_path / "t").gaps} == {"install helm"}

    @pytest.mark.parametrize("is_made", [True, False])
    def test_what_flate_makes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_made: bool) -> None:
        """The objects of a HelmRelease are all there if the program made them, also without Helm; else a gap is."""
        labels = "labels: {%s.toolkit.fluxcd.io/name: %s, %s.toolkit.fluxcd.io/namespace: %s}"
        release = (self.RELEASE % ("echo", "HelmRepository")).replace(
            "namespace: network}",
            f"namespace: network, {labels % ('kustomize', 'apps', 'kustomize', 'flux-system')}}}",
        )
        service = (
            "---\napiVersion: v1\nkind: Service\n"
            f"metadata: {{name: echo, namespace: network, {labels % ('helm', 'echo', 'helm', 'network')}}}\n"
        )
        write(tmp_path, {"out": release + (service if is_made else "")})
        program(tmp_path, "flate", f'while read -r line; do echo "$line"; done < {tmp_path}/out')
        monkeypatch.setenv("PATH", str(tmp_path))
        write(
            tmp_path / "t",
            {
                "clusters/prod/apps.yaml": _flux("apps", "./apps"),
                "apps/a.yaml": self.RELEASE % ("echo", "HelmRepository"),
            },
        )
        snapshot = rendered(tmp_path / "t")
        assert ("Service network/echo" in refs(snapshot)) == is_made
        assert any("(chart not here)" in gap.reason for gap in snapshot.gaps) != is_made

    @helm
    def test_a_chart_in_the_repository(self, tmp_path: Path) -> None:
        """With the values of the HelmRelease before those of ConfigMaps before those of the chart."""
        write(tmp_path, {"a.yaml": self.RELEASE % ("./charts/shop", "GitRepository") + "---\n" + self.MORE})
        write(tmp_path / "charts" / "shop", CHART)
        snapshot = rendered(tmp_path)
        (service,) = [resource for resource in snapshot.resources if resource.ref.group_kind.kind == "Service"]
        assert service.ref.qualified_name == "network/echo"
        assert service.raw["spec"] == {"ports": [{"port": 81}]}
        assert service.origin.source == f"{tmp_path}/charts/shop/templates/service.yaml"
        assert str(service.namespace_from) == f"{tmp_path}/a.yaml:1"

    @helm
    def test_a_chart_by_itself(self, tmp_path: Path) -> None:
        """Is installed under its own name; its templates are not read as they are."""
        snapshot = rendered(write(tmp_path, CHART), namespace="x")
        assert refs(snapshot) == ["Service x/shop"]
        assert (snapshot.gaps, snapshot.diagnostics) == ((), ())

    @helm
    def test_a_chart_that_needs_others(self, tmp_path: Path) -> None:
        """Which are not here: nothing is fetched."""
        write(tmp_path / "shop", CHART)
        write(
            tmp_path, {"a.yaml": SERVICE % "a", "shop/Chart.yaml": CHART["Chart.yaml"] + "dependencies: [{name: db}]\n"}
        )
        snapshot = rendered(tmp_path)
        assert "could not be rendered: it needs charts that are not here: db" in snapshot.diagnostics[0].message

    @helm
    @kubectl
    def test_applications(self, tmp_path: Path) -> None:
        """Of Argo CD: a folder of manifests, one with a kustomization, a chart, and what is not here."""
        application = (
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\n"
            "spec: {source: {repoURL: r, %s}, destination: {namespace: %s}}\n---\n"
        )
        helm = "path: chart, helm: {releaseName: r, parameters: [{name: port, value: '83'}]}"
        write(
            tmp_path,
            {
                "apps.yaml": application % ("plain", "path: plain, directory: {recurse: true, exclude: 'no/*'}", "p")
                + application % ("over", "path: over, kustomize: {namePrefix: k-}", "o")
                + application % ("chart", helm, "c")
                + application % ("remote", "chart: redis", "r"),
                "plain/a.yaml": SERVICE % "a",
                "plain/deep/b.yaml": SERVICE % "b",
                "plain/no/c.yaml": SERVICE % "c",
                "over/kustomization.yaml": "resources: [d.yaml]",
                "over/d.yaml": SERVICE % "d",
            },
        )
        write(tmp_path / "chart", CHART)
        snapshot = rendered(tmp_path)
        services = [ref for ref in refs(snapshot) if ref.startswith("Service")]
        assert [service for service in services if not service.endswith("/c")] == [
            "Service c/r",
            "Service o/k-d",
            "Service p/a",
            "Service p/b",
        ]
        (gap,) = [gap for gap in snapshot.gaps if "redis" in gap.reason or "remote" in gap.reason]
        assert gap.reason == "Application remote (chart not here) may create objects in namespace r"


class TestPrograms:
    """Where programs are not there, or do odd things."""

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            (
                {"k/kustomization.yaml": "namePrefix: p-"},
                "--render needs kubectl (or kustomize), which cannot be found",
            ),
            ({f"c/{name}": text for name, text in CHART.items()}, "--render needs helm, which cannot be found"),
            (
                {"k/kustomization.yaml": "namePrefix: p-", "c/Chart.yaml": CHART["Chart.yaml"]},
                "--render needs helm and kubectl (or kustomize), which cannot be found",
            ),
        ],
    )
    def test_nothing_is_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], message: str
    ) -> None:
        """Then there is no answer for somebody who insists, and what to do is said."""
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(SourceError, match=re.escape(message)) as caught:
            rendered(write(tmp_path, {**files, "a.yaml": SERVICE % "a"}))
        assert "use --no-render" in caught.value.hint

    def test_one_is_not_installed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What it would have made is a gap; the rest is rendered."""
        monkeypatch.setenv("PATH", str(tmp_path))
        program(tmp_path, "kubectl", f"echo '{SERVICE % 'made'}'")
        write(tmp_path, {"t/k/kustomization.yaml": "namespace: x\nnamePrefix: p-"})
        write(tmp_path / "t" / "c", CHART)
        snapshot = rendered(tmp_path / "t")
        assert [resource.ref.name for resource in snapshot.resources] == ["made"]
        assert any("could not be rendered: helm is not installed" in gap.reason for gap in snapshot.gaps)

    def test_kustomize_by_itself(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Does as well as kubectl; it gets no argument that would let it run other programs."""
        monkeypatch.setenv("PATH", str(tmp_path))
        program(tmp_path, "kustomize", f'echo "$@" >> {tmp_path}/arguments; echo "{SERVICE % "made"}"')
        write(tmp_path, {"t/kustomization.yaml": "namePrefix: p-"})
        rendered(tmp_path / "t")
        calls = (tmp_path / "arguments").read_text().splitlines()
        (arguments,) = (call.split() for call in calls if call.startswith("build"))
        assert arguments[:2] == ["build", "--load-restrictor=LoadRestrictionsRootOnly"]
        assert len(arguments) == 3

    def test_nothing_to_render(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """No program is needed for plain manifests."""
        monkeypatch.setenv("PATH", str(tmp_path))
        assert refs(rendered(write(tmp_path, {"a.yaml": SERVICE % "a"}))) == ["Service default/a"]


@kubectl
class TestClusters:
    """One tree for several clusters."""

    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        """Two clusters that are given the same folder, with other values."""
        write(tmp_path, {".git/HEAD": "", "apps/a.yaml": SERVICE.replace("80", '"${PORT}"') % "a"})
        for cluster, port in (("one", 81), ("two", 82)):
            more = f"targetNamespace: x, postBuild: {{substitute: {{PORT: '{port}'}}}}"
            flux = _flux("cluster", f"./clusters/{cluster}") + _flux("apps", "./apps", more)
            write(tmp_path, {f"clusters/{cluster}/flux.yaml": flux})
        return tmp_path

    def test_all_of_them(self, tree: Path) -> None:
        """What differs between them is in doubt, and the remedy names them."""
        (gap,) = [gap for gap in rendered(tree).gaps if gap.kind == "Service"]
        assert (gap.namespace, gap.name, gap.reason) == ("x", "a", "it is different in two")
        assert gap.remedy == "--cluster one or --cluster two"

    @pytest.mark.parametrize(("cluster", "port"), [("one", 81), ("two", 82)])
    def test_one_of_them(self, tree: Path, cluster: str, port: int) -> None:
        """Is rendered alone."""
        snapshot = rendered(tree, cluster=cluster)
        (service,) = [resource for resource in snapshot.resources if resource.ref.group_kind.kind == "Service"]
        assert service.raw["spec"] == {"ports": [{"port": port}]}
        assert snapshot.gaps == ()

    def test_destinations_of_argo_cd(self, tmp_path: Path) -> None:
        """Tell clusters apart as well, also in one file."""
        text = (
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\n"
            "spec: {source: {path: apps}, destination: {name: %s, namespace: %s}}\n---\n"
        )
        apps = "".join(text % (name, name, name) for name in ("one", "two"))
        write(tmp_path, {"apps.yaml": apps, "apps/a.yaml": SERVICE % "a"})
        found = [ref for ref in refs(rendered(tmp_path, cluster="two")) if ref.startswith("Service")]
        assert found == ["Service two/a"]


@helm
@kubectl
class TestChanges:
    """What a HelmRelease has done to what its chart makes, and what is not known of that."""

    RELEASE = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: echo, namespace: network}\n"
        "spec: {chart: {spec: {chart: ./charts/shop, sourceRef: {kind: GitRepository, name: s}}}, %s}\n"
    )

    def test_post_renderers(self, tmp_path: Path) -> None:
        """Are not applied, so that whatever the chart makes is in doubt."""
        patch = '{target: {kind: Service}, patch: \'[{"op": "replace", "path": "/metadata/name", "value": "b"}]\'}'
        write(tmp_path / "charts" / "shop", CHART)
        write(tmp_path, {"a.yaml": self.RELEASE % f"postRenderers: [{{kustomize: {{patches: [{patch}]}}}}]"})
        snapshot = rendered(tmp_path)
        assert refs(snapshot) == ["HelmRelease network/echo", "Service network/echo"]
        (gap,) = snapshot.gaps
        assert gap.reason == "HelmRelease network/echo has post-renderers, which are not applied here"

    def test_values_of_a_secret(self, tmp_path: Path) -> None:
        """Are not known, so that whatever the chart makes is in doubt."""
        write(tmp_path / "charts" / "shop", CHART)
        write(tmp_path, {"a.yaml": self.RELEASE % "valuesFrom: [{kind: Secret, name: s}]"})
        (gap,) = rendered(tmp_path).gaps
        assert (gap.kind, gap.namespace, gap.name) == ("Service", "network", "echo")
        assert gap.reason == "HelmRelease network/echo takes values from Secret s, which are not known here"
