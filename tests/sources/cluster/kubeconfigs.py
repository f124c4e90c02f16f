"""Kubeconfigs that tests write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kubectl_policy.model import Json


def written(
    folder: Path,
    *,
    file: str = "config",
    cluster: Json = None,
    user: Json = None,
    context: Mapping[str, Json] | None = None,
) -> str:
    """The path of a kubeconfig with one context, of a cluster and a user as they are given."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config(cluster=cluster, user=user, context=context)))
    return str(path)


def config(
    *,
    cluster: Json = None,
    user: Json = None,
    context: Mapping[str, Json] | None = None,
    current: Json = "bakery",
    name: str = "bakery",
) -> dict[str, Json]:
    """A kubeconfig in which everything has one name."""
    inner = {"cluster": name, "user": name, **(context or {})}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "contexts": [{"name": name, "context": inner}],
        "clusters": [{"name": name, "cluster": cluster or {"server": f"https://{name}.example"}}],
        "users": [{"name": name, "user": user or {}}],
    }
