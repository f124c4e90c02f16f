"""Random choices of kinds whose policies set fields together, and specs of policies of such kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.merging import Joint, PortField, Scope, Unheeded
from kubectl_policy.resolution.contributions import contribution_of
from kubectl_policy.resolution.spec_proper import Stanza
from kubectl_policy.topology.references import GATEWAY, HTTP_ROUTE
from tests.build import node
from tests.resolution.specs import source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.profiles.merging import Within
    from kubectl_policy.resolution import Contribution

WITHIN: Final[tuple[tuple[Within, ...], ...]] = (
    ("level",),
    ("levels",),
    ("scopes",),
    ("level", "levels"),
    ("level", "levels", "scopes"),
)
# Each joint field of the specs below, and of those of whole worlds, with ways to take it apart.
_WAYS: Final = (
    ("m", "*"),
    ("m", ""),
    ("m.l", ""),
    ("l", ""),
    ("l", "[name]"),
    ("e", "x"),
    ("p", "[n]"),
    ("r", "ref.name"),
)
_ON_ROUTES: Final = Scope((TargetLevel(HTTP_ROUTE), TargetLevel(HTTP_ROUTE, section=True)))
_ON_LISTENERS: Final = Scope((TargetLevel(GATEWAY, section=True),), frozenset({"HTTP"}))
SCOPES: Final = st.sampled_from(((), (_ON_ROUTES,), (_ON_LISTENERS,), (_ON_ROUTES, _ON_LISTENERS)))
PLACES: Final = (
    node("GatewayClass", "c"),
    node("Gateway", "g"),
    node("Gateway", "g", "l"),
    node("HTTPRoute", "top"),
    node("HTTPRoute", "top", "rule[0]"),
    node("HTTPRoute", "low"),
    node("HTTPRoute", "low", "rule[0]"),
)

joints = st.lists(
    st.builds(
        lambda way, within, unless: Joint(way[0], within, way[1], unless if "level" in within else ()),
        st.sampled_from(_WAYS),
        st.sampled_from(WITHIN),
        st.sampled_from(((), (), ("x",), ("ref.name", "x.d"))),
    ),
    max_size=4,
    unique_by=lambda joint: joint.field,
).map(tuple)


@st.composite
def stacked(draw: st.DrawFn, profile: PolicyKindProfile) -> PolicyKindProfile:
    """The same kind with choices of its own about what its policies set together, and what of them is passed over."""
    listeners, gateways = TargetLevel(GATEWAY, section=True), TargetLevel(GATEWAY)
    return replace(
        profile,
        joint_fields=draw(joints),
        scopes=draw(SCOPES),
        same_level=draw(st.sampled_from(("first-wins", "newest-challenges", "disjoint", "one-applies", "all-apply"))),
        refusal=draw(st.sampled_from(("there", "everywhere"))),
        port_field=draw(st.sampled_from((None, None, PortField("l", "name", "m")))),
        unheeded=draw(
            st.sampled_from(
                (
                    (),
                    (),
                    (Unheeded((listeners,)),),
                    (Unheeded((gateways, listeners), ("a", "m.x")),),
                    (Unheeded((gateways, TargetLevel(HTTP_ROUTE)), ("a",), frozenset({"HTTP"}), frozenset({"1"})),),
                )
            )
        ),
    )


def kinds() -> st.SearchStrategy[PolicyKindProfile]:
    """Kinds of which policies are merged by levels or scopes."""
    plain = PolicyKindProfile(
        GroupKind("example.com", "ColorPolicy"), "inherited", "profile", stanzas="none", nulls="ignore"
    )
    strategies = (MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_DEFAULTS, *MergeStrategy)
    return st.sampled_from(strategies).flatmap(lambda strategy: stacked(replace(plain, strategy=strategy)))


# Specs as a schema has them: what stands at a field is always of the same sort.
_NUMBERS: Final = st.integers(0, 2)
_MAPS: Final = st.dictionaries(st.sampled_from("abx"), _NUMBERS, max_size=2)
_PORTS: Final = st.lists(
    st.builds(lambda port, rest: {"n": port, **rest}, st.integers(1, 3), _MAPS),
    max_size=2,
    unique_by=lambda one: one["n"],
)
_ENTRIES: Final = st.builds(lambda name, rest: {"ref": {"name": name}, **rest}, st.sampled_from("xy"), _MAPS)


def _some(fields: Mapping[str, st.SearchStrategy[Json]]) -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries({}, optional=dict(fields))


TYPED: Final[st.SearchStrategy[dict[str, Json]]] = _some(
    {
        "a": _NUMBERS,
        "l": st.lists(_NUMBERS, max_size=2),
        "m": _some({"x": _MAPS, "y": _NUMBERS, "l": st.lists(_NUMBERS, max_size=2)}),
        "p": _PORTS,
        "r": _ENTRIES,
        "w": _some({"a": _some({"b": _MAPS, "c": _NUMBERS}), "d": _MAPS}),
    }
)
_ANYTHING: Final[st.SearchStrategy[Json]] = st.sampled_from(
    (
        1,
        None,
        [],
        {},
        [1],
        [1, 2],
        {"x": 1},
        {"x": {"d": 1}, "y": 2},
        {"l": [1]},
        [{"name": "x"}, {"name": "y", "v": 1}],
    )
)
WILD: Final[st.SearchStrategy[dict[str, Json]]] = st.one_of(
    TYPED, st.dictionaries(st.sampled_from("almprw"), st.one_of(_ANYTHING, _ENTRIES, _PORTS), max_size=4)
)


def brought(profile: PolicyKindProfile, policies: Iterable[tuple[int, Mapping[str, Json]]]) -> tuple[Contribution, ...]:
    """What policies bring to a path, each given with the position of its place, from the root on."""
    found: list[Contribution] = []
    strategy = profile.default_strategy
    for number, (place, spec) in enumerate(policies):
        who = source(f"p{number}", overrides=strategy.overrides)._replace(target=PLACES[place])
        found.append(contribution_of(who, Stanza("spec", strategy, spec), profile))
    return tuple(found)


def policies(specs: st.SearchStrategy[dict[str, Json]]) -> st.SearchStrategy[list[tuple[int, dict[str, Json]]]]:
    """A few policies on a path, in the order of their places."""
    placed = st.tuples(st.sampled_from(range(len(PLACES))), specs)
    return st.lists(placed, min_size=1, max_size=5).map(lambda found: sorted(found, key=lambda one: one[0]))
