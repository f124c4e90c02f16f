"""Groups of settings that differ only in the targets of their policies, so that a reader needs them once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.render.words.reasons import why_beaten, why_without_effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.shared.in_force import InForce
    from kubectl_policy.resolution import Fate, Source


def alike(groups: Sequence[InForce]) -> Iterable[Sequence[InForce]]:
    """Groups of one kind in which the same policies say the same, by way of whatever targets; in their order."""
    by_likeness: dict[str, list[InForce]] = {}
    for group in groups:
        by_likeness.setdefault(repr(_likeness(group)), []).append(group)
    return by_likeness.values()


def joined(groups: Sequence[InForce]) -> InForce:
    """Groups that are alike as the first of them, on the paths of all."""
    return replace(
        groups[0],
        positions=tuple(sorted({path for group in groups for path in group.positions})),
        at=tuple(dict.fromkeys(node for group in groups for node in group.at)),
    )


def targets_of(groups: Sequence[InForce]) -> Mapping[Source, tuple[NodeRef, ...]]:
    """By each source of the first of some groups that are alike, the targets that it has in all of them."""
    together = zip(*(group.contest.order for group in groups), strict=True)
    return {same[0]: tuple(dict.fromkeys(source.target for source in same)) for same in together}


def _likeness(group: InForce) -> object:
    """All that a reader is told of a group, but on which paths it is so, and by way of which targets."""
    places = {source: place for place, source in enumerate(group.contest.order)}

    def told(fate: Fate, why: str) -> object:
        return fate.field, fate.value, places.get(fate.source, fate.source), fate.defaulted, why

    at = group.at[0]
    return (
        (at.object.group_kind, bool(at.section), group.passes_down, group.strategies, group.assumed, group.doubts),
        [(source.object, source.overrides, source.filter) for source in group.contest.order],
        [
            (
                *(setting.field, setting.value, places.get(setting.source, setting.source), setting.removed),
                *(setting.certain, setting.defaulted),
                [told(fate, why_beaten(fate, setting.source, group)) for fate in setting.instead_of],
            )
            for setting in group.settings
        ],
        [told(fate, why_without_effect(fate, group)) for fate in group.without_effect],
    )
