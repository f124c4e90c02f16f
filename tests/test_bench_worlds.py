"""The worlds that the benchmark measures with are what they claim to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.growth import TABLE, fitted
from bench.repositories import flux, flux_home, write_files, write_flux
from bench.teams import documents, reported
from bench.worlds import under_one_policy
from kubectl_policy import GroupKind, analyze, load_manifests
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.shared.selection import Selection, find
from kubectl_policy.questions.status.report import status
from tests import fast_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.mark.unmeasured
def test_every_document_is_an_object_of_its_own() -> None:
    """No two objects have one kind, namespace and name: a world of 1,000 really has 1,000."""
    names = set[tuple[str, str, str]]()
    for text in documents(1_000):
        loaded = fast_yaml.load(text)
        metadata = loaded["metadata"]
        names.add((loaded["kind"], metadata.get("namespace", ""), metadata["name"]))
    assert len(names) == 1_000


def test_a_small_world_has_the_route_that_is_described() -> None:
    """Six objects are enough for a route and a policy above it."""
    names = [(loaded["kind"], loaded["metadata"]["name"]) for loaded in map(fast_yaml.load, documents(6))]
    assert ("HTTPRoute", "route-0") in names
    assert ("RetryPolicy", "edge") in names


def test_the_same_size_gives_the_same_world() -> None:
    """Measurements of two days are of the same thing."""
    assert list(documents(200)) == list(documents(200))


GENERATORS = {
    **{row.name: row.world for row in TABLE},
    **{f"other of {row.name}": row.other for row in TABLE if row.other},
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("world", GENERATORS.values(), ids=GENERATORS)
def test_a_world_grows_by_whole_objects(world: Callable[[int], Iterator[str]]) -> None:
    """Each document has a name of its own, and a larger world has all that a smaller one has."""
    names = {
        size: [
            (loaded["kind"], loaded["metadata"].get("namespace"), loaded["metadata"]["name"]) for loaded in loaded_all
        ]
        for size in (2, 4)
        for loaded_all in [[fast_yaml.load(text) for text in world(size)]]
    }
    assert len(set(names[4])) == len(names[4])
    assert set(names[2]) <= set(names[4])


def test_one_policy_affects_every_route(tmp_path: Path) -> None:
    """And every Service behind them: what deleting it would change is as much as there is."""
    path = tmp_path / "world.yaml"
    path.write_text("---\n".join(under_one_policy(200)), "utf-8")
    analysis = analyze(load_manifests([path]))
    policy = find(analysis, "retrypolicy", "everywhere", "team")
    answer = blast_radius(analysis, policy)
    assert answer.counts.total == 400
    assert [change.sort for change in answer.difference.effects] == ["lost"]


def test_reports_are_those_of_a_controller_that_agrees(tmp_path: Path) -> None:
    """So that each is compared, down to the number of routes, and none ends early in a disagreement."""
    path = tmp_path / "world.yaml"
    path.write_text("---\n".join(reported(5 + 3 * 30)), "utf-8")
    report = status(analyze(load_manifests([path])), "", Selection())
    assert all(one.has_status for one in report.items)
    assert len({found.type for _, found in report.comparisons if found.verdict == "Agrees"}) == 3
    assert not report.disagrees


def test_a_repository_has_what_is_no_manifest_in_between(tmp_path: Path) -> None:
    """A third of its files, wherever it ends; all that a smaller one has is in a larger one."""
    small, large = dict(flux(500)), dict(flux(1000))
    assert (len(small), len(large)) == (500, 1000)
    assert small.items() <= large.items()
    for files in (small, large):
        assert 0.28 < sum("apiVersion" not in text for text in files.values()) / len(files) < 0.36
    write_flux(tmp_path / "repository", 500)
    analysis = analyze(load_manifests([tmp_path / "repository"]))
    assert len(analysis.index.of_kind(GroupKind("gateway.networking.k8s.io", "HTTPRoute"))) > 90
    assert len(analysis.policies) > 30


def test_an_exponent_is_that_of_the_power_that_fits() -> None:
    """What start-up hides says nothing, and does not hide what the larger worlds say."""
    assert fitted((1, 2, 4, 8), (0.1, 0.4, 1.6, 6.4)) == pytest.approx(2)
    assert fitted((10, 20, 40, 80), (1, 2, 4, 8)) == pytest.approx(1)
    assert fitted((1, 2, 4, 8), (-0.01, 0.02, 0.1, 0.2)) == pytest.approx(1.1, abs=0.15)


def test_a_home_repository_applies_all_of_its_apps(tmp_path: Path) -> None:
    """With its own and that of its infrastructure, 42 Kustomizations of Flux for four teams of ten apps."""
    tree = write_files(tmp_path / "home", flux_home(4))
    documents = [text for path in sorted(Path(tree).rglob("*.yaml")) for text in path.read_text("utf-8").split("---\n")]
    assert sum("apiVersion: kustomize.toolkit.fluxcd.io/" in text for text in documents) == 42
    assert sum("kind: HTTPRoute" in text for text in documents) >= 48
