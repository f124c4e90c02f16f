"""CEL and RE2: evaluating rules and patterns, as far as that takes bounded time."""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from importlib import import_module
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_policy.validation.findings import Budget
    from kubectl_policy.validation.values import Seen

# The library gives up after so many steps of loops.
_MOST_STEPS: Final = 10_000
# RE2 repeats nothing more often, however repetitions are nested.
_MOST_REPEATED: Final = 1000
# No rule needs more of what can double or square a value.
_MOST_JOINED: Final = 50
_MOST_MULTIPLIED: Final = 2
_TOO_MUCH: Final = 10**18
_RAW: Final = r"""[rR][bB]?(?:"{3}[\s\S]*?"{3}|'{3}[\s\S]*?'{3}|"[^"]*"|'[^']*')"""
_PLAIN: Final = r"""(?P<quote>"{3}|'{3}|["'])(?:\\[\s\S]|(?!(?P=quote))[\s\S])*(?P=quote)"""
TEXT: Final = re.compile(f"{_RAW}|{_PLAIN}")
_LOOP: Final = re.compile(r"\.\s*(?:all|exists|exists_one|existsOne|map|filter|optMap|optFlatMap)\s*\(")
_WHOLE: Final = re.compile(r"[=!<>]=|[<>+]|\bin\b|\w\s*\(")
# What looks at no value as a whole, and loops, which count by themselves.
_PART: Final = re.compile(r"\b(?:has|size|all|exists|exists_one)\s*\(")
_MATCHES: Final = re.compile(r"\bmatches\s*\(")
_MULTIPLIED: Final = re.compile(r"\b(?:replace|join|format)\s*\(")
_SPACE: Final = re.compile(r"\s+")
_CONSTANTS: Final = re.compile(r'\[(?:(?:""|[\d.]+),)*(?:""|[\d.]+)?\]')
_REPEATED: Final = re.compile(r"\{(\d{0,4}),?(\d{0,4})\}")


class Size(NamedTuple):
    """How large a value is: all of it, its longest list or mapping, and its longest text."""

    total: int = 1
    items: int = 0
    text: int = 0


class _Shape(NamedTuple):
    """What the text of a rule says of its cost: how many loops, how deep, and how much of what can be large."""

    loops: int
    depth: int
    commas: int
    wholes: int
    joined: int
    multiplied: int
    splits: bool
    pattern: int


def size_of(value: Seen) -> Size:
    """The size of a value: 1 for each value in it, and more for a long text."""
    if isinstance(value, str | bytes):
        return Size(1 + len(value) // 16, 0, len(value))
    if isinstance(value, dict):
        return _sum(len(value), map(size_of, value.values()))
    return _sum(len(value), map(size_of, value)) if isinstance(value, list) else Size()


def _sum(items: int, parts: Iterable[Size]) -> Size:
    total, text = 1 + items, 0
    for part in parts:
        total, items, text = total + part.total, max(items, part.items), max(text, part.text)
    return Size(total, items, text)


def cost_of_pattern(pattern: str, length: int) -> int:
    """The most units of work for finding a pattern in a text of a length: RE2 needs a step for each part and letter."""
    return len(pattern) * _repetition(pattern) * (20 + length // 4)


def cost_of_rule(rule: str, size: Size) -> int:
    """The most units of work for a rule on a value of a size.

    A rule loops over the longest list that there is or that it makes itself. Each time, it may look at the whole value
    as often as it has operators and calls.
    """
    shape = _shape_of(rule)
    if shape.joined > _MOST_JOINED or shape.multiplied > _MOST_MULTIPLIED:
        return _TOO_MUCH
    # A value can only be joined to itself again, and again, where a loop gives a name to what was joined before.
    stages = shape.loops + 1
    growth = min(_power(2, shape.joined), _power(-(-shape.joined // stages) + 1, stages))
    growth *= _power(size.text + len(rule), shape.multiplied)
    total, text = (size.total + len(rule) // 16) * growth, (size.text + len(rule)) * growth
    items = max(size.items, shape.commas + 1, text if shape.splits else 0) * growth
    steps = min(shape.loops * _power(items, min(shape.depth, 4)), _MOST_STEPS) if shape.loops else 1
    return steps * (len(rule) + shape.wholes * total + shape.pattern * (20 + text // 4))


def _power(base: int, times: int) -> int:
    return math.prod([base] * times)


@lru_cache(maxsize=10_000)
def _shape_of(rule: str) -> _Shape:
    code = TEXT.sub('""', rule)
    loops = {found.end() - 1 for found in _LOOP.finditer(code)}
    listed = _listed(_CONSTANTS.sub("[]", _SPACE.sub("", code)))
    return _Shape(
        len(loops),
        _depth(code, loops),
        code.count(","),
        len(_WHOLE.findall(_PART.sub("(", code))) + listed,
        code.count("+") + listed,
        len(_MULTIPLIED.findall(code)),
        "split" in code,
        len(rule) * _repetition(rule) if _MATCHES.search(code) else 0,
    )


def _depth(code: str, loops: Collection[int]) -> int:
    """How many loops are inside of each other; a loop is named by the position of its parenthesis."""
    inside: list[bool] = []
    depth = deepest = 0
    for position, letter in enumerate(code):
        if letter == "(":
            inside.append(position in loops)
            depth += inside[-1]
            deepest = max(deepest, depth)
        elif letter == ")" and inside:
            depth -= inside.pop()
    return deepest


def _listed(code: str) -> int:
    """How many values stand in lists and mappings that a rule makes, beyond the first of each."""
    inside: list[str] = []
    found = 0
    for letter in code:
        if letter in "([{":
            inside.append(letter)
        elif letter in ")]}" and inside:
            inside.pop()
        elif letter == "," and inside and inside[-1] != "(":
            found += 1
    return found


def _repetition(pattern: str) -> int:
    if "){" in pattern:
        return _MOST_REPEATED
    counts = [int(count) for found in _REPEATED.findall(pattern) for count in found if count]
    return min(max([1, *counts]), _MOST_REPEATED)


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
