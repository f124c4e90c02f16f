"""Lines of fields, comments for this program, and objects, in files and revisions."""

import json
from pathlib import Path

import pytest

from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.sources import Lines, load_manifests, locate
from kubectl_policy.sources.lines import WrittenObjects, without_actions
from tests.repository import alone

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
        (2, "metadata.name", 4),
        (2, "spec.listeners[0].port", 8),
        (2, "spec.listeners[1].tls.certificateRefs[1].name", 13),
        (18, "metadata.name", 21),
        (22, "spec.ports[0].port", 27),
        (2, "spec.listeners[2]", None),
        (2, "spec.listeners.name", None),
        (2, "spec.listeners[0].port.x", None),
        (2, "specs", None),
        (3, "kind", None),
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
    lines = Lines()
    (tmp_path / "a.yaml").write_text(TEXT)
    snapshot = load_manifests(tmp_path, lines=lines)
    (tmp_path / "a.yaml").unlink()
    name = FieldPath.parse("metadata.name")
    assert [lines.locate(resource.origin, name, resource.ref.name) for resource in snapshot.resources] == [4, 21, 25]
    assert lines.locate(snapshot.resources[0].origin, name, "other") is None


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


@pytest.mark.parametrize("indent", [None, 2])
def test_json(tmp_path: Path, indent: int | None) -> None:
    items = [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}} for name in "ab"]
    (tmp_path / "a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=indent))
    lines = [locate(resource.origin, "metadata.name") for resource in load_manifests([tmp_path]).resources]
    assert lines == ([9, 16] if indent else [1, 1])


COMMENTED = "a: 1\nb: 2 # kubectl-policy: ignore GWP1001\n"


def test_comments_in_a_file(tmp_path: Path) -> None:
    """Which is read once; whoever has a text that cannot be read again may keep it."""
    file = tmp_path / "a.yaml"
    file.write_text(COMMENTED)
    lines = Lines()
    lines.keep("<stdin>", COMMENTED)
    assert [comment.says for comment in lines.comments(str(file))] == ["ignore GWP1001"]
    file.unlink()
    for source in (str(file), "<stdin>"):
        assert [comment.line for comment in lines.comments(source)] == [2]
    assert locate(Origin("<stdin>", 1), "kind") is None


def test_comments_in_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\xfa # kubectl-policy: ignore")
    for source in (str(tmp_path), f"{tmp_path}/no.yaml", f"{tmp_path}/b.yaml", "<stdin>", "kind:dev", "a\0b", ""):
        assert Lines().comments(source) == ()


def test_comments_in_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = alone(tmp_path, monkeypatch)
    repository.write("a.yaml", COMMENTED)
    repository.commit()
    monkeypatch.chdir(repository.folder)
    assert [comment.line for comment in Lines().comments("HEAD:a.yaml")] == [2]
    assert Lines().comments("HEAD:b.yaml") == ()


MANIFESTS = """\
# Ours.
apiVersion: v1
kind: Service
metadata: {name: web}
---
apiVersion: v1
kind: Service
metadata: {name: web-admin}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: a}}
- {apiVersion: v1, kind: Secret, metadata: {name: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {}
"""
TEMPLATE = """\
{{- range .Values.all }}
---
{{/* The first. */}}
apiVersion: v1
kind: Service
metadata:
  labels:
    app.kubernetes.io/name: x
  name: {{ include "shop.name" . | quote }}-web
spec: {name: other}
---
kind: "Service"
apiVersion: v1
metadata: {labels: {a: b}, name: "web-{{ . }}-admin"}
{{- end }}
---
apiVersion: v1
kind: Secret
metadata: {name: plain}
---
apiVersion: v1
kind: {{ .Values.kind }}
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
data: {{ toYaml . }}
"""


@pytest.mark.parametrize(
    ("text", "kind", "name", "line"),
    [
        ("", "Service", "web", 0),
        ("a: [", "Service", "web", 0),
        (MANIFESTS, "Gateway", "web", 0),
        (MANIFESTS, "Service", "x", 0),
        (MANIFESTS, "Service", "web", 2),
        (MANIFESTS, "Service", "web-admin", 6),
        (MANIFESTS, "Service", "dev-web-1", 2),
        (MANIFESTS, "Service", "dev-web-admin", 6),
        (MANIFESTS, "Secret", "b-1", 14),
        (MANIFESTS, "ConfigMap", "made-by-hash", 16),
        (TEMPLATE, "Service", "web-1-admin", 12),
        (TEMPLATE, "Service", "r-shop-web", 4),
        (TEMPLATE, "Service", "x", 0),
        (TEMPLATE, "Secret", "plain", 17),
        (TEMPLATE, "ConfigMap", "any", 25),
        (TEMPLATE, "Deployment", "b", 0),
        ("a: b\n", "", "", 0),
    ],
)
def test_lines(text: str, kind: str, name: str, line: int) -> None:
    """By as much of a name as is written; an only one of its kind is it, and of several it is not known which."""
    assert WrittenObjects(text).line(kind, name) == line


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a: {{ .x }}-b\n", "a: xxxxxxxx-b\n"),
        ("a: [{b: {{ .x }}}]", "a: [{b: xxxxxxxx}]"),
        ('a: "{{ .x }}"', 'a: "xxxxxxxx"'),
        ("{{- if .x }}\na: 1\n  {{ end }} {{ end }}\r\n", "\na: 1\n\n"),
        ("{{/* Of\nours. */}}\na: 1", "\n\na: 1"),
        ("a: {{ .x\n  | quote }}", "a: xxxxx\n"),
        ("a: {{ .x\nb: 1", "a: {{ .x\nb: 1"),
    ],
)
def test_a_template_as_yaml(text: str, plain: str) -> None:
    """Every line stays where it is; what never ends is no action."""
    assert without_actions(text) == plain


@pytest.mark.parametrize(
    "text", ["{{" * 300_000, "kind: A\nmetadata: {name: " + "{" * 500_000, "{{ x }}\nname: " * 50_000]
)
def test_what_is_made_to_take_long(text: str) -> None:
    assert WrittenObjects(text).line("A", "a" * 253) in {0, 1}
    assert without_actions(text).count("\n") == text.count("\n")
