"""Gaps of what is not rendered: patches and changes of objects, and creators of further objects."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy.lazy import cached_method
from kubectl_policy.model import Gap
from kubectl_policy.model.fields import labels_of, mappings_at, text_at
from kubectl_policy.sources.mentions import mentions_of, words_in
from kubectl_policy.sources.tree import DELIVERING
from kubectl_policy.sources.tree.delivery import (
    Application,
    FluxKustomization,
    HelmRelease,
    delivery_of,
)
from kubectl_policy.sources.tree.placing import refs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_policy.model import Json, Origin, Resource
    from kubectl_policy.sources.tree.chains import Chain, DeclaredBuild
    from kubectl_policy.sources.tree.patches import Patch, Target

    _PatchesByTarget: TypeAlias = dict[tuple[str, str], list[tuple[Patch, Target]]]
    from collections.abc import Mapping

    from kubectl_policy.model import GroupKind
    from kubectl_policy.sources.tree.ground import Ground

RENDER: Final = "--render"
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
# What of a Kustomization of Flux says nothing of the objects that it applies (kustomize.toolkit.fluxcd.io/v1).
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
_TEMPLATE: Final = "add the output of `helm template`"
_FETCHED: Final = "add the manifests that it fetches"
_GENERATORS: Final[Mapping[str, str]] = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}


class UnappliedPatches:
    """Patches of builds that may change the objects that pass through them, and are not applied."""

    def __init__(
        self,
        builds: Sequence[DeclaredBuild],
        values_in: Callable[[str], Sequence[Json] | None],
        source_of: Callable[[str], str],
    ) -> None:
        """Know the builds. `values_in` reads the documents at a place, None if it cannot be read; it has a name."""
        self._builds = builds
        self._values_in = values_in
        self._source_of = source_of

    def of(self, resource: Resource, chain: Chain, placed: Resource, remedy: str) -> Iterator[Gap]:
        """Return the gaps of an object that was placed on a way: what it may become there, and what would show that."""
        numbers = [number for number in chain.builds if self._changes_more(number)]
        if not numbers:
            return
        # Whatever is set in objects of some kinds is about nothing else.
        names_none = refers_to_nothing(placed.ref.group_kind)
        generates = any(self._builds[number].kustomization.generates for number in chain.builds)
        renames = generates or chain.names[-1:] not in {(), (("", ""),)}
        for patch in self.patches_on(resource, chain):
            mentions = frozenset[str]() if names_none else patch.mentions
            yield gap_of(placed, f"{patch.origin.source} patches it", patch.origin, mentions, remedy)
            if patch.moves:
                yield _moved_gap(placed, patch, remedy)
        for number in numbers:
            kustomization = self._builds[number].kustomization
            if kustomization.raw.get("transformers"):
                reason = f"transformers of {kustomization.origin.source} may change it"
                yield gap_of(placed, reason, kustomization.origin, None, remedy)
            for configuration, source in self._configurations_of(number):
                if _configures(configuration, placed.ref.kind, renames=renames):
                    reason = f"{source} says that names or labels in it change"
                    prefix, suffix = chain.names[-1]
                    named = frozenset(prefix + mention + suffix for mention in words_in([dict(resource.raw)]))
                    yield gap_of(placed, reason, kustomization.origin, named, remedy)

    def patches_on(self, resource: Resource, chain: Chain) -> Iterator[Patch]:
        """Return the patches that may change an object on a way."""
        names = refs_of(resource, chain)
        set_namespaces = [self._builds[number].kustomization.namespace for number in chain.builds]
        # For Kustomize, an object without a namespace is in this one.
        namespaces = [resource.ref.namespace or "default", *filter(None, set_namespaces)]
        group_kind, labels = resource.ref.group_kind, labels_of(resource.raw)
        keys = [*((group_kind.kind, name) for name in names), (group_kind.kind, ""), ("", "")]
        for by_target in map(self._patches_of, chain.builds):
            for patch, target in (pair for key in keys for pair in by_target.get(key, ())):
                if any(target.may_be(group_kind, name, namespaces, labels) for name in names):
                    yield patch

    def _changes_more(self, number: int) -> bool:
        """Whether a build does anything to objects that is not known already."""
        kustomization = self._builds[number].kustomization
        return bool(
            kustomization.patches or kustomization.raw.get("transformers") or kustomization.raw.get("configurations")
        )

    @cached_method
    def _configurations_of(self, number: int) -> list[tuple[Json, str]]:
        return [
            (value, self._source_of(path))
            for path, role in self._builds[number].kustomization.serving.items()
            if role == "configuration of Kustomize"
            for value in self._values_in(path) or ()
        ]

    @cached_method
    def _patches_of(self, number: int) -> _PatchesByTarget:
        """Return the patches of a build by the kind and name that they name alone, by a kind, or by nothing."""
        by_target: _PatchesByTarget = {}
        for declared in self._builds[number].kustomization.patches:
            path, patch = declared.file, declared
            if path:
                patch = declared.read(self._values_in(path), self._source_of(path))
            for target in patch.targets:
                kind = target.kind if target.exact or target.kind.isalnum() else ""
                by_target.setdefault((kind, target.name if target.exact else ""), []).append((patch, target))
        return by_target


def _configures(configuration: Json, kind: str, *, renames: bool) -> bool:
    """Whether a configuration of Kustomize says of a kind where to put names that change, or labels."""
    specs = [spec for field in _CONFIGURATION_FIELDS for spec in mappings_at(configuration, field)]
    for reference in mappings_at(configuration, "nameReference") if renames else ():
        specs += mappings_at(reference, "fieldSpecs")
    return any(text_at(spec, "kind") in {"", kind} for spec in specs)


def gaps_of_patched_delivery(
    placed: Resource, applied_by: Resource, patch: Patch, remedy: str, *, has_variables: bool
) -> Iterator[Gap]:
    """Return the gaps of an object for a patch of the Kustomization of Flux that applies it."""
    fields = patch.fields - _HARMLESS
    if not has_variables:
        fields -= {"postBuild"}
    patches_alone = fields == frozenset({"patches"})
    if patches_alone:
        labels, namespaces = labels_of(placed.raw), [placed.ref.namespace]
        targets = patch.patches_in()
        if not any(target.may_be(placed.ref.group_kind, placed.ref.name, namespaces, labels) for target in targets):
            return
    if fields:
        reason = f"{patch.origin.source} patches {applied_by.ref}, which applies it"
        yield gap_of(placed, reason, patch.origin, patch.mentions, remedy)
        if not patches_alone:
            yield _moved_gap(placed, patch, remedy)


def _moved_gap(placed: Resource, patch: Patch, remedy: str) -> Gap:
    reason = f"{patch.origin.source} may change the name or the namespace of {placed.ref}"
    return replace(gap_of(placed, reason, patch.origin, patch.mentions, remedy), namespace="", name="")


def gap_of(
    placed: Resource,
    reason: str,
    origin: Origin,
    mentions: frozenset[str] | None = frozenset(),
    remedy: str = RENDER,
) -> Gap:
    """Return the gap for one object."""
    return Gap(
        kind=placed.ref.kind,
        namespace=placed.ref.namespace,
        name=placed.ref.name,
        reason=reason,
        origin=origin,
        remedy=remedy,
        mentions=mentions,
    )


def creator_gap(
    creator: str, namespace: str, origin: Origin | None, remedy: str = "", mentions: frozenset[str] | None = None
) -> Gap:
    """Return the gap for any objects that something may create."""
    reason = f"{creator} in namespace {namespace}" if namespace else creator
    return Gap(kind="", namespace=namespace, reason=reason, origin=origin, remedy=remedy, mentions=mentions)


def gaps_of_release(
    resource: Resource, ground: Ground, values_of: Callable[[str], Sequence[Json] | None]
) -> Iterator[Gap]:
    """Yield the gaps of a placed HelmRelease; `values_of` returns the values in a ConfigMap that is here."""
    release = delivery_of(resource)
    if not isinstance(release, HelmRelease):
        return
    path = ground.absolute_path(resource.origin.source)
    is_here = release.is_in_git and ground.resolve(release.chart, path) is not None
    # What is secret is not read, and rarely names anything.
    config_maps = [values_of(reference.name) for reference in release.values_from if reference.kind == "ConfigMap"]
    values = [reference for known in config_maps for reference in known or ()]
    names = [resource.ref.name, release.release_name, release.chart, release.namespace]
    yield creator_gap(
        f"{resource.ref} (chart not {'rendered' if is_here else 'here'}) may create objects",
        release.namespace,
        resource.origin,
        RENDER if is_here else _TEMPLATE,
        None if None in config_maps else words_in([release.values, *values, *names]),
    )


def gaps_of_application(application: Application, ground: Ground) -> Iterator[Gap]:
    """Yield the gaps of an Application for sources that are no manifests here."""
    resource = application.resource
    path = ground.absolute_path(resource.origin.source)
    for source in application.sources:
        folder = ground.resolve(source.path, path) if source.path else None
        is_chart = folder is not None and f"{folder}/Chart.yaml" in ground.sources
        if (source.name and not source.path and not source.chart) or (folder is not None and not is_chart):
            continue
        missing = "chart" if source.chart else source.path or "its source"
        problem = "chart not rendered" if is_chart else f"{missing} not here"
        yield creator_gap(
            f"{resource.ref.kind} {application.name} ({problem}) may create objects",
            application.namespace,
            resource.origin,
            RENDER if is_chart else _TEMPLATE if source.chart else _FETCHED,
            words_in([source.helm, application.name, source.chart, source.path]),
        )


def gaps_of_flux(delivery: FluxKustomization, ground: Ground) -> Iterator[Gap]:
    """Yield the gap of a Kustomization of Flux for a folder that is not here."""
    resource = delivery.resource
    if ground.resolve(delivery.path, ground.absolute_path(resource.origin.source)) is None:
        creator = f"{resource.ref} ({delivery.path or 'its source'} not here) may create objects"
        mentions = words_in([resource.ref.name, delivery.path, dict(delivery.substitute)])
        yield creator_gap(creator, delivery.namespace, resource.origin, _FETCHED, mentions)


def gap_of_chart(folder: str, ground: Ground, values_in: Callable[[str], str]) -> Gap:
    """Yield the gap of a chart that is here, wherever it is installed."""
    source = ground.source_of(folder)
    inside = [path for path in ground.sources if path.startswith(f"{folder}/")]
    mentions = words_in([values_in(path) for path in inside])
    return creator_gap(f"the Helm chart {source} (not rendered) may create objects", "", None, RENDER, mentions)


def gaps_of_build(build: DeclaredBuild, chain: Chain, is_here: Callable[[str], bool]) -> Iterator[Gap]:
    """Yield the gaps of a kustomization on one way for objects that its files do not show."""
    kustomization = build.kustomization
    namespace, origin = chain.namespace or kustomization.namespace, kustomization.origin
    missing = [path for path in (*kustomization.resources, *kustomization.components) if not is_here(path)]
    for reference in (*kustomization.remote, *(posixpath.relpath(path, kustomization.folder) for path in missing)):
        creator = f"{origin.source} takes in {reference}, which is not here and may create objects"
        yield creator_gap(creator, namespace, origin, _FETCHED, words_in([reference]))
    for field, kind in _GENERATORS.items():
        for generator in mappings_at(kustomization.raw, field):
            if text_at(generator, "name"):
                yield Gap(
                    kind=kind,
                    namespace=text_at(generator, "namespace") or namespace,
                    name=text_at(generator, "name"),
                    reason=f"a generator of {origin.source} makes it",
                    origin=origin,
                    remedy=RENDER,
                    mentions=frozenset(),
                )
    for chart in kustomization.charts:
        creator = f"{origin.source} may create objects of chart {text_at(chart, 'name')}"
        mentions = None if text_at(chart, "valuesFile") else words_in([chart])
        yield creator_gap(creator, text_at(chart, "namespace") or namespace, origin, _TEMPLATE, mentions)
    if kustomization.raw.get("generators"):
        yield creator_gap(f"generators of {origin.source} may create objects", namespace, origin, RENDER, None)


def refers_to_nothing(group_kind: GroupKind) -> bool:
    """Whether objects of a kind are about no others that answers are about: those of Kubernetes, and of deliveries."""
    return group_kind in DELIVERING or mentions_of(group_kind, None) == frozenset()
