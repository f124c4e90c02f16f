"""The order of policies on one target: older first, then by namespace and name; and when that cannot be known."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from kubectl_policy.resolution.spec_proper import EXPERIMENTAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.profiles.profile import PolicyKindProfile, SameLevel
    from kubectl_policy.resolution.strategies import Contribution

_AFTER_ALL: Final = datetime.max.replace(tzinfo=UTC)


def by_age(policies: Iterable[Resource]) -> list[Resource]:
    """Policies with the first created first, then by `{namespace}/{name}`; those without a date come last.

    GEP-713, "Conflict resolution": the oldest policy based on creation timestamp, then the one first in alphabetical
    order by "{namespace}/{name}".
    """
    return sorted(policies, key=lambda policy: (policy.created or _AFTER_ALL, policy.ref.qualified_name))


def age_unknown(policies: Sequence[Resource]) -> bool:
    """Whether the order of these rests on names because some of them have no creationTimestamp."""
    return len(policies) > 1 and any(policy.created is None for policy in policies)


def same_level_of(profile: PolicyKindProfile, contributions: Iterable[Contribution]) -> SameLevel:
    """The rule for policies on one node: the profile's, else by the text of GEP-713 that the policies are written for.

    The experimental text, with its stanzas `default` and `override`, lets the first created win.
    """
    if profile.same_level:
        return profile.same_level
    experimental = any(part.field in EXPERIMENTAL for part in contributions)
    return "first-wins" if experimental else "newest-challenges"


def on_one_node(contributions: Sequence[Contribution], same_level: SameLevel) -> list[Contribution]:
    """The contributions to one node, given oldest first, in the order in which a path is folded.

    By default the older one is established and the newer one its challenger. Where the first created wins, its defaults
    go last, since of two defaults the later one in the fold wins; with overrides and with None the earlier one wins.
    """
    if same_level == "newest-challenges":
        return list(contributions)
    defaults = [part for part in contributions if part.strategy.defaults]
    return [part for part in contributions if not part.strategy.defaults] + defaults[::-1]
