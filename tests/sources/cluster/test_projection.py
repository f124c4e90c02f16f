"""Of Pods, Nodes and controllers, only what questions need is decoded; what is malformed is decoded whole."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import CRON_JOB, DEPLOYMENT, NODE, POD, WORKLOADS
from kubectl_policy.sources.cluster.projection import decoder_of
from kubectl_policy.text import DocumentError

METADATA: Final[dict[str, Any]] = {
    "name": "web-1",
    "namespace": "shop",
    "uid": "u",
    "resourceVersion": "7",
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "labels": {"app": "web"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r", "controller": True}],
}
OWNED: Final = METADATA["ownerReferences"]
NOISE: Final[dict[str, Any]] = {
    "generateName": "web-",
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    "managedFields": [{"manager": "kubelet"}],
}
CONTAINERS: Final[dict[str, Any]] = {
    "containers": [{"name": "main", "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}]}],
    "initContainers": [{"name": "proxy", "restartPolicy": "Always", "ports": [{"containerPort": 15090}]}],
}
# The same with everything else that a server says of containers.
WHOLE_CONTAINERS: Final[dict[str, Any]] = {
    field: [{"image": "i", "env": [{"name": "PASSWORD", "value": "x"}], **container} for container in containers]
    for field, containers in CONTAINERS.items()
}
SPEC: Final = {"nodeName": "n", "hostNetwork": True, "serviceAccountName": "web", **CONTAINERS}
WHOLE_SPEC: Final = {**SPEC, **WHOLE_CONTAINERS, "volumes": [{"name": "v"}], "dnsPolicy": "ClusterFirst"}
STATUS: Final = {
    "phase": "Running",
    "podIP": "10.0.0.1",
    "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd::1"}],
    "hostIP": "1.1.1.1",
}
TEMPLATE: Final = {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS}
WHOLE_TEMPLATE: Final = {"metadata": {"labels": {"app": "web"}, **NOISE}, "spec": {**WHOLE_CONTAINERS, "volumes": []}}
SELECTOR: Final = {
    "matchLabels": {"app": "web"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a"]}],
}
CONTROLLER: Final = {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}
WHOLE_CONTROLLER: Final = {**CONTROLLER, "template": WHOLE_TEMPLATE, "strategy": {"type": "Recreate"}}
JOB_TEMPLATE: Final = {"spec": {"template": TEMPLATE}}
WHOLE_JOB_TEMPLATE: Final = {"spec": {"template": WHOLE_TEMPLATE, "backoffLimit": 3}}
ADDRESSES: Final = [{"type": "InternalIP", "address": "1.1.1.1"}]


def decoded(kind: GroupKind, value: object, *, lists: bool = False) -> object:
    return decoder_of(kind, lists=lists)(json.dumps(value).encode())


def whole(**fields: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Kind", "metadata": {**METADATA, **NOISE}, **fields}


def kept(**fields: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Kind", "metadata": METADATA, **fields}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (POD, whole(), kept()),
        (POD, whole(spec=None, status={}), kept(status={})),
        (POD, whole(spec=WHOLE_SPEC, status={**STATUS, "conditions": [{}]}), kept(spec=SPEC, status=STATUS)),
        (
            NODE,
            whole(spec=WHOLE_SPEC, status={"addresses": ADDRESSES, "images": [{}]}),
            kept(status={"addresses": ADDRESSES}),
        ),
        (DEPLOYMENT, whole(spec=WHOLE_CONTROLLER, status={"replicas": 2}), kept(spec=CONTROLLER)),
        (
            CRON_JOB,
            whole(spec={"schedule": "* * * * *", "jobTemplate": WHOLE_JOB_TEMPLATE}),
            kept(spec={"jobTemplate": JOB_TEMPLATE}),
        ),
        # Every other kind is as it is.
        (GroupKind("", "Service"), whole(spec=WHOLE_SPEC), whole(spec=WHOLE_SPEC)),
    ],
    ids=str,
)
def test_what_questions_need_stays(kind: GroupKind, value: object, expected: object) -> None:
    assert decoded(kind, value) == expected
    listed = {
        "kind": "List",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "9", "continue": "t"},
        "items": [value],
    }
    assert decoded(kind, listed, lists=True) == {**listed, "items": [expected]}


def test_own_annotations_stay() -> None:
    """A Pod may be excluded from findings."""
    own = {"policy.kubectl.dev/ignore": "GWP1001", "ignore.policy.kubectl.dev/GWP1002": "why"}
    value = {"metadata": {"name": "a", "annotations": {**own, **NOISE["annotations"]}}}
    assert decoded(POD, value) == {"metadata": {"name": "a", "annotations": own}}


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "Status", "status": "Failure", "code": 404},
        {"metadata": "x"},
        {"metadata": {"labels": {"app": 1}}},
        {"spec": {"containers": {}}},
        {"status": {"podIP": ["10.0.0.1"]}},
        [],
        7,
    ],
    ids=str,
)
def test_what_no_server_sends_is_decoded_whole(value: object) -> None:
    assert decoded(POD, value) == value
    assert decoded(POD, {"items": [value]}, lists=True) == {"items": [value]}


@pytest.mark.parametrize("value", [{}, {"items": None}, {"items": {}}])
def test_what_is_no_list_is_decoded_whole(value: object) -> None:
    assert decoded(POD, value, lists=True) == value


def test_nothing_else_is_accepted_than_elsewhere() -> None:
    """Half of a surrogate pair, what is no JSON, and what is nested too deep."""
    decode = decoder_of(POD, lists=False)
    assert decode(rb'{"metadata": {"name": "\ud800"}}') == {"metadata": {"name": "\ufffd"}}
    with pytest.raises(ValueError, match="truncated"):
        decode(b"{")
    with pytest.raises(DocumentError):
        decode(b'{"metadata": {"labels": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}}")


def test_every_kind_of_workload_is_known() -> None:
    for kind in WORKLOADS:
        assert decoded(kind, whole(spec={"unknown": 1})) == kept(spec={})
