"""Comparison of reports on Gateways, ListenerSets and routes with predicted conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import integer_at, mapping_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, LISTENER_SETS, ROUTES
from kubectl_policy.model.unknown import Port, port_at
from kubectl_policy.questions.blind_spots.answers import blind_spots_for
from kubectl_policy.questions.predicted_conditions import PolicyCondition, target_conditions
from kubectl_policy.questions.route_programming import RoutePrograms
from kubectl_policy.questions.shared.reported import has_report, parse_policy_names, status_entries
from kubectl_policy.questions.status.comparison import (
    ATTACHED_LISTENER_SETS,
    ATTACHED_ROUTES,
    Claim,
    Comparison,
    ObjectStatus,
    OtherController,
    compare_conditions,
    compare_count,
    statuses_of,
)
from kubectl_policy.topology import (
    attached_listener_sets,
    attached_routes,
    delegated_conditions,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    parent_routes,
    route_conditions,
)
from kubectl_policy.topology.references import parent_refs, refer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.reported import ReportedCondition, StatusEntry
    from kubectl_policy.questions.status.comparison import Explainer, Predicted

COMPARED: Final = (GATEWAY, *LISTENER_SETS, *ROUTES)

# Not every controller writes these while they say that all is well. ListenerConditionConflicted is of negative
# polarity; ResolvedRefs of a whole Gateway (GatewayConditionResolvedRefs) is younger than most controllers.
_OPTIONAL: Final = frozenset({("Conflicted", "False")})
_OPTIONAL_ON_GATEWAYS: Final = frozenset({("ResolvedRefs", "True")})


# Where the spec has no such parent or listener, none of these conditions should be there.
_STATUSES: Final = frozenset({"True", "False", "Unknown"})
_OF_PARENT: Final = {"Accepted": _STATUSES, "ResolvedRefs": _STATUSES}
_OF_LISTENER: Final = {**_OF_PARENT, "Conflicted": _STATUSES}


class ObjectComparisons:
    """Compares the reports on the objects of one analysis that policies target; shared look-ups are made once."""

    def __init__(self, analysis: Analysis, explainer: Explainer) -> None:
        """Remember where to look."""
        self._analysis, self._explainer = analysis, explainer
        self._markers, self._programs = PolicyMarkers(analysis), RoutePrograms(analysis)

    def of(self, resource: Resource) -> ObjectStatus:
        """The report on an object of one of the `COMPARED` kinds, and what is computed."""
        annotations = tuple(self._markers.annotations(resource))
        reported = has_report(resource.raw) or any(comparison.reported for comparison in annotations)
        compared: Iterable[Comparison] = ()
        other_controllers: tuple[OtherController, ...] = ()
        if reported:
            compared, other_controllers = self._compared(resource.ref, status_entries(resource.raw))
            compared = (*compared, *annotations)
        return ObjectStatus(
            resource=resource,
            generation=integer_at(resource.raw, "metadata.generation"),
            policy=False,
            has_status=reported,
            conditions=tuple(self._judged(resource.ref, comparison) for comparison in compared),
            other_controllers=other_controllers,
        )

    def unreported(self, resource: Resource) -> tuple[Comparison, ...]:
        """Expected reports on an object of one of the `COMPARED` kinds that has none."""
        compared, _ = self._compared(resource.ref, status_entries({}))
        return tuple(self._judged(resource.ref, comparison) for comparison in compared)

    def _compared(
        self, ref: ObjectRef, entries: Sequence[StatusEntry]
    ) -> tuple[Iterable[Comparison], tuple[OtherController, ...]]:
        direct, *rest = entries
        if ref.group_kind in ROUTES:
            return self._route(ref, direct, [entry for entry in rest if entry.sort == "parent"])
        listeners = {text_at(entry.entry, "name"): entry for entry in rest if entry.sort == "listener"}
        return self._with_listeners(ref, direct, listeners), ()

    def _with_listeners(
        self, ref: ObjectRef, direct: StatusEntry, listeners: Mapping[str, StatusEntry]
    ) -> Iterator[Comparison]:
        """A Gateway or a ListenerSet: its own conditions, then those of each of its listeners."""
        topology, known = self._analysis.topology, self._markers.known_statuses
        gateways, is_open = topology.gateways, not self._analysis.snapshot.complete
        is_gateway = ref.group_kind == GATEWAY
        expected = gateway_conditions(gateways, ref) if is_gateway else listener_set_conditions(gateways, ref)
        computed: tuple[Predicted, ...] = (*expected, *self._markers.conditions(NodeRef(ref), direct.conditions))
        yield from compare_conditions(None, computed, direct.conditions, known, optional=_OPTIONAL_ON_GATEWAYS)
        if is_gateway:
            sets = attached_listener_sets(gateways, ref)
            yield from compare_count(None, ATTACHED_LISTENER_SETS, sets, direct, is_open=is_open)
        # A listener of a ListenerSet that no Gateway takes need not be reported on.
        serves = is_gateway or expected[0].status == "True"
        for name in dict.fromkeys((*(topology.sections(ref) if serves else ()), *listeners)):
            node, entry = NodeRef(ref, name), listeners.get(name)
            of_listener = listener_conditions(gateways, node)
            reported = entry.conditions if entry else ()
            computed = (*of_listener, *self._markers.conditions(node, reported))
            known_there = known if of_listener else {**known, **_OF_LISTENER}
            yield from compare_conditions(node, computed, reported, known_there, optional=_OPTIONAL)
            if entry and of_listener:
                routes = attached_routes(topology, node)
                yield from compare_count(node, ATTACHED_ROUTES, routes, entry, is_open=is_open)

    def _route(
        self, ref: ObjectRef, direct: StatusEntry, entries: Sequence[StatusEntry]
    ) -> tuple[list[Comparison], tuple[OtherController, ...]]:
        """A route: the conditions at each of its parents, and those that may stand at any of them."""
        index, topology, known = self._analysis.index, self._analysis.topology, self._markers.known_statuses
        parents = {
            (NodeRef(parent.object, parent.section), parent.port): parent.position
            for parent in reversed(tuple(parent_refs(index, ref)))
        }
        expected: dict[tuple[NodeRef, Port | None], tuple[Predicted, ...]] = {
            key: route_conditions(topology, ref, position) for key, position in parents.items()
        }
        order = [key for key, _ in sorted(parents.items(), key=lambda item: item[1])]
        # A route that delegates is a parent whether or not it is named.
        for delegating in parent_routes(topology, ref):
            order.append((NodeRef(delegating), None))
            expected[order[-1]] = delegated_conditions(topology, ref, delegating)
        # Earlier versions of a controller may not report on rules at all.
        optional: set[tuple[str, str]] = set()
        for (parent_node, port), conditions in expected.items():
            programmed = tuple(self._programs.conditions(ref, parent_node.object)) if conditions else ()
            expected[parent_node, port] = (*conditions, *programmed)
            optional.update((reported.type, reported.status) for reported in programmed if reported.status == "True")
        compared: list[Comparison] = []
        other_controllers: dict[OtherController, None] = {}
        reported_on: set[tuple[NodeRef, Port | None]] = set()
        for entry in entries:
            parent = refer(index, entry.reference, ref.namespace, GATEWAY)
            node = NodeRef(parent, text_at(entry.reference, "sectionName"))
            owner = self._explainer.owner(node)
            if owner and entry.controller != owner:
                other_controllers[OtherController(node, entry.controller)] = None
                continue
            key = node, port_at(entry.reference, "port")
            reported_on.add(key)
            if parent.group_kind == HTTP_ROUTE and key not in expected:
                expected[key] = delegated_conditions(topology, ref, parent)
            computed = expected.get(key, ())
            rest = [reported for reported in entry.conditions if reported.type not in known]
            at_parent = compare_conditions(node, computed, rest, {} if computed else _OF_PARENT, optional=optional)
            compared += [parent.by(entry.controller) for parent in at_parent]
        for key in dict.fromkeys(order):
            if key not in reported_on and self._explainer.owner(key[0]) != "":
                compared += compare_conditions(key[0], expected[key], (), {}, optional=optional)
        marking = [reported for entry in (direct, *entries) for reported in entry.conditions if reported.type in known]
        compared += compare_conditions(None, self._markers.conditions(NodeRef(ref), marking), marking, known)
        return compared, tuple(other_controllers)

    def _judged(self, ref: ObjectRef, comparison: Comparison) -> Comparison:
        """A disagreement with its explanation, or undecided if it depends on something that was not read."""
        if not comparison.disagrees:
            return comparison
        profile = self._markers.profiles.get(comparison.type)
        if profile is None:
            return replace(comparison, explanation=self._explainer.of_object(comparison, ref))
        subject = comparison.at or NodeRef(ref)
        unseen = blind_spots_for(self._analysis, subject, self._analysis.topology.paths(subject))
        unseen = self._explainer.relevant(unseen)
        if unseen:
            return replace(comparison, verdict="Undecided", unseen=unseen)
        explanation = self._explainer.of_policy(comparison, profile)
        return replace(comparison, explanation=explanation, policy_kind=profile.group_kind)


class PolicyMarkers:
    """Conditions and annotations with which controllers mark objects that policies affect or target."""

    def __init__(self, analysis: Analysis) -> None:
        """Look up once the types of conditions and the names of annotations that the kinds of the analysis have."""
        self._analysis = analysis
        kinds = analysis.registry.policy_kinds
        types = [(statuses_of(profile.status, affected=True), profile) for profile in kinds]
        self._annotations = {
            profile.status.target_annotation: profile for profile in kinds if profile.status.target_annotation
        }
        self.profiles: Mapping[str, PolicyKindProfile] = {
            **self._annotations,
            **{type_: profile for affected, profile in types for type_ in affected},
        }
        self.known_statuses: Mapping[str, frozenset[str]] = {
            type_: statuses for affected, _ in types for type_, statuses in affected.items()
        }

    def conditions(self, node: NodeRef, reported: Iterable[ReportedCondition]) -> Iterator[PolicyCondition]:
        """The conditions that a node should have, where some are reported.

        Where no policy that they are about has a report, no controller is there to mark anything: none is expected.
        """
        types = {condition.type for condition in reported}
        for condition in target_conditions(self._analysis, node) if self.known_statuses else ():
            if condition.type in types or self._is_reported(node.object for node in condition.related):
                yield condition

    def annotations(self, resource: Resource) -> Iterator[Comparison]:
        """The annotations of an object that should name the policies attached to it or to a section of it."""
        annotations = mapping_at(resource.raw, "metadata.annotations")
        for name, profile in self._annotations.items():
            attachments = self._analysis.attachments_to(resource.ref)
            of_kind = (attachment for attachment in attachments if attachment.policy.group_kind == profile.group_kind)
            policies = sorted({attachment.policy for attachment in of_kind if attachment.state == "attached"})
            names = [policy.qualified_name for policy in policies]
            if name in annotations:
                yield _annotation(name, names, annotations[name], resource.ref.namespace)
            elif self._is_reported(policies):
                computed = Claim(", ".join(names))
                yield Comparison(at=None, type=name, computed=computed, reported=None, verdict="NotReported")

    def _is_reported(self, policies: Iterable[ObjectRef]) -> bool:
        resources = (self._analysis.index.get(policy) for policy in policies)
        return any(has_report(resource.raw) for resource in resources if resource)


def _annotation(name: str, policies: Sequence[str], reported: Json, home: str) -> Comparison:
    """An annotation that there is, and the policies that it should name."""
    computed = Claim(", ".join(policies)) if policies else None
    named = parse_policy_names(reported, home)
    if named is None:
        unreadable = Claim(reported if isinstance(reported, str) else "")
        return Comparison(at=None, type=name, computed=computed, reported=unreadable, verdict="UnknownType")
    return Comparison(
        at=None,
        type=name,
        computed=computed,
        reported=Claim(", ".join(sorted(named))) if named or policies else None,
        verdict="Agrees" if named == frozenset(policies) else "Differs" if policies else "NotExpected",
    )
