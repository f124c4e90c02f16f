"""Credential plugins, client certificates and impersonation: what kubectl knows of them and the kubernetes package not.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins. The package runs a
plugin without a time limit, in the folder of the kubeconfig, with our standard input even where it must not ask; it
logs a failure and goes on without credentials, and takes no certificate beside a token. kubectl does none of that, and
asks the kuberc whether the plugin may run.
"""

from __future__ import annotations

import base64
import math
import os
import sys
import time
from contextlib import ExitStack
from datetime import datetime  # noqa: TC003 (msgspec reads the annotations)
from threading import Lock
from typing import IO, TYPE_CHECKING, Annotated, Final, Literal, cast
from urllib.parse import quote

import msgspec
from msgspec import Struct
from urllib3 import HTTPHeaderDict

from kubectl_policy.errors import ClusterError
from kubectl_policy.sources.cluster.reaching.kubeconfig import convert, in_home, read_bytes, read_mappings

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from urllib3 import PoolManager

    from kubectl_policy.sources.cluster.reaching.kubeconfig import (
        ClusterSettings,
        Entry,
        PluginSettings,
        ProviderSettings,
        Selection,
        Settings,
        UserSettings,
    )

_API_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_MAX_ANSWER: Final = 2**20
_MAX_COMPLAINT: Final = 1000
# Seconds after which the file of a token is read again, as tokens of service accounts are renewed there.
_REREAD: Final = 60.0
# Bundles of all public authorities have a quarter of a megabyte.
_MAX_PEM_BYTES: Final = 4 * 2**20
# The characters of a header's name, but for the one that escapes others.
_IN_NAMES: Final = "!#$&'*+-.^_`|~"


class Credentials:
    """What shows a cluster who asks: headers, and a client certificate in the TLS context."""

    def __init__(
        self,
        selection: Selection,
        pool: PoolManager,
        tls: ssl.SSLContext | None,
        authorization_of: Callable[[Mapping[str, object]], str],
        limit: float | None,
    ) -> None:
        """Get the credentials of a user, of whom the package makes the header Authorization.

        A plugin that asks nobody may take `limit` seconds.
        """
        self._user, self._pool, self._tls, self._authorization_of = selection.user, pool, tls, authorization_of
        self._lock = Lock()
        self._plugin: Plugin | None = None
        self._expires = math.inf
        self._authorization: str = ""
        self._certificate: str = ""
        self._refused: tuple[str, str] | None = None
        # kubectl: sends who is impersonated, and lets answers not be compressed where the cluster or a flag says so.
        self._headers = _impersonation(selection.user)
        if selection.cluster.settings.disable_compression:
            self._headers["Accept-Encoding"] = "identity"
        # kubectl: sends nothing that could be stolen without TLS.
        if tls:
            has_certificate = _present_certificate(selection.user, tls)
            user = selection.user.settings
            # kubectl: runs no plugin for a user with a client certificate, a token or a password.
            if user.exec and not (has_certificate or user.token or user.token_file or user.username or user.password):
                origin = selection.user.subject("exec")
                self._plugin = Plugin(user.exec, origin, selection.user_name, selection.cluster, limit)
            self._load()

    def headers(self) -> HTTPHeaderDict:
        """Return the headers of one request. Raises `ClusterError` if a credential expired and there is no new one."""
        with self._lock:
            if time.time() >= self._expires:
                self._load()
            headers = self._headers.copy()
            if self._authorization:
                headers["Authorization"] = self._authorization
            return headers

    def renew(self, headers: Mapping[str, str]) -> bool:
        """Get new credentials after a 401 for a request with these headers; whether there are any.

        kubectl: asks the plugin again, and reads the file of the token again.
        """
        with self._lock:
            used = self._authorization, self._certificate
            # Another thread may have got new ones meanwhile, or the same ones as before.
            if headers.get("Authorization", "") != self._authorization:
                return True
            if self._tls and used != self._refused:
                self._refused = used
                self._load()
            return used != (self._authorization, self._certificate)

    def _load(self) -> None:
        """Get the token or the certificate from where the user has it, also again."""
        user = self._user.settings
        if self._plugin and self._tls:
            self._load_from_plugin(self._plugin, self._tls)
        elif user.token_file:
            self._expires = time.time() + _REREAD
            try:
                self._authorization = self._authorize({"tokenFile": user.token_file}, "token_file")
            except ClusterError:
                # kubectl: uses the last token, or the one beside the file, where the file cannot be read.
                self._authorization = self._authorization or self._authorize({"token": user.token}, "token")
                if not self._authorization:
                    raise
        elif user.token:
            self._authorization = self._authorize({"token": user.token}, "token")
        elif user.username or user.password:
            # kubectl: needs no password, and sends UTF-8, where the package encodes in Latin-1.
            login = {"username": user.username, "password": user.password}
            utf_8 = {key: text.encode(errors="replace").decode("latin-1") for key, text in login.items()}
            self._authorization = self._authorize(utf_8, "username")
        elif user.auth_provider:
            self._authorization = self._authorize_by_provider(user.auth_provider)

    def _load_from_plugin(self, plugin: Plugin, tls: ssl.SSLContext) -> None:
        credential = plugin.run()
        expires = credential.expiration_timestamp
        # kubectl: uses a token until its very end, not until five minutes before it.
        self._expires = expires.timestamp() if expires else math.inf
        certificate = credential.client_certificate_data or ""
        # kubectl: takes a certificate beside a token, and keeps no connection that was made with another one.
        if certificate != self._certificate:
            if not _present(tls, certificate.encode(), (credential.client_key_data or "").encode()):
                raise plugin.wrong_answer("there is no client certificate with its key (PEM) in it")
            self._certificate = certificate
            self._pool.clear()
        self._authorization = self._authorize({"token": credential.token or ""}, "exec")

    def _authorize_by_provider(self, provider: ProviderSettings) -> str:
        if provider.name != "oidc":
            message = f"the auth-provider {provider.name} is no more"
            self._user.refuse("auth_provider", message, "use a credential plugin (exec)")
        # kubectl: writes a new token into the kubeconfig. The package would use up the refresh token by which kubectl
        # gets the next one, and checks no certificate meanwhile: so it is only given the present one.
        config = {"id-token": provider.config.get("id-token", "")}
        authorization = self._authorize({"auth-provider": {"name": "oidc", "config": config}}, "auth_provider")
        if not authorization:
            hint = "`kubectl version` gets a new one, or log in again"
            self._user.refuse("auth_provider", "there is no id-token that is valid", hint)
        return authorization

    def _authorize(self, user: Mapping[str, object], setting: str) -> str:
        """Return the header Authorization that the package makes of a user; "" if there is no valid token."""
        path = user.get("tokenFile", "")
        try:
            header = self._authorization_of(user)
        except OSError as error:
            self._user.refuse(setting, f"{path} cannot be read: {error.strerror}")
        # What the package does not check of a token.
        except (AttributeError, TypeError, ValueError, OverflowError, RecursionError, ClusterError):
            return ""
        # kubectl: the end of a line is no part of the token in a file.
        header = _header_value(header.strip(), self._user.subject(setting))
        if path and header in ("", "Bearer"):
            self._user.refuse(setting, f"{path} holds no token")
        return header


class Credential(Struct, frozen=True, rename="camel"):
    """What a plugin printed: a token, a client certificate with its key (PEM), or both."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class ExecCredential(Struct, frozen=True, rename="camel"):
    """The answer of a plugin."""

    kind: Literal["ExecCredential"]
    api_version: str
    status: Credential


class Kuberc(Struct, frozen=True, rename="camel"):
    """The preferences of a person for kubectl: https://kubernetes.io/docs/reference/kubectl/kuberc/."""

    credential_plugin_policy: Literal["", "AllowAll", "DenyAll", "Allowlist"] = ""
    # Each has a `command`, before Kubernetes 1.36 a `name`.
    credential_plugin_allowlist: list[dict[str, str]] = []


class Plugin(Struct, frozen=True):
    """A credential plugin of a user."""

    settings: PluginSettings
    # What messages about its settings begin with.
    origin: str
    user: str
    cluster: Entry[ClusterSettings]
    # The seconds that it may take where it asks nobody; None is any time.
    limit: float | None

    def run(self) -> Credential:
        """Return what the plugin prints. Raises `ClusterError` if it may not run, does not exist, or fails."""
        settings = self.settings
        if not settings.command:
            raise ClusterError(f"{self.origin}.command: it has to name a program")
        path = self._allowed_path()
        if settings.api_version not in _API_VERSIONS:
            raise ClusterError(f"{self.origin}.apiVersion: it has to be one of {', '.join(_API_VERSIONS)}")
        is_interactive = self._is_interactive()
        spec: dict[str, object] = {"interactive": is_interactive}
        if settings.provide_cluster_info:
            spec["cluster"] = self._cluster_info()
        info = {"apiVersion": settings.api_version, "kind": "ExecCredential", "spec": spec}
        printed = self._print(path, msgspec.json.encode(info).decode(), is_interactive=is_interactive)
        try:
            answer = msgspec.json.decode(printed, type=ExecCredential)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self.wrong_answer(str(error)) from None
        if answer.api_version != settings.api_version:
            raise self.wrong_answer(f"its apiVersion is not {settings.api_version}")
        status = answer.status
        has_certificate = bool(status.client_certificate_data)
        if not (status.token or has_certificate) or has_certificate != bool(status.client_key_data):
            raise self.wrong_answer("status has to have a token, or clientCertificateData with clientKeyData")
        return status

    def _allowed_path(self) -> str:
        """Return the path of the program, if the kuberc allows it."""
        import shutil  # noqa: PLC0415 (few kubeconfigs have plugins)

        command = self.settings.command
        name = f"the credential plugin {command} of user {self.user}"
        kuberc_path, kuberc = _read_kuberc()
        policy = kuberc.credential_plugin_policy
        allowed = [entry.get("command") or entry.get("name", "") for entry in kuberc.credential_plugin_allowlist]
        if not all(allowed):
            raise ClusterError(f"{kuberc_path}: credentialPluginAllowlist: each entry has to have a command")
        path = shutil.which(command)
        if policy == "DenyAll" or (policy == "Allowlist" and path not in {*map(shutil.which, allowed)} - {None}):
            raise ClusterError(
                f"{name} is not run: credentialPluginPolicy is {policy} in {kuberc_path}",
                "add it to credentialPluginAllowlist there, or use other credentials, such as --token",
            )
        # As in Go, a relative entry of PATH finds nothing.
        if not path or not os.path.isabs(path):  # noqa: PTH117 (pathlib is slow to import)
            hint = self.settings.install_hint or "install it, or see whether it is on PATH"
            raise ClusterError(f"{name} is not there, or cannot be run", " ".join(hint.split()))
        return path

    def _is_interactive(self) -> bool:
        # kubectl requires the mode of v1; without one, a plugin may ask where somebody can answer.
        mode = self.settings.interactive_mode or "IfAvailable"
        if mode not in ("Never", "IfAvailable", "Always"):
            raise ClusterError(f"{self.origin}.interactiveMode: it has to be Never, IfAvailable or Always")
        is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        if mode == "Always" and not is_terminal:
            raise ClusterError(
                f"the credential plugin {self.settings.command} of user {self.user} has to ask somebody, and standard "
                "input is no terminal",
                "run the command at a terminal, or use other credentials, such as --token",
            )
        return is_terminal and mode != "Never"

    def _print(self, path: str, info: str, *, is_interactive: bool) -> bytes:
        """Run the program where kubectl would, in the current folder, and return what it prints."""
        import subprocess  # noqa: PLC0415 (few kubeconfigs have plugins)

        variables = {variable.get("name", ""): variable.get("value", "") for variable in self.settings.env}
        with ExitStack() as stack:
            out, err = (stack.enter_context(_nameless_file()) for _ in range(2))
            try:
                process = subprocess.run(  # noqa: S603 (no shell; the kubeconfig names it, and the kuberc allows it)
                    [self.settings.command, *self.settings.args],
                    executable=path,
                    env={**os.environ, **variables, "KUBERNETES_EXEC_INFO": info},
                    stdin=None if is_interactive else subprocess.DEVNULL,
                    stdout=out,
                    # Whoever is asked something has to see the question.
                    stderr=None if is_interactive else err,
                    timeout=None if is_interactive else self.limit,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise self._failure(f"took longer than {self.limit:g} seconds", err) from None
            except (OSError, ValueError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or error
                raise self._failure(f"cannot be run: {reason}", err) from None
            if process.returncode:
                raise self._failure(f"ended with code {process.returncode}", err)
            out.seek(0)
            return out.read(_MAX_ANSWER)

    def _cluster_info(self) -> dict[str, object]:
        """Return what the plugin is told of the cluster, if it wants to know."""
        settings = self.cluster.settings
        extensions = {extension.get("name"): extension.get("extension") for extension in settings.extensions}
        info: dict[str, object] = {
            "server": settings.server,
            "tls-server-name": settings.tls_server_name,
            "insecure-skip-tls-verify": settings.insecure_skip_tls_verify,
            "certificate-authority-data": base64.b64encode(read_pem(self.cluster, "certificate_authority")).decode(),
            "proxy-url": settings.proxy_url,
            "config": extensions.get("client.authentication.k8s.io/exec"),
        }
        return {key: value for key, value in info.items() if value}

    def _failure(self, failure: str, err: IO[bytes]) -> ClusterError:
        err.seek(max(os.fstat(err.fileno()).st_size - _MAX_ANSWER, 0))
        lines = err.read(_MAX_ANSWER).decode(errors="replace").split("\n")
        complaint = " / ".join(" ".join(line.split()) for line in lines if line.strip())
        message = f"the credential plugin {self.settings.command} of user {self.user} {failure}"
        if complaint:
            message += f": {'...' if len(complaint) > _MAX_COMPLAINT else ''}{complaint[-_MAX_COMPLAINT:]}"
        return ClusterError(message, f"run `{self.settings.command}` by itself to see why, or log in again")

    def wrong_answer(self, reason: str) -> ClusterError:
        """Return the error that the plugin printed something wrong."""
        return ClusterError(
            f"the credential plugin {self.settings.command} of user {self.user} printed a wrong answer: {reason}",
            f"it has to print an ExecCredential of {self.settings.api_version}",
        )


def read_pem(entry: Entry[Settings], setting: str) -> bytes:
    """Return the setting with `-data`, else the content of the file that the setting names; b"" if there is neither."""
    path, data = str(getattr(entry.settings, setting)), str(getattr(entry.settings, f"{setting}_data"))
    if not data:
        return read_bytes(path, entry.subject(setting), _MAX_PEM_BYTES) if path else b""
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except ValueError:
        entry.refuse(f"{setting}_data", "it has to be base64")


def _present_certificate(user: Entry[UserSettings], context: ssl.SSLContext) -> bool:
    """Let connections present the client certificate of a user; whether it has one."""
    certificate, key = read_pem(user, "client_certificate"), read_pem(user, "client_key")
    if certificate and not key:
        user.refuse("client_certificate", "it needs a client-key as well")
    if certificate and not _present(context, certificate, key):
        user.refuse("client_certificate", "it and the client-key are no certificate and its key (PEM)")
    return bool(certificate)


def _present(context: ssl.SSLContext, certificate: bytes, key: bytes) -> bool:
    """Let connections present a client certificate; whether it is one and the key is its own.

    kubectl: writes no key into a file. The files here are in no folder, so that nothing of them stays.
    """
    with _nameless_file() as public, _nameless_file() as private:
        for file, data in ((public, certificate), (private, key)):
            file.write(data)
            file.seek(0)
        try:
            # Without a password, OpenSSL would ask for one at the terminal.
            context.load_cert_chain(f"/dev/fd/{public.fileno()}", f"/dev/fd/{private.fileno()}", password="")
        except OSError:
            return False
    return True


def _impersonation(user: Entry[UserSettings]) -> HTTPHeaderDict:
    """Return the headers that say in whose name a request is."""
    headers = HTTPHeaderDict()
    settings = user.settings
    if not settings.as_:
        for setting in ("as_group", "as_uid", "as_user_extra"):
            if getattr(settings, setting):
                user.refuse(setting, "it needs the user who is impersonated as well", "`--as USER` says who that is")
        return headers
    headers.add("Impersonate-User", _header_value(settings.as_, user.subject("as_")))
    if settings.as_uid:
        headers.add("Impersonate-Uid", _header_value(settings.as_uid, user.subject("as_uid")))
    for group in settings.as_group:
        headers.add("Impersonate-Group", _header_value(group, user.subject("as_group")))
    for key, values in settings.as_user_extra.items():
        for value in values:
            name = f"Impersonate-Extra-{quote(key, safe=_IN_NAMES)}"
            headers.add(name, _header_value(value, user.subject("as_user_extra")))
    return headers


def _header_value(text: str, subject: str) -> str:
    """Return a text as a header has it, a character for each byte. Raises `ClusterError` that keeps the text secret."""
    if any(character < " " or character == "\x7f" for character in text):
        raise ClusterError(f"{subject}: it holds a line break or another control character")
    return text.encode(errors="replace").decode("latin-1")


def _nameless_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("kubectl-policy"), "w+b")
    import tempfile  # noqa: PLC0415 (not needed on Linux)

    return cast("IO[bytes]", tempfile.TemporaryFile())


def _read_kuberc() -> tuple[str, Kuberc]:
    """Return the path of the kuberc and what it says of plugins; nothing if there is none, or it is turned off."""
    named = os.environ.get("KUBERC", "")
    path = named or in_home("kuberc")
    is_off = named == "off" or os.environ.get("KUBECTL_KUBERC", "") == "false"
    if is_off or not (named or os.path.lexists(path)):
        return path, Kuberc()
    preference = next(
        (content for content in read_mappings(path, "kuberc") if content.get("kind") == "Preference"), None
    )
    return path, convert(preference, Kuberc, path) if preference else Kuberc()
