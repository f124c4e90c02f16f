"""How a cluster is reached, from the kubeconfig and kubectl's flags: which cluster, who asks, and in which namespace.

It is what `k8s.io/client-go/tools/clientcmd` makes of them, but for what is told here. To do so without the kubernetes
package, to which tests/sources/cluster/test_access_as_kubernetes.py holds it, takes 73 ms and 25 MiB where importing
that as well takes 191 ms and 45 MiB (whole processes but for the start of Python, least of 25 runs).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import ClusterError, NoClusterError
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.reaching.kubeconfig import Entry, content, kubeconfig, names_of, one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import PoolManager

    from kubectl_policy.model import Json
    from kubectl_policy.sources.cluster.options import ClusterOptions
    from kubectl_policy.sources.cluster.reaching.kubeconfig import Kubeconfig

# What a pod has to reach the cluster that it is in.
SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount/"
_NAMESPACE: Final = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_OFFLINE: Final = "`--offline PATH` reads manifests instead"


@value(kw_only=True)
class Access:
    """All that it takes to ask a cluster.

    `context` is "" in a pod, or where only an address is given; `cluster` is the name that the kubeconfig has for it.
    `namespace` counts where none is named. `server` is the address, without a slash at the end. `headers` are made for
    each request: Authorization, which may expire, Impersonate-*, and Accept-Encoding where nothing is to be compressed.
    They are a `urllib3.HTTPHeaderDict`, as one may be repeated, and raise `ClusterError` if a credential has expired
    and there is no new one.
    """

    context: str
    cluster: str
    namespace: str
    server: str
    pool: PoolManager
    headers: Callable[[], Mapping[str, str]]


def contexts(options: ClusterOptions) -> tuple[str, ...]:
    """The names of all contexts, in the order of the files. Raises `ClusterError` as `access_to` does."""
    return tuple(kubeconfig(options.kubeconfig).contexts)


def access_to(options: ClusterOptions) -> Access:
    """How the cluster is reached that a person means; nothing is asked of it yet.

    A credential plugin is run if the user has one and needs it. Raises `ClusterError` if no cluster is configured or
    what is configured cannot be used, and `UsageError` for flags that say nothing or do not go together.
    """
    from kubectl_policy.sources.cluster.reaching.identity import Identity  # noqa: PLC0415 (it imports urllib3)
    from kubectl_policy.sources.cluster.reaching.transport import address, pool, tls  # noqa: PLC0415 (see above)

    config = kubeconfig(options.kubeconfig)
    name = options.context or config.current
    context = _entry(config, config.contexts, name, "context")
    in_pod = _is_in_pod()
    cluster_name = options.cluster or context.text("cluster")
    user_name = options.user or context.text("user")
    # Of what the context names, only that has to be there which no flag takes the place of.
    is_needed = bool(options.cluster or not options.server)
    cluster = _entry(config, config.clusters, cluster_name, "cluster", is_needed=is_needed)
    is_needed = bool(options.user or not (options.token or options.client_certificate))
    user = _entry(config, config.users, user_name, "user", is_needed=is_needed)
    if not cluster_name and not options.server:
        if not in_pod:
            raise _unconfigured(config, name)
        cluster_name, cluster, account = "in-cluster", *_of_pod()
        user = user if user_name else account
    cluster, user = _of_flags(options, cluster, user)
    server = address(cluster)
    secured = tls(cluster) if server.startswith("https:") else None
    identity = Identity(user, user_name, cluster, secured, options.request_timeout or None)
    return Access(
        context=name,
        cluster=cluster_name,
        namespace=_namespace(context, in_pod=in_pod),
        server=server,
        pool=pool(cluster, server, secured),
        headers=identity.headers,
    )


def _entry(config: Kubeconfig, entries: Mapping[str, Entry], name: str, what: str, *, is_needed: bool = True) -> Entry:
    """The entry of a name; an empty one if there is no name, or no such entry and no need of it."""
    if not name or not (is_needed or name in entries):
        return Entry("", "", {})
    return one_of(entries, name, what, config.files)


def _unconfigured(config: Kubeconfig, name: str) -> ClusterError:
    """Why no cluster is meant."""
    files = ", ".join(config.files)
    if not config.files:
        return NoClusterError(
            f"no kubeconfig was found: looked for {', '.join(config.looked_for)}",
            f"`--kubeconfig FILE` names one, and `--server URL` a cluster; {_OFFLINE}",
        )
    if not config.contexts:
        return ClusterError(f"no cluster is meant: {files} has no contexts", _OFFLINE)
    if name:
        return ClusterError(
            f"the context {name} in {files} names no cluster", "`--cluster NAME` says which one is meant"
        )
    return ClusterError(
        f"no context is chosen: {files} has no current-context",
        f"`--context NAME` chooses one of {names_of(config.contexts)}; {_OFFLINE}",
    )


def _of_flags(options: ClusterOptions, cluster: Entry, user: Entry) -> tuple[Entry, Entry]:
    """The cluster and the user as flags change them.

    As in kubectl, another certificate authority or none replaces what is there of one, and another address the name in
    its certificate. Unlike there, a token takes the place of all other ways to say who one is but certificates, and
    --insecure-skip-tls-verify=false is not ignored.
    """
    without: set[str] = set()
    if options.insecure_skip_tls_verify or options.certificate_authority:
        without |= {"certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"}
    if options.server:
        without.add("tls-server-name")
    cluster = cluster.replaced(
        {
            "server": ("--server", options.server),
            "tls-server-name": ("--tls-server-name", options.tls_server_name),
            "insecure-skip-tls-verify": ("--insecure-skip-tls-verify", options.insecure_skip_tls_verify),
            "certificate-authority": ("--certificate-authority", options.certificate_authority),
            "disable-compression": ("--disable-compression", options.disable_compression or None),
        },
        without,
    )
    ruled_out = (
        (options.token, ("tokenFile", "username", "password", "exec", "auth-provider")),
        (options.client_certificate, ("client-certificate-data",)),
        (options.client_key, ("client-key-data",)),
    )
    user = user.replaced(
        {
            "token": ("--token", options.token),
            "client-certificate": ("--client-certificate", options.client_certificate),
            "client-key": ("--client-key", options.client_key),
            "as": ("--as", options.impersonated),
            "as-groups": ("--as-group", options.impersonated_groups),
            "as-uid": ("--as-uid", options.impersonated_uid),
            "as-user-extra": ("--as-user-extra", _extra(options, user)),
        },
        {key for given, keys in ruled_out if given for key in keys},
    )
    return cluster, user


def _extra(options: ClusterOptions, user: Entry) -> Mapping[str, Json]:
    """What else is said of who is impersonated, where flags say any of it: of other keys, what the file says counts."""
    given: dict[str, tuple[str, ...]] = {}
    for key, each in options.impersonated_extra:
        given[key] = (*given.get(key, ()), each)
    written = user.inner("as-user-extra") if given else None
    return {**(written.members if written else {}), **given}


def _is_in_pod() -> bool:
    named = all(os.environ.get(f"KUBERNETES_SERVICE_{name}") for name in ("HOST", "PORT"))
    return named and os.path.isfile(f"{SERVICE_ACCOUNT}token")  # noqa: PTH113 (pathlib is slow to import)


def _of_pod() -> tuple[Entry, Entry]:
    """The cluster that a pod is in, and its service account."""
    host, port = (os.environ[f"KUBERNETES_SERVICE_{name}"] for name in ("HOST", "PORT"))
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    at = f"{SERVICE_ACCOUNT}token"
    cluster = {"server": server, "certificate-authority": "ca.crt"}
    return Entry(at, "", cluster), Entry(at, "", {"tokenFile": "token"})


def _namespace(context: Entry, *, in_pod: bool) -> str:
    """The namespace of the context, else of the pod, else `default`."""
    namespace = context.text("namespace")
    if not namespace and in_pod:
        namespace = os.environ.get("POD_NAMESPACE", "")
        path = f"{SERVICE_ACCOUNT}namespace"
        if not namespace and os.path.isfile(path):  # noqa: PTH113 (pathlib is slow to import)
            namespace = content(path, "service account").decode(errors="replace").strip()
    if namespace and not re.fullmatch(_NAMESPACE, namespace):
        context.refuse("namespace", f"{namespace} cannot be the name of a namespace")
    return namespace or "default"
