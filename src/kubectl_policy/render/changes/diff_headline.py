"""What differs between two states in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model.kinds import listed
from kubectl_policy.render.changes.clauses import (
    namespace_words,
    problem_clauses,
    relation_clauses,
    said,
    security_words,
    since_words,
    traffic_clauses,
    who_words,
)
from kubectl_policy.render.changes.summary import summarize
from kubectl_policy.render.changes.traffic import passing_clauses
from kubectl_policy.render.words.names import count
from kubectl_policy.render.words.unseen import as_far_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.differences.effects import ChangeSort
    from kubectl_policy.render.changes.summary import ChangeSummary

_SORTS: Final[Mapping[ChangeSort, str]] = {
    "lost": "{who} {loses} settings",
    "changed": "{who} {gets} other values",
    "gained": "{who} {gains} settings",
}


def diff_headline(difference: StateDiff) -> str:
    """The difference in one sentence; if part of it is not known, the same sentence says so."""
    summary = summarize(difference)
    settings = [*_settings(summary)]
    ways = [*passing_clauses(difference), *traffic_clauses(summary)]
    if summary.failing and ways:
        ways[0] += since_words(summary)
    hit = {each.route for each in difference.traffic.routes}
    told = replace(summary, detached=summary.detached - hit, attached=summary.attached - hit)
    rest = [*relation_clauses(told), *problem_clauses(difference.problems.introduced, difference.problems.fixed)]
    if not settings and not ways:
        settings = ["No setting changes" if rest else "Nothing changes in what policies do"]
    sentence = "; ".join([*ways, *settings, *rest])
    return f"{sentence[:1].upper()}{sentence[1:]}{_aside(difference)}{as_far_as(difference.unseen)}."


def _settings(summary: ChangeSummary) -> Iterator[str]:
    """How settings change on paths that both states have."""
    sorts = [(words, refs) for sort, words in _SORTS.items() if (refs := summary.of_sort(sort))]
    if len(sorts) == 1:
        ((words, refs),) = sorts
        subject = f"{who_words(refs)}{namespace_words({ref.namespace for ref in refs}) if len(refs) > 1 else ''}"
        yield f"{said(words, subject, one=len(refs) == 1)}{security_words(summary)}"
    elif sorts:
        where = namespace_words({ref.namespace for ref in summary.changed})
        each = [said(words, str(len(refs)), one=len(refs) == 1) for words, refs in sorts]
        security = security_words(summary)
        yield f"{count(len(summary.changed), 'object')} change{where}{security}: {listed(each)}"
    if moved := summary.of_sort("moved"):
        yield said("{who} {gets} the same values from elsewhere", who_words(moved), one=len(moved) == 1)


def _aside(difference: StateDiff) -> str:
    """` (3 objects differ: 1 created and 2 updated)`: of how many objects all that follows."""
    numbers = [
        (len(difference.created), "created"),
        (len(difference.deleted), "deleted"),
        (len(difference.updated), "updated"),
    ]
    parts = [f"{number} {verb}" for number, verb in numbers if number]
    total = sum(number for number, _ in numbers)
    if len(parts) == 1:
        return f" ({count(total, 'object')} {parts[0].partition(' ')[2]})"
    return f" ({total} objects differ: {listed(parts)})" if parts else ""
