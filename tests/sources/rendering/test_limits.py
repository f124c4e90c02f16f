"""What is too large, too odd or not allowed is said, and stops nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.sources.files.disk import RepositoriesOnDisk
from kubectl_policy.sources.rendering import programs, work
from kubectl_policy.sources.rendering.programs import Copy, CopyError
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


def _complaints(folder: Path) -> list[str]:
    return [found.message for found in rendered(folder).diagnostics if found.rule == "not-rendered"]


def test_too_much_to_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not copied, be it many files or large ones."""
    tree = RepositoriesOnDisk([str(write(tmp_path / "t", {"a/b/x": "12345", "a/y": "1"}))])
    top = tree.path_of(str(tmp_path / "t")) or ""
    monkeypatch.setattr(programs, "MAX_BYTES", 5)
    with pytest.raises(CopyError, match="more than 200,000 files or 0 MiB are needed"):
        Copy(tree, tmp_path / "one").copy_folder(top)
    monkeypatch.setattr(programs, "MAX_BYTES", 50)
    monkeypatch.setattr(programs, "MAX_FILES", 1)
    with pytest.raises(CopyError, match="more than 1 files"):
        Copy(tree, tmp_path / "two").copy_folder(top)
    monkeypatch.setattr(programs, "MAX_FILES", 0)
    with pytest.raises(CopyError, match="more than 0 folders"):
        Copy(tree, tmp_path / "three").copy_folder(top)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """Is not there: pipes, folders, what does not exist, links in circles."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    tree = RepositoriesOnDisk([str(tmp_path)])
    place = tree.path_of(str(tmp_path)) or ""
    assert [tree.kind(f"{place}/{name}") for name in ("pipe", "loop", "none", "a\0b")] == ["", "", "", ""]
    assert tree.names(f"{place}/none") == []
    assert tree.path_of("<stdin>") is None
    copy = Copy(tree, tmp_path / "copy")
    copy.copy_file(f"{place}/pipe")
    assert not (tmp_path / "copy").exists()
    with pytest.raises(CopyError, match="cannot be copied"):
        copy.write("a\0b", "")


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
    write(tmp_path, {".git/HEAD": "", "kustomization.yaml": f"resources: {resources}", "a.yaml": SERVICE % "a"})
    assert len(_complaints(tmp_path)) == 1
    flux = {"f/f.yaml": FLUX % ("f", "./app", ""), "app/kustomization.yaml": f"resources: {resources}"}
    write(tmp_path / "other", {".git/HEAD": "", **flux, "app/a.yaml": SERVICE % "a"})
    assert len(_complaints(tmp_path / "other")) == 1


@kubectl
def test_charts_of_a_kustomization(tmp_path: Path) -> None:
    """Are not made: Kustomize would run Helm, which would fetch them."""
    charts = "helmGlobals: {chartHome: c}\nhelmCharts: [{name: echo, repo: https://charts.example, namespace: n1}]\n"
    write(tmp_path, {"kustomization.yaml": f"resources: [a.yaml]\n{charts}", "a.yaml": SERVICE % "a"})
    (gap,) = rendered(tmp_path).gaps
    assert (gap.namespace, gap.reason) == (
        "n1",
        "chart echo was not fetched, and may create objects in namespace n1",
    )


@kubectl
def test_what_flux_refuses(tmp_path: Path) -> None:
    """A variable that is none: nothing of that Kustomization is applied."""
    more = ", postBuild: {substitute: {A: a}}, images: [{name: i, newTag: v2}]"
    write(tmp_path, {"f/f.yaml": FLUX % ("f", "./app", more), "app/a.yaml": SERVICE % "a${A-B}"})
    (complaint,) = _complaints(tmp_path)
    assert complaint.startswith("Kustomization flux-system/f could not be rendered: ")


def test_what_a_program_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no YAML costs nothing else that it printed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, "kubectl", f"echo 'a: ['; echo ---; echo '{SERVICE % 'a'}'; echo ---; echo text")
    write(tmp_path, {"t/kustomization.yaml": "namespace: x"})
    snapshot = rendered(tmp_path / "t")
    assert [resource.ref.name for resource in snapshot.resources] == ["a"]
    assert len([found for found in snapshot.diagnostics if found.rule == "not-rendered"]) == 1


def test_roots_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are counted, and too many of them are an error."""
    monkeypatch.setattr(work, "MAX_ROOTS", 1)
    apps = "".join(
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\n"
        f"spec: {{source: {{path: {path}}}, destination: {{namespace: x}}}}\n---\n"
        for name, path in (("a", "apps"), ("b", "other"))
    )
    write(tmp_path, {"apps/apps.yaml": apps, "other/a.yaml": SERVICE % "a"})
    with pytest.raises(SourceError, match="more than 1 folders and charts to render"):
        rendered(tmp_path)


def test_values_that_come_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Kustomization waits for the ConfigMap that another one makes, wherever it stands in the file."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin", "kubectl", '/bin/cat "$3"/a.yaml')
    more = ", postBuild: {substituteFrom: [{kind: ConfigMap, name: made}]}"
    tree = write(
        tmp_path / "t",
        {
            "f/a.yaml": FLUX % ("app", "./app", more) + FLUX % ("made", "./made", ""),
            "app/kustomization.yaml": "resources: [a.yaml]",
            "app/a.yaml": SERVICE % "a-${SIZE}",
            "made/a.yaml": (
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: flux-system}\ndata: {SIZE: big}\n"
            ),
        },
    )
    assert "Service x/a-big" in refs(rendered(tree))
