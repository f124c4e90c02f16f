"""Names of things: a kind, an object, a node of the topology."""

from typing import NamedTuple


class GroupKind(NamedTuple):
    """An API kind without its version: target references name none. The core group is `""`."""

    group: str
    kind: str

    def __str__(self) -> str:
        """`Kind.group`, or `Kind` alone in the core group."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


class ObjectRef(NamedTuple):
    """One object. `namespace` is `""` if the kind is cluster-scoped; it is resolved once, when the object is read."""

    group_kind: GroupKind
    namespace: str
    name: str

    @property
    def kind(self) -> str:
        """The kind without its group."""
        return self.group_kind.kind

    @property
    def qualified_name(self) -> str:
        """`namespace/name`, or `name` if cluster-scoped."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        """`Kind namespace/name`, as in every text answer."""
        return f"{self.kind} {self.qualified_name}"


class NodeRef(NamedTuple):
    """A node of the topology: an object, or one named section of it.

    Sections are listeners (by name) of a Gateway or ListenerSet, rules (by name, unnamed ones as `rule[0]`) of a route,
    and ports (by name, unnamed ones by number) of a Service. An object has sections of one sort only.
    """

    object: ObjectRef
    section: str = ""

    @property
    def kind(self) -> str:
        """The kind of the object."""
        return self.object.group_kind.kind

    def __str__(self) -> str:
        """`Kind namespace/name`, with `#section` for a section."""
        return f"{self.object}#{self.section}" if self.section else str(self.object)
