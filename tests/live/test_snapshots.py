"""A snapshot of a real server answers as the server does."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_policy import cli
from kubectl_policy.sources import load_manifests
from tests.live.conftest import BAKERY
from tests.live.server import ADMIN, BAKER, PASTRY, Server

QUESTIONS: Final = (
    "blast-radius gateway/edge -n infra",
    "blast-radius backendtlspolicy/cream -n pastry",
    "blast-radius retrypolicy/resilience -n baker",
    "get policies -A",
    "get routes -n baker",
    "get policies -n pastry",
    "get effective -n baker",
    "get policykinds",
    "status -n baker",
    "status -A",
    "why-not retrypolicy/own httproute/menu -n baker",
)


def _every_object() -> list[str]:
    refs = (resource.ref for resource in load_manifests(BAKERY).resources)
    return [
        f"describe {ref.kind.lower()}.{ref.group_kind.group}/{ref.name} -n {ref.namespace or 'infra'}"
        for ref in refs
        if ref.kind != "CustomResourceDefinition"
    ]


@pytest.mark.parametrize("user", [ADMIN, BAKER, PASTRY])
def test_a_file_answers_as_the_server(
    server: Server, user: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In all words, but for where things are; no less is said to be hidden. The administrator asks of every object."""
    config = str(server.kubeconfig(user, namespace="pastry"))
    ask = ["--kubeconfig", config, "--cache-dir", str(tmp_path)]
    file = str(tmp_path / "s.gz")

    def answer(*words: str) -> tuple[int, Any]:
        code = cli.run([*words, "-o", "json"])
        out = capsys.readouterr().out
        return code, _without_places(json.loads(out) if out else None, file, user)

    assert cli.run(["snapshot", "-o", file, *ask]) == 0
    capsys.readouterr()
    # Who sees one namespace alone has the snapshot of that one.
    about = "-n pastry" if user == PASTRY else ""
    objects = _every_object()[:: 3 if user == BAKER else 1]
    for question in filter(lambda each: about in each, (*objects, *QUESTIONS)):
        there = answer(*question.split(), *ask)
        here = answer(*question.split(), "--offline", file)
        hidden = [_hidden(document) for _, document in (there, here)]
        assert hidden[0] <= hidden[1], question
        assert _but_hidden(there[1]) == _but_hidden(here[1]), question
        assert there[0] == here[0], question


def _without_places(found: Any, file: str, user: str) -> Any:  # noqa: ANN401 (any document)
    """A document without the places of objects: a server has none, and a file has lines."""

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
        return None if {name for name, _ in pairs} == {"source", "line"} else dict(pairs)

    text = re.sub(rf" \((?:{re.escape(file)}:\d+|{user})\)", "", json.dumps(found))
    return json.loads(text, object_pairs_hook=kept)


def _hidden(document: Any) -> set[str]:  # noqa: ANN401 (any document)
    """What could not be read; that somewhere some was, the file may know of more kinds."""
    return {blind_spot["what"].partition(" not in ")[0] for blind_spot in document["unseen"]} if document else set()


def _but_hidden(document: Any) -> Any:  # noqa: ANN401 (any document)
    """All but what could not be read, of which a question asks for less than a snapshot does."""
    if not document:
        return document
    headline = re.sub(r", as far as could be read: [^.]*", "", document["headline"])
    seen = {**document, "headline": headline, "unseen": ()}
    if "difference" in document:
        seen["difference"] = {**document["difference"], "unseen": ()}
    return seen
