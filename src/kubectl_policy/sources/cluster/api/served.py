"""Kinds that an API server serves, and the names by which kubectl knows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from kubectl_policy.model.kinds import impossible
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.values import compact, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_NEEDED: Final = frozenset({"get", "list"})
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
# The group of a gap where it is not even known which groups there are.
EVERY_GROUP: Final = "*"


@compact
class Served:
    """A kind whose objects can be got and listed, in the version in which the server prefers to give them."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    short_names: tuple[str, ...]
    verbs: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def group_kind(self) -> GroupKind:
        """Return the kind without its version."""
        return GroupKind(self.group, self.kind)

    @property
    def is_possible(self) -> bool:
        """Whether there can be such a kind, and its objects can be got and listed."""
        named = all(_NAME.fullmatch(name) for name in (self.plural, self.version))
        return named and _NEEDED.issubset(self.verbs) and not impossible(self.group_kind)

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of the objects everywhere or in a namespace, or of the one of a name."""
        steps = ["apis", self.group, self.version] if self.group else ["api", self.version]
        steps += ["namespaces", namespace] if namespace and self.namespaced else []
        steps += [self.plural, *([name] if name else [])]
        return "/" + "/".join(quote(step, safe="") for step in steps)


@value()
class UnknownGroup:
    """An API group, or `EVERY_GROUP`, of which it is not known what the server serves now."""

    group: str
    # Why it is not known.
    reason: str


class Discovery:
    """Kinds that a server serves, in its order, and groups of which that is not known."""

    def __init__(
        self, served: Iterable[Served], gaps: Sequence[UnknownGroup], ask_again: Callable[[], Discovery] | None = None
    ) -> None:
        """Keep the first version of each kind; without a way to ask again, the server was asked just now."""
        kinds: dict[GroupKind, Served] = {}
        for kind in served:
            kinds.setdefault(kind.group_kind, kind)
        self.kinds: Mapping[GroupKind, Served] = kinds
        self.gaps, self._ask_again = tuple(gaps), ask_again

    @property
    def is_remembered(self) -> bool:
        """Whether the kinds come from the cache, so that the server may serve more by now."""
        return self._ask_again is not None

    def refresh(self) -> Discovery:
        """Return what the server serves now: this, unless it comes from the cache. Raises RequestRefused."""
        return self._ask_again() if self._ask_again else self

    def named(self, name: str) -> tuple[Served, ...]:
        """Return the kinds that kubectl means by a name, the first of them if there are several.

        That is a plural or singular name or a short one, in any case, alone or followed by a group or the beginning of
        one (`gateways.gateway`), or by version and group: as `ParseResourceArg` and the REST mappers of client-go have
        it. What matches as a plural or singular name beats what matches as a short one.
        """
        first, _, rest = name.lower().partition(".")
        version, _, group = rest.partition(".")
        kinds = [kind for kind in self.kinds.values() if first in {kind.plural, kind.singular}]
        kinds = kinds or [kind for kind in self.kinds.values() if first in kind.short_names]
        versioned = [kind for kind in kinds if kind.version == version and kind.group == group]
        if rest and versioned:
            return tuple(versioned)
        exact = [kind for kind in kinds if kind.group == rest] if rest else kinds
        return tuple(exact or (kind for kind in kinds if kind.group.startswith(rest)))

    def in_category(self, name: str) -> tuple[Served, ...]:
        """Return the kinds of a category, such as `all` or `gateway-api`."""
        return tuple(kind for kind in self.kinds.values() if name in kind.categories)
