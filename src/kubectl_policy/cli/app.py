"""The Typer app. A command is built when it is called; its options are read as kubectl reads them."""

from functools import cache
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.exceptions import TyperException

from kubectl_policy import __version__
from kubectl_policy.cli.syntax import ARGUMENTS, COMMANDS, HEADINGS, OTHER_OPTIONS, split_arguments
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typer._click import Context, HelpFormatter

# As Go's strconv.ParseBool, which kubectl uses for flags.
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
# In characters: the widest name of an option, beyond which its description starts on the next line.
_MAX_NAME: Final = 28
_WIDTH: Final = 78
# Rich help takes longer to import than most questions take to answer; completion follows kubectl's protocol.
_SETTINGS: Final[dict[str, Any]] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "add_completion": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class PolicyCommand(TyperCommand):
    """A command with kubectl's syntax for options, and help that shows options in groups."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Parse the arguments after the name of the command."""
        arguments, switched_off = split_values(self.params, args)
        remaining = super().parse_args(ctx, arguments)
        ctx.params.update(dict.fromkeys(switched_off, False))
        return remaining

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the options to help, each under the heading of its group."""
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for parameter in self.get_params(ctx):
            default = OTHER_OPTIONS if isinstance(parameter, TyperOption) else ARGUMENTS
            record = parameter.get_help_record(ctx)
            if record:
                groups[getattr(parameter, "rich_help_panel", None) or default].append(record)
        write_groups(formatter, groups)


class PolicyGroup(TyperGroup):
    """All commands, each of which is built when it is called."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 (Typer's own, handed on)
        """Know the names of all commands: what stands for them here is never called."""
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name) for name in COMMANDS}

    def get_command(self, ctx: "Context", cmd_name: str) -> TyperCommand | None:
        """Build the command of that name, if there is one."""
        del ctx
        return build_command(cmd_name) if cmd_name in self.commands else None

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the commands to help, each under the heading of its group."""
        del ctx
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, entry in COMMANDS.items():
            groups.setdefault(entry.panel, []).append((name, entry.summary))
        write_groups(formatter, groups)


def write_groups(formatter: "HelpFormatter", groups: "Mapping[str, Sequence[tuple[str, str]]]") -> None:
    """Write groups of rows, each a name and a description; all descriptions start in the same column."""
    width = max(len(name) for rows in groups.values() for name, _ in rows if len(name) <= _MAX_NAME)
    for heading, rows in groups.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), description) for name, description in rows], col_max=width)


def split_values(parameters: "Iterable[object]", arguments: "Iterable[str]") -> tuple[list[str], set[str]]:
    """Rewrite `--flag=false`, `-A=true` and `-o=json`, which kubectl takes, for Click, which does not.

    Return the arguments for Click, and the names of the parameters whose flags are false. Raise `UsageError` for a flag
    with a value that is not a boolean.
    """
    options = {name: option for option in parameters if isinstance(option, TyperOption) for name in all_names(option)}
    takes_value = {name: not option.is_flag for name, option in options.items()}
    rewritten: list[str] = []
    switched_off: set[str] = set()
    for name, value in split_arguments(arguments, takes_value):
        option = options.get(name)
        if not name:
            rewritten.append(value or "")
        elif option is None:
            rewritten.append(name if value is None else f"{name}={value}")
        elif takes_value[name]:
            rewritten += [name] if value is None else [name, value]
        elif value is None or _boolean(name, value):
            rewritten.append(name)
            switched_off.discard(option.name or "")
        elif name in option.secondary_opts:
            rewritten.append(option.opts[0])
            switched_off.discard(option.name or "")
        else:
            switched_off.add(option.name or "")
    return rewritten, switched_off


def all_names(option: TyperOption) -> list[str]:
    """Return the names of an option, those that switch it off at the end: `--render`, `--no-render`."""
    return [*option.opts, *option.secondary_opts]


def _boolean(name: str, value: str) -> bool:
    if value not in _BOOLEANS:
        raise UsageError(f"invalid value for '{name}': '{value}' is not a boolean", f"write {name} or {name}=false")
    return _BOOLEANS[value]


def kubectl_policy(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,  # noqa: FBT002 (Typer makes a flag of it)
) -> None:
    """Show which Gateway API policies affect an object, what each field is set to, and by which policy.

    Commands ask the cluster of the current context, as kubectl does, or read manifests (--offline). They never change
    anything. To start, list the policies with `get policies -A`, and describe a route that matters to you.

    \b
    Examples:
      kubectl policy get policies -A
      kubectl policy describe httproute/baker -n baker
      kubectl policy lint manifests/
    """
    if version:
        typer.echo(f"kubectl-policy {__version__}")
        raise typer.Exit
    if not context.invoked_subcommand:
        typer.echo(context.get_help())


@cache
def build_command(name: str) -> TyperCommand:
    """Import and build a command, one of `COMMANDS`."""
    module = import_module(f"kubectl_policy.cli.commands.{COMMANDS[name].module}")
    single = typer.Typer(**_SETTINGS)
    single.command(name, cls=PolicyCommand)(getattr(module, name.replace("-", "_")))
    command = cast("TyperCommand", typer.main.get_command(single))
    hidden = ["/".join(option.opts) for option in command.params if getattr(option, "hidden", False)]
    if hidden:
        epilog = f"Connection options of kubectl work as well: {', '.join(hidden)}."
        # \b keeps the line breaks: Click would break lines within names.
        command.epilog = f"\b\n{fill(epilog, _WIDTH, break_on_hyphens=False)}"
    return command


@cache
def _build_group() -> TyperGroup:
    app = typer.Typer(cls=PolicyGroup, **_SETTINGS)
    app.callback(invoke_without_command=True)(kubectl_policy)
    return cast("TyperGroup", typer.main.get_command(app))


def run_app(arguments: "Sequence[str]", program: str) -> int:
    """Run the command that the arguments name, and return its exit code. Raise `UsageError` for wrong usage.

    `program` is how usage texts call the program.
    """
    try:
        code = _build_group().main(list(arguments), prog_name=program, standalone_mode=False)
    except TyperException as error:
        message = error.format_message().rstrip(".")
        named = arguments[0] if arguments and arguments[0] in COMMANDS else ""
        hint = f"{' '.join(filter(None, (program, named)))} --help lists what there is"
        raise UsageError(message[:1].lower() + message[1:], hint) from error
    return code if isinstance(code, int) else 0
