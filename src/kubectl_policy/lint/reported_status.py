"""What controllers reported on what is linted, held against what is computed as `status` does it, and sorted."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.fields import FieldPath, items_at, mapping_at, mappings_at, text_at, time_at
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_CLASS, HTTP_ROUTE, LISTENER_HOLDERS, ROUTES
from kubectl_policy.questions.shared.reported import has_report, status_entries
from kubectl_policy.questions.status.comparison import Claim, Explainer, compare_conditions
from kubectl_policy.questions.status.objects import COMPARED, ObjectComparisons
from kubectl_policy.questions.status.policies import PolicyComparisons
from kubectl_policy.topology.gateway.listeners import listener_label
from kubectl_policy.topology.references import parent_refs, refer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.status.comparison import Comparison, Explanation

# What `status` would explain a disagreement by, if it is one: what is computed may be wrong.
_GUESSED: Final[Mapping[Explanation, str]] = {
    "class unread": "no GatewayClass was read that says whose it is",
    "approximate profile": "not all is known of how policies of the kind work",
    "inferred profile": "how policies of the kind work is only inferred",
    "assumed status": "how its controller reports is only assumed",
    "input incomplete": "not all could be read",
}
_PENDING: Final = "Pending"
# Of what a controller says no more is repeated.
_LONGEST: Final = 200


def worded(type_: str, claim: Claim) -> str:
    """A status with its reason, unless that only repeats the type: `False (TargetNotFound)`."""
    return claim.status if claim.reason in {"", type_} else f"{claim.status} ({claim.reason})"


class ReportedClaim(Struct, frozen=True):
    """One thing that was reported on an object, or should be, as `status` compares it."""

    resource: Resource
    comparison: Comparison

    @property
    def who(self) -> str:
        """Who reported it, as far as the status says so."""
        return self.comparison.controller or "its controller"

    @property
    def where(self) -> str:
        """What it is about, in words that follow a verb; nothing of the whole object."""
        at = self.comparison.at
        if at is None:
            return ""
        if at.object == self.resource.ref:
            return f" for listener {at.section}"
        return f" for {listener_label(at)}" if at.section and at.object.group_kind in LISTENER_HOLDERS else f" for {at}"

    @property
    def place(self) -> tuple[ObjectRef, NodeRef | None, str]:
        """The object, what in it or around it this is about, and who reported it."""
        return self.resource.ref, self.comparison.at, self.comparison.controller

    @property
    def is_about_another(self) -> bool:
        """Whether it is about another object: a parent, or an ancestor."""
        at = self.comparison.at
        return at is not None and at.object != self.resource.ref

    @property
    def words(self) -> str:
        """What was reported, in a clause."""
        type_, reported = self.comparison.type, self.comparison.reported
        claim = worded(type_, reported) if reported else "nothing"
        return f"{self.who} reports {type_}={claim}{self.where}{self.message}"

    @property
    def message(self) -> str:
        """What the controller says of it, in its own words, in words that follow a clause."""
        reported = self.comparison.reported
        said = " ".join(reported.message.split()) if reported else ""
        return f": {said[:_LONGEST]}{'…' if said[_LONGEST:] else ''}".rstrip(".") if said else ""

    @property
    def is_pending(self) -> bool:
        """Whether nobody has looked at it yet: "Waiting for controller", as the defaults of definitions have it."""
        reported = self.comparison.reported
        return reported is not None and reported.status == "Unknown" and reported.reason == _PENDING

    def has(self, signs: Mapping[str, str]) -> bool:
        """Whether it was reported, and is one of some types of conditions, with the status that is given for it."""
        reported = self.comparison.reported
        return reported is not None and signs.get(self.comparison.type) == reported.status


class Reported:
    """The reports on the objects of one world that are linted; nothing is compared where nothing was reported."""

    def __init__(self, analysis: Analysis, settings: LintSettings, of_kind: Callable[..., Sequence[Resource]]) -> None:
        """Remember where to look; `of_kind` are the objects of some kinds that are linted."""
        self._analysis, self._settings, self._of_kind = analysis, settings, of_kind
        explainer = Explainer(analysis)
        self._policies = PolicyComparisons(analysis, explainer)
        self._objects = ObjectComparisons(analysis, explainer)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds on which controllers report what can be compared: policies, and what they target."""
        return (
            *COMPARED,
            *(each.group_kind for each in self._analysis.registry.policy_kinds if each.status.conditions),
        )

    @cached_property
    def every(self) -> Sequence[ReportedClaim]:
        """All that was reported, and what should have been where anything was; by kind, namespace and name."""
        return [
            ReportedClaim(resource, comparison)
            for resource in self._of_kind(GATEWAY_CLASS, *self.kinds)
            if "status" in resource.raw
            for comparison in self._compared(resource)
        ]

    def _compared(self, resource: Resource) -> Iterator[Comparison]:
        kind = resource.ref.group_kind
        if kind == GATEWAY_CLASS:
            # Nothing is computed of these.
            yield from compare_conditions(None, (), status_entries(resource.raw)[0].conditions, {})
        else:
            yield from (self._objects if kind in COMPARED else self._policies).of(resource).conditions

    def lacks_report(self, resource: Resource) -> bool:
        """Whether nothing was reported on an object of a cluster, or one that was read with others that have one.

        Manifests have no status.
        """
        if has_report(resource.raw):
            return False
        in_cluster = not mapping_at(resource.raw, "metadata").keys().isdisjoint(("uid", "generation"))
        return in_cluster or any(report.comparison.reported for report in self.every)

    def unreported(self, resource: Resource) -> tuple[Comparison, ...]:
        """What should be reported on an object on which nothing is."""
        return (self._objects if resource.ref.group_kind in COMPARED else self._policies).unreported(resource)

    @cached_property
    def orphaned(self) -> Sequence[ReportedClaim]:
        """What was reported about something that is not there, or that the object does not name."""
        return [report for report in self.every if self._is_orphaned(report)]

    def _is_orphaned(self, report: ReportedClaim) -> bool:
        ref, at, topology = report.resource.ref, report.comparison.at, self._analysis.topology
        if at is None or report.comparison.reported is None:
            return False
        if ref.group_kind in LISTENER_HOLDERS:
            return at.section not in topology.sections(ref)
        if ref.group_kind in ROUTES:
            # A route that delegates is a parent without being named.
            named = {parent.object for parent in parent_refs(self._analysis.index, ref)}
            return at.object.group_kind != HTTP_ROUTE and at.object not in named
        return self._analysis.index.presence(at.object) == "missing"

    @cached_property
    def stale(self) -> Sequence[ReportedClaim]:
        """What was reported about an earlier version of an object."""
        return [report for report in self._of_something if report.comparison.reported and report.comparison.stale]

    @cached_property
    def current(self) -> Sequence[ReportedClaim]:
        """What was reported about an object as it is, or was not and should be."""
        stale = {report.place for report in self.stale}
        return [
            report
            for report in self._of_something
            if (not report.comparison.stale if report.comparison.reported else report.place not in stale)
        ]

    @cached_property
    def _of_something(self) -> Sequence[ReportedClaim]:
        orphaned = frozenset(map(id, self.orphaned))
        return [report for report in self.every if id(report) not in orphaned]

    def doubt(self, comparison: Comparison) -> str:
        """On what it depends whether both sides disagree, in words; empty if it is known that they do, or not."""
        if comparison.verdict == "Undecided":
            doubts = [f"{thing.what}: {thing.reason}" for thing in comparison.unseen]
            computed = comparison.computed.message if comparison.computed else ""
            return next(iter(doubts), computed) or "something that it depends on was not read"
        if comparison.explanation and comparison.explanation in _GUESSED:
            return _GUESSED[comparison.explanation]
        snapshot = self._analysis.snapshot
        knows_classes = snapshot.complete or (GATEWAY_CLASS, "") in snapshot.listed
        if comparison.explanation == "no class" and not knows_classes:
            return "no GatewayClass was read that says whether a controller acts on it"
        return ""

    def is_refused(self, obj: ObjectRef) -> bool:
        """Whether an object does not exist, or a controller says of it that it is not accepted, or not yet."""
        conditions = mappings_at(self._analysis.index.raw(obj), "status.conditions")
        accepted = (
            text_at(condition, "status") for condition in conditions if text_at(condition, "type") == "Accepted"
        )
        return next(accepted, "True") != "True" or self._analysis.index.presence(obj) == "missing"

    def above(self, obj: ObjectRef) -> Iterator[ObjectRef]:
        """What must be accepted before a controller says anything of a Gateway or a ListenerSet."""
        gateways = self._analysis.topology.gateways
        gateway = gateways.gateway_of(obj)
        if gateway and gateway != obj:
            yield gateway
        owner = gateways.class_of(gateway) if gateway else None
        if owner:
            yield owner

    def is_new(self, resource: Resource) -> bool:
        """Whether an object was written so shortly ago that controllers may not have come to it."""
        managers = items_at(resource.raw, "metadata.managedFields")
        written = (time_at(entry, "time") for entry in managers if not text_at(entry, "subresource"))
        times = [resource.created, *written]
        return any(self.is_recent(time) for time in times)

    def is_recent(self, time: datetime | None) -> bool:
        """Whether a time is not further away than what controllers are given; nothing is without a clock."""
        now = self._settings.now
        return bool(now and time and now - time < timedelta(minutes=self._settings.grace))

    def written(self, report: ReportedClaim) -> tuple[str, Mapping[str, Json]]:
        """Where in an object something was reported, and the condition itself; the status, of what was not."""
        comparison, raw = report.comparison, report.resource.raw
        if comparison.type in mapping_at(raw, "metadata.annotations"):
            return str(FieldPath(("metadata", "annotations", comparison.type))), {}
        for field, entry in self._places(report):
            if comparison.is_count:
                return f"{field}.{comparison.type}", {}
            for position, condition in enumerate(items_at(entry, "conditions")):
                claim = Claim(*(text_at(condition, name) for name in ("status", "reason", "message")))
                is_it = text_at(condition, "type") == comparison.type and claim == comparison.reported
                if is_it and isinstance(condition, dict):
                    return f"{field}.conditions[{position}]", condition
        return "status", {}

    def _places(self, report: ReportedClaim) -> Iterator[tuple[str, Json]]:
        """The places in a status that may hold what was reported, by their fields."""
        at, resource = report.comparison.at, report.resource
        if at is None:
            yield "status", mapping_at(resource.raw, "status")
        for position, entry in enumerate(items_at(resource.raw, "status.listeners")):
            if at and at.object == resource.ref and text_at(entry, "name") == at.section:
                yield f"status.listeners[{position}]", entry
        for name, reference in (("parents", "parentRef"), ("ancestors", "ancestorRef")):
            for position, entry in enumerate(items_at(resource.raw, f"status.{name}")):
                named = mapping_at(entry, reference)
                owner = refer(self._analysis.index, named, resource.ref.namespace, GATEWAY)
                is_there = at and (owner, text_at(named, "sectionName")) == (at.object, at.section)
                if at is None or (is_there and text_at(entry, "controllerName") == report.comparison.controller):
                    yield f"status.{name}[{position}]", entry
