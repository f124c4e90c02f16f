"""What is left out of folders that are searched."""

import os
import time
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model.snapshot import LeftOut, Origin
from kubectl_policy.sources import InputOptions, load_manifests, load_state
from kubectl_policy.sources.files import exclusion
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.files.exclusion import Exclusions
from kubectl_policy.sources.files.input_files import find_files
from tests.repository import CM, Repository

OWN = ".kubectl-policyignore"
FILES = (
    *("a.yaml", "b.yaml", "apps/a.yaml", "apps/dev/a.yaml", "apps/dev/deep/b.yaml"),
    *("apps/prod/a.yaml", "apps/prod/values.yaml", "node_modules/x/a.yaml"),
)


@pytest.fixture(autouse=True)
def repository(empty_repository: Repository) -> Repository:
    """A repository with manifests that are not committed, which is the current directory."""
    for name in FILES:
        empty_repository.write(name, CM % name.replace("/", "-").replace(".", "-"))
    return empty_repository


def _found(*paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [file.path for file in find_files(paths or ["."], Exclusions(exclude), Disk())]


def _left_out(path: str = ".", *exclude: str) -> dict[str, str]:
    exclusions = Exclusions(exclude)
    find_files([path], exclusions, Disk())
    return {left_out.origin.source: left_out.subject for left_out in exclusions.left_out}


@pytest.mark.parametrize(
    ("pattern", "missing"),
    [
        ("b.yaml", {"b.yaml", "apps/dev/deep/b.yaml"}),
        ("/b.yaml", {"b.yaml"}),
        ("dev/", {"apps/dev/a.yaml", "apps/dev/deep/b.yaml"}),
        ("dev", {"apps/dev/a.yaml", "apps/dev/deep/b.yaml"}),
        ("a.yaml/", set[str]()),
        ("apps/*/a.yaml", {"apps/dev/a.yaml", "apps/prod/a.yaml"}),
        ("apps/**/b.yaml", {"apps/dev/deep/b.yaml"}),
        ("**/values.yaml", {"apps/prod/values.yaml"}),
        ("apps/pro?/va*s.yaml  ", {"apps/prod/values.yaml"}),
        ("va[l]ues.y\\aml", {"apps/prod/values.yaml"}),
        ("**/deep/*", {"apps/dev/deep/b.yaml"}),
        ("node_modules/x/**", {"node_modules/x/a.yaml"}),
    ],
)
@pytest.mark.parametrize("by", ["option", ".gitignore", OWN])
def test_patterns(repository: Repository, by: str, pattern: str, missing: set[str]) -> None:
    if by != "option":
        repository.write(by, f"{pattern}\n")
    assert set(FILES) - set(_found(exclude=(pattern,) if by == "option" else ())) == missing


IGNORE_FILES: dict[str, str] = {
    ".gitignore": "node_modules/\nvalues*.yaml\n/apps/dev/*\n!/apps/dev/deep\n\\!b.yaml\n[z-a]\n!\nx [a\n",
    "apps/.gitignore": "a.yaml\n",
    "apps/prod/.gitignore": "!a.yaml\n",
    "apps/dev/deep/.gitignore": "*\n!b.yaml\n",
}


@pytest.mark.parametrize("top", [".", "apps", "apps/prod", "apps/dev", "apps/dev/deep"])
def test_what_git_says(repository: Repository, top: str) -> None:
    """Of every file below a folder that is named, as long as it is not ignored itself."""
    for name, text in IGNORE_FILES.items():
        repository.write(name, text)
    below = [name for name in FILES if top == "." or name.startswith(f"{top}/")]
    said = repository.git("check-ignore", *below, fails=top == "apps/dev/deep")
    assert set(below) - set(_found(top)) == set(said.splitlines())


def test_a_named_folder_that_git_ignores(repository: Repository) -> None:
    """Who names it means it: what is above it says nothing of it, and what is in it does."""
    repository.write(".gitignore", "apps/\nb.yaml\n")
    repository.write("apps/dev/.gitignore", "a.yaml\n")
    assert _found("apps/dev") == ["apps/dev/deep/b.yaml"]
    assert _found("apps") == ["apps/a.yaml", "apps/dev/deep/b.yaml", "apps/prod/a.yaml", "apps/prod/values.yaml"]
    assert _found(".") == ["a.yaml", "node_modules/x/a.yaml"]


def test_a_named_file_is_always_read(repository: Repository) -> None:
    repository.write(".gitignore", "*\n")
    assert _found("a.yaml", "apps/dev/a.yaml", exclude=("*",)) == ["a.yaml", "apps/dev/a.yaml"]
    with pytest.raises(SourceError, match="its content is left out") as caught:
        _found(".")
    assert caught.value.hint


def test_patterns_of_files_are_no_names(repository: Repository) -> None:
    """What a pattern finds may be left out, and so may what is on the way."""
    repository.write(".gitignore", "node_modules/\nvalues.yaml\n")
    repository.write("apps/.gitignore", "dev\n")
    assert _found("**/*.yaml") == ["a.yaml", "apps/a.yaml", "apps/prod/a.yaml", "b.yaml"]
    assert _found("apps/*/*") == ["apps/prod/a.yaml"]
    with pytest.raises(SourceError, match="its content is left out"):
        _found("*/x/a.yaml")
    assert _found("apps/../../repository/b*.yaml") == ["apps/../../repository/b.yaml"]


def test_which_of_them_counts(repository: Repository) -> None:
    """The nearer file, then our own, then what is given; each may take back what the others say."""
    repository.write(".gitignore", "a.yaml\nvalues.yaml\n")
    repository.write("apps/.gitignore", "!a.yaml\n")
    assert "apps/a.yaml" in _found()
    repository.write(OWN, "apps/a.yaml\n!/a.yaml\n!values.yaml\n")
    assert {"a.yaml", "apps/prod/values.yaml"} <= set(_found())
    assert "apps/a.yaml" not in _found()
    assert "apps/a.yaml" in _found(exclude=("!apps/a.yaml", "/a.yaml"))
    assert "a.yaml" not in _found(exclude=("!apps/a.yaml", "/a.yaml"))


def test_what_is_left_out_is_told(repository: Repository) -> None:
    """Each file, and each folder without what is in it; only what would have been read."""
    repository.write(".gitignore", "node_modules/\n*.md\n/b.yaml\n")
    repository.write("notes.md", "")
    assert _left_out(".", "dev/", "values.yaml") == {
        "node_modules": "ignored folder",
        "b.yaml": "ignored file",
        "apps/dev": "excluded folder",
        "apps/prod/values.yaml": "excluded file",
    }
    snapshot = load_manifests(["."], options=InputOptions(exclude=("dev/", "values.yaml")))
    assert [str(left_out.origin) for left_out in snapshot.left_out] == [
        "apps/dev",
        "apps/prod/values.yaml",
        "b.yaml",
        "node_modules",
    ]
    assert (snapshot.gaps, snapshot.diagnostics) == ((), ())
    assert snapshot.left_out[2] == LeftOut("ignored file", Origin("b.yaml"))


def test_given_patterns_start_at_each_folder_that_is_searched() -> None:
    assert _found("apps/dev", "apps/prod", exclude=("/a.yaml",)) == ["apps/dev/deep/b.yaml", "apps/prod/values.yaml"]
    assert _found("apps", exclude=("/dev",)) == ["apps/a.yaml", "apps/prod/a.yaml", "apps/prod/values.yaml"]


@pytest.mark.parametrize("pattern", ["!", "/", "", " ", "# x", "[", "\\", "*a*a*a*a", "a" * 2_000, "**/a/**/a/**/a/**"])
def test_what_is_no_pattern(repository: Repository, pattern: str) -> None:
    """Given, it is a mistake; in a file, it says nothing, and the other lines do."""
    with pytest.raises(UsageError, match="is not a file pattern"):
        Exclusions([pattern])
    repository.write(".gitignore", f"{pattern}\nb.yaml\n")
    assert set(FILES) - set(_found()) == {"b.yaml", "apps/dev/deep/b.yaml"}


def test_outside_of_a_repository(tmp_path: Path) -> None:
    """Files above the folder belong to something else."""
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / "plain" / "sub").mkdir(parents=True)
    for name in ("a.yaml", "sub/a.yaml", "sub/b.yaml"):
        (tmp_path / "plain" / name).touch()
    (tmp_path / "plain" / "sub" / ".gitignore").write_text("a.yaml\n")
    (tmp_path / "plain" / ".gitignore").write_bytes(b"\xef\xbb\xbfb.yaml\r\n\xff\xfe\n")
    found = _found(str(tmp_path / "plain"))
    assert [Path(path).relative_to(tmp_path / "plain").as_posix() for path in found] == ["a.yaml"]


def test_links(repository: Repository, tmp_path: Path) -> None:
    """A folder that is named is where it is, and what is in it is called as it was named."""
    repository.write(".gitignore", "/apps/dev/\nlink.yaml\ngone.yaml\n")
    (repository.folder / "apps" / "to").symlink_to("prod")
    (repository.folder / "link.yaml").symlink_to("a.yaml")
    (repository.folder / "apps" / "itself.yaml").symlink_to("itself.yaml")
    (tmp_path / "elsewhere").symlink_to(repository.folder / "apps")
    found = [os.path.relpath(path, tmp_path) for path in _found(str(tmp_path / "elsewhere"))]
    assert found == ["elsewhere/a.yaml", "elsewhere/itself.yaml", "elsewhere/prod/a.yaml", "elsewhere/prod/values.yaml"]
    assert "link.yaml" not in _found(".")


def test_ignore_files_that_are_none(repository: Repository) -> None:
    """Neither a pipe nor a folder nor a link to nothing is waited for."""
    os.mkfifo(repository.folder / ".gitignore")
    (repository.folder / "apps" / ".gitignore").mkdir()
    (repository.folder / "apps" / "dev" / ".gitignore").symlink_to("nowhere")
    assert _found() == sorted(FILES, key=lambda name: name.split("/"))


def test_patterns_that_cannot_match_are_not_compiled(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compiles them takes as long to import as a small question takes to be answered."""

    def compiled(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(exclusion, "_compile", compiled)
    repository.write(".gitignore", "__pycache__/\n*.log\n/dist/**\n!keep.txt\n")
    assert len(_found()) == len(FILES)


def test_large_ignore_files(repository: Repository) -> None:
    repository.write(".gitignore", "*a*b*c\n" * 100_000 + "b.yaml\n")
    started = time.perf_counter()
    assert "b.yaml" in _found()
    assert time.perf_counter() - started < 10


def test_revisions(repository: Repository) -> None:
    """Our own files hold, as they are there; what git ignores is on disk alone."""
    repository.write(OWN, "/b.yaml\nnode_modules/\n")
    repository.write("apps/" + OWN, "dev\n")
    repository.commit()
    repository.write(".gitignore", "*\n")
    repository.write(OWN, "*\n")
    options = InputOptions(exclude=("values.yaml",))
    for operand in ("main:", "main:."):
        snapshot = load_state(operand, options=options)
        assert [resource.origin.source for resource in snapshot.resources] == [
            "main:a.yaml",
            "main:apps/a.yaml",
            "main:apps/prod/a.yaml",
        ]
        assert {(left.subject, str(left.origin)) for left in snapshot.left_out} == {
            ("ignored file", "main:b.yaml"),
            ("ignored folder", "main:node_modules"),
            ("ignored folder", "main:apps/dev"),
            ("excluded file", "main:apps/prod/values.yaml"),
        }
    assert len(load_state("main:apps/dev").resources) == 2
    assert len(load_state("main:b.yaml", options=InputOptions(exclude=("*",))).resources) == 1
    with pytest.raises(SourceError, match="main:apps/dev: its content is left out"):
        load_state("main:apps/dev", options=InputOptions(exclude=("*",)))
