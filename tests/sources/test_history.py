"""The states of manifests in git: which commits count, what each left, and what has no history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.sources import InputOptions
from kubectl_policy.sources.files.git import time_of
from kubectl_policy.sources.history import State, states
from tests.repository import CM, Repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(empty_repository: Repository) -> Repository:
    """The repository to which tests commit."""
    return empty_repository


def names(state: State) -> list[str] | None:
    """The objects of a state; None if there was nothing."""
    return [each.ref.name for each in state.snapshot.resources] if state.snapshot else None


def test_the_commits_that_changed_manifests(repository: Repository) -> None:
    """Newest first, after what is on disk; others do not count, nor do changes elsewhere."""
    repository.write("in/a.yaml", CM % "a")
    first = repository.commit()
    repository.write("other.yaml", CM % "other")
    repository.commit()
    repository.write("in/b.yaml", CM % "b")
    second = repository.commit()
    repository.write("in/c.yaml", CM % "c")
    found = list(states(["in"]))
    assert [(each.commit and each.commit.id, names(each)) for each in found] == [
        (None, ["a", "b", "c"]),
        (second, ["a", "b"]),
        (first, ["a"]),
    ]
    assert [(each.is_first, each.is_cut, each.total) for each in found] == [
        (False, False, 3),
        (False, False, 3),
        (True, False, 3),
    ]
    assert [each.ref.name for each in next(states(["."])).snapshot.resources] == ["a", "b", "c", "other"]  # type: ignore[union-attr]


def test_what_differs_in_no_manifest_is_read_once(repository: Repository) -> None:
    """The same value stands for both states."""
    repository.write("in/a.yaml", CM % "a")
    repository.commit()
    repository.write("in/README.md", "about it")
    repository.commit()
    _, second, first = states(["in"])
    assert second.snapshot is first.snapshot


def test_nothing_was_there(repository: Repository) -> None:
    """The folder held no manifest then, or not that file; or what it held was broken."""
    repository.write("in/README.md", "about it")
    repository.commit()
    repository.write("in/a.yaml", "a: [")
    repository.commit()
    repository.write("in/a.yaml", CM % "a")
    repository.commit()
    assert [names(each) for each in states(["in/a.yaml"])] == [["a"], ["a"], None]
    assert [names(each) for each in states(["in"])] == [["a"], ["a"], None, None]


def test_a_merge_counts_when_it_was_merged(repository: Repository) -> None:
    """Commits on the other branch are part of it."""
    repository.write("a.yaml", CM % "a")
    first = repository.commit()
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("b.yaml", CM % "b")
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "--message=Merge it", "side")
    _, merge, before = states(["."])
    assert merge.commit
    assert (merge.commit.subject, names(merge)) == ("Merge it", ["a", "b"])
    assert before.commit
    assert before.commit.id == first


def test_no_commit_yet(repository: Repository) -> None:
    """All there is is on disk."""
    repository.write("a.yaml", CM % "a")
    (only,) = states(["a.yaml"])
    assert (only.commit, only.is_first) == (None, True)


def test_a_shallow_clone(tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was before its first commit is not known."""
    for name in ("a", "b"):
        repository.write("a.yaml", CM % name)
        repository.commit()
    Repository(tmp_path / "host").git("clone", "--quiet", "--depth=1", f"file://{repository.folder}", "clone")
    monkeypatch.chdir(tmp_path / "host/clone")
    assert [(each.is_first, each.is_cut) for each in states(["."])] == [(False, False), (False, True)]


@pytest.mark.usefixtures("repository")
def test_what_has_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input, what is rendered, what is outside of the repository, and where there is none."""
    (tmp_path / "outside.yaml").write_text(CM % "a", encoding="utf-8")
    with pytest.raises(UsageError, match="standard input has no history"):
        next(states(["-"]))
    with pytest.raises(UsageError, match="as they are written"):
        next(states(["."], options=InputOptions(render=True)))
    with pytest.raises(SourceError, match="is not a file or folder in the git repository"):
        next(states([str(tmp_path / "outside.yaml")]))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match="there is no history to be read here: not a git repository"):
        next(states(["outside.yaml"]))


def test_what_a_commit_says(repository: Repository) -> None:
    """Whatever anybody wrote there."""
    repository.write("a.yaml", CM % "a")
    repository.git("add", ".")
    message = b"Do it \xff \x1b[2J\n\nat length"
    (repository.folder / "message").write_bytes(message)
    author = ("--author=A B <a@b>", "--date=@86400 +0130")
    repository.git("commit", "--quiet", *author, "--file=message", "--cleanup=verbatim")
    _, state = states(["."])
    assert state.commit
    found = (state.commit.author, state.commit.when, state.commit.subject)
    assert found == ("A B", "1970-01-02T01:30:00+01:30", "Do it ÿ \x1b[2J")


@pytest.mark.parametrize(
    ("date", "when"),
    [
        ("0 -0130", "1969-12-31T22:30:00-01:30"),
        ("99999999999999999999 +0000", ""),
        ("1 +9999", ""),
        ("nonsense", ""),
    ],
)
def test_when_a_commit_was_made(date: str, when: str) -> None:
    """As it is stored; no time is made up."""
    assert time_of(date) == when
