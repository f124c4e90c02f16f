"""Profiles of ColorPolicy, for tests of several questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy import MergeStrategy, PolicyKindProfile
from kubectl_policy.model import GroupKind

if TYPE_CHECKING:
    from kubectl_policy.profiles.fields import PolicyClass

COLOR: Final = GroupKind("example.com", "ColorPolicy")


def color_kind(policy_class: PolicyClass = "direct", **fields: Any) -> PolicyKindProfile:  # noqa: ANN401 (of a profile)
    """A profile without stanzas, whose policies are merged field by field unless told otherwise."""
    fields = {"strategy": MergeStrategy.PATCH_DEFAULTS, "stanzas": "none", **fields}
    return PolicyKindProfile(COLOR, policy_class, "profile", **fields)
