"""A command line that is being typed: its options and arguments so far, and what is under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.cli.syntax import options_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The options, each with the commands that take it. Importing Typer would take a third of the time for a TAB.
OPTIONS_TABLE: Final = Path(__file__).with_name("options.tsv")


class KnownOption(NamedTuple):
    """An option of a command; a row of the table."""

    parameter: str
    names: Sequence[str]
    number: str  # of values: "flag", "once" or "repeatable"
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

    def value(self, *parameters: str) -> str:
        """Return the last value of the first parameter that has one, or ""."""
        return next((self.values[name][-1] for name in parameters if self.values.get(name)), "")


def read_options(command: str) -> list[KnownOption]:
    """Return the options of a command."""
    rows = [line.split("\t") for line in OPTIONS_TABLE.read_text("utf-8").splitlines()]
    return [
        KnownOption(parameter, names.split(","), *details)
        for commands, parameter, names, *details in rows
        if command in commands.split(",")
    ]


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
    for argument in before:
        if unfinished:
            values.setdefault(unfinished.parameter, []).append(argument)
            unfinished = None
        elif not may_be_option or argument == "-" or not argument.startswith("-"):
            arguments.append(argument)
        elif argument == "--":
            may_be_option = False
        else:
            for name, value in options_in(argument, takes_value):
                option = by_name.get(name)
                if option and value is None and takes_value[name]:
                    unfinished = option
                elif option:
                    values.setdefault(option.parameter, []).append(value or "")
    name, equals, value = last.partition("=")
    if not unfinished and may_be_option and equals and name in by_name:
        unfinished, last = by_name[name], value
    return CommandLine(command, options, values, arguments, last, unfinished, may_be_option and not unfinished)
