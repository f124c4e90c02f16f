"""Cases of our own, in the formats of the recorded ones: a clone without those tests the adapters and the rules too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import pytest
import yaml

from kubectl_policy import analyze
from kubectl_policy.model import Json
from tests.cases import conformance, envoy_gateway, gwctl, kgateway, kuadrant, nginx_gateway_fabric
from tests.cases.predictions import main
from tests.cases.report import judged
from tests.cases.sample import DATA
from tests.cases.worlds import read, world

# Each with how many facts its cases have, so that none is lost by a fact that nobody understands.
JUDGES: Final[dict[str, tuple[Any, int]]] = {
    "conformance": (conformance, 4),
    "gwctl": (gwctl, 47),
    "kuadrant": (kuadrant, 33),
    "nginx-gateway-fabric": (nginx_gateway_fabric, 71),
}
WRITERS: Final = {"envoy-gateway": envoy_gateway, "kgateway": kgateway}
WRITTEN: Final = [
    (suite, case.parent.name) for suite in WRITERS for case in sorted(DATA.glob(f"{suite}/*/expected.yaml"))
]


@pytest.mark.parametrize("suite", JUDGES)
def test_every_fact_holds(suite: str) -> None:
    adapter, count = JUDGES[suite]
    outcomes = judged(adapter.judge, DATA / suite, adapter.MARKER)
    assert [outcome for outcome in outcomes if not outcome.right] == []
    assert len(outcomes) == count


# What is asked, and how; all else is an answer.
QUESTIONS: Final = frozenset({"absent", "ask", "case", "condition", "exact", "expand"})


def spoiled(value: Json) -> Iterator[Json]:
    """Yield a document with each of its answers replaced, one at a time."""
    if isinstance(value, dict):
        for key in value.keys() - QUESTIONS:
            yield from ({**value, key: other} for other in spoiled(value[key]))
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from ([*value[:position], other, *value[position + 1 :]] for other in spoiled(element))
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    else:
        yield "spoiled"


@pytest.mark.parametrize(
    ("suite", "case"),
    [
        (suite, file.parent.name)
        for suite in ("gwctl", "kuadrant", "nginx-gateway-fabric")
        for file in sorted(DATA.glob(f"{suite}/*/expected.yaml"))
    ],
)
def test_every_fact_can_fail(suite: str, case: str, tmp_path: Path) -> None:
    """Each answer that a case expects, however it is written, makes a miss if it is another one."""
    adapter, _ = JUDGES[suite]
    folder = tmp_path / case
    shutil.copytree(DATA / suite / case, folder)
    for expected in spoiled(dict(read(folder / adapter.MARKER))):
        (folder / adapter.MARKER).write_text(json.dumps(expected), "utf-8")
        assert not all(outcome.right for outcome in adapter.judge(folder)), expected


@pytest.mark.parametrize("suite", WRITERS)
def test_the_document_for_a_scorer_has_nothing_else(suite: str, tmp_path: Path) -> None:
    """One document as a whole, as the command writes it."""
    assert main(WRITERS[suite], [str(DATA / suite), str(tmp_path)]) == 0
    (case,) = DATA.glob(f"{suite}/*/document.yaml")
    assert json.loads((tmp_path / f"{case.parent.name}.json").read_text("utf-8")) == read(case)


@pytest.mark.parametrize(("suite", "case"), WRITTEN)
def test_the_document_for_a_scorer_has_every_fact(suite: str, case: str) -> None:
    """An entry has all that is expected of it, and may say more."""
    document: Any = WRITERS[suite].document(analyze(world([DATA / suite / case / "manifests.yaml"])))
    expected = read(DATA / suite / case / "expected.yaml")
    assert expected
    for section, entries in expected.items():
        for entry in cast("list[Json]", entries):
            assert any(_has(written, entry) for written in document[section]), yaml.safe_dump(entry)


def _has(written: Json, expected: Json) -> bool:
    """Whether a mapping has all fields that are expected of it; lists and what is in them have to be the same."""
    if isinstance(written, dict) and isinstance(expected, dict):
        return all(key in written and _has(written[key], value) for key, value in expected.items())
    return written == expected
