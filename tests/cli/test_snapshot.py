"""`snapshot` of manifests and of a cluster, and `diff live`: the same answers in a file and without one."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.cli.clusters import Thing, cluster, color, kubeconfig
from tests.cli.conftest import MANIFESTS
from tests.sources.cluster import faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command
    from tests.sources.cluster.faulty import FaultyServer

_MORE = """
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: app}
stringData: {tls.key: hunter2}
"""
_POLICY = """
---
apiVersion: example.com/v1
kind: ColorPolicy
metadata: {name: blue, namespace: app, annotations: {note: hunter2}}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g, sectionName: http}]
  color: hunter2
  again: hunter2
  key: {secretRef: {name: key}}
"""


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_where_to_write_must_be_said(command: Command, manifests: Path) -> None:
    code, out, err = command("snapshot", "--offline", manifests)
    assert (code, out) == (2, "")
    assert err.endswith("hint: add -o FILE, or -o - for standard output\n")


def test_a_format_is_a_file_here(command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(manifests)
    assert command("snapshot", "-o", "json", "--offline", "all.yaml").code == 0
    assert lines_of(manifests / "json")[0]["kind"] == "Snapshot"


def test_what_cannot_be_written_is_an_error(command: Command, manifests: Path) -> None:
    code, out, err = command("snapshot", "-o", manifests, "--offline", manifests)
    assert (code, out) == (3, "")
    assert err.startswith(f"error: {manifests}: it is not a regular file\n")


def test_nothing_is_written_where_nothing_can_be_read(command: Command, tmp_path: Path) -> None:
    assert command("snapshot", "-o", tmp_path / "s.gz", "--offline", tmp_path / "nowhere").code == 3
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_answers_as_what_it_was_made_of(command: Command, manifests: Path, tmp_path: Path) -> None:
    """But for the places of fields; what was said of the input is said again."""
    (manifests / "broken.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: [", "utf-8")
    written = command("snapshot", "-o", tmp_path / "s.gz", "--offline", manifests)
    problem = "1 problem in the input: "
    assert (written.code, written.out) == (0, "")
    assert written.err.startswith("4 objects in the snapshot; 1 thing could not be read\n" + problem)
    question = ("get", "services", "-A", "-o", "json")
    one, other = (command(*question, "--offline", path) for path in (manifests, tmp_path / "s.gz"))
    assert (one.code, one.err) == (other.code, other.err)
    message, again = json.loads(one.out), json.loads(other.out)
    assert again["unseen"] == message["unseen"] != []
    assert again["headline"] == message["headline"]


def test_it_can_be_piped(command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = (sys.executable, "-m", "kubectl_policy")
    done = subprocess.run(  # noqa: S603 (our own code)
        [*module, "snapshot", "-o", "-", "--offline", str(manifests)], capture_output=True, check=True
    )
    assert done.stderr == b"4 objects in the snapshot\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(done.stdout)))
    assert "ColorPolicy" in command("describe", "httproute/r", "-n", "app", "--offline", "-").out


def test_a_reader_that_goes_away_is_no_error(manifests: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    arguments = [sys.executable, "-m", "kubectl_policy", "snapshot", "-o", "-", "--offline", str(manifests)]
    done = subprocess.run(arguments, stdout=write, stderr=subprocess.PIPE, check=False)  # noqa: S603 (our own code)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"4 objects in the snapshot\n")


def test_it_is_not_written_to_a_terminal(command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = command("snapshot", "-o", "-", "--offline", manifests)
    assert (code, out) == (2, "")
    assert err.startswith("error: a snapshot cannot be shown in a terminal\n")


def test_without_values_names_and_references_stay(command: Command, tmp_path: Path) -> None:
    """What is attached to what is the same; equal values can be told."""
    (tmp_path / "all.yaml").write_text(MANIFESTS + _MORE + _POLICY, "utf-8")
    assert command("snapshot", "--redact", "-o", tmp_path / "s.gz", "--offline", tmp_path).code == 0
    header, *objects = lines_of(tmp_path / "s.gz")
    assert header["redacted"] is True
    assert "hunter2" not in json.dumps(objects)
    blue = next(item for item in objects if item["metadata"]["name"] == "blue")
    assert blue["spec"] == {
        "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g", "sectionName": "http"}],
        "color": "<redacted-1>",
        "again": "<redacted-1>",
        "key": {"secretRef": {"name": "key"}},
    }
    assert "app/blue" in command("describe", "gateway/g", "-n", "app", "--offline", tmp_path / "s.gz").out


def test_a_later_state_is_compared_with_a_snapshot(command: Command, manifests: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    assert command("snapshot", "-o", folder / "one.gz", "--offline", manifests).code == 0
    assert command("diff", folder / "one.gz", manifests / "all.yaml", "--allow-incomplete").code == 0
    (folder / "blue.yaml").write_text(_POLICY, "utf-8")
    applied = command("diff", "--offline", folder / "one.gz", "-f", folder / "blue.yaml", "--allow-incomplete")
    assert (applied.code, "ColorPolicy app/blue" in applied.out) == (1, True)


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "named", "namespace": "app"}, "data": {}}


class Taking(Protocol):
    """Takes a snapshot of a server."""

    def __call__(self, server: FaultyServer, *options: str) -> list[dict[str, Any]]: ...


@pytest.fixture
def taken(command: Command, tmp_path: Path) -> Taking:
    def take(server: FaultyServer, *options: str) -> list[dict[str, Any]]:
        config = kubeconfig(tmp_path, one=server.url, namespace="app")
        file = tmp_path / "s.gz"
        code, _, err = command("snapshot", "-o", file, "--kubeconfig", config, "--cache-dir", tmp_path, *options)
        assert code == 0, err
        return lines_of(file)

    return take


def named(lines: list[dict[str, Any]]) -> set[tuple[str, str]]:
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
