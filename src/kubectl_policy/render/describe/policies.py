"""Answer about a policy: as text, and as a table with a row for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.kind_roles import section_noun
from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.world import grouped
from kubectl_policy.profiles.controllers import STANDARD_STATUS
from kubectl_policy.questions.shared.path_phrases import PathPhrases
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.text import Line, Segment, cells, in_a_row, pad, prose_line
from kubectl_policy.render.wording.headlines import fully_enforced, policy_headline, with_target
from kubectl_policy.render.wording.names import (
    at_origin,
    attachment_phrase,
    count,
    mark,
    node_label,
    sections_phrase,
    source_spans,
)
from kubectl_policy.render.wording.paths import path_lines
from kubectl_policy.render.wording.sections import (
    BLANK,
    describing,
    events_section,
    expected_places_section,
    headline_line,
    next_section,
    problems_section,
    reported_section,
    section,
    unseen_section,
)
from kubectl_policy.render.wording.settings import (
    GAP,
    INDENT,
    assumption_lines,
    blame_phrase,
    default_spans,
    doubt_lines,
    merging_phrase,
    note_lines,
    shortened,
    without_keys,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.attachment import Attachment
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.describe.policies import FieldOutcome, PolicyDescription
    from kubectl_policy.render.output.text import Document, View
    from kubectl_policy.resolution import Source


class _Outcome:
    """A field, and where it is in effect wholly and in part (positions of paths)."""

    def __init__(self, field: FieldOutcome, policy: ObjectRef) -> None:
        self.field = field
        rivals = (superseded for superseded in field.superseded if superseded.by.object != policy)
        outranked = {position for superseded in rivals for position in superseded.positions}
        self.wholly = [position for position in field.effective_on if position not in outranked]
        self.partly = [position for position in field.effective_on if position in outranked]
        winners: dict[int, list[Source]] = {}
        # What routes say themselves, each says of itself: the first of them stands for all.
        itself = next((superseded.by for superseded in field.superseded if _is_itself(superseded.by)), None)
        for superseded in field.superseded:
            by = itself if itself and _is_itself(superseded.by) else superseded.by
            for position in set(superseded.positions).difference(field.port_entry_on):
                winners.setdefault(position, []).append(by)
        # Where policies supersede the field together, by these, and whether a part of it is in effect there.
        self.defeats: dict[tuple[tuple[Source, ...], bool], list[int]] = {}
        in_part = set(self.partly)
        for position, together in sorted(winners.items()):
            self.defeats.setdefault((tuple(together), position in in_part), []).append(position)

    @property
    def named_paths(self) -> Iterable[Sequence[int]]:
        """The sets of paths that the words for the field name."""
        field = self.field
        direct = (self.wholly, self.partly, field.undecided_on, field.ignored_on, field.port_entry_on)
        return *filter(None, direct), *self.defeats.values()


def _is_itself(source: Source) -> bool:
    return source.object == source.target.object


class _Fields:
    """The words for the fate of each field of one policy, and for the paths that are meant."""

    def __init__(self, answer: PolicyDescription) -> None:
        self.answer = answer
        self.which = PathPhrases(answer.paths)
        self.outcomes = [_Outcome(field, answer.policy) for field in without_keys(answer.fields)]
        self._several_sources = len({field.source for field in answer.fields}) > 1

    def in_effect(self, outcome: _Outcome) -> str:
        """`in effect on listener https only, in part on rule seats only`; `in effect nowhere`."""
        target = f" through {node_label(outcome.field.source.target)}" if self._several_sources else ""
        undecided = outcome.field.undecided_on
        if not (outcome.field.effective_on or undecided):
            return f"in effect nowhere{target}"
        parts: list[str] = []
        for how, positions in (("", outcome.wholly), ("in part", outcome.partly)):
            where = self.which.words(positions) if positions else ""
            parts += [" ".join(filter(None, (how, f"on {where}" if where else "")))] if positions else []
        perhaps = self.which.words(undecided)
        maybe = [" ".join(filter(None, ("perhaps in effect", f"on {perhaps}" if perhaps else "")))] if undecided else []
        certain = [" ".join(filter(None, ("in effect", ", ".join(parts))))] if parts else []
        return ", ".join([*certain, *maybe]) + target

    def superseded_by(self, outcome: _Outcome) -> Iterator[tuple[Segment, ...]]:
        """Return a line for paths where controllers ignore the field, and one for each group of winners."""
        field = outcome.field
        yield from self._ignored(field)
        for (winners, is_partly), positions in outcome.defeats.items():
            where = self.which.words(positions)
            # That a policy on a route supersedes another one on that route goes without saying.
            limited = where and not any(f"{node_label(winner.target)} only".endswith(where) for winner in winners)
            yield (
                Segment(f"{'in part ' if is_partly else ''}{self._verb(field, winners)}", "superseded"),
                *(
                    span
                    for number, winner in enumerate(winners)
                    for span in self._winner(winner, " and " if number else " ", positions)
                ),
                Segment(f" on {where}" if limited else "", "superseded"),
            )

    def _winner(self, winner: Source, lead: str, positions: Iterable[int]) -> tuple[Segment, ...]:
        """Name the winner over a field; of objects with settings of their own, one stands for all."""
        ends = {self.answer.paths[position][-1] for position in positions}
        if _is_itself(winner) and len(ends) > 1:
            return (Segment(f"{lead}what these {plural(winner.object.kind)} set themselves", "superseded"),)
        return source_spans(winner, lead, "superseded")

    def _ignored(self, field: FieldOutcome) -> Iterator[tuple[Segment, ...]]:
        """Return the lines for paths on which controllers ignore a field, or prefer the entry of a port."""
        port_field = self.answer.profile.port_field
        entry = port_field is not None and field.field.startswith(f"{port_field.field}[")
        because = f": {field.because}" if field.because else ""
        why = "is for another port" if entry and field.effective_on else f"controllers ignore it{because}"
        instead = f"an entry of {port_field.field} is used instead" if port_field else ""
        by_words: dict[str, list[int]] = {}
        for position in field.ignored_on:
            kind = self.answer.paths[position][-1].object.group_kind
            counts = self.answer.profile.at(kind).counts(field.field)
            by_words.setdefault(why if counts else f"has no effect on {plural(kind.kind)}", []).append(position)
        for phrase, positions in (*by_words.items(), (instead, field.port_entry_on)):
            where = self.which.words(positions) if 0 < len(positions) < len(self.answer.paths) else ""
            if positions:
                yield (Segment(f"{phrase}{f' on {where}' if where else ''}", "superseded", prose=True),)

    def _verb(self, field: FieldOutcome, winners: tuple[Source, ...]) -> str:
        profile = self.answer.profile
        together = all(winner.target == field.source.target for winner in winners)
        if field.rejected:
            elsewhere = all(winner.target != field.source.target for winner in winners)
            if elsewhere and profile.refusal == "everywhere":
                return "refused on all of its targets, for"
            applies_alone = profile.same_level == "one-applies" and together
            return "refused in favour of" if applies_alone else "conflicts with"
        # Where several are in force instead, not each of them has replaced it.
        if len(winners) > 1 or (field.source.overrides and together):
            return "gives way to"
        return "overridden by" if any(winner.overrides for winner in winners) else "replaced by"

    def lines(self, view: View) -> Iterator[Line]:
        """Return the fields by what became of them, each with its value and line; then what is not certain."""
        names = [outcome.field.field for outcome in self.outcomes]
        field = max(map(cells, names), default=0)
        room = view.width - 2 * INDENT - field - GAP
        values = [shortened(outcome.field.value, room, view) for outcome in self.outcomes]
        value = max((size for size in map(cells, values) if size <= _WIDEST_VALUE), default=0)
        by_fate: dict[object, tuple[str, list[tuple[Segment, ...]], list[tuple[FieldOutcome, str]]]] = {}
        for outcome, text in zip(self.outcomes, values, strict=True):
            effect, outranked = self.in_effect(outcome), list(self.superseded_by(outcome))
            key = effect, tuple("".join(span.text for span in spans) for spans in outranked)
            by_fate.setdefault(key, (effect, outranked, []))[2].append((outcome.field, text))
        for effect, winners, together in by_fate.values():
            nowhere = not (together[0][0].effective_on or together[0][0].undecided_on)
            yield Line((Segment(effect, "superseded" if nowhere else "subject", prose=True),), INDENT, 2 * INDENT)
            shown, rest = view.first(winners, _MAX_WINNERS)
            yield from (Line(spans, 2 * INDENT, 3 * INDENT) for spans in shown)
            if rest:
                remark = f"and by {count(rest, 'more policy')}; --show-all shows them"
                yield Line((Segment(remark, "aside"),), 2 * INDENT)
            for declared, text in together:
                yield self._row(declared, text, (field, value), nowhere=nowhere)
        for phrase in self.displaced():
            yield prose_line(phrase, "superseded", INDENT, 2 * INDENT)
        yield from assumption_lines(self.answer.profile, self.answer.assumed)
        yield from doubt_lines(self.answer.doubts)
        yield from note_lines(self.answer.profile, (outcome.field for outcome in self.answer.fields))

    def _row(self, field: FieldOutcome, value: str, widths: tuple[int, int], *, nowhere: bool) -> Line:
        """Return a field with its value, its line in the file, and its author if that was asked for."""
        name, wide = widths
        spans = [Segment(pad(field.field, name) + " " * GAP), Segment(value, "" if nowhere else "value")]
        spans += default_spans(field)
        origin = field.origin if field.origin != self.answer.origin else None
        written = " ".join(filter(None, (f":{origin.line}" if origin else "", blame_phrase(field))))
        if written:
            spans.append(Segment(f"{' ' * (max(wide - cells(value), 0) + GAP)}{written}", "aside"))
        return Line(tuple(spans), 2 * INDENT, 2 * INDENT + name + GAP)

    def displaced(self) -> Iterator[str]:
        """Return phrases for paths without the policy, because policies of sections apply there instead."""
        groups = grouped(
            (tuple(sorted(outcome.resolution.policies_in_force)), position)
            for position, outcome in enumerate(self.answer.enforcement.outcomes)
            if all(part.source.object != self.answer.policy for part in outcome.resolution.contributions)
        )
        for policies, positions in groups.items():
            names, verb = listed([str(ref) for ref in policies]), "apply" if len(policies) > 1 else "applies"
            if len(positions) == len(self.answer.paths):
                yield f"{names} {verb} instead"
            else:
                yield f"not on {self.which.words(positions).removesuffix(' only')}, where {names} {verb}"


# At a terminal so many objects are named, and so many policies that supersede a field.
_MOST: Final = 12
_MAX_WINNERS: Final = 4
_MOST_SECTIONS: Final = 4
# A value column is no wider than this: a longer value just reaches further.
_WIDEST_VALUE: Final = 24


def policy_text(answer: PolicyDescription, view: View) -> Document:
    """Return the answer about a policy in the order of thought that every command keeps."""
    fields = _Fields(answer)
    # Without a subject among them, paths matter here only to say which of them a phrase means.
    named = (positions for outcome in fields.outcomes for positions in outcome.named_paths)
    numbered = answer.affected and any(fields.which.phrase(positions).numbered for positions in named)
    paths = path_lines(answer.paths, answer.affected[0], view, numbered=True) if numbered else ()
    merging = merging_phrase(answer.strategies, answer.profile)
    kind = f"{answer.policy.group_kind}{mark(answer.profile, 'being a policy')}"
    origin = Segment(at_origin(answer.origin, "   {}"), "aside")
    heading = Segment(kind, "heading"), Segment(f" · {merging}" if merging else "", prose=True), origin
    body = tuple(fields.lines(view))
    return (
        headline_line(policy_headline(answer)),
        *section("Targets", _targets(answer)),
        *section("May affect" if answer.enforcement.state == "Unknown" else "Affects", _affected(answer, view)),
        *section("Paths", paths),
        *((BLANK, Line(heading, 0, 2), *body) if body else ()),
        # What any controller may be expected to report by GEP-713 tells nothing about this policy.
        *(expected_places_section(answer.expected) if answer.profile.status != STANDARD_STATUS else ()),
        *reported_section(answer.reports.reported),
        *events_section(answer.reports.events),
        *unseen_section(answer.unseen),
        *problems_section(answer.problems, {attachment.message for attachment in answer.targets}),
        *next_section(map(describing, dict.fromkeys(node.object for node in answer.affected)), view),
    )


def _targets(answer: PolicyDescription) -> Iterator[Line]:
    """List the targets of a policy; none if the headline names its only target, which is attached."""
    names_ = [attachment_phrase(attachment).removeprefix("spec.") for attachment in answer.targets]
    only = answer.targets[0] if len(names_) == 1 else None
    if only and only.state == "attached" and not only.message and names_[0] in with_target(answer.policy, [only]):
        return
    width = max(map(cells, names_), default=0)
    # Of the only target, the headline has just said what is wrong with it.
    is_told = len(names_) == 1 and answer.targets[0].state != "attached"
    for attachment, name in zip(answer.targets, names_, strict=True):
        state = Segment(attachment.state, "" if attachment.state == "attached" else "warning")
        message = f": {attachment.message}" if attachment.message and not is_told else ""
        yield Line((Segment(f"{pad(name, width)}   "), state, Segment(message, prose=True)), 2)


def _affected(answer: PolicyDescription, view: View) -> Iterator[Line]:
    """List what the policy affects by kind, each object once with its sections; at a terminal the first ones."""
    sections: dict[ObjectRef, list[NodeRef]] = {}
    for node in answer.affected:
        sections.setdefault(node.object, []).extend([node] if node.section else [])
    for route in answer.possibly_affected:
        sections.setdefault(route, [])
    for kind, refs in grouped((ref.kind, ref) for ref in sections).items():
        shown, rest = view.first(refs, _MOST)
        names = in_a_row([f"{ref.qualified_name}{_sections(sections[ref])}" for ref in shown], lead=" ")
        remark = f", and {rest:,} more; --show-all shows them" if rest else ""
        yield Line((Segment(f"{count(len(refs), kind)}:", "subject"), *names, Segment(remark, "aside")), 2, 4)


def _sections(nodes: Sequence[NodeRef]) -> str:
    """` (rules cart and pages)`; of many, their number."""
    if not nodes:
        return ""
    if len(nodes) > _MOST_SECTIONS:
        return f" ({count(len(nodes), section_noun(nodes[0].object.group_kind))})"
    return f" ({sections_phrase(nodes[0].object.group_kind, [node.section for node in nodes])})"


class _TargetRow(Struct, frozen=True):
    attachment: Attachment
    answer: PolicyDescription
    paths: str
    objects: int


_TARGETS: Final[tuple[Column[_TargetRow], ...]] = (
    Column("POLICY", lambda row: row.answer.policy.qualified_name),
    Column("TARGET", lambda row: attachment_phrase(row.attachment)),
    Column("STATE", lambda row: row.attachment.state),
    Column("ENFORCEMENT", lambda row: row.answer.enforcement.state),
    Column("PATHS", lambda row: row.paths),
    Column("AFFECTS", lambda row: str(row.objects), narrow=False),
    Column("OVERRIDDEN BY", lambda row: ", ".join(map(str, row.answer.enforcement.by)), narrow=False),
    Column("REASON", lambda row: row.attachment.message, narrow=False),
)


def targets_of(answers: Iterable[PolicyDescription]) -> Table[_TargetRow]:
    """Return a row for each target of policies; `wide` also has what they affect, and why they are not enforced."""
    rows: list[_TargetRow] = []
    for answer in answers:
        objects = len({node.object for node in answer.affected})
        paths = f"{fully_enforced(answer)}/{len(answer.paths)}"
        rows += (_TargetRow(attachment, answer, paths, objects) for attachment in answer.targets)
    return Table(_TARGETS, rows)
