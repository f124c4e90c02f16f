"""The decorator that adds the shared options to a command, and other options that several commands have."""

import inspect
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from kubectl_policy.cli.call import Call, answer
from kubectl_policy.cli.clusters.flags import ClusterFlags
from kubectl_policy.cli.overview import CHANGES, CLUSTER, EXIT_CODE, INPUT, MATRIX, OUTPUT, RULES, SELECTION
from kubectl_policy.errors import FOUND, INCOMPLETE, UsageError
from kubectl_policy.model.values import fields_of
from kubectl_policy.render.output.formats import TEMPLATES, Forms, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

# Shared options, by their names in `Call`, for commands that do without them.
TREE_OPTIONS: Final = ("default_namespace", "exclude", "cluster", "variables", "render")
CLUSTER_OPTIONS: Final = tuple(fields_of(ClusterFlags))
_SHARED: Final = {
    SELECTION: ("namespace",),
    INPUT: (
        "offline",
        "default_namespace",
        "exclude",
        "variables",
        "render",
        "complete",
        "assume_exists",
        "profiles",
        "setting",
    ),
    OUTPUT: ("output", "color", "watch"),
    CLUSTER: ("cluster", *CLUSTER_OPTIONS),
}
_OUTPUT_HELP: Final = "Output format; also jsonpath=TEMPLATE and custom-columns=HEADER:PATH,..."

# Options under a heading of help.
SelectionOption: Final = partial(typer.Option, rich_help_panel=SELECTION)
MatrixOption: Final = partial(typer.Option, rich_help_panel=MATRIX)
RuleOption: Final = partial(typer.Option, rich_help_panel=RULES)
ChangeOption: Final = partial(typer.Option, rich_help_panel=CHANGES)
InputOption: Final = partial(typer.Option, rich_help_panel=INPUT)
OutputOption: Final = partial(typer.Option, rich_help_panel=OUTPUT)
ExitCodeOption: Final = partial(typer.Option, rich_help_panel=EXIT_CODE)

AllowIncomplete: TypeAlias = Annotated[
    bool, ExitCodeOption("--allow-incomplete", help="Do not exit with 4 if relevant input could not be read.")
]
AllNamespaces: TypeAlias = Annotated[
    bool, SelectionOption("--all-namespaces", "-A", help="List objects in all namespaces.")
]
Selector: TypeAlias = Annotated[
    str, SelectionOption("--selector", "-l", metavar="QUERY", help="List objects with these labels, as in kubectl.")
]
PolicyKinds: TypeAlias = Annotated[
    list[str] | None, SelectionOption(metavar="KIND", help="Show only policies of this kind. Repeatable.")
]
Fields: TypeAlias = Annotated[
    list[str] | None,
    SelectionOption(
        metavar="FIELD", help="Show only fields with this prefix, e.g. timeout or jwt.providers. Repeatable."
    ),
]
AppliedFiles: TypeAlias = Annotated[
    list[str] | None,
    ChangeOption("--filename", "-f", metavar="PATH", help="Show what applying these manifests changes. Repeatable."),
]
DeletedObjects: TypeAlias = Annotated[
    list[str] | None, ChangeOption(metavar="TYPE/NAME", help="Show what deleting this object changes. Repeatable.")
]
Retargetings: TypeAlias = Annotated[
    list[str] | None,
    ChangeOption(
        metavar="POLICY=TARGET",
        help="Show what attaching a policy only to TYPE/NAME or TYPE/NAME#SECTION changes. Repeatable.",
    ),
]
ShowAll: TypeAlias = Annotated[bool, OutputOption("--show-all", help="Show long lists and values in full.")]


def shared_options(
    forms: Forms | None = None,
    *,
    without: "Collection[str]" = (),
    watches: bool = False,
    manifests: "Collection[str]" = (),
) -> "Callable[[Callable[..., int]], Callable[..., int]]":
    """Add the shared options, except those in `without`, to a command, which receives their values as a `Call`.

    `forms` name the formats of `--output`; a command without forms declares `--output` itself. `--watch` is added if
    the command `watches`. Parameters of the command that are `manifests` name files to read, as `--offline` does.
    """
    excluded = {*without, *(() if forms else ("output", "color")), *(() if watches else ("watch",))}
    shared = [_parameter(name, heading, forms) for heading, names in _SHARED.items() for name in names]
    shared = [parameter for parameter in shared if parameter.name not in excluded]

    def decorate(function: "Callable[..., int]") -> "Callable[..., int]":
        def command(context: typer.Context, **values: Any) -> int:  # noqa: ANN401 (of any option)
            # An empty option, as in `-n "$UNSET"`, counts as left out: so does kubectl.
            options = {parameter.name: values.pop(parameter.name) for parameter in shared}
            options = {name: value for name, value in options.items() if value}
            if forms and "output" not in options:
                options["output"] = _default_format(forms)
            # Always a list: the garbage collector follows no Struct of texts alone, and a call keeps its cluster.
            options["offline"] = [*options.get("offline", ())]
            for name in manifests:
                options["offline"] += values.pop(name) or ()
            call = Call(program=context.find_root().info_name or "", **options)
            return answer(call, lambda call: function(call, **values))

        # Typer reads the signature. All parameters are passed by name; arguments come first in help in any case.
        context, *parameters = inspect.signature(function).parameters.values()
        parameters = [context.replace(name="context", annotation=typer.Context), *parameters, *shared]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # an attribute of any function
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _parameter(name: str, heading: str, forms: Forms | None) -> inspect.Parameter:
    """Return the parameter for a shared option: for `--output`, with the formats that the forms name."""
    annotation: Any = {**ClusterFlags.__annotations__, **Call.__annotations__}[name]
    default = fields_of(Call)[name].default
    if name == "output" and forms:
        formats = f"[{'|'.join(forms.formats)}]"
        option = typer.Option("--output", "-o", metavar=formats, help=_OUTPUT_HELP, parser=_output_parser(forms))
        annotation, default = Annotated[str, option], "" if forms.redirected else forms.formats[0]
    annotation.__metadata__[0].rich_help_panel = heading
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _default_format(forms: Forms) -> str:
    """Return the format of an answer for which the user chose none."""
    from kubectl_policy.cli.terminal import is_terminal

    return forms.redirected if forms.redirected and not is_terminal() else forms.formats[0]


def _output_parser(forms: Forms) -> "Callable[[str], str]":
    """Return a parser of `--output` that raises `UsageError` for a format in which the answer is not offered."""

    def parse(name: str) -> str:
        kind, is_template, _ = name.partition("=")
        if is_template and kind in TEMPLATES:
            format_of(name)
        elif name and name not in forms.formats:
            formats = (*forms.formats, *(f"{template}=..." for template in TEMPLATES))
            quoted = ", ".join(f"'{known}'" for known in formats)
            problem = f"invalid value for '--output' / '-o': '{name}' is not one of {quoted}"
            raise UsageError(problem, "for example: -o json")
        return name

    return parse


def exit_code(*, differs: bool, incomplete: bool) -> int:
    """Return 4 if unread input makes the answer uncertain, else 1 if anything differs, else 0."""
    if incomplete:
        return INCOMPLETE
    return FOUND if differs else 0
