"""Levels of a build: kustomizations with the objects that pass through them, and what becomes of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.model import FieldPath, GroupKind
from kubectl_policy.model.fields import labels_of, mapping_at, mappings_at, text_at
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.model.kinds import CRD
from kubectl_policy.sources.mentions import mentions_of, words_in
from kubectl_policy.sources.tree import DELIVERING
from kubectl_policy.sources.tree.roots import Doubt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import Gap, Json, Origin, Resource
    from kubectl_policy.sources.tree.kustomization import Kustomization, Labels
    from kubectl_policy.sources.tree.patches import Patch, Target
    from kubectl_policy.sources.tree.repository import Repository

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
# Fields of a configuration of Kustomize: where it puts names, namespaces, labels and annotations in objects.
_CONFIGURATION_FIELDS: Final = (
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "templateLabels",
    "commonAnnotations",
)
# Fields of a Kustomization of Flux that say nothing of the objects that it applies (kustomize.toolkit.fluxcd.io/v1).
_HARMLESS: Final = frozenset(
    {
        "decryption",
        "deletionPolicy",
        "dependsOn",
        "force",
        "healthCheckExprs",
        "healthChecks",
        "interval",
        "prune",
        "retryInterval",
        "serviceAccountName",
        "timeout",
        "wait",
    }
)


class PassingObject:
    """Object on its way through kustomizations."""

    def __init__(self, resource: Resource) -> None:
        """Start with an object as it is written."""
        self.resource = resource
        self.names = [resource.ref.name]
        # For Kustomize, an object without a namespace is in this one.
        self.namespaces = [resource.ref.namespace or "default"]
        self.doubts: dict[Doubt, None] = {}

    def rename(self, name: str) -> None:
        """Give it another name."""
        self.names.append(name)
        self.resource = replace(self.resource, ref=replace(self.resource.ref, name=name))

    def move(self, namespace: str, origin: Origin) -> None:
        """Put it into a namespace, if it lives in one; a Namespace is called so."""
        self.namespaces.append(namespace)
        if self.resource.ref.group_kind == NAMESPACE:
            self.rename(namespace)
        ref = replace(self.resource.ref, namespace=namespace)
        changed = origin if ref != self.resource.ref else self.resource.namespace_from
        self.resource = replace(self.resource, ref=ref, namespace_from=changed)

    @property
    def result(self) -> tuple[Resource, tuple[Doubt, ...]]:
        """The object with metadata that say the name and the namespace that it has come to, and what is in doubt."""
        resource, metadata = self.resource, mapping_at(self.resource.raw, "metadata")
        changed: dict[str, Json] = {**metadata, "name": resource.ref.name}
        if metadata.get("namespace"):
            changed["namespace"] = resource.ref.namespace
        if changed != metadata:
            resource = replace(resource, raw={**resource.raw, "metadata": changed})
        return resource, tuple(self.doubts)

    def apply(self, patches: Iterable[tuple[Patch, Target]], kustomization: Kustomization) -> None:
        """Apply the patches of a kustomization that may mean the object; unless it delivers others, it is in doubt."""
        kind, labels = self.resource.ref.group_kind, labels_of(self.resource.raw)
        namespaces = [*self.namespaces, *filter(None, (kustomization.namespace,))]
        for patch, target in patches:
            if not any(target.may_be(kind, name, namespaces, labels) for name in self.names):
                continue
            patched = patch.applied_to(self.resource.raw) if kind in DELIVERING else None
            if patched is not None:
                self.resource = replace(self.resource, raw=patched)
            elif kind not in DELIVERING or patch.fields - _HARMLESS:
                mentions = frozenset[str]() if _refers_to_nothing(kind) else patch.mentions
                self.doubt(patch.origin.source, patch.origin, mentions, moves=patch.moves, fields=patch.fields)

    def doubt(
        self,
        changed_by: str,
        origin: Origin,
        mentions: frozenset[str] | None,
        *,
        moves: bool = False,
        fields: frozenset[str] = frozenset({""}),
    ) -> None:
        """Note that something may change the object, and what it may come to mention."""
        reason = f"changed by {changed_by}"
        self.doubts[Doubt(reason=reason, origin=origin, mentions=mentions, moves=moves, fields=fields)] = None


class Level:
    """Kustomization on the way through a build, with the objects below it, and the gaps of others."""

    def __init__(self, kustomization: Kustomization, outer: Level | None = None) -> None:
        """Start without objects, or with those of an outer level that includes it as a component."""
        self.kustomization, self.is_component = kustomization, outer is not None
        self.objects: list[PassingObject] = outer.objects if outer else []
        self.creators: list[Gap] = outer.creators if outer else []
        self.unfetched: list[Gap] = outer.unfetched if outer else []
        # With the names of their files; they count for what is further out as well.
        self.configurations: list[tuple[Json, str]] = outer.configurations if outer else []
        resources = [(path, False) for path in kustomization.resources]
        self.unvisited = [*resources, *((path, True) for path in kustomization.components)]
        self.unvisited.reverse()

    def change(self, repository: Repository) -> None:
        """Change the objects as the kustomization does, and note what else it may do to them."""
        kustomization, origin = self.kustomization, self.kustomization.origin
        patches = _patches_by_kind(kustomization, repository)
        self.configurations += _configurations_of(kustomization, repository)
        for entry in self.objects:
            # An object that was read from a cluster is where it is.
            if text_at(entry.resource.raw, "metadata.uid"):
                continue
            kind = entry.resource.ref.group_kind
            pairs = (*patches.get(kind.kind, ()), *patches.get("", ()))
            entry.apply(((patch, target) for patch, target in pairs if not patch.replaces), kustomization)
            if kustomization.namespace:
                entry.move(kustomization.namespace, kustomization.namespace_from or origin)
            prefix, suffix = kustomization.name_prefix, kustomization.name_suffix
            if (prefix or suffix) and kind not in _NEVER_RENAMED:
                entry.rename(f"{prefix}{entry.resource.ref.name}{suffix}")
            entry.apply(((patch, target) for patch, target in pairs if patch.replaces), kustomization)
            if kustomization.labels or kustomization.annotations:
                entry.resource = replace(entry.resource, raw=_labelled(entry.resource, kustomization))
            if kustomization.raw.get("transformers"):
                entry.doubt(f"transformers of {origin.source}", origin, None, moves=True)
            self._configure(entry)

    def _configure(self, entry: PassingObject) -> None:
        """Note that configurations of Kustomize may change names in an object."""
        kustomization, kind = self.kustomization, entry.resource.ref.group_kind
        if _refers_to_nothing(kind):
            return
        renames = bool(kustomization.generates) or len(entry.names) > 1
        for configuration, source in self.configurations:
            if _configures(configuration, kind.kind, renames=renames):
                prefix, suffix = kustomization.name_prefix, kustomization.name_suffix
                mentions = words_in([dict(entry.resource.raw)])
                renamed = frozenset(prefix + mention + suffix for mention in mentions)
                entry.doubt(source, kustomization.origin, renamed)


def _configurations_of(kustomization: Kustomization, repository: Repository) -> Iterator[tuple[Json, str]]:
    for path, role in kustomization.serving.items():
        if role == "configuration of Kustomize":
            yield from ((value, repository.source_of(path)) for value in repository.values(path) or ())


def _patches_by_kind(kustomization: Kustomization, repository: Repository) -> dict[str, list[tuple[Patch, Target]]]:
    """Return patches by the kind that they name alone; those of several kinds, or any, by an empty one."""
    by_kind: dict[str, list[tuple[Patch, Target]]] = {}
    for declared in kustomization.patches:
        path, patch = declared.file, declared
        if path:
            patch = declared.read(repository.values(path), repository.source_of(path))
        for target in patch.targets:
            kind = target.kind if target.exact or target.kind.isalnum() else ""
            by_kind.setdefault(kind, []).append((patch, target))
    return by_kind


def _configures(configuration: Json, kind: str, *, renames: bool) -> bool:
    """Whether a configuration of Kustomize says of a kind where to put names that change, or labels."""
    specs = [spec for field in _CONFIGURATION_FIELDS for spec in mappings_at(configuration, field)]
    for reference in mappings_at(configuration, "nameReference") if renames else ():
        specs += mappings_at(reference, "fieldSpecs")
    return any(text_at(spec, "kind") in {"", kind} for spec in specs)


def _refers_to_nothing(group_kind: GroupKind) -> bool:
    """Whether objects of a kind are about no others that answers are about: those of Kubernetes, and of deliveries."""
    return group_kind in DELIVERING or mentions_of(group_kind, None) == frozenset()


def _labelled(resource: Resource, kustomization: Kustomization) -> Mapping[str, Json]:
    """Return the content of an object with the labels and annotations of a kustomization."""
    raw, metadata = resource.raw, mapping_at(resource.raw, "metadata")
    labels = {name: text for declared in kustomization.labels for name, text in declared.pairs.items()}
    changed: dict[str, Json] = {}
    for field, added in (("labels", labels), ("annotations", kustomization.annotations)):
        if added:
            changed[field] = {**mapping_at(metadata, field), **added}
    raw = {**raw, "metadata": {**metadata, **changed}}
    for declared in kustomization.labels:
        raw = _with_selected_labels(raw, resource.ref.group_kind, declared)
    return raw


def _with_selected_labels(raw: Mapping[str, Json], kind: GroupKind, labels: Labels) -> Mapping[str, Json]:
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
