"""Names of ends of connections in manifests: the labels by which rules select Pods, and names of new policies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import JOB, NAMESPACE, POD, SERVICE
from kubectl_policy.model.selectors import keys_of, selects
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, Json
    from kubectl_policy.network.policy import Direction
    from kubectl_policy.questions.connections.endpoints import NamedEnd
    from kubectl_policy.topology.workloads import Workload

# Labels that controllers give to the Pods of one revision, or to one Pod (kubernetes/api, apps/v1 and batch/v1).
GENERATED_LABELS: Final = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "pod-template-generation",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "controller-uid",
        "job-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "batch.kubernetes.io/job-completion-index",
    }
)
# The longest part of a name that is that of an end (a name has at most 253 characters, a label of it 63).
_MAX_STEM: Final = 24


class NamedPods(Struct, frozen=True):
    """Pods of one namespace, by their labels."""

    namespace: str
    # A selector; an empty one selects all Pods of the namespace.
    selector: Mapping[str, Json]


def named_pods(analysis: Analysis, end: NamedEnd) -> NamedPods | None:
    """Return how rules name the Pods at an end; None for an address, and for Pods that have no labels in common."""
    ref = end.object
    if ref and ref.group_kind == NAMESPACE:
        return NamedPods(ref.name, {})
    service = analysis.index.get(ref) if ref and ref.group_kind == SERVICE else None
    labels: Mapping[str, Json] = mapping_at(service.raw, "spec.selector") if service else {}
    if service and labels:
        return NamedPods(service.ref.namespace, {"matchLabels": labels})
    # The Pods of a Gateway may run in the namespace of its controller.
    workloads = analysis.workloads.at(positions_in(end.members))
    pods = [NamedPods(workload.ref.namespace, _selector_of(analysis, workload)) for workload in workloads]
    return pods[0] if pods and all(named == pods[0] for named in pods) else None


def _selector_of(analysis: Analysis, workload: Workload) -> Mapping[str, Json]:
    """Return the selector of the controller of a workload; without any, its labels that belong to no revision."""
    owner = analysis.workloads.owner_of(workload)
    resource = analysis.index.get(owner) if owner.group_kind not in {POD, JOB} else None
    selector: Mapping[str, Json] = mapping_at(resource.raw, "spec.selector") if resource else {}
    if selector and selects(selector, workload.labels) and GENERATED_LABELS.isdisjoint(keys_of(selector)):
        return selector
    labels = {key: value for key, value in workload.labels.items() if key not in GENERATED_LABELS}
    return {"matchLabels": labels} if labels else {}


def new_ref(analysis: Analysis, kind: GroupKind, namespace: str, stem: str) -> ObjectRef:
    """Return the name of a new object that no object has which was read."""
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(analysis.index.of_kind(kind)) + 2))
    refs = (ObjectRef(kind, namespace, name) for name in names)
    return next(ref for ref in refs if analysis.index.get(ref) is None)


def policy_name(analysis: Analysis, verb: str, subject: NamedEnd, direction: Direction, peer: NamedEnd) -> str:
    """Return a name for a new policy: `allow-cart-from-web`."""
    preposition = "from" if direction == "ingress" else "to"
    return f"{verb}-{_stem(analysis, subject)}-{preposition}-{_stem(analysis, peer)}"


def _stem(analysis: Analysis, end: NamedEnd) -> str:
    """Return a part of a name, which has letters, digits and hyphens alone."""
    name = end.address
    if end.object:
        position = analysis.workloads.position_of(end.object)
        name = (end.object if position is None else analysis.workloads.owner_of(analysis.workloads.all[position])).name
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:_MAX_STEM].strip("-") or "it"
