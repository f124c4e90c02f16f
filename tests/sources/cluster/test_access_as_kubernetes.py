"""The kubernetes package makes the same of a kubeconfig as we do, but where it does not what kubectl does."""

from __future__ import annotations

import base64
import json
import os
import ssl
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kubernetes.config import ConfigException

from kubectl_policy.errors import ClusterError
from kubectl_policy.model.values import value
from tests.sources.cluster.both import by_the_package, by_us
from tests.sources.cluster.kubeconfigs import config
from tests.sources.cluster.servers import CERTIFICATES
from tests.sources.cluster.test_access_credentials import V1, answering
from tests.sources.cluster.test_access_transport import data

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kubectl_policy.model import Json
    from tests.sources.cluster.both import Reached

# What the system trusts here.
SYSTEM: Final = "other-ca.pem"
PEMS: Final = ("ca.pem", "other-ca.pem", "client.pem", "client.key")
REFUSED: Final = "refused"
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


# What both have to agree on


def merged(one: Mapping[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    """What is in both."""
    return {**one, **other}


NAMES: Final = ("bakery", "mill", "oven")
TEXTS: Final = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=8)


def plugin(script: str) -> dict[str, Json]:
    """A user whose credentials a shell script prints."""
    return {"exec": {"apiVersion": V1, "command": "sh", "args": ["-c", script], "interactiveMode": "Never"}}


CLIENT: Final[dict[str, Json]] = {
    "client-certificate": str(CERTIFICATES / "client.pem"),
    "client-key": str(CERTIFICATES / "client.key"),
}
RELATIVE: Final[dict[str, Json]] = {"client-certificate": "client.pem", "client-key": "./client.key"}
OF_CLIENT: Final[dict[str, Json]] = {
    "clientCertificateData": (CERTIFICATES / "client.pem").read_text(),
    "clientKeyData": (CERTIFICATES / "client.key").read_text(),
}
AUTHORITIES: Final[Sequence[dict[str, Json]]] = (
    {},
    {"insecure-skip-tls-verify": True},
    {"insecure-skip-tls-verify": False, "certificate-authority-data": data("ca.pem")},
    # It is another one in each folder.
    {"certificate-authority": "folder.pem"},
    {"certificate-authority": str(CERTIFICATES / "ca.pem")},
)
CERTIFIED: Final[Sequence[dict[str, Json]]] = (
    {},
    CLIENT,
    {"client-certificate-data": data("client.pem"), "client-key-data": data("client.key")},
    {"client-certificate-data": data("server.pem"), "client-key-data": data("server.key")},
)
PLUGINS: Final = (plugin(answering({"token": "printed"})), plugin(answering(OF_CLIENT)))
SERVERS: Final = ("https://a.example", "https://10.0.0.1:6443/", "https://[fd00::1]:6443/prefix/", "http://a.example")
CLUSTERS: Final[st.SearchStrategy[dict[str, Json]]] = st.builds(
    merged,
    st.sampled_from(AUTHORITIES),
    st.fixed_dictionaries(
        {"server": st.sampled_from(SERVERS)},
        optional={
            "tls-server-name": st.just("cluster.example"),
            "proxy-url": st.sampled_from(["http://proxy.example:3128", "https://proxy.example"]),
        },
    ),
)
CREDENTIALS: Final[st.SearchStrategy[Mapping[str, Json]]] = st.one_of(
    st.just(NOTHING),
    st.fixed_dictionaries({"token": TEXTS}),
    st.just({"tokenFile": "token"}),
    st.fixed_dictionaries({"username": TEXTS, "password": TEXTS}),
)


@st.composite
def kubeconfigs(draw: st.DrawFn) -> tuple[Sequence[Mapping[str, Json]], str]:
    """One to three files, and a context of theirs; what stands in two of them counts where it is first."""
    files: list[dict[str, list[tuple[str, Json]]]] = []
    count = draw(st.integers(1, 3))
    several = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)
    # Relative to which file the certificate of a user is: see DIFFERENCES.
    certified = st.sampled_from(CERTIFIED if count > 1 else [*CERTIFIED, RELATIVE])
    users = st.one_of(
        st.builds(merged, certified, CREDENTIALS),
        st.sampled_from(PLUGINS),
    )
    for _ in range(count):
        made = {"clusters": CLUSTERS, "users": users}
        files.append({key: [(name, draw(each)) for name in draw(several)] for key, each in made.items()})
    known = {key: {name: each for file in reversed(files) for name, each in file[key]} for key in ("clusters", "users")}
    for file in files:
        file["contexts"] = []
        for name in draw(several):
            cluster = draw(st.sampled_from(sorted(known["clusters"])))
            found = known["clusters"][cluster]
            is_tls = isinstance(found, dict) and str(found["server"]).startswith("https:")
            # What a user is who reaches a cluster without TLS: see DIFFERENCES.
            named = {"user": draw(st.sampled_from(sorted(known["users"])))} if is_tls else {}
            more = draw(st.sampled_from([{}, {"namespace": "ovens"}]))
            file["contexts"].append((name, {"cluster": cluster, **named, **more}))
    chosen = draw(st.sampled_from(sorted({name for file in files for name, _ in file["contexts"]})))
    return [
        {key: [{"name": name, key[:-1]: each} for name, each in entries] for key, entries in file.items()}
        for file in files
    ], chosen


@pytest.fixture
def folders(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the folders for kubeconfigs, where commands are run; each has another token and authority."""
    del home
    for number, authority in enumerate(("ca.pem", "other-ca.pem", "ca.pem")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "token").write_text(f"token-{number}")
        (folder / "folder.pem").write_bytes((CERTIFICATES / authority).read_bytes())
    (tmp_path / "0" / "line").write_text("line\n")
    for name in PEMS:
        (tmp_path / "0" / name).write_bytes((CERTIFICATES / name).read_bytes())
    (tmp_path / "kuberc").write_text("kind: Preference\ncredentialPluginPolicy: DenyAll\n")
    # What `write` says instead, and what is undone.
    monkeypatch.setenv("KUBECONFIG", "")
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / SYSTEM))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folders: Path, files: Sequence[Mapping[str, Json] | None]) -> None:
    """Write kubeconfigs, each into a folder of its own, and have $KUBECONFIG list them."""
    paths = [folders / str(number) / "config" for number in range(len(files))]
    for path, file in zip(paths, files, strict=True):
        path.write_text(json.dumps(file) if file else "")
    os.environ["KUBECONFIG"] = os.pathsep.join(map(str, paths))


@given(kubeconfigs())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_as_the_package(folders: Path, given_files: tuple[Sequence[Mapping[str, Json]], str]) -> None:
    """What is written in one to three files reaches the same server, by the same certificates, as the same user."""
    files, context = given_files
    write(folders, files)
    assert by_us(context) == by_the_package(context)


# What kubectl does and the package does not


@value(kw_only=True)
class Difference:
    """Something that kubectl does, kubeconfigs (None is an empty file) and an environment in which it is to be seen.

    `ours` and `theirs` are what is at `field` of what is reached.
    """

    kubectl: str
    files: Sequence[Mapping[str, Json] | None]
    field: str
    ours: object
    theirs: object
    environment: Mapping[str, str] = NOTHING


def of(user: Json = None, **cluster: Json) -> list[dict[str, Json]]:
    """A kubeconfig with a user and a cluster."""
    return [config(user=user, cluster={"server": "https://bakery.example", **cluster})]


def bearer(token: str) -> dict[str, str]:
    """The header with a token."""
    return {"Authorization": f"Bearer {token}"}


def basic(login: bytes) -> str:
    """A user and a password as they are sent."""
    return f"Basic {base64.b64encode(login).decode()}"


def der(name: str) -> bytes:
    """A certificate."""
    return ssl.PEM_cert_to_DER_cert((CERTIFICATES / name).read_text())


PROXY: Final = "http://proxy.example:3128"
PRINTING: Final = plugin(answering({"token": "printed"}))
WHERE: Final = plugin(
    "[ -e config ] && at=beside || at=elsewhere\n" + answering({"token": "$at"}).replace("'END'", "END")
)
_ONE: Final = config(name="bakery")
DIFFERENCES: Final = (
    Difference(
        kubectl="the first file that names a current context chooses it",
        files=[_ONE, config(name="mill", current="mill")],
        field="server",
        ours="https://bakery.example",
        theirs="https://mill.example",
    ),
    Difference(
        kubectl="an empty file says nothing",
        files=[None, _ONE],
        field="server",
        ours="https://bakery.example",
        theirs=REFUSED,
    ),
    Difference(
        kubectl="what is empty is absent",
        files=of(**{"certificate-authority-data": "", "certificate-authority": "ca.pem"}),
        field="authority",
        ours=(der("ca.pem"),),
        theirs=(der(SYSTEM),),
    ),
    Difference(
        kubectl="paths of a user start in the folder of the file that has the user, not of that with the cluster",
        files=[{**config(user=RELATIVE), "clusters": []}, {"clusters": _ONE["clusters"]}],
        field="certificate",
        ours=der("client.pem"),
        theirs=REFUSED,
    ),
    Difference(
        kubectl="an address without a scheme is asked without TLS",
        files=of(server="localhost:8001"),
        field="server",
        ours="http://localhost:8001",
        theirs="localhost:8001",
    ),
    Difference(
        kubectl="without TLS, nothing is sent that could be stolen",
        files=of({"token": "t"}, server="http://bakery.example"),
        field="headers",
        ours=NOTHING,
        theirs=bearer("t"),
    ),
    Difference(
        kubectl="a token in a file may be newer than one that is written out",
        files=of({"token": "t", "tokenFile": "token"}),
        field="headers",
        ours=bearer("token-0"),
        theirs=bearer("t"),
    ),
    Difference(
        kubectl="the end of a line is not of the token",
        files=of({"tokenFile": "line"}),
        field="headers",
        ours=bearer("line"),
        theirs=bearer("line\n"),
    ),
    Difference(
        kubectl="a user needs no password",
        files=of({"username": "jane"}),
        field="headers",
        ours={"Authorization": basic(b"jane:")},
        theirs=NOTHING,
    ),
    Difference(
        kubectl="passwords are sent in UTF-8",
        files=of({"username": "jane", "password": "é"}),
        field="headers",
        ours={"Authorization": basic(b"jane:\xc3\xa9")},
        theirs={"Authorization": basic(b"jane:\xe9")},
    ),
    Difference(
        kubectl="who is impersonated is sent",
        files=of({"token": "t", "as": "joe"}),
        field="headers",
        ours={**bearer("t"), "Impersonate-User": "joe"},
        theirs=bearer("t"),
    ),
    Difference(
        kubectl="a cluster may have its answers not compressed",
        files=of(**{"disable-compression": True}),
        field="headers",
        ours={"Accept-Encoding": "identity"},
        theirs=NOTHING,
    ),
    Difference(
        kubectl="no plugin is run for a user with a password",
        files=of({**PRINTING, "username": "a", "password": "b"}),
        field="headers",
        ours={"Authorization": basic(b"a:b")},
        theirs=bearer("printed"),
    ),
    Difference(
        kubectl="nor for one with a client certificate",
        files=of({**PRINTING, **CLIENT}),
        field="headers",
        ours=NOTHING,
        theirs=bearer("printed"),
    ),
    Difference(
        kubectl="a plugin may answer a certificate beside a token",
        files=of(plugin(answering({"token": "t", **OF_CLIENT}))),
        field="certificate",
        ours=der("client.pem"),
        theirs=None,
    ),
    Difference(
        kubectl="a plugin is run where kubectl is",
        files=of(WHERE),
        field="headers",
        ours=bearer("elsewhere"),
        theirs=bearer("beside"),
    ),
    Difference(
        kubectl="where a plugin fails, nothing is asked",
        files=of(plugin("exit 1")),
        field="headers",
        ours=REFUSED,
        theirs=NOTHING,
    ),
    Difference(
        kubectl="nor where the kuberc forbids it to be run",
        files=of(PRINTING),
        field="headers",
        ours=REFUSED,
        theirs=bearer("printed"),
        environment={"KUBERC": "kuberc"},
    ),
    Difference(
        kubectl="a proxy is told the user and the password in its address",
        files=of(**{"proxy-url": "http://u:p@proxy.example:3128"}),
        field="proxy",
        ours=(PROXY, {"proxy-authorization": basic(b"u:p")}),
        theirs=("http://u:p@proxy.example:3128", NOTHING),
    ),
    Difference(
        kubectl="$NO_PROXY is about the proxy of the environment",
        files=of(**{"proxy-url": PROXY}),
        field="proxy",
        ours=(PROXY, NOTHING),
        theirs=None,
        environment={"NO_PROXY": "*"},
    ),
    Difference(
        kubectl="which is not used for this machine",
        files=of(server="https://127.0.0.1:6443"),
        field="proxy",
        ours=None,
        theirs=(PROXY, NOTHING),
        environment={"HTTPS_PROXY": PROXY},
    ),
    Difference(
        kubectl="a domain in $NO_PROXY with a dot before it is all that is below it, and not itself",
        files=of(),
        field="proxy",
        ours=(PROXY, NOTHING),
        theirs=None,
        environment={"HTTPS_PROXY": PROXY, "NO_PROXY": ".bakery.example"},
    ),
)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: each.kubectl)
def test_where_the_package_is_not_as_kubectl(
    folders: Path, monkeypatch: pytest.MonkeyPatch, difference: Difference
) -> None:
    """Once it is, the difference goes out of the list, and its own code with it where that can be."""
    write(folders, difference.files)
    for name, each in difference.environment.items():
        monkeypatch.setenv(name, each)
    assert at(by_us, difference.field) == difference.ours
    assert at(by_the_package, difference.field) == difference.theirs


def at(reaching: Callable[[str], Reached], field: str) -> object:
    """What is reached in the current context, as far as a field says."""
    try:
        return getattr(reaching(""), field)
    except (ClusterError, ConfigException):
        return REFUSED
