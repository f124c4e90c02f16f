"""Comparison of the reports on selected objects with the computed conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from kubectl_policy.errors import UsageError
from kubectl_policy.questions.blind_spots.relevance import describe_gaps, relevant_gaps
from kubectl_policy.questions.blind_spots.unknowns import BLIND_SPOTS, Answer, BlindSpot
from kubectl_policy.questions.shared.reported import is_initial
from kubectl_policy.questions.shared.selection import EVERYTHING, POLICY_ROWS, Selection, select
from kubectl_policy.questions.status.comparison import Comparison, Explainer, ObjectStatus
from kubectl_policy.questions.status.objects import COMPARED, ObjectComparisons
from kubectl_policy.questions.status.policies import PolicyComparisons

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Resource
    from kubectl_policy.model.kinds import KindNames


class StatusReport(Answer, frozen=True, kw_only=True):
    """The reported status of the selected objects, compared with the computed status."""

    noun: str
    """What was asked for, in the singular."""
    namespace: Annotated[str, Meta(description="The namespace of the objects; empty for all namespaces.")]
    items: Annotated[tuple[ObjectStatus, ...], Meta(description="The objects, policies first.")]
    names: tuple[KindNames, ...]
    """The kinds of the objects, as an API server knows them."""
    elsewhere: tuple[str, ...]
    """The namespaces, one for each, of objects that would have been selected there."""
    unseen: Annotated[tuple[BlindSpot, ...], Meta(description=BLIND_SPOTS)]

    @property
    def found_nothing(self) -> bool:
        """Whether there is no object to compare."""
        return not self.items

    @property
    def compared(self) -> Annotated[int, Meta(ge=0)]:
        """The number of conditions and counts whose reported and computed values are both known."""
        return sum(comparison.is_compared for _, comparison in self.comparisons)

    @property
    def disagreeing(self) -> Annotated[int, Meta(ge=0)]:
        """The number of these that disagree."""
        return sum(comparison.disagrees for _, comparison in self.comparisons)

    @property
    def undecided(self) -> Annotated[int, Meta(ge=0)]:
        """The number of further conditions and counts that depend on unread input."""
        return sum(comparison.verdict == "Undecided" for _, comparison in self.comparisons)

    @property
    def comparisons(self) -> Iterator[tuple[ObjectStatus, Comparison]]:
        """Each comparison with its object."""
        return ((status, comparison) for status in self.items for comparison in status.conditions)

    @property
    def disagrees(self) -> bool:
        """Whether any report is known not to be as computed."""
        return self.disagreeing > 0

    @property
    def uncertain(self) -> bool:
        """Whether more input might change what is known to disagree, or whether anything does."""
        return bool(self.unseen) or (self.undecided > 0 and not self.disagrees)


def status(analysis: Analysis, type_name: str = "", selection: Selection = EVERYTHING) -> StatusReport:
    """The reports on the selected objects of a type; without a type, on all policies and on what they target.

    Raises `UsageError` for a type on which nothing is computed, and `NotFoundError` for a name that there is not.
    """
    selected = select(analysis, type_name or "policies", selection)
    kinds_listed = selected.type.kinds
    if selected.type.rows not in POLICY_ROWS and not (kinds_listed and set(COMPARED).issuperset(kinds_listed)):
        types = "policies, gateways, listenersets or routes"
        raise UsageError(f'the status of "{type_name}" is not computed', f"ask for {types}, or for one kind of these")
    resources = [*selected.resources, *(() if type_name else _reported_on(analysis, selection))]
    resources += () if type_name else _targets(analysis, resources)
    explainer = Explainer(analysis)
    policies, objects = PolicyComparisons(analysis, explainer), ObjectComparisons(analysis, explainer)
    refs = [resource.ref for resource in resources]
    kinds, gaps = sorted({ref.group_kind for ref in refs}), relevant_gaps(analysis, refs, include_descendants=True)
    return StatusReport(
        noun=selected.type.noun,
        namespace=selected.namespace,
        items=tuple(
            _as_reported((objects if resource.ref.group_kind in COMPARED else policies).of(resource))
            for resource in resources
        ),
        names=tuple(map(analysis.registry.kind_names, kinds)),
        elsewhere=selected.elsewhere,
        unseen=tuple(dict.fromkeys(describe_gaps(analysis, gaps))),
        place=analysis.index.source,
    )


def _as_reported(status: ObjectStatus) -> ObjectStatus:
    """Return the status of an object; an initial one is none, as no controller wrote it."""
    return replace(status, has_status=False, conditions=()) if is_initial(status.resource.raw) else status


def _reported_on(analysis: Analysis, selection: Selection) -> list[Resource]:
    """The filters and parameters that are selected, of the kinds on which controllers report as on policies."""
    return [
        resource
        for type_name in ("filters", "parameters")
        for resource in select(analysis, type_name, selection).resources
        if analysis.registry.profile(resource.ref.group_kind).status.conditions
    ]


def _targets(analysis: Analysis, policies: Iterable[Resource]) -> list[Resource]:
    """The Gateways, ListenerSets and routes that policies name, sorted by kind, namespace and name."""
    named = {
        attachment.target.object
        for policy in policies
        for attachment in analysis.attachments[policy.ref]
        if attachment.target and attachment.target.object.group_kind in COMPARED
    }
    return [resource for ref in sorted(named) if (resource := analysis.index.get(ref))]
