"""Syntax of the command line: tables of commands and options, and parsers of what users type, without Typer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


# The headings under which help lists options, in this order.
ARGUMENTS: Final = "Arguments"
SELECTION: Final = "Selection"
MATRIX: Final = "With effective"
RULES: Final = "Rules"
CHANGES: Final = "Changes"
INPUT: Final = "Input"
OUTPUT: Final = "Output"
EXIT_CODE: Final = "Exit code"
CLUSTER: Final = "Cluster"
OTHER_OPTIONS: Final = "Other options"
HEADINGS: Final = (ARGUMENTS, SELECTION, MATRIX, RULES, CHANGES, INPUT, OUTPUT, EXIT_CODE, CLUSTER, OTHER_OPTIONS)


class CommandEntry(NamedTuple):
    """A command: its module, and its row in the list of commands."""

    module: str  # in `commands`; the function has the name of the command, with `_` for `-`
    summary: str  # the first line of its docstring
    panel: str  # the heading of its group


_QUESTIONS: Final = "Ask about policies and the objects that they affect"
_CHECKS: Final = "Check manifests, clusters and changes"
_HELPERS: Final = "Other commands"

# In the order in which help lists them. Completion reads this table without importing any command.
COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "describe": CommandEntry("describe", "Show what affects an object, or what a policy affects.", _QUESTIONS),
    "get": CommandEntry("get", "List policies, policy kinds, or objects that policies affect.", _QUESTIONS),
    "explain": CommandEntry("explain", "Explain a policy kind and how its policies combine.", _QUESTIONS),
    "why-not": CommandEntry("why_not", "Explain why a policy has no effect, or a connection is denied.", _QUESTIONS),
    "graph": CommandEntry("graph", "Draw Gateways, routes and backends with their policies.", _QUESTIONS),
    "lint": CommandEntry("lint", "Find problems in policies, routes and Gateways.", _CHECKS),
    "diff": CommandEntry("changes", "Compare the effects of policies in two states.", _CHECKS),
    "blast-radius": CommandEntry("changes", "Show what deleting an object would change.", _CHECKS),
    "status": CommandEntry("status", "Compare reported conditions with computed ones.", _CHECKS),
    "history": CommandEntry("history", "Show how settings of an object changed in git.", _CHECKS),
    "snapshot": CommandEntry("snapshot", "Save the cluster state to a file for offline use.", _HELPERS),
    "completion": CommandEntry("version", "Generate a shell completion script.", _HELPERS),
    "version": CommandEntry("version", "Print the version.", _HELPERS),
}


PAIR_FORM: Final = "why-not takes a policy and an object, or two ends of a connection, each as TYPE/NAME or TYPE NAME"
PAIR_EXAMPLE: Final = "for example: why-not retrypolicy/own httproute/menu, or why-not pod/web svc/cart --port 80"
# The characters of IP addresses. No type begins with a digit, nor does it have a colon.
_ADDRESS_LETTERS: Final = frozenset("0123456789abcdefABCDEF.:")

# The options, each with the commands that take it. Importing Typer would take a third of the time for a TAB.
OPTIONS_TABLE: Final = Path(__file__).parent / "completion" / "options.tsv"


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


def split_objects(command: str, arguments: Sequence[str], *, single: bool = False) -> list[tuple[str, str]]:
    """Split `TYPE/NAME...` or `TYPE NAME...` into types and names.

    A name can have a namespace, `shop/cart`; of `TYPE` it is "", for an error that lists names. Raise `UsageError` for
    another form, and for several objects where a `single` one is expected.
    """
    pairs = _split(arguments)
    if not pairs or (single and len(pairs) > 1):
        form = "one object, as TYPE/NAME or TYPE NAME" if single else "TYPE/NAME... or TYPE NAME..."
        raise UsageError(f"{command} takes {form}", f"for example: {command} httproute/NAME")
    return pairs


def split_pair(arguments: Sequence[str]) -> tuple[list[tuple[str, str]], str]:
    """Split two objects, each as `TYPE/NAME` or `TYPE NAME`, into types and names; also return a type without a name.

    An IP address has the type "". Of arguments that are still being typed, there are fewer than two objects. Raise
    `UsageError` for another form.
    """
    pairs: list[tuple[str, str]] = []
    type_name = ""
    for argument in arguments:
        is_address = not type_name and _may_be_address(argument)
        if not type_name and "/" not in argument and not is_address:
            type_name = argument
            continue
        pair = ("", argument) if is_address else type_and_name(f"{type_name}/{argument}" if type_name else argument)
        if not pair or len(pairs) > 1:
            raise UsageError(PAIR_FORM, PAIR_EXAMPLE)
        pairs.append(pair)
        type_name = ""
    return pairs, type_name


def _may_be_address(argument: str) -> bool:
    """Whether an argument is an IP address, as far as its characters say."""
    is_address = argument[:1].isdecimal() or ":" in argument
    return is_address and _ADDRESS_LETTERS.issuperset(argument)


def split_types(command: str, arguments: Sequence[str], example: str) -> list[tuple[str, tuple[str, ...]]]:
    """Split `TYPE[,TYPE...]`, `TYPE[,TYPE...] NAME...` or `TYPE/NAME...` into types, each with its names.

    Raise `UsageError` for another form.
    """
    names: dict[str, list[str]] = {}
    for types, name in _split(arguments):
        for type_ in [types] if "/" in arguments[0] else dict.fromkeys(types.split(",")):
            names.setdefault(type_, []).extend([name] if name else [])
    if not names or not all(names) or any("," in type_ for type_ in names):
        raise UsageError(f"{command} takes TYPE, TYPE NAME... or TYPE/NAME...", example)
    return [(type_, tuple(of_type)) for type_, of_type in names.items()]


def _split(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Split `TYPE/NAME...` or `TYPE [NAME...]` into types and names; return nothing for another form."""
    first, *names = arguments or ("",)
    qualified = arguments if "/" in first else [f"{first}/{name}" for name in names]
    pairs = [pair for argument in qualified if (pair := type_and_name(argument))]
    return pairs or [(first, "")] if first and len(pairs) == len(qualified) else []


def type_and_name(argument: str) -> tuple[str, str] | None:
    """Split `TYPE/NAME` or `TYPE/NAMESPACE/NAME` into type and name; return None for another form."""
    first, *rest = argument.split("/")
    return (first, "/".join(rest)) if first and all(rest) and len(rest) in {1, 2} else None
