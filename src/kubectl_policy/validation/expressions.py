"""CEL and RE2: expressions are evaluated by a process of their own, because nothing else can stop the library."""

from __future__ import annotations

import marshal
import os
import re
import signal
import time
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, cast

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import EllipsisType
    from typing import NoReturn, TypeAlias

# What rules see of a value; an ellipsis is what cannot be told to the library.
Seen: TypeAlias = "bool | int | float | str | bytes | EllipsisType | list[Seen] | dict[str, Seen] | None"

# Seconds of CPU time: for one expression on one value, and for all of a command that take longer than a moment.
_LONGEST: Final = 1.0
_BUDGET: Final = 4.0
_MOMENT: Final = 0.01
_LARGEST_RULE: Final = 10_000
# No text that a rule makes is shown beyond this.
LARGEST_TEXT: Final = 5_000
_LARGEST_PROCESS: Final = 4 * 2**30


class Result(Struct, frozen=True):
    """The result of an expression, if that is a truth value or a text; `problem` says why there is none."""

    value: bool | str | None = None
    problem: str = ""


_STOPPED: Final = Result(problem="it would take too long")


class Evaluator:
    """Evaluates expressions within one budget of CPU time, which all objects of a command share.

    An expression that takes longer than a second is stopped, and not tried again. Only what takes longer than a moment
    counts, so that it does not matter how many objects there are.
    """

    def __init__(self, budget: float = _BUDGET, longest: float = _LONGEST) -> None:
        """Start no process before there is something to evaluate; the limits are seconds."""
        self._longest = longest
        self._left = budget
        self._worker: _Worker | None = None
        self._stopped: set[str] = set()
        self._matches: dict[tuple[str, str], bool | None] = {}

    @property
    def obstacle(self) -> str:
        """Why nothing can be evaluated, or nothing any more; empty if it can."""
        if library() is None:
            return "cel-expr-python is not installed"
        if not hasattr(os, "fork"):
            return "on this platform nothing can stop one that takes too long"
        return "" if self._left > 0 else "those before took too long"

    def evaluate(self, expressions: Sequence[str], value: Seen) -> list[Result]:
        """The result of each expression for a value of `self`."""
        return self.evaluate_with(expressions, {"self": value})

    def evaluate_with(self, expressions: Sequence[str], variables: dict[str, Seen]) -> list[Result]:
        """The result of each expression for the values of some variables."""
        results: dict[str, Result] = {}
        possible = [text for text in expressions if len(text) <= _LARGEST_RULE]
        while self._left > 0 and (waiting := [text for text in possible if text not in {*results, *self._stopped}]):
            results |= zip(waiting, self._answers(waiting, variables), strict=False)
        return [results.get(text, _STOPPED) for text in expressions]

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern is found in a text; None if that is not known."""
        if self.obstacle:
            return None
        if (pattern, text) not in self._matches:
            quoted = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
            (result,) = self.evaluate([f'self.matches("{quoted}")'], text)
            self._matches[pattern, text] = result.value if isinstance(result.value, bool) else None
        return self._matches[pattern, text]

    def _answers(self, expressions: Sequence[str], variables: dict[str, Seen]) -> list[Result]:
        """The results of some expressions from the first on; the one after these, if there is any, was stopped."""
        worker, self._worker = self._worker or _Worker(), None
        limit, results = min(self._longest, self._left), list[Result]()
        with suppress(OSError, EOFError):
            worker.ask(expressions, variables, limit)
            for _ in expressions:
                result, problem, seconds = worker.answer()
                results.append(Result(result, problem))
                self._left -= seconds if seconds > _MOMENT else 0
        if len(results) < len(expressions):
            self._stopped.add(expressions[len(results)])
            self._left -= limit
        else:
            self._worker = worker
        return results


class _Worker:
    """A copy of this process that evaluates expressions until it is told no more, or is stopped."""

    def __init__(self) -> None:
        requests, results = os.pipe(), os.pipe()
        process = os.fork() or _work(requests, results)
        os.close(requests[0])
        os.close(results[1])
        self._requests = os.fdopen(requests[1], "wb")
        self._results = os.fdopen(results[0], "rb")
        import weakref  # noqa: PLC0415 (many a command has nothing to evaluate)

        weakref.finalize(self, _end, process, self._requests, self._results)

    def ask(self, expressions: Sequence[str], variables: dict[str, Seen], limit: float) -> None:
        """Have expressions evaluated for some values, each for so many seconds of CPU time at most."""
        marshal.dump((list(expressions), variables, limit), self._requests)
        self._requests.flush()

    def answer(self) -> tuple[bool | str | None, str, float]:
        """The result of the next expression, why there is none, and the seconds that it took."""
        return cast("tuple[bool | str | None, str, float]", marshal.load(self._results))  # noqa: S302 (our own words)


def _end(process: int, *pipes: BinaryIO) -> None:
    for pipe in pipes:
        with suppress(OSError):
            pipe.close()
    # In a copy of the process that started it, it is no child.
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _work(requests: tuple[int, int], results: tuple[int, int]) -> NoReturn:  # pragma: no cover (in the copy alone)
    """Evaluate what is asked, as a process that the kernel ends when it takes too long or too much memory."""
    try:
        import resource  # noqa: PLC0415 (not on every platform)

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (_LARGEST_PROCESS, _LARGEST_PROCESS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.close(requests[1])
        os.close(results[0])
        with os.fdopen(requests[0], "rb") as asked, os.fdopen(results[1], "wb") as answers:
            serve(asked, answers)
    finally:
        os._exit(0)


def serve(requests: BinaryIO, results: BinaryIO) -> None:
    """Answer requests until there are no more; what takes longer than its limit ends the process (SIGPROF)."""
    with suppress(EOFError):
        while True:
            expressions, variables, limit = marshal.load(requests)  # noqa: S302 (our own words)
            for expression in expressions:
                start = time.process_time()
                signal.setitimer(signal.ITIMER_PROF, limit)
                result = _evaluated(expression, variables)
                signal.setitimer(signal.ITIMER_PROF, 0)
                marshal.dump((result.value, result.problem, time.process_time() - start), results)
                results.flush()


# What the library raises; TypeError is for text that is no Unicode.
_REFUSED: Final = (RuntimeError, TypeError)

_OPAQUE: Final = "Non-CEL value type"
_CODES: Final = r"^(?:[A-Z_]+: )+(?:<input>:\S+ )?| \[[A-Z_]+\]$"


class _Type(Protocol):
    def name(self) -> str: ...


class _Value(Protocol):
    def value(self) -> object: ...
    def type(self) -> _Type: ...


class _Expression(Protocol):
    def eval(self, *, data: Mapping[str, object]) -> _Value: ...


class _Environment(Protocol):
    def compile(self, expression: str) -> _Expression: ...


def _evaluated(expression: str, variables: dict[str, Seen]) -> Result:
    compiled = _compiled(expression, tuple(variables))
    if isinstance(compiled, str):
        return Result(problem=compiled)
    try:
        outcome = compiled.eval(data=variables)
    except _REFUSED as error:
        return Result(problem=_words(error))
    value = outcome.value()
    if outcome.type().name() == "ERROR":
        problem = _words(value)
        return Result(problem="it is about a value that CEL cannot be given" if _OPAQUE in problem else problem)
    if isinstance(value, str):
        return Result(value[: LARGEST_TEXT + 1])
    return Result(value if isinstance(value, bool) else None)


@lru_cache(maxsize=10_000)
def _compiled(expression: str, variables: tuple[str, ...]) -> _Expression | str:
    """The compiled expression, or why there is none."""
    try:
        return cast("_Environment", library(variables)).compile(expression)
    except _REFUSED as error:
        return _words(error)


def _words(problem: object) -> str:
    """The first sentence of what the library says, without its codes and positions."""
    return re.sub(_CODES, "", str(problem).partition("\n")[0])


@cache
def library(variables: tuple[str, ...] = ("self",)) -> _Environment | None:
    """The environment of rules with some variables; None where the library is not installed.

    It is not built for every machine. It is Google's own in C++: it takes at most 10,000 steps of loops, and parses at
    most 32 levels deep.
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
            variables=dict.fromkeys(variables, cel.Type.DYN),
            extensions=[strings.ExtStrings(), optional.ExtOptional()],
            functions=[cel.FunctionDecl("isIP", [is_ip])],
        ),
    )


def _is_ip(text: str) -> bool:
    """What Gateway API's own rules ask of hostnames, as k8s.io/apiserver, pkg/cel/library, answers it."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415 (few rules ask)

    try:
        address = ip_address(text)
    except ValueError:
        return False
    return "%" not in text and not (isinstance(address, IPv6Address) and address.ipv4_mapped)
