"""Objects that are known while a command line is typed: those of manifests, or those of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.profiles import PolicyKindProfile

KindRole: TypeAlias = Literal["policies", "targets", "unrelated"]
ALL_ROLES: Final[Sequence[KindRole]] = ("policies", "targets", "unrelated")


class KnownKinds(NamedTuple):
    """The kinds that exist, by what they are to policies."""

    policies: list[KindNames]
    targets: list[KindNames]
    unrelated: list[KindNames]


class KnownObjects:
    """Names in manifests or a cluster. All methods may raise `PolicyError`, as for a type that does not exist."""

    def kinds(self) -> KnownKinds:
        """Return the kinds of objects."""
        return KnownKinds([], [], [])

    def names(self, type_name: str, namespace: str) -> tuple[Iterable[str], Iterable[str]]:  # noqa: ARG002 (none here)
        """Return the names of objects of a type in a namespace, and `NAMESPACE/NAME` of those in any namespace."""
        return (), ()

    def namespaces(self) -> Iterable[str]:
        """Return the names of all namespaces."""
        return ()

    def sections(self, type_name: str, name: str, namespace: str) -> Iterable[str]:  # noqa: ARG002 (none here)
        """Return the names of an object's sections."""
        return ()

    def fields(self, kinds: Iterable[str]) -> Iterable[str]:  # noqa: ARG002 (none here)
        """Return the fields that policies of some kinds can set, or policies of all kinds."""
        return ()

    def kubeconfig(self, option: str) -> Iterable[str]:  # noqa: ARG002 (none here)
        """Return the names in the kubeconfig for `--context`, `--cluster` or `--user`."""
        return ()


def known_fields(profile: PolicyKindProfile) -> Iterator[str]:
    """Yield the fields that a profile names, and their parents, except fields below the names of entries."""
    named = (*profile.security_fields, *(part.field for part in profile.summary), *profile.object_fields)
    for field in named:
        keys = field.partition("*")[0].partition("[")[0].rstrip(".").split(".")
        yield from (".".join(keys[:depth]) for depth in range(1, len(keys) + 1))
