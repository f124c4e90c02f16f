"""Rules about values of settings, which controllers check beyond the definitions of policy kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.reading import NOTHING, FieldName, FieldPattern, Name

Form: TypeAlias = Literal[
    "duration",
    "quantity",
    "cidr",
    "network",
    "address",
    "domain",
    "headerName",
    "headerValue",
    "path",
    "pattern",
    "text",
]
Refuses: TypeAlias = Literal["route", "rule", "backend"]


FORMS: Final[Mapping[Form, str]] = {
    "duration": "a duration",
    "quantity": "a whole number",
    "cidr": "a range of addresses",
    "network": "an address, or a range that begins at its address",
    "address": "an IP address outside the loopback range",
    "domain": "a domain name with two labels or more",
    "headerName": "a header name",
    "headerValue": "a header value",
    "path": "a path without white space, braces and semicolons",
    "pattern": "a regular expression",
    "text": "text that is not empty",
}


class ValueRule(Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule about values of settings; a policy that breaks it is invalid."""

    fields: Annotated[tuple[FieldPattern, ...], Meta(min_length=1)]
    """The fields with the values; a path continues into each element of a list, and `*` stands for every key of a map.
    """
    form: Form | None = None
    """The form of the values: a `duration` as in Go (`1h30m`), a `quantity` of Kubernetes that is a whole number
    (`16Ki`), a `cidr` (`10.0.0.0/8`), an address or a `network` (not `10.1.0.0/8`), an `address` outside the
    loopback range, a `domain` with two labels or more, a `headerName`, a `headerValue`, a `path` without white space,
    `{`, `}` and `;`, a regular expression (`pattern`), or any `text` that is not empty.
    """
    least: int | None = None
    """The least value of a number or quantity. Without it: no limit."""
    most: int | None = None
    """The greatest value of a number or quantity. Without it: no limit."""
    unit: FieldName = ""
    """A field beside the value, with a unit of time by which `least` is multiplied: `unit`. Without it: no such field.
    """
    units: Mapping[str, int] = NOTHING
    """A map from the values of `unit`, or from the values themselves, to their lengths in seconds."""
    requires: tuple[FieldName, ...] = ()
    """Fields below the value that must be set."""
    excludes: tuple[int, ...] = ()
    """Numbers that the value cannot be."""
    only: tuple[Name, ...] = ()
    """The texts that the value can be. Without it: any."""
    max_items: int | None = None
    """The greatest number of elements of a list, whose path leads through no other list. Without it: no limit."""
    default_without: FieldName = ""
    """For a list of limits: the field that only the default limit lacks. There can be one such element, and the unit of
    each limit (`limit.unit`, see `units`) must be a multiple of the unit of the default limit. Without it: no such
    check.
    """
    targets: frozenset[GroupKind] = frozenset()
    """The kinds of targets, or of routes for a rule about routes, for which the rule holds. Without it: all."""
    competes: bool = False
    """Whether a policy that breaks the rule still conflicts with other policies."""


class BackendRule(Struct, frozen=True, kw_only=True, rename="camel"):
    """A rule about a kind of backends; routes cannot send requests to a backend that breaks it."""

    fields: Annotated[tuple[FieldPattern, ...], Meta(min_length=1)]
    """The fields with the values; the path continues into each element of a list."""
    form: Form | None = None
    """The form that the values must have, as in `values` of a policy kind. Without it: no route can use a backend that
    sets one of the fields, although others may, such as policies.
    """
    beside: FieldName = ""
    """For a rule without a form, a field: only a backend that sets it as well breaks the rule. Without it: any backend.
    """
    reason: Name
    """The reason of the condition `ResolvedRefs` of routes to the backend."""


class RouteRule(ValueRule, frozen=True, kw_only=True, rename="camel"):
    """A rule about values in routes; a controller refuses a route, or a rule of it, that breaks it."""

    reason: Name = "UnsupportedValue"
    """The reason of the condition that reports it on the route."""
    refuses: Refuses = "route"
    """The extent of the refusal: the `route`, the `backend` whose reference breaks the rule, or the `rule` of the
    route, and the route if no rule of it is left.
    """


class RequiredSetting(Struct, frozen=True, kw_only=True, rename="camel"):
    """A setting that needs another one in a policy of another kind on the same Gateway, or the policy is invalid."""

    field: FieldPattern
    """The field of the policy; the path continues into each element of a list."""
    group: str
    """The API group of the other kind."""
    kind: Name
    """The other kind."""
    other_field: FieldName
    """The field that a policy of the other kind must set: below `spec`."""
    competes: bool = False
    """Whether a policy that is invalid for this reason still conflicts with other policies."""


class NamedSetting(Struct, frozen=True, kw_only=True, rename="camel"):
    """A setting that names an item of a list in the same policy; after merging, in the settings in force."""

    field: FieldPattern
    """The field with the name; the path continues into each element of a list."""
    names: FieldPattern
    """The field with the names of the items."""
    harm: Name
    """The consequence if there is no such item."""
