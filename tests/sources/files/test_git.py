"""Git as it is called, and what a word for a state means: nothing is written, fetched or mistaken for an option."""

import io
import os
from contextlib import closing
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.sources import InputOptions, load_input, load_manifests, load_state
from kubectl_policy.sources.files import git
from kubectl_policy.sources.files.git import GitAnswer, Objects, ask, tree_id
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
    assert tree_id(revision) == ""
    with pytest.raises(SourceError, match="there is no such revision in this git repository"):
        load_state(f"{revision}:a.yaml")


@pytest.mark.parametrize("path", [word for word in EVIL if word != "\ud800"])
@pytest.mark.parametrize("revision", ["main", ""])
@pytest.mark.usefixtures("repository")
def test_what_is_no_path(revision: str, path: str) -> None:
    """It is never handed to git, which reads the objects that it is told to by id."""
    with pytest.raises(SourceError, match="there is no such file or folder"):
        load_state(f"{revision}:{path}")


def test_a_revision_is_read_alone(repository: Repository) -> None:
    """A file that is called as one is a file."""
    assert load_input(["main:a.yaml"]).resources[0].ref.name == "a"
    for paths in (["main:", "a.yaml"], ["a.yaml", ":a.yaml"]):
        with pytest.raises(SourceError, match=r"main:|:a\.yaml: a git revision is read alone"):
            load_input(paths)
    with pytest.raises(SourceError, match=r"nope:a\.yaml: there is no such file or folder"):
        load_input(["a.yaml", "nope:a.yaml"])
    repository.write("main:a.yaml", CM % "file")
    assert {resource.ref.name for resource in load_input(["main:a.yaml", "a.yaml"]).resources} == {"a", "file"}


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
    """The words are the operating system's; a failure without any is one all the same."""
    repository.write("git", "#!/nowhere/at/all\n")
    (repository.folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(repository.folder))
    with pytest.raises(SourceError, match=r"git cannot be asked for revisions: .*No such file"):
        load_state("main:a.yaml")
    repository.write("git", "#!/bin/sh\nexit 1\n")
    assert ask("status") == GitAnswer("", "git failed")


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


def test_a_live_cluster(repository: Repository) -> None:
    """It is not read here; a file of that name is a file."""
    with pytest.raises(UsageError, match="live is a cluster, not manifests") as caught:
        load_state("live")
    assert caught.value.hint == "name a file, a folder or REV:PATH in git"
    repository.write("live", CM % "live")
    assert load_state("live").resources[0].ref.name == "live"


@pytest.mark.parametrize("operand", ["main", "HEAD", "@", "HEAD^{tree}", "HEAD^{/x}"])
@pytest.mark.usefixtures("repository")
def test_a_revision_without_a_path(operand: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_state(operand)
    assert caught.value.message == f"{operand}: there is no such file or folder"
    assert caught.value.hint == f"write {operand}:PATH for the files in a git revision"


@pytest.mark.parametrize(
    "operand", ["C:/gone", "C:\\gone", "gone", "gone/a.yaml", "--help", "", "gone*.yaml", "nul\0", "x" * 300, "\ud800"]
)
@pytest.mark.usefixtures("repository")
def test_neither_a_file_nor_a_revision(operand: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_state(operand)
    assert "revision" not in caught.value.message + caught.value.hint


def test_a_file_counts_before_a_revision(repository: Repository) -> None:
    repository.write("main:a.yaml", CM % "file")
    assert load_state("main:a.yaml").resources[0].ref.name == "file"
    repository.write("main", CM % "main")
    assert load_state("main").resources[0].ref.name == "main"


@pytest.mark.usefixtures("repository")
def test_files() -> None:
    """A file, a folder, a pattern and standard input are what they are to `load_manifests`."""
    for operand in ("a.yaml", ".", "*.yaml"):
        assert load_state(operand) == load_manifests([operand]) or [
            (resource.ref, resource.origin) for resource in load_state(operand).resources
        ] == [(resource.ref, resource.origin) for resource in load_manifests([operand]).resources]
    assert load_state("-", stdin=io.StringIO(CM % "b")).resources[0].origin.source == "<stdin>"


@pytest.mark.parametrize("operand", ["a.yaml", "main:a.yaml", "-", "*.yaml"])
@pytest.mark.usefixtures("repository")
def test_options_hold_for_every_state(operand: str) -> None:
    """The namespace of what names none, and whether the world is closed."""
    snapshot = load_state(operand, options=InputOptions(namespace="apps", complete=True), stdin=io.StringIO(CM % "a"))
    assert (snapshot.complete, snapshot.resources[0].ref.namespace) == (True, "apps")
    assert not load_state(operand, stdin=io.StringIO(CM % "a")).complete


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "apiVersion: v1\nkind: List\nitems: []\n"])
def test_an_empty_change(repository: Repository, text: str) -> None:
    """It is no change, and a mistake, wherever it is read from."""
    repository.write("empty.yaml", text)
    repository.commit()
    for operand in ("empty.yaml", "main:empty.yaml"):
        with pytest.raises(SourceError, match="no Kubernetes object in 1 file") as caught:
            load_state(operand)
        assert caught.value.hint
