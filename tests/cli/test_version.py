"""`version`: as text and as documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubectl_policy import __version__

if TYPE_CHECKING:
    from tests.cli.conftest import Command


def test_unknown_formats_are_refused(command: Command) -> None:
    """As by the other commands."""
    code, out, err = command("version", "-o", "tree")
    assert (code, out) == (2, "")
    assert "'tree' is not one of 'json', 'yaml'" in err
    assert command("version", "x").code == 2


def test_the_version_is_the_same_in_every_way(command: Command) -> None:
    """As `--version` has it."""
    assert command("version") == (0, f"kubectl-policy {__version__}\n", "")
    assert command("version").out == command("--version").out
    document = json.loads(command("version", "-o", "json").out)
    assert document["clientVersion"]["version"] == __version__
    assert document["clientVersion"].keys() == {"version", "pythonVersion", "platform"}
    assert command("version", "-o", "yaml").out.startswith(f"clientVersion:\n  version: {__version__}\n")
