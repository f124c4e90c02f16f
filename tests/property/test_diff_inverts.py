"""The law that the difference from one state to another is the inverse of the one back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy.comparison import compare
from kubectl_policy.questions.diff import diff
from tests.property.changes import pairs_of_worlds
from tests.property.examples import examples
from tests.property.world import profiles_of, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.effects import EffectChange, FieldChange
    from tests.property.world import World

_UNNAMED: Final = re.compile(r"(former )?rule\[\d+\]")
_INVERSE: Final[Mapping[str, str]] = {
    "lost": "gained",
    "gained": "lost",
    "gone": "new",
    "new": "gone",
    "kept": "kept",
    "changed": "changed",
    "moved": "moved",
}


@settings(max_examples=examples(20))
@given(pair=pairs_of_worlds(), complete=st.booleans())
def test_the_way_back_is_the_inverse(pair: tuple[World, World], *, complete: bool) -> None:
    """Lost is gained, gone is new, introduced is fixed, created is deleted, and before is after."""
    profiles = profiles_of(pair[0])
    before, after = (replace(snapshot_of(world), complete=complete) for world in pair)
    there = diff(compare(before, after, profiles=profiles))
    back = diff(compare(after, before, profiles=profiles))
    assert (there.created, there.deleted, there.updated) == (back.deleted, back.created, back.updated)
    assert _effects(there.effects) == _effects(map(_inverted, back.effects))
    assert _states(there) == {key: (new, old) for key, (old, new) in _states(back).items()}
    assert {*there.problems.introduced} == {*back.problems.fixed}
    assert {*there.problems.fixed} == {*back.problems.introduced}
    assert {*there.unseen} == {*back.unseen}


def _effects(changes: Iterable[EffectChange]) -> list[str]:
    """Every field that differs on every path.

    Which of them are told together depends on the direction, and so does by which place rules without a name are told.
    """
    return sorted(
        _UNNAMED.sub("rule", repr((change.policy_kind, path, field, field.sort, change.where, *nothing, nodes)))
        for change in changes
        for nothing in [(change.from_nothing, change.to_nothing)]
        for place, path in enumerate(change.paths)
        for field in change.fields
        for nodes in [tuple(changed.node for changed in change.objects if place in changed.paths)]
    )


def _inverted(change: EffectChange) -> EffectChange:
    where: Any = _INVERSE[change.where]
    fields = tuple(_inverse_of(field) for field in change.fields)
    from_nothing, to_nothing = change.to_nothing, change.from_nothing
    return replace(change, fields=fields, where=where, from_nothing=from_nothing, to_nothing=to_nothing)


def _inverse_of(field: FieldChange) -> FieldChange:
    inverse = replace(field, before=field.after, after=field.before)
    assert inverse.sort == _INVERSE[field.sort]
    return inverse


def _states(found: StateDiff) -> dict[object, tuple[object, object]]:
    """What becomes of attachments, parents and policies, in each state."""
    states: dict[object, tuple[object, object]] = {}
    states |= {("attachment", one.policy, one.target): (one.before, one.after) for one in found.attachments}
    states |= {("parent", one.route, one.parent): (one.before, one.after) for one in found.parents}
    return states | {("enforcement", one.policy): (one.before, one.after) for one in found.enforcement}
