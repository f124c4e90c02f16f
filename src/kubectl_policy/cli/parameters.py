"""What commands take, declared once: for typer, and for reading what is plain without it.

To import typer, and to build a command with it, takes longer than to answer a small question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args, get_origin

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


# No parameter is called so.
_WORDS: Final = ""


class Argument:
    """What a command takes without a name: all words that belong to no option."""

    def __init__(self, *, metavar: str, help: str) -> None:  # noqa: A002 (as typer calls it)
        """Keep what help says of it."""
        self.metavar, self.help = metavar, help


class Option:
    """What a command takes by one of some names, or else by that of its parameter.

    `least` is for numbers. `parser` raises `UsageError` for a value that is not allowed.
    """

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 (as typer calls it)
        metavar: str | None = None,
        least: int | None = None,
        parser: Callable[[str], str] | None = None,
    ) -> None:
        """Keep what help says of it, and what is allowed."""
        self.names, self.help, self.metavar, self.least, self.parser = names, help, metavar, least, parser


class Parameter(NamedTuple):
    """A parameter of a command, under the name that a function has for it."""

    name: str
    type: Any
    declared: Argument | Option
    default: object = None

    @property
    def names(self) -> tuple[str, ...]:
        """What it is given by on a command line."""
        if isinstance(self.declared, Argument):
            return ()
        return self.declared.names or (f"--{self.name.replace('_', '-')}",)

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
        if get_origin(self.type) is Literal and last not in get_args(self.type):
            raise UsageError(f"{last} is no choice")
        return last


class Command(NamedTuple):
    """A command: what is said of it, what it takes, and how it is run: as which program, and with what is given."""

    help: str
    parameters: Sequence[Parameter]
    run: Callable[[str, dict[str, Any]], int]


def declared(annotations: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[Parameter]:
    """The parameters of which something is declared where they are annotated; words have no default."""
    told = {name: each for name, each in annotations.items() if hasattr(each, "__metadata__")}
    return [Parameter(name, each.__origin__, each.__metadata__[0], defaults.get(name)) for name, each in told.items()]


def read_plain(parameters: Sequence[Parameter], words: Iterable[str]) -> dict[str, object] | None:
    """What is given for each parameter, if every word is an option in full, the value of one, or an argument.

    None for anything else: what asks for help, several options in one word, and all that is wrong.
    """
    named = {name: parameter for parameter in parameters for name in parameter.names}
    given: dict[str, list[str]] = {}
    remaining = iter(words)
    for word in remaining:
        name, equals, after = word.partition("=")
        option = named.get(name)
        if option is None:
            if word.startswith("-") and word != "-":
                return None
            given.setdefault(_WORDS, []).append(word)
            continue
        # What a number may be, typer knows.
        if option.type is int or (equals and (option.type is bool or not name.startswith("--"))):
            return None
        value = after if equals or option.type is bool else next(remaining, None)
        if value is None:
            return None
        given.setdefault(option.name, []).append(value)
    try:
        return {each.name: each.meant(given.get(each.name if each.names else _WORDS, ())) for each in parameters}
    except UsageError:
        return None
