"""Ask several clusters the same question; show their answers as one, and an error for each that gives none."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.cli import terminal
from kubectl_policy.cli.clusters.live import PATIENCE, Live, attempt, fetched_all
from kubectl_policy.errors import FOUND, INCOMPLETE, ClusterError, PolicyError, UsageError
from kubectl_policy.render.output.formats import OF_CI, PICTURES, format_of
from kubectl_policy.render.output.several import Answers, Unanswered, render_several

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.render.output.several import ClusterAnswer

# Exit codes, from the best to the worst.
_CODES: Final = (0, FOUND, INCOMPLETE, UsageError.exit_code, PolicyError.exit_code)
_MAX_THREADS: Final = 16


class ClusterQuestion(Struct, frozen=True, kw_only=True):
    """The question to one of several clusters."""

    context: str
    live: Live
    # Returns an exit code.
    ask: Callable[[], int]


def ask_clusters(
    questions: Sequence[ClusterQuestion], collected: Mapping[str, ClusterAnswer], output_format: str
) -> int:
    """Ask each cluster, show the answers that are collected by then in a format, and return the worst exit code.

    A cluster that gives no answer is an error on standard error. Raises `PolicyError` if all give none for the same
    reason, or if the format has no place for the cluster.
    """
    if not questions:
        raise ClusterError("there is no context in the kubeconfig", "`kubectl config get-contexts` lists them")
    if format_of(output_format).part in {"names", *PICTURES, *OF_CI}:
        message = f"-o {output_format} does not say which cluster an object is in"
        raise UsageError(message, "ask one --context, or use -o json")
    ends = _ask_all(questions)
    errors = {context: end for context, (_, end) in ends.items() if isinstance(end, PolicyError)}
    if len(errors) == len(questions) and len({(error.message, error.hint) for error in errors.values()}) == 1:
        raise next(iter(errors.values()))
    answers = tuple(collected[context] for context in ends if context in collected and context not in errors)
    unanswered = tuple(
        Unanswered(context=context, message=error.message, hint=error.hint) for context, error in errors.items()
    )
    if answers:
        shown = render_several(Answers(answered=answers, unanswered=unanswered), output_format)
        terminal.show(shown, answers[0].view.width, coloured=answers[0].view.coloured)
    for context, (output, _) in ends.items():
        output.let_go(f"{context}: ")
    for context, error in errors.items():
        terminal.complain(f"error: {context}: {error.message}", *([f"hint: {error.hint}"] if error.hint else []))
    codes = [end.exit_code if isinstance(end, PolicyError) else end for _, end in ends.values()]
    return max(codes, key=_CODES.index)


def _ask_all(questions: Sequence[ClusterQuestion]) -> dict[str, tuple[terminal.Held, int | PolicyError]]:
    """Return the output of each command beside its answer, and its exit code or error, by context.

    Clusters are read at the same time; everything else is done for one after another.
    """
    from concurrent.futures import ThreadPoolExecutor

    for question in questions:
        # Whoever has to log in is asked for one cluster after another.
        with suppress(PolicyError):
            _ = question.live.access
    ends: dict[str, tuple[terminal.Held, int | PolicyError]] = {}
    with (
        terminal.progress("asking the clusters:", after=PATIENCE) as progress,
        ThreadPoolExecutor(min(len(questions), _MAX_THREADS)) as threads,
    ):
        for question in questions:
            question.live.progress = progress
        list(threads.map(Live.look_up, [question.live for question in questions]))
        while waiting := [question for question in questions if question.context not in ends]:
            attempts = [attempt(question.ask) for question in waiting]
            lives = [question.live for question in waiting]
            settled = threads.map(_settled_end, lives, [end for _, end in attempts])
            for question, (output, _), end in zip(waiting, attempts, settled, strict=True):
                if end is not None:
                    ends[question.context] = output, end
    return {question.context: ends[question.context] for question in questions}


def _settled_end(live: Live, end: int | PolicyError) -> int | PolicyError | None:
    """Return the end of an attempt; None if there was more to be read for the next attempt."""
    try:
        return end if fetched_all(live, end) else None
    except PolicyError as error:
        return error
