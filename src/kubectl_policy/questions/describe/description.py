"""The part that descriptions of objects and of policies share, and the policies and requests around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypeVar

from msgspec import Meta, Struct

from kubectl_policy.errors import UsageError
from kubectl_policy.model import NodeRef
from kubectl_policy.model.kind_roles import LISTENER_HOLDERS, ROUTES
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.shared.path_phrases import NumberedPath, numbered
from kubectl_policy.questions.shared.reported import (
    REPORTED,
    ReportedCondition,
    contrary_report,
    reported_conditions,
    reported_events,
)
from kubectl_policy.questions.shared.selection import kinds_meant
from kubectl_policy.questions.shared.trials import Trials
from kubectl_policy.topology import Path, attached_hostnames
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, GroupKind, ObjectRef, Origin
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedEvent
    from kubectl_policy.resolution.outcome import DeclaredField

_Declared = TypeVar("_Declared", bound="DeclaredField")


class Focus(Struct, frozen=True, kw_only=True):
    """The filters of an answer."""

    kinds: Annotated[tuple[GroupKind, ...], Meta(description="The policy kinds of --kind; empty for all kinds.")] = ()
    fields: Annotated[tuple[str, ...], Meta(description="The field prefixes of --field; empty for all fields.")] = ()

    def has_kind(self, kind: GroupKind) -> bool:
        """Whether policies of a kind are asked for."""
        return not self.kinds or kind in self.kinds

    def has_field(self, field: str) -> bool:
        """Whether a field is asked for: `timeout` has `timeout.http`, and `rules` has `rules[0].limit`."""
        return not self.fields or any(
            field == name or field.startswith((f"{name}.", f"{name}[")) for name in self.fields
        )

    def of(self, fields: Iterable[_Declared]) -> tuple[_Declared, ...]:
        """Those of some fields that are asked for."""
        return tuple(declared for declared in fields if self.has_field(declared.field))


class Reports(Struct, frozen=True, kw_only=True):
    """Conditions and Events that controllers reported on an object."""

    reported: Annotated[tuple[ReportedCondition, ...], Meta(description=REPORTED)]
    events: Annotated[tuple[ReportedEvent, ...], Meta(description="The Events about the object, newest last.")]


def reports_on(analysis: Analysis, obj: ObjectRef) -> Reports:
    """Collect the conditions and Events that controllers reported on an object."""
    resource = analysis.index.get(obj)
    reported = reported_conditions(resource.raw) if resource else ()
    return Reports(reported=reported, events=reported_events(analysis.index, obj))


_PROBLEMS: Final = "Problems of the configuration that concern this answer."


class Description(Answer, frozen=True, kw_only=True):
    """An answer about an object, or about a policy."""

    focus: Annotated[Focus, Meta(description="The filters of the answer: --kind and --field.")] = Focus()
    origin: Annotated[Origin | None, Meta(description="The location of the object; null if it was not read.")]
    paths: tuple[Path, ...]
    """The paths that the answer is about; the rest refers to them by position."""
    reports: Annotated[Reports, "inline"]
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]
    problems: Annotated[tuple[Diagnostic, ...], Meta(description=_PROBLEMS)]

    @property
    def paths_(self) -> Annotated[tuple[NumberedPath, ...], Meta()]:
        """The paths that the answer is about."""
        return numbered(self.paths)


class AnyDescription(Protocol):
    """An answer about an object, of any kind: its problems, its blind spots, and whether the answer is unknown."""

    @property
    def problems(self) -> tuple[Diagnostic, ...]: ...  # noqa: D102 - the docstring of the class says it

    @property
    def unseen(self) -> tuple[BlindSpot, ...]: ...  # noqa: D102 - the docstring of the class says it

    @property
    def unknown(self) -> bool: ...  # noqa: D102 - the docstring of the class says it


class Descriptions(Struct, frozen=True):
    """The answers, in the order in which they were asked for."""

    items: tuple[AnyDescription, ...]

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The problems of all of them, each once."""
        return tuple(dict.fromkeys(problem for item in self.items for problem in item.problems))

    @property
    def unseen(self) -> tuple[BlindSpot, ...]:
        """The blind spots of all of them, each once."""
        return tuple(dict.fromkeys(blind_spot for item in self.items for blind_spot in item.unseen))


def focus_on(analysis: Analysis, kinds: Iterable[str], fields: Iterable[str]) -> Focus:
    """Parse names of kinds and of fields; each may hold several, with commas. Raises `UsageError`."""
    meant: list[GroupKind] = []
    for name in _split_names(kinds):
        named = kinds_meant(analysis, name)
        policies = [kind for kind in named if analysis.registry.profile_of(kind)]
        if not policies:
            raise UsageError(f"{named[0].kind} is not a policy kind", "get policykinds lists them")
        meant += policies
    return Focus(
        kinds=tuple(dict.fromkeys(meant)),
        fields=tuple(field.removeprefix("spec.").rstrip(".") for field in _split_names(fields)),
    )


def _split_names(options: Iterable[str]) -> Iterator[str]:
    return (name.strip() for names in options for name in names.split(",") if name.strip())


_ANY: Final = "*"
_CARRIES_TRAFFIC: Final = (
    "False for a route that is not attached to any parent, so that settings have no requests to act on."
)
_HOSTNAMES: Final = "The hostnames of incoming requests, * for any; empty for kinds without hostnames."
_UNDECIDED_ROUTES: Final = "The routes of which it is unknown whether they are attached to the object or its listeners."
_UNATTACHED: Final = "For a route without any parent: the reason why each parentRef fails."


class Unattached(Struct, frozen=True, kw_only=True):
    """The reason why a parentRef of a route fails."""

    parent: Annotated[ObjectRef, Meta(description="The parent that the parentRef names.")]
    field: Annotated[str, Meta(description="The parentRef that fails, or the field in it that is responsible.")]
    message: Annotated[str, Meta(description="The reason why the parentRef fails, for people.")]
    reason: Annotated[str, Meta(description="The reason as the API spells it; empty if the API defines none.")]
    hint: Annotated[str, Meta(description="A similar name that may have been meant; empty if no name is similar.")]
    origin: Annotated[Origin | None, Meta(description="The location of the field; null if unknown.")]


class IncomingRequests(Struct, frozen=True, kw_only=True):
    """Hostnames and routes by which requests come to an object."""

    hostnames: Annotated[tuple[str, ...], Meta(description=_HOSTNAMES)]
    routes: Annotated[
        int,
        Meta(description="The number of routes attached to the object or its listeners, if it is no Service.", ge=0),
    ]
    undecided_routes: Annotated[tuple[ObjectRef, ...], Meta(description=_UNDECIDED_ROUTES)] = ()
    carries_traffic: Annotated[bool, Meta(description=_CARRIES_TRAFFIC)]
    unattached: Annotated[tuple[Unattached, ...], Meta(description=_UNATTACHED)]


_CONTRARY: Final = (
    "The condition in which a controller reports that the policy does not work here; null if there is none."
)


class PolicyInAnswer(Struct, frozen=True, kw_only=True):
    """A policy in an answer."""

    policy: Annotated[ObjectRef, Meta(description="The policy.")]
    origin: Annotated[Origin | None, Meta(description="The location of the policy; null if unknown.")]
    contrary: Annotated[ReportedCondition | None, Meta(description=_CONTRARY)]
    otherwise: Annotated[
        str, Meta(description="The reason why the policy may differ from what was read; empty if there is none.")
    ] = ""


def requests_to(analysis: Analysis, subject: NodeRef, paths: Sequence[Path]) -> IncomingRequests:
    """Return how requests come to an object on its paths."""
    topology, obj = analysis.topology, subject.object
    nodes = dict.fromkeys(node for path in paths for node in path)
    listeners = [node for node in nodes if node.section and node.object.group_kind in LISTENER_HOLDERS]
    names = set[str]()
    if obj.group_kind in ROUTES:
        names.update(name for listener in listeners for name in attached_hostnames(topology, listener, obj))
    elif obj.group_kind in LISTENER_HOLDERS:
        known = (topology.gateways.listener(listener) for listener in listeners)
        names.update(listener.hostname or _ANY for listener in known if listener)
    is_parent = analysis.registry.is_route_parent(obj.group_kind)
    direct = [NodeRef(obj)] if is_parent else [listener for listener in listeners if listener.object == obj]
    carries_traffic = any(topology.carries_traffic(path) for path in paths)
    is_route_of_nothing = obj.group_kind in ROUTES and not carries_traffic
    attached = {route for listener in direct for route in topology.relations.attached_to(listener)}
    possible = topology.possible_routes.at(obj) if direct else ()
    undecided = {it.route for it in possible if not it.parent.section or it.parent in direct} - attached
    return IncomingRequests(
        hostnames=(_ANY,) if _ANY in names else tuple(sorted(names)),
        routes=len(attached),
        undecided_routes=tuple(sorted(undecided)),
        carries_traffic=carries_traffic,
        unattached=tuple(dict.fromkeys(_unattached(analysis, obj))) if is_route_of_nothing else (),
    )


def _unattached(analysis: Analysis, route: ObjectRef) -> Iterator[Unattached]:
    """Explain for each parentRef of a route why it leads nowhere."""
    resource, trials = analysis.index.get(route), Trials(analysis)
    parents = {parent.position: parent for parent in parent_refs(analysis.index, route)}
    for binding in analysis.topology.bindings(route):
        parent, parent_field = parents[binding.parent_index], f"spec.parentRefs[{binding.parent_index}]"
        sections = analysis.topology.sections(parent.object)
        if analysis.index.presence(parent.object) != "present":
            name, field = trials.parent(route, parent), f"{parent_field}.name"
        elif parent.section and parent.section not in sections:
            name, field = trials.listener(route, parent), f"{parent_field}.sectionName"
        else:
            name, field = "", parent_field
        yield Unattached(
            parent=parent.object,
            message=binding.message,
            reason=binding.reason,
            hint=f"did you mean {name}?" if name else "",
            field=field,
            origin=resource.origin if resource else None,
        )


def policies_in(analysis: Analysis, policies: Iterable[ObjectRef], paths: Sequence[Path]) -> Iterator[PolicyInAnswer]:
    """Each of some policies, with where it was read and what a controller reports of it for what is on some paths."""
    around = {node.object for path in paths for node in path}
    for resource in filter(None, map(analysis.index.get, policies)):
        gap = next(analysis.index.absence.gaps_of(resource.ref), None)
        yield PolicyInAnswer(
            policy=resource.ref,
            origin=resource.origin,
            contrary=contrary_report(resource, around),
            otherwise=gap.reason if gap else "",
        )
