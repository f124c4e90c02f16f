"""Label selectors: those of objects (matchLabels, matchExpressions), and as people type them for kubectl."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.model.unknown import is_unfilled, may_be_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model.fields import Json


def selects(selector: Mapping[str, Json], labels: Mapping[str, str]) -> bool | None:
    """Whether labels satisfy every requirement of a selector; an empty selector selects everything.

    Operators are In, NotIn, Exists and DoesNotExist (metav1.LabelSelectorRequirement); NotIn is satisfied by an absent
    key, as in apimachinery's `labels.Requirement.Matches`. A requirement that cannot be read selects nothing. None
    where that depends on what is to be filled in, in the selector or in the labels.
    """
    undecided = False
    for verdict in _verdicts(selector, labels):
        if verdict is False:
            return False
        undecided = undecided or verdict is None
    return None if undecided else True


def keys_of(selector: Mapping[str, Json]) -> set[str]:
    """Return the label keys that a selector asks about."""
    expressions = mappings_at(selector, "matchExpressions")
    return set(mapping_at(selector, "matchLabels")) | {text_at(requirement, "key") for requirement in expressions}


def demanded(selector: Mapping[str, Json]) -> Iterator[list[tuple[str, Json]]]:
    """Yield, for each requirement that an object without labels cannot satisfy, the labels of which it must have one.

    The value of a label is None where any value satisfies the requirement.
    """
    for label in mapping_at(selector, "matchLabels").items():
        yield [label]
    for requirement in mappings_at(selector, "matchExpressions"):
        key = text_at(requirement, "key")
        match text_at(requirement, "operator"):
            case "In":
                yield [(key, value) for value in dict.fromkeys(strings_at(requirement, "values"))]
            case "Exists":
                yield [(key, None)]
            case _:
                continue


def _verdicts(selector: Mapping[str, Json], labels: Mapping[str, str]) -> Iterator[bool | None]:
    for key, wanted in mapping_at(selector, "matchLabels").items():
        yield _is_in(_value_of(key, labels), [wanted] if isinstance(wanted, str) else [])
    for requirement in mappings_at(selector, "matchExpressions"):
        yield _holds(requirement, labels)


class _Undecided:
    """A label that may exist or not: its key, or the key of another label, is a placeholder."""


def _value_of(key: str, labels: Mapping[str, str]) -> str | _Undecided | None:
    if key in labels:
        return labels[key]
    return _Undecided() if any(may_be_label(key, label) for label in labels) else None


def _is_in(value: str | _Undecided | None, wanted: Sequence[str]) -> bool | None:
    if value is None:
        return False
    if isinstance(value, _Undecided):
        return None if wanted else False
    if value in wanted:
        return True
    return None if any(may_be_label(value, wanted_value) for wanted_value in wanted) else False


def _holds(requirement: Mapping[str, Json], labels: Mapping[str, str]) -> bool | None:
    value, values = _value_of(text_at(requirement, "key"), labels), strings_at(requirement, "values")
    match text_at(requirement, "operator"):
        case "In":
            return _is_in(value, values)
        case "NotIn":
            return _negated(_is_in(value, values))
        case "Exists":
            return None if isinstance(value, _Undecided) else value is not None
        case "DoesNotExist":
            return None if isinstance(value, _Undecided) else value is None
        case operator:
            return None if is_unfilled(operator) else False


def _negated(verdict: bool | None) -> bool | None:  # noqa: FBT001 (the one thing that it is about)
    return None if verdict is None else not verdict


_TOKENS: Final = r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+"
_OPERATORS: Final = {"=": "In", "==": "In", "!=": "NotIn", "in": "In", "notin": "NotIn"}
# A qualified name and a label value (apimachinery, util/validation).
_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PREFIX: Final = r"(?=.{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/"
_KEY: Final = f"({_PREFIX})?{_NAME}"
_VALUE: Final = f"({_NAME})?"


def parse_label_query(text: str) -> Mapping[str, Json]:
    """Parse a label query into a selector as `selects` takes it; an empty text selects everything.

    The grammar is that of apimachinery's `labels.Parse` without `<` and `>`, which no selector of an object has. Raises
    `UsageError` for anything else.
    """
    query = _Query(text)
    requirements: list[Json] = []
    while query.peek():
        requirements.append(query.requirement())
        if query.peek():
            query.take_comma()
    return {"matchExpressions": requirements} if requirements else {}


class _Query:
    """A label query that is read token by token; the token behind its end is ""."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = re.findall(_TOKENS, text)
        self._position = 0

    def peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self._position += 1
        return token

    def take_comma(self) -> None:
        if self.peek() != ",":
            self.refuse("a comma or the end")
        self.take()
        if not self.peek():
            self.refuse("a label")

    def refuse(self, wanted: str) -> NoReturn:
        token = f'"{self.peek()}"' if self.peek() else "the end"
        message = f'"{self._text}" is not a label selector: {token} is where {wanted} should be'
        raise UsageError(message, "for example: -l 'app=shop,tier in (front, back),!canary'")

    def requirement(self) -> dict[str, Json]:
        absent = self.peek() == "!" and bool(self.take())
        if not re.fullmatch(_KEY, self.peek()):
            self.refuse("a label")
        key = self.take()
        if absent or self.peek() in {"", ","}:
            return {"key": key, "operator": "DoesNotExist" if absent else "Exists"}
        if self.peek() not in _OPERATORS:
            self.refuse("one of =, ==, !=, in, notin")
        operator = self.take()
        values = self._several() if operator.endswith("in") else [self._one()]
        return {"key": key, "operator": _OPERATORS[operator], "values": values}

    def _one(self) -> Json:
        """Read one value; nothing before a comma, a bracket or the end is the empty value."""
        if self.peek() in {"", ",", ")"}:
            return ""
        if not re.fullmatch(_VALUE, self.peek()):
            self.refuse("a value")
        return self.take()

    def _several(self) -> list[Json]:
        if self.peek() != "(":
            self.refuse("(")
        self.take()
        if self.peek() == ")":
            self.refuse("a value")
        values = [self._one()]
        while self.peek() == ",":
            self.take()
            values.append(self._one())
        if self.peek() != ")":
            self.refuse("a comma or )")
        self.take()
        return values
