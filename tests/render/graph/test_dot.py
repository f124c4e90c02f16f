"""DOT: what Graphviz draws is what is there, whatever things are called."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy.render.graph.dot import graph_dot
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.text import View
from tests import build
from tests.pictures import words_of_svg
from tests.programs import dot, needs_dot
from tests.render.graph.pictures import HOSTILE, WORLDS, hostile_world, picture, picture_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.questions.graph.picture import Mark

EXAMPLES = tuple(world for world in WORLDS if world.startswith("worked-examples"))


def test_a_world_without_anything_is_an_empty_graph() -> None:
    text = graph_dot(picture(build.namespace("a")), View())
    assert "Nothing of the hierarchy; no policies." in text
    assert "->" not in text


@pytest.mark.parametrize("world", EXAMPLES)
def test_worked_examples(world: str, snapshot: SnapshotAssertion) -> None:
    assert graph_dot(picture_of(world, effective=True), View()) == snapshot


def test_states_are_told_by_shape_and_word() -> None:
    """Not by colour alone: of each state in the bakery, the shape of its policies and what is written on them."""
    text = graph_dot(picture_of("bakery"), View())
    shapes = dict(re.findall(r'^ *"(\w+Policy [^"]+)" \[shape=(\w+)', text, re.MULTILINE))
    phrases = dict(re.findall(r'^ *"(\w+Policy [^"]+)".*</B><BR/>([^<>]*)>\]$', text, re.MULTILINE))
    states = {name: (shape, phrases[name]) for name, shape in shapes.items()}
    assert states["RetryPolicy baker/own"] == ("note", "enforced")
    assert states["RetryPolicy baker/resilience"] == ("tab", "partially enforced")
    assert states["RetryPolicy infra/global"] == ("folder", "overridden by RetryPolicy baker/resilience")
    assert states["CircuitBreakerPolicy baker/till-rush-hour"] == ("octagon", "conflicted")
    assert states["RetryPolicy baker/wedding"] == ("ellipse", "not known")


def test_what_is_refused_is_dashed_and_says_why() -> None:
    """A route that names a listener which is not there; what was not read is dotted."""
    lines = graph_dot(picture_of("bakery"), View()).splitlines()
    refused = next(line for line in lines if line.startswith('  "Gateway infra/edge":e -> "HTTPRoute baker/old":w'))
    assert "style=dashed" in refused
    assert "label=<NoMatchingParent>" in refused
    unread = next(line for line in lines if '"HTTPRoute baker/wedding-cakes" [' in line)
    assert 'STYLE="DOTTED"' in unread
    assert "not read" in unread


def test_what_was_not_applied_may_be_different() -> None:
    """A policy that a patch changes: it is dotted, says so, and what it sets may hold; a Kustomize tree as it is."""
    text = graph_dot(picture_of("repositories/kustomize", effective=True), View())
    (policy,) = [line for line in text.splitlines() if '"PacePolicy bikes/booking" [' in line]
    assert 'style="filled,dotted"' in policy
    assert "enforced, may be different" in policy
    (route,) = [line for line in text.splitlines() if '"HTTPRoute bikes/booking" [' in line]
    assert 'STYLE="DOTTED"' in route
    assert "www.bikes.example, may be different" in route
    assert "(bikes/booking and bikes/night), may hold" in route


def test_what_wins_is_said_where_it_does() -> None:
    plain, effective = (
        graph_dot(picture_of("bakery", effective=is_effective), View()) for is_effective in (False, True)
    )
    line = "TimeoutPolicy: request 10s (infra/strict), on listener https only"
    assert line not in plain
    assert line in effective


def test_without_groups_names_have_their_namespaces() -> None:
    text = graph_dot(picture_of("bakery", grouped=False), View())
    assert "subgraph" not in text
    assert "<B>baker/menu</B>" in text


@needs_dot
@pytest.mark.parametrize("world", WORLDS)
def test_graphviz_takes_every_world(world: str) -> None:
    drawn_picture = picture_of(world, effective=True)
    drawn = json.loads(dot(graph_dot(drawn_picture, View()), "json"))
    names = [node["name"] for node in drawn.get("objects", ()) if not node["name"].startswith("cluster_")]
    objects = {str(node.ref.object) for node in drawn_picture.nodes} | {
        str(policy.ref) for policy in drawn_picture.policies
    }
    assert sorted(names) == sorted(objects)


@needs_dot
def test_names_are_names() -> None:
    """Nothing that things are called is syntax: there are as many nodes and arrows as there are things."""
    drawn_picture = picture(*hostile_world())
    text = graph_dot(drawn_picture, View())
    drawn = json.loads(dot(text, "json"))
    names = {node["name"] for node in drawn["objects"] if not node["name"].startswith("cluster_")}
    assert names == {"GatewayClass public"} | {
        escape_controls(f"{kind} {name}/{name}").replace("\\", "\\\\")
        for kind in ("Gateway", "HTTPRoute", "Service", "ColorPolicy")
        for name in HOSTILE
    }
    clusters = {node["label"] for node in drawn["objects"] if node["name"].startswith("cluster_")}
    written = (escape_controls(name).replace("&", "&amp;").replace("\\", "\\\\") for name in HOSTILE)
    assert {f"namespace {name}" for name in written} == clusters
    assert all(line.isprintable() for line in text.splitlines())
    svg = dot(text, "svg")
    assert "<script" not in svg
    assert "<image" not in svg
    # As they are called, also where `\\N` would be the name of the node.
    assert {" ".join(escape_controls(name).split()) for name in HOSTILE} <= words_of_svg(svg)


@needs_dot
def test_what_is_drawn_does_not_depend_on_the_order_of_the_input() -> None:
    world = hostile_world()
    assert graph_dot(picture(*world), View()) == graph_dot(picture(*reversed(world)), View())


@pytest.mark.parametrize(
    ("mark", "name", "phrase"),
    [
        ("added", "HTTPRoute baker/menu", "(+ added)"),
        ("removed", "HTTPRoute baker/old", "(- removed)"),
        ("changed", "Service baker/oven", "(~ changed)"),
    ],
)
def test_a_picture_of_two_states_says_what_differs(mark: Mark, name: str, phrase: str) -> None:
    drawn_picture = picture_of("bakery")
    nodes = tuple(replace(node, mark=mark) if str(node.ref) == name else node for node in drawn_picture.nodes)
    text = graph_dot(replace(drawn_picture, nodes=nodes, two_states=True), View())
    (line,) = [line for line in text.splitlines() if f'"{name}" [' in line]
    assert 'BORDER="2"' in line
    assert phrase in line
