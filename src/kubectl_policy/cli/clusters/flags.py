"""kubectl's flags about the cluster to ask, declared once for all commands."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec import Struct

from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.sources.cluster.access import ClusterOptions

# A flag that help does not list: who needs it knows it from kubectl.
_KubectlFlag: Final = partial(typer.Option, hidden=True)


class ClusterFlags(Struct, frozen=True, kw_only=True):
    """What kubectl's flags say about the cluster that is asked where no manifests are read; each is a field."""

    kubeconfig: Annotated[str, typer.Option(metavar="FILE", help="Path to the kubeconfig file.")] = ""
    contexts: Annotated[
        list[str] | None,
        typer.Option("--context", metavar="NAME", help="Context of the kubeconfig. Repeatable: asks several clusters."),
    ] = None
    all_contexts: Annotated[
        bool, typer.Option("--all-contexts", help="Ask the clusters of all contexts in the kubeconfig.")
    ] = False
    user: Annotated[str, _KubectlFlag(metavar="NAME", help="The user of the kubeconfig to be.")] = ""
    server: Annotated[str, _KubectlFlag("--server", "-s", metavar="URL", help="The API server to ask.")] = ""
    token: Annotated[str, _KubectlFlag(metavar="TOKEN", help="Bearer token for the API server.")] = ""
    as_: Annotated[str, _KubectlFlag("--as", metavar="USER", help="Ask as another user.")] = ""
    as_group: Annotated[
        list[str] | None, _KubectlFlag(metavar="GROUP", help="Ask as a member of a group. Repeatable.")
    ] = None
    as_uid: Annotated[str, _KubectlFlag(metavar="UID", help="Ask with a user's UID.")] = ""
    as_extra: Annotated[
        list[str] | None,
        _KubectlFlag("--as-user-extra", metavar="KEY=VALUE", help="Ask with more that is said of a user. Repeatable."),
    ] = None
    certificate_authority: Annotated[
        str, _KubectlFlag(metavar="FILE", help="Certificate of the authority to trust.")
    ] = ""
    client_certificate: Annotated[str, _KubectlFlag(metavar="FILE", help="Client certificate for TLS.")] = ""
    client_key: Annotated[str, _KubectlFlag(metavar="FILE", help="Key of the client certificate.")] = ""
    insecure_skip_tls_verify: Annotated[
        bool,
        _KubectlFlag(
            "--insecure-skip-tls-verify",
            help="Do not check the server's certificate. This makes the connection insecure.",
        ),
    ] = False
    tls_server_name: Annotated[
        str, _KubectlFlag(metavar="NAME", help="Name to expect in the server's certificate.")
    ] = ""
    disable_compression: Annotated[
        bool, _KubectlFlag("--disable-compression", help="Ask for answers that are not compressed.")
    ] = False
    timeout: Annotated[
        str,
        _KubectlFlag(
            "--request-timeout",
            metavar="TIME",
            help="How long the cluster may take for all that is asked, such as 10s or 1m; 0 for any time.",
        ),
    ] = "30s"
    cache_dir: Annotated[str, _KubectlFlag(metavar="FOLDER", help="Where what the cluster serves is remembered.")] = ""
    chunk_size: Annotated[
        int, _KubectlFlag(metavar="NUMBER", min=0, help="Ask for long lists in parts of this size; 0 for whole.")
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
