"""Who asks: the headers that say so, and the client certificate.

The rules are of `k8s.io/client-go/tools/clientcmd` and `transport`: without TLS, only who is impersonated is said.
"""

from __future__ import annotations

import base64
import time
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from urllib3 import HTTPHeaderDict

from kubectl_policy.errors import ClusterError
from kubectl_policy.sources.cluster.reaching.kubeconfig import content
from kubectl_policy.sources.cluster.reaching.plugins import Plugin
from kubectl_policy.sources.cluster.reaching.transport import pem, present

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.cluster.reaching.kubeconfig import Entry

_MAX_TOKEN: Final = 2**20
# Tokens of service accounts are renewed in their files.
_REREAD: Final = 60.0
# The characters of a header's name, but for the one that escapes others.
_IN_NAMES: Final = "!#$&'*+-.^_`|~"
_EXTENSION: Final = "client.authentication.k8s.io/exec"


class Identity:
    """Who asks a cluster, and in whose name."""

    def __init__(
        self, user: Entry, name: str, cluster: Entry, secured: ssl.SSLContext | None, limit: float | None
    ) -> None:
        """Of a user of the kubeconfig, as flags changed it; `limit` is in seconds, for a plugin that asks nobody.

        A client certificate is added to how connections are secured. Raises `ClusterError` or `UsageError` for what
        cannot be used.
        """
        self._user, self._name, self._cluster, self._limit = user, name, cluster, limit
        self._lasting = _impersonation(user)
        if cluster.flag("disable-compression"):
            self._lasting["Accept-Encoding"] = "identity"
        self._authorization = self._authorized(secured) if secured else _always("")

    def headers(self) -> HTTPHeaderDict:
        """The headers of one request. Raises `ClusterError` where a credential has expired and there is no new one."""
        headers = self._lasting.copy()
        authorization = self._authorization()
        if authorization:
            headers["Authorization"] = authorization
        return headers

    def _authorized(self, secured: ssl.SSLContext) -> Callable[[], str]:
        """What says how a request is authorized; what it says may change as time goes by."""
        user = self._user
        has_certificate = self._has_certificate(secured)
        token, plugin, provider = user.text("token"), user.inner("exec"), user.inner("auth-provider")
        name, password = user.text("username"), user.text("password")
        login = f"{name}:{password}" if name or password else ""
        if token and login:
            user.refuse("token", "a username or a password is there as well", "remove one of them")
        if plugin and provider:
            user.refuse("exec", "an auth-provider is there as well", "remove one of them")
        if user.text("tokenFile"):
            return _TokenFile(user.path("tokenFile"), user.where("tokenFile"), token)
        if token:
            return _always(f"Bearer {sendable(token, user.where('token'))}")
        if login:
            return _always(f"Basic {base64.b64encode(login.encode(errors='replace')).decode()}")
        if provider:
            from kubectl_policy.sources.cluster.reaching.provider import bearer_token  # noqa: PLC0415 (slow, and rare)

            return _always(f"Bearer {sendable(bearer_token(provider), provider.where(''))}")
        if plugin and not has_certificate:
            return _OfPlugin(
                Plugin(entry=plugin, user=self._name, cluster=self._told, limit=self._limit),
                lambda certificate, key: present(secured, certificate, key),
            )
        return _always("")

    def _has_certificate(self, secured: ssl.SSLContext) -> bool:
        """Whether there is a client certificate, which connections present from then on."""
        user = self._user
        certificate, key = pem(user, "client-certificate"), pem(user, "client-key")
        if certificate and not key:
            user.refuse("client-certificate", "it needs a client-key as well")
        if certificate:
            try:
                present(secured, certificate, key)
            except ValueError:
                user.refuse("client-certificate", "it and the client-key are no certificate and its key (PEM)")
        return bool(certificate)

    @property
    def _told(self) -> Mapping[str, Json]:
        """What a plugin is told of the cluster, if it wants to know."""
        cluster = self._cluster
        authority = base64.b64encode(pem(cluster, "certificate-authority")).decode()
        extensions = {each.text("name"): each.members.get("extension") for each in cluster.entries("extensions")}
        told: dict[str, Json] = {
            "server": cluster.text("server"),
            "tls-server-name": cluster.text("tls-server-name"),
            "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify"),
            "certificate-authority-data": authority,
            "proxy-url": cluster.text("proxy-url"),
            "config": extensions.get(_EXTENSION),
        }
        return {key: each for key, each in told.items() if each}


class _TokenFile:
    """The token in a file, which is read again from time to time; where it cannot be, the last one counts."""

    def __init__(self, path: str, subject: str, spare: str) -> None:
        self._path, self._subject, self._token = path, subject, spare
        self._until = 0.0
        self._lock = Lock()
        self()

    def __call__(self) -> str:
        with self._lock:
            if time.monotonic() >= self._until:
                try:
                    read = content(self._path, self._subject, _MAX_TOKEN).decode(errors="replace").strip()
                    self._token = sendable(read, self._subject) or self._token
                except ClusterError:
                    if not self._token:
                        raise
                self._until = time.monotonic() + _REREAD
            if not self._token:
                raise ClusterError(f"{self._subject}: {self._path} holds no token")
            return f"Bearer {self._token}"


class _OfPlugin:
    """The token that a plugin answered; when it has expired, the plugin is run again."""

    def __init__(self, plugin: Plugin, presenting: Callable[[bytes, bytes], None]) -> None:
        self._plugin, self._presenting = plugin, presenting
        self._lock = Lock()
        self._renew()

    def __call__(self) -> str:
        with self._lock:
            expires = self._credential.expires
            if expires is not None and time.time() > expires:
                self._renew()
            return f"Bearer {self._token}" if self._token else ""

    def _renew(self) -> None:
        self._credential = credential = self._plugin.run()
        subject = f"the answer of the credential plugin of user {self._plugin.user}"
        self._token = sendable(credential.token, subject)
        if credential.certificate:
            try:
                self._presenting(credential.certificate.encode(), credential.key.encode())
            except ValueError:
                raise ClusterError(f"{subject}: there is no client certificate with its key (PEM) in it") from None


def sendable(text: str, subject: str) -> str:
    """A text as the value of a header, of which every character stands for a byte. Raises `ClusterError` if it is none.

    What the text is, is not told: it may be secret.
    """
    if any(character < " " or character == "\x7f" for character in text):
        raise ClusterError(f"{subject}: it holds a line break or another control character")
    return text.encode(errors="replace").decode("latin-1")


def _impersonation(user: Entry) -> HTTPHeaderDict:
    """The headers that say in whose name a request is."""
    headers = HTTPHeaderDict()
    name, groups, uid = user.text("as"), user.texts("as-groups"), user.text("as-uid")
    extra = user.inner("as-user-extra")
    if not name:
        for key in (key for key in ("as-groups", "as-uid", "as-user-extra") if user.members.get(key)):
            user.refuse(key, "it needs the user who is impersonated as well", "`--as USER` says who that is")
        return headers
    headers.add("Impersonate-User", sendable(name, user.where("as")))
    if uid:
        headers.add("Impersonate-Uid", sendable(uid, user.where("as-uid")))
    for group in groups:
        headers.add("Impersonate-Group", sendable(group, user.where("as-groups")))
    for key in extra.members if extra else ():
        for each in extra.texts(key) if extra else ():
            headers.add(f"Impersonate-Extra-{quote(key, safe=_IN_NAMES)}", sendable(each, user.where("as-user-extra")))
    return headers


def _always(authorization: str) -> Callable[[], str]:
    return lambda: authorization
