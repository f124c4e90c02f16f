"""`history`: arguments, formats and exit codes, on a real repository."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.cli import terminal
from tests.cli.conftest import MANIFESTS
from tests.repository import Repository, alone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Command

ROUTE = ("history", "httproute/r", "-n", "app", "--offline", ".")
LINE = MANIFESTS.count("\n")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The route appears, its policy becomes blue, and on disk it has a size."""
    made = alone(tmp_path, monkeypatch)
    made.write("a.yaml", MANIFESTS)
    made.commit()
    made.write("a.yaml", MANIFESTS.replace("color: red", "color: blue"))
    made.commit()
    made.write("a.yaml", MANIFESTS.replace("color: red", "color: blue, size: 1"))
    monkeypatch.chdir(made.folder)
    return made


def test_a_history(command: Command, repository: Repository) -> None:
    second, first = repository.git("rev-list", "HEAD").split()
    code, out, err = command(*ROUTE)
    assert (code, err) == (0, "")
    assert out == (
        "What is in force on HTTPRoute app/r changed in 2 commits, and on disk since.\n"
        "\n"
        "not committed yet\n"
        "  ColorPolicy\n"
        f"    size   nothing → 1   app/red, a.yaml:{LINE}\n"
        "\n"
        f"{second[:7]}  2026-01-01 Somebody  x\n"
        "  ColorPolicy\n"
        f"    color   red → blue   app/red, a.yaml:{LINE}\n"
        "\n"
        f"{first[:7]}  2026-01-01 Somebody  x\n"
        "  HTTPRoute app/r appears, with 1 setting in force\n"
        "  ColorPolicy\n"
        f"    color   red   app/red, a.yaml:{LINE}\n"
    )


def test_a_document(command: Command, repository: Repository) -> None:
    repository.git("checkout", "--quiet", ".")
    answer = json.loads(command(*ROUTE, "--limit", "1", "-o", "json").out)
    (change,) = answer["changes"]
    assert answer["more"] is True
    assert change["commit"]["id"] == repository.git("rev-parse", "HEAD")
    assert change["commit"]["author"] == "Somebody"
    (setting,) = change["settings"]
    assert (setting["before"]["value"], setting["after"]["value"]) == ("red", "blue")
    assert setting["after"]["origin"] == {"source": f"{change['commit']['id'][:12]}:a.yaml", "line": LINE}


@pytest.mark.usefixtures("repository")
def test_kinds_and_fields(command: Command) -> None:
    assert "size" not in command(*ROUTE, "--field", "color,other").out
    assert "color" not in command(*ROUTE, "--field", "spec.size", "--kind", "colorpolicy").out
    code, _, err = command(*ROUTE, "--kind", "nothing")
    assert (code, err.startswith("error: ")) == (2, True)


def test_an_object_that_is_gone(command: Command, repository: Repository) -> None:
    """It is found in the newest commit that has it."""
    repository.write("a.yaml", MANIFESTS.partition("---\n")[0])
    repository.commit()
    assert "HTTPRoute app/r is deleted" in command(*ROUTE).out
    code, _, err = command("history", "httproute/nope", "-n", "app", "--offline", ".")
    assert code == 3
    assert err.startswith("error: ")


@pytest.mark.usefixtures("repository")
def test_what_has_no_history(command: Command) -> None:
    code, _, err = command("history", "colorpolicy/red", "-n", "app", "--offline", ".")
    assert (code, "is a policy" in err) == (2, True)
    assert err.endswith("hint: name what it targets, for example: history httproute/app/r\n")
    assert command("history", "httproute/r")[0] == 2


@pytest.mark.usefixtures("repository")
def test_progress(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    message: list[tuple[int, int, str]] = []
    monkeypatch.setattr("kubectl_policy.cli.commands.history._SOON", 1)

    def tell(begun: int, total: int, name: str) -> None:
        message.append((begun, total, name))

    def progress(doing: str) -> nullcontext[Callable[[int, int, str], None]]:
        assert doing == "reading state"
        return nullcontext(tell)

    monkeypatch.setattr(terminal, "progress", progress)
    assert command(*ROUTE).code == 0
    assert message == [(2, 3, "x"), (3, 3, "x")]
