"""Doubts about objects that are not rendered, as gaps: patches, and changes that only Kustomize can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.fields import items_at, labels_of, mapping_at, mappings_at, text_at, value_at
from kubectl_policy.model.values import cached_property, replace
from kubectl_policy.sources.tree.declared.mentions import mentioned_in, refers_to_nothing, words_in
from kubectl_policy.sources.tree.declared.patches import (
    Target,
    inline_patch,
    moves_objects,
    replacement_moves,
    replacement_targets,
    targets_in,
)
from kubectl_policy.sources.tree.placing import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.tree.chains import Chain, DeclaredBuild
    from kubectl_policy.sources.tree.declared.kustomization import Kustomization

RENDER: Final = "--render"
_GENERATED: Final = frozenset({"ConfigMap", "Secret"})
# Fields of a configuration of Kustomize: where it puts namespaces, labels and annotations in objects of some kinds.
_PLACES: Final = {
    "namespace": "namespace",
    "commonLabels": "labels",
    "labels": "labels",
    "templateLabels": "labels",
    "commonAnnotations": "annotations",
    "namePrefix": "name_prefix",
    "nameSuffix": "name_suffix",
}
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
        self._patches: dict[int, _Patches] = {}
        self._configurations: dict[int, list[tuple[Json, str]]] = {}

    def of(self, resource: Resource, chain: Chain, placed: Resource, remedy: str) -> Iterator[Gap]:
        """Return the gaps of an object that was placed on a way: what it may become there, and what would show that."""
        numbers = [number for number in chain.builds if self._changes_more(number)]
        if not numbers:
            return
        # Whatever is set in objects of some kinds is about nothing else.
        names_none = refers_to_nothing(placed.ref.group_kind)
        for patch in self.patches_on(resource, chain):
            mentions = frozenset[str]() if names_none else patch.mentions
            yield gap_of(placed, f"{patch.source} patches it", patch.origin, mentions, remedy)
            if patch.moves:
                yield _moved(placed, patch, remedy)
        for number in numbers:
            kustomization = self._builds[number].kustomization
            if kustomization.raw.get("transformers"):
                reason = f"transformers of {kustomization.origin.source} may change it"
                yield gap_of(placed, reason, kustomization.origin, None, remedy)
            for configuration, source in self._configurations_of(number):
                if self._configures(configuration, placed, chain):
                    reason = f"{source} says that names or labels in it change"
                    prefix, suffix = chain.names[-1]
                    named = frozenset(prefix + mention + suffix for mention in words_in([dict(resource.raw)]))
                    yield gap_of(placed, reason, kustomization.origin, named, remedy)

    def patches_on(self, resource: Resource, chain: Chain) -> Iterator[KnownPatch]:
        """Return the patches that may change an object on a way."""
        names = names_of(resource, chain)
        set_namespaces = [self._builds[number].kustomization.namespace for number in chain.builds]
        # For Kustomize, an object without a namespace is in this one.
        namespaces = [resource.ref.namespace or "default", *filter(None, set_namespaces)]
        for number in chain.builds:
            kustomization = self._builds[number].kustomization
            if kustomization.patches:
                if number not in self._patches:
                    self._patches[number] = _Patches(kustomization, self._values_in, self._source_of)
                yield from self._patches[number].that_may_change(resource, names, namespaces)

    def _changes_more(self, number: int) -> bool:
        """Whether a build does anything to objects that is not known already."""
        kustomization = self._builds[number].kustomization
        return bool(
            kustomization.patches or kustomization.raw.get("transformers") or kustomization.raw.get("configurations")
        )

    def _configurations_of(self, number: int) -> list[tuple[Json, str]]:
        if number not in self._configurations:
            serving = self._builds[number].kustomization.serving
            self._configurations[number] = [
                (value, self._source_of(path))
                for path, role in serving.items()
                if role == "configuration of Kustomize"
                for value in self._values_in(path) or ()
            ]
        return self._configurations[number]

    def _configures(self, configuration: Json, placed: Resource, chain: Chain) -> bool:
        """Whether a configuration lets something on a way change more of an object of that kind than it would."""
        on_the_way = [self._builds[number].kustomization for number in chain.builds]
        renames = chain.names[-1:] not in {(), (("", ""),)}
        generates = any(build.generates for build in on_the_way)
        specs = [
            spec
            for reference in mappings_at(configuration, "nameReference")
            if renames or (generates and text_at(reference, "kind") in _GENERATED)
            for spec in mappings_at(reference, "fieldSpecs")
        ]
        for field, attribute in _PLACES.items():
            if any(getattr(build, attribute) for build in on_the_way):
                specs += mappings_at(configuration, field)
        return any(text_at(spec, "kind") in {"", placed.ref.kind} for spec in specs)


class KnownPatch:
    """A patch in a file or in a kustomization; `values` are None if it cannot be read."""

    def __init__(self, origin: Origin, source: str, *, moves: bool, values: Sequence[Json] | None) -> None:
        """Know what it mentions."""
        self.origin, self.source, self.moves, self.values = origin, source, moves, values
        self.mentions = None if values is None else mentioned_in(values)

    @cached_property
    def fields(self) -> frozenset[str]:
        """The fields of the spec that it sets; with an empty one, any of them."""
        fields: set[str] = set() if self.values else {""}
        for document in self.values or ():
            for operation in document if isinstance(document, list) else ():
                steps = text_at(operation, "path").strip("/").split("/")
                fields.add(steps[1] if steps[0] == "spec" and len(steps) > 1 else "")
            if not isinstance(document, list):
                fields.update(mapping_at(document, "spec"))
        return frozenset(fields)

    def patches_in(self) -> Iterator[Target]:
        """List the patches that this patch gives to a Kustomization of Flux."""
        for document in self.values or ():
            entries: list[Json] = [*mappings_at(document, "spec.patches")]
            for operation in document if isinstance(document, list) else ():
                if text_at(operation, "path").startswith("/spec/patches"):
                    set_there = value_at(operation, "value")
                    entries = [
                        *entries,
                        *items_at(operation, "value"),
                        *([set_there] if isinstance(set_there, dict) else ()),
                    ]
            for patch in entries:
                inner = patch if isinstance(patch, dict) else {}
                yield from inline_patch(inner.get("patch"), inner.get("target"), self.origin).targets


class _Patches:
    """The patches of one kustomization: those of one object by its kind and name, and all others."""

    def __init__(
        self,
        kustomization: Kustomization,
        values_in: Callable[[str], Sequence[Json] | None],
        source_of: Callable[[str], str],
    ) -> None:
        self._exact: dict[tuple[str, str], list[tuple[KnownPatch, Target]]] = {}
        # By the kind that is asked for; where that is none, or may be several, by no kind.
        self._others: dict[str, list[tuple[KnownPatch, Target]]] = {}
        for patch in kustomization.patches:
            values: Sequence[Json] | None = patch.values
            targets, moves = patch.targets, patch.moves
            if patch.file:
                values = values_in(patch.file)
                replaces = kustomization.serving.get(patch.file) == "replacement"
                flat = [
                    item
                    for document in values or ()
                    for item in (document if isinstance(document, list) else [document])
                ]
                targets = targets or _named_in(flat, is_read=values is not None, replaces=replaces)
                moves = moves or any(map(replacement_moves, flat) if replaces else map(moves_objects, values or ()))
            source = source_of(patch.file) if patch.file else patch.origin.source
            origin = Origin(source, 1) if patch.file else patch.origin
            known = KnownPatch(origin, source, moves=moves, values=values)
            for target in targets:
                if target.exact:
                    self._exact.setdefault((target.kind, target.name), []).append((known, target))
                else:
                    self._others.setdefault(target.kind if target.kind.isalnum() else "", []).append((known, target))

    def that_may_change(self, resource: Resource, names: set[str], namespaces: Sequence[str]) -> Iterator[KnownPatch]:
        group_kind, labels = resource.ref.group_kind, labels_of(resource.raw)
        exact = [patch for name in names for patch in self._exact.get((group_kind.kind, name), ())]
        selecting = (*self._others.get(group_kind.kind, ()), *self._others.get("", ()))
        for known, target in (*exact, *selecting):
            if any(target.may_be(group_kind, name, namespaces, labels) for name in names):
                yield known


def _named_in(values: Sequence[Json], *, is_read: bool, replaces: bool) -> tuple[Target, ...]:
    """Return the targets in the file of a patch or of a replacement; any object if it cannot be read."""
    if not is_read:
        return (Target(),)
    return (
        tuple(target for document in values for target in replacement_targets(document))
        if replaces
        else tuple(targets_in(values))
    )


def applied_otherwise(
    placed: Resource, applied_by: Resource, patch: KnownPatch, remedy: str, *, has_variables: bool
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
        reason = f"{patch.source} patches {applied_by.ref}, which applies it"
        yield gap_of(placed, reason, patch.origin, patch.mentions, remedy)
        if not patches_alone:
            yield _moved(placed, patch, remedy)


def _moved(placed: Resource, patch: KnownPatch, remedy: str) -> Gap:
    reason = f"{patch.source} may change the name or the namespace of {placed.ref}"
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
