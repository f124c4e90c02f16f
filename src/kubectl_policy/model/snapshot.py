"""Snapshots: the objects that were read, their origins, gaps in what could be read, and problems as values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.model.fields import WHOLE, FieldPath, Json
from kubectl_policy.model.refs import GroupKind, ObjectRef  # noqa: TC001 (snapshot files are read by these types)
from kubectl_policy.model.unknown import may_equal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


class Origin(Struct, frozen=True, gc=False):
    """A file and a line (from 1), or a cluster context with line 0."""

    source: Annotated[str, Meta(description="The path of a file, or the kubeconfig context of a cluster.")]
    line: Annotated[int, Meta(description="The line, from 1; 0 if unknown.", ge=0)] = 0

    def __str__(self) -> str:
        """`file:line`, as compilers print it."""
        return f"{self.source}:{self.line}" if self.line else self.source

    def __lt__(self, origin: Origin) -> bool:
        """Sort by file, then by line."""
        return (self.source, self.line) < (origin.source, origin.line)


_AFTER_ALL: Final = datetime.max.replace(tzinfo=UTC)


class Resource(Struct, frozen=True, gc=False):
    """An object with its origin."""

    ref: ObjectRef
    origin: Annotated[Origin, Meta(description="The location where the object was read.")]
    # The content, which is never mutated.
    raw: Mapping[str, Json]
    # None where no creationTimestamp is known.
    created: datetime | None = None
    # Whether a change adds the object, of unknown date: all that was there before is older.
    is_added: bool = False
    # What says the namespace of an object that names none, if anything around it does.
    namespace_from: Origin | None = None
    # The content as it was read, where `raw` also has what an API server fills in.
    written: Mapping[str, Json] | None = None

    # Each is the same as itself alone.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def seniority(self) -> tuple[datetime, bool, str]:
        """The sort key for rules by which the oldest object wins; objects of unknown age come last, added ones after.

        "The oldest ... based on creation timestamp", then "the first in alphabetical order by {namespace}/{name}"
        (GEP-713, "Conflict resolution"; GEP-1713 for ListenerSets).
        """
        return self.created or _AFTER_ALL, self.is_added, self.ref.qualified_name

    def diagnostic(
        self, rule: str, severity: Severity, message: str, field: str = "", related: tuple[ObjectRef, ...] = ()
    ) -> Diagnostic:
        """A problem of the object; the name of the object is put before the message."""
        return Diagnostic(rule, severity, f"{self.ref}: {message}", self.ref, field, self.origin, related)


def are_ages_known(resources: Collection[Resource]) -> bool:
    """Whether the order of some objects by age is known: each has a date, or only one was there before, or is added."""
    undated = [resource for resource in resources if resource.created is None]
    before = sum(not resource.is_added for resource in undated)
    return len(undated) - before <= 1 and (not before or (before == 1 and len(undated) == len(resources)))


Severity: TypeAlias = Literal["error", "warning", "info"]


class Diagnostic(Struct, frozen=True):
    """A problem of an object, certain or possible."""

    rule: Annotated[str, Meta(description="The stable name of the problem, in kebab case.")]
    severity: Annotated[Severity, Meta(description="The severity of the problem.")]
    message: Annotated[str, Meta(description="The problem, for people.")]
    subject: Annotated[
        ObjectRef | None, Meta(description="The object with the problem; null if it is not about an object.")
    ] = None
    field: Annotated[
        str, Meta(description="The dotted path of the field in the subject; empty for the whole object.")
    ] = ""
    origin: Annotated[Origin | None, Meta(description="The location of the problem; null if unknown.")] = None
    related: Annotated[tuple[ObjectRef, ...], Meta(description="Other objects involved.")] = ()
    reason: Annotated[
        str, Meta(description="The reason as the API spells it (RefNotPermitted); empty if the API defines none.")
    ] = ""


class Problem(Struct, frozen=True, kw_only=True):
    """A problem before it is reported of an object as a `Diagnostic`."""

    # A sentence for people without the name of the object.
    message: str
    # The reason by which code distinguishes problems: the API's own if there is one (`RefNotPermitted`).
    reason: str = ""
    # The path in the object; empty for the whole object.
    field: FieldPath = WHOLE
    # The line (from 1) in a text, or 0.
    line: int = 0
    # False if there may be no problem, as something that decides it was not read or not checked.
    certain: bool = True


class Comment(Struct, frozen=True, kw_only=True):
    """A comment in a manifest that addresses this program."""

    # The line of the comment, from 1.
    line: int
    # The text after the name of this program.
    says: str
    # The lines that the comment is about: its own line if anything precedes it there, else the next line that is
    # not empty, or the whole document if that is its first line; an empty range if nothing follows.
    lines: range


class Permission(Struct, frozen=True):
    """A permission that would close a gap: a verb for a resource, such as `retrypolicies.example.io`.

    It is for one `namespace`, for all if that is empty; None for a cluster-scoped resource.
    """

    verb: str
    resource: str
    namespace: str | None = ""

    def __str__(self) -> str:
        """`list retrypolicies.example.io in namespace baker`."""
        if self.namespace is None:
            return f"{self.verb} {self.resource}"
        where = f"in namespace {self.namespace}" if self.namespace else "in all namespaces"
        return f"{self.verb} {self.resource} {where}"


class Gap(Struct, frozen=True):
    """Objects that could not be read, so that "unknown" is never shown as "none"."""

    # The name of the kind; empty for any kind.
    kind: str
    # The namespace; empty for any.
    namespace: str
    # Why it could not be read, in words.
    reason: str
    origin: Origin | None = None
    # The name of a single object, which may exist, and may differ from what was read.
    name: str = ""
    # Advice how to close the gap, if known.
    remedy: str = ""
    # All names in the unread text, if they are known: it refers to no other object.
    mentions: frozenset[str] | None = None
    # Namespaces that a gap in any namespace excludes.
    besides: frozenset[str] = frozenset()
    # The API group of the kind, where a cluster was asked.
    group: str | None = None
    # The permission to read it, where a cluster refused.
    needs: Permission | None = None
    # Objects that were asked for by name and are known not to exist.
    missing: frozenset[ObjectRef] = frozenset()
    # The kinds that its text declares, with each API group that stands there; None if that is not known, or if the text
    # may put objects into other namespaces than that of the gap.
    declares: frozenset[GroupKind] | None = None

    def covers(self, ref: ObjectRef) -> bool:
        """Whether an object may be among what could not be read."""
        return (
            self.kind in {"", ref.kind}
            and self.group in {None, ref.group_kind.group}
            and (not self.namespace or may_equal(self.namespace, ref.namespace))
            and ref.namespace not in self.besides
            and (not self.name or may_equal(self.name, ref.name))
            and ref not in self.missing
        )

    @property
    def phrase(self) -> str:
        """A predicate for the name of a hidden object: `may not be read: forbidden`."""
        return f"{'may not' if self.needs else 'could not'} be read: {self.reason}"


# The subject of a file with objects that nothing applies.
UNLISTED: Final = "file that nothing applies"


class LeftOut(Struct, frozen=True):
    """A document that is no object of its own, or was excluded; the subject is `patch` or `ignored folder`."""

    subject: str
    origin: Origin


class AssumedObjects(Struct, frozen=True):
    """The objects of a kind, called by any of its names as for kubectl; in one namespace, or of one name, if given."""

    kind: str
    namespace: str = ""
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> AssumedObjects:
        """Parse `KIND`, `KIND/NAME` or `KIND/NAMESPACE/NAME`. Raises `ValueError` for anything else."""
        kind, *rest = text.split("/")
        if not kind or not all(rest) or len(rest) > 2:  # noqa: PLR2004 (a namespace and a name)
            raise ValueError(f"{text} is not KIND, KIND/NAME or KIND/NAMESPACE/NAME")
        return cls(kind.lower(), rest[0] if rest[1:] else "", rest[-1] if rest else "")

    def covers(self, ref: ObjectRef, names: Collection[str]) -> bool:
        """Whether an object is among them; `names` are those of its kind, in lower case and without a group.

        A reference without a name stands for any object in its namespace; without both, for any object of the kind.
        """
        is_named = not ref.name or self.name in {"", ref.name}
        is_inside = not (ref.name or ref.namespace) or self.namespace in {"", ref.namespace}
        if not (is_named and is_inside):
            return False
        name, _, group = self.kind.partition(".")
        return name in names and group in {"", ref.group_kind.group}


# Manifests, or a live cluster.
SnapshotSource: TypeAlias = Literal["the input", "the cluster"]


class Snapshot(Struct, frozen=True):
    """The state of a cluster as far as it could be read."""

    resources: Sequence[Resource] = ()
    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    # Whether objects that are not here do not exist. Manifests are not complete unless the caller says so.
    complete: bool = False
    # The number of files without any Kubernetes object, and of other documents that are none.
    ignored: int = 0
    # Of one of two states: the objects of the other state that are absent or differ in this one.
    other_state: tuple[Resource, ...] = ()
    # Objects of `other_state` that are known not to exist in this one.
    gone: frozenset[ObjectRef] = frozenset()
    # Kinds in namespaces ("": cluster-scoped) of which a cluster listed all objects.
    listed: frozenset[tuple[GroupKind, str]] = frozenset()
    # Documents that are no objects of their own, or were excluded.
    left_out: tuple[LeftOut, ...] = ()
    # What was rendered before it was read, and with what: `41 folders with kustomize 5.7.1`.
    rendered: str = ""
    # The clusters of which the objects are read together, if they are more than one.
    clusters: tuple[str, ...] = ()
    # Objects that are taken to exist wherever something names them, although they were not read.
    assumed: tuple[AssumedObjects, ...] = ()
    # In the earlier of two states: names of route rules, if they differ from the names of the same rules in the
    # later one.
    rules: Mapping[ObjectRef, tuple[str, ...]] = field(default_factory=dict["ObjectRef", "tuple[str, ...]"])
    # In the later of two states: the objects that were applied to the earlier one.
    applied: frozenset[ObjectRef] = frozenset()
    # The kind of source, as messages name it.
    source: SnapshotSource = "the input"

    def is_read_like(self, state: Snapshot) -> bool:
        """Whether another state has the same gaps: an object in neither is missing in both, or unknown in both."""
        return (self.gaps, self.complete, self.listed, self.assumed) == (
            state.gaps,
            state.complete,
            state.listed,
            state.assumed,
        )
