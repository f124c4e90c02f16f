"""Read and write the files of a case: manifests of a complete world, expectations as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Final, cast

import yaml
from msgspec.structs import replace

from kubectl_policy import InputOptions, Snapshot, load_manifests
from kubectl_policy.model import Json, Resource
from tests import fast_yaml
from tests.build import backend, crd, gateway, gateway_class, listener, parent, resource, route, rule, service, target

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


def hue_world(kind: str = "HuePolicy", group: str = "example.com", stanza: str = "hue") -> list[Resource]:
    """Return a world in which policy `low` on a route overrides policy `high` on its Gateway."""
    labels = {"gateway.networking.k8s.io/policy": "inherited"}
    plural = kind.lower().replace("policy", "policies")
    return [
        gateway_class("public-class", "example.com/c"),
        gateway("g1", listener(hostname="*.example.com"), class_name="public-class"),
        route("r1", parents=[parent("g1")], rules=[rule(backend("s1", 80))]),
        route("u1", kind="UDPRoute", parents=[parent("g1")], rules=[rule(backend("absent", 53))]),
        service("s1", ("web", 80)),
        crd(kind, group, labels=labels, plural=plural),
        resource(kind, "low", {"targetRef": target("r1", "HTTPRoute"), stanza: {"shade": 2}}, group=group),
        resource(kind, "high", {"targetRef": target("g1"), stanza: {"shade": 1, "tint": 1}}, group=group),
    ]


# Cases of the project's own, by the suite in whose format they are.
DATA: Final = Path(__file__).parent / "data"
WORLD: Final = hue_world()
# The same world with a kind of Kuadrant's, which reports in words of its own.
OF_KUADRANT: Final = hue_world("AuthPolicy", "kuadrant.io", "rules")


def write_manifests(path: Path, resources: Sequence[Resource]) -> None:
    """Write objects into a file."""
    path.write_text(yaml.safe_dump_all([resource.raw for resource in resources]), "utf-8")


def case(folder: Path, expected: Json, name: str = "made-here", world: Sequence[Resource] | Path = WORLD) -> Path:
    """Write a case about objects, or about a file of manifests, below a folder, and return the folder of the case."""
    case_folder = folder / name
    case_folder.mkdir(parents=True)
    manifests = case_folder / "manifests.yaml"
    if isinstance(world, Path):
        manifests.write_text(world.read_text("utf-8"), "utf-8")
    else:
        write_manifests(manifests, world)
    (case_folder / "expected.yaml").write_text(json.dumps(expected), "utf-8")
    return case_folder
