"""Fakes that implement the protocols."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubectl_policy.model.world import World
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kubectl_policy.model import GroupKind, ObjectRef, Resource
    from kubectl_policy.profiles.controllers import DelegationProfile


@dataclass
class Controllers:
    """Profiles of controllers: of some by name, of all others, and how routes delegate; `asked` is for which kinds."""

    gateways: Mapping[str, GatewayProfile] = field(default_factory=dict[str, GatewayProfile])
    others: GatewayProfile = STANDARD_GATEWAYS
    delegation: tuple[DelegationProfile, ...] = ()
    asked: list[tuple[GroupKind, ...]] = field(default_factory=list[tuple["GroupKind", ...]])

    def gateways_of(self, controller: str) -> GatewayProfile:
        """How a controller treats Gateways."""
        return self.gateways.get(controller, self.others)

    def ports_of(self, group_kind: GroupKind) -> tuple[str, ...] | None:
        """Where the ports of backends stand: of none that is known."""
        del group_kind
        return None

    def delegations(self, kinds: Collection[GroupKind]) -> tuple[DelegationProfile, ...]:
        """How routes delegate to routes."""
        self.asked.append(tuple(kinds))
        return self.delegation


class RecordingWorld(World):
    """A world that notes what it is asked for: the objects that it gives by each question, and apart from them names.

    `given` are the objects, `named` is the number of names, each by what was asked and of which kind.
    """

    def __init__(self, world: World) -> None:
        """Ask another world."""
        self._world = world
        self.given: dict[tuple[str, GroupKind], set[ObjectRef]] = defaultdict(set)
        self.named: dict[tuple[str, GroupKind | None], int] = {}

    @property
    def numbers(self) -> dict[tuple[str, GroupKind], int]:
        """How many different objects were given by each question about each kind."""
        return {asked: len(refs) for asked, refs in self.given.items() if refs}

    @property
    def is_narrow(self) -> bool:
        """As the other one is."""
        return self._world.is_narrow

    def get(self, ref: ObjectRef) -> Resource | None:
        """The object of a name."""
        found = self._world.get(ref)
        self.given["get", ref.group_kind].update([ref] if found else [])
        return found

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""
        return self._world.has(ref)

    def names(self) -> Iterable[ObjectRef]:
        """The names of all objects."""
        self.named["names", None] = len(self._world)
        return self._world.names()

    def names_of(self, kind: GroupKind) -> Sequence[ObjectRef]:
        """The names of the objects of a kind."""
        found = self._world.names_of(kind)
        self.named["names", kind] = len(found)
        return found

    def examples(self, kind: GroupKind, without: Collection[ObjectRef] = ()) -> Iterable[Resource]:
        """Some objects of a kind."""
        for found in self._world.examples(kind, without):
            self.given["examples", kind].add(found.ref)
            yield found

    def counted(self, kind: GroupKind) -> Iterable[tuple[Resource, int]]:
        """Some objects of a kind, each with the number of which it is an example."""
        for found, number in self._world.counted(kind):
            self.given["counted", kind].add(found.ref)
            yield found, number

    def naming(self, kind: GroupKind, obj: ObjectRef) -> Sequence[ObjectRef]:
        """The objects of a kind that may name an object."""
        return self._noted("naming", kind, self._world.naming(kind, obj))

    def having(self, kind: GroupKind, fields: Collection[str], namespace: str = "") -> Sequence[ObjectRef]:
        """The objects of a kind that may have one of some fields."""
        return self._noted("having", kind, self._world.having(kind, fields, namespace))

    def _noted(self, question: str, kind: GroupKind, found: Sequence[ObjectRef]) -> Sequence[ObjectRef]:
        self.given[question, kind].update(found)
        return found


class Narrow(RecordingWorld):
    """A world that is asked for some objects sooner than for all."""

    @property
    def is_narrow(self) -> bool:
        """It is."""
        return True
