"""The program that kubectl runs: it ends well, says nothing on standard error, and in time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.completion.conftest import BAKERY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROGRAM = "import sys; from kubectl_policy.cli.completion.entry import main; main()"
BY_KUBECTL = (sys.executable, "-c", PROGRAM)
BY_SHELL = (sys.executable, "-m", "kubectl_policy", "__complete")


def run(program: tuple[str, ...], *arguments: str, **environment: str) -> tuple[int, str, str]:
    """The exit code and what is printed."""
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
