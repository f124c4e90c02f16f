"""Analyses and profiles for tests of several questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from kubectl_policy import Analysis, MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import Gap, GroupKind, Resource
from kubectl_policy.profiles.fields import PolicyClass
from tests import build

COLOR: Final = GroupKind("example.com", "ColorPolicy")


def color_kind(policy_class: PolicyClass = "direct", **fields: Any) -> PolicyKindProfile:  # noqa: ANN401 (of a profile)
    """A profile without stanzas, whose policies are merged field by field unless told otherwise."""
    fields = {"strategy": MergeStrategy.PATCH_DEFAULTS, "stanzas": "none", **fields}
    return PolicyKindProfile(COLOR, policy_class, "profile", **fields)


def analyzed(
    *resources: Resource, complete: bool = False, gaps: Sequence[Gap] = (), profiles: Iterable[PolicyKindProfile] = ()
) -> Analysis:
    """The analysis of a snapshot of some objects."""
    return analyze(build.snapshot(*resources, complete=complete, gaps=gaps), profiles=profiles)


def settings(*, enable: bool) -> Resource:
    return build.resource("Settings", "s", {"colours": {"enable": enable}}, group="example.com")
