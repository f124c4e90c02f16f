"""The commands and what they have in common; importing this is all that `--help` needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from kubectl_policy import __version__
from kubectl_policy.cli.describe import describe
from kubectl_policy.cli.explain import explain
from kubectl_policy.cli.get import get
from kubectl_policy.cli.status import status
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Rich help would double the time to start; completion follows kubectl's protocol, not typer's.
app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (describe, explain, get, status)
for _command in _COMMANDS:
    app.command()(_command)


@app.callback(invoke_without_command=True)
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


def invoke(arguments: Sequence[str], program: str) -> int:
    """Run a command and return its exit code. Raises `UsageError` for arguments that no command takes."""
    command = typer.main.get_command(app)
    try:
        code = command.main(list(arguments), prog_name=program, standalone_mode=False)
    except TyperException as error:
        message = error.format_message().rstrip(".")
        named = "".join(f" {word}" for word in arguments[:1] if word in [command.__name__ for command in _COMMANDS])
        raise UsageError(message[:1].lower() + message[1:], f"{program}{named} --help lists what there is") from error
    return code if isinstance(code, int) else 0
