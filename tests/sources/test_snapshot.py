"""Snapshot files: what is written into them and what is not, and what is read of those that somebody else made."""

import gzip
import io
import json
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Diagnostic, Gap, GroupKind, ObjectRef, Origin, analyze, load_manifests, load_state
from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model import FieldPath, Json, Permission, Resource, Snapshot
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.sources import InputOptions, Lines, snapshot
from kubectl_policy.sources.snapshot import API_VERSION, Header, pack, read_snapshot, write

HEADER: Final = Header(
    taken="2026-03-01T10:00:00Z", version="kubectl-policy 0.1.0", cluster="east", context="admin@east", server="v1.35.0"
)
ROUTE: Final = GroupKind("gateway.networking.k8s.io", "HTTPRoute")
GAP: Final = Gap(
    "RetryPolicy",
    "baker",
    "forbidden",
    remedy="have somebody grant it",
    group="example.io",
    needs=Permission("list", "retrypolicies.example.io", "baker"),
    missing=frozenset({ObjectRef(GroupKind("example.io", "RetryPolicy"), "baker", "quick")}),
)


def resource(name: str, kind: str = "ConfigMap", namespace: str = "app", **more: Json) -> Resource:
    raw: dict[str, Json] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}}
    return Resource(ref=ObjectRef(GroupKind("", kind), namespace, name), origin=Origin("live"), raw={**raw, **more})


def file_of(taken: Snapshot, header: Header = HEADER) -> bytes:
    return b"".join(pack(taken, header))


def lines_of(data: bytes) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def made_of(*lines: str | bytes, **header: Json) -> bytes:
    """A file with other lines than we write, under a header with some other values."""
    said = {**lines_of(file_of(Snapshot()))[0], "objects": len(lines), **header}
    encoded = [line if isinstance(line, bytes) else line.encode() for line in lines]
    return gzip.compress(b"\n".join([json.dumps(said, separators=(",", ":")).encode(), *encoded, b""]))


OBJECT: Final = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"app"}}'


def test_nothing_of_a_secret_is_written_but_that_it_is_there() -> None:
    """No data, and none of what others may have written about it."""
    metadata: Json = {
        "name": "key",
        "namespace": "app",
        "labels": {"team": "baker"},
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "hunter2",
            "example.com/original": "hunter2",
        },
        "managedFields": [{"fieldsV1": {"f:data": {"f:hunter2": {}}}}],
    }
    secret = resource("key", "Secret", metadata=metadata, data={"a": "hunter2"}, stringData={"b": "hunter2"})
    written = lines_of(file_of(Snapshot((replace(secret, raw={**secret.raw, "type": "Opaque", "x": "hunter2"}),))))
    assert "hunter2" not in json.dumps(written)
    kept = {"name": "key", "namespace": "app", "labels": {"team": "baker"}}
    assert written[1] == {"apiVersion": "v1", "kind": "Secret", "metadata": kept, "type": "Opaque"}


def test_words_of_what_may_have_been_a_secret_are_not_written() -> None:
    """What could not be read may be anything that it says; then the gap may mention anything."""
    words = frozenset({"Secret", "targetRefs", "hunter2"})
    gaps = Gap("", "", "broken", mentions=words), Gap("", "", "broken", mentions=words - {"Secret"})
    read = read_snapshot(file_of(Snapshot(gaps=gaps)), "s")
    assert [gap.mentions for gap in read.gaps] == [None, words - {"Secret"}]
    assert b"hunter2" not in gzip.decompress(file_of(Snapshot(gaps=gaps[:1])))


def test_what_was_applied_last_is_not_written() -> None:
    """It is the whole object once more; who set which field is, for --blame."""
    annotations: Json = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "baker"}
    managed: Json = [{"manager": "helm"}]
    metadata: Json = {"name": "a", "namespace": "app", "annotations": annotations, "managedFields": managed}
    written = lines_of(file_of(Snapshot((resource("a", metadata=metadata),))))[1]["metadata"]
    assert (written["annotations"], written["managedFields"]) == ({"team": "baker"}, managed)


def test_a_file_is_the_same_for_the_same_in_any_order() -> None:
    """Sorted by kind, namespace and name, without a time of its own."""
    every = [resource("b"), resource("a"), resource("a", "Service"), resource("a", namespace="zoo")]
    assert file_of(Snapshot(tuple(every))) == file_of(Snapshot(tuple(reversed(every))))
    names = [(each["kind"], *each["metadata"].values()) for each in lines_of(file_of(Snapshot(tuple(every))))[1:]]
    assert names == sorted(names, key=lambda each: (each[0], each[2], each[1]))


def test_the_header_says_where_it_comes_from() -> None:
    said = lines_of(file_of(Snapshot((resource("a"),), complete=True, gaps=(GAP,))))[0]
    assert list(said.items())[:8] == [
        ("apiVersion", API_VERSION),
        ("kind", "Snapshot"),
        ("taken", "2026-03-01T10:00:00Z"),
        ("version", "kubectl-policy 0.1.0"),
        ("cluster", "east"),
        ("context", "admin@east"),
        ("server", "v1.35.0"),
        ("redacted", False),
    ]
    assert (said["complete"], said["objects"], said["gaps"][0]["kind"]) == (True, 1, "RetryPolicy")


def test_what_is_known_of_the_world_comes_back() -> None:
    """Gaps, problems, what is gone, what was listed, and what is taken to exist."""
    ref = ObjectRef(ROUTE, "app", "r")
    located = replace(GAP, origin=Origin("a.yaml", 3), name="n", mentions=frozenset({"b", "a"}))
    problem = Diagnostic("no-kind", "warning", "said", ref, "spec.a", Origin("a.yaml", 4), (ref,), "Invalid")
    taken = Snapshot(
        gaps=(GAP, located, replace(GAP, mentions=frozenset())),
        diagnostics=(problem, Diagnostic("unreadable", "error", "it is broken")),
        complete=True,
        gone=frozenset({ref}),
        listed=frozenset({(ROUTE, "app")}),
        assumed=(AssumedObjects("secret", "app", "key"),),
        source="the cluster",
    )
    assert replace(read_snapshot(file_of(taken), "s"), resources=()) == taken


def test_an_object_is_written_in_the_namespace_where_it_is() -> None:
    """Also where only what is around its manifest says that; and a kind without namespaces has none."""
    here = replace(resource("a"), raw={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    nowhere = replace(resource("n"), ref=ObjectRef(GroupKind("", "ConfigMap"), "", "n"))
    read = read_snapshot(file_of(Snapshot((here, nowhere))), "s")
    assert [resource.ref for resource in read.resources] == [nowhere.ref, here.ref]


def test_with_a_complete_snapshot_what_is_in_no_gap_is_missing(tmp_path: Path) -> None:
    """As in the cluster; also where manifests would be an open world."""
    write(str(tmp_path / "s.gz"), pack(Snapshot((resource("a"),), complete=True, gaps=(GAP,)), HEADER))
    index = analyze(load_manifests(tmp_path / "s.gz")).index
    policy = GroupKind("example.io", "RetryPolicy")
    refs = (
        ObjectRef(policy, "baker", "x"),
        ObjectRef(policy, "other", "x"),
        ObjectRef(GroupKind("", "Secret"), "a", "b"),
    )
    assert [index.presence(ref) for ref in refs] == ["unknown", "missing", "missing"]


def test_options_add_to_what_a_snapshot_says(tmp_path: Path) -> None:
    write(str(tmp_path / "s.gz"), pack(Snapshot((resource("a"),)), HEADER))
    assumed = AssumedObjects("secret")
    read = load_manifests(tmp_path / "s.gz", options=InputOptions(complete=True, assumed=(assumed,)))
    assert (read.complete, read.assumed) == (True, (assumed,))
    assert load_manifests(tmp_path / "s.gz").complete is False
    with pytest.raises(UsageError, match="--cluster"):
        load_manifests(tmp_path / "s.gz", options=InputOptions(cluster="west"))


def test_an_object_is_on_a_line_of_the_text(tmp_path: Path) -> None:
    """The header is on the first one; fields are on none of their own, as an object is one line."""
    data = file_of(Snapshot((resource("a"),)))
    (tmp_path / "s.gz").write_bytes(data)
    lines = Lines()
    (read,) = load_manifests(tmp_path / "s.gz", lines=lines).resources
    assert read.origin.line == 2
    assert lines.locate(read.origin, FieldPath.parse("metadata.name")) is None
    (read,) = load_manifests("-", stdin=io.BytesIO(data)).resources
    assert str(read.origin) == "<stdin>:2"


def test_a_snapshot_is_read_alone(tmp_path: Path) -> None:
    """Two clusters are no world, and manifests are applied by `diff -f`."""
    write(str(tmp_path / "s.gz"), pack(Snapshot((resource("a"),)), HEADER))
    (tmp_path / "a.yaml").write_text(OBJECT, "utf-8")
    with pytest.raises(SourceError, match="a complete input") as caught:
        load_manifests([tmp_path / "a.yaml", tmp_path / "s.gz"])
    assert "-f FILE" in caught.value.hint


def test_a_snapshot_in_a_folder_is_not_meant(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(OBJECT, "utf-8")
    write(str(tmp_path / "s.json"), pack(Snapshot((resource("b"),)), HEADER))
    read = load_manifests(tmp_path)
    assert [resource.ref.name for resource in read.resources] == ["a"]
    assert [(diagnostic.rule, "snapshots are read" in diagnostic.message) for diagnostic in read.diagnostics] == [
        ("not-text", True)
    ]
    assert len(read.gaps) == 1


def test_other_compressed_files_are_no_snapshots(tmp_path: Path) -> None:
    """They are what they were: a file that is no text."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(OBJECT.encode()))
    with pytest.raises(SourceError, match="a compressed file"):
        load_manifests(tmp_path / "a.gz")
    (tmp_path / "b.gz").write_bytes(b"\x1f\x8bnothing")
    with pytest.raises(SourceError, match="a compressed file"):
        load_manifests(tmp_path / "b.gz")


def test_a_snapshot_can_be_in_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("s.gz", pack(Snapshot((resource("a"),)), HEADER))
    settings = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    for command in (["init", "-q"], ["add", "."], [*settings, "commit", "-q", "-m", "m"]):
        subprocess.run(["git", *command], check=True)  # noqa: S603, S607 (our own words)
    assert [resource.ref.name for resource in load_state("HEAD:s.gz").resources] == ["a"]


@pytest.mark.parametrize("version", ["v2", "v1alpha1", ""])
def test_another_version_is_refused(version: str) -> None:
    data = made_of(apiVersion=f"snapshot.policy.kubectl/{version}", version="kubectl-policy 9.9")
    with pytest.raises(SourceError, match="of another version") as caught:
        read_snapshot(data, "s.gz")
    assert "kubectl-policy 9.9" in caught.value.hint


MALFORMED: Final[list[dict[str, Json]]] = [
    {"objects": "many"},
    {"gaps": {}},
    {"gaps": ["a"]},
    {"gaps": [{"kind": 1}]},
    {"gone": [{"group": "", "kind": "A", "namespace": "", "name": None}]},
    {"listed": None},
    {"assumed": [{}]},
    {"diagnostics": [{"rule": "x", "message": "", "field": "", "reason": "", "related": 1}]},
]


@pytest.mark.parametrize("header", MALFORMED, ids=str)
def test_a_malformed_header_is_refused(header: dict[str, Json]) -> None:
    """Gaps that are not known would be taken for none."""
    with pytest.raises(SourceError, match="its header is malformed"):
        read_snapshot(made_of(**header), "s.gz")
    for line in (b"", b"nothing\n", b"[]\n", b"\xff\n", b'{"apiVersion":"snapshot.policy.kubectl/\n'):
        with pytest.raises(SourceError, match=r"^s\.gz: "):
            read_snapshot(gzip.compress(line), "s.gz")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nothing", "the line is not JSON"),
        (b'{"metadata": "\xff"}', "the line is not JSON"),
        ('{"metadata": NaN}', "the line is not JSON"),
        (OBJECT * 2, "the line is not JSON"),
        ("[]", "the line contains no object"),
        ("{}", "the line contains no object"),
        ("", "the line is not JSON"),
        (f'{{"metadata":{"[" * 500}{"]" * 500}}}', "nested more than 200 levels deep"),
        (f'{{"metadata":{"[" * 100_000}{"]" * 100_000}}}', "nested more than 200 levels deep"),
    ],
    ids=range(9),
)
def test_a_line_that_is_none_is_a_gap(line: str | bytes, message: str) -> None:
    read = read_snapshot(made_of(OBJECT, line, OBJECT.replace('"a"', '"b"')), "s.gz")
    assert [resource.ref.name for resource in read.resources] == ["a", "b"]
    assert [(str(diagnostic.origin), diagnostic.message) for diagnostic in read.diagnostics] == [("s.gz:3", message)]
    assert [(gap.kind, gap.reason) for gap in read.gaps] == [("", message)]


def test_objects_are_read_as_in_manifests() -> None:
    """One without a name is a problem, and so are two of one name; half a character could not be printed."""
    read = read_snapshot(made_of('{"apiVersion":"v1","kind":"Pod","metadata":{}}', '{"metadata":{"name":"a"}}'), "s")
    assert [diagnostic.rule for diagnostic in read.diagnostics] == ["no-name"]
    assert (read.resources, read.ignored) == ((), 1)
    read = read_snapshot(made_of(OBJECT, OBJECT.replace("}}", r'},"data":{"a":"\ud800"}}')), "s")
    assert [(resource.origin.line, resource.raw["data"]) for resource in read.resources] == [(3, {"a": "\ufffd"})]
    assert [diagnostic.rule for diagnostic in read.diagnostics] == ["duplicate-object"]
    # Somebody took lines out of it.
    gaps = read_snapshot(made_of(OBJECT, objects=3), "s").gaps
    assert [gap.reason for gap in gaps] == ["there are 1 objects in it, and 3 were written"]


def every_part(data: bytes) -> Iterator[bytes]:
    """What is left of a file that was cut off, at many places."""
    return (data[:end] for end in range(2, len(data), 3))


def test_a_file_that_is_cut_off_is_a_gap_wherever_that_is() -> None:
    taken = Snapshot(tuple(resource(f"o{number}", data={"a": str(number**9)}) for number in range(50)), complete=True)
    data = file_of(taken)
    numbers: set[int] = set()
    for part in every_part(data):
        try:
            read = read_snapshot(part, "s.gz")
        except SourceError:
            continue
        assert [(gap.kind, gap.namespace) for gap in read.gaps] == [("", "")]
        assert "end of the file is missing" in read.diagnostics[0].message
        numbers.add(len(read.resources))
    assert numbers


def test_a_file_that_is_damaged_is_refused_or_a_gap() -> None:
    data = file_of(Snapshot(tuple(resource(f"o{number}", data={"a": str(number**9)}) for number in range(50))))
    for place in range(2, len(data), 7):
        broken = bytes([*data[:place], data[place] ^ 0x55, *data[place + 1 :]])
        try:
            read = read_snapshot(broken, "s.gz")
        except SourceError:
            continue
        # What is not checked says nothing of the content: a time and a system.
        assert read.gaps or place < 10


def test_what_follows_the_end_is_a_gap() -> None:
    """Two files in one would be half read."""
    data = file_of(Snapshot((resource("a"),)))
    for more in (data, b"\0"):
        read = read_snapshot(data + more, "s.gz")
        assert [gap.reason for gap in read.gaps] == [
            "something else follows the end of the compressed data in the file"
        ]


def test_lines_that_are_wrong_alike_are_one_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """After many of them, or after as many lines as were written, the rest is not read."""

    def problems(objects: int) -> list[tuple[int, str]]:
        lines = ["", "{", "{}", *[""] * 7, '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}']
        data = made_of(*lines, objects=objects)
        return [(found.origin.line, found.message) for found in read_snapshot(data, "s.gz").diagnostics if found.origin]

    json, other = (2, "the line is not JSON; 9 lines of the file are like this"), (4, "the line contains no object")
    assert problems(11) == [json, other]
    assert problems(12) == [json, other, (12, "there are 11 objects in it, and 12 were written")]
    assert problems(10) == [json, other, (12, "there are more objects in it than the 10 that were written")]
    monkeypatch.setattr(snapshot, "_MAX_UNREAD", 4)
    few = (2, "the line is not JSON; 4 lines of the file are like this")
    rest = (6, "the rest of the file is not read, as so much of it is no object")
    assert problems(11) == [few, other, rest]


def test_far_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand times as much as there is in the file, in many lines or in one."""
    monkeypatch.setattr(snapshot, "_MAX_SIZE", 2**18)
    monkeypatch.setattr(snapshot, "_LONGEST_LINE", 2**16)
    for bomb in (made_of(*[OBJECT] * 2**12), made_of("x" * 2**18)):
        assert "the file unpacks to more" in read_snapshot(bomb, "s.gz").gaps[-1].reason


def test_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "s.gz"
    file.write_bytes(b"old")
    file.chmod(0o644)
    (tmp_path / "link").symlink_to(file)
    write(str(tmp_path / "link"), [b"new"])
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "s.gz"]


@pytest.mark.parametrize("name", ["", "no/such/s.gz", "a\0b", "folder", "x" * 300])
def test_where_no_file_can_be_nothing_is_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match=r"cannot be written|not a regular file"):
        write(f"{tmp_path}/{name}", [b"new"])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_device_is_not_replaced() -> None:
    """It would be gone for everybody."""
    with pytest.raises(SourceError, match="not a regular file"):
        write("/dev/null", [b"new"])
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_file_is_as_it_was_until_it_is_whole(tmp_path: Path) -> None:
    (tmp_path / "s.gz").write_bytes(b"old")

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(str(tmp_path / "s.gz"), parts())
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("s.gz", b"old")]
