"""Field selectors, as people type them for kubectl, and the fields of a kind by which an API server selects."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import mappings_at, text_at, value_at
from kubectl_policy.model.kind_roles import NAMESPACE, SERVICE
from kubectl_policy.model.unknown import may_be_label, may_equal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.model.refs import GroupKind
    from kubectl_policy.model.snapshot import Resource

NAME_FIELD: Final = "metadata.name"
NAMESPACE_FIELD: Final = "metadata.namespace"
# What else an API server selects built-in kinds by (kubernetes, pkg/apis/core/v1/conversion.go), of those that lists
# have. Where a manifest lacks one, the server fills it in; None: with a value of its own choice.
_OF_KIND: Final[Mapping[GroupKind, Mapping[str, str | None]]] = {
    SERVICE: {"spec.clusterIP": None, "spec.type": "ClusterIP"},
    NAMESPACE: {"status.phase": None},
}
# A term ends at a comma, and its field at the first operator, unless a backslash stands before them.
_TERM: Final = r"(?:[^\\,]|\\.)+"
_PARTS: Final = r"(?P<field>(?:[^\\=!]|\\.|!(?!=))*)(?P<operator>!=|==?)(?P<value>(?:[^\\=]|\\.)*)"
_EXAMPLE: Final = "for example: --field-selector metadata.name=web,metadata.namespace!=test"


class FieldRequirement(Struct, frozen=True):
    """One condition of a field selector: a field has a value, or if the condition is `negated`, it has not."""

    field: str
    value: str
    negated: bool = False


def parse_field_query(text: str) -> tuple[FieldRequirement, ...]:
    """Parse a field selector: `FIELD=VALUE`, `FIELD==VALUE` and `FIELD!=VALUE`, joined by commas.

    The grammar is that of apimachinery's `fields.ParseSelector`. Raises `UsageError` for anything else.
    """
    requirements: list[FieldRequirement] = []
    for term in re.findall(_TERM, text):
        parts = re.fullmatch(_PARTS, term)
        if not parts:
            raise UsageError(f"invalid field selector: '{text}'; can't understand '{term}'", _EXAMPLE)
        value = re.sub(r"\\([\\,=])", r"\1", parts["value"])
        if parts["field"]:
            requirements.append(FieldRequirement(parts["field"], value, parts["operator"] == "!="))
    return tuple(requirements)


def selectable_fields(names: KindNames, definition: Resource | None) -> tuple[str, ...]:
    """Return the fields by which an API server selects the objects of a kind, which may have a definition."""
    versions = mappings_at(definition.raw, "spec.versions") if definition else []
    declared = (field for version in versions for field in mappings_at(version, "selectableFields"))
    paths = (text_at(field, "jsonPath").removeprefix(".") for field in declared)
    return (
        NAME_FIELD,
        *([NAMESPACE_FIELD] if names.namespaced else []),
        *_OF_KIND.get(names.group_kind, {}),
        *dict.fromkeys(filter(None, paths)),
    )


def selects_fields(requirements: Sequence[FieldRequirement], resource: Resource) -> bool | None:
    """Whether an object meets all conditions; None if that depends on a value that is still to be filled in."""
    verdicts = [_is_met(requirement, resource) for requirement in requirements]
    return False if False in verdicts else None if None in verdicts else True


def _is_met(requirement: FieldRequirement, resource: Resource) -> bool | None:
    wanted = requirement.value
    if requirement.field in {NAME_FIELD, NAMESPACE_FIELD}:
        value = resource.ref.name if requirement.field == NAME_FIELD else resource.ref.namespace
        may_be = may_equal(value, wanted)
    else:
        written = value_at(resource.raw, requirement.field)
        defaults = _OF_KIND.get(resource.ref.group_kind, {})
        filled_in = defaults.get(requirement.field, "") if written is None else _text(written)
        if filled_in is None:
            return None
        value, may_be = filled_in, may_be_label(filled_in, wanted)
    if value == wanted:
        return not requirement.negated
    return None if may_be else requirement.negated


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
