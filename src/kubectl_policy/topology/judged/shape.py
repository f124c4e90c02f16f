"""Fields that are not what their API says they are, so that what they hold cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.grants import REFERENCE_GRANT
from kubectl_policy.model.kinds import SERVICE
from kubectl_policy.model.unknown import is_unfilled
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, ROUTES, SERVICE_IMPORT

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import Diagnostic, GroupKind, Json, Resource

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
_REFERENCE: Final = {
    "group": "a string",
    "kind": "a string",
    "namespace": "a string",
    "name": "a string",
    "sectionName": "a string",
}


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
    """The `wrong-type` errors of one object, in the order of the table."""
    if _is_sound(resource):
        return ()
    problems: list[Diagnostic] = []
    for shape in SHAPES:
        concerned = not shape.kinds or resource.ref.group_kind in shape.kinds
        for path, wanted in shape.fields.items() if concerned else ():
            for field, content in FieldPath.parse(path).each(resource.raw):
                if content is not None and _type_of(content) != wanted and not _is_unfilled(content):
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


def _is_unfilled(value: Json) -> bool:
    """Whether a value may become what it must be, as it is to be filled in."""
    return isinstance(value, str) and is_unfilled(value)


def _type_of(value: Json) -> str:
    return next((words for kind, words in _TYPES if isinstance(value, kind)), "something else")


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
