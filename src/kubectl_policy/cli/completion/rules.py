"""What the rules of `lint` are called and what they find, in a table: to import them takes longer than a TAB may."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.lint.rule import Rule

TABLE: Final = Path(__file__).with_name("rules.tsv")


def called() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The ids of all rules, and their names, with what each finds."""
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines()]
    return [(id_, f"{name}: {said}") for id_, name, said in rows], [(name, said) for _, name, said in rows]


def table(rules: Iterable[Rule]) -> str:
    """The text of the table of some rules."""
    return "".join(f"{rule.id}\t{rule.name}\t{rule.summary}\n" for rule in rules)
