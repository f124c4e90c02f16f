"""The parts with defaults of the schemas of Gateway API and of Service, for input that brings no definition of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, SERVICE
from kubectl_policy.model.refs import GroupKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.fields import Json


def _object(**properties: Mapping[str, Json]) -> dict[str, Json]:
    return {"properties": properties}


def _list(items: Mapping[str, Json]) -> dict[str, Json]:
    return {"items": items}


def _defaults(value: Json, schema: Mapping[str, Json] | None = None) -> dict[str, Json]:
    return {**(schema or {}), "default": value}


def _reference(group: str, kind: str, **more: Mapping[str, Json]) -> dict[str, Json]:
    return _object(group=_defaults(group), kind=_defaults(kind), **more)


# What follows is what `+kubebuilder:default` says in kubernetes-sigs/gateway-api, apis/v1/*_types.go, and in
# config/crd/experimental; a field that has no default is left out.
_SECRET: Final = _reference("", "Secret")
_SERVICE: Final = _reference("", "Service")
_PARENT: Final = _reference(GATEWAY_API, "Gateway")
_EXACT: Final = _object(type=_defaults("Exact"))

_FILTERS: Final = _list(
    _object(
        requestMirror=_object(backendRef=_SERVICE, fraction=_object(denominator=_defaults(100))),
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


def _backends(**more: Mapping[str, Json]) -> dict[str, Json]:
    return _list(_reference("", "Service", weight=_defaults(1), **more))


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
        filters=_FILTERS,
        backendRefs=_backends(filters=_FILTERS),
        sessionPersistence=_SESSION_PERSISTENCE,
    )
)
_GRPC_RULES: Final = _list(
    _object(
        matches=_list(_object(method=_EXACT, headers=_list(_EXACT))),
        filters=_FILTERS,
        backendRefs=_backends(filters=_FILTERS),
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
    # SetDefaults_Service in kubernetes/kubernetes, pkg/apis/core/v1/defaults.go; `Defaults` sets the targetPort.
    SERVICE: _object(spec=_object(type=_defaults("ClusterIP"), ports=_list(_object(protocol=_defaults("TCP"))))),
}
