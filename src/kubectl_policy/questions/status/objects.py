"""What was reported on Gateways, ListenerSets and routes, and what should be, also by the controllers of policies."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import integer_at, mapping_at, text_at
from kubectl_policy.questions.predicted.policies import target_conditions
from kubectl_policy.questions.shared.reported import has_report, reported_places
from kubectl_policy.questions.shared.unseen import gaps, unseen_for
from kubectl_policy.questions.status.comparison import (
    ATTACHED_LISTENER_SETS,
    ATTACHED_ROUTES,
    Claim,
    Comparison,
    Counted,
    ObjectStatus,
    OtherController,
    compare,
    compare_count,
    vocabulary,
)
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
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.predicted.policies import PolicyCondition
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedPlace
    from kubectl_policy.questions.status.comparison import Explainer, Predicted

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
        self._markers = PolicyMarkers(analysis)

    def of(self, resource: Resource) -> ObjectStatus:
        """The report on an object of one of the `COMPARED` kinds beside what is computed."""
        ref, generation = resource.ref, integer_at(resource.raw, "metadata.generation")
        markers = tuple(self._markers.annotations(resource))
        if not has_report(resource.raw) and not any(mark.reported for mark in markers):
            return ObjectStatus(resource, generation, is_policy=False, reported=False)
        own, *rest = reported_places(resource.raw)
        if ref.group_kind in ROUTES:
            found, others = self._route(ref, own, [place for place in rest if place.sort == "parent"])
        else:
            listeners = {text_at(place.entry, "name"): place for place in rest if place.sort == "listener"}
            found, others = tuple(self._with_listeners(resource, own, listeners)), ()
        return ObjectStatus(
            resource,
            generation,
            tuple(map(self._judged(ref), (*found, *markers))),
            others,
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
        computed: tuple[Predicted, ...] = (*conditions, *self._markers.conditions(NodeRef(ref), _types(own.conditions)))
        yield from compare(None, computed, own.conditions, self._markers.known_statuses, optional=_OPTIONAL_ON_GATEWAYS)
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
        computed: tuple[Predicted, ...] = (*expected, *self._markers.conditions(node, _types(reported)))
        # Conditions of a listener that the spec has not: none of them should be there.
        known_statuses = self._markers.known_statuses if expected else {**self._markers.known_statuses, **_LISTENER}
        yield from compare(node, computed, reported, known_statuses, optional=_OPTIONAL)
        number = integer_at(place.entry, ATTACHED_ROUTES) if place else None
        if place and number is not None and expected:
            counted = Counted(attached_routes(topology, node), number, self._is_open)
            yield compare_count(node, ATTACHED_ROUTES, counted, place)

    def _route(
        self, ref: ObjectRef, own: ReportedPlace, places: Sequence[ReportedPlace]
    ) -> tuple[tuple[Comparison, ...], tuple[OtherController, ...]]:
        """A route: the conditions at each of its parents, and those that may stand at any of them."""
        index = self._analysis.index
        parents = {
            (NodeRef(parent.object, parent.section), parent.port): parent.position
            for parent in reversed(tuple(parent_refs(index, ref, index.raw(ref))))
        }
        found: list[Comparison] = []
        others: list[OtherController] = []
        told: set[tuple[NodeRef, int | None]] = set()
        for place in places:
            node = NodeRef(
                refer(index, place.reference, ref.namespace, GATEWAY), text_at(place.reference, "sectionName")
            )
            key = node, integer_at(place.reference, "port")
            owner = self._owner(node)
            if owner and place.controller != owner:
                others.append(OtherController(node, place.controller))
                continue
            told.add(key)
            expected = route_conditions(self._analysis.topology, ref, parents[key]) if key in parents else ()
            rest = [one for one in place.conditions if one.type not in self._markers.known_statuses]
            found += (
                replace(one, controller=place.controller)
                for one in compare(node, expected, rest, {} if expected else _PARENT)
            )
        for key, position in sorted(parents.items(), key=lambda item: item[1]):
            if key not in told and self._owner(key[0]) != "":
                found += compare(key[0], route_conditions(self._analysis.topology, ref, position), (), {})
        said = [one for place in (own, *places) for one in place.conditions if one.type in self._markers.known_statuses]
        found += compare(None, self._markers.conditions(NodeRef(ref), _types(said)), said, self._markers.known_statuses)
        return tuple(found), tuple(dict.fromkeys(others))

    def _owner(self, node: NodeRef) -> str | None:
        """Whose Gateway or ListenerSet a node is; empty if it is nobody's, None if unknown or if it is neither."""
        if node.object.group_kind not in (GATEWAY, *LISTENER_SETS):
            return None
        return controller_of(self._analysis.topology, node.object)

    @property
    def _is_open(self) -> bool:
        return not self._analysis.snapshot.complete

    def _judged(self, ref: ObjectRef) -> _Judge:
        return _Judge(self._analysis, self._explainer, self._markers.kinds, self._gaps, ref)


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


class PolicyMarkers:
    """The markers of the policy kinds in one analysis, by the type of a condition or the name of an annotation."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis

    @cached_property
    def kinds(self) -> Mapping[str, PolicyKindProfile]:
        """The policy kinds by their markers."""
        return {
            **self._by_annotation,
            **{type_: profile for profile in self._profiles for type_ in _marker_types(profile)},
        }

    @cached_property
    def known_statuses(self) -> Mapping[str, frozenset[str]]:
        """The types of conditions that are markers, with the statuses that they can have."""
        return {type_: found for profile in self._profiles for type_, found in _marker_types(profile).items()}

    def conditions(self, node: NodeRef, said: Collection[str]) -> Iterator[PolicyCondition]:
        """The markers that a node should have; `said` are the types that it has.

        Where no policy that they are about has a report, nobody is there to mark anything, and they are not missed.
        """
        for condition in target_conditions(self._analysis, node) if self.known_statuses else ():
            if condition.type in said or self._is_reported(node.object for node in condition.related):
                yield condition

    def annotations(self, resource: Resource) -> Iterator[Comparison]:
        """The annotations of an object that should name the policies attached to it or to a section of it."""
        annotations = mapping_at(resource.raw, "metadata.annotations")
        for name, profile in self._by_annotation.items():
            policies = sorted(
                {
                    found.policy
                    for found in self._analysis.attachments_to(resource.ref)
                    if found.state == "attached" and found.policy.group_kind == profile.group_kind
                }
            )
            computed = Claim(", ".join(policy.qualified_name for policy in policies)) if policies else None
            if name in annotations:
                yield _beside(name, computed, policies, annotations[name], resource.ref.namespace)
            elif computed and self._is_reported(policies):
                yield Comparison(None, name, computed, None, "not reported")

    @property
    def _profiles(self) -> tuple[PolicyKindProfile, ...]:
        return self._analysis.registry.policy_kinds

    @cached_property
    def _by_annotation(self) -> Mapping[str, PolicyKindProfile]:
        return {one.status.target_annotation: one for one in self._profiles if one.status.target_annotation}

    def _is_reported(self, policies: Iterable[ObjectRef]) -> bool:
        resources = (self._analysis.index.get(policy) for policy in policies)
        return any(has_report(resource.raw) for resource in resources if resource)


def _marker_types(profile: PolicyKindProfile) -> Mapping[str, frozenset[str]]:
    return vocabulary(profile.status).affected


def _beside(name: str, computed: Claim | None, policies: Iterable[ObjectRef], value: Json, home: str) -> Comparison:
    named = _named(value, home)
    if named is None:
        return Comparison(None, name, computed, Claim(value if isinstance(value, str) else ""), "unknown type")
    reported = Claim(", ".join(sorted(named)))
    if not computed:
        return Comparison(None, name, None, reported if named else None, "not expected" if named else "agrees")
    same = named == frozenset(policy.qualified_name for policy in policies)
    return Comparison(None, name, computed, reported, "agrees" if same else "differs")


def _named(value: Json, home: str) -> frozenset[str] | None:
    """The policies that an annotation names, as `namespace/name`; None if it cannot be read.

    It is `namespace/name`, several of these with commas between them, or a JSON list of mappings with a `namespace` and
    a `name`, in any case: the keys of a `types.NamespacedName` are written `Namespace` and `Name`.
    """
    if not isinstance(value, str):
        return None
    if not value.lstrip().startswith(("[", "{")):
        words = (word.strip() for word in value.split(","))
        return frozenset(word if "/" in word else f"{home}/{word}" for word in words if word)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    entries = cast("list[object]", parsed if isinstance(parsed, list) else [parsed])
    keyed = [
        {key.lower(): text for key, text in cast("dict[str, object]", e).items()}
        for e in entries
        if isinstance(e, dict)
    ]
    names = [(entry.get("namespace") or home, entry.get("name")) for entry in keyed]
    if len(names) < len(entries) or not all(isinstance(part, str) and part for pair in names for part in pair):
        return None
    return frozenset(f"{namespace}/{name}" for namespace, name in names)
