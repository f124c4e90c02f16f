"""What was read and what could not be: objects, where they were read, gaps, and problems as values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct, field

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.refs import GroupKind, ObjectRef  # noqa: TC001 (snapshot files are read by these types)
from kubectl_policy.model.unknown import may_equal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kubectl_policy.model.fields import Json


class Origin(Struct, frozen=True, gc=False):
    """A file and a line (from 1), or a cluster context with line 0."""

    source: Annotated[str, Meta(description="A file, or the context of a cluster.")]
    line: Annotated[int, Meta(description="From 1; 0 if unknown.", ge=0)] = 0

    def __str__(self) -> str:
        """`file:line`, as compilers print it."""
        return f"{self.source}:{self.line}" if self.line else self.source

    def __lt__(self, origin: Origin) -> bool:
        """Sort by file, then by line."""
        return (self.source, self.line) < (origin.source, origin.line)


_AFTER_ALL: Final = datetime.max.replace(tzinfo=UTC)


class Resource(Struct, frozen=True, gc=False):
    """An object with its origin. `raw` is never mutated; `created` is None where no creationTimestamp is known.

    `namespace_from` is what says the namespace of an object that names none, if anything around it does. `written` is
    what was read, where `raw` also has what an API server fills in.
    """

    ref: ObjectRef
    origin: Origin
    raw: Mapping[str, Json]
    created: datetime | None = None
    namespace_from: Origin | None = None
    written: Mapping[str, Json] | None = None

    # Each is the same as itself alone.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def seniority(self) -> tuple[datetime, str]:
        """What orders objects wherever the API lets the oldest win; those of unknown age come last.

        "The oldest ... based on creation timestamp", then "the first in alphabetical order by {namespace}/{name}"
        (GEP-713, "Conflict resolution"; GEP-1713 for ListenerSets).
        """
        return self.created or _AFTER_ALL, self.ref.qualified_name

    def diagnostic(
        self, rule: str, severity: Severity, message: str, field: str = "", related: tuple[ObjectRef, ...] = ()
    ) -> Diagnostic:
        """A problem of the object; the name of the object is put before the message."""
        return Diagnostic(rule, severity, f"{self.ref}: {message}", self.ref, field, self.origin, related)


Severity: TypeAlias = Literal["error", "warning", "info"]


class Diagnostic(Struct, frozen=True):
    """A problem of an object, certain or not."""

    rule: Annotated[str, Meta(description="A stable name in kebab case.")]
    severity: Annotated[Severity, Meta()]
    message: Annotated[str, Meta()]
    subject: Annotated[ObjectRef | None, Meta()] = None
    field: Annotated[str, Meta(description="The dotted path in the subject; empty for the whole object.")] = ""
    origin: Annotated[Origin | None, Meta()] = None
    related: Annotated[tuple[ObjectRef, ...], Meta()] = ()
    reason: Annotated[str, Meta(description="The API's own word (RefNotPermitted); empty if it has none.")] = ""


class Problem(Struct, frozen=True, kw_only=True):
    """What is wrong with something, and why, before it is said of an object: then it is a `Diagnostic`.

    `message` is a sentence for people without the name of the object. `reason` is the word by which code tells problems
    apart: the API's own where there is one (`RefNotPermitted`). `field` is the path in what is judged, of the whole of
    it if empty; `line` is the line (from 1) in a text, 0 without one. What is not `certain` may be in order: something
    that decides it was not read, or not checked.
    """

    message: str
    reason: str = ""
    field: FieldPath = WHOLE
    line: int = 0
    certain: bool = True


class Comment(Struct, frozen=True, kw_only=True):
    """A comment that a person wrote into a manifest for this program, as it stands there.

    `says` is the text behind the name of this program, `line` (from 1) is where the comment stands. `lines` is what the
    comment is about: its own line if anything stands before it, else the next line that is not empty, or a whole
    document if that is the document's first line; an empty range if nothing follows.
    """

    line: int
    says: str
    lines: range


class Permission(Struct, frozen=True):
    """What somebody must be allowed to do with a resource, such as `retrypolicies.example.io`, to close a gap.

    It is asked for in one `namespace`, or in all if that is empty; None for what is in no namespace.
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
    """Something that could not be read, so that "unknown" is never shown as "none".

    `kind` is a kind's name or empty (any kind), `namespace` a namespace or empty (any), `reason` says why in words, and
    `remedy` what would close the gap, if that is known. With a `name` it is one object: it may be there, and not as it
    was read. `mentions` are the words in what could not be read, if they are known: it refers to nothing else by name.
    A gap in any namespace is none in those `besides` which nothing else could be read. Where a cluster was asked, the
    `group` of the kind is known, and what it `needs` to be read where somebody may not; it covers none of the objects
    that were asked for by name and are known to be `missing`.
    """

    kind: str
    namespace: str
    reason: str
    origin: Origin | None = None
    name: str = ""
    remedy: str = ""
    mentions: frozenset[str] | None = None
    besides: frozenset[str] = frozenset()
    group: str | None = None
    needs: Permission | None = None
    missing: frozenset[ObjectRef] = frozenset()

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
    def words(self) -> str:
        """What follows the name of something that is hidden by it: `may not be read: forbidden`."""
        return f"{'may not' if self.needs else 'could not'} be read: {self.reason}"


class LeftOut(Struct, frozen=True):
    """Something that is no object of its own, or was not to be read: `what` it is (`patch`, `ignored folder`)."""

    what: str
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
        """Whether an object is among them; `names` are those of its kind, in lower case and without a group."""
        if self.name not in {"", ref.name} or self.namespace not in {"", ref.namespace}:
            return False
        name, _, group = self.kind.partition(".")
        return name in names and group in {"", ref.group_kind.group}


# What is read: manifests, or what a cluster gave out.
Place: TypeAlias = Literal["the input", "the cluster"]


class Snapshot(Struct, frozen=True):
    """The state of a cluster as far as it could be read, and the `place` where that was read, in words.

    `complete` closes the world: what is not here does not exist. Manifests are an open world unless the caller says so;
    but of the kinds in namespaces that are `listed` (an empty one is that of cluster-scoped kinds), the input is what a
    cluster gave out itself. `ignored` counts files without any Kubernetes object, and in others the documents that are
    none; `left_out` is what is no object of its own, and what was not read on purpose. Of one of two states of a world,
    `other_state` are the objects of the other state that this one has not, or has otherwise: where they are, their
    kinds were read. `gone` are those of them that are known not to exist in this one; and `rules` is what the rules of
    routes are called in the earlier one where that is not by their places there, but as the same rules are in the later
    one. What is `assumed` is taken to exist wherever something names it, although it was not read.
    """

    resources: Sequence[Resource] = ()
    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    complete: bool = False
    ignored: int = 0
    other_state: tuple[Resource, ...] = ()
    gone: frozenset[ObjectRef] = frozenset()
    listed: frozenset[tuple[GroupKind, str]] = frozenset()
    left_out: tuple[LeftOut, ...] = ()
    assumed: tuple[AssumedObjects, ...] = ()
    rules: Mapping[ObjectRef, tuple[str, ...]] = field(default_factory=dict["ObjectRef", "tuple[str, ...]"])
    # Of a later state: the objects that were applied to the earlier one.
    applied: frozenset[ObjectRef] = frozenset()
    place: Place = "the input"

    def is_read_like(self, state: Snapshot) -> bool:
        """Whether as much could be read of another state: what is in neither is missing, or unknown, in both."""
        return (self.gaps, self.complete, self.listed, self.assumed) == (
            state.gaps,
            state.complete,
            state.listed,
            state.assumed,
        )
