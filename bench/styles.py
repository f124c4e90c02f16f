"""One world in the styles in which people have it: block and flow style, JSON, what kubectl dumps, many files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_TIME: Final = "2026-01-02T03:04:05Z"


def _objects(world: Path) -> list[dict[str, Any]]:
    with world.open(encoding="utf-8") as file:
        return list(yaml.load_all(file, Loader=yaml.CSafeLoader))


def flow(world: Path) -> Path:
    """Write each object in flow style, on one line."""
    path = world.with_name(f"{world.stem}-flow.yaml")
    dumped = (yaml.dump(obj, Dumper=yaml.CSafeDumper, default_flow_style=True, width=10**6) for obj in _objects(world))
    path.write_text("---\n".join(dumped), encoding="utf-8")
    return path


def as_json(world: Path) -> Path:
    """Write a List as `kubectl get -o json` does."""
    path = world.with_name(f"{world.stem}-list.json")
    path.write_text(json.dumps(_list_of(_objects(world)), indent=4), encoding="utf-8")
    return path


def dump(world: Path) -> Path:
    """Write a List as `kubectl get -o yaml --show-managed-fields` does, of objects that somebody applied."""
    path = world.with_name(f"{world.stem}-dump.yaml")
    stored = [_stored(obj, number) for number, obj in enumerate(_objects(world))]
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(_list_of(stored), file, Dumper=yaml.CSafeDumper)
    return path


def files(world: Path, count: int) -> Path:
    """Write the objects into so many files, a hundred in a folder."""
    top = world.with_name(f"{world.stem}-{count}-files")
    documents = world.read_text(encoding="utf-8").removeprefix("---\n").split("\n---\n")
    for number in range(count):
        path = top / f"{number // 100:03}" / f"{number:05}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = (document.rstrip("\n") + "\n" for document in documents[number::count])
        path.write_text("---\n".join(parts), encoding="utf-8")
    return top


STYLES: Final[Mapping[str, Callable[[Path], Path]]] = {
    "block style": lambda world: world,
    "flow style": flow,
    "JSON": as_json,
    "a dump": dump,
    "2,000 files": lambda world: files(world, 2_000),
}


def write(style: str, world: Path) -> Path:
    """Write a world in a style, in a process of its own: the memory of this one counts for the commands it starts."""
    command = (sys.executable, "-m", "bench.styles", style, str(world))
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip("\n"))  # noqa: S603 (our own)


def _list_of(items: Iterable[Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": [*items], "kind": "List", "metadata": {"resourceVersion": ""}}


def _stored(applied: dict[str, Any], number: int) -> dict[str, Any]:
    """Return an object as an API server gives it out."""
    metadata = {
        **applied["metadata"],
        "annotations": {_APPLIED: json.dumps(applied, separators=(",", ":")) + "\n"},
        "creationTimestamp": _TIME,
        "generation": 1,
        "resourceVersion": str(10_000 + number),
        "uid": f"{number:08x}-0000-4000-8000-000000000000",
        "managedFields": [
            {
                "apiVersion": applied["apiVersion"],
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:annotations": {".": {}, f"f:{_APPLIED}": {}}},
                    "f:spec": _owned(applied.get("spec", {})),
                },
                "manager": "kubectl-client-side-apply",
                "operation": "Update",
                "time": _TIME,
            }
        ],
    }
    return {**applied, "metadata": metadata}


def _owned(fields: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {f"f:{key}": _owned(value) for key, value in fields.items()} if isinstance(fields, dict) else {}


if __name__ == "__main__":
    print(STYLES[sys.argv[1]](Path(sys.argv[2])))
