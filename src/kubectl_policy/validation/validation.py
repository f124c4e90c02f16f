"""Which objects an API server would refuse, as far as their CustomResourceDefinitions were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import Diagnostic
from kubectl_policy.model.fields import mappings_at, text_at
from kubectl_policy.validation.finding import Finding, unchecked
from kubectl_policy.validation.soundness import is_sound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.validation.admission import Admission


class Validation:
    """Holds the objects of an index against the schemas that were read with them, and no others."""

    def __init__(self, index: Index) -> None:
        """Remember the index; a schema is looked at when the first object of its kind is."""
        self._index = index
        self._admissions: dict[tuple[GroupKind, str], Admission | None] = {}

    def problems_of(self, resource: Resource) -> Iterator[Diagnostic]:
        """Why an API server would refuse an object if it were created now, and what could not be found out."""
        version = text_at(resource.raw, "apiVersion").rpartition("/")[2]
        admission = self._admission(resource.ref.group_kind, version)
        for found in self._findings(resource, admission) if admission else ():
            refused = f"the API server would refuse it: {found.message}"
            yield Diagnostic(
                "schema" if found.refused else "schema-unchecked",
                "error" if found.refused else "info",
                f"{resource.ref}: {refused if found.refused else found.message}",
                resource.ref,
                found.field,
                resource.origin,
            )

    def _findings(self, resource: Resource, admission: Admission) -> list[Finding]:
        if not is_sound(resource.raw):
            return [unchecked("", "it is too large, or too deep, to be checked")]
        return admission.findings(self._index.raw(resource.ref))

    def _admission(self, kind: GroupKind, version: str) -> Admission | None:
        """What admits objects of a version; None if no definition that was read serves it."""
        key = (kind, version)
        if key not in self._admissions:
            definition = self._index.definitions.get(kind)
            found = _served(definition.raw, version) if definition else None
            self._admissions[key] = _admission_of(found) if found else None
        return self._admissions[key]


def _served(definition: Mapping[str, Json], version: str) -> Mapping[str, Json] | None:
    versions = mappings_at(definition, "spec.versions")
    return next((one for one in versions if one.get("name") == version and one.get("served") is not False), None)


def _admission_of(version: Mapping[str, Json]) -> Admission | None:
    from kubectl_policy.validation.admission import admission_of  # noqa: PLC0415 - many inputs have no definitions

    return admission_of(version)
