"""Immutable values: frozen dataclasses for which code is generated only once there are many, so that they load soon."""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Class = TypeVar("Class")
# To generate the constructor of a class takes as long as it saves for so many of its values.
_MANY: Final = 200


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(*, kw_only: bool = False) -> Callable[[type[Class]], type[Class]]:
    """A decorator that makes a class what `dataclass(frozen=True)` makes it; `fields` and `replace` know it too."""
    return lambda cls: as_value(cls, kw_only=kw_only)


def as_value(cls: type[Class], *, kw_only: bool) -> type[Class]:
    """The class as `value` makes it, for decorators that have field specifiers of their own."""
    made: Any = dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    own = fields(made)
    described = {
        **vars(_Value),
        "_names": dict.fromkeys(each.name for each in own),
        # One call, however many fields: values are compared and hashed far more often than made.
        "_fields": attrgetter(*(each.name for each in own)) if own else type,
        "_defaults": {each.name: each.default for each in own if each.default is not MISSING},
        "_makers": {each.name: each.default_factory for each in own if each.default_factory is not MISSING},
        "_number": count(1),
    }
    for name in (*_METHODS, "_names", "_fields", "_defaults", "_makers", "_number"):
        if name not in vars(cls):
            setattr(made, name, described[name])
    return cls


class _Value:
    """The methods of every value."""

    __match_args__: ClassVar[tuple[str, ...]]
    _names: ClassVar[Mapping[str, None]]
    _fields: ClassVar[Any]
    _defaults: ClassVar[Mapping[str, object]]
    _makers: ClassVar[Mapping[str, Callable[[], object]]]
    _number: ClassVar[Iterator[int]]

    def __init__(self, *given: object, **named: object) -> None:
        if next(self._number) == _MANY:
            setattr(type(self), "__init__", _constructor(type(self)))  # noqa: B010 (a method is no variable)
        if given:
            named.update(zip(self.__match_args__, given, strict=False))
        if len(named) < len(self._names):
            named = {**self._defaults, **named}
            for name, make in self._makers.items():
                if name not in named:
                    named[name] = make()
        if named.keys() != self._names.keys() or len(given) > len(self.__match_args__):
            wrong = ", ".join(sorted(named.keys() ^ self._names.keys())) or f"{len(given)} without names"
            raise TypeError(f"{type(self).__name__} has other fields than it is given: {wrong}")
        # One by one, and in their order: so do the values of a class share the table of its names.
        fields = self.__dict__
        for name in self._names:
            fields[name] = named[name]

    def __eq__(self, other: object) -> bool:
        return self._fields(self) == self._fields(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._fields(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._names)
        return f"{type(self).__name__}({shown})"

    def __setattr__(self, name: str, new: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


def _constructor(cls: type[_Value]) -> Callable[..., None]:
    """What makes values of a class as `_Value` does, in half the time and room: the fields are its parameters."""
    own, places = cls._names, cls.__match_args__
    more = [name for name in own if name not in places]
    optional = {**cls._defaults, **dict.fromkeys(cls._makers, MISSING)}
    # No field is called as what has two underscores here.
    parameters = ["__self", *places, *(["*", *more] if more else [])]
    signature = ", ".join(f"{name}=__optional[{name!r}]" if name in optional else name for name in parameters)
    made = {name: f"__makers[{name!r}]() if {name} is __missing else {name}" for name in cls._makers}
    body = "\n".join(f"    __fields[{name!r}] = {made.get(name, name)}" for name in own)
    known: dict[str, Any] = {"__optional": optional, "__makers": cls._makers, "__missing": MISSING}
    exec(f"def __init__({signature}):\n    __fields = __self.__dict__\n{body}", known)  # noqa: S102 (as dataclasses does)
    constructor: Callable[..., None] = known["__init__"]
    return constructor


_METHODS = ("__init__", "__eq__", "__hash__", "__repr__", "__setattr__", "__delattr__")
