"""The files of a program: what is gathered, what is too much, and when two sets of files are equal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubectl_policy.sources.files.disk import RepositoriesOnDisk
from kubectl_policy.sources.programs import inputs
from kubectl_policy.sources.programs.inputs import Inputs, InputsError
from tests.sources.rendering.trees import write


def _inputs(folder: Path) -> tuple[Inputs, str]:
    """No files yet of a tree with a folder on disk, and the path of the folder in the tree."""
    tree = RepositoriesOnDisk([str(folder)])
    return Inputs(tree), tree.path_of(str(folder)) or ""


def _all_of(folder: Path) -> Inputs:
    taken, top = _inputs(folder)
    taken.copy_folder(top)
    return taken


def _written(folder: Path) -> dict[str, str]:
    """The files below a folder, by their paths in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in files}


def test_a_folder(tmp_path: Path) -> None:
    """All of it but history."""
    source = write(tmp_path / "t", {"a/x": "1", "b": "2", ".git/HEAD": "3"})
    taken, top = _inputs(source)
    taken.copy_folder(top)
    taken.write_all(tmp_path / "copy")
    assert _written(tmp_path / "copy" / top) == {"a/x": "1", "b": "2"}


def test_nothing_is_written_before_it_is_used(tmp_path: Path) -> None:
    source = write(tmp_path / "t", {"a": "1"})
    taken, top = _inputs(source)
    taken.copy_file(f"{top}/a")
    (source / "a").write_text("changed", "utf-8")
    taken.write_all(tmp_path / "copy")
    assert (tmp_path / "copy" / top / "a").read_text("utf-8") == "1"


def test_a_file_in_the_stead_of_another(tmp_path: Path) -> None:
    """The first one counts."""
    source = write(tmp_path / "t", {"a": "1"})
    taken, top = _inputs(source)
    taken.write(f"{top}/a", "2")
    taken.copy_file(f"{top}/a")
    taken.write(f"{top}/a", "3")
    taken.write_all(tmp_path / "copy")
    assert (tmp_path / "copy" / top / "a").read_text("utf-8") == "2"


def test_content_that_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read again, and must not have changed since."""
    monkeypatch.setattr(inputs, "MAX_BYTES_IN_MEMORY", 3)
    source = write(tmp_path / "t", {"a": "12", "b": "34"})
    taken = _all_of(source)
    taken.write_all(tmp_path / "copy")
    assert sorted(_written(tmp_path / "copy").values()) == ["12", "34"]
    (source / "b").write_text("56", "utf-8")
    with pytest.raises(InputsError, match="b changed while it was read"):
        taken.write_all(tmp_path / "again")


def test_equal_files(tmp_path: Path) -> None:
    """Wherever they are, as long as their paths from the folder around them are equal."""
    files = {"a/x": "1", "a/b/y": "2"}

    def digest(name: str, files: dict[str, str]) -> bytes:
        write(tmp_path / name, files)
        taken, top = _inputs(tmp_path / name)
        taken.copy_folder(f"{top}/a")
        return taken.digest(taken.root(f"{top}/a"))

    first = digest("one", files)
    assert digest("two", {**files, "c": "not taken"}) == first
    assert digest("three", {**files, "a/x": "3"}) != first
    assert digest("four", {"a/z": "1", "a/b/y": "2"}) != first


def test_the_folder_around_all_files(tmp_path: Path) -> None:
    taken, top = _inputs(write(tmp_path / "t", {"a/b/x": "1", "a/c/y": "2"}))
    assert taken.root(f"{top}/a/b") == f"{top}/a/b"
    taken.copy_folder(f"{top}/a")
    assert taken.root(f"{top}/a/b") == f"{top}/a"
    assert taken.root(top) == top
    assert taken.root("") == ""


def test_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files or large ones."""
    source = write(tmp_path / "t", {"a/b/x": "12345", "a/y": "1"})
    monkeypatch.setattr(inputs, "MAX_BYTES", 5)
    with pytest.raises(InputsError, match="more than 200,000 files or 0 MiB are needed"):
        _all_of(source)
    monkeypatch.setattr(inputs, "MAX_BYTES", 50)
    monkeypatch.setattr(inputs, "MAX_FILES", 1)
    with pytest.raises(InputsError, match="more than 1 files"):
        _all_of(source)
    monkeypatch.setattr(inputs, "MAX_FILES", 0)
    with pytest.raises(InputsError, match="more than 0 folders"):
        _all_of(source)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Pipes and links in circles are not there."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    taken = _all_of(tmp_path)
    taken.write_all(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    taken, _ = _inputs(tmp_path)
    taken.write("a\0b", "")
    with pytest.raises(InputsError, match="its files cannot be copied"):
        taken.write_all(tmp_path / "copy")
