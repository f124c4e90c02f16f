"""A connection answers or says why not, in time, whatever the server does; and it only reads."""

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import Any

import pytest

from kubectl_policy.errors import ClusterError
from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.cluster import connection as module
from kubectl_policy.sources.cluster import responses
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from kubectl_policy.sources.cluster.connection import JSON, METADATA, METADATA_LIST, Connection
from kubectl_policy.sources.cluster.request_failures import RequestFailed
from tests.sources.cluster import faults
from tests.sources.cluster.faults import Fault
from tests.sources.cluster.faulty import FaultyServer, Handler, Kind
from tests.sources.cluster.reaching import access_of, outcome, reaching

ROUTES = "/apis/gateway.networking.k8s.io/v1/namespaces/baker/httproutes"
ALL_ROUTES = "/apis/gateway.networking.k8s.io/v1/httproutes"
SECRETS = "/api/v1/namespaces/baker/secrets"
# What a test may take beyond the time that it gives.
MUCH_LESS_THAN_A_SECOND = 0.4


def thing(kind: str, name: str, version: str = "v1", **more: object) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "baker"}, **more}


def route(name: str) -> dict[str, Any]:
    return thing("HTTPRoute", name, "gateway.networking.k8s.io/v1", spec={"hostnames": ["a.example"]})


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    secret = thing("Secret", "tls", data={"key": "c2VjcmV0"})
    secret["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": '{"data": "c2VjcmV0"}'}
    secret["metadata"]["labels"] = {"app": "baker"}
    with FaultyServer([*(route(f"r{number}") for number in range(5)), secret]) as running:
        yield running


@pytest.fixture
def connection(server: FaultyServer) -> Connection:
    """A connection with more time than any test needs."""
    return Connection(reaching(server), timeout=20)


@pytest.fixture
def impatient(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """The same, of which is asked again nearly without a pause."""
    monkeypatch.setattr(module, "_PAUSES", (0.01, 0.02, 0.03))
    return server


def refused(call: Callable[[], object]) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("code", "reason", "tries"),
    [
        (400, "the server refuses the request as malformed", 1),
        (401, "the credentials were refused", 1),
        (403, "forbidden", 1),
        (404, "not found", 1),
        (406, "the server does not have it in this format", 1),
        (410, "gone: the server knows no state that old", 1),
        (418, "the server answered with status 418", 1),
        (429, "too many requests", 4),
        (500, "the server failed", 4),
        (503, "the server is unavailable", 4),
        (504, "the server took too long", 1),
    ],
)
def test_a_status_says_why_and_is_retried_if_that_may_help(
    impatient: FaultyServer, code: int, reason: str, tries: int
) -> None:
    """The reason is in our words, the message in the server's."""
    impatient.fault(f"{ROUTES}/r1", faults.status(code, "no\x1b[31m way\nhere"))
    refusal = refused(lambda: Connection(reaching(impatient)).get(f"{ROUTES}/r1"))
    assert (refusal.status, refusal.reason, refusal.message) == (code, reason, "no [31m way here")
    assert impatient.count(f"{ROUTES}/r1") == tries


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.cut, "the connection was cut"),
        (faults.cut_within, "the answer was cut off"),
        (faults.cut_within_chunks, "the answer was cut off"),
        (faults.raw(b'{"kind": "Thi'), "the server answered with something that is not a JSON object"),
        (faults.raw(b"\xff{}"), "the server answered with something that is not a JSON object"),
        (faults.raw(b'{"a": NaN}'), "the server answered with something that is not a JSON object"),
        (faults.raw(b""), "the server answered with something that is not a JSON object"),
        (faults.WRONG_GZIP, "the answer is not compressed as it says"),
        (faults.TRUNCATED_GZIP, "the server answered with something that is not a JSON object"),
        (faults.wrong_bytes(b"SSH-2.0-OpenSSH_9.6\r\n"), "the connection was cut"),
        (faults.status(500), "the server failed"),
        (faults.status(429, retry_after="1"), "too many requests"),
        (
            faults.html(503),
            "the server answered with status 503 and text/html: is there a proxy or a login page in between?",
        ),
    ],
)
def test_what_may_pass_is_asked_again(
    impatient: FaultyServer, connection: Connection, fault: Fault, reason: str
) -> None:
    """Once it has passed, the answer is there; and if it does not, the reason says what it was."""
    impatient.fault(f"{ROUTES}/r1", fault, times=1)
    assert connection.get(f"{ROUTES}/r1")["kind"] == "HTTPRoute"
    assert impatient.count(f"{ROUTES}/r1") == 2
    impatient.fault(f"{ROUTES}/r1", fault)
    hurried = Connection(reaching(impatient), timeout=2)
    assert refused(lambda: hurried.get(f"{ROUTES}/r1")).reason.startswith(reason)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.raw(b"[]"), "the server answered with something that is not a JSON object"),
        (faults.raw(b"[" * 100_000), "the answer is nested too deep"),
        (faults.raw(b'{"a":' * 300 + b"1" + b"}" * 300), "the answer is nested too deep"),
        (
            faults.html(),
            "the server answered with status 200 and text/html: is there a proxy or a login page in between?",
        ),
        (faults.html(403), "the server answered with status 403 and text/html: is there a proxy"),
        (faults.failed_conversion(), "the conversion webhook of its definition failed"),
    ],
)
def test_what_will_not_pass_is_not_asked_again(
    server: FaultyServer, connection: Connection, fault: Fault, reason: str
) -> None:
    server.fault(f"{ROUTES}/r1", fault)
    assert refused(lambda: connection.get(f"{ROUTES}/r1")).reason.startswith(reason)
    assert server.count(f"{ROUTES}/r1") == 1


def test_a_failure_with_a_success_of_http_is_one(server: FaultyServer, connection: Connection) -> None:
    """A `Status` object is not what was asked for."""
    body = {"kind": "Status", "status": "Failure", "code": 403, "message": "no"}
    server.fault(f"{ROUTES}/r1", faults.raw(json.dumps(body).encode()))
    refusal = refused(lambda: connection.get(f"{ROUTES}/r1"))
    assert (refusal.status, refusal.reason, refusal.message) == (403, "forbidden", "no")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: FaultyServer, connection: Connection, code: int) -> None:
    """The credentials go to the server that the kubeconfig names, and to no other."""
    with FaultyServer() as elsewhere:
        server.fault(f"{ROUTES}/r1", faults.redirect(f"{elsewhere.url}/steal", code))
        refusal = refused(lambda: connection.get(f"{ROUTES}/r1"))
        assert elsewhere.requests == []
    assert refusal.reason == "the server redirects elsewhere, where no credentials are sent"
    assert refusal.message.endswith("/steal")


@pytest.mark.parametrize(
    "fault", [faults.silence, faults.DRIPPING_HEADERS, faults.DRIPPING_BODY, faults.DRIPPING_CHUNKS, faults.slow(5)]
)
def test_all_ends_within_the_time_given(server: FaultyServer, fault: Fault) -> None:
    """Also where a server always sends something, and nothing that is an answer."""
    server.fault(f"{ROUTES}/r1", fault)
    start = time.monotonic()
    hurried = Connection(reaching(server), timeout=0.5)
    refusal = refused(lambda: hurried.get(f"{ROUTES}/r1"))
    assert time.monotonic() - start < 0.5 + MUCH_LESS_THAN_A_SECOND
    assert (refusal.status, refusal.reason) == (0, "no answer within --request-timeout 0.5s")
    assert refused(lambda: hurried.get(f"{ROUTES}/r2")).reason == refusal.reason
    assert server.count(f"{ROUTES}/r2") == 0


@pytest.mark.parametrize("fault", [faults.status(503), faults.status(429, retry_after="0"), faults.cut])
def test_what_fails_again_and_again_is_given_up_in_time(server: FaultyServer, fault: Fault) -> None:
    """The reason is that of the last failure, for that is what stands in the way."""
    server.fault(f"{ROUTES}/r1", fault)
    start = time.monotonic()
    hurried = Connection(reaching(server), timeout=0.3)
    assert "no answer" not in refused(lambda: hurried.get(f"{ROUTES}/r1")).reason
    assert time.monotonic() - start < 0.3 + MUCH_LESS_THAN_A_SECOND


def test_one_deadline_is_for_all_that_is_asked(server: FaultyServer) -> None:
    """What one request takes, others lack; and pages of a list share it, too."""
    server.fault("/*", faults.slow(0.15))
    start = time.monotonic()
    hurried = Connection(reaching(server), timeout=0.5)
    assert refused(lambda: hurried.list(ALL_ROUTES, chunk_size=1)).status == 0
    assert refused(lambda: hurried.get("/api")).status == 0
    assert time.monotonic() - start < 0.5 + MUCH_LESS_THAN_A_SECOND


def test_credentials_that_take_forever_do_not(server: FaultyServer) -> None:
    """A plugin that asks a server of its own may hang as well."""

    def headers() -> Mapping[str, str]:
        server.closing.wait()
        return {}

    hurried = Connection(access_of(server.url, headers=headers), timeout=0.2)
    assert refused(lambda: hurried.get("/api")).reason == "no answer within --request-timeout 0.2s"


def test_errors_of_the_access_are_raised_where_one_asks(server: FaultyServer) -> None:
    """They are no gap: nothing can be asked at all."""

    def headers() -> Mapping[str, str]:
        raise ClusterError("the plugin failed")

    with pytest.raises(ClusterError, match="the plugin failed"):
        Connection(access_of(server.url, headers=headers)).get("/api")


def test_a_wait_longer_than_the_time_left_is_not_waited(server: FaultyServer, connection: Connection) -> None:
    """It is told at once, with what the server wants."""
    server.fault(f"{ROUTES}/r1", faults.status(429, "slow down", retry_after="60"))
    start = time.monotonic()
    refusal = refused(lambda: connection.get(f"{ROUTES}/r1"))
    assert time.monotonic() - start < MUCH_LESS_THAN_A_SECOND
    wanted = "the server asks to wait 60s, longer than --request-timeout 20s leaves"
    assert (refusal.status, refusal.reason, refusal.message) == (429, f"too many requests: {wanted}", "slow down")


def test_a_wait_that_the_server_asks_for_is_waited(server: FaultyServer, connection: Connection) -> None:
    """In seconds; a date, which no API server sends, is not understood."""
    server.fault(f"{ROUTES}/r1", faults.status(503, retry_after="1"), times=1)
    start = time.monotonic()
    assert connection.get(f"{ROUTES}/r1")
    assert time.monotonic() - start >= 1


def test_there_may_be_no_limit(server: FaultyServer) -> None:
    """As with kubectl, 0 is none."""
    unlimited = Connection(reaching(server), timeout=0)
    server.fault(f"{ROUTES}/r1", faults.slow(0.1), times=1)
    assert unlimited.get(f"{ROUTES}/r1")


def test_new_credentials_are_tried_once(server: FaultyServer) -> None:
    """After a 401, the access is asked for others; if there are none, or they are refused as well, that is told."""
    tokens = ["old"]

    def renew(headers: Mapping[str, str]) -> bool:
        assert headers["Authorization"] == tokens[-1]
        tokens.append(f"new-{len(tokens)}")
        return True

    renewing = Connection(access_of(server.url, headers=lambda: {"Authorization": tokens[-1]}, renew=renew))
    server.fault(f"{ROUTES}/r1", faults.status(401), times=1)
    assert renewing.get(f"{ROUTES}/r1")
    assert [request.headers["Authorization"] for request in server.requests] == ["old", "new-1"]
    # A watch that goes on for hours begins anew every few minutes.
    server.fault(ROUTES, faults.status(401), times=1)
    renewing.watch(ROUTES, {"resourceVersion": "1"}, METADATA).close()
    assert [request.headers["Authorization"] for request in server.requests[2:]] == ["new-1", "new-2"]
    server.fault(f"{ROUTES}/r2", faults.status(401))
    assert refused(lambda: renewing.get(f"{ROUTES}/r2")).status == 401
    assert server.count(f"{ROUTES}/r2") == 2
    assert refused(lambda: Connection(reaching(server)).get(f"{ROUTES}/r2")).status == 401
    assert server.count(f"{ROUTES}/r2") == 3


def test_what_is_sent(server: FaultyServer, connection: Connection) -> None:
    """The headers of the access, what one accepts, and who asks."""
    connection.get(f"{ROUTES}/r1", {"resourceVersion": "0", "a": "b c&d"}, METADATA)
    sent = server.requests[0]
    assert (sent.method, sent.path, sent.query) == ("GET", f"{ROUTES}/r1", {"resourceVersion": "0", "a": "b c&d"})
    assert sent.headers["Authorization"] == "Bearer abc"
    assert sent.headers["Accept"] == METADATA
    assert sent.headers["Accept-Encoding"] == "gzip"
    assert sent.headers["User-Agent"].startswith("kubectl-policy/0.")
    plain = access_of(server.url, headers=lambda: {"Accept-Encoding": "identity"})
    Connection(plain).get(f"{ROUTES}/r1")
    assert server.requests[-1].headers["Accept-Encoding"] == "identity"


def test_each_group_of_an_impersonated_user_is_sent(server: FaultyServer) -> None:
    """By an access as flags make it: headers of the same name are not put together."""
    options = ClusterOptions(server=server.url, as_="jane", as_group=("a", "b"))
    Connection(access_to(options)).get(f"{ROUTES}/r1")
    assert server.requests[0].headers.getlist("Impersonate-Group") == ["a", "b"]


def test_one_connection_is_kept(server: FaultyServer, connection: Connection) -> None:
    """Also after answers other than success, and by threads that ask one after the other."""
    for name in ("r1", "missing", "r2"):
        outcome(partial(connection.get, f"{ROUTES}/{name}"))
    assert (len(server.requests), len(server.connections)) == (3, 1)


def test_threads_share_a_connection(connection: Connection) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(connection.get, [f"{ROUTES}/r{number % 5}" for number in range(40)])]
    assert [text_at(answer, "metadata.name") for answer in answers] == [f"r{number % 5}" for number in range(40)]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/baker/services/..",
        "/api/v1/namespaces/../secrets",
        "/api/v1/namespaces/baker/services/a%2Fproxy",
        "/api/v1/namespaces/baker/services/%2e%2E",
        "/api/v1/namespaces/baker/services/a%2525",
        "/api/v1/namespaces//secrets",
        "/api/v1/namespaces/baker/services/",
    ],
)
def test_names_do_not_lead_elsewhere(server: FaultyServer, connection: Connection, path: str) -> None:
    """No object can be called so, and what such a path means to a server is not what was asked for."""
    assert refused(lambda: connection.get(path)).status == 404
    assert server.requests == []


def test_a_namespace_may_be_called_secrets(server: FaultyServer, connection: Connection) -> None:
    assert refused(lambda: connection.get("/api/v1/namespaces/secrets/pods/x")).status == 404
    assert len(server.requests) == 1


def test_of_secrets_nothing_but_metadata_is_asked(server: FaultyServer, connection: Connection) -> None:
    """Neither may the caller forget it, nor does what `kubectl apply` wrote into an annotation stay."""
    for path in (SECRETS, f"{SECRETS}/tls", "/api/v1/secrets", "/api/v1/watch/secrets"):
        with pytest.raises(ValueError, match="nothing but metadata"):
            connection.get(path)
    assert server.requests == []
    one = connection.get(f"{SECRETS}/tls", accept=METADATA)
    every = connection.list(SECRETS, accept=METADATA_LIST).items
    bare = {"name": "tls", "namespace": "baker", "labels": {"app": "baker"}}
    assert (one["metadata"], every[0]["metadata"], len(every)) == (bare, bare, 1)


@pytest.mark.parametrize("accept", [METADATA, METADATA_LIST])
def test_a_secret_that_comes_all_the_same_is_not_kept(accept: str) -> None:
    """An old server does not know how to give metadata alone."""
    with FaultyServer([thing("Secret", "tls", data={"key": "c2VjcmV0"})], old=True) as old:
        path = f"{SECRETS}/tls" if accept == METADATA else SECRETS
        refusal = refused(lambda: Connection(reaching(old)).get(path, accept=accept))
    assert (refusal.status, refusal.reason) == (406, "the server does not give the metadata of Secrets alone")


def test_a_list_is_one_request(server: FaultyServer, connection: Connection) -> None:
    whole = connection.list(ALL_ROUTES)
    assert ([item["kind"] for item in whole.items], whole.resource_version) == (["HTTPRoute"] * 5, "1000")
    assert server.count(ALL_ROUTES) == 1
    assert connection.list(ALL_ROUTES, {"resourceVersion": "0"}, JSON, 2) == whole
    pages = [request.query for request in server.requests[1:]]
    assert pages == [
        {"resourceVersion": "0", "limit": "2"},
        {"limit": "2", "continue": "2"},
        {"limit": "2", "continue": "4"},
    ]


@pytest.mark.parametrize("code", [413, 504, 200])
def test_a_list_that_is_too_large_is_asked_for_in_pages(
    server: FaultyServer, connection: Connection, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """By what the server says, or as the answer is larger than one may be: all of it is never in memory at once."""
    monkeypatch.setattr(module, "_CHUNK", 2)
    if code == 200:
        monkeypatch.setattr(responses, "MAX_BYTES", 600)
    else:
        server.fault(ALL_ROUTES, faults.status(code), times=1)
    assert len(connection.list(ALL_ROUTES).items) == 5
    pages = [{"limit": "2"}, {"limit": "2", "continue": "2"}, {"limit": "2", "continue": "4"}]
    assert [request.query for request in server.requests] == [{}, *pages]


def test_a_list_that_changed_too_much_starts_over(server: FaultyServer, connection: Connection) -> None:
    """The server forgot the state of the first page: then all of it, in one answer."""
    rightly, too_old = faults.slow(0), faults.status(410, "the provided continue parameter is too old")
    answers = iter([rightly, too_old, rightly])

    def answer(handler: Handler) -> None:
        next(answers)(handler)

    server.fault(ALL_ROUTES, answer)
    assert len(connection.list(ALL_ROUTES, chunk_size=2).items) == 5
    assert [request.query for request in server.requests] == [{"limit": "2"}, {"limit": "2", "continue": "2"}, {}]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        *((body, "not a list") for body in (b"{}", b'{"items": {}}', b'{"items": [1]}', b'{"items": "ab"}')),
        (b'{"metadata": {"continue": "x"}, "items": []}', "the same page"),
    ],
)
def test_what_is_no_list_is_refused(server: FaultyServer, connection: Connection, body: bytes, reason: str) -> None:
    """Nor is a server that gives the same page again and again asked for ever; Go writes null for a list of nothing."""
    server.fault(ALL_ROUTES, faults.raw(body))
    assert reason in refused(lambda: connection.list(ALL_ROUTES)).reason
    server.fault(ALL_ROUTES, faults.raw(b'{"items": null, "metadata": {"resourceVersion": "7"}}'))
    found = connection.list(ALL_ROUTES)
    assert (list(found.items), found.resource_version) == ([], "7")


def test_a_body_is_bounded(server: FaultyServer, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "MAX_BYTES", 2**20)
    server.fault(ALL_ROUTES, faults.bomb(2**24))
    assert refused(lambda: connection.list(ALL_ROUTES)).reason == "the answer is larger than 1 MiB"


def test_large_answers_are_compressed() -> None:
    with FaultyServer([route(f"r{number}") for number in range(3_000)]) as server:
        assert len(Connection(reaching(server)).list(ALL_ROUTES).items) == 3_000


def test_half_characters_are_replaced(server: FaultyServer, connection: Connection) -> None:
    """As encoding/json does: what cannot be written down again is not read."""
    server.fault(f"{ROUTES}/r1", faults.raw(b'{"a": "\\ud800", "b": "\\ud83d\\ude00"}'))
    assert connection.get(f"{ROUTES}/r1") == {"a": "\ufffd", "b": "\U0001f600"}


def test_a_token_that_cannot_be_sent_is_not_shown(server: FaultyServer) -> None:
    """It would stand in the message of the library."""
    broken = Connection(access_of(server.url, headers=lambda: {"Authorization": "Bearer hidden\n"}))
    refusal = refused(lambda: broken.get("/api"))
    assert "hidden" not in str(refusal)
    assert "header" in refusal.reason


def test_a_server_that_is_not_there() -> None:
    """Refused connections and unknown names are told apart, and nothing is tried again."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    nobody = Connection(access_of(f"http://127.0.0.1:{port}"), timeout=5)
    start = time.monotonic()
    assert refused(lambda: nobody.get("/api")).reason == "connection refused"
    assert time.monotonic() - start < MUCH_LESS_THAN_A_SECOND
    unknown = Connection(access_of("http://no-such-host.invalid"), timeout=5)
    assert refused(lambda: unknown.get("/api")).reason in {"no such host", "no answer within --request-timeout 5s"}


def test_a_server_that_takes_no_connection() -> None:
    """Its queue is full, as if a firewall dropped what is sent."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.settimeout(0)
            client.connect_ex(full.getsockname())
        start = time.monotonic()
        hurried = Connection(access_of(f"http://127.0.0.1:{full.getsockname()[1]}"), timeout=0.3)
        assert refused(lambda: hurried.get("/api")).reason == "no answer within --request-timeout 0.3s"
        assert time.monotonic() - start < 0.3 + MUCH_LESS_THAN_A_SECOND
        for client in waiting:
            client.close()


def test_a_resolver_of_names_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time-out of Python's reaches it."""
    released = Event()

    def hang(*_: object) -> None:
        released.wait(10)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    start = time.monotonic()
    hurried = Connection(access_of("http://slow.example"), timeout=0.2)
    assert refused(lambda: hurried.get("/api")).reason == "no answer within --request-timeout 0.2s"
    assert time.monotonic() - start < 0.2 + MUCH_LESS_THAN_A_SECOND
    released.set()


def test_a_server_without_tls(server: FaultyServer) -> None:
    """Somebody wrote https:// by mistake."""
    wrong = Connection(access_of(server.url.replace("http:", "https:")), timeout=5)
    assert refused(lambda: wrong.get("/api")).reason == "the server does not speak TLS: is it http:// and not https://?"


def test_kinds_may_be_given() -> None:
    with FaultyServer(kinds=[Kind("example.io", "v1", "RetryPolicy", "retrypolicies")]) as server:
        assert list(Connection(reaching(server)).list("/apis/example.io/v1/retrypolicies").items) == []
