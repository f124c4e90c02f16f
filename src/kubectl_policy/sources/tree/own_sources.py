"""Sources of deliveries that can be the repository in which these are written, and those that are another one."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.tree.delivery import Application, ApplicationSet, FluxKustomization

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.sources.tree.delivery import Delivery, Reference
    from kubectl_policy.sources.tree.repository import Repository

_GROUP: Final = "source.toolkit.fluxcd.io"
# `flux bootstrap` and the Flux Operator call the repository of a cluster so.
_BOOTSTRAPPED: Final = "flux-system"
# The protocol and the user of an address, and the suffix that git takes for granted.
_AROUND_ADDRESS: Final = re.compile(r"^[a-z+]+://|^[^/@]*@|\.git/?$|/$")


class OwnSources:
    """Names and addresses that stand for this repository, by what most of its deliveries have in common."""

    def __init__(
        self, deliveries: Sequence[tuple[str, Delivery]], objects: Iterable[Resource], files: Repository
    ) -> None:
        """Count the sources of deliveries, given with the paths of their files, that lead to folders here."""
        declared = [resource for resource in objects if resource.ref.group_kind.group == _GROUP]
        self._addresses = {resource.ref.name: _plain(text_at(resource.raw, "spec.url")) for resource in declared}
        names, addresses = Counter[str](), Counter[str]()
        for file, delivery in deliveries:
            if (
                isinstance(delivery, FluxKustomization)
                and delivery.path
                and files.base_of(file, delivery.path) is not None
            ):
                names[delivery.source.name] += 1
            elif isinstance(delivery, Application | ApplicationSet):
                template = delivery.template if isinstance(delivery, ApplicationSet) else delivery
                addresses.update(_plain(source.address) for source in template.sources if source.path)
        own = {_BOOTSTRAPPED} if names[_BOOTSTRAPPED] else _most(names)
        own_addresses = {self._addresses.get(name) for name in own} - {None, ""}
        self._names = own | {name for name, address in self._addresses.items() if address in own_addresses}
        self._own_addresses = _most(addresses)

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses of the repository, without protocols and users."""
        return frozenset({*self._own_addresses, *(self._addresses.get(name, "") for name in self._names)} - {""})

    def may_be(self, source: Reference, path: str) -> bool:
        """Whether a source of Flux can be this repository, for somebody who takes the folder at a path from it."""
        return source.name in self._names or (bool(path) and source.name not in self._addresses)

    @cached_method
    def may_be_at(self, address: str) -> bool:
        """Whether a repository at an address can be this one."""
        return not address or "{{" in address or _plain(address) in self._own_addresses


def _most(counts: Counter[str]) -> set[str]:
    """Return what was counted most often."""
    most = max(counts.values(), default=0)
    return {name for name, number in counts.items() if number == most}


def _plain(address: str) -> str:
    """Return an address without what may be written in several ways."""
    before = ""
    while before != address:
        before, address = address, _AROUND_ADDRESS.sub("", address.strip())
    return address.replace(":", "/", 1).lower()
