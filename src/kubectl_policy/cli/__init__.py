"""The command line: which commands there are, and how one is run; only what a call can mean is built."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.exceptions import TyperException

from kubectl_policy import __version__
from kubectl_policy.errors import INTERRUPTED, PolicyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each is a function of the same name, with `_` for `-`, in one of our modules.
COMMANDS: Final = {
    "blast-radius": "changes",
    "describe": "describe",
    "diff": "changes",
    "explain": "explain",
    "get": "get",
    "history": "history",
    "status": "status",
    "why-not": "why_not",
}


def kubectl_policy(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,  # noqa: FBT002 (typer makes a flag of it)
) -> None:
    """Show which Gateway API policies affect an object, what each field is set to, and by which policy.

    Reads manifests, never changes anything, and needs no cluster.
    """
    if version:
        typer.echo(f"kubectl-policy {__version__}")
        raise typer.Exit
    if not context.invoked_subcommand:
        typer.echo(context.get_help())


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
    """How the user called the program: kubectl runs `kubectl-a-b_c` for `kubectl a b-c`."""
    name = os.path.basename(argv0).removesuffix(".exe")  # noqa: PTH119 (pathlib costs a fifth of the time to start)
    if not name.startswith("kubectl-"):
        return "python -m kubectl_policy" if name == "__main__.py" else name
    return name.replace("-", " ").replace("_", "-")


# More than any path, name or selector that is meant: each is looked for, compared and shown as it is.
_LONGEST: Final = 16_384


def invoke(arguments: Sequence[str], program: str) -> int:
    """Run a command and return its exit code. Raises `UsageError` for arguments that no command takes."""
    longest = max(map(len, arguments), default=0)
    if longest > _LONGEST:
        raise UsageError(f"an argument has {longest:,} characters", f"no more than {_LONGEST:,} are read")
    named = [arguments[0]] if arguments and arguments[0] in COMMANDS else []
    command = typer.main.get_command(_app(*named))
    try:
        code = command.main(list(arguments), prog_name=program, standalone_mode=False)
    except TyperException as error:
        message = error.format_message().rstrip(".")
        hint = f"{' '.join([program, *named])} --help lists what there is"
        raise UsageError(message[:1].lower() + message[1:], hint) from error
    return code if isinstance(code, int) else 0


def _app(named: str = "") -> typer.Typer:
    """An application with one command or, if none is named, with what is said of each in the list of commands.

    To build a command with its options takes as long as a small question.
    """
    # Rich help would double the time to start; completion follows kubectl's protocol, not typer's.
    app = typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(kubectl_policy)
    for name in [named] if named else COMMANDS:
        module = import_module(f"kubectl_policy.cli.{COMMANDS[name]}")
        function = getattr(module, name.replace("-", "_"))
        app.command(name, help=function.__doc__)(function if named else _listed)
    return app


def _listed() -> None:
    """Stand for a command that is only listed."""
