"""Problems in fields of the hierarchy: wrong types, and references that lead nowhere or out of the input."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kind_roles import (
    GATEWAY,
    GATEWAY_CLASS,
    KINDS,
    LISTENER_SETS,
    PARAMETERS,
    REFERENCE_GRANT,
    ROUTES,
    SERVICE,
    SERVICE_IMPORT,
)
from kubectl_policy.model.unknown import is_open, is_unfilled
from kubectl_policy.topology.gateway.handshake import NO_PARENT
from kubectl_policy.topology.references import NOT_PERMITTED, BackendRef, parameters_ref, parent_refs

if TYPE_CHECKING:
    from kubectl_policy.model import Diagnostic, GroupKind, Json, ObjectRef, Resource
    from kubectl_policy.topology.backends import Backend
    from kubectl_policy.topology.relations import Relations

_LISTENERS: Final = {
    "spec.listeners": "a list",
    "spec.listeners[]": "a mapping",
    "spec.listeners[].name": "a string",
    "spec.listeners[].hostname": "a string",
    "spec.listeners[].port": "an integer",
    "spec.listeners[].protocol": "a string",
    "spec.listeners[].tls": "a mapping",
    "spec.listeners[].allowedRoutes": "a mapping",
    "spec.listeners[].allowedRoutes.namespaces": "a mapping",
    "spec.listeners[].allowedRoutes.namespaces.from": "a string",
    "spec.listeners[].allowedRoutes.namespaces.selector": "a mapping",
    "spec.listeners[].allowedRoutes.kinds": "a list",
}
_REFERENCE: Final = dict.fromkeys(("group", "kind", "namespace", "name", "sectionName"), "a string")


def _references(path: str) -> dict[str, str]:
    items = {f"{path}[].{field}": kind for field, kind in _REFERENCE.items()}
    return {path: "a list", f"{path}[]": "a mapping", **items}


_ROUTE: Final = {
    "spec.hostnames": "a list",
    "spec.hostnames[]": "a string",
    **_references("spec.parentRefs"),
    "spec.parentRefs[].port": "an integer",
    "spec.rules": "a list",
    "spec.rules[]": "a mapping",
    "spec.rules[].name": "a string",
    **_references("spec.rules[].backendRefs"),
    "spec.rules[].backendRefs[].port": "an integer",
    "spec.rules[].filters": "a list",
}
_PORTS: Final = {
    "spec.ports": "a list",
    "spec.ports[]": "a mapping",
    "spec.ports[].name": "a string",
    "spec.ports[].port": "an integer",
}


class _Shape(Struct, frozen=True):
    """The types of some fields of some kinds; no kinds means every kind. `[]` in a path means each item of a list."""

    kinds: Collection[GroupKind]
    fields: Mapping[str, str]


# The fields on which the hierarchy and the attachment of policies rest. Null counts as absent, as for an API server.
SHAPES: Final[tuple[_Shape, ...]] = (
    _Shape(
        (),
        {
            "spec": "a mapping",
            "metadata.labels": "a mapping",
            "spec.targetRef": "a mapping",
            **{f"spec.targetRef.{field}": kind for field, kind in _REFERENCE.items()},
            **_references("spec.targetRefs"),
            "spec.targetSelectors": "a list",
            "spec.targetSelectors[]": "a mapping",
        },
    ),
    _Shape((GATEWAY,), {"spec.gatewayClassName": "a string", "spec.allowedListeners": "a mapping", **_LISTENERS}),
    _Shape(LISTENER_SETS, {"spec.parentRef": "a mapping", "spec.parentRef.name": "a string", **_LISTENERS}),
    _Shape(ROUTES, _ROUTE),
    _Shape((SERVICE, SERVICE_IMPORT), _PORTS),
    _Shape((REFERENCE_GRANT,), {**_references("spec.from"), **_references("spec.to")}),
)


def shape_problems_of(resource: Resource) -> tuple[Diagnostic, ...]:
    """Return the `wrong-type` errors of one object, in the order of the table."""
    if _is_sound(resource):
        return ()
    problems: list[Diagnostic] = []
    for shape in SHAPES:
        concerned = not shape.kinds or resource.ref.group_kind in shape.kinds
        for path, wanted in shape.fields.items() if concerned else ():
            for field, content in FieldPath.parse(path).matches(resource.raw):
                has_placeholder = isinstance(content, str) and is_unfilled(content)
                if content is not None and _type_of(content) != wanted and not has_placeholder:
                    message = f"{field} is {_type_of(content)}, must be {wanted}"
                    problems.append(resource.diagnostic("wrong-type", "error", message, str(field)))
    return tuple(problems)


def _is_sound(resource: Resource) -> bool:
    """Whether all fields of the table have the right types, as nearly always: msgspec tells in microseconds."""
    try:
        msgspec.convert(resource.raw, _type_for(resource.ref.group_kind))
    except msgspec.ValidationError:
        return False
    return True


@lru_cache(maxsize=1_000)
def _type_for(kind: GroupKind) -> Any:  # noqa: ANN401 (a type)
    """Return the type of the objects of a kind: a Struct of the fields that are in the table."""
    fields: dict[str, Any] = {}
    for shape in SHAPES:
        for path, wanted in shape.fields.items() if not shape.kinds or kind in shape.kinds else ():
            inner = fields
            for step in path.replace("[]", ".[]").split("."):
                inner = inner.setdefault(step, {})
            inner[""] = wanted
    return _type_with(fields)


def _type_with(fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 (a type)
    """Return the type of a value with fields, items (`[]`) or, at "", the name of its type."""
    if "[]" in fields:
        items: Any = _type_with(fields["[]"]) | None
        return list[items]
    names = {f"field_{name}": name for name in fields if name}
    if not names:
        return _TYPES_BY_NAME[fields[""]]
    declared = [(attribute, _type_with(fields[name]) | None, None) for attribute, name in names.items()]
    return msgspec.defstruct("Fields", declared, rename=names)


def _type_of(value: Json) -> str:
    return next((phrase for kind, phrase in _TYPES if isinstance(value, kind)), "something else")


# A boolean is an integer to Python but not to an API.
_TYPES: Final = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a number"),
    (str, "a string"),
    (Mapping, "a mapping"),
    ((list, tuple), "a list"),
)
_TYPES_BY_NAME: Final[Mapping[str, type]] = {"a mapping": dict, "a list": list, "a string": str, "an integer": int}


def dangling_references(relations: Relations, resource: Resource) -> Iterator[Diagnostic]:
    """Report references of a route, GatewayClass, Gateway or ListenerSet that fail, and rules without any weight.

    Rules: `missing-reference` (an error, the object does not exist), `unknown-reference` (info, it is not in the
    input), `reference-not-permitted` (an error, a ReferenceGrant is missing), with the API's reason where it has one,
    and `no-weight` (a warning, all backends of a rule have weight 0).
    References by which requests would circle are left to `Topology.cycles`.
    """
    if resource.ref.group_kind in ROUTES:
        yield from _of_route(relations, resource)
    elif resource.ref.group_kind == GATEWAY_CLASS:
        yield from _of_parameters(relations, resource)
    else:
        gateways, is_gateway = relations.gateways, resource.ref.group_kind == GATEWAY
        parent = gateways.class_of(resource.ref) if is_gateway else gateways.gateway_of(resource.ref)
        if parent:
            yield from _absent(relations, resource, KINDS[resource.ref.group_kind].parents, parent, reason="")
        yield from _of_parameters(relations, resource)
        yield from _of_listeners(relations, resource)


def _of_parameters(relations: Relations, holder: Resource) -> Iterator[Diagnostic]:
    """Report missing parameters: "the Gateway SHOULD be rejected" with InvalidParameters, and so should a class."""
    named = parameters_ref(relations.index, holder.ref) if holder.ref.group_kind in PARAMETERS else None
    if named:
        lost = f"; controllers should not accept the {holder.ref.kind} for that"
        yield from _absent(relations, holder, named.field, named.object, reason="InvalidParameters", lost=lost)


def _of_listeners(relations: Relations, owner: Resource) -> Iterator[Diagnostic]:
    """Yield the certificates that are known to be broken; one that was not read takes nothing from an answer."""
    from kubectl_policy.topology.gateway.certificates import certificate_refs  # noqa: PLC0415 (most objects are routes)

    for listener in relations.gateways.listeners(owner.ref):
        for ref in certificate_refs(relations.gateways, listener):
            if ref.problem and not ref.problem.certain and is_open(ref.target):
                yield _unknown(owner, ref.field, ref.target, ref.problem.message)
            if ref.problem and ref.problem.certain:
                reason = NOT_PERMITTED if ref.problem.reason == NOT_PERMITTED else "InvalidCertificateRef"
                yield broken_reference(owner, ref.field, ref.target, ref.problem.message, reason)


def _of_route(relations: Relations, route: Resource) -> Iterator[Diagnostic]:
    # There are many routes, and most of them are in order.
    for parent in parent_refs(relations.index, route.ref):
        if relations.index.presence(parent.object) != "present":
            field = f"spec.parentRefs[{parent.position}]"
            yield from _absent(relations, route, field, parent.object, reason=NO_PARENT)
    backends = relations.backends(route.ref)
    for backend in [backend for backend in backends if backend.state != "resolved"]:
        field, named = backend.ref.field, None if backend.is_any else backend.ref.object
        if backend.state == "unknown":
            yield _unknown(route, field, named, backend.message)
        elif (route.ref, field) not in relations.delegations.circular_refs:
            yield broken_reference(route, field, named, backend.message, backend.reason)
    if [backend for backend in backends if not backend.ref.weight]:
        yield from _without_weight(route, backends)
    if relations.filters_of(route.ref):
        yield from _of_filters(relations, route)


def _without_weight(route: Resource, backends: Iterable[Backend]) -> Iterator[Diagnostic]:
    """Yield the rules whose backends all have weight 0; implementations answer requests with 500 or 503."""
    rules: dict[int, list[BackendRef]] = {}
    for backend in backends:
        if backend.ref.forwards and backend.routes is None:
            rules.setdefault(backend.ref.rule, []).append(backend.ref)
    for rule, refs in rules.items():
        if not any(ref.weight for ref in refs):
            field = f"spec.rules[{rule}].backendRefs"
            message = f"{field}: none has a weight, so requests to this rule get an error response"
            yield route.diagnostic("no-weight", "warning", message, field)


def _of_filters(relations: Relations, route: Resource) -> Iterator[Diagnostic]:
    """Yield filters that name what does not exist, or is not in the input.

    "Requests that would have been processed by that filter MUST receive a HTTP error response" (HTTPRouteFilter, type
    ExtensionRef).
    """
    for extension in relations.filters_of(route.ref):
        lost = f"; requests to {extension.backend or 'this rule'} get an error response"
        yield from _absent(relations, route, extension.field, extension.object, reason="", lost=lost)


def _absent(  # noqa: PLR0913 (what is lost is said of few references)
    relations: Relations, subject: Resource, field: str, to: ObjectRef, *, reason: str, lost: str = ""
) -> Iterator[Diagnostic]:
    presence = relations.index.presence(to)
    if presence == "missing":
        yield broken_reference(subject, field, to, f"{to} does not exist{lost}", reason)
    elif presence == "unknown":
        yield _unknown(subject, field, to, relations.index.absence.message(to))


def broken_reference(subject: Resource, field: str, to: ObjectRef | None, message: str, reason: str) -> Diagnostic:
    """Return the diagnostic for a reference that is known to lead nowhere, with the API's reason if it has one."""
    rule = "reference-not-permitted" if reason == NOT_PERMITTED else "missing-reference"
    diagnostic = subject.diagnostic(rule, "error", f"{field}: {message}", field, (to,) if to else ())
    return replace(diagnostic, reason=reason)


def _unknown(subject: Resource, field: str, to: ObjectRef | None, message: str) -> Diagnostic:
    return subject.diagnostic("unknown-reference", "info", f"{field}: {message}", field, (to,) if to else ())
