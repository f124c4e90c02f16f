"""Tokens, and the programs that make them: which are run, what they are told, and what comes of their failures."""

import base64
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Json
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from tests.sources.cluster.reaching import CERTIFICATES, asked, reach, refusal, served, written

pytestmark = pytest.mark.usefixtures("home")

_NO_CREDENTIAL: Final = "printed no ExecCredential of client.authentication.k8s.io/v1 with a token or a certificate"
V1: Final = "client.authentication.k8s.io/v1"
# What marks that a plugin was run.
RAN: Final = "ran"


def plugin(folder: Path, body: str, more: Mapping[str, Json] | None = None, *, name: str = "plugin") -> Json:
    """A user whose credentials come from a shell script beside the kubeconfig."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho x >> {folder}/{RAN}\n{body}\n")
    path.chmod(0o755)
    return {"exec": {"apiVersion": V1, "command": f"./{name}", "interactiveMode": "Never", **(more or {})}}


def answering(status: Mapping[str, Json]) -> str:
    answer = json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": status})
    return f"cat <<'END'\n{answer}\nEND"


def authorization(folder: Path, user: Json, **cluster: Json) -> str:
    """The header that goes with the requests of a user."""
    return (
        reach(folder, user=user, cluster={"server": "https://cluster.example", **cluster})
        .headers()
        .get("Authorization", "")
    )


def runs(folder: Path) -> int:
    ran = folder / RAN
    return len(ran.read_text().splitlines()) if ran.exists() else 0


# Tokens


def test_a_token_in_a_file(tmp_path: Path) -> None:
    """It comes before one that is written out, without the end of its line; it is read again when it was refused."""
    file = tmp_path / "token"
    file.write_text("one\n")
    access = reach(tmp_path, user={"token": "spare", "tokenFile": "token"})
    file.write_text("two")
    assert access.headers()["Authorization"] == "Bearer one"
    assert access.renew(access.headers())
    assert access.headers()["Authorization"] == "Bearer two"
    assert "none cannot be read: No such file" in refusal(tmp_path, user={"tokenFile": "none"})[0]


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ({"exec": {"apiVersion": V1}}, "missing key 'command'"),
        ({"exec": {"command": "sh"}}, "missing key 'apiVersion'"),
        ({"exec": {"command": "sh", "apiVersion": V1, "args": [5]}}, "a setting has the wrong type"),
        ({"exec": {"command": "sh", "apiVersion": V1, "env": ["a"]}}, "a setting has the wrong type"),
        ({"exec": {"command": "sh", "apiVersion": V1, "args": ["a\0b"]}}, "a setting has the wrong type"),
        ({"exec": []}, "exec: it has the wrong type"),
        ({"token": ["a"]}, "token: it has the wrong type"),
        ({"auth-provider": {"name": "gcp"}}, "kubectl no longer has this auth-provider"),
        ({"auth-provider": {"name": "oidc"}}, "there is no valid id-token"),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": "a.b.c"}}}, "there is no valid id-token"),
    ],
)
def test_users_that_say_nothing(tmp_path: Path, user: Json, reason: str) -> None:
    assert reason in refusal(tmp_path, user=user)[0]


def with_token(claims: Json) -> Json:
    """A user with a token that says something of itself, and could get another one."""
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    token = f"e30.{payload}.signature"
    more = {"idp-issuer-url": "http://127.0.0.1:1", "refresh-token": "r", "client-id": "c", "client-secret": "s"}
    return {"auth-provider": {"name": "oidc", "config": {"id-token": token, **more}}}


def test_a_token_of_an_auth_provider(tmp_path: Path) -> None:
    """It is sent while it is valid; another one is not asked for, which would use up the kubeconfig's own."""
    assert authorization(tmp_path, with_token({"exp": int(time.time()) + 3600})).startswith("Bearer e30.")
    assert (
        "the OIDC id-token has expired: `kubectl version` gets a new one"
        in refusal(tmp_path, user=with_token({"exp": 1}))[0]
    )
    for claims in ({"exp": "soon"}, {"exp": 1e300}, ["exp"], "exp"):
        assert "a setting has the wrong type" in refusal(tmp_path, user=with_token(claims))[0]


# Plugins


def test_a_plugin_is_run_once_and_told_what_it_wants_to_know(tmp_path: Path) -> None:
    """With its arguments and variables; of the cluster only if it asks for that."""
    body = f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/told; echo "$1 $MORE" > {tmp_path}/args\n'
    body += answering({"token": "t"})
    (tmp_path / "ca.pem").write_bytes((CERTIFICATES / "ca.pem").read_bytes())
    cluster: dict[str, Json] = {
        "certificate-authority": "ca.pem",
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}],
    }
    more: dict[str, Json] = {"args": ["one"], "env": [{"name": "MORE", "value": "two"}]}
    assert authorization(tmp_path, plugin(tmp_path, body, more), **cluster) == "Bearer t"
    told = json.loads((tmp_path / "told").read_text())
    assert told == {"apiVersion": V1, "kind": "ExecCredential", "spec": {"interactive": False}}
    assert (tmp_path / "args").read_text() == "one two\n"
    assert runs(tmp_path) == 1
    authorization(tmp_path, plugin(tmp_path, body, {"provideClusterInfo": True}), **cluster)
    told = json.loads((tmp_path / "told").read_text())["spec"]["cluster"]
    assert told.pop("certificate-authority") == str(tmp_path / "ca.pem")
    assert (told["server"], told["config"]) == ("https://cluster.example", {"audience": "a"})


def test_a_plugin_is_run_again_when_its_token_expires(tmp_path: Path) -> None:
    """Before the request that would use it; should it then fail, that is said."""
    past, future = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00.5+02:00"
    path = written(tmp_path, user=plugin(tmp_path, answering({"token": "one", "expirationTimestamp": past})))
    access = access_to(ClusterOptions(kubeconfig=path))
    plugin(tmp_path, answering({"token": "two", "expirationTimestamp": future}))
    assert [access.headers()["Authorization"] for _ in range(2)] == ["Bearer two"] * 2
    assert runs(tmp_path) == 2
    plugin(tmp_path, answering({"token": "one", "expirationTimestamp": past}))
    access = access_to(ClusterOptions(kubeconfig=path))
    plugin(tmp_path, "exit 3")
    with pytest.raises(ClusterError, match="ended with code 3"):
        access.headers()


def test_a_plugin_is_run_again_when_its_token_was_refused(tmp_path: Path) -> None:
    """Once for all requests with that token; if it has no other one, it is not run for every further request."""
    access = reach(tmp_path, user=plugin(tmp_path, answering({"token": "one"})))
    old = access.headers()
    plugin(tmp_path, answering({"token": "two"}))
    assert access.renew(old)
    assert access.renew(old)
    assert access.headers()["Authorization"] == "Bearer two"
    assert runs(tmp_path) == 2
    assert [access.renew(access.headers()) for _ in range(3)] == [False] * 3
    assert runs(tmp_path) == 3


def test_a_token_of_a_kubeconfig_is_not_renewed(tmp_path: Path) -> None:
    access = reach(tmp_path, user={"token": "t"})
    assert not access.renew(access.headers())
    assert not access_to(ClusterOptions(server="localhost:1")).renew({})


def test_connections_do_not_keep_a_certificate_that_was_replaced(tmp_path: Path) -> None:
    """After a 401, the plugin prints another one, which is presented from the next request on."""

    def own(name: str) -> Mapping[str, Json]:
        return {
            "clientCertificateData": (CERTIFICATES / f"{name}.pem").read_text(),
            "clientKeyData": (CERTIFICATES / f"{name}.key").read_text(),
        }

    user = plugin(tmp_path, answering(own("server")))
    with served(asks_for_certificate=True) as server:
        cluster: Json = {"server": f"https://{server.authority}", "insecure-skip-tls-verify": True}
        access = reach(tmp_path, user=user, cluster=cluster)
        headers = access.headers()
        plugin(tmp_path, answering(own("client")))
        for _ in range(2):
            assert asked(access, headers) == 200
        assert access.renew(headers)
        assert asked(access) == 200
    assert ["jane" in str(client) for client in server.clients] == [False, False, True]


def test_a_plugin_is_run_where_kubectl_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not in the folder of the kubeconfig."""
    monkeypatch.chdir("/")
    user = plugin(tmp_path, answering({"token": "$PWD"}).replace("'END'", "END"))
    assert authorization(tmp_path, user) == "Bearer /"


def test_a_plugin_that_answers_a_certificate(tmp_path: Path) -> None:
    """It is presented, and no token is sent unless the plugin printed one as well."""
    certificate, key = ((CERTIFICATES / f"client.{end}").read_text() for end in ("pem", "key"))
    user = plugin(tmp_path, answering({"clientCertificateData": certificate, "clientKeyData": key}))
    with served(asks_for_certificate=True) as server:
        cluster: Json = {"server": f"https://{server.authority}", "insecure-skip-tls-verify": True}
        access = reach(tmp_path, user=user, cluster=cluster)
        assert asked(access) == 200
        assert "Authorization" not in server.requests[0].headers
        user = plugin(tmp_path, answering({"token": "t", "clientCertificateData": certificate, "clientKeyData": key}))
        access = reach(tmp_path, user=user, cluster=cluster)
        assert asked(access) == 200
        assert server.requests[1].headers["Authorization"] == "Bearer t"
        assert "jane" in str(server.clients[1])
    user = plugin(tmp_path, answering({"clientCertificateData": certificate, "clientKeyData": certificate}))
    assert "there is no client certificate with its key" in refusal(tmp_path, user=user)[0]


def test_a_plugin_is_not_run_where_it_is_not_needed(tmp_path: Path) -> None:
    """Beside other credentials, as in kubectl; without TLS nothing is sent; a token of a flag comes before all else."""
    user = plugin(tmp_path, "exit 1")
    assert isinstance(user, dict)
    assert authorization(tmp_path, user, server="http://cluster.example") == ""
    names = {"client-certificate": "client.pem", "client-key": "client.key"}
    own = {key: str(CERTIFICATES / name) for key, name in names.items()}
    login: dict[str, Json] = {"username": "a", "password": "b"}
    for more, sent in ((own, ""), (login, "Basic YTpi"), ({"token": "t"}, "Bearer t")):
        assert authorization(tmp_path, {**user, **more}) == sent
    for by_file in (user, login, {"tokenFile": "none"}, {"token": "two"}):
        access = reach(tmp_path, user=by_file, token="one")  # noqa: S106 (none)
        assert access.headers()["Authorization"] == "Bearer one"
    assert runs(tmp_path) == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("echo '  no\033[31m login ' >&2; echo done >&2; exit 7", " ended with code 7: no\x1b[31m login done"),
        ("exit 7", " ended with code 7"),
        ("kill -9 $$", " ended with code -9"),
        ("yes | head -c 3000000 >&2; exit 1", "y y y"),
        ("echo '{'", _NO_CREDENTIAL),
        ("echo '[]'", _NO_CREDENTIAL),
        ("printf '\\377'", _NO_CREDENTIAL),
        ("yes '[' | head -c 200000", _NO_CREDENTIAL),
        ("true", _NO_CREDENTIAL),
        ("echo '{}'", _NO_CREDENTIAL),
        (answering({}).replace("/v1", "/v1beta1"), _NO_CREDENTIAL),
        (answering({}), _NO_CREDENTIAL),
        (answering({"token": 5}), _NO_CREDENTIAL),
        (answering({"clientCertificateData": "a"}), _NO_CREDENTIAL),
        (answering({"token": "a", "clientKeyData": "a"}), _NO_CREDENTIAL),
        (
            answering({"clientCertificateData": "a", "clientKeyData": "b"}),
            "there is no client certificate with its key",
        ),
        (answering({"token": "a\nb"}), "the token contains a line break"),
        (answering({"token": "a", "expirationTimestamp": "soon"}), "a setting has the wrong type"),
    ],
)
def test_plugins_that_fail(tmp_path: Path, body: str, reason: str) -> None:
    """Which one is said, and what it complained about, but not more than can be read."""
    message, _ = refusal(tmp_path, user=plugin(tmp_path, body))
    assert reason in message
    assert len(message) < 1500


def test_a_plugin_that_never_ends(tmp_path: Path) -> None:
    """It may take as long as the requests of a command."""
    with pytest.raises(ClusterError, match=r"took longer than 0\.5 seconds: waiting"):
        reach(tmp_path, user=plugin(tmp_path, "echo waiting >&2; exec sleep 60"), request_timeout=0.5)


def test_plugins_that_are_not_there(tmp_path: Path) -> None:
    """What the kubeconfig says of how to install it is told."""
    user: Json = {"exec": {"apiVersion": V1, "command": "no-such", "installHint": "brew\n  install it"}}
    message, hint = refusal(tmp_path, user=user)
    assert message == "the credential plugin no-such cannot be run: No such file or directory"
    assert hint == "brew install it"
    by_path: Json = {"exec": {"apiVersion": V1, "command": "./plugin"}}
    (tmp_path / "plugin").write_text("not executable")
    assert "cannot be run: Permission denied" in refusal(tmp_path, user=by_path)[0]
    (tmp_path / "plugin").chmod(0o755)
    (tmp_path / "plugin").write_bytes(b"\x7fELF, or not")
    assert "cannot be run: Exec format error" in refusal(tmp_path, user=by_path)[0]


def test_a_plugin_that_has_to_ask(tmp_path: Path) -> None:
    """Where nobody is there, it is not run; at a terminal it may ask, and be answered."""
    answer = json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": {"token": "%s"}})
    body = f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/told; echo "who?" >&2; read name; printf \'{answer}\' "$name"'
    user = plugin(tmp_path, body, {"interactiveMode": "Always"})
    path = written(tmp_path, user=user)
    message, _ = refusal(tmp_path, user=user)
    assert "standard input is no terminal" in message
    assert runs(tmp_path) == 0
    program = (
        "from kubectl_policy.sources.cluster.access import ClusterOptions, access_to; "
        f"print(access_to(ClusterOptions(kubeconfig={path!r})).headers()['Authorization'])"
    )
    ours, theirs = pty.openpty()
    os.write(ours, b"sesame\n")
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", program], stdin=theirs, capture_output=True, text=True, check=True, timeout=30
    )
    os.close(ours)
    os.close(theirs)
    assert done.stderr == "who?\n"
    assert json.loads((tmp_path / "told").read_text())["spec"] == {"interactive": True}
    assert done.stdout == "Bearer sesame\n"


# The policy of the kuberc


def kuberc(home: Path, text: str) -> None:
    (home / ".kube").mkdir(parents=True, exist_ok=True)
    (home / ".kube" / "kuberc").write_text(text)


def preference(policy: str, *allowed: Mapping[str, Json]) -> str:
    """A kuberc with a policy, after a document of another kind."""
    kind = {"apiVersion": "kubectl.config.k8s.io/v1beta1", "kind": "Preference"}
    own = {**kind, "credentialPluginPolicy": policy, "credentialPluginAllowlist": list(allowed)}
    return f"kind: Other\n---\n{json.dumps(own)}\n"


def test_the_kuberc_allows_plugins(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All, or those that it names, by a name on PATH or by a path."""
    user = plugin(tmp_path, answering({"token": "t"}))
    by_name: Json = {"exec": {"apiVersion": V1, "command": "plugin"}}
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for text in (
        "",
        "kind: Preference",
        preference(""),
        preference("AllowAll"),
        preference("Allowlist", {"command": "no-such"}, {"command": f"{tmp_path}/plugin"}),
        preference("Allowlist", {"name": "plugin"}),
    ):
        kuberc(home, text)
        assert authorization(tmp_path, user) == "Bearer t"
        assert authorization(tmp_path, by_name) == "Bearer t"
    kuberc(home, preference("DenyAll"))
    monkeypatch.setenv("KUBERC", "off")
    assert authorization(tmp_path, user) == "Bearer t"


def test_a_plugin_that_is_not_allowed_is_not_run(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is any where it cannot be known what the kuberc allows."""
    user = plugin(tmp_path, answering({"token": "t"}))
    kuberc(home, preference("DenyAll"))
    message, hint = refusal(tmp_path, user=user)
    assert message == (
        f"the credential plugin {tmp_path}/plugin is not run: credentialPluginPolicy is DenyAll in {home}/.kube/kuberc"
    )
    assert "credentialPluginAllowlist" in hint
    assert "is not run" in refusal(tmp_path, user={"exec": {"apiVersion": V1, "command": "no-such"}})[0]
    for text in (
        preference("Allowlist"),
        preference("Allowlist", {"command": "no-such"}, {"command": "sh"}),
        preference("Allowlist", {}),
        preference("denyall"),
        preference("AllowAll").replace('"AllowAll"', "5"),
        preference("Allowlist").replace("[]", "5"),
        "{",
        "- a",
    ):
        kuberc(home, text)
        assert "kuberc" in refusal(tmp_path, user=user)[0]
    kuberc(home, "")
    monkeypatch.setenv("KUBERC", str(tmp_path / "none"))
    assert "none cannot be read" in refusal(tmp_path, user=user)[0]
    assert runs(tmp_path) == 0
