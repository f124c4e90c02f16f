"""Evaluate CEL expressions and RE2 patterns in a separate process, which can be stopped if they take too long."""

from __future__ import annotations

import marshal
import os
import re
import signal
import time
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, Final, NoReturn, Protocol, TypeAlias, cast

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import EllipsisType

# A value as rules see it; an ellipsis stands for a value that the library cannot be given.
Seen: TypeAlias = "bool | int | float | str | bytes | EllipsisType | list[Seen] | dict[str, Seen] | None"

# Seconds of CPU time: the limit of one expression on one value, and of all slow expressions of a command.
_MAX_SECONDS: Final = 1.0
_BUDGET_SECONDS: Final = 4.0
# Expressions that take no longer do not count.
_FAST_SECONDS: Final = 0.01
# In characters.
_MAX_RULE: Final = 10_000
MAX_TEXT: Final = 5_000
_MAX_PROCESS_BYTES: Final = 4 * 2**30


class Result(Struct, frozen=True):
    """The result of an expression, if that is a truth value or a text, or the problem."""

    value: bool | str | None = None
    problem: str = ""


_STOPPED: Final = Result(problem="it would take too long")


class Evaluator:
    """Evaluates expressions within one budget of CPU time, which all objects of a command share.

    An expression that takes longer than a second is stopped, and not tried again. Only slow expressions count, so that
    the number of objects does not matter.
    """

    def __init__(self, budget: float = _BUDGET_SECONDS, longest: float = _MAX_SECONDS) -> None:
        """Start no process before there is something to evaluate; the limits are in seconds."""
        self._longest = longest
        self._remaining = budget
        self._stopped: set[str] = set()
        self._matches: dict[tuple[str, str], bool | None] = {}

    @property
    def obstacle(self) -> str:
        """The reason for which nothing can be evaluated, or nothing any more; empty without one."""
        if library() is None:
            return "cel-expr-python is not installed"
        if not hasattr(os, "fork"):
            return "on this platform nothing can stop one that takes too long"
        return "" if self._remaining > 0 else "those before took too long"

    def evaluate(self, expressions: Sequence[str], value: Seen) -> list[Result]:
        """Return the result of each expression for a value of `self`."""
        return self.evaluate_with(expressions, {"self": value})

    def evaluate_with(self, expressions: Sequence[str], variables: dict[str, Seen]) -> list[Result]:
        """Return the result of each expression for the values of some variables."""
        results: dict[str, Result] = {}
        possible = [text for text in expressions if len(text) <= _MAX_RULE]
        while self._remaining > 0 and (
            waiting := [text for text in possible if text not in {*results, *self._stopped}]
        ):
            results |= zip(waiting, self._evaluate(waiting, variables), strict=False)
        return [results.get(text, _STOPPED) for text in expressions]

    def holds(self, expression: str, value: Seen) -> bool:
        """Whether an expression of this program, of any length, is known to be true of a value of `self`."""
        if self._remaining <= 0 or expression in self._stopped:
            return False
        (result, *_) = (*self._evaluate([expression], {"self": value}), _STOPPED)
        return result.value is True

    def matches(self, pattern: str, text: str) -> bool | None:
        """Whether a pattern is found in a text; None if that is not known."""
        if self.obstacle:
            return None
        if (pattern, text) not in self._matches:
            quoted = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
            (result,) = self.evaluate([f'self.matches("{quoted}")'], text)
            self._matches[pattern, text] = result.value if isinstance(result.value, bool) else None
        return self._matches[pattern, text]

    def _evaluate(self, expressions: Sequence[str], variables: dict[str, Seen]) -> list[Result]:
        """Return the results of expressions up to the first one that is stopped."""
        worker = _idle_worker() or _Worker()
        limit, results = min(self._longest, self._remaining), list[Result]()
        with suppress(OSError, EOFError):
            worker.ask(expressions, variables, limit)
            for _ in expressions:
                result, problem, seconds = worker.answer()
                results.append(Result(result, problem))
                self._remaining -= seconds if seconds > _FAST_SECONDS else 0
        if len(results) < len(expressions):
            self._stopped.add(expressions[len(results)])
            self._remaining -= limit
        else:
            _idle.append(worker)
        return results


class _Worker:
    """A fork of this process that evaluates expressions until its pipe is closed, or it is stopped."""

    def __init__(self) -> None:
        self.asking_process = os.getpid()
        requests, results = os.pipe(), os.pipe()
        process = os.fork() or _work(requests, results)
        os.close(requests[0])
        os.close(results[1])
        self._requests = os.fdopen(requests[1], "wb")
        self._results = os.fdopen(results[0], "rb")
        import weakref  # noqa: PLC0415 (many a command has nothing to evaluate)

        weakref.finalize(self, _end, process, self._requests, self._results)

    def ask(self, expressions: Sequence[str], variables: dict[str, Seen], limit: float) -> None:
        """Request the results of expressions, each within a limit in seconds of CPU time."""
        marshal.dump((list(expressions), variables, limit), self._requests)
        self._requests.flush()

    def answer(self) -> tuple[bool | str | None, str, float]:
        """Return the result of the next expression or its problem, and its seconds of CPU time."""
        return cast("tuple[bool | str | None, str, float]", marshal.load(self._results))  # noqa: S302 (our own words)


# The workers that wait for requests: what one has compiled, it need not compile for the next evaluator.
_idle: Final[list[_Worker]] = []


def _idle_worker() -> _Worker | None:
    """Return a worker that waits for requests of this process, and not of one that it is a copy of."""
    while _idle:
        worker = _idle.pop()
        if worker.asking_process == os.getpid():
            return worker
    return None


def _end(process: int, *pipes: BinaryIO) -> None:
    for pipe in pipes:
        with suppress(OSError):
            pipe.close()
    # After a fork, the worker may be no child of this process.
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _work(requests: tuple[int, int], results: tuple[int, int]) -> NoReturn:  # pragma: no cover (in the copy alone)
    """Serve requests in a process that the kernel ends when it takes too long or too much memory."""
    try:
        import resource  # noqa: PLC0415 (not on every platform)

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (_MAX_PROCESS_BYTES, _MAX_PROCESS_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.close(requests[1])
        os.close(results[0])
        with os.fdopen(requests[0], "rb") as incoming, os.fdopen(results[1], "wb") as outgoing:
            serve(incoming, outgoing)
    finally:
        os._exit(0)


def serve(requests: BinaryIO, results: BinaryIO) -> None:
    """Answer requests until there are no more; an expression beyond its limit ends the process (SIGPROF)."""
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


# Exceptions of the library; TypeError is for text that is no Unicode.
_LIBRARY_ERRORS: Final = (RuntimeError, TypeError)

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
    except _LIBRARY_ERRORS as error:
        return Result(problem=_first_sentence(error))
    value = outcome.value()
    if outcome.type().name() == "ERROR":
        problem = _first_sentence(value)
        return Result(problem="it is about a value that CEL cannot be given" if _OPAQUE in problem else problem)
    if isinstance(value, str):
        return Result(value[: MAX_TEXT + 1])
    return Result(value if isinstance(value, bool) else None)


@lru_cache(maxsize=10_000)
def _compiled(expression: str, variables: tuple[str, ...]) -> _Expression | str:
    """Return the compiled expression, or the problem."""
    try:
        return cast("_Environment", library(variables)).compile(expression)
    except _LIBRARY_ERRORS as error:
        return _first_sentence(error)


def _first_sentence(problem: object) -> str:
    """Return the first sentence of a message of the library, without codes and positions."""
    return re.sub(_CODES, "", str(problem).partition("\n")[0])


@cache
def library(variables: tuple[str, ...] = ("self",)) -> _Environment | None:
    """Return the environment of rules with some variables; None if the library is not installed.

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
    """Whether a text is an IP address, as `isIP` in k8s.io/apiserver, pkg/cel/library, has it."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415 (few rules ask)

    try:
        address = ip_address(text)
    except ValueError:
        return False
    return "%" not in text and not (isinstance(address, IPv6Address) and address.ipv4_mapped)
