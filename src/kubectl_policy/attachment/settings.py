"""References in settings of policies, by their profile or by their form; backends that policies call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from kubectl_policy.attachment.attachment import NamedNeed, NotAttached
from kubectl_policy.attachment.validity import named_needs
from kubectl_policy.lazy import cached_method
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.fields import FieldPath, each_mapping, text_at
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.topology.references import refer

if TYPE_CHECKING:
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile

Without: TypeAlias = Literal["requests fail", "policy invalid", "setting ignored", "calls fail", "one less", "unknown"]
# What a reference may be called besides the kind that it names.
_CALLED: Final = {"backend": SERVICE}
# The kind of something of which only the name is known.
ANY_KIND: Final = GroupKind("", "")
# What these hold is not written by the people who write policies.
_NO_SETTINGS: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


class Call(Struct, frozen=True, kw_only=True):
    """A reference of a policy to a backend to which the policy sends its own requests."""

    policy: Annotated[ObjectRef, Meta(description="The policy that sends requests.")]
    field: Annotated[str, Meta(description="The field in which the policy names the backend.")]
    backend: Annotated[ObjectRef, Meta(description="The backend that receives them.")]


def calls_of(index: Index, policy: Resource, profile: PolicyKindProfile) -> Iterator[Call]:
    """Yield the backends that a policy asks, by `PolicyKindProfile.backend_fields`, in the order of these."""
    for path in profile.backend_fields:
        for field, reference in each_mapping(index.defaulted(policy.ref), path):
            if text_at(reference, "name"):
                backend = refer(index, reference, policy.ref.namespace, SERVICE)
                yield Call(policy=policy.ref, field=str(field), backend=backend)


class SettingsReference(Struct, frozen=True, kw_only=True):
    """A reference from the settings of a policy to an object.

    What no profile says is guessed by the shape of the reference, or the namespace by the name of an object; the kind
    of such an object may not be known at all, and then is `ANY_KIND`.
    """

    policy: Annotated[ObjectRef, Meta(description="The policy with the reference.")]
    field: Annotated[str, Meta(description="The field with the reference, in the policy or in the object of `of`.")]
    object: Annotated[ObjectRef, Meta(description="The referenced object; its kind is empty if unknown.")]
    without: Annotated[Without, Meta(description="The consequence if the object does not exist.")]
    of: Annotated[
        ObjectRef | None, Meta(description="The object that holds the field; null if it is the policy itself.")
    ] = None
    guessed: Annotated[
        bool,
        Meta(description="True if no profile defines the field as a reference; it only has the form of a reference."),
    ] = False


class SettingsReferences:
    """Reads the references of policies to other objects than their targets, from one snapshot."""

    def __init__(self, index: Index) -> None:
        """Remember where to look; kinds are looked up by what references call them, once each."""
        self._index = index
        # Those of which there are objects come first.
        self._kinds = tuple(dict.fromkeys((*index.group_kinds, *index.kinds)))

    def of(self, policy: Resource, profile: PolicyKindProfile) -> Iterator[SettingsReference]:
        """Yield the references in the settings of a policy, those that its profile declares first."""
        index, known = self._index, set[str]()
        filled = index.with_defaults(policy)
        for need in named_needs(index, filled, profile.every_need):
            if isinstance(need, NotAttached):
                continue
            of = None if need.owner == policy.ref else need.owner
            if of is None:
                known.add(need.field)
            yield SettingsReference(
                policy=policy.ref,
                field=need.field,
                object=need.ref,
                without=_consequence(need, profile),
                of=of,
                guessed=need.guessed,
            )
        for call in calls_of(index, policy, profile):
            if call.field not in known:
                known.add(call.field)
                yield SettingsReference(policy=policy.ref, field=call.field, object=call.backend, without="calls fail")
        for path, reference in _reference_like(filled.raw, (), frozenset(profile.reference_fields)):
            if str(path) not in known:
                obj = self._guessed_object(reference, path, policy.ref.namespace)
                yield SettingsReference(policy=policy.ref, field=str(path), object=obj, without="unknown", guessed=True)

    def _guessed_object(self, reference: Mapping[str, Json], path: FieldPath, home: str) -> ObjectRef:
        """Return the object that a reference seems to name: of its kind, or of one by the field's name."""
        kind_name = text_at(reference, "kind")
        called = next(step for step in reversed(path.steps) if isinstance(step, str))
        kind = (
            self._of_group(kind_name, reference)
            if kind_name
            else self._named_like(called.removesuffix("s")[:-3].lower())
        )
        namespaced = kind == ANY_KIND or self._index.namespaced(kind)
        namespace = (text_at(reference, "namespace") or home) if namespaced else ""
        return ObjectRef(kind, namespace, text_at(reference, "name"))

    def _of_group(self, kind_name: str, reference: Mapping[str, Json]) -> GroupKind:
        """Return the kind of a name; without a group, that of the first known kind of this name."""
        version = text_at(reference, "apiVersion")
        group = reference.get("group", version.rpartition("/")[0] if version else None)
        if isinstance(group, str):
            return GroupKind(group, kind_name)
        return next((kind for kind in self._kinds if kind.kind == kind_name), GroupKind("", kind_name))

    @cached_method
    def _named_like(self, called: str) -> GroupKind:
        """Return the kind that a field is called after: `caSecret` after Secret, `extension` after GatewayExtension."""
        ending = [kind for kind in self._kinds if called.endswith(kind.kind.lower())]
        longest = max(ending, key=lambda kind: len(kind.kind), default=None)
        longer = (kind for kind in self._kinds if called and kind.kind.lower().endswith(called))
        return longest or _CALLED.get(called) or next(longer, ANY_KIND)


def _consequence(need: NamedNeed, profile: PolicyKindProfile) -> Without:
    """Return what follows for a policy if an object that it names is missing."""
    if need.need.by == "labels":
        return "one less"
    if need.need.when_missing == "unknown":
        return "unknown"
    if need.tolerated and not need.guessed:
        return "setting ignored"
    return "requests fail" if profile.when_invalid == "errors" else "policy invalid"


def _reference_like(
    value: Json, at: tuple[str | int, ...], targets: frozenset[str]
) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    """Find values that look like references: fields that end in `Ref`, and items of those that end in `Refs`."""
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _reference_like(item, (*at, position), targets)
    elif isinstance(value, Mapping):
        for key, inside in value.items():
            # Most fields hold nothing that could be one.
            if inside is None or isinstance(inside, str | int | float) or (not at and key in _NO_SETTINGS):
                continue
            path = (*at, key)
            if _is_target(path, targets):
                continue
            if key.endswith(("Ref", "Refs")):
                yield from _named_references(inside, path)
            else:
                yield from _reference_like(inside, path, targets)


def _named_references(value: Json, at: tuple[str | int, ...]) -> Iterator[tuple[FieldPath, Mapping[str, Json]]]:
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _named_references(item, (*at, position))
    elif isinstance(value, Mapping) and text_at(value, "name"):
        yield FieldPath(at), value


def _is_target(path: tuple[str | int, ...], targets: frozenset[str]) -> bool:
    """Whether a field holds targets, or says what else a policy is about."""
    names = [step for step in path if isinstance(step, str)]
    return names[-1].startswith(("target", "parentRef")) or ".".join(names) in targets
