"""`snapshot` and `diff live`: a cluster as one state, in a file and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.cli.clusters import Thing, cluster, color, kubeconfig
from tests.cli.conftest import MANIFESTS
from tests.cli.test_snapshot import lines_of
from tests.sources.cluster import faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command
    from tests.sources.cluster.faulty import FaultyServer

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "named", "namespace": "app"}, "data": {}}


class Taking(Protocol):
    """Takes a snapshot of a server."""

    def __call__(self, server: FaultyServer, *options: str) -> list[dict[str, Any]]:
        """Its header and its objects."""
        ...


@pytest.fixture
def taken(command: Command, tmp_path: Path) -> Taking:
    """The lines of the file that is written."""

    def take(server: FaultyServer, *options: str) -> list[dict[str, Any]]:
        config = kubeconfig(tmp_path, one=server.url, namespace="app")
        file = tmp_path / "s.gz"
        code, _, err = command("snapshot", "-o", file, "--kubeconfig", config, "--cache-dir", tmp_path, *options)
        assert code == 0, err
        return lines_of(file)

    return take


def named(lines: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """The objects by kind and name."""
    return {(item["kind"], item["metadata"]["name"]) for item in lines[1:]}


def secret(name: str) -> Thing:
    metadata = {"name": name, "namespace": "app", "annotations": {"a": "hunter2"}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"k": "hunter2"}}


def event(name: str, kind: str) -> Thing:
    about = {"kind": kind, "name": "r", "namespace": "app"}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "app"},
        "involvedObject": about,
        "type": "Normal",
        "reason": name,
    }


def test_what_nothing_names_stays_where_it_is(taken: Taking) -> None:
    """Of kinds that no question is about, only what is named is read; of Secrets no data; of Pods no Events."""
    other = {**CONFIG_MAP, "metadata": {"name": "other", "namespace": "app"}}
    blue = color("blue", "blue")
    blue["spec"]["from"] = {"group": "", "kind": "ConfigMap", "name": "named"}
    with cluster(CONFIG_MAP, other, blue, secret("s"), event("e", "HTTPRoute"), event("f", "Pod")) as server:
        lines = taken(server)
    definitions = {item for item in named(lines) if item[0] == "CustomResourceDefinition"}
    assert named(lines) - definitions == {
        ("ColorPolicy", "blue"),
        ("ColorPolicy", "red"),
        ("ConfigMap", "named"),
        ("Event", "e"),
        ("Gateway", "g"),
        ("GatewayClass", "public"),
        ("HTTPRoute", "r"),
        ("Namespace", "app"),
        ("Secret", "s"),
        ("Service", "s"),
    }
    assert ("CustomResourceDefinition", "colorpolicies.example.com") in definitions
    assert "hunter2" not in str(lines)


def test_the_header_says_which_cluster_it_was(taken: Taking) -> None:
    with cluster() as server:
        header = taken(server)[0]
    assert {name: header[name] for name in ("cluster", "context", "server", "complete", "gaps", "redacted")} == {
        "cluster": "one-cluster",
        "context": "one",
        "server": "v1.36.3",
        "complete": True,
        "gaps": [],
        "redacted": False,
    }


def test_a_server_that_does_not_say_its_version(taken: Taking) -> None:
    """It is not needed."""
    with cluster() as server:
        server.fault("/version", faults.status(403, "no"))
        assert taken(server)[0]["server"] == ""


def test_what_could_not_be_read_travels_with_it(taken: Taking, command: Command, tmp_path: Path) -> None:
    """And is told by whoever asks the file."""
    with cluster() as server:
        server.fault("/apis/example.com/v1/colorpolicies", faults.status(403, "no"))
        server.fault("/apis/example.com/v1/namespaces/app/colorpolicies", faults.status(403, "no"))
        lines = taken(server)
    assert ("ColorPolicy", "red") not in named(lines)
    assert {(gap["kind"], gap["reason"]) for gap in lines[0]["gaps"]} == {("ColorPolicy", "forbidden")}
    _, out, _ = command("describe", "httproute/r", "-n", "app", "--offline", tmp_path / "s.gz")
    assert "ColorPolicies: forbidden" in out


def test_values_are_taken_out_as_of_manifests(taken: Taking) -> None:
    with cluster(color("hunter2", "blue")) as server:
        lines = taken(server, "--redact")
    assert "hunter2" not in str(lines)
    assert lines[0]["redacted"] is True


def test_a_namespace_is_for_a_cluster_alone(command: Command, manifests: Path) -> None:
    """It is where is looked in what may not be listed everywhere; a file of a part would be taken for all."""
    code, _, err = command("snapshot", "-o", "-", "-n", "app", "--offline", manifests)
    assert (code, err) == (2, "error: a snapshot of manifests holds all of them\nhint: leave out --namespace\n")


def test_what_a_cluster_has_is_compared_with_manifests(command: Command, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(MANIFESTS.replace("color: red", "color: blue"), "utf-8")
    with cluster() as server:
        options = ("--kubeconfig", kubeconfig(tmp_path, one=server.url), "--cache-dir", tmp_path)
        there = command("diff", "live", tmp_path / "all.yaml", "--allow-incomplete", *options)
        back = command("diff", tmp_path / "all.yaml", "live", "--allow-incomplete", *options)
        assert command("snapshot", "-o", tmp_path / "s.gz", *options).code == 0
    assert (there.code, back.code) == (1, 1)
    assert "red     → blue" in there.out or "red   → blue" in there.out
    assert "blue" in back.out
    filed = command("diff", tmp_path / "s.gz", tmp_path / "all.yaml", "--allow-incomplete")
    assert filed.out == there.out


def test_live_is_no_manifests(command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the input is set to be manifests, which cluster is meant has to be said."""
    monkeypatch.setenv("KUBECTL_POLICY_OFFLINE", str(manifests))
    code, _, err = command("diff", "live", manifests)
    assert (code, err) == (
        2,
        "error: the input is manifests, and live is a cluster\nhint: say which one: --context NAME\n",
    )


def test_changes_are_for_the_namespace_of_the_context(command: Command, tmp_path: Path) -> None:
    """Where they name none, as for kubectl; another one is given by --namespace."""
    change = tmp_path / "change.yaml"
    change.write_text(
        "apiVersion: example.com/v1\nkind: ColorPolicy\nmetadata: {name: red}\n"
        "spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}, color: blue}\n",
        "utf-8",
    )
    with cluster() as server:
        options = ("--kubeconfig", kubeconfig(tmp_path, one=server.url, namespace="app"), "--cache-dir", tmp_path)
        code, out, _ = command("diff", "-f", change, *options)
        assert code == 1
        assert "updated   ColorPolicy app/red" in out
        _, out, _ = command("diff", "-f", change, "-n", "elsewhere", *options)
        assert "created   ColorPolicy elsewhere/red" in out
