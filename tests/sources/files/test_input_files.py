"""Which files are meant, and the text in them."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.sources.files import decoding, tree
from kubectl_policy.sources.files.disk import Disk, read_stdin
from kubectl_policy.sources.files.exclusion import Exclusions
from kubectl_policy.sources.files.input_files import InputFile, find_files
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.text import DocumentError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = "b.yaml a.yml c.json notes.md .hidden.yaml .git/e.yaml sub/d.yaml sub/deep/f.yaml sub/Kustomization"
    for name in (*names.split(), "sub/kustomization"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def _find(*paths: str | Path) -> list[InputFile]:
    return find_files(paths, Exclusions(), Disk())


def _names(folder: Path, *paths: str) -> list[str]:
    files = _find(*(folder / path for path in paths))
    assert not any(file.problem for file in files)
    return [Path(file.path).relative_to(folder).as_posix() for file in files]


def _deny(monkeypatch: pytest.MonkeyPatch, denied: Path) -> None:
    """Take away the permission to list a folder, from a superuser as well."""
    iterdir, scandir = Path.iterdir, os.scandir

    def listed(path: Path) -> Iterator[Path]:
        if path == denied:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return iterdir(path)

    def scanned(path: str) -> object:
        if path == str(denied):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scanned)
    monkeypatch.setattr(Path, "iterdir", listed)


@pytest.mark.parametrize(
    "path", ["missing", "missing.yaml", "missing/*.yaml", "**/*.toml", "a.yml/x", "nul\0", "x" * 300]
)
def test_a_path_that_names_nothing(folder: Path, path: str) -> None:
    with pytest.raises(SourceError) as caught:
        _find(str(folder / path))
    assert caught.value.hint


def test_a_folder_without_manifests(folder: Path) -> None:
    """Probably the wrong one, even if another one has some."""
    (folder / "empty").mkdir()
    with pytest.raises(SourceError, match="it contains no manifests"):
        _find(folder, folder / "empty")


def test_a_folder_that_may_not_be_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named, it is an error; inside of another one, a problem of its own."""
    _deny(monkeypatch, folder / "sub")
    with pytest.raises(SourceError, match="Permission denied"):
        _find(folder / "sub")
    assert [file for file in _find(folder) if file.problem] == [
        InputFile(str(folder / "sub"), "cannot be read: Permission denied", str(folder))
    ]


def test_a_named_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def access(path: str, _: int) -> bool:
        return not path.endswith("b.yaml")

    monkeypatch.setattr(os, "access", access)
    with pytest.raises(SourceError, match=r"b\.yaml: cannot be read: Permission denied"):
        _find(folder / "a.yml", folder / "b.yaml")


def test_links_to_nothing(folder: Path) -> None:
    """Only one that looks like a manifest is missed."""
    (folder / "gone.yaml").symlink_to("nowhere")
    (folder / "gone").symlink_to("nowhere")
    (folder / "itself").symlink_to("itself")
    found = {Path(file.path).name: file.problem for file in _find(folder) if file.problem}
    assert found.keys() == {"gone.yaml", "itself"}
    assert "No such file" in found["gone.yaml"]


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("sub", "sub"),
        ("./sub/", "sub"),
        (".", "."),
        ("sub/deep/..", "sub/deep/.."),
        ("sub/**/f.*", "sub"),
        ("s*", "."),
        ("sub/d.yaml", ""),
    ],
)
def test_the_folder_that_was_searched(folder: Path, monkeypatch: pytest.MonkeyPatch, path: str, root: str) -> None:
    """Of a pattern, it is the folder above the first part that is one; a file that is named itself has none."""
    monkeypatch.chdir(folder)
    assert {file.root for file in _find(path)} == {root}
    assert {file.root for file in _find(f"{folder}/*/d.yaml")} == {str(folder)}


@pytest.mark.parametrize(
    "pattern", ["**/*.yaml", "s*/**/*.yaml", "**/**/d.yaml", "**/up/**/*.yaml", "*/*/*/*/*/b.yaml"]
)
def test_patterns_where_a_link_leads_back(folder: Path, pattern: str) -> None:
    """There is an end to it: `**` looks into each folder once."""
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "sub" / "self").symlink_to(folder / "sub")
    found = {os.path.realpath(folder / name) for name in _names(folder, pattern)}
    on_disk = {str(folder / name) for name in ("b.yaml", "sub/d.yaml", "sub/deep/f.yaml")}
    assert found <= on_disk
    assert found


def test_long_patterns_end(folder: Path) -> None:
    """However many parts there are, and however many ways lead to one folder."""
    for number in range(20):
        (folder / f"x{number}").mkdir()
    assert len(_names(folder, "sub/../" * 300 + "b*.yaml")) == 1
    assert len(_names(folder, "./" * 1500 + "b*.yaml")) == 1
    assert _names(folder, "**/" * 500 + "d.yaml") == ["sub/d.yaml"]


@pytest.mark.parametrize("pattern", ["**/*.yaml", "*/*.yaml", "s*/deep/*.yaml", "**/d*/f.yaml", "**"])
def test_a_pattern_says_which_folders_may_not_be_listed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """There may be manifests in them."""
    closed = folder / "sub" / "deep" if "deep" in pattern else folder / "sub"
    _deny(monkeypatch, closed)
    files = _find(folder / pattern)
    assert [(file.path, file.problem) for file in files if file.problem] == [
        (str(closed), "cannot be read: Permission denied")
    ]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        ([""], ["a.yml", "b.yaml", "c.json", "sub/Kustomization", "sub/d.yaml", "sub/deep/f.yaml"]),
        ([".git"], [".git/e.yaml"]),
        # Named files may have any name, and count once.
        (["notes.md", ".hidden.yaml"], ["notes.md", ".hidden.yaml"]),
        (
            ["sub/deep", "sub/deep/f.yaml", "sub/../b.yaml", "b.yaml", "./sub/deep"],
            ["sub/deep/f.yaml", "sub/../b.yaml"],
        ),
        (["**/d.yaml", "*.yml", "sub/../b*"], ["sub/d.yaml", "a.yml", "sub/../b.yaml"]),
        (["*.yaml"], ["b.yaml"]),
        (["**/*.yaml"], ["b.yaml", "sub/d.yaml", "sub/deep/f.yaml"]),
        (["s*"], ["sub/Kustomization", "sub/d.yaml", "sub/deep/f.yaml"]),
        (["**"], ["a.yml", "b.yaml", "c.json", "sub/Kustomization", "sub/d.yaml", "sub/deep/f.yaml"]),
        (["[ab].y*ml"], ["a.yml", "b.yaml"]),
        ([".*.yaml"], [".hidden.yaml"]),
        (["?.yaml"], ["b.yaml"]),
        (["**/deep/**"], ["sub/deep/f.yaml"]),
        (["sub//d*"], ["sub/d.yaml", "sub/deep/f.yaml"]),
        ([".g*/*"], [".git/e.yaml"]),
    ],
)
def test_what_is_meant(folder: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], found: list[str]) -> None:
    """Folders in alphabetical order; patterns as a shell takes them; what is hidden only if it is named or shown."""
    assert _names(folder, *paths) == found
    monkeypatch.chdir(folder)
    assert [file.path for file in _find(*(path or "." for path in paths))] == found


def test_a_file_may_be_called_like_a_pattern(folder: Path) -> None:
    (folder / "[x].yaml").touch()
    assert _names(folder, "[x].yaml") == ["[x].yaml"]


@pytest.mark.parametrize("around", ["/", "..", "../.."])
def test_a_link_to_a_folder_around_the_searched_one(folder: Path, around: str) -> None:
    """It was not asked for, and may be the whole disk: a problem, and the rest is read."""
    searched = folder / "sub"
    (searched / "deep" / "up").symlink_to(os.path.normpath(searched / around))
    found = {os.path.relpath(file.path, searched): file.problem for file in _find(str(searched))}
    problem = found.pop("deep/up")
    assert problem.startswith("cannot be read: a link to a folder around the one that is searched")
    assert found == {"d.yaml": "", "deep/f.yaml": "", "Kustomization": ""}


def test_links_in_circles(folder: Path) -> None:
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "z").symlink_to(folder / "sub")
    assert _names(folder, "") == ["a.yml", "b.yaml", "c.json", "sub/Kustomization", "sub/d.yaml", "sub/deep/f.yaml"]


def test_pipes_are_not_waited_for(folder: Path) -> None:
    """Opening one would block."""
    os.mkfifo(folder / "pipe.yaml")
    assert "pipe.yaml" not in _names(folder, "")


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"\x7fELF\0", 1), (b"a: 1\nb: \xff\xfe", 2), (b"a: 1\n\nb: \0", 3), (b"\xff\xfea", 1), (b"a: \xed\xa0\x80", 1)],
)
def test_what_is_no_text(tmp_path: Path, data: bytes, line: int) -> None:
    (tmp_path / "a.yaml").write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        Disk().text(str(tmp_path / "a.yaml"))
    assert (caught.value.problem.reason, caught.value.problem.line) == ("not-text", line)


def test_a_file_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_FILE_SIZE", 3)
    monkeypatch.setattr(decoding, "MAX_FILE_SIZE", 3)
    (tmp_path / "a.yaml").write_text("a: 1")
    with pytest.raises(DocumentError) as caught:
        Disk().text(str(tmp_path / "a.yaml"))
    assert caught.value.problem.reason == "too-large"


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**16 + 1, 2**20])
def test_texts_of_any_size(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.yaml").write_text("x" * size)
    assert Disk().text(str(tmp_path / "a.yaml")) == "x" * size


@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"", "utf-8"), (b"", "utf-8-sig"), (b"", "utf-16"), (b"\xfe\xff", "utf-16-be")]
)
def test_text(tmp_path: Path, mark: bytes, encoding: str) -> None:
    (tmp_path / "a.yaml").write_bytes(mark + "a: é\n".encode(encoding))
    assert Disk().text(str(tmp_path / "a.yaml")) == "a: é\n"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes or text; the process's own unless another one is given."""
    assert _find("-", "-") == [InputFile(STDIN)]
    assert read_stdin(io.BytesIO(b"a: 1")) == "a: 1"
    assert read_stdin(io.StringIO("a: é")) == "a: é"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"b: 2")))
    assert read_stdin(None) == "b: 2"
    with pytest.raises(DocumentError):
        read_stdin(io.StringIO("\ud800"))
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="standard input is closed"):
        read_stdin(None)
