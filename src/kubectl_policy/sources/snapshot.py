"""Snapshot files: the objects of manifests or a cluster in one compressed file of JSON lines, written and read back.

The first line is a header; each one after it is an object, by kind, namespace and name: see docs/snapshots.md.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Gap, GroupKind, ObjectRef, Origin, Problem, Snapshot
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.snapshot import AssumedObjects, SnapshotSource  # noqa: TC001 (msgspec reads by them)
from kubectl_policy.model.world import grouped
from kubectl_policy.sources.duplicates import choose_object
from kubectl_policy.sources.files.decoding import GZIP, SNAPSHOT_FORMAT, unpack_gzip
from kubectl_policy.sources.files.tree import reason_of
from kubectl_policy.sources.reading import Reading
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decode_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource

API_VERSION: Final = f"{SNAPSHOT_FORMAT}v1"
SECRET: Final = GroupKind("", "Secret")

# A copy of the whole object, as somebody applied it once.
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
# Of a Secret it is enough that it is there, how old it is and what it belongs to. What others write into annotations
# may be a copy of it, and nobody asks who set its keys.
_OF_SECRETS: Final = frozenset({"apiVersion", "kind", "metadata", "type"})
_NOT_OF_SECRETS: Final = frozenset({"annotations", "managedFields"})

# So much of a name does not make one that is too long.
_NAME: Final = 64
# In bytes, unpacked: no cluster comes near it, and of most objects only the head is kept as values.
_MAX_SIZE: Final = 2**30
# After so many lines that are wrong alike, a file is no snapshot.
_MAX_UNREAD: Final = 1_000
# etcd takes no object that comes near it, and no header of ours does.
_LONGEST_LINE: Final = 2**26

# Other mappings than dicts are written as these are.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=dict)


class Header(Struct, frozen=True, kw_only=True):
    """Origin of a snapshot; an unknown field is empty."""

    taken: str
    """A time in UTC, as RFC 3339 has it."""
    version: str
    """The version of this program."""
    cluster: str = ""
    context: str = ""
    server: str = ""
    """The version of the API server."""
    redacted: bool = False


class _State(Struct, frozen=True, kw_only=True):
    """All of a snapshot but its objects, as the first line of a file has it behind the header."""

    place: SnapshotSource
    complete: bool
    objects: int
    """The number of objects, each on a line of its own."""
    gone: frozenset[ObjectRef]
    listed: frozenset[tuple[GroupKind, str]]
    assumed: tuple[AssumedObjects, ...]
    gaps: tuple[Gap, ...]
    diagnostics: tuple[Diagnostic, ...]


def pack(
    snapshot: Snapshot, header: Header, redact: Callable[[Resource], Mapping[str, Json]] | None = None
) -> Iterator[bytes]:
    """Yield a snapshot as the bytes of a file; equal snapshots give equal bytes. All its objects are read.

    No data of Secrets is among them. Other objects are as `redact` leaves them.
    """
    packer = zlib.compressobj(wbits=GZIP)
    resources = sorted(snapshot.resources, key=lambda resource: resource.ref)
    state = _State(
        place=snapshot.source,
        complete=snapshot.complete,
        objects=len(resources),
        gone=snapshot.gone,
        listed=snapshot.listed,
        assumed=snapshot.assumed,
        gaps=tuple(_without_secrets(gap, redacted=header.redacted) for gap in snapshot.gaps),
        # Words about a text may quote it.
        diagnostics=() if header.redacted else snapshot.diagnostics,
    )
    beginning = {"apiVersion": API_VERSION, "kind": "Snapshot", **msgspec.to_builtins(header)}
    yield packer.compress(_line({**beginning, **msgspec.to_builtins(state, order="deterministic")}))
    for resource in resources:
        raw = redact(resource) if redact else resource.raw
        yield packer.compress(_line(_kept(resource.ref, raw)))
    yield packer.flush()


def write(path: str, parts: Iterable[bytes]) -> None:
    """Write a file at once or not at all, for nobody but its owner to read. Raises SourceError where that fails."""
    import tempfile  # noqa: PLC0415 (most calls write nothing)

    try:
        # What a link leads to is meant.
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):  # noqa: PTH110, PTH113 (strings throughout)
            raise SourceError(f"{path}: it is not a regular file", "name a file, or - for standard output")
        folder, name = os.path.split(target)
        with tempfile.TemporaryDirectory(prefix=f".{name[:_NAME]}.", dir=folder) as home:
            written = os.path.join(home, "snapshot")  # noqa: PTH118 (see above)
            with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            os.replace(written, target)  # noqa: PTH105 (see above)
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: {reason_of(error, 'written')}", "check the folder and its permissions") from None


def read_snapshot(data: bytes, source: str) -> Snapshot:
    """Read the snapshot in the bytes of a file. Origins are lines of the text in it.

    What of it cannot be read is a diagnostic and a gap. Raises SourceError where its header is none that is understood.
    """
    lines = _lines(data)
    try:
        state = _state_in(next(lines, b""), source)
    except DocumentError as error:
        raise _refusal(source, str(error)) from None
    reading, last, problem = Reading({}), 1, ""
    # The lines that are no objects, by what is wrong with them.
    unread: dict[str, list[int]] = {}
    try:
        for last, line in enumerate(lines, 2):
            if last - 1 > state.objects:
                problem = f"there are more objects in it than the {state.objects} that were written"
                break
            if wrong := _read_line(reading, line, Origin(source, last)):
                unread.setdefault(wrong, []).append(last)
                if len(unread[wrong]) >= _MAX_UNREAD:
                    problem = "the rest of the file is not read, as so much of it is no object"
                    break
        if not problem and last - 1 < state.objects:
            problem = f"there are {last - 1} objects in it, and {state.objects} were written"
    except DocumentError as error:
        problem = str(error)
    for wrong, numbers in unread.items():
        message = f"{wrong}; {len(numbers):,} lines of the file are like this" if len(numbers) > 1 else wrong
        reading.note(Problem(message=message, reason="unreadable", line=numbers[0]), source)
    if problem:
        reading.note(Problem(message=problem, reason="unreadable", line=last), source)
    by_name = grouped((resource.ref, resource) for resource in reading.objects).values()
    objects = [same_name[0] if len(same_name) == 1 else choose_object(same_name, reading) for same_name in by_name]
    return Snapshot(
        resources=tuple(objects),
        gaps=(*state.gaps, *reading.gaps),
        diagnostics=(*state.diagnostics, *reading.diagnostics),
        ignored=reading.ignored,
        source=state.place,
        complete=state.complete,
        gone=state.gone,
        listed=state.listed,
        assumed=state.assumed,
    )


def _without_secrets(gap: Gap, *, redacted: bool) -> Gap:
    """Leave out the words of what could not be read if, by what they say, they may be the data of a Secret."""
    return replace(gap, mentions=None) if redacted or SECRET.kind in (gap.mentions or ()) else gap


def _kept(ref: ObjectRef, raw: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return an object as it is written to a file: in the namespace where it is, and without what no question needs."""
    metadata = dict(mapping_at(raw, "metadata"))
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        metadata["annotations"] = {key: part for key, part in annotations.items() if key != _LAST_APPLIED}
    if ref.namespace != metadata.get("namespace", ""):
        metadata["namespace"] = ref.namespace
    if not ref.namespace:
        metadata.pop("namespace", None)
    kept = raw
    if ref.group_kind == SECRET:
        kept = {key: part for key, part in raw.items() if key in _OF_SECRETS}
        metadata = {key: part for key, part in metadata.items() if key not in _NOT_OF_SECRETS}
    return {key: metadata if key == "metadata" else part for key, part in kept.items()}


def _line(content: Mapping[str, Json]) -> bytes:
    return f"{_ENCODER.encode(content)}\n".encode("ascii")


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines of compressed text. Raises DocumentError where it is cut off, damaged or too large."""
    size, unfinished = 0, b""
    for piece in unpack_gzip(data):
        size += len(piece)
        *lines, unfinished = (unfinished + piece).split(b"\n")
        yield from lines
        if size > _MAX_SIZE or len(unfinished) > _LONGEST_LINE:
            raise DocumentError("too-large", 1, "the file unpacks to more than any cluster contains")
    if unfinished:
        raise DocumentError("unreadable", 1, "something else follows the end of the snapshot in the file")


def _read_line(reading: Reading, line: bytes, origin: Origin) -> str:
    """Read the object in a line; return what is wrong with the line, or ""."""
    try:
        content = decode_json(line)
    except DocumentError as error:
        return error.problem.message
    except ValueError:
        return "the line is not JSON"
    if isinstance(content, dict) and "metadata" in content:
        reading.read_object(content, origin)
        return ""
    return "the line contains no object"


def _state_in(line: bytes, source: str) -> _State:
    try:
        content = decode_json(line)
    except (ValueError, DocumentError):
        raise _refusal(source, "its header is not JSON") from None
    written_as = text_at(content, "apiVersion")
    if written_as != API_VERSION:
        message = f"{source}: a snapshot of another version: {written_as}, where {API_VERSION} is read"
        raise SourceError(
            message, f"it was written by {text_at(content, 'version') or 'another version'}: use that version"
        )
    try:
        return msgspec.convert(content, _State)
    except msgspec.ValidationError as error:
        raise _refusal(source, f"its header is malformed: {error}") from None


def _refusal(source: str, why: str) -> SourceError:
    return SourceError(f"{source}: a snapshot that cannot be read: {why}", "take the snapshot again")
