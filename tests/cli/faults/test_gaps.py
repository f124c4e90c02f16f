"""Clusters that give no answer, that can be read in part only, or whose objects no API server would give out."""

from __future__ import annotations

import gzip
import json
import re
import socket
import ssl
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_policy.cli import run
from tests.sources.cluster import faults
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import CERTIFICATES, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.faults.conftest import Ask, NodeInForce
    from tests.sources.cluster.faults import Fault

KINDS: Final = "/apis/example.io/v1alpha1"
EVERYWHERE: Final = (
    f"{KINDS}/retrypolicies",
    *(f"{KINDS}/namespaces/{namespace}/retrypolicies*" for namespace in ("baker", "infra", "pastry")),
)
FORBIDDEN: Final = 'retrypolicies.example.io is forbidden: User "baker" cannot list resource "retrypolicies"'
# What goes wrong, and how it is called.
QUICK: Final[dict[str, tuple[Fault, str]]] = {
    "403": (faults.status(403, FORBIDDEN), "forbidden"),
    "404": (faults.status(404), "the server does not know this kind"),
    "410": (faults.status(410), "gone"),
    "429, long": (faults.status(429, retry_after="60"), "the server asks to wait 60s"),
    "no JSON object": (faults.raw(b"[1, 2]"), "not a JSON object"),
    "no list": (faults.raw(b'{"kind": "RetryPolicy", "metadata": {"name": "resilience"}}'), "not a list"),
    "no objects": (faults.raw(b'{"items": [1, {"metadata": 3}]}'), "not a list"),
    "a page of a proxy": (faults.html(), "is there a proxy or a login page in between?"),
    "redirected": (faults.redirect("https://login.example/"), "redirects elsewhere"),
}
SLOW: Final[dict[str, tuple[Fault, str]]] = {
    "429, short": (faults.status(429, retry_after="1"), "too many requests"),
    "500": (faults.status(500), "the server failed"),
    "503": (faults.status(503), "the server is unavailable"),
    "a page of a proxy that failed": (faults.html(502), "is there a proxy or a login page in between?"),
    "504": (faults.status(504), "the server took too long"),
    "conversion webhook": (faults.failed_conversion(), "the conversion webhook of its definition failed"),
    "cut": (faults.cut, "the connection was cut"),
    "cut within": (faults.cut_within, "the answer was cut off"),
    "truncated JSON": (faults.raw(b'{"items": ['), "not a JSON object"),
    "dripping": (faults.DRIPPING_BODY, "no answer within --request-timeout"),
    "silent": (faults.silence, "no answer within --request-timeout"),
}
# Each with its exit code: of questions that people act on, it says that the answer is incomplete.
COMMANDS: Final[dict[str, tuple[tuple[str, ...], int]]] = {
    "describe": (("describe", "httproute/baker"), 0),
    "get": (("get", "policies", "-A", "-o", "yaml"), 0),
    "status": (("status", "-A"), 0),
    "why-not": (("why-not", "timeoutpolicy/slow", "httproute/baker"), 0),
    "explain": (("explain", "retrypolicy"), 0),
    "blast-radius": (("blast-radius", "gateway/edge", "-n", "infra"), 4),
    "diff": (("diff", "--delete", "gateway/edge", "-n", "infra"), 4),
}


# What `ask` allows a cluster, in seconds.
_ALLOWED: Final = 2


def is_answer(outcome: NodeInForce, code: int, reason: str, limit: float) -> None:
    """Assert that there is an answer which names a gap, in time and without anything that is not for people."""
    assert outcome.code == code, outcome
    assert outcome.out
    message = " ".join((outcome.out + outcome.err).split())
    assert reason in message
    assert "RetryPolic" in message or "retrypolic" in message
    assert "Traceback" not in outcome.err
    assert all(map(str.isprintable, outcome.err.splitlines()))
    assert outcome.seconds < max(limit, _ALLOWED) + 1


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("fault", QUICK)
def test_a_kind_that_cannot_be_read(bakery: FaultyServer, ask: Ask, fault: str, name: str) -> None:
    answer, reason = QUICK[fault]
    for path in EVERYWHERE:
        bakery.fault(path, answer)
    arguments, code = COMMANDS[name]
    is_answer(ask(*arguments, timeout="10s"), code, reason, 4)


@pytest.mark.parametrize("name", ["describe", "blast-radius"])
@pytest.mark.parametrize("fault", SLOW)
def test_a_kind_that_is_waited_for(bakery: FaultyServer, ask: Ask, fault: str, name: str) -> None:
    """What may pass is asked again, and everything else is read meanwhile."""
    answer, reason = SLOW[fault]
    for path in EVERYWHERE:
        bakery.fault(path, answer)
    arguments, code = COMMANDS[name]
    outcome = ask(*arguments, timeout="1500ms")
    is_answer(outcome, code, reason, 1.5)
    # What is set by policies of other kinds was found out by several requests, one after another.
    assert "slow" in outcome.out


def test_a_namespace_that_may_not_be_read(bakery: FaultyServer, ask: Ask) -> None:
    """Whoever may list a kind in one namespace gets answers about that, and is told of the permission for the rest."""
    bakery.fault(f"{KINDS}/retrypolicies", faults.status(403, FORBIDDEN))
    bakery.fault(f"{KINDS}/namespaces/infra/retrypolicies*", faults.status(403, FORBIDDEN))
    outcome = ask("describe", "httproute/baker")
    is_answer(outcome, 0, "Needs: list retrypolicies.example.io in namespace infra", 1)
    assert "resilience" in outcome.out


def test_a_snapshot(bakery: FaultyServer, ask: Ask, tmp_path: Path) -> None:
    for path in EVERYWHERE:
        bakery.fault(path, faults.failed_conversion())
    file = tmp_path / "bakery.snapshot.gz"
    assert ask("snapshot", "-o", str(file)).code == 0
    message = gzip.decompress(file.read_bytes()).decode()
    assert "the conversion webhook of its definition failed" in message
    assert "TimeoutPolicy" in message


NAME: Final = {"name": "slow", "namespace": "baker"}
STRANGE: Final[dict[str, dict[str, Any]]] = {
    "labels that are a list": {**NAME, "labels": ["a"]},
    "labels that are numbers": {**NAME, "labels": {"a": 1, "b": None, "c": {}}},
    "annotations that are a text": {**NAME, "annotations": "a"},
    "a time that is none": {**NAME, "creationTimestamp": "yesterday"},
    "a time that is a number": {**NAME, "creationTimestamp": 10**30},
    "owners that are none": {**NAME, "ownerReferences": [1, {"kind": 2}]},
    "managers that are none": {**NAME, "managedFields": {"a": 1}},
    "a name that is a command": {**NAME, "name": "\x1b[31mslow\x07"},
    "a name that is a path": {**NAME, "name": "../../secrets/a"},
    "a name that is long": {**NAME, "name": "a" * 100_000},
    "a namespace that is a command": {**NAME, "namespace": "\x1b]0;x\x07"},
    "nothing": {},
}
QUESTIONS: Final = (
    ("describe", "httproute/baker"),
    ("get", "policies", "-A"),
    ("get", "timeoutpolicies", "-A", "-o", "yaml"),
    ("status", "-A"),
    ("blast-radius", "gateway/edge", "-n", "infra"),
)


@pytest.mark.parametrize(
    ("strange", "question"),
    [
        *(pytest.param([metadata], QUESTIONS[0], id=name) for name, metadata in STRANGE.items()),
        *(pytest.param([*STRANGE.values()], question, id=" ".join(question)) for question in QUESTIONS),
    ],
)
def test_metadata(bakery: FaultyServer, ask: Ask, strange: list[dict[str, Any]], question: tuple[str, ...]) -> None:
    spec = {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "baker"}]}
    policy = {"apiVersion": "example.io/v1alpha1", "kind": "TimeoutPolicy", "spec": spec}
    bakery.objects += [{**policy, "metadata": metadata} for metadata in strange]
    outcome = ask(*question)
    assert outcome.code in {0, 4}, outcome
    assert not {"\x1b", "\x07"} & {*outcome.out, *outcome.err}


ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "kind", "spec"]), inner),
    max_leaves=8,
)


@given(metadata=ANYTHING, spec=ANYTHING, status=ANYTHING)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_anything(bakery: FaultyServer, ask: Ask, metadata: object, spec: object, status: object) -> None:
    item = {"kind": "TimeoutPolicy", "metadata": metadata, "spec": spec, "status": status}
    bakery.fault("/apis/example.io/v1alpha1/timeoutpolicies", faults.raw(json.dumps({"items": [item]}).encode()))
    assert ask("describe", "httproute/baker").code == 0
    assert ask("describe", "gateway/edge", "-n", "infra").code == 0


ANY_QUESTION: Final = (
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


@pytest.mark.parametrize("question", ANY_QUESTION, ids=lambda arguments: arguments[0])
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
