"""Changes that differ only in the targets of the policies concerned, so that a reader needs them once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.questions.shared.effects import from_the_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.differences.effects import ChangedObject, EffectChange, EffectiveValue
    from kubectl_policy.resolution import Source


def alike(changes: Iterable[EffectChange]) -> list[Sequence[EffectChange]]:
    """Changes of the same fields by the same policies, by way of whatever targets; in their order."""
    by_likeness: dict[str, list[EffectChange]] = {}
    for change in changes:
        by_likeness.setdefault(repr(_likeness(change)), []).append(change)
    return list(by_likeness.values())


def joined(changes: Sequence[EffectChange]) -> EffectChange:
    """Changes that are alike as the first of them, with the objects of all."""
    if len(changes) == 1:
        return changes[0]
    objects: dict[NodeRef, list[ChangedObject]] = {}
    for changed in (changed for change in changes for changed in change.objects):
        objects.setdefault(changed.node, []).append(changed)
    return replace(changes[0], objects=tuple(_on_paths_of_all(objects[node]) for node in from_the_root(objects)))


def targets_of(changes: Sequence[EffectChange]) -> Mapping[Source, Sequence[NodeRef]]:
    """By each source of the first of some changes that are alike, the targets that it has in all of them."""
    targets: dict[Source, dict[NodeRef, None]] = {}
    for same in zip(*map(_sources, changes), strict=True):
        targets.setdefault(same[0], {}).update((source.target, None) for source in same)
    return {source: tuple(found) for source, found in targets.items()}


def _on_paths_of_all(changed: Sequence[ChangedObject]) -> ChangedObject:
    """An object on the paths of several changes; what is not known to be on some paths alone is on all."""
    first = changed[0]
    if len(changed) == 1:
        return first
    paths = {path for each in changed for path in each.affected_paths}
    if all(each.all_paths for each in changed) and len(paths) < len(first.all_paths):
        return replace(first, affected_paths=tuple(sorted(paths)))
    return replace(first, all_paths=(), affected_paths=())


def _likeness(change: EffectChange) -> object:
    # What routes say themselves, each says of itself.
    said = _value if change.profile.own else _said
    fields = [(field.field, field.security, said(field.before), said(field.after)) for field in change.fields]
    return (
        change.policy_kind,
        change.where,
        change.from_nothing,
        change.to_nothing,
        change.assumed,
        change.doubts,
        fields,
    )


def _said(value: EffectiveValue | None) -> object:
    """A value with who sets it; what an object sets itself, another one does not."""
    if value is None:
        return None
    source = value.source
    own = source.object == source.target.object and source.target
    return value.value, value.removed, value.certain, source.object, source.overrides, source.filter, own


def _value(value: EffectiveValue | None) -> object:
    return None if value is None else (value.value, value.removed)


def _sources(change: EffectChange) -> Iterator[Source]:
    for field in change.fields:
        yield from (value.source for value in (field.before, field.after) if value)
