"""Random small worlds and policy kinds: everything that the semantics cover, on few names, so that objects meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from hypothesis import strategies as st

from kubectl_policy.model import GroupKind, Json, NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.oracle import full_paths, obj, sections
from tests.property.world import OURS, STRATEGIES, Gateway, Kind, Levels, Policy, Route, Rule, Service, Style, World

if TYPE_CHECKING:
    from collections.abc import Mapping

    _Named = TypeVar("_Named", Gateway, Route, Service)


_GATEWAY, _HTTP_ROUTE = GroupKind(GATEWAY_API, "Gateway"), GroupKind(GATEWAY_API, "HTTPRoute")
_SERVICE = GroupKind("", "Service")
_LEVELS: Final[tuple[Levels, ...]] = (
    (),
    ((_SERVICE, False),),
    ((_SERVICE, True), (_SERVICE, False)),
    ((_HTTP_ROUTE, False),),
    ((_HTTP_ROUTE, True),),
    ((_GATEWAY, True),),
)
_PARENTS: Final[tuple[Levels, ...]] = ((), (), ((_GATEWAY, False), (_GATEWAY, True)), ((_HTTP_ROUTE, False),))
_STYLES: Final[tuple[Style, ...]] = ("bare", "bare", "bare", "plural", "plural", "singular", "apart", "keyed")
_WHOLE: Final = (
    frozenset[str](),
    frozenset({"m"}),
    frozenset({"m.*"}),
    frozenset({"*"}),
    frozenset({"l[name]"}),
    frozenset({"l[name]", "*.x", "m.l[name]"}),
)


@st.composite
def kinds(draw: st.DrawFn) -> Kind:
    """A kind without a name; challengers choose only where a policy can say how it merges."""
    style = draw(st.sampled_from(_STYLES))
    by_challenger = style == "bare" and draw(st.booleans())
    return Kind(
        "",
        direct=draw(st.sampled_from((False, False, True))),
        style=style,
        fold=draw(st.sampled_from((None, None, "bottom-up", "top-down"))),
        same_level=draw(
            st.sampled_from((None, None, "newest-challenges", "first-wins", "one-applies", "disjoint", "disjoint"))
        ),
        levels=draw(st.sampled_from(_LEVELS)),
        object_fields=draw(st.sampled_from(({}, {}, {"a": "spec.own.a", "m.x": "spec.own.x"}))),
        whole=draw(st.sampled_from(_WHOLE)),
        chooser="challenger" if by_challenger else "established",
        merges_with=draw(st.sampled_from(("every", "every", "closest"))) if by_challenger else "every",
        merge_parents=draw(st.sampled_from(_PARENTS)) if by_challenger else (),
        sections=draw(st.sampled_from((None, None, "refine", "replace"))),
        controllers=draw(st.sampled_from((frozenset[str](), frozenset[str](), frozenset({OURS, "x.com/other"})))),
        nulls=draw(st.sampled_from(("remove", "remove", "ignore"))),
        ordered=draw(st.sampled_from((False, False, True))),
        about=draw(st.sampled_from(("", "", "e"))),
        refusal=draw(st.sampled_from(("there", "everywhere"))),
        weighted=draw(st.sampled_from((False, False, True))),
    )


NAMESPACES = ("ns", "other")
_MISSING = (obj(GATEWAY_API, "Gateway", "ns", "ghost"), NodeRef(obj("", "Service", "ns", "s0").object, "ghost"))

namespaces = st.sampled_from(("ns", "ns", "ns", "other"))
scalars = st.sampled_from((1, 2, "x", None))
INNER: tuple[Json, ...] = (1, 2, "x", None, {}, {"d": 1}, {"d": None})
values: st.SearchStrategy[Json] = st.one_of(
    scalars,
    st.lists(st.integers(0, 2), max_size=2),
    st.dictionaries(st.sampled_from("xyzl"), st.sampled_from((*INNER, [{"name": "x"}])), max_size=2),
)
# Lists of elements with names, and what may stand there instead: other lists, the same names twice, no list at all.
LISTS: tuple[Json, ...] = (
    [{"name": "x", "v": 1}],
    [{"name": "x", "v": 2}, {"name": "y"}],
    [{"name": "y", "v": {"d": 1}}, {"name": "z"}],
    [],
    [],
    [{"name": "x"}, {"name": "x"}],
    [{"name": "x"}, {"v": 1}],
    [1],
    {"x": 1},
    {},
    None,
)
# What a kind is about (see `Kind`): never removed and never nothing, so that with it a spec is not empty.
ABOUT: tuple[Json, ...] = (1, {"x": 1}, {"x": 2, "y": 1})
specs: st.SearchStrategy[Mapping[str, Json]] = st.tuples(
    st.dictionaries(st.sampled_from("abm"), values, max_size=3),
    st.dictionaries(st.just("l"), st.sampled_from(LISTS), max_size=1),
    st.dictionaries(st.just("e"), st.sampled_from(ABOUT), max_size=1),
).map(lambda fields: {**fields[0], **fields[1], **fields[2]})

listeners = st.lists(
    st.tuples(st.sampled_from(("l0", "l1")), st.sampled_from(("All", "All", "Same"))),
    min_size=1,
    max_size=2,
    unique_by=lambda listener: listener[0],
).map(tuple)
gateways = st.builds(
    Gateway,
    namespaces,
    st.sampled_from(("g0", "g1")),
    st.sampled_from(("public", "public", "theirs", "unread")),
    listeners,
)
services = st.builds(
    Service, namespaces, st.sampled_from(("s0", "s1")), st.sampled_from(((("http", 80),), (("", 80), ("admin", 81))))
)


def _named_once(found: list[Rule]) -> tuple[Rule, ...]:
    return tuple(
        rule._replace(name="") if any(rule.name == other.name for other in found[:number]) else rule
        for number, rule in enumerate(found)
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A world of at most two of everything but policies; references go where something is, mostly."""
    found_kinds = tuple(
        kind._replace(name=name)
        for kind, name in zip(
            draw(st.lists(kinds(), min_size=1, max_size=2 if draw(st.booleans()) else 1)), "KL", strict=False
        )
    )
    found_gateways, found_services = draw(_some(gateways)), draw(_some(services))
    bare = World(
        NAMESPACES,
        (("public", OURS), ("theirs", "example.org/theirs")),
        found_gateways,
        draw(_some(_routes(found_gateways, found_services))),
        found_services,
        draw(st.sampled_from(((), (("ns", "other"),), (("ns", "other"), ("other", "ns"))))),
        found_kinds,
        (),
    )
    nodes = [NodeRef(node.object, name) for node, names in sections(bare).items() for name in ("", *names)]
    spine = max(full_paths(bare), key=lambda path: (len(path), path))
    targets = (*spine * 4, *nodes, *_MISSING)
    policies = draw(st.lists(policies_on(found_kinds, targets), min_size=3, max_size=6))
    return bare._replace(
        policies=tuple(policy._replace(name=name) for policy, name in zip(policies, "fedcba", strict=False))
    )


def _some(things: st.SearchStrategy[_Named]) -> st.SearchStrategy[tuple[_Named, ...]]:
    return st.lists(things, min_size=1, max_size=2, unique_by=lambda thing: thing[:2]).map(tuple)


def _routes(found_gateways: tuple[Gateway, ...], found_services: tuple[Service, ...]) -> st.SearchStrategy[Route]:
    parents = st.tuples(
        st.sampled_from([*(gateway[:2] for gateway in found_gateways), ("ns", "g1")]), st.sampled_from(("", "", "l0"))
    ).map(lambda parent: (*parent[0], parent[1]))
    backends = st.tuples(
        st.sampled_from([*(service[:2] for service in found_services), ("other", "s1")]), st.sampled_from((None, 80))
    ).map(lambda backend: (*backend[0], backend[1]))
    rules = st.builds(Rule, st.sampled_from(("", "named")), st.lists(backends, max_size=2).map(tuple))
    return st.builds(
        Route,
        namespaces,
        st.sampled_from(("r0", "r1")),
        st.lists(parents, max_size=2).map(tuple),
        st.lists(rules, min_size=1, max_size=2).map(_named_once),
        st.dictionaries(st.sampled_from("ax"), st.sampled_from((7, "", [3], [])), max_size=2),
    )


@st.composite
def policies_on(draw: st.DrawFn, known: tuple[Kind, ...], nodes: tuple[NodeRef, ...]) -> Policy:
    """A policy of a kind with some of the nodes for targets, mostly one."""
    kind = draw(st.sampled_from(known))
    targets = draw(st.lists(st.sampled_from(nodes), min_size=draw(st.sampled_from((1, 1, 1, 0))), max_size=2))
    at_home = next((target.object.namespace for target in targets if target.object.namespace), "ns")
    namespace = draw(st.sampled_from((at_home, at_home, "other")))
    return Policy(
        kind.name,
        namespace,
        "",
        draw(st.sampled_from((None, 1, 1, 2))),
        tuple(targets),
        draw(_parts(kind)),
        draw(st.sampled_from((None, 0, 1, -1))) if kind.ordered else None,
        draw(st.sampled_from((None, 0, 1, -1))) if kind.weighted else None,
    )


def _parts(kind: Kind) -> st.SearchStrategy[tuple[tuple[str, Mapping[str, Json]], ...]]:
    if kind.style in {"apart", "keyed"}:
        return st.tuples(st.tuples(st.just("All apply" if kind.style == "apart" else "Strategic merge"), specs))
    if kind.style == "bare":
        patches = ("Patch defaults",) * 4 if kind.chooser == "challenger" else ()
        return st.tuples(st.tuples(st.sampled_from((*STRATEGIES, *patches)), specs))
    ways = ("Patch",) if kind.style == "singular" else ("Patch", "Atomic")
    overrides = st.tuples(st.sampled_from([f"{way} overrides" for way in ways]), specs)
    defaults = st.tuples(st.sampled_from([f"{way} defaults" for way in ways]), specs)
    return st.one_of(st.tuples(defaults), st.tuples(overrides), st.tuples(overrides, defaults))
