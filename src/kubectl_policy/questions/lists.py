"""The list that a type name asks for: policies, policy kinds, or objects of the hierarchy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.model.fields import strings_at
from kubectl_policy.model.kind_roles import ROUTES_WITH_HOSTNAMES
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, gaps_in_list
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot, unselectable
from kubectl_policy.questions.network_policy_rows import network_policy_row
from kubectl_policy.questions.object_rows import ObjectRow, listener_rows, object_row
from kubectl_policy.questions.policy_rows import KindRow, PolicyRow, kind_rows, policy_row
from kubectl_policy.questions.shared.selection import (
    POLICY_ROWS,
    LeftOutKind,
    Listing,
    Row_co,
    Selected,
    Selection,
    is_about_hierarchy,
    select,
    type_named,
)
from kubectl_policy.questions.workload_rows import pod_rows, workload_rows
from kubectl_policy.topology.attached_hostnames import attached_hostnames
from kubectl_policy.topology.gateway.hostnames import have_common_hostname

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.resolution.enforcement import EnforcementState


class NamedRow(Struct, frozen=True):
    """An object of which nothing but its name is asked."""

    ref: ObjectRef


AnyRow: TypeAlias = PolicyRow | KindRow | ObjectRow


class Lists(Struct, frozen=True):
    """The lists of several types that are asked for at once."""

    lists: tuple[Listing[AnyRow | NamedRow], ...]

    @property
    def unseen(self) -> tuple[BlindSpot, ...]:
        """The blind spots of all of them, each once."""
        return tuple(dict.fromkeys(blind_spot for listing in self.lists for blind_spot in listing.unseen))

    @property
    def unknown(self) -> bool:
        """Whether one of them is empty, and input that could not be read may hold its objects."""
        return any(listing.unknown for listing in self.lists)


class Only(Struct, frozen=True, kw_only=True):
    """Filters of a list: policies of `all_kinds`, policies in some states, objects with a hostname.

    No state is any, and so is no hostname. Of policies without names, only those of the hierarchy are left otherwise.
    """

    all_kinds: bool = False
    states: frozenset[EnforcementState] = frozenset()
    hostname: str = ""


_EVERY: Final = Only()


def list_type(analysis: Analysis, type_name: str, selection: Selection, only: Only = _EVERY) -> Listing[AnyRow]:
    """The list of a type's selected objects, as far as they are left.

    Raises `UsageError` for an unknown type, or one that has neither states nor hostnames where these are asked for, and
    `NotFoundError` if there is no object of a name that is asked for.
    """
    selected, left_out = _selected(analysis, type_name, selection, only)
    if selected.type.rows == "policy kinds":
        return _listing(analysis, selected, kind_rows(analysis, selection))
    rows: tuple[PolicyRow | ObjectRow, ...]
    if selected.type.rows in POLICY_ROWS:
        analysis.index.expect_questions(len(selected.resources))
        row_of = policy_row if selected.type.rows == "policies" else network_policy_row
        every = tuple(row_of(analysis, resource) for resource in selected.resources)
        rows = tuple(row for row in every if not only.states or row.enforcement.state in only.states)
        # One that is left out may be in such a state, once what it depends on is known.
        unseen = tuple(blind_spot for row in every for blind_spot in row.unseen)
        return _listing(analysis, selected, rows, unseen, left_out)
    if selected.type.rows == "listeners":
        listeners = (row for resource in selected.resources for row in listener_rows(analysis, resource))
        rows = tuple(row for row in listeners if _serves(row.listener.hostname, only.hostname))
    elif selected.type.rows == "workloads":
        rows = workload_rows(analysis, selected.resources)
    elif selected.type.rows == "pods":
        rows = pod_rows(analysis, selected.resources)
    else:
        rows = tuple(object_row(analysis, selected.type.rows, resource) for resource in selected.resources)
    return _listing(analysis, selected, rows, (blind_spot for row in rows for blind_spot in row.unseen), left_out)


def list_names(
    analysis: Analysis, type_name: str, selection: Selection, only: Only = _EVERY
) -> Listing[NamedRow | KindRow]:
    """`list_type` without what takes effect where, on which a list of thousands spends its time; so of any state."""
    selected, left_out = _selected(analysis, type_name, selection, only)
    if selected.type.rows == "policy kinds":
        return _listing(analysis, selected, kind_rows(analysis, selection))
    rows = tuple(NamedRow(resource.ref) for resource in selected.resources)
    return _listing(analysis, selected, rows, left_out=left_out)


def _selected(
    analysis: Analysis, type_name: str, selection: Selection, only: Only
) -> tuple[Selected, tuple[LeftOutKind, ...]]:
    """The objects to be listed and, of policies of no certain kind, how many are left out, by their kinds."""
    type_, registry = type_named(analysis, type_name), analysis.registry
    # Kinds are no objects of a namespace.
    kinds = Selected(type=type_, resources=(), namespace="", elsewhere=()) if type_.rows == "policy kinds" else None
    selected = kinds or select(analysis, type_name, selection)
    if only.states and type_.rows not in POLICY_ROWS:
        raise UsageError(f"a {type_.noun} has no enforcement", "get policies --enforcement lists policies by theirs")
    if only.hostname and type_.rows not in {"routes", "listeners"}:
        raise UsageError(f"a {type_.noun} has no hostnames", "get routes --hostname, or get listeners --hostname")
    if only.hostname and selected.type.rows == "routes":
        about = (it for it in selected.resources if _takes_requests_for(analysis, it, only.hostname))
        return replace(selected, resources=tuple(about)), ()
    if selected.type.rows == "listeners" and selected.elsewhere:
        elsewhere = (
            it.ref for kind in selected.type.kinds for it in analysis.index.of_kind(kind) if selection.fits(it)
        )
        sections = (ref.namespace for ref in elsewhere for _ in analysis.topology.sections(ref))
        return replace(selected, elsewhere=tuple(sections)), ()
    if selection.names or type_.noun != "policy":
        return selected, ()
    kept, undecided = (
        tuple(it for it in resources if only.all_kinds or is_about_hierarchy(registry.profile(it.ref.group_kind)))
        for resources in (selected.resources, selected.undecided)
    )
    left_out = Counter(it.ref.group_kind for it in selected.resources)
    left_out.subtract(it.ref.group_kind for it in kept)
    alike = (resource for kind in registry.look_alikes for resource in analysis.index.of_kind(kind))
    look_alikes = Counter(it.ref.group_kind for it in alike if selection.fits(it) and selection.reaches(it))
    return replace(selected, resources=kept, undecided=undecided), (
        *(LeftOutKind(kind, number, policies=True) for kind, number in sorted(left_out.items()) if number),
        *(LeftOutKind(kind, number, policies=False) for kind, number in sorted(look_alikes.items())),
    )


def _serves(name: str, hostname: str) -> bool:
    """Whether a hostname of a listener or route, of which an empty one is any, may match some host of a hostname.

    Without a hostname that is asked for, it does.
    """
    return not hostname or have_common_hostname("" if name == "*" else name, hostname) is not False


def _takes_requests_for(analysis: Analysis, route: Resource, hostname: str) -> bool:
    """Whether a route is meant by a hostname, as Gateway API matches hostnames.

    Where it is attached, that is by the hostnames for which requests reach it; else by those that it asks for.
    """
    if route.ref.group_kind not in ROUTES_WITH_HOSTNAMES:
        return False
    topology = analysis.topology
    attached = [binding.listener for binding in topology.bindings(route.ref) if binding.state == "attached"]
    listeners = [listener for node in attached if node and (listener := topology.gateways.listener(node))]
    if not listeners:
        return any(_serves(name, hostname) for name in strings_at(route.raw, "spec.hostnames"))
    return any(
        _serves(name, hostname)
        for listener in listeners
        if not topology.gateways.has_closer_listener(listener, hostname)
        for name in attached_hostnames(topology, listener.node, route.ref)
    )


def _listing(
    analysis: Analysis,
    selected: Selected,
    rows: tuple[Row_co, ...],
    unseen: Iterable[BlindSpot] = (),
    left_out: tuple[LeftOutKind, ...] = (),
) -> Listing[Row_co]:
    type_, policies = selected.type, selected.type.noun in {"policy", "policy kind"}
    hiding = gaps_in_list(analysis, {kind.kind for kind in type_.kinds}, selected.namespace, policies=policies)
    return Listing(
        type=type_,
        namespace=selected.namespace,
        rows=rows,
        elsewhere=selected.elsewhere,
        unseen=tuple(dict.fromkeys((*describe_gaps(analysis, hiding), *unselectable(selected.undecided), *unseen))),
        left_out=left_out,
        place=analysis.index.source,
    )
