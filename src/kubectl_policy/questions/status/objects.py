"""What was reported on Gateways, ListenerSets and routes beside what their controllers should report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import integer_at, text_at
from kubectl_policy.questions.shared.reported import has_report, reported_places
from kubectl_policy.questions.shared.unseen import gaps, unseen_for
from kubectl_policy.questions.status.comparison import (
    ATTACHED_LISTENER_SETS,
    ATTACHED_ROUTES,
    Counted,
    Foreign,
    ObjectStatus,
    compare,
    compare_count,
)
from kubectl_policy.questions.status.marks import Marks
from kubectl_policy.topology import (
    attached_listener_sets,
    attached_routes,
    gateway_conditions,
    listener_conditions,
    listener_set_conditions,
    route_conditions,
)
from kubectl_policy.topology.controllers import controller_of
from kubectl_policy.topology.references import GATEWAY, LISTENER_SETS, ROUTES, parent_refs, refer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedPlace
    from kubectl_policy.questions.status.comparison import Comparison, Predicted
    from kubectl_policy.questions.status.explanations import Explainer

COMPARED: Final = (GATEWAY, *LISTENER_SETS, *ROUTES)

# Not every controller writes these while they say that all is well. ListenerConditionConflicted is of negative
# polarity; ResolvedRefs of a whole Gateway (GatewayConditionResolvedRefs) is younger than most controllers.
_OPTIONAL: Final = frozenset({("Conflicted", "False")})
_OPTIONAL_ON_GATEWAYS: Final = frozenset({("ResolvedRefs", "True")})


class ObjectComparisons:
    """Compares the reports on the objects of one analysis that policies target; shared look-ups are made once."""

    def __init__(self, analysis: Analysis, explainer: Explainer) -> None:
        """Remember where to look."""
        self._analysis, self._explainer = analysis, explainer
        self._gaps = frozenset(gaps(analysis))
        self._marks = Marks(analysis)

    def of(self, resource: Resource) -> ObjectStatus:
        """The report on an object of one of the `COMPARED` kinds beside what is computed."""
        ref, generation = resource.ref, integer_at(resource.raw, "metadata.generation")
        marks = tuple(self._marks.annotations(resource))
        if not has_report(resource.raw) and not any(mark.reported for mark in marks):
            return ObjectStatus(resource, generation, is_policy=False, reported=False)
        own, *rest = reported_places(resource.raw)
        if ref.group_kind in ROUTES:
            found, foreign = self._route(ref, own, [place for place in rest if place.sort == "parent"])
        else:
            listeners = {text_at(place.entry, "name"): place for place in rest if place.sort == "listener"}
            found, foreign = tuple(self._with_listeners(resource, own, listeners)), ()
        return ObjectStatus(
            resource,
            generation,
            tuple(map(self._judged(ref), (*found, *marks))),
            foreign,
            is_policy=False,
            reported=True,
        )

    def _with_listeners(
        self, resource: Resource, own: ReportedPlace, listeners: Mapping[str, ReportedPlace]
    ) -> Iterator[Comparison]:
        """A Gateway or a ListenerSet: its own conditions, then those of each of its listeners."""
        ref, topology = resource.ref, self._analysis.topology
        is_gateway = ref.group_kind == GATEWAY
        conditions = gateway_conditions(topology, ref) if is_gateway else listener_set_conditions(topology, ref)
        computed: tuple[Predicted, ...] = (*conditions, *self._marks.conditions(NodeRef(ref), _types(own.conditions)))
        yield from compare(None, computed, own.conditions, self._marks.spoken, optional=_OPTIONAL_ON_GATEWAYS)
        sets = integer_at(own.entry, ATTACHED_LISTENER_SETS)
        if is_gateway and sets is not None:
            counted = Counted(attached_listener_sets(topology, ref), sets, self._is_open)
            yield compare_count(None, ATTACHED_LISTENER_SETS, counted, own)
        serves = is_gateway or conditions[0].status == "True"
        for name in dict.fromkeys((*topology.sections(ref), *listeners)):
            yield from self._listener(NodeRef(ref, name), listeners.get(name), serves=serves)

    def _listener(self, node: NodeRef, place: ReportedPlace | None, *, serves: bool) -> Iterator[Comparison]:
        """A listener; one of a ListenerSet that no Gateway takes need not be reported on."""
        if place is None and not serves:
            return
        topology = self._analysis.topology
        expected = listener_conditions(topology, node)
        reported = place.conditions if place else ()
        computed: tuple[Predicted, ...] = (*expected, *self._marks.conditions(node, _types(reported)))
        # Conditions of a listener that the spec has not: none of them should be there.
        spoken = self._marks.spoken if expected else {**self._marks.spoken, **_LISTENER}
        yield from compare(node, computed, reported, spoken, optional=_OPTIONAL)
        number = integer_at(place.entry, ATTACHED_ROUTES) if place else None
        if place and number is not None and expected:
            counted = Counted(attached_routes(topology, node), number, self._is_open)
            yield compare_count(node, ATTACHED_ROUTES, counted, place)

    def _route(
        self, ref: ObjectRef, own: ReportedPlace, places: Sequence[ReportedPlace]
    ) -> tuple[tuple[Comparison, ...], tuple[Foreign, ...]]:
        """A route: the conditions at each of its parents, and those that may stand at any of them."""
        index = self._analysis.index
        parents = {
            (NodeRef(parent.object, parent.section), parent.port): parent.position
            for parent in reversed(tuple(parent_refs(index, ref, index.raw(ref))))
        }
        found: list[Comparison] = []
        foreign: list[Foreign] = []
        told: set[tuple[NodeRef, int | None]] = set()
        for place in places:
            node = NodeRef(
                refer(index, place.reference, ref.namespace, GATEWAY), text_at(place.reference, "sectionName")
            )
            key = node, integer_at(place.reference, "port")
            owner = self._owner(node)
            if owner and place.controller != owner:
                foreign.append(Foreign(node, place.controller))
                continue
            told.add(key)
            expected = route_conditions(self._analysis.topology, ref, parents[key]) if key in parents else ()
            rest = [one for one in place.conditions if one.type not in self._marks.spoken]
            found += (
                replace(one, controller=place.controller)
                for one in compare(node, expected, rest, {} if expected else _PARENT)
            )
        for key, position in sorted(parents.items(), key=lambda item: item[1]):
            if key not in told and self._owner(key[0]) != "":
                found += compare(key[0], route_conditions(self._analysis.topology, ref, position), (), {})
        said = [one for place in (own, *places) for one in place.conditions if one.type in self._marks.spoken]
        found += compare(None, self._marks.conditions(NodeRef(ref), _types(said)), said, self._marks.spoken)
        return tuple(found), tuple(dict.fromkeys(foreign))

    def _owner(self, node: NodeRef) -> str | None:
        """Whose Gateway or ListenerSet a node is; empty if it is nobody's, None if unknown or if it is neither."""
        if node.object.group_kind not in (GATEWAY, *LISTENER_SETS):
            return None
        return controller_of(self._analysis.topology, node.object)

    @property
    def _is_open(self) -> bool:
        return not self._analysis.snapshot.complete

    def _judged(self, ref: ObjectRef) -> _Judge:
        return _Judge(self._analysis, self._explainer, self._marks.kinds, self._gaps, ref)


_STATUSES: Final = frozenset({"True", "False", "Unknown"})
_PARENT: Final = {"Accepted": _STATUSES, "ResolvedRefs": _STATUSES}
_LISTENER: Final = {**_PARENT, "Conflicted": _STATUSES}


class _Judge:
    """Judges the disagreements about one object."""

    def __init__(
        self,
        analysis: Analysis,
        explainer: Explainer,
        kinds: Mapping[str, PolicyKindProfile],
        gaps_: frozenset[object],
        ref: ObjectRef,
    ) -> None:
        self.analysis, self.explainer, self.kinds, self.gaps, self.ref = analysis, explainer, kinds, gaps_, ref

    def __call__(self, found: Comparison) -> Comparison:
        """A disagreement with its explanation, or undecided if it depends on something that was not read."""
        if not found.disagrees:
            return found
        profile = self.kinds.get(found.type)
        if profile is None:
            owner, kind = found.at.object if found.at else self.ref, self.ref.group_kind
            # All else that is computed for what the spec names is always computed.
            in_spec = found.verdict != "not expected"
            return replace(found, explanation=self.explainer.of_object(found, owner, kind, in_spec=in_spec))
        subject = found.at or NodeRef(self.ref)
        seen = unseen_for(self.analysis, subject, self.analysis.topology.paths(subject))
        doubts = tuple(thing for thing in seen if thing not in self.gaps)
        if doubts:
            return replace(found, verdict="undecided", doubts=doubts)
        return replace(found, explanation=self.explainer.of_policy(found, profile), kind=profile.group_kind)


def _types(conditions: Iterable[ReportedCondition]) -> frozenset[str]:
    return frozenset(condition.type for condition in conditions)
