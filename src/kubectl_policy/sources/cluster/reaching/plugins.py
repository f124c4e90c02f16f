"""Credentials from a program that the kubeconfig names: whether it may be run, how, and what it answers.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins. The kubernetes
package's `ExecProvider` cannot run them for us: it waits for ever and keeps all that is printed, asks standard output
whether somebody is there to answer, lets a plugin that may not ask read our standard input (and raises AttributeError
for one that asked and failed), so that all would stay here but the call of `subprocess`.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Final, cast

from kubectl_policy.errors import ClusterError
from kubectl_policy.model.values import value
from kubectl_policy.sources.cluster.reaching.kubeconfig import Entry, documents, in_home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

_API_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_POLICIES: Final = ("", "AllowAll", "DenyAll", "Allowlist")
_MAX_ANSWER: Final = 2**20
_MAX_COMPLAINT: Final = 1000


@value(kw_only=True)
class Credential:
    """What a plugin answered: a token, a client certificate with its key (PEM), or both.

    `expires` is in seconds since the epoch; None means never.
    """

    token: str
    certificate: str
    key: str
    expires: float | None


@value(kw_only=True)
class Plugin:
    """A program that makes credentials, as the `exec` of a user names it.

    `cluster` is what it is told of the cluster, if it wants to know. Where nobody is there to answer it, it may take as
    many seconds as the limit; None is none.
    """

    entry: Entry
    user: str
    cluster: Mapping[str, Json]
    limit: float | None

    def run(self) -> Credential:
        """What it answers. Raises `ClusterError` if it may not be run, is not there, fails, or answers nonsense."""
        path = self._allowed()
        version = self.entry.text("apiVersion")
        if version not in _API_VERSIONS:
            self.entry.refuse("apiVersion", f"it has to be one of {', '.join(_API_VERSIONS)}")
        is_interactive = self._is_interactive()
        spec: dict[str, Json] = {"interactive": is_interactive}
        if self.entry.flag("provideClusterInfo"):
            spec["cluster"] = self.cluster
        info: dict[str, Json] = {"apiVersion": version, "kind": "ExecCredential", "spec": spec}
        answer = self._printed(path, info, is_interactive=is_interactive)
        return self._credential(answer, version)

    @property
    def _command(self) -> str:
        """The program; one named with a folder is found from where the kubeconfig is."""
        command = self.entry.text("command") or self.entry.refuse("command", "it has to name a program")
        return os.path.normpath(self.entry.path("command")) if os.sep in command else command

    def _allowed(self) -> str:
        import shutil  # noqa: PLC0415 (few kubeconfigs have plugins)

        policy, allowed = _policy()
        found = shutil.which(self._command)
        if policy == "DenyAll" or (policy == "Allowlist" and found not in {*map(shutil.which, allowed)} - {None}):
            raise ClusterError(
                f"the credential plugin {self._command} of user {self.user} is not run: credentialPluginPolicy is "
                f"{policy} in {_kuberc()}",
                "add it to credentialPluginAllowlist there, or use other credentials, such as --token",
            )
        # What is found by a relative entry of PATH is not run, as in Go.
        if not found or not os.path.isabs(found):  # noqa: PTH117 (pathlib is slow to import)
            hint = self.entry.text("installHint") or "install it, or see whether it is on PATH"
            raise ClusterError(
                f"the credential plugin {self._command} of user {self.user} is not there, or cannot be run",
                " ".join(hint.split()),
            )
        return found

    def _is_interactive(self) -> bool:
        # Of v1 kubectl wants it to be given; what is not given says nothing that could be wrong.
        mode = self.entry.text("interactiveMode") or "IfAvailable"
        if mode not in ("Never", "IfAvailable", "Always"):
            self.entry.refuse("interactiveMode", "it has to be Never, IfAvailable or Always")
        is_there = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        if mode == "Always" and not is_there:
            raise ClusterError(
                f"the credential plugin {self._command} of user {self.user} has to ask somebody, and standard input is "
                "no terminal",
                "run the command at a terminal, or use other credentials, such as --token",
            )
        return is_there and mode != "Never"

    def _printed(self, path: str, info: Mapping[str, Json], *, is_interactive: bool) -> bytes:
        """What it prints."""
        import json  # noqa: PLC0415 (few kubeconfigs have plugins)
        import subprocess  # noqa: PLC0415 (see above)

        added = {each.text("name"): each.text("value") for each in self.entry.entries("env")}
        with ExitStack() as stack:
            out, err = (stack.enter_context(nameless_file()) for _ in range(2))
            try:
                done = subprocess.run(  # noqa: S603 (no shell; it is what the kubeconfig names, and may be run)
                    [self._command, *self.entry.texts("args")],
                    executable=path,
                    env={**os.environ, **added, "KUBERNETES_EXEC_INFO": json.dumps(info)},
                    stdin=None if is_interactive else subprocess.DEVNULL,
                    stdout=out,
                    # Whoever is asked something has to see what.
                    stderr=None if is_interactive else err,
                    timeout=None if is_interactive else self.limit,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise self._failed(f"took longer than {self.limit:g} seconds", err) from None
            except (OSError, ValueError) as error:
                reason = (error.strerror if isinstance(error, OSError) else None) or error
                raise self._failed(f"cannot be run: {reason}", err) from None
            if done.returncode:
                raise self._failed(f"ended with code {done.returncode}", err)
            return _content(out, last=False)

    def _failed(self, how: str, err: IO[bytes]) -> ClusterError:
        lines = _content(err, last=True).decode(errors="replace").split("\n")
        said = " / ".join(" ".join(line.split()) for line in lines if line.strip())
        message = f"the credential plugin {self._command} of user {self.user} {how}"
        if said:
            message += f": {'...' if len(said) > _MAX_COMPLAINT else ''}{said[-_MAX_COMPLAINT:]}"
        return ClusterError(message, f"run `{self._command}` by itself to see why, or log in again")

    def _credential(self, printed: bytes, version: str) -> Credential:
        import json  # noqa: PLC0415 (few kubeconfigs have plugins)

        try:
            found: Json = json.loads(printed)
        except (ValueError, RecursionError):
            found = None
        name = f"the answer of the credential plugin {self._command}"
        if not isinstance(found, dict):
            raise ClusterError(f"{name} of user {self.user} is no JSON object", "it has to print an ExecCredential")
        answer = Entry(name, "", found)
        if answer.text("kind") != "ExecCredential" or answer.text("apiVersion") != version:
            answer.refuse("apiVersion", f"it has to be an ExecCredential of {version}, as the kubeconfig wants it")
        status = answer.inner("status") or answer.refuse("status", "there is none")
        token, certificate, key = map(status.text, ("token", "clientCertificateData", "clientKeyData"))
        if not (token or certificate) or bool(certificate) != bool(key):
            status.refuse("", "it has to have a token, or clientCertificateData with clientKeyData")
        return Credential(token=token, certificate=certificate, key=key, expires=_expires(status))


def nameless_file() -> IO[bytes]:
    """A file to write and read that no folder has, so that nothing of it stays however the process ends."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("kubectl-policy"), "w+b")
    import tempfile  # noqa: PLC0415 (not needed on Linux)

    return cast("IO[bytes]", tempfile.TemporaryFile())


def _content(file: IO[bytes], *, last: bool) -> bytes:
    """The beginning of a file, or its end."""
    size = os.fstat(file.fileno()).st_size
    file.seek(max(size - _MAX_ANSWER, 0) if last else 0)
    return file.read(_MAX_ANSWER)


def _expires(status: Entry) -> float | None:
    from datetime import datetime  # noqa: PLC0415 (few kubeconfigs have plugins)

    written = status.text("expirationTimestamp")
    if not written:
        return None
    try:
        time = datetime.fromisoformat(written)
        return time.timestamp() if time.tzinfo else status.refuse("expirationTimestamp", "it has no time zone")
    except ValueError:
        status.refuse("expirationTimestamp", "it is no time as RFC 3339 has it")


def _policy() -> tuple[str, tuple[str, ...]]:
    """Which plugins the kuberc allows, and the list of those that it names.

    https://kubernetes.io/docs/reference/kubectl/kuberc/. An entry says `command`, before Kubernetes 1.36 `name`.
    """
    path = _kuberc()
    if not path:
        return "", ()
    of_kubectl = (each for each in documents(path, "kuberc") if each.text("kind") == "Preference")
    kuberc = next(of_kubectl, None)
    if kuberc is None:
        return "", ()
    policy = kuberc.text("credentialPluginPolicy")
    if policy not in _POLICIES:
        kuberc.refuse("credentialPluginPolicy", f"it has to be one of {', '.join(_POLICIES[1:])}")
    entries = kuberc.entries("credentialPluginAllowlist")
    allowed = tuple(each.text("command") or each.text("name") for each in entries)
    if not all(allowed):
        kuberc.refuse("credentialPluginAllowlist", "each entry has to have a command")
    return policy, allowed


def _kuberc() -> str:
    """The path of the kuberc; "" if there is none, or it is turned off."""
    named = os.environ.get("KUBERC", "")
    if named == "off" or os.environ.get("KUBECTL_KUBERC", "") == "false":
        return ""
    path = named or in_home("kuberc")
    return path if named or os.path.lexists(path) else ""
