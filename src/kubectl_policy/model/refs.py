"""References: `GroupKind`, `ObjectRef`, `NodeRef`, and the names of route rules, which are sections of a route."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from kubectl_policy.model.fields import Json, items_at, text_at

if TYPE_CHECKING:
    from collections.abc import Mapping


_SECTION: Final = (
    "A listener, a rule (rule[0] if unnamed) or a port; empty for the object as a whole. Where states are compared, "
    "unnamed rules have their positions in the later one; `former rule[0]` is gone, and another rule has its position."
)


# The placeholder for a namespace that no manifest states begins with this, as no name does.
UNKNOWN_NAMESPACE: Final = "?"


def shown_namespace(namespace: str) -> str:
    """Return a namespace as answers show it: `<unknown>` in place of the placeholder for one that nothing states."""
    return "<unknown>" if namespace.startswith(UNKNOWN_NAMESPACE) else namespace


class GroupKind(msgspec.Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """An API kind without its version, as in target references. The core group is `""`."""

    group: Annotated[str, msgspec.Meta(description="The API group; empty for the core group.")]
    kind: Annotated[str, msgspec.Meta(description="The kind.")]

    def __str__(self) -> str:
        """`Kind.group`, or `Kind` alone in the core group."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


class ObjectRef(msgspec.Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """A reference to an object. `namespace` is `""` if the kind is cluster-scoped."""

    group_kind: GroupKind
    namespace: Annotated[
        str,
        msgspec.Meta(
            description="The namespace of the object; empty for a cluster-scoped object, <unknown> if nothing says it."
        ),
    ]
    name: Annotated[str, msgspec.Meta(description="The name of the object.")]

    @property
    def group(self) -> Annotated[str, msgspec.Meta()]:
        """The API group of the kind; empty for the core group."""
        return self.group_kind.group

    @property
    def kind(self) -> Annotated[str, msgspec.Meta()]:
        """The kind without its API group."""
        return self.group_kind.kind

    @property
    def qualified_name(self) -> str:
        """`namespace/name`, or `name` if cluster-scoped; see `shown_namespace`."""
        if self.namespace:
            return f"{shown_namespace(self.namespace)}/{self.name}"
        return shown_namespace(self.name) if self.kind == "Namespace" else self.name

    def __str__(self) -> str:
        """`Kind namespace/name`, as in every text answer."""
        return f"{self.kind} {self.qualified_name}"


class NodeRef(msgspec.Struct, frozen=True, order=True, cache_hash=True, gc=False):
    """A node of the topology: an object, or one named section of it.

    Sections are listeners (by name) of a Gateway or ListenerSet, rules (by name, unnamed ones as `rule[0]`) of a route,
    and ports (by name, unnamed ones by number) of a Service. An object has sections of one sort only.
    """

    object: ObjectRef
    section: Annotated[str, msgspec.Meta(description=_SECTION)] = ""

    @property
    def group(self) -> Annotated[str, msgspec.Meta()]:
        """The API group of the kind; empty for the core group."""
        return self.object.group_kind.group

    @property
    def kind(self) -> Annotated[str, msgspec.Meta()]:
        """The kind of the object, without its API group."""
        return self.object.group_kind.kind

    @property
    def namespace(self) -> Annotated[str, msgspec.Meta()]:
        """The namespace of the object; empty for a cluster-scoped object, <unknown> if nothing says it."""
        return self.object.namespace

    @property
    def name(self) -> Annotated[str, msgspec.Meta()]:
        """The name of the object."""
        return self.object.name

    def includes(self, node: NodeRef) -> bool:
        """Whether a node is this one, or a section of this object."""
        return node == self or (not self.section and node.object == self.object)

    def __str__(self) -> str:
        """`Kind namespace/name`, with `#section` for a section."""
        return f"{self.object}#{self.section}" if self.section else str(self.object)


def section_names(raw: Mapping[str, Json], field: str, noun: str) -> tuple[str, ...]:
    """Return the sections in a list of an object: names of its items, `noun[i]` for one without a name of its own."""
    names: list[str] = []
    for position, section in enumerate(items_at(raw, field)):
        name = text_at(section, "name")
        names.append(name if name and name not in names else f"{noun}[{position}]")
    return tuple(names)


def rule_names(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the sections of a route: the names of its rules, `rule[i]` where a rule has none or repeats one."""
    return section_names(raw, "spec.rules", "rule")


def is_unnamed(section: str) -> bool:
    """Whether a section has no name of its own, but its noun and position: `rule[0]`, `former rule[0]`."""
    return section.endswith("]")


def names_as_in(later: Mapping[str, Json], earlier: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the sections of an earlier state of a route, by the names that the same rules have in the later state.

    Rules without a name are the same if they have the same matches, first those at the same position; then, of the
    remaining rules, those at the same position. A rule that the later state lacks, and whose name another rule has
    there, is the `former rule[0]`.
    """
    names, later_names = rule_names(earlier), rule_names(later)
    old, new = _unnamed(earlier, names), _unnamed(later, later_names)
    moved_to = {position: position for position, matches in old.items() if new.get(position) == matches}
    unpaired: dict[str, list[int]] = {}
    for position in sorted(new.keys() - moved_to, reverse=True):
        unpaired.setdefault(new[position], []).append(position)
    for position, matches in old.items():
        if position not in moved_to and unpaired.get(matches):
            moved_to[position] = unpaired[matches].pop()
    remaining = {position for positions in unpaired.values() for position in positions}
    moved_to |= {position: position for position in old if position not in moved_to and position in remaining}
    return tuple(
        later_names[moved_to[position]]
        if position in moved_to
        else f"former {name}"
        if is_unnamed(name) and name in later_names
        else name
        for position, name in enumerate(names)
    )


def _unnamed(raw: Mapping[str, Json], names: tuple[str, ...]) -> dict[int, str]:
    """Return the matches of the rules without a name, as JSON, by the position of the rule."""
    import json  # noqa: PLC0415 (one state has no need of it)

    rules = items_at(raw, "spec.rules")
    return {
        position: json.dumps(items_at(rule, "matches"), sort_keys=True, default=str)
        for position, (rule, name) in enumerate(zip(rules, names, strict=True))
        if is_unnamed(name)
    }
