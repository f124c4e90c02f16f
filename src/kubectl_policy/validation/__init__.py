"""Validate objects as an API server does, by the schemas and rules of CustomResourceDefinitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mapping_at, mappings_at

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind
    from kubectl_policy.model.index import Index
    from kubectl_policy.validation.admission import VersionSchema
    from kubectl_policy.validation.expressions import Evaluator

__all__ = ["find_schema", "new_evaluator"]


def new_evaluator() -> Evaluator:
    """Return an evaluator of expressions with a new budget."""
    from kubectl_policy.validation.expressions import Evaluator  # noqa: PLC0415 (many inputs have no schemas)

    return Evaluator()


def find_schema(index: Index, kind: GroupKind, version: str) -> VersionSchema | None:
    """Return the compiled schema of a version; None if no definition that was read serves it."""
    definition = index.definitions.get(kind)
    for described in mappings_at(definition.raw, "spec.versions") if definition else ():
        if described.get("name") == version and described.get("served") is not False:
            if not mapping_at(described, "schema.openAPIV3Schema"):
                return None
            from kubectl_policy.validation.admission import version_schema  # noqa: PLC0415 (many have no schemas)

            return version_schema(described)
    return None
