"""Schema defaults: fill them into objects as an API server does; a schema is compiled once for all objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from operator import is_not
from typing import TYPE_CHECKING, Final

from kubectl_policy.model.body import Body, strings_in
from kubectl_policy.model.fields import items_at, mapping_at, mappings_at, text_at
from kubectl_policy.model.kinds import (
    GATEWAY_API,
    GATEWAY_API_EXPERIMENTAL,
    NAMESPACE,
    SERVICE,
    counting_definitions,
)
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.values import cached_property, replace, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.snapshot import Resource


@value(kw_only=True)
class Filler:
    """The defaults of one schema."""

    # Whether a null stays; else it becomes the default, as an absent value does.
    nullable: bool
    # The properties that have defaults, or something inside that has.
    properties: tuple[tuple[str, Filler], ...]
    # The names of all properties; `additional` fills the values of further keys.
    named: frozenset[str]
    additional: Filler | None
    # Fills each item of a list.
    items: Filler | None
    default: Json = None

    @cached_property
    def goes_on(self) -> bool:
        """Whether something inside of a value may be filled in."""
        return bool(self.properties or self.additional or self.items)


def filler_of(schema: Mapping[str, Json]) -> Filler:
    """Compile the defaults of a schema: `Default` in apiextensions-apiserver, pkg/apiserver/schema/defaulting."""
    properties = mapping_at(schema, "properties")
    filler = Filler(
        nullable=schema.get("nullable") is True,
        properties=tuple((key, inner) for key, about in properties.items() if (inner := _or_none(about))),
        named=frozenset(properties),
        additional=_or_none(schema.get("additionalProperties")),
        items=_or_none(schema.get("items")),
    )
    default = filled(schema.get("default"), filler)
    return filler if default is None else replace(filler, default=default)


def _or_none(schema: Json) -> Filler | None:
    filler = filler_of(schema) if isinstance(schema, Mapping) else None
    return filler if filler and (filler.default is not None or filler.goes_on) else None


def filled(value: Json, filler: Filler) -> Json:
    """Return a value with its defaults; the very same value if there is nothing to fill in.

    A null that the schema does not allow counts as absent.
    """
    if value is None:
        return None if filler.nullable else filler.default
    if not filler.goes_on:
        return value
    if not isinstance(value, list):
        return filled_mapping(value, filler) if isinstance(value, (dict, Mapping)) else value
    items, changed = filler.items, None
    for position, old in enumerate(value) if items else ():
        new = filled(old, items) if items else old
        if new is not old:
            changed = changed or [*value]
            changed[position] = new
    return changed or value


def filled_mapping(value: Mapping[str, Json], filler: Filler) -> Mapping[str, Json]:
    """Return a mapping with its defaults; the very same mapping if there is nothing to fill in."""
    changed: dict[str, Json] = {}
    for key, inner in filler.properties:
        if key in value:
            new = filled(value[key], inner)
            if new is not value[key]:
                changed[key] = new
        elif inner.default is not None:
            changed[key] = inner.default
    for key, old in value.items() if filler.additional else ():
        new = filled(old, filler.additional) if filler.additional and key not in filler.named else old
        if new is not old:
            changed[key] = new
    return {**value, **changed} if changed else value


_NO_SCHEMA: Final[Mapping[str, Json]] = {}
_NO_TARGET_PORT: Final = (None, 0, "")
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Defaults:
    """The defaults of every kind that is built in or defined by a CustomResourceDefinition; nothing else is changed."""

    def __init__(self, definitions: Iterable[Resource]) -> None:
        """Remember the schemas of the definitions that count."""
        self._definitions = {kind: definition.raw for kind, definition in counting_definitions(definitions).items()}
        self._fillers: dict[tuple[GroupKind, str], Filler] = {}
        self._texts: dict[GroupKind, str] = {}

    def schema_of(self, group_kind: GroupKind, version: str = "") -> Mapping[str, Json]:
        """Return the openAPIV3Schema of a kind: of the version if defined, else of the stored or first served one.

        Without a definition, it is the built-in schema, which has defaults only; empty for any other kind.
        """
        definition = self._definitions.get(group_kind, {})
        return _schema_in(definition, version) or SCHEMAS.get(group_kind, _NO_SCHEMA)

    def strings_of(self, group_kind: GroupKind) -> str:
        """Return the texts and keys that defaults may fill into objects of a kind, in any version, a line each."""
        if group_kind not in self._texts:
            schemas = (self._definitions.get(group_kind, {}), SCHEMAS.get(group_kind, _NO_SCHEMA))
            self._texts[group_kind] = "\n".join(text for schema in schemas for text in _texts_of_defaults(schema))
        return self._texts[group_kind]

    def apply(self, resource: Resource) -> Mapping[str, Json]:
        """Return an object with its defaults; the very same mapping if there is nothing to fill in."""
        key = (resource.ref.group_kind, text_at(resource.raw, "apiVersion").rpartition("/")[2])
        if key not in self._fillers:
            schema = self.schema_of(*key)
            is_built_in = schema is SCHEMAS.get(key[0])
            self._fillers[key] = _built_in(key[0]) if is_built_in else filler_of(schema)
        content = resource.raw.content if isinstance(resource.raw, Body) else resource.raw
        filled_content = filled_mapping(content, self._fillers[key])
        raw = resource.raw if filled_content is content else filled_content
        if resource.ref.group_kind == NAMESPACE:
            return _with_name_label(raw, resource.ref.name)
        return _with_target_ports(raw) if resource.ref.group_kind == SERVICE else raw


@cache
def _built_in(group_kind: GroupKind) -> Filler:
    """Return the defaults of a built-in schema, which are the same for every snapshot."""
    return filler_of(SCHEMAS[group_kind])


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
    if labels.get(_NAME_LABEL) == name:
        return raw
    return {**raw, "metadata": {**metadata, "labels": {**labels, _NAME_LABEL: name}}}


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


# The built-in schemas, for kinds without a definition in the input: the parts of Gateway API and Service with defaults.


def _object(**properties: Mapping[str, Json]) -> dict[str, Json]:
    return {"properties": properties}


def _list(items: Mapping[str, Json]) -> dict[str, Json]:
    return {"items": items}


def _defaults(value: Json, schema: Mapping[str, Json] | None = None) -> dict[str, Json]:
    return {**(schema or {}), "default": value}


def _reference(group: str, kind: str, **properties: Mapping[str, Json]) -> dict[str, Json]:
    return _object(group=_defaults(group), kind=_defaults(kind), **properties)


# The defaults are those of `+kubebuilder:default` in kubernetes-sigs/gateway-api, apis/v1/*_types.go, and of
# config/crd/experimental; fields without a default are left out.
_SECRET: Final = _reference("", "Secret")
_SERVICE: Final = _reference("", "Service")
_PARENT: Final = _reference(GATEWAY_API, "Gateway")
_EXACT: Final = _object(type=_defaults("Exact"))

_MIRROR: Final = _object(backendRef=_SERVICE, fraction=_object(denominator=_defaults(100)))
_GRPC_FILTERS: Final = _list(_object(requestMirror=_MIRROR))
_HTTP_FILTERS: Final = _list(
    _object(
        requestMirror=_MIRROR,
        requestRedirect=_object(statusCode=_defaults(302)),
        cors=_object(maxAge=_defaults(5)),
        externalAuth=_object(backendRef=_SERVICE),
    )
)
_SESSION_PERSISTENCE: Final = _object(type=_defaults("Cookie"), cookieConfig=_object(lifetimeType=_defaults("Session")))


def _from(source: str) -> dict[str, Json]:
    return _defaults({"from": source}, {"properties": {"from": _defaults(source)}})


def _listeners() -> dict[str, Json]:
    return _list(
        _object(
            allowedRoutes=_defaults(
                {"namespaces": {"from": "Same"}},
                _object(
                    namespaces=_from("Same"),
                    kinds=_list(_object(group=_defaults(GATEWAY_API))),
                ),
            ),
            tls=_object(mode=_defaults("Terminate"), certificateRefs=_list(_SECRET)),
        )
    )


_CLIENT_VALIDATION: Final = _object(validation=_object(mode=_defaults("AllowValidOnly")))
_GATEWAY: Final = _object(
    spec=_object(
        listeners=_listeners(),
        addresses=_list(_object(type=_defaults("IPAddress"))),
        allowedListeners=_object(namespaces=_from("None")),
        tls=_object(
            backend=_object(clientCertificateRef=_SECRET),
            frontend=_object(default=_CLIENT_VALIDATION, perPort=_list(_object(tls=_CLIENT_VALIDATION))),
        ),
    )
)
_LISTENER_SET: Final = _object(spec=_object(parentRef=_PARENT, listeners=_listeners()))


def _route(rules: Mapping[str, Json]) -> dict[str, Json]:
    return _object(spec=_object(parentRefs=_list(_PARENT), rules=rules))


def _backends(**properties: Mapping[str, Json]) -> dict[str, Json]:
    return _list(_reference("", "Service", weight=_defaults(1), **properties))


_ROOT_PATH: Final[Json] = {"type": "PathPrefix", "value": "/"}
_EVERYTHING: Final[Json] = [{"path": _ROOT_PATH}]
_HTTP_MATCHES: Final = _list(
    _object(
        path=_defaults(_ROOT_PATH, _object(type=_defaults("PathPrefix"), value=_defaults("/"))),
        headers=_list(_EXACT),
        queryParams=_list(_EXACT),
    )
)
_HTTP_RULES: Final = _list(
    _object(
        matches=_defaults(_EVERYTHING, _HTTP_MATCHES),
        filters=_HTTP_FILTERS,
        backendRefs=_backends(filters=_HTTP_FILTERS),
        sessionPersistence=_SESSION_PERSISTENCE,
    )
)
_GRPC_RULES: Final = _list(
    _object(
        matches=_list(_object(method=_EXACT, headers=_list(_EXACT))),
        filters=_GRPC_FILTERS,
        backendRefs=_backends(filters=_GRPC_FILTERS),
        sessionPersistence=_SESSION_PERSISTENCE,
    )
)
_STREAM_ROUTE: Final = _route(_list(_object(backendRefs=_backends())))
_RETRY_BUDGET: Final = _defaults(
    {"interval": "10s", "percent": 20}, _object(interval=_defaults("10s"), percent=_defaults(20))
)
_RETRY_CONSTRAINT: Final = _object(budget=_RETRY_BUDGET, minRetryRate=_defaults({"count": 10, "interval": "1s"}))

SCHEMAS: Final[Mapping[GroupKind, Mapping[str, Json]]] = {
    GroupKind(GATEWAY_API, "Gateway"): _GATEWAY,
    GroupKind(GATEWAY_API, "ListenerSet"): _LISTENER_SET,
    GroupKind(GATEWAY_API_EXPERIMENTAL, "XListenerSet"): _LISTENER_SET,
    GroupKind(GATEWAY_API, "HTTPRoute"): _route(_defaults([{"matches": _EVERYTHING}], _HTTP_RULES)),
    GroupKind(GATEWAY_API, "GRPCRoute"): _route(_GRPC_RULES),
    GroupKind(GATEWAY_API, "TLSRoute"): _STREAM_ROUTE,
    GroupKind(GATEWAY_API, "TCPRoute"): _STREAM_ROUTE,
    GroupKind(GATEWAY_API, "UDPRoute"): _STREAM_ROUTE,
    GroupKind(GATEWAY_API, "BackendLBPolicy"): _object(spec=_object(sessionPersistence=_SESSION_PERSISTENCE)),
    GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackendTrafficPolicy"): _object(
        spec=_object(sessionPersistence=_SESSION_PERSISTENCE, retryConstraint=_RETRY_CONSTRAINT)
    ),
    GroupKind(GATEWAY_API_EXPERIMENTAL, "XBackend"): _object(spec=_object(tls=_object(clientCertificateRef=_SECRET))),
    # SetDefaults_Service in kubernetes/kubernetes, pkg/apis/core/v1/defaults.go; `Defaults` sets the targetPort.
    SERVICE: _object(spec=_object(type=_defaults("ClusterIP"), ports=_list(_object(protocol=_defaults("TCP"))))),
}
