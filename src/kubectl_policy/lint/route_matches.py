"""Matches of HTTPRoutes and GRPCRoutes: the requests that they are for, in a form in which equal ones are equal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.model.fields import items_at
from kubectl_policy.model.kind_roles import HTTP_ROUTE

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

EXACT: Final = "Exact"
PREFIX: Final = "PathPrefix"
REGULAR_EXPRESSION: Final = "RegularExpression"
_PATHS: Final = (PREFIX, EXACT, REGULAR_EXPRESSION)
GRPC_METHOD: Final = "gRPC method"
_GRPC: Final = {EXACT: GRPC_METHOD, REGULAR_EXPRESSION: "gRPC methods like"}
# Expressions that every path matches.
_ANY: Final = frozenset({".*", "/.*", "^/.*", "^/.*$", "/.*$"})
# Name, type and value of a header or a query parameter.
_Pairs: TypeAlias = "tuple[tuple[str, str, str], ...]"
# The fields of the API's types; matches with other fields are not understood.
_OF_HTTP: Final = frozenset({"path", "headers", "queryParams", "method"})
_OF_GRPC: Final = frozenset({"method", "headers"})
_OF_PATHS: Final = frozenset({"type", "value"})
_OF_METHODS: Final = frozenset({"type", "service", "method"})
_OF_PAIRS: Final = frozenset({"type", "name", "value"})
_NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})


class Conditions(Struct, frozen=True, gc=False):
    """The conditions of a match on a request.

    The first of several entries for one header or query parameter counts (HTTPHeaderMatch.Name).
    """

    sort: str
    """The type of the path, or `gRPC method`."""
    path: str
    """A prefix without its trailing slash, a path, or `service/method`, of which either may be empty."""
    method: str = ""
    """The method of HTTP."""
    headers: _Pairs = ()
    parameters: _Pairs = ()

    def __str__(self) -> str:
        """Return the conditions as messages name them; values of headers may be secret."""
        names = [f"header {name}" for name, _, _ in self.headers]
        names += [f"query parameter {name}" for name, _, _ in self.parameters]
        method = f"{self.method} " if self.method else ""
        return f"{method}{self.sort} {self.path or '/'}" + (f" with {', '.join(names)}" if names else "")

    @property
    def takes_all(self) -> bool:
        """Whether every HTTP request fulfils the conditions."""
        is_any = not self.path if self.sort == PREFIX else self.sort == REGULAR_EXPRESSION and self.path in _ANY
        return is_any and not (self.method or self.headers or self.parameters)

    def has_path(self, path: str) -> bool | None:
        """Whether a path fulfils the conditions; None if only a regular expression decides."""
        if self.sort == PREFIX:
            return path == self.path or path.startswith(f"{self.path}/")
        return path == self.path if self.sort == EXACT else None

    def fits(self, rival: Conditions) -> bool:
        """Whether a request can fulfil both conditions, apart from its path."""
        is_one = not (self.method and rival.method) or self.method == rival.method
        return is_one and _fit(self.headers, rival.headers) and _fit(self.parameters, rival.parameters)


def _fit(pairs: _Pairs, rival_pairs: _Pairs) -> bool:
    wanted = {name: value for name, sort, value in pairs if sort == EXACT}
    return all(sort != EXACT or wanted.get(name, value) == value for name, sort, value in rival_pairs)


class RouteMatch(Struct, frozen=True, gc=False):
    """A match of a rule of a route, by the indices of both; a rule without matches has one at position -1."""

    route: Resource
    rule: int
    position: int
    conditions: Conditions
    written: Mapping[str, Json]

    @property
    def field(self) -> str:
        """The path of the match, or of a rule without matches."""
        rule = f"spec.rules[{self.rule}]"
        return rule if self.position < 0 else f"{rule}.matches[{self.position}]"


_EVERY_PATH: Final = Conditions(PREFIX, "")
_EVERY_METHOD: Final = Conditions(_GRPC[EXACT], "/")


def matches_of(route: Resource) -> list[RouteMatch]:
    """Return the valid matches of an HTTPRoute or a GRPCRoute, in their order."""
    read, every = (_of_http, _EVERY_PATH) if route.ref.group_kind == HTTP_ROUTE else (_of_grpc, _EVERY_METHOD)
    route_matches: list[RouteMatch] = []
    for number, rule in enumerate(items_at(route.raw, "spec.rules")):
        if not isinstance(rule, (dict, Mapping)):
            continue
        matches = rule.get("matches")
        if matches and isinstance(matches, (list, tuple)):
            for position, match in enumerate(matches):
                if isinstance(match, (dict, Mapping)) and (conditions := read(match)):
                    route_matches.append(RouteMatch(route, number, position, conditions, match))
        elif not matches:
            route_matches.append(RouteMatch(route, number, -1, every, {}))
    return route_matches


def _of_http(match: Mapping[str, Json]) -> Conditions | None:
    path, method = match.get("path", _NOTHING), match.get("method", "")
    if not isinstance(path, (dict, Mapping)) or not _OF_PATHS.issuperset(path) or not _OF_HTTP.issuperset(match):
        return None
    sort, value = path.get("type", PREFIX), path.get("value", "/")
    if sort not in _PATHS or not isinstance(value, str) or not isinstance(method, str):
        return None
    value = value.rstrip("/") if sort == PREFIX else value
    # Most ask for a path alone.
    if len(match) == 1 and path:
        return Conditions(sort, value)
    headers = _pairs(match.get("headers"), is_header=True)
    parameters = _pairs(match.get("queryParams"), is_header=False)
    return None if headers is None or parameters is None else Conditions(sort, value, method, headers, parameters)


def _of_grpc(match: Mapping[str, Json]) -> Conditions | None:
    method, headers = match.get("method", _NOTHING), _pairs(match.get("headers"), is_header=True)
    if headers is None or not isinstance(method, (dict, Mapping)):
        return None
    if not _OF_METHODS.issuperset(method) or not _OF_GRPC.issuperset(match):
        return None
    sort, service, name = method.get("type", EXACT), method.get("service", ""), method.get("method", "")
    if not (isinstance(sort, str) and isinstance(service, str) and isinstance(name, str) and sort in _GRPC):
        return None
    return Conditions(_GRPC[sort], f"{service}/{name}", "", headers)


def _pairs(entries: Json, *, is_header: bool) -> _Pairs | None:
    """Return the conditions on headers or query parameters, or None if they are malformed."""
    if not entries:
        return ()
    if not isinstance(entries, (list, tuple)):
        return None
    by_name: dict[str, tuple[str, str, str]] = {}
    for entry in entries:
        if not isinstance(entry, (dict, Mapping)) or not _OF_PAIRS.issuperset(entry):
            return None
        name, sort, value = entry.get("name"), entry.get("type", EXACT), entry.get("value")
        if not (isinstance(name, str) and isinstance(sort, str) and isinstance(value, str)):
            return None
        name = name.lower() if is_header else name
        by_name.setdefault(name, (name, sort, value))
    return tuple(sorted(by_name.values()))
