"""Random choices of kinds whose policies set fields together, and specs of policies of such kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.model import GroupKind, Json
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.profiles.merging import IgnoredPart, JointField, MergeScope, PortField, Within
from kubectl_policy.resolution import Contribution
from kubectl_policy.resolution.contributions import DeclaredStanza, contribution_of
from tests.build import node
from tests.resolution.build import source

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
_ON_ROUTES: Final = MergeScope((TargetLevel(HTTP_ROUTE), TargetLevel(HTTP_ROUTE, section=True)))
_ON_LISTENERS: Final = MergeScope((TargetLevel(GATEWAY, section=True),), frozenset({"HTTP"}))
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


def _joint(way: tuple[str, str], within: tuple[Within, ...], unless: tuple[str, ...]) -> JointField:
    return JointField(field=way[0], within=within, by=way[1], unless=unless if "level" in within else ())


def _field(joint: JointField) -> str:
    return joint.field


joints: Final[st.SearchStrategy[tuple[JointField, ...]]] = st.lists(
    st.builds(
        _joint, st.sampled_from(_WAYS), st.sampled_from(WITHIN), st.sampled_from(((), (), ("x",), ("ref.name", "x.d")))
    ),
    max_size=4,
    unique_by=_field,
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
        ignored=draw(
            st.sampled_from(
                (
                    (),
                    (),
                    (IgnoredPart(levels=(listeners,)),),
                    (IgnoredPart(levels=(gateways, listeners), fields=("a", "m.x")),),
                    (
                        IgnoredPart(
                            levels=(gateways, TargetLevel(HTTP_ROUTE)),
                            fields=("a",),
                            protocols=frozenset({"HTTP"}),
                            values=frozenset({"1"}),
                        ),
                    ),
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
_NUMBERS: Final[st.SearchStrategy[Json]] = st.integers(0, 2)
_LISTS: Final[st.SearchStrategy[Json]] = st.lists(_NUMBERS, max_size=2)
_MAPS: Final = st.dictionaries(st.sampled_from("abx"), _NUMBERS, max_size=2)


def _ports(ports: Mapping[int, Mapping[str, Json]]) -> Json:
    return [{"n": port, **rest} for port, rest in ports.items()]


def _entry(name: str, rest: Mapping[str, Json]) -> Json:
    return {"ref": {"name": name}, **rest}


_PORTS: Final[st.SearchStrategy[Json]] = st.dictionaries(st.integers(1, 3), _MAPS, max_size=2).map(_ports)
_ENTRIES: Final[st.SearchStrategy[Json]] = st.builds(_entry, st.sampled_from("xy"), _MAPS)


def _some(fields: Mapping[str, st.SearchStrategy[Json]]) -> st.SearchStrategy[dict[str, Json]]:
    return st.fixed_dictionaries({}, optional=dict(fields))


TYPED: Final[st.SearchStrategy[dict[str, Json]]] = _some(
    {
        "a": _NUMBERS,
        "l": _LISTS,
        "m": _some({"x": _MAPS, "y": _NUMBERS, "l": _LISTS}),
        "p": _PORTS,
        "r": _ENTRIES,
        "w": _some({"a": _some({"b": _MAPS, "c": _NUMBERS}), "d": _MAPS}),
    }
)
_SAMPLES: Final[tuple[Json, ...]] = (
    1,
    None,
    [],
    {},
    [1],
    [1, 2],
    {"x": 1},
    {"x": {"d": 1}, "y": 2},
    {"l": [1]},
    [{"name": "x"}, {"name": "y"}],
)
_ANYTHING: Final[st.SearchStrategy[Json]] = st.one_of(st.sampled_from(_SAMPLES), _ENTRIES, _PORTS)
_ODD: Final[st.SearchStrategy[dict[str, Json]]] = st.dictionaries(st.sampled_from("almprw"), _ANYTHING, max_size=4)
WILD: Final[st.SearchStrategy[dict[str, Json]]] = st.one_of(TYPED, _ODD)


def brought(profile: PolicyKindProfile, policies: Iterable[tuple[int, Mapping[str, Json]]]) -> tuple[Contribution, ...]:
    """Return the contributions of policies to a path, each given with the position of its node, from the root on."""
    found: list[Contribution] = []
    strategy = profile.default_strategy
    for number, (place, spec) in enumerate(policies):
        who = replace(source(f"p{number}", overrides=strategy.overrides), target=PLACES[place])
        found.append(contribution_of(who, DeclaredStanza("spec", strategy, spec), profile))
    return tuple(found)


def policies(specs: st.SearchStrategy[dict[str, Json]]) -> st.SearchStrategy[list[tuple[int, dict[str, Json]]]]:
    """A few policies on a path, in the order of their places."""
    placed = st.tuples(st.sampled_from(range(len(PLACES))), specs)
    return st.lists(placed, min_size=1, max_size=5).map(lambda found: sorted(found, key=lambda one: one[0]))
