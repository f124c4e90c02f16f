"""Trees for several clusters: what is for which, and the variables of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import UsageError
from kubectl_policy.sources import InputOptions, load_state
from tests.repository import Repository
from tests.sources.tree.build import ARGO, doubts, flux, read, refs, service

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Snapshot

SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: %s\n"
FILLED = "  postBuild:\n    substitute: {OWN: own}\n    substituteFrom: [{kind: ConfigMap, name: settings}]\n"
WORLD = {
    "clusters/east/flux-system/sync.yaml": flux("flux-system", "./clusters/east"),
    "clusters/east/apps.yaml": flux("apps", "./apps/east") + flux("shared", "./shared", FILLED),
    "clusters/east/settings.yaml": SETTINGS % "{DOMAIN: east.example, SAME: x}",
    "clusters/west/apps.yaml": flux("apps", "./apps/west") + flux("shared", "./shared", FILLED),
    "clusters/west/settings.yaml": SETTINGS % "{DOMAIN: west.example, SAME: x}",
    "apps/east/kustomization.yaml": "namespace: apps\nresources: [../base, e.yaml]",
    "apps/east/e.yaml": service("e"),
    "apps/west/kustomization.yaml": "namespace: apps\nresources: [../base]\npatches: [{path: p.yaml}]",
    "apps/west/p.yaml": service("b"),
    "apps/base/kustomization.yaml": "resources: [b.yaml]",
    "apps/base/b.yaml": service("b"),
    "shared/s.yaml": service("s", "shared", "{a: '${DOMAIN}', b: '${OWN}', c: '${SAME}', d: '${NONE}'}"),
    "plain/p.yaml": service("p", "plain"),
}


def _of(folder: Path, cluster: str = "") -> Snapshot:
    return read(folder, WORLD, options=InputOptions(cluster=cluster))


def _spec(snapshot: Snapshot, name: str = "s") -> object:
    return next(resource.raw["spec"] for resource in snapshot.resources if resource.ref.name == name)


def test_all_of_them(tmp_path: Path) -> None:
    """What differs in them is in doubt, and the answer asks for one of them."""
    snapshot = _of(tmp_path)
    assert refs(snapshot) == ["apps/b", "apps/e", "plain/p", "shared/s"]
    assert _spec(snapshot) == {"a": "east.example", "b": "own", "c": "x", "d": None}
    found = doubts(snapshot, tmp_path)
    assert "Service apps/b: changed by apps/west/p.yaml" in found
    assert "Service shared/s: it is different in west" in found
    assert "ConfigMap flux-system/settings: it is different in clusters/west/settings.yaml:1" in found
    assert {gap.remedy for gap in snapshot.gaps if gap.kind == "ConfigMap"} == {"--cluster east or --cluster west"}


def test_one_of_them(tmp_path: Path) -> None:
    """With what is for no cluster alone; variables without a value are null, as in Flux after Kustomize."""
    east, west = _of(tmp_path, "east"), _of(tmp_path, "west")
    assert refs(east) == ["apps/b", "apps/e", "plain/p", "shared/s"]
    assert refs(west) == ["apps/b", "plain/p", "shared/s"]
    assert _spec(east) == {"a": "east.example", "b": "own", "c": "x", "d": None}
    assert _spec(west) == {"a": "west.example", "b": "own", "c": "x", "d": None}
    assert doubts(east, tmp_path) == []
    assert doubts(west, tmp_path) == ["Service apps/b: changed by apps/west/p.yaml"]


def test_clusters_that_are_not_known(tmp_path: Path) -> None:
    """The known ones are named, if there are any."""
    with pytest.raises(UsageError, match='nothing in the input is for a cluster "north"') as raised:
        _of(tmp_path, "north")
    assert "east, west" in str(raised.value.hint)
    with pytest.raises(UsageError) as raised:
        read(tmp_path, {}, "plain", options=InputOptions(cluster="east"))
    assert "tells clusters apart" in str(raised.value.hint)


def test_clusters_of_one_name(tmp_path: Path) -> None:
    """They are told apart by as much of their paths as it takes."""
    files = {f"{region}/clusters/prod/a.yaml": flux("a", f"./{region}/apps") for region in ("eu", "us")}
    files["eu/apps/a.yaml"] = files["us/apps/a.yaml"] = service("a")
    with pytest.raises(UsageError) as raised:
        read(tmp_path, files, options=InputOptions(cluster="prod"))
    assert "eu/clusters/prod, us/clusters/prod" in str(raised.value.hint)


def test_destinations_of_argo_cd(tmp_path: Path) -> None:
    """By name, or by the host of their address."""

    def app(name: str, cluster: str) -> str:
        return ARGO % name + f"spec: {{source: {{path: {name}}}, destination: {{{cluster}, namespace: net}}}}\n---\n"

    files = {
        "apps.yaml": app("a", "name: one")
        + app("b", "server: 'https://two.example:6443'")
        + app("c", "server: 'https://kubernetes.default.svc'"),
        "a/a.yaml": service("a"),
        "b/b.yaml": service("b"),
        "c/c.yaml": service("c"),
    }
    assert refs(read(tmp_path, files, options=InputOptions(cluster="one"))) == ["net/a"]
    assert refs(read(tmp_path, files, options=InputOptions(cluster="two.example"))) == ["net/b"]
    assert refs(read(tmp_path, files, options=InputOptions(cluster="in-cluster"))) == ["net/c"]
    assert refs(read(tmp_path, files)) == ["net/a", "net/b", "net/c"]


def test_applications_for_other_clusters(tmp_path: Path) -> None:
    """What a set has for them is left out, and creates nothing in this one."""
    elements = "[{name: one, path: a}, {name: two, path: b}, {name: one, path: c}, {name: two, path: d}]"
    template = (
        "metadata: {name: x}, spec: {source: {path: '{{path}}'}, destination: {name: '{{name}}', namespace: net}}"
    )
    files = {
        "apps.yaml": (
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\n"
            f"spec: {{generators: [{{list: {{elements: {elements}}}}}], template: {{{template}}}}}\n"
        ),
        "a/a.yaml": service("a"),
        "b/b.yaml": service("b"),
    }
    found = {
        name: doubts(read(tmp_path, files, options=InputOptions(cluster=name)), tmp_path) for name in ("one", "two", "")
    }
    assert {name: [each.partition("(")[2].partition(")")[0] for each in said] for name, said in found.items()} == {
        "one": ["c not here"],
        "two": ["d not here"],
        "": ["c not here", "d not here"],
    }


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("  postBuild: {substitute: {A: '1'}}\n", {"a": 1, "b": None}),
        ("  postBuild: {substituteFrom: [{kind: Secret, name: s}], substitute: {A: '1'}}\n", {"a": 1, "b": "${B}"}),
        ("  postBuild: {substituteFrom: [{kind: ConfigMap, name: gone}]}\n", None),
        ("  postBuild: {substituteFrom: [{kind: ConfigMap, name: gone, optional: true}]}\n", None),
        ("", None),
    ],
)
def test_values_of_variables(tmp_path: Path, more: str, expected: object) -> None:
    """What is not here may give any of them a value; without any value, nothing is filled in."""
    files = {"flux.yaml": flux("f", "./apps", more), "apps/a.yaml": service("s", "net", "{a: '${A}', b: '${B}'}")}
    assert _spec(read(tmp_path, files)) == (expected or {"a": "${A}", "b": "${B}"})


def test_values_that_cannot_be_filled_in(tmp_path: Path) -> None:
    """Flux refuses them; here, the rest is filled in."""
    files = {
        "flux.yaml": flux("f", "./apps", "  postBuild: {substitute: {A: '1'}}\n"),
        "apps/a.yaml": service("s", "net", "{a: '${A}', b: '${B%%x}'}"),
    }
    assert _spec(read(tmp_path, files)) == {"a": 1, "b": "${B%%x}"}


def test_in_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is as on a disk, with the names that git has for it."""
    repository = Repository(tmp_path / "repository")
    monkeypatch.chdir(repository.folder)
    for path, text in WORLD.items():
        repository.write(path, text)
    repository.commit()
    snapshot = load_state("HEAD:clusters", options=InputOptions(cluster="east"))
    assert "Kustomization flux-system/shared" in {str(resource.ref) for resource in snapshot.resources}
    snapshot = load_state("HEAD:apps/west")
    assert refs(snapshot) == ["apps/b"]
    assert snapshot.resources[0].origin.source == "HEAD:apps/base/b.yaml"
