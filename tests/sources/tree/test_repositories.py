"""Repositories in small, of which more was read than is applied: what each of them comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.sources import InputOptions, load_manifests
from tests.sources.tree.build import argo, doubts, flux, read, refs, refs_in, service, unlisted, worlds_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kubectl_policy.model import Json, Snapshot

SOURCE = (
    "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: flux-system}\n"
    "spec: {url: '%s'}\n---\n"
)
# As an API server stores an object.
STORED = "metadata: {name: %s, namespace: %s, uid: 11111111-2222-3333-4444-555555555555}\n"
HOSTS = "{externalName: 'app.${DOMAIN}'}"


def of_source(name: str, path: str, source: str, namespace: str) -> str:
    """A Kustomization of Flux that takes a folder of a source."""
    return flux(name, path, f"  targetNamespace: {namespace}\n").replace("name: here", f"name: {source}")


def hosts(snapshot: Snapshot) -> dict[str, Json]:
    """The `externalName` of each Service that has one, by its full name."""
    services = [resource for resource in snapshot.resources if resource.ref.kind == "Service"]
    return {
        service.ref.qualified_name: spec["externalName"]
        for service in services
        if isinstance(spec := service.raw.get("spec"), dict) and "externalName" in spec
    }


class TestSources:
    """A delivery counts for this repository only if its source can be it."""

    def test_the_root_of_another_repository(self, tmp_path: Path) -> None:
        """It moves nothing of this one, although a Kustomization without a path stands beside the objects."""
        kustomization = of_source("crds", "./", "operator", "operator-system").replace("  path: ./\n", "")
        snapshot = read(tmp_path, {"all.yaml": service("a", "net") + "---\n" + kustomization})
        assert refs(snapshot) == ["net/a"]
        assert unlisted(snapshot, tmp_path) == []

    def test_a_folder_of_another_repository(self, tmp_path: Path) -> None:
        """A folder of that name is here as well; what the other repository has in it is not known."""
        files = {
            "flux/root.yaml": of_source("edge", "./deploy", "flux-system", "net")
            + SOURCE % ("operator", "https://git.example/them/operator")
            + of_source("operator", "./deploy", "operator", "tools"),
            "deploy/a.yaml": service("a"),
        }
        snapshot = read(tmp_path, files)
        missing = "Kustomization flux-system/operator (GitRepository operator not here)"
        assert refs(snapshot) == ["net/a"]
        assert doubts(snapshot, tmp_path) == [
            f"* tools/*: {missing} may create objects in namespace tools",
        ]

    def test_two_names_of_this_repository(self, tmp_path: Path) -> None:
        """They have one address, however it is written."""
        files = {
            "flux/root.yaml": SOURCE % ("flux-system", "ssh://git@git.example/us/home.git")
            + SOURCE % ("home", "https://git.example/us/home")
            + of_source("one", "./one", "flux-system", "one")
            + of_source("two", "./two", "home", "two"),
            "one/a.yaml": service("a"),
            "two/b.yaml": service("b"),
        }
        assert refs(read(tmp_path, files)) == ["one/a", "two/b"]

    def test_an_application_of_another_repository(self, tmp_path: Path) -> None:
        other = argo("them", "deploy", "tools").replace("x.example/y.git", "x.example/other.git")
        files = {
            "apps.yaml": argo("one", "one", "one") + argo("edge", "deploy", "net") + other,
            "one/a.yaml": service("a"),
            "deploy/b.yaml": service("b"),
        }
        snapshot = read(tmp_path, files)
        assert refs(snapshot) == ["net/b", "one/a"]
        assert doubts(snapshot, tmp_path) == [
            "* tools/*: Application them (deploy not here) may create objects in namespace tools"
        ]


class TestStored:
    """Objects that were read from a cluster are what they are."""

    @pytest.mark.parametrize("render", [False, "auto"])
    def test_a_delivery(self, tmp_path: Path, *, render: bool) -> None:
        """It makes nothing that is not there as well, and moves nothing."""
        stored = STORED % ("app", "flux-system")
        kustomization = flux("app", "./app", "  targetNamespace: moved\n").partition("\n")[2]
        kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\n" + kustomization.replace(
            "metadata: {name: app, namespace: flux-system}\n", stored
        )
        release = (
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
            + STORED % ("web", "net")
            + "spec: {chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: x}}}}\n"
        )
        files = {"all.yaml": kustomization + release, "app/a.yaml": service("a", "net")}
        snapshot = read(tmp_path, files, options=InputOptions(render=render))
        assert refs(snapshot) == ["net/a"]
        assert doubts(snapshot, tmp_path) == []

    def test_an_object_that_a_kustomization_lists(self, tmp_path: Path) -> None:
        dump = "apiVersion: v1\nkind: Service\n" + STORED % ("a", "net") + "spec: {externalName: x}\n"
        files = {
            "kustomization.yaml": (
                "namespace: other\nnamePrefix: p-\nresources: [a.yaml]\n"
                "patches: [{target: {kind: Service}, patch: '[]'}]\n"
            ),
            "a.yaml": dump + "---\n" + service("b"),
        }
        snapshot = read(tmp_path, files)
        assert refs(snapshot) == ["net/a", "other/p-b"]
        assert doubts(snapshot, tmp_path) == ["Service other/p-b: changed by kustomization.yaml"]


class TestUnlisted:
    """What no root reaches is not applied."""

    LISTED = "namespace: shop\nresources: [a.yaml]"

    @pytest.mark.parametrize(
        ("files", "named", "services", "left"),
        [
            ({"app/b.yaml": service("b")}, [""], ["shop/a"], ["app/b.yaml"]),
            ({"app/deep/b.yaml": service("b")}, [""], ["shop/a"], ["app/deep/b.yaml"]),
            ({"app/b.yaml": service("a", "shop", "{x: y}")}, ["app"], ["shop/a"], ["app/b.yaml"]),
            # What is named itself is meant.
            ({"app/b.yaml": service("b")}, ["app/b.yaml", "app"], ["default/b", "shop/a"], []),
            ({"app/b.yaml": service("b")}, ["app/b.yaml"], ["default/b"], []),
            # Nothing around it says what is applied.
            ({"b.yaml": service("b"), "other/c.yaml": service("c")}, [""], ["default/b", "default/c", "shop/a"], []),
            # An overlay below its base.
            (
                {"app/over/kustomization.yaml": "namespace: over\nresources: [..]"},
                [""],
                ["over/a"],
                [],
            ),
        ],
    )
    def test_beside_a_kustomization(
        self, tmp_path: Path, files: Mapping[str, str], named: list[str], services: list[str], left: list[str]
    ) -> None:
        files = {"app/kustomization.yaml": self.LISTED, "app/a.yaml": service("a"), **files}
        snapshot = read(tmp_path, files, *named)
        assert refs(snapshot) == services
        assert unlisted(snapshot, tmp_path) == left
        assert doubts(snapshot, tmp_path) == []

    def test_a_kustomization_of_flux(self, tmp_path: Path) -> None:
        """Neither is what it would apply."""
        files = {
            "flux/root.yaml": flux("apps", "./apps"),
            "apps/kustomization.yaml": "resources: [net]",
            "apps/net/kustomization.yaml": "namespace: net\nresources: [a.yaml]",
            "apps/net/a.yaml": service("a"),
            "apps/shop/ks.yaml": flux("shop", "./apps/shop/app", "  targetNamespace: shop\n"),
            "apps/shop/app/kustomization.yaml": "resources: [b.yaml]",
            "apps/shop/app/b.yaml": service("b"),
        }
        snapshot = read(tmp_path, files)
        assert refs(snapshot) == ["net/a"]
        assert refs(snapshot, "Kustomization") == ["flux-system/apps"]
        assert unlisted(snapshot, tmp_path) == ["apps/shop/app/b.yaml", "apps/shop/ks.yaml"]
        assert doubts(snapshot, tmp_path) == []

    def test_a_root_with_a_kustomization_of_its_own(self, tmp_path: Path) -> None:
        """What this lists is delivered, patches included."""
        patches = "  patches: [{target: {kind: Service, name: a}, patch: '[]'}]\n"
        files = {
            "clusters/prod/kustomization.yaml": "resources: [apps.yaml]",
            "clusters/prod/apps.yaml": flux("apps", "./apps", "  targetNamespace: net\n" + patches),
            "apps/kustomization.yaml": "resources: [a.yaml]",
            "apps/a.yaml": service("a") + "---\n" + service("b"),
        }
        snapshot = read(tmp_path, files)
        assert refs(snapshot) == ["net/a", "net/b"]
        assert doubts(snapshot, tmp_path) == ["Service net/a: changed by clusters/prod/apps.yaml"]

    def test_a_chart_beside_what_is_delivered(self, tmp_path: Path) -> None:
        """Nothing installs it."""
        files = {
            "flux.yaml": flux("app", "./app", "  targetNamespace: net\n"),
            "app/a.yaml": service("a"),
            "charts/spare/Chart.yaml": "apiVersion: v2\nname: spare\nversion: 1.0.0\n",
            "charts/spare/templates/a.yaml": "kind: {{ .Values.kind }}\n",
        }
        snapshot = read(tmp_path, files)
        assert (refs(snapshot), doubts(snapshot, tmp_path)) == (["net/a"], [])


class TestVariables:
    """They are filled in only where the Kustomization that applies a file has values."""

    ROOT = (
        "  patches:\n  - target: {kind: Kustomization}\n    patch: |\n"
        "      {kind: Kustomization, metadata: {name: any}, spec: {postBuild: %s}}\n"
    )
    UNREAD = "{substituteFrom: [{kind: Secret, name: s}]}"

    @pytest.mark.parametrize(
        ("post_build", "patched", "host"),
        [
            ("", "", "app.${DOMAIN}"),
            ("{substitute: {}}", "", "app.${DOMAIN}"),
            ("{substitute: {OTHER: x}}", "", "app."),
            ("{substitute: {DOMAIN: home.example}}", "", "app.home.example"),
            ("{substitute: {OTHER: x}}", UNREAD, "app.${DOMAIN}"),
            ("{substitute: {OTHER: x}}", "{substitute: {DOMAIN: home.example}}", "app.home.example"),
            ("{substituteFrom: [{kind: ConfigMap, name: gone}], substitute: {OTHER: x}}", "", "app.${DOMAIN}"),
        ],
    )
    def test_values(self, tmp_path: Path, post_build: str, patched: str, host: str) -> None:
        """Also those that a root patches into its children: what a Secret holds is unknown."""
        build = f"  postBuild: {post_build}\n" if post_build else ""
        files = {
            "root.yaml": flux("root", "./apps", self.ROOT % patched if patched else ""),
            "apps/kustomization.yaml": "resources: [ks.yaml]",
            "apps/ks.yaml": flux("app", "./app", "  targetNamespace: net\n" + build),
            "app/kustomization.yaml": "resources: [a.yaml]",
            "app/a.yaml": service("a", spec=HOSTS),
            "plain.yaml": service("plain", "net", HOSTS),
        }
        snapshot = read(tmp_path, files)
        assert hosts(snapshot) == {"net/a": host, "net/plain": "app.${DOMAIN}"}
        assert doubts(snapshot, tmp_path) == []

    def test_config_maps_that_differ(self, tmp_path: Path) -> None:
        """None of their values is known, and a variable of neither of them may have one."""
        settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: flux-system}\ndata: {DOMAIN: %s}\n"
        files = {
            "flux.yaml": flux("app", "./app", "  postBuild: {substituteFrom: [{kind: ConfigMap, name: c}]}\n"),
            "one/c.yaml": settings % "one.example",
            "two/c.yaml": settings % "two.example",
            "app/a.yaml": service("a", "net", "{externalName: '${DOMAIN}${OTHER}'}"),
        }
        assert hosts(read(tmp_path, files)) == {"net/a": "${DOMAIN}${OTHER}"}


SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: apps, namespace: argocd}
spec:
  goTemplate: true
  generators:
  - git: {repoURL: 'https://x.example/y.git', files: [{path: cluster/apps/*/config.yaml}]}
  template:
    metadata: {name: '{{.path.basename}}'}
    spec: {destination: {namespace: shop, name: in-cluster}}
  templatePatch: |
    spec:
      source: {repoURL: 'https://x.example/y.git', path: '{{.path.path}}'}
"""


def test_a_source_in_a_template_patch(tmp_path: Path) -> None:
    """The chart that it names may create objects, in its namespace, with what its templates name."""
    files = {
        "cluster/bootstrap.yaml": argo("root", "cluster/sets", "argocd"),
        "cluster/sets/apps.yaml": SET,
        "cluster/apps/shop/config.yaml": "enabled: 'true'\n",
        "cluster/apps/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
        "cluster/apps/shop/templates/all.yaml": "metadata: {name: {{ .Release.Name }}}\nspec: {gateway: public}\n",
        "net.yaml": service("a", "shop"),
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["shop/a"]
    (gap,) = snapshot.gaps
    assert doubts(snapshot, tmp_path) == [
        "* shop/*: ApplicationSet shop (chart not rendered) may create objects in namespace shop"
    ]
    assert "public" in (gap.mentions or ())
    assert gap.remedy == "--render"


def test_a_namespace_that_a_replacement_gives(tmp_path: Path) -> None:
    """It is not known, and is called by nothing else."""
    replacement = (
        "namespace: %s\nresources: [ks.yaml]\nreplacements:\n"
        "- source: {kind: Kustomization, fieldPath: metadata.namespace}\n"
        "  targets: [{select: {kind: Kustomization}, fieldPaths: [spec.targetNamespace], options: {create: true}}]\n"
    )
    files = {"flux/root.yaml": flux("apps", "./apps")}
    for name in ("net", "web"):
        files[f"apps/{name}/kustomization.yaml"] = replacement % name
        files[f"apps/{name}/ks.yaml"] = flux(name, f"./apps/{name}/app")
        files[f"apps/{name}/app/a.yaml"] = service(name)
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["<unknown>/net", "<unknown>/web"]
    reasons = [text for text in doubts(snapshot, tmp_path) if text.startswith("Service ?")]
    assert reasons == [
        f"Service ?apps.{name}.app/{name}: changed by apps/{name}/kustomization.yaml" for name in ("net", "web")
    ]


TWO_CLUSTERS = {
    **{
        f"flux/{cluster}/{file}": text
        for cluster in ("cloud", "home")
        for file, text in {
            "kustomization.yaml": "resources: [apps.yaml]",
            "apps.yaml": flux("apps", f"./ks/{cluster}"),
        }.items()
    },
    **{
        f"ks/{cluster}/net.yaml": flux("net", f"./apps/{cluster}", "  targetNamespace: net\n")
        for cluster in ("cloud", "home")
    },
    "apps/cloud/a.yaml": service("a", spec="{externalName: cloud.example}"),
    "apps/home/a.yaml": service("a", spec="{externalName: home.example}"),
    "apps/home/b.yaml": service("b"),
}


class TestTwoClusters:
    """Roots that declare Kustomizations of one name exclude each other."""

    def test_worlds(self, tmp_path: Path) -> None:
        worlds = worlds_in(tmp_path, TWO_CLUSTERS)
        assert refs_in(worlds) == {"cloud": ["net/a"], "home": ["net/a", "net/b"]}
        assert {name: hosts(world)["net/a"] for name, world in worlds.items()} == {
            "cloud": "cloud.example",
            "home": "home.example",
        }
        assert [gap for world in worlds.values() for gap in world.gaps] == []

    @pytest.mark.parametrize(("cluster", "services"), [("cloud", ["net/a"]), ("home", ["net/a", "net/b"])])
    def test_one_of_them(self, tmp_path: Path, cluster: str, services: list[str]) -> None:
        """By the name that the worlds have."""
        assert refs(read(tmp_path, TWO_CLUSTERS, options=InputOptions(cluster=cluster))) == services

    def test_all_together(self, tmp_path: Path) -> None:
        """What is different in them is in doubt, and the remedy is one of them."""
        snapshot = read(tmp_path, TWO_CLUSTERS)
        (gap,) = [gap for gap in snapshot.gaps if gap.kind == "Service"]
        assert (gap.name, gap.remedy) == ("a", "--cluster cloud or --cluster home")


def test_a_revision_is_read_alike(tmp_path: Path) -> None:
    """Files that are named one by one are what was meant, whatever is around them."""
    files = {"app/kustomization.yaml": "namespace: shop\nresources: [a.yaml]", "app/a.yaml": service("a")}
    read(tmp_path, files)
    assert refs(load_manifests([tmp_path / "app" / "a.yaml"])) == ["default/a"]
