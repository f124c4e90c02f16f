"""Access to a cluster: kubectl's flags on top of what the kubernetes package makes of kubeconfigs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping  # noqa: TC003 (flags are converted to it)
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from msgspec import Struct

from kubectl_policy.errors import ClusterError, NoClusterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from urllib3 import PoolManager

    from kubectl_policy.sources.cluster.kubeconfig import Kubeconfig

_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# The files of a pod about the cluster that it is in.
_SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount/"
_MAX_NAMES: Final = 10
# The characters of a header's name, but for the one that escapes others.
_IN_NAMES: Final = "!#$&'*+-.^_`|~"
_OFFLINE: Final = "`--offline PATH` reads manifests instead"
# Flags as settings of a cluster and a user, and the settings that each of them excludes.
_CLUSTER_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "server": ("tls-server-name",),
    "tls_server_name": (),
    "insecure_skip_tls_verify": ("certificate-authority", "certificate-authority-data"),
    "certificate_authority": ("certificate-authority-data", "insecure-skip-tls-verify"),
    "disable_compression": (),
}
_TYPES: Final[Mapping[str, type]] = {
    **dict.fromkeys(("server", "tls-server-name", "proxy-url", "certificate-authority", "namespace"), str),
    **dict.fromkeys(("token", "tokenFile", "username", "password", "client-certificate", "client-key", "as"), str),
    **dict.fromkeys(("exec", "auth-provider", "as-user-extra"), dict),
    **dict.fromkeys(("insecure-skip-tls-verify", "disable-compression"), bool),
}
_USER_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "token": ("tokenFile", "username", "password", "exec", "auth-provider"),
    "client_certificate": ("client-certificate-data",),
    "client_key": ("client-key-data",),
}


class ClusterOptions(Struct, frozen=True, kw_only=True):
    """kubectl's flags about the cluster to ask; an empty value is a flag that is not set."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    # From here on to `as_user_extra`, the names are those of settings of a kubeconfig, which they replace.
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    client_certificate: str = ""
    client_key: str = ""
    certificate_authority: str = ""
    disable_compression: bool = False
    token: str = ""
    as_: str = ""
    as_group: tuple[str, ...] = ()
    as_uid: str = ""
    as_user_extra: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    # Seconds for all that one command asks of a cluster; 0 is no limit.
    request_timeout: float = 30.0
    cache_dir: str = ""
    # How many objects one answer to a list holds; 0 is all of them.
    chunk_size: int = 0


class Access(Struct, frozen=True):
    """Everything that it takes to ask a cluster."""

    # "" in a pod, or where only an address is given.
    context: str
    cluster: str
    # The namespace of commands that name none.
    namespace: str
    # The address, without a slash at the end.
    server: str
    pool: PoolManager
    # Makes the headers of one request. Raises `ClusterError` if a credential has expired and there is no new one.
    headers: Callable[[], Mapping[str, str]]
    # Gets new credentials after a 401 for a request with these headers; whether there are any.
    renew: Callable[[Mapping[str, str]], bool]

    @property
    def name(self) -> str:
        """The name of the context, else of the cluster, else its URL."""
        return self.context or self.cluster or self.server


def access_to(options: ClusterOptions) -> Access:
    """Return the access to the cluster that the options choose; nothing is asked of it yet.

    A credential plugin is run if the user has one. Raises `ClusterError` if no cluster is configured or its
    configuration cannot be used.
    """
    is_in_pod = bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and os.path.isfile(f"{_SERVICE_ACCOUNT}token")  # noqa: PTH113 (pathlib is slow to import)
    if not (_files(options) or options.server or is_in_pod):
        hint = f"`--kubeconfig FILE` names one, and `--server URL` a cluster; {_OFFLINE}"
        raise NoClusterError(f"no kubeconfig was found: looked for {', '.join(_kubeconfig_paths(options))}", hint)
    # Without a cluster, the package is not imported.
    from kubectl_policy.sources.cluster import credentials, kubeconfig  # noqa: PLC0415 (see above)

    config = kubeconfig.Kubeconfig(_files(options))
    subject = ", ".join(_files(options)) or "the flags"
    with kubeconfig.clear_errors(subject):
        context_name = options.context or config.current_context
        context, _ = _settings_of(config, subject, "context", context_name, is_needed=True)
        cluster_name = options.cluster or context.get("cluster", "")
        user_name = options.user or context.get("user", "")
        is_needed = bool(options.cluster or not options.server)
        cluster, path = _settings_of(config, subject, "cluster", cluster_name, is_needed=is_needed)
        is_needed = bool(options.user or not (options.token or options.client_certificate))
        user, user_path = _settings_of(config, subject, "user", user_name, is_needed=is_needed)
        if not cluster_name and not options.server:
            if not is_in_pod:
                raise _no_cluster_selected(config, subject, context_name)
            cluster_name = "in-cluster"
            cluster, account = kubeconfig.pod_settings(_SERVICE_ACCOUNT)
            user = user or account
        cluster, user = _with_flags(cluster, options, _CLUSTER_FLAGS), _with_flags(user, options, _USER_FLAGS)
        server_subject = "--server" if options.server else f"{subject}: server"
        cluster["server"] = credentials.server_address(cluster.get("server", ""), server_subject)
        if not credentials.parse_address(f"https://{cluster.get('tls-server-name', 'none')}"):
            raise ClusterError(f"{subject}: tls-server-name: it is not a valid host name")
        headers = credentials.impersonation_headers(_impersonation(user, options))
        if cluster.get("disable-compression"):
            headers["Accept-Encoding"] = "identity"
        # kubectl: sends nothing that could be stolen without TLS, and takes the token in a file before another one.
        dropped = "token" if "tokenFile" in user else ""
        is_safe = cluster["server"].startswith("https:")
        user = {key: setting for key, setting in user.items() if is_safe and key != dropped}
        new_loader = partial(kubeconfig.Loader, (cluster, path), (user, user_path), options.request_timeout or None)
        presented = credentials.Credentials(new_loader, headers, subject, is_proxy_set="proxy-url" in cluster)
        return Access(
            context=context_name,
            cluster=cluster_name,
            namespace=_namespace(context.get("namespace", ""), is_in_pod=is_in_pod),
            server=presented.server,
            pool=presented.pool,
            headers=presented.headers,
            renew=presented.renew,
        )


def contexts(options: ClusterOptions) -> tuple[str, ...]:
    """Return the names of all contexts, in the order of the files. Raises `ClusterError` for a file that is none."""
    from kubectl_policy.sources.cluster.kubeconfig import Kubeconfig  # noqa: PLC0415 (imports the package)

    return tuple(Kubeconfig(_files(options)).entries("contexts"))


def _kubeconfig_paths(options: ClusterOptions) -> list[str]:
    """Return the paths that may be kubeconfigs: of --kubeconfig, or of $KUBECONFIG, or ~/.kube/config."""
    if options.kubeconfig:
        return [options.kubeconfig]
    listed = os.environ.get("KUBECONFIG", "")
    default = os.path.join(os.path.expanduser("~"), ".kube", "config")  # noqa: PTH111, PTH118 (pathlib is slow to import)
    return list(dict.fromkeys(filter(None, listed.split(os.pathsep)))) if listed else [default]


def _files(options: ClusterOptions) -> list[str]:
    # kubectl: a file that does not exist is no error, but for the one that a flag names.
    return [path for path in _kubeconfig_paths(options) if options.kubeconfig or os.path.lexists(path)]


def _settings_of(
    config: Kubeconfig, files: str, kind: str, name: str, *, is_needed: bool
) -> tuple[dict[str, Any], str]:
    """Return the settings of a name, and the path of their file; none if there is no name, or no need of it."""
    entries = config.entries(f"{kind}s")
    if name and is_needed and name not in entries:
        raise ClusterError(f"there is no {kind} {name} in {files}", f"each {kind} there is: {_enumerate(entries)}")
    settings, path = entries.get(name, ({}, ""))
    wrong = next((key for key, setting in settings.items() if not isinstance(setting, _TYPES.get(key, object))), "")
    if wrong:
        raise ClusterError(f"{path}: {wrong}: it has the wrong type for a kubeconfig")
    return settings, path


def _no_cluster_selected(config: Kubeconfig, files: str, context: str) -> ClusterError:
    names = config.entries("contexts")
    if not names:
        return ClusterError(f"no cluster is selected: {files} has no contexts", _OFFLINE)
    if context:
        message = f"the context {context} in {files} names no cluster"
        return ClusterError(message, "`--cluster NAME` selects one")
    message = f"no context is selected: {files} has no current-context"
    return ClusterError(message, f"`--context NAME` selects one of {_enumerate(names)}; {_OFFLINE}")


def _enumerate(names: Iterable[str]) -> str:
    listed = [*names]
    return ", ".join(listed[:_MAX_NAMES]) + (f" and {len(listed) - _MAX_NAMES} more" if listed[_MAX_NAMES:] else "")


def _with_flags(
    settings: Mapping[str, Any], options: ClusterOptions, flags: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    changed = dict(settings)
    for name, excluded in flags.items():
        if flag := getattr(options, name):
            for key in excluded:
                changed.pop(key, None)
            is_path = name in {"certificate_authority", "client_certificate", "client_key"}
            changed[name.replace("_", "-")] = os.path.abspath(flag) if is_path else flag  # noqa: PTH100 (pathlib is slow to import)
    return changed


def _namespace(namespace: str, *, is_in_pod: bool) -> str:
    """Return the namespace of the context, else of the pod in which the command runs, else `default`."""
    if not namespace and is_in_pod:
        namespace = os.environ.get("POD_NAMESPACE", "")
        if not namespace and os.path.isfile(f"{_SERVICE_ACCOUNT}namespace"):  # noqa: PTH113 (pathlib is slow to import)
            with open(f"{_SERVICE_ACCOUNT}namespace", encoding="utf-8") as file:  # noqa: PTH123 (see above)
                namespace = file.read().strip()
    if namespace and not _NAMESPACE.fullmatch(namespace):
        raise ClusterError(f"the namespace {namespace} of the context is not a valid name")
    return namespace or "default"


def _impersonation(user: Mapping[str, Any], options: ClusterOptions) -> list[tuple[str, str]]:
    """Return the ends of the names of headers that say in whose name a request is, with their texts."""
    person, uid = options.as_ or user.get("as", ""), options.as_uid or user.get("as-uid", "")
    groups = options.as_group or user.get("as-groups", ())
    extra = {**user.get("as-user-extra", {}), **options.as_user_extra}
    if not person and (uid or groups or extra):
        error = UsageError if options.as_group or options.as_uid or options.as_user_extra else ClusterError
        raise error("as-group, as-uid and as-user-extra need the user who is impersonated", "add `--as USER`")
    extras = ((f"Extra-{quote(key, safe=_IN_NAMES)}", text) for key, texts in extra.items() for text in texts)
    return [("User", person), ("Uid", uid), *(("Group", group) for group in groups), *extras]
