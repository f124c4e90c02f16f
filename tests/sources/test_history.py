"""The states of manifests in git: which commits count, what each left, and what has no history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.sources import InputOptions
from kubectl_policy.sources.history import State, commit_of, states
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


@pytest.mark.parametrize(
    ("data", "who", "when", "subject"),
    [
        (b"tree x\nauthor A B <a@b> 0 +0130\n\nDo it\n\nat length", "A B", "1970-01-01T01:30:00+01:30", "Do it"),
        (b"author <a@b> 0 -0130\n\n", "", "1969-12-31T22:30:00-01:30", ""),
        (b"author A <> 99999999999999999999 +0000\n\n x \xff", "A", "", "x \ufffd"),
        (b"author A <> 1 +9999\n\n\x1b[2J", "A", "", "\x1b[2J"),
        (b"author nonsense", "", "", ""),
    ],
)
def test_what_a_commit_says(data: bytes, who: str, when: str, subject: str) -> None:
    """Whatever anybody wrote there."""
    found = commit_of("1" * 40, data)
    assert (found.who, found.when, found.subject) == (who, when, subject)
