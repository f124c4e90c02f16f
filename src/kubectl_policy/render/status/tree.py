"""Computed against reported, for people: what disagrees first, with both sides and what would explain it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.status.words import claim_words, how_to_read, long_reason
from kubectl_policy.render.words.headlines import status_headline
from kubectl_policy.render.words.names import count, node_words
from kubectl_policy.render.words.next_commands import after_status, next_section
from kubectl_policy.render.words.sections import BLANK, section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.status.comparison import Comparison, ObjectStatus
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render.output.text import Document, Style, View

# So many objects are shown in each part of an answer at a terminal.
_SHOWN: Final = 10
_ASIDE: Final = (
    "Where nothing known here explains a disagreement, either the controller has a reason that is not in the input, or "
    "what is computed is wrong. If it is wrong, please report it, with the objects and the version of the controller."
)


def status_tree(report: StatusReport, view: View) -> Document:
    """The report, disagreements first; if everything is asked for, also what agrees, and nothing is cut."""
    whole = view.everything or not view.terminal
    wrong = (_block(one, lambda found: found.disagrees) for one in report.objects)
    undecided = (_block(one, lambda found: found.verdict == "undecided") for one in report.objects)
    return (
        Line((Span(status_headline(report), "title", prose=True),), 0, 2),
        *section("Disagreements", _shown(filter(None, wrong), whole=whole)),
        *section("Cannot be decided", _shown(filter(None, undecided), whole=whole)),
        *section("Of an older generation, but as computed", _shown(_stale(report), whole=whole)),
        *(section("As computed", _shown(_agreeing(report), whole=True)) if view.everything else ()),
        *section("No status in the input", _shown(_silent(report), whole=whole)),
        *section("Not compared", _not_compared(report)),
        *unseen_section(report.unseen),
        *_asides(report, view),
        *next_section(after_status(report), view),
    )


def _shown(blocks: Iterable[tuple[Line, ...]], *, whole: bool) -> Iterable[Line]:
    """The lines of each object; unless `whole`, of the first ones, and how many more there are."""
    found = list(blocks)
    if whole or len(found) <= _SHOWN:
        return chain(*found)
    rest = f"and {count(len(found) - _SHOWN, 'more object')}: --show-all shows them"
    return chain(*found[:_SHOWN], (Line((Span(rest, "aside", prose=True),), 2, 4),))


def _block(one: ObjectStatus, wanted: Callable[[Comparison], bool]) -> tuple[Line, ...]:
    """An object with the comparisons that are wanted, with both sides of each; nothing if there is none."""
    chosen = [found for found in one.comparisons if wanted(found)]
    if not chosen:
        return ()
    sides = (line for found in chosen for line in (Line((Span(_where(found)),), 4, 6), *_sides(one, found)))
    return (_subject(one), *sides)


def _subject(one: ObjectStatus) -> Line:
    origin = Span(f" ({one.resource.origin})", "aside")
    return Line((Span(str(one.resource.ref), "subject"), origin), 2, 4)


def _where(found: Comparison) -> str:
    return f"{found.type or '(no type)'}{_at(found.at)}"


def _at(node: NodeRef | None) -> str:
    return f" at {node_words(node)}" if node else ""


def _sides(one: ObjectStatus, found: Comparison) -> Iterator[Line]:
    for label, claim in (("reported", found.reported), ("computed", found.computed)):
        yield _side(label, claim_words(claim), claim.message if claim else "")
    for thing in found.doubts:
        yield _side("unseen", thing.what, thing.reason)
    if found.explanation:
        style: Style = "aside" if found.explanation == "none" else "warning"
        yield Line((Span("why        "), Span(long_reason(one, found), style, prose=True)), 6, 17)


def _side(label: str, said: str, why: str) -> Line:
    detail = (Span(f": {why}", prose=True),) if why else ()
    return Line((Span(f"{label:<11}"), Span(said, prose=True), *detail), 6, 17)


def _stale(report: StatusReport) -> Iterator[tuple[Line, ...]]:
    for one in report.objects:
        stale = [found for found in one.comparisons if found.stale and found.verdict == "agrees"]
        texts = (f"{_where(found)} is of generation {found.seen}, the object at {one.generation}" for found in stale)
        yield from _listed(one, texts)


def _agreeing(report: StatusReport) -> Iterator[tuple[Line, ...]]:
    for one in report.objects:
        agreeing = (found for found in one.comparisons if found.verdict == "agrees")
        yield from _listed(
            one, (f"{_where(found)}: {claim_words(found.computed or found.reported)}" for found in agreeing)
        )


def _listed(one: ObjectStatus, texts: Iterable[str]) -> Iterator[tuple[Line, ...]]:
    """An object with a line for each text; nothing if there is none."""
    lines = [Line((Span(text, prose=True),), 4, 6) for text in texts]
    if lines:
        yield Line((Span(str(one.resource.ref)),), 2, 4), *lines


def _silent(report: StatusReport) -> Iterator[tuple[Line, ...]]:
    silent = [one.resource.ref for one in report.objects if not one.reported]
    if len(silent) < len(report.objects):
        yield from ((Line((Span(str(ref)),), 2, 4),) for ref in silent)


def _not_compared(report: StatusReport) -> Iterator[Line]:
    others: dict[str, int] = {}
    for one in report.objects:
        for place in one.other_controllers:
            others[place.controller] = others.get(place.controller, 0) + 1
    for controller, number in others.items():
        text = f" {count(number, 'entry')} of another controller"
        yield Line((Span(f"{controller or '(no controllerName)'}:"), Span(text, prose=True)), 2, 4)
    types: dict[str, int] = {}
    for _, found in report.comparisons:
        if found.verdict == "unknown type":
            types[found.type] = types.get(found.type, 0) + 1
    for type_, number in types.items():
        text = f" reported {count(number, 'time')}; when it is due is not known here"
        yield Line((Span(f"{type_ or '(no type)'}:"), Span(text, prose=True)), 2, 4)


def _asides(report: StatusReport, view: View) -> Iterator[Line]:
    if report.objects and not any(one.reported for one in report.objects):
        yield BLANK
        text = (
            "Controllers write a status into the cluster, not into manifests. To compare, read the objects from there, "
            "with whatever else they refer to:"
        )
        yield Line((Span(text, "aside", prose=True),), 0, 2)
        yield Line((Span(how_to_read(report, view.program), "command"),), 2, 4)
    if any(found.explanation == "none" for _, found in report.comparisons):
        yield BLANK
        yield Line((Span(_ASIDE, "aside", prose=True),), 0, 0)
