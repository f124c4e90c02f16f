"""Several clusters that are asked the same: their answers as one, and an error for each that gives none."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.cli import terminal
from kubectl_policy.cli.clusters.live import PATIENCE, Live, attempt, fetched_all
from kubectl_policy.errors import FOUND, INCOMPLETE, ClusterError, PolicyError, UsageError
from kubectl_policy.model.values import value
from kubectl_policy.render.output.formats import OF_CI, PICTURES, Forms, format_of
from kubectl_policy.render.output.several import Answers, InContext, Told, Unanswered, render_several

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.render.output.formats import Shown
    from kubectl_policy.render.output.text import View

# From what is best to what is worst.
_CODES: Final = (0, FOUND, INCOMPLETE, UsageError.exit_code, PolicyError.exit_code)
_AT_A_TIME: Final = 16


class Among:
    """One of several clusters, with what it answers."""

    def __init__(self, context: str) -> None:
        """It has answered nothing yet."""
        self.context = context
        self.told: Told | None = None

    def forms(self, forms: Forms) -> InContext:
        """The forms of an answer that says which cluster gave it."""
        return InContext.of(forms, self.context)

    def take(self, forms: Forms, answer: object, view: View, shown: Shown) -> None:
        """Keep an answer, to be shown with those of the others."""
        self.told = Told(context=self.context, forms=forms, answer=answer, view=view, shown=shown)


@value(kw_only=True)
class Asked:
    """What is asked of one of several clusters, by a function that returns a code."""

    among: Among
    live: Live
    ask: Callable[[], int]


def answered_by_each(clusters: Sequence[Asked], output: str) -> int:
    """Ask each cluster, show what they answer in a format, and return the worst of their codes.

    A cluster that gives no answer is an error on standard error. Raises `PolicyError` if all give none for the same
    reason, or if the format has no place for the cluster.
    """
    if not clusters:
        raise ClusterError("there is no context in the kubeconfig", "`kubectl config get-contexts` lists them")
    if format_of(output).part in {"names", *PICTURES, *OF_CI}:
        raise UsageError(f"-o {output} does not say which cluster an object is in", "ask one --context, or use -o json")
    ended = dict(zip([each.among.context for each in clusters], _ended(clusters), strict=True))
    errors = {context: end for context, (_, end) in ended.items() if isinstance(end, PolicyError)}
    if len(errors) == len(clusters) and len({(error.message, error.hint) for error in errors.values()}) == 1:
        raise next(iter(errors.values()))
    told = tuple(each.among.told for each in clusters if each.among.told and each.among.context not in errors)
    unanswered = tuple(
        Unanswered(context=context, message=error.message, hint=error.hint) for context, error in errors.items()
    )
    if told:
        shown = render_several(Answers(told=told, unanswered=unanswered), output)
        terminal.show(shown, told[0].view.width, coloured=told[0].view.coloured)
    for context, (said, _) in ended.items():
        said.let_go(f"{context}: ")
    for each in unanswered:
        terminal.complain(f"error: {each.context}: {each.message}", *([f"hint: {each.hint}"] if each.hint else []))
    codes = [end.exit_code if isinstance(end, PolicyError) else end for _, end in ended.values()]
    return max(codes, key=_CODES.index)


def _ended(clusters: Sequence[Asked]) -> list[tuple[terminal.Held, int | PolicyError]]:
    """What is said beside the answer of each cluster, and its code or why there is none.

    What they are asked for is read at the same time; everything else is done for one after the other.
    """
    from concurrent.futures import ThreadPoolExecutor

    for each in clusters:
        # Whoever has to log in is asked for one after the other.
        with suppress(PolicyError):
            _ = each.live.access
    ended: dict[int, tuple[terminal.Held, int | PolicyError]] = {}
    with (
        terminal.progress("asking the clusters:", after=PATIENCE) as progress,
        ThreadPoolExecutor(min(len(clusters), _AT_A_TIME)) as threads,
    ):
        for each in clusters:
            each.live.progress = progress
        list(threads.map(Live.look_up, [each.live for each in clusters]))
        while waiting := [place for place in range(len(clusters)) if place not in ended]:
            tried = [attempt(clusters[place].ask) for place in waiting]
            ends = [*threads.map(_end, [clusters[place].live for place in waiting], [end for _, end in tried])]
            for place, (said, _), end in zip(waiting, tried, ends, strict=True):
                if end is not None:
                    ended[place] = (said, end)
    return [ended[place] for place in range(len(clusters))]


def _end(live: Live, end: int | PolicyError) -> int | PolicyError | None:
    """The end of an attempt, if it counts; None if there was more to be read for the next one."""
    try:
        return end if fetched_all(live, end) else None
    except PolicyError as error:
        return error
