"""Who wrote which line, by git: what is committed, what is not yet, and where git knows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import Origin
from kubectl_policy.model.authorship import NOT_COMMITTED, Authorship
from kubectl_policy.sources.history import Authors
from tests.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "kind: A\nspec:\n  x: 1\n  y: 2\n"


@pytest.fixture
def repository(empty_repository: Repository) -> Repository:
    """A repository with two commits, of which the second one changes line 3."""
    empty_repository.write("in/a.yaml", TEXT)
    empty_repository.commit()
    empty_repository.write("in/a.yaml", TEXT.replace("x: 1", "x: 3"))
    author = "--author=Eve \x1b[2J <e@x>"
    empty_repository.git("-c", "user.name=unused", "commit", "--quiet", "--all", "--message=x", author)
    return empty_repository


def ids(repository: Repository) -> tuple[str, str]:
    """The commits, the first one first."""
    first, second = reversed(repository.git("rev-list", "HEAD").split())
    return first, second


def test_the_lines_of_a_file(repository: Repository) -> None:
    """With the names, times and commits that git has, from wherever one asks."""
    first, second = ids(repository)
    authors, source = Authors(), str(repository.folder / "in/a.yaml")
    when = "2026-01-01T00:00:00+00:00"
    assert authors.of(Origin(source, 1)) == Authorship(who="Somebody", when=when, commit=first)
    assert authors.of(Origin(source, 3)) == Authorship(who="Eve \x1b[2J", when=when, commit=second)
    assert authors.of(Origin(source, 99)) is None
    assert authors.of(Origin(source)) is None
    assert not authors.complaints


def test_a_line_that_is_not_committed(repository: Repository) -> None:
    """The others keep their authors, though they have moved; so do those with other line ends."""
    first, second = ids(repository)
    repository.write("in/a.yaml", "# new\r\nkind: A\r\nspec:\r\n  x: 3\r\n  y: 9\r\n")
    authors, source = Authors(), str(repository.folder / "in/a.yaml")
    found = [authors.of(Origin(source, line)) for line in range(1, 6)]
    assert [each and each.commit for each in found] == ["", first, first, second, ""]
    assert found[0] == NOT_COMMITTED
    repository.write("in/new.yaml", TEXT)
    assert authors.of(Origin(str(repository.folder / "in/new.yaml"), 1)) == NOT_COMMITTED


def test_a_repository_without_commits(tmp_path: Path, repository: Repository) -> None:
    """Nothing is committed there."""
    other = Repository(tmp_path / "other")
    other.write("a.yaml", TEXT)
    assert Authors().of(Origin(str(other.folder / "a.yaml"), 1)) == NOT_COMMITTED
    assert repository.folder != other.folder


def test_a_revision(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was then, and as it is in the index."""
    first, second = ids(repository)
    monkeypatch.chdir(repository.folder / "in")
    authors = Authors()
    found = [authors.of(Origin(f"{name}:in/a.yaml", 3)) for name in ("main", "main~1", "")]
    assert [each and each.commit for each in found] == [second, first, second]


def test_no_repository(tmp_path: Path, repository: Repository) -> None:
    """It is said once, and is no error; nor is standard input, or a file that is gone."""
    (tmp_path / "a.yaml").write_text(TEXT, encoding="utf-8")
    authors, source = Authors(), str(tmp_path / "a.yaml")
    assert authors.of(Origin(source, 1)) is None
    assert authors.of(Origin(source, 2)) is None
    assert authors.of(Origin("<stdin>", 1)) is None
    assert authors.of(Origin(str(repository.folder / "gone.yaml"), 1)) is None
    assert list(authors.complaints)[:2] == [
        f"the authors of {source} are not known: it is in no git repository",
        "what comes from standard input has no known author",
    ]
    assert len(authors.complaints) == 3


def test_a_shallow_clone(tmp_path: Path, repository: Repository) -> None:
    """What is older than its first commit cannot be told apart."""
    Repository(tmp_path / "host").git("clone", "--quiet", "--depth=1", f"file://{repository.folder}", "clone")
    authors = Authors()
    found = authors.of(Origin(str(tmp_path / "host/clone/in/a.yaml"), 1))
    assert found
    assert found.commit == ids(repository)[1]
    assert list(authors.complaints) == ["this is a shallow clone: lines that are older count as its first commit's"]


def test_nothing_of_the_repository_is_run(tmp_path: Path, repository: Repository) -> None:
    """Its configuration may name programs: for texts, for differences, for what is written to it."""
    trap = tmp_path / "trap"
    evil = f"touch {trap}"
    repository.write(".gitattributes", "*.yaml diff=evil filter=evil\n")
    repository.write("in/a.yaml", TEXT)
    for key in ("diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "diff.external"):
        repository.git("config", key, evil)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program"):
        repository.git("config", key, evil)
    trap.unlink(missing_ok=True)
    assert Authors().of(Origin(str(repository.folder / "in/a.yaml"), 1))
    assert not trap.exists()


def test_git_gives_up(repository: Repository) -> None:
    """On a damaged repository: nobody is named, and the reason is said."""
    source = str(repository.folder / "in/a.yaml")
    blob = repository.git("rev-parse", "HEAD:in/a.yaml")
    (repository.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    authors = Authors()
    assert authors.of(Origin(source, 1)) is None
    (complaint,) = authors.complaints
    assert complaint.startswith(f"{source}: the authors of its lines are not known: ")
