"""The cache of results: what is kept, for whom, for how long, and what is not taken from it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from kubectl_policy.sources.programs.cache import Cache, cache_folder


class _Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_data_are_kept(tmp_path: Path) -> None:
    """In the next process as well, and for nobody else to read."""
    Cache(tmp_path / "c").put("k", b"data")
    assert Cache(tmp_path / "c").get("k") == b"data"
    assert Cache(tmp_path / "c").get("other") is None
    assert (_mode(tmp_path / "c"), _mode(tmp_path / "c" / "k")) == (0o700, 0o600)
    assert _names(tmp_path / "c") == ["k"]


def test_newer_data_replace_older_ones(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("k", b"old")
    cache.put("k", b"new")
    assert cache.get("k") == b"new"


@pytest.mark.parametrize("content", [b"", b"text", b"\x78\x01\x00"], ids=["empty", "text", "half"])
def test_a_broken_file(tmp_path: Path, content: bytes) -> None:
    """It is not taken, and replaced by the next result."""
    (tmp_path / "k").write_bytes(content)
    cache = Cache(tmp_path)
    assert cache.get("k") is None
    cache.put("k", b"data")
    assert cache.get("k") == b"data"


def test_a_file_cut_short(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("k", os.urandom(1000))
    (tmp_path / "k").write_bytes((tmp_path / "k").read_bytes()[:-1])
    assert cache.get("k") is None


def test_files_that_others_may_have_written(tmp_path: Path) -> None:
    """A file that a group may write, a link, a folder and a pipe."""
    cache = Cache(tmp_path)
    cache.put("k", b"data")
    (tmp_path / "link").symlink_to("k")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert [cache.get(key) for key in ("link", "folder", "pipe")] == [None, None, None]
    (tmp_path / "k").chmod(0o620)
    assert cache.get("k") is None


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    """Down to three quarters of the bound; a use counts by the hour."""
    clock = _Clock()
    cache = Cache(tmp_path, max_bytes=10_000, clock=clock)
    for key in "abcd":
        clock.now += 10_000
        cache.put(key, os.urandom(2_400))
    clock.now += 10_000
    assert cache.get("a") is not None
    clock.now += 10_000
    cache.put("e", os.urandom(2_400))
    assert _names(tmp_path) == ["a", "d", "e"]


def test_sizes_of_earlier_processes_count(tmp_path: Path) -> None:
    Cache(tmp_path).put("a", os.urandom(2_000))
    os.utime(tmp_path / "a", (1, 1))
    Cache(tmp_path, max_bytes=3_000).put("b", os.urandom(2_000))
    assert _names(tmp_path) == ["b"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Is no error, and nothing is kept."""
    (tmp_path / "file").write_text("", "utf-8")
    cache = Cache(tmp_path / "file" / "c")
    cache.put("k", b"data")
    assert cache.get("k") is None


def test_no_part_is_left_when_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "k").mkdir()
    Cache(tmp_path).put("k", b"data")
    assert _names(tmp_path) == ["k"]


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, "/home/me/.cache/kubectl-policy/rendered"),
        ("linux", {"XDG_CACHE_HOME": "/c"}, "/c/kubectl-policy/rendered"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ""),
        ("darwin", {}, "/home/me/Library/Caches/kubectl-policy/rendered"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/kubectl-policy/rendered"),
    ],
)
def test_the_folder_among_the_users_caches(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], folder: str
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert str(cache_folder() or "") == folder
