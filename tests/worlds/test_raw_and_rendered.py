"""Fixture repositories read raw and rendered: both agree with each other, and with the programs that render them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from msgspec import Struct

from kubectl_policy import Analysis, InputOptions, NodeRef, analyze, leaves, load_manifests
from kubectl_policy.model.kind_roles import ROUTES
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.sources.manifests import load_worlds
from tests import fast_yaml
from tests.certainty import is_asked_about
from tests.worlds.judge import contradictions, hedges, total, wrong_everywhere
from tests.worlds.repositories import ALL, REPOSITORIES, Repository, copy_repository, program, require_programs, truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

SETTINGS: Final = fast_yaml.load((Path(__file__).parent / "settings_of_repositories.yaml").read_text("utf-8"))
# Names and namespaces of objects that are in the files of a repository, or seem to be, and that nobody applies.
NOT_APPLIED: Final[Mapping[str, set[str]]] = {
    "argo-app-of-apps": {"reading-room"},
    "argo-values": {"draft"},
    "dump": {"database"},
    "flux-foreign-source": {"database"},
    "flux-home": {"guestbook"},
    "helm-umbrella": {"ferries"},
    "kustomize-components": {"open"},
}
# The policies whose targets are created by charts of registries, and the worlds that have them.
OF_CHARTS: Final = {"argo-values": ("programme", {""}), "flux": ("archive", {"harbour"}), "flux-home": ("films", {""})}
# What is known to be wrong, by the repository.
_WRONG: Final = {
    "without a cluster": {"flux-two-clusters": "one Gateway has the hostname of another cluster, and refuses routes"},
}


class Sides(Struct, frozen=True, kw_only=True):
    """A repository as a work tree of git, read in both ways: an analysis for each world."""

    repository: Repository
    tree: Path
    raw: Mapping[str, Analysis]
    rendered: Mapping[str, Analysis]


def read(tree: Path, *, render: bool) -> Mapping[str, Analysis]:
    """Return an analysis for each world in a tree."""
    worlds = load_worlds([tree], options=InputOptions(render=render))
    return {name: analyze(snapshot) for name, snapshot in worlds.items()}


def both_sides(repository: Repository, folder: Path) -> Sides:
    """Copy a repository into a folder, and read it in both ways; skip the test where a program is missing for that."""
    parts = {part for parts in repository.worlds.values() for part in parts if part.program != "files"}
    for part in parts:
        # Kustomize can do for Flux what flate does.
        program("helm" if part.program == "helm" or "--enable-helm" in part.arguments else "kubectl")
    tree = copy_repository(repository, folder)
    return Sides(repository=repository, tree=tree, raw=read(tree, render=False), rendered=read(tree, render=True))


@pytest.fixture(scope="module", params=ALL, ids=lambda repository: repository.name)
def sides(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sides:
    """A fixture repository, read in both ways."""
    return both_sides(request.param, tmp_path_factory.mktemp("repository"))


def expect_wrong(request: pytest.FixtureRequest, sides: Sides, subject: str) -> None:
    """Expect a test to fail for a repository of which something is known to be wrong."""
    if reason := _WRONG[subject].get(sides.repository.name):
        request.applymarker(pytest.mark.xfail(reason=reason))


def test_every_fixture_repository_is_judged() -> None:
    assert [repository.name for repository in ALL] == sorted(path.name for path in REPOSITORIES.iterdir())


def test_both_ways_tell_the_same_worlds_apart(sides: Sides) -> None:
    assert (list(sides.raw), list(sides.rendered)) == (list(sides.repository.worlds), list(sides.repository.worlds))


def test_raw_and_rendered_agree(sides: Sides) -> None:
    worlds = sides.repository.worlds
    assert [line for world in worlds for line in contradictions(sides.raw[world], sides.rendered[world])] == []


@pytest.mark.parametrize("way", ["raw", "rendered"])
def test_what_is_said_is_what_the_programs_make(sides: Sides, way: str) -> None:
    analyses = sides.raw if way == "raw" else sides.rendered
    for world in sides.repository.worlds:
        assert contradictions(analyses[world], truth(sides.repository, world, sides.tree)) == []


def test_other_programs_make_the_same_of_repositories_for_flux(
    sides: Sides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where flate is not installed, Kustomize renders each Kustomization of Flux."""
    if not any(part.program == "flate" for parts in sides.repository.worlds.values() for part in parts):
        pytest.skip("not for Flux")
    worlds = {world: truth(sides.repository, world, sides.tree) for world in sides.repository.worlds}
    for name in ("git", "kubectl"):
        (tmp_path / name).symlink_to(program(name))
    monkeypatch.setenv("PATH", str(tmp_path))
    rendered = read(sides.tree, render=True)
    for world, made in worlds.items():
        assert contradictions(rendered[world], made) == []
        assert contradictions(sides.raw[world], rendered[world]) == []


@pytest.mark.parametrize("way", ["raw", "rendered"])
def test_without_a_cluster_answers_are_those_of_one_cluster(
    sides: Sides, way: str, request: pytest.FixtureRequest
) -> None:
    """Nothing is certain that is wrong in every cluster or overlay, although all of them are read together."""
    expect_wrong(request, sides, "without a cluster")
    analyses = sides.raw if way == "raw" else sides.rendered
    mixed = analyze(load_manifests([sides.tree], options=InputOptions(render=way == "rendered")))
    assert wrong_everywhere(mixed, analyses.values()) == []


@pytest.mark.parametrize("way", ["programs", "rendered"])
def test_the_settings_in_force_are_known(sides: Sides, way: str) -> None:
    """Of the programs' own output and of the rendered repository; what is not applied has no route there."""
    require_programs(sides.repository)
    for world, settings in SETTINGS[sides.repository.name].items():
        by_programs = way == "programs"
        analysis = truth(sides.repository, world, sides.tree) if by_programs else sides.rendered[world]
        assert settings_in_force(analysis) == settings


@pytest.mark.parametrize("way", ["raw", "rendered"])
def test_what_no_root_reaches_is_not_applied(sides: Sides, way: str) -> None:
    """Neither the objects of what is commented out or left out, nor any in the namespaces of other sources."""
    names = NOT_APPLIED.get(sides.repository.name, set())
    for analysis in (sides.raw if way == "raw" else sides.rendered).values():
        objects = [resource.ref for resource in analysis.snapshot.resources]
        assert [ref for ref in objects if names & {ref.name, ref.namespace} and is_asked_about(analysis, ref)] == []


@pytest.mark.parametrize("way", ["raw", "rendered"])
def test_a_policy_on_what_a_chart_elsewhere_creates_is_unknown(sides: Sides, way: str) -> None:
    """Its route is not missing: nobody has read the chart that may create it."""
    name, worlds = OF_CHARTS.get(sides.repository.name, ("", set[str]()))
    for world, analysis in (sides.raw if way == "raw" else sides.rendered).items():
        states = [analysis.enforcement(ref).state for ref in analysis.attachments if ref.name == name]
        assert states == (["Unknown"] if world in worlds else [])


def settings_in_force(analysis: Analysis) -> dict[str, dict[str, dict[str, Json]]]:
    """Return the values in force on each route of a known name, by the policy that sets them and the field."""
    every: dict[str, dict[str, dict[str, Json]]] = {}
    routes = (resource.ref for kind in ROUTES for resource in analysis.index.of_kind(kind))
    for route in (ref for ref in routes if not is_unknown(ref.namespace)):
        by_policy = every.setdefault(route.qualified_name, {})
        paths = analysis.topology.paths_through(NodeRef(route))
        for path in filter(analysis.topology.carries_traffic, paths):
            for effective in analysis.resolver.effective(path):
                for field, leaf in leaves(effective.resolution.spec):
                    by_policy.setdefault(str(leaf.source.object), {})[".".join(field)] = leaf.value
    return every


def test_few_right_answers_about_routes_are_hedged(tmp_path: Path) -> None:
    """At most a quarter, in repositories in the style of those that people keep."""
    realistic = [both_sides(repository, tmp_path) for repository in ALL if repository.is_realistic]
    counted = total(hedges(sides.raw[world], sides.rendered[world]) for sides in realistic for world in sides.raw)
    assert counted.hedged <= counted.right / 4, counted
