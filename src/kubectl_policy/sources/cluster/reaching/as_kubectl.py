# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportPrivateUsage=false, reportArgumentType=false
# The package has no types.
"""Mends of the kubernetes package, where it does otherwise than kubectl in a way that hurts.

Nothing else imports the package. Where a docstring or a comment begins with "kubectl:", it says what kubectl does and
the package does not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import yaml
from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from kubernetes.config import ConfigException, kube_config
from kubernetes.config.dateutil import parse_rfc3339
from kubernetes.config.exec_provider import ExecProvider
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import ConfigNode, FileOrData, KubeConfigLoader

from kubectl_policy.errors import ClusterError
from kubectl_policy.sources.cluster.reaching.kuberc import require_allowed
from kubectl_policy.sources.cluster.reaching.transport import header_value, set_proxy, tls_context

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from urllib3 import HTTPHeaderDict, PoolManager

_MAX_COMPLAINT: Final = 1000
_MAX_CONNECTIONS: Final = 32
_SHAPE: Final = "compare it with what `kubectl config view` prints"
# Whoever has one of these needs no plugin.
_WITHOUT_PLUGIN: Final = ("client-certificate", "client-certificate-data", "username", "password")
_PATHS: Final = frozenset({"certificate-authority", "client-certificate", "client-key", "tokenFile"})


@contextmanager
def clear_errors(subject: str) -> Generator[None]:
    """Raise `ClusterError`, with the subject, for what the package raises, whatever shape a kubeconfig has."""
    try:
        yield
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f":{mark.line + 1}" if mark else ""
        raise ClusterError(f"{subject}{line} is no YAML: {problem or 'it is no text'}", _SHAPE) from None
    except ConfigException as error:
        raise ClusterError(f"{subject}: {error}", _SHAPE) from None
    except OSError as error:
        reason = f"{error.filename or subject} cannot be read: {error.strerror or error}"
        raise ClusterError(reason, "check the path and its permissions") from None
    except UnicodeDecodeError:
        raise ClusterError(f"{subject} is no text", _SHAPE) from None
    # The message may hold a secret.
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        raise ClusterError(f"{subject}: a setting has another type than in a kubeconfig", _SHAPE) from None


class Kubeconfig:
    """The kubeconfig files of a user as one.

    kubectl: of several files, the first that sets current-context chooses the context, as the first that has a name
    says what it is; a file that is empty and a setting that is empty do not count.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Read the files. Raises `ClusterError` for one that cannot be used."""
        # The context of commands that name none; "" if there is none.
        self.current_context: str = ""
        # The contexts, clusters and users by name: their settings, and the path of the file.
        self.entries: dict[str, dict[str, tuple[dict[str, Any], str]]] = {"context": {}, "cluster": {}, "user": {}}
        for path in paths:
            with clear_errors(path), open(path, encoding="utf-8") as file:  # noqa: PTH123 (pathlib is slow to import)
                content = yaml.safe_load(file) or {}
                self.current_context = self.current_context or content.get("current-context") or ""
                for kind, entries in self.entries.items():
                    for item in content.get(f"{kind}s") or ():
                        settings = {
                            key: set_to for key, set_to in (item.get(kind) or {}).items() if set_to not in ("", None)
                        }
                        # kubectl: a relative path starts in the folder of the file that has it, also that of a user.
                        settings |= {key: _beside(path, settings[key]) for key in _PATHS.intersection(settings)}
                        entries.setdefault(item["name"], (settings, path))


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
            config = [item["extension"] for item in extensions if item["name"] == "client.authentication.k8s.io/exec"]
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
        super().__init__(content, active_context="chosen", config_base_path=None)

    def _load_auth_provider_token(self) -> Any:  # noqa: ANN401 (as in the package)
        """kubectl: knows no other provider than OIDC any more."""
        if "auth-provider" in self._user and self._user["auth-provider"]["name"] != "oidc":
            raise ConfigException("the auth-provider is no more: use a credential plugin (exec)")
        token = super()._load_auth_provider_token()
        if "auth-provider" in self._user and not token:
            raise ConfigException("there is no id-token that is valid: log in again")
        return token

    def _refresh_oidc(self, provider: object) -> None:  # noqa: ARG002 (as in the package)
        """kubectl: keeps the next refresh token, which the package would lose, and checks who issues it."""
        raise ConfigException("the OIDC id-token has expired: `kubectl version` gets a new one, or log in again")

    def _load_from_exec_plugin(self) -> bool | None:
        """kubectl: ends where a plugin fails; takes a certificate beside a token, and a token until its very end."""
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


class Credentials:
    """What shows a cluster who asks: headers of requests, and a client certificate that connections present."""

    # One for all clusters: the files in which the package keeps keys are removed as soon as they are read.
    _lock = Lock()

    def __init__(
        self, new_loader: Callable[[], Loader], headers: HTTPHeaderDict, subject: str, *, is_proxy_set: bool
    ) -> None:
        """Load the first credentials, which are sent beside other headers; errors name the `subject`."""
        self._new_loader, self._headers, self._subject = new_loader, headers, subject
        self._refused: tuple[str, str] | None = None
        self._path = self._certificate = ""
        with self._lock, clear_errors(subject):
            self._configuration = self._load()
            self.server: str = self._configuration.host
            self._tls = tls_context(self._configuration) if self.server.startswith("https:") else None
            set_proxy(self._configuration, is_proxy_set=is_proxy_set)
            self.pool: PoolManager = RESTClientObject(self._configuration).pool_manager
            # Certificates are in the context: the package would load them anew for each connection.
            certificates = {"ca_certs": None, "cert_file": None, "key_file": None, "ssl_context": self._tls}
            self.pool.connection_pool_kw.update(certificates if self._tls else {}, maxsize=_MAX_CONNECTIONS)
            self._present()
            header_value(str(self._configuration.api_key.get("BearerToken", "")).strip(), f"{subject}: the token")

    def _load(self) -> Any:  # noqa: ANN401 (the package has no types)
        configuration = Configuration()
        self._new_loader().load_and_set(configuration)
        return configuration

    def headers(self) -> HTTPHeaderDict:
        """Return the headers of one request. Raises `ClusterError` if a credential expired and there is no new one."""
        with self._lock, clear_errors(self._subject):
            headers = self._headers.copy()
            if authorization := self._authorization():
                headers["Authorization"] = authorization
            return headers

    def renew(self, headers: Mapping[str, str]) -> bool:
        """Get new credentials after a 401 for a request with these headers; whether there are any.

        kubectl: asks the plugin again, and reads the file of the token again.
        """
        with self._lock, clear_errors(self._subject):
            used = self._authorization(), self._certificate
            # Another thread may have got new ones meanwhile.
            if headers.get("Authorization", "") != used[0]:
                return True
            if used == self._refused:
                return False
            self._refused = used
            self._configuration = self._load()
            return used != (self._authorization(), self._certificate)

    def _authorization(self) -> str:
        """Return the header Authorization of credentials that are valid now: the package loads new ones if need be."""
        # kubectl: the end of a line is no part of the token in a file.
        authorization = str(self._configuration.get_api_key_with_prefix("BearerToken") or "").strip()
        self._present()
        return header_value(authorization, f"{self._subject}: the token")

    def _present(self) -> None:
        """Let connections present the client certificate; none is kept that was made with another one."""
        path = str(self._configuration.cert_file or "")
        if path == self._path or not self._tls:
            return
        self._path = path
        if not path:
            return
        try:
            with open(path, encoding="latin-1") as file:  # noqa: PTH123 (pathlib is slow to import)
                certificate = file.read()
            # Without a password, OpenSSL would ask for one at the terminal.
            self._tls.load_cert_chain(path, self._configuration.key_file, password="")
        except OSError as error:
            raise ClusterError(f"{self._subject}: there is no client certificate with its key (PEM): {error}") from None
        finally:
            # kubectl: writes no certificates and keys into files.
            kube_config._cleanup_temp_files()  # noqa: SLF001 (it is called at the end otherwise, if there is one)
        if certificate != self._certificate:
            self.pool.clear()
        self._certificate = certificate
