"""Programs that are installed: their versions, and what they can see of the user's environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubectl_policy.sources.programs.cache import Cache
from kubectl_policy.sources.programs.installed import environment, find_program, version_of
from tests.sources.rendering.trees import program


@pytest.mark.parametrize(
    ("name", "arguments", "printed", "version"),
    [
        ("kustomize", "version", "v5.7.1", "kustomize 5.7.1"),
        ("kustomize", "version", "(devel)", "kustomize"),
        ("helm", "version", 'version.BuildInfo{Version:"v3.18.4", GoVersion:"go1.24.4"}', "helm 3.18.4"),
        ("helm", "version", 'version.BuildInfo{Version:"v4.3", GoVersion:"go1.27"}', "helm 4.3"),
        ("flate", "--version", "flate version v0.6.5", "flate 0.6.5"),
        ("flux", "--version", "flux version 2.7.0-rc.1", "flux 2.7.0-rc.1"),
        (
            "kubectl",
            "version --client",
            "Client Version: v1.32.4\nKustomize Version: v5.5.0",
            "kubectl kustomize 5.5.0",
        ),
        ("kubectl", "version --client", "Client Version: v1.32.4", "kubectl"),
    ],
)
def test_versions(tmp_path: Path, name: str, arguments: str, printed: str, version: str) -> None:
    program(tmp_path, name, f"[ \"$*\" = '{arguments}' ] && echo '{printed}'")
    assert version_of(str(tmp_path / name), tmp_path) == version


def test_a_version_is_asked_for_once(tmp_path: Path) -> None:
    """And again when the program changes."""
    cache = Cache(tmp_path / "cache")
    program(tmp_path, "helm", f"echo >> {tmp_path}/asked; echo v3.18.4")
    path = str(tmp_path / "helm")
    assert [version_of(path, tmp_path, cache) for _ in range(3)] == ["helm 3.18.4"] * 3
    assert (tmp_path / "asked").read_text("utf-8") == "\n"
    program(tmp_path, "helm", "echo v4.3.1")
    assert version_of(path, tmp_path, cache) == "helm 4.3.1"


def test_a_program_that_cannot_be_asked(tmp_path: Path) -> None:
    assert version_of(str(tmp_path / "helm"), tmp_path) == "helm"


def test_programs_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "helm", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (find_program("helm"), find_program("flate")) == (str(tmp_path / "helm"), "")


def test_an_environment_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's: no PATH, no kubeconfig, no home; and every proxy leads nowhere."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    variables = environment(tmp_path, ("/bin/ls",))
    assert "AWS_SECRET_ACCESS_KEY" not in variables
    own = ("PATH", "HOME", "HELM_PLUGINS", "XDG_CONFIG_HOME", "TMPDIR")
    assert {variables[name] for name in own} == {str(tmp_path)}
    assert not Path(variables["KUBECONFIG"]).exists()
    assert {variables[name] for name in ("HTTP_PROXY", "https_proxy", "ALL_PROXY")} == {"http://127.0.0.1:9"}


def test_an_environment_with_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the user, with credentials of registries, but without a cluster to ask."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/config")
    variables = environment(tmp_path, ("/bin/ls",), network=True)
    assert (variables["HOME"], variables["HTTPS_PROXY"]) == ("/home/me", "http://proxy.example")
    assert variables["PATH"] == os.environ["PATH"]
    assert not Path(variables["KUBECONFIG"]).exists()


def test_programs_that_a_program_starts(tmp_path: Path) -> None:
    """They are on its PATH, and those of the system are if it is a script."""
    program(tmp_path, "flux-local", "")
    script = str(tmp_path / "flux-local")
    assert environment(tmp_path, (script,))["PATH"] == "/usr/bin:/bin"
    assert environment(tmp_path, (script, "/opt/helm"))["PATH"] == "/opt:/usr/bin:/bin"
