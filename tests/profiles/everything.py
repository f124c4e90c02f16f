"""A profile that says everything that a profile can say, as a file writes it."""

from collections.abc import Mapping
from typing import Any, Final

from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.contradictions import BY_LEVELS
from kubectl_policy.profiles.load import profiles_in

KIND: Final = GroupKind("example.com", "RetryPolicy")
GATEWAY: Final = GroupKind(GATEWAY_API, "Gateway")
ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")

FIELDS: Final[Mapping[str, Any]] = {
    "class": "inherited",
    "attachment": "references",
    "connections": {
        "subjects": [
            {
                "field": "spec.for",
                "pods": "pods",
                "namespaces": "namespaces",
                "nodes": "nodes",
                "uncomputed": ["accounts"],
                "without": "nothing",
            }
        ],
        "scope": "cluster",
        "selectors": "expressions",
        "keyPrefixes": ["any:"],
        "namespaceKeys": ["example.com/namespace"],
        "otherKeys": ["example.com/"],
        "directions": ["ingress"],
        "peers": "outside",
        "enforced": False,
        "tier": "Baseline",
        "tierField": "spec.tier",
        "priorityField": "spec.rank",
    },
    "targetFields": ["spec.attachTo"],
    "filterRoutes": [{"group": GATEWAY_API, "kind": "HTTPRoute"}],
    "backendFilters": True,
    "targetGroup": GATEWAY_API,
    "declaredTargets": [{"group": GATEWAY_API, "kind": "Gateway"}, {"group": GATEWAY_API, "kind": "HTTPRoute"}],
    "restrictedTargets": [{"group": GATEWAY_API, "kind": "Gateway", "namespace": "infra", "names": ["edge", "mesh"]}],
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
            "portKinds": ["ConfigMap"],
            "keys": ["color"],
            "anyKey": True,
            "optional": True,
            "competes": True,
            "grantSetting": "controller",
            "grantValues": ["strict"],
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
            "sameNamespace": True,
            "backendPolicies": [{"group": "example.com", "kind": "ColorPolicy"}],
        },
    ],
    "enabledBy": {"group": "example.com", "kind": "Settings", "field": "retries.enable", "without": "allowed"},
    "leastSizes": {"most": ["least", "usual"]},
    "values": [
        {
            "fields": ["spec.wait", "spec.rules.*.wait"],
            "form": "duration",
            "least": 1,
            "most": 9,
            "unit": "unit",
            "units": {"Minute": 60},
            "requires": ["value"],
            "excludes": [5],
            "defaultWithout": "selectors",
            "targets": [{"group": "example.com", "kind": "Color"}],
            "competes": True,
        }
    ],
    "requiredSettings": [
        {
            "field": "spec.places",
            "group": "example.com",
            "kind": "PlacePolicy",
            "otherField": "detection",
            "competes": True,
        }
    ],
    "ports": "whole",
    "defaultHostField": "spec.host",
    "gatewaySections": "all",
    "mergedTargets": [{"group": "gateway.networking.k8s.io", "kind": "GatewayClass"}],
    "namedSettings": [{"field": "spec.use", "names": "spec.parts.name", "harm": "nothing is used"}],
    "whenInvalid": "errors",
    "targetsExist": "whenReferred",
    "emptySelector": "nothing",
    "globalNamespace": "{controller}-system",
    "exclusiveField": "hostnames",
    "targetStatus": "addresses",
    "backendFields": ["spec.provider.backendRefs"],
    "wrongKinds": "policy",
    "effectiveTargets": [
        {"group": GATEWAY_API, "kind": "HTTPRoute", "section": True},
        {"group": "", "kind": "Service"},
    ],
    "hostnames": "inside",
    "sections": "replace",
    "answers": "directResponse.status",
    "patches": True,
    "securityFields": ["acl", "perPort.*.tls"],
    "permissive": [
        {"field": "acl", "when": {"acl.action": ["allow"]}, "unless": {"acl.rules[].action": ["deny"]}},
        {"field": "perPort.*.tls", "given": "perPort[].off"},
    ],
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
    "spellings": "apart",
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
        {"annotations": {"example.com/dry-run": ["true", "yes"]}, "fields": ["retryOn"]},
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
            "otherFields": "invalid",
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
    "notesOn": {"retry.limit": "It is not read."},
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
    (read,) = profiles_in(DOCUMENT, origin)
    return read
