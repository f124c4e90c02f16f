"""Which manifests are meant in a revision, and their text."""

import errno
import os
from operator import itemgetter
from pathlib import Path

import pytest

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Origin, Snapshot
from kubectl_policy.sources import load_manifests, load_state, locate
from kubectl_policy.sources.files import decoding
from kubectl_policy.sources.files import tree as trees
from kubectl_policy.sources.files.git import open_revision, revision_and_path
from kubectl_policy.sources.files.input_files import read_stored
from tests.repository import CM, Repository


@pytest.fixture
def repository(empty_repository: Repository) -> Repository:
    """A repository with manifests and other files on branch `main`."""
    names = "b.yaml a.yml c.json .hidden.yaml sub/d.yaml .ci/e.yaml sub/deep/f.yaml sub.yaml"
    for name in names.split():
        empty_repository.write(name, CM % name.replace("/", "-"))
    empty_repository.write("notes.md", CM % "notes")
    empty_repository.write("docs/readme.md", "# nothing\n")
    empty_repository.commit()
    return empty_repository


def _sources(operand: str) -> list[str]:
    snapshot = load_state(operand)
    assert snapshot.diagnostics == ()
    return [resource.origin.source for resource in snapshot.resources]


def _unread(snapshot: Snapshot) -> dict[str, str]:
    """What could not be read, each with the reason; each is a gap, and so unknown."""
    assert [gap.reason for gap in snapshot.gaps] == [diagnostic.message for diagnostic in snapshot.diagnostics]
    return {str(gap.origin): gap.reason for gap in snapshot.gaps}


@pytest.mark.parametrize(
    ("operand", "parts"),
    [
        ("main", None),
        ("", None),
        ("manifests/a.yaml", None),
        ("C:/a.yaml", None),
        ("c:\\a.yaml", None),
        ("HEAD^{/fix: it}", None),
        ("main:a", ("main", "a")),
        ("main:", ("main", "")),
        (":a", ("", "a")),
        ("c:a", ("c", "a")),
        ("main:a:b", ("main", "a:b")),
        ("HEAD^{/fix: it}:a", ("HEAD^{/fix: it}", "a")),
        ("HEAD@{2026-01-01 10:00}:a", ("HEAD@{2026-01-01 10:00}", "a")),
        ("}a:b{:c", ("}a", "b{:c")),
    ],
)
def test_where_a_revision_ends(operand: str, parts: tuple[str, str] | None) -> None:
    assert revision_and_path(operand) == parts


class TestWhatIsMeant:
    @pytest.mark.parametrize(
        ("path", "message"),
        [
            *((path, "^main:") for path in ("gone", "gone.yaml", "a.yml/x", "sub/gone", "nul\0", "*.yaml", "x" * 5000)),
            ("docs", "main:docs: it contains no manifests"),
            *(
                (path, "there is nothing above the root of the repository")
                for path in ("..", "../x", "./../x", "a/../../x")
            ),
        ],
    )
    @pytest.mark.usefixtures("repository")
    def test_nothing(self, path: str, message: str) -> None:
        """There is no answer to that, and there is a hint."""
        with pytest.raises(SourceError, match=message) as caught:
            load_state(f"main:{path}")
        assert caught.value.hint

    @pytest.mark.parametrize("revision", ["main", "HEAD", "@", "main^{tree}", "main^0", ""])
    def test_the_same_as_on_disk(self, repository: Repository, revision: str) -> None:
        """In the same order, and nothing hidden, from any revision and from the index."""
        on_disk = [resource.origin.source for resource in load_manifests([repository.folder]).resources]
        here = [f"{revision}:{os.path.relpath(path, repository.folder)}" for path in on_disk]
        assert len(here) == 6
        assert _sources(f"{revision}:") == here

    @pytest.mark.parametrize(
        ("path", "found"),
        [
            ("sub", ["sub/d.yaml", "sub/deep/f.yaml"]),
            ("sub/", ["sub/d.yaml", "sub/deep/f.yaml"]),
            ("/sub//deep/.", ["sub/deep/f.yaml"]),
            ("sub/../a.yml", ["a.yml"]),
            ("notes.md", ["notes.md"]),
            (".hidden.yaml", [".hidden.yaml"]),
            (".ci", [".ci/e.yaml"]),
        ],
    )
    @pytest.mark.usefixtures("repository")
    def test_a_file_or_a_folder(self, path: str, found: list[str]) -> None:
        assert _sources(f"main:{path}") == [f"main:{name}" for name in found]

    def test_in_a_subdirectory(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path starts at the root all the same, but with `./` or `../`."""
        monkeypatch.chdir(repository.folder / "sub")
        assert _sources("main:sub/d.yaml") == ["main:sub/d.yaml"]
        assert _sources("main:./d.yaml") == ["main:sub/d.yaml"]
        assert _sources("main:.") == ["main:sub/d.yaml", "main:sub/deep/f.yaml"]
        assert _sources("main:../a.yml") == ["main:a.yml"]
        assert len(_sources("main:..")) == len(_sources(":")) == 6
        with pytest.raises(SourceError) as caught:
            load_state("main:d.yaml")
        assert caught.value.hint == "write main:./d.yaml: a path starts at the root of the repository"
        with pytest.raises(SourceError) as caught:
            load_state("main:gone.yaml")
        assert caught.value.hint == "a path starts at the root of the repository, or with ./ at the current directory"

    def test_a_bare_repository(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        """It has no files, and nothing staged."""
        repository.git("clone", "--quiet", "--bare", ".", "../bare")
        monkeypatch.chdir(repository.folder.parent / "bare")
        assert _sources("main:./sub") == ["main:sub/d.yaml", "main:sub/deep/f.yaml"]
        for operand in ("main:gone", ":", ":sub"):
            with pytest.raises(SourceError):
                load_state(operand)

    def test_other_hashes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        made = Repository(tmp_path / "sha256", "--object-format=sha256")
        made.write("sub/a.yaml", CM % "a")
        commit = made.commit()
        monkeypatch.chdir(made.folder)
        assert len(commit) == 64
        assert _sources(f"{commit}:") == [f"{commit}:sub/a.yaml"]

    def test_a_path_that_is_only_on_disk(self, repository: Repository) -> None:
        repository.write("new.yaml", CM % "new")
        with pytest.raises(SourceError, match=r"main:new\.yaml: there is no such file or folder in main") as caught:
            load_state("main:new.yaml")
        assert caught.value.hint == "it is on disk, but not in main: name the file or folder itself, or add it to git"
        with pytest.raises(SourceError, match=r":new\.yaml: there is no such file or folder in the index"):
            load_state(":new.yaml")

    def test_what_is_staged(self, repository: Repository) -> None:
        repository.write("a.yml", CM % "changed")
        repository.write("new/new.yaml", CM % "new")
        repository.git("add", "a.yml", "new")
        repository.write("a.yml", CM % "again")
        assert [resource.ref.name for resource in load_state(":").resources][:3] == ["changed", "b.yaml", "c.json"]
        assert _sources(":new") == [":new/new.yaml"]
        assert load_state(":a.yml").resources[0].ref.name == "changed"
        assert load_state("main:a.yml").resources[0].ref.name == "a.yml"

    def test_an_older_revision(self, repository: Repository) -> None:
        repository.write("a.yml", CM % "changed")
        repository.commit()
        names = [load_state(f"{revision}:a.yml").resources[0].ref.name for revision in ("main", "HEAD~1", "main@{1}")]
        assert names == ["changed", "a.yml", "a.yml"]

    @pytest.mark.usefixtures("empty_repository")
    def test_a_repository_without_commits(self) -> None:
        with pytest.raises(SourceError, match="HEAD: there is no such revision"):
            load_state("HEAD:")
        with pytest.raises(SourceError, match="the index: it contains no manifests"):
            load_state(":")


class TestWhatCannotBeRead:
    """Unknown is not none; and the rest is answered."""

    def test_odd_content(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        repository.write("x/binary.yaml", b"\x7fELF\0")
        repository.write("x/broken.yaml", "a: 1\n---\napiVersion: v1\nkind: [\n")
        repository.write("x/large.yaml", "#" * 1000)
        repository.write("x/latin.yaml", b"apiVersion: v1\nkind: \xff")
        repository.write("x/pointer.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        repository.write("x/template.yaml", "apiVersion: v1\nkind: {{ .b }}")
        repository.write("x/utf16.yaml", (CM % "u").encode("utf-16"))
        repository.commit()
        monkeypatch.setattr(trees, "MAX_FILE_SIZE", 500)
        monkeypatch.setattr(decoding, "MAX_FILE_SIZE", 500)
        snapshot = load_state("main:x")
        assert [resource.ref.name for resource in snapshot.resources] == ["u"]
        assert [(diagnostic.rule, str(diagnostic.origin)) for diagnostic in snapshot.diagnostics] == [
            ("not-text", "main:x/binary.yaml:1"),
            ("syntax-error", "main:x/broken.yaml:5"),
            ("too-large", "main:x/large.yaml:1"),
            ("not-text", "main:x/latin.yaml:2"),
            ("unreadable", "main:x/pointer.yaml:1"),
            ("unrendered-template", "main:x/template.yaml:2"),
        ]
        assert len(_unread(snapshot)) == 6
        with pytest.raises(SourceError, match=r"main:x/binary\.yaml:1: a binary file"):
            load_state("main:x/binary.yaml")

    @pytest.mark.parametrize("revision", ["main", ""])
    def test_a_submodule(self, repository: Repository, revision: str) -> None:
        """What is in it is in another repository; one that is hidden is none of ours."""
        for path in ("sub/module", "sub/.module"):
            repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")
        repository.link("into.yaml", "sub/module/a.yaml")
        repository.git("add", "into.yaml")
        repository.git("commit", "--quiet", "--message=x")
        snapshot = load_state(f"{revision}:")
        assert len(snapshot.resources) == 6
        reason = "cannot be read: a submodule, and its files are in another repository"
        assert _unread(snapshot) == {f"{revision}:into.yaml": reason, f"{revision}:sub/module": reason}
        for path in ("sub/module", "sub/module/a.yaml"):
            with pytest.raises(SourceError, match="a submodule"):
                load_state(f"{revision}:{path}")

    def test_a_conflict(self, repository: Repository) -> None:
        key = repository.blob(b"x")
        lines = [f"100644 {key} {stage}\t{path}\n" for path in ("a.yml", "notes.md") for stage in (1, 2, 3)]
        zeros = "".join(f"0 {'0' * 40}\t{path}\n" for path in ("a.yml", "notes.md"))
        repository.git("update-index", "--index-info", data=(zeros + "".join(lines)).encode())
        snapshot = load_state(":")
        assert _unread(snapshot) == {":a.yml": "cannot be read: in conflict: resolve it, and `git add` it"}
        assert len(snapshot.resources) == 5
        with pytest.raises(SourceError, match="in conflict"):
            load_state(":notes.md")

    def test_missing_objects(self, repository: Repository) -> None:
        gone = "1" * 40
        entries = (("100644", gone, b"file.yaml"), ("40000", gone, b"folder"), ("120000", gone, b"link"))
        good = ("100644", repository.blob((CM % "a").encode()), b"a.yaml")
        tree = repository.tree(good, *entries)
        snapshot = load_state(f"{tree}:")
        assert [resource.ref.name for resource in snapshot.resources] == ["a"]
        assert {name.rpartition(":")[2]: reason for name, reason in _unread(snapshot).items()} == {
            "file.yaml": "cannot be read: its content is not in this clone of the repository",
            "folder": "cannot be read: git cannot list it: it is not in this clone, or damaged: see `git fsck`",
            "link": "cannot be read: its content is not in this clone of the repository",
        }

    def test_damaged_objects(self, repository: Repository) -> None:
        """A folder that is none, a file that is a folder, a name that cannot be."""
        text, folder = repository.blob((CM % "a").encode()), repository.tree(("100644", "1" * 40, b"x"))
        tree = repository.tree(
            ("100644", text, b"../a.yaml"),
            ("100644", text, b"a.yaml"),
            ("100644", folder, b"file.yaml"),
            ("40000", text, b"folder"),
        )
        snapshot = load_state(f"{tree}:")
        assert [resource.ref.name for resource in snapshot.resources] == ["a"]
        assert {name.removeprefix(f"{tree}:"): reason for name, reason in _unread(snapshot).items()} == {
            "file.yaml:1": "a binary file: leave it out",
            "folder": "cannot be read: git cannot list it: it is not in this clone, or damaged: see `git fsck`",
        }

    def test_a_folder_that_holds_itself_many_times(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tree = repository.tree(("100644", repository.blob((CM % "a").encode()), b"a.yaml"))
        for _ in range(20):
            tree = repository.tree(*(("40000", tree, b"%d" % number) for number in range(10)))
        monkeypatch.setattr(trees.FileTree, "max_entries", 1000)
        with pytest.raises(SourceError, match="more than 1,000 files and folders") as caught:
            load_state(f"{tree}:")
        assert caught.value.hint == "name a folder in it"
        for names in ((b"a", b"b"), (b"b", b"a")):
            damaged = repository.tree(
                *sorted(zip(("40000",) * 2, (tree, "1" * 40), names, strict=True), key=itemgetter(2))
            )
            with pytest.raises(SourceError, match="more than 1,000 files and folders"):
                load_state(f"{damaged}:")
        monkeypatch.setattr(trees.FileTree, "max_entries", 10)
        assert len(_sources("main:")) == 6
        monkeypatch.setattr(trees.FileTree, "max_entries", 9)
        with pytest.raises(SourceError, match="main: more than 9 files and folders"):
            load_state("main:")
        assert len(_sources("main:sub")) == 2


class TestLinks:
    @pytest.mark.parametrize("revision", ["main", ""])
    def test_what_leads_nowhere(self, repository: Repository, revision: str) -> None:
        """A link to nothing matters if it looks like a manifest, one that leads elsewhere in any case."""
        for path, target in {
            "gone": "nothing",
            "gone.yaml": "nothing",
            "itself": "itself",
            "sub/outside": "../../x",
            "root": "/etc",
            "through": "sub/../../x",
            "beyond.yaml": "a.yml/x",
            "loop/a": "../loop/b",
        }.items():
            (repository.folder / path).parent.mkdir(exist_ok=True)
            repository.link(path, target)
        repository.link("loop/b", "../loop/a")
        too_long = repository.blob(b"x" * 5000)
        repository.git("add", "--all", "--force")
        repository.git("update-index", "--add", "--cacheinfo", f"120000,{too_long},longer")
        repository.git("commit", "--quiet", "--message=x")
        snapshot = load_state(f"{revision}:")
        assert len(snapshot.resources) == 6
        outside, loop = "a link that leads out of the repository", os.strerror(errno.ELOOP)
        assert {name.removeprefix(f"{revision}:"): reason for name, reason in _unread(snapshot).items()} == {
            "beyond.yaml": f"cannot be read: {os.strerror(errno.ENOTDIR)}",
            "gone.yaml": "cannot be read: No such file or directory",
            "itself": f"cannot be read: {loop}",
            "longer": f"cannot be read: {os.strerror(errno.ENAMETOOLONG)}",
            "loop/a": f"cannot be read: {loop}",
            "loop/b": f"cannot be read: {loop}",
            "root": f"cannot be read: {outside}",
            "sub/outside": f"cannot be read: {outside}",
            "through": f"cannot be read: {outside}",
        }
        with pytest.raises(SourceError, match=outside):
            load_state(f"{revision}:root")
        with pytest.raises(SourceError, match="there is no such file or folder"):
            load_state(f"{revision}:gone.yaml")

    @pytest.mark.parametrize("revision", ["main", ""])
    def test_what_leads_somewhere(self, repository: Repository, revision: str) -> None:
        """As on disk: each folder once, each link by its own name, and a path through links."""
        repository.link("l.yaml", "sub/deep/f.yaml")
        repository.link("sub/up", "..")
        repository.link("z", "sub")
        repository.link("zz", ".ci/./../.ci")
        repository.commit()
        on_disk = load_manifests([repository.folder])
        snapshot = load_state(f"{revision}:")
        assert [resource.ref for resource in snapshot.resources] == [resource.ref for resource in on_disk.resources]
        assert [resource.origin.source for resource in snapshot.resources] == [
            f"{revision}:{os.path.relpath(resource.origin.source, repository.folder)}" for resource in on_disk.resources
        ]
        assert [diagnostic.rule for diagnostic in snapshot.diagnostics] == ["duplicate-object"]
        assert _sources(f"{revision}:z/deep") == [f"{revision}:z/deep/f.yaml"]
        assert _sources(f"{revision}:l.yaml") == [f"{revision}:l.yaml"]


class TestNames:
    @pytest.mark.parametrize("revision", ["main", ""])
    def test_odd_names(self, empty_repository: Repository, revision: str) -> None:
        """Options, line breaks, escape sequences, colons, and what is not UTF-8."""
        text = empty_repository.blob(f"# x\n{CM % 'a'}".encode())
        names = [b"--help.yaml", b"-.yaml", b"[b]c*?.yaml", b"\x1b[31m.yaml", b"a\nb.yaml", b"a:b.yaml", b"a\tb.yaml"]
        names += [b"\xff\xfe.yaml", "é\u202e.yaml".encode(), b" .yaml", b'"x".yaml', b"{x.yaml"]
        listed = b"".join(b"100644 %s\t%s\0" % (text.encode(), name) for name in names)
        empty_repository.git("update-index", "-z", "--index-info", data=listed)
        empty_repository.git("commit", "--quiet", "--message=x")
        for name in names:
            decoded = name.decode("utf-8", "surrogateescape")
            (resource,) = load_state(f"{revision}:{decoded}").resources
            assert resource.origin == Origin(f"{revision}:{decoded}", 2)
            assert locate(resource.origin, "metadata.name") == 4
        assert len(load_state(f"{revision}:").diagnostics) == len(names) - 1

    def test_nested_lists_have_lines(self, repository: Repository) -> None:
        repository.write("x/l.yaml", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n")
        with (repository.folder / "x/l.yaml").open("a") as file:
            file.write("  - apiVersion: v1\n    kind: Service\n    metadata:\n      name: a\n")
        repository.commit()
        (resource,) = load_state("main:x").resources
        assert str(resource.origin) == "main:x/l.yaml:7"
        assert locate(resource.origin, "metadata.name") == 10


class TestLines:
    """A field's line is found by reading the revision again."""

    def test_what_cannot_be_read_again(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        """No message is worth an exception."""
        for source in (
            "main:gone.yaml",
            "gone:a.yml",
            "main:../x",
            "C:/a.yaml",
            "a:b",
            "main:docs",
            ":gone",
            "main:sub",
        ):
            assert locate(Origin(source, 1), "kind") is None
        with pytest.raises(FileNotFoundError):
            read_stored("a.yml")
        monkeypatch.setenv("PATH", str(repository.folder))
        assert locate(Origin("main:a.yml", 1), "kind") is None

    def test_the_revision_counts(self, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        repository.write("a.yml", "# more\n" + CM % "a")
        monkeypatch.chdir(repository.folder / "sub")
        (resource,) = load_state("main:../a.yml").resources
        assert locate(resource.origin, "metadata.name") == 3
        assert locate(Origin(str(repository.folder / "a.yml"), 2), "metadata.name") == 4


def test_reading_what_is_no_file(repository: Repository) -> None:
    assert repository.folder.is_dir()
    with open_revision("main") as revision, pytest.raises(IsADirectoryError):
        revision.text("sub")


def test_a_revision_that_is_unknown(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint is where to look, or one that is nearly called so, also in a remote repository or a shallow clone."""
    repository.git("update-ref", "refs/remotes/origin/release", "HEAD")
    repository.commit()
    repository.git("clone", "--quiet", "--depth=1", repository.folder.as_uri(), "../shallow")
    for operand, hint in (
        ("v1:", "`git branch --all`"),
        (f"{repository.blob(b'x')}:", "`git branch --all`"),
        ("mian:", "did you mean main?"),
        ("release:", "did you mean origin/release?"),
        ("HEAD~1:", "shallow clone"),
    ):
        if operand == "HEAD~1:":
            monkeypatch.chdir(repository.folder.parent / "shallow")
        with pytest.raises(SourceError, match="there is no such revision in this git repository") as caught:
            load_state(operand)
        assert hint in caught.value.hint
