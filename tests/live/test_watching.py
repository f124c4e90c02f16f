"""Watching a real server: every change of an answer is shown, and nothing but reading is asked for."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.live.audit import verbs_and_resources
from tests.live.server import Server

NAMESPACE = "watched"


def policy(attempts: int) -> dict[str, object]:
    refs = [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "watched"}]
    return {
        "apiVersion": "example.io/v1alpha1",
        "kind": "RetryPolicy",
        "metadata": {"name": "watched", "namespace": NAMESPACE},
        "spec": {"targetRefs": refs, "defaults": {"attempts": attempts}},
    }


def test_each_change_is_shown(server: Server, tmp_path: Path) -> None:
    """Soon after it was made, of what is there and of what comes to be there."""
    gateway = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "watched", "namespace": NAMESPACE},
        "spec": {"gatewayClassName": "public", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]},
    }
    server.kubectl("create", "namespace", NAMESPACE)
    server.kubectl("apply", "-f", "-", data=gateway)
    config = str(server.kubeconfig("admin", namespace=NAMESPACE))
    command = [sys.executable, "-m", "kubectl_policy", "describe", "gateway/watched", "-w", "--kubeconfig", config]
    out = tmp_path / "out"
    with (
        server.audit.recorded("kubectl-policy/") as found,
        out.open("wb") as to,
        subprocess.Popen(  # noqa: S603 (our own program)
            [*command, "--cache-dir", str(tmp_path)],
            stdout=to,
            stderr=subprocess.PIPE,
            # In the background of a shell, interrupts are ignored, and stay so.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no other thread runs)
        ) as process,
    ):
        try:
            assert process.stderr
            _until_written(out, "Gateway watched/watched")
            for attempts in (3, 4):
                server.kubectl("apply", "-f", "-", data=policy(attempts))
                _until_written(out, f"attempts   {attempts}")
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert process.stderr.read() == b""
        finally:
            process.kill()
    assert {verb for verb, _ in verbs_and_resources(found)} == {"get", "list", "watch"}


def _until_written(file: Path, words: str) -> None:
    end = time.monotonic() + 30
    while words not in file.read_text("utf-8"):
        assert time.monotonic() < end
        time.sleep(0.05)
