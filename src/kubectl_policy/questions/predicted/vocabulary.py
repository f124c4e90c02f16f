"""Of which conditions it is known when the controllers of a policy kind report them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.kinds import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.profiles.status import STANDARD_STATUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.status import ConditionWords, Event, StatusProfile

# What is said of a policy by what it refers to itself; all else also depends on what is above and below its targets.
_BY_REFERENCES: Final[frozenset[Event]] = frozenset(
    {
        "accepted",
        "target missing",
        "section missing",
        "not permitted",
        "kind unsupported",
        "conflicted",
        "invalid",
        "target invalid",
        "overlapping",
        "not enabled",
    }
)


class Vocabulary(NamedTuple):
    """The types of conditions that a kind's controllers write, with the statuses that they can have.

    `by_references` are those that depend on what a policy refers to itself, and on nothing further away. `affected` are
    those that are written on what policies affect.
    """

    statuses: Mapping[str, frozenset[str]]
    by_references: frozenset[str]
    affected: Mapping[str, frozenset[str]]


def vocabulary(status: StatusProfile) -> Vocabulary:
    """The types of conditions that a status profile speaks of."""
    statuses: dict[str, set[str]] = {}
    affected: dict[str, set[str]] = {}
    further: set[str] = set()
    for event, words in _words(status):
        if event == "affected":
            affected.setdefault(words.type, set()).add(words.status)
            continue
        statuses.setdefault(words.type, set()).add(words.status)
        if event not in _BY_REFERENCES:
            further.add(words.type)
    return Vocabulary(_frozen(statuses), frozenset(statuses) - further, _frozen(affected))


def words_for(status: StatusProfile, event: Event) -> ConditionWords | None:
    """The first condition that says something of a policy; None if none does."""
    return next((words for found, words in _words(status) if found == event), None)


def is_assumed(profile: PolicyKindProfile) -> bool:
    """Whether nobody has said how a kind reports, so that it is taken to be as GEP-713 says.

    For the Gateway API's own kinds that is what the API says itself.
    """
    own = profile.group_kind.group in {GATEWAY_API, GATEWAY_API_EXPERIMENTAL}
    return profile.status == STANDARD_STATUS and not own


def _words(status: StatusProfile) -> Iterator[tuple[Event, ConditionWords]]:
    for event, several in status.conditions.items():
        for words in several:
            yield event, words


def _frozen(statuses: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {type_: frozenset(found) for type_, found in statuses.items()}
