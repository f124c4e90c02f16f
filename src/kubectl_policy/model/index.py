"""Lookups in a snapshot: objects by name, kind and label, with defaults filled in, and why an object is not there."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from msgspec.structs import replace

from kubectl_policy.lazy import Results, cached_method
from kubectl_policy.model.absence import Absence, Candidates
from kubectl_policy.model.body import encoded, strings_in
from kubectl_policy.model.defaults import NAME_LABEL, Defaults
from kubectl_policy.model.fields import Json, labels_of, mapping_at
from kubectl_policy.model.grants import Grants
from kubectl_policy.model.kind_roles import NAMESPACE, REFERENCE_GRANT
from kubectl_policy.model.kinds import CRD, KindNames, known_kinds, plural, valid_definitions
from kubectl_policy.model.refs import GroupKind, ObjectRef, rule_names
from kubectl_policy.model.selectors import keys_of, required_labels, selects, selects_by_key
from kubectl_policy.model.unknown import has_placeholder, is_unknown, may_be_unfilled, may_equal, may_have_open_names
from kubectl_policy.model.world import MAX_SINGLE_QUESTIONS, grouped, has_name, with_signs, world_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model.absence import Creations
    from kubectl_policy.model.snapshot import Resource, Snapshot, SnapshotSource

_Value = TypeVar("_Value", bound="Hashable")
Reader: TypeAlias = "Callable[[Index, ObjectRef, Mapping[str, Json]], Iterable[_Value]]"
Presence: TypeAlias = Literal["present", "missing", "unknown"]


class Index:
    """The objects of one snapshot. Nothing is looked up before somebody asks for it, nor looked up twice."""

    def __init__(
        self,
        snapshot: Snapshot,
        other_state: Index | None = None,
        created_by: Callable[[GroupKind], Creations | None] = lambda _: None,
    ) -> None:
        """Index by name; of two objects with one name the later one counts, as for `kubectl apply`.

        What is read of an object of `other_state` is not read again of the same object. `created_by` says what objects
        of a kind create; None of a kind of which nothing is known.
        """
        self._created_by = created_by
        self._other_state = other_state
        # Questions about single objects that are answered one by one, before all of them are answered at once.
        self.max_single_questions = MAX_SINGLE_QUESTIONS
        self.snapshot = snapshot
        self.world = world_of(snapshot.resources)
        self._taken: dict[ObjectRef, None] = {}

    @cached_property
    def candidates(self) -> Candidates:
        """The objects that a reference may mean because of placeholders."""
        return Candidates(self.world, self.snapshot)

    @cached_property
    def _inhabited(self) -> frozenset[str]:
        """The namespaces of what was read, in this state of the world or in the other one of two."""
        other_namespaces = (resource.ref.namespace for resource in self.snapshot.other_state)
        return self.world.namespaces.union(filter(None, other_namespaces))

    @cached_property
    def kinds(self) -> dict[GroupKind, KindNames]:
        """The names of every kind that is built in or defined by a CustomResourceDefinition in the snapshot."""
        return known_kinds(self.of_kind(CRD))

    @cached_property
    def definitions(self) -> dict[GroupKind, Resource]:
        """The CustomResourceDefinitions by what they define; see `valid_definitions`."""
        return valid_definitions(self.of_kind(CRD))

    @cached_property
    def defaults(self) -> Defaults:
        """The defaults that an API server would fill in."""
        return Defaults(self.of_kind(CRD))

    @cached_property
    def grants(self) -> Grants:
        """The ReferenceGrants: which references may leave their namespace."""
        return Grants(self._grants_in, self.snapshot)

    def _grants_in(self, namespace: str) -> Iterable[Resource]:
        """Return the ReferenceGrants that are in a namespace, or may be."""
        perhaps = (
            candidate
            for candidate in self.candidates.unknown_namespaces
            if candidate != namespace and may_equal(candidate, namespace)
        )
        homes = (namespace, *perhaps)
        return (grant for home in homes for grant in self.of_kind_in(REFERENCE_GRANT, home))

    def expect_questions(self, number: int) -> None:
        """Answer all questions about single objects at once, if more of them are to come than are answered alone."""
        if number > self.max_single_questions:
            self.max_single_questions = 0

    @property
    def group_kinds(self) -> tuple[GroupKind, ...]:
        """Every kind of which at least one object was read, sorted."""
        return self.world.kinds

    @cached_method
    def of_kind(self, group_kind: GroupKind) -> tuple[Resource, ...]:
        """Return every object of a kind, sorted by namespace and name."""
        return tuple(self.world.of_kind(group_kind))

    def read_of_kind(self, group_kind: GroupKind) -> Sequence[Resource]:
        """Return the objects of a kind that were read so far, in no order; `of_kind` asks for all of them."""
        return self._read_by_kind.get(group_kind, ())

    def read_with_strings(self, group_kind: GroupKind, *strings: str) -> list[Resource]:
        """Return the objects of a kind, of those read so far, that contain all strings, also by default; sorted."""
        defaults = self.defaults.strings_of(group_kind)
        written = [encoded(string) for string in strings if string not in defaults]
        return with_signs(self.read_of_kind(group_kind), lambda text, _: all(string in text for string in written))

    @cached_property
    def _read_by_kind(self) -> Mapping[GroupKind, Sequence[Resource]]:
        return grouped((resource.ref.group_kind, resource) for resource in self.world)

    def naming(self, group_kind: GroupKind, obj: ObjectRef | str) -> Sequence[ObjectRef]:
        """Return the objects of a kind that may name an object, or contain a string, also by default; see `World`."""
        defaults = self.defaults.strings_of(group_kind)
        if isinstance(obj, str):
            by_default = bool(obj) and obj in defaults
        else:
            names = filter(None, (obj.name, obj.namespace))
            by_default = any(has_name(name, defaults.encode()) for name in names)
        return self.world.refs_of(group_kind) if by_default else self.world.naming(group_kind, obj)

    @cached_method
    def perhaps_unfilled(self, group_kind: GroupKind, *, names: bool) -> list[Resource]:
        """Return the objects of a kind that may have placeholders: in a text or, if so asked, in a name; sorted.

        A cluster gives out nothing that is to be filled in: there, these are the ones that were applied to its state.
        """
        is_cluster, applied = self.snapshot.source == "the cluster", self.snapshot.applied
        read = self.read_of_kind(group_kind)
        resources = (resource for resource in read if resource.ref in applied) if is_cluster else read
        return with_signs(resources, may_have_open_names if names else may_be_unfilled)

    @cached_method
    def of_kind_in(self, group_kind: GroupKind, namespace: str) -> tuple[Resource, ...]:
        """Return every object of a kind in one namespace ("" for a cluster-scoped kind), sorted by name."""
        return tuple(self.world.of_kind(group_kind, namespace))

    def namespaces_of(self, group_kind: GroupKind) -> tuple[str, ...]:
        """Return the namespaces with an object of a kind, sorted."""
        return tuple(dict.fromkeys(ref.namespace for ref in self.world.refs_of(group_kind)))

    def selected(self, group_kind: GroupKind, namespace: str, selector: Mapping[str, Json]) -> list[Resource]:
        """Return the objects of a kind in one namespace whose labels match a selector, sorted by name."""
        candidates = self.of_kind_in(group_kind, namespace)
        for labels in required_labels(selector):
            having = [self._by_label(group_kind, namespace).get(label, ()) for label in labels]
            if sum(map(len, having)) < len(candidates):
                candidates = having[0] if len(having) == 1 else tuple(sorted(chain(*having), key=attrgetter("ref")))
        return [resource for resource in candidates if selects(selector, labels_of(resource.raw))]

    def perhaps_selected(self, group_kind: GroupKind, namespace: str, selector: Mapping[str, Json]) -> list[Resource]:
        """Return the objects that may match a selector once placeholders are filled in, sorted by name."""
        if any(map(has_placeholder, strings_in(selector))):
            candidates = self.of_kind_in(group_kind, namespace)
        else:
            candidates = self._with_unknown_labels(group_kind).get(namespace, ())
        return [resource for resource in candidates if selects(selector, labels_of(resource.raw)) is None]

    @cached_method
    def _with_unknown_labels(self, group_kind: GroupKind) -> Mapping[str, tuple[Resource, ...]]:
        resources = filter(_has_unknown_labels, self.perhaps_unfilled(group_kind, names=False))
        return grouped((resource.ref.namespace, resource) for resource in resources)

    @cached_method
    def _by_label(self, group_kind: GroupKind, namespace: str) -> Mapping[tuple[str, Json], tuple[Resource, ...]]:
        return grouped(
            (label, resource)
            for resource in self.of_kind_in(group_kind, namespace)
            for key, value in labels_of(resource.raw).items()
            for label in ((key, value), (key, None))
        )

    def get(self, ref: ObjectRef) -> Resource | None:
        """Return an object, or None if it was not read."""
        return self.world.get(ref)

    def rules_of(self, route: ObjectRef) -> tuple[str, ...]:
        """Return the names of the rules of a route; in the earlier of two states, their names in the later one."""
        return self.snapshot.rules.get(route) or rule_names(self.defaulted(route))

    @cached_method
    def defaulted(self, ref: ObjectRef) -> Mapping[str, Json]:
        """Return an object with the defaults of an API server filled in; empty if it was not read."""
        resource = self.world.get(ref)
        if resource is None:
            return {}
        # An API server gives out each object with an UID and with all defaults.
        is_from_server = self.snapshot.source == "the cluster" and resource.ref not in self.snapshot.applied
        has_defaults = is_from_server and "uid" in mapping_at(resource.raw, "metadata")
        return resource.raw if has_defaults else self.defaults.apply(resource)

    @cached_method
    def with_defaults(self, resource: Resource) -> Resource:
        """Return an object of this state with the defaults of an API server filled in; the same object without any."""
        raw = self.defaulted(resource.ref)
        return resource if raw is resource.raw else replace(resource, raw=raw, written=resource.raw)

    @cached_method
    def readings(self, read: Reader[_Value]) -> Mapping[ObjectRef, tuple[_Value, ...]]:
        """Return the results of a function by object, each computed at its first lookup; nothing for unread objects."""
        earlier = self._other_state
        if earlier and earlier.of_kind(CRD) != self.of_kind(CRD):
            earlier = None

        def values_of(ref: ObjectRef) -> tuple[_Value, ...]:
            resource = self.world.get(ref)
            if earlier and resource and earlier.get(ref) is resource:
                return earlier.readings(read)[ref]
            return tuple(read(self, ref, self.defaulted(ref))) if resource else ()

        return Results(values_of)

    def namespaced(self, group_kind: GroupKind) -> bool:
        """Whether objects of the kind live in a namespace; true of kinds that nothing is known of."""
        names = self.kinds.get(group_kind)
        return names is None or names.namespaced

    def presence(self, ref: ObjectRef) -> Presence:
        """Whether an object exists, as far as can be known.

        Manifests are an open world: what is not there is *unknown*. It is *missing* where the input is all that there
        is: a complete snapshot, or the kinds and namespaces that a cluster listed itself. There, it is unknown if a gap
        covers it, if the reference is to a name that is not known, or if an object may have that name. A Namespace
        exists if anything that was read lives in it, and what somebody says is there exists if something names it.
        """
        if ref in self.snapshot.gone:
            return "missing"
        if self.world.has(ref) or (ref.group_kind == NAMESPACE and ref.name in self._inhabited):
            return "present"
        if self.is_assumed(ref):
            return "present"
        is_listed = self.snapshot.complete or (ref.group_kind, ref.namespace) in self.snapshot.listed
        return "missing" if is_listed and not self._may_be_there(ref) else "unknown"

    def is_assumed(self, ref: ObjectRef) -> bool:
        """Whether an object that was not read is taken to exist, because somebody says so."""
        if not (self.snapshot.assumed and ref.name) or ref in self.snapshot.gone or self.world.has(ref):
            return False
        assumed = self._is_covered(ref)
        if assumed:
            self._taken[ref] = None
        return assumed

    def is_any_assumed(self, kind: GroupKind, namespace: str = "") -> bool:
        """Whether somebody says that objects of a kind exist that were not read: in a namespace, or anywhere."""
        return bool(self.snapshot.assumed) and self._is_covered(ObjectRef(kind, namespace, ""))

    def _is_covered(self, ref: ObjectRef) -> bool:
        """Whether an object, or any in a namespace, is among those that somebody says are there."""
        kind = ref.group_kind
        known = self.kinds.get(kind) or KindNames(kind, plural(kind.kind.lower()))
        names = {known.singular, known.plural, *known.short_names}
        return any(assumption.covers(ref, names) for assumption in self.snapshot.assumed)

    def is_content_unknown(self, ref: ObjectRef) -> bool:
        """Whether an object exists, or may, and nothing of its content is known, as it was not read.

        Whoever says that an object exists does not say which class it has, which labels or which listeners.
        """
        return not self.world.has(ref) and self.presence(ref) != "missing"

    @property
    def assumed_refs(self) -> tuple[ObjectRef, ...]:
        """The objects that were not read and were taken to exist for what was asked so far; sorted."""
        return tuple(sorted(self._taken))

    def _may_be_there(self, ref: ObjectRef) -> bool:
        """Whether an object that is not in the input, although that is complete, may exist all the same."""
        if is_unknown(ref.name) or is_unknown(ref.namespace) or self.candidates.of(ref):
            return True
        if not ref.name and self.is_any_assumed(ref.group_kind, ref.namespace):
            return True
        unknown_namespaces = self.candidates.unknown_namespaces if ref.group_kind == NAMESPACE else ()
        if any(may_equal(name, ref.name) for name in unknown_namespaces):
            return True
        return any(gap.covers(ref) for gap in self.snapshot.gaps)

    @cached_property
    def absence(self) -> Absence:
        """Explanations for objects that were not read."""
        return Absence(self.world, self.snapshot, self.candidates, self._created_by)

    @property
    def source(self) -> SnapshotSource:
        """The kind of source, as messages name it: `the input`."""
        return self.snapshot.source

    def namespace_labels(self, namespace: str) -> dict[str, str] | None:
        """Return the labels of a namespace with `kubernetes.io/metadata.name`.

        None if the Namespace was not read, or may be different.
        """
        ref = ObjectRef(NAMESPACE, "", namespace)
        is_known = self.world.has(ref) and not self.absence.change_of(ref)
        return labels_of(self.defaulted(ref)) if is_known else None

    def selects_namespace(self, selector: Mapping[str, Json], namespace: str) -> bool | None:
        """Whether a selector selects a namespace by its labels; None where these were not read, and decide it.

        Whatever else it has, an API server labels a Namespace with its name.
        """
        labels = self.namespace_labels(namespace)
        if labels is not None:
            return selects(selector, {**labels, NAME_LABEL: namespace})
        by_name = selects_by_key(selector, NAME_LABEL, namespace)
        return by_name if keys_of(selector) <= {NAME_LABEL} or by_name is False else None


def _has_unknown_labels(resource: Resource) -> bool:
    """Whether something of the labels of an object is to be filled in."""
    return any(has_placeholder(text) for label in labels_of(resource.raw).items() for text in label)


def read_once(read: Reader[_Value]) -> Callable[[Index, ObjectRef], tuple[_Value, ...]]:
    """Return a function that reads something of an object of an index once; see `Index.readings`."""

    def values_of(index: Index, ref: ObjectRef) -> tuple[_Value, ...]:
        return index.readings(read)[ref]

    return values_of


class Referrers(Generic[_Value]):
    """References in reverse: find the objects that refer to a given one.

    For the first few objects, only possible referrers are read; then the references of all objects, once.
    """

    def __init__(
        self,
        index: Index,
        kinds: Iterable[GroupKind],
        read: Callable[[ObjectRef], Iterable[tuple[ObjectRef, _Value]]],
        perhaps: Callable[[GroupKind, ObjectRef], Iterable[ObjectRef]] | None = None,
        field: str = "",
    ) -> None:
        """Objects of some kinds refer to others; `read` returns what one of them refers to, and how.

        Where they do so otherwise than by a name, `perhaps` returns which objects of a kind may refer to one. `field`
        is in every object that refers to any.
        """
        self._index, self._kinds, self._read, self._field = index, tuple(kinds), read, field
        self._perhaps = perhaps
        self._answers: dict[ObjectRef, tuple[_Value, ...]] = {}
        self._questions = 0
        self._all: Mapping[ObjectRef, tuple[_Value, ...]] | None = None

    def to(self, obj: ObjectRef) -> tuple[_Value, ...]:
        """Return what refers to an object, without repetitions: by kind, then by name of the referring object."""
        if obj in self._answers:
            return self._answers[obj]
        if not self._is_single_question():
            return self.all.get(obj, ())
        answer = self._answers[obj] = tuple(dict.fromkeys(self._find(obj)))
        return answer

    def is_any_to(self, obj: ObjectRef, counts: Callable[[_Value], bool]) -> bool:
        """Whether anything refers to an object that counts; no more is read than it takes to find it."""
        is_known = obj in self._answers or not self._is_single_question()
        return any(map(counts, self.to(obj) if is_known else self._find(obj)))

    def _is_single_question(self) -> bool:
        """Whether to answer one more question by itself, rather than all at once."""
        self._questions += 1
        return self._all is None and self._questions <= self._index.max_single_questions

    def _find(self, obj: ObjectRef) -> Iterator[_Value]:
        for kind in self._kinds:
            for holder in sorted({*self._perhaps(kind, obj)}) if self._perhaps else self._index.naming(kind, obj):
                yield from (value for target, value in self._read(holder) if target == obj)

    @property
    def all(self) -> Mapping[ObjectRef, tuple[_Value, ...]]:
        """All references, by the object to which they refer."""
        if self._all is None:
            self._all = grouped(
                pair
                for kind in self._kinds
                for holder in (
                    self._index.naming(kind, self._field) if self._field else self._index.world.refs_of(kind)
                )
                for pair in self._read(holder)
            )
        return self._all
