"""The worlds that the benchmark measures with are what they claim to be."""

from __future__ import annotations

import yaml

from bench.worlds import documents


def test_every_document_is_an_object_of_its_own() -> None:
    """No two objects have one kind, namespace and name: a world of 1,000 really has 1,000."""
    names = set[tuple[str, str, str]]()
    for text in documents(1_000):
        loaded = yaml.safe_load(text)
        metadata = loaded["metadata"]
        names.add((loaded["kind"], metadata.get("namespace", ""), metadata["name"]))
    assert len(names) == 1_000


def test_a_small_world_has_the_route_that_is_described() -> None:
    """Six objects are enough for a route and a policy above it."""
    names = [(loaded["kind"], loaded["metadata"]["name"]) for loaded in map(yaml.safe_load, documents(6))]
    assert ("HTTPRoute", "route-0") in names
    assert ("RetryPolicy", "edge") in names


def test_the_same_size_gives_the_same_world() -> None:
    """Measurements of two days are of the same thing."""
    assert list(documents(200)) == list(documents(200))
