"""Pictures in boxes, in DOT and as Mermaid flowcharts: what is drawn is what is there, whatever things are called."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, SERVICE
from kubectl_policy.render.graph.boxes import End, boxes
from kubectl_policy.render.graph.dot import graph_dot
from kubectl_policy.render.graph.mermaid import graph_mermaid
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.text import View
from tests import build
from tests.pictures import words_of_svg
from tests.programs import dot, mermaid_problems, needs_dot, needs_mermaid
from tests.render.graph.pictures import HOSTILE, WORLDS, hostile_world, picture, picture_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy.questions.graph.picture import Mark, Picture
    from kubectl_policy.render.graph.boxes import Boxes

EXAMPLES = tuple(world for world in WORLDS if world.startswith("worked-examples"))


def test_a_world_without_anything_is_an_empty_graph() -> None:
    text = graph_dot(picture(build.namespace("a")), View())
    assert "Nothing of the hierarchy; no policies." in text
    assert "->" not in text


@pytest.mark.parametrize("drawn_as", [graph_dot, graph_mermaid])
@pytest.mark.parametrize("world", EXAMPLES)
def test_worked_examples(world: str, drawn_as: Callable[[Picture, View], str], snapshot: SnapshotAssertion) -> None:
    assert drawn_as(picture_of(world, effective=True), View()) == snapshot


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
    text = graph_dot(picture(*hostile_world()), View())
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


INHERITED = {"gateway.networking.k8s.io/policy": "inherited"}


def crowd(number: int) -> Picture:
    """Routes of two namespaces to a Service each, under one Gateway with a policy, and a policy on the first route."""
    listeners = (build.listener("http"), build.listener("https", "HTTPS", 443))
    gateway = build.gateway("g", *({**fields, **build.allow("All")} for fields in listeners))
    objects = [build.gateway_class(), gateway, build.crd("ColorPolicy", labels=INHERITED)]
    for index in range(number):
        home = "a" if index % 3 else "b"
        gateway_parent = build.parent("g", "http", namespace="default")
        rule = build.rule(build.backend(f"s{index}"), name="only")
        objects.append(build.route(f"r{index}", parents=[gateway_parent], rules=[rule], namespace=home))
        objects.append(build.service(f"s{index}", namespace=home))
    objects.append(build.policy("p", build.target("r0", "HTTPRoute"), namespace="b", color="red"))
    return picture(*objects)


def numbers(drawn: Boxes) -> list[tuple[str, str, int]]:
    """Each arrow by the names of its boxes, with how many links it stands for."""
    return [(arrow.tail.box, arrow.head.box, arrow.number) for arrow in drawn.arrows]


def test_nothing_is_folded_where_there_is_room() -> None:
    drawn = boxes(crowd(3), 100)
    assert drawn.folded == ""
    assert [box.id for box in drawn.boxes] == [
        "GatewayClass public",
        "Gateway default/g",
        "HTTPRoute a/r1",
        "HTTPRoute a/r2",
        "HTTPRoute b/r0",
        "Service a/s1",
        "Service a/s2",
        "Service b/s0",
        "ColorPolicy b/p",
    ]
    assert not any(box.group for box in drawn.boxes)
    from_listener = next(arrow for arrow in drawn.arrows if arrow.head == End(box="HTTPRoute b/r0"))
    assert from_listener.tail == End(box="Gateway default/g", section=0)


def test_sections_are_left_out_first() -> None:
    """But for listeners; arrows then begin at the objects."""
    drawn = boxes(crowd(3), 12)
    assert len(drawn.boxes) == 9
    shown = {box.id: len(box.members[0].sections) for box in drawn.boxes}
    assert shown["Gateway default/g"] == 2
    assert shown["HTTPRoute b/r0"] == shown["Service b/s0"] == 0
    assert ("HTTPRoute b/r0", "Service b/s0", 1) in numbers(drawn)
    assert drawn.folded.startswith("Too much to draw singly: ports and rules are left out; --show-all draws more")


def test_what_there_is_most_of_is_drawn_together() -> None:
    """Arrows say how many links they stand for, and what is single stays so."""
    drawn = boxes(crowd(30), 12)
    groups = {box.group: box.label for box in drawn.boxes if box.group}
    assert groups == {
        ("a", HTTP_ROUTE): "20 HTTPRoutes",
        ("a", SERVICE): "20 Services",
        ("b", HTTP_ROUTE): "10 HTTPRoutes",
        ("b", SERVICE): "10 Services",
    }
    routes = "HTTPRoutes in"
    assert sorted(numbers(drawn)) == [
        ("ColorPolicy b/p", f"{routes} b", 1),
        ("Gateway default/g", f"{routes} a", 20),
        ("Gateway default/g", f"{routes} b", 10),
        ("GatewayClass public", "Gateway default/g", 1),
        (f"{routes} a", "Services in a", 20),
        (f"{routes} b", "Services in b", 10),
    ]
    assert "60 objects are drawn together" in drawn.folded


def test_namespaces_are_folded_last() -> None:
    """All that is in one is one box; what is in none stays."""
    drawn = boxes(crowd(30), 6)
    assert [(box.id, box.label) for box in drawn.boxes] == [
        ("GatewayClass public", "1 GatewayClass"),
        ("Gateway default/g", "1 Gateway"),
        ("everything in a", "20 HTTPRoutes, 20 Services"),
        ("everything in b", "10 HTTPRoutes, 10 Services, 1 ColorPolicy"),
    ]
    assert not any(arrow.tail.box == arrow.head.box for arrow in drawn.arrows)


def test_what_has_too_many_arrows_is_folded_as_well() -> None:
    """Routes that are attached to each of many listeners: there are few of either, and many lines between them."""
    listeners = [build.listener(f"l{index}", port=8000 + index) for index in range(40)]
    routes = [build.route(f"r{index}") for index in range(40)]
    drawn_picture = picture(build.gateway("g", *listeners), build.service(), *routes)
    drawn = boxes(drawn_picture, 200)
    assert len(drawn_picture.links) > 1_600
    assert len(drawn.arrows) <= 400
    assert [box.label for box in drawn.boxes if box.group] == ["40 HTTPRoutes"]
    assert "drawn together" in drawn.folded


def test_a_gateway_is_not_folded_with_so_few_others() -> None:
    """One that is alone of its kind in its namespace stays as it is, with its listeners."""
    drawn = boxes(crowd(300), 20)
    gateway = next(box for box in drawn.boxes if box.members[0].ref.group_kind == GATEWAY)
    assert gateway.group is None
    assert len(gateway.members[0].sections) == 2


def test_the_reference_to_a_section_ends_at_its_object_without_sections() -> None:
    policy = build.policy("p", build.target("g", section="http"), color="red")
    drawn_picture = picture(build.gateway(), build.crd("ColorPolicy", labels=INHERITED), policy, sections=False)
    assert numbers(boxes(drawn_picture, 10)) == [
        ("GatewayClass public", "Gateway default/g", 1),
        ("ColorPolicy default/p", "Gateway default/g", 1),
    ]


def test_a_policy_about_a_policy_is_a_box_of_its_own() -> None:
    inner = build.policy("inner", build.ON_GATEWAY, color="red")
    outer = build.policy("outer", build.target("inner", "ColorPolicy", group="example.com"), color="blue")
    drawn = boxes(picture(build.gateway(), build.crd("ColorPolicy", labels=INHERITED), inner, outer), 50)
    assert [box.id for box in drawn.boxes].count("ColorPolicy default/inner") == 1
    assert ("ColorPolicy default/outer", "ColorPolicy default/inner", 1) in numbers(drawn)


def test_what_is_wrong_is_dotted_and_says_why() -> None:
    """Arrows name a section only where there are others."""
    lines = graph_mermaid(picture_of("bakery"), View()).splitlines()
    names = {line.split("[")[0].strip(): line for line in lines if "[" in line and "-->" not in line}
    gateway = next(name for name, line in names.items() if "Gateway edge" in line)
    old = next(name for name, line in names.items() if "HTTPRoute old" in line)
    assert f'  {gateway} -.->|"NoMatchingParent"| {old}' in lines
    assert any(line.strip().startswith(f'{gateway} -->|"listener https"|') for line in lines)


def test_states_are_told_by_shape_and_word_in_mermaid() -> None:
    """Of each state in the bakery."""
    text = graph_mermaid(picture_of("bakery"), View())
    assert '(["RetryPolicy own<br/>enforced"])' in text
    assert '[/"RetryPolicy resilience<br/>partially enforced"/]' in text
    assert '[\\"RetryPolicy global<br/>overridden by RetryPolicy baker/resilience"\\]' in text
    assert '{{"CircuitBreakerPolicy till-rush-hour<br/>conflicted"}}' in text
    assert '("RetryPolicy wedding<br/>not known")' in text


def test_what_was_not_applied_may_be_different_in_mermaid() -> None:
    """A policy and a route that patches change have dotted frames, and say so."""
    text = graph_mermaid(picture_of("repositories/kustomize"), View())
    assert '(["PacePolicy booking<br/>enforced, may be different"])' in text
    (doubtful,) = [line for line in text.splitlines() if line.startswith("  class ") and line.endswith(" doubtful")]
    assert len(doubtful.split()[1].split(",")) == 5


def test_it_is_folded_until_mermaid_draws_it() -> None:
    """Which it does up to 500 edges and 50,000 characters; a node says that, and how to see more."""
    routes = [build.route(f"r{index}", rules=[build.rule(build.backend(f"s{index}"))]) for index in range(700)]
    crowded = picture(build.gateway(), *routes)
    for everything in (False, True):
        text = graph_mermaid(crowded, View(everything=everything))
        assert len(text) < 50_000
        assert sum("-->" in line for line in text.splitlines()) < 500
        assert "700 HTTPRoutes" in text
        assert 'folded>"Too much to draw singly' in text


def test_names_are_names_in_mermaid() -> None:
    """No character that is syntax of anything is in a label."""
    text = graph_mermaid(picture(*hostile_world()), View())
    labels = [part for line in text.splitlines() if "%%" not in line for part in line.split('"')[1::2]]
    assert labels
    assert not any(
        character in label.replace("<br/>", "") for label in labels for character in "<>&`{}[]|%\\\x1b\u202e"
    )


@needs_mermaid
def test_mermaid_takes_every_world(tmp_path: Path) -> None:
    files: list[Path] = []
    for world in (*WORLDS, "hostile"):
        drawn_picture = picture(*hostile_world()) if world == "hostile" else picture_of(world, effective=True)
        files.append(tmp_path / f"{world.replace('/', '-')}.mmd")
        files[-1].write_text(graph_mermaid(drawn_picture, View()), "utf-8")
    assert mermaid_problems(*files) == []
