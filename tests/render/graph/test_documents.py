"""The document of a picture: all that the picture knows, as programs for graphs read it."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, cast

import networkx as nx
import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model import Gap, GroupKind
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, HTTP_ROUTE
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphOptions, node_id
from kubectl_policy.topology.links import LINKS
from tests import build
from tests.render.schema import VALIDATOR
from tests.render.shown import as_json
from tests.render.shown import document_of as document_of_answer
from tests.render.worlds import defaults, world
from tests.worlds.test_fixtures import WORLDS, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy import Analysis, NodeRef
    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.questions.graph.picture import Picture

EDGE = f"Gateway.{GATEWAY_API}/infra/edge"
ASKED = {
    "everything": GraphOptions(effective=True),
    "objects": GraphOptions(sections=False),
    "kinds": GraphOptions(kinds=frozenset({GATEWAY, HTTP_ROUTE}), only_affected=True),
    "policy-kind": GraphOptions(policy_kinds=frozenset({GroupKind("example.io", "RetryPolicy")})),
}


@cache
def analysis_of(name: str) -> Analysis:
    return load(name)


def picture_of(name: str, asked: str = "everything") -> Picture:
    return graph(analysis_of(name), ASKED[asked])


def document_of(picture: Picture) -> dict[str, Any]:
    return document_of_answer(picture)


def of_world(*resources: Resource, asked: GraphOptions | None = None, gaps: Sequence[Gap] = ()) -> dict[str, Any]:
    """The document of the small world with what is given."""
    return document_of(graph(world(*resources, gaps=gaps), asked or GraphOptions()))


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["id"]: node for node in document["nodes"]}


def links_of(document: dict[str, Any], source: str, target: str) -> list[dict[str, Any]]:
    return [link for link in document["links"] if (link["source"], link["target"]) == (source, target)]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", WORLDS)
def test_every_world_is_as_the_schema_says(name: str, asked: str) -> None:
    """And each link leads from one node of the document to another one, told apart from any other."""
    document = document_of(picture_of(name, asked))
    VALIDATOR.validate(document)
    ids = [node["id"] for node in document["nodes"]]
    ends = [(link["source"], link["target"], link["key"]) for link in document["links"]]
    assert len({*ids}) == len(ids)
    assert len({*ends}) == len(ends)
    assert {end for source, target, _ in ends for end in (source, target)} <= {*ids}


@pytest.mark.parametrize("name", WORLDS)
def test_networkx_reads_it(name: str) -> None:
    document = document_of(picture_of(name))
    read = cast("Any", nx).node_link_graph(document, edges="links")
    assert (read.is_directed(), read.is_multigraph()) == (True, True)
    assert read.graph == document["graph"]
    assert [{"id": entry, **facts} for entry, facts in read.nodes(data=True)] == document["nodes"]
    links = {
        (source, target, key): {"source": source, "target": target, "key": key, **facts}
        for source, target, key, facts in read.edges(keys=True, data=True)
    }
    assert links == {(link["source"], link["target"], link["key"]): link for link in document["links"]}


@pytest.mark.parametrize("name", WORLDS)
def test_every_reference_of_a_policy_is_there(name: str) -> None:
    """In `targets`, whatever came of it; and as a link if anything is drawn where it leads."""
    picture = picture_of(name)
    document = document_of(picture)
    nodes = by_id(document)
    for policy in picture.policies:
        drawn = nodes[node_id(policy.ref)]
        assert [entry["state"] for entry in drawn["targets"]] == [entry.state for entry in policy.targets]
        links = [
            (link["target"], link["state"], link["reason"], link["message"])
            for link in document["links"]
            if link["source"] == drawn["id"] and link["relation"] == "attachment"
        ]
        assert links == [
            (node_id(entry.target), entry.state, MEANINGS[entry.state].api_reason, entry.message)
            for entry in policy.targets
            if entry.target
        ]


def test_the_document_says_what_it_is() -> None:
    document = document_of(picture_of("bakery"))
    assert {*document} == {
        *("apiVersion", "kind", "headline", "complete", "unknown", "directed", "multigraph", "graph", "nodes"),
        *("links", "unseen"),
    }
    assert (document["kind"], document["complete"], document["unseen"]) == ("Graph", True, [])
    assert document["headline"].startswith("2 Gateways")
    assert (document["graph"]["effective"], document["graph"]["subjects"]) == (True, [])
    parts = document_of(picture_of("bakery", "kinds"))["graph"]
    assert [kind["kind"] for kind in parts["kinds"]] == ["Gateway", "HTTPRoute"]


def test_what_could_not_be_seen_is_said_twice() -> None:
    """Networkx keeps nothing but what is in `graph`."""
    document = of_world(gaps=[Gap("example.com", "ColorPolicy", "forbidden")])
    assert document["unseen"]
    assert (document["complete"], document["graph"]["complete"]) == (False, False)


def test_an_overridden_policy() -> None:
    """The bakery's global retries set nothing, as the baker has its own."""
    nodes = by_id(document_of(picture_of("bakery")))
    policy = nodes["RetryPolicy.example.io/infra/global"]
    assert (policy["type"], policy["namespace"], policy["name"]) == ("policy", "infra", "global")
    assert (policy["role"], policy["class"], policy["knownBy"]) == ("policy", "inherited", "label")
    assert policy["enforcement"]["state"] == "Overridden"
    assert [ref["name"] for ref in policy["enforcement"]["by"]] == ["resilience"]
    assert (policy["affected"], policy["earlier"], policy["contrary"], policy["mark"]) == ([], None, None, "")
    assert nodes["CircuitBreakerPolicy.example.io/baker/till"]["affected"] == ["Service/baker/till#8080"]


def test_a_refused_route() -> None:
    """It names a listener that the Gateway has not."""
    (link,) = links_of(document_of(picture_of("bakery")), EDGE, f"HTTPRoute.{GATEWAY_API}/baker/old")
    assert (link["key"], link["relation"], link["state"], link["reason"]) == (
        "route",
        "route",
        "refused",
        "NoMatchingParent",
    )
    assert "has no listener legacy" in link["message"]


def test_a_policy_whose_target_is_not_there() -> None:
    """Its target is a node that is missing, and the link says why it is not attached."""
    document = document_of(picture_of("bakery"))
    target = f"HTTPRoute.{GATEWAY_API}/baker/wedding-cakes"
    assert by_id(document)[target]["presence"] == "missing"
    assert by_id(document)[target]["origin"] is None
    (link,) = links_of(document, "RetryPolicy.example.io/baker/wedding", target)
    assert (link["state"], link["reason"], link["declaredIn"]) == (
        "target missing",
        "TargetNotFound",
        "spec.targetRefs[0]",
    )


def test_what_a_listener_a_rule_and_a_port_are() -> None:
    nodes = by_id(document_of(picture_of("bakery")))
    admin = nodes[f"{EDGE}#admin"]
    assert (admin["section"], admin["protocol"], admin["port"], admin["hostname"]) == (
        "admin",
        "HTTPS",
        8443,
        "*.admin.example.com",
    )
    assert nodes["Service/baker/stock#grpc"]["port"] == 9000
    assert nodes[f"HTTPRoute.{GATEWAY_API}/baker/menu"]["hostnames"] == ["menu.example.com"]
    (match,) = nodes[f"HTTPRoute.{GATEWAY_API}/baker/menu#cream"]["matches"]
    assert match["path"]["value"] == "/cream"
    assert nodes[EDGE]["port"] is None


def test_what_is_in_force_at_a_rule() -> None:
    """Which policies win, on which of the paths that carry traffic there; nothing where that was not asked for."""
    rule = f"HTTPRoute.{GATEWAY_API}/baker/menu#cream"
    document = by_id(document_of(picture_of("bakery")))[rule]
    assert [path["number"] for path in document["paths"]] == [1, 2]
    assert [path["nodes"][3]["section"] for path in document["paths"]] == ["https", "http"]
    outcomes = [
        (entry["policyKind"]["kind"], [ref["name"] for ref in entry["policies"]], entry["paths"])
        for entry in document["inForce"]
    ]
    assert outcomes == [
        ("RetryPolicy", ["resilience"], [1, 2]),
        ("TimeoutPolicy", ["strict"], [1]),
        ("BackendTLSPolicy", ["cream"], [1, 2]),
    ]
    assert all(entry["certain"] and entry["summary"] for entry in document["inForce"])
    bare = by_id(document_of(picture_of("bakery", "policy-kind")))[rule]
    assert (bare["paths"], bare["inForce"]) == ([], [])


def test_an_object_stands_for_its_sections() -> None:
    """Where sections are left out, a policy on a listener is linked to the Gateway; `targets` says which is meant."""
    document = document_of(picture_of("bakery", "objects"))
    assert not any(node["section"] for node in document["nodes"] if node["type"] == "node")
    (link,) = links_of(document, "TimeoutPolicy.example.io/infra/strict", EDGE)
    assert link["state"] == "attached"
    (target,) = by_id(document)["TimeoutPolicy.example.io/infra/strict"]["targets"]
    assert target["target"]["section"] == "https"


def test_links_past_what_is_left_out_say_so() -> None:
    kinds = frozenset({GATEWAY, GroupKind("", "Service")})
    document = document_of(graph(analysis_of("bakery"), GraphOptions(kinds=kinds, sections=False)))
    (link,) = links_of(document, EDGE, "Service/baker/oven")
    assert link["past"]
    # What a policy refers to and is not drawn is no link; it is a target still.
    policy = by_id(document)["RetryPolicy.example.io/baker/quick"]
    assert [entry["target"]["name"] for entry in policy["targets"]] == ["baker"]
    assert all(link["source"] != policy["id"] for link in document["links"])


def test_a_policy_that_names_a_target_twice_has_two_links() -> None:
    document = of_world(defaults("p", build.ON_ROUTE, build.ON_ROUTE, color="red"))
    links = links_of(document, "ColorPolicy.example.com/default/p", f"HTTPRoute.{GATEWAY_API}/default/r")
    assert [(link["key"], link["declaredIn"]) for link in links] == [
        ("attachment", "spec.targetRefs[0]"),
        ("attachment 2", "spec.targetRefs[1]"),
    ]


def test_a_policy_that_is_a_target_is_one_thing() -> None:
    named = build.target("p", "ColorPolicy", group="example.com")
    document = of_world(defaults("p", build.ON_ROUTE, color="red"), defaults("q", named, color="blue"))
    VALIDATOR.validate(document)
    ids = [node["id"] for node in document["nodes"]]
    assert ids.count("ColorPolicy.example.com/default/p") == 1
    assert by_id(document)["ColorPolicy.example.com/default/p"]["type"] == "policy"
    assert links_of(document, "ColorPolicy.example.com/default/q", "ColorPolicy.example.com/default/p")


def test_a_selector_that_selects_nothing_is_told_in_targets() -> None:
    """There is nothing that a link could lead to."""
    selector: dict[str, Json] = {"group": GATEWAY_API, "kind": "HTTPRoute", "matchLabels": {"app": "none"}}
    document = of_world(build.policy("p", targetSelectors=[selector], defaults={"color": "red"}))
    VALIDATOR.validate(document)
    policy = by_id(document)["ColorPolicy.example.com/default/p"]
    assert [(entry["target"], entry["declaredIn"]) for entry in policy["targets"]] == [
        (None, "spec.targetSelectors[0]")
    ]
    assert all(link["source"] != policy["id"] for link in document["links"])


def test_two_states() -> None:
    picture = graph(world(defaults("p", build.ON_ROUTE, color="red")))
    (policy,) = picture.policies
    two = replace(
        picture,
        two_states=True,
        nodes=tuple(replace(node, mark="changed", settings_differ=True) for node in picture.nodes),
        links=tuple(replace(link, mark="removed") for link in picture.links),
        policies=(replace(policy, mark="added", earlier="NoEffect"),),
    )
    document = document_of(two)
    VALIDATOR.validate(document)
    assert document["graph"]["twoStates"]
    assert {(node["type"], node["mark"]) for node in document["nodes"]} == {("node", "changed"), ("policy", "added")}
    assert all(node["settingsDiffer"] for node in document["nodes"] if node["type"] == "node")
    assert document["nodes"][-1]["earlier"] == "NoEffect"
    marks = {(link["relation"] == "attachment", link["mark"]) for link in document["links"]}
    assert marks == {(False, "removed"), (True, "added")}
    changed = document_of(replace(two, policies=(replace(policy, mark="changed"),)))
    assert {link["mark"] for link in changed["links"] if link["relation"] == "attachment"} == {""}


def test_a_port_that_is_to_be_filled_in() -> None:
    document = of_world(build.gateway("open", build.listener("web", port="${PORT}")))  # type: ignore[arg-type]
    VALIDATOR.validate(document)
    assert by_id(document)[f"Gateway.{GATEWAY_API}/default/open#web"]["port"] == "${PORT}"


def test_relations_are_those_of_the_hierarchy() -> None:
    definition: Any = VALIDATOR.schema["$defs"]["GraphLink"]["properties"]["relation"]
    named = definition["description"].rstrip(".").replace(" or ", ", ").split(", ")
    assert named == [link.name for link in LINKS if link.carries != "place"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (build.ref("HTTPRoute", "b", "a"), build.ref("HTTPRoute", "a/b", "")),
        (build.ref("HTTPRoute", "b/c", "a"), build.ref("HTTPRoute", "c", "a/b")),
        (build.ref("HTTPRoute", "a/b"), build.ref("HTTPRoute", "a%2Fb")),
        (build.ref("A.b", "x", group="c"), build.ref("A", "x", group="b.c")),
        (build.ref("A", "x", group=""), build.ref("A/x", "", "", group="")),
    ],
)
def test_no_two_objects_have_the_same_id(first: ObjectRef, second: ObjectRef) -> None:
    """Also where a file calls them as no API server would."""
    assert node_id(first) != node_id(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (build.node("HTTPRoute", "a#b"), build.node("HTTPRoute", "a", "b")),
        (build.node("HTTPRoute", "a", "b#c"), build.node("HTTPRoute", "a#b", "c")),
    ],
)
def test_no_two_nodes_have_the_same_id(first: NodeRef, second: NodeRef) -> None:
    """A section is told from a part of a name."""
    assert node_id(first) != node_id(second)


def test_hostile_names_are_kept() -> None:
    """The document is data: what a name holds is in it as it was."""
    name = "\x00\x1b]]>\"'<b>&\ud800\u202e\n::error::##[group]"
    document = of_world(defaults(name, build.target(name, "HTTPRoute", name), color="red"), build.route(name))
    VALIDATOR.validate(document)
    assert name in {node["name"] for node in document["nodes"] if node["type"] == "node"}
    assert name in {node["name"] for node in document["nodes"] if node["type"] == "policy"}
    assert name in {node.get("section") for node in document["nodes"]}


def shuffled(analysis: Analysis, seed: int) -> Analysis:
    """The analysis of the same objects, read in another order."""
    resources = list(analysis.snapshot.resources)
    Random(seed).shuffle(resources)  # noqa: S311 (nothing is secret)
    return analyze(replace(analysis.snapshot, resources=tuple(resources)))


@pytest.mark.parametrize("name", ["bakery", "delegation", "envoy-gateway", "kgateway"])
def test_the_order_of_the_input_changes_nothing(name: str) -> None:
    analysis = analysis_of(name)
    for asked in ASKED.values():
        text = as_json(document_of(graph(analysis, asked)))
        assert all(as_json(document_of(graph(shuffled(analysis, seed), asked))) == text for seed in range(3))
