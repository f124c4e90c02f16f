"""The laws of paths where routes delegate to routes in whatever way: they end, and lead nowhere twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.model import Json, NodeRef, Resource
from kubectl_policy.topology import route_parent_conditions
from tests.build import node, parent
from tests.delegation import INHERIT, LABEL, below, http_route, labelled, path, to, world

NAMES = ("a", "b", "c", "d", "e")
REFERENCES: st.SearchStrategy[dict[str, Json]] = st.one_of(
    st.builds(to, st.sampled_from((*NAMES, "*", "ghost")), st.sampled_from((None, "x"))),
    st.builds(labelled, st.sampled_from(("v", "w")), st.sampled_from((None, "all"))),
)
PATHS = st.builds(path, st.sampled_from(("/", "/a", "/a/b")), st.sampled_from(("PathPrefix", "Exact")))
RULES = st.fixed_dictionaries({"backendRefs": st.lists(REFERENCES, max_size=3), "matches": st.lists(PATHS, max_size=2)})


@st.composite
def routes(draw: st.DrawFn) -> list[Resource]:
    """A few routes that refer to each other; some are attached to a Gateway, some name their parents."""
    found: list[Resource] = []
    for name in NAMES:
        parents = draw(st.lists(st.one_of(st.just(parent()), st.builds(below, st.sampled_from(NAMES))), max_size=2))
        found.append(
            http_route(
                name,
                *draw(st.lists(RULES, max_size=2)),
                parents=parents,
                hostnames=draw(st.sampled_from(((), (), (), ("h",)))),
                namespace=draw(st.sampled_from(("default", "default", "x"))),
                labels={LABEL: draw(st.sampled_from(("v", "w")))},
                annotations={INHERIT: draw(st.sampled_from(("true", "false")))},
            )
        )
    return found


@given(found=routes())
def test_paths_end_and_have_each_node_once(found: list[Resource]) -> None:
    topology = world(*found)
    for one in topology.nodes:
        for each in (*topology.paths(one), *topology.paths_through(one)):
            assert len(set(each)) == len(each)
    assert all(len(set(cycle)) == len(cycle) for cycle in topology.cycles())


@given(found=routes())
def test_a_path_takes_the_delegations_that_there_are(found: list[Resource]) -> None:
    """From a rule to a route only by one of them, and on to a rule that it reaches; each is on some path."""
    topology = world(*found)
    taken = {
        (one.parent, NodeRef(one.child, rule))
        for resource in found
        for one in topology.relations.delegations.to(resource.ref)
        for rule in one.rules
    }
    ends = {end for resource in found for end in topology.paths_through(NodeRef(resource.ref))}
    ways = {
        (above, rule)
        for end in (tuple(one for one in end if one.kind != "Namespace") for end in ends)
        for above, route, rule in zip(end, end[1:], end[2:], strict=False)
        if above.kind == "HTTPRoute" and above.section and route.kind == "HTTPRoute" and not route.section
    }
    assert ways <= taken
    attached = {(above, rule) for above, rule in taken if not topology.relations.is_unattached(above.object)}
    assert attached <= ways


@given(found=routes())
def test_what_is_reached_is_what_is_below(found: list[Resource]) -> None:
    """A rule is on a path from the Gateway exactly if its own paths start there."""
    topology = world(*found)
    http = node("Gateway", "g", "http")
    below_it = {one for end in topology.paths_through(http) for one in end}
    for resource in found:
        for section in topology.sections(resource.ref):
            rule = NodeRef(resource.ref, section)
            assert (rule in below_it) == any(http in way for way in topology.paths(rule))


@given(found=routes())
def test_the_order_of_documents_does_not_matter(found: list[Resource]) -> None:
    """Every delegation, with its reason, and every status."""
    one, other = world(*found), world(*reversed(found))
    for resource in found:
        assert one.relations.delegations.to(resource.ref) == other.relations.delegations.to(resource.ref)
        assert route_parent_conditions(one, resource.ref) == route_parent_conditions(other, resource.ref)
        assert one.backends(resource.ref) == other.backends(resource.ref)
