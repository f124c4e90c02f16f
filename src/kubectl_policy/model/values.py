"""Values: frozen Structs of msgspec that are declared like dataclasses; and properties that are computed once."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, dataclass_transform

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance

Class = TypeVar("Class")
Default = TypeVar("Default")
Instance = TypeVar("Instance", bound="DataclassInstance | msgspec.Struct")

_NO_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType({})
# The attributes that every class gets when it is created.
_OF_CLASS: Final = frozenset({"__annotations__", "__dict__", "__match_args__", "__slots__", "__weakref__"})


def field(*, default_factory: Callable[[], Default]) -> Default:
    """Declare a field with a default that is made for each value."""
    declared: Any = msgspec.field(default_factory=default_factory)
    return cast("Default", declared)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(*, kw_only: bool = False) -> Callable[[type[Class]], type[Class]]:
    """Return a decorator that makes a class a frozen Struct."""
    return lambda cls: as_value(cls, kw_only=kw_only)


@dataclass_transform(frozen_default=True)
def compact(cls: type[Class]) -> type[Class]:
    """Make a class a frozen Struct of which there may be a hundred thousand values, none of them in a cycle."""
    return as_value(cls, in_cycles=False)


def as_value(
    cls: type[Class],
    *,
    kw_only: bool = False,
    in_cycles: bool = True,
    defaults: Mapping[str, object] = _NO_DEFAULTS,
) -> type[Class]:
    """Return a class as a frozen Struct, with defaults of fields beside those that the class has as attributes.

    The garbage collector looks at values that may be `in_cycles` of references; others take 16 bytes less.
    """
    annotations: Mapping[str, object] = vars(cls).get("__annotations__", {})
    attributes = {
        name: attribute
        for name, attribute in vars(cls).items()
        if name not in _OF_CLASS and not name.startswith("__struct_")
    }
    bases = cls.__bases__
    # A value that inherits from another one is a Struct already.
    if issubclass(cls, msgspec.Struct):
        attributes = {name: attribute for name, attribute in attributes.items() if name not in annotations}
        attributes |= {name: default for name, default in defaults_of(cls).items() if name in annotations}
    else:
        bases = (msgspec.Struct, *(base for base in bases if base is not object))
    computes = any(isinstance(attribute, cached_property) for attribute in attributes.values())
    attributes |= {**defaults, "__annotations__": annotations}
    struct = msgspec.StructMeta(
        cls.__name__, bases, attributes, frozen=True, kw_only=kw_only, dict=computes, gc=in_cycles
    )
    return cast("type[Class]", struct)


def replace(old: Instance, **changes: Any) -> Instance:  # noqa: ANN401 (of any type)
    """Return a value with other values of some fields."""
    struct: Any = old
    return cast("Instance", msgspec.structs.replace(struct, **changes))


def fields_of(cls: type) -> tuple[str, ...]:
    """Return the names of the fields of values of a class, in their order."""
    struct: Any = cls
    names: tuple[str, ...] = struct.__struct_fields__
    return names


def defaults_of(cls: type) -> Mapping[str, object]:
    """Return the defaults of the fields of values of a class; a field without one is required."""
    struct: Any = cls
    defaults: tuple[object, ...] = struct.__struct_defaults__
    optional = fields_of(cls)[len(fields_of(cls)) - len(defaults) :]
    pairs = zip(optional, defaults, strict=True)
    return {name: default for name, default in pairs if default is not msgspec.NODEFAULT}
