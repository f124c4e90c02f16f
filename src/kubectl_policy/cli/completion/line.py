"""Command lines in kubectl's syntax: options and arguments, and a line that is being typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# The options, each with the commands that take it. Importing Typer would take a third of the time for a TAB.
OPTIONS_TABLE: Final = Path(__file__).with_name("options.tsv")


class KnownOption(NamedTuple):
    """An option of a command; a row of the table."""

    parameter: str
    names: Sequence[str]
    number: str  # of values: "flag", "once" or "repeatable"
    heading: str  # of its group in help
    metavar: str  # what the value is, or `[a|b]`
    help: str


class CommandLine(NamedTuple):
    """The words after the name of a command, the last of which is under the cursor."""

    command: str
    options: Sequence[KnownOption]  # all that the command takes
    values: Mapping[str, Sequence[str]]  # of options before the cursor, by the names of their parameters
    arguments: Sequence[str]  # before the cursor
    prefix: str  # the part before the cursor of the word or value under the cursor
    option: KnownOption | None  # whose value is under the cursor, if any is
    may_be_option: bool  # whether an option may be under the cursor

    def value(self, parameter: str) -> str:
        """Return the last value of a parameter, or ""."""
        return self.values[parameter][-1] if parameter in self.values else ""


def read_options(command: str) -> list[KnownOption]:
    """Return the options of a command."""
    rows = [line.split("\t") for line in OPTIONS_TABLE.read_text("utf-8").splitlines()]
    return [
        KnownOption(parameter, names.split(","), *details)
        for commands, parameter, names, *details in rows
        if command in commands.split(",")
    ]


def split_arguments(arguments: Iterable[str], takes_value: Mapping[str, bool]) -> Iterator[tuple[str, str | None]]:
    """Split arguments into options, each with its value or None, and other arguments, each as the value of "".

    kubectl's syntax is `--name=VALUE`, `--name VALUE`, `-nVALUE`, `-n=VALUE`, `-An VALUE`; after `--` there are no
    options. `takes_value` has the names of all options. Of unknown short options, the rest of the argument is the name.
    """
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            yield argument, None
            yield from (("", last) for last in remaining)
        elif argument == "-" or not argument.startswith("-"):
            yield "", argument
        elif argument.startswith("--"):
            name, equals, value = argument.partition("=")
            yield name, value if equals else next(remaining, None) if takes_value.get(name) else None
        else:
            letters = argument.removeprefix("-")
            while letters:
                name, letters = f"-{letters[0]}", letters[1:]
                if name not in takes_value:
                    yield name + letters, None
                elif takes_value[name] or letters.startswith("="):
                    yield name, letters.removeprefix("=") if letters else next(remaining, None)
                else:
                    yield name, None
                    continue
                break


def parse_line(command: str, typed: Sequence[str]) -> CommandLine:
    """Parse the words after the name of a command, as far as they are typed. Unknown options are ignored."""
    options = read_options(command)
    by_name = {name: option for option in options for name in option.names}
    takes_value = {name: option.number != "flag" for name, option in by_name.items()}
    values: dict[str, list[str]] = {}
    arguments: list[str] = []
    unfinished: KnownOption | None = None
    may_be_option = True
    *before, last = typed
    for name, value in split_arguments(before, takes_value):
        option = by_name.get(name)
        if name == "--":
            may_be_option = False
        elif not name:
            arguments.append(value or "")
        elif option and value is None and takes_value[name]:
            unfinished = option
        elif option:
            values.setdefault(option.parameter, []).append(value or "")
    name, equals, value = last.partition("=")
    if not unfinished and may_be_option and equals and name in by_name:
        unfinished, last = by_name[name], value
    return CommandLine(command, options, values, arguments, last, unfinished, may_be_option and not unfinished)
