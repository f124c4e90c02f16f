"""Objects as they are once what delivers them has been applied: their names, namespaces and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import FieldPath, GroupKind
from kubectl_policy.model.fields import mapping_at, text_at
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD
from kubectl_policy.model.unknown import unknown_namespace
from kubectl_policy.sources.tree.chains import AMBIGUOUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.tree.chains import Chain, DeclaredBuild
    from kubectl_policy.sources.tree.kustomization import Labels

# Kustomize leaves these names alone (kustomize/api/internal/builtins/PrefixTransformer.go).
_NEVER_RENAMED: Final = frozenset({CRD, NAMESPACE, GroupKind("apiregistration.k8s.io", "APIService")})
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


def place_object(
    resource: Resource, chain: Chain, builds: Sequence[DeclaredBuild], fallback_namespace: str, *, is_namespaced: bool
) -> Resource:
    """Return an object as one chain of kustomizations changes it; without a namespace, it gets `fallback_namespace`."""
    kind, written = resource.ref.group_kind, resource.ref.namespace
    prefix, suffix = chain.names[-1] if chain.names and kind not in _NEVER_RENAMED else ("", "")
    name = prefix + resource.ref.name + suffix
    namespace, namespace_from = written, None
    if chain.namespace:
        namespace, namespace_from = chain.namespace, chain.namespace_from
        if kind == NAMESPACE and namespace != AMBIGUOUS:
            name = namespace
    elif not written and chain.default:
        namespace, namespace_from = chain.default, chain.default_from
    if not is_namespaced:
        namespace, namespace_from, written = "", None, ""
    elif namespace == AMBIGUOUS:
        namespace, namespace_from = unknown_namespace(chain.root), None
    elif not namespace:
        namespace = fallback_namespace
    return replace(
        resource,
        ref=replace(resource.ref, namespace=namespace, name=name),
        raw=_with_metadata(
            resource.raw, kind, name, namespace if written else "", [builds[number] for number in chain.builds]
        ),
        namespace_from=None if namespace == written else namespace_from,
    )


def _with_metadata(
    raw: Mapping[str, Json], kind: GroupKind, name: str, namespace: str, builds: Sequence[DeclaredBuild]
) -> Mapping[str, Json]:
    """Return an object with another name and namespace, if it has one, and with the labels that builds add."""
    metadata = mapping_at(raw, "metadata")
    changed: dict[str, Json] = {"name": name, **({"namespace": namespace} if namespace else {})}
    labels: dict[str, Json] = {}
    annotations: dict[str, Json] = {}
    for build in builds:
        for pairs in build.kustomization.labels:
            labels.update(pairs.pairs)
        annotations.update(build.kustomization.annotations)
    for field, added in (("labels", labels), ("annotations", annotations)):
        if added:
            changed[field] = {**mapping_at(metadata, field), **added}
    if any(metadata.get(field) != pairs for field, pairs in changed.items()):
        raw = {**raw, "metadata": {**metadata, **changed}}
    for build in builds:
        for pairs in build.kustomization.labels:
            raw = _with_labels(raw, kind, pairs)
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


def refs_of(resource: Resource, chain: Chain) -> set[str]:
    """Return the names by which patches on a way may call an object: its own one, and those that it gets."""
    name = text_at(resource.raw, "metadata.name")
    return {name, *(prefix + name + suffix for prefix, suffix in chain.names)}
