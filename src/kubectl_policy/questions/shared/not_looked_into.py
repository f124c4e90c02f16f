"""Filters, parameters and backends of unknown kinds, to which routes, Gateways and classes refer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import NodeRef, ObjectRef, Origin
from kubectl_policy.model.kind_roles import PARAMETERS, PORT_HOLDERS, ROUTES
from kubectl_policy.topology.references import parameters_ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.topology import Path

ReferenceRole: TypeAlias = Literal["filter", "parameters", "backend"]


class NotLookedInto(Struct, frozen=True, kw_only=True):
    """An object of unknown kind that may change requests or settings."""

    as_: Annotated[ReferenceRole, Meta(description="The role of the object: filter, parameters or backend.")]
    object: Annotated[ObjectRef, Meta(description="The referenced object.")]
    origin: Annotated[Origin | None, Meta(description="The location of the object; null if it was not read.")] = None
    by: Annotated[NodeRef, Meta(description="The referrer: a rule of a route, a Gateway or a GatewayClass.")]
    field: Annotated[str, Meta(description="The field of the reference, in the object of `by`.")]
    backend: Annotated[
        ObjectRef | None,
        Meta(description="The backend whose backendRef has the filter; null for a filter of the rule."),
    ] = None


def not_looked_into(analysis: Analysis, subject: NodeRef, paths: Iterable[Path]) -> tuple[NotLookedInto, ...]:
    """References on an object's paths to objects of unknown kinds: by rules, then by Gateways and classes.

    What is known to be missing does nothing, and is said elsewhere, as are policies that no filter attaches.
    """
    nodes = dict.fromkeys([subject, *(node for path in paths for node in path)])
    objects = {node.object for node in nodes}
    references = [*_of_routes(analysis, nodes, objects), *_of_gateways(analysis, objects)]
    existing = (reference for reference in references if analysis.index.presence(reference.object) != "missing")
    resources = ((entry, analysis.index.get(entry.object)) for entry in existing)
    return tuple(replace(entry, origin=resource.origin if resource else None) for entry, resource in resources)


def unexamined_references(analysis: Analysis, obj: ObjectRef) -> dict[ReferenceRole, tuple[ObjectRef, ...]]:
    """Objects that refer to one of an unknown kind, by its role; empty for an object of a known kind."""
    relations = analysis.topology.relations
    by: dict[ReferenceRole, Iterable[ObjectRef]] = {}
    if _is_opaque_filter(analysis, obj):
        by["filter"] = (reference.route for reference in relations.filters_naming(obj))
    if _is_opaque_backend(analysis, obj):
        by["backend"] = relations.routes_referring_to(obj)
    if _are_opaque_parameters(analysis, obj):
        by["parameters"] = (reference.holder for reference in relations.holders_of(obj))
    names: dict[ReferenceRole, tuple[ObjectRef, ...]] = {sort: tuple(dict.fromkeys(refs)) for sort, refs in by.items()}
    return {sort: refs for sort, refs in names.items() if refs}


def _of_routes(analysis: Analysis, nodes: Iterable[NodeRef], objects: Iterable[ObjectRef]) -> Iterator[NotLookedInto]:
    """References of rules to filters and backends of unknown kinds."""
    rules = [node for node in nodes if node.section and node.object.group_kind in ROUTES]
    on_paths = {*objects}
    for rule in rules:
        position = analysis.topology.sections(rule.object).index(rule.section)
        for named in analysis.topology.relations.filters_of(rule.object):
            if (
                named.rule == position
                and named.backend in {None, *on_paths}
                and _is_opaque_filter(analysis, named.object)
            ):
                yield NotLookedInto(
                    object=named.object, as_="filter", by=rule, field=named.field, backend=named.backend
                )
        for backend in analysis.topology.backends(rule.object):
            at, ref = backend.node.object, backend.ref
            if ref.rule == position and at in on_paths and ref.forwards and _is_opaque_backend(analysis, at):
                yield NotLookedInto(object=at, as_="backend", by=rule, field=ref.field)


def _of_gateways(analysis: Analysis, objects: Iterable[ObjectRef]) -> Iterator[NotLookedInto]:
    for holder in sorted(obj for obj in objects if obj.group_kind in PARAMETERS):
        named = parameters_ref(analysis.index, holder)
        if named and _are_opaque_parameters(analysis, named.object):
            yield NotLookedInto(object=named.object, as_="parameters", by=NodeRef(holder), field=named.field)


def _is_opaque_filter(analysis: Analysis, obj: ObjectRef) -> bool:
    profile = analysis.registry.profile_of(obj.group_kind)
    return not (profile and (profile.known_by == "profile" or profile.filter_routes))


def _are_opaque_parameters(analysis: Analysis, obj: ObjectRef) -> bool:
    profile = analysis.registry.profile_of(obj.group_kind)
    return not (profile and profile.role == "parameters")


def _is_opaque_backend(analysis: Analysis, obj: ObjectRef) -> bool:
    """Whether nothing says of what sort a backend is: not a Service, nor a kind of which the ports are known."""
    kind = obj.group_kind
    return bool(kind.group) and kind not in {*PORT_HOLDERS, *ROUTES} and not analysis.topology.relations.has_ports(kind)
