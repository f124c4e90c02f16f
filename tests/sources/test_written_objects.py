"""Where the object is written that became one of a kind and name."""

from __future__ import annotations

import json

import pytest

from kubectl_policy.sources.lines import WrittenObjects, without_actions

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


def test_json() -> None:
    """As YAML."""
    items = [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}} for name in "ab"]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    assert WrittenObjects(text).line("Service", "b") == 12


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
    """Takes no longer than other texts."""
    assert WrittenObjects(text).line("A", "a" * 253) in {0, 1}
    assert without_actions(text).count("\n") == text.count("\n")
