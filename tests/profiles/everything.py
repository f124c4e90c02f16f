"""A profile that says everything that a profile can say, as a file writes it and as a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kinds import GATEWAY_API, SERVICE
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.profiles.profile import Needed, Setting
from kubectl_policy.profiles.status import ConditionWords, StatusProfile

if TYPE_CHECKING:
    from collections.abc import Mapping

KIND: Final = GroupKind("example.com", "RetryPolicy")
GATEWAY: Final = GroupKind(GATEWAY_API, "Gateway")
ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")

FIELDS: Final[Mapping[str, Any]] = {
    "class": "inherited",
    "attachment": "references",
    "targetFields": ["spec.attachTo"],
    "targetGroup": GATEWAY_API,
    "declaredTargets": [{"group": GATEWAY_API, "kind": "Gateway"}, {"group": GATEWAY_API, "kind": "HTTPRoute"}],
    "virtualTargets": [{"group": "v.example.com", "kind": "Ghost"}],
    "unnamedRules": "rule-{n}",
    "crossNamespace": True,
    "grantRequired": False,
    "shortNames": ["op"],
    "needs": [{"field": "spec.source", "group": "", "kinds": ["ConfigMap", "Store"], "clusterKinds": ["Store"]}],
    "exclusiveField": "hostnames",
    "targetStatus": "addresses",
    "backendFields": ["spec.provider.backendRefs"],
    "effectiveTargets": [
        {"group": GATEWAY_API, "kind": "HTTPRoute", "section": True},
        {"group": "", "kind": "Service"},
    ],
    "hostnames": "inside",
    "sections": "replace",
    "controllers": ["example.com/{controller}"],
    "strategy": "Patch overrides",
    "strategyField": "spec.mode",
    "strategyValues": {"Deep": "Strategic merge", "Whole": "Atomic defaults"},
    "stanzas": "none",
    "chooser": "challenger",
    "mergesWith": "closest",
    "mergeParents": [{"group": GATEWAY_API, "kind": "Gateway"}],
    "fold": "top-down",
    "sameLevel": "one-applies",
    "orderField": "spec.priority",
    "wholeFields": ["labels", "limits.*", "rules[name]"],
    "listKeys": {"headers": "name", "tags": ""},
    "nulls": "ignore",
    "emptyWithout": "retries",
    "objectFields": {"retryOn": "spec.retryOn"},
    "variants": [
        {"targets": [{"group": "", "kind": "Service"}], "strategy": "All apply", "chooser": "established"},
        {"targets": [{"group": GATEWAY_API, "kind": "HTTPRoute"}], "wholeFields": []},
    ],
    "status": {
        "placement": "policy",
        "narrowedBy": "targets",
        "targetAnnotation": "example.io/{kind}",
        "conditions": {
            "accepted": {"type": "Ready", "status": "True", "reason": "Programmed"},
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


def profile(origin: Origin) -> PolicyKindProfile:
    """What the document means."""
    base = PolicyKindProfile(
        KIND,
        "inherited",
        "profile",
        target_fields=("spec.attachTo",),
        target_group=GATEWAY_API,
        declared_targets=frozenset({GATEWAY, ROUTE}),
        virtual_targets=frozenset({GroupKind("v.example.com", "Ghost")}),
        unnamed_rules="rule-{n}",
        short_names=("op",),
        cross_namespace=True,
        grant_required=False,
        needs=(Needed("spec.source", "", ("ConfigMap", "Store"), frozenset({"Store"})),),
        exclusive_field="hostnames",
        target_status="addresses",
        backend_fields=("spec.provider.backendRefs",),
        effective_targets=(TargetLevel(ROUTE, section=True), TargetLevel(SERVICE)),
        hostnames="inside",
        sections="replace",
        controllers=frozenset({"example.com/{controller}"}),
        settings={"controller": Setting("gateway", "what the controller is called")},
        strategy=MergeStrategy.PATCH_OVERRIDES,
        strategy_field="spec.mode",
        strategy_values={"Deep": MergeStrategy.STRATEGIC_MERGE, "Whole": MergeStrategy.ATOMIC_DEFAULTS},
        stanzas="none",
        chooser="challenger",
        merges_with="closest",
        merge_parents=(TargetLevel(GATEWAY),),
        fold="top-down",
        same_level="one-applies",
        order_field="spec.priority",
        whole_fields=frozenset({"labels", "limits.*", "rules[name]"}),
        list_keys={"headers": "name", "tags": ""},
        nulls="ignore",
        empty_without="retries",
        object_fields={"retryOn": "spec.retryOn"},
        status=StatusProfile(
            "policy",
            "targets",
            {
                "accepted": ConditionWords("Ready", "True", "Programmed"),
                "target missing": ConditionWords("RetryPolicyReady", "False", "Nowhere"),
            },
            "example.io/retrypolicy",
        ),
        status_by={"example.com/other": StatusProfile("parents")},
        approximate=True,
        notes="Retries are counted for each attempt.",
        evidence=("https://example.com/docs",),
        origin=origin,
    )
    return _with_variants(base)


def _with_variants(base: PolicyKindProfile) -> PolicyKindProfile:
    at_service = replace(base, strategy=MergeStrategy.ALL_APPLY, chooser="established")
    at_route = replace(base, whole_fields=frozenset[str]())
    return replace(base, variants={SERVICE: at_service, ROUTE: at_route})
