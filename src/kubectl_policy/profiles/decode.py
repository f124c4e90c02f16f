"""From a valid profile file, as plain values, to the profiles in it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.implementation import ByLabel, ControllerSetting, DelegationProfile, GatewayProfile
from kubectl_policy.profiles.merging import (
    IgnoredPart,
    Inheritance,
    ListedFields,
    MergeScope,
    MergeStrategy,
    PortField,
    RouteChoice,
    SharedField,
    TargetLevel,
)
from kubectl_policy.profiles.profile import TARGET_FIELDS, EnablingField, PolicyKindProfile, RequiredObject
from kubectl_policy.profiles.status import STANDARD_STATUS, ConditionWords, StatusProfile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from kubectl_policy.model import Origin
    from kubectl_policy.profiles.status import Event


def strategy_of(name: str | None) -> MergeStrategy | None:
    """A merge strategy by its name, if one is said."""
    return MergeStrategy(name) if name else None


def levels_of(entries: Sequence[Mapping[str, Any]]) -> tuple[TargetLevel, ...]:
    """Kinds of targets, or of sections in them, in their order."""
    return tuple(
        TargetLevel(GroupKind(entry["group"], entry["kind"]), entry.get("section", False)) for entry in entries
    )


def shared_field_of(joint: Mapping[str, Any]) -> SharedField:
    """Fields that go together."""
    return SharedField(
        field=joint["field"],
        within=tuple(joint["within"]),
        by=joint.get("by", ""),
        unless=tuple(joint.get("unless", ())),
        setting=joint.get("setting", ""),
        value=joint.get("value", ""),
    )


def scope_of(said: Mapping[str, Any]) -> MergeScope:
    """Levels that merge among themselves only."""
    return MergeScope(levels_of(said["levels"]), _protocols(said))


def ignored_of(part: Mapping[str, Any]) -> IgnoredPart:
    """Fields that the controllers ignore at some levels."""
    values = frozenset(part.get("values", ()))
    return IgnoredPart(
        levels=levels_of(part["levels"]),
        fields=tuple(part.get("fields", ())),
        protocols=_protocols(part),
        values=values,
    )


def _protocols(part: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(part.get("protocols", ()))


def route_choice_of(choice: Mapping[str, Any]) -> RouteChoice:
    """What the annotation of a route says of merging."""
    values = {
        value: Inheritance(MergeStrategy(means["strategy"]), strategy_of(means.get("joint")))
        for value, means in choice["values"].items()
    }
    listed = choice.get("listed")
    means = ListedFields(listed["below"], MergeStrategy(listed["strategy"])) if listed else None
    return RouteChoice(choice["annotation"], MappingProxyType(values), means)


def port_field_of(said: Mapping[str, str]) -> PortField:
    """A field that has settings port by port."""
    return PortField(said["field"], said["key"], said["insteadOf"])


def status_of(group_kind: GroupKind, fields: Mapping[str, Any]) -> StatusProfile:
    """What is reported, where and on which event; `{kind}` in it stands for the kind."""
    placement = fields.get("placement", STANDARD_STATUS.placement)
    narrowed_by = fields.get("narrowedBy", STANDARD_STATUS.narrowed_by)
    said = StatusProfile(
        placement=placement,
        narrowed_by=narrowed_by,
        enforced_by=fields.get("enforcedBy", STANDARD_STATUS.enforced_by),
        affects=fields.get("affects", STANDARD_STATUS.affects),
        target_annotation=fields.get("targetAnnotation", "").replace("{kind}", group_kind.kind.lower()),
    )
    if "conditions" not in fields:
        return said
    conditions: dict[Event, tuple[ConditionWords, ...]] = {
        _event(name): tuple(_words(group_kind, words) for words in (said, *said.get("also", ())))
        for name, said in fields["conditions"].items()
    }
    return replace(said, conditions=MappingProxyType(conditions))


def _words(group_kind: GroupKind, words: Mapping[str, str]) -> ConditionWords:
    return ConditionWords(words["type"].replace("{kind}", group_kind.kind), words["status"], words["reason"])


def _event(name: str) -> Event:
    """`targetMissing` in a file is the event "target missing"."""
    return cast("Event", "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name))


# What a file may say of all its kinds at once.
_OF_ALL: Final = ("controllers", "settings", "status")


class _OfAll(NamedTuple):
    """What a file says beside its kinds."""

    delegation: DelegationProfile | None = None
    gateways: GatewayProfile | None = None


_NOTHING: Final = _OfAll()


def decode(document: Mapping[str, Any], origin: Origin) -> tuple[PolicyKindProfile, ...]:
    """The profiles in a document that is valid by the schema, in its order."""
    shared = {name: document[name] for name in _OF_ALL if name in document}
    of_all = _OfAll(_delegation(document), _gateways(document))
    return tuple(
        _profile(GroupKind(document["group"], kind), shared | fields, origin, of_all)
        for kind, fields in document["kinds"].items()
    )


def _delegation(document: Mapping[str, Any]) -> DelegationProfile | None:
    if "delegation" not in document:
        return None
    fields = document["delegation"]
    label = fields.get("byLabel")
    return DelegationProfile(
        group=document["group"],
        controllers=frozenset(document.get("controllers", ())),
        every_route=fields.get("everyRoute", ""),
        by_label=ByLabel(GroupKind(label["group"], label["kind"]), label["label"], label.get("allNamespaces", ""))
        if label
        else None,
        inherit_matches=fields.get("inheritMatches", ""),
        grant_required=fields.get("grantRequired", True),
        evidence=tuple(fields["evidence"]),
        settings=tuple((name, said["default"]) for name, said in document.get("settings", {}).items()),
    )


def _gateways(document: Mapping[str, Any]) -> GatewayProfile | None:
    if "gateways" not in document:
        return None
    fields = document["gateways"]
    return GatewayProfile(
        unsupported_features=frozenset(fields.get("unsupportedFeatures", ())),
        address_types=frozenset(fields.get("addressTypes", ())),
        invalid_parents=fields.get("invalidParents", "served"),
        refusals=tuple(fields.get("refusals", ())),
        evidence=tuple(fields["evidence"]),
    )


def _profile(
    group_kind: GroupKind, fields: Mapping[str, Any], origin: Origin, of_all: _OfAll = _NOTHING
) -> PolicyKindProfile:
    chooses = any(name in fields for name in ("strategy", "strategyField", "stanzas"))
    attachment = fields.get("attachment", "references")
    references = attachment not in {"filters", "none"}
    return PolicyKindProfile(
        group_kind,
        fields["class"],
        "profile",
        short_names=tuple(fields.get("shortNames", ())),
        target_fields=tuple(fields.get("targetFields", TARGET_FIELDS)) if references else (),
        references_alone=attachment != "partly",
        filter_routes=_kinds(fields.get("filterRoutes", ())),
        backend_filters=fields.get("backendFilters", False),
        target_group=fields.get("targetGroup", ""),
        declared_targets=_kinds(fields.get("declaredTargets", ())),
        effective_targets=levels_of(fields.get("effectiveTargets", ())),
        hostnames=fields.get("hostnames", "overlap"),
        virtual_targets=_kinds(fields.get("virtualTargets", ())),
        cross_namespace=fields.get("crossNamespace"),
        grant_required=fields.get("grantRequired", True),
        unnamed_rules=fields.get("unnamedRules", ""),
        empty_selector=fields.get("emptySelector", "everything"),
        global_namespace=fields.get("globalNamespace", ""),
        controllers=frozenset(fields.get("controllers", ())),
        needs=tuple(_needed(need) for need in fields.get("needs", ())),
        enabled_by=_switch(fields["enabledBy"]) if "enabledBy" in fields else None,
        least_sizes=MappingProxyType({size: tuple(least) for size, least in fields.get("leastSizes", {}).items()}),
        when_invalid=fields.get("whenInvalid", "ignored"),
        targets_exist=fields.get("targetsExist", "whenRead"),
        exclusive_field=fields.get("exclusiveField", ""),
        target_status=fields.get("targetStatus", ""),
        backend_fields=tuple(fields.get("backendFields", ())),
        sections=fields.get("sections"),
        security_fields=frozenset(fields.get("securityFields", ())),
        strategy=strategy_of(fields.get("strategy")),
        strategy_field=fields.get("strategyField", ""),
        strategy_values=MappingProxyType(
            {value: MergeStrategy(name) for value, name in fields.get("strategyValues", {}).items()}
        ),
        stanzas=fields.get("stanzas"),
        chooser=fields.get("chooser", "established"),
        merges_with=fields.get("mergesWith", "every"),
        merge_parents=levels_of(fields.get("mergeParents", ())),
        fold=fields.get("fold"),
        same_level=fields.get("sameLevel"),
        refusal=fields.get("refusal", "there"),
        overlap=fields.get("overlap", "allowed"),
        order_field=fields.get("orderField", ""),
        weight_annotation=fields.get("weightAnnotation", ""),
        list_keys=MappingProxyType(dict(fields.get("listKeys", {}))),
        nulls=fields.get("nulls", "remove"),
        empty_without=fields.get("emptyWithout", ""),
        object_fields=MappingProxyType(dict(fields.get("objectFields", {}))),
        whole_fields=frozenset(fields.get("wholeFields", ())),
        shared_fields=tuple(shared_field_of(joint) for joint in fields.get("jointFields", ())),
        scopes=tuple(scope_of(scope) for scope in fields.get("scopes", ())),
        route_choice=route_choice_of(fields["routeChoice"]) if "routeChoice" in fields else None,
        ignored=tuple(ignored_of(part) for part in fields.get("unheeded", ())),
        port_field=port_field_of(fields["portField"]) if "portField" in fields else None,
        variants=_variants(group_kind, fields, origin),
        status=status_of(group_kind, fields.get("status", {})),
        status_by=MappingProxyType(
            {controller: status_of(group_kind, status) for controller, status in fields.get("statusBy", {}).items()}
        ),
        evidence=tuple(fields["evidence"]),
        notes=fields.get("notes", ""),
        approximate=fields.get("approximate", False),
        settings=MappingProxyType(
            {
                name: ControllerSetting(said["default"], said["description"])
                for name, said in fields.get("settings", {}).items()
            }
        ),
        origin=origin,
        delegation=of_all.delegation,
        gateways=of_all.gateways,
        assumed=() if chooses or attachment == "none" else ("merge strategy",),
    )


def _switch(said: Mapping[str, str]) -> EnablingField:
    without = cast("Literal['allowed', 'refused']", said.get("without", "refused"))
    return EnablingField(GroupKind(said["group"], said["kind"]), said["field"], without)


def _needed(need: Mapping[str, Any]) -> RequiredObject:
    return RequiredObject(
        field=need["field"],
        group=need["group"],
        kinds=tuple(need["kinds"]),
        cluster_kinds=frozenset(need.get("clusterKinds", ())),
        optional=need.get("optional", False),
        competes=need.get("competes", False),
        grant_setting=need.get("grantSetting", ""),
        grant_value=need.get("grantValue", ""),
        through=tuple(_needed(further) for further in need.get("through", ())),
    )


def _variants(
    group_kind: GroupKind, fields: Mapping[str, Any], origin: Origin
) -> Mapping[GroupKind, PolicyKindProfile]:
    base = {name: value for name, value in fields.items() if name != "variants"}
    found: dict[GroupKind, PolicyKindProfile] = {}
    for variant in fields.get("variants", ()):
        changes = {name: value for name, value in variant.items() if name != "targets"}
        found |= dict.fromkeys(_kinds(variant["targets"]), _profile(group_kind, base | changes, origin))
    return MappingProxyType(found)


def _kinds(entries: Sequence[Mapping[str, str]]) -> frozenset[GroupKind]:
    return frozenset(GroupKind(entry["group"], entry["kind"]) for entry in entries)
