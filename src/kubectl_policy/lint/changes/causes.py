"""Causes of findings about objects that a change does not touch: the changed object, and its changed field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lazy import cached_method
from kubectl_policy.model.body import strings_in
from kubectl_policy.model.fields import WHOLE, same_json, text_at
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_SETS, NAMESPACE, REFERENCE_GRANT, ROUTES
from kubectl_policy.model.world import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.model import FieldPath, Json, ObjectRef, Resource

# How far a cause is looked for above an object: from a route by its Gateway to the class of that.
_MAX_STEPS: Final = 3


class CausingChange(Struct, frozen=True):
    """A change of a field of an object, or of the whole object."""

    resource: Resource
    """The object after the change, or before it if it is deleted."""
    field: FieldPath
    words: str
    """The change as a clause: `https is gone from spec.listeners`."""


class Causes:
    """The changed objects behind findings in one world."""

    def __init__(self, comparison: StateComparison) -> None:
        """Keep both states."""
        self._comparison = comparison

    def of(self, finding: Finding) -> ObjectRef | None:
        """Return the changed object that a finding about an unchanged one is due to, or None if none is known."""
        changed, subject = self._comparison.changed, finding.subject
        if subject is None or subject in changed:
            return None
        related = (related.object for related in finding.related if related.object in changed)
        return next(related, None) or self._near(subject)

    @cached_method
    def _near(self, subject: ObjectRef) -> ObjectRef | None:
        """Return the changed object that is nearest to an unchanged one; the only changed one is behind everything."""
        changed = self._comparison.changed
        if len(changed) == 1:
            return next(iter(changed))
        around = [subject]
        for _ in range(_MAX_STEPS):
            cause = next((cause for ref in around for cause in self._changed_around(ref)), None)
            if cause:
                return cause
            around = [above for ref in around for above in self._above(ref)]
        return None

    def _changed_around(self, ref: ObjectRef) -> Iterator[ObjectRef]:
        """Yield the changed objects that an object names, or that name it, and those that permit its references."""
        changed = self._comparison.changed
        yield from (obj for obj in self._named_by(ref) if obj in changed)
        for candidate in self._naming.get(ref.name, ()):
            if ref.namespace in {"", candidate.namespace} or ref.namespace in self._strings(candidate):
                yield candidate
        namespaces = {ref.namespace, *self._strings(ref)}
        for candidate in sorted(changed):
            is_home = candidate.group_kind == NAMESPACE and candidate.name in namespaces
            if is_home or (candidate.group_kind == REFERENCE_GRANT and candidate.namespace in namespaces):
                yield candidate

    def _named_by(self, ref: ObjectRef) -> list[ObjectRef]:
        """Return the changed objects that an object names."""
        strings = self._strings(ref)
        return [
            candidate
            for name in strings
            for candidate in self._by_name.get(name, ())
            if candidate.namespace in {"", ref.namespace} or candidate.namespace in strings
        ]

    def _above(self, ref: ObjectRef) -> Iterator[ObjectRef]:
        """Yield the objects to which an object belongs: parents of a route, class of a Gateway, targets of a policy."""
        after = self._comparison.after
        topology, gateways = after.topology, after.topology.gateways
        if ref.group_kind in ROUTES:
            yield from (binding.parent for binding in topology.bindings(ref))
        elif ref.group_kind in LISTENER_SETS:
            yield from filter(None, [gateways.gateway_of(ref)])
        elif ref.group_kind == GATEWAY:
            yield from filter(None, [gateways.class_of(ref)])
        else:
            targets = (attachment.target for attachment in after.attachments.get(ref, ()))
            yield from (target.object for target in targets if target)

    @cached_method
    def _strings(self, ref: ObjectRef) -> Mapping[str, None]:
        """Return the strings in an object, in both states, without its own name; in their order."""
        states = (self._comparison.after, self._comparison.before)
        resources = filter(None, (state.index.get(ref) for state in states))
        return dict.fromkeys(text for resource in resources for text in strings_in(resource.raw.get("spec")))

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[ObjectRef]]:
        return grouped((ref.name, ref) for ref in sorted(self._comparison.changed))

    @cached_property
    def _naming(self) -> Mapping[str, Sequence[ObjectRef]]:
        """The changed objects by the strings in them."""
        return grouped((text, ref) for ref in sorted(self._comparison.changed) for text in self._strings(ref))

    def change(self, cause: ObjectRef, subject: ObjectRef) -> CausingChange:
        """Return the first change of a field of an object; rather of one whose former value the subject names."""
        states = (self._comparison.before, self._comparison.after)
        before, after = (state.index.get(cause) for state in states)
        resource = after or before
        assert resource  # noqa: S101 (what differs between two states is in one of them)
        if not (before and after):
            return CausingChange(resource, WHOLE, "it is deleted" if before else "it is new")
        edits = list(changed_fields(before.raw, after.raw))
        named = self._strings(subject).keys()
        meant = (edit for edit in edits if not named.isdisjoint(strings_in(edit[1])))
        of_spec = (edit for edit in edits if edit[0].steps[:1] == ("spec",))
        field, former = next(meant, None) or next(of_spec, None) or edits[0]
        return CausingChange(resource, field, _words(field, former))


def _words(field: FieldPath, former: Json) -> str:
    name = text_at(former, "name")
    if name:
        return f"{name} is gone from {field}"
    return f"{field} was {former}" if isinstance(former, str | int | float) else f"{field} is changed"


def changed_fields(before: Json, after: Json, path: FieldPath = WHOLE) -> Iterator[tuple[FieldPath, Json]]:
    """Yield the fields that differ, each with its former value; of a removed one, the field that contained it."""
    if same_json(before, after):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            if key in before and key in after:
                yield from changed_fields(before[key], after[key], path / key)
            else:
                yield (path, before[key]) if key in before else (path / key, None)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        yield from _changed_items(before, after, path)
    else:
        yield path, before


def _changed_items(before: Sequence[Json], after: Sequence[Json], path: FieldPath) -> Iterator[tuple[FieldPath, Json]]:
    if len(before) == len(after):
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changed_fields(old, new, path / position)
        return
    former = {name_of_item(item): item for item in before}
    names = {name_of_item(item) for item in after}
    for name, item in former.items():
        if name not in names:
            yield path, item
    for position, item in enumerate(after):
        name = name_of_item(item)
        if name in former:
            yield from changed_fields(former[name], item, path / position)
        else:
            yield path / position, None


def name_of_item(item: Json) -> str:
    """Return what identifies an item of a list: its name, or else all of it."""
    return text_at(item, "name") or repr(item)
