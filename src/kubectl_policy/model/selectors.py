"""Label selectors: those of objects (matchLabels, matchExpressions), and as people type them for kubectl."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import Json, mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.unknown import is_unfilled, may_be_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_TOKENS: Final = r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+"
_OPERATORS: Final = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn"}
# A qualified name and a label value that is not empty (apimachinery, util/validation).
_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PREFIX: Final = r"(?=.{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
_KEY: Final = f"({_PREFIX})?{_NAME}"
# One condition of a selector on labels: key, operator and values.
_Requirement: TypeAlias = "tuple[str, str, Sequence[str]]"


def selects(selector: Mapping[str, Json], labels: Mapping[str, str]) -> bool | None:
    """Whether labels satisfy every requirement of a selector; an empty selector selects everything.

    Operators are In, NotIn, Exists and DoesNotExist (metav1.LabelSelectorRequirement); NotIn is satisfied by an absent
    key, as in apimachinery's `labels.Requirement.Matches`. A requirement that cannot be read selects nothing. None
    where that depends on what is to be filled in, in the selector or in the labels.
    """
    verdicts = [_is_met(requirement, labels) for requirement in _requirements(selector)]
    return False if False in verdicts else None if None in verdicts else True


def keys_of(selector: Mapping[str, Json]) -> set[str]:
    """Return the label keys that a selector asks about."""
    return {key for key, _, _ in _requirements(selector)}


def required_labels(selector: Mapping[str, Json]) -> Iterator[list[tuple[str, str | None]]]:
    """Yield, for each requirement that an object without labels cannot satisfy, the labels of which it must have one.

    The value of a label is None where any value satisfies the requirement.
    """
    for key, operator, values in _requirements(selector):
        if operator == "In":
            yield [(key, value) for value in dict.fromkeys(values)]
        elif operator == "Exists":
            yield [(key, None)]


def _requirements(selector: Mapping[str, Json]) -> Iterator[_Requirement]:
    for key, value in mapping_at(selector, "matchLabels").items():
        yield key, "In", [value] if isinstance(value, str) else []
    for entry in mappings_at(selector, "matchExpressions"):
        yield text_at(entry, "key"), text_at(entry, "operator"), strings_at(entry, "values")


def _is_met(requirement: _Requirement, labels: Mapping[str, str]) -> bool | None:
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
