"""The line of a field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.sources import Lines, load_manifests, locate

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
# the shop
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  listeners:
  - name: http
    port: 80
  -
    name: https
    tls:
      {mode: Terminate, certificateRefs: [{name: a},
        {name: b}]}
--- # many
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata:
    name: a
- apiVersion: v1
  kind: Service
  metadata:
    name: b
  spec: {ports: [
    {port: 1}]}
"""


@pytest.mark.parametrize(
    ("line", "path", "found"),
    [
        (2, "", 2),
        (2, "kind", 3),
        (2, "metadata.name", 4),
        (2, "spec.listeners", 6),
        (2, "spec.listeners[0]", 7),
        (2, "spec.listeners[0].port", 8),
        (2, "spec.listeners[1].name", 10),
        (2, "spec.listeners[1].tls.mode", 12),
        (2, "spec.listeners[1].tls.certificateRefs[1].name", 13),
        (18, "metadata.name", 21),
        (22, "metadata.name", 25),
        (22, "spec.ports[0].port", 27),
        (2, "spec.listeners[2]", None),
        (2, "spec.listeners.name", None),
        (2, "spec.listeners[0].port.x", None),
        (2, "specs", None),
        (3, "kind", None),
        (7, "name", 7),
        (99, "kind", None),
        (0, "kind", None),
    ],
)
def test_fields(tmp_path: Path, line: int, path: str, found: int | None) -> None:
    """In block and in flow style, in a document and in a List; None of what is not there."""
    (tmp_path / "a.yaml").write_text(TEXT)
    assert locate(Origin(str(tmp_path / "a.yaml"), line), path) == found


@pytest.mark.parametrize("data", [b"\xff\0", b"a: [", b"{a: {b: 1}}: c", b'a: "\\UFFFFFFFF"', None])
def test_a_file_that_has_changed(tmp_path: Path, data: bytes | None) -> None:
    """The line is for a message, and no message is worth an exception."""
    if data is not None:
        (tmp_path / "a.yaml").write_bytes(data)
    assert locate(Origin(str(tmp_path / "a.yaml"), 1), "spec.x") is None


def test_what_reading_told(tmp_path: Path) -> None:
    """Whoever reads with them asks for no file again."""
    lines = Lines()
    (tmp_path / "a.yaml").write_text(TEXT)
    found = load_manifests(tmp_path, lines=lines)
    (tmp_path / "a.yaml").unlink()
    name = FieldPath.parse("metadata.name")
    assert [lines.locate(resource.origin, name, resource.ref.name) for resource in found.resources] == [4, 21, 25]
    assert lines.locate(found.resources[0].origin, name, "other") is None


def test_behind_what_cannot_be_read(tmp_path: Path) -> None:
    """Nothing is told of a broken document, and nothing is wrong with those around it."""
    thing = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {}\n"
    path = tmp_path / "all.yaml"
    path.write_text("---\n".join([thing.format("a"), "kind: [\n", thing.format("b")]), encoding="utf-8")
    lines = Lines()
    found = load_manifests(path, lines=lines).resources
    path.unlink()
    name = FieldPath.parse("metadata.name")
    assert [lines.locate(each.origin, name) for each in found] == [4, 11]
    assert lines.locate(Origin(str(path), 7), name) is None


def test_standard_input_is_gone() -> None:
    """It cannot be read again."""
    assert locate(Origin("<stdin>", 1), "kind") is None


@pytest.mark.parametrize("indent", [None, 2])
def test_json(tmp_path: Path, indent: int | None) -> None:
    """Every item of a List, whatever the layout."""
    items = [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}} for name in "ab"]
    (tmp_path / "a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=indent))
    lines = [locate(resource.origin, "metadata.name") for resource in load_manifests([tmp_path]).resources]
    assert lines == ([9, 16] if indent else [1, 1])
