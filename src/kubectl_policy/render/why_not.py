"""`why-not` as text: the reasons why a policy has no effect on an object, and edits that would give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed, names
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.edits import edit_lines, remark_line, undefined_lines
from kubectl_policy.render.wording.headlines import reason_phrase, why_not_headline
from kubectl_policy.render.wording.names import count, kind_counts, namespaces_phrase, node_label
from kubectl_policy.render.wording.paths import path_lines
from kubectl_policy.render.wording.sections import (
    BLANK,
    describing,
    headline_line,
    next_section,
    section,
    unseen_section,
)
from kubectl_policy.render.wording.settings import assumption_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.why_not.answer import WhyNot
    from kubectl_policy.questions.why_not.checked import CheckedEdit
    from kubectl_policy.questions.why_not.edits import SideEffects
    from kubectl_policy.questions.why_not.search import EditPair
    from kubectl_policy.render.output.text import Document, View

# So many further reasons are shown at a terminal.
_SHOWN: Final = 8
_MOST_NAMED: Final = 3


def why_not_text(answer: WhyNot, view: View) -> Document:
    """Return the answer in the order of thought that every command keeps."""
    which = PathPhrases(answer.effect.paths)
    if answer.effect.in_force:
        reasons = _elsewhere(answer, which, view)
    else:
        # The headline has said the first one.
        reasons = section("Also in the way", _reasons(answer, answer.reasons[1:], which, view))
    assumptions = tuple(assumption_lines(answer.profile, answer.assumed))
    section_option = ("--section", answer.target.section) if answer.target.section else ()
    return (
        headline_line(why_not_headline(answer)),
        *reasons,
        *_edits(answer, view),
        *((BLANK, *assumptions) if assumptions else ()),
        *unseen_section(answer.unseen),
        *next_section((describing(answer.policy), describing(answer.target.object, *section_option)), view),
    )


def _elsewhere(answer: WhyNot, which: PathPhrases, view: View) -> tuple[Line, ...]:
    """Return the paths, if there is one without effect, and why there is none on it."""
    if not answer.reasons:
        return ()
    numbered = any(which.phrase(reason.positions).numbered for reason in answer.reasons)
    paths = path_lines(answer.effect.paths, answer.target, view, numbered=numbered)
    return (*section("Paths", paths), *section("No effect", _reasons(answer, answer.reasons, which, view)))


def _reasons(answer: WhyNot, reasons: tuple[Reason, ...], which: PathPhrases, view: View) -> Iterator[Line]:
    shown, rest = view.first(reasons, _SHOWN)
    for reason in shown:
        scope = which.words(reason.positions) if answer.effect.in_force else ""
        where = f"{scope}: " if scope else ""
        yield prose_line(f"{where}{reason_phrase(reason)}", indent=2)
    if rest:
        remark = f"and {count(rest, 'more reason')}; -o yaml shows all {len(reasons)}"
        yield Line((Segment(remark, "aside"),), 2)


def _edits(answer: WhyNot, view: View) -> Iterator[Line]:
    if not answer.edits:
        if answer.obstacle:
            yield BLANK
            obstacle = Segment(f" {answer.obstacle}.", prose=True)
            yield Line((Segment("No single change would do it:", "heading"), obstacle), 0, 2)
        if answer.pair:
            yield from _pair(answer.pair, answer.place, view)
        return
    several = len(answer.edits) > 1
    heading = "Changes any of which would make it effective (checked), the one with the fewest side effects first:"
    yield BLANK
    yield prose_line(heading if several else "Change that would make it effective (checked):", "heading")
    for number, offered in enumerate(answer.edits, 1):
        indent = 5 if several else 2
        yield from edit_lines(offered, f"{number}. " if several else "", view, indent)
        yield from _side_effects(offered.also_changes, [offered], answer.place, indent)


def _pair(pair: EditPair, world: SnapshotSource, view: View) -> Iterator[Line]:
    yield BLANK
    yield prose_line("Two changes that would make it effective together (checked):", "heading")
    for number, edit in enumerate(pair.edits, 1):
        yield from edit_lines(edit, f"{number}. ", view, 5)
    yield from _side_effects(pair.also_changes, pair.edits, world, 2)


def _side_effects(
    also: SideEffects, edits: Sequence[CheckedEdit], world: SnapshotSource, indent: int
) -> Iterator[Line]:
    """List what else edits change, what they take away, and what could not be checked."""
    effects = [
        f"changes {count(also.settings, 'setting')} on {_objects(also.objects)}" if also.settings else "",
        f"lets more requests reach {_objects(also.gaining)}" if also.gaining else "",
        f"replaces {count(len(also.replaced), 'setting')} of others there" if also.replaced else "",
    ]
    taken = [
        f"{_objects(also.unprotected)} would lose protection, or have another one" if also.unprotected else "",
        f"{_objects(also.losing)} would lose traffic" if also.losing else "",
        f"{edits[0].object} would be deleted" if also.deletes else "",
    ]
    besides = listed(list(filter(None, effects)))
    owners = f" ({also.owner_key} {listed(also.owners)})" if also.owners else ""
    if also.harm == "none":
        yield remark_line("Changes nothing else.", indent)
    elif besides:
        yield remark_line(f"Also {besides}{owners}.", indent)
    for sentence in filter(None, taken):
        yield remark_line(f"{sentence}.", indent, "warning")
    if also.lost:
        nodes = [node_label(node) for node in also.lost[:_MOST_NAMED]]
        rest = len(also.lost) - len(nodes)
        lost = listed([*nodes, *([f"{rest} more"] if rest else [])])
        yield remark_line(f"It would then have no effect any more on {lost}.", indent, "warning")
    yield from undefined_lines(edits, world, indent)


def _objects(refs: Collection[ObjectRef]) -> str:
    """Return a few objects by name, or how many there are and where."""
    if len(refs) <= _MOST_NAMED:
        return names(refs)
    return kind_counts(ref.group_kind for ref in refs) + namespaces_phrase(ref.namespace for ref in refs)
