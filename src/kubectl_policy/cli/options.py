"""Options that several commands have, and the values of those that almost all commands have."""

from functools import partial
from typing import Annotated, Final, Literal, TypeAlias

import typer

from kubectl_policy.cli.clusters.flags import ClusterFlags
from kubectl_policy.cli.overview import CHANGES, CLUSTER, EXIT_CODE, INPUT, MATRIX, OUTPUT, RULES, SELECTION
from kubectl_policy.errors import FOUND, INCOMPLETE

DEFAULT_NAMESPACE: Final = "default"
# Shared options, by their names in `SharedOptions`, for commands that do without them.
TREE_OPTIONS: Final = ("default_namespace", "exclude", "cluster", "variables", "render")
CLUSTER_OPTIONS: Final = ClusterFlags.__struct_fields__

# Options under a heading of help.
SelectionOption: Final = partial(typer.Option, rich_help_panel=SELECTION)
MatrixOption: Final = partial(typer.Option, rich_help_panel=MATRIX)
RuleOption: Final = partial(typer.Option, rich_help_panel=RULES)
ChangeOption: Final = partial(typer.Option, rich_help_panel=CHANGES)
InputOption: Final = partial(typer.Option, rich_help_panel=INPUT)
OutputOption: Final = partial(typer.Option, rich_help_panel=OUTPUT)
ExitCodeOption: Final = partial(typer.Option, rich_help_panel=EXIT_CODE)
ClusterOption: Final = partial(typer.Option, rich_help_panel=CLUSTER)

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
    ChangeOption("--filename", "-f", metavar="PATH", help="Assume that these manifests are applied. Repeatable."),
]
DeletedObjects: TypeAlias = Annotated[
    list[str] | None, ChangeOption(metavar="TYPE/NAME", help="Assume that this object is deleted. Repeatable.")
]
Retargetings: TypeAlias = Annotated[
    list[str] | None,
    ChangeOption(
        metavar="POLICY=TARGET",
        help="Assume that a policy targets only TYPE/NAME or TYPE/NAME#SECTION. Repeatable.",
    ),
]
ShowAll: TypeAlias = Annotated[bool, OutputOption("--show-all", help="Show long lists and values in full.")]


class SharedOptions(ClusterFlags, frozen=True, kw_only=True):
    """The values of the options that almost all commands have."""

    namespace: Annotated[
        str, SelectionOption("--namespace", "-n", metavar="NAME", help="Namespace of the objects.")
    ] = ""
    offline: Annotated[
        list[str] | None,
        InputOption(
            metavar="PATH",
            help="Read manifests from a file, directory, glob, archive or - (standard input). Repeatable.",
        ),
    ] = None
    default_namespace: Annotated[
        str, InputOption(metavar="NAME", help="Namespace of manifests that do not set one.")
    ] = DEFAULT_NAMESPACE
    exclude: Annotated[
        list[str] | None,
        InputOption(metavar="PATTERN", help="Ignore files and directories, as .gitignore does. Repeatable."),
    ] = None
    variables: Annotated[
        list[str] | None,
        InputOption("--set", metavar="VARIABLE=VALUE", help="Replace ${VARIABLE} in manifests. Repeatable."),
    ] = None
    render: Annotated[
        bool, InputOption("--render", help="Render Kustomize, Flux, Argo CD and Helm with their own programs.")
    ] = False
    complete: Annotated[
        bool, InputOption("--complete", help="Assume that objects missing from the input do not exist.")
    ] = False
    assume_exists: Annotated[
        list[str] | None,
        InputOption(
            metavar="KIND[/NAME]",
            help="Assume that an object, or all objects of a kind, exist although the input lacks them. Repeatable.",
        ),
    ] = None
    profiles: Annotated[
        list[str] | None,
        InputOption(
            metavar="PATH", help="Load policy kind profiles from a file or directory. Repeatable; the last one wins."
        ),
    ] = None
    setting: Annotated[
        list[str] | None,
        InputOption(metavar="NAME=VALUE", help="Set a controller setting that a profile declares. Repeatable."),
    ] = None
    output: Annotated[str, OutputOption("--output", "-o", help="Output format.")] = "tree"
    color: Annotated[Literal["auto", "always", "never"], OutputOption(help="Color trees and tables.")] = "auto"
    watch: Annotated[
        bool, OutputOption("--watch", "-w", help="Show the answer again each time it changes in the cluster.")
    ] = False
    cluster: Annotated[
        str,
        ClusterOption(
            metavar="NAME",
            help="Cluster of the kubeconfig to use; with --offline, the cluster whose part of the repository to read.",
        ),
    ] = ""


def exit_code(*, differs: bool, incomplete: bool) -> int:
    """Return 4 if unread input makes the answer uncertain, else 1 if anything differs, else 0."""
    if incomplete:
        return INCOMPLETE
    return FOUND if differs else 0
