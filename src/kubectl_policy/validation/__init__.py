"""What an API server would refuse: the schemas and the rules of CustomResourceDefinitions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mapping_at, mappings_at, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Diagnostic, FieldPath, GroupKind, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.validation.admission import VersionSchema
    from kubectl_policy.validation.expressions import Evaluator

__all__ = ["Validation", "new_evaluator"]


def new_evaluator() -> Evaluator:
    """An evaluator of expressions with a budget of its own."""
    from kubectl_policy.validation.expressions import Evaluator  # noqa: PLC0415 (many inputs have no schemas)

    return Evaluator()


class Validation:
    """Holds the objects of an index against the schemas that were read with them, and no others."""

    def __init__(self, index: Index, evaluator: Callable[[], Evaluator]) -> None:
        """Remember where to look; schemas and what evaluates are looked at when the first object of a kind is."""
        self._index = index
        self._evaluator = evaluator
        self._admission = cache(self._admission_to)

    def problems_of(self, resource: Resource) -> Iterator[Diagnostic]:
        """Why an API server would refuse an object if it were created now, and what could not be found out."""
        admission = self._admission_of(resource)
        if admission:
            yield from admission.diagnostics(resource, self._index.raw(resource.ref), self._evaluator())

    def dropped(self, resource: Resource) -> tuple[FieldPath, ...]:
        """The fields of an object that an API server would not keep, as the schema does not know them."""
        admission = self._admission_of(resource)
        return admission.dropped(resource.raw) if admission else ()

    def _admission_of(self, resource: Resource) -> VersionSchema | None:
        return self._admission(resource.ref.group_kind, text_at(resource.raw, "apiVersion").rpartition("/")[2])

    def _admission_to(self, kind: GroupKind, version: str) -> VersionSchema | None:
        """What admits objects of a version; None if no definition that was read serves it."""
        definition = self._index.definitions.get(kind)
        for described in mappings_at(definition.raw, "spec.versions") if definition else ():
            if described.get("name") == version and described.get("served") is not False:
                if not mapping_at(described, "schema.openAPIV3Schema"):
                    return None
                from kubectl_policy.validation.admission import version_schema  # noqa: PLC0415 (many have no schemas)

                return version_schema(described)
        return None
