"""What has been typed of a command line: which command, its options so far, and what is under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_policy.cli.parameters import Parameter


class Typed(NamedTuple):
    """The words after the name of a command, the last of which is under the cursor.

    `given` has the values of options before it, by the names of their parameters, and `words` what belongs to no
    option. What is `completed` is a value of `option`; without one, a word or, if it `may_be_option`, the name of one.
    """

    given: Mapping[str, Sequence[str]]
    words: Sequence[str]
    completed: str
    option: Parameter | None = None
    may_be_option: bool = True

    def last(self, *names: str) -> str:
        """The value of an option that was given last, by the names of its parameters, of which the first one counts."""
        return next((self.given[name][-1] for name in names if self.given.get(name)), "")


def typed(parameters: Sequence[Parameter], words: Sequence[str]) -> Typed:
    """What words mean to a command with some parameters, as `getopt` reads them; there is at least one word."""
    named = {name: parameter for parameter in parameters for name in parameter.names}
    given: dict[str, list[str]] = {}
    others: list[str] = []
    waiting: Parameter | None = None
    options = True
    *before, completed = words
    for word in before:
        if waiting:
            given.setdefault(waiting.name, []).append(word)
            waiting = None
        elif options and word == "--":
            options = False
        elif not options or not word.startswith("-") or word == "-":
            others.append(word)
        else:
            parameter, value = _option(named, word)
            if parameter and value is None and parameter.takes("="):
                waiting = parameter
            elif parameter:
                given.setdefault(parameter.name, []).append(value or "")
    if waiting:
        return Typed(given, others, completed, waiting)
    name, equals, value = completed.partition("=")
    if options and equals and name in named:
        return Typed(given, others, value, named[name])
    return Typed(given, others, completed, may_be_option=options)


def _option(named: Mapping[str, Parameter], word: str) -> tuple[Parameter | None, str | None]:
    """The option that a word gives, and its value if that is in the same word: of `-An`, the last one."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return named.get(name), value if equals else None
    for place, letter in enumerate(word[1:], 2):
        parameter = named.get(f"-{letter}")
        if parameter is None or parameter.takes("="):
            return parameter, word[place:] or None
    return named.get(f"-{word[-1]}"), None
