"""Archives of trees: what is read of them, and which are refused."""

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubectl_policy.errors import NothingThereError, SourceError, UsageError
from kubectl_policy.model import Origin, Snapshot
from kubectl_policy.sources import InputOptions, Lines, load_manifests, load_state, locate
from kubectl_policy.sources.files import disk
from kubectl_policy.sources.files.disk import Disk
from kubectl_policy.sources.history import Authors, states
from kubectl_policy.sources.programs.installed import find_program
from tests.repository import CM

FILES = {"a.yaml": CM % "a", "apps/b.yaml": "# b\n" + CM % "b", "apps/deep/c.yaml": CM % "c", "README.md": "#"}


def member(name: str, text: str = "", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(text.encode())
    for field, value in fields.items():
        setattr(info, field, value)
    return info, text.encode()


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def of_files(files: Mapping[str, str]) -> bytes:
    return tar(*(member(name, text) for name, text in files.items()))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is where the test is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sources(snapshot: Snapshot) -> list[str]:
    """Where objects are; nothing is wrong with any."""
    assert (snapshot.diagnostics, snapshot.gaps) == ((), ())
    return [str(resource.origin) for resource in snapshot.resources]


@pytest.mark.parametrize("name", ["t.tar", "t.tar.gz", "t.tgz"])
@pytest.mark.parametrize("start", ["", "./", "repository-1f2e3d/"])
def test_what_is_read(folder: Path, name: str, start: str) -> None:
    """Every manifest, as of a folder; a folder at the top, as code hosts add it, is a folder."""
    data = of_files({start + path: text for path, text in FILES.items()})
    (folder / name).write_bytes(data if name.endswith(".tar") else gzip.compress(data))
    top = f"{name}:{start.removeprefix('./')}"
    everything = [f"{top}a.yaml:1", f"{top}apps/b.yaml:2", f"{top}apps/deep/c.yaml:1"]
    assert sources(load_manifests([name])) == sources(load_state(name)) == everything
    assert sources(load_manifests([f"{top}apps"])) == sources(load_state(f"{top}./apps/")) == everything[1:]
    assert sources(load_manifests([f"{top}apps/b.yaml"])) == everything[1:2]


def test_lines_in_an_archive(folder: Path) -> None:
    """They are found by reading it again, where reading did not tell them."""
    (folder / "t.tgz").write_bytes(gzip.compress(of_files(FILES)))
    assert locate(Origin("t.tgz:apps/b.yaml", 2), "metadata.name") == 4
    lines = Lines()
    assert len(load_manifests(["t.tgz"], lines=lines).resources) == 3
    assert lines.text("t.tgz:apps/b.yaml") == FILES["apps/b.yaml"]
    assert lines.text("t.tgz:none.yaml") == ""
    assert locate(Origin("none.tgz:b.yaml", 2), "metadata.name") is None


def test_an_archive_that_changed_is_read_again(folder: Path) -> None:
    for name in ("a", "bb"):
        (folder / "t.tar").write_bytes(of_files({"x.yaml": CM % name}))
        assert [resource.ref.name for resource in load_manifests(["t.tar"]).resources] == [name]


def test_what_is_not_there(folder: Path) -> None:
    (folder / "t.tar").write_bytes(of_files(FILES))
    for path, message in (
        ("t.tar:none", "t.tar:none: there is no such file or folder in t.tar"),
        ("t.tar:../x", "there is nothing above the root of the archive"),
        ("none.tar", "none.tar: there is no such file or folder"),
        ("none.tar:x", "none.tar:x: there is no such file or folder"),
    ):
        with pytest.raises(SourceError, match=message) as caught:
            load_manifests([path])
        assert caught.value.hint
    (folder / "empty.tar").write_bytes(of_files({"README.md": ""}))
    with pytest.raises(NothingThereError, match=r"empty\.tar: it contains no manifests"):
        load_manifests(["empty.tar"])


def test_what_an_archive_does_not_know(folder: Path) -> None:
    """Neither when it was changed, nor by whom."""
    (folder / "t.tar").write_bytes(of_files(FILES))
    with pytest.raises(UsageError, match="an archive has no history"):
        next(states(["t.tar"]))
    authors = Authors()
    assert authors.of(Origin("t.tar:a.yaml", 1)) is None
    assert [*authors.complaints] == ["what is in an archive has no known author"]


def test_an_archive_is_read_alone(folder: Path) -> None:
    (folder / "t.tar").write_bytes(of_files(FILES))
    (folder / "x.yaml").write_text(CM % "x")
    with pytest.raises(SourceError, match=r"t\.tar: an archive is read alone"):
        load_manifests(["x.yaml", "t.tar"])


def test_what_only_looks_like_an_archive(folder: Path) -> None:
    """A folder may have any name; in a folder, archives are no manifests; one of another name is named so."""
    (folder / "d.tar.gz").mkdir()
    (folder / "d.tar.gz" / "a.yaml").write_text(CM % "a")
    (folder / "d.tar.gz" / "t.tgz").write_bytes(gzip.compress(of_files(FILES)))
    assert sources(load_manifests(["d.tar.gz"])) == ["d.tar.gz/a.yaml:1"]
    (folder / "t").write_bytes(gzip.compress(of_files(FILES)))
    with pytest.raises(SourceError, match=r"a compressed file: .* archives \(\.tar\.gz, \.tgz\)"):
        load_manifests(["t"])


def test_links(folder: Path) -> None:
    """They are followed in the archive and not out of it; a hard link is another name of a file."""
    (folder / "t.tar").write_bytes(
        tar(
            member("apps/a.yaml", CM % "a"),
            member("b.yaml", type=tarfile.SYMTYPE, linkname="apps/a.yaml"),
            member("c.yaml", type=tarfile.LNKTYPE, linkname="./apps/a.yaml"),
            member("out.yaml", type=tarfile.SYMTYPE, linkname="../../etc/passwd"),
            member("root", type=tarfile.SYMTYPE, linkname="/etc"),
            member("loop", type=tarfile.SYMTYPE, linkname="loop"),
        )
    )
    snapshot = load_manifests(["t.tar"])
    assert [resource.ref.name for resource in snapshot.resources] == ["a"]
    reasons = {str(gap.origin): gap.reason for gap in snapshot.gaps}
    assert reasons.keys() == {"t.tar:out.yaml", "t.tar:root", "t.tar:loop"}
    assert reasons["t.tar:root"] == reasons["t.tar:out.yaml"] == "cannot be read: a link that leads out of the archive"
    assert [diagnostic.rule for diagnostic in snapshot.diagnostics].count("duplicate-object") == 2


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([member("../a.yaml", "x")], "../a.yaml leads out of it"),
        ([member("/etc/a.yaml", "x")], "/etc/a.yaml leads out of it"),
        ([member("apps/../../a.yaml", "x")], "leads out of it"),
        ([member("a.yaml", type=tarfile.LNKTYPE, linkname="/etc/passwd")], "/etc/passwd leads out of it"),
        ([member("a.yaml", type=tarfile.LNKTYPE, linkname="none")], "a.yaml conflicts with another member"),
        ([member("a.yaml", type=tarfile.LNKTYPE, linkname=".")], "a.yaml conflicts with another member"),
        ([member("dev", type=tarfile.CHRTYPE)], "dev is neither a file nor a folder nor a link"),
        ([member("dev", type=tarfile.BLKTYPE)], "dev is neither"),
        ([member("pipe.yaml", type=tarfile.FIFOTYPE)], "pipe.yaml is neither"),
        ([member("a", "x"), member("a/b.yaml", "x")], "a/b.yaml conflicts with another member"),
        ([member("a/b.yaml", "x"), member("a", "x")], "a conflicts with another member"),
        ([member("a", type=tarfile.SYMTYPE, linkname="/etc"), member("a/b.yaml", "x")], "a/b.yaml conflicts"),
        ([member(".", "x")], ". conflicts"),
    ],
)
def test_hostile_members(folder: Path, members: list[tuple[tarfile.TarInfo, bytes]], message: str) -> None:
    """Nobody made these by packing a tree: nothing of the archive is read."""
    (folder / "t.tar").write_bytes(tar(*members))
    with pytest.raises(SourceError, match=r"t\.tar: the archive cannot be read: ") as caught:
        load_manifests(["t.tar"])
    assert message in caught.value.message
    assert caught.value.hint


def test_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MAX_ARCHIVE_MEMBERS", 3)
    (folder / "t.tar").write_bytes(of_files(FILES))
    with pytest.raises(SourceError, match="it has more than 3 members"):
        load_manifests(["t.tar"])
    monkeypatch.setattr(disk, "MAX_ARCHIVE_SIZE", 2**21)
    bomb = tar(member("a.yaml", "#" * 2**22))
    for name, data in (("a.tar", bomb), ("a.tgz", gzip.compress(bomb)), ("b.tgz", b"#" * 2**22)):
        (folder / name).write_bytes(data)
        with pytest.raises(SourceError, match="more than 2 MiB are in it"):
            load_manifests([name])


def test_a_file_of_a_size_that_it_has_not(folder: Path) -> None:
    """No memory is taken for what a header promises."""
    info, _ = member("a.yaml", size=2**40)
    (folder / "t.tar").write_bytes(info.tobuf() + b"\0" * 1024)
    with pytest.raises(SourceError, match="the archive cannot be read"):
        load_manifests(["t.tar"])


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_cut_off_or_damaged(folder: Path, *, packed: bool) -> None:
    """At whatever place: half of a tree is not read as if it were all of it."""
    whole = of_files(FILES)
    data = gzip.compress(whole) if packed else whole[: whole.rindex(b"#") + 2000]
    name = "t.tgz" if packed else "t.tar"
    step = 5 if packed else 256
    last = len(data) if packed else whole.rindex(b"#") + 512
    for end in range(0, last, step):
        (folder / name).write_bytes(data[:end])
        with pytest.raises(SourceError, match=r"the archive cannot be read: |it contains no manifests"):
            load_manifests([name])


@pytest.mark.parametrize("data", [b"", b"apiVersion: v1", b"\x1f\x8b", b"PK\x03\x04" * 300])
@pytest.mark.parametrize("name", ["t.tar", "t.tgz"])
def test_what_is_no_archive(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    with pytest.raises(SourceError, match=f"{name}: the archive cannot be read: "):
        load_manifests([name])


def test_headers_without_end(folder: Path) -> None:
    """One that describes the next header, which describes the next one."""
    header = tarfile.TarInfo("x").create_pax_global_header({"comment": "x"}) * 5000
    (folder / "t.tar").write_bytes(header + b"\0" * 1024)
    with pytest.raises(SourceError, match=r"the archive cannot be read: |it contains no manifests"):
        load_manifests(["t.tar"])


def test_a_file_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "t.tar").write_bytes(b"")

    def denied(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Disk, "read", denied)
    with pytest.raises(SourceError, match=r"t\.tar: cannot be read: Permission denied"):
        load_manifests(["t.tar"])


@pytest.mark.skipif(not find_program("kubectl"), reason="kubectl is not installed")
def test_rendering(folder: Path) -> None:
    """The files that Kustomize needs are copied out of the archive."""
    files = {
        "repository/base/kustomization.yaml": "resources: [a.yaml]",
        "repository/base/a.yaml": CM % "a",
        "repository/prod/kustomization.yaml": "resources: [../base]\nnamePrefix: prod-",
    }
    (folder / "t.tar").write_bytes(of_files(files))
    snapshot = load_manifests(["t.tar"], options=InputOptions(render=True))
    assert [resource.ref.name for resource in snapshot.resources] == ["prod-a"]
    assert str(snapshot.resources[0].origin) == "t.tar:repository/base/a.yaml:1"
