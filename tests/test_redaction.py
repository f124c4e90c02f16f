"""Values that go, and values that stay, where an object is shown without its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy import analyze
from kubectl_policy.redaction import Redaction
from tests.build import resource, snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

ENVOY: Final = "gateway.envoyproxy.io"


def redacted(*resources: Resource) -> list[Mapping[str, Json]]:
    """Objects of one world as they may be shown."""
    redaction = Redaction(analyze(snapshot(*resources)).registry)
    return [redaction.redact(each) for each in resources]


def test_texts_go_and_numbers_keys_and_names_stay() -> None:
    spec: Json = {"a": "one", "b": ["two", "one", ""], "c": {"name": "n", "value": "two"}, "d": 1, "e": True, "f": None}
    thing = resource("Thing", "t", spec, group="example.com")
    first, second = redacted(thing, resource("Other", "o", group="example.com", settings={"k": "two"}))
    assert first["spec"] == {
        "a": "<redacted-1>",
        "b": ["<redacted-2>", "<redacted-1>", ""],
        "c": {"name": "n", "value": "<redacted-2>"},
        "d": 1,
        "e": True,
        "f": None,
    }
    assert second["settings"] == {"k": "<redacted-2>"}


def test_where_people_choose_the_keys_every_text_goes() -> None:
    data: Json = {"name": "hunter2", "type": "hunter3"}
    spec: Json = {"type": {"password": "hunter2"}, "reason": ["hunter3"]}
    (shown,) = redacted(resource("ConfigMap", "c", spec, group="", data=data))
    assert shown["data"] == {"name": "<redacted-1>", "type": "<redacted-2>"}
    assert "hunter" not in str(shown)


def test_what_a_profile_calls_a_reference_or_a_choice_stays() -> None:
    target: Json = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r", "sectionName": "x"}
    selector: Json = {"kind": "HTTPRoute", "matchLabels": {"app": "shop"}}
    spec: dict[str, Json] = {
        "targetRefs": [target],
        "targetSelectors": [selector],
        "mergeType": "StrategicMerge",
        "compression": [{"type": "Gzip", "level": "high"}],
    }
    (shown,) = redacted(resource("BackendTrafficPolicy", "p", spec, group=ENVOY))
    assert shown["spec"] == {**spec, "compression": [{"type": "Gzip", "level": "<redacted-1>"}]}


def test_what_one_policy_may_say_another_one_of_its_kind_may() -> None:
    reference: Json = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}
    specs: list[dict[str, Json]] = [
        {"targetRefs": [reference], "mergeType": "StrategicMerge", "color": color} for color in ("red", "blue", "red")
    ]
    shown = redacted(*(resource("BackendTrafficPolicy", "p", spec, group=ENVOY) for spec in specs))
    assert [each["spec"] for each in shown] == [
        {**spec, "color": f"<redacted-{number}>"} for spec, number in zip(specs, (1, 2, 1), strict=True)
    ]


def test_of_routes_the_settings_of_filters_go() -> None:
    match: Json = {"path": {"type": "PathPrefix", "value": "/cart"}}
    header: Json = {"name": "authorization", "value": "hunter2"}
    filters: Json = [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": [header]}}]
    rule: dict[str, Json] = {"matches": [match], "backendRefs": [{"name": "cart", "port": 80}]}
    (shown,) = redacted(
        resource("HTTPRoute", "r", {"hostnames": ["a.example"], "rules": [{**rule, "filters": filters}]})
    )
    hidden: Json = {"name": "authorization", "value": "<redacted-1>"}
    modifier: Json = {"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": [hidden]}}
    assert shown["spec"] == {"hostnames": ["a.example"], "rules": [{**rule, "filters": [modifier]}]}


def test_what_controllers_report_stays_but_for_their_own_words() -> None:
    """These may quote a value; of other kinds nothing is known of their status."""
    condition: dict[str, Json] = {"type": "Accepted", "status": "False", "reason": "Invalid", "message": "hunter2"}
    status: Json = {"conditions": [condition]}
    gateway, thing = redacted(
        resource("Gateway", "g", {}, status=status), resource("Thing", "t", group="example.com", status=status)
    )
    assert gateway["status"] == {"conditions": [{**condition, "message": "<redacted-1>"}]}
    assert thing["status"] == {"conditions": [{**condition, "status": "<redacted-2>", "message": "<redacted-1>"}]}


def test_of_annotations_the_keys_stay() -> None:
    metadata: dict[str, Json] = {
        "name": "p",
        "namespace": "default",
        "labels": {"team": "baker"},
        "annotations": {"note": "hunter2", "kgateway.dev/policy-weight": "5"},
        "managedFields": [{"manager": "helm"}],
        "selfLink": "/hunter2",
    }
    policy = resource("TrafficPolicy", "p", {"targetRefs": []}, group="gateway.kgateway.dev", metadata=metadata)
    (shown,) = redacted(policy)
    assert shown["metadata"] == {
        "name": "p",
        "namespace": "default",
        "labels": {"team": "baker"},
        "annotations": {"note": "<redacted-1>", "kgateway.dev/policy-weight": "5"},
    }
