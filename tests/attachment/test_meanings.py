"""What the states of attachments and of policies mean: each has its row, and rows agree with each other."""

from __future__ import annotations

from typing import get_args

from kubectl_policy.attachment import MEANINGS, State
from kubectl_policy.profiles.controllers import Event
from kubectl_policy.resolution.enforcement import ENFORCEMENT, EnforcementState


def test_every_state_has_a_row() -> None:
    assert MEANINGS.keys() == {*get_args(State)}
    assert ENFORCEMENT.keys() == {*get_args(EnforcementState)}


def test_what_is_reported_is_an_event() -> None:
    """Nothing is reported of what is not known, or is another controller's."""
    reported = {meaning.event for meaning in MEANINGS.values()} | {meaning.event for meaning in ENFORCEMENT.values()}
    assert reported - {None} <= {*get_args(Event)}
    assert [MEANINGS[state].event for state in ("attached", "target unknown", "not managed")] == [None, None, None]
    assert ENFORCEMENT["Unknown"].event is None


def test_rules_and_reasons_are_words_of_their_own() -> None:
    assert len({meaning.rule for meaning in MEANINGS.values()}) == len(MEANINGS)
    reasons = [meaning.why for meaning in MEANINGS.values() if meaning.why]
    assert len({*reasons}) == len(reasons) == len(MEANINGS) - 2


def test_what_is_not_known() -> None:
    """What was not read, and what is not computed."""
    assert {state for state, meaning in MEANINGS.items() if not meaning.known} == {"target unknown", "not computed"}
    assert {state for state, meaning in ENFORCEMENT.items() if not meaning.known} == {"Unknown"}
    assert {state for state, meaning in ENFORCEMENT.items() if meaning.in_force} == {"Enforced", "PartiallyEnforced"}
