"""Which objects an API server would refuse, as far as their CustomResourceDefinitions were read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from kubectl_policy.model import Diagnostic
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at, value_at
from kubectl_policy.validation.expressions import can_evaluate
from kubectl_policy.validation.findings import Budget, Finding, unchecked
from kubectl_policy.validation.pruning import pruned
from kubectl_policy.validation.rules import Rules, RuleTree, hidden_by, rule_tree
from kubectl_policy.validation.schema import structural_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.model.index import Index

# Everything here recurses on values; real definitions are 50 levels deep.
_DEEPEST: Final = 100
# etcd takes 1.5 MiB, and a value that is repeated by an alias counts each time.
_LARGEST: Final = 300_000


def is_sound(value: object) -> bool:
    """Whether a value is made of the types of JSON, with text as keys, and is neither endless nor enormous."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while waiting:
        found, depth = waiting.pop()
        seen += 1
        if seen > _LARGEST or depth > _DEEPEST:
            return False
        if isinstance(found, Mapping):
            fields = cast("Mapping[object, object]", found)
            if not all(isinstance(key, str) for key in fields):
                return False
            waiting += [(inner, depth + 1) for inner in fields.values()]
        elif isinstance(found, list | tuple):
            waiting += [(inner, depth + 1) for inner in cast("Sequence[object]", found)]
        elif found is not None and not isinstance(found, bool | int | float | str):
            return False
    return True


_MOST: Final = 100


class Admission(NamedTuple):
    """The schema of a version with its rules; the status is dropped where it is a subresource."""

    schema: Mapping[str, Json]
    rules: RuleTree | None
    drops_status: bool

    def findings(self, raw: Mapping[str, Json]) -> list[Finding]:
        """What is wrong with a sound object that has its defaults, and what could not be found out."""
        kept = pruned(raw, self.schema)
        if self.drops_status:
            kept = {key: value for key, value in kept.items() if key != "status"}
        budget = Budget()
        found = structural_findings(kept, self.schema, "", budget)
        if self.rules and not can_evaluate():
            found.append(unchecked("", "its rules were not checked: cel-expr-python is not installed"))
        elif self.rules:
            found += Rules(budget, hidden_by(found)).findings(kept, self.rules)
        return _once(found)


def admission_of(version: Mapping[str, Json]) -> Admission | None:
    """What a version of a definition says; None if it has no schema that can be worked with."""
    schema = mapping_at(version, "schema.openAPIV3Schema")
    if not schema or not is_sound(schema):
        return None
    return Admission(schema, rule_tree(schema, schema, root=True), value_at(version, "subresources.status") is not None)


def _once(found: list[Finding]) -> list[Finding]:
    """The findings without repetitions and with an end; of a doubt, the first field that it is about is enough."""
    first: dict[tuple[str, str], Finding] = {}
    for one in found:
        first.setdefault((one.field if one.refused else "", one.words), one)
    every = list(first.values())
    rest = [unchecked("", f"{len(every) - _MOST} more problems are not listed")] if len(every) > _MOST else []
    return every[:_MOST] + rest


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
