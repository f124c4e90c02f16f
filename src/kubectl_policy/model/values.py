"""Values: frozen Structs of msgspec that are declared like dataclasses; and properties that are computed once."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, dataclass_transform, overload

import msgspec
from msgspec.structs import force_setattr

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import Field
    from inspect import Signature
    from typing import Self

    from _typeshed import DataclassInstance

Class = TypeVar("Class")
Computed = TypeVar("Computed")
Default = TypeVar("Default")
Instance = TypeVar("Instance", bound="DataclassInstance | msgspec.Struct")

_NO_DEFAULT: Final[object] = msgspec.NODEFAULT
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
# The attributes that every class gets when it is created.
_OF_CLASS: Final = frozenset({"__annotations__", "__dict__", "__match_args__", "__slots__", "__weakref__"})


class Declared:
    """The declaration of a field: its default or a factory for one, and metadata."""

    def __init__(
        self,
        default: object = _NO_DEFAULT,
        *,
        make: Callable[[], object] | None = None,
        metadata: Mapping[str, Any] = _NOTHING,
    ) -> None:
        """Keep what is declared; without a default, every value has to be given the field."""
        self.default, self.make, self.metadata = default, make, metadata

    @property
    def is_required(self) -> bool:
        """Whether every value has to be given the field."""
        return self.default is _NO_DEFAULT and self.make is None


class _ValueType(msgspec.StructMeta):
    """The type of values: Structs of which the types of fields are imported for type checkers alone."""

    @property
    def __signature__(self) -> Signature:
        """The parameters by which a value is made, without their types."""
        from inspect import Parameter, Signature  # noqa: PLC0415 (no command needs it)

        by_place: tuple[str, ...] = getattr(self, "__match_args__", ())
        return Signature(
            [
                Parameter(
                    name,
                    Parameter.POSITIONAL_OR_KEYWORD if name in by_place else Parameter.KEYWORD_ONLY,
                    default=Parameter.empty if declared.is_required else declared.default,
                )
                for name, declared in fields_of(self).items()
            ]
        )


def field(*, default_factory: Callable[[], Default]) -> Default:
    """A field with a default that is made for each value."""
    declared: Any = Declared(make=default_factory)
    return cast("Default", declared)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(*, kw_only: bool = False) -> Callable[[type[Class]], type[Class]]:
    """A decorator that makes a class a frozen Struct; `dataclasses` takes it for one of its own."""
    return lambda cls: as_value(cls, kw_only=kw_only)


@dataclass_transform(frozen_default=True)
def compact(cls: type[Class]) -> type[Class]:
    """`value()` for values of which there may be a hundred thousand."""
    return as_value(cls, kw_only=False)


def as_value(cls: type[Class], *, kw_only: bool) -> type[Class]:
    """The class as `value` makes it, for decorators that have field specifiers of their own."""
    annotations: dict[str, str] = vars(cls).get("__annotations__", {})
    positional, keywords = _parted(annotations, kw_only=kw_only)
    declared = {name: _declaration(cls, name) for name in (*positional, *keywords)}
    attributes = {
        name: attribute
        for name, attribute in vars(cls).items()
        if name not in annotations and name not in _OF_CLASS and not name.startswith("__struct_")
    }
    attributes["_declared"] = {**getattr(cls, "_declared", {}), **declared}
    attributes["__dataclass_fields__"] = _FIELDS
    # A value that inherits from another one is a Struct already.
    bases = cls.__bases__ if issubclass(cls, msgspec.Struct) else (msgspec.Struct, *cls.__bases__)
    if positional and keywords:
        bases = (_struct(cls, bases, {}, {name: declared[name] for name in positional}, kw_only=False),)
        declared = {name: declared[name] for name in keywords}
    return cast("type[Class]", _struct(cls, bases, attributes, declared, kw_only=bool(keywords)))


def _parted(annotations: Mapping[str, str], *, kw_only: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The names of the fields that may be given by their places, and of those that are given by name."""
    names = list(annotations)
    marker = next((place for place, annotation in enumerate(annotations.values()) if annotation == "KW_ONLY"), None)
    if marker is not None:
        return names[:marker], names[marker + 1 :]
    return ([], names) if kw_only else (names, [])


def _declaration(cls: type, name: str) -> Declared:
    """How a class declares one of its own fields."""
    default = vars(cls).get(name, _NO_DEFAULT)
    if issubclass(cls, msgspec.Struct):
        from_last = cls.__struct_fields__.index(name) - len(cls.__struct_fields__)
        default = cls.__struct_defaults__[from_last] if -from_last <= len(cls.__struct_defaults__) else _NO_DEFAULT
    return default if isinstance(default, Declared) else Declared(default)


def _struct(
    cls: type,
    bases: tuple[type, ...],
    attributes: Mapping[str, object],
    fields: Mapping[str, Declared],
    *,
    kw_only: bool,
) -> type:
    """A Struct that is called as a class is, with some attributes and fields."""
    defaults = {
        name: msgspec.field(default_factory=declared.make) if declared.make else declared.default
        for name, declared in fields.items()
        if not declared.is_required
    }
    annotations = {name: cls.__annotations__[name] for name in fields}
    computes = any(isinstance(attribute, cached_property) for attribute in attributes.values())
    return _ValueType(
        cls.__name__,
        tuple(base for base in bases if base is not object),
        {"__module__": cls.__module__, **attributes, **defaults, "__annotations__": annotations},
        frozen=True,
        kw_only=kw_only,
        dict=computes,
    )


def replace(old: Instance, **changes: Any) -> Instance:  # noqa: ANN401 (of any type)
    """A value that has other values of some fields."""
    struct: Any = old
    return cast("Instance", msgspec.structs.replace(struct, **changes))


def fields_of(cls: type) -> Mapping[str, Declared]:
    """The fields of values of a class, by their names."""
    described: Any = cls
    fields: Mapping[str, Declared] = described._declared  # noqa: SLF001 (our own)
    return fields


class _Fields:
    """The fields of values as `dataclasses` has them, made when it asks for those of a class."""

    def __init__(self) -> None:
        self._made: dict[type, Mapping[str, Field[Any]]] = {}

    def __get__(self, _: object, cls: type) -> Mapping[str, Field[Any]]:
        if cls not in self._made:
            self._made[cls] = self._of(cls)
        return self._made[cls]

    def _of(self, cls: type) -> Mapping[str, Field[Any]]:
        import dataclasses  # noqa: PLC0415 (no command needs it)

        annotated: list[dict[str, str]] = [vars(base).get("__annotations__", {}) for base in reversed(cls.__mro__)]
        types = {name: hint for annotations in annotated for name, hint in annotations.items()}
        dataclass = dataclasses.make_dataclass(cls.__name__, [(name, types[name]) for name in fields_of(cls)])
        fields: Mapping[str, Field[Any]] = {item.name: item for item in dataclasses.fields(dataclass)}
        for name, declared in fields_of(cls).items():
            fields[name].default = dataclasses.MISSING if declared.default is _NO_DEFAULT else declared.default
            fields[name].default_factory = declared.make or dataclasses.MISSING
            fields[name].metadata = MappingProxyType(dict(declared.metadata))
            fields[name].kw_only = name not in getattr(cls, "__match_args__", ())
        return fields


_FIELDS: Final = _Fields()


class cached_property(Generic[Computed]):  # noqa: N801 (as functools calls it)
    """A property that is computed when it is first asked for, and kept, also by a frozen Struct.

    Nor does it take a lock, as that does before Python 3.12.
    """

    def __init__(self, compute: Callable[[Any], Computed]) -> None:
        """Keep the function that computes the value of an object."""
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        """Remember what it is called."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Computed: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Computed:
        """Compute the value and set it on the object, which shadows this property from then on."""
        if instance is None:
            return self
        computed = self.compute(instance)
        if isinstance(instance, msgspec.Struct):
            force_setattr(instance, self._name, computed)
        else:
            setattr(instance, self._name, computed)
        return computed
