"""TLS with certificates of both sides, and proxies, with real servers."""

import base64
import socket
import ssl
from pathlib import Path
from threading import Thread

import pytest
from urllib3.exceptions import MaxRetryError, NewConnectionError, SSLError

from kubectl_policy.errors import ClusterError
from kubectl_policy.model import Json
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from tests.sources.cluster.faulty import FaultyServer
from tests.sources.cluster.reaching import CERTIFICATES, asked, reach, served, written

pytestmark = pytest.mark.usefixtures("home")


def data(name: str) -> str:
    return base64.b64encode((CERTIFICATES / name).read_bytes()).decode()


def cluster(server: FaultyServer, **more: Json) -> dict[str, Json]:
    """A cluster that is a server with the certificate of `cluster.example`."""
    return {
        "server": f"https://{server.authority}",
        "certificate-authority-data": data("ca.pem"),
        "tls-server-name": "cluster.example",
        **more,
    }


# The certificate of the cluster


def test_a_cluster_proves_that_it_is_the_right_one(tmp_path: Path) -> None:
    """By its authority, written out or in a file beside the kubeconfig, and by the name in its certificate."""
    (tmp_path / "ca.pem").write_bytes((CERTIFICATES / "ca.pem").read_bytes())
    with served() as server:
        for more in ({}, {"certificate-authority-data": None, "certificate-authority": "ca.pem"}):
            assert asked(reach(tmp_path, cluster=cluster(server, **more), user={"token": "t"})) == 200
        assert [request.headers["Authorization"] for request in server.requests] == ["Bearer t"] * 2


@pytest.mark.parametrize(
    "more",
    [
        {"certificate-authority-data": data("other-ca.pem")},
        {"certificate-authority-data": None},
        {"tls-server-name": None},
        {"tls-server-name": "another.example"},
    ],
)
def test_another_cluster_is_asked_nothing(tmp_path: Path, more: dict[str, Json]) -> None:
    """One of another authority than is named or than the system knows, or with another name."""
    with served() as server:
        access = reach(tmp_path, cluster=cluster(server, **more), user={"token": "t"})
        with pytest.raises(SSLError):
            asked(access)
        assert server.requests == []


def test_flags_replace_how_a_cluster_is_proved(tmp_path: Path) -> None:
    """None at all, another authority, another name; and another address does away with the name."""
    other: dict[str, Json] = {"certificate-authority-data": data("other-ca.pem")}
    authority = str(CERTIFICATES / "ca.pem")
    with served() as server:
        path = written(tmp_path, cluster=cluster(server, **other))
        assert asked(access_to(ClusterOptions(kubeconfig=path, insecure_skip_tls_verify=True))) == 200
        assert asked(access_to(ClusterOptions(kubeconfig=path, certificate_authority=authority))) == 200
        path = written(tmp_path, cluster=cluster(server))
        address = f"https://{server.authority}"
        with pytest.raises(SSLError):
            asked(access_to(ClusterOptions(kubeconfig=path, server=address)))
        named = ClusterOptions(kubeconfig=path, server=address, tls_server_name="cluster.example")
        assert asked(access_to(named)) == 200
        path = written(tmp_path, cluster={"server": address, "insecure-skip-tls-verify": True})
        assert asked(access_to(ClusterOptions(kubeconfig=path))) == 200


def test_what_only_python_demands_of_an_authority_is_not_demanded(tmp_path: Path) -> None:
    """Python 3.13 refuses the authorities that kubeadm makes."""
    context = reach(tmp_path, cluster={"server": "https://cluster.example"}).pool.connection_pool_kw["ssl_context"]
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN


# The certificate of the user


@pytest.mark.parametrize("as_files", [True, False])
def test_a_client_certificate_is_presented(tmp_path: Path, *, as_files: bool) -> None:
    """From files beside the kubeconfig, or written out in it."""
    user: dict[str, Json] = {"client-certificate-data": data("client.pem"), "client-key-data": data("client.key")}
    if as_files:
        user = {"client-certificate": "client.pem", "client-key": "client.key"}
        for name in ("client.pem", "client.key"):
            (tmp_path / name).write_bytes((CERTIFICATES / name).read_bytes())
    with served(asks_for_certificate=True) as server:
        assert asked(reach(tmp_path, cluster=cluster(server), user=user)) == 200
        assert "jane" in str(server.clients)


def test_no_file_with_a_key_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    user: dict[str, Json] = {"client-certificate-data": data("client.pem"), "client-key-data": data("client.key")}
    with served(asks_for_certificate=True) as server:
        access = reach(tmp_path, cluster=cluster(server), user=user)
        assert [*(tmp_path / "temporary").iterdir()] == []
        assert asked(access) == 200
        assert not access.renew(access.headers())
        assert asked(access) == 200
        assert "jane" in str(server.clients)
    assert [*(tmp_path / "temporary").iterdir()] == []


def test_flags_name_a_client_certificate(tmp_path: Path) -> None:
    user: Json = {"client-certificate-data": "bm9uZQ==", "client-key-data": data("client.key")}
    with served(asks_for_certificate=True) as server:
        path = written(tmp_path, cluster=cluster(server), user=user)
        named = ClusterOptions(kubeconfig=path, client_certificate=str(CERTIFICATES / "client.pem"))
        assert asked(access_to(named)) == 200
        assert "jane" in str(server.clients)


NO_PAIR = "no client certificate with its key"
NO_AUTHORITY = r"there is no certificate \(PEM\) in certificate-authority"
NO_HOST = "tls-server-name: it is not a valid host name"
NO_PROXY = "it must be the address of a proxy"
CLIENT = {"client-certificate-data": data("client.pem")}


@pytest.mark.parametrize(
    ("user", "cluster", "reason"),
    [
        (CLIENT, {}, NO_PAIR),
        ({**CLIENT, "client-key-data": data("server.key")}, {}, NO_PAIR),
        ({**CLIENT, "client-key-data": data("encrypted.key")}, {}, NO_PAIR),
        ({"client-certificate-data": "bm9uZQ==", "client-key-data": "bm9uZQ=="}, {}, NO_PAIR),
        ({"client-certificate-data": "?"}, {}, NO_PAIR),
        ({"client-certificate-data": "é"}, {}, NO_PAIR),
        ({"client-certificate": "none.pem"}, {}, "none.pem"),
        ({}, {"certificate-authority-data": "bm9uZQ=="}, NO_AUTHORITY),
        ({}, {"certificate-authority-data": data("client.key")}, NO_AUTHORITY),
        ({}, {"certificate-authority": "config"}, NO_AUTHORITY),
        ({}, {"certificate-authority-data": 5}, "the wrong type"),
        ({}, {"insecure-skip-tls-verify": "true"}, "the wrong type"),
        *(({}, {"tls-server-name": name}, NO_HOST) for name in ("a b", ".a", "a\0", "a" * 64)),
        *(({}, {"proxy-url": url}, NO_PROXY) for url in ("http://a..b", "ftp://a", "http://a b", "http://")),
    ],
)
def test_settings_that_cannot_be_used(tmp_path: Path, user: Json, cluster: dict[str, Json], reason: str) -> None:
    """Each is refused with the place."""
    with pytest.raises(ClusterError, match=reason):
        reach(tmp_path, user=user, cluster={"server": "https://a", **cluster})


# Proxies


def test_a_proxy_of_the_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked with its own user and password, wherever $NO_PROXY points; flags do not replace it."""
    monkeypatch.setenv("NO_PROXY", "*")
    with served(tls=False) as proxy:
        url = f"http://joe:p%40ss@{proxy.authority}"
        assert asked(reach(tmp_path, cluster={"server": "http://cluster.example", "proxy-url": url})) == 200
        assert [request.target for request in proxy.requests] == ["http://cluster.example/version"]
        login = base64.b64encode(b"joe:p@ss").decode()
        assert proxy.requests[0].headers["Proxy-Authorization"] == f"Basic {login}"


@pytest.mark.parametrize(
    ("no_proxy", "server", "is_direct"),
    [
        ("", "http://cluster.example", False),
        ("*", "http://cluster.example", True),
        ("cluster.example", "http://cluster.example:80", True),
        ("example", "http://cluster.example", True),
        (".example", "http://cluster.example", True),
        ("a.example, .other.example", "http://cluster.example", False),
        ("luster.example", "http://cluster.example", False),
        ("cluster.example:8080", "http://cluster.example", False),
        ("cluster.example:80", "http://cluster.example:80", True),
        ("10.0.0.0/8", "http://10.1.2.3", True),
        ("10.0.0.0/8,x/y", "http://11.1.2.3", False),
        ("10.1.2.3", "http://10.1.2.3", True),
        ("fd00::/8", "http://[fd00::1]", True),
        ("", "http://localhost", True),
        ("", "http://127.0.0.2", True),
        ("", "http://[::1]:8080", True),
    ],
)
def test_proxies_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, no_proxy: str, server: str, *, is_direct: bool
) -> None:
    """As Go's net/http has it: never for this machine, nor for what $NO_PROXY lists."""
    monkeypatch.setenv("http_proxy", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    proxy = access_to(ClusterOptions(server=server)).pool.proxy
    assert str(proxy) == ("None" if is_direct else "http://proxy.example:3128")


def test_a_proxy_of_the_environment_for_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for a tunnel; one that is none is refused by the name of the variable."""
    with served(tls=False) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.authority}")
        path = written(tmp_path)
        with pytest.raises(MaxRetryError, match="Tunnel connection failed"):
            access_to(ClusterOptions(kubeconfig=path)).pool.request("GET", "https://bakery.example", retries=0)
    monkeypatch.setenv("HTTPS_PROXY", "ftp://a")
    with pytest.raises(ClusterError, match=r"HTTPS_PROXY: it must be the address of a proxy"):
        access_to(ClusterOptions(kubeconfig=path))


def test_a_socks_proxy(tmp_path: Path) -> None:
    """It is asked for the cluster by its name, which it looks up, with the user and the password in its address."""
    asked_for: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def serve() -> None:
            client, _ = proxy.accept()
            with client:
                asked_for.append(client.recv(100))
                client.sendall(b"\x05\x02")
                asked_for.append(client.recv(100))
                client.sendall(b"\x01\x00")
                asked_for.append(client.recv(100))

        thread = Thread(target=serve)
        thread.start()
        url = f"socks5://joe:secret@127.0.0.1:{proxy.getsockname()[1]}"
        with pytest.raises(NewConnectionError):
            asked(reach(tmp_path, cluster={"server": "https://cluster.example", "proxy-url": url}))
        thread.join()
    assert asked_for[1] == b"\x01\x03joe\x06secret"
    assert b"\x0fcluster.example" in asked_for[2]
