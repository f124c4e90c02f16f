"""Rendering of trees in which something is wrong, or leads away, or goes on without end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.sources import InputOptions, load_manifests
from kubectl_policy.sources.files.disk import RepositoriesOnDisk
from kubectl_policy.sources.tree import work
from tests.sources.rendering.trees import SERVICE, kubectl, program, refs, rendered, write

if TYPE_CHECKING:
    from pathlib import Path

FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: flux-system}
spec: {path: %s, sourceRef: {kind: GitRepository, name: r}, targetNamespace: x%s}
---
"""


def complaints(folder: Path) -> list[str]:
    """The messages about what could not be rendered in a folder."""
    return [diagnostic.message for diagnostic in rendered(folder).diagnostics if diagnostic.rule == "not-rendered"]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """It is taken for absent: pipes, what does not exist, links in circles."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    tree = RepositoriesOnDisk([str(tmp_path)])
    folder = tree.path_of(str(tmp_path)) or ""
    assert [tree.kind(f"{folder}/{name}") for name in ("pipe", "loop", "none", "a\0b")] == ["", "", "", ""]
    assert tree.names(f"{folder}/none") == []
    assert tree.path_of("<stdin>") is None


def test_names_of_what_lies_beside_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as the input was named: from here, or from the top of the disk."""
    write(tmp_path, {"a/x": "", "b/y": ""})
    monkeypatch.chdir(tmp_path)
    relative, absolute = RepositoriesOnDisk(["a"]), RepositoriesOnDisk([str(tmp_path / "a")])
    assert [relative.source(relative.path_of(name) or "") for name in ("a/x", "b/y")] == ["a/x", "b/y"]
    assert absolute.source(absolute.path_of("b/y") or "") == f"{tmp_path}/b/y"


@pytest.mark.parametrize(
    "resources", ["[/etc/hostname, a.yaml]", "[../../../../../../../../../etc/hostname, a.yaml]", "[/, a.yaml]"]
)
@kubectl
def test_paths_that_lead_away(tmp_path: Path, resources: str) -> None:
    """Nothing of what they name is copied, and Kustomize says what is wrong."""
    kustomization = f"namePrefix: p-\nresources: {resources}"
    write(tmp_path, {".git/HEAD": "", "kustomization.yaml": kustomization, "a.yaml": SERVICE % "a"})
    assert len(complaints(tmp_path)) == 1
    flux = {"f/f.yaml": FLUX % ("f", "./app", ""), "app/kustomization.yaml": kustomization}
    write(tmp_path / "other", {".git/HEAD": "", **flux, "app/a.yaml": SERVICE % "a"})
    assert len(complaints(tmp_path / "other")) == 1


@kubectl
def test_charts_of_a_kustomization(tmp_path: Path) -> None:
    """Those that are not here are not made: Kustomize would run Helm, which would fetch them."""
    charts = "helmGlobals: {chartHome: c}\nhelmCharts: [{name: echo, repo: https://charts.example, namespace: post}]\n"
    write(tmp_path, {"kustomization.yaml": f"resources: [a.yaml]\n{charts}", "a.yaml": SERVICE % "a"})
    (gap,) = rendered(tmp_path).gaps
    reason = f"{tmp_path}/kustomization.yaml may create objects of chart echo in namespace post"
    assert (gap.namespace, gap.reason) == ("post", reason)


@kubectl
def test_what_flux_refuses(tmp_path: Path) -> None:
    """A variable that is none: nothing of that Kustomization is applied."""
    more = ", postBuild: {substitute: {A: a}}, images: [{name: i, newTag: v2}]"
    write(tmp_path, {"f/f.yaml": FLUX % ("f", "./app", more), "app/a.yaml": SERVICE % "a${A-B}"})
    (complaint,) = complaints(tmp_path)
    assert complaint.startswith("Kustomization flux-system/f could not be rendered: ")


def test_output_that_is_no_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no YAML costs nothing else that a program printed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, "kubectl", f"echo 'a: ['; echo ---; echo '{SERVICE % 'a'}'; echo ---; echo text")
    write(tmp_path, {"t/kustomization.yaml": "namePrefix: p-"})
    assert [resource.ref.name for resource in rendered(tmp_path / "t").resources] == ["a"]
    assert len(complaints(tmp_path / "t")) == 1


@pytest.mark.parametrize("render", [False, True])
def test_roots_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, render: bool) -> None:
    """They are counted, and too many of them are an error."""
    monkeypatch.setattr(work, "MAX_ROOTS", 1)
    apps = "".join(
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\n"
        f"spec: {{source: {{path: {path}}}, destination: {{namespace: x}}}}\n---\n"
        for name, path in (("a", "apps"), ("b", "other"))
    )
    write(tmp_path, {"apps/apps.yaml": apps, "other/a.yaml": SERVICE % "a"})
    with pytest.raises(SourceError, match="more than 1 folders and charts to render"):
        load_manifests([tmp_path], options=InputOptions(render=render))


@pytest.mark.parametrize("render", [False, True])
def test_values_that_come_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, render: bool) -> None:
    """A Kustomization waits for the ConfigMap that another one makes, wherever it stands in the file."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "kubectl", '[ "$1" = kustomize ] && /bin/cat "$3"/a.yaml')
    more = ", postBuild: {substituteFrom: [{kind: ConfigMap, name: made}]}"
    tree = write(
        tmp_path / "t",
        {
            "f/a.yaml": FLUX % ("app", "./app", more) + FLUX % ("made", "./made", ""),
            "app/kustomization.yaml": "resources: [a.yaml]\ncommonAnnotations: {a: b}",
            "app/a.yaml": SERVICE % "a-${SIZE}",
            "made/a.yaml": (
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: flux-system}\ndata: {SIZE: big}\n"
            ),
        },
    )
    snapshot = load_manifests([tree], options=InputOptions(render=render))
    assert "Service x/a-big" in refs(snapshot)
