"""A profile that says everything that a profile can say, as a file writes it and as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API, SERVICE
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.profiles.contradictions import BY_LEVELS
from kubectl_policy.profiles.controllers import ConditionWords, ControllerSetting, StatusProfile
from kubectl_policy.profiles.merging import (
    ConditionalField,
    IgnoredPart,
    Inheritance,
    JointField,
    ListedFields,
    MergeScope,
    PortField,
    RouteChoice,
    Variant,
)
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from kubectl_policy.profiles.summary import SummaryPart

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND: Final = GroupKind("example.com", "RetryPolicy")
GATEWAY: Final = GroupKind(GATEWAY_API, "Gateway")
ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")

FIELDS: Final[Mapping[str, Any]] = {
    "class": "inherited",
    "attachment": "references",
    "targetFields": ["spec.attachTo"],
    "filterRoutes": [{"group": GATEWAY_API, "kind": "HTTPRoute"}],
    "backendFilters": True,
    "targetGroup": GATEWAY_API,
    "declaredTargets": [{"group": GATEWAY_API, "kind": "Gateway"}, {"group": GATEWAY_API, "kind": "HTTPRoute"}],
    "virtualTargets": [{"group": "v.example.com", "kind": "Ghost"}],
    "unnamedRules": "rule-{n}",
    "crossNamespace": True,
    "grantRequired": False,
    "shortNames": ["op"],
    "needs": [
        {"field": "spec.source", "group": "", "kinds": ["ConfigMap", "Store"], "clusterKinds": ["Store"]},
        {
            "field": "spec.extra",
            "group": "",
            "kinds": ["ConfigMap"],
            "optional": True,
            "competes": True,
            "grantSetting": "controller",
            "grantValue": "strict",
            "through": [{"field": "spec.next", "group": "", "kinds": ["Secret"]}],
        },
        {
            "field": "spec.users.*.keys",
            "by": "labels",
            "group": "",
            "kinds": ["Secret"],
            "anyKind": True,
            "namespaceOf": {"group": "example.com", "kind": "Operator"},
            "allNamespaces": "spec.users.*.everywhere",
            "optional": True,
            "grantRequired": False,
        },
    ],
    "enabledBy": {"group": "example.com", "kind": "Settings", "field": "retries.enable", "without": "allowed"},
    "leastSizes": {"most": ["least", "usual"]},
    "whenInvalid": "errors",
    "targetsExist": "whenReferred",
    "emptySelector": "nothing",
    "globalNamespace": "{controller}-system",
    "exclusiveField": "hostnames",
    "targetStatus": "addresses",
    "backendFields": ["spec.provider.backendRefs"],
    "effectiveTargets": [
        {"group": GATEWAY_API, "kind": "HTTPRoute", "section": True},
        {"group": "", "kind": "Service"},
    ],
    "hostnames": "inside",
    "sections": "replace",
    "answers": "directResponse.status",
    "patches": True,
    "securityFields": ["acl", "perPort.*.tls"],
    "controllers": ["example.com/{controller}"],
    "strategy": "Patch overrides",
    "strategyField": "spec.mode",
    "strategyFromAbove": True,
    "strategyValues": {"Deep": "Strategic merge", "Whole": "Atomic defaults"},
    "stanzas": "none",
    "stanzaMerge": "merge",
    "chooser": "challenger",
    "mergesWith": "closest",
    "mergeParents": [{"group": GATEWAY_API, "kind": "Gateway"}],
    "fold": "top-down",
    "sameLevel": "one-applies",
    "refusal": "everywhere",
    "overlap": "refused",
    "orderField": "spec.priority",
    "weightAnnotation": "example.com/weight",
    "jointFields": [
        {"field": "acl", "within": ["level", "scopes"], "by": "*", "unless": ["action"]},
        {"field": "acl.rules", "within": ["level"]},
        {"field": "perPort", "within": ["level"], "by": "[port]"},
        {"field": "auth", "within": ["levels"], "by": "provider.name", "setting": "controller", "value": "gateway"},
    ],
    "scopes": [
        {"levels": [{"group": GATEWAY_API, "kind": "HTTPRoute"}]},
        {"levels": [{"group": GATEWAY_API, "kind": "Gateway", "section": True}], "protocols": ["HTTP"]},
    ],
    "routeChoice": {
        "annotation": "example.com/inherit",
        "values": {
            "Parent": {"strategy": "Patch overrides"},
            "Deep": {"strategy": "Patch defaults", "joint": "Patch overrides"},
        },
        "listed": {"below": "options", "strategy": "Patch defaults"},
    },
    "unheeded": [
        {"levels": [{"group": GATEWAY_API, "kind": "Gateway"}], "fields": ["labels"], "values": ["false"]},
        {"levels": [{"group": GATEWAY_API, "kind": "Gateway", "section": True}], "protocols": ["HTTP", "HTTPS"]},
    ],
    "portField": {"field": "perPort", "key": "port", "insteadOf": "default"},
    "wholeFields": ["labels", "limits.*", "rules[name]"],
    "listKeys": {"headers": "name", "tags": ""},
    "nulls": "ignore",
    "emptyWithout": "retries",
    "objectFields": {"retryOn": "spec.retryOn"},
    "objectFieldsIf": [
        {"field": "tries", "objectField": "spec.tries", "given": "spec.retryOn"},
        {"field": "tries", "objectField": "spec.most", "absent": "spec.retryOn"},
    ],
    "variants": [
        {"targets": [{"group": "", "kind": "Service"}], "strategy": "All apply", "chooser": "established"},
        {
            "targets": [{"group": GATEWAY_API, "kind": "HTTPRoute"}],
            "wholeFields": [],
            "fields": ["retries", "retryOn"],
            "unheeded": [{"levels": [{"group": GATEWAY_API, "kind": "Gateway"}], "fields": ["retryOn"]}],
        },
    ],
    "summary": [
        {"field": "retries", "words": "{attempts} attempts", "when": {"mode": ["on", "auto"]}, "terms": {"1": "one"}}
    ],
    "status": {
        "placement": "policy",
        "narrowedBy": "targets",
        "targetAnnotation": "example.io/{kind}",
        "enforcedBy": "merges",
        "affects": "targets",
        "conditions": {
            "accepted": {
                "type": "Ready",
                "status": "True",
                "reason": "Programmed",
                "also": [{"type": "Seen", "status": "True", "reason": "Yes"}],
            },
            "targetMissing": {"type": "{kind}Ready", "status": "False", "reason": "Nowhere"},
        },
    },
    "statusBy": {"example.com/other": {"placement": "parents"}},
    "approximate": True,
    "notes": "Retries are counted for each attempt.",
    "evidence": ["https://example.com/docs"],
}
DOCUMENT: Final[Mapping[str, Any]] = {
    "group": KIND.group,
    "settings": {"controller": {"default": "gateway", "description": "what the controller is called"}},
    "kinds": {KIND.kind: FIELDS},
}


def policy_by_policy() -> dict[str, Any]:
    """The document without what kinds say that are merged level by level, and not policy by policy."""
    fields = {name: value for name, value in FIELDS.items() if name not in {*BY_LEVELS, "portField"}}
    return {**DOCUMENT, "kinds": {KIND.kind: fields}}


def profile(origin: Origin) -> PolicyKindProfile:
    return PolicyKindProfile(
        KIND,
        "inherited",
        "profile",
        reference_fields=("spec.attachTo",),
        filter_routes=frozenset({ROUTE}),
        backend_filters=True,
        target_group=GATEWAY_API,
        declared_targets=frozenset({GATEWAY, ROUTE}),
        virtual_targets=frozenset({GroupKind("v.example.com", "Ghost")}),
        unnamed_rules="rule-{n}",
        short_names=("op",),
        cross_namespace=True,
        grant_required=False,
        needs=(
            RequiredObject(
                field="spec.source", group="", kinds=("ConfigMap", "Store"), cluster_kinds=frozenset({"Store"})
            ),
            RequiredObject(
                field="spec.extra",
                group="",
                kinds=("ConfigMap",),
                optional=True,
                competes=True,
                grant_setting="controller",
                grant_value="strict",
                through=(RequiredObject(field="spec.next", group="", kinds=("Secret",)),),
            ),
            RequiredObject(
                field="spec.users.*.keys",
                by="labels",
                group="",
                kinds=("Secret",),
                any_kind=True,
                namespace_of=GroupKind("example.com", "Operator"),
                all_namespaces="spec.users.*.everywhere",
                optional=True,
                grant_required=False,
            ),
        ),
        empty_selector="nothing",
        global_namespace="{controller}-system",
        enabled_by=RequiredParameter(GroupKind("example.com", "Settings"), "retries.enable", "allowed"),
        least_sizes={"most": ("least", "usual")},
        when_invalid="errors",
        targets_exist="whenReferred",
        exclusive_field="hostnames",
        target_status="addresses",
        backend_fields=("spec.provider.backendRefs",),
        effective_targets=(TargetLevel(ROUTE, section=True), TargetLevel(SERVICE)),
        hostnames="inside",
        sections="replace",
        answers="directResponse.status",
        patches=True,
        security_fields=frozenset({"acl", "perPort.*.tls"}),
        controllers=frozenset({"example.com/{controller}"}),
        settings={"controller": ControllerSetting("gateway", "what the controller is called")},
        strategy=MergeStrategy.PATCH_OVERRIDES,
        strategy_field="spec.mode",
        strategy_from_above=True,
        strategy_values={"Deep": MergeStrategy.STRATEGIC_MERGE, "Whole": MergeStrategy.ATOMIC_DEFAULTS},
        stanzas="none",
        stanza_merge="merge",
        chooser="challenger",
        merges_with="closest",
        merge_parents=(TargetLevel(GATEWAY),),
        fold="top-down",
        same_level="one-applies",
        refusal="everywhere",
        overlap="refused",
        order_field="spec.priority",
        weight_annotation="example.com/weight",
        joint_fields=(
            JointField(field="acl", within=("level", "scopes"), by="*", unless=("action",)),
            JointField(field="acl.rules", within=("level",)),
            JointField(field="perPort", within=("level",), by="[port]"),
            JointField(
                field="auth", within=("levels",), by="provider.name", unless=(), setting="controller", value="gateway"
            ),
        ),
        scopes=(
            MergeScope((TargetLevel(ROUTE),)),
            MergeScope((TargetLevel(GATEWAY, section=True),), frozenset({"HTTP"})),
        ),
        route_choice=RouteChoice(
            "example.com/inherit",
            {
                "Parent": Inheritance(MergeStrategy.PATCH_OVERRIDES),
                "Deep": Inheritance(MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES),
            },
            ListedFields("options", MergeStrategy.PATCH_DEFAULTS),
        ),
        ignored=(
            IgnoredPart(
                levels=(TargetLevel(GATEWAY),), fields=("labels",), protocols=frozenset(), values=frozenset({"false"})
            ),
            IgnoredPart(
                levels=(TargetLevel(GATEWAY, section=True),), fields=(), protocols=frozenset({"HTTP", "HTTPS"})
            ),
        ),
        port_field=PortField("perPort", "port", "default"),
        whole_fields=frozenset({"labels", "limits.*", "rules[name]"}),
        list_keys={"headers": "name", "tags": ""},
        nulls="ignore",
        empty_without="retries",
        object_fields={"retryOn": "spec.retryOn"},
        conditional_object_fields=(
            ConditionalField(field="tries", object_field="spec.tries", given="spec.retryOn"),
            ConditionalField(field="tries", object_field="spec.most", absent="spec.retryOn"),
        ),
        variants=(
            Variant(targets=frozenset({SERVICE}), strategy=MergeStrategy.ALL_APPLY, chooser="established"),
            Variant(
                targets=frozenset({ROUTE}),
                whole_fields=frozenset(),
                fields=frozenset({"retries", "retryOn"}),
                ignored=(IgnoredPart(levels=(TargetLevel(GATEWAY),), fields=("retryOn",)),),
            ),
        ),
        summary=(
            SummaryPart(
                field="retries", words="{attempts} attempts", when={"mode": ("on", "auto")}, terms={"1": "one"}
            ),
        ),
        status=StatusProfile(
            placement="policy",
            narrowed_by="targets",
            conditions={
                "accepted": (ConditionWords("Ready", "True", "Programmed"), ConditionWords("Seen", "True", "Yes")),
                "target missing": (ConditionWords("RetryPolicyReady", "False", "Nowhere"),),
            },
            enforced_by="merges",
            affects="targets",
            target_annotation="example.io/retrypolicy",
        ),
        status_by={"example.com/other": StatusProfile(placement="parents")},
        approximate=True,
        notes="Retries are counted for each attempt.",
        evidence=("https://example.com/docs",),
        origin=origin,
    )
