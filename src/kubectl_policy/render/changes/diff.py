"""Two states compared, for people: what policies amount to otherwise, worst first, then what that follows from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.changes.lines import (
    attachments_section,
    changed_problems_section,
    effect_sections,
    enforcement_section,
    gateways_section,
    object_line,
    parents_section,
    traffic_section,
)
from kubectl_policy.render.changes.words import diff_headline
from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.words.sections import section, unseen_section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.render.output.text import Document, View


def diff_tree(difference: StateDiff, view: View) -> Document:
    """The comparison in the order of thought that every command keeps."""
    lasting = [change for change in difference.effects if change.where != "gone"]
    gone = [change for change in difference.effects if change.where == "gone"]
    deleted = {*difference.deleted}
    lost = [change for change in difference.parents if change.before == "attached"]
    got = [change for change in difference.parents if change.before != "attached"]
    return (
        Line((Span(diff_headline(difference), "title", prose=True),), 0, 2),
        *effect_sections(lasting, view),
        *gateways_section(difference.without_class),
        *parents_section("Routes that lose parents", lost, difference.cut_off, deleted),
        *parents_section("Routes that get parents", got),
        *traffic_section(gone, deleted),
        *_targets(difference),
        *enforcement_section(difference.enforcement),
        *changed_problems_section("Problems introduced", difference.problems.introduced),
        *changed_problems_section("Problems fixed", difference.problems.fixed),
        *changed_problems_section("Problems that stay, of objects that differ", difference.problems.unchanged),
        *section("Objects that differ", _objects(difference)),
        *unseen_section(difference.unseen),
    )


def _targets(difference: StateDiff) -> tuple[Line, ...]:
    lost = [change for change in difference.attachments if change.before == "attached"]
    got = [change for change in difference.attachments if change.after == "attached"]
    # That a policy comes or goes is no way to fail.
    passing = {*difference.created, *difference.deleted}
    failing = (change for change in difference.attachments if "attached" not in {change.before, change.after})
    rest = [change for change in failing if change.policy not in passing]
    return (
        *attachments_section("Policies that lose a target", lost),
        *attachments_section("Policies that get a target", got),
        *attachments_section("References that fail otherwise", rest),
    )


def _objects(difference: StateDiff) -> Iterator[Line]:
    sorts = (("created", difference.created), ("updated", difference.updated), ("deleted", difference.deleted))
    for word, refs in sorts:
        if refs:
            yield object_line([str(ref) for ref in refs], lead=f"{word}   ")
