"""The fields of the outcomes of two states that differ: in their value, or in who sets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from kubectl_policy.model.fields import same_json
from kubectl_policy.questions.shared.declared import named_leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import Pair, StateComparison
    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.resolution import EffectivePolicy, Source
    from kubectl_policy.resolution.traced import Field

# From the worst to the least: what nothing stands for any more, then what is otherwise, new, or only from elsewhere.
ChangeSort: TypeAlias = Literal["lost", "changed", "gained", "moved"]
SORTS: Final[tuple[ChangeSort, ...]] = ("lost", "changed", "gained", "moved")


class EffectiveValue(NamedTuple):
    """An effective value and who set it; `removed` if that removes the field."""

    value: Json
    source: Source
    removed: bool

    def is_like(self, other: EffectiveValue) -> bool:
        """Whether the other one is the same value from the same source."""
        return self[1:] == other[1:] and same_json(self.value, other.value)


class FieldChange(NamedTuple):
    """A field of which the value, or who sets it, differs; None where nothing sets it.

    Without a name it is about a policy that takes part without declaring any field. `security` is whether the profile
    of its kind counts the field as relevant to security.
    """

    field: str
    before: EffectiveValue | None
    after: EffectiveValue | None
    security: bool

    @property
    def sort(self) -> ChangeSort:
        """Whether the setting is lost, changed, gained or only set by somebody else."""
        old, new = self._is_set(self.before), self._is_set(self.after)
        if old and new:
            same = self.before and self.after and same_json(self.before.value, self.after.value)
            return "moved" if same else "changed"
        return "lost" if old else "gained" if new else "moved"

    @staticmethod
    def _is_set(value: EffectiveValue | None) -> bool:
        return value is not None and not value.removed


class Difference(NamedTuple):
    """The fields that differ, with a text that is the same wherever they do so in the same way.

    `from_nothing` and `to_nothing` say whether no policy is in force before, or after.
    """

    fields: tuple[FieldChange, ...]
    key: str
    from_nothing: bool
    to_nothing: bool


class FieldChanges:
    """What differs of pairs of outcomes; each is looked at once, on however many paths it stands."""

    def __init__(self, comparison: StateComparison) -> None:
        """Remember where to look up what is known of kinds."""
        self._comparison = comparison
        # The outcomes are kept with what was found, so that no other object can come to have the same identity.
        self._known: dict[tuple[object, ...], tuple[Difference, Pair]] = {}

    def of(self, pair: Pair) -> Difference:
        """What differs of a pair of outcomes."""
        outcomes = (pair.before, pair.after)
        parts = [part for found in outcomes for part in ((found.spec, found.members) if found else (None, None))]
        end = pair.path[-1].object.group_kind
        key = (*map(id, parts), pair.kind, end)
        if key not in self._known:
            fields = tuple(self._fields(pair))
            found = Difference(fields, _key(fields), _sets_nothing(pair.before), _sets_nothing(pair.after))
            self._known[key] = (found, pair)
        return self._known[key][0]

    def _fields(self, pair: Pair) -> Iterator[FieldChange]:
        before = _named(pair.before, self._comparison.before)
        after = _named(pair.after, self._comparison.after)
        for field in {**before, **after}:
            one, other = before.get(field), after.get(field)
            if one is None or other is None or not one.value.is_like(other.value):
                known = one or after[field]
                yield FieldChange(
                    known.name,
                    one and one.value,
                    other and other.value,
                    any(found.security for found in (one, other) if found),
                )
        old, new = _mute(pair.before, self._comparison.before), _mute(pair.after, self._comparison.after)
        yield from _without_fields(old, new)


class _Named(NamedTuple):
    name: str
    security: bool
    value: EffectiveValue


def _named(effective: EffectivePolicy | None, analysis: Analysis) -> Mapping[Field, _Named]:
    """The effective fields of an outcome by where they stand in it."""
    if effective is None:
        return {}
    profile = analysis.registry.known(effective.kind).at(effective.target.object.group_kind)
    return {
        found.field: _Named(
            found.name,
            profile.is_security(found.field[1:] if profile.all_apply else found.field),
            EffectiveValue(found.leaf.value, found.leaf.source, found.leaf.removed),
        )
        for found in named_leaves(effective.spec, profile)
    }


def _without_fields(old: Mapping[ObjectRef, Source], new: Mapping[ObjectRef, Source]) -> Iterator[FieldChange]:
    """Policies that take part without declaring a field, in one of the states alone."""
    for policy in sorted({*old, *new}):
        if (policy in old) != (policy in new):
            before = EffectiveValue({}, old[policy], removed=False) if policy in old else None
            after = EffectiveValue({}, new[policy], removed=False) if policy in new else None
            yield FieldChange("", before, after, security=False)


def _sets_nothing(effective: EffectivePolicy | None) -> bool:
    return effective is None or not effective.policies_in_force()


def _mute(effective: EffectivePolicy | None, analysis: Analysis) -> Mapping[ObjectRef, Source]:
    """The policies that take part in an outcome without declaring a field, also where each is apart from the others."""
    if effective is None:
        return {}
    profile = analysis.registry.known(effective.kind).at(effective.target.object.group_kind)
    return {
        part.source.object: part.source
        for part in effective.contributions
        if part.source in effective.members and not any(named_leaves(part.spec, profile))
    }


def _key(fields: Iterable[FieldChange]) -> str:
    return json.dumps([[field.field, _plain(field.before), _plain(field.after)] for field in fields], default=str)


def _plain(value: EffectiveValue | None) -> Json:
    return None if value is None else [value.value, repr(value.source), value.removed]
