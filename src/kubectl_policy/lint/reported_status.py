"""Conditions that controllers reported, compared with the computed ones and classified."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lint.status_fields import StatusFields
from kubectl_policy.model.fields import FieldPath, items_at, mapping_at, mappings_at, text_at, time_at
from kubectl_policy.model.kind_roles import GATEWAY_CLASS, HTTP_ROUTE, LISTENER_HOLDERS, ROUTES
from kubectl_policy.questions.shared.reported import has_report, status_entries
from kubectl_policy.questions.status.comparison import Claim, Comparison, Explainer, Explanation, compare_conditions
from kubectl_policy.questions.status.objects import COMPARED, ObjectComparisons
from kubectl_policy.questions.status.policies import PolicyComparisons
from kubectl_policy.topology.gateway.listeners import listener_label
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource

# Explanations by which the computed status may be wrong.
_GUESSED: Final[Mapping[Explanation, str]] = {
    "class unread": "no GatewayClass was read that names its controller",
    "approximate profile": "how policies of the kind work is known only in part",
    "inferred profile": "how policies of the kind work is only inferred",
    "assumed status": "how its controller reports is only assumed",
    "input incomplete": "not everything could be read",
}
_PENDING: Final = "Pending"
# In characters: longer messages of controllers are cut.
_MAX_MESSAGE_LENGTH: Final = 200


def status_phrase(type_: str, claim: Claim) -> str:
    """Return a status with its reason, unless that repeats the type: `False (TargetNotFound)`."""
    return claim.status if claim.reason in {"", type_} else f"{claim.status} ({claim.reason})"


class ReportedClaim(Struct, frozen=True):
    """A condition or count on an object, compared with the computed one."""

    resource: Resource
    comparison: Comparison

    @property
    def controller_name(self) -> str:
        """The controller, or `its controller`."""
        return self.comparison.controller or "its controller"

    @property
    def part_phrase(self) -> str:
        """The section, parent or ancestor as a phrase, or "" for the whole object."""
        at = self.comparison.at
        if at is None:
            return ""
        if at.object == self.resource.ref:
            return f" for listener {at.section}"
        return f" for {listener_label(at)}" if at.section and at.object.group_kind in LISTENER_HOLDERS else f" for {at}"

    @property
    def location(self) -> tuple[ObjectRef, NodeRef | None, str]:
        """The object, the section, parent or ancestor, and the controller."""
        return self.resource.ref, self.comparison.at, self.comparison.controller

    @property
    def is_about_another(self) -> bool:
        """Whether it is about another object: a parent or an ancestor."""
        at = self.comparison.at
        return at is not None and at.object != self.resource.ref

    @property
    def phrase(self) -> str:
        """The reported condition as a clause."""
        type_, reported = self.comparison.type, self.comparison.reported
        claim = status_phrase(type_, reported) if reported else "nothing"
        return f"{self.controller_name} reports {type_}={claim}{self.part_phrase}{self.message}"

    @property
    def message(self) -> str:
        """The message of the controller, shortened, as an appendix to a clause."""
        reported = self.comparison.reported
        message = " ".join(reported.message.split()) if reported else ""
        cut = f"{message[:_MAX_MESSAGE_LENGTH]}{'…' if message[_MAX_MESSAGE_LENGTH:] else ''}"
        return f": {cut}".rstrip(".") if message else ""

    @property
    def is_pending(self) -> bool:
        """Whether it is the default of the definition: "Waiting for controller"."""
        reported = self.comparison.reported
        return reported is not None and reported.status == "Unknown" and reported.reason == _PENDING

    def has(self, signs: Mapping[str, str]) -> bool:
        """Whether it was reported, with one of the given types and statuses."""
        reported = self.comparison.reported
        return reported is not None and signs.get(self.comparison.type) == reported.status


class Reported:
    """The reports on the objects in scope of one world."""

    def __init__(self, analysis: Analysis, settings: LintSettings, of_kind: Callable[..., Sequence[Resource]]) -> None:
        """Keep the world; `of_kind` returns the objects of some kinds in scope."""
        self._analysis, self._settings, self._of_kind = analysis, settings, of_kind
        self._fields: dict[ObjectRef, StatusFields] = {}
        explainer = Explainer(analysis)
        self._policies = PolicyComparisons(analysis, explainer)
        self._objects = ObjectComparisons(analysis, explainer)

    @cached_property
    def kinds(self) -> tuple[GroupKind, ...]:
        """The kinds whose reports can be compared: policies and their targets."""
        profiles = self._analysis.registry.policy_kinds
        return (*COMPARED, *(profile.group_kind for profile in profiles if profile.status.conditions))

    @cached_property
    def every(self) -> Sequence[ReportedClaim]:
        """All reports, and the missing ones of objects that have any; by kind, namespace and name."""
        return [
            ReportedClaim(resource, comparison)
            for resource in self._of_kind(GATEWAY_CLASS, *self.kinds)
            if "status" in resource.raw
            for comparison in self._comparisons(resource)
        ]

    def _comparisons(self, resource: Resource) -> Iterator[Comparison]:
        kind = resource.ref.group_kind
        if kind == GATEWAY_CLASS:
            # Nothing is computed of these.
            yield from compare_conditions(None, (), status_entries(resource.raw)[0].conditions, {})
        else:
            yield from (self._objects if kind in COMPARED else self._policies).of(resource).conditions

    def lacks_report(self, resource: Resource) -> bool:
        """Whether an object of a cluster, or one read with others that have reports, has none.

        Manifests have no status.
        """
        if has_report(resource.raw):
            return False
        in_cluster = not mapping_at(resource.raw, "metadata").keys().isdisjoint(("uid", "generation"))
        return in_cluster or any(report.comparison.reported for report in self.every)

    def unreported(self, resource: Resource) -> tuple[Comparison, ...]:
        """Return the conditions that should be on an object without any."""
        return (self._objects if resource.ref.group_kind in COMPARED else self._policies).unreported(resource)

    @cached_property
    def orphaned(self) -> Sequence[ReportedClaim]:
        """The reports about something that does not exist, or that the object does not name."""
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
        """The reports about an earlier generation of an object."""
        return [report for report in self._not_orphaned if report.comparison.reported and report.comparison.stale]

    @cached_property
    def current(self) -> Sequence[ReportedClaim]:
        """The reports about the present generation of an object, and the missing ones."""
        stale = {report.location for report in self.stale}
        return [
            report
            for report in self._not_orphaned
            if (not report.comparison.stale if report.comparison.reported else report.location not in stale)
        ]

    @cached_property
    def _not_orphaned(self) -> Sequence[ReportedClaim]:
        return [report for report in self.every if not self._is_orphaned(report)]

    def doubt(self, comparison: Comparison) -> str:
        """Return why the verdict is unknown, or ""."""
        if comparison.verdict == "Undecided":
            doubts = [f"{blind_spot.what}: {blind_spot.reason}" for blind_spot in comparison.unseen]
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
        """Whether an object does not exist or is reported as not accepted."""
        conditions = mappings_at(self._analysis.index.defaulted(obj), "status.conditions")
        statuses = {text_at(condition, "type"): text_at(condition, "status") for condition in reversed(conditions)}
        return statuses.get("Accepted", "True") != "True" or self._analysis.index.presence(obj) == "missing"

    def parents(self, obj: ObjectRef) -> Iterator[ObjectRef]:
        """Yield the Gateway and the GatewayClass without which a controller reports nothing on an object."""
        gateways = self._analysis.topology.gateways
        gateway = gateways.gateway_of(obj)
        if gateway and gateway != obj:
            yield gateway
        owner = gateways.class_of(gateway) if gateway else None
        if owner:
            yield owner

    def is_new(self, resource: Resource) -> bool:
        """Whether an object was written within the grace period."""
        managers = items_at(resource.raw, "metadata.managedFields")
        written = (time_at(entry, "time") for entry in managers if not text_at(entry, "subresource"))
        times = [resource.created, *written]
        return any(self.is_recent(time) for time in times)

    def is_recent(self, time: datetime | None) -> bool:
        """Whether a time is within the grace period; never without a clock."""
        now = self._settings.now
        return bool(now and time and now - time < timedelta(minutes=self._settings.grace))

    def written(self, report: ReportedClaim) -> tuple[str, Mapping[str, Json]]:
        """Return the path of a report in the object, and the condition; for a missing one, the status."""
        comparison, raw = report.comparison, report.resource.raw
        if comparison.type in mapping_at(raw, "metadata.annotations"):
            return str(FieldPath(("metadata", "annotations", comparison.type))), {}
        ref = report.resource.ref
        if ref not in self._fields:
            self._fields[ref] = StatusFields(self._analysis.index, report.resource)
        return self._fields[ref].find(comparison) or ("status", {})
