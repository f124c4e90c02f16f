"""Programs that render: how they are run, and what they may not do or print."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.sources.files.disk import RepositoriesOnDisk
from kubectl_policy.sources.rendering import programs, work
from kubectl_policy.sources.rendering.programs import (
    Copy,
    CopyError,
    Job,
    ProgramOutput,
    complaint_in,
    environment,
    run_all,
)
from tests.sources.rendering.trees import SERVICE, kubectl, program, refs, rendered, write

if TYPE_CHECKING:
    from collections.abc import Generator


def _run(folder: Path, *scripts: str, limit: float = 20.0, at_once: int = 0) -> list[tuple[int, ProgramOutput]]:
    jobs = [Job(command=("/bin/sh", "-c", script), folder=folder) for script in scripts]
    return sorted(run_all(jobs, folder, limit=limit, at_once=at_once), key=lambda each: each[0])


def _is_still(beat: Path) -> bool:
    """Whether nobody writes to a file any more."""
    time.sleep(0.1)
    size = beat.stat().st_size
    time.sleep(0.2)
    return 0 < size == beat.stat().st_size


def test_what_a_program_prints(tmp_path: Path) -> None:
    """By the number of the job, however many run at once."""
    ran = _run(tmp_path, *(f"echo {number}" for number in range(9)), at_once=3)
    assert ran == [(number, ProgramOutput(out=f"{number}\n")) for number in range(9)]


def test_a_program_that_fails(tmp_path: Path) -> None:
    """Says why on standard error; if it says nothing, its code is all that is known."""
    ran = _run(tmp_path, "echo 'Error: no such file' >&2; exit 1", "exit 7")
    assert [each.complaint for _, each in ran] == ["no such file", "it ended with code 7, and did not say why"]


def test_a_program_that_goes_on_for_ever(tmp_path: Path) -> None:
    """Is ended with everything that it started."""
    begun = time.monotonic()
    ((_, ran),) = _run(tmp_path, f"/bin/sh -c 'while :; do echo >> {tmp_path}/beat; done' & wait", limit=0.5)
    assert ran.complaint == "it took more than 0.5 seconds"
    assert time.monotonic() - begun < 10
    assert _is_still(tmp_path / "beat")


def test_a_program_that_prints_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is ended; what it printed is of no use."""
    monkeypatch.setattr(programs, "MAX_OUTPUT", 2**20)
    ((_, ran),) = _run(tmp_path, "while :; do echo 0123456789012345678901234567890123456789; done")
    assert ran == ProgramOutput(complaint="it printed more than 1 MiB")


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """Is a complaint as any other."""
    ((_, ran),) = run_all([Job(command=("/nowhere/helm",), folder=tmp_path)], tmp_path)
    assert ran.complaint == "/nowhere/helm cannot be run: No such file or directory"


def test_nobody_asks_for_more(tmp_path: Path) -> None:
    """Then what still runs is ended, as by an interrupt."""
    scripts = [f"while :; do echo >> {tmp_path}/beat; done", f"until [ -s {tmp_path}/beat ]; do :; done"]
    jobs = [Job(command=("/bin/sh", "-c", script), folder=tmp_path) for script in scripts]
    running = run_all(jobs, tmp_path, at_once=2)
    assert next(running)[0] == 1
    cast("Generator[object]", running).close()
    assert _is_still(tmp_path / "beat")


def test_what_a_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's environment: no PATH, no kubeconfig, no home; and every proxy leads nowhere."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    told = environment(tmp_path)
    assert "AWS_SECRET_ACCESS_KEY" not in told
    own = ("PATH", "HOME", "HELM_PLUGINS", "XDG_CONFIG_HOME", "TMPDIR")
    assert {told[name] for name in own} == {str(tmp_path)}
    assert not Path(told["KUBECONFIG"]).exists()
    assert {told[name] for name in ("HTTP_PROXY", "https_proxy", "ALL_PROXY")} == {"http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", ""),
        ("# Warning: 'bases' is deprecated\n\nerror: no such file\nmore", "no such file"),
        ('E1122 12:27:27.777968   18879 run.go:72] "command failed" err="no \\"x\\""', 'no "x"'),
        ('E1122 12:27:27.777968   18879 run.go:72] "command failed" err=<\n\tno patch:\n\tx: 1\n >', "no patch: x: 1"),
        ("WARNING: Kubernetes configuration file is group-readable\nError: chart not found", "chart not found"),
        ("2026/01/01 10:00:00 Starlark failed to allocate 4GB\nError: chart not found", "chart not found"),
        ("x" * 1000, "x" * 400 + "…"),
        ("# only\n# comments", ""),
    ],
)
def test_what_is_taken_from_complaints(text: str, complaint: str) -> None:
    """The line of an error, or the first one that says something, without what programs write around it."""
    assert complaint_in(text) == complaint


FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: flux-system}
spec: {path: %s, sourceRef: {kind: GitRepository, name: r}, targetNamespace: x%s}
---
"""


def _complaints(folder: Path) -> list[str]:
    return [diagnostic.message for diagnostic in rendered(folder).diagnostics if diagnostic.rule == "not-rendered"]


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


def test_output_that_is_no_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no YAML costs nothing else that it printed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, "kubectl", f"echo 'a: ['; echo ---; echo '{SERVICE % 'a'}'; echo ---; echo text")
    write(tmp_path, {"t/kustomization.yaml": "namespace: x"})
    snapshot = rendered(tmp_path / "t")
    assert [resource.ref.name for resource in snapshot.resources] == ["a"]
    assert len([diagnostic for diagnostic in snapshot.diagnostics if diagnostic.rule == "not-rendered"]) == 1


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
