"""Reads the manifests of a case as a complete world, and the objects of a change to it."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, cast

from kubectl_policy import InputOptions, load_manifests
from tests import fast_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kubectl_policy import ObjectRef, Snapshot
    from kubectl_policy.model import Json, Resource


def read(path: Path) -> Mapping[str, Json]:
    """The one document of a case's file of expectations; an empty mapping if it is something else."""
    return fields(cast("Json", fast_yaml.load(path.read_text("utf-8"))))


def world(paths: Sequence[Path]) -> Snapshot:
    """Everything that is in the paths, and that nothing else exists."""
    return _without_duplicates(load_manifests([str(path) for path in paths], options=InputOptions(complete=True)))


def objects(listed: Sequence[Json]) -> tuple[Resource, ...]:
    """Objects that a case lists, as they are read from a file."""
    stdin = StringIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(listed)}))
    return tuple(load_manifests(["-"], stdin=stdin).resources) if listed else ()


def _without_duplicates(snapshot: Snapshot) -> Snapshot:
    problems = (problem for problem in snapshot.diagnostics if problem.rule != "duplicate-object")
    return replace(snapshot, diagnostics=tuple(problems))


def slashed(ref: ObjectRef) -> str:
    """`Kind/namespace/name`, or `Kind/name` if cluster-scoped."""
    return f"{ref.kind}/{ref.qualified_name}"


def fields(value: Json) -> Mapping[str, Json]:
    """A mapping as it is; an empty one instead of anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, list) else []
