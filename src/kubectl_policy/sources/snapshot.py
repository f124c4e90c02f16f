"""Snapshot files: the state of a cluster in one compressed file of JSON lines, written and read back.

The first line is a header; each one after it is an object, by kind, namespace and name: see docs/snapshots.md.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kubectl_policy.errors import SourceError
from kubectl_policy.model import Diagnostic, Gap, GroupKind, ObjectRef, Origin, Permission, Problem, Snapshot
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.model.values import fields_of, replace, value
from kubectl_policy.sources.duplicates import one_of_each
from kubectl_policy.sources.files.decoding import GZIP, MAX_FILE_SIZE, SNAPSHOT_FORMAT, unpacked
from kubectl_policy.sources.files.tree import reason_of
from kubectl_policy.sources.reading import Reading
from kubectl_policy.text import DocumentError
from kubectl_policy.text.json_reader import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.model import Json, Resource

Wanted = TypeVar("Wanted", str, int, "list[Any]", "dict[str, Json]")

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
# etcd takes no object that comes near it, and no header of ours does.
_LONGEST_LINE: Final = 2**26

# Other mappings than dicts are written as these are.
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=dict)
_TYPES: Final[Mapping[type, str]] = {str: "text", int: "whole number", list: "list", dict: "mapping"}
_TEXTS_OF_GAPS: Final = ("kind", "namespace", "name", "reason", "remedy")
_TEXTS_OF_DIAGNOSTICS: Final = ("rule", "message", "field", "reason")


@value(kw_only=True)
class Header:
    """What a snapshot says of where it comes from; what is not known is empty.

    `taken` is a time as RFC 3339 has it, in UTC; `server` is the version of the API server, and `version` ours.
    """

    taken: str
    version: str
    cluster: str = ""
    context: str = ""
    server: str = ""
    redacted: bool = False


def packed(
    snapshot: Snapshot, header: Header, redact: Callable[[Resource], Mapping[str, Json]] | None = None
) -> Iterator[bytes]:
    """A snapshot as the bytes of a file, always the same for the same; all objects of it are read.

    No data of Secrets is among them. Other objects are as `redact` leaves them.
    """
    packer = zlib.compressobj(wbits=GZIP)
    resources = sorted(snapshot.resources, key=lambda resource: resource.ref)
    yield packer.compress(_line(_header_entry(snapshot, header, len(resources))))
    for resource in resources:
        raw = redact(resource) if redact else resource.raw
        yield packer.compress(_line(_kept(resource.ref, raw)))
    yield packer.flush()


def write(path: str, parts: Iterable[bytes]) -> None:
    """Write a file at once or not at all, for nobody but its owner to read. Raises SourceError where that fails."""
    import tempfile  # noqa: PLC0415 (most calls write nothing)

    made = ""
    try:
        # What a link leads to is meant.
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):  # noqa: PTH110, PTH113 (strings throughout)
            raise SourceError(f"{path}: there is something else than a file", "name a file, or - for standard output")
        folder, name = os.path.split(target)
        descriptor, made = tempfile.mkstemp(prefix=f".{name[:_NAME]}.", dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(descriptor)
        os.replace(made, target)  # noqa: PTH105 (see above)
        made = ""
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: {reason_of(error, 'written')}", "check the folder and its permissions") from None
    finally:
        if made:
            with suppress(OSError):
                os.unlink(made)  # noqa: PTH108 (see above)


def read_snapshot(data: bytes, source: str) -> Snapshot:
    """The snapshot in the bytes of a file. Origins are lines of the text in it.

    What of it cannot be read is a diagnostic and a gap. Raises SourceError where its header is none that is understood.
    """
    lines = _lines(data)
    try:
        first = next(lines, b"")
    except DocumentError as error:
        raise _refusal(source, str(error)) from None
    known, wanted = _header_in(first, source)
    reading, last, problem = Reading({}), 1, ""
    try:
        for last, line in enumerate(lines, 2):
            _read_line(reading, line, Origin(source, last))
        if last - 1 != wanted:
            problem = f"there are {last - 1} objects in it, and {wanted} were written"
    except DocumentError as error:
        problem = str(error)
    if problem:
        reading.note(Problem(message=problem, reason="unreadable", line=last), source)
    objects = reading.objects
    if len({resource.ref for resource in objects}) < len(objects):
        chosen, diagnostics, gaps = one_of_each(objects, lambda _: "", lambda _: frozenset(), lambda _: 0)
        objects = [*chosen]
        reading.diagnostics += diagnostics
        reading.gaps += gaps
    return replace(
        known,
        resources=tuple(objects),
        gaps=(*known.gaps, *reading.gaps),
        diagnostics=(*known.diagnostics, *reading.diagnostics),
        ignored=reading.ignored,
    )


def _header_entry(snapshot: Snapshot, header: Header, number: int) -> Mapping[str, Json]:
    """The header as it is written, for so many objects."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Snapshot",
        **{name: getattr(header, name) for name in fields_of(Header)},
        "place": snapshot.place,
        "complete": snapshot.complete,
        "objects": number,
        "gone": [_ref_entry(ref) for ref in sorted(snapshot.gone)],
        "listed": [
            {"group": kind.group, "kind": kind.kind, "namespace": namespace}
            for kind, namespace in sorted(snapshot.listed)
        ],
        "assumed": [
            {name: getattr(assumed, name) for name in fields_of(AssumedObjects)} for assumed in snapshot.assumed
        ],
        "gaps": [_gap_entry(gap, redacted=header.redacted) for gap in snapshot.gaps],
        # Words about a text may quote it.
        "diagnostics": []
        if header.redacted
        else [_diagnostic_entry(diagnostic) for diagnostic in snapshot.diagnostics],
    }


def _ref_entry(ref: ObjectRef) -> dict[str, Json]:
    return {"group": ref.group_kind.group, "kind": ref.group_kind.kind, "namespace": ref.namespace, "name": ref.name}


def _origin_entry(origin: Origin | None) -> dict[str, Json]:
    return {"source": origin.source, "line": origin.line} if origin else {}


def _diagnostic_entry(diagnostic: Diagnostic) -> dict[str, Json]:
    subject: dict[str, Json] = {"subject": _ref_entry(diagnostic.subject)} if diagnostic.subject else {}
    return {
        **{name: getattr(diagnostic, name) for name in _TEXTS_OF_DIAGNOSTICS},
        "severity": diagnostic.severity,
        **subject,
        "related": [_ref_entry(ref) for ref in diagnostic.related],
        **_origin_entry(diagnostic.origin),
    }


def _gap_entry(gap: Gap, *, redacted: bool) -> dict[str, Json]:
    entry = {**{name: getattr(gap, name) for name in _TEXTS_OF_GAPS}, **_origin_entry(gap.origin)}
    # These are words of what could not be read: where one of them says that it is a Secret, they may be its data.
    if gap.mentions is not None and not redacted and SECRET.kind not in gap.mentions:
        entry["mentions"] = sorted(gap.mentions)
    if gap.besides:
        entry["besides"] = sorted(gap.besides)
    if gap.group is not None:
        entry["group"] = gap.group
    if gap.missing:
        entry["missing"] = [_ref_entry(ref) for ref in sorted(gap.missing)]
    if gap.needs:
        entry["needs"] = {name: getattr(gap.needs, name) for name in fields_of(Permission)}
    return entry


def _kept(ref: ObjectRef, raw: Mapping[str, Json]) -> Mapping[str, Json]:
    """An object as it is written: in the namespace where it is, and without what no question needs."""
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


def _line(entry: Mapping[str, Json]) -> bytes:
    return f"{_ENCODER.encode(entry)}\n".encode("ascii")


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines of compressed text. Raises DocumentError where it is cut off or damaged, and for far too much of it."""
    size, begun = 0, b""
    for piece in unpacked(data):
        size += len(piece)
        *lines, begun = (begun + piece).split(b"\n")
        yield from lines
        if size > MAX_FILE_SIZE or len(begun) > _LONGEST_LINE:
            raise DocumentError("too-large", 1, "more is packed into the file than any cluster holds")
    if begun:
        raise DocumentError("unreadable", 1, "something else follows the end of the snapshot in the file")


def _read_line(reading: Reading, line: bytes, origin: Origin) -> None:
    try:
        entry = decoded(line)
    except DocumentError as error:
        problem = error.problem.message
    except ValueError:
        problem = "the line is not JSON"
    else:
        if isinstance(entry, dict) and "metadata" in entry:
            reading.read_object(entry, origin)
            return
        problem = "the line holds no object"
    reading.note(Problem(message=problem, reason="unreadable", line=origin.line), origin.source)


def _header_in(line: bytes, source: str) -> tuple[Snapshot, int]:
    """What a header says of the snapshot, without its objects, and how many these are. Raises SourceError."""
    try:
        content = decoded(line)
    except (ValueError, DocumentError):
        raise _refusal(source, "its header is not JSON") from None
    fields = content if isinstance(content, dict) else {}
    written_as = fields.get("apiVersion")
    if written_as != API_VERSION:
        message = f"{source}: a snapshot of another version: {written_as}, where {API_VERSION} is read"
        raise SourceError(message, f"it was written by {fields.get('version') or 'another version'}: use that version")
    try:
        return _state_in(fields), _value_at(fields, "objects", int)
    except ValueError as error:
        raise _refusal(source, f"its header is malformed: {error}") from None


def _state_in(fields: Mapping[str, Json]) -> Snapshot:
    """What a header says. Raises ValueError for what is none."""
    return Snapshot(
        complete=fields.get("complete") is True,
        place="the cluster" if fields.get("place") == "the cluster" else "the input",
        gone=frozenset(map(_ref_in, _entries(fields, "gone"))),
        listed=frozenset((_kind_in(entry), _value_at(entry, "namespace", str)) for entry in _entries(fields, "listed")),
        assumed=tuple(
            AssumedObjects(**{name: _value_at(entry, name, str) for name in fields_of(AssumedObjects)})
            for entry in _entries(fields, "assumed")
        ),
        gaps=tuple(map(_gap_in, _entries(fields, "gaps"))),
        diagnostics=tuple(map(_diagnostic_in, _entries(fields, "diagnostics"))),
    )


def _gap_in(entry: Mapping[str, Json]) -> Gap:
    mentions = _value_at(entry, "mentions", list) if "mentions" in entry else None
    return Gap(
        **{name: _value_at(entry, name, str) for name in _TEXTS_OF_GAPS},
        origin=_origin_in(entry),
        mentions=None if mentions is None else frozenset(map(str, mentions)),
        besides=frozenset(map(str, _value_at(entry, "besides", list) if "besides" in entry else ())),
        group=_value_at(entry, "group", str) if "group" in entry else None,
        needs=_permission_in(_value_at(entry, "needs", dict)) if "needs" in entry else None,
        missing=frozenset(map(_ref_in, _entries(entry, "missing") if "missing" in entry else ())),
    )


def _permission_in(entry: Mapping[str, Json]) -> Permission:
    namespace = None if entry.get("namespace") is None else _value_at(entry, "namespace", str)
    return Permission(_value_at(entry, "verb", str), _value_at(entry, "resource", str), namespace)


def _diagnostic_in(entry: Mapping[str, Json]) -> Diagnostic:
    severity, subject = entry.get("severity"), entry.get("subject")
    return Diagnostic(
        **{name: _value_at(entry, name, str) for name in _TEXTS_OF_DIAGNOSTICS},
        severity="error" if severity == "error" else "warning" if severity == "warning" else "info",
        subject=_ref_in(subject) if isinstance(subject, dict) else None,
        related=tuple(map(_ref_in, _entries(entry, "related"))),
        origin=_origin_in(entry),
    )


def _origin_in(entry: Mapping[str, Json]) -> Origin | None:
    return Origin(_value_at(entry, "source", str), _value_at(entry, "line", int)) if "source" in entry else None


def _ref_in(entry: Mapping[str, Json]) -> ObjectRef:
    return ObjectRef(_kind_in(entry), _value_at(entry, "namespace", str), _value_at(entry, "name", str))


def _kind_in(entry: Mapping[str, Json]) -> GroupKind:
    return GroupKind(_value_at(entry, "group", str), _value_at(entry, "kind", str))


def _entries(fields: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    entries = _value_at(fields, name, list)
    if not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{name} holds something else than mappings")
    return entries


def _value_at(fields: Mapping[str, Json], name: str, wanted: type[Wanted]) -> Wanted:
    """Return a field of a type. Raises ValueError for any other."""
    content = fields.get(name)
    if not isinstance(content, wanted):
        raise ValueError(f"{name} is no {_TYPES[wanted]}")  # noqa: TRY004 (as for any other wrong value)
    return content


def _refusal(source: str, why: str) -> SourceError:
    return SourceError(f"{source}: a snapshot that cannot be read: {why}", "take the snapshot again")
