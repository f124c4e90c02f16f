"""Where the programs come from: from others, from the cache, or from Go."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.live.binaries import BuildError, programs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the PATH, with no program in it but `nice`; the cache is empty, and there are no assets."""
    folder = tmp_path / "bin"
    folder.mkdir()
    nice = shutil.which("nice")
    assert nice
    (folder / "nice").symlink_to(nice)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return folder


def test_without_go_there_is_nothing(path: Path) -> None:
    """Nothing is run then, and nothing fails."""
    assert [each.name for each in path.iterdir()] == ["nice"]
    assert programs() is None


def test_where_go_fails_everything_fails(path: Path) -> None:
    """What Go says stands on the terminal."""
    (path / "go").write_text("#!/bin/sh\nexit 1\n")
    (path / "go").chmod(0o755)
    with pytest.raises(BuildError, match="failed: go"):
        programs()


def test_assets_of_others_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable of envtest, before what is on the PATH or in the cache; the rest is from there."""
    usual = programs()
    assert usual
    for name in ("kube-apiserver", "etcd"):
        (tmp_path / name).symlink_to(usual.apiserver)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    found = programs()
    assert found
    assert (found.apiserver, found.etcd) == (tmp_path / "kube-apiserver", tmp_path / "etcd")
    assert (found.kubectl, found.definitions) == (usual.kubectl, usual.definitions)
