"""The kinds that an API server serves, as values, and what is meant by their names."""

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
        """The kind without its version."""
        return GroupKind(self.group, self.kind)

    @property
    def is_possible(self) -> bool:
        """Whether there can be such a kind, and its objects can be got and listed."""
        named = all(_NAME.fullmatch(name) for name in (self.plural, self.version))
        return named and _NEEDED.issubset(self.verbs) and not impossible(self.group_kind)

    def path(self, namespace: str = "", name: str = "") -> str:
        """Where the objects are: everywhere or in a namespace, or the one of a name."""
        steps = ["apis", self.group, self.version] if self.group else ["api", self.version]
        steps += ["namespaces", namespace] if namespace and self.namespaced else []
        steps += [self.plural, *([name] if name else [])]
        return "/" + "/".join(quote(step, safe="") for step in steps)


@value()
class UnknownGroup:
    """An API group of which it is not known what it serves now, or `EVERY_GROUP`, and why."""

    group: str
    reason: str


class Discovery:
    """The kinds that a server serves, in its order, and the groups of which that is not known."""

    def __init__(
        self, served: Iterable[Served], gaps: Sequence[UnknownGroup], ask_again: Callable[[], Discovery] | None = None
    ) -> None:
        """Of two that serve a kind, the first one counts; without a way to ask again, this is what is served now."""
        kinds: dict[GroupKind, Served] = {}
        for each in served:
            kinds.setdefault(each.group_kind, each)
        self.kinds: Mapping[GroupKind, Served] = kinds
        self.gaps, self._ask_again = tuple(gaps), ask_again

    @property
    def is_remembered(self) -> bool:
        """Whether the server has not been asked in this run, so that it may serve more by now."""
        return self._ask_again is not None

    def refresh(self) -> Discovery:
        """What the server serves now: this, unless it was remembered. Raises Refusal."""
        return self._ask_again() if self._ask_again else self

    def named(self, name: str) -> tuple[Served, ...]:
        """The kinds that kubectl means by a name, the first of them if there are several.

        That is a plural or singular name or a short one, in any case, alone or followed by a group or the beginning of
        one (`gateways.gateway`), or by version and group: as `ParseResourceArg` and the REST mappers of client-go have
        it. What matches as a plural or singular name beats what matches as a short one.
        """
        first, _, rest = name.lower().partition(".")
        version, _, group = rest.partition(".")
        versioned = [each for each in self._called(first) if each.version == version and each.group == group]
        if rest and versioned:
            return tuple(versioned)
        called = self._called(first)
        exact = [each for each in called if each.group == rest] if rest else called
        return tuple(exact or (each for each in called if each.group.startswith(rest)))

    def _called(self, name: str) -> list[Served]:
        every = self.kinds.values()
        return [each for each in every if name in {each.plural, each.singular}] or [
            each for each in every if name in each.short_names
        ]

    def in_category(self, name: str) -> tuple[Served, ...]:
        """The kinds of a category, such as `all` or `gateway-api`."""
        return tuple(each for each in self.kinds.values() if name in each.categories)
