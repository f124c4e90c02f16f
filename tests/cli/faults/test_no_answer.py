"""Where nothing can be asked of a cluster, a command says why in a line and what to do in another, with code 3."""

from __future__ import annotations

import re
import socket
import ssl
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.cli import run
from tests.sources.cluster import faults
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import CERTIFICATES, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.faults.conftest import Ask
    from tests.sources.cluster.faults import Fault

QUESTIONS: Final = (
    ("describe", "httproute/baker"),
    ("get", "policies"),
    ("status",),
    ("why-not", "timeoutpolicy/slow", "httproute/baker"),
    ("diff", "--delete", "gateway/edge"),
    ("blast-radius", "gateway/edge"),
    ("explain", "retrypolicy"),
    ("snapshot", "-o", "/dev/null"),
)
EVERYTHING: Final[dict[str, tuple[Fault, str]]] = {
    "401": (faults.status(401, "Unauthorized"), "you must be logged in to the server (Unauthorized)"),
    "403": (faults.status(403), "forbidden"),
    "404": (faults.status(404), "not found"),
    "503": (faults.status(503), "the server is unavailable"),
    "429, long": (faults.status(429, retry_after="60"), "the server asks to wait 60s"),
    "no JSON": (faults.raw(b"[]"), "not a JSON object"),
    "a page of a proxy": (faults.html(), "is there a proxy or a login page in between?"),
    "redirected": (faults.redirect("https://login.example/"), "redirects elsewhere"),
    "no HTTP": (faults.wrong_bytes(b"SSH-2.0-OpenSSH_9.9\r\n"), "the connection was cut"),
    "silent": (faults.silence, "no answer within --request-timeout 1.5s"),
}


def is_error(code: int, out: str, err: str, reason: str) -> None:
    """Assert that there is nothing but an error with a hint, and that it says why."""
    assert (code, out) == (3, "")
    lines = [line for line in err.splitlines() if not line.startswith("no cluster was asked: ")]
    assert [line.partition(":")[0] for line in lines] == ["error", "hint"]
    assert reason in err


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize("fault", ["401", "503"])
def test_every_command(bakery: FaultyServer, ask: Ask, fault: str, question: tuple[str, ...]) -> None:
    answer, reason = EVERYTHING[fault]
    bakery.fault("/*", answer)
    outcome = ask(*question)
    is_error(outcome.code, outcome.out, outcome.err, reason)


@pytest.mark.parametrize("fault", EVERYTHING)
def test_every_fault(bakery: FaultyServer, ask: Ask, fault: str) -> None:
    answer, reason = EVERYTHING[fault]
    bakery.fault("/*", answer)
    outcome = ask("describe", "httproute/baker", timeout="1500ms")
    is_error(outcome.code, outcome.out, outcome.err, reason)
    assert outcome.err.startswith("error: bakery: ")
    assert outcome.seconds < 2.5


@pytest.mark.parametrize("fault", EVERYTHING)
def test_what_was_remembered_does_not_help(bakery: FaultyServer, ask: Ask, fault: str) -> None:
    """There is no page of gaps where nothing at all was answered, and none where nobody is let in."""
    assert ask("describe", "httproute/baker").code == 0
    answer, reason = EVERYTHING[fault]
    bakery.fault("/*", answer)
    outcome = ask("describe", "httproute/baker", timeout="1500ms")
    assert outcome.code == 3
    assert len(outcome.err.splitlines()) == 2
    assert reason in outcome.err
    assert outcome.seconds < 2.5


def test_credentials_that_expire_meanwhile(bakery: FaultyServer, ask: Ask) -> None:
    """What was answered before that is no answer."""
    bakery.fault("/apis/gateway.networking.k8s.io/*", faults.status(401, "Unauthorized"))
    outcome = ask("describe", "httproute/baker")
    is_error(outcome.code, outcome.out, outcome.err, "bakery: you must be logged in to the server (Unauthorized)")


@pytest.mark.parametrize("fault", ["403", "503", "silent", "a page of a proxy"])
def test_it_is_not_known_what_is_served(bakery: FaultyServer, ask: Ask, fault: str) -> None:
    """Then nothing is said not to be there."""
    bakery.fault("/apis", EVERYTHING[fault][0])
    outcome = ask("get", "policies", timeout="1500ms")
    is_error(outcome.code, outcome.out, outcome.err, "what it serves is not known")
    assert outcome.seconds < 2.5


def test_nobody_listens(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not home.exists()
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}"
    config = written(tmp_path, cluster={"server": address})
    code = run(["describe", "httproute/baker", "--kubeconfig", config, "--cache-dir", str(tmp_path)])
    out, err = capsys.readouterr()
    is_error(code, out, err, f"bakery: {address} cannot be asked: connection refused")


def test_a_name_that_nobody_knows(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not home.exists()
    config = written(tmp_path, cluster={"server": "https://cluster.invalid:6443"})
    code = run(["get", "policies", "--kubeconfig", config, "--request-timeout", "3s", "--cache-dir", str(tmp_path)])
    out, err = capsys.readouterr()
    is_error(code, out, err, "bakery: https://cluster.invalid:6443 cannot be asked: no ")


# What a server shows, what is trusted, which name is expected, what is wrong, and what to do.
WRONG: Final = (
    ("expired", "ca", "cluster.example", "has expired", "renew"),
    ("server", "other-ca", "cluster.example", "is signed by an unknown authority", "--certificate-authority FILE"),
    ("server", "", "cluster.example", "is signed by an unknown authority", "--certificate-authority FILE"),
    ("server", "ca", "other.example", "is for another name", "--tls-server-name NAME"),
    ("server", "ca", "", "is for another address", "--tls-server-name NAME"),
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[3])
def test_certificates(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str], wrong: tuple[str, str, str, str, str]
) -> None:
    """What is wrong with one is put right elsewhere each time."""
    certificate, trusted, name, reason, hint = wrong
    assert not home.exists()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{certificate}.pem", CERTIFICATES / "server.key")
    authority = {"certificate-authority": str(CERTIFICATES / f"{trusted}.pem")} if trusted else {}
    with FaultyServer(tls=context) as server:
        config = written(tmp_path, cluster={"server": server.url, "tls-server-name": name, **authority})
        code = run(["get", "policies", "--kubeconfig", config, "--cache-dir", str(tmp_path)])
    out, err = capsys.readouterr()
    is_error(code, out, err, f"the server's certificate {reason}\n")
    assert hint in err.splitlines()[1]


@pytest.mark.parametrize("time", ["soon", "-1s", "5 parsecs", "1e999", "nan", "٣s"])
def test_a_timeout_that_is_none(ask: Ask, time: str) -> None:
    """The question itself is wrong then, and nothing is asked."""
    outcome = ask("get", "policies", timeout=time)
    assert (outcome.code, outcome.out) == (2, "")
    assert re.match(r'error: ".*" is not a time\nhint: write --request-timeout', outcome.err)


@pytest.mark.parametrize("time", ["0", "0s", "30", "1m30s", "2500ms"])
def test_a_timeout(ask: Ask, time: str) -> None:
    """As kubectl has it: seconds unless it says otherwise, and 0 for no limit."""
    assert ask("get", "policies", "-A", timeout=time).code == 0
