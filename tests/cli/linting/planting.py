"""Copies of the repositories in fixtures with mistakes in them, and what `lint` says of these, in a line each."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.cli.linting.conftest import Linted

REPOSITORIES = Path(__file__).parents[3] / "fixtures" / "repositories"


class Mistake(NamedTuple):
    """A text that is written once in a file, or nothing for a new one, what is written instead, and what is found then.

    What is `found` is `FILE:LINE SEVERITY RULE OBJECT`, with ` in WORLD` where it is not in all worlds.
    """

    file: str
    right: str
    wrong: str
    found: tuple[str, ...]


def planted(name: str, folder: Path, mistakes: Iterable[Mistake] = ()) -> Path:
    """A copy of a repository, with mistakes."""
    tree = folder / name
    shutil.copytree(REPOSITORIES / name, tree)
    for mistake in mistakes:
        path = tree / mistake.file
        text = path.read_text("utf-8") if mistake.right else ""
        assert text.count(mistake.right) == 1 or not mistake.right, mistake
        path.write_text(text.replace(mistake.right, mistake.wrong) if mistake.right else mistake.wrong, "utf-8")
    return tree


def said(linted: Linted, *severities: str) -> list[str]:
    """What counts of these severities, of any if none is given; sorted."""
    findings = zip(linted.findings, linted.document["findings"], strict=True)
    return sorted(
        f"{line} in {' and '.join(each['worlds'])}" if each["worlds"] else line
        for line, each in findings
        if not severities or each["severity"] in severities
    )


def in_each_world(linted: Linted) -> set[tuple[str, str]]:
    """What counts, by world: the rule, the object and its field, and the file in which it is found."""
    everywhere: Sequence[str] = linted.document["worlds"] or [""]
    return {
        (world, f"{each['rule']} {each['object']} {each['field']} {each['origin']['source']}")
        for each in linted.document["findings"]
        for world in each["worlds"] or everywhere
    }
