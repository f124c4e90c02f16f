"""Values, as dataclasses are, and properties that are computed once: both so that they load soon, and are read fast.

Code is generated for values only once there are many, and `dataclasses` is not imported, which takes as long as a small
answer; `field` and `replace` are what they are there. CPython reads a field several times as fast where the class has
no attribute of that name, and where nobody has asked the object for its `__dict__`: defaults are not kept on a class,
and what is computed is set like any field. For the same reason nothing is in the way of assigning to a value at run
time; that it never changes is for type checkers to tell, which take it for frozen.
"""

from __future__ import annotations

from itertools import count
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar, cast, dataclass_transform, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from dataclasses import Field
    from typing import Self

    from _typeshed import DataclassInstance

Class = TypeVar("Class")
Computed = TypeVar("Computed")
Default = TypeVar("Default")
Instance = TypeVar("Instance", bound="DataclassInstance")

# To generate the constructor of a class takes as long as it saves for so many of its values.
_MANY: Final = 200
_NO_DEFAULT: Final = object()
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


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


def field(*, default_factory: Callable[[], Default]) -> Default:
    """A field with a default that is made for each value."""
    declared: Any = Declared(make=default_factory)
    return cast("Default", declared)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(*, kw_only: bool = False) -> Callable[[type[Class]], type[Class]]:
    """A decorator that makes a class what a frozen dataclass is to type checkers; `dataclasses` takes it for one."""
    return lambda cls: as_value(cls, kw_only=kw_only)


def as_value(cls: type[Class], *, kw_only: bool) -> type[Class]:
    """The class as `value` makes it, for decorators that have field specifiers of their own."""
    for name, attribute in _described(cls, kw_only=kw_only).items():
        setattr(cls, name, attribute)
    for name in fields_of(cls):
        if name in vars(cls):
            delattr(cls, name)
    return cls


@dataclass_transform(frozen_default=True)
def compact(cls: type[Class]) -> type[Class]:
    """A decorator for values of which there may be a hundred thousand: they have slots, and code that makes them soon.

    Any field may be given by its place, and has no default or a plain one.
    """
    described = _described(cls, kw_only=False)
    names: tuple[str, ...] = described["__match_args__"]
    namespace = {key: item for key, item in vars(cls).items() if key not in (*names, "__dict__", "__weakref__")}
    # Only a new class can have slots.
    slotted: type[Any] = type(cls.__name__, cls.__bases__, {**described, **namespace, "__slots__": names})
    known = {"defaults": described["_defaults"]}
    parameters = ", ".join(f"{name}=defaults[{name!r}]" if name in known["defaults"] else name for name in names)
    exec(f"def make(self, {parameters}): " + "; ".join(f"self.{name} = {name}" for name in names), known)  # noqa: S102 (our own code)
    slotted.__init__ = known["make"]
    return slotted


def _described(cls: type, *, kw_only: bool) -> dict[str, Any]:
    """Return the attributes to set on a class."""
    # First come the fields of the value that the class inherits from, if any.
    fields: dict[str, Declared] = {**getattr(cls, "_declared", {})}
    placed: list[str] = [*getattr(cls, "__match_args__", ())]
    namespace = vars(cls)
    for name, annotation in cls.__annotations__.items():
        if annotation == "KW_ONLY":
            kw_only = True
            continue
        default = namespace.get(name, _NO_DEFAULT)
        fields[name] = default if isinstance(default, Declared) else Declared(default)
        if not kw_only:
            placed.append(name)
    return {
        **{name: method for name, method in _METHODS.items() if name not in namespace},
        "__match_args__": tuple(placed),
        "__dataclass_fields__": _FIELDS,
        "_declared": fields,
        "_defaults": {
            name: declared.default for name, declared in fields.items() if declared.default is not _NO_DEFAULT
        },
        "_makers": {name: declared.make for name, declared in fields.items() if declared.make},
        # One call, however many fields: values are compared and hashed far more often than made.
        "_values": attrgetter(*fields) if fields else type,
        "_number": count(1),
    }


def replace(old: Instance, **changes: Any) -> Instance:  # noqa: ANN401 (of any type)
    """A value that has other values of some fields."""
    return type(old)(**{name: getattr(old, name) for name in fields_of(type(old))} | changes)


def fields_of(cls: type) -> Mapping[str, Declared]:
    """The fields of values of a class, by their names."""
    described: Any = cls
    fields: Mapping[str, Declared] = described._declared  # noqa: SLF001 (our own)
    return fields


class _Value:
    """The methods of every value."""

    __match_args__: ClassVar[tuple[str, ...]]
    _declared: ClassVar[Mapping[str, Declared]]
    _defaults: ClassVar[Mapping[str, object]]
    _makers: ClassVar[Mapping[str, Callable[[], object]]]
    _values: ClassVar[Any]
    _number: ClassVar[Iterator[int]]

    def __init__(self, *arguments: object, **named: object) -> None:
        if next(self._number) == _MANY:
            setattr(type(self), "__init__", _constructor(type(self)))  # noqa: B010 (a method is no variable)
        if arguments:
            named.update(zip(self.__match_args__, arguments, strict=False))
        if len(named) < len(self._declared):
            named = {**self._defaults, **named}
            for name, make in self._makers.items():
                if name not in named:
                    named[name] = make()
        if named.keys() != self._declared.keys() or len(arguments) > len(self.__match_args__):
            wrong = ", ".join(sorted(named.keys() ^ self._declared.keys())) or f"{len(arguments)} without names"
            raise TypeError(f"{type(self).__name__} has other fields than it is given: {wrong}")
        # In their order: so do the values of a class share the table of its names.
        for name in self._declared:
            setattr(self, name, named[name])

    def __eq__(self, other: object) -> bool:
        return self._values(self) == self._values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._declared)
        return f"{type(self).__name__}({shown})"


def _constructor(cls: type[_Value]) -> Callable[..., None]:
    """Generate a constructor with the fields as parameters, which takes half the time and memory of `_Value`'s."""
    fields, positional = fields_of(cls), cls.__match_args__
    keyword_only = [name for name in fields if name not in positional]
    defaults = {name: declared.default for name, declared in fields.items() if declared.default is not _NO_DEFAULT}
    makers = {name: declared.make for name, declared in fields.items() if declared.make}
    optional = {**defaults, **dict.fromkeys(makers, _NO_DEFAULT)}
    # No field is called as what has two underscores here.
    parameters = ["__self", *positional, *(["*", *keyword_only] if keyword_only else [])]
    signature = ", ".join(f"{name}=__optional[{name!r}]" if name in optional else name for name in parameters)
    expressions = {name: f"__makers[{name!r}]() if {name} is __missing else {name}" for name in makers}
    body = "\n".join(f"    __self.{name} = {expressions.get(name, name)}" for name in fields)
    known: dict[str, Any] = {"__optional": optional, "__makers": makers, "__missing": _NO_DEFAULT}
    exec(f"def __init__({signature}):\n{body}", known)  # noqa: S102 (as dataclasses does)
    constructor: Callable[..., None] = known["__init__"]
    return constructor


class _Fields:
    """The fields of values as `dataclasses` has them, made when it asks for those of a class."""

    def __init__(self) -> None:
        self._made: dict[type[_Value], Mapping[str, Field[Any]]] = {}

    def __get__(self, _: object, cls: type[_Value]) -> Mapping[str, Field[Any]]:
        if cls not in self._made:
            self._made[cls] = self._of(cls)
        return self._made[cls]

    def _of(self, cls: type[_Value]) -> Mapping[str, Field[Any]]:
        import dataclasses  # noqa: PLC0415 (see above)

        types = {name: hint for base in cls.__mro__[-2::-1] for name, hint in base.__annotations__.items()}
        dataclass = dataclasses.make_dataclass(cls.__name__, [(name, types[name]) for name in fields_of(cls)])
        fields: Mapping[str, Field[Any]] = {item.name: item for item in dataclasses.fields(dataclass)}
        for name, declared in fields_of(cls).items():
            fields[name].default = dataclasses.MISSING if declared.default is _NO_DEFAULT else declared.default
            fields[name].default_factory = declared.make or dataclasses.MISSING
            fields[name].metadata = MappingProxyType(dict(declared.metadata))
            fields[name].kw_only = name not in cls.__match_args__
        return fields


_FIELDS: Final = _Fields()
_NAMES = ("__init__", "__eq__", "__hash__", "__repr__")
_METHODS: Final = {name: vars(_Value)[name] for name in _NAMES}


class cached_property(Generic[Computed]):  # noqa: N801 (as functools calls it)
    """A property that is computed when it is first asked for, and kept: `functools.cached_property` without `__dict__`.

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
        setattr(instance, self._name, computed)
        return computed
