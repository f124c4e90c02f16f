"""Fields in which the status of one object holds its conditions, by what they are about and who reported them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.model.fields import items_at, mapping_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY
from kubectl_policy.questions.status.comparison import Claim
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.questions.status.comparison import Comparison

# An object and a section of it, with the controller if entries name one; None for all entries together.
_About: TypeAlias = "tuple[ObjectRef, str, str | None] | None"


class StatusFields:
    """The paths of conditions in one status; the first of several that are equal."""

    def __init__(self, index: Index, resource: Resource) -> None:
        """Go through the status once: it may have thousands of entries."""
        self._ref = resource.ref
        self._entries: dict[_About, str] = {}
        self._conditions: dict[tuple[_About, str, Claim], tuple[str, Mapping[str, Json]]] = {}
        for about, field, entry in _entries(index, resource):
            self._entries.setdefault(about, field)
            for position, condition in enumerate(items_at(entry, "conditions")):
                if isinstance(condition, Mapping):
                    claim = Claim(*(text_at(condition, name) for name in ("status", "reason", "message")))
                    written = f"{field}.conditions[{position}]", condition
                    self._conditions.setdefault((about, text_at(condition, "type"), claim), written)

    def find(self, comparison: Comparison) -> tuple[str, Mapping[str, Json]] | None:
        """Return the path of a reported condition with the condition, or the path of a count."""
        for about in self._abouts(comparison.at, comparison.controller):
            if comparison.is_count and about in self._entries:
                return f"{self._entries[about]}.{comparison.type}", {}
            if comparison.reported and (about, comparison.type, comparison.reported) in self._conditions:
                return self._conditions[about, comparison.type, comparison.reported]
        return None

    def _abouts(self, at: NodeRef | None, controller: str) -> tuple[_About, ...]:
        if at is None:
            return (None,)
        of_controller = (at.object, at.section, controller)
        return ((at.object, at.section, None), of_controller) if at.object == self._ref else (of_controller,)


def _entries(index: Index, resource: Resource) -> Iterator[tuple[_About, str, Json]]:
    """Yield the entries of a status that may hold conditions, with what they are about and their paths."""
    ref, raw = resource.ref, resource.raw
    yield None, "status", mapping_at(raw, "status")
    for position, entry in enumerate(items_at(raw, "status.listeners")):
        yield (ref, text_at(entry, "name"), None), f"status.listeners[{position}]", entry
    for name, reference in (("parents", "parentRef"), ("ancestors", "ancestorRef")):
        for position, entry in enumerate(items_at(raw, f"status.{name}")):
            named = mapping_at(entry, reference)
            owner = refer(index, named, ref.namespace, GATEWAY)
            field = f"status.{name}[{position}]"
            yield (owner, text_at(named, "sectionName"), text_at(entry, "controllerName")), field, entry
            yield None, field, entry
