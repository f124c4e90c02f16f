"""Complete the word under the cursor: a command, an option, the value of an option, or an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.completion.line import parse_line
from kubectl_policy.cli.completion.offer import NOTHING, offer
from kubectl_policy.cli.overview import COMMANDS
from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.cli.completion.line import CommandLine
    from kubectl_policy.cli.completion.offer import Offer

_HELP: Final = {"-h": "Show this message and exit.", "--help": "Show this message and exit."}
_PROGRAM_OPTIONS: Final = {"--version": "Print the version and exit.", **_HELP}


def complete(words: Sequence[str], deadline: float) -> Offer:
    """Return candidates for the last of the words after `kubectl policy`.

    Programs may run until the deadline, by `time.monotonic`. Nothing is offered if the input cannot be read, or if the
    words before the cursor name something that does not exist.
    """
    first, *rest = words or ("",)
    if not rest and first.startswith("-"):
        return offer(first, _PROGRAM_OPTIONS.items())
    if not rest:
        return offer(first, ((name, entry.summary) for name, entry in COMMANDS.items()))
    if first not in COMMANDS:
        return NOTHING
    line = parse_line(first, rest)
    if line.may_be_option and line.prefix.startswith("-"):
        return _offer_options(line)
    try:
        # To import these takes time that options do not need.
        from kubectl_policy.cli.completion.arguments import offer_argument
        from kubectl_policy.cli.completion.known import KnownInput
        from kubectl_policy.cli.completion.values import offer_value

        known = KnownInput(line, deadline)
        return offer_value(line.option, line, known) if line.option else offer_argument(line, known)
    except PolicyError:
        return NOTHING


def _offer_options(line: CommandLine) -> Offer:
    """Offer the options that may still be given."""
    descriptions = {
        name: option.help
        for option in line.options
        if option.number == "repeatable" or option.parameter not in line.values
        for name in option.names
    }
    return offer(line.prefix, (descriptions | _HELP).items())
