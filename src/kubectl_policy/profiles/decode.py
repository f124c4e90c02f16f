"""From a valid profile file, as plain values, to the profiles in it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.profile import (
    TARGET_FIELDS,
    MergeStrategy,
    Needed,
    PolicyKindProfile,
    Setting,
    TargetLevel,
)
from kubectl_policy.profiles.status import STANDARD_STATUS, ConditionWords, StatusProfile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.model import Origin
    from kubectl_policy.profiles.status import Event

# What a file may say of all its kinds at once.
_OF_ALL: Final = ("controllers", "settings", "status")


def decode(document: Mapping[str, Any], origin: Origin) -> tuple[PolicyKindProfile, ...]:
    """The profiles in a document that is valid by the schema, in its order."""
    shared = {name: document[name] for name in _OF_ALL if name in document}
    return tuple(
        _profile(GroupKind(document["group"], kind), shared | fields, origin)
        for kind, fields in document["kinds"].items()
    )


def _profile(group_kind: GroupKind, fields: Mapping[str, Any], origin: Origin) -> PolicyKindProfile:
    chooses = any(name in fields for name in ("strategy", "strategyField", "stanzas"))
    attachment = fields.get("attachment", "references")
    references = attachment != "none"
    return PolicyKindProfile(
        group_kind,
        fields["class"],
        "profile",
        short_names=tuple(fields.get("shortNames", ())),
        target_fields=tuple(fields.get("targetFields", TARGET_FIELDS)) if references else (),
        references_alone=attachment != "partly",
        target_group=fields.get("targetGroup", ""),
        declared_targets=_kinds(fields.get("declaredTargets", ())),
        effective_targets=_levels(fields.get("effectiveTargets", ())),
        hostnames=fields.get("hostnames", "overlap"),
        virtual_targets=_kinds(fields.get("virtualTargets", ())),
        cross_namespace=fields.get("crossNamespace"),
        grant_required=fields.get("grantRequired", True),
        unnamed_rules=fields.get("unnamedRules", ""),
        controllers=frozenset(fields.get("controllers", ())),
        needs=tuple(_needed(need) for need in fields.get("needs", ())),
        exclusive_field=fields.get("exclusiveField", ""),
        target_status=fields.get("targetStatus", ""),
        backend_fields=tuple(fields.get("backendFields", ())),
        sections=fields.get("sections"),
        strategy=_strategy(fields.get("strategy")),
        strategy_field=fields.get("strategyField", ""),
        strategy_values=MappingProxyType(
            {value: MergeStrategy(name) for value, name in fields.get("strategyValues", {}).items()}
        ),
        stanzas=fields.get("stanzas"),
        chooser=fields.get("chooser", "established"),
        merges_with=fields.get("mergesWith", "every"),
        merge_parents=_levels(fields.get("mergeParents", ())),
        fold=fields.get("fold"),
        same_level=fields.get("sameLevel"),
        order_field=fields.get("orderField", ""),
        list_keys=MappingProxyType(dict(fields.get("listKeys", {}))),
        nulls=fields.get("nulls", "remove"),
        empty_without=fields.get("emptyWithout", ""),
        object_fields=MappingProxyType(dict(fields.get("objectFields", {}))),
        whole_fields=frozenset(fields.get("wholeFields", ())),
        variants=_variants(group_kind, fields, origin),
        status=_status(group_kind, fields.get("status", {})),
        status_by=MappingProxyType(
            {controller: _status(group_kind, status) for controller, status in fields.get("statusBy", {}).items()}
        ),
        evidence=tuple(fields["evidence"]),
        notes=fields.get("notes", ""),
        approximate=fields.get("approximate", False),
        settings=MappingProxyType(
            {name: Setting(said["default"], said["description"]) for name, said in fields.get("settings", {}).items()}
        ),
        origin=origin,
        assumed=() if chooses or not references else ("merge strategy",),
    )


def _needed(need: Mapping[str, Any]) -> Needed:
    return Needed(need["field"], need["group"], tuple(need["kinds"]), frozenset(need.get("clusterKinds", ())))


def _variants(
    group_kind: GroupKind, fields: Mapping[str, Any], origin: Origin
) -> Mapping[GroupKind, PolicyKindProfile]:
    base = {name: value for name, value in fields.items() if name != "variants"}
    found: dict[GroupKind, PolicyKindProfile] = {}
    for variant in fields.get("variants", ()):
        changes = {name: value for name, value in variant.items() if name != "targets"}
        found |= dict.fromkeys(_kinds(variant["targets"]), _profile(group_kind, base | changes, origin))
    return MappingProxyType(found)


def _status(group_kind: GroupKind, fields: Mapping[str, Any]) -> StatusProfile:
    placement = fields.get("placement", STANDARD_STATUS.placement)
    narrowed_by = fields.get("narrowedBy", STANDARD_STATUS.narrowed_by)
    annotation = fields.get("targetAnnotation", "").replace("{kind}", group_kind.kind.lower())
    if "conditions" not in fields:
        return StatusProfile(placement, narrowed_by, target_annotation=annotation)
    conditions: dict[Event, ConditionWords] = {
        _event(name): ConditionWords(words["type"].replace("{kind}", group_kind.kind), words["status"], words["reason"])
        for name, words in fields["conditions"].items()
    }
    return StatusProfile(placement, narrowed_by, MappingProxyType(conditions), annotation)


def _event(name: str) -> Event:
    """`targetMissing` in a file is the event "target missing"."""
    return cast("Event", "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name))


def _strategy(name: str | None) -> MergeStrategy | None:
    return MergeStrategy(name) if name else None


def _levels(entries: Sequence[Mapping[str, Any]]) -> tuple[TargetLevel, ...]:
    return tuple(
        TargetLevel(GroupKind(entry["group"], entry["kind"]), entry.get("section", False)) for entry in entries
    )


def _kinds(entries: Sequence[Mapping[str, str]]) -> frozenset[GroupKind]:
    return frozenset(GroupKind(entry["group"], entry["kind"]) for entry in entries)
