"""Which cluster is meant, by the kubeconfig and by flags, and in whose name it is asked."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from kubectl_policy.errors import ClusterError, UsageError
from kubectl_policy.model import Json
from kubectl_policy.sources.cluster import access
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to, contexts
from tests.sources.cluster.reaching import CERTIFICATES, asked, config, reach, refusal, served, written

# Each line repeats the one above it ten times.
BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))


pytestmark = pytest.mark.usefixtures("home")


def refused(options: ClusterOptions) -> tuple[str, str]:
    """Why nothing is reached, and what can be done."""
    with pytest.raises(ClusterError) as caught:
        access_to(options)
    return caught.value.message, caught.value.hint


# Which files


def test_no_kubeconfig_at_all(home: Path) -> None:
    message, hint = refused(ClusterOptions())
    assert message == f"no kubeconfig was found: looked for {home}/.kube/config"
    assert "--offline PATH" in hint
    assert contexts(ClusterOptions()) == ()


def test_a_named_kubeconfig_counts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the variable nor the home adds to it, and it has to be there."""
    written(tmp_path, file="home/.kube/config")
    monkeypatch.setenv("KUBECONFIG", written(tmp_path, file="other"))
    named = written(tmp_path, file="named")
    message, hint = refused(ClusterOptions(kubeconfig=named, context="mill"))
    assert message == f"there is no context mill in {named}"
    assert hint == "each context there is: bakery"
    message, _ = refused(ClusterOptions(kubeconfig=str(tmp_path / "none")))
    assert message == f"{tmp_path}/none cannot be read: No such file or directory"


def test_the_variable_lists_files_of_which_the_first_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the current context and for each name; files that are not there or hold nothing do not count."""
    empty = tmp_path / "empty"
    empty.write_text("# nothing yet\n")
    first = config(name="bakery", cluster={"server": "https://first.example"})
    first["current-context"] = ""
    (tmp_path / "first").write_text(json.dumps(first))
    second = config(name="bakery", current="bakery", cluster={"server": "https://second.example", "proxy-url": "?"})
    (tmp_path / "second").write_text(json.dumps(second))
    mill = config(name="mill", current="mill")
    (tmp_path / "third").write_text(json.dumps(mill))
    names = [
        str(tmp_path / "none"),
        str(empty),
        str(tmp_path / "first"),
        "",
        str(tmp_path / "second"),
        str(tmp_path / "third"),
    ]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(names))
    reached = access_to(ClusterOptions())
    assert (reached.context, reached.cluster, reached.server) == ("bakery", "bakery", "https://first.example")
    assert contexts(ClusterOptions()) == ("bakery", "mill")
    assert access_to(ClusterOptions(context="mill")).server == "https://mill.example"


def test_paths_start_in_the_folder_of_the_file_that_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user and a cluster of one context may stand in two files, each beside certificates of its own."""
    user, cluster = tmp_path / "user", tmp_path / "cluster"
    for folder, names in ((user, ("client.pem", "client.key")), (cluster, ("ca.pem",))):
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes((CERTIFICATES / name).read_bytes())
    own = {"client-certificate": "client.pem", "client-key": "./client.key"}
    with served(asks_for_certificate=True) as server:
        authority: Json = {
            "server": f"https://{server.authority}",
            "certificate-authority": "ca.pem",
            # What is empty is absent.
            "certificate-authority-data": "",
            "tls-server-name": "cluster.example",
        }
        (user / "config").write_text(json.dumps({**config(user=own), "clusters": None}))
        (cluster / "config").write_text(json.dumps({"clusters": config(cluster=authority)["clusters"]}))
        monkeypatch.setenv("KUBECONFIG", f"{user}/config{os.pathsep}{cluster}/config")
        assert asked(access_to(ClusterOptions())) == 200
        assert "jane" in str(server.clients)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid YAML"),
        ("- a", "a setting has the wrong type"),
        ("clusters: {a: b}", "a setting has the wrong type"),
        ("clusters: [a]", "a setting has the wrong type"),
        ("contexts: [{name: a, context: []}]\ncurrent-context: a", "names no cluster"),
        ("contexts: [{name: a, context: [b]}]\ncurrent-context: a", "a setting has the wrong type"),
        ("current-context: 5", "there is no context 5"),
        ("apiVersion: v1\nkind: Pod", "has no contexts"),
        (BOMB, "aliases (*) that repeat more than 100,000 values"),
    ],
)
def test_files_that_are_no_kubeconfigs(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    message, hint = refused(ClusterOptions(kubeconfig=str(path)))
    assert str(path) in message
    assert reason in message
    assert hint


def test_files_that_are_no_text(tmp_path: Path) -> None:
    assert "Is a directory" in refused(ClusterOptions(kubeconfig=str(tmp_path)))[0]
    (tmp_path / "bytes").write_bytes(b"a: \xff")
    assert "is not text" in refused(ClusterOptions(kubeconfig=str(tmp_path / "bytes")))[0]


# Which cluster and user


def test_no_current_context(tmp_path: Path) -> None:
    path = str(tmp_path / "config")
    (tmp_path / "config").write_text(json.dumps(config(current=None)))
    message, hint = refused(ClusterOptions(kubeconfig=path))
    assert message == f"no context is selected: {path} has no current-context"
    assert "--context NAME` selects one of bakery" in hint


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (ClusterOptions(context="bakry"), "context"),
        (ClusterOptions(cluster="bakry"), "cluster"),
        (ClusterOptions(user="bakry"), "user"),
    ],
)
def test_names_that_are_not_there(tmp_path: Path, options: ClusterOptions, what: str) -> None:
    path = written(tmp_path)
    message, hint = refused(replace(options, kubeconfig=path))
    assert message == f"there is no {what} bakry in {path}"
    assert hint == f"each {what} there is: bakery"


def test_context_cluster_and_user_are_chosen_apart(tmp_path: Path) -> None:
    """Flags replace what the context says."""
    both = config(user={"token": "one"}, context={"namespace": "baker"})
    more = config(name="mill", user={"token": "two"})
    for key in ("contexts", "clusters", "users"):
        first, second = both[key], more[key]
        assert isinstance(first, list)
        assert isinstance(second, list)
        both[key] = [*first, *second]
    path = tmp_path / "config"
    path.write_text(json.dumps(both))
    reached = access_to(ClusterOptions(kubeconfig=str(path), cluster="mill", user="mill"))
    assert (reached.context, reached.cluster, reached.namespace) == ("bakery", "mill", "baker")
    assert reached.server == "https://mill.example"
    assert dict(reached.headers()) == {"Authorization": "Bearer two"}
    assert access_to(ClusterOptions(kubeconfig=str(path), context="mill")).namespace == "default"


def test_a_server_needs_no_kubeconfig() -> None:
    """As in `kubectl -s`; without a scheme it is asked without TLS, and without a token."""
    reached = access_to(ClusterOptions(server="localhost:8001/", token="x"))  # noqa: S106 (none)
    assert (reached.server, reached.context, reached.cluster, reached.namespace) == (
        "http://localhost:8001",
        "",
        "",
        "default",
    )
    assert dict(reached.headers()) == {}
    reached = access_to(ClusterOptions(server="https://cluster.example/prefix/?a#b", token="x"))  # noqa: S106 (none)
    assert reached.server == "https://cluster.example/prefix"
    assert dict(reached.headers()) == {"Authorization": "Bearer x"}


@pytest.mark.parametrize(
    "server",
    [
        "https://",
        "ftp://a",
        "https://a b",
        "https://a\nb",
        "https://a:99999",
        "https://u:p@a",
        "https://[::1",
        "https://a..b",
        "//a",
    ],
)
def test_addresses_that_are_none(tmp_path: Path, server: str) -> None:
    """From a flag, that is a wrong flag; from a file, the file and the place are told."""
    with pytest.raises(UsageError, match="--server: it"):
        access_to(ClusterOptions(server=server))
    message, _ = refusal(tmp_path, cluster={"server": server})
    assert message.startswith(f"{tmp_path}/config: server: it ")
    assert "p@" not in message


def test_a_namespace_that_is_none(tmp_path: Path) -> None:
    """It would be a part of paths."""
    assert (
        "the namespace ../../a of the context is not a valid name"
        in refusal(tmp_path, context={"namespace": "../../a"})[0]
    )


def test_a_context_of_what_is_not_there(tmp_path: Path) -> None:
    """It is an error, unless a flag says what was to be found there."""
    path = written(tmp_path, context={"cluster": "mill", "user": "miller"})
    assert refused(ClusterOptions(kubeconfig=path))[0] == f"there is no cluster mill in {path}"
    assert refused(ClusterOptions(kubeconfig=path, server="https://a"))[0] == f"there is no user miller in {path}"
    assert refused(ClusterOptions(kubeconfig=path, cluster="bakery"))[0] == f"there is no user miller in {path}"
    reached = access_to(ClusterOptions(kubeconfig=path, server="https://a", token="t"))  # noqa: S106 (none)
    assert dict(reached.headers()) == {"Authorization": "Bearer t"}
    assert reached.server == "https://a"
    path = written(tmp_path, context={"cluster": None})
    assert refused(ClusterOptions(kubeconfig=path))[0] == f"the context bakery in {path} names no cluster"


# In a pod


def test_in_a_pod_without_a_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service account is used, and its namespace; a kubeconfig comes first."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("of-the-pod\n")
    (folder / "namespace").write_text("ovens\n")
    (folder / "ca.crt").write_bytes((CERTIFICATES / "ca.pem").read_bytes())
    monkeypatch.setattr(access, "_SERVICE_ACCOUNT", f"{folder}/")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    reached = access_to(ClusterOptions(as_="jane"))
    assert (reached.context, reached.cluster, reached.namespace, reached.server) == (
        "",
        "in-cluster",
        "ovens",
        "https://[fd00::1]:443",
    )
    assert dict(reached.headers()) == {"Authorization": "Bearer of-the-pod", "Impersonate-User": "jane"}
    reached = access_to(ClusterOptions(token="other", tls_server_name="kubernetes"))  # noqa: S106 (none)
    assert (reached.server, reached.headers()["Authorization"]) == ("https://[fd00::1]:443", "Bearer other")
    path = written(tmp_path)
    reached = access_to(ClusterOptions(kubeconfig=path))
    assert (reached.server, reached.namespace) == ("https://bakery.example", "ovens")
    path = written(tmp_path, context={"namespace": "mills"})
    assert access_to(ClusterOptions(kubeconfig=path)).namespace == "mills"
    (folder / "ca.crt").unlink()
    assert "Service certification file does not exist" in refused(ClusterOptions())[0]


# In whose name


def test_impersonation_is_sent_as_kubectl_sends_it(tmp_path: Path) -> None:
    """Each group in a header of its own; what flags say replaces what the file says of the same."""
    with served(tls=False) as server:
        user: Json = {
            "as": "jane",
            "as-groups": ["a", "b"],
            "as-uid": "7",
            "as-user-extra": {"Example.com/Team": ["x", "é"]},
        }
        path = written(tmp_path, cluster={"server": f"http://{server.authority}"}, user=user)
        for options in (
            ClusterOptions(kubeconfig=path),
            ClusterOptions(
                kubeconfig=path,
                as_="joe",
                as_group=("c",),
                as_user_extra={"Example.com/Team": ("y",), "role": ("1", "2")},
            ),
        ):
            assert asked(access_to(options)) == 200
        first, second = (request.headers for request in server.requests)
        assert first.getlist("Impersonate-User") == ["jane"]
        assert first.getlist("Impersonate-Group") == ["a", "b"]
        assert first.getlist("Impersonate-Uid") == ["7"]
        extra = first.getlist("Impersonate-Extra-Example.com%2FTeam")
        assert extra
        assert [each.encode("latin-1").decode() for each in extra] == ["x", "é"]
        assert second.getlist("Impersonate-User") == ["joe"]
        assert second.getlist("Impersonate-Group") == ["c"]
        assert second.getlist("Impersonate-Extra-Example.com%2FTeam") == ["y"]
        assert second.getlist("Impersonate-Extra-Role") == ["1", "2"]


def test_impersonation_of_nobody(tmp_path: Path) -> None:
    """A group or a number needs a user; that is a wrong flag, or a wrong file."""
    assert "need the user who is impersonated" in refusal(tmp_path, user={"as-uid": "7"})[0]
    with pytest.raises(UsageError, match="need the user who"):
        access_to(ClusterOptions(kubeconfig=written(tmp_path), as_group=("a",)))
    with pytest.raises(UsageError, match="need the user who"):
        access_to(ClusterOptions(kubeconfig=written(tmp_path), as_user_extra={"a": ("b",)}))


def test_answers_that_are_not_compressed(tmp_path: Path) -> None:
    """As the kubeconfig or the flag says; else the connection chooses."""
    path = written(tmp_path)
    assert "Accept-Encoding" not in access_to(ClusterOptions(kubeconfig=path)).headers()
    assert (
        access_to(ClusterOptions(kubeconfig=path, disable_compression=True)).headers()["Accept-Encoding"] == "identity"
    )
    path = written(tmp_path, cluster={"server": "https://a", "disable-compression": True})
    assert access_to(ClusterOptions(kubeconfig=path)).headers()["Accept-Encoding"] == "identity"


def test_headers_hold_one_line(tmp_path: Path) -> None:
    """A line break would begin another one; the secret itself is not told."""
    path = written(tmp_path, user={"token": "secret\r\nImpersonate-User: admin"})
    message, _ = refused(ClusterOptions(kubeconfig=path))
    assert message == f"{path}: the token contains a line break or another control character"
    with pytest.raises(ClusterError, match="Impersonate-User contains a line break"):
        reach(tmp_path, as_="a\nb")


# What it takes


def test_the_package_is_imported_where_a_cluster_is_asked(tmp_path: Path) -> None:
    """It takes as long as all the rest, and is not needed to say that there is no cluster."""
    path = written(tmp_path, user={"username": "jane", "password": "pass"})
    program = (
        "import sys; from kubectl_policy.sources.cluster.access import ClusterOptions, access_to\n"
        "try: access_to(ClusterOptions())\n"
        "except Exception as error: assert 'no kubeconfig was found' in str(error), error\n"
        "assert 'kubernetes' not in sys.modules; "
        f"print(access_to(ClusterOptions(kubeconfig={path!r})).headers()['Authorization'], 'kubernetes' in sys.modules)"
    )
    printed = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    scheme, login, imported = printed.split()
    assert (scheme, base64.b64decode(login).decode(), imported) == ("Basic", "jane:pass", "True")
