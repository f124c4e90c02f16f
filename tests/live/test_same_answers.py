"""A cluster and what kubectl gets of it give the same answers."""

from __future__ import annotations

import json
import re
from difflib import unified_diff
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import cli
from tests.live.server import ADMIN

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Json
    from tests.live.server import Server

# Where an object was read is a file and a line, or a context, of which sentences say nothing.
IN_DUMP: Final = re.compile(r"/[^ \"]*/dump\.json(:\d+)?")
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
def dump(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that kubectl gets, as JSON."""
    kinds = server.kubectl("api-resources", "--verbs=list,create", "-o", "name").split()
    path = tmp_path_factory.mktemp("dump") / "dump.json"
    path.write_text(server.kubectl("get", ",".join(kinds), "-A", "-o", "json", "--show-managed-fields"))
    return path


def answer(question: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str]]:
    """The exit code and the document, without where things were read."""
    capsys.readouterr()
    code = cli.run([*question.split(), "-o", "json", *options])
    said = (
        IN_DUMP.sub(ADMIN, capsys.readouterr().out).replace(f" ({ADMIN})", "").replace("in the cluster", "in the input")
    )
    document = _without_places(json.loads(said))
    return code, json.dumps(document, indent=1).splitlines()


def _without_places(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _without_places(value) for key, value in document.items() if key not in {"source", "line"}}
    return [_without_places(value) for value in document] if isinstance(document, list) else document


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_the_same(server: Server, dump: Path, question: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Documents say the same, but for where it was read."""
    code, live = answer(question, capsys, "--kubeconfig", str(server.kubeconfig(ADMIN)))
    offline = answer(question, capsys, "--offline", str(dump))
    assert code in {0, 1}
    assert offline[0] == code
    different = "\n".join(unified_diff(offline[1], live, "offline", "live", lineterm=""))
    assert not different, different
