"""Kinds that the templates of a chart declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.sources.declarations import declared_kinds

if TYPE_CHECKING:
    from kubectl_policy.model import Json

ROUTE: Final = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r}\n"


def kinds_in(*texts: str, values: Json = None) -> list[str] | None:
    kinds = declared_kinds(texts, values)
    return None if kinds is None else sorted({kind.kind for kind in kinds})


def test_kinds_with_the_groups_of_the_texts() -> None:
    kinds = declared_kinds([ROUTE, "apiVersion: v1\nkind: Service\n"], {"open": True})
    assert kinds is not None
    assert {str(kind) for kind in kinds if kind.kind == "Service"} == {"Service", "Service.gateway.networking.k8s.io"}
    assert {kind.kind for kind in kinds} == {"HTTPRoute", "Service"}


@pytest.mark.parametrize(
    "text",
    [
        "spec:\n  parentRefs: [{name: edge, namespace: infra}]\n",
        "metadata:\n  name: x\n  namespace: {{ .Release.Namespace }}\n",
        'metadata:\n  namespace: "{{- .Release.Namespace | quote -}}"\n',
        "spec:\n  value: {{ .Values.kind }}\n",
    ],
)
def test_what_does_not_hide_them(text: str) -> None:
    assert kinds_in(ROUTE, text) == ["HTTPRoute"]


@pytest.mark.parametrize(
    "text",
    [
        "kind: {{ .Values.kind }}\n",
        "apiVersion: {{ .Values.api }}\nkind: A\n",
        "kind:\n  {{ .Values.kind }}\n",
        "kind: PolicyList\n",
        '{{ toYaml (dict "kind" "ColorPolicy") }}\n',
        '{{ set .Values.object "namespace" "infra" }}\n',
        '{{ .Files.Get "more.yaml" }}\n',
        "dependencies:\n  - name: library\n",
        '"\\x6bind": ColorPolicy\n',
        "? kind\n: ColorPolicy\n",
        "metadata:\n  name: x\n  namespace: infra\n",
        "metadata:\n  namespace: {{ .Values.where }}\n",
        "metadata:\n  {{ if .Values.x }}namespace: infra{{ end }}\n",
        "metadata: {name: x, namespace: infra}\n",
        '{"metadata": {"name": "x", "namespace": "infra"}}\n',
        "",
    ],
)
def test_what_hides_them_or_their_namespaces(text: str) -> None:
    assert kinds_in(ROUTE, text) is None


def test_values_may_hold_objects() -> None:
    assert kinds_in(ROUTE, values={"extra": [{"apiVersion": "a.io/v1", "kind": "ColorPolicy"}]}) == [
        "ColorPolicy",
        "HTTPRoute",
    ]
    assert kinds_in(ROUTE, values={"extra": "kind: ColorPolicy\n"}) is None
    assert kinds_in(ROUTE, values={"metadata": {"namespace": "infra"}}) is None
