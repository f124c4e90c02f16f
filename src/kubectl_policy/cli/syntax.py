"""kubectl's syntax of options: `--name=VALUE`, `--name VALUE`, `-nVALUE`, `-n=VALUE`, `-An VALUE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def options_in(argument: str, takes_value: Mapping[str, bool]) -> Iterator[tuple[str, str | None]]:
    """Find the options in a word, each with its value or None: `-A` and `-o` with `json` in `-Ao=json`.

    `takes_value` has the names of all options. An option that is not among them is found with the rest of the argument.
    """
    if argument.startswith("--"):
        name, equals, value = argument.partition("=")
        yield name, value if equals else None
        return
    letters = argument.removeprefix("-")
    while letters:
        name, rest = f"-{letters[0]}", letters[1:]
        if name not in takes_value:
            yield f"-{letters}", None
            return
        if takes_value[name] or rest.startswith("="):
            yield name, rest.removeprefix("=") if rest else None
            return
        yield name, None
        letters = rest
