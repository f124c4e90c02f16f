"""docs/code-for-implementations.md is true: its modules exist, and no choice is left out."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

import kubectl_policy
from tests import fast_yaml
from tests.test_docs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = ROOT / "docs" / "code-for-implementations.md"
PACKAGE: Final = Path(kubectl_policy.__file__).parent
DATA: Final = PACKAGE / "profiles" / "data"
# Choices of which each value is code of its own.
BY_VALUE: Final = frozenset({"sameLevel", "status.placement"})
# What files say that no code looks at, and what every kind has.
NOT_CHOICES: Final = frozenset({"delegation.evidence", "gateways.evidence", "controllers"})
# Two files that are of one implementation.
SAME: Final = {"extensions.kuadrant.io": "kuadrant.io"}


class Row(NamedTuple):
    """A row of the table: choices, the groups whose files make them, and the modules that carry them out."""

    choices: tuple[str, ...]
    groups: frozenset[str]
    modules: tuple[str, ...]


def rows() -> list[Row]:
    """The table of the page."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return [
        Row(
            tuple(re.findall(r"`([^`]+)`", choices)),
            frozenset(re.findall(r"[\w.]+", groups)),
            tuple(re.findall(r"`([^`]+)`", modules)),
        )
        for choices, groups, modules, _ in lines
    ]


def choices_of(where: str, said: dict[str, Any]) -> Iterator[str]:
    """The choices that a part of a profile file makes."""
    for field, value in said.items():
        name = f"{where}{field}"
        yield f"{name}: {value}" if name in BY_VALUE else name


@cache
def said_in_files() -> dict[str, set[str]]:
    """Every choice that some built-in file makes, with the groups of the files."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(DATA.glob("*.yaml")):
        for choice in _choices_in(path):
            found[choice].add(SAME.get(path.stem, path.stem))
    return found


def _choices_in(path: Path) -> Iterator[str]:
    document: Any = fast_yaml.load(path.read_text("utf-8"))
    for part in ("gateways", "delegation"):
        yield from choices_of(f"{part}.", document.get(part, {}))
    yield from choices_of("status.", document.get("status", {}))
    for kind in document["kinds"].values():
        yield from choices_of("", kind)
        yield from choices_of("status.", kind.get("status", {}))


@pytest.mark.parametrize("row", rows(), ids=lambda row: ", ".join(row.choices))
def test_those_who_make_a_choice_are_named(row: Row) -> None:
    """All of them, for each choice of the row taken together, and the row names code."""
    found = said_in_files()
    assert set(row.groups) == {group for choice in row.choices for group in found[choice]}
    assert row.modules
    for module in row.modules:
        assert PACKAGE.joinpath(*module.split(".")).with_suffix(".py").is_file(), f"there is no {module}"


def test_no_choice_of_one_implementation_is_left_out() -> None:
    """What one built-in file alone says is there because of one implementation."""
    alone = {choice for choice, groups in said_in_files().items() if len(groups) == 1} - NOT_CHOICES
    assert alone - {choice for row in rows() for choice in row.choices} == set()
