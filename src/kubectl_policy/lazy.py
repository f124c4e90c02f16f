"""Lazy evaluation: methods that cache results by argument; expressions and functions that wait for their first use."""

from __future__ import annotations

import re
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, AnyStr, Concatenate, Generic, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_Owner = TypeVar("_Owner")
_Arguments = ParamSpec("_Arguments")
_Argument = TypeVar("_Argument", bound="Hashable")
_Result = TypeVar("_Result")


def cached_method(
    compute: Callable[Concatenate[_Owner, _Arguments], _Result],
) -> Callable[Concatenate[_Owner, _Arguments], _Result]:
    """Return a method that computes its result once for the same arguments of each object."""
    return cast("Callable[Concatenate[_Owner, _Arguments], _Result]", _CachedMethod(compute))


class _CachedMethod:
    """A method that is replaced on an object, at its first use, by the lookup of results."""

    def __init__(self, compute: Callable[..., Any]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, _: type) -> Callable[..., Any]:
        if owner is None:
            return self._compute
        compute = partial(self._compute, owner)
        # To look up in a dictionary takes half the time, but it takes one argument.
        code = self._compute.__code__
        has_one_argument = code.co_argcount + code.co_kwonlyargcount == 2  # noqa: PLR2004 (with the object)
        lookup = Results(compute).__getitem__ if has_one_argument else cache(compute)
        owner.__dict__[self._name] = lookup
        return lookup


class Results(dict[_Argument, _Result]):
    """Results by argument; a missing one is computed."""

    def __init__(self, compute: Callable[[_Argument], _Result]) -> None:
        """Compute a result when it is first looked up."""
        super().__init__()
        self._compute = compute

    def __missing__(self, argument: _Argument) -> _Result:
        """Compute a result and keep it."""
        result = self[argument] = self._compute(argument)
        return result


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled when its first method is looked up."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))


class _LazyPattern(Generic[AnyStr]):
    """A regular expression that is compiled at first use; a method becomes an attribute once it was looked up."""

    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (its methods)
        method = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, method)
        return method


class LazyFunctions:
    """The functions of a module that is imported when one of them is called."""

    def __init__(self, module: str) -> None:
        """Keep the full name of the module."""
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function that calls the one of that name."""

        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (those of any function)
            return getattr(import_module(self._module), name)(*arguments, **options)

        return call
