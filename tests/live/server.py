"""A cluster for tests: a real kube-apiserver and its etcd on loopback, with users, kubeconfigs and an audit log.

There is nothing else of a cluster: no controller writes a status or ends the deletion of a Namespace, and nothing runs.
"""

import json
import os
import secrets
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

from tests.live.audit import AuditLog
from tests.live.binaries import Programs

ADMIN: Final = "admin"
# Application developers, by their namespaces; what they may do is in rbac.yaml.
BAKER: Final = "baker"
PASTRY: Final = "pastry"
_GROUPS: Final = {ADMIN: "system:masters", BAKER: "", PASTRY: ""}
_LONGEST_START: Final = 120.0
_LONGEST_COMMAND: Final = 120.0
_MASKED: Final = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "KUBECONFIG")
# The program ends with whoever holds the other end of standard input, however that one ends.
_ENDS_WITH_ITS_PARENT: Final = """
exec 3<&0
"$@" 3<&- </dev/null & program=$!
{ read -r _ <&3; kill -9 $program; } & watch=$!
wait $program
code=$?
kill $watch
exit $code
"""
_AUDIT_POLICY: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server, which knows `ADMIN`, `BAKER` and `PASTRY` by their tokens."""

    programs: Programs
    folder: Path
    port: int
    tokens: Mapping[str, str]

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def certificate(self) -> Path:
        """Its certificate, with that of the authority that signed it."""
        return self.folder / "certificates" / "apiserver.crt"

    @property
    def key(self) -> Path:
        """The key of its certificate, for whatever stands before it on loopback."""
        return self.folder / "certificates" / "apiserver.key"

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.certificate)

    @property
    def audit(self) -> AuditLog:
        """What the server itself wrote down of the requests that it got."""
        return AuditLog(self.folder / "audit.log")

    def kubeconfig(self, *users: str, url: str = "", namespace: str = "") -> Path:
        """A file with a context for each user, all named by the user; the first one is current.

        `url` is of a proxy before the server; `namespace` that of all contexts.
        """
        cluster = {"server": url or self.url, "certificate-authority": str(self.certificate)}
        context = {"cluster": "live", **({"namespace": namespace} if namespace else {})}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "live", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self.tokens[user]}} for user in users],
            "contexts": [{"name": user, "context": {**context, "user": user}} for user in users],
            "current-context": users[0],
        }
        path = self.folder / f"kubeconfig-{secrets.token_hex(4)}"
        path.write_text(json.dumps(config))
        return path

    def kubectl(self, *arguments: str, user: str = ADMIN, data: object = None, fails: bool = False) -> str:
        """What kubectl prints; `data` is what it reads from `-f -`. It must not fail unless it is to.

        A command that fails gives what it prints about that.
        """
        done = subprocess.run(  # noqa: S603 (our own arguments)
            [self.programs.kubectl, "--kubeconfig", self._own_kubeconfig(user), *arguments],
            env=self.environment(),
            input=None if data is None else json.dumps(data),
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            text=True,
            timeout=_LONGEST_COMMAND,
            check=False,
        )
        assert (done.returncode != 0) == fails, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done.stderr if fails else done.stdout

    def apply(self, *paths: Path) -> None:
        """Apply manifests as kubectl does for anybody, and wait until what they define is served."""
        for path in paths:
            self.kubectl("apply", "--server-side", "-f", str(path))
        self.kubectl("wait", "--for=condition=Established", "customresourcedefinitions", "--all")

    def environment(self) -> dict[str, str]:
        """The environment for commands that ask this server: no kubeconfig, no proxy and no cache of the caller's."""
        kept = {name: value for name, value in os.environ.items() if name not in _MASKED}
        return {**kept, "KUBECACHEDIR": str(self.folder / "cache")}

    def _own_kubeconfig(self, user: str) -> Path:
        path = self.folder / f"kubeconfig-of-{user}"
        return path if path.exists() else self.kubeconfig(user).rename(path)


@contextmanager
def running(programs: Programs) -> Generator[Server]:
    """A server that is ready, and empty. It ends with the block, or with this process, and leaves nothing behind."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="kubectl-policy-live-")))
        tokens = {user: secrets.token_hex(16) for user in _GROUPS}
        (folder / "tokens.csv").write_text(
            "".join(f'{tokens[user]},{user},{user},"{_GROUPS[user]}"\n' for user in tokens)
        )
        (folder / "audit-policy.yaml").write_text(json.dumps(_AUDIT_POLICY))
        database, peers, port = _free_ports(3)
        server = Server(programs=programs, folder=folder, port=port, tokens=tokens)
        etcd = stack.enter_context(_started(_etcd(programs, folder, database, peers), folder / "etcd.log"))
        apiserver = stack.enter_context(_started(_apiserver(server, database), folder / "apiserver.log"))
        _wait_until_ready(server, {"etcd": etcd, "apiserver": apiserver})
        yield server


def _etcd(programs: Programs, folder: Path, database: int, peers: int) -> list[str]:
    clients, others = f"http://127.0.0.1:{database}", f"http://127.0.0.1:{peers}"
    return [
        str(programs.etcd),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={others}",
        f"--initial-advertise-peer-urls={others}",
        f"--initial-cluster=default={others}",
        "--unsafe-no-fsync",
    ]


def _apiserver(server: Server, database: int) -> list[str]:
    folder = server.folder
    return [
        str(server.programs.apiserver),
        f"--etcd-servers=http://127.0.0.1:{database}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={server.port}",
        # It writes a certificate and a key there, and signs with the same key for accounts that nobody has.
        f"--cert-dir={server.certificate.parent}",
        f"--service-account-key-file={server.key}",
        f"--service-account-signing-key-file={server.key}",
        "--service-account-issuer=https://127.0.0.1",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--disable-admission-plugins=ServiceAccount",
        "--authorization-mode=RBAC",
        f"--token-auth-file={folder / 'tokens.csv'}",
        f"--audit-policy-file={folder / 'audit-policy.yaml'}",
        f"--audit-log-path={server.audit.path}",
    ]


@contextmanager
def _started(command: list[str], log: Path) -> Generator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 (our own arguments)
            ["/bin/sh", "-c", _ENDS_WITH_ITS_PARENT, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        # A copy of this process that evaluates rules may hold the other end of standard input as well.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin
        process.stdin.close()


def _wait_until_ready(server: Server, processes: Mapping[str, subprocess.Popen[bytes]]) -> None:
    end = time.monotonic() + _LONGEST_START
    while not _ready(server):
        for name, process in processes.items():
            if process.poll() is not None or time.monotonic() > end:
                log = (server.folder / f"{name}.log").read_text(errors="replace")
                raise RuntimeError(f"{name} did not become ready:\n{log[-5000:]}")
        time.sleep(0.05)


def _ready(server: Server) -> bool:
    if not server.certificate.exists():
        return False
    try:
        with urlopen(f"{server.url}/readyz", timeout=5, context=server.trust) as answer:  # noqa: S310 (our own server)
            return bool(answer.status == 200)
    except (URLError, OSError):  # not there yet, or not ready
        return False


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in sockets]
