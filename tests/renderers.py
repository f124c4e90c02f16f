"""Kustomize and Helm for tests: found on the PATH, or built from their Go modules and kept outside of the checkout.

`python -m tests.renderers` (`make renderers`) builds what is missing, in minutes. Tests never do, but they find what is
kept in `$XDG_CACHE_HOME/kubectl-policy` or `~/.cache/kubectl-policy`, by version and platform.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct


class Renderer(Struct, frozen=True, kw_only=True):
    """Program that renders, and how it is built."""

    name: str
    package: str
    version: str
    version_variable: str = ""
    """The variable that its linker sets to the version; empty where it knows that by itself."""

    @property
    def folder(self) -> Path:
        """The folder in which it is kept alone."""
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return caches / "kubectl-policy" / f"{self.name}-{self.version}-{sys.platform}-{platform.machine()}"


RENDERERS: Final = (
    Renderer(name="kustomize", package="sigs.k8s.io/kustomize/kustomize/v5", version="v5.7.1"),
    Renderer(
        name="helm",
        package="helm.sh/helm/v4/cmd/helm",
        version="v4.3.1",
        version_variable="helm.sh/helm/v4/internal/version.version",
    ),
)


def add_to_path() -> None:
    """Let programs that are kept be found where there are none on the PATH."""
    kept = [str(renderer.folder) for renderer in RENDERERS if (renderer.folder / renderer.name).is_file()]
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), *kept])


def build(renderer: Renderer) -> str:
    """Build a program and keep it; return the reason for which that is not possible, or ""."""
    go = shutil.which("go")
    if not go:
        return f"no {renderer.name}, and no Go to build it"
    part = renderer.folder.with_name(f"{renderer.folder.name}.{os.getpid()}")
    flags = ["-s", "-w"]
    if renderer.version_variable:
        flags += ["-X", f"{renderer.version_variable}={renderer.version}"]
    completed = subprocess.run(  # noqa: S603 (our own arguments)
        ["nice", "-n", "10", go, "install", "-ldflags", " ".join(flags), f"{renderer.package}@{renderer.version}"],  # noqa: S607 (whichever nice there is)
        env={**os.environ, "CGO_ENABLED": "0", "GOBIN": str(part), "GOFLAGS": "", "GO111MODULE": "on"},
        check=False,
    )
    if completed.returncode:
        return f"failed: go install {renderer.package}@{renderer.version}"
    # Another process may have been faster.
    if not renderer.folder.exists():
        part.replace(renderer.folder)
    return ""


def _main() -> int:
    problems = 0
    for renderer in RENDERERS:
        path = shutil.which(renderer.name) or renderer.folder / renderer.name
        if not Path(path).is_file():
            sys.stderr.write(f"building {renderer.name} {renderer.version}, which takes minutes\n")
            if problem := build(renderer):
                sys.stdout.write(f"{problem}\n")
                problems += 1
                continue
        sys.stdout.write(f"{path}\n")
    return min(problems, 1)


if __name__ == "__main__":
    sys.exit(_main())
