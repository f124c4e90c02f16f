"""Policy kinds as data: which kinds are policies, how they attach and how they merge."""

from kubectl_policy.profiles.load import load_profiles
from kubectl_policy.profiles.merging import MergeStrategy, TargetLevel
from kubectl_policy.profiles.profile import PolicyKindProfile
from kubectl_policy.profiles.registry import Registry

__all__ = ["MergeStrategy", "PolicyKindProfile", "Registry", "TargetLevel", "load_profiles"]
