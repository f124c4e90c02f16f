"""What somebody must be allowed to do, in words."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Permission


@pytest.mark.parametrize(
    ("namespace", "words"),
    [
        (None, "list gatewayclasses.gateway.networking.k8s.io"),
        ("", "list gatewayclasses.gateway.networking.k8s.io in all namespaces"),
        ("baker", "list gatewayclasses.gateway.networking.k8s.io in namespace baker"),
    ],
)
def test_where(namespace: str | None, words: str) -> None:
    """In a namespace, in all of them, or in none, as for what has none."""
    assert str(Permission("list", "gatewayclasses.gateway.networking.k8s.io", namespace)) == words
