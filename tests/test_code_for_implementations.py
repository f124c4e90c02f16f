"""docs/code-for-implementations.md is true: its code exists and is as long as it says, and no choice is left out."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
import yaml

import kubectl_policy
from tests.test_docs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = ROOT / "docs" / "code-for-implementations.md"
PACKAGE: Final = Path(kubectl_policy.__file__).parent
DATA: Final = PACKAGE / "profiles" / "data"
FUNCTION: Final = re.compile(r"`([\w.]+)` \((\d+)\)")
# Choices of which each value is code of its own.
BY_VALUE: Final = frozenset({"sameLevel", "status.placement"})
# What files say that no code looks at, and what every kind has.
NOT_CHOICES: Final = frozenset({"delegation.evidence", "gateways.evidence", "controllers"})
# Two files that are of one implementation.
SAME: Final = {"extensions.kuadrant.io": "kuadrant.io"}


class Row(NamedTuple):
    """A row of the table: choices, the groups whose files make them, and functions with their numbers of lines."""

    choices: tuple[str, ...]
    groups: frozenset[str]
    functions: dict[str, int]


def rows() -> list[Row]:
    """The table of the page."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return [
        Row(
            tuple(re.findall(r"`([^`]+)`", choices)),
            frozenset(re.findall(r"[\w.]+", groups)),
            {name: int(number) for name, number in FUNCTION.findall(functions)},
        )
        for choices, groups, functions, _ in lines
    ]


def lines_of(name: str) -> int:
    """How many lines a function or a class has, named by its module and, after a dot, its name."""
    parts, module = name.split("."), PACKAGE
    while not module.with_suffix(".py").is_file():
        assert len(parts) > 1, f"there is no {name}"
        module /= parts.pop(0)
    node: ast.AST = ast.parse(module.with_suffix(".py").read_text("utf-8"))
    for part in parts:
        node = next((found for found in getattr(node, "body", ()) if getattr(found, "name", "") == part), ast.Pass())
    assert isinstance(node, ast.FunctionDef | ast.ClassDef), f"there is no {name}"
    return (node.end_lineno or 0) - node.lineno + 1


def choices_of(where: str, said: dict[str, Any]) -> Iterator[str]:
    """The choices that a part of a profile file makes."""
    for field, value in said.items():
        name = f"{where}{field}"
        yield f"{name}: {value}" if name in BY_VALUE else name


def said_in_files() -> dict[str, set[str]]:
    """Every choice that some built-in file makes, with the groups of the files."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(DATA.glob("*.yaml")):
        for choice in _choices_in(path):
            found[choice].add(SAME.get(path.stem, path.stem))
    return found


def _choices_in(path: Path) -> Iterator[str]:
    document: Any = yaml.safe_load(path.read_text("utf-8"))
    for part in ("gateways", "delegation"):
        yield from choices_of(f"{part}.", document.get(part, {}))
    yield from choices_of("status.", document.get("status", {}))
    for kind in document["kinds"].values():
        yield from choices_of("", kind)
        yield from choices_of("status.", kind.get("status", {}))


def test_the_code_is_there_and_as_long_as_the_page_says() -> None:
    """`python -m tests.test_code_for_implementations` writes the numbers anew."""
    assert with_real_numbers() == PAGE.read_text("utf-8")


@pytest.mark.parametrize("row", rows(), ids=lambda row: ", ".join(row.choices))
def test_those_who_make_a_choice_are_named(row: Row) -> None:
    """All of them, for each choice of the row taken together, and the row names code."""
    found = said_in_files()
    assert set(row.groups) == {group for choice in row.choices for group in found[choice]}
    assert row.functions


def test_no_choice_of_one_implementation_is_left_out() -> None:
    """What one built-in file alone says is there because of one implementation."""
    alone = {choice for choice, groups in said_in_files().items() if len(groups) == 1} - NOT_CHOICES
    assert alone - {choice for row in rows() for choice in row.choices} == set()


def with_real_numbers() -> str:
    """The page with the numbers of lines as they are."""
    return FUNCTION.sub(lambda found: f"`{found[1]}` ({lines_of(found[1])})", PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(with_real_numbers(), "utf-8")
