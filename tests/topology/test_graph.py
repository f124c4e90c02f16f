"""Nodes, edges and paths of the hierarchy."""

from __future__ import annotations

from itertools import permutations

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Json, NodeRef, Resource
from kubectl_policy.topology import LINKS, MAX_NODES, Edge, Path, Topology, is_truncated
from tests.build import (
    backend,
    dangling,
    gateway,
    gateway_class,
    grant,
    index,
    listener,
    listener_set,
    namespace,
    node,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
    service_parent,
)

OPEN: Json = {"namespaces": {"from": "All"}}
ANYONE: Json = {"namespaces": {"from": "All"}}


def bakery(*others: Resource) -> Topology:
    """GatewayClass public, Gateway infra/edge, HTTPRoute baker/baker, Service baker/oven, and whatever else."""
    edge = gateway("edge", listener("http", allowedRoutes=ANYONE), namespace="infra", allowedListeners=OPEN)
    baker = route(
        "baker",
        parents=[parent("edge", namespace="infra")],
        rules=[rule(backend("oven", 80)), rule(backend("oven", None), name="all")],
        namespace="baker",
    )
    oven = service("oven", ("http", 80), 8080, namespace="baker")
    return Topology(index(gateway_class(), edge, baker, oven, *others))


def short(path: Path) -> str:
    """A path with kinds cut down to their capitals: `GC public > N infra > G infra/edge > G infra/edge#http`."""
    capitals = ("".join(filter(str.isupper, found.kind)) for found in path)
    return " > ".join(f"{kind} {str(found).partition(' ')[2]}" for kind, found in zip(capitals, path, strict=True))


def shorts(paths: tuple[Path, ...]) -> list[str]:
    return [short(path) for path in paths]


GATEWAY = "GC public > N infra > G infra/edge"
ROUTE = f"{GATEWAY} > G infra/edge#http > N baker > HTTPR baker/baker"
OVEN = node("Service", "oven", namespace="baker", group="")


def test_a_node_with_nothing_above_it_is_its_own_path() -> None:
    topology = Topology(index())
    assert shorts(topology.paths(node("HTTPRoute", "r", "rule[7]"))) == [
        "N default > HTTPR default/r > HTTPR default/r#rule[7]"
    ]
    assert shorts(topology.paths(node("GatewayClass", "c"))) == ["GC c"]
    assert topology.paths(node("GatewayClass", "c")) is topology.paths(node("GatewayClass", "c"))
    assert shorts(topology.paths(node("Service", "s", "http", group=""))) == [
        "N default > S default/s > S default/s#http"
    ]
    assert topology.paths_through(node("Namespace", "x", group="")) == ((node("Namespace", "x", group=""),),)


def test_a_path_runs_from_the_gateway_class_to_the_port() -> None:
    """With each Namespace where it begins, and each object before its section."""
    topology = bakery()
    assert shorts(topology.paths(replace(OVEN, section="8080"))) == [
        f"{ROUTE} > HTTPR baker/baker#all > S baker/oven > S baker/oven#8080"
    ]
    assert shorts(topology.paths(replace(OVEN, section="http"))) == [
        f"{ROUTE} > HTTPR baker/baker#all > S baker/oven > S baker/oven#http",
        f"{ROUTE} > HTTPR baker/baker#rule[0] > S baker/oven > S baker/oven#http",
    ]


def test_ends_run_through_a_node_to_everything_below() -> None:
    expected = [
        f"{ROUTE} > HTTPR baker/baker#all > S baker/oven > S baker/oven#8080",
        f"{ROUTE} > HTTPR baker/baker#all > S baker/oven > S baker/oven#http",
        f"{ROUTE} > HTTPR baker/baker#rule[0] > S baker/oven > S baker/oven#http",
    ]
    topology = bakery()
    for name in ("infra", "baker"):
        assert shorts(topology.paths_through(node("Namespace", name, group=""))) == expected
    for found in (node("GatewayClass", "public"), node("Gateway", "edge", namespace="infra"), OVEN):
        assert shorts(topology.paths_through(found)) == expected
    assert shorts(topology.paths_through(node("HTTPRoute", "baker", "rule[0]", "baker"))) == expected[2:]
    assert shorts(topology.paths_through(replace(OVEN, section="8080"))) == expected[:1]


def test_the_listener_that_a_path_leads_through() -> None:
    """Of a Gateway, or of a ListenerSet; a path to a Gateway itself leads through none."""
    edge = gateway("g", listener("http"), listener("https", "https", 443))
    more = listener_set("more", listener("extra", "TLS", 8443))
    topology = Topology(index(gateway_class(), edge, more, route("r"), service("s")))
    for at, expected in (
        (node("Gateway", "g"), None),
        (node("Gateway", "g", "https"), ("https", "HTTPS", 443)),
        (node("HTTPRoute", "r"), ("http", "HTTP", 80)),
        (node("ListenerSet", "more"), None),
        (node("ListenerSet", "more", "extra"), ("extra", "TLS", 8443)),
        (node("Namespace", "default", group=""), None),
        (node("Gateway", "g", "ghost"), None),
    ):
        found = topology.listener_on(topology.paths(at)[0])
        assert (found and (found.node.section, found.protocol, found.port)) == expected


def test_a_listener_set_is_between_the_gateway_and_its_listeners() -> None:
    """Unless the Gateway does not admit it."""
    route_to_set = route("s", parents=[parent("ls", kind="ListenerSet")], namespace="baker", rules=[rule()])
    admitted = listener_set("ls", listener("x", port=81), parent="edge", parent_namespace="infra", namespace="baker")
    topology = bakery(admitted, route_to_set)
    assert shorts(topology.paths_through(node("ListenerSet", "ls", namespace="baker"))) == [
        f"{GATEWAY} > N baker > LS baker/ls > LS baker/ls#x > HTTPR baker/s > HTTPR baker/s#rule[0]"
    ]
    edge = node("Gateway", "edge", namespace="infra")
    assert topology.children(edge) == (replace(edge, section="http"), node("ListenerSet", "ls", namespace="baker"))
    stranger = listener_set("ls", listener("x", port=81), parent="closed")
    alone = Topology(index(stranger, gateway("closed")))
    assert shorts(alone.paths(node("ListenerSet", "ls", "x"))) == ["N default > LS default/ls > LS default/ls#x"]


def test_dangling_references_are_kept_as_nodes() -> None:
    """A GatewayClass and a Service that were not read are on the paths all the same."""
    found = (gateway("g"), route(parents=[parent()]))
    topology = Topology(index(*found))
    above = "GC public > N default > G default/g > G default/g#http"
    path = f"{above} > HTTPR default/r > HTTPR default/r#rule[0] > S default/s"
    assert shorts(topology.paths_through(node("Gateway", "g"))) == [path]
    assert node("GatewayClass", "public") in topology.nodes
    assert node("Service", "s", group="") in topology.nodes


def test_a_backend_in_another_namespace_needs_a_grant() -> None:
    """Without one there is no edge: the API forbids it. In an open world one may be somewhere else."""
    found = route(rules=[rule(backend(namespace="x"))])
    refused = Topology(index(found, service(namespace="x"), complete=True))
    assert refused.children(node("HTTPRoute", "r", "rule[0]")) == ()
    assert refused.parents(node("Service", "s", "8080", "x", "")) == (node("Service", "s", namespace="x", group=""),)
    for more in ((grant(namespace="x"),), ()):
        topology = Topology(index(found, service(namespace="x"), *more))
        assert topology.children(node("HTTPRoute", "r", "rule[0]")) == (node("Service", "s", "8080", "x", ""),)


def test_mirrors_are_not_below_a_rule() -> None:
    """They have to resolve, but the traffic of the hierarchy does not run through them."""
    mirror: Json = {"requestMirror": {"backendRef": {"name": "s", "port": 8080}}}
    found = route(rules=[rule(filters=[mirror])])
    topology = Topology(index(found, service()))
    assert topology.children(node("HTTPRoute", "r", "rule[0]")) == ()
    assert shorts(topology.paths(node("Service", "s", group=""))) == ["N default > S default/s"]


def test_a_parent_service_starts_the_paths_of_the_mesh() -> None:
    """They are not extended by rules that use it as a backend, and it may be its own backend."""
    own = route("own", parents=[service_parent()], rules=[rule(backend("s", 8080))])
    above = route("above", parents=[service_parent("t")], rules=[rule(backend("s", 8080))])
    topology = Topology(index(own, above, service("s"), service("t")))
    own_path = "N default > S default/s > HTTPR default/own > HTTPR default/own#rule[0] > S default/s"
    above_path = "N default > S default/t > HTTPR default/above > HTTPR default/above#rule[0] > S default/s"
    assert shorts(topology.paths(node("HTTPRoute", "own", "rule[0]"))) == [own_path.rpartition(" > ")[0]]
    assert shorts(topology.paths(node("Service", "s", group=""))) == ["N default > S default/s", own_path, above_path]
    assert shorts(topology.paths_through(node("Service", "s", group=""))) == [
        "N default > S default/s > S default/s#8080",
        f"{own_path} > S default/s#8080",
        f"{above_path} > S default/s#8080",
    ]
    assert topology.cycles() == ()


def test_a_port_of_a_parent_service_is_a_section_of_its_path() -> None:
    found = route("c", parents=[service_parent(namespace="x", port=8080)], rules=[rule()])
    topology = Topology(index(found, service(namespace="x")))
    path = "N x > S x/s > S x/s#8080 > N default > HTTPR default/c > HTTPR default/c#rule[0]"
    assert shorts(topology.paths_through(node("Service", "s", "8080", "x", ""))) == [path]
    assert path in shorts(topology.paths_through(node("Service", "s", namespace="x", group="")))
    assert topology.children(node("Service", "s", namespace="x", group="")) == (node("Service", "s", "8080", "x", ""),)


def loop() -> Topology:
    """Three routes that refer to each other as backends, two of them in a circle with a third beside it."""
    kind: dict[str, Json] = {"kind": "HTTPRoute", "group": "gateway.networking.k8s.io"}
    rules = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["a"]}
    routes = [
        route(
            name,
            parents=[parent()] if name == "d" else [],
            rules=[rule(*(backend(to, None, **kind) for to in targets))],  # type: ignore[arg-type]  # JSON
        )
        for name, targets in rules.items()
    ]
    return Topology(index(gateway_class(), gateway(), *routes))


def test_cycles_end() -> None:
    """Where routes are backends of routes, each node is on a path once."""
    topology = loop()
    assert shorts(topology.cycles()) == [
        "HTTPR default/a > HTTPR default/a#rule[0] > HTTPR default/c > HTTPR default/c#rule[0]"
    ]
    head = "GC public > N default > G default/g > G default/g#http"
    down = f"{head} > HTTPR default/d > HTTPR default/d#rule[0] > HTTPR default/a > HTTPR default/a#rule[0]"
    assert shorts(topology.paths_through(node("HTTPRoute", "d"))) == [
        f"{down} > HTTPR default/b > HTTPR default/b#rule[0] > HTTPR default/c > HTTPR default/c#rule[0]",
        f"{down} > HTTPR default/c > HTTPR default/c#rule[0]",
    ]
    assert shorts(topology.paths(node("HTTPRoute", "a"))) == [down.rpartition(" > ")[0]]
    assert shorts(topology.paths(node("HTTPRoute", "c"))) == [
        f"{down} > HTTPR default/b > HTTPR default/b#rule[0] > HTTPR default/c",
        f"{down} > HTTPR default/c",
    ]


def test_a_very_long_way_is_cut() -> None:
    """Input decides how deep routes refer to routes, so a path has a longest length."""
    routes = [
        route(
            f"r{number}",
            parents=[] if number else [parent()],
            rules=[rule(backend(f"r{number + 1}", None, kind="HTTPRoute", group=HTTP))],
        )
        for number in range(400)
    ]
    for more in ([], [gateway_class()]):
        topology = Topology(index(gateway(), *more, *routes))
        (up,) = topology.paths(node("HTTPRoute", "r399"))
        (down,) = topology.paths_through(node("HTTPRoute", "r0"))
        assert is_truncated(up)
        assert is_truncated(down)
        assert all(len(path) in {MAX_NODES + 1, MAX_NODES + 2} for path in (up, down))
        assert not is_truncated(topology.paths(node("HTTPRoute", "r9"))[0])


def test_a_path_does_not_depend_on_what_was_asked_before() -> None:
    """Where paths are cut, they are cut alike whether what is above them is known or not."""
    refers = [[rule(backend(f"r{number + 1}", None, kind="HTTPRoute", group=HTTP))] for number in range(50)]
    routes = [route(f"r{at}", parents=[] if at else [parent()], rules=rules) for at, rules in enumerate(refers)]
    one, other = Topology(index(gateway(), *routes)), Topology(index(gateway(), *routes))
    last = node("HTTPRoute", "r49")
    for number in range(49):
        assert one.paths(node("HTTPRoute", f"r{number}"))
    assert one.paths(last) == other.paths(last)


HTTP = "gateway.networking.k8s.io"


def test_edges_name_the_row_of_their_relation() -> None:
    admitted = listener_set("ls", listener("x", port=81), parent="edge", parent_namespace="infra", namespace="baker")
    mesh = route("m", parents=[service_parent("oven")], rules=[rule()], namespace="baker")
    edges = bakery(admitted, mesh, namespace("baker")).edges
    assert {edge.link for edge in edges} == {link.name for link in LINKS}
    assert Edge(OVEN, node("HTTPRoute", "m", namespace="baker"), "mesh-route") in edges
    assert Edge(node("Namespace", "baker", group=""), OVEN, "namespace") in edges
    assert edges == tuple(sorted(edges))


def test_a_relation_has_ends_of_the_kinds_that_it_names_alone() -> None:
    admitted = listener_set("ls", listener("x", port=81), parent="edge", parent_namespace="infra", namespace="baker")
    mesh = route("m", parents=[service_parent("oven")], rules=[rule()], namespace="baker")
    topology = bakery(admitted, mesh, namespace("baker"))
    for found in topology.nodes:
        for link in LINKS:
            if any(True for _ in link.children(topology.relations, found)):
                assert found.object.group_kind in link.parent_kinds
            if any(True for _ in link.parents(topology.relations, found)):
                assert link.child_kinds is None or found.object.group_kind in link.child_kinds


def test_children_and_parents_are_two_views_of_the_edges() -> None:
    topology = bakery(route("m", parents=[service_parent("oven", port=80)], namespace="baker"))
    for found in topology.nodes:
        assert {edge.child for edge in topology.edges if edge.parent == found} == set(topology.children(found))
        assert {edge.parent for edge in topology.edges if edge.child == found} == set(topology.parents(found))


def test_the_order_of_the_input_does_not_matter() -> None:
    """Nodes, edges, paths and the way down are the same for every order of documents."""
    found = list(bakery().index.snapshot.resources)
    answers: set[object] = set()
    for order in permutations(found):
        topology = Topology(index(*order))
        answers.add((topology.nodes, topology.edges, tuple(map(topology.paths, topology.nodes))))
    assert len(answers) == 1


def test_the_topology_is_a_graph_of_networkx() -> None:
    """With the same nodes and edges, and the link on each edge."""
    topology = bakery()
    graph = topology.to_networkx()
    assert set(graph.nodes) == set(topology.nodes)
    assert {Edge(one, other, graph[one][other]["link"]) for one, other in graph.edges} == set(topology.edges)


@pytest.mark.parametrize(
    ("found", "sections"),
    [
        (gateway("x", listener("b"), listener("a", port=1)), ("b", "a")),
        (listener_set("x"), ("http",)),
        (route("x", rules=[rule(), rule(name="r")]), ("rule[0]", "r")),
        (service("x", ("http", 80), 81), ("http", "81")),
        (resource("ServiceImport", "x", {"ports": [{"port": 1}]}, group="multicluster.x-k8s.io"), ("1",)),
        (namespace("x"), ()),
    ],
)
def test_sections_are_in_the_order_of_the_object(found: Resource, sections: tuple[str, ...]) -> None:
    """Listeners, rules or ports; other kinds have none."""
    assert Topology(index(found)).sections(found.ref) == sections


def test_a_section_that_does_not_exist_has_nothing_around_it() -> None:
    topology = bakery()
    wrong: list[NodeRef] = [
        node("Gateway", "edge", "wrong", "infra"),
        node("HTTPRoute", "baker", "wrong", "baker"),
        node("ListenerSet", "ls", "wrong"),
    ]
    for found in wrong:
        assert topology.children(found) == ()
        assert topology.parents(found) == ()


def test_a_name_may_be_asked_without_being_there() -> None:
    assert Topology(index()).sections(ref("Gateway", "nowhere")) == ()


class TestWeights:
    """Backends with weight 0: "no traffic should be forwarded for this entry" (BackendRef.Weight)."""

    @staticmethod
    def of(*weights: int | None) -> Topology:
        backends = [backend(f"s{at}", weight=weight) for at, weight in enumerate(weights)]
        services = [service(f"s{at}") for at in range(len(weights))]
        return Topology(
            index(gateway_class(), gateway(), route("r", rules=[rule(*backends)]), *services, complete=True)
        )

    @staticmethod
    def at(number: int) -> NodeRef:
        return node("Service", f"s{number}", group="")

    def test_no_path_leads_there(self) -> None:
        """But to what has another weight, or says nothing of it."""
        topology = self.of(0, 1, None)
        lengths = [{len(path) for path in topology.paths(self.at(number))} for number in range(3)]
        assert lengths == [{2}, {7}, {7}]
        assert {path[-1].object.name for path in topology.paths_through(node("HTTPRoute", "r"))} == {"s1", "s2"}
        assert [topology.carries_traffic(topology.paths(self.at(at))[0]) for at in range(3)] == [False, True, True]
        assert topology.relations.routes_forwarding_to(self.at(0).object) == ()
        assert topology.relations.routes_referring_to(self.at(0).object) == (ref("HTTPRoute", "r"),)

    def test_requests_may_come_otherwise(self) -> None:
        """From another route, or since routes name it as a parent."""
        made = route("r", rules=[rule(backend("s0", weight=0))])
        other = route("o", rules=[rule(backend("s0", weight=3))])
        mesh = route("m", parents=[service_parent("s0")])
        for more in (other, mesh):
            topology = Topology(index(gateway_class(), gateway(), made, more, service("s0"), complete=True))
            assert all(topology.carries_traffic(path) for path in topology.paths(self.at(0)))

    def test_it_still_has_to_be_there(self) -> None:
        made = route("r", rules=[rule(backend("gone", weight=0), backend("s"))])
        topology = Topology(index(gateway(), made, service("s"), complete=True))
        assert [found.reason for found in topology.backends(made.ref)] == ["BackendNotFound", ""]

    def test_a_mirror_is_no_backend_of_the_rule(self) -> None:
        mirror: Json = {"type": "RequestMirror", "requestMirror": {"backendRef": backend("s1")}}
        made = route("r", rules=[rule(backend("s0", weight=0), filters=[mirror])])
        topology = Topology(index(gateway_class(), gateway(), made, service("s0"), service("s1"), complete=True))
        assert [found.rule for found in dangling(topology)] == ["no-weight"]

    def test_many_references_to_listeners(self) -> None:
        """Each is found at its listener, however often it is asked for."""
        listeners = [listener(f"l{at}", port=80 + at) for at in range(10)]
        made = route("r", parents=[parent("g", section=f"l{at}") for at in range(10)])
        topology = Topology(index(gateway_class(), gateway("g", *listeners), made, complete=True))
        for at in (0, 9):
            (found,) = topology.relations.bindings_at(made.ref, node("Gateway", "g", f"l{at}"))
            assert (found.state, found.parent_index) == ("attached", at)
        assert len(topology.relations.bindings_at(made.ref, ref("Gateway", "g"))) == 10

    def test_a_rule_without_any_weight(self) -> None:
        (found,) = dangling(self.of(0, 0))
        assert (found.rule, found.severity, found.field) == ("no-weight", "warning", "spec.rules[0].backendRefs")
        assert dangling(self.of(0, 1)) == ()


def test_a_route_of_several_parents_is_below_each() -> None:
    made = route("r", parents=[parent("g"), parent("h"), parent("g", "http")])
    topology = Topology(index(gateway("g"), gateway("h"), made, service(), complete=True))
    for name in ("g", "h"):
        assert topology.relations.attached_to(node("Gateway", name, "http")) == (made.ref,)
