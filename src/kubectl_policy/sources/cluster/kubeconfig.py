# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportPrivateUsage=false, reportArgumentType=false
# The package has no types.
"""Load kubeconfigs and run credential plugins as kubectl does, on top of the kubernetes package.

Nothing else imports it. After "kubectl:", a docstring or a comment says what kubectl does, and the package does not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from kubernetes.config import ConfigException, kube_config
from kubernetes.config.dateutil import parse_rfc3339
from kubernetes.config.exec_provider import ExecProvider
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import ConfigNode, FileOrData, KubeConfigLoader, KubeConfigMerger

from kubectl_policy.errors import ClusterError
from kubectl_policy.text import DocumentError
from kubectl_policy.text.named_file import read_named_text
from kubectl_policy.text.yaml_reader import YamlReader

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from urllib3 import PoolManager

# In bytes: kubeconfigs of more than a thousand clusters are smaller.
_MAX_SIZE: Final = 2**22
_SECTIONS: Final = ("clusters", "contexts", "users")
_KUBERC_HINT: Final = "see https://kubernetes.io/docs/reference/kubectl/kuberc/, or set KUBERC=off"
_MAX_COMPLAINT: Final = 1000
_KUBECONFIG_HINT: Final = "compare it with what `kubectl config view` prints"
# Whoever has one of these needs no plugin.
_WITHOUT_PLUGIN: Final = ("client-certificate", "client-certificate-data", "username", "password")
_PATHS: Final = frozenset({"certificate-authority", "client-certificate", "client-key", "tokenFile"})


class PluginPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """Settings of a kuberc for credential plugins."""

    credential_plugin_policy: Literal["", "AllowAll", "DenyAll", "Allowlist"] = ""
    # Each entry has a `command`, before Kubernetes 1.36 a `name`.
    credential_plugin_allowlist: list[dict[str, str]] = []


def require_allowed(command: str) -> None:
    """Raise `ClusterError` if the kuberc does not allow a plugin, or if it cannot be known what it allows."""
    path = os.environ.get("KUBERC", "")
    is_off = path == "off" or os.environ.get("KUBECTL_KUBERC", "") == "false"
    named, path = bool(path), path or os.path.expanduser("~/.kube/kuberc")  # noqa: PTH111 (pathlib is slow to import)
    if is_off or not (named or os.path.lexists(path)):
        return
    policy = _read_policy(path)
    allowed = [plugin.get("command") or plugin.get("name", "") for plugin in policy.credential_plugin_allowlist]
    if not all(allowed):
        raise ClusterError(f"{path}: credentialPluginAllowlist: each entry has to have a command", _KUBERC_HINT)
    match policy.credential_plugin_policy:
        case "DenyAll":
            is_allowed = False
        case "Allowlist":
            is_allowed = shutil.which(command) in {*map(shutil.which, allowed)} - {None}
        case _:
            is_allowed = True
    if not is_allowed:
        raise ClusterError(
            f"the credential plugin {command} is not run: credentialPluginPolicy is "
            f"{policy.credential_plugin_policy} in {path}",
            "add it to credentialPluginAllowlist there, or use other credentials, such as --token",
        )


def _read_policy(path: str) -> PluginPolicy:
    try:
        preferences = [content for content in _mappings(path) if content.get("kind") == "Preference"]
        return msgspec.convert(preferences[0], PluginPolicy) if preferences else PluginPolicy()
    except OSError as error:
        raise ClusterError(f"{path} cannot be read: {error.strerror or error}", _KUBERC_HINT) from None
    except (DocumentError, ValueError, RecursionError) as error:
        raise ClusterError(f"{path}: {' '.join(str(error).split())}", _KUBERC_HINT) from None


def _mappings(path: str) -> Iterator[dict[str, Any]]:
    for document in YamlReader().read(read_named_text(path, _MAX_SIZE)):
        if document.content is not None:
            fields = msgspec.convert(document.content, dict[str, Any])
            # A member that is null counts as absent.
            yield {key: member for key, member in fields.items() if member is not None}


@contextmanager
def clear_errors(subject: str) -> Generator[None]:
    """Raise `ClusterError`, with the subject, for what the package raises, whatever shape a kubeconfig has."""
    try:
        yield
    except DocumentError as error:
        raise ClusterError(f"{subject}:{error.problem.line}: {error.problem.message}", _KUBECONFIG_HINT) from None
    except ConfigException as error:
        raise ClusterError(f"{subject}: {error}", _KUBECONFIG_HINT) from None
    except OSError as error:
        reason = f"{error.filename or subject} cannot be read: {error.strerror or error}"
        raise ClusterError(reason, "check the path and its permissions") from None
    except UnicodeDecodeError:
        raise ClusterError(f"{subject} is not text", _KUBECONFIG_HINT) from None
    # The message may hold a secret.
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        raise ClusterError(f"{subject}: a setting has the wrong type for a kubeconfig", _KUBECONFIG_HINT) from None


class Kubeconfig(KubeConfigMerger):  # type: ignore[misc] # the package has no types
    """The kubeconfig files of a user as one.

    kubectl: of several files, the first that sets current-context chooses the context; an empty one does not count.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Read the files. Raises `ClusterError` for one that cannot be used."""
        super().__init__("")
        for path in paths:
            with clear_errors(path):
                self.load_config(path)

    def load_config(self, path: str) -> None:
        """Add a file to the files before it."""
        documents = YamlReader().read(read_named_text(path, _MAX_SIZE))
        # kubectl: reads the first document.
        config: Any = next((document.content for document in documents), None)
        if config is None:
            return
        if not self.config_merged:
            self.config_merged: Any = ConfigNode(path, {**config, **{section: [] for section in _SECTIONS}}, path)
        elif not self.current_context and "current-context" in config:
            self.config_merged.value["current-context"] = config["current-context"]
        for section in _SECTIONS:
            self._merge(section, config.get(section) or [], path)

    @property
    def current_context(self) -> str:
        """The context of commands that name none; "" if there is none."""
        return self.config_merged.value.get("current-context") or "" if self.config_merged else ""

    def entries(self, section: str) -> dict[str, tuple[dict[str, Any], str]]:
        """Return the contexts, clusters or users by name: the settings that are not empty, and the path of the file."""
        nodes = self.config_merged.value[section] if self.config_merged else ()
        settings_by_name: dict[str, tuple[dict[str, Any], str]] = {}
        for node in nodes:
            with clear_errors(node.path):
                settings = node.value.get(section.removesuffix("s")) or {}
                # kubectl: takes an empty value for none.
                kept = {key: setting for key, setting in settings.items() if setting not in ("", None)}
                for key in _PATHS.intersection(kept):
                    # kubectl: a relative path starts in the folder of the file that has it, also that of a user.
                    kept[key] = _beside(node.path, kept[key])
                settings_by_name[node.value["name"]] = kept, node.path
        return settings_by_name


class Plugin(ExecProvider):  # type: ignore[misc] # the package has no types
    """A credential plugin.

    kubectl: gives it no standard input where it must not ask, and runs it in the current folder, with a limit of ours.
    """

    def __init__(self, settings: Any, cluster: Any, limit: float | None) -> None:  # noqa: ANN401 (the package has no types)
        """Let the plugin take `limit` seconds where it asks nobody; None is any time."""
        super().__init__(settings, None, cluster)
        if os.sep in self.args[0]:
            self.args[0] = _beside(settings.path, self.args[0])
        self._limit, self._hint = limit, str(settings.safe_get("installHint") or "")
        self._mode = settings.safe_get("interactiveMode") or "IfAvailable"

    def run(self, previous_response: object = None) -> Any:  # noqa: ANN401, ARG002 (as in the package)
        """Return the status that the plugin prints. Raises `ClusterError` if it may not run, or fails."""
        require_allowed(self.args[0])
        is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        if self._mode == "Always" and not is_terminal:
            raise self._failure("has to ask somebody, and standard input is no terminal")
        is_interactive = is_terminal and self._mode != "Never"
        spec: dict[str, object] = {"interactive": is_interactive}
        if self.cluster:
            extensions = self.cluster.value.get("extensions") or ()
            config = [
                extension["extension"]
                for extension in extensions
                if extension["name"] == "client.authentication.k8s.io/exec"
            ]
            spec["cluster"] = {**self.cluster.value, **({"config": config[0]} if config else {})}
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        try:
            process = subprocess.run(  # noqa: S603 (no shell; the kubeconfig names it)
                self.args,
                env={**self.env, "KUBERNETES_EXEC_INFO": json.dumps(info)},
                stdin=None if is_interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if is_interactive else subprocess.PIPE,
                timeout=None if is_interactive else self._limit,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"took longer than {self._limit:g} seconds", error.stderr) from None
        except OSError as error:
            raise self._failure(f"cannot be run: {error.strerror or error}") from None
        if process.returncode:
            raise self._failure(f"ended with code {process.returncode}", process.stderr)
        return self._status(process.stdout)

    def _status(self, printed: bytes) -> Any:  # noqa: ANN401 (JSON)
        try:
            answer = json.loads(printed)
            status = answer["status"]
            texts = [status.get(key) or "" for key in ("token", "clientCertificateData", "clientKeyData")]
            is_right = answer["apiVersion"] == self.api_version and all(isinstance(text, str) for text in texts)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
            is_right, texts, status = False, ["", "", ""], None
        if not is_right or not any(texts[:2]) or bool(texts[1]) != bool(texts[2]):
            raise self._failure(f"printed no ExecCredential of {self.api_version} with a token or a certificate")
        return status

    def _failure(self, failure: str, complaints: bytes | None = None) -> ClusterError:
        complaint = " ".join((complaints or b"").decode(errors="replace").split())[-_MAX_COMPLAINT:]
        hint = " ".join(self._hint.split()) or f"run `{self.args[0]}` by itself to see why, or log in again"
        return ClusterError(
            f"the credential plugin {self.args[0]} {failure}{f': {complaint}' if complaint else ''}", hint
        )


class Loader(KubeConfigLoader):  # type: ignore[misc] # the package has no types
    """Loads a cluster and a user into a `Configuration`."""

    def __init__(
        self, cluster: tuple[Mapping[str, Any], str], user: tuple[Mapping[str, Any], str], limit: float | None
    ) -> None:
        """Take the settings of a cluster and a user, each with the path of its file."""
        self._limit = limit
        content: dict[str, list[object]] = {
            "contexts": [{"name": "chosen", "context": {"cluster": "chosen", "user": "chosen"}}]
        }
        for kind, (settings, path) in (("cluster", cluster), ("user", user)):
            content[f"{kind}s"] = [ConfigNode(f"{kind}s", {"name": "chosen", kind: settings}, path)]
        if "tokenFile" in user[0]:
            # The package would read from a device, or wait for a pipe, without an end.
            read_named_text(user[0]["tokenFile"], _MAX_SIZE)
        super().__init__(content, active_context="chosen", config_base_path=None)

    def _load_auth_provider_token(self) -> Any:  # noqa: ANN401 (as in the package)
        """Load the token of a provider. kubectl: knows no other provider than OIDC any more."""
        if "auth-provider" in self._user and self._user["auth-provider"]["name"] != "oidc":
            raise ConfigException("kubectl no longer has this auth-provider: use a credential plugin (exec)")
        token = super()._load_auth_provider_token()
        if "auth-provider" in self._user and not token:
            raise ConfigException("there is no valid id-token: log in again")
        return token

    def _refresh_oidc(self, provider: object) -> None:  # noqa: ARG002 (as in the package)
        """Refuse to refresh. kubectl: keeps the next refresh token, which the package would lose."""
        raise ConfigException("the OIDC id-token has expired: `kubectl version` gets a new one, or log in again")

    def _load_from_exec_plugin(self) -> bool | None:
        """Run the plugin of the user.

        kubectl: ends where a plugin fails; takes a certificate beside a token, and a token until its very end.
        """
        if "exec" not in self._user or any(key in self._user for key in _WITHOUT_PLUGIN):
            return None
        status = Plugin(self._user["exec"], self._cluster, self._limit).run()
        self.token = f"Bearer {status['token']}" if status.get("token") else ""
        if status.get("clientCertificateData"):
            self.cert_file, self.key_file = (
                FileOrData(status, "", key, base64_file_content=False).as_file()
                for key in ("clientCertificateData", "clientKeyData")
            )
        self.__dict__.pop("expiry", None)
        if status.get("expirationTimestamp"):
            self.expiry = parse_rfc3339(status["expirationTimestamp"]) + kube_config.EXPIRY_SKEW_PREVENTION_DELAY
        return True


def _beside(file: str, path: str) -> str:
    """Return a path that starts in the folder of a file, without `.` and `..`, as Go joins paths."""
    folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120 (pathlib is slow to import)
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 (see above)


def pod_settings(folder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the cluster and the user of a pod, of whose service account the files are in a folder.

    kubectl: takes flags on top of these, such as another token.
    """
    configuration: Any = Configuration()
    InClusterConfigLoader(f"{folder}token", f"{folder}ca.crt").load_and_set(configuration)
    cluster = {"server": configuration.host, "certificate-authority": configuration.ssl_ca_cert}
    return cluster, {"tokenFile": f"{folder}token"}


def configuration_of(loader: Loader) -> Any:  # noqa: ANN401 (the package has no types)
    """Return what the package makes of the settings of a cluster and a user."""
    configuration = Configuration()
    loader.load_and_set(configuration)
    return configuration


def pool_of(configuration: object) -> PoolManager:
    """Return the connections of the package to a cluster."""
    pool: PoolManager = RESTClientObject(configuration).pool_manager
    return pool


def remove_key_files() -> None:
    """Remove the files of certificates and keys. kubectl: writes none."""
    kube_config._cleanup_temp_files()  # noqa: SLF001 (the package calls it at the end)
