"""Answers about made-up policy kinds, for the tests of their words."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile
from kubectl_policy.model import Origin
from kubectl_policy.model.kinds import KindNames
from kubectl_policy.questions.explain import Explanation
from kubectl_policy.render.explain.statements import explanation_text
from kubectl_policy.render.output.text import View, to_text
from tests.profiles.everything import KIND
from tests.profiles.everything import profile as everything

FULL: Final = everything(Origin("f.yaml", 3))


def answer(profile: PolicyKindProfile, **changes: Any) -> Explanation:  # noqa: ANN401 (any field of the answer)
    """The answer about a kind with that profile."""
    kind = profile.group_kind
    names = KindNames(kind, f"{kind.kind.lower()}s", profile.short_names)
    return replace(
        Explanation(
            profile=profile, names=names, origin=profile.origin, defined=True, policies=0, targets=(), unseen=()
        ),
        **changes,
    )


def text(explanation: Explanation, view: View | None = None) -> str:
    return to_text(explanation_text(explanation, view or View()), (view or View()).width)


def blank(**changes: Any) -> PolicyKindProfile:  # noqa: ANN401 (any field of the profile)
    return PolicyKindProfile(KIND, changes.pop("policy_class", "inherited"), "profile", **changes)
