"""GraphML: the same nodes and links, as text that any reader of XML takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

from kubectl_policy.model import Gap
from kubectl_policy.model.kinds import GATEWAY_API
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphOptions
from kubectl_policy.render.graph import GRAPH
from kubectl_policy.render.graph.graphml import graph_graphml
from kubectl_policy.render.output.escape import commands
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View
from tests import build
from tests.render.graph.test_documents import ASKED, analysis_of, document_of, picture_of, shuffled
from tests.render.worlds import defaults, world
from tests.worlds.test_fixtures import WORLDS

if TYPE_CHECKING:
    from kubectl_policy.questions.graph.picture import Picture

RULE = f"HTTPRoute.{GATEWAY_API}/baker/menu#cream"
HOSTILE = (
    "\x00",
    "\\x00",
    "a\x1b[31m\u202e\ufffe\ud800",
    "]]>",
    "\"'<b>&amp;",
    "::error::x",
    "##[group]",
    "\r\n\t",
    " ",
    "größe 中",
)


def read(picture: Picture) -> Any:  # noqa: ANN401 (networkx leaves what it reads untyped)
    """The graph that networkx reads of it."""
    return cast("Any", nx).parse_graphml(graph_graphml(picture), force_multigraph=True)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", WORLDS)
def test_networkx_reads_it(name: str, asked: str) -> None:
    """As many nodes and links as the document has, by the same ids, in the same order."""
    picture = picture_of(name, asked)
    document, found = document_of(picture), read(picture)
    assert found.is_directed()
    assert [*found.nodes] == [node["id"] for node in document["nodes"]]
    ends = [(link["source"], link["target"], link["relation"], link["state"]) for link in document["links"]]
    assert sorted((*pair, facts["relation"], facts["state"]) for *pair, facts in found.edges(data=True)) == sorted(ends)


def test_a_node_has_what_the_document_has() -> None:
    """Lists and names are text, and what there is none of is left out."""
    nodes = read(picture_of("bakery")).nodes
    gateway = nodes[f"Gateway.{GATEWAY_API}/infra/edge"]
    assert {name: gateway[name] for name in gateway if name != "origin"} == {
        "type": "node",
        "group": GATEWAY_API,
        "kind": "Gateway",
        "namespace": "infra",
        "name": "edge",
        "presence": "present",
        "mayDiffer": False,
        "virtual": False,
        "settingsDiffer": False,
    }
    assert gateway["origin"].endswith("fixtures/bakery/gateways.yaml:9")
    assert nodes[f"Gateway.{GATEWAY_API}/infra/edge#admin"]["port"] == 8443
    assert nodes[RULE]["matches"] == "/cream/…"
    assert nodes[RULE]["inForce"].startswith("RetryPolicy.example.io: attempts 5; ")
    assert " (RetryPolicy.example.io/baker/resilience) on 1, 2, TimeoutPolicy.example.io: " in nodes[RULE]["inForce"]
    assert nodes[RULE]["paths"].startswith(f"1: GatewayClass.{GATEWAY_API}/public > Namespace/infra > ")


def test_a_policy_has_what_the_document_has() -> None:
    """Its state, who beats it, and what it refers to, with what came of that."""
    nodes = read(picture_of("bakery")).nodes
    policy = nodes["RetryPolicy.example.io/infra/global"]
    assert (policy["enforcement.state"], policy["enforcement.by"]) == (
        "Overridden",
        "RetryPolicy.example.io/baker/resilience",
    )
    assert policy["targets"] == f"Gateway.{GATEWAY_API}/infra/internal"
    lost = nodes["RetryPolicy.example.io/baker/wedding"]
    assert lost["targets"] == f"HTTPRoute.{GATEWAY_API}/baker/wedding-cakes (target missing)"


def test_a_link_has_what_the_document_has() -> None:
    """Its state, and the API's word for what is wrong with it."""
    ends = (f"Gateway.{GATEWAY_API}/infra/edge", f"HTTPRoute.{GATEWAY_API}/baker/old")
    (link,) = read(picture_of("bakery")).get_edge_data(*ends).values()
    assert (link["relation"], link["state"], link["reason"]) == ("route", "refused", "NoMatchingParent")


def test_the_graph_says_what_could_not_be_seen() -> None:
    """Nothing else in the file would."""
    picture = graph(world(gaps=[Gap("example.com", "ColorPolicy", "forbidden")]))
    found = read(picture).graph
    assert found["complete"] is False
    assert found["headline"] == document_of(picture)["headline"]
    assert "forbidden" in found["unseen"]
    assert "unseen" not in read(picture_of("bakery")).graph


def test_what_the_graph_is_of_is_named() -> None:
    """Subjects by their ids, kinds by theirs."""
    kinds = ASKED["kinds"].kinds
    asked = GraphOptions(subjects=(build.ref("Gateway", "edge", "infra"),), kinds=kinds, depth=1)
    found = read(graph(analysis_of("bakery"), asked)).graph
    assert found["subjects"] == f"Gateway.{GATEWAY_API}/infra/edge"
    assert found["kinds"] == f"Gateway.{GATEWAY_API}, HTTPRoute.{GATEWAY_API}"
    assert found["depth"] == 1


def test_what_names_no_target_says_where() -> None:
    """A selector that selects nothing."""
    selector: dict[str, Any] = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"app": "none"}}
    picture = graph(world(build.policy("p", targetSelectors=[selector], defaults={"color": "red"})))
    assert "spec.targetSelectors[0]" in read(picture).nodes["ColorPolicy.example.com/default/p"]["targets"]


def test_hostile_names_are_text() -> None:
    """What XML cannot hold is written out, and no two names become one."""
    resources = [
        each
        for name in HOSTILE
        for each in (
            build.route(name, rules=[build.rule(build.backend("s"), name=name, matches=[{"path": {"value": name}}])]),
            defaults(name, build.target(name, "HTTPRoute", name), color="red"),
        )
    ]
    picture = graph(world(*resources), GraphOptions(effective=True))
    text, document, found = graph_graphml(picture), document_of(picture), read(picture)
    assert text.isascii()
    assert all(line.isprintable() for line in text.split("\n"))
    assert not commands(text)
    assert len(found) == len(document["nodes"])
    assert found.number_of_edges() == len(document["links"])
    names = {facts["name"] for _, facts in found.nodes(data=True)}
    assert {"\\x00", "]]>", "\"'<b>&amp;", "\\r\\n\\t", "größe 中"} <= names
    root = ET.fromstring(text)  # noqa: S314 (our own)
    ids = [each.attrib["id"] for tag in ("key", "node", "edge") for each in root.iter(f"{{{_namespace(root)}}}{tag}")]
    assert len({*ids}) == len(ids)


def _namespace(root: ET.Element) -> str:
    return root.tag[1:].partition("}")[0]


def test_a_number_that_is_to_be_filled_in_is_text() -> None:
    """Next to numbers of other listeners."""
    listeners = (build.listener("web", port=8080), build.listener("open", port="${PORT}"))  # type: ignore[arg-type]
    nodes = read(graph(world(build.gateway("two", *listeners)))).nodes
    gateway = f"Gateway.{GATEWAY_API}/default/two"
    assert (nodes[f"{gateway}#web"]["port"], nodes[f"{gateway}#open"]["port"]) == (8080, "${PORT}")


@pytest.mark.parametrize("name", ["bakery", "delegation"])
def test_the_order_of_the_input_changes_nothing(name: str) -> None:
    """Byte for byte."""
    text = graph_graphml(picture_of(name))
    assert all(graph_graphml(graph(shuffled(analysis_of(name), seed), ASKED["everything"])) == text for seed in (1, 2))


def test_it_is_a_format() -> None:
    """What `-o graphml` prints."""
    picture = picture_of("bakery")
    assert render(GRAPH, picture, "graphml", View()) == graph_graphml(picture)
    assert graph_graphml(picture).startswith('<?xml version="1.0"?>\n<graphml ')
    assert graph_graphml(picture).endswith("</graphml>\n")
