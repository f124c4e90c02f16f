"""Output of programs without the values of Secrets."""

from __future__ import annotations

import pytest

from kubectl_policy.sources.programs.secret_values import without_secret_values

ROUTE = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: a}  # kept\n"
WITH_VALUES = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: Opaque\ndata: {k: dg==}\nstringData: {k: v}\n"
SHORT = '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"type":"Opaque"}\n'


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        (ROUTE, ROUTE),
        (WITH_VALUES, SHORT),
        (f"{ROUTE}---\n{WITH_VALUES}---\n{ROUTE}", f"{ROUTE}---\n{SHORT}---\n{ROUTE}"),
        (f"---\n# Source: c/templates/s.yaml\n{WITH_VALUES}", f"---\n# Source: c/templates/s.yaml\n{SHORT}"),
        ("ref: {kind: Secret, data: x}\n", "ref: {kind: Secret, data: x}\n"),
        ("kind: ExternalSecret\ndata: [x]\n", "kind: ExternalSecret\ndata: [x]\n"),
        ("kind: Secret\napiVersion: example.com/v1\ndata: x\n", "kind: Secret\napiVersion: example.com/v1\ndata: x\n"),
        ('{"apiVersion": "v1", "kind": "Secret", "data": {"k": "v"}}', '{"apiVersion":"v1","kind":"Secret"}\n'),
        ('[{"apiVersion": "v1", "kind": "Secret", "data": {"k": "v"}}]', '[{"apiVersion":"v1","kind":"Secret"}]\n'),
        (
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, data: {k: v}}\n- {kind: Other}\n",
            '{"apiVersion":"v1","kind":"Secret"}\n---\n{"kind":"Other"}\n',
        ),
    ],
)
def test_only_values_of_secrets_go(text: str, shorter: str) -> None:
    assert without_secret_values(text) == shorter


def test_a_secret_that_cannot_be_read() -> None:
    """Nothing is known of its values; what is broken elsewhere does not matter."""
    assert without_secret_values("apiVersion: v1\nkind: Secret\ndata: [\n") is None
    assert without_secret_values(f"a: [\n---\n{WITH_VALUES}") == f"a: [\n---\n{SHORT}"
