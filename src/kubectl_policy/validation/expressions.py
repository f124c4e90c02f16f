"""Evaluating CEL, and with it the regular expressions of RE2, which take no longer the more they repeat."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from kubectl_policy.validation.cost import cost_of_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.validation.budget import Budget
    from kubectl_policy.validation.values import Seen


# What the library raises; TypeError is for text that is no Unicode.
_REFUSED: Final = (RuntimeError, TypeError)

_OPAQUE: Final = "Non-CEL value type"
_CODES: Final = re.compile(r"^(?:[A-Z_]+: )+(?:<input>:\S+ )?| \[[A-Z_]+\]$")


class _Type(Protocol):
    def name(self) -> str: ...


class _Value(Protocol):
    def value(self) -> object: ...
    def type(self) -> _Type: ...


class _Expression(Protocol):
    def eval(self, *, data: Mapping[str, object]) -> _Value: ...


class _Environment(Protocol):
    def compile(self, expression: str) -> _Expression: ...


class Result(NamedTuple):
    """What an expression comes to; `problem` says why it comes to nothing, in the words of the library."""

    value: object = None
    problem: str = ""


def can_evaluate() -> bool:
    """Whether the library is there; it is not built for every machine."""
    return library() is not None


def evaluate(expression: str, self: Seen) -> Result:
    """What an expression comes to for a value of `self`, if the library is there."""
    compiled = _compiled(expression)
    if isinstance(compiled, str):
        return Result(problem=compiled)
    try:
        found = compiled.eval(data={"self": self})
    except _REFUSED as error:
        return Result(problem=_words(error))
    if found.type().name() != "ERROR":
        return Result(found.value())
    problem = _words(found.value())
    return Result(problem="it is about a value that CEL cannot be given" if _OPAQUE in problem else problem)


def matches(pattern: str, text: str, budget: Budget) -> bool | None:
    """Whether a pattern is found in a text; None if nobody knows, or if it would take too long to find out."""
    if not can_evaluate() or not budget.afford(cost_of_pattern(pattern, len(text))):
        return None
    return _matches(pattern, text)


@lru_cache(maxsize=10_000)
def _matches(pattern: str, text: str) -> bool | None:
    found = evaluate("self[0].matches(self[1])", [text, pattern])
    return found.value if isinstance(found.value, bool) else None


@lru_cache(maxsize=10_000)
def _compiled(expression: str) -> _Expression | str:
    """The compiled expression, or why there is none."""
    try:
        return cast("_Environment", library()).compile(expression)
    except _REFUSED as error:
        return _words(error)


def _words(problem: object) -> str:
    """The first sentence of what the library says, without its codes and positions."""
    return _CODES.sub("", str(problem).partition("\n")[0])


@cache
def library() -> _Environment | None:
    """The environment of rules; None where the library is not installed.

    It is Google's own in C++: it takes at most 10,000 steps of loops, and parses at most 32 levels deep.
    """
    try:
        cel = import_module("cel_expr_python.cel")
        strings, optional = (import_module(f"cel_expr_python.ext.ext_{name}") for name in ("strings", "optional"))
    except ImportError:
        return None
    is_ip = cel.Overload("is_ip", cel.Type.BOOL, [cel.Type.STRING], impl=_is_ip)
    return cast(
        "_Environment",
        cel.NewEnv(
            variables={"self": cel.Type.DYN},
            extensions=[strings.ExtStrings(), optional.ExtOptional()],
            functions=[cel.FunctionDecl("isIP", [is_ip])],
        ),
    )


def _is_ip(text: str) -> bool:
    """What Gateway API's own rules ask of hostnames, as k8s.io/apiserver, pkg/cel/library, answers it."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return "%" not in text and not (isinstance(address, IPv6Address) and address.ipv4_mapped)
