"""Git as it is called: nothing written, nothing fetched, nothing mistaken for an option."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.sources import load_state
from kubectl_policy.sources.files import git
from kubectl_policy.sources.files.git import GitAnswer, Objects, ask, tree_of
from tests.repository import CM, Repository

EVIL = (
    *("--help", "-h", "--version", "--exec-path=/", "--git-dir=x", "^main"),
    *("main..main", "main\n", "\n", "a\0b", "\ud800"),
)


def _files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder, with when it was changed and its content."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("revision", EVIL)
@pytest.mark.usefixtures("repository")
def test_what_is_no_revision(revision: str) -> None:
    assert tree_of(revision) == ""
    with pytest.raises(SourceError, match="there is no such revision in this git repository"):
        load_state(f"{revision}:a.yaml")


@pytest.mark.parametrize("path", [word for word in EVIL if word != "\ud800"])
@pytest.mark.parametrize("revision", ["main", ""])
@pytest.mark.usefixtures("repository")
def test_what_is_no_path(revision: str, path: str) -> None:
    """It is never handed to git, which reads the objects that it is told to by id."""
    with pytest.raises(SourceError, match="there is no such file or folder"):
        load_state(f"{revision}:{path}")


def test_without_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A revision cannot be read; files can."""
    monkeypatch.setenv("PATH", str(repository.folder))
    with pytest.raises(SourceError, match="git is not installed") as caught:
        load_state("main:a.yaml")
    assert caught.value.hint
    assert load_state("a.yaml").resources
    with pytest.raises(SourceError, match="main: there is no such file or folder"):
        load_state("main")


def test_a_git_that_cannot_be_run(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("git", "#!/nowhere/at/all\n")
    (repository.folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(repository.folder))
    with pytest.raises(SourceError, match=r"git cannot be asked for revisions: .*No such file"):
        load_state("main:a.yaml")


def test_outside_of_a_repository(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may have been a file meant."""
    monkeypatch.chdir(repository.folder.parent)
    for word, wanted in (("main:a.yaml", 'the revision "main"'), (":a.yaml", "the index")):
        with pytest.raises(SourceError, match=f"there is no git repository here to find {wanted} in") as caught:
            load_state(word)
        assert "a file or a folder that exists" in caught.value.hint


@pytest.mark.usefixtures("repository")
def test_a_repository_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(SourceError, match="git cannot be asked for revisions: detected dubious ownership"):
        load_state("main:a.yaml")


def test_a_failure_without_words(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("git", "#!/bin/sh\nexit 1\n")
    (repository.folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(repository.folder))
    assert ask("status") == GitAnswer("", "git failed")


@pytest.mark.parametrize("word", ["main:", ":", "main:a.yaml", "HEAD^{tree}:./"])
def test_nothing_is_written(repository: Repository, word: str) -> None:
    os.utime(repository.folder / "a.yaml", (1, 1))
    before = _files(repository.folder)
    assert load_state(word).resources
    assert _files(repository.folder) == before


def test_nothing_is_run_that_a_repository_names(repository: Repository) -> None:
    """Neither to find out what has changed, nor to convert files, nor to show them."""
    repository.write("evil", '#!/bin/sh\ntouch "$(dirname "$0")/ran"\ncat\n')
    (repository.folder / "evil").chmod(0o755)
    repository.write(".gitattributes", "*.yaml filter=evil diff=evil\n")
    repository.commit()
    evil = str(repository.folder / "evil")
    for name in ("core.fsmonitor", "core.pager", "filter.evil.smudge", "diff.evil.textconv", "core.sshCommand"):
        repository.git("config", name, evil)
    for word in ("main:", ":", "main:./a.yaml"):
        assert load_state(word).resources
    assert not (repository.folder / "ran").exists()


def test_nothing_is_read_in_the_place_of_something_else(repository: Repository) -> None:
    """A revision is what was committed, whatever `git replace` says here."""
    own = repository.git("rev-parse", "main:a.yaml")
    repository.git("replace", own, repository.blob((CM % "other").encode()))
    assert load_state("main:a.yaml").resources[0].ref.name == "a"


def test_what_a_partial_clone_lacks_is_not_fetched(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Reading must not need a network; that something is missing is said."""
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = Repository(tmp_path / "clones")
    source = repository.folder.as_uri()
    clone.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", source, "partial")
    monkeypatch.chdir(clone.folder / "partial")
    before = _files(clone.folder)
    with pytest.raises(SourceError, match=r"main:a\.yaml: cannot be read: ") as caught:
        load_state("main:")
    assert "nothing else could be read" in caught.value.hint
    assert _files(clone.folder) == before


class TestObjects:
    @pytest.mark.usefixtures("repository")
    def test_one_that_is_not_there(self) -> None:
        entry = ask("rev-parse", "main:a.yaml").out
        with closing(Objects()) as objects:
            with pytest.raises(OSError, match="not in this clone"):
                objects.read("0" * 40, 100)
            assert objects.read(entry, 100) == (CM % "a").encode()

    def test_one_that_is_damaged(self, repository: Repository) -> None:
        """Git gives up, and is asked anew for the next one."""
        entry = ask("rev-parse", "main:a.yaml").out
        other = repository.blob(b"b: 1\n" * 100_000)
        damaged = repository.folder / ".git" / "objects" / other[:2] / other[2:]
        damaged.chmod(0o644)
        damaged.write_bytes(damaged.read_bytes()[:200])
        with closing(Objects()) as objects:
            for _ in range(2):
                with pytest.raises(OSError, match=r"git gave up on it|not in this clone"):
                    objects.read(other, 10**6)
            assert objects.read(entry, 100) == (CM % "a").encode()

    def test_one_that_is_too_large(self, repository: Repository) -> None:
        """No more of it is read than it takes to know, and the next one is read from its beginning."""
        entry = ask("rev-parse", "main:a.yaml").out
        large = repository.blob(b"x" * 10_000_000)
        with closing(Objects()) as objects:
            assert objects.read(large, 10) == b"x" * 11
            assert objects.read(entry, len(CM % "a")) == (CM % "a").encode()
            assert objects.read(large, 10_000_000) == b"x" * 10_000_000

    @pytest.mark.usefixtures("repository")
    def test_a_git_that_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(git, "_SETTINGS", ("--no-such-option",))
        with closing(Objects()) as objects, pytest.raises(OSError, match="git gave up on it"):
            objects.read("0" * 40, 10)
