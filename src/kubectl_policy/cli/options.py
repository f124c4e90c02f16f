"""Options that several commands have, and the values of those that almost all commands have."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import typer
from msgspec import Struct

from kubectl_policy.cli.syntax import CHANGES, CLUSTER, EXIT_CODE, INPUT, MATRIX, OUTPUT, RULES, SELECTION
from kubectl_policy.errors import FOUND, INCOMPLETE, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.sources.cluster.access import ClusterOptions

# A flag that help does not list: who needs it knows it from kubectl.
_KubectlFlag: Final = partial(typer.Option, hidden=True)


class ClusterFlags(Struct, frozen=True, kw_only=True):
    """The values of kubectl's flags about the cluster to ask."""

    kubeconfig: Annotated[str, typer.Option(metavar="FILE", help="Path to the kubeconfig file.")] = ""
    contexts: Annotated[
        list[str] | None,
        typer.Option("--context", metavar="NAME", help="Context of the kubeconfig. Repeatable: asks several clusters."),
    ] = None
    all_contexts: Annotated[
        bool, typer.Option("--all-contexts", help="Ask the clusters of all contexts in the kubeconfig.")
    ] = False
    user: Annotated[str, _KubectlFlag(metavar="NAME", help="User of the kubeconfig to use.")] = ""
    server: Annotated[
        str, _KubectlFlag("--server", "-s", metavar="URL", help="Address and port of the API server.")
    ] = ""
    token: Annotated[str, _KubectlFlag(metavar="TOKEN", help="Bearer token for the API server.")] = ""
    as_: Annotated[str, _KubectlFlag("--as", metavar="USER", help="User to impersonate.")] = ""
    as_group: Annotated[list[str] | None, _KubectlFlag(metavar="GROUP", help="Group to impersonate. Repeatable.")] = (
        None
    )
    as_uid: Annotated[str, _KubectlFlag(metavar="UID", help="UID to impersonate.")] = ""
    as_extra: Annotated[
        list[str] | None,
        _KubectlFlag(
            "--as-user-extra", metavar="KEY=VALUE", help="Extra attribute of the impersonated user. Repeatable."
        ),
    ] = None
    certificate_authority: Annotated[
        str, _KubectlFlag(metavar="FILE", help="Path to the certificate of the certificate authority.")
    ] = ""
    client_certificate: Annotated[str, _KubectlFlag(metavar="FILE", help="Path to a client certificate for TLS.")] = ""
    client_key: Annotated[str, _KubectlFlag(metavar="FILE", help="Path to the key of the client certificate.")] = ""
    insecure_skip_tls_verify: Annotated[
        bool,
        _KubectlFlag(
            "--insecure-skip-tls-verify",
            help="Do not verify the certificate of the server. This makes the connection insecure.",
        ),
    ] = False
    tls_server_name: Annotated[
        str, _KubectlFlag(metavar="NAME", help="Name to expect in the certificate of the server.")
    ] = ""
    disable_compression: Annotated[
        bool, _KubectlFlag("--disable-compression", help="Request uncompressed responses.")
    ] = False
    timeout: Annotated[
        str,
        _KubectlFlag(
            "--request-timeout",
            metavar="TIME",
            help="Time limit for all requests of a command, such as 10s or 1m; 0 means no limit.",
        ),
    ] = "30s"
    cache_dir: Annotated[
        str, _KubectlFlag(metavar="FOLDER", help="Directory in which the kinds of a cluster are cached.")
    ] = ""
    chunk_size: Annotated[
        int,
        _KubectlFlag(metavar="NUMBER", min=0, help="Request long lists in parts of this size; 0 means in one request."),
    ] = 0

    @property
    def asks_several(self) -> bool:
        """Whether several clusters may be asked, so that answers say which one gave them."""
        return self.all_contexts or len({*(self.contexts or ())}) > 1

    def contexts_of(self, cluster: str) -> "Sequence[str]":
        """Return the contexts of the clusters that are asked.

        Raises `UsageError` for --context beside --all-contexts, and `ClusterError` as `contexts` of a kubeconfig does.
        """
        if not self.all_contexts:
            return list(dict.fromkeys(self.contexts or ()))
        if self.contexts:
            raise UsageError("--all-contexts is every --context there is", "leave out one of the two")
        from kubectl_policy.sources.cluster.access import contexts

        return contexts(self.cluster_options(cluster))

    def cluster_options(self, cluster: str) -> "ClusterOptions":
        """Return how the cluster is reached. Raises `UsageError` for a text that is no time, or no KEY=VALUE."""
        from msgspec import convert

        from kubectl_policy.sources.cluster.access import ClusterOptions

        extra: dict[str, tuple[str, ...]] = {}
        for text in self.as_extra or ():
            key, equals, value = text.partition("=")
            if not (key and equals):
                raise UsageError(f'"{text}" is not KEY=VALUE', "write --as-user-extra team=bakers")
            extra[key] = (*extra.get(key, ()), value)
        # Most flags are called as the options are.
        options = {name: flag for name in ClusterOptions.__struct_fields__ if (flag := getattr(self, name, None))}
        context = next(iter(self.contexts or ()), "")
        options |= {"context": context, "cluster": cluster, "as_user_extra": extra}
        return convert({**options, "request_timeout": seconds(self.timeout)}, ClusterOptions)


def seconds(text: str) -> float:
    """Return the seconds in `30`, `10s` or `1m30s`, as kubectl reads them. Raises `UsageError` for anything else."""
    import durationpy

    try:
        duration = float(text) if text.isdecimal() else durationpy.from_str(text).total_seconds()
    except (durationpy.DurationError, ValueError, OverflowError):
        duration = -1.0
    if duration < 0 or not text.isascii():
        raise UsageError(f'"{text}" is not a time', "write --request-timeout 30s, 1m or, for any time, 0")
    return duration


DEFAULT_NAMESPACE: Final = "default"
# Shared options, by their names in `SharedOptions`, for commands that do without them.
TREE_OPTIONS: Final = ("default_namespace", "exclude", "cluster", "variables", "render", "allow_network")
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
FieldSelector: TypeAlias = Annotated[
    str,
    SelectionOption(
        "--field-selector", metavar="QUERY", help="List objects with these fields, as in kubectl: metadata.name=web."
    ),
]
NamedFiles: TypeAlias = Annotated[
    list[str] | None,
    SelectionOption(
        "--filename", "-f", metavar="PATH", help="Show the objects that these manifests contain. Repeatable."
    ),
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
        metavar="POLICY=TARGET", help="Assume that a policy targets only TYPE/NAME or TYPE/NAME#SECTION. Repeatable."
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
            help="Read manifests: a file, directory, glob, archive, REV:PATH in git or - (standard input). Repeatable.",
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
        bool | None,
        InputOption(
            "--render/--no-render",
            help="Render Kustomize, Flux, Argo CD and Helm with their own programs. Default: where they are installed.",
        ),
    ] = None
    allow_network: Annotated[
        bool, InputOption("--allow-network", help="Allow the programs that render to fetch charts and manifests.")
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


def exit_code(*, differs: bool = False, incomplete: bool) -> int:
    """Return 4 if unread input makes the answer uncertain, else 1 if anything differs, else 0."""
    if incomplete:
        return INCOMPLETE
    return FOUND if differs else 0
