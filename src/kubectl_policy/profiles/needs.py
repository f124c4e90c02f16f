"""Needs of policies: objects that they must refer to, and parameters of their Gateways."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.reading import SPREAD, FieldName, FieldPattern, Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


By: TypeAlias = Literal["reference", "name", "labels"]
WhenMissing: TypeAlias = Literal["invalid", "ignored", "unknown"]


class RequiredObject(Struct, frozen=True, kw_only=True, rename="camel"):
    """An object that a policy must refer to, or it is invalid; there may be several, in lists.

    What is in another namespace needs a ReferenceGrant there, unless `grant_required` says otherwise.
    """

    field: FieldPattern
    """Where the reference stands; lists on the way are gone through, and `*` stands for every key of a map. Where a
    policy has [stanzas](#how-two-policies-combine), it may stand in these as well: `spec.rules` is also
    `spec.defaults.rules`.
    """
    by: By = "reference"
    """What stands there: a `reference`, which has a `name`; that `name` alone, as text; or `labels`
    (`matchLabels`, `matchExpressions`), which select objects, or none.
    """
    group: str
    """The API group of what it names."""
    kinds: Annotated[tuple[Name, ...], Meta(min_length=1)]
    """The kinds that it may name by its own `kind`; the first is the default."""
    other_kinds: Annotated[tuple[GroupKind, ...], Meta(min_length=1)] = ()
    """Kinds of other groups that it may name as well. Without it: none."""
    any_kind: bool = False
    """Whether it may name objects of further kinds, of which nothing is known."""
    cluster_kinds: frozenset[Name] = frozenset()
    """Which of the kinds have no namespace."""
    namespace_of: GroupKind | None = None
    """A kind in the namespace of whose one object it is looked for, whatever the policy's namespace is. Where that
    object was not read, answers say that the policy seems to refer to what has such a name. Without it: the namespace
    that the reference says, or that of the policy.
    """
    all_namespaces: FieldPattern = ""
    """A field of the policy that, where it is true, has labels select in every namespace. In a list, that of the same
    element counts. Without it: no such field.
    """
    optional: bool = False
    """Whether a policy may do without the reference; what it refers to must exist even so."""
    competes: bool = False
    """Whether a policy that is invalid for this keeps others out all the same."""
    when_missing: WhenMissing = "invalid"
    """Without what it names, the policy is `invalid`, or only this setting is `ignored` and the rest of it counts; or
    that is not known: `unknown`.
    """
    fail_open: FieldPattern = ""
    """A field of the policy that, where it is true, has this setting alone ignored instead. In a list, that of the same
    element counts. Without it: no such field.
    """
    grant_required: bool = True
    """Whether a reference to another namespace needs a ReferenceGrant there."""
    grant_setting: Name = ""
    """The setting that says whether a reference to another namespace needs a ReferenceGrant there. Without it: it
    always does.
    """
    grant_value: str = ""
    """The value with which it does. Without it: empty."""
    through: Annotated[tuple[RequiredObject, ...], Meta(min_length=1)] = ()
    """What the object that is referred to needs itself, in the same way. Without it: nothing."""

    @property
    def settings(self) -> Iterator[str]:
        """The names of the settings on which this depends."""
        yield from filter(None, [self.grant_setting])
        yield from (name for need in self.through for name in need.settings)

    @property
    def group_kinds(self) -> tuple[GroupKind, ...]:
        """The kinds that it may name, as far as they are known."""
        return (*(GroupKind(self.group, kind) for kind in self.kinds), *self.other_kinds)

    def under(self, values: Mapping[str, str]) -> RequiredObject:
        """Return the need under settings, all of which have values."""
        required = not self.grant_setting or values.get(self.grant_setting, "") == self.grant_value
        through = tuple(need.under(values) for need in self.through)
        return replace(self, grant_required=self.grant_required and required, through=through)

    def within(self, stanza: str) -> RequiredObject:
        """Return the same need inside a stanza, which a policy may leave out."""
        fields = (
            re.sub(r"^spec\.", f"spec.{stanza}.", field) for field in (self.field, self.fail_open, self.all_namespaces)
        )
        field, fail_open, all_namespaces = fields
        return replace(self, field=field, fail_open=fail_open, all_namespaces=all_namespaces, optional=True)


def with_those_through(needs: Iterable[RequiredObject]) -> Iterator[RequiredObject]:
    """Yield needs and, after each, the needs of the objects that it names."""
    for need in needs:
        yield need
        yield from with_those_through(need.through)


class RequiredParameter(Struct, frozen=True, rename="camel"):
    """A field of the parameters of a Gateway, or of its class, without which a policy kind is refused there."""

    group_kind: Annotated[GroupKind, SPREAD]
    field: FieldName
    """The field, below `spec` of the parameters."""
    without: Literal["allowed", "refused"] = "refused"
    """What holds of a policy on a Gateway that has no such parameters; one on a route is allowed there."""
