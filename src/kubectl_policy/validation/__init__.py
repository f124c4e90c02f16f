"""Validate objects as an API server does, by the schemas and rules of CustomResourceDefinitions."""

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
    """Return an evaluator of expressions with a new budget."""
    from kubectl_policy.validation.expressions import Evaluator  # noqa: PLC0415 (many inputs have no schemas)

    return Evaluator()


class Validation:
    """Validation of the objects of an index by the definitions in the same index."""

    def __init__(self, index: Index, evaluator: Callable[[], Evaluator]) -> None:
        """Keep the index; schemas are compiled for the first object of a kind."""
        self._index = index
        self._evaluator = evaluator
        self._schemas = cache(self._find_schema)

    def problems_of(self, resource: Resource) -> Iterator[Diagnostic]:
        """Yield reasons why an API server would refuse to create an object, and checks that were not possible."""
        schema = self._schema_of(resource)
        if schema:
            yield from schema.diagnostics(resource, self._index.defaulted(resource.ref), self._evaluator())

    def dropped(self, resource: Resource) -> tuple[FieldPath, ...]:
        """Return the fields of an object that an API server would drop, as the schema does not know them."""
        schema = self._schema_of(resource)
        return schema.dropped(resource.raw) if schema else ()

    def _schema_of(self, resource: Resource) -> VersionSchema | None:
        return self._schemas(resource.ref.group_kind, text_at(resource.raw, "apiVersion").rpartition("/")[2])

    def _find_schema(self, kind: GroupKind, version: str) -> VersionSchema | None:
        """Return the schema of a version; None if no definition that was read serves it."""
        definition = self._index.definitions.get(kind)
        for described in mappings_at(definition.raw, "spec.versions") if definition else ():
            if described.get("name") == version and described.get("served") is not False:
                if not mapping_at(described, "schema.openAPIV3Schema"):
                    return None
                from kubectl_policy.validation.admission import version_schema  # noqa: PLC0415 (many have no schemas)

                return version_schema(described)
        return None
