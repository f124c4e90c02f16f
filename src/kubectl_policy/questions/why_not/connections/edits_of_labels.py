"""Edits of labels, of Pod templates and Namespaces, so that rules which allow connections match them, or apply."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.fields import FieldPath, mapping_at
from kubectl_policy.model.kind_roles import JOB, KINDS, NAMESPACE, REPLICA_SET, SERVICE, WORKLOADS
from kubectl_policy.model.selectors import keys_of, selects
from kubectl_policy.questions.why_not.connections.naming import GENERATED_LABELS
from kubectl_policy.questions.why_not.connections.trials import Candidate
from kubectl_policy.questions.why_not.labels import LABELS, changed_labels, relabelled
from kubectl_policy.topology.workloads.pod_sets import positions_in
from kubectl_policy.topology.workloads.services import GATEWAY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Resource
    from kubectl_policy.network.policy import PolicyRules, Rule, Selection
    from kubectl_policy.questions.connections.endpoints import NamedEnd
    from kubectl_policy.questions.why_not.connections.case import Side

# So many are tried: each takes another look at all workloads.
_MOST_LABELLED: Final = 4
# The kinds whose Pods follow a change of the template (a Job's is immutable, a ReplicaSet leaves its Pods alone).
_LABELLED: Final = frozenset(WORKLOADS) - {JOB, REPLICA_SET}


def label_ends(side: Side) -> Iterator[Candidate]:
    """The Pods or the Namespace of an end have the labels by which a rule would let the connections through."""
    return islice(_label_ends(side), _MOST_LABELLED)


def _label_ends(side: Side) -> Iterator[Candidate]:
    selecting = {policy.ref for policy in side.policies}
    for policy, rule in _letting_rules(side):
        if policy.ref in selecting and not side.matches_peers(policy, rule):
            for entry in rule.peers or ():
                if entry.selection:
                    yield from _selected(side.analysis, side.peer, entry.selection)
        if policy.ref not in selecting and side.matches_peers(policy, rule):
            yield from _selected(side.analysis, side.subject, policy.subject)


def _letting_rules(side: Side) -> Iterator[tuple[PolicyRules, Rule]]:
    """Yield the rules that let the ports of the connections through."""
    for policy in side.analysis.network.policies:
        for rule in policy.rules(side.direction):
            if rule.action != "Deny" and not side.unmatched_ports(rule):
                yield policy, rule


def _selected(analysis: Analysis, end: NamedEnd, selection: Selection) -> Iterator[Candidate]:
    """Yield edits of labels of the Pods at an end, or of their Namespace, so that they are selected."""
    members = analysis.workloads.at(positions_in(end.members))
    homes = {workload.ref.namespace for workload in members}
    if len(homes) != 1:
        return
    home, by_namespace = homes.pop(), selection.namespaces
    if isinstance(by_namespace, str):
        is_home = home == by_namespace
    else:
        is_home = analysis.index.selects_namespace(by_namespace, home) is True
    if is_home:
        yield from _labelled_pods(analysis, end, selection)
    elif not isinstance(by_namespace, str) and all(selects(selection.pods, workload.labels) for workload in members):
        namespace = analysis.index.get(ObjectRef(NAMESPACE, "", home))
        for edit in relabelled(namespace, by_namespace) if namespace else ():
            if NAME_LABEL not in changed_labels(edit):
                yield Candidate(edit)


def _labelled_pods(analysis: Analysis, end: NamedEnd, selection: Selection) -> Iterator[Candidate]:
    """Yield the controller of the Pods at an end, or the one Pod, with the labels that a selector asks for."""
    owners = {analysis.workloads.owner_of(workload) for workload in analysis.workloads.at(positions_in(end.members))}
    owner = owners.pop()
    holder = None if owners else analysis.index.get(owner)
    if holder is None or owner.group_kind not in _LABELLED:
        return
    template = KINDS[owner.group_kind].template
    field = FieldPath((*FieldPath.parse(template).steps, *LABELS.steps)) if template else LABELS
    taken = {*GENERATED_LABELS, GATEWAY_NAME, *keys_of(mapping_at(holder.raw, "spec.selector"))}
    for service in analysis.index.of_kind_in(SERVICE, owner.namespace):
        taken |= set(mapping_at(service.raw, "spec.selector"))
    for edit in relabelled(holder, selection.pods, field):
        if taken.isdisjoint(changed_labels(edit, field)):
            yield Candidate(edit, tuple(_pods_after(analysis, owner, selection)))


def _pods_after(analysis: Analysis, owner: ObjectRef, selection: Selection) -> Iterator[Resource]:
    """Yield the Pods of a controller that were read, as its template makes them after the change."""
    workloads = analysis.workloads
    for workload in workloads.at(positions_in(workloads.by_namespace[owner.namespace])):
        if workload.ref != owner and workloads.owner_of(workload) == owner:
            pod = analysis.index.get(workload.ref)
            edits = relabelled(pod, selection.pods) if pod else ()
            yield from (edit.after for edit in edits if edit.after)
