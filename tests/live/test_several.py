"""Several contexts of a real server: each answers with the rights that its user has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubectl_policy import cli
from tests.live.server import ADMIN, BAKER

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.live.server import Server


def test_each_context_answers_as_it_does_alone(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order of the kubeconfig, whatever each of them may see."""
    config = str(server.kubeconfig(ADMIN, BAKER, namespace="baker"))

    def answer(*words: str) -> dict[str, object]:
        options = ["-o", "json", "--kubeconfig", config, "--cache-dir", str(tmp_path)]
        assert cli.run(["describe", "httproute/baker", *words, *options]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    together = answer("--all-contexts")
    alone = [{**answer("--context", user), "context": user} for user in (ADMIN, BAKER)]
    assert together["items"] == alone
    assert together["unanswered"] == []
    assert alone[0]["unseen"] != alone[1]["unseen"]
