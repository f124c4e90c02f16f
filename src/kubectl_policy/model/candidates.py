"""The objects that may be what a reference names, because a name or a namespace of either is not known."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_policy.model.unknown import is_unknown, may_be, may_equal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model.refs import GroupKind, ObjectRef


class Candidates:
    """The names of some objects, by what is known of them."""

    def __init__(self, refs: Iterable[ObjectRef]) -> None:
        """Remember the names; they are sorted out when somebody asks."""
        self._refs = tuple(refs)
        self._found: dict[ObjectRef, tuple[ObjectRef, ...]] = {}

    def of(self, ref: ObjectRef) -> tuple[ObjectRef, ...]:
        """The objects, but for the one of that very name, that may be what a reference names; sorted.

        A reference without a name is to whatever is in its namespace.
        """
        if ref not in self._found:
            among = (each for each in self._among(ref) if each != ref)
            found = (
                each for each in among if (may_be(each, ref) if ref.name else self._may_be_in(ref.namespace, each))
            )
            self._found[ref] = tuple(sorted(found))
        return self._found[ref]

    def _among(self, ref: ObjectRef) -> Iterable[ObjectRef]:
        if not ref.name or is_unknown(ref.name):
            return self._by_kind.get(ref.group_kind, ())
        by_name = self._by_name if is_unknown(ref.namespace) else self._homeless
        return (*by_name.get((ref.group_kind, ref.name), ()), *self._nameless.get(ref.group_kind, ()))

    def _may_be_in(self, namespace: str, ref: ObjectRef) -> bool:
        return ref.namespace != namespace and may_equal(ref.namespace, namespace)

    @cached_property
    def unknown_namespaces(self) -> frozenset[str]:
        """The namespaces of objects of which it is not known what they are called."""
        return frozenset(name for name in {ref.namespace for ref in self._refs} if is_unknown(name))

    @cached_property
    def _homeless(self) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
        """The objects of unknown namespaces by their names."""
        return _by_name(ref for ref in self._refs if ref.namespace in self.unknown_namespaces)

    @cached_property
    def _by_name(self) -> Mapping[tuple[GroupKind, str], Sequence[ObjectRef]]:
        return _by_name(self._refs)

    @cached_property
    def _nameless(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        """The objects of unknown names by their kinds."""
        return _by_kind(ref for ref in self._refs if is_unknown(ref.name))

    @cached_property
    def _by_kind(self) -> Mapping[GroupKind, Sequence[ObjectRef]]:
        return _by_kind(self._refs)


def _by_name(refs: Iterable[ObjectRef]) -> dict[tuple[GroupKind, str], list[ObjectRef]]:
    found: dict[tuple[GroupKind, str], list[ObjectRef]] = {}
    for ref in refs:
        if not is_unknown(ref.name):
            found.setdefault((ref.group_kind, ref.name), []).append(ref)
    return found


def _by_kind(refs: Iterable[ObjectRef]) -> dict[GroupKind, list[ObjectRef]]:
    found: dict[GroupKind, list[ObjectRef]] = {}
    for ref in refs:
        found.setdefault(ref.group_kind, []).append(ref)
    return found
