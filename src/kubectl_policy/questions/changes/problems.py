"""Which problems a change introduces, which it mends, and which it leaves as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.model.kinds import CRD

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import Diagnostic, ObjectRef


class ProblemChanges(NamedTuple):
    """Problems that only the later state has, that only the earlier one has, and that both have.

    The last are those of objects that are themselves not alike in both states.
    """

    introduced: tuple[Diagnostic, ...]
    fixed: tuple[Diagnostic, ...]
    unchanged: tuple[Diagnostic, ...]


def problem_changes(comparison: StateComparison, concerned: Iterable[ObjectRef]) -> ProblemChanges:
    """The problems of the concerned objects and those from reading, told apart whatever line they stand on.

    Where the hierarchy differs, every object is concerned.
    """
    changed = comparison.changed
    every = {*concerned, *changed} if comparison.shares_topology else {*_objects(comparison)}
    whole = every if any(ref.group_kind == CRD for ref in changed) else changed
    old, new = (_problems(state, every, whole) for state in (comparison.before, comparison.after))
    return ProblemChanges(
        _ordered(found for key, found in new.items() if key not in old),
        _ordered(found for key, found in old.items() if key not in new),
        _ordered(found for key, found in new.items() if key in old and found.subject in changed),
    )


def _objects(comparison: StateComparison) -> Iterable[ObjectRef]:
    for state in (comparison.before, comparison.after):
        yield from (resource.ref for resource in state.snapshot.resources)


def _problems(
    analysis: Analysis, every: Iterable[ObjectRef], whole: Collection[ObjectRef]
) -> Mapping[tuple[object, ...], Diagnostic]:
    """Problems by all that they say but the place where they stand."""
    of_objects = (
        found
        for ref in every
        for found in (analysis.problems_of(ref) if ref in whole else analysis.problems_with_others(ref))
    )
    reading = (found for found in analysis.snapshot.diagnostics if found.subject is None)
    return {_said(found): found for found in (*reading, *of_objects)}


def _said(problem: Diagnostic) -> tuple[object, ...]:
    return problem.rule, problem.severity, problem.subject, problem.field, problem.message


def _ordered(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    severities = ("error", "warning", "info")
    return tuple(
        sorted(
            problems,
            key=lambda found: (severities.index(found.severity), str(found.subject or ""), found.rule, found.message),
        )
    )
