"""What a profile file may not say although each of its fields is allowed: fields that contradict each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.kinds import TARGETS
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.snapshot import Problem
from kubectl_policy.profiles.shapes import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_policy.model import Json

    Fields = Mapping[str, Any]

_VERSION: Final = r"v\d+((alpha|beta)\d+)?"
# Meaningless without target references.
_OF_REFERENCES: Final = ("targetFields", "targetGroup", "unnamedRules")
_WITHOUT_REFERENCES: Final = ("filters", "none")

# A kind that makes one of these choices is merged level by level: what a policy chooses for itself does not matter.
BY_LEVELS: Final = ("jointFields", "scopes", "routeChoice")
_NOT_BY_LEVELS: Final = frozenset({None, "All apply", "Strategic merge"})
_LIKE: Final = "one strategy for all policies (not All apply or Strategic merge) and stanzas: none"


def contradictions(document: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with a document that has no problems field by field."""
    yield from _versions(document, WHOLE)
    for kind, fields in document["kinds"].items():
        path = WHOLE / "kinds" / kind
        if not kind:
            yield Problem(message="a kind needs a name", field=path)
        if GroupKind(document["group"], kind) in TARGETS:
            yield Problem(message="is a kind that policies target: it cannot be one", field=path)
        for name, holds, message in _RULES:
            if name in fields and not holds(fields):
                yield Problem(message=message, field=path / name)
        yield from _twice(fields.get("variants", ()), path / "variants")


def _chosen_by_challengers(fields: Fields) -> bool:
    return any(part.get("chooser") == "challenger" for part in (fields, *fields.get("variants", ())))


def _merges_strategically_alone(fields: Fields) -> bool:
    """Whether Strategic merge, where one of several strategies means it, only ever merges a policy with one other.

    Which lists are told apart by keys is then the choice of the one policy that merges.
    """
    one_pair = fields.get("chooser") == "challenger" and fields.get("mergesWith") == "closest"
    return one_pair or "Strategic merge" not in fields["strategyValues"].values()


def _without(attachment: str) -> Callable[[Fields], bool]:
    return lambda fields: fields.get("attachment") != attachment


def _named_by_filters(fields: Fields) -> bool:
    return bool(fields.get("filterRoutes"))


def _ignores_nulls(fields: Fields) -> bool:
    """Whether a null means nothing: what one removes, a level further up would bring back."""
    return fields.get("nulls") == "ignore"


def _joined_by_one_thing(fields: Fields) -> bool:
    """Whether every joint field is taken apart in one way, which is done before policies meet anywhere."""
    ways = {(joint["field"], joint.get("by", "")) for joint in fields["jointFields"]}
    return len(ways) == len({field for field, _ in ways})


def _port_field_is_joint(fields: Fields) -> bool:
    """Whether the entries for ports are told apart by the key that holds the port."""
    said = fields["portField"]
    return any(
        joint["field"] == said["field"] and joint.get("by") == f"[{said['key']}]"
        for joint in fields.get("jointFields", ())
    )


def _every_field_or_some(fields: Fields) -> bool:
    return "*" not in fields["securityFields"] or len(fields["securityFields"]) == 1


def _merges_by_levels(fields: Fields) -> bool:
    """Whether policies are alike enough to be merged level by level."""
    alike = "strategyField" not in fields and fields.get("stanzas") == "none"
    return alike and fields.get("strategy") not in _NOT_BY_LEVELS and not _chosen_by_challengers(fields)


_RULES: Final[tuple[tuple[str, Callable[[Fields], bool], str], ...]] = (
    ("approximate", lambda fields: "notes" in fields or not fields["approximate"], "means nothing without notes"),
    ("strategyValues", lambda fields: "strategyField" in fields, "means nothing without strategyField"),
    (
        "strategyValues",
        _merges_strategically_alone,
        "can mean Strategic merge only with chooser: challenger and mergesWith: closest",
    ),
    *((name, _ignores_nulls, "needs nulls: ignore") for name in BY_LEVELS),
    ("jointFields", _joined_by_one_thing, "one field is put together by one thing alone, wherever it is"),
    ("portField", _port_field_is_joint, "needs a joint field of that name, by that key"),
    ("mergeParents", _chosen_by_challengers, "means nothing without chooser: challenger"),
    *(
        (name, _without(attachment), f"means nothing with attachment: {attachment}")
        for attachment in _WITHOUT_REFERENCES
        for name in _OF_REFERENCES
    ),
    *((name, _merges_by_levels, f"needs {_LIKE}") for name in BY_LEVELS),
    (
        "sameLevel",
        lambda fields: fields["sameLevel"] != "all-apply" or _merges_by_levels(fields),
        f"can be all-apply only with {_LIKE}",
    ),
    ("securityFields", _every_field_or_some, "* means every field, so that it stands alone"),
    ("filterRoutes", _without("none"), "means nothing with attachment: none"),
    ("backendFilters", _named_by_filters, "means nothing without filterRoutes"),
    (
        "attachment",
        lambda fields: fields["attachment"] != "filters" or _named_by_filters(fields),
        "filters needs filterRoutes",
    ),
)


def _versions(value: Json, path: FieldPath) -> Iterator[Problem]:
    """Groups that are written as an apiVersion, wherever they stand."""
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from _versions(item, path / position)
    elif isinstance(value, dict):
        for name, child in value.items():
            if name in {"group", "targetGroup"} and isinstance(child, str) and has_version(child):
                hint = f"{shown(child)} has a version; write the group alone" + _without_version(child)
                yield Problem(message=hint, field=path / name)
            yield from _versions(child, path / name)


def has_version(group: str) -> bool:
    """Whether something is an apiVersion, or the version in one, rather than a group."""
    return "/" in group or re.fullmatch(_VERSION, group) is not None


def _without_version(group: str) -> str:
    return f", {shown(group.partition('/')[0] if '/' in group else '')}"


def _twice(variants: list[Fields], path: FieldPath) -> Iterator[Problem]:
    seen: set[tuple[str, str]] = set()
    for position, variant in enumerate(variants):
        for place, target in enumerate(variant["targets"]):
            kind = (target["group"], target["kind"])
            if kind in seen:
                message = f"another variant is for {target['kind']} already"
                yield Problem(message=message, field=path / position / "targets" / place)
            seen.add(kind)
