"""Names that are mentioned in values that nobody applied, and may be referred to once they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.sources.outline import mentions_of
from kubectl_policy.sources.tree import DELIVERING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import GroupKind, Json

_WORD: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9.]*")
# What selects by labels means objects that it does not name.
_SELECTING: Final = frozenset({"matchExpressions", "matchLabels", "selector", "targetSelector", "targetSelectors"})


def words_in(values: Iterable[Json]) -> frozenset[str]:
    """Return the names that may stand in values: words, and the parts of those with dots (`web.shop.svc`)."""
    mentioned: set[str] = set()
    for text in texts_in(values, keys=False):
        for name in _WORD.findall(text):
            mentioned.add(name)
            mentioned.update(name.split("."))
    return frozenset(mentioned - {""})


def mentioned_in(values: Iterable[Json]) -> frozenset[str] | None:
    """Return the names in values that become part of an object; None if they may mean others without naming them."""
    values = list(values)
    return None if _SELECTING.intersection(texts_in(values, keys=True)) else words_in(values)


def refers_to_nothing(group_kind: GroupKind) -> bool:
    """Whether objects of a kind are about no others that answers are about: those of Kubernetes, and of deliveries."""
    return group_kind in DELIVERING or mentions_of(group_kind, None) == frozenset()


def texts_in(values: Iterable[Json], *, keys: bool) -> list[str]:
    """List the strings in values, or all keys of mappings."""
    rest, texts = list(values), list[str]()
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            texts += value if keys else ()
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
        elif isinstance(value, str) and not keys:
            texts.append(value)
    return texts
