"""kubectl's flags about the cluster to ask, declared once for all commands."""

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.errors import UsageError
from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.sources.cluster.options import ClusterOptions


@value(kw_only=True)
class ClusterFlags:
    """What kubectl's flags say about the cluster that is asked where no manifests are read; each is a field."""

    kubeconfig: Annotated[str, typer.Option(metavar="FILE", help="Path to the kubeconfig file.")] = ""
    contexts: Annotated[
        list[str] | None,
        typer.Option("--context", metavar="NAME", help="Context of the kubeconfig. Repeatable: asks several clusters."),
    ] = None
    all_contexts: Annotated[
        bool, typer.Option("--all-contexts", help="Ask the clusters of all contexts in the kubeconfig.")
    ] = False
    user: Annotated[str, typer.Option(metavar="NAME", help="The user of the kubeconfig to be.", hidden=True)] = ""
    server: Annotated[
        str, typer.Option("--server", "-s", metavar="URL", help="The API server to ask.", hidden=True)
    ] = ""
    token: Annotated[str, typer.Option(metavar="TOKEN", help="Bearer token for the API server.", hidden=True)] = ""
    impersonated: Annotated[str, typer.Option("--as", metavar="USER", help="Ask as another user.", hidden=True)] = ""
    impersonated_groups: Annotated[
        list[str] | None,
        typer.Option("--as-group", metavar="GROUP", help="Ask as a member of a group. Repeatable.", hidden=True),
    ] = None
    impersonated_uid: Annotated[
        str, typer.Option("--as-uid", metavar="UID", help="Ask with a user's UID.", hidden=True)
    ] = ""
    impersonated_extra: Annotated[
        list[str] | None,
        typer.Option(
            "--as-user-extra",
            metavar="KEY=VALUE",
            help="Ask with more that is said of a user. Repeatable.",
            hidden=True,
        ),
    ] = None
    certificate_authority: Annotated[
        str, typer.Option(metavar="FILE", help="Certificate of the authority to trust.", hidden=True)
    ] = ""
    client_certificate: Annotated[
        str, typer.Option(metavar="FILE", help="Client certificate for TLS.", hidden=True)
    ] = ""
    client_key: Annotated[str, typer.Option(metavar="FILE", help="Key of the client certificate.", hidden=True)] = ""
    insecure_skip_tls_verify: Annotated[
        bool,
        typer.Option(
            "--insecure-skip-tls-verify",
            help="Do not check the server's certificate. This makes the connection insecure.",
            hidden=True,
        ),
    ] = False
    tls_server_name: Annotated[
        str, typer.Option(metavar="NAME", help="Name to expect in the server's certificate.", hidden=True)
    ] = ""
    disable_compression: Annotated[
        bool, typer.Option("--disable-compression", help="Ask for answers that are not compressed.", hidden=True)
    ] = False
    request_timeout: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="How long the cluster may take for all that is asked, such as 10s or 1m; 0 for any time.",
            hidden=True,
        ),
    ] = "30s"
    cache_dir: Annotated[
        str, typer.Option(metavar="FOLDER", help="Where what the cluster serves is remembered.", hidden=True)
    ] = ""
    chunk_size: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, help="Ask for long lists in parts of this size; 0 for whole.", hidden=True
        ),
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
        from kubectl_policy.sources.cluster.reaching.access import contexts

        return contexts(self.cluster_options(cluster))

    def cluster_options(self, cluster: str) -> "ClusterOptions":
        """Return how the cluster is reached. Raises `UsageError` for a text that is no time, or no KEY=VALUE."""
        from kubectl_policy.sources.cluster.options import ClusterOptions

        return ClusterOptions(
            kubeconfig=self.kubeconfig,
            context=next(iter(self.contexts or ()), ""),
            cluster=cluster,
            user=self.user,
            server=self.server,
            tls_server_name=self.tls_server_name,
            insecure_skip_tls_verify=self.insecure_skip_tls_verify or None,
            client_certificate=self.client_certificate,
            client_key=self.client_key,
            certificate_authority=self.certificate_authority,
            token=self.token,
            as_=self.impersonated,
            as_group=tuple(self.impersonated_groups or ()),
            as_uid=self.impersonated_uid,
            as_user_extra=_values_of_keys(self.impersonated_extra or ()),
            disable_compression=self.disable_compression or None,
            request_timeout=seconds(self.request_timeout),
            cache_dir=self.cache_dir,
            chunk_size=self.chunk_size,
        )


def _values_of_keys(texts: "Sequence[str]") -> dict[str, tuple[str, ...]]:
    values: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(f'"{text}" is not KEY=VALUE', "write --as-user-extra team=bakers")
        values[key] = (*values.get(key, ()), value)
    return values


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
