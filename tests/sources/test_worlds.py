"""One world for each cluster or overlay: which there are, what is in each, and what is said of the rest."""

import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Snapshot
from kubectl_policy.sources import InputOptions, load_manifests, load_state
from kubectl_policy.sources.manifests import load_worlds
from kubectl_policy.sources.options import Render
from kubectl_policy.sources.snapshot import Header, pack
from kubectl_policy.sources.snapshot import write as save
from tests.repository import Repository, alone
from tests.sources.rendering.trees import helm, kubectl, program, write
from tests.sources.tree.build import BASE, OVERLAYS, argo, flux, refs, refs_in, service, worlds_in

FLEET = {
    **{
        f"clusters/{name}/flux.yaml": flux("apps", "./apps", f"  postBuild: {{substitute: {{WHERE: {name}}}}}\n")
        for name in ("east", "west")
    },
    "clusters/west/more.yaml": service("more", "net"),
    "apps/a.yaml": service("a", "net", "{where: '${WHERE}'}"),
    "plain.yaml": service("p", "net"),
}


def _all_of(snapshot: Snapshot) -> object:
    """Everything that was read, of which values can be compared."""
    objects = sorted((str(resource.ref), str(resource.origin), str(resource.raw)) for resource in snapshot.resources)
    return objects, snapshot.gaps, snapshot.diagnostics, snapshot.left_out, snapshot.ignored, snapshot.listed


class TestOne:
    """Input for one world alone, which needs no name."""

    def test_nothing_at_all(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.yaml": "a: 1"})
        with pytest.raises(SourceError, match="no Kubernetes object in 1 file"):
            load_worlds(tmp_path)

    def test_a_snapshot(self, tmp_path: Path) -> None:
        write(tmp_path / "tree", OVERLAYS)
        header = Header(taken="2026-01-01T00:00:00Z", version="1")
        save(str(tmp_path / "s.gz"), pack(load_manifests(tmp_path / "tree"), header))
        ((name, snapshot),) = load_worlds(
            tmp_path / "s.gz", options=InputOptions(map_origins=True, render="auto")
        ).items()
        assert (name, len(snapshot.resources)) == ("", 4)

    @pytest.mark.parametrize("render", [False, "auto"])
    @pytest.mark.parametrize(
        "files",
        [
            {
                "dev/a.yaml": service("a"),
                "prod/a.yaml": service("a", spec="{}"),
                "broken.yaml": "kind: [\napiVersion: v1",
            },
            {**BASE, "over/kustomization.yaml": "namespace: net\nresources: [../base]"},
            {"clusters/home/a.yaml": flux("a", "./apps"), "apps/a.yaml": service("a", "net")},
            {
                "apps.yaml": argo("a", "a", "n1") + argo("b", "b", "n2"),
                "a/a.yaml": service("a"),
                "b/b.yaml": service("a"),
            },
        ],
    )
    def test_is_what_other_commands_read(self, tmp_path: Path, files: Mapping[str, str], *, render: Render) -> None:
        """A plain folder, an only overlay, an only cluster."""
        worlds = worlds_in(tmp_path, files, render=render)
        assert {name: _all_of(found) for name, found in worlds.items()} == {
            "": _all_of(load_manifests(tmp_path, options=InputOptions(render=render)))
        }

    def test_standard_input(self) -> None:
        ((name, snapshot),) = load_worlds("-", stdin=io.StringIO(service("a"))).items()
        assert (name, refs(snapshot)) == ("", ["default/a"])


class TestClusters:
    def test_each_as_it_is_alone(self, tmp_path: Path) -> None:
        """As `--cluster` reads it, with its own values."""
        worlds = worlds_in(tmp_path, FLEET)
        assert refs_in(worlds) == {"east": ["net/a", "net/p"], "west": ["net/a", "net/more", "net/p"]}
        for name, found in worlds.items():
            (a,) = (resource for resource in found.resources if resource.ref.name == "a")
            assert a.raw["spec"] == {"where": name}
            assert _all_of(found) == _all_of(load_manifests(tmp_path, options=InputOptions(cluster=name)))

    @kubectl
    def test_each_rendered_as_it_is_alone(self, tmp_path: Path) -> None:
        worlds = worlds_in(tmp_path, FLEET, render="auto")
        assert refs_in(worlds) == {"east": ["net/a", "net/p"], "west": ["net/a", "net/more", "net/p"]}
        for name, found in worlds.items():
            alone_ = load_manifests(tmp_path, options=InputOptions(cluster=name, render=True))
            assert _all_of(found) == _all_of(alone_)

    def test_an_overlay_that_none_of_them_gets(self, tmp_path: Path) -> None:
        """Is a world of its own; one that is called as a cluster is for that."""
        files = {
            **OVERLAYS,
            "clusters/prod/flux.yaml": flux("shop", "./shop"),
            "clusters/east/flux.yaml": flux("shop", "./shop"),
            "shop/shop.yaml": service("shop", "shop"),
        }
        assert refs_in(worlds_in(tmp_path, files)) == {
            "dev": ["net/a", "net/b", "net/s"],
            "east": ["net/s", "shop/shop"],
            "prod": ["net/a", "net/b", "net/c", "net/s", "shop/shop"],
        }

    def test_an_overlay_beside_one_that_is_delivered(self, tmp_path: Path) -> None:
        """It is the other one to what is delivered together, be that to a cluster with a name or not."""
        more = {"overlays/test/kustomization.yaml": "namespace: test\nresources: [../../base]"}
        files = {**OVERLAYS, **more, "apps.yaml": argo("prod", "overlays/prod") + argo("test", "overlays/test")}
        assert refs_in(worlds_in(tmp_path / "argo", files)) == {
            "delivered": ["net/a", "net/b", "net/c", "net/s", "test/a", "test/b"],
            "dev": ["net/a", "net/b", "net/s"],
        }
        files = {**OVERLAYS, "clusters/home/flux.yaml": flux("prod", "./overlays/prod")}
        worlds = worlds_in(tmp_path / "flux", files)
        assert refs_in(worlds) == {
            "dev": ["net/a", "net/b", "net/s"],
            "home": ["net/a", "net/b", "net/c", "net/s"],
        }
        assert not any("nothing says" in gap.reason for world in worlds.values() for gap in world.gaps)


class TestRendering:
    @kubectl
    def test_overlays(self, tmp_path: Path) -> None:
        """Patches are applied, and nothing is in doubt."""
        worlds = worlds_in(tmp_path, OVERLAYS, render="auto")
        specs = {
            name: [resource.raw["spec"] for resource in found.resources if resource.ref.name == "a"]
            for name, found in worlds.items()
        }
        assert {name: [spec["x"] for spec in each if isinstance(spec, dict)] for name, each in specs.items()} == {
            "dev": ["dev"],
            "prod": ["prod"],
        }
        assert [gap.reason for gap in worlds["dev"].gaps] == []

    @kubectl
    def test_an_overlay_that_nothing_delivers(self, tmp_path: Path) -> None:
        """Is rendered as well: somebody may apply it by hand."""
        files = {**OVERLAYS, "apps.yaml": argo("shop", "shop", "shop"), "shop/shop.yaml": service("shop")}
        worlds = worlds_in(tmp_path, files, render="auto")
        (a,) = (resource for resource in worlds["dev"].resources if resource.ref.name == "a")
        assert a.raw["spec"] == {"ports": [{"port": 80}], "x": "dev"}

    def test_without_any_program(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """They are read as they are, and what is not known of them is said; who insists gets no answer."""
        monkeypatch.setenv("PATH", str(tmp_path))
        worlds = worlds_in(tmp_path / "tree", OVERLAYS, render="auto")
        for world in worlds.values():
            (lacking,) = world.diagnostics
            assert lacking.rule == "not-rendered"
            assert lacking.message.startswith("kubectl (or kustomize) is not installed")
            assert {gap.remedy for gap in world.gaps} == {"--render"}
        assert refs_in(worlds) == refs_in(worlds_in(tmp_path / "tree", {}))
        with pytest.raises(SourceError, match=r"--render needs kubectl .or kustomize., which cannot be found"):
            worlds_in(tmp_path / "tree", {}, render=True)

    def test_without_one_of_the_programs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "bin").mkdir()
        program(tmp_path / "bin", "kustomize", f"cat <<'E'\n{service('made', 'net')}E")
        monkeypatch.setenv("PATH", f"{tmp_path}/bin")
        files = {
            "over/kustomization.yaml": "namespace: net\nnamePrefix: x-\nresources: [a.yaml]",
            "over/a.yaml": service("a"),
            "chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
            "chart/templates/a.yaml": service("{{ .Release.Name }}"),
        }
        (snapshot,) = worlds_in(tmp_path / "tree", files, render="auto").values()
        assert "net/made" in refs(snapshot)
        (said,) = [diagnostic for diagnostic in snapshot.diagnostics if diagnostic.rule == "not-rendered"]
        assert said.message.startswith("helm is not installed")

    def test_what_rendering_would_not_change(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """No program is run for it."""
        (tmp_path / "bin").mkdir()
        program(tmp_path / "bin", "kustomize", "none")
        monkeypatch.setenv("PATH", f"{tmp_path}/bin")
        files = {**BASE, "over/kustomization.yaml": "namespace: net\nresources: [../base]"}
        assert refs_in(worlds_in(tmp_path / "tree", files, render="auto")) == {"": ["net/a", "net/b"]}
        files = {"over/kustomization.yaml": "namespace: net\nnamePrefix: p-\nresources: [../base]"}
        # Here one is, and it fails.
        (snapshot,) = worlds_in(tmp_path / "tree", files, render="auto").values()
        assert [diagnostic.rule for diagnostic in snapshot.diagnostics] == ["not-rendered"]

    def test_a_chart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        files = {
            "chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
            "chart/templates/a.yaml": service("{{ .Release.Name }}"),
            "b.yaml": service("b"),
        }
        (snapshot,) = worlds_in(tmp_path / "tree", files, render="auto").values()
        assert refs(snapshot) == ["default/b"]
        assert [left_out.subject for left_out in snapshot.left_out] == ["Helm template"]
        (gap,) = snapshot.gaps
        assert gap.reason.startswith(f"{tmp_path}/tree/chart (chart not rendered) may create objects")
        # It is in the input, which is said to be complete.
        options = InputOptions(render="auto", complete=True)
        (snapshot,) = load_worlds(tmp_path / "tree", options=options).values()
        assert (snapshot.complete, snapshot.gaps) == (True, (gap,))

    @helm
    def test_a_chart_by_helm(self, tmp_path: Path) -> None:
        """With its own values; its objects are where they are written in the templates."""
        files = {
            "chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
            "chart/values.yaml": "port: 80\n",
            "chart/templates/a.yaml": (
                "{{- if .Values.port }}\n# The shop.\n"
                "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n"
                "spec: {ports: [{port: {{ .Values.port }}}]}\n{{- end }}\n"
            ),
        }
        (snapshot,) = worlds_in(tmp_path, files, render="auto").values()
        (resource,) = snapshot.resources
        assert (str(resource.ref), resource.raw["spec"]) == ("Service default/shop", {"ports": [{"port": 80}]})
        assert str(resource.origin) == f"{tmp_path}/chart/templates/a.yaml:3"


def _committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository = alone(tmp_path, monkeypatch)
    for path, text in OVERLAYS.items():
        repository.write(path, text)
    repository.commit()
    monkeypatch.chdir(repository.folder)
    return repository


class TestRevisions:
    def test_overlays(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        repository = _committed(tmp_path, monkeypatch)
        repository.write("overlays/prod/kustomization.yaml", "resources: []")
        worlds = load_worlds("HEAD:", may_be_revision=True)
        assert refs_in(worlds) == {
            "dev": ["net/a", "net/b", "net/s"],
            "prod": ["net/a", "net/b", "net/c", "net/s"],
        }
        ((name, snapshot),) = load_worlds("HEAD:overlays/prod", may_be_revision=True).items()
        assert (name, _all_of(snapshot)) == ("", _all_of(load_state("HEAD:overlays/prod")))
        ((name, snapshot),) = load_worlds("spare.yaml", may_be_revision=True).items()
        assert refs(snapshot) == ["net/s"]

    @kubectl
    def test_rendered(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        repository = _committed(tmp_path, monkeypatch)
        repository.write("overlays/dev/kustomization.yaml", "resources: []")
        dev, _ = load_worlds("HEAD:", options=InputOptions(render="auto"), may_be_revision=True).values()
        (a,) = (resource for resource in dev.resources if resource.ref.name == "a")
        assert (a.raw["spec"], str(a.origin)) == ({"ports": [{"port": 80}], "x": "dev"}, "HEAD:base/a.yaml:1")

    def test_what_is_none(self) -> None:
        with pytest.raises(SourceError, match="there is no such file or folder"):
            load_worlds("none.yaml", may_be_revision=True)
