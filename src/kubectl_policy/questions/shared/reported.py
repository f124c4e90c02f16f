"""Reports of controllers about an object, in its status and in Events; they are shown, and never trusted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, cast

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at, text_at, time_at
from kubectl_policy.model.kind_roles import GATEWAY_API

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kubectl_policy.model.index import Index

REPORTED: Final = "The conditions in the status of the object, as controllers reported them."
# What the conditions of a place are about: the object itself, one of its parents, ancestors or listeners.
StatusEntryRole: TypeAlias = Literal["object", "parent", "ancestor", "listener"]


class ReportedCondition(Struct, frozen=True, kw_only=True):
    """A condition, as reported by a controller."""

    about: Annotated[
        str,
        Meta(description="The parent, ancestor or listener that the condition is about; empty for the object itself."),
    ]
    controller: Annotated[str, Meta(description="The controller that reported the condition; empty if unknown.")]
    type: Annotated[str, Meta(description="The type of the condition.")]
    status: Annotated[str, Meta(description="The status of the condition.")]
    reason: Annotated[str, Meta(description="The reason of the condition.")]
    message: Annotated[str, Meta(description="The message of the condition.")]
    stale: Annotated[bool, Meta(description="True if the condition is about an older generation of the object.")]
    seen: int | None = None
    """The generation that the controller says to have seen."""


class StatusEntry(Struct, frozen=True, kw_only=True):
    """The conditions of one place, with what they are about and who wrote them, as far as the status says so."""

    sort: StatusEntryRole
    entry: Mapping[str, Json]
    """The element of the status' list, or the status itself."""
    reference: Mapping[str, Json]
    """Its parentRef or ancestorRef."""
    controller: str
    conditions: tuple[ReportedCondition, ...]


# List in the status -> (what its entries are about, the field in which an entry names that).
_LISTS: Final[tuple[tuple[str, StatusEntryRole, str], ...]] = (
    ("parents", "parent", "parentRef"),
    ("ancestors", "ancestor", "ancestorRef"),
    ("listeners", "listener", ""),
)


_WITH_CONDITIONS: Final = ("conditions", *(name for name, _, _ in _LISTS))


def reported_conditions(raw: Mapping[str, Json]) -> tuple[ReportedCondition, ...]:
    """Every condition in an object's status, in the order of the status."""
    if not has_report(raw):
        return ()
    return tuple(condition for entry in status_entries(raw) for condition in entry.conditions)


def status_entries(raw: Mapping[str, Json]) -> tuple[StatusEntry, ...]:
    """The places in an object's status that can hold conditions: its own, then each entry of its lists."""
    generation, status = integer_at(raw, "metadata.generation"), mapping_at(raw, "status")
    direct = _status_entry("object", status, "", generation)
    listed = (
        _status_entry(sort, entry, field, generation)
        for name, sort, field in _LISTS
        if name in status
        for entry in mappings_at(status, name)
    )
    return direct, *listed


def has_report(raw: Mapping[str, Json]) -> bool:
    """Whether a status says anything: manifests have none, or an empty one, before a controller has seen the object."""
    status = mapping_at(raw, "status")
    return bool(status) and any(mappings_at(status, name) for name in _WITH_CONDITIONS if name in status)


def is_initial(raw: Mapping[str, Json]) -> bool:
    """Whether all conditions in a status are those that an API server fills in until a controller sees the object.

    They are Unknown, for the reason Pending, which Gateway API keeps for that.
    """
    statuses = {(condition.status, condition.reason) for condition in reported_conditions(raw)}
    return statuses == {("Unknown", "Pending")}


def parse_policy_names(value: Json, home: str) -> frozenset[str] | None:
    """The policies that an annotation names, as `namespace/name`; None if it cannot be read.

    It is `namespace/name`, several of these with commas between them, or a JSON list of mappings with a `namespace` and
    a `name`, in any case: the keys of a `types.NamespacedName` are written `Namespace` and `Name`.
    """
    if not isinstance(value, str):
        return None
    if not value.lstrip().startswith(("[", "{")):
        parts = (part.strip() for part in value.split(","))
        return frozenset(part if "/" in part else f"{home}/{part}" for part in parts if part)
    import json  # noqa: PLC0415 (few objects have such an annotation)

    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    names: set[str] = set()
    for entry in cast("list[object]", parsed if isinstance(parsed, list) else [parsed]):
        fields = cast("dict[str, object]", entry).items() if isinstance(entry, dict) else ()
        keyed = {key.lower(): text for key, text in fields}
        namespace, name = keyed.get("namespace") or home, keyed.get("name")
        if not (isinstance(namespace, str) and isinstance(name, str) and namespace and name):
            return None
        names.add(f"{namespace}/{name}")
    return frozenset(names)


# The conditions of policies by which a controller says that one does not work, and the status with which it does.
NOT_WORKING: Final = {
    **dict.fromkeys(("Accepted", "Valid", "Attached", "Enforced", "Programmed", "ResolvedRefs"), "False"),
    "Conflicted": "True",
}


def contrary_report(policy: Resource, around: Collection[ObjectRef]) -> ReportedCondition | None:
    """The first condition by which a controller says that a policy does not work for any of some objects.

    What it says of the policy as a whole counts, and what it says for an ancestor that is one of these objects.
    """
    if not has_report(policy.raw):
        return None
    for entry in status_entries(policy.raw):
        kind = GroupKind(text_at(entry.reference, "group", GATEWAY_API), text_at(entry.reference, "kind", "Gateway"))
        namespace = text_at(entry.reference, "namespace", policy.ref.namespace)
        ancestor = ObjectRef(kind, namespace, text_at(entry.reference, "name"))
        if entry.sort == "object" or ancestor in around:
            against = {(condition.type, condition.status): condition for condition in reversed(entry.conditions)}
            contrary = next((against[sign] for sign in NOT_WORKING.items() if sign in against), None)
            if contrary:
                return contrary
    return None


_TEXTS: Final = ("type", "status", "reason", "message")


def _status_entry(sort: StatusEntryRole, entry: Mapping[str, Json], field: str, generation: int | None) -> StatusEntry:
    reference = mapping_at(entry, field)
    about = f"listener {text_at(entry, 'name')}" if sort == "listener" else ""
    if field:
        namespace, section = text_at(reference, "namespace"), text_at(reference, "sectionName")
        name = f"{namespace}/{text_at(reference, 'name')}" if namespace else text_at(reference, "name")
        about = f"{text_at(reference, 'kind', 'Gateway')} {name}{f'#{section}' if section else ''}"
    controller = text_at(entry, "controllerName")
    # Some kinds have one for all of their conditions, next to these.
    for_all = integer_at(entry, "observedGeneration")
    conditions: list[ReportedCondition] = []
    for condition in mappings_at(entry, "conditions"):
        seen = integer_at(condition, "observedGeneration")
        seen = for_all if seen is None else seen
        # There may be many thousands of them.
        texts = [text if isinstance(text, str) else "" for text in map(condition.get, _TEXTS)]
        conditions.append(
            ReportedCondition(
                type=texts[0],
                status=texts[1],
                reason=texts[2],
                message=texts[3],
                about=about,
                controller=controller,
                stale=seen is not None and generation is not None and seen < generation,
                seen=seen,
            )
        )
    return StatusEntry(sort=sort, entry=entry, reference=reference, controller=controller, conditions=tuple(conditions))


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


class ReportedEvent(Struct, frozen=True, kw_only=True):
    """An Event."""

    type: Annotated[str, Meta(description="The type of the Event: Normal or Warning.")]
    reason: Annotated[str, Meta(description="The reason of the Event.")]
    from_: Annotated[str, Meta(description="The component that reported the Event.")]
    message: Annotated[str, Meta(description="The message of the Event.")]
    count: Annotated[int, Meta(description="The number of occurrences.")]
    last: Annotated[str, Meta(description="The time of the last occurrence; empty if unknown.")]


def reported_events(index: Index, obj: ObjectRef) -> tuple[ReportedEvent, ...]:
    """The Events about an object, newest last; those that are about an earlier object of its name are left out."""
    resource = index.get(obj)
    uid = text_at(resource.raw, "metadata.uid") if resource else ""
    raws = {
        (event.ref.namespace, event.ref.name): event.raw
        for kind in _EVENTS
        for event in filter(None, map(index.get, index.naming(kind, obj)))
        if _is_about(event, obj, uid)
    }
    return tuple(
        ReportedEvent(
            type=text_at(raw, "type"),
            reason=text_at(raw, "reason"),
            from_=next((source for path in _SOURCES if (source := text_at(raw, path))), ""),
            message=text_at(raw, "message") or text_at(raw, "note"),
            count=next((count for path in _COUNTS if (count := integer_at(raw, path))), 1),
            last=_last(raw)[1],
        )
        for raw in sorted(raws.values(), key=lambda raw: _last(raw)[0])
    )


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


def _last(raw: Mapping[str, Json]) -> tuple[datetime, str]:
    """When an Event occurred last, also as it is written."""
    times = ((time_at(raw, path), text_at(raw, path)) for path in _TIMES)
    return next(((time, text) for time, text in times if time), (_UNDATED, ""))
