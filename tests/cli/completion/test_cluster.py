"""What is offered from a cluster: what kubectl completes, asked with nothing but what it is meant to be asked with."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.cli.completion.candidates import NOTHING, complete, objects_for, qualified_names
from kubectl_policy.cli.syntax import parse_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.completion.conftest import Offered

ANSWERS = """\
case "$*" in
*" get ") printf '%s\\n' \
  httproutes.gateway.networking.k8s.io services namespaces pods \
  gateways.gateway.networking.k8s.io retrypolicies.example.io networkpolicies.networking.k8s.io \
  validatingadmissionpolicies.admissionregistration.k8s.io securitypolicies.gateway.envoyproxy.io :4 ;;
*--namespace=infra*" get gateway ") printf 'edge\\tnot ours\\ninternal\\n:4\\n' ;;
*" get namespaces ") printf 'baker\\ninfra\\n:4\\n' ;;
*" get httproute ") printf 'here\\n$(touch x)\\n-x\\n:4\\n' ;;
*" --context ") printf 'one\\ntwo\\n:4\\n' ;;
*) echo :4 ;;
esac
"""


def test_without_kubectl_gateway_api_is_known(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert offered("describe", "httproute/") == [":4"]
    assert offered("describe", "-n", "") == [":4"]
    *types, _ = offered("describe", "")
    assert {"gateway", "httproute", "backendtlspolicy", "service", "namespace"} <= set(types)
    assert "secret" not in types


@pytest.mark.parametrize(
    "script", ["exit 1", "echo Error; exit 0", "echo baker; echo :4; exit 1", "kill -9 $$", "true"]
)
def test_a_kubectl_that_fails_offers_no_names(offered: Offered, kubectl: Callable[[str], Path], script: str) -> None:
    kubectl(script)
    assert offered("describe", "-n", "") == [":4"]


@pytest.mark.parametrize(
    ("arguments", "found", "asked"),
    [
        (("describe", "-n", "infra", "gateway/e"), ["gateway/edge", ":4"], "--namespace=infra get gateway "),
        (("describe", "gateway/infra/i"), ["gateway/infra/internal", ":4"], "--namespace=infra get gateway "),
        (("describe", "-n", "infra", "gateway", ""), ["edge", "internal", ":4"], "--namespace=infra get gateway "),
        (("describe", "httproute/"), ["httproute/here", ":4"], "get httproute "),
        (("get", "-n", ""), ["baker", "infra", ":4"], "get namespaces "),
        (("describe", "get;x", ""), [":4"], ""),
        (("describe", "-x/"), [":4"], ""),
        (("describe", "--", "--kubeconfig=x", ""), [":4"], ""),
        (("describe", "gateway/edge", "--section", ""), [":4"], ""),
        (("describe", "--field", ""), [":4"], ""),
        (("describe", "Secret", ""), [":4"], ""),
        (("describe", "secrets.v1./"), [":4"], ""),
        (("get", "services,secrets", ""), [":4"], ""),
    ],
)
def test_names_are_those_that_kubectl_completes(
    offered: Offered, kubectl: Callable[[str], Path], arguments: tuple[str, ...], found: list[str], asked: str
) -> None:
    """In the namespace that is typed, else in that of the context; no word that is typed becomes an option of it."""
    notes = kubectl(ANSWERS)
    assert offered(*arguments) == found
    called = notes.read_text("utf-8") if notes.exists() else ""
    assert called == (f"__complete --request-timeout=1s {asked}\n" if asked else "")


def test_types_are_those_that_are_served(offered: Offered, kubectl: Callable[[str], Path]) -> None:
    """Policies are what a profile knows, and what is called so and is none of Kubernetes' own."""
    kubectl(ANSWERS)
    *types, _ = offered("describe", "")
    assert sorted(types) == [
        "gateway",
        "httproute",
        "namespace",
        "networkpolicy",
        "retrypolicy",
        "securitypolicy",
        "service",
    ]
    assert offered("explain", "security") == ["securitypolicy", ":4"]
    assert offered("get", "secur") == ["securitypolicies", ":4"]
    assert offered("get", "sp") == ["sp", ":4"]
    assert offered("blast-radius", "po") == ["pod", ":4"]
    assert "policies" in offered("get", "")


def test_kubeconfig_is_asked_through_kubectl(kubectl: Callable[[str], Path]) -> None:
    notes = kubectl(ANSWERS)
    known = objects_for(parse_line("describe", ["--kubeconfig=a b", "--context", ""]), time.monotonic() + 60)
    assert list(known.kubeconfig("--context")) == ["one", "two"]
    assert notes.read_text("utf-8") == "__complete --kubeconfig=a b --request-timeout=1s --context \n"


def test_options_for_reaching_a_cluster_are_passed_on(kubectl: Callable[[str], Path]) -> None:
    """Those alone, in full, each with its value in the same word, so that no value is an option."""
    notes = kubectl(ANSWERS)
    reaching = ("-s", "--x", "--insecure-skip-tls-verify", "--as-group=a", "--as-group", "b", "--kubeconfig", "a b")
    line = parse_line("describe", [*reaching, "--section", "y", "-n", "infra", "gateway/"])
    known = objects_for(line, time.monotonic() + 60)
    names = {name for tier in qualified_names(known, line.prefix, ["targets"]) for name, _ in tier}
    assert names == {"gateway/edge", "gateway/internal"}
    called, namespace, asked = notes.read_text("utf-8").partition(" --request-timeout=1s --namespace=infra ")
    assert (namespace, asked) == (" --request-timeout=1s --namespace=infra ", "get gateway \n")
    assert called == ("__complete --kubeconfig=a b --server=--x --as-group=a --as-group=b --insecure-skip-tls-verify")


@pytest.mark.parametrize("name", ["--context", "--cluster", "--user"])
def test_contexts_clusters_and_users_are_offered(offered: Offered, kubectl: Callable[[str], Path], name: str) -> None:
    notes = kubectl(ANSWERS)
    assert offered("describe", name, "t") == (["two", ":4"] if name == "--context" else [":4"])
    assert notes.read_text("utf-8") == f"__complete --request-timeout=1s {name} \n"


def test_after_the_deadline_nothing_is_asked(kubectl: Callable[[str], Path]) -> None:
    """There would be nobody left to wait."""
    notes = kubectl(ANSWERS)
    assert complete(["describe", "httproute/"], time.monotonic() - 1) == NOTHING
    assert not notes.exists()


def test_what_takes_too_long_is_ended(kubectl: Callable[[str], Path], tmp_path: Path) -> None:
    """With all that it has started, such as a program for credentials."""
    kubectl(f"(sleep 1; echo >{tmp_path}/alive) & sleep 30")
    began = time.monotonic()
    assert complete(["describe", "httproute/"], began + 0.2) == NOTHING
    assert time.monotonic() - began < 1
    time.sleep(1.2)
    assert not (tmp_path / "alive").exists()
