"""Label selectors of objects (matchLabels, matchExpressions), and selectors of labels and fields typed for kubectl."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import Json, mapping_at, mappings_at, strings_at, text_at, value_at
from kubectl_policy.model.kind_roles import NAMESPACE, POD, SERVICE
from kubectl_policy.model.unknown import is_unfilled, may_be_label, may_equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.model.refs import GroupKind
    from kubectl_policy.model.snapshot import Resource


_TOKENS: Final = r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+"
_OPERATORS: Final = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn"}
# A qualified name and a label value that is not empty (apimachinery, util/validation).
_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PREFIX: Final = r"(?=.{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
_KEY: Final = f"({_PREFIX})?{_NAME}"
NAME_FIELD: Final = "metadata.name"
NAMESPACE_FIELD: Final = "metadata.namespace"
# What else an API server selects built-in kinds by (kubernetes, pkg/apis/core/v1/conversion.go), of those that lists
# have and questions read. Where a manifest lacks one, the server fills it in; None: with a value of its own choice.
_FIELDS_OF_KIND: Final[Mapping[GroupKind, Mapping[str, str | None]]] = {
    POD: {
        "spec.nodeName": None,
        "spec.serviceAccountName": "default",
        "spec.hostNetwork": "false",
        "status.phase": None,
        "status.podIP": None,
    },
    SERVICE: {"spec.clusterIP": None, "spec.type": "ClusterIP"},
    NAMESPACE: {"status.phase": None},
}
# A term ends at a comma, and its field at the first operator, unless a backslash stands before them.
_FIELD_TERM: Final = r"(?:[^\\,]|\\.)+"
_FIELD_PARTS: Final = r"(?P<field>(?:[^\\=!]|\\.|!(?!=))*)(?P<operator>!=|==?)(?P<value>(?:[^\\=]|\\.)*)"
_FIELD_EXAMPLE: Final = "for example: --field-selector metadata.name=web,metadata.namespace!=test"
# One condition of a selector on labels: key, operator and values.
Requirement: TypeAlias = "tuple[str, str, Sequence[str]]"


def selects(selector: Mapping[str, Json], labels: Mapping[str, str]) -> bool | None:
    """Whether labels satisfy every requirement of a selector; an empty selector selects everything.

    Operators are In, NotIn, Exists and DoesNotExist (metav1.LabelSelectorRequirement); NotIn is satisfied by an absent
    key, as in apimachinery's `labels.Requirement.Matches`. A requirement that cannot be read selects nothing. None
    where that depends on what is to be filled in, in the selector or in the labels.
    """
    verdicts = [_is_met(requirement, labels) for requirement in requirements_of(selector)]
    return False if False in verdicts else None if None in verdicts else True


def selects_by_key(selector: Mapping[str, Json], key: str, value: str) -> bool | None:
    """Whether a label satisfies those requirements of a selector that are about its key; see `selects`."""
    verdicts = [
        _is_met(requirement, {key: value}) for requirement in requirements_of(selector) if requirement[0] == key
    ]
    return False if False in verdicts else None if None in verdicts else True


def keys_of(selector: Mapping[str, Json]) -> set[str]:
    """Return the label keys that a selector asks about."""
    return {key for key, _, _ in requirements_of(selector)}


def selector_text(selector: Mapping[str, Json]) -> str:
    """Return a selector as kubectl writes it: `app=web,tier in (a,b),!canary`; "" for one that selects everything."""
    terms: list[str] = []
    for key, operator, values in requirements_of(selector):
        if operator in {"Exists", "DoesNotExist"}:
            terms.append(key if operator == "Exists" else f"!{key}")
        elif operator == "In" and len(values) == 1:
            terms.append(f"{key}={values[0]}")
        else:
            terms.append(f"{key} {operator.lower() or '?'} ({','.join(values)})")
    return ",".join(terms)


def required_labels(selector: Mapping[str, Json]) -> Iterator[list[tuple[str, str | None]]]:
    """Yield, for each requirement that an object without labels cannot satisfy, the labels of which it must have one.

    The value of a label is None where any value satisfies the requirement.
    """
    for key, operator, values in requirements_of(selector):
        if operator == "In":
            yield [(key, value) for value in dict.fromkeys(values)]
        elif operator == "Exists":
            yield [(key, None)]


def requirements_of(selector: Mapping[str, Json]) -> Iterator[Requirement]:
    """Yield the conditions of a selector; a value that is no text is met by no label."""
    for key, value in mapping_at(selector, "matchLabels").items():
        yield key, "In", [value] if isinstance(value, str) else []
    for entry in mappings_at(selector, "matchExpressions"):
        yield text_at(entry, "key"), text_at(entry, "operator"), strings_at(entry, "values")


def _is_met(requirement: Requirement, labels: Mapping[str, str]) -> bool | None:
    key, operator, values = requirement
    if operator not in {"In", "NotIn", "Exists", "DoesNotExist"}:
        return None if is_unfilled(operator) else False
    value, about_values = labels.get(key), operator in {"In", "NotIn"}
    if value is None:
        # The key, or the key of another label, may be a placeholder.
        may_be_there = (values or not about_values) and any(may_be_label(key, label) for label in labels)
        is_met = None if may_be_there else False
    elif about_values and value not in values:
        is_met = None if any(may_be_label(value, wanted) for wanted in values) else False
    else:
        is_met = True
    return is_met if is_met is None or operator in {"In", "Exists"} else not is_met


def parse_label_query(text: str) -> Mapping[str, Json]:
    """Parse a label query into a selector as `selects` takes it; an empty text selects everything.

    The grammar is that of apimachinery's `labels.Parse` without `<` and `>`, which no selector of an object has. Raises
    `UsageError` for anything else.
    """
    query = _Query(text)
    if not query.next:
        return {}
    requirements: list[Json] = [query.requirement()]
    while query.next:
        query.expect(",", "a comma or the end")
        requirements.append(query.requirement())
    return {"matchExpressions": requirements}


class _Query:
    """A label query that is read token by token; the token at its end is ""."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = [*re.findall(_TOKENS, text), ""]

    @property
    def next(self) -> str:
        return self._tokens[0]

    def accept(self, token: str) -> bool:
        """Consume a token if it is the next one."""
        return self.next == token and bool(self._tokens.pop(0))

    def expect(self, pattern: str, wanted: str) -> str:
        """Consume a token. Raises UsageError for one that does not match a pattern."""
        if not re.fullmatch(pattern, self.next):
            token = f'"{self.next}"' if self.next else "the end"
            message = f'"{self._text}" is not a label selector: {token} is where {wanted} should be'
            raise UsageError(message, "for example: -l 'app=shop,tier in (front, back),!canary'")
        return self._tokens.pop(0)

    def requirement(self) -> dict[str, Json]:
        is_absent = self.accept("!")
        key = self.expect(_KEY, "a label")
        if is_absent or self.next in {"", ","}:
            return {"key": key, "operator": "DoesNotExist" if is_absent else "Exists"}
        operator = self.expect("|".join(_OPERATORS), "one of =, ==, !=, in, notin")
        values: list[Json] = []
        if operator.endswith("in"):
            self.expect(r"\(", "(")
            values.append(self._value(ends=","))
            while self.accept(","):
                values.append(self._value(ends=",)"))
            self.expect(r"\)", "a comma or )")
        else:
            values.append(self._value(ends=",)"))
        return {"key": key, "operator": _OPERATORS[operator], "values": values}

    def _value(self, *, ends: str) -> str:
        """Consume a value; it is empty before a character that ends one, and at the end."""
        return "" if self.next in {"", *ends} else self.expect(_NAME, "a value")


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
    for term in re.findall(_FIELD_TERM, text):
        parts = re.fullmatch(_FIELD_PARTS, term)
        if not parts:
            raise UsageError(f"invalid field selector: '{text}'; can't understand '{term}'", _FIELD_EXAMPLE)
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
        *_FIELDS_OF_KIND.get(names.group_kind, {}),
        *dict.fromkeys(filter(None, paths)),
    )


def selects_fields(requirements: Sequence[FieldRequirement], resource: Resource) -> bool | None:
    """Whether an object meets all conditions; None if that depends on a value that is still to be filled in."""
    verdicts = [_has_value(requirement, resource) for requirement in requirements]
    return False if False in verdicts else None if None in verdicts else True


def _has_value(requirement: FieldRequirement, resource: Resource) -> bool | None:
    wanted = requirement.value
    if requirement.field in {NAME_FIELD, NAMESPACE_FIELD}:
        value = resource.ref.name if requirement.field == NAME_FIELD else resource.ref.namespace
        may_be = may_equal(value, wanted)
    else:
        written = value_at(resource.raw, requirement.field)
        defaults = _FIELDS_OF_KIND.get(resource.ref.group_kind, {})
        filled_in = defaults.get(requirement.field, "") if written is None else _text(written)
        if filled_in is None and text_at(resource.raw, "metadata.uid"):
            filled_in = ""
        if filled_in is None:
            return None
        value, may_be = filled_in, may_be_label(filled_in, wanted)
    if value == wanted:
        return not requirement.negated
    return None if may_be else requirement.negated


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
