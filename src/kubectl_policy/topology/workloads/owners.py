"""Controllers of workloads: by the ownerReferences, else in manifests by the selectors of controllers."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import ObjectRef
from kubectl_policy.model.fields import Json, mapping_at
from kubectl_policy.model.kind_roles import CRON_JOB, DEPLOYMENT, JOB, POD, REPLICA_SET, WORKLOADS
from kubectl_policy.model.selectors import required_labels, selects
from kubectl_policy.topology.workloads.workload import workload_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Resource
    from kubectl_policy.model.index import Index
    from kubectl_policy.topology.workloads.workload import Workload

# The label with the hash of the template, which ends the names of the ReplicaSets of a Deployment
# (DefaultDeploymentUniqueLabelKey).
_HASH: Final = "pod-template-hash"
# Kinds with a selector of Pods: a CronJob has none.
_SELECTING: Final = tuple(kind for kind in WORKLOADS if kind not in {POD, CRON_JOB})
# A namespace, and a label that a Pod must have there; its value is None where any value will do.
_Label: TypeAlias = "tuple[str, str, str | None]"
_Selector: TypeAlias = "tuple[ObjectRef, Mapping[str, Json]]"


class Owners:
    """The controllers of the workloads of one snapshot."""

    def __init__(self, index: Index) -> None:
        """Look up nothing before it is asked for."""
        self._index = index

    @cached_method
    def of(self, workload: Workload) -> ObjectRef:
        """Return the controller of a workload, which may not have been read; the workload itself if it has none.

        A Deployment stands for its ReplicaSets, and a CronJob for its Jobs.
        """
        controller = workload.controller
        if controller:
            # The kubelet's own Pods belong to a Node.
            is_namespaced = self._index.namespaced(controller.group_kind)
            return self._topmost(controller, workload) if is_namespaced else workload.ref
        if workload.is_from_server or not workload.is_pod:
            return workload.ref
        # Of several controllers, none is certain.
        owners = {self._topmost(ref, workload) for ref in self._selecting(workload)}
        return owners.pop() if len(owners) == 1 else workload.ref

    def is_made(self, resource: Resource) -> bool:
        """Whether a workload that was read makes a workload: a Deployment its ReplicaSets and their Pods."""
        workload = workload_of(resource)
        makers = {self.of(workload), workload.controller} - {None, workload.ref}
        return any(maker.group_kind in WORKLOADS and self._index.world.has(maker) for maker in makers if maker)

    def _topmost(self, controller: ObjectRef, workload: Workload) -> ObjectRef:
        """Return the controller of a controller where that makes it; the controller itself otherwise."""
        kind, template_hash = controller.group_kind, workload.labels.get(_HASH)
        if kind == REPLICA_SET and template_hash and controller.name.endswith(f"-{template_hash}"):
            name = controller.name.removesuffix(f"-{template_hash}")
            return ObjectRef(DEPLOYMENT, controller.namespace, name) if name else controller
        # A cluster is not asked for ReplicaSets: their names say enough.
        is_read = kind == JOB or (kind == REPLICA_SET and self._index.source != "the cluster")
        resource = self._index.get(controller) if is_read else None
        above = workload_of(resource).controller if resource else None
        return above if above and above.group_kind in {DEPLOYMENT, CRON_JOB} else controller

    def _selecting(self, pod: Workload) -> Iterator[ObjectRef]:
        """Yield the controllers in the namespace of a Pod whose selectors select it."""
        labels, namespace = pod.labels if self._by_label else {}, pod.ref.namespace
        for key, value in labels.items():
            for wanted in (value, None):
                for ref, selector in self._by_label.get((namespace, key, wanted), ()):
                    if selects(selector, labels):
                        yield ref

    @cached_property
    def _by_label(self) -> Mapping[_Label, Sequence[_Selector]]:
        """Group the selectors by one label that each requires, or several of which it requires one: rare ones.

        A selector that requires no label is left out: an API server refuses an empty one.
        """
        choices: list[tuple[_Selector, list[list[_Label]]]] = []
        for kind in _SELECTING:
            for resource in self._index.of_kind(kind):
                selector, namespace = mapping_at(resource.raw, "spec.selector"), resource.ref.namespace
                required = [[(namespace, *label) for label in labels] for labels in required_labels(selector)]
                choices += [((resource.ref, selector), required)] if required else []
        uses = Counter(label for _, required in choices for labels in required for label in labels)
        by_label: dict[_Label, list[_Selector]] = {}
        for chosen, required in choices:
            for label in min(required, key=lambda labels: sum(uses[label] for label in labels)):
                by_label.setdefault(label, []).append(chosen)
        return by_label
