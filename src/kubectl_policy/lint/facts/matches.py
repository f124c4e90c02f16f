"""The matches of the rules of routes, in one spelling: what they ask of the requests that a rule takes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from kubectl_policy.model.fields import items_at
from kubectl_policy.topology.references import HTTP_ROUTE

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Resource

EXACT: Final = "Exact"
PREFIX: Final = "PathPrefix"
REGULAR_EXPRESSION: Final = "RegularExpression"
_PATHS: Final = (PREFIX, EXACT, REGULAR_EXPRESSION)
_GRPC: Final = {EXACT: "gRPC method", REGULAR_EXPRESSION: "gRPC methods like"}
# Expressions that every path matches.
_ANY: Final = frozenset({".*", "/.*", "^/.*", "^/.*$", "/.*$"})
# Name, type and value of a header or a query parameter.
_Pairs: TypeAlias = "tuple[tuple[str, str, str], ...]"


class Conditions(Struct, frozen=True, gc=False):
    """What a match asks of a request.

    Of the entries for one header or query parameter, the first one counts (HTTPHeaderMatch.Name).
    """

    sort: str
    """The type of the path, or that it is a method of gRPC."""
    path: str
    """A prefix has no slash at its end, and is empty for every path; of `service/method`, either may be empty."""
    method: str = ""
    """The method of HTTP."""
    headers: _Pairs = ()
    parameters: _Pairs = ()

    def __str__(self) -> str:
        """What it is called in messages; values of headers may be secret."""
        names = [f"header {name}" for name, _, _ in self.headers]
        names += [f"query parameter {name}" for name, _, _ in self.parameters]
        method = f"{self.method} " if self.method else ""
        return f"{method}{self.sort} {self.path or '/'}" + (f" with {', '.join(names)}" if names else "")

    @property
    def takes_all(self) -> bool:
        """Whether every request of HTTP is as it asks."""
        is_any = not self.path if self.sort == PREFIX else self.sort == REGULAR_EXPRESSION and self.path in _ANY
        return is_any and not (self.method or self.headers or self.parameters)

    def has_path(self, path: str) -> bool | None:
        """Whether a path is as it asks; None if only an expression tells."""
        if self.sort == PREFIX:
            return path == self.path or path.startswith(f"{self.path}/")
        return path == self.path if self.sort == EXACT else None

    def fits(self, other: Conditions) -> bool:
        """Whether some request may be as both ask, but for its path."""
        is_one = not (self.method and other.method) or self.method == other.method
        return is_one and _fit(self.headers, other.headers) and _fit(self.parameters, other.parameters)


def _fit(ones: _Pairs, others: _Pairs) -> bool:
    wanted = {name: value for name, sort, value in ones if sort == EXACT}
    return all(sort != EXACT or wanted.get(name, value) == value for name, sort, value in others)


class RouteMatch(Struct, frozen=True, gc=False):
    """A match of a rule of a route, also as it is `written`; `rule` and `position` are indices.

    That of a rule that has no matches is at position -1.
    """

    route: Resource
    rule: int
    position: int
    conditions: Conditions
    written: Mapping[str, Json]

    @property
    def field(self) -> str:
        """Where it stands."""
        rule = f"spec.rules[{self.rule}]"
        return rule if self.position < 0 else f"{rule}.matches[{self.position}]"


def matches_of(route: Resource) -> list[RouteMatch]:
    """The matches of an HTTPRoute or a GRPCRoute, in their order; what is not as its type has it is left out."""
    read, every = (_of_http, _EVERY_PATH) if route.ref.group_kind == HTTP_ROUTE else (_of_grpc, _EVERY_METHOD)
    found: list[RouteMatch] = []
    for number, rule in enumerate(items_at(route.raw, "spec.rules")):
        if not isinstance(rule, (dict, Mapping)):
            continue
        matches = rule.get("matches")
        if matches and isinstance(matches, (list, tuple)):
            for position, match in enumerate(matches):
                if isinstance(match, (dict, Mapping)) and (conditions := read(match)):
                    found.append(RouteMatch(route, number, position, conditions, match))
        elif not matches:
            found.append(RouteMatch(route, number, -1, every, {}))
    return found


# What the types of the API have; what they have not may mean anything.
_OF_HTTP: Final = frozenset({"path", "headers", "queryParams", "method"})
_OF_GRPC: Final = frozenset({"method", "headers"})
_OF_PATHS: Final = frozenset({"type", "value"})
_OF_METHODS: Final = frozenset({"type", "service", "method"})
_OF_PAIRS: Final = frozenset({"type", "name", "value"})
_NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})
_EVERY_PATH: Final = Conditions(PREFIX, "")
_EVERY_METHOD: Final = Conditions(_GRPC[EXACT], "/")


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
    """What is asked of headers, or of query parameters; None if that is not as their types have it."""
    if not entries:
        return ()
    if not isinstance(entries, (list, tuple)):
        return None
    found: dict[str, tuple[str, str, str]] = {}
    for entry in entries:
        if not isinstance(entry, (dict, Mapping)) or not _OF_PAIRS.issuperset(entry):
            return None
        name, sort, value = entry.get("name"), entry.get("type", EXACT), entry.get("value")
        if not (isinstance(name, str) and isinstance(sort, str) and isinstance(value, str)):
            return None
        name = name.lower() if is_header else name
        found.setdefault(name, (name, sort, value))
    return tuple(sorted(found.values()))
