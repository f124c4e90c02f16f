"""Comparison of reports on policies with predicted ones."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import NodeRef, ObjectRef, Resource
from kubectl_policy.model.fields import integer_at, text_at
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_HOLDERS
from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.blind_spots.answers import blind_spots_for_policy, blind_spots_in_references
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot, unknown_class
from kubectl_policy.questions.predicted_conditions import PolicyCondition, PolicyStatuses
from kubectl_policy.questions.shared.reported import StatusEntry, has_report, status_entries
from kubectl_policy.questions.status.comparison import (
    ObjectStatus,
    OtherController,
    compare_conditions,
    depends_on_references,
    is_assumed,
    statuses_of,
)
from kubectl_policy.topology.conditions import BACKEND_TLS_POLICY, certificate_conditions
from kubectl_policy.topology.controllers import is_managed
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.profiles.controllers import Event, StatusProfile
    from kubectl_policy.questions.status.comparison import Comparison, Explainer, Predicted

# Not every controller writes it while it says that all is well: BackendTLSPolicyConditionResolvedRefs is younger.
_OPTIONAL: Final = frozenset({("ResolvedRefs", "True")})
_NOTHING: Final[Mapping[str, frozenset[str]]] = MappingProxyType({})


class PolicyComparisons:
    """Compares the reports on the policies of one analysis; what they share is looked up once."""

    def __init__(self, analysis: Analysis, explainer: Explainer) -> None:
        """Remember where to look."""
        self._analysis, self._explainer = analysis, explainer
        self._statuses = PolicyStatuses(analysis)

    def of(self, policy: Resource) -> ObjectStatus:
        """The report on a policy, and what is computed. Raises `KeyError` for an object that is not a policy."""
        profile = self._analysis.registry.profile(policy.ref.group_kind)
        direct, *rest = status_entries(policy.raw)
        entries: list[tuple[NodeRef, StatusEntry]] = []
        for entry in (entry for entry in rest if entry.sort == "ancestor"):
            # PolicyAncestorStatus.ancestorRef is a ParentReference: a Gateway of the policy's namespace by default.
            obj = refer(self._analysis.index, entry.reference, policy.ref.namespace, GATEWAY)
            entries.append((NodeRef(obj, text_at(entry.reference, "sectionName")), entry))
        written = {(node, entry.controller) for node, entry in entries}
        ours: list[tuple[NodeRef, StatusEntry]] = []
        other_controllers: dict[OtherController, None] = {}
        for node, entry in entries:
            if self._is_ours(profile, node, entry.controller, written):
                ours.append((node, entry))
            else:
                other_controllers[OtherController(node, entry.controller)] = None
        reported = has_report(policy.raw)
        compared = self._compared(policy.ref, profile, direct, ours) if reported else ()
        return ObjectStatus(
            resource=policy,
            generation=integer_at(policy.raw, "metadata.generation"),
            policy=profile.role == "policy",
            has_status=reported,
            assumed=profile.assumed,
            conditions=tuple(self._judged(policy.ref, profile, comparison) for comparison in compared),
            other_controllers=tuple(other_controllers),
        )

    def unreported(self, policy: Resource) -> tuple[Comparison, ...]:
        """Expected reports on a policy that has none."""
        profile = self._analysis.registry.profile(policy.ref.group_kind)
        compared = self._compared(policy.ref, profile, status_entries({})[0], ())
        return tuple(self._judged(policy.ref, profile, comparison) for comparison in compared)

    def _is_ours(
        self, profile: PolicyKindProfile, node: NodeRef, controller: str, written: Collection[tuple[NodeRef, str]]
    ) -> bool:
        """Whether an entry is for the kind's controllers to write.

        Where it is not known who they are, it is the Gateway's own, and, if that one wrote nothing there, anybody.
        """
        if profile.controllers:
            return controller in profile.controllers
        owner = self._explainer.owner(node)
        return not owner or owner == controller or (node, owner) not in written

    def _compared(
        self,
        policy: ObjectRef,
        profile: PolicyKindProfile,
        direct: StatusEntry,
        entries: Sequence[tuple[NodeRef, StatusEntry]],
    ) -> Iterator[Comparison]:
        computed = {
            status.ancestor: tuple(self._with_certificates(policy, profile, status.ancestor, status.conditions))
            for status in self._statuses.of(policy)
            if status.ancestor is None
            or status.ancestor.object.group_kind not in LISTENER_HOLDERS
            or self._acts(profile, status.ancestor) is not False
        }
        # Nothing is claimed of a policy that may attach in a way that is not computed, or names no target at all.
        claims = bool(self._analysis.attachments[policy])
        for node, entry in entries:
            known_statuses = statuses_of(_status(profile, entry.controller)) if claims else _NOTHING
            expected = computed.get(node, ())
            for comparison in compare_conditions(node, expected, entry.conditions, known_statuses, optional=_OPTIONAL):
                yield comparison.by(entry.controller)
        reported_on = {node for node, _ in entries}
        if None in computed or direct.conditions:
            on_itself = claims and profile.status.placement == "policy"
            known_statuses = statuses_of(_status(profile, "")) if on_itself else _NOTHING
            yield from compare_conditions(None, computed.get(None, ()), direct.conditions, known_statuses)
        for ancestor in (ancestor for ancestor in computed if ancestor and ancestor not in reported_on):
            yield from compare_conditions(ancestor, computed[ancestor], (), _NOTHING, optional=_OPTIONAL)

    def _acts(self, profile: PolicyKindProfile, node: NodeRef) -> bool | None:
        """Whether one of the kind's controllers acts on a place; None if that is not known."""
        return is_managed(self._analysis.topology, node.object, profile.controllers)

    def _with_certificates(
        self, policy: ObjectRef, profile: PolicyKindProfile, node: NodeRef | None, conditions: Iterable[PolicyCondition]
    ) -> Iterator[Predicted]:
        """The conditions with what certificates make of them; a controller with words of its own has one for it."""
        if policy.group_kind != BACKEND_TLS_POLICY or node is None:
            yield from conditions
            return
        by_certificates = {
            expected.type: expected for expected in certificate_conditions(self._analysis.topology, policy)
        }
        own_words = profile.status_by.get(self._explainer.owner(node) or "")
        refused = by_certificates.pop("Accepted", None)
        for expected in conditions:
            # Without one of several certificates it needs, the policy is accepted all the same.
            if expected.type != "Accepted" or expected.reason not in {"Accepted", "Invalid"}:
                yield expected
            elif refused:
                invalid = own_words.conditions.get("invalid", ()) if own_words else ()
                reason = invalid[0].reason if invalid else refused.reason
                yield PolicyCondition(type="Accepted", status="False", reason=reason, message=refused.message)
            else:
                yield replace(expected, status="True", reason="Accepted")
        if not own_words:
            yield from by_certificates.values()

    def _judged(self, policy: ObjectRef, profile: PolicyKindProfile, comparison: Comparison) -> Comparison:
        """A disagreement with its explanation, or undecided if it depends on something that was not read."""
        if not comparison.disagrees:
            return comparison
        statuses = {claim.status for claim in (comparison.computed, comparison.reported) if claim}
        unseen: tuple[BlindSpot, ...]
        if is_assumed(profile) and statuses != {"True", "False"}:
            # Only that two sides say the opposite does not depend on the words that are assumed.
            reports = f"how {plural(policy.kind)} report"
            reason = "no profile says where and in which words; conditions as in GEP-713 are assumed"
            unseen = (BlindSpot(what=reports, reason=reason, remedy="say it in a profile, under status"),)
        elif depends_on_references(comparison.type, _status(profile, comparison.controller)):
            unseen = blind_spots_in_references(
                self._analysis, policy, needs=_may_lack_something(comparison, _status(profile, comparison.controller))
            )
            if comparison.at and comparison.verdict == "NotReported" and self._acts(profile, comparison.at) is None:
                unseen += (unknown_class(self._analysis, comparison.at, profile.controllers),)
        else:
            unseen = self._explainer.relevant(
                blind_spots_for_policy(self._analysis, self._analysis.enforcement(policy))
            )
        if unseen:
            return replace(comparison, verdict="Undecided", unseen=unseen)
        return replace(comparison, explanation=self._explainer.of_policy(comparison, profile))


def _may_lack_something(comparison: Comparison, status: StatusProfile) -> bool:
    """Whether what was reported may be about something that a policy lacks: a controller has words for that."""
    reported = comparison.reported
    events: tuple[Event, ...] = ("invalid", "setting ignored", "not permitted")
    reasons = [condition_words for event in events for condition_words in status.conditions.get(event, ())]
    return reported is None or any((reported.status, reported.reason) == (it.status, it.reason) for it in reasons)


def _status(profile: PolicyKindProfile, controller: str) -> StatusProfile:
    """Return the status profile of a controller of a kind."""
    return profile.status_by.get(controller, profile.status)
