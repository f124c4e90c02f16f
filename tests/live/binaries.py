"""The programs and definitions that a cluster for tests is made of: found, or built from tests/live/apiserver and kept.

`python -m tests.live.binaries` (`make apiserver`) does that and says where they are. What is built is kept outside of
the checkout, in `$XDG_CACHE_HOME/kubectl-policy` or `~/.cache/kubectl-policy`, by version and platform.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MODULE: Final = Path(__file__).parent / "apiserver"
NOTHING_THERE: Final = "no Go toolchain, and no kube-apiserver and etcd in $KUBEBUILDER_ASSETS: tests/live is not run"
_KUBERNETES: Final = "k8s.io/kubernetes"
_ETCD: Final = "go.etcd.io/etcd/server/v3"
_GATEWAY_API: Final = "sigs.k8s.io/gateway-api"
_PACKAGES: Final = {
    "kube-apiserver": f"{_KUBERNETES}/cmd/kube-apiserver",
    "etcd": _ETCD,
    "kubectl": f"{_KUBERNETES}/cmd/kubectl",
}


@dataclass(frozen=True, kw_only=True)
class Programs:
    """Where everything is; `definitions` has the CustomResourceDefinitions of Gateway API, in a folder each channel."""

    apiserver: Path
    etcd: Path
    kubectl: Path
    definitions: Path


class BuildError(Exception):
    """Go is there, and does not build what is missing."""


def programs() -> Programs | None:
    """What a cluster is made of, built where it is missing; None where there is no Go to build it. Raises BuildError.

    A kube-apiserver and an etcd are taken from $KUBEBUILDER_ASSETS, as in envtest of controller-runtime, and kubectl
    from there or from the PATH.
    """
    definitions = _definitions()
    paths = {name: _found(name) or _built(name) for name in _PACKAGES}
    if not (definitions and paths["kube-apiserver"] and paths["etcd"] and paths["kubectl"]):
        return None
    return Programs(
        apiserver=paths["kube-apiserver"], etcd=paths["etcd"], kubectl=paths["kubectl"], definitions=definitions
    )


def _found(name: str) -> Path | None:
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    path = (assets and shutil.which(name, path=assets)) or (shutil.which(name) if name == "kubectl" else None)
    return Path(path).absolute() if path else None


def _built(name: str) -> Path | None:
    """A program of the Go module, built unless it is kept; None without Go."""
    version = _required(_KUBERNETES)
    kept = _cache() / f"{version}-etcd-{_required(_ETCD)}-{sys.platform}-{platform.machine()}" / name
    if kept.is_file() or not _go():
        return kept if kept.is_file() else None
    sys.stderr.write(f"building {name}, which takes minutes the first time\n")
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_name(f"{name}.{os.getpid()}")
    # Without its version, a server reports one that kubectl cannot parse.
    flags = f"-s -w -X k8s.io/component-base/version.gitVersion={version}"
    _run_go(
        "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(part), _PACKAGES[name]
    )
    part.replace(kept)
    return kept


def _definitions() -> Path | None:
    """The folder with the CustomResourceDefinitions of Gateway API, copied from their Go module; None without Go."""
    kept = _cache() / f"gateway-api-{_required(_GATEWAY_API)}"
    if kept.is_dir() or not _go():
        return kept if kept.is_dir() else None
    _run_go("mod", "download", _GATEWAY_API)
    folder = Path(_run_go("list", "-mod=readonly", "-m", "-f", "{{.Dir}}", _GATEWAY_API).strip())
    part = kept.with_name(f"{kept.name}.{os.getpid()}")
    for channel in ("standard", "experimental"):
        (part / channel).mkdir(parents=True)
        for file in (folder / "config" / "crd" / channel).glob("gateway.networking.*.yaml"):
            shutil.copyfile(file, part / channel / file.name)
    part.replace(kept)
    return kept


def _required(module: str) -> str:
    found = re.search(
        rf"^\s*(?:require )?{re.escape(module)} (v\S+)", (MODULE / "go.mod").read_text("utf-8"), re.MULTILINE
    )
    if not found:
        raise BuildError(f"{MODULE / 'go.mod'} does not require {module}")
    return found[1]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kubectl-policy"


def _go() -> str | None:
    return shutil.which("go")


def _run_go(*arguments: str) -> str:
    # C and a workspace around the checkout would make something else of the same module.
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GO111MODULE": "on"}
    command = ["nice", "-n", "10", str(_go()), *arguments]
    done = subprocess.run(command, cwd=MODULE, env=environment, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 (our own arguments)
    if done.returncode:
        raise BuildError(f"failed: go {' '.join(arguments)}")
    return done.stdout


def _main() -> int | str:
    try:
        found = programs()
    except BuildError as error:
        return str(error)
    if not found:
        sys.stdout.write(f"{NOTHING_THERE}\n")
        return 0
    for path in (found.apiserver, found.etcd, found.kubectl, found.definitions):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
