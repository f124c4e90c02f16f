"""Kubeconfig files: read, check and merge them as kubectl does, and apply kubectl's flags."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Generic, NoReturn, TypeVar

import msgspec
from msgspec import Struct, field

from kubectl_policy.errors import ClusterError, NoClusterError, UsageError
from kubectl_policy.model.values import fields_of
from kubectl_policy.sources.cluster.options import ClusterOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_policy.model import Json

Settings = TypeVar("Settings", bound=Struct)

# The files of a pod about the cluster that it is in.
SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount/"
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# A thousand clusters with their certificates take a tenth of it.
_MAX_BYTES: Final = 16 * 2**20
_MAX_NAMES: Final = 10
_SHAPE: Final = "compare it with what `kubectl config view` prints"
# Settings that are paths: a relative one starts in the folder of the file in which it is written.
_PATHS: Final = ("certificate_authority", "client_certificate", "client_key", "token_file")
# What a flag resets. As in kubectl, another address does away with the name in the certificate of the former one.
_RESETS: Final[Mapping[str, Mapping[str, object]]] = {
    "server": {"tls_server_name": ""},
    "insecure_skip_tls_verify": {"certificate_authority": "", "certificate_authority_data": ""},
    "certificate_authority": {"certificate_authority_data": "", "insecure_skip_tls_verify": False},
    "token": {"token_file": "", "username": "", "password": "", "exec": None, "auth_provider": None},
    "client_certificate": {"client_certificate_data": ""},
    "client_key": {"client_key_data": ""},
}


class ContextSettings(Struct, frozen=True):
    """A context: the names of a cluster and a user, and the namespace of commands that name none."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class ClusterSettings(Struct, frozen=True, rename="kebab"):
    """How a cluster is reached."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[dict[str, object]] = []


class PluginSettings(Struct, frozen=True, rename="camel"):
    """A credential plugin: the `exec` of a user."""

    command: str = ""
    args: list[str] = []
    env: list[dict[str, str]] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class ProviderSettings(Struct, frozen=True):
    """The `auth-provider` of a user in old kubeconfigs."""

    name: str = ""
    config: dict[str, str] = {}


class UserSettings(Struct, frozen=True, rename="kebab"):
    """Whose credentials a cluster is asked with, and who is impersonated."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: PluginSettings | None = None
    auth_provider: ProviderSettings | None = None
    as_: str = field(default="", name="as")
    as_group: tuple[str, ...] = field(default=(), name="as-groups")
    as_uid: str = ""
    as_user_extra: dict[str, tuple[str, ...]] = {}


class NamedSettings(Struct, frozen=True):
    """An item of a list in a kubeconfig; which member it has depends on the list."""

    name: str = ""
    context: ContextSettings = ContextSettings()
    cluster: ClusterSettings = ClusterSettings()
    user: UserSettings = UserSettings()


class KubeconfigFile(Struct, frozen=True, rename="kebab"):
    """One kubeconfig file."""

    kind: str = ""
    api_version: str = field(default="", name="apiVersion")
    current_context: str = ""
    contexts: list[NamedSettings] = []
    clusters: list[NamedSettings] = []
    users: list[NamedSettings] = []


class Entry(Struct, Generic[Settings], frozen=True):
    """A context, a cluster or a user, as a kubeconfig and flags have it."""

    settings: Settings
    # Where it is written: `FILE: users[baker].user`.
    origin: str = ""
    # The settings that flags gave.
    flags: frozenset[str] = frozenset()

    def subject(self, setting: str) -> str:
        """Return what a message about a setting begins with: the flag that gave it, or the file and the key."""
        names = dict(zip(self.settings.__struct_fields__, self.settings.__struct_encode_fields__, strict=True))
        flag = f"--{setting.strip('_').replace('_', '-')}"
        return flag if setting in self.flags else f"{self.origin}.{names[setting]}"

    def refuse(self, setting: str, message: str, hint: str = "") -> NoReturn:
        """Raise `ClusterError` for a setting; `UsageError` if a flag gave it."""
        error = UsageError if setting in self.flags else ClusterError
        raise error(f"{self.subject(setting)}: {message}", hint)

    def with_flags(self, options: ClusterOptions) -> Entry[Settings]:
        """Return the entry as the flags of the same names change it."""
        names = [name for name in self.settings.__struct_fields__ if name in fields_of(ClusterOptions)]
        flags = {name: flag for name in names if (flag := getattr(options, name)) or flag is False}
        changes: dict[str, object] = {}
        for name, flag in flags.items():
            changes |= _RESETS.get(name, {}) if flag else {}
        if options.as_user_extra and isinstance(self.settings, UserSettings):
            flags["as_user_extra"] = {**self.settings.as_user_extra, **options.as_user_extra}
        return Entry(msgspec.structs.replace(self.settings, **{**changes, **flags}), self.origin, frozenset(flags))


class Kubeconfig(Struct, frozen=True):
    """All files together: of each context, cluster and user, the first file that has it counts."""

    # The paths of the files that would count, and of those that exist and are not empty.
    searched: tuple[str, ...]
    files: tuple[str, ...]
    current_context: str
    contexts: Mapping[str, Entry[ContextSettings]]
    clusters: Mapping[str, Entry[ClusterSettings]]
    users: Mapping[str, Entry[UserSettings]]


class Selection(Struct, frozen=True):
    """The context, cluster and user that kubeconfigs and flags choose; names are "" where there are none."""

    context_name: str
    cluster_name: str
    user_name: str
    # The namespace of the context, else of the pod in which the command runs, else `default`.
    namespace: str
    cluster: Entry[ClusterSettings]
    user: Entry[UserSettings]


def contexts(options: ClusterOptions) -> tuple[str, ...]:
    """Return the names of all contexts, in the order of the files. Raises `ClusterError` as `read_kubeconfig` does."""
    return tuple(read_kubeconfig(options.kubeconfig).contexts)


def select(options: ClusterOptions) -> Selection:
    """Return what the options choose; without any cluster, that of the pod in which the command runs.

    Raises `ClusterError` if no cluster is chosen or a file cannot be used.
    """
    config = read_kubeconfig(options.kubeconfig)
    name = options.context or config.current_context
    context = _entry(config, config.contexts, name, "context") or Entry(ContextSettings())
    cluster_name = options.cluster or context.settings.cluster
    user_name = options.user or context.settings.user
    # A cluster or a user that the context names need not exist where flags say enough.
    is_needed = bool(options.cluster or not options.server)
    cluster = _entry(config, config.clusters, cluster_name, "cluster", is_needed=is_needed)
    is_needed = bool(options.user or not (options.token or options.client_certificate))
    user = _entry(config, config.users, user_name, "user", is_needed=is_needed)
    host, port = (os.environ.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
    is_in_pod = bool(host and port) and os.path.isfile(f"{SERVICE_ACCOUNT}token")  # noqa: PTH113 (pathlib is slow to import)
    if not cluster_name and not options.server:
        if not is_in_pod:
            raise _no_cluster(config, name)
        server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        cluster_name = "in-cluster"
        cluster = Entry(ClusterSettings(server=server, certificate_authority=f"{SERVICE_ACCOUNT}ca.crt"), cluster_name)
        user = user or Entry(UserSettings(token_file=f"{SERVICE_ACCOUNT}token"), cluster_name)
    return Selection(
        context_name=name,
        cluster_name=cluster_name,
        user_name=user_name,
        namespace=_namespace(context, is_in_pod=is_in_pod),
        cluster=(cluster or Entry(ClusterSettings())).with_flags(options),
        user=(user or Entry(UserSettings())).with_flags(options),
    )


def read_kubeconfig(explicit: str) -> Kubeconfig:
    """Read the file that --kubeconfig names, or those of $KUBECONFIG, or ~/.kube/config.

    As in kubectl, the first file that sets current-context chooses the context, and files that do not exist or are
    empty do not count, but for the one that --kubeconfig names. Raises `ClusterError` for a file that cannot be read or
    is no kubeconfig.
    """
    listed = os.environ.get("KUBECONFIG", "")
    paths = tuple(dict.fromkeys(filter(None, listed.split(os.pathsep)))) if listed else (in_home("config"),)
    searched = (explicit,) if explicit else paths
    read = {path: _read_file(path) for path in searched if explicit or os.path.lexists(path)}
    files = {path: file for path, file in read.items() if file}
    return Kubeconfig(
        searched=searched,
        files=tuple(files),
        current_context=next((file.current_context for file in files.values() if file.current_context), ""),
        contexts=_merge(files, "contexts", lambda named: named.context),
        clusters=_merge(files, "clusters", lambda named: named.cluster),
        users=_merge(files, "users", lambda named: named.user),
    )


def in_home(name: str) -> str:
    """Return the path of a file in ~/.kube."""
    return os.path.join(os.path.expanduser("~"), ".kube", name)  # noqa: PTH111, PTH118 (pathlib is slow to import)


def read_bytes(path: str, subject: str, limit: int = _MAX_BYTES) -> bytes:
    """Return the bytes of a file. Raises `ClusterError`, which begins with the subject, where it cannot be read."""
    try:
        # A path may lead to a pipe, as of `--kubeconfig <(...)`, of which nothing but the content can be asked.
        with open(path, "rb") as file:  # noqa: PTH123 (pathlib is slow to import)
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        hint = "check the path and its permissions"
        raise ClusterError(f"{subject}: {path} cannot be read: {reason}", hint) from None
    if len(content) > limit:
        raise ClusterError(f"{subject}: {path} is larger than {limit >> 10} KiB", "check that it is the right file")
    return content


def read_mappings(path: str, subject: str) -> Iterator[Mapping[str, Json]]:
    """Read the mappings in a file of YAML or JSON, without null values; empty documents are left out.

    Raises `ClusterError`, which begins with the subject, for a file that cannot be read or holds something else.
    """
    from kubectl_policy.text import DocumentError  # noqa: PLC0415 (in a pod, nothing is read)
    from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (see above)

    try:
        for document in YamlReader().read(read_bytes(path, subject).decode()):
            content = _without_nulls(document.value)
            if isinstance(content, Mapping):
                yield content
            elif content is not None:
                raise ClusterError(f"{subject}: {path}:{document.line} holds something else than a mapping", _SHAPE)
    except UnicodeDecodeError:
        raise ClusterError(f"{subject}: {path} is no text", _SHAPE) from None
    except DocumentError as error:
        line = error.problem.line
        raise ClusterError(f"{subject}: {path}:{line} is no YAML: {error.problem.message}", _SHAPE) from None


def convert(content: Mapping[str, Json], into: type[Settings], path: str) -> Settings:
    """Return the content of a file as typed settings. Raises `ClusterError` for a value of another type."""
    try:
        return msgspec.convert(content, into)
    except msgspec.ValidationError as error:
        message, _, position = str(error).partition(" - at `$.")
        subject = f"{path}: {position.removesuffix('`')}" if position else path
        raise ClusterError(f"{subject}: {message[0].lower()}{message[1:]}", _SHAPE) from None


def _without_nulls(value: Json) -> Json:
    """Return the value without null members and items, which count as absent."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value if item is not None] if isinstance(value, list) else value


def _read_file(path: str) -> KubeconfigFile | None:
    # As kubectl does, only the first document is read.
    content = next(read_mappings(path, "kubeconfig"), None)
    file = convert(content, KubeconfigFile, path) if content is not None else None
    if file and (file.kind not in ("", "Config") or file.api_version not in ("", "v1")):
        raise ClusterError(f"{path}: kind: a kubeconfig is a Config of version v1", _SHAPE)
    return file


def _merge(
    files: Mapping[str, KubeconfigFile], key: str, settings_of: Callable[[NamedSettings], Settings]
) -> dict[str, Entry[Settings]]:
    """Return the contexts, clusters or users of all files by name."""
    entries: dict[str, Entry[Settings]] = {}
    for path, file in files.items():
        items: list[NamedSettings] = getattr(file, key)
        names = [item.name for item in items]
        repeated = next((name for index, name in enumerate(names) if name in names[:index]), None)
        if repeated is not None:
            raise ClusterError(f"{path}: {key}: the name {repeated} is there twice", "rename one, or remove it")
        for item in items:
            origin = f"{path}: {key}[{item.name}].{key.removesuffix('s')}"
            entries.setdefault(item.name, Entry(_with_absolute_paths(settings_of(item), path), origin))
    return entries


def _with_absolute_paths(settings: Settings, path: str) -> Settings:
    """Return the settings with paths that start in the folder of their file, as in kubectl."""
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 (pathlib is slow to import)
    relative = {name: value for name in _PATHS if (value := getattr(settings, name, ""))}
    absolute: dict[str, object] = {name: os.path.join(folder, value) for name, value in relative.items()}  # noqa: PTH118 (see above)
    plugin: PluginSettings | None = getattr(settings, "exec", None)
    if plugin and os.sep in plugin.command:
        command = os.path.normpath(os.path.join(folder, plugin.command))  # noqa: PTH118 (see above)
        absolute["exec"] = msgspec.structs.replace(plugin, command=command)
    return msgspec.structs.replace(settings, **absolute)


def _entry(
    config: Kubeconfig, entries: Mapping[str, Entry[Settings]], name: str, kind: str, *, is_needed: bool = True
) -> Entry[Settings] | None:
    """Return the entry of a name; None if there is no name, or no such entry and no need of it."""
    if name and is_needed and name not in entries:
        import difflib  # noqa: PLC0415 (only a mistake needs it)

        files = ", ".join(config.files) or "the kubeconfig, as there is none"
        similar = difflib.get_close_matches(name, entries, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(similar)}?" if similar else f"each {kind} there is: {_enumerate(entries)}"
        raise ClusterError(f"there is no {kind} {name} in {files}", hint)
    return entries.get(name) if name else None


def _no_cluster(config: Kubeconfig, context: str) -> ClusterError:
    """Return the error that no cluster is chosen."""
    files = ", ".join(config.files)
    offline = "`--offline PATH` reads manifests instead"
    if not config.files:
        message = f"no kubeconfig was found: looked for {', '.join(config.searched)}"
        return NoClusterError(message, f"`--kubeconfig FILE` names one, and `--server URL` a cluster; {offline}")
    if not config.contexts:
        return ClusterError(f"no cluster is meant: {files} has no contexts", offline)
    if context:
        message = f"the context {context} in {files} names no cluster"
        return ClusterError(message, "`--cluster NAME` says which one is meant")
    message = f"no context is chosen: {files} has no current-context"
    return ClusterError(message, f"`--context NAME` chooses one of {_enumerate(config.contexts)}; {offline}")


def _enumerate(names: Mapping[str, object]) -> str:
    """Return names for a hint: all of them if they are few."""
    hidden = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join([*names][:_MAX_NAMES]) + hidden


def _namespace(context: Entry[ContextSettings], *, is_in_pod: bool) -> str:
    namespace, path = context.settings.namespace, f"{SERVICE_ACCOUNT}namespace"
    if not namespace and is_in_pod:
        namespace = os.environ.get("POD_NAMESPACE", "")
        if not namespace and os.path.isfile(path):  # noqa: PTH113 (pathlib is slow to import)
            namespace = read_bytes(path, "service account").decode(errors="replace").strip()
    if namespace and not _NAMESPACE.fullmatch(namespace):
        context.refuse("namespace", f"{namespace} cannot be the name of a namespace")
    return namespace or "default"
