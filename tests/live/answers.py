"""Answers of commands as they can be compared: of a cluster, and of what kubectl gets from it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy import cli

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from kubectl_policy.model import Json
    from tests.live.server import Server

# What was read from a file has a line there, which is said in sentences as well, and is in "the input".
_IN_DUMP: Final = re.compile(r" \(/[^ \"]*/dump\.json:[0-9]+\)")


def dumped(server: Server, folder: Path) -> Path:
    """A file in a folder with everything that kubectl gets, as JSON."""
    kinds = server.kubectl("api-resources", "--verbs=list,create", "-o", "name").split()
    path = folder / "dump.json"
    path.write_text(server.kubectl("get", ",".join(kinds), "-A", "-o", "json", "--show-managed-fields"))
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The exit code of a command and the lines of its document, or of what it says if it has none, without places."""
    capsys.readouterr()
    code = cli.run([*arguments, "-o", "json"])
    out, err = capsys.readouterr()
    said = json.dumps(_without_places(json.loads(out)), indent=1) if out else err
    return [f"exit code {code}", *said.splitlines()]


def _without_places(document: Json) -> Json:
    match document:
        case dict():
            return {key: _without_places(value) for key, value in document.items() if key not in {"source", "line"}}
        case list():
            return [_without_places(value) for value in document]
        case str():
            return _IN_DUMP.sub("", document).replace("the input", "the cluster")
        case _:
            return document
