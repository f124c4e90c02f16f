"""Comparison of single conditions: their verdicts, and the explanations of disagreements."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.fields import integer_at, mappings_at, text_at
from kubectl_policy.model.kind_roles import (
    GATEWAY_API_GROUPS,
    GATEWAY_CLASS,
    HTTP_ROUTE,
    LISTENER_HOLDERS,
)
from kubectl_policy.model.snapshot import Resource  # noqa: TC001 (its members are in the document)
from kubectl_policy.profiles.controllers import STANDARD_STATUS, Event, StatusProfile
from kubectl_policy.questions.blind_spots.relevance import describe_gaps
from kubectl_policy.questions.shared.in_force import ASSUMED, Assumption
from kubectl_policy.questions.shared.reported import ReportedCondition, StatusEntry, has_report, status_entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.predicted_conditions import PolicyCondition
    from kubectl_policy.topology.gateway.conditions import Condition

# "Undecided" depends on something that was not read; of an "UnknownType" it is not known when it is to be reported.
Verdict: TypeAlias = Literal["Agrees", "Differs", "NotReported", "NotExpected", "Undecided", "UnknownType"]
DISAGREEMENTS: Final[frozenset[Verdict]] = frozenset({"Differs", "NotReported", "NotExpected"})

# What would explain a disagreement, the likeliest first; "none" is known where nothing is.
Explanation: TypeAlias = Literal[
    "older generation",
    "not in spec",
    "class unread",
    "no class",
    "other class",
    "silent controller",
    "approximate profile",
    "inferred profile",
    "assumed status",
    "input incomplete",
    "none",
]

# The type under which the number of a listener's routes, or of a Gateway's ListenerSets, stands next to conditions.
ATTACHED_ROUTES: Final = "attachedRoutes"
ATTACHED_LISTENER_SETS: Final = "attachedListenerSets"

# What a count is made of is named up to here.
_LISTED: Final = 5


_AT: Final = "The ancestor, parent or listener of the condition; null for the object itself."
_DEPENDS_ON: Final = "The blind spots that an undecided comparison depends on; if empty, see the message of computed."
_POLICY: Final = "True if the object is a policy; false for any other object, such as a Gateway or a filter."


class Claim(Struct, frozen=True):
    """A computed or reported condition; for a count, status is the number."""

    status: Annotated[str, Meta(description="The status of the condition, or the number of a count.")]
    reason: Annotated[str, Meta(description="The reason of the condition; empty for a count.")] = ""
    message: Annotated[str, Meta(description="The message; messages are not compared.")] = ""


# A condition that should be reported, whoever predicts it; its reason is Pending if something was not read.
Predicted: TypeAlias = "PolicyCondition | Condition"


class Comparison(Struct, frozen=True, kw_only=True):
    """One condition type or count in one entry of a status, as computed and as reported."""

    at: Annotated[NodeRef | None, Meta(description=_AT)]
    type: Annotated[str, Meta(description="The type of the condition, or attachedRoutes or attachedListenerSets.")]
    policy_kind: Annotated[
        GroupKind | None,
        Meta(description="The policy kind of a condition on an affected object; null for any other condition."),
    ] = None
    verdict: Annotated[Verdict, Meta(description="The result of the comparison.")]
    reported: Annotated[
        Claim | None, Meta(description="The reported condition or count; null if nothing was reported.")
    ]
    computed: Annotated[
        Claim | None, Meta(description="The computed condition or count; null if nothing should be reported.")
    ]
    controller: Annotated[
        str, Meta(description="The controller that reported; empty if the status does not name it.")
    ] = ""
    observed_generation: Annotated[
        int | None, Meta(description="The generation that the report is about; null if the report names none.")
    ] = None
    stale: Annotated[bool, Meta(description="Whether the report is about an older generation of the object.")] = False
    explanation: Annotated[
        Explanation | None,
        Meta(description="The likeliest explanation of a disagreement; null without a disagreement."),
    ] = None
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=_DEPENDS_ON)] = ()

    @property
    def is_count(self) -> bool:
        """Whether this is a number that stands next to conditions."""
        return self.type in {ATTACHED_ROUTES, ATTACHED_LISTENER_SETS}

    def by(self, controller: str) -> Comparison:
        """Return the comparison with the controller whose entry it is in."""
        return self if self.controller == controller else replace(self, controller=controller)

    @property
    def disagrees(self) -> bool:
        """Whether the two sides are known to say different things."""
        return self.verdict in DISAGREEMENTS

    @property
    def is_compared(self) -> bool:
        """Whether both sides could be held against each other."""
        return self.disagrees or self.verdict == "Agrees"


class OtherController(Struct, frozen=True):
    """An entry of a status that another controller writes."""

    at: Annotated[NodeRef | None, Meta(description=_AT)]
    controller: Annotated[str, Meta(description="The name of the controller.")]


class ObjectStatus(Struct, frozen=True, kw_only=True):
    """The reported status of one object, compared with the computed status."""

    resource: Annotated[Resource, "inline"]
    policy: Annotated[bool, Meta(description=_POLICY)]
    generation: Annotated[int | None, Meta(description="The generation of the object; null if it has none.")]
    assumed: Annotated[tuple[Assumption, ...], Meta(description=ASSUMED)] = ()
    has_status: Annotated[
        bool, Meta(description="Whether the object has a status; without a status, nothing is compared.")
    ]
    conditions: Annotated[tuple[Comparison, ...], Meta(description="The compared conditions and counts.")] = ()
    other_controllers: Annotated[
        tuple[OtherController, ...],
        Meta(description="The entries in the status that other controllers write; they are not compared."),
    ] = ()

    @property
    def object(self) -> Annotated[ObjectRef, Meta()]:
        """The object."""
        return self.resource.ref

    @property
    def agrees(self) -> Annotated[bool, Meta()]:
        """False if at least one condition or count disagrees."""
        return not any(comparison.disagrees for comparison in self.conditions)


def compare_conditions(
    at: NodeRef | None,
    computed: Iterable[Predicted],
    reported: Iterable[ReportedCondition],
    known_statuses: Mapping[str, frozenset[str]],
    *,
    optional: Collection[tuple[str, str]] = (),
) -> Iterator[Comparison]:
    """The conditions of one place, type by type: first those that are computed, then what else is reported.

    `known_statuses` are the types of which it is known when they are reported, with the statuses that they then have:
    one of these that is reported and not computed is not expected. What is `optional`, by type and status, may be left
    out. Of two conditions of one type the first counts, as types are the keys of the list (`+listMapKey=type`).
    """
    by_type: dict[str, ReportedCondition] = {}
    for condition in reported:
        by_type.setdefault(condition.type, condition)
    for wanted in computed:
        actual = by_type.pop(wanted.type, None)
        claim = Claim(wanted.status, wanted.reason, wanted.message)
        if wanted.status == "Unknown" and wanted.reason == "Pending":
            yield _comparison(at, claim, actual, wanted.type, "Undecided")
        elif actual:
            agrees = (wanted.status, wanted.reason) == (actual.status, actual.reason)
            yield _comparison(at, claim, actual, wanted.type, "Agrees" if agrees else "Differs")
        elif (wanted.type, wanted.status) not in optional:
            yield _comparison(at, claim, None, wanted.type, "NotReported")
    for condition in by_type.values():
        known = condition.status in known_statuses.get(condition.type, ())
        yield _comparison(at, None, condition, condition.type, "NotExpected" if known else "UnknownType")


def _comparison(
    at: NodeRef | None, computed: Claim | None, reported: ReportedCondition | None, type_: str, verdict: Verdict
) -> Comparison:
    return Comparison(
        at=at,
        type=type_,
        computed=computed,
        reported=Claim(reported.status, reported.reason, reported.message) if reported else None,
        verdict=verdict,
        controller=reported.controller if reported else "",
        observed_generation=reported.seen if reported else None,
        stale=bool(reported and reported.stale),
    )


def compare_count(
    at: NodeRef | None, name: str, counted: Sequence[ObjectRef], entry: StatusEntry, *, is_open: bool
) -> Iterator[Comparison]:
    """A number that a controller may report in a place, under a name that stands where conditions have their type.

    Where the world `is_open`, more may exist than was read.
    """
    computed, reported = len(counted), integer_at(entry.entry, name)
    if reported is None:
        return
    remaining = f" and {computed - _LISTED} more" if computed > _LISTED else ""
    more_may_exist = is_open and reported > computed
    yield Comparison(
        at=at,
        type=name,
        computed=Claim(str(computed), "", ", ".join(map(str, counted[:_LISTED])) + remaining),
        reported=Claim(str(reported)),
        verdict="Agrees" if computed == reported else "Undecided" if more_may_exist else "Differs",
        observed_generation=min(
            (condition.seen for condition in entry.conditions if condition.seen is not None), default=None
        ),
        stale=any(condition.stale for condition in entry.conditions),
    )


# What is said of a policy by what it refers to itself; all else also depends on what is above and below its targets.
_BY_REFERENCES: Final = frozenset[Event](
    {
        *("accepted", "target missing", "section missing", "not permitted", "kind unsupported", "conflicted"),
        *("invalid", "setting ignored", "target invalid", "overlapping", "not enabled"),
    }
)


def statuses_of(status: StatusProfile, *, affected: bool = False) -> Mapping[str, frozenset[str]]:
    """The types of conditions that a profile speaks of, with the statuses that they can have.

    Those that are written on policies or, of `affected`, on what policies affect.
    """
    statuses: dict[str, set[str]] = {}
    for event, several in status.conditions.items():
        for condition_words in several if (event == "affected") == affected else ():
            statuses.setdefault(condition_words.type, set()).add(condition_words.status)
    return {type_: frozenset(of_type) for type_, of_type in statuses.items()}


def depends_on_references(type_: str, status: StatusProfile) -> bool:
    """Whether a type of condition depends on what a policy refers to itself, and on nothing further away."""
    conditions = status.conditions.items()
    events = {
        event for event, several in conditions if any(condition_words.type == type_ for condition_words in several)
    } - {"affected"}
    return bool(events) and events <= _BY_REFERENCES


def is_assumed(profile: PolicyKindProfile) -> bool:
    """Whether no profile says how a kind reports, so that it is assumed to be as GEP-713 says.

    For the Gateway API's own kinds that is what the API says itself.
    """
    is_gateway_api = profile.group_kind.group in GATEWAY_API_GROUPS
    return profile.status == STANDARD_STATUS and not is_gateway_api


class Explainer:
    """Explains the disagreements in one analysis; what they share is looked up once."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look, and what could not be read at all."""
        self._analysis = analysis
        self._gaps = frozenset(describe_gaps(analysis, analysis.snapshot.gaps))

    def owner(self, node: NodeRef) -> str | None:
        """The controller of a Gateway or ListenerSet; empty if it has none, None if unknown or if it is neither."""
        if node.object.group_kind not in LISTENER_HOLDERS:
            return None
        return self._analysis.topology.gateways.controller_of(node.object)

    def relevant(self, unseen: Iterable[BlindSpot]) -> tuple[BlindSpot, ...]:
        """Select the blind spots that one comparison depends on; those of the whole input are left out."""
        return tuple(blind_spot for blind_spot in unseen if not (blind_spot.is_gap or blind_spot in self._gaps))

    def of_policy(self, comparison: Comparison, profile: PolicyKindProfile) -> Explanation:
        """The likeliest explanation of a disagreement about a policy, or about what policies of a kind affect."""
        if comparison.stale:
            return "older generation"
        by_class = self._by_class(comparison.at, profile.controllers)
        if by_class:
            return by_class
        if comparison.verdict == "NotReported" and self._is_silent(profile.group_kind, profile.controllers):
            return "silent controller"
        if profile.approximate:
            return "approximate profile"
        if profile.known_by != "profile":
            return "inferred profile"
        return "assumed status" if is_assumed(profile) else self._rest

    def of_object(self, comparison: Comparison, ref: ObjectRef) -> Explanation:
        """The likeliest explanation of a disagreement about an object that is not a policy, or a part of it.

        Only of a Gateway or ListenerSet it is known whose controller reports it.
        """
        if comparison.stale:
            return "older generation"
        owner = comparison.at.object if comparison.at else ref
        # All else that is computed for what the spec names is always computed, but for a route that does not delegate.
        bindings = self._analysis.topology.bindings(ref) if owner.group_kind == HTTP_ROUTE else ()
        if comparison.verdict == "NotExpected" and not any(binding.parent == owner for binding in bindings):
            return "not in spec"
        if owner.group_kind not in LISTENER_HOLDERS:
            return self._rest
        controller = self._analysis.topology.gateways.controller_of(owner)
        if controller is None:
            return "class unread"
        if not controller or controller in self._refused:
            return "no class"
        silent = comparison.verdict == "NotReported" and self._is_silent(ref.group_kind, frozenset({controller}))
        return "silent controller" if silent else self._rest

    @property
    def _rest(self) -> Explanation:
        return "input incomplete" if self._analysis.snapshot.gaps else "none"

    def _by_class(self, at: NodeRef | None, controllers: frozenset[str]) -> Explanation | None:
        """Explanation by the GatewayClasses in the input; None where it is unknown who acts on a kind."""
        if not controllers:
            return None
        classes = self._analysis.index.of_kind(GATEWAY_CLASS)
        if not classes:
            return "no class" if self._analysis.snapshot.complete else "class unread"
        owners = {text_at(resource.raw, "spec.controllerName") for resource in classes} - self._refused
        if not owners & controllers:
            return "no class"
        if at is None or at.object.group_kind not in LISTENER_HOLDERS:
            return None
        controller = self.owner(at)
        if controller is None:
            return "class unread"
        return None if controller in controllers else "other class"

    @cached_property
    def _refused(self) -> frozenset[str]:
        """The controllers of which every GatewayClass in the input is reported not to be accepted."""
        accepted: dict[str, bool] = {}
        for resource in self._analysis.index.of_kind(GATEWAY_CLASS):
            conditions = mappings_at(resource.raw, "status.conditions")
            statuses = {text_at(condition, "type"): text_at(condition, "status") for condition in conditions}
            controller = text_at(resource.raw, "spec.controllerName")
            accepted[controller] = accepted.get(controller, False) or statuses.get("Accepted") != "False"
        return frozenset(controller for controller, fine in accepted.items() if not fine)

    def _is_silent(self, kind: GroupKind, controllers: frozenset[str]) -> bool:
        """Whether no object of a kind has a report of the controllers, or at all where a report names nobody."""
        reporting = self._reporting(kind)
        return reporting.isdisjoint({"", *controllers}) if controllers else not reporting

    @cached_method
    def _reporting(self, kind: GroupKind) -> frozenset[str]:
        reported = (resource for resource in self._analysis.index.of_kind(kind) if has_report(resource.raw))
        entries = (entry for resource in reported for entry in status_entries(resource.raw) if entry.conditions)
        return frozenset(entry.controller for entry in entries)
