"""What may stand in place of the word under the cursor: a command, an option, its value, or what a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.cli import COMMANDS, command_named, summaries
from kubectl_policy.cli.completion.protocol import NOTHING, offered
from kubectl_policy.cli.completion.typed import typed
from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.cli.completion.protocol import Offer
    from kubectl_policy.cli.completion.typed import Typed
    from kubectl_policy.cli.parameters import Command

_HELP: Final = {"-h": "Show this message and exit.", "--help": "Show this message and exit."}
_OF_PROGRAM: Final = {"--version": "Print the version and exit.", **_HELP}


def complete(words: Sequence[str], deadline: float) -> Offer:
    """What may stand in place of the last one of the words after `kubectl policy`.

    Programs are asked until the deadline, by `time.monotonic`. Nothing is offered where the input cannot be read, or
    where the words before name something that is not there.
    """
    first, *rest = words or ("",)
    if not rest:
        return offered(_OF_PROGRAM.items() if first.startswith("-") else summaries().items(), to=first)
    if first not in COMMANDS:
        return NOTHING
    command = command_named(first)
    line = typed(command.parameters, rest)
    if not line.option and line.may_be_option and line.completed.startswith("-"):
        return _options(command, line)
    # Options need none of what their values and words need.
    from kubectl_policy.cli.completion.values import value_of
    from kubectl_policy.cli.completion.words import word_of
    from kubectl_policy.cli.completion.world import World

    world = World(command.parameters, line, deadline)
    try:
        return value_of(line.option, line, world) if line.option else word_of(first, line, world)
    except PolicyError:
        return NOTHING


def _options(command: Command, line: Typed) -> Offer:
    """The options that may still be given."""
    left = (each for each in command.parameters if each.name not in line.given or each.type == list[str] | None)
    said = {name: each.declared.help for each in left for name in each.names}
    return offered((said | _HELP).items(), to=line.completed)
