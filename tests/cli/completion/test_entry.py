"""Processes that complete, and candidates from a cluster, which kubectl lists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.cli.completion.candidates import NOTHING, complete, objects_for, qualified_names
from kubectl_policy.cli.syntax import parse_line
from tests.cli.completion.conftest import BAKERY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.completion.conftest import Offered

PROGRAM = "import sys; from kubectl_policy.cli.completion.entry import main; main()"
BY_KUBECTL = (sys.executable, "-c", PROGRAM)
BY_SHELL = (sys.executable, "-m", "kubectl_policy", "__complete")


def run(program: tuple[str, ...], *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(  # noqa: S603 (our own program)
        [*program, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("program", [BY_KUBECTL, BY_SHELL], ids=["kubectl", "shell"])
def test_both_ways_answer_alike(program: tuple[str, ...]) -> None:
    slow = "10"
    code, out, err = run(program, "get", "-o", "wi", KUBECTL_POLICY_COMPLETION_TIMEOUT=slow)
    assert (code, out, err) == (0, "wide\n:4\n", "")
    code, out, err = run(program, "des", KUBECTL_POLICY_COMPLETION_TIMEOUT=slow)
    assert (code, out, err) == (0, "describe\tShow what affects an object, or what a policy affects.\n:4\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["\udcff"],
        ["describe", "\udcff/"],
        ["describe", "--offline", "\udcff", "x/"],
        ["x" * 100_000, ""],
        ["describe", "--offline", "/nowhere", "httproute/"],
        ["describe", "--profiles", "/nowhere", "--setting", ""],
    ],
)
def test_it_never_fails(arguments: list[str]) -> None:
    code, out, err = run(BY_SHELL, *arguments)
    assert (code, err) == (0, "")
    assert out.endswith(":4\n")


@pytest.mark.parametrize(
    "arguments",
    [[""], ["get", "--"], ["get", "-o", ""], ["describe", "--offline", ""], ["completion", ""], ["diff", ""]],
)
def test_what_needs_no_input_imports_nothing_for_it(arguments: list[str]) -> None:
    """To import it takes longer than the answer."""
    heavy = {"kubernetes", "subprocess", "typer", "yaml", "kubectl_policy.analysis", "kubectl_policy.sources"}
    code = f"""
import sys
from kubectl_policy.cli.completion.candidates import complete
assert complete({arguments!r}, 0).text()
print(sorted({heavy!r} & set(sys.modules)))
"""
    assert run((sys.executable, "-c", code)) == (0, "[]\n", "")


def test_a_fault_of_ours_is_no_noise() -> None:
    broken = "import sys; sys.modules['kubectl_policy.cli.completion.candidates'] = None; "
    assert run((sys.executable, "-c", broken + PROGRAM), "des") == (0, ":4\n", "")


def test_a_reader_that_goes_away_is_no_fault() -> None:
    command = [*BY_SHELL, ""]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 (see above)
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_input_that_never_comes_is_not_waited_for(tmp_path: Path) -> None:
    """Reading has no limit of its own."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    began = time.monotonic()
    assert run(BY_SHELL, "describe", "--offline", str(pipe), "httproute/") == (0, ":4\n", "")
    assert time.monotonic() - began < 2


def test_a_slow_kubectl_is_not_waited_for(kubectl: Callable[[str], Path]) -> None:
    """What is known without it is offered all the same."""
    kubectl("sleep 30")
    began = time.monotonic()
    code, out, err = run(BY_KUBECTL, "describe", "httpr", KUBECTL_POLICY_COMPLETION_TIMEOUT="3")
    assert (code, out, err) == (0, "httproute\tHTTPRoute.gateway.networking.k8s.io\n:4\n", "")
    assert time.monotonic() - began < 20


def test_standard_input_is_left_to_the_shell() -> None:
    """`--offline -` would take what the user types."""
    read, write = os.pipe()
    try:
        done = subprocess.run(  # noqa: S603 (see above)
            [*BY_SHELL, "describe", "--offline", "-", "httproute/"], stdin=read, capture_output=True, check=False
        )
        os.write(write, b"x")
        assert (done.stdout, os.read(read, 2)) == (b":4\n", b"x")
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
def test_kubectl_passes_it_on(tmp_path: Path) -> None:
    script = f"#!{sys.executable}\n{PROGRAM}\n"
    for name in ("kubectl-policy", "kubectl_complete-policy"):
        (tmp_path / name).write_text(script, "utf-8")
        (tmp_path / name).chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": ":".join(sys.path),
        "KUBECTL_POLICY_COMPLETION_TIMEOUT": "10",
    }
    arguments = ("describe", "--offline", BAKERY, "-n", "baker", "httproute/")
    code, out, _ = run(("kubectl", "__complete", "policy"), *arguments, **environment)
    assert (code, out) == run(BY_KUBECTL, *arguments, **environment)[:2]
    assert out.startswith("httproute/baker\n")


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
        "pod",
        "retrypolicy",
        "securitypolicy",
        "service",
    ]
    assert offered("explain", "security") == ["securitypolicy", ":4"]
    assert offered("get", "secur") == ["securitypolicies", ":4"]
    assert offered("get", "sp") == ["sp", ":4"]
    assert offered("get", "pod") == ["pods", ":4"]
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
