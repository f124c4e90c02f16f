"""What may be otherwise in an object once it is rendered, as gaps: patches, and what only Kustomize itself can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.fields import labels_of, mappings_at, text_at
from kubectl_policy.sources.tree.declared.patches import (
    Target,
    moves_objects,
    replacement_moves,
    replacement_targets,
    targets_in,
)
from kubectl_policy.sources.tree.declared.words import mentioned_in, refers_to_nothing, words_in
from kubectl_policy.sources.tree.placing import names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_policy.model import Json, Resource
    from kubectl_policy.sources.tree.chains import Build, Chain
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


class Changes:
    """What a number of builds may do to the objects that pass through them, other than what is known of it."""

    def __init__(
        self,
        builds: Sequence[Build],
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
        """The gaps of an object that was placed on a way: what it may become there, and what would show that."""
        numbers = [number for number in chain.builds if self._changes_more(number)]
        if not numbers:
            return
        names = names_of(resource, chain)
        given = [self._builds[number].kustomization.namespace for number in chain.builds]
        # For Kustomize, an object without a namespace is in this one.
        namespaces = [resource.ref.namespace or "default", *filter(None, given)]
        # Whatever is set in objects of some kinds is about nothing else.
        names_none = refers_to_nothing(placed.ref.group_kind)
        for number in numbers:
            kustomization = self._builds[number].kustomization
            for patch in self._patches_of(number).that_may_change(resource, names, namespaces):
                mentions = frozenset[str]() if names_none else patch.mentions
                yield gap_of(placed, f"{patch.source} patches it", patch.origin, mentions, remedy)
                if patch.moves:
                    yield Gap(
                        kind=placed.ref.kind,
                        namespace="",
                        reason=f"{patch.source} may change the name or the namespace of {placed.ref}",
                        origin=patch.origin,
                        remedy=remedy,
                        mentions=patch.mentions,
                    )
            if kustomization.raw.get("transformers"):
                reason = f"transformers of {kustomization.origin.source} may change it"
                yield gap_of(placed, reason, kustomization.origin, None, remedy)
            for configuration, source in self._configurations_of(number):
                if self._configures(configuration, placed, chain):
                    reason = f"{source} says that names or labels in it change"
                    prefix, suffix = chain.names[-1]
                    named = frozenset(prefix + word + suffix for word in words_in([dict(resource.raw)]))
                    yield gap_of(placed, reason, kustomization.origin, named, remedy)

    def _changes_more(self, number: int) -> bool:
        """Whether a build does anything to objects that is not known already."""
        own = self._builds[number].kustomization
        return bool(own.patches or own.raw.get("transformers") or own.raw.get("configurations"))

    def _patches_of(self, number: int) -> _Patches:
        if number not in self._patches:
            self._patches[number] = _Patches(self._builds[number].kustomization, self._values_in, self._source_of)
        return self._patches[number]

    def _configurations_of(self, number: int) -> list[tuple[Json, str]]:
        if number not in self._configurations:
            serving = self._builds[number].kustomization.serving
            self._configurations[number] = [
                (value, self._source_of(place))
                for place, what in serving.items()
                if what == "configuration of Kustomize"
                for value in self._values_in(place) or ()
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


class _Known:
    """What there is to say of a patch."""

    def __init__(self, origin: Origin, source: str, *, moves: bool, values: Sequence[Json] | None) -> None:
        self.origin, self.source, self.moves = origin, source, moves
        self.mentions = None if values is None else mentioned_in(values)


class _Patches:
    """The patches of one kustomization: those of one object by its kind and name, and all others."""

    def __init__(
        self,
        kustomization: Kustomization,
        values_in: Callable[[str], Sequence[Json] | None],
        source_of: Callable[[str], str],
    ) -> None:
        self._exact: dict[tuple[str, str], list[tuple[_Known, Target]]] = {}
        # By the kind that is asked for; where that is none, or may be several, by no kind.
        self._others: dict[str, list[tuple[_Known, Target]]] = {}
        for patch in kustomization.patches:
            values: Sequence[Json] | None = patch.values
            targets, moves = patch.targets, patch.moves
            if patch.file:
                values = values_in(patch.file)
                replaces = kustomization.serving.get(patch.file) == "replacement"
                flat = [item for each in values or () for item in (each if isinstance(each, list) else [each])]
                targets = targets or _named_in(flat, is_read=values is not None, replaces=replaces)
                moves = moves or any(map(replacement_moves, flat) if replaces else map(moves_objects, values or ()))
            source = source_of(patch.file) if patch.file else patch.origin.source
            origin = Origin(source, 1) if patch.file else patch.origin
            known = _Known(origin, source, moves=moves, values=values)
            for target in targets:
                if target.exact:
                    self._exact.setdefault((target.kind, target.name), []).append((known, target))
                else:
                    self._others.setdefault(target.kind if target.kind.isalnum() else "", []).append((known, target))

    def that_may_change(self, resource: Resource, names: set[str], namespaces: Sequence[str]) -> Iterator[_Known]:
        group_kind, labels = resource.ref.group_kind, labels_of(resource.raw)
        exact = [found for name in names for found in self._exact.get((group_kind.kind, name), ())]
        others = (*self._others.get(group_kind.kind, ()), *self._others.get("", ()))
        for known, target in (*exact, *others):
            if any(target.may_be(group_kind, name, namespaces, labels) for name in names):
                yield known


def _named_in(values: Sequence[Json], *, is_read: bool, replaces: bool) -> tuple[Target, ...]:
    """The objects that are named in the file of a patch, or of a replacement; any if it cannot be read."""
    if not is_read:
        return (Target(),)
    return (
        tuple(target for each in values for target in replacement_targets(each))
        if replaces
        else tuple(targets_in(values))
    )


def gap_of(
    placed: Resource,
    reason: str,
    origin: Origin,
    mentions: frozenset[str] | None = frozenset(),
    remedy: str = RENDER,
) -> Gap:
    """What is not known of one object."""
    return Gap(
        kind=placed.ref.kind,
        namespace=placed.ref.namespace,
        name=placed.ref.name,
        reason=reason,
        origin=origin,
        remedy=remedy,
        mentions=mentions,
    )
