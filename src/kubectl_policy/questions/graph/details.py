"""Details for `graph -o html`: settings in force on each object, and the changes that deleting a policy would make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.blast_radius import BlastRadius, blast_radius
from kubectl_policy.questions.graph.picture import Details, EffectsOn, Picture
from kubectl_policy.questions.shared.effects import covered_paths
from kubectl_policy.questions.shared.in_force import effective_entries, group_entries, own_settings_entries, with_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.shared.fields import LocateLine
    from kubectl_policy.questions.shared.in_force import InForce

# To find out what deleting a policy changes, some of the world is looked through and each path that it is on. So much
# is done for all of them together, for those first that affect most: nobody waits for the rest.
_MOST_WORK: Final = 20_000
_FOR_A_PATH: Final = 10
# Of more objects, what is wrong with each takes longer to find out than all else.
_MOST_CHECKED: Final = 1_000
_MOST_LOCATED: Final = 300


def details(analysis: Analysis, picture: Picture, locate: LocateLine) -> Details:
    """Collect the details of a picture; `locate` finds the lines of settings, where these are not too many."""
    subjects = [node.ref for node in picture.nodes if not node.ref.section and node.ref.object.group_kind != NAMESPACE]
    outcomes, effects = _effects(analysis, subjects)
    drawn = {node.ref.object for node in picture.nodes} | {policy.ref for policy in picture.policies}
    is_little = len(drawn) <= _MOST_CHECKED
    of_objects = (problem for obj in sorted(drawn) for problem in analysis.problems_of(obj)) if is_little else ()
    problems = (problem for problem in (*analysis.snapshot.diagnostics, *of_objects) if problem.severity != "info")
    return Details(
        outcomes=with_lines(outcomes, locate) if len(outcomes) <= _MOST_LOCATED else outcomes,
        effects=effects,
        deletions=dict(deletions(analysis, picture)),
        problems=tuple(dict.fromkeys(problems)),
        all_checked=is_little,
    )


def _effects(analysis: Analysis, subjects: Iterable[NodeRef]) -> tuple[tuple[InForce, ...], tuple[EffectsOn, ...]]:
    """Settings in force on objects, as `describe` has them; equal ones are described once."""
    outcomes: list[InForce] = []
    numbers: dict[tuple[object, ...], int] = {}
    effects: list[EffectsOn] = []
    for subject in subjects:
        paths = covered_paths(analysis, subject)
        on_paths: list[tuple[int, int]] = []
        for entry in (*effective_entries(analysis, subject, paths), *own_settings_entries(analysis, paths)):
            target = entry.effective.target
            key = (entry.effective.resolution, target.object.group_kind, bool(target.section), entry.passes_down)
            if key not in numbers:
                numbers[key] = len(outcomes)
                outcomes += group_entries(analysis, [entry])
            on_paths.append((numbers[key], entry.path))
        if on_paths:
            effects.append(EffectsOn(subject=subject.object, paths=paths, in_force=tuple(grouped(on_paths).items())))
    return tuple(outcomes), tuple(effects)


def deletions(analysis: Analysis, picture: Picture) -> Iterator[tuple[ObjectRef, BlastRadius]]:
    """Compute what deleting policies would change, for those that affect most, within a limit of work."""
    remaining_work = _MOST_WORK
    for policy in sorted(picture.policies, key=lambda policy: (-len(policy.affected), policy.ref)):
        if policy.ref not in analysis.attachments:
            continue
        # Everywhere, also where only a part is drawn.
        work = len(picture.nodes) + _FOR_A_PATH * len(analysis.enforcement(policy.ref).outcomes)
        if work <= remaining_work:
            remaining_work -= work
            yield policy.ref, blast_radius(analysis, policy.ref)
