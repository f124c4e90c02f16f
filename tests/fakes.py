"""Fakes that implement the protocols."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy import states
from kubectl_policy.model import index
from kubectl_policy.model.body import Body
from kubectl_policy.model.world import World
from kubectl_policy.profiles import Registry
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile
from kubectl_policy.questions.differences import traffic

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, ObjectRef, Resource
    from kubectl_policy.profiles.controllers import DelegationProfile


@dataclass
class Controllers(Registry):
    """Profiles of controllers: of some by name, of all others, and how routes delegate; `asked` is for which kinds."""

    gateways: Mapping[str, GatewayProfile] = field(default_factory=dict[str, GatewayProfile])
    others: GatewayProfile = STANDARD_GATEWAYS
    delegation: tuple[DelegationProfile, ...] = ()
    asked: list[tuple[GroupKind, ...]] = field(default_factory=list[tuple["GroupKind", ...]])

    def gateway_profile(self, controller: str) -> GatewayProfile:
        """Return the profile of a controller for Gateways."""
        return self.gateways.get(controller, self.others)

    def port_fields(self, group_kind: GroupKind) -> tuple[str, ...] | None:
        """Return None: no kind of backend is known."""
        del group_kind
        return None

    def delegations(self, kinds: Collection[GroupKind]) -> tuple[DelegationProfile, ...]:
        """Return the profiles of delegation."""
        self.asked.append(tuple(kinds))
        return self.delegation


class RecordingWorld(World):
    """World that notes what it is asked for.

    `given` are the objects that it returned by each question, `named` is the number of names that it returned.
    """

    def __init__(self, world: World) -> None:
        """Ask another world."""
        self._world = world
        self.given: dict[tuple[str, GroupKind], set[ObjectRef]] = defaultdict(set)
        self.named: dict[tuple[str, GroupKind | None], int] = {}

    @property
    def numbers(self) -> dict[tuple[str, GroupKind], int]:
        """The number of different objects returned by each question about each kind."""
        return {question: len(refs) for question, refs in self.given.items() if refs}

    def get(self, ref: ObjectRef) -> Resource | None:
        """Return the object of a name."""
        resource = self._world.get(ref)
        self.given["get", ref.group_kind].update([ref] if resource else [])
        return resource

    def has(self, ref: ObjectRef) -> bool:
        """Whether there is an object of a name."""
        exists = self._world.has(ref)
        self.named["has", ref.group_kind] = exists
        return exists

    def refs_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        """Return the names of the objects of a kind."""
        names = self._world.refs_of(kind, namespace)
        self.named["refs_of", kind] = len(names)
        return names

    def naming(self, kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """Return the objects of a kind that may name an object."""
        names = self._world.naming(kind, obj)
        self.given["naming", kind].update(names)
        return names

    @property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds of which there are objects."""
        self.named["kinds", None] = len(self._world.kinds)
        return self._world.kinds

    @property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which there are objects."""
        return self._world.namespaces

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over the objects."""
        return iter(self._world)


def deferred(resources: Iterable[Resource]) -> list[Resource]:
    """Objects of which only the heads are kept."""
    return [replace(resource, raw=Body.deferred({**resource.raw})) for resource in resources]


def decoded(resources: Collection[Resource]) -> Counter[GroupKind]:
    """Count the decoded objects of each kind, of objects of which only the heads were kept."""
    return Counter(
        resource.ref.group_kind for resource in resources if getattr(resource.raw, "_content", None) is not None
    )


@contextmanager
def all_at_once() -> Iterator[None]:
    """Answer no question about single objects, so that all answers are computed at once."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (index, states, traffic):
            patched.setattr(module, "MAX_SINGLE_QUESTIONS", 0)
        yield
