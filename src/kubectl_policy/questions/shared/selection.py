"""Selection of objects by type, name, namespace, labels and fields, as kubectl reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from kubectl_policy.errors import NotFoundError, StillToBeRead, UsageError
from kubectl_policy.lazy import pattern
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kind_roles import (
    HIERARCHY,
    LISTENER_HOLDERS,
    NAMESPACE,
    POD,
    ROUTES,
    WORKLOADS,
    KindRole,
    role_of,
)
from kubectl_policy.model.kinds import listed
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE, shown_namespace
from kubectl_policy.model.selectors import FieldRequirement, selectable_fields, selects, selects_fields
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model.kinds import KindNames
    from kubectl_policy.profiles.fields import Role
    from kubectl_policy.profiles.profile import PolicyKindProfile

RowSort: TypeAlias = Literal[
    "policies",
    "network policies",
    "policy kinds",
    "gateway classes",
    "gateways",
    "listener sets",
    "listeners",
    "routes",
    "backends",
    "namespaces",
    "pods",
    "workloads",
]
# The sorts of rows that policies have.
POLICY_ROWS: Final[frozenset[RowSort]] = frozenset({"policies", "network policies"})
Row_co = TypeVar("Row_co", covariant=True)

_SHOWN: Final = 3
_VERSION: Final = pattern(r"v[0-9]+[a-z0-9]*")
# Namespaces that are asked one by one for what may not be listed in all at once.
_MAX_NAMESPACES: Final = 64
# The types that are more than one kind, or none, with their rows and the noun for one; a kind of one of these names is
# asked for with its group.
OWN_TYPES: Final[Mapping[str, tuple[RowSort, str]]] = {
    "policies": ("policies", "policy"),
    "policy": ("policies", "policy"),
    "filters": ("policies", "filter"),
    "filter": ("policies", "filter"),
    "parameters": ("policies", "parameters object"),
    "policykinds": ("policy kinds", "policy kind"),
    "policykind": ("policy kinds", "policy kind"),
    "listeners": ("listeners", "listener"),
    "listener": ("listeners", "listener"),
    "routes": ("routes", "route"),
    "route": ("routes", "route"),
    "workloads": ("workloads", "workload"),
    "workload": ("workloads", "workload"),
}
# The roles of what is listed as policies are, by its noun.
_ROLES: Final[Mapping[str, Role]] = {"policy": "policy", "filter": "filter", "parameters object": "parameters"}
_ROWS: Final[Mapping[KindRole, RowSort]] = {
    "class": "gateway classes",
    "gateway": "gateways",
    "listener set": "listener sets",
    "namespace": "namespaces",
    "route": "routes",
    "backend": "backends",
    "workload": "workloads",
}


class ListType(Struct, frozen=True, kw_only=True):
    """A type of list: the sort of its rows, the noun for one, its kinds, and whether they have namespaces."""

    rows: RowSort
    noun: str
    kinds: tuple[GroupKind, ...]
    namespaced: bool = True


class Selection(Struct, frozen=True):
    """The objects of a type that are meant: in a namespace, with one of the names, with labels and fields as selected.

    An empty namespace is every one, no name is any name. A name can have a namespace of its own, `shop/cart`. What is
    cluster-scoped is in every namespace.
    """

    namespace: str = ""
    names: tuple[str, ...] = ()
    selector: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    fields: tuple[FieldRequirement, ...] = ()
    lenient: bool = False

    def fits(self, resource: Resource) -> bool | None:
        """Whether an object has the name, labels and fields that are asked for, wherever it is; None if unknown."""
        if self.names and not {resource.ref.name, resource.ref.qualified_name}.intersection(self.names):
            return False
        verdicts = selects(self.selector, labels_of(resource.raw)), selects_fields(self.fields, resource)
        return False if False in verdicts else None if None in verdicts else True

    def reaches(self, resource: Resource) -> bool:
        """Whether an object is in the namespace that is asked about, in none, or named with its own."""
        if not self.namespace or resource.ref.namespace in {"", self.namespace}:
            return True
        return resource.ref.qualified_name in self.names


EVERYTHING: Final = Selection()


class Selected(Struct, frozen=True, kw_only=True):
    """The selected objects of a type, sorted by namespace and name."""

    type: ListType
    resources: tuple[Resource, ...]
    namespace: str
    """Where the objects were looked for; empty for every namespace."""
    elsewhere: tuple[str, ...]
    """The namespaces, one for each, of further objects that would have been selected there."""
    undecided: tuple[Resource, ...] = ()
    """Objects of which it is not known whether they have the labels and fields."""


_LEFT_OUT_POLICIES: Final = (
    "True if the objects are policies of objects outside the hierarchy; false if they only look like policies."
)


class LeftOutKind(Struct, frozen=True):
    """Objects of a kind that a list of policies leaves out."""

    kind: Annotated[GroupKind, Meta(description="The kind of the objects.")]
    number: Annotated[int, Meta(description="The number of objects of the kind that are left out.", ge=1)]
    policies: Annotated[bool, Meta(description=_LEFT_OUT_POLICIES)]


class Listing(Answer, Generic[Row_co], frozen=True, kw_only=True):
    """A list: a row for each selected object."""

    type: ListType
    namespace: Annotated[
        str, Meta(description="The namespace of the objects; empty for all namespaces and for cluster-scoped objects.")
    ]
    rows: tuple[Row_co, ...]
    elsewhere: tuple[str, ...]
    left_out: Annotated[
        tuple[LeftOutKind, ...],
        Meta(description="The objects that a list of policies leaves out; empty for any other list."),
    ] = ()
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]

    @property
    def items(self) -> Annotated[tuple[Row_co, ...], Meta()]:
        """A row for each object."""
        return self.rows

    @property
    def found_nothing(self) -> bool:
        """Whether no object is listed."""
        return not self.rows


def is_about_hierarchy(profile: PolicyKindProfile) -> bool:
    """Whether a kind may be about Gateways, routes or what these lead to; network policies and the like are not."""
    return profile.attaches_by_references or any(kind in HIERARCHY for kind in profile.declared_targets)


def type_named(analysis: Analysis, type_name: str) -> ListType:
    """The type that a word means: `policies`, `routes` and the like, or any kind by its names. Raises `UsageError`.

    Of several kinds with one name those of the hierarchy are meant, else those that are policies, else all.
    """
    index = analysis.index
    if type_name.lower() in OWN_TYPES:
        rows, noun = OWN_TYPES[type_name.lower()]
        of_role = (known.group_kind for known in analysis.registry.policy_kinds if known.role == _ROLES.get(noun))
        of_several = {"listeners": LISTENER_HOLDERS, "routes": tuple(ROUTES), "workloads": WORKLOADS}
        kinds = of_several.get(rows) or tuple(of_role)
        return ListType(rows=rows, noun=noun, kinds=kinds, namespaced=rows != "policy kinds")
    meant = kinds_meant(analysis, type_name, *OWN_TYPES)
    present = [kind for kind in meant if index.of_kind(kind)] or meant
    placed = [kind for kind in present if kind in HIERARCHY]
    policies = [kind for kind in present if analysis.registry.profile_of(kind)]
    kinds = tuple(placed or policies or present)
    return ListType(
        rows=_rows_of(kinds, is_policy=kinds[0] in policies),
        noun=kinds[0].kind,
        kinds=kinds,
        namespaced=any(map(index.namespaced, kinds)),
    )


def _rows_of(kinds: Iterable[GroupKind], *, is_policy: bool) -> RowSort:
    """The rows of kinds with one name."""
    if is_policy:
        return "network policies" if set(kinds) <= {*EVALUATED_KINDS} else "policies"
    kind = next(iter(kinds))
    return "pods" if kind == POD else _ROWS[role_of(kind)]


def select(analysis: Analysis, type_name: str, selection: Selection) -> Selected:
    """The objects of a type that are selected.

    Raises `NotFoundError` if there is none of a name that is asked for, and `UsageError` for a field by which an API
    server does not select objects of the type.
    """
    type_ = type_named(analysis, type_name)
    require_selectable(analysis, type_.kinds, selection)
    if type_.namespaced and not selection.namespace:
        _ask_each_namespace(analysis, type_)
    every = [resource for kind in type_.kinds for resource in analysis.index.of_kind(kind)]
    if type_.noun == "workload":
        every = [resource for resource in every if not analysis.workloads.owners.is_made(resource)]
    fitting = [resource for resource in every if selection.fits(resource)]
    namespace = selection.namespace if type_.namespaced else ""
    chosen = [resource for resource in fitting if not type_.namespaced or selection.reaches(resource)]
    names = ((resource.ref.qualified_name, resource.ref.name) for resource in chosen)
    present = {name for pair in names for name in pair}
    for name in selection.names:
        if name not in present:
            own_namespace, _, bare = name.rpartition("/")
            _require_unhidden(analysis, [ObjectRef(kind, own_namespace or namespace, bare) for kind in type_.kinds])
            if selection.lenient:
                continue
            raise not_found([resource.ref for resource in every], type_name, name, namespace, analysis.index.source)
    elsewhere = (
        () if chosen else tuple(sorted(resource.ref.namespace for resource in fitting if resource.ref.namespace))
    )
    is_picked = selection.selector or selection.fields
    may_fit = (resource for resource in every if is_picked and selection.fits(resource) is None)
    undecided = tuple(resource for resource in may_fit if not type_.namespaced or selection.reaches(resource))
    return Selected(
        type=type_,
        resources=tuple(sorted(chosen, key=lambda resource: (resource.ref.namespace, resource.ref.name, resource.ref))),
        namespace=namespace,
        elsewhere=elsewhere,
        undecided=undecided,
    )


def require_selectable(analysis: Analysis, kinds: Iterable[GroupKind], selection: Selection) -> None:
    """Raise `UsageError` for a field by which an API server does not select objects of some kinds."""
    for kind in kinds if selection.fields else ():
        names = analysis.registry.kind_names(kind)
        selectable = selectable_fields(names, analysis.index.definitions.get(kind))
        if unknown := next((it.field for it in selection.fields if it.field not in selectable), None):
            hint = f"{names.plural} can be selected by {listed(selectable)}"
            raise UsageError(f"field label not supported: {unknown}", hint)


def _ask_each_namespace(analysis: Analysis, type_: ListType) -> None:
    """Ask a cluster for the objects of a type in each Namespace, for kinds that may not be listed in all at once."""
    refused_lists = (gap for gap in analysis.snapshot.gaps if gap.needs and not (gap.name or gap.namespace))
    for kind in dict.fromkeys(GroupKind(gap.group or "", gap.kind) for gap in refused_lists):
        if type_.noun == "policy" or kind in type_.kinds:
            for namespace in analysis.index.world.refs_of(NAMESPACE)[:_MAX_NAMESPACES]:
                analysis.index.world.refs_of(kind, namespace.name)


def find(analysis: Analysis, type_name: str, name: str, namespace: str) -> ObjectRef:
    """The object of a type (`httproute`, `httproutes`, a short name, `type.group`, `type.version.group`) and name.

    A name can have a namespace of its own, `shop/cart`, which then counts. Without one, the error says what there is.
    Of two kinds with one name the one that has such an object is meant. A Namespace is there if anything is that lives
    in it. Where there is none of that name, one may be meant of which nothing says the namespace, or one that is not in
    the input, and that something there names. Raises `UsageError` for an unknown or ambiguous type and `NotFoundError`,
    with the nearest names as a hint, where there is no such object.
    """
    if not name:
        raise _without_name(analysis, type_name)
    index, kinds = analysis.index, kinds_meant(analysis, type_name)
    own_namespace, _, name = name.rpartition("/")
    if own_namespace and not any(map(index.namespaced, kinds)):
        raise UsageError(f"a {kinds[0].kind} is in no namespace", f"write {type_name}/{name}")
    namespace = own_namespace or namespace
    refs = [ObjectRef(kind, namespace if index.namespaced(kind) else "", name) for kind in kinds]
    present = [ref for ref in refs if index.presence(ref) == "present"]
    if len(present) > 1:
        options = ", ".join(f"{ref.group_kind.kind.lower()}.{ref.group_kind.group}/{name}" for ref in present)
        raise UsageError(f'"{type_name}" names several kinds', f"say which one: {options}")
    if present:
        return present[0]
    # It may be one of that name whose namespace nothing says.
    possible = [candidate for ref in refs for candidate in index.candidates.of(ref) if candidate.name == name]
    if len(possible) > 1:
        options = " or ".join(f"-n '{ref.namespace}'" for ref in possible[:_SHOWN])
        hint = f"say which one: {options}"
        if any(ref.namespace.startswith(UNKNOWN_NAMESPACE) for ref in possible):
            origins = [str(resource.origin) for ref in possible[:_SHOWN] if (resource := index.get(ref))]
            hint = f"set metadata.namespace, or ask with --render: {' and '.join(origins)}"
        raise UsageError(f'the namespace of several objects "{name}" is not known', hint)
    if possible:
        return possible[0]
    if index.world.is_waiting:
        raise StillToBeRead(f"{type_name} {name}")
    anywhere = (*refs, *(ObjectRef(kind, "", name) for kind in kinds))
    named = (ref for ref in anywhere if index.presence(ref) == "unknown" and analysis.is_named(ref))
    if unread := next(named, None):
        return unread
    _require_unhidden(analysis, refs)
    where = namespace if any(ref.namespace for ref in refs) else ""
    existing = [ref for kind in kinds for ref in index.world.refs_of(kind)]
    # Others may be there and not be given out.
    is_known = not any(any(index.absence.hiding(replace(ref, name=""))) for ref in refs)
    raise not_found(existing, type_name, name, where, index.source if is_known else "")


def _require_unhidden(analysis: Analysis, refs: Iterable[ObjectRef]) -> None:
    """Nothing, or `NotFoundError` where a cluster did not give out one of some objects, if that is there."""
    for ref in refs:
        if any(analysis.index.absence.hiding(ref)):
            raise analysis.not_read(ref)


def _without_name(analysis: Analysis, type_name: str) -> UsageError:
    """The error that an object is asked for by one word alone: a type, or the name of something."""
    kinds = kinds_named(analysis, type_name)
    existing = [
        resource.ref for kind in kinds or analysis.index.group_kinds for resource in analysis.index.of_kind(kind)
    ]
    if kinds:
        some = ", ".join(f"{type_name}/{ref.qualified_name}" for ref in sorted(existing)[:_SHOWN])
        return UsageError(f"the name of the {type_name} is missing", f"for example: {some or f'{type_name}/NAME'}")
    called = sorted(
        (ref for ref in existing if ref.name == type_name), key=lambda ref: (ref.group_kind not in HIERARCHY, ref)
    )
    named = [f"{ref.kind.lower()}/{ref.qualified_name}" for ref in called[:_SHOWN]]
    hint = f"did you mean {' or '.join(named)}?" if named else "write TYPE/NAME, such as gateway/edge"
    return UsageError(f'there is no resource type "{type_name}" in {analysis.index.source}', hint)


def kinds_meant(analysis: Analysis, type_name: str, *alternatives: str) -> tuple[GroupKind, ...]:
    """`kinds_named`, at least one. Raises `UsageError` if there is none; `alternatives` are names that would do."""
    kinds, source = kinds_named(analysis, type_name), analysis.index.source
    served = tuple(filter(analysis.index.world.serves, kinds))
    if not served:
        served_names = (names for names in _all_kinds(analysis) if analysis.index.world.serves(names.group_kind))
        known = {name for names in served_names for name in (names.singular, names.plural)}
        read = ", ".join(str(kind).lower() for kind in analysis.index.group_kinds)
        hint = did_you_mean(type_name.lower(), known.union(alternatives)) or f"{source} has: {read}"
        raise UsageError(f'there is no resource type "{type_name}" in {source}', hint)
    return served


def kinds_named(analysis: Analysis, type_name: str) -> tuple[GroupKind, ...]:
    """The kinds that a type name can mean, those with objects in the snapshot first, then by group and kind."""
    kinds = {names.group_kind for names in _all_kinds(analysis) if is_called(names, type_name)}
    if not kinds:
        in_settings = map(analysis.registry.kind_names, analysis.kinds_in_settings)
        kinds = {names.group_kind for names in in_settings if is_called(names, type_name)}
    if len(kinds) < 2:  # noqa: PLR2004 (nothing to compare)
        return tuple(kinds)
    refs_of = analysis.index.world.refs_of
    return tuple(sorted(kinds, key=lambda kind: (not refs_of(kind), kind)))


def is_called(names: KindNames, type_name: str) -> bool:
    """Whether a type name can mean a kind: a name of it, alone or with its group, or with a version and its group."""
    name, _, rest = type_name.lower().partition(".")
    version, _, group = rest.partition(".")
    in_group = not rest or names.group_kind.group == (group if _VERSION.fullmatch(version) else rest)
    return name in {names.singular, names.plural, *names.short_names} and in_group


def _all_kinds(analysis: Analysis) -> Iterable[KindNames]:
    """Every kind with a name: built in, defined in the snapshot, or guessed from an object's kind."""
    return map(analysis.registry.kind_names, dict.fromkeys((*analysis.index.kinds, *analysis.index.group_kinds)))


def not_found(
    objects: Collection[ObjectRef], type_name: str, name: str, namespace: str = "", source: str = "the input"
) -> NotFoundError:
    """The error that there is no object of a name, with a hint at those that there are, or that a place has none."""
    own_namespace, _, name = name.rpartition("/")
    namespace = own_namespace or namespace
    elsewhere = sorted({shown_namespace(ref.namespace) for ref in objects if ref.name == name and ref.namespace})
    if elsewhere:
        hint = f"it exists in namespace {', '.join(elsewhere)}: use {type_name}/{elsewhere[0]}/{name}"
    elif objects:
        some = ", ".join(sorted({ref.qualified_name for ref in objects})[:5])
        hint = did_you_mean(name, {ref.name for ref in objects}) or f"there are: {some}"
    else:
        hint = f"{source} has no {type_name} at all" if source else ""
    where = f" in namespace {namespace}" if namespace else ""
    return NotFoundError(f'{type_name} "{name}" not found{where}', hint)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean gateway?`; empty if nothing that is known is near."""
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f"did you mean {', '.join(near)}?" if near else ""
