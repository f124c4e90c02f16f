"""Kustomize and Helm for tests: what is kept, and what is said where they cannot be built."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.renderers import RENDERERS, add_to_path, build


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the PATH, with `nice` and a shell; nothing is kept."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("nice", "mkdir", "touch"):
        (folder / name).symlink_to(shutil.which(name) or pytest.skip(f"{name} is not installed"))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def _write_go(folder: Path, script: str) -> None:
    (folder / "go").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "go").chmod(0o755)


def test_a_program_is_built_and_found(path: Path) -> None:
    """After the programs that are installed."""
    kustomize = RENDERERS[0]
    _write_go(path, '[ "$1" = install ] && mkdir -p "$GOBIN" && touch "$GOBIN/kustomize"')
    assert build(kustomize) == ""
    add_to_path()
    assert os.environ["PATH"] == f"{path}{os.pathsep}{kustomize.folder}"
    assert [file.name for file in kustomize.folder.parent.iterdir()] == [kustomize.folder.name]


def test_without_go(path: Path) -> None:
    assert not (path / "go").exists()
    assert build(RENDERERS[0]) == "no kustomize, and no Go to build it"


def test_where_go_fails(path: Path) -> None:
    _write_go(path, "exit 1")
    assert build(RENDERERS[1]) == "failed: go install helm.sh/helm/v4/cmd/helm@v4.3.1"
    before = os.environ["PATH"]
    add_to_path()
    assert os.environ["PATH"] == before
