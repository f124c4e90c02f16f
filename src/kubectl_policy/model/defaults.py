"""Schema defaults: fill them into objects as an API server does; a schema is compiled once for all objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from operator import is_not
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.body import Body, strings_in
from kubectl_policy.model.fields import Json, items_at, mapping_at, mappings_at, text_at
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_API,
    GATEWAY_API_EXPERIMENTAL,
    GRPC_ROUTE,
    HTTP_ROUTE,
    LISTENER_SETS,
    NAMESPACE,
    SERVICE,
    TCP_ROUTE,
    TLS_ROUTE,
    UDP_ROUTE,
)
from kubectl_policy.model.kinds import valid_definitions
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from kubectl_policy.model.snapshot import Resource


class Filler(Struct, frozen=True, kw_only=True, dict=True):
    """The defaults of one schema."""

    nullable: bool
    """Whether a null stays; else it becomes the default, as an absent value does."""
    properties: tuple[tuple[str, Filler], ...]
    """The properties that have defaults, or something inside that has."""
    additional: Filler | None
    """Fills the values of a mapping without properties."""
    items: Filler | None
    default: Json = None

    @cached_property
    def goes_on(self) -> bool:
        """Whether something inside of a value may be filled in."""
        return bool(self.properties or self.additional or self.items)


def compile_defaults(schema: Mapping[str, Json]) -> Filler:
    """Compile the defaults of a schema: `Default` in apiextensions-apiserver, pkg/apiserver/schema/defaulting."""
    properties = mapping_at(schema, "properties")
    filler = Filler(
        nullable=schema.get("nullable") is True,
        properties=tuple((key, inner) for key, about in properties.items() if (inner := _or_none(about))),
        additional=_or_none(schema.get("additionalProperties")),
        items=_or_none(schema.get("items")),
    )
    default = fill(schema.get("default"), filler)
    return filler if default is None else replace(filler, default=default)


def _or_none(schema: Json) -> Filler | None:
    filler = compile_defaults(schema) if isinstance(schema, Mapping) else None
    return filler if filler and (filler.default is not None or filler.goes_on) else None


def fill(value: Json, filler: Filler) -> Json:
    """Return a value with its defaults; the very same value if there is nothing to fill in.

    A null that the schema does not allow counts as absent.
    """
    if value is None:
        return None if filler.nullable else filler.default
    if not filler.goes_on:
        return value
    if not isinstance(value, list):
        return fill_mapping(value, filler) if isinstance(value, (dict, Mapping)) else value
    items, changed = filler.items, None
    for position, old in enumerate(value) if items else ():
        new = fill(old, items) if items else old
        if new is not old:
            changed = changed or [*value]
            changed[position] = new
    return changed or value


def fill_mapping(value: Mapping[str, Json], filler: Filler) -> Mapping[str, Json]:
    """Return a mapping with its defaults; the very same mapping if there is nothing to fill in."""
    changed: dict[str, Json] = {}
    for key, inner in filler.properties:
        if key in value:
            new = fill(value[key], inner)
            if new is not value[key]:
                changed[key] = new
        elif inner.default is not None:
            changed[key] = inner.default
    for key, old in value.items() if filler.additional else ():
        new = fill(old, filler.additional) if filler.additional else old
        if new is not old:
            changed[key] = new
    return {**value, **changed} if changed else value


_NO_TARGET_PORT: Final = (None, 0, "")
NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Defaults:
    """The defaults of every kind that is built in or defined by a CustomResourceDefinition; nothing else is changed."""

    def __init__(self, definitions: Iterable[Resource]) -> None:
        """Remember the schemas of the definitions that count."""
        self._definitions = {kind: definition.raw for kind, definition in valid_definitions(definitions).items()}

    def schema_of(self, group_kind: GroupKind, version: str = "") -> Mapping[str, Json]:
        """Return the openAPIV3Schema of a kind: of the version if defined, else of the stored or first served one.

        Without a definition, it is the built-in schema, which has defaults only; empty for any other kind.
        """
        return _schema_in(self._definitions.get(group_kind, {}), version) or built_in_schema(group_kind)

    @cached_method
    def strings_of(self, group_kind: GroupKind) -> str:
        """Return the texts and keys that defaults may fill into objects of a kind, in any version, a line each."""
        own = _texts_of_defaults(self._definitions.get(group_kind, {}))
        return "\n".join((*own, *_texts_of_built_in_defaults(group_kind)))

    def apply(self, resource: Resource) -> Mapping[str, Json]:
        """Return an object with its defaults; the very same mapping if there is nothing to fill in."""
        filler = self._filler(resource.ref.group_kind, text_at(resource.raw, "apiVersion").rpartition("/")[2])
        content = resource.raw.content if isinstance(resource.raw, Body) else resource.raw
        filled_content = fill_mapping(content, filler)
        raw = resource.raw if filled_content is content else filled_content
        if resource.ref.group_kind == NAMESPACE:
            return _with_name_label(raw, resource.ref.name)
        return _with_target_ports(raw) if resource.ref.group_kind == SERVICE else raw

    @cached_method
    def _filler(self, group_kind: GroupKind, version: str) -> Filler:
        own = _schema_in(self._definitions.get(group_kind, {}), version)
        return compile_defaults(own) if own else _built_in_filler(group_kind)


@cache
def built_in_schema(group_kind: GroupKind) -> Mapping[str, Json]:
    """Return the schema of the defaults of a kind without a definition; empty for a kind that is not built in."""
    schema: dict[str, Any] = {}
    for path, default in _below("spec", BUILT_IN_DEFAULTS.get(group_kind, {})).items():
        inner = schema
        for step in path.replace("[*]", ".*").split("."):
            container, key = (inner, "items") if step == "*" else (inner.setdefault("properties", {}), step)
            inner = container.setdefault(key, {})
        inner["default"] = default
    return schema


@cache
def _built_in_filler(group_kind: GroupKind) -> Filler:
    return compile_defaults(built_in_schema(group_kind))


@cache
def _texts_of_built_in_defaults(group_kind: GroupKind) -> tuple[str, ...]:
    return tuple(_texts_of_defaults(built_in_schema(group_kind)))


def _schema_in(definition: Mapping[str, Json], version: str) -> Mapping[str, Json]:
    versions = mappings_at(definition, "spec.versions")
    chosen = (
        next((candidate for candidate in versions if version and candidate.get("name") == version), None)
        or next((candidate for candidate in versions if candidate.get("storage") is True), None)
        or next((candidate for candidate in versions if candidate.get("served") is True), None)
    )
    # apiextensions.k8s.io/v1beta1 has one schema for all versions.
    return mapping_at(chosen, "schema.openAPIV3Schema") or mapping_at(definition, "spec.validation.openAPIV3Schema")


def _texts_of_defaults(schema: Json) -> Iterator[str]:
    """Yield the texts and keys of every `default` in a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _texts_of_defaults(item)
    for key, inner in schema.items() if isinstance(schema, Mapping) else ():
        yield from strings_in(inner) if key == "default" else _texts_of_defaults(inner)


def _with_name_label(raw: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return a Namespace with the label that every API server sets (KEP-2161)."""
    metadata, labels = mapping_at(raw, "metadata"), mapping_at(raw, "metadata.labels")
    if labels.get(NAME_LABEL) == name:
        return raw
    return {**raw, "metadata": {**metadata, "labels": {**labels, NAME_LABEL: name}}}


def _with_target_ports(raw: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a Service whose ports have a targetPort, by default the port itself (SetDefaults_Service)."""
    ports = items_at(raw, "spec.ports")
    with_targets = [
        {**port, "targetPort": port["port"]}
        if isinstance(port, (dict, Mapping)) and "port" in port and port.get("targetPort") in _NO_TARGET_PORT
        else port
        for port in ports
    ]
    if not any(map(is_not, with_targets, ports)):
        return raw
    return {**raw, "spec": {**mapping_at(raw, "spec"), "ports": with_targets}}


# What `+kubebuilder:default` sets in kubernetes-sigs/gateway-api, apis/v1/*_types.go and config/crd/experimental: the
# defaults of kinds without a definition in the input, by their paths below `spec`.


def _below(path: str, defaults: Mapping[str, Json]) -> dict[str, Json]:
    return {f"{path}.{field}": default for field, default in defaults.items()}


_SECRET: Final[Mapping[str, Json]] = {"group": "", "kind": "Secret"}
_SERVICE: Final[Mapping[str, Json]] = {"group": "", "kind": "Service"}
_PARENT: Final[Mapping[str, Json]] = {"group": GATEWAY_API, "kind": "Gateway"}
_SESSION_PERSISTENCE: Final[Mapping[str, Json]] = {
    "sessionPersistence.type": "Cookie",
    "sessionPersistence.cookieConfig.lifetimeType": "Session",
}
_LISTENERS: Final = _below(
    "listeners[*]",
    {
        "allowedRoutes": {"namespaces": {"from": "Same"}},
        "allowedRoutes.namespaces": {"from": "Same"},
        "allowedRoutes.namespaces.from": "Same",
        "allowedRoutes.kinds[*].group": GATEWAY_API,
        "tls.mode": "Terminate",
        **_below("tls.certificateRefs[*]", _SECRET),
    },
)
_LISTENER_SET: Final = {**_below("parentRef", _PARENT), **_LISTENERS}
_GRPC_FILTERS: Final[Mapping[str, Json]] = {
    **_below("filters[*].requestMirror.backendRef", _SERVICE),
    "filters[*].requestMirror.fraction.denominator": 100,
}
_HTTP_FILTERS: Final[Mapping[str, Json]] = {
    **_GRPC_FILTERS,
    "filters[*].requestRedirect.statusCode": 302,
    "filters[*].cors.maxAge": 5,
    **_below("filters[*].externalAuth.backendRef", _SERVICE),
}
_ROOT_PATH: Final[Json] = {"type": "PathPrefix", "value": "/"}
_EVERYTHING: Final[Json] = [{"path": _ROOT_PATH}]


def _route(rules: Mapping[str, Json], filters: Mapping[str, Json]) -> dict[str, Json]:
    backends = {**_SERVICE, "weight": 1, **filters}
    return {
        **_below("parentRefs[*]", _PARENT),
        **_below("rules[*]", {**rules, **filters, **_below("backendRefs[*]", backends)}),
    }


_STREAM_ROUTE: Final = _route({}, {})
BUILT_IN_DEFAULTS: Final[Mapping[GroupKind, Mapping[str, Json]]] = {
    GATEWAY: {
        **_LISTENERS,
        "addresses[*].type": "IPAddress",
        "allowedListeners.namespaces": {"from": "None"},
        "allowedListeners.namespaces.from": "None",
        **_below("tls.backend.clientCertificateRef", _SECRET),
        "tls.frontend.default.validation.mode": "AllowValidOnly",
        "tls.frontend.perPort[*].tls.validation.mode": "AllowValidOnly",
    },
    **dict.fromkeys(LISTENER_SETS, _LISTENER_SET),
    HTTP_ROUTE: {
        "rules": [{"matches": _EVERYTHING}],
        **_route(
            {
                "matches": _EVERYTHING,
                "matches[*].path": _ROOT_PATH,
                "matches[*].path.type": "PathPrefix",
                "matches[*].path.value": "/",
                "matches[*].headers[*].type": "Exact",
                "matches[*].queryParams[*].type": "Exact",
                **_SESSION_PERSISTENCE,
            },
            _HTTP_FILTERS,
        ),
    },
    GRPC_ROUTE: _route(
        {"matches[*].method.type": "Exact", "matches[*].headers[*].type": "Exact", **_SESSION_PERSISTENCE},
        _GRPC_FILTERS,
    ),
    TLS_ROUTE: _STREAM_ROUTE,
    TCP_ROUTE: _STREAM_ROUTE,
    UDP_ROUTE: _STREAM_ROUTE,
    GroupKind(GATEWAY_API, "BackendLBPolicy"): _SESSION_PERSISTENCE,
    GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackendTrafficPolicy"): {
        **_SESSION_PERSISTENCE,
        "retryConstraint.budget": {"interval": "10s", "percent": 20},
        "retryConstraint.budget.interval": "10s",
        "retryConstraint.budget.percent": 20,
        "retryConstraint.minRetryRate": {"count": 10, "interval": "1s"},
    },
    GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackend"): _below("tls.clientCertificateRef", _SECRET),
    # SetDefaults_Service in kubernetes/kubernetes, pkg/apis/core/v1/defaults.go; `Defaults` sets the targetPort.
    SERVICE: {"type": "ClusterIP", "ports[*].protocol": "TCP"},
}
