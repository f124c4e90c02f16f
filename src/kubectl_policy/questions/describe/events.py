"""What controllers said about an object in Events, oldest first; never believed, only shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import GroupKind
from kubectl_policy.model.fields import integer_at, mapping_at, text_at, time_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.model.index import Index

# One stored object, which an API server shows in both of its groups.
_EVENTS: Final = (GroupKind("", "Event"), GroupKind("events.k8s.io", "Event"))
# Where the time of the last occurrence can be, best first, in either group.
_TIMES: Final = (
    "series.lastObservedTime",
    "lastTimestamp",
    "deprecatedLastTimestamp",
    "eventTime",
    "firstTimestamp",
    "deprecatedFirstTimestamp",
    "metadata.creationTimestamp",
)
_COUNTS: Final = ("series.count", "count", "deprecatedCount")
_SOURCES: Final = ("reportingComponent", "reportingController", "source.component", "deprecatedSource.component")
_UNDATED: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """One Event: its type (`Normal`, `Warning`), who reported it, how often, and when last (empty if not known)."""

    type: str
    reason: str
    source: str
    message: str
    count: int
    last: str


def reported_events(index: Index, obj: ObjectRef) -> tuple[ReportedEvent, ...]:
    """The Events about an object, newest last; those that are about an earlier object of its name are left out."""
    resource = index.get(obj)
    uid = text_at(resource.raw, "metadata.uid") if resource else ""
    found = {
        (event.ref.namespace, event.ref.name): event.raw
        for kind in _EVENTS
        for event in index.of_kind(kind)
        if _is_about(event, obj, uid)
    }
    return tuple(_event(raw) for raw in sorted(found.values(), key=_when))


def _is_about(event: Resource, obj: ObjectRef, uid: str) -> bool:
    about = mapping_at(event.raw, "involvedObject") or mapping_at(event.raw, "regarding")
    if text_at(about, "kind") != obj.kind or text_at(about, "name") != obj.name:
        return False
    version = text_at(about, "apiVersion")
    if version and version.rpartition("/")[0] != obj.group_kind.group:
        return False
    if obj.namespace and (text_at(about, "namespace") or event.ref.namespace) != obj.namespace:
        return False
    return not uid or text_at(about, "uid", uid) in {"", uid}


def _when(raw: Mapping[str, Json]) -> datetime:
    return next((time for path in _TIMES if (time := time_at(raw, path))), _UNDATED)


def _event(raw: Mapping[str, Json]) -> ReportedEvent:
    return ReportedEvent(
        text_at(raw, "type"),
        text_at(raw, "reason"),
        next((source for path in _SOURCES if (source := text_at(raw, path))), ""),
        text_at(raw, "message") or text_at(raw, "note"),
        next((count for path in _COUNTS if (count := integer_at(raw, path))), 1),
        next((text_at(raw, path) for path in _TIMES if time_at(raw, path)), ""),
    )
