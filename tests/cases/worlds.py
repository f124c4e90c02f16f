"""Read the files of a case: its manifests as a complete world, its expectations as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Final, cast

from msgspec.structs import replace

from kubectl_policy import InputOptions, Snapshot, load_manifests
from kubectl_policy.model import Json, Resource
from tests import fast_yaml

# The recorded cases of other projects, where they are next to this one.
CASES: Final = Path(__file__).parents[3] / "shared" / "cases"


def read(path: Path) -> Mapping[str, Json]:
    """Return the one document of a case's file of expectations, an empty mapping if it is no mapping."""
    return fields(cast("Json", fast_yaml.load(path.read_text("utf-8"))))


def world(paths: Sequence[Path]) -> Snapshot:
    """Read a world from manifests that hold all there is."""
    snapshot = load_manifests([str(path) for path in paths], options=InputOptions(complete=True))
    # Some cases repeat an object, which says nothing about the implementation.
    problems = (problem for problem in snapshot.diagnostics if problem.rule != "duplicate-object")
    return replace(snapshot, diagnostics=tuple(problems))


def objects(listed: Sequence[Json]) -> tuple[Resource, ...]:
    """Read objects that a file of expectations lists."""
    stdin = StringIO(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(listed)}))
    return tuple(load_manifests(["-"], stdin=stdin).resources) if listed else ()


def fields(value: Json) -> Mapping[str, Json]:
    """Return a mapping as it is, and an empty one instead of anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """Return a list as it is, and an empty one instead of anything else."""
    return value if isinstance(value, list) else []


def scalars(name: str, value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the values in nested mappings by their dotted names; a value that is no mapping has the name itself."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from scalars(f"{name}.{key}", child)
    else:
        yield name, value
