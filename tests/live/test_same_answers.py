"""A cluster and what kubectl gets of it give the same answers."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Final

import pytest

from tests.live.answers import answer, dumped
from tests.live.server import ADMIN

if TYPE_CHECKING:
    from tests.live.server import Server

QUESTIONS: Final = (
    "describe httproute/baker -n baker",
    "describe gateway/edge -n infra",
    "describe retrypolicy/resilience -n baker",
    "describe service/till -n baker",
    "describe namespace/baker",
    "get policies -n baker",
    "get policykinds",
    "get routes -n baker",
    "get gateways -n infra",
    "get services -n baker",
    "get effective -n baker",
    "status -n baker",
    "why-not retrypolicy/resilience httproute/events -n baker",
    "blast-radius retrypolicy/resilience -n baker",
    "blast-radius gateway/edge -n infra",
    "diff --delete retrypolicy/resilience -n baker",
    "explain retrypolicy",
)


@pytest.fixture(scope="module")
def dump(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Everything that kubectl gets."""
    return str(dumped(server, tmp_path_factory.mktemp("dump")))


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_the_same(server: Server, dump: str, question: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Documents say the same, but for where it was read."""
    live = answer(capsys, *question.split(), "--kubeconfig", str(server.kubeconfig(ADMIN)))
    offline = answer(capsys, *question.split(), "--offline", dump)
    assert live[0] in {"exit code 0", "exit code 1"}
    different = "\n".join(unified_diff(offline, live, "offline", "live", lineterm=""))
    assert not different, different
