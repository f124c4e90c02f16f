"""`snapshot`: the file that is written, and that the same is answered from it."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Command

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
    """The lines in a file."""
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
