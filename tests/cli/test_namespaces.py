"""What is said where an object names no namespace, and something around it does, or nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

ROUTE: Final = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: echo}
spec: {parentRefs: [{name: edge, namespace: infra}], rules: [{backendRefs: [{name: echo, port: 80}]}]}
"""
POLICY: Final = """
apiVersion: example.io/v1
kind: RetryPolicy
metadata: {name: slow}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: echo}, attempts: 2}
"""
KUSTOMIZATION: Final = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


def tree(folder: Path, namespace: str) -> Path:
    """A folder with a kustomization that names a namespace, or none."""
    said = KUSTOMIZATION + namespace + "resources: [route.yaml, policy.yaml]\n"
    for name, text in (("kustomization.yaml", said), ("route.yaml", ROUTE), ("policy.yaml", POLICY)):
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("describe", "httproute/echo"),
        ("describe", "retrypolicy/slow"),
        ("blast-radius", "httproute/echo", "--allow-incomplete"),
        ("why-not", "retrypolicy/slow", "httproute/echo"),
        ("get", "policies"),
    ],
)
def test_what_says_a_namespace_is_told_once(command: Command, tmp_path: Path, words: tuple[str, ...]) -> None:
    """With the file, where people read it."""
    result = command(*words, "-n", "media", "--offline", tree(tmp_path, "namespace: media\n"))
    assert result.code == 0
    (said,) = [line for line in result.err.splitlines() if " is in namespace " in line]
    assert re.search(r" is in namespace media by .*kustomization\.yaml:3$", said)


def test_where_nothing_says_it_the_answer_says_so(command: Command, tmp_path: Path) -> None:
    """The object is found by its name, whatever namespace is asked for."""
    folder = tree(tmp_path, "")
    out = command("describe", "httproute/echo", "-n", "media", "--offline", folder).out
    assert "the namespace of HTTPRoute" in out
    assert "Could not be seen" in out
