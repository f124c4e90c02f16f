"""Command lines that are not plain: typer says what they mean, what is wrong with them, and what help there is."""

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from kubectl_policy import __version__
from kubectl_policy.cli.parameters import Argument, Option
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.cli.parameters import Command, Parameter


def kubectl_policy(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,  # noqa: FBT002 (typer makes a flag of it)
) -> None:
    """Show which Gateway API policies affect an object, what each field is set to, and by which policy.

    Asks the cluster of the current context, as kubectl does, or reads manifests (--offline). It never changes anything.
    """
    if version:
        typer.echo(f"kubectl-policy {__version__}")
        raise typer.Exit
    if not context.invoked_subcommand:
        typer.echo(context.get_help())


def run(arguments: "Sequence[str]", program: str, commands: "Mapping[str, Command]", hint: str) -> int:
    """Run one of some commands and return its exit code; one alone is built with its options, several are listed.

    Raises `UsageError`, with a hint, for arguments that no command takes.
    """
    # Rich help would double the time to start; completion follows kubectl's protocol, not typer's.
    app = typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(kubectl_policy)
    for name, command in commands.items():
        app.command(name, help=command.help, epilog=_also(command))(
            _listed if len(commands) > 1 else _function(command)
        )
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name=program, standalone_mode=False)
    except TyperException as error:
        message = error.format_message().rstrip(".")
        raise UsageError(message[:1].lower() + message[1:], hint) from error
    return code if isinstance(code, int) else 0


def _also(command: "Command") -> str | None:
    """The options that help leaves out, as whoever knows kubectl knows them."""
    hidden = (each for each in command.parameters if isinstance(each.declared, Option) and each.declared.hidden)
    names = ", ".join("/".join(each.names) for each in hidden)
    return f"Also, as for kubectl: {names}." if names else None


def _listed() -> None:
    """Stand for a command that is only listed: to build one takes as long as a small question."""


def _function(command: "Command") -> "Callable[..., int]":
    """A command as typer takes it: a function with a signature."""

    def run(context: typer.Context, **given: object) -> int:
        return command.run(context.find_root().info_name or "", given)

    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [context, *map(_parameter, command.parameters)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(told: "Parameter") -> inspect.Parameter:
    declared = told.declared
    if isinstance(declared, Argument):
        made = typer.Argument(metavar=declared.metavar, help=declared.help)
    else:
        names, least = declared.names, declared.least
        made = typer.Option(
            *names,
            metavar=declared.metavar,
            help=declared.help,
            min=least,
            parser=declared.parser,
            hidden=declared.hidden,
        )
    # Its type is a variable here, as type checkers do not expect.
    annotated: Any = Annotated
    annotation = annotated[told.type, made]
    return inspect.Parameter(told.name, inspect.Parameter.KEYWORD_ONLY, default=told.default, annotation=annotation)
