"""The laws of paths, also where routes delegate to routes in whatever way."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import GroupKind, NodeRef, Snapshot, analyze, load_manifests
from kubectl_policy.comparison import compare
from kubectl_policy.model import Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_CLASS, HTTP_ROUTE, NAMESPACE, PORT_HOLDERS, ROUTES
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.graph.comparison import graph_of_two
from kubectl_policy.questions.graph.drawing import graph
from kubectl_policy.questions.graph.picture import GraphLink, GraphOptions, Mark, Picture
from kubectl_policy.topology import route_parent_conditions
from tests.asking import Asked, everything
from tests.build import node, parent
from tests.delegation import INHERIT, LABEL, below, http_route, labelled, path, to, world
from tests.property.changes import pairs_of_worlds, refs_in
from tests.property.choices import values_of
from tests.property.examples import examples
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, shuffled, snapshot_of
from tests.questions.graph.drawings import outcomes

kinds = st.sampled_from(
    (frozenset(), frozenset(), frozenset({GATEWAY, HTTP_ROUTE}), frozenset({GATEWAY_CLASS, *PORT_HOLDERS}))
)
options = values_of(
    GraphOptions, kinds=kinds, sections=st.booleans(), only_affected=st.booleans(), effective=st.booleans()
)
depths = st.sampled_from((None, None, 1, 2))


def ends_are_drawn(picture: Picture) -> None:
    """Every end of a link is a node, and so is the object of every section."""
    nodes = {node.ref for node in picture.nodes}
    assert len(nodes) == len(picture.nodes)
    assert {end for link in picture.links for end in (link.parent, link.child)} <= nodes
    assert {NodeRef(node.object) for node in nodes} <= nodes
    assert outcomes(picture).keys() <= nodes


@settings(max_examples=examples(10))
@given(world=worlds(), asked=options, choice=st.integers(0, 30), depth=depths, up=st.booleans(), complete=st.booleans())
def test_a_part_of_the_whole(  # noqa: PLR0913 (Hypothesis gives them by their names)
    world: World, asked: GraphOptions, choice: int, depth: int | None, *, up: bool, complete: bool
) -> None:
    """What is around something is in the picture of everything, but for what is asked about; and how it is linked."""
    analysis = analyze(snapshot_of(world, complete=complete), profiles=profiles_of(world))
    known = [ref for ref in refs_in(world) if ref.kind != "ReferenceGrant"]
    subject = known[choice % len(known)]
    # What policies have to do with may lie elsewhere, and past what is left out may be what is not around.
    asked = replace(asked, only_affected=False, kinds=frozenset())
    whole, part = graph(analysis, asked), graph(analysis, replace(asked, subjects=(subject,), up=up, depth=depth))
    ends_are_drawn(whole)
    ends_are_drawn(part)
    nodes = {node.ref: node for node in whole.nodes}
    assert all(nodes.get(node.ref, node) == node for node in part.nodes)
    alone = {node.ref.object for node in part.nodes} - {node.object for node in nodes}
    assert alone <= {subject, *(ref for ref in known if ref.group_kind == NAMESPACE)}
    # Of several links between the same nodes, not all need be around.
    linked = {replace(link, number=1) for link in part.links if link.parent.object not in alone}
    assert {(link.parent, link.child) for link in linked} <= {(link.parent, link.child) for link in whole.links}
    # Of several links that are one without sections, not all need be around.
    assert not asked.sections or linked <= {replace(link, number=1) for link in whole.links}
    assert {policy.ref for policy in part.policies} <= {policy.ref for policy in whole.policies}
    assert all(outcomes(whole)[place] == outcome for place, outcome in outcomes(part).items())
    known_as = {policy.ref: policy for policy in whole.policies}
    for policy in part.policies:
        if policy.ref == subject:
            assert policy == known_as[subject]
        elif subject not in known_as:
            assert {*policy.affected} <= {*known_as[policy.ref].affected}


@settings(max_examples=examples(15))
@given(world=worlds(), asked=options, complete=st.booleans())
def test_policies_are_where_they_count(world: World, asked: GraphOptions, *, complete: bool) -> None:
    """What they target, and what they have an effect on, is drawn; and that is what is told of each of them alone."""
    analysis = analyze(snapshot_of(world, complete=complete), profiles=profiles_of(world))
    picture = graph(analysis, asked)
    ends_are_drawn(picture)
    nodes = {node.ref for node in picture.nodes}
    for policy in picture.policies:
        assert blast_radius(analysis, policy.ref).affected == policy.affected
        targets = {attachment.target for attachment in policy.targets if attachment.target}
        for affected in targets.union(policy.affected):
            shown = affected if asked.sections else NodeRef(affected.object)
            assert shown in nodes or (asked.kinds and affected.object.group_kind not in asked.kinds)


@settings(max_examples=examples(15))
@given(world=worlds(), asked=options, choice=st.integers(0, 30), random=st.randoms(use_true_random=False))
def test_any_order_draws_the_same(world: World, asked: GraphOptions, choice: int, random: Random) -> None:
    """Of everything, and of what is around something."""
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    one, other = (analyze(state, profiles=profiles) for state in (snapshot, shuffled(snapshot, random)))
    known = [ref for ref in refs_in(world) if ref.kind != "ReferenceGrant"]
    around = replace(asked, subjects=(known[choice % len(known)],))
    for each in (asked, around):
        assert graph(one, each) == graph(other, each)


@settings(max_examples=examples(15))
@given(world=worlds(), asked=options)
def test_two_equal_states_are_one(world: World, asked: GraphOptions) -> None:
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    found = graph_of_two(compare(snapshot, snapshot, profiles=profiles), lambda _: asked)
    assert found == replace(graph(analyze(snapshot, profiles=profiles), asked), two_states=True)


@settings(max_examples=examples(10))
@given(world=worlds(), asked=options, choice=st.integers(0, 30), part=st.booleans())
def test_a_cluster_is_asked_bit_by_bit(world: World, asked: GraphOptions, choice: int, *, part: bool) -> None:
    snapshot, profiles = snapshot_of(world), profiles_of(world)
    known = [ref for ref in refs_in(world) if ref.kind != "ReferenceGrant"]
    subject = known[choice % len(known)]
    asked = replace(asked, subjects=(subject,) if part else ())
    found = Asked(snapshot, subject.namespace, profiles).answer(lambda analysis: graph(analysis, asked))
    assert found == graph(everything(snapshot, profiles), asked)


def test_other_routes_are_not_asked_for() -> None:
    """What is around one takes no list of routes, and everything takes one list of each kind."""
    snapshot = load_manifests("fixtures/bakery")
    for ref in (resource.ref for resource in snapshot.resources if resource.ref.group_kind == HTTP_ROUTE):
        assert all(name for _, name in _routes_asked_for(snapshot, GraphOptions(subjects=(ref,), effective=True)))
    assert sorted(_routes_asked_for(snapshot, GraphOptions())) == sorted((kind, "") for kind in ROUTES)


def _routes_asked_for(snapshot: Snapshot, asked: GraphOptions) -> list[tuple[GroupKind, str]]:
    """The kinds of routes, each with a name if one is asked for alone."""
    cluster = Asked(snapshot, "baker")
    assert cluster.answer(lambda analysis: graph(analysis, asked)) == graph(everything(snapshot), asked)
    return [(ask.kind, ask.name) for ask in cluster.asks if ask.kind in ROUTES]


@settings(max_examples=examples(12))
@given(pair=pairs_of_worlds(), asked=options, choice=st.integers(0, 30), part=st.booleans(), complete=st.booleans())
def test_two_states(pair: tuple[World, World], asked: GraphOptions, choice: int, *, part: bool, complete: bool) -> None:
    """What becomes of policies is what `diff` says, each state is in the picture, and the way back is the inverse."""
    profiles = profiles_of(pair[0])
    before, after = (snapshot_of(world, complete=complete) for world in pair)
    known = [ref for world in pair for ref in refs_in(world) if ref.kind != "ReferenceGrant"]
    asked = replace(asked, subjects=(known[choice % len(known)],) if part else ())
    comparison = compare(before, after, profiles=profiles)
    picture = graph_of_two(comparison, lambda _: asked)
    ends_are_drawn(picture)
    changes = {change.policy: change for change in diff(comparison).enforcement}
    for policy in picture.policies:
        change = changes.get(policy.ref)
        differs = change and change.after and change.before != change.after
        assert policy.earlier == (change.before if change and differs else None)
    for state, gone in ((comparison.before, "added"), (comparison.after, "removed")):
        # Around subjects, these have to be in that state; and what a change takes away, policies may be about no more.
        one = Picture(asked=asked, nodes=(), links=(), policies=(), unseen=()) if part else graph(state, asked)
        there = {node.ref for node in picture.nodes if node.mark != gone}
        assert {node.ref for node in one.nodes if node.presence == "present"} <= there | _namespaces(picture)
        assert {policy.ref for policy in one.policies} <= {
            policy.ref for policy in picture.policies if policy.mark != gone
        }
        if gone == "removed":
            assert {_plain(link) for link in one.links} <= {_plain(each) for each in picture.links if each.mark != gone}
    back = graph_of_two(compare(after, before, profiles=profiles), lambda _: asked)
    # Rules without a name are called as in the later state.
    if not (comparison.before.snapshot.rules or part):
        assert _marks(picture) == {what: _inverse(mark) for what, mark in _marks(back).items()}


def _namespaces(picture: Picture) -> set[NodeRef]:
    """Those that are drawn: they count as there if anything was in them in either state."""
    return {node.ref for node in picture.nodes if node.ref.object.group_kind == NAMESPACE}


def _plain(link: GraphLink) -> GraphLink:
    return replace(link, mark="", message="")


def _marks(picture: Picture) -> dict[object, Mark]:
    marks: dict[object, Mark] = {node.ref: node.mark for node in picture.nodes}
    marks.update((policy.ref, policy.mark) for policy in picture.policies)
    return marks


def _inverse(mark: Mark) -> Mark:
    return "removed" if mark == "added" else "added" if mark == "removed" else mark


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
