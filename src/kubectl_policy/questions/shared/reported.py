"""What controllers said about an object, in its status and in Events; never believed, only shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.model import GroupKind
from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at, text_at, time_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.model.index import Index

# What the conditions of a place are about: the object itself, one of its parents, ancestors or listeners.
PlaceSort: TypeAlias = Literal["object", "parent", "ancestor", "listener"]


class ReportedCondition(NamedTuple):
    """One condition. `about` says what it is about where an object has several (a parent, an ancestor, a listener).

    `stale` is true where the controller has not seen the object's present generation; `seen` is the generation that it
    says to have seen, None if it does not say.
    """

    type: str
    status: str
    reason: str
    message: str
    about: str
    controller: str
    stale: bool
    seen: int | None = None


class ReportedPlace(NamedTuple):
    """Conditions that stand together, with what they are about and who wrote them, as far as the status says so.

    `entry` is the element of the status' list, or the status itself; `reference` is its parentRef or ancestorRef.
    """

    sort: PlaceSort
    entry: Mapping[str, Json]
    reference: Mapping[str, Json]
    controller: str
    conditions: tuple[ReportedCondition, ...]


# List in the status -> (what its entries are about, the field in which an entry names that).
_LISTS: Final[tuple[tuple[str, PlaceSort, str], ...]] = (
    ("status.parents", "parent", "parentRef"),
    ("status.ancestors", "ancestor", "ancestorRef"),
    ("status.listeners", "listener", ""),
)


def reported_conditions(raw: Mapping[str, Json]) -> tuple[ReportedCondition, ...]:
    """Every condition in an object's status, in the order of the status."""
    return tuple(condition for place in reported_places(raw) for condition in place.conditions)


def reported_places(raw: Mapping[str, Json]) -> tuple[ReportedPlace, ...]:
    """The places in an object's status that can hold conditions: its own, then each entry of its lists."""
    generation = integer_at(raw, "metadata.generation")
    status = mapping_at(raw, "status")
    found = [_place("object", status, "", generation)]
    for path, sort, field in _LISTS:
        found += [_place(sort, entry, field, generation) for entry in mappings_at(raw, path)]
    return tuple(found)


def has_report(raw: Mapping[str, Json]) -> bool:
    """Whether a status says anything: manifests have none, or an empty one, before a controller has seen the object."""
    status = mapping_at(raw, "status")
    lists = (path.removeprefix("status.") for path, _, _ in _LISTS)
    return any(mappings_at(status, name) for name in ("conditions", *lists))


def _place(sort: PlaceSort, entry: Mapping[str, Json], field: str, generation: int | None) -> ReportedPlace:
    reference = mapping_at(entry, field) if field else {}
    about = _words(reference) if field else f"listener {text_at(entry, 'name')}" if sort == "listener" else ""
    controller = text_at(entry, "controllerName")
    return ReportedPlace(sort, entry, reference, controller, tuple(_conditions(entry, about, controller, generation)))


def _conditions(
    holder: Mapping[str, Json], about: str, controller: str, generation: int | None
) -> Iterator[ReportedCondition]:
    for condition in mappings_at(holder, "conditions"):
        own = integer_at(condition, "observedGeneration")
        # Some kinds have one for all of their conditions instead, beside these.
        seen = integer_at(holder, "observedGeneration") if own is None else own
        yield ReportedCondition(
            text_at(condition, "type"),
            text_at(condition, "status"),
            text_at(condition, "reason"),
            text_at(condition, "message"),
            about,
            controller,
            seen is not None and generation is not None and seen < generation,
            seen,
        )


def _words(reference: Mapping[str, Json]) -> str:
    kind = text_at(reference, "kind", "Gateway")
    namespace, name = text_at(reference, "namespace"), text_at(reference, "name")
    section = text_at(reference, "sectionName")
    qualified = f"{namespace}/{name}" if namespace else name
    return f"{kind} {qualified}#{section}" if section else f"{kind} {qualified}"


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
