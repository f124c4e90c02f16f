"""Repositories as people keep them: what is read of them as they are, and what their own programs make of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import Analysis, GroupKind, InputOptions, NodeRef, ObjectRef, analyze, leaves, load_manifests
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.worlds.repositories import REPOSITORIES, program, serves_kustomize

NAMES: Final = sorted(path.name for path in REPOSITORIES.iterdir())
ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
KUSTOMIZATIONS: Final = sorted(
    path.parent for path in REPOSITORIES.rglob("kustomization.yaml") if "components" not in path.parts
)


def read(place: str, cluster: str = "", *, render: bool = False, complete: bool = False) -> Analysis:
    """A repository, or a folder in one, as it is read; a test that renders is left out where a program is missing."""
    if render:
        for needed in ("kubectl", "helm"):
            program(needed)
    options = InputOptions(cluster=cluster, render=render, complete=complete)
    return analyze(load_manifests([REPOSITORIES / place], options=options))


def in_force(analysis: Analysis, namespace: str, route: str) -> dict[str, tuple[object, str]]:
    """Each setting in force on a route, with the policy that sets it."""
    node = NodeRef(ObjectRef(ROUTE, namespace, route))
    paths = [path for path in analysis.topology.paths_through(node) if analysis.topology.carries_traffic(path)]
    return {
        ".".join(field): (leaf.value, str(leaf.source.object))
        for path in paths
        for effective in analysis.resolver.effective(path)
        for field, leaf in leaves(effective.resolution.spec)
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_repository_says_what_it_is(name: str) -> None:
    assert (REPOSITORIES / name / "README.md").read_text("utf-8").startswith("# ")


@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.relative_to(REPOSITORIES).as_posix())
def test_every_kustomization_can_be_built(folder: Path) -> None:
    has_charts = "helmCharts:" in (folder / "kustomization.yaml").read_text("utf-8")
    if has_charts and not serves_kustomize(program("helm")):
        pytest.skip("Kustomize renders charts with Helm 3 only")
    command = [program("kubectl"), "kustomize", str(folder), *(["--enable-helm"] if has_charts else [])]
    built = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 (our own files)
    assert (built.returncode, built.stderr) == (0, b"")


@pytest.mark.parametrize("values", [[], ["--values", str(REPOSITORIES / "helm" / "values-night.yaml")]])
def test_the_chart_can_be_rendered(values: list[str]) -> None:
    words = [program("helm"), "template", "parcels", str(REPOSITORIES / "helm" / "chart"), "--namespace", "post"]
    rendered = subprocess.run([*words, *values], capture_output=True, check=False)  # noqa: S603 (our own files)
    assert (rendered.returncode, rendered.stderr) == (0, b"")
    assert (b"rateLimit" in rendered.stdout) == bool(values)


@pytest.mark.parametrize("name", NAMES)
def test_every_repository_can_be_read(name: str) -> None:
    """As it is, there are objects in it."""
    assert read(name).snapshot.resources


LIVE: Final = "BackendTrafficPolicy live/stream"
HOUSE: Final = "BackendTrafficPolicy platform/house"


@pytest.mark.parametrize(
    ("cluster", "timeout", "retries"), [("harbour", "1h", (5, LIVE)), ("island", "10m", (2, HOUSE))]
)
def test_each_cluster_has_its_own(cluster: str, timeout: str, retries: tuple[int, str]) -> None:
    """A patch and a component of one of them, and the values of each."""
    settings = in_force(read("flux", cluster, render=True), "live", "stream")
    assert settings["timeout.http.requestTimeout"] == (timeout, LIVE)
    assert settings["retry.numRetries"] == retries
    assert ("jwt.providers" in settings) == (cluster == "harbour")


@pytest.mark.parametrize("cluster", ["harbour", "island"])
def test_values_of_a_cluster_are_filled_in_without_rendering(cluster: str) -> None:
    """From the ConfigMap that its Flux Kustomization names; the namespace is the one that this says."""
    settings = in_force(read("flux", cluster), "live", "stream")
    assert settings["timeout.http.requestTimeout"] == ({"harbour": "1h", "island": "10m"}[cluster], LIVE)


def test_an_overlay_is_what_its_kustomization_makes_of_the_base() -> None:
    """A policy of its own, and one that it patches."""
    prod = in_force(read("kustomize/overlays/prod", render=True), "bikes", "booking")
    assert prod == {"perMinute": (60, "PacePolicy bikes/night"), "timeout": ("20s", "PacePolicy bikes/booking")}
    dev = in_force(read("kustomize/overlays/dev", render=True), "bikes-dev", "dev-booking")
    assert dev == {
        "perMinute": (600, "PacePolicy bikes-dev/dev-house"),
        "timeout": ("5m", "PacePolicy bikes-dev/dev-booking"),
    }


@pytest.mark.parametrize("render", [False, True])
def test_each_folder_of_an_application_set_is_an_application(*, render: bool) -> None:
    """In the namespace of its name; what the set leaves out is in none."""
    museum = read("argo-cd", render=render)
    films = "BackendTrafficPolicy dinosaurs/films"
    assert in_force(museum, "dinosaurs", "guide") == {"timeout.http.requestTimeout": ("120s", films)}
    assert in_force(museum, "minerals", "guide") == {"timeout.http.requestTimeout": ("15s", HOUSE)}
    assert not any(route.ref.namespace == "storage" for route in museum.index.of_kind(ROUTE))


def test_a_chart_makes_what_it_makes() -> None:
    assert in_force(read("helm", render=True), "default", "parcels-tracking") == {
        "timeout.http.requestTimeout": ("30s", "BackendTrafficPolicy default/tracking"),
        "retry.numRetries": (2, HOUSE),
    }


@pytest.mark.parametrize("render", [False, True])
def test_what_a_release_creates_is_not_missing(*, render: bool) -> None:
    """Its chart is elsewhere, and it has the name of the route that a policy targets."""
    archive = read("flux", "harbour", render=render)
    policy = ObjectRef(GroupKind("gateway.envoyproxy.io", "BackendTrafficPolicy"), "archive", "archive")
    (attachment,) = archive.attachments[policy]
    assert attachment.state == "target unknown"
    assert "HelmRelease archive/archive" in attachment.message
