"""What an object's status says of itself: conditions as its controllers reported them, never believed, only shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.fields import integer_at, mapping_at, mappings_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json


@dataclass(frozen=True, slots=True)
class ReportedCondition:
    """One condition. `about` says what it is about where an object has several (a parent, an ancestor, a listener).

    `stale` is true where the controller has not seen the object's present generation.
    """

    type: str
    status: str
    reason: str
    message: str
    about: str
    controller: str
    stale: bool


# List in the status -> (where the entry names what it is about).
_LISTS: Final = (("status.parents", "parentRef"), ("status.ancestors", "ancestorRef"), ("status.listeners", ""))


def reported_conditions(raw: Mapping[str, Json]) -> tuple[ReportedCondition, ...]:
    """Every condition in an object's status, in the order of the status."""
    generation = integer_at(raw, "metadata.generation")
    found = list(_conditions(mapping_at(raw, "status"), "", generation))
    for path, reference in _LISTS:
        for entry in mappings_at(raw, path):
            about = _reference(mapping_at(entry, reference)) if reference else f"listener {text_at(entry, 'name')}"
            found += _conditions(entry, about, generation)
    return tuple(found)


def _conditions(holder: Mapping[str, Json], about: str, generation: int | None) -> Iterator[ReportedCondition]:
    for condition in mappings_at(holder, "conditions"):
        seen = integer_at(condition, "observedGeneration")
        yield ReportedCondition(
            text_at(condition, "type"),
            text_at(condition, "status"),
            text_at(condition, "reason"),
            text_at(condition, "message"),
            about,
            text_at(holder, "controllerName"),
            seen is not None and generation is not None and seen < generation,
        )


def _reference(reference: Mapping[str, Json]) -> str:
    kind = text_at(reference, "kind", "Gateway")
    namespace, name = text_at(reference, "namespace"), text_at(reference, "name")
    section = text_at(reference, "sectionName")
    qualified = f"{namespace}/{name}" if namespace else name
    return f"{kind} {qualified}#{section}" if section else f"{kind} {qualified}"
