"""Trees of files for tests, and what is read of them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.sources import InputOptions, load_manifests

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kubectl_policy.model import Snapshot

SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: '%s'}\nspec: {ports: [{port: 80}]}\n"

kubectl = pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not installed")
helm = pytest.mark.skipif(not shutil.which("helm"), reason="helm is not installed")


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def rendered(*paths: Path | str, namespace: str = "default", cluster: str = "") -> Snapshot:
    """What is read of paths with `--render`."""
    return load_manifests(paths, options=InputOptions(namespace=namespace, cluster=cluster, render=True))


def refs(snapshot: Snapshot) -> list[str]:
    """What was read, by name."""
    return sorted(str(resource.ref) for resource in snapshot.resources)


def program(folder: Path, name: str, script: str) -> None:
    """A program of that name, which is a shell script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
