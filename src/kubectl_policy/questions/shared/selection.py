"""Which objects are meant: one by type and name, or those of a type that are selected, as kubectl reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import GroupKind, ObjectRef
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kinds import NAMESPACE
from kubectl_policy.model.selectors import selects
from kubectl_policy.topology.hierarchy import HIERARCHY
from kubectl_policy.topology.references import GATEWAY, GATEWAY_CLASS, LISTENER_SETS, ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.model.kinds import KindNames
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
class Selected:
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


def select(analysis: Analysis, word: str, selection: Selection) -> Selected:
    """The objects of a type that are selected. Raises `NotFoundError` if there is none of a name that is asked for."""
    found = type_named(analysis, word)
    every = [resource for kind in found.kinds for resource in analysis.index.of_kind(kind)]
    fitting = [resource for resource in every if selection.fits(resource)]
    here = [one for one in fitting if not selection.namespace or one.ref.namespace in {"", selection.namespace}]
    namespace = selection.namespace if found.namespaced else ""
    _require(selection.names, here, every, word, namespace)
    elsewhere = sorted(one.ref.namespace for one in fitting if one.ref.namespace) if not here else []
    return Selected(found, tuple(sorted(here, key=_place)), namespace, tuple(elsewhere))


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


def find(index: Index, type_name: str, name: str, namespace: str) -> ObjectRef:
    """The object of a type (`httproute`, `httproutes`, a short name, `type.group`, `type.version.group`) and name.

    Of two kinds with one name the one that has such an object is meant. A Namespace is there if anything is that lives
    in it. Raises `UsageError` for an unknown or ambiguous
    type and `NotFoundError`, with the nearest names as a hint, where there is no such object.
    """
    kinds = kinds_meant(index, type_name)
    refs = [ObjectRef(kind, namespace if index.namespaced(kind) else "", name) for kind in kinds]
    found = [ref for ref in refs if index.presence(ref) == "present"]
    if len(found) > 1:
        options = ", ".join(f"{ref.group_kind.kind.lower()}.{ref.group_kind.group}/{name}" for ref in found)
        raise UsageError(f'"{type_name}" names several kinds', f"say which one: {options}")
    if found:
        return found[0]
    where = namespace if any(ref.namespace for ref in refs) else ""
    objects = [resource.ref for kind in kinds for resource in index.of_kind(kind)]
    raise not_found(objects, type_name, name, where)


def kinds_meant(index: Index, type_name: str, *others: str) -> tuple[GroupKind, ...]:
    """`kinds_named`, at least one. Raises `UsageError` if there is none; `others` are further words that would do."""
    kinds = kinds_named(index, type_name)
    if not kinds:
        known = {name for names in _all_kinds(index) for name in (names.singular, names.plural)}
        read = ", ".join(str(kind).lower() for kind in index.group_kinds)
        hint = did_you_mean(type_name.lower(), known.union(others)) or f"the input has: {read}"
        raise UsageError(f'there is no resource type "{type_name}" in the input', hint)
    return kinds


def kinds_named(index: Index, type_name: str) -> tuple[GroupKind, ...]:
    """The kinds that a type name can mean, those with objects in the snapshot first, then by group and kind."""
    found = {names.group_kind for names in _all_kinds(index) if is_called(names, type_name)}
    return tuple(sorted(found, key=lambda kind: (not index.of_kind(kind), kind)))


def is_called(names: KindNames, type_name: str) -> bool:
    """Whether a type name can mean a kind: a name of it, alone or with its group, or with a version and its group."""
    wanted, _, rest = type_name.lower().partition(".")
    return wanted in {names.singular, names.plural, *names.short_names} and _in_group(names.group_kind.group, rest)


def _in_group(group: str, rest: str) -> bool:
    """Whether `rest`, what follows the type's first dot, is the group, or a version and the group."""
    return not rest or rest == group or rest.partition(".")[2] == group


def _all_kinds(index: Index) -> Iterable[KindNames]:
    """Every kind with a name: built in, defined in the snapshot, or guessed from an object's kind."""
    yield from index.kinds.values()
    for kind in index.group_kinds:
        if kind not in index.kinds:
            yield index.names_of(kind)


def not_found(objects: Iterable[ObjectRef], type_name: str, name: str, namespace: str = "") -> NotFoundError:
    """The error that there is no object of a name, with a hint at those that there are."""
    where = f" in namespace {namespace}" if namespace else ""
    return NotFoundError(f'{type_name} "{name}" not found{where}', _hint(tuple(objects), name, type_name))


def _hint(objects: Collection[ObjectRef], name: str, type_name: str) -> str:
    elsewhere = sorted({ref.namespace for ref in objects if ref.name == name and ref.namespace})
    if elsewhere:
        return f"it exists in namespace {', '.join(elsewhere)}: add -n {elsewhere[0]}"
    if not objects:
        return f"the input has no {type_name} at all"
    return did_you_mean(name, {ref.name for ref in objects}) or "there are: " + ", ".join(
        sorted({ref.qualified_name for ref in objects})[:5]
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean gateway?`; empty if nothing that is known is near."""
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    near = difflib.get_close_matches(word, sorted(known), n=3, cutoff=0.6)
    return f"did you mean {', '.join(near)}?" if near else ""
