"""The judge of `lint`: complaints are read from each suite, and both a silence and an error too many are misses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from kubectl_policy.model import Json
from tests.build import backend, gateway, gateway_class, listener, parent, route, rule, service
from tests.cases.complaints import (
    Complaint,
    conformance_complaints,
    is_complaint,
    kuadrant_complaints,
    nginx_complaints,
    scored_complaints,
)
from tests.cases.lint_verdicts import SUITES, TRUE_ERRORS, Suite, judge, outcomes_of
from tests.cases.worlds import CASES, write_manifests
from tests.property.examples import examples

GATEWAY: Final = {"kind": "Gateway", "namespace": "default", "name": "g"}
ROUTE: Final = {"kind": "HTTPRoute", "namespace": "default", "name": "r"}


@pytest.mark.parametrize(
    ("condition", "status", "reason", "expected"),
    [
        ("Accepted", "False", "Invalid", True),
        ("Accepted", "True", "Accepted", False),
        ("Conflicted", "True", "HostnameConflict", True),
        ("Conflicted", "False", "NoConflicts", False),
        ("PartiallyInvalid", "True", "UnsupportedValue", True),
        ("Programmed", "False", "Reconciling", False),
        ("Attached", "False", "Overridden", False),
        ("ResolvedRefs", "", "", False),
    ],
)
def test_a_complaint_tells_of_something_wrong(condition: str, status: str, reason: str, *, expected: bool) -> None:
    assert is_complaint(condition, status, reason) is expected


def scored(type_: str, subject: dict[str, str], expect: dict[str, Json], excluded: str = "") -> dict[str, Any]:
    return {"type": type_, "subject": subject, "expect": expect, "excluded": excluded}


FALSE: Final[dict[str, Json]] = {"status": "False", "reason": "Bad"}


def test_complaints_of_scored_facts(tmp_path: Path) -> None:
    """Listeners stand for the object that has them, and artifacts of the recording are no complaints."""
    facts = [
        scored("policy-accepted", {**GATEWAY, "kind": "HuePolicy"}, FALSE),
        scored("policy-condition", {**GATEWAY, "kind": "HuePolicy", "type": "ResolvedRefs"}, FALSE),
        scored("policy-attached", ROUTE, {"attached": False}),
        scored("policy-overridden", ROUTE, {"overridden": True}),
        scored("route-programmed", ROUTE, FALSE),
        scored(
            "listener-conflicted", {**GATEWAY, "listener": "web"}, {"conflicted": True, "reason": "HostnameConflict"}
        ),
        scored("listener-conflicted", {"listener": "default/other/web"}, {"status": "False", "reason": "NoConflicts"}),
        scored("listener-accepted", {"listener": "default/g/web"}, FALSE),
        scored("listener-accepted", {"listener": "default/g/team/set/web"}, FALSE),
        scored("listenerset-accepted", {"namespace": "team", "name": "alone"}, FALSE),
        scored("route-accepted", ROUTE, FALSE, "harness artifact: no Namespace"),
    ]
    (tmp_path / "facts.json").write_text(json.dumps({"facts": facts}), "utf-8")
    assert list(scored_complaints(tmp_path)) == [
        ("HuePolicy/default/g", "Accepted", "Bad"),
        ("HuePolicy/default/g", "ResolvedRefs", "Bad"),
        ("HTTPRoute/default/r", "RulesProgrammed", "Bad"),
        ("Gateway/default/g", "Conflicted", "HostnameConflict"),
        ("Gateway/default/g", "Accepted", "Bad"),
        ("ListenerSet/team/set", "Accepted", "Bad"),
        ("ListenerSet/team/alone", "Accepted", "Bad"),
    ]


def test_complaints_of_conformance_tests(tmp_path: Path) -> None:
    """What changes later is not in the manifests."""
    condition = {"type": "Accepted", **FALSE}
    status = [
        {"stage": 0, "type": "route-no-accepted-parents", "object": ROUTE},
        {"stage": 0, "type": "gateway-condition", "object": GATEWAY, "condition": {**condition, "reason": None}},
        {"stage": 0, "type": "listener-names", "object": GATEWAY},
        {"stage": 1, "type": "route-parent-condition", "object": ROUTE, "condition": condition},
    ]
    (tmp_path / "expected.json").write_text(json.dumps({"status": status}), "utf-8")
    assert list(conformance_complaints(tmp_path)) == [
        ("HTTPRoute/default/r", "Accepted", ""),
        ("Gateway/default/g", "Accepted", ""),
    ]


def expected_complaints(
    folder: Path, complaints: Callable[[Path], Iterable[Complaint]], document: dict[str, Any]
) -> list[Complaint]:
    """Return the complaints that are read from a file of expectations."""
    (folder / "expected.yaml").write_text(yaml.safe_dump(document), "utf-8")
    return list(complaints(folder))


def test_complaints_of_an_nginx_case(tmp_path: Path) -> None:
    ancestors = [{"ref": "Gateway/a/g", "Accepted": "False/Invalid", "Programmed": "False/Reconciling"}]
    document = {
        "not_admitted": ["HuePolicy/a/bad"],
        "expect": {
            "policies": [{"policy": "HuePolicy/a/low", "ancestors": ancestors}],
            "routes": [{"route": "HTTPRoute/a/r", "parents": [{"managed": False}, {"ResolvedRefs": "False/No"}]}],
            "gateways": [{"gateway": "Gateway/a/g", "managed": False, "Accepted": "True/Accepted"}],
        },
    }
    assert expected_complaints(tmp_path, nginx_complaints, document) == [
        ("HuePolicy/a/bad", "Admitted", ""),
        ("HuePolicy/a/low", "Accepted", "Invalid"),
        ("HTTPRoute/a/r", "ResolvedRefs", "No"),
    ]


def test_complaints_of_a_kuadrant_case(tmp_path: Path) -> None:
    policies = [
        {"policy": "HuePolicy/a/low", "accepted": FALSE, "enforced": "absent"},
        {"policy": "HuePolicy/a/high", "enforced": {"status": "False", "reason": "Overridden"}},
    ]
    rejected = [{"policy": "HuePolicy/a/bad", "valid": False}, {"policy": "HuePolicy/a/good", "valid": True}]
    assert expected_complaints(tmp_path, kuadrant_complaints, {"expect": {"policies": policies, "lint": rejected}}) == [
        ("HuePolicy/a/low", "Accepted", "Bad"),
        ("HuePolicy/a/bad", "Admitted", ""),
    ]


REFUSED: Final = Complaint("HTTPRoute/default/r", "Accepted", "NoMatchingListenerHostname")


def case(folder: Path, hostname: str) -> Path:
    """Write a world in which one route has a hostname; that of its listener is a.org."""
    world = [
        gateway_class(),
        gateway("g", listener(hostname="a.org")),
        route("r", parents=[parent("g")], hostnames=[hostname], rules=[rule(backend("s", 80))]),
        service("s", ("web", 80)),
    ]
    write_manifests(folder / "manifests.yaml", world)
    return folder


@pytest.mark.parametrize(
    ("hostname", "complaints", "rights"),
    [
        ("b.org", [REFUSED], [True]),
        ("b.org", [REFUSED, REFUSED], [True]),
        ("a.org", [REFUSED], [False]),
        ("b.org", [], [False]),
        ("a.org", [], [True]),
    ],
)
def test_silence_and_errors_too_many_are_misses(
    tmp_path: Path, hostname: str, complaints: list[Complaint], rights: list[bool]
) -> None:
    outcomes = judge(Suite("suite", lambda _: complaints), case(tmp_path, hostname))
    assert [outcome.right for outcome in outcomes] == rights


def test_a_true_error_is_expected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And missed if it is found no longer, so that the list of them stays short."""
    monkeypatch.setitem(TRUE_ERRORS, ("suite", tmp_path.name), "its route is at no listener")
    suite = Suite("suite", lambda _: [])
    assert [outcome.right for outcome in judge(suite, case(tmp_path, "b.org"))] == [True]
    assert [outcome.right for outcome in judge(suite, case(tmp_path, "a.org"))] == [False]


# By suite, the complaints that are not named, and why.
MISSES: Final[Mapping[str, frozenset[tuple[str, str]]]] = {
    "envoy-gateway": frozenset(
        {
            # What is in a ConfigMap, a certificate, a script in Lua and a Secret was not read, or is never read.
            (
                "backendtrafficpolicy-with-response-override-merged-invalid-valueref",
                "Accepted Invalid: BackendTrafficPolicy/default/my-app-rate-limit",
            ),
            (
                "clienttrafficpolicy-mtls-cert-bundle-both-invalid",
                "Accepted Invalid: ClientTrafficPolicy/default/target-gateway-1",
            ),
            (
                "envoyextensionpolicy-with-invalid-lua-validation-syntax",
                "Accepted Invalid: EnvoyExtensionPolicy/default/policy-for-http-route-2",
            ),
            (
                "httproute-with-api-key-auth-duplicated-api-key",
                "Accepted Invalid: SecurityPolicy/default/policy-for-route-1",
            ),
            # Only the configuration of the extension server, and of the controller, says so.
            ("extensions__extensionpolicy-with-tcproute-target", "Accepted Invalid: Bar/default/policy-1"),
            ("sds-disabled", "ResolvedRefs InvalidBackendTLS: HTTPRoute/default/httproute-1"),
        }
    ),
    # Files in the container of the proxy.
    "kgateway": frozenset(
        (
            "route-replacement__backendconfigpolicy__invalid-tlsfiles-nonexistent",
            f"{complaint}: BackendConfigPolicy/gwtest/invalid-tlsfiles-policy",
        )
        for complaint in ("Accepted Invalid", "Attached Pending")
    ),
}
# Of the worlds one of so many; in a thorough run, all.
_STEP: Final = max(8 // examples(1), 1)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.folder)
def test_nothing_is_missed_but_what_cannot_be_seen(suite: Suite) -> None:
    """Every other complaint is named, and nothing is an error in a world without any."""
    if not CASES.is_dir():
        pytest.skip("the recorded cases are not next to this project")
    outcomes = outcomes_of(suite, CASES, _STEP)
    assert outcomes
    missed = {(outcome.case, outcome.fact) for outcome in outcomes if not outcome.right}
    assert missed - MISSES.get(suite.folder, frozenset()) == set()
