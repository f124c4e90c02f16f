"""Reads the manifests of a case as a complete world, also with a change applied to it."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, cast

import yaml

from kubectl_policy import load_manifests

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from kubectl_policy import ObjectRef, Snapshot
    from kubectl_policy.model import Json


def read(path: Path) -> Mapping[str, Json]:
    """The one document of a case's file of expectations; an empty mapping if it is something else."""
    return fields(cast("Json", yaml.safe_load(path.read_text("utf-8"))))


def world(paths: Sequence[Path], *, applied: Sequence[Json] = (), deleted: Collection[str] = ()) -> Snapshot:
    """Everything that is in the paths, and that nothing else exists, after a change.

    `applied` are objects to be added, or to take the place of those with the same name; `deleted` are the slashed names
    (`Kind/namespace/name`) of objects to be left out. What a later path holds is applied, too.
    """
    sources = [str(path) for path in paths]
    stdin = None
    if applied:
        sources.append("-")
        stdin = StringIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(applied)}))
    found = load_manifests(sources, complete=True, stdin=stdin)
    return replace(
        found,
        resources=tuple(resource for resource in found.resources if slashed(resource.ref) not in deleted),
        diagnostics=tuple(problem for problem in found.diagnostics if problem.rule != "duplicate-object"),
    )


def slashed(ref: ObjectRef) -> str:
    """`Kind/namespace/name`, or `Kind/name` if cluster-scoped."""
    return f"{ref.kind}/{ref.qualified_name}"


def fields(value: Json) -> Mapping[str, Json]:
    """A mapping as it is; an empty one instead of anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, list) else []
