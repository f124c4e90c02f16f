"""What is known of the world that a command would be about: which kinds, objects and namespaces there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.profiles import PolicyKindProfile


Sort: TypeAlias = Literal["policies", "targets", "others"]


class Kinds(NamedTuple):
    """The kinds that there are, by their sort: those of policies, those that policies may be about, and all others."""

    policies: list[KindNames]
    targets: list[KindNames]
    others: list[KindNames]


class Known(Protocol):
    """Manifests or a cluster; what a word means that names nothing there raises `PolicyError`."""

    def kinds(self) -> Kinds:
        """The kinds that there are."""
        ...

    def names(self, type_name: str, namespace: str) -> tuple[Iterable[str], Iterable[str]]:
        """The names of the objects of a type in a namespace, and `NAMESPACE/NAME` of those everywhere."""
        ...

    def namespaces(self) -> Iterable[str]:
        """The names of all namespaces."""
        ...

    def sections(self, type_name: str, name: str, namespace: str) -> Iterable[str]:
        """The names of an object's sections."""
        ...

    def fields(self, kinds: Iterable[str]) -> Iterable[str]:
        """The fields of the settings of policies, of some kinds or of all."""
        ...

    def kubeconfig(self, option: str) -> Iterable[str]:
        """What may be the value of `--context`, `--cluster` or `--user`."""
        ...


def known_fields(profile: PolicyKindProfile) -> Iterator[str]:
    """The fields that a profile names, and those above them, as far as they do not depend on the names of entries."""
    named = (*profile.security_fields, *(part.field for part in profile.summary), *profile.object_fields)
    for field in named:
        keys = field.partition("*")[0].partition("[")[0].rstrip(".").split(".")
        yield from (".".join(keys[:depth]) for depth in range(1, len(keys) + 1))
