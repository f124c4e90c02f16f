"""Envoy Gateway: values that make a policy invalid, beyond what its definitions refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from kubectl_policy.model import Json
from tests import build
from tests.envoy_gateway import GROUP, accepted, findings, policy, world
from tests.implementations import reported

SERVED: Final = (build.gateway(), build.route(), build.service())
HEADERS: Final[Json] = {"earlyRequestHeaders": {"add": [{"name": "a/b", "value": "x"}]}}
MINUTE: Final[Json] = {"limit": {"requests": 5, "unit": "Minute"}}
GEO: Final[Json] = {"rules": [{"action": "Allow", "principal": {"clientIPGeoLocations": [{"country": "FR"}]}}]}
INVALID: Final[list[tuple[str, Mapping[str, Json], str]]] = [
    ("ClientTrafficPolicy", {"connection": {"bufferLimit": "500m"}}, "500m is not a whole number"),
    ("ClientTrafficPolicy", {"connection": {"bufferLimit": "100G"}}, "100G is more than 4294967295"),
    ("ClientTrafficPolicy", {"timeout": {"tcp": {"idleTimeout": "10mib"}}}, "10mib is not a duration"),
    ("ClientTrafficPolicy", {"headers": HEADERS}, "a/b is not a header name"),
    ("ClientTrafficPolicy", {"tls": {"clientValidation": {"optional": True}}}, "does not set caCertificateRefs"),
    ("BackendTrafficPolicy", {"timeout": {"tcp": {"connectTimeout": "20kib"}}}, "20kib is not a duration"),
    ("BackendTrafficPolicy", {"requestBuffer": {"limit": "5G"}}, "5G is more than 4294967295"),
    ("BackendTrafficPolicy", {"circuitBreaker": {"maxConnections": -1}}, "-1 is less than 0"),
    ("BackendTrafficPolicy", {"bandwidthLimit": {"request": {"limit": {"value": 1000}}}}, "1000 is less than 1024"),
    (
        "BackendTrafficPolicy",
        {"rateLimit": {"local": {"rules": [MINUTE, MINUTE]}}},
        "has 2 limits without clientSelectors",
    ),
    ("SecurityPolicy", {"authorization": GEO}, "needs a ClientTrafficPolicy that sets clientIPDetection"),
    ("EnvoyExtensionPolicy", {"extProc": [{"messageTimeout": "1 s"}]}, "1 s is not a duration"),
]


@pytest.mark.parametrize(("kind", "spec", "problem"), INVALID)
def test_a_value_that_makes_a_policy_invalid(kind: str, spec: Mapping[str, Json], problem: str) -> None:
    """It is reported as Invalid, keeps others out of its target, and its routes answer with an error."""
    refused = policy(kind, "older", build.ON_GATEWAY, age=1, **spec)
    newer = policy(kind, "newer", build.ON_GATEWAY, age=2)
    analysis = world(*SERVED, refused, newer)
    assert accepted(analysis, refused.ref) == {"Gateway default/g": "Invalid"}
    assert accepted(analysis, newer.ref) == {"Gateway default/g": "Conflicted"}
    (found,) = findings(analysis, "GWP1024")
    assert problem in found[3]
    assert found[3].endswith("; until that is fixed, requests to Gateway default/g fail")


def test_an_invalid_policy_overrides_the_one_above() -> None:
    """As far as status goes."""
    whole = policy("ClientTrafficPolicy", "whole", build.ON_GATEWAY)
    part = policy("ClientTrafficPolicy", "part", build.target("g", section="http"), connection={"bufferLimit": "x"})
    conditions = reported(world(*SERVED, whole, part), "ClientTrafficPolicy default/whole")["Gateway default/g"]
    assert conditions["Overridden"] == ("True", "Overridden", ("Gateway default/g#http",))


def test_a_location_that_can_be_found() -> None:
    located = policy("SecurityPolicy", "located", build.ON_GATEWAY, authorization=GEO)
    found_by = policy("ClientTrafficPolicy", "c", build.ON_GATEWAY, clientIPDetection={"directSourceIP": {}})
    assert accepted(world(*SERVED, located, found_by), located.ref) == {"Gateway default/g": "Accepted"}


@pytest.mark.parametrize(
    ("rewrite", "problem"),
    [
        ({"pattern": "(x", "substitution": "y"}, '"(x" is not a regular expression'),
        ({"substitution": "y"}, "does not set"),
    ],
)
def test_a_filter_with_a_malformed_pattern(rewrite: Json, problem: str) -> None:
    path: Json = {"type": "ReplaceRegexMatch", "replaceRegexMatch": rewrite}
    written = build.resource("HTTPRouteFilter", "f", {"urlRewrite": {"path": path}}, group=GROUP)
    route = build.route(rules=[build.rule(build.backend(), filters=[build.names("f", "HTTPRouteFilter", GROUP)])])
    (found,) = findings(world(build.gateway(), build.service(), route, written), "GWP1024")
    assert problem in found[3]


def external(port: Json, *, fail_open: bool) -> Json:
    reference: dict[str, Json] = {"name": "s", **({"port": port} if port else {})}
    return [{"backendRefs": [reference], "failOpen": fail_open}]


@pytest.mark.parametrize(("port", "fail_open", "reason"), [(8080, False, "Accepted"), (None, False, "Invalid")])
def test_an_external_processor_needs_a_port(port: Json, *, fail_open: bool, reason: str) -> None:
    processed = policy("EnvoyExtensionPolicy", "p", build.ON_GATEWAY, extProc=external(port, fail_open=fail_open))
    analysis = world(*SERVED, processed)
    assert accepted(analysis, processed.ref) == {"Gateway default/g": reason}
    assert bool(findings(analysis, "GWP1024")) == (reason == "Invalid")


def test_a_setting_that_is_ignored_is_reported_as_invalid() -> None:
    """Although the rest of the policy holds, and no request fails."""
    opened = policy("EnvoyExtensionPolicy", "p", build.ON_GATEWAY, extProc=external(9, fail_open=True), lua=[{}])
    analysis = world(*SERVED, opened)
    assert [attachment.state for attachment in analysis.attachments[opened.ref]] == ["attached"]
    assert accepted(analysis, opened.ref) == {"Gateway default/g": "Invalid"}
