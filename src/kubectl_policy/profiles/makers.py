"""Kinds whose objects create others: what is known of that, from profiles and from the file on operators."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.load import built_in_profiles
from kubectl_policy.text.configuration import read_flawless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_policy.model.absence import Creations
    from kubectl_policy.profiles.profile import PolicyKindProfile

# No Path: to import that takes as long as to read the file.
_FILE: Final = f"{os.path.dirname(__file__)}/makers.yaml"  # noqa: PTH120


def creations_of(profiles: Iterable[PolicyKindProfile]) -> Callable[[GroupKind], Creations | None]:
    """Return a function that looks up what objects of a kind create; None for a kind of which nothing is known.

    Kinds with a profile, the user's as well, are about other objects and create none; nor do policies of any kind.
    """
    users_kinds = frozenset(kind for profile in profiles for kind in (profile.group_kind, *profile.backends))

    def created_by(kind: GroupKind) -> Creations | None:
        if kind in users_kinds or kind.kind.endswith("Policy") or _is_profiled(kind):
            return {}
        return _operators().get(kind)

    return created_by


def _is_profiled(kind: GroupKind) -> bool:
    """Whether a built-in profile says what a kind is: a policy, a filter, parameters, or a backend with ports."""
    profiles = built_in_profiles(kind.group)
    return kind in profiles or any(kind in profile.backends for profile in profiles.values())


@cache
def _operators() -> Mapping[GroupKind, Creations]:
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123 (see `_FILE`)
        groups = cast("dict[str, Any]", read_flawless(file.read()))
    return {
        GroupKind(group, kind): {_kind_named(name): field for name, field in created.items()}
        for group, content in groups.items()
        for kind, created in content["kinds"].items()
    }


def _kind_named(name: str) -> GroupKind:
    """Return the kind with a name such as `Secret` or `Deployment.apps`."""
    kind, _, group = name.partition(".")
    return GroupKind(group, kind)
