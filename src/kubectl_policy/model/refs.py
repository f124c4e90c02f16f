"""Names of things: a kind, an object, a node of the topology, and the rules of a route, in one state of it or two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.model.fields import items_at, text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.fields import Json

# No name that an API server takes has a bracket.
_UNNAMED: Final = "rule["


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


def rule_names(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """The sections of a route: the names of its rules, `rule[i]` where a rule has none or repeats one."""
    names: list[str] = []
    for place, rule in enumerate(items_at(raw, "spec.rules")):
        name = text_at(rule, "name")
        names.append(name if name and name not in names else f"{_UNNAMED}{place}]")
    return tuple(names)


def is_unnamed(section: str) -> bool:
    """Whether a section of a route is a rule without a name of its own."""
    return _UNNAMED in section


def names_as_in(later: Mapping[str, Json], earlier: Mapping[str, Json]) -> tuple[str, ...]:
    """The sections of an earlier state of a route, by the names that the same rules have in the later one.

    Of rules without a name those are the same that have the same matches, those first that stand where they stood, and
    of the others, those that stand in the same place. One that is in the later state no more, and whose name is
    another rule's there, is the `former rule[0]`.
    """
    names, known = rule_names(earlier), rule_names(later)
    old, new = _unnamed(earlier, names), _unnamed(later, known)
    found = {place: place for place, matches in old.items() if new.get(place) == matches}
    left: dict[str, list[int]] = {}
    for place in sorted(new.keys() - found, reverse=True):
        left.setdefault(new[place], []).append(place)
    for place, matches in old.items():
        if place not in found and left.get(matches):
            found[place] = left[matches].pop()
    remaining = {place for places in left.values() for place in places}
    found |= {place: place for place in old if place not in found and place in remaining}
    return tuple(
        known[found[place]] if place in found else f"former {name}" if is_unnamed(name) and name in known else name
        for place, name in enumerate(names)
    )


def _unnamed(raw: Mapping[str, Json], names: tuple[str, ...]) -> dict[int, str]:
    """The matches of the rules without a name, as text, by the place of the rule."""
    import json  # noqa: PLC0415 (one state has no need of it)

    rules = items_at(raw, "spec.rules")
    return {
        place: json.dumps(items_at(rule, "matches"), sort_keys=True, default=str)
        for place, (rule, name) in enumerate(zip(rules, names, strict=True))
        if is_unnamed(name)
    }
