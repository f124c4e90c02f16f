"""The command line: which commands there are, and how one is run; only what a call can mean is built."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final

from kubectl_policy.cli.parameters import read_plain
from kubectl_policy.errors import INTERRUPTED, PolicyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.cli.parameters import Command

# Each is a command of the same name, with `_` for `-`, in one of our modules.
COMMANDS: Final = {
    "blast-radius": "changes",
    "completion": "itself",
    "describe": "describe",
    "diff": "changes",
    "explain": "explain",
    "get": "get",
    "graph": "graph",
    "history": "history",
    "lint": "linting.lint",
    "snapshot": "snapshot",
    "status": "status",
    "version": "itself",
    "why-not": "why_not",
}


def run(arguments: Sequence[str], program: str = "kubectl policy") -> int:
    """Run a command in this process and return its exit code; `program` is how usage texts call it."""
    try:
        return invoke(arguments, program)
    except PolicyError as error:
        from kubectl_policy.cli.terminal import complain

        complain(f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else []))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def program_name(argv0: str) -> str:
    """How the user called the program: kubectl runs `kubectl-a-b_c` for `kubectl a b-c`.

    A shell that runs it without kubectl says so: bash and zsh put the path of what they start into `$_`.
    """
    name = os.path.basename(argv0).removesuffix(".exe")  # noqa: PTH119 (pathlib costs a fifth of the time to start)
    if not name.startswith("kubectl-"):
        return "python -m kubectl_policy" if name == "__main__.py" else name
    if os.environ.get("_") == argv0:
        return name
    return name.replace("-", " ").replace("_", "-")


# More than any path, name or selector that is meant: each is looked for, compared and shown as it is.
_LONGEST: Final = 16_384


def invoke(arguments: Sequence[str], program: str) -> int:
    """Run a command and return its exit code. Raises `UsageError` for arguments that no command takes."""
    longest = max(map(len, arguments), default=0)
    if longest > _LONGEST:
        raise UsageError(f"an argument has {longest:,} characters", f"no more than {_LONGEST:,} are read")
    if list(arguments) in _FOR_HELP and _has_room(program):
        print(_HELP.format(program=program))  # noqa: T201 (the answer)
        return 0
    named = [arguments[0]] if arguments and arguments[0] in COMMANDS else []
    commands = {name: command_named(name) for name in named or COMMANDS}
    if named:
        command = commands[named[0]]
        given = read_plain(command.parameters, arguments[1:])
        if given is not None:
            return command.run(program, given)
    from kubectl_policy.cli import by_typer

    return by_typer.run(arguments, program, commands, f"{' '.join([program, *named])} --help lists what there is")


def command_named(name: str) -> Command:
    """The command of that name, one of `COMMANDS`."""
    command: Command = getattr(import_module(f"kubectl_policy.cli.{COMMANDS[name]}"), name.replace("-", "_"))
    return command


def summaries() -> dict[str, str]:
    """What help says of each command in a line."""
    lines = _HELP.partition("\nCommands:\n")[2].splitlines()
    return {name: said.lstrip() for name, _, said in (line.strip().partition(" ") for line in lines)}


_FOR_HELP: Final[Sequence[list[str]]] = ([], ["-h"], ["--help"])
# As typer lays it out where there is room, which takes longer than all else that is done for it.
_HELP: Final = """\
Usage: {program} [OPTIONS] COMMAND [ARGS]...

  Show which Gateway API policies affect an object, what each field is set to,
  and by which policy.

  Asks the cluster of the current context, as kubectl does, or reads manifests
  (--offline). It never changes anything.

Options:
  --version   Print the version and exit.
  -h, --help  Show this message and exit.

Commands:
  blast-radius  Show what deleting an object would change.
  completion    Print what makes a shell complete these commands.
  describe      Show what affects an object, or what a policy affects.
  diff          Compare two states by the effects of policies.
  explain       Say what a policy kind is: what its policies target and...
  get           List policies, policy kinds, or objects with the number...
  graph         Draw the hierarchy with its policies, to look at.
  history       Show how the settings in force on an object changed in git.
  lint          Find what is wrong with policies, routes and Gateways.
  snapshot      Write what questions need to know into one file.
  status        Compare what controllers reported with what is computed.
  version       Print the version.
  why-not       Say why a policy has no effect on an object."""
_WIDTH: Final = 80


def _has_room(program: str) -> bool:
    """Whether help is as wide as typer makes it at most, and its first line fits in."""
    import shutil

    return shutil.get_terminal_size().columns >= _WIDTH and len(program) < _WIDTH // 2
