"""Labels that kustomizations give to objects: in metadata, in selectors, and in templates of Pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import FieldPath, GroupKind
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.tree.kustomization import Kustomization, Labels

# Kustomize leaves these names alone (kustomize/api/internal/builtins/PrefixTransformer.go).
NEVER_RENAMED: Final = frozenset({CRD, NAMESPACE, GroupKind("apiregistration.k8s.io", "APIService")})
_WORKLOADS: Final = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")
# Where kinds select by labels and give them to others, and whether these places are made where there are none
# (kustomize/api/internal/konfig/builtinpluginconsts/commonlabels.go).
_SELECTORS: Final[Mapping[GroupKind, tuple[tuple[str, bool], ...]]] = {
    GroupKind("", "Service"): (("spec.selector", True),),
    GroupKind("", "ReplicationController"): (("spec.selector", True),),
    GroupKind("policy", "PodDisruptionBudget"): (("spec.selector.matchLabels", False),),
    GroupKind("networking.k8s.io", "NetworkPolicy"): (
        ("spec.podSelector.matchLabels", False),
        ("spec.ingress[].from[].podSelector.matchLabels", False),
        ("spec.egress[].to[].podSelector.matchLabels", False),
    ),
    **{GroupKind("apps", kind): (("spec.selector.matchLabels", True),) for kind in _WORKLOADS},
}
_TEMPLATES: Final[Mapping[GroupKind, str]] = {
    GroupKind("", "ReplicationController"): "spec.template.metadata.labels",
    GroupKind("batch", "Job"): "spec.template.metadata.labels",
    GroupKind("batch", "CronJob"): "spec.jobTemplate.spec.template.metadata.labels",
    **{GroupKind("apps", kind): "spec.template.metadata.labels" for kind in _WORKLOADS},
}


def with_labels(resource: Resource, kustomization: Kustomization) -> Mapping[str, Json]:
    """Return the content of an object with the labels and annotations of a kustomization."""
    raw, metadata = resource.raw, mapping_at(resource.raw, "metadata")
    labels = {name: text for declared in kustomization.labels for name, text in declared.pairs.items()}
    changed: dict[str, Json] = {}
    for field, added in (("labels", labels), ("annotations", kustomization.annotations)):
        if added:
            changed[field] = {**mapping_at(metadata, field), **added}
    raw = {**raw, "metadata": {**metadata, **changed}}
    for declared in kustomization.labels:
        raw = _with_labels(raw, resource.ref.group_kind, declared)
    return raw


def _with_labels(raw: Mapping[str, Json], kind: GroupKind, labels: Labels) -> Mapping[str, Json]:
    """Return an object with labels where it selects by labels, or gives them to others."""
    changed: Json = raw
    for path in _label_fields(raw, kind, labels):
        before = path.get(changed)
        try:
            changed = path.put(changed, {**(before if isinstance(before, dict) else {}), **labels.pairs})
        except LookupError:
            # What has another shape there is no such object; it is left as it is.
            continue
    return changed if isinstance(changed, dict) else raw


def _label_fields(raw: Mapping[str, Json], kind: GroupKind, labels: Labels) -> Iterator[FieldPath]:
    if labels.selectors:
        for path, is_made in _SELECTORS.get(kind, ()):
            pattern = FieldPath.parse(path)
            if is_made:
                yield pattern
            else:
                yield from (field for field, _ in pattern.matches(raw))
    if labels.templates and kind in _TEMPLATES:
        yield FieldPath.parse(_TEMPLATES[kind])
