"""Which requests a rule passes on to the rules of a route that it delegates to."""

from __future__ import annotations

from itertools import islice
from posixpath import normpath
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import Json

# More than anybody has: the API allows a rule 64.
MOST_MATCHES: Final = 5_000
_PREFIX: Final = "PathPrefix"
_REGULAR_EXPRESSION: Final = "RegularExpression"
_YES: Final = frozenset({"true", "yes", "enabled"})
# Type, name and value.
_Condition: TypeAlias = "tuple[str, str, str]"


class Match(NamedTuple):
    """One match of a rule (HTTPRouteMatch) with its defaults; an empty method is any."""

    path_type: str
    path: str
    headers: frozenset[_Condition]
    query: frozenset[_Condition]
    method: str


def matches_of(raw: Mapping[str, Json], rule: int) -> tuple[Match, ...]:
    """The matches of a rule, by its index; without any, the one that has every request (HTTPRouteRule.Matches)."""
    rules = items_at(raw, "spec.rules")
    found = mappings_at(rules[rule], "matches") if rule < len(rules) else []
    return tuple(dict.fromkeys(_match(entry) for entry in found or [{}]))


def _match(entry: Mapping[str, Json]) -> Match:
    path = mapping_at(entry, "path")
    return Match(
        text_at(path, "type", _PREFIX),
        text_at(path, "value", "/"),
        _conditions(entry, "headers"),
        _conditions(entry, "queryParams"),
        text_at(entry, "method"),
    )


def _conditions(entry: Mapping[str, Json], field: str) -> frozenset[_Condition]:
    found = mappings_at(entry, field)
    return frozenset((text_at(one, "type", "Exact"), text_at(one, "name"), text_at(one, "value")) for one in found)


def inherits(raw: Mapping[str, Json], annotation: str) -> bool:
    """Whether a route has an annotation that is switched on."""
    value = mapping_at(raw, "metadata.annotations").get(annotation) if annotation else None
    return isinstance(value, str) and value.lower() in _YES


def passed_on(above: Iterable[Match], own: Sequence[Match], *, inherit: bool) -> tuple[Match, ...]:
    """The matches of a rule that remain of it below a delegating rule, or both joined; none if it is not reached.

    Of joined ones, which multiply, no more than one beyond `MOST_MATCHES`.
    """
    pairs = ((outer, inner) for outer in above for inner in own)
    if inherit:
        return tuple(dict.fromkeys(_joined(outer, inner) for outer, inner in islice(pairs, MOST_MATCHES + 1)))
    return tuple(dict.fromkeys(inner for outer, inner in pairs if _inside(outer, inner)))


def _inside(outer: Match, inner: Match) -> bool:
    """Whether a match has nothing that the delegating one has not; paths are compared as text, `/ab` is inside `/a`."""
    return (
        outer.path_type == _PREFIX
        and _normal(inner).startswith(_normal(outer))
        and outer.headers <= inner.headers
        and outer.query <= inner.query
        and outer.method in {"", inner.method}
    )


def _normal(match: Match) -> str:
    """A path as it is compared: "a trailing slash is ignored" at the end of a prefix (PathMatchPathPrefix)."""
    return match.path.rstrip("/") or "/" if match.path_type == _PREFIX else match.path


def _joined(outer: Match, inner: Match) -> Match:
    """The requests of both; what the delegating match says of a header or parameter, or of the method, counts."""
    expression = _REGULAR_EXPRESSION in {outer.path_type, inner.path_type}
    path = outer.path + inner.path if expression else normpath(f"/{outer.path}/{inner.path}".replace("//", "/"))
    return Match(
        _REGULAR_EXPRESSION if outer.path_type == _REGULAR_EXPRESSION else inner.path_type,
        path,
        _both(outer.headers, inner.headers),
        _both(outer.query, inner.query),
        outer.method or inner.method,
    )


def _both(outer: frozenset[_Condition], inner: frozenset[_Condition]) -> frozenset[_Condition]:
    named = {name for _, name, _ in outer}
    return outer | {condition for condition in inner if condition[1] not in named}
