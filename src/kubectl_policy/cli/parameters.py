"""What commands take, declared once: for typer, and for reading what is plain without it.

To import typer, and to build a command with it, takes longer than to answer a small question.
"""

from __future__ import annotations

from getopt import GetoptError, gnu_getopt
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Argument:
    """What a command takes without a name: all words that belong to no option."""

    def __init__(self, *, metavar: str, help: str) -> None:  # noqa: A002 (as typer calls it)
        """Keep what help says of it."""
        self.metavar, self.help = metavar, help


class Option:
    """What a command takes by one of some names, or else by that of its parameter.

    `least` is for numbers. `parser` raises `UsageError` for a value that is not allowed. What is `hidden` is known to
    whoever knows kubectl, and is not in the help of each command.
    """

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 (as typer calls it)
        metavar: str | None = None,
        least: int | None = None,
        parser: Callable[[str], str] | None = None,
        hidden: bool = False,
    ) -> None:
        """Keep what help says of it, and what is allowed."""
        self.names, self.help, self.metavar, self.least, self.parser = names, help, metavar, least, parser
        self.hidden = hidden


class Parameter:
    """A parameter of a command, under the name that a function has for it."""

    def __init__(self, name: str, type_: Any, declared: Argument | Option, default: object) -> None:  # noqa: ANN401 (a type, or what stands for one)
        """Keep what is known of it."""
        self.name, self.type, self.declared, self.default = name, type_, declared, default

    @property
    def names(self) -> tuple[str, ...]:
        """What it is given by on a command line."""
        if isinstance(self.declared, Argument):
            return ()
        return self.declared.names or (f"--{self.name.replace('_', '-')}",)

    def takes(self, mark: str) -> str:
        """The mark for what takes a value, if it is none that is given by its name alone."""
        return "" if self.type is bool else mark

    def meant(self, given: Sequence[str]) -> object:
        """What is meant by all values that are given. Raises `UsageError` for the last one if it is not allowed."""
        if not given:
            return self.default
        if self.type is bool:
            return True
        if self.type == list[str] | None:
            return list(given)
        last = given[-1]
        if isinstance(self.declared, Option) and self.declared.parser:
            return self.declared.parser(last)
        # What a number may be, typer knows.
        if self.type is int or (get_origin(self.type) is Literal and last not in get_args(self.type)):
            raise UsageError(f"{last} may not be allowed")
        return last


class Command:
    """A command: what help says of it, what it takes, and how it is run: as which program, and with what is given."""

    def __init__(self, help_: str, parameters: Sequence[Parameter], run: Callable[[str, dict[str, Any]], int]) -> None:
        """Keep what is known of it."""
        self.help, self.parameters, self.run = help_, parameters, run


def declared(annotations: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[Parameter]:
    """The parameters of which something is declared where they are annotated; words have no default."""
    told = {name: each for name, each in annotations.items() if hasattr(each, "__metadata__")}
    return [Parameter(name, each.__origin__, each.__metadata__[0], defaults.get(name)) for name, each in told.items()]


def read_plain(parameters: Sequence[Parameter], words: Sequence[str]) -> dict[str, object] | None:
    """What is given for each parameter, as far as `getopt` and typer read words alike.

    None for anything else: what asks for help, names of options that are not in full, and all that is wrong.
    """
    named = {name: parameter for parameter in parameters for name in parameter.names}
    if any(word.startswith("--") and word.partition("=")[0] not in named for word in words):
        return None
    short = "".join(name[1:] + option.takes(":") for name, option in named.items() if not name.startswith("--"))
    long = [name[2:] + option.takes("=") for name, option in named.items() if name.startswith("--")]
    try:
        options, left = gnu_getopt(list(words), short, long)
        # With POSIXLY_CORRECT, what comes after an argument is none of the options.
        if any(word.startswith("-") and word != "-" for word in left):
            return None
        if left and all(parameter.names for parameter in parameters):
            return None
        given: dict[str, list[str]] = {}
        for name, value in options:
            given.setdefault(named[name].name, []).append(value)
        return {each.name: each.meant(given.get(each.name, ()) if each.names else left) for each in parameters}
    except (GetoptError, UsageError):
        return None
