"""What a list is about: a type as people name it, a selection of its objects, and the value that every list is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.selectors import selects
from kubectl_policy.questions.shared.find import kinds_meant, not_found
from kubectl_policy.topology.hierarchy import HIERARCHY
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS, ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json, Resource
    from kubectl_policy.questions.shared.unseen import Unseen

RowSort: TypeAlias = Literal[
    "policies", "policy kinds", "gateway classes", "gateways", "listener sets", "routes", "backends", "namespaces"
]
Row_co = TypeVar("Row_co", covariant=True)

# The types that are more than one kind, or none; a kind of one of these names is asked for with its group.
_OWN: Final[Mapping[str, RowSort]] = {
    "policies": "policies",
    "policy": "policies",
    "policykinds": "policy kinds",
    "policykind": "policy kinds",
    "routes": "routes",
    "route": "routes",
}
_SINGLE: Final[Mapping[GroupKind, RowSort]] = {
    GATEWAY_CLASS: "gateway classes",
    GATEWAY: "gateways",
    NAMESPACE: "namespaces",
}


class ListType(NamedTuple):
    """A type: which sort of rows it has, what one of them is called, its kinds, and whether they have namespaces."""

    rows: RowSort
    noun: str
    kinds: tuple[GroupKind, ...]
    namespaced: bool = True


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of a type's objects are meant: those in a namespace, with one of the names, with labels as selected.

    An empty namespace is every one, no name is any name. What is cluster-scoped is in every namespace.
    """

    namespace: str = ""
    names: tuple[str, ...] = ()
    selector: Mapping[str, Json] = field(default_factory=dict[str, "Json"])

    def fits(self, resource: Resource) -> bool:
        """Whether an object has the labels and a name that are asked for, wherever it is."""
        named = not self.names or resource.ref.name in self.names
        return named and selects(self.selector, labels_of(resource.raw))


@dataclass(frozen=True, slots=True)
class Picked:
    """The selected objects of a type, sorted by namespace and name.

    `namespace` is where was looked, empty if everywhere; `elsewhere` are the namespaces, one for each, of further
    objects that would have been selected there.
    """

    type: ListType
    resources: tuple[Resource, ...]
    namespace: str
    elsewhere: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row_co]):
    """A list: a row for each selected object; `unseen` could not be read and might have changed it."""

    type: ListType
    namespace: str
    rows: tuple[Row_co, ...]
    elsewhere: tuple[str, ...]
    unseen: tuple[Unseen, ...]


def type_named(analysis: Analysis, word: str) -> ListType:
    """The type that a word means: `policies`, `policykinds`, `routes`, or any kind by its names. Raises `UsageError`.

    Of several kinds with one name those of the hierarchy are meant, else those that are policies, else all.
    """
    rows, index = _OWN.get(word.lower()), analysis.index
    if rows == "policies":
        return ListType(rows, "policy", tuple(profile.group_kind for profile in analysis.registry.policy_kinds))
    if rows == "policy kinds":
        return ListType(rows, "policy kind", (), namespaced=False)
    if rows:
        return ListType(rows, "route", ROUTES)
    meant = kinds_meant(index, word, *_OWN)
    present = [kind for kind in meant if index.of_kind(kind)] or meant
    placed = [kind for kind in present if kind in HIERARCHY]
    policies = [kind for kind in present if analysis.registry.profile_of(kind)]
    kinds = tuple(placed or policies or present)
    found = "policies" if kinds[0] in policies else _rows_of(kinds[0])
    return ListType(found, kinds[0].kind, kinds, any(map(index.namespaced, kinds)))


def _rows_of(kind: GroupKind) -> RowSort:
    if kind in LISTENER_SETS:
        return "listener sets"
    if kind in ROUTES:
        return "routes"
    return _SINGLE.get(kind, "backends")


def pick(analysis: Analysis, word: str, selection: Selection) -> Picked:
    """The objects of a type that are selected. Raises `NotFoundError` if there is none of a name that is asked for."""
    found = type_named(analysis, word)
    every = [resource for kind in found.kinds for resource in analysis.index.of_kind(kind)]
    fitting = [resource for resource in every if selection.fits(resource)]
    here = [one for one in fitting if not selection.namespace or one.ref.namespace in {"", selection.namespace}]
    namespace = selection.namespace if found.namespaced else ""
    _require(selection.names, here, every, word, namespace)
    elsewhere = sorted(one.ref.namespace for one in fitting if one.ref.namespace) if not here else []
    return Picked(found, tuple(sorted(here, key=_place)), namespace, tuple(elsewhere))


def _require(
    names: Iterable[str], here: Iterable[Resource], every: Iterable[Resource], word: str, namespace: str
) -> None:
    present = {resource.ref.name for resource in here}
    for name in names:
        if name not in present:
            raise not_found([resource.ref for resource in every], word, name, namespace)


def _place(resource: Resource) -> tuple[str, str, GroupKind]:
    ref = resource.ref
    return ref.namespace, ref.name, ref.group_kind
