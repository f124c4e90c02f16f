"""Names of items in settings of policies, and the lists that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy.lint.finding import Fix
from kubectl_policy.lint.rules.policies.named_settings import named_item_missing
from kubectl_policy.profiles.merging import MergeStrategy
from kubectl_policy.profiles.values import NamedSetting
from tests import build
from tests.lint.rule_worlds import SERVED, TO_ROUTE, checked, known, said

if TYPE_CHECKING:
    from kubectl_policy.model import Json

NAMED: Final = NamedSetting(field="spec.rules.use", names="spec.parts.name", harm="the rule does nothing")
PROFILE: Final = known(named_settings=(NAMED,), strategy=MergeStrategy.PATCH_DEFAULTS)
PARTS: Final[Json] = [{"name": "wheel"}, {"name": "brake"}]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"parts": PARTS, "rules": [{"use": "wheel"}, {"use": "brake"}]}, ""),
        ({"parts": PARTS, "rules": [{"use": "wheels"}]}, "no wheels in spec.parts: it has wheel, brake"),
        ({"rules": [{"use": "wheel"}]}, "no wheel in spec.parts: it has none"),
        ({"rules": [{"use": "${PART}"}]}, ""),
        ({"rules": [{}]}, ""),
    ],
)
@pytest.mark.parametrize("is_attached", [True, False])
def test_a_name_that_the_list_has_not(spec: dict[str, Any], problem: str, *, is_attached: bool) -> None:
    """A policy without an effect is wrong all the same."""
    policy = build.policy("p", TO_ROUTE if is_attached else build.target("x", "HTTPRoute"), **spec)
    expected = [("spec.rules[0].use", f"there is {problem}, so the rule does nothing")] if problem else []
    assert said(checked(named_item_missing, *SERVED, policy, profiles=[PROFILE])) == expected


def test_a_list_of_another_policy_counts_if_both_are_merged() -> None:
    """And what is meant is one of those."""
    parts = build.policy("parts", build.ON_GATEWAY, parts=PARTS)
    right = build.policy("p", TO_ROUTE, rules=[{"use": "wheel"}])
    assert checked(named_item_missing, *SERVED, parts, right, profiles=[PROFILE]) == []
    wrong = build.policy("p", TO_ROUTE, rules=[{"use": "whel"}])
    (finding,) = checked(named_item_missing, *SERVED, parts, wrong, profiles=[PROFILE])
    assert finding.fix == Fix(words="did you mean wheel?", value="wheel")
