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
    """The field with the reference; the path continues into each element of a list, and `*` stands for every key of a
    map. If a policy has [stanzas](#how-two-policies-combine), the field can also be in a stanza: `spec.rules` is also
    `spec.defaults.rules`.
    """
    by: By = "reference"
    """The form of the reference: a `reference`, a map with a `name`; a `name`, as a string; or `labels` (`matchLabels`,
    `matchExpressions`), which select any number of objects.
    """
    group: str
    """The API group of the referenced object."""
    kinds: Annotated[tuple[Name, ...], Meta(min_length=1)]
    """The allowed values of `kind` in the reference; the first one is the default."""
    other_kinds: Annotated[tuple[GroupKind, ...], Meta(min_length=1)] = ()
    """Allowed kinds of other groups. Without it: none."""
    any_kind: bool = False
    """Whether the reference can also name objects of other kinds, which are then unknown."""
    cluster_kinds: frozenset[Name] = frozenset()
    """The cluster-scoped kinds among them."""
    namespace_of: GroupKind | None = None
    """A kind with a single object, whose namespace is that of the referenced object, whatever the namespace of the
    policy. If that object was not read, the answer only says that the policy seems to refer to an object with this
    name. Without it: the namespace in the reference, or that of the policy.
    """
    all_namespaces: FieldPattern = ""
    """A field of the policy; if it is true, labels select objects in all namespaces. In a list, the field of the same
    element counts. Without it: no such field.
    """
    optional: bool = False
    """Whether the reference is optional; if there is a reference, the object must exist all the same."""
    competes: bool = False
    """Whether a policy that is invalid for this reason still conflicts with other policies."""
    when_missing: WhenMissing = "invalid"
    """The consequence if the referenced object does not exist: the policy is `invalid`, only this setting is `ignored`,
    or the consequence is `unknown`.
    """
    fail_open: FieldPattern = ""
    """A field of the policy; if it is true, only this setting is ignored instead. In a list, the field of the same
    element counts. Without it: no such field.
    """
    grant_required: bool = True
    """Whether a reference to another namespace needs a ReferenceGrant in that namespace."""
    grant_setting: Name = ""
    """The controller setting that decides whether a reference to another namespace needs a ReferenceGrant. Without it:
    it always does.
    """
    grant_values: frozenset[Name] = frozenset()
    """The values of the setting with which a ReferenceGrant is needed. Without it: none."""
    same_namespace: bool = False
    """Whether the object must be in the namespace of the policy; no ReferenceGrant permits another namespace."""
    backend_policies: frozenset[GroupKind] = frozenset()
    """The kinds of policies on backends that make connections use the object; requests to backends with such a policy
    fail if the object does not exist, or cannot be referred to. Without it: none.
    """
    port_kinds: frozenset[Name] = frozenset()
    """The kinds of which a reference must name a `port` that the object has. Without it: none."""
    keys: tuple[Name, ...] = ()
    """The keys that the data of a ConfigMap or Secret must have. Without it: none."""
    any_key: bool = False
    """Whether the data of a ConfigMap or Secret must have a key, whatever its name."""
    through: Annotated[tuple[RequiredObject, ...], Meta(min_length=1)] = ()
    """The needs of the referenced object itself, in the same format. Without it: nothing."""

    @property
    def settings(self) -> Iterator[str]:
        """The names of the settings on which this depends."""
        yield from filter(None, [self.grant_setting])
        yield from (name for need in self.through for name in need.settings)

    @property
    def group_kinds(self) -> tuple[GroupKind, ...]:
        """The kinds that it may name, as far as they are known."""
        return (*(GroupKind(self.group, kind) for kind in self.kinds), *self.other_kinds)

    def with_settings(self, values: Mapping[str, str]) -> RequiredObject:
        """Return the need under settings, all of which have values."""
        required = not self.grant_setting or values.get(self.grant_setting, "") in self.grant_values
        through = tuple(need.with_settings(values) for need in self.through)
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


class RestrictedTarget(Struct, frozen=True, rename="camel"):
    """A kind of targets that only some policies can target, or of which only some objects can be targets."""

    group_kind: Annotated[GroupKind, SPREAD]
    namespace: Name = ""
    """The namespace of the policies that can target such objects; `{name}` stands for a
    [setting](#how-controllers-are-set-up). Without it: any namespace.
    """
    names: Annotated[tuple[Name, ...], Meta(min_length=1)] = ()
    """The names of the objects that can be targets. Without it: all."""


class RequiredParameter(Struct, frozen=True, rename="camel"):
    """A field of the parameters of a Gateway, or of its class, without which a policy kind is refused there."""

    group_kind: Annotated[GroupKind, SPREAD]
    field: FieldName
    """The field below `spec` of the parameters."""
    without: Literal["allowed", "refused"] = "refused"
    """The treatment of a policy on a Gateway without such parameters; a policy on a route is allowed there."""
