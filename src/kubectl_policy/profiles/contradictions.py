"""Contradictions in a profile file whose fields are allowed one by one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model.fields import WHOLE, FieldPath
from kubectl_policy.model.kind_roles import TARGET_KINDS
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.snapshot import Problem
from kubectl_policy.profiles.reading import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_policy.model import Json

    Fields = Mapping[str, Any]

# A kind that makes one of these choices is merged level by level: what a policy chooses for itself does not matter.
BY_LEVELS: Final = ("jointFields", "scopes", "routeChoice")
_LIKE: Final = "one strategy for all policies (not All apply or Strategic merge) and stanzas: none"


def contradictions(document: dict[str, Any]) -> Iterator[Problem]:
    """Yield the contradictions in a document that has no problems field by field."""
    yield from _versions(document, WHOLE)
    for kind, fields in document["kinds"].items():
        path = WHOLE / "kinds" / kind
        if not kind:
            yield Problem(message="a kind needs a name", field=path)
        if GroupKind(document["group"], kind) in TARGET_KINDS:
            yield Problem(message="is a kind that policies target; it cannot be a policy kind", field=path)
        for name, holds, message in _RULES:
            if name in fields and not holds(fields):
                yield Problem(message=message, field=path / name)
        varied: set[tuple[str, str]] = set()
        for position, variant in enumerate(fields.get("variants", ())):
            for index, target in enumerate(variant["targets"]):
                if (target["group"], target["kind"]) in varied:
                    message = f"another variant is for {target['kind']} already"
                    yield Problem(message=message, field=path / "variants" / position / "targets" / index)
                varied.add((target["group"], target["kind"]))


def _versions(value: Json, path: FieldPath) -> Iterator[Problem]:
    """Yield groups that are written as an apiVersion, at any depth."""
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from _versions(item, path / position)
    elif isinstance(value, dict):
        for name, child in value.items():
            if name in {"group", "targetGroup"} and isinstance(child, str) and has_version(child):
                group = shown(child.partition("/")[0] if "/" in child else "")
                message = f"{shown(child)} has a version; write the group alone, {group}"
                yield Problem(message=message, field=path / name)
            yield from _versions(child, path / name)


def has_version(group: str) -> bool:
    """Whether a text is an apiVersion, or the version in one, rather than a group."""
    return "/" in group or re.fullmatch(r"v\d+((alpha|beta)\d+)?", group) is not None


def _chosen_by_challengers(fields: Fields) -> bool:
    return any(part.get("chooser") == "challenger" for part in (fields, *fields.get("variants", ())))


def _merges_by_levels(fields: Fields) -> bool:
    """Whether policies are alike enough to be merged level by level."""
    alike = "strategyField" not in fields and fields.get("stanzas") == "none"
    merges = fields.get("strategy") not in {None, "All apply", "Strategic merge"}
    return alike and merges and not _chosen_by_challengers(fields)


def _merges_strategically_alone(fields: Fields) -> bool:
    """Whether Strategic merge, if a policy can choose it, only ever merges a policy with one other.

    The policy that merges then chooses which lists have keys.
    """
    one_pair = fields.get("chooser") == "challenger" and fields.get("mergesWith") == "closest"
    return one_pair or "Strategic merge" not in fields["strategyValues"].values()


def _joined_in_one_way(fields: Fields) -> bool:
    """Whether every joint field is split in one way only, as it is split before policies meet anywhere."""
    ways = {(joint["field"], joint.get("by", "")) for joint in fields["jointFields"]}
    return len(ways) == len({field for field, _ in ways})


def _port_field_is_joint(fields: Fields) -> bool:
    """Whether the entries for ports have the key that holds the port."""
    port_field = fields["portField"]
    ways = [(joint["field"], joint.get("by")) for joint in fields.get("jointFields", ())]
    return (port_field["field"], f"[{port_field['key']}]") in ways


def _without(attachment: str) -> Callable[[Fields], bool]:
    return lambda fields: fields.get("attachment") != attachment


# A field, a condition on all fields that must hold if it is there, and the message if the condition does not hold.
_RULES: Final[tuple[tuple[str, Callable[[Fields], bool], str], ...]] = (
    (
        "approximate",
        lambda fields: not {"notes", "notesOn"}.isdisjoint(fields) or not fields["approximate"],
        "has no effect without notes",
    ),
    ("strategyValues", lambda fields: "strategyField" in fields, "has no effect without strategyField"),
    (
        "strategyValues",
        _merges_strategically_alone,
        "can mean Strategic merge only with chooser: challenger and mergesWith: closest",
    ),
    # What a null removes, a level further up would bring back.
    *((name, lambda fields: fields.get("nulls") == "ignore", "needs nulls: ignore") for name in BY_LEVELS),
    ("jointFields", _joined_in_one_way, "a field cannot be combined in two ways"),
    ("portField", _port_field_is_joint, "needs a joint field of that name, by that key"),
    ("mergeParents", _chosen_by_challengers, "has no effect without chooser: challenger"),
    *(
        (name, _without(attachment), f"has no effect with attachment: {attachment}")
        for attachment in ("filters", "parameters", "connections", "none")
        for name in ("targetFields", "targetGroup", "unnamedRules")
    ),
    ("strategyFromAbove", _chosen_by_challengers, "has no effect without chooser: challenger"),
    *((name, _merges_by_levels, f"needs {_LIKE}") for name in BY_LEVELS),
    (
        "sameLevel",
        lambda fields: fields["sameLevel"] != "all-apply" or _merges_by_levels(fields),
        f"can be all-apply only with {_LIKE}",
    ),
    (
        "securityFields",
        lambda fields: "*" not in fields["securityFields"] or len(fields["securityFields"]) == 1,
        "* means every field, so it must be the only entry",
    ),
    *(
        ("filterRoutes", _without(attachment), f"has no effect with attachment: {attachment}")
        for attachment in ("parameters", "connections", "none")
    ),
    ("backendFilters", lambda fields: bool(fields.get("filterRoutes")), "has no effect without filterRoutes"),
    (
        "attachment",
        lambda fields: fields["attachment"] != "filters" or bool(fields.get("filterRoutes")),
        "filters needs filterRoutes",
    ),
    (
        "attachment",
        lambda fields: fields["attachment"] != "connections" or "connections" in fields,
        "connections needs connections",
    ),
)
