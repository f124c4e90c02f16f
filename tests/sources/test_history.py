"""The states of manifests in git after each commit, and the authors of their lines."""

from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model import Origin
from kubectl_policy.model.authorship import NOT_COMMITTED, Authorship
from kubectl_policy.sources import InputOptions
from kubectl_policy.sources.files.git import time_of
from kubectl_policy.sources.history import Authors, State, states
from tests.repository import CM, Repository


def names(state: State) -> list[str] | None:
    """The objects of a state; None if there was nothing."""
    return [resource.ref.name for resource in state.snapshot.resources] if state.snapshot else None


def test_the_commits_that_changed_manifests(empty_repository: Repository) -> None:
    """Newest first, after what is on disk; others do not count, nor do changes elsewhere."""
    empty_repository.write("in/a.yaml", CM % "a")
    first = empty_repository.commit()
    empty_repository.write("other.yaml", CM % "other")
    empty_repository.commit()
    empty_repository.write("in/b.yaml", CM % "b")
    second = empty_repository.commit()
    empty_repository.write("in/c.yaml", CM % "c")
    states_found = list(states(["in"]))
    assert [(each.commit and each.commit.id, names(each)) for each in states_found] == [
        (None, ["a", "b", "c"]),
        (second, ["a", "b"]),
        (first, ["a"]),
    ]
    assert [(each.is_first, each.is_cut, each.total) for each in states_found] == [
        (False, False, 3),
        (False, False, 3),
        (True, False, 3),
    ]
    assert [resource.ref.name for resource in next(states(["."])).snapshot.resources] == ["a", "b", "c", "other"]  # type: ignore[union-attr]


def test_what_differs_in_no_manifest_is_read_once(empty_repository: Repository) -> None:
    empty_repository.write("in/a.yaml", CM % "a")
    empty_repository.commit()
    empty_repository.write("in/README.md", "about it")
    empty_repository.commit()
    _, second, first = states(["in"])
    assert second.snapshot is first.snapshot


def test_nothing_was_there(empty_repository: Repository) -> None:
    """The folder held no manifest then, or not that file; or what it held was broken."""
    empty_repository.write("in/README.md", "about it")
    empty_repository.commit()
    empty_repository.write("in/a.yaml", "a: [")
    empty_repository.commit()
    empty_repository.write("in/a.yaml", CM % "a")
    empty_repository.commit()
    assert [names(state) for state in states(["in/a.yaml"])] == [["a"], ["a"], None]
    assert [names(state) for state in states(["in"])] == [["a"], ["a"], None, None]


def test_a_merge_counts_when_it_was_merged(empty_repository: Repository) -> None:
    """Commits on the other branch are part of it."""
    empty_repository.write("a.yaml", CM % "a")
    first = empty_repository.commit()
    empty_repository.git("checkout", "--quiet", "-b", "side")
    empty_repository.write("b.yaml", CM % "b")
    empty_repository.commit()
    empty_repository.git("checkout", "--quiet", "main")
    empty_repository.git("merge", "--quiet", "--no-ff", "--message=Merge it", "side")
    _, merge, before = states(["."])
    assert merge.commit
    assert (merge.commit.subject, names(merge)) == ("Merge it", ["a", "b"])
    assert before.commit
    assert before.commit.id == first


def test_no_commit_yet(empty_repository: Repository) -> None:
    empty_repository.write("a.yaml", CM % "a")
    (only,) = states(["a.yaml"])
    assert (only.commit, only.is_first) == (None, True)


def test_a_shallow_clone(tmp_path: Path, empty_repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        empty_repository.write("a.yaml", CM % name)
        empty_repository.commit()
    Repository(tmp_path / "host").git("clone", "--quiet", "--depth=1", f"file://{empty_repository.folder}", "clone")
    monkeypatch.chdir(tmp_path / "host/clone")
    assert [(state.is_first, state.is_cut) for state in states(["."])] == [(False, False), (False, True)]


@pytest.mark.usefixtures("empty_repository")
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
    with pytest.raises(SourceError, match="no history can be read here: not a git repository"):
        next(states(["outside.yaml"]))


def test_what_a_commit_says(empty_repository: Repository) -> None:
    empty_repository.write("a.yaml", CM % "a")
    empty_repository.git("add", ".")
    message = b"Do it \xff \x1b[2J\n\nat length"
    (empty_repository.folder / "message").write_bytes(message)
    author = ("--author=A B <a@b>", "--date=@86400 +0130")
    empty_repository.git("commit", "--quiet", *author, "--file=message", "--cleanup=verbatim")
    _, state = states(["."])
    assert state.commit
    found = (state.commit.author, state.commit.when, state.commit.subject)
    assert found == ("A B", "1970-01-02T01:30:00+01:30", "Do it ÿ \x1b[2J")


@pytest.mark.parametrize(
    ("date", "when"),
    [("0 -0130", "1969-12-31T22:30:00-01:30"), ("99999999999999999999 +0000", ""), ("1 +9999", ""), ("nonsense", "")],
)
def test_when_a_commit_was_made(date: str, when: str) -> None:
    assert time_of(date) == when


TEXT = "kind: A\nspec:\n  x: 1\n  y: 2\n"


@pytest.fixture
def authored(empty_repository: Repository) -> Repository:
    """A repository with two commits, of which the second one changes line 3."""
    empty_repository.write("in/a.yaml", TEXT)
    empty_repository.commit()
    empty_repository.write("in/a.yaml", TEXT.replace("x: 1", "x: 3"))
    author = "--author=Eve \x1b[2J <e@x>"
    empty_repository.git("-c", "user.name=unused", "commit", "--quiet", "--all", "--message=x", author)
    return empty_repository


def ids(authored: Repository) -> tuple[str, str]:
    first, second = reversed(authored.git("rev-list", "HEAD").split())
    return first, second


def test_the_lines_of_a_file(authored: Repository) -> None:
    """With the names, times and commits that git has, from wherever one asks."""
    first, second = ids(authored)
    authors, source = Authors(), str(authored.folder / "in/a.yaml")
    when = "2026-01-01T00:00:00+00:00"
    assert authors.of(Origin(source, 1)) == Authorship(who="Somebody", when=when, commit=first)
    assert authors.of(Origin(source, 3)) == Authorship(who="Eve \x1b[2J", when=when, commit=second)
    assert authors.of(Origin(source, 99)) is None
    assert authors.of(Origin(source)) is None
    assert not authors.complaints


def test_a_line_that_is_not_committed(authored: Repository) -> None:
    """The others keep their authors, though they have moved; so do those with other line ends."""
    first, second = ids(authored)
    authored.write("in/a.yaml", "# new\r\nkind: A\r\nspec:\r\n  x: 3\r\n  y: 9\r\n")
    authors, source = Authors(), str(authored.folder / "in/a.yaml")
    found = [authors.of(Origin(source, line)) for line in range(1, 6)]
    assert [each and each.commit for each in found] == ["", first, first, second, ""]
    assert found[0] == NOT_COMMITTED
    authored.write("in/new.yaml", TEXT)
    assert authors.of(Origin(str(authored.folder / "in/new.yaml"), 1)) == NOT_COMMITTED


def test_a_repository_without_commits(tmp_path: Path, authored: Repository) -> None:
    other = Repository(tmp_path / "other")
    other.write("a.yaml", TEXT)
    assert Authors().of(Origin(str(other.folder / "a.yaml"), 1)) == NOT_COMMITTED
    assert authored.folder != other.folder


def test_a_revision(authored: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ids(authored)
    monkeypatch.chdir(authored.folder / "in")
    authors = Authors()
    found = [authors.of(Origin(f"{name}:in/a.yaml", 3)) for name in ("main", "main~1", "")]
    assert [each and each.commit for each in found] == [second, first, second]


def test_no_repository(tmp_path: Path, authored: Repository) -> None:
    """It is said once, and is no error; nor is standard input, or a file that is gone."""
    (tmp_path / "a.yaml").write_text(TEXT, encoding="utf-8")
    authors, source = Authors(), str(tmp_path / "a.yaml")
    assert authors.of(Origin(source, 1)) is None
    assert authors.of(Origin(source, 2)) is None
    assert authors.of(Origin("<stdin>", 1)) is None
    assert authors.of(Origin(str(authored.folder / "gone.yaml"), 1)) is None
    assert list(authors.complaints)[:2] == [
        f"the authors of {source} are not known: it is in no git repository",
        "what comes from standard input has no known author",
    ]
    assert len(authors.complaints) == 3


def test_authors_in_a_shallow_clone(tmp_path: Path, authored: Repository) -> None:
    Repository(tmp_path / "host").git("clone", "--quiet", "--depth=1", f"file://{authored.folder}", "clone")
    authors = Authors()
    found = authors.of(Origin(str(tmp_path / "host/clone/in/a.yaml"), 1))
    assert found
    assert found.commit == ids(authored)[1]
    assert list(authors.complaints) == ["this is a shallow clone: lines that are older count as its first commit's"]


def test_nothing_of_the_repository_is_run(tmp_path: Path, authored: Repository) -> None:
    """Its configuration may name programs: for texts, for differences, for what is written to it."""
    trap = tmp_path / "trap"
    evil = f"touch {trap}"
    authored.write(".gitattributes", "*.yaml diff=evil filter=evil\n")
    authored.write("in/a.yaml", TEXT)
    for key in ("diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge", "diff.external"):
        authored.git("config", key, evil)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program"):
        authored.git("config", key, evil)
    trap.unlink(missing_ok=True)
    assert Authors().of(Origin(str(authored.folder / "in/a.yaml"), 1))
    assert not trap.exists()


def test_git_gives_up(authored: Repository) -> None:
    """On a damaged repository: nobody is named, and the reason is said."""
    source = str(authored.folder / "in/a.yaml")
    blob = authored.git("rev-parse", "HEAD:in/a.yaml")
    (authored.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    authors = Authors()
    assert authors.of(Origin(source, 1)) is None
    (complaint,) = authors.complaints
    assert complaint.startswith(f"{source}: the authors of its lines are not known: ")
