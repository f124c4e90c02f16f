"""Validate objects as an API server does, by the schemas and rules of CustomResourceDefinitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY_API_GROUPS

if TYPE_CHECKING:
    from kubectl_policy.model import GroupKind, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.validation.admission import VersionSchema
    from kubectl_policy.validation.expressions import Evaluator

__all__ = ["find_schema", "find_standard_schema", "new_evaluator"]


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


def find_standard_schema(index: Index, resource: Resource) -> VersionSchema | None:
    """Return the schema of Gateway API that comes with the program; None if it does not count for an object.

    It counts for a kind without a definition in the input, unless an API server has accepted the object, as its
    metadata then say: that server has a definition, which may be of another version.
    """
    kind, metadata = resource.ref.group_kind, mapping_at(resource.raw, "metadata")
    if kind.group not in GATEWAY_API_GROUPS or kind in index.definitions:
        return None
    if metadata.get("uid") or metadata.get("resourceVersion"):
        return None
    from kubectl_policy.validation.standard import standard_schema  # noqa: PLC0415 (only lint asks)

    return standard_schema(kind, text_at(resource.raw, "apiVersion").rpartition("/")[2])
