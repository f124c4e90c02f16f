"""Why a policy has no effect on something: the first reason, and an edit that works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.comparison import what_if
from kubectl_policy.questions.effects import affecting, paths_through
from kubectl_policy.questions.why_not import why_not
from tests.questions.causes import Cause, every_cause

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.edit import Edit

CAUSES = every_cause()


def edited(analysis: Analysis, edit: Edit) -> Analysis:
    """The world with an edit made."""
    applied, deleted = ([edit.after], []) if edit.after else ([], [edit.object])
    return what_if(analysis, applied=applied, deleted=deleted).after


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name)
def test_the_first_reason_and_an_edit_that_works(cause: Cause) -> None:
    """The edit, made anew, has the policy affect the node; without one, the answer says why."""
    answer = why_not(cause.analysis, cause.policy, cause.target)
    assert not answer.in_force
    assert cause.policy not in affecting(cause.analysis, cause.target, answer.paths)
    assert answer.reasons[0].rule == cause.rule
    assert answer.reasons[0].message
    if not cause.action:
        assert answer.edit is None
        assert answer.obstacle
        return
    assert answer.edit
    assert (answer.edit.action, answer.edit.object) == (cause.action, cause.edited)
    assert answer.obstacle == ""
    after = edited(cause.analysis, answer.edit)
    assert cause.policy in affecting(after, cause.target, paths_through(after, cause.target))
    assert why_not(after, cause.policy, cause.target).in_force
