"""The worked examples: every outcome that the semantics fix in advance, each quoted, and what each deletion changes."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import pytest

from kubectl_policy import Analysis, EffectivePolicy, Path, PolicyKindProfile, TargetLevel, analyze, leaves
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.blast_radius import BlastRadius, blast_radius
from kubectl_policy.questions.differences.effects import EffectiveValue
from tests.build import gateway, namespace, node, policy, resource, route, service, snapshot, target
from tests.worlds.test_fixtures import affecting, enforcement, load

# By path and field: the value before, and after, each with who sets it.
Changes: TypeAlias = dict[str, tuple[str, str]]
States: TypeAlias = dict[str, tuple[str, str]]
NOTHING: Final = "nothing"


class NodeInForce(NamedTuple):
    """The outcome of an example: every effective field by path, with its value and source, and the states of policies.

    `affected` has the policies that affect each Service.
    """

    fields: dict[str, str]
    states: dict[str, tuple[str, list[str]]] | None = None
    affected: dict[str, list[str]] | None = None


OUTCOMES: Final = {
    # "b1 is red", "b1 affected by p1 alone", "b2 by nothing"; "p1 enforced", "p2 not, conflict with p1".
    "1-direct": NodeInForce(
        {"g1>r1>b1 color": "red by p1"},
        {"p1": ("Enforced", []), "p2": ("Conflicted", ["p1"])},
        {"b1": ["p1"], "b2": []},
    ),
    # "g1>r1>b1 blue", "g1>r2>b1 red", "g2>r3>b1 yellow", "g2>r4>b2 yellow"; "b1 affected by p1, p2, p3; b2 by p3";
    # "p1 partially enforced (by p2)", "p2 enforced", "p3 enforced", "p4 overridden by p3".
    "2-atomic": NodeInForce(
        {
            "g1>r1>b1 color": "blue by p2",
            "g1>r2>b1 color": "red by p1",
            "g2>r3>b1 color": "yellow by p3",
            "g2>r4>b2 color": "yellow by p3",
        },
        {
            "p1": ("PartiallyEnforced", ["p2"]),
            "p2": ("Enforced", []),
            "p3": ("Enforced", []),
            "p4": ("Overridden", ["p3"]),
        },
        {"b1": ["p1", "p2", "p3"], "b2": ["p3"]},
    ),
    # "g1>r1>b1 light:blue only", "g1>r2>b1 dark:brown light:red", "g2>r3>b1 light:yellow only", "g2>r4>b2 dark:olive
    # light:yellow"; "b1 affected by p1, p2, p3; b2 by p3, p4"; "p4 partially enforced (by p3)", the rest as before.
    "3-merge": NodeInForce(
        {
            "g1>r1>b1 light": "blue by p2",
            "g1>r2>b1 dark": "brown by p1",
            "g1>r2>b1 light": "red by p1",
            "g2>r3>b1 light": "yellow by p3",
            "g2>r4>b2 dark": "olive by p4",
            "g2>r4>b2 light": "yellow by p3",
        },
        {
            "p1": ("PartiallyEnforced", ["p2"]),
            "p2": ("Enforced", []),
            "p3": ("Enforced", []),
            "p4": ("PartiallyEnforced", ["p3"]),
        },
        {"b1": ["p1", "p2", "p3"], "b2": ["p3", "p4"]},
    ),
    # "c1 has m1 in the context of b1", "c1 has m1+m2 in the context of b2", "c2 has m1+m2".
    "4-process": NodeInForce(
        {
            "a1>b1>c1 dark": "brown by m1",
            "a1>b2>c1 dark": "brown by m1",
            "a1>b2>c1 light": "blue by m2",
            "a1>b2>c2 dark": "brown by m1",
            "a1>b2>c2 light": "blue by m2",
        },
        {"m1": ("Enforced", []), "m2": ("Enforced", [])},
    ),
    # "Any override beats any default and the value in the route"; of two overrides the higher one wins, of two defaults
    # the lower one; "two at one level: first created".
    "5-retry-on": NodeInForce(
        {
            "relaxed>plain retryOn": "['gateway'] by relaxed",
            "relaxed>tuned retryOn": "['route'] by tuned",
            "relaxed>insisting retryOn": "['own'] by insisting",
            "relaxed>insisted retryOn": "['override'] by insisted",
            "relaxed>twice retryOn": "['first'] by first",
            "strict>obeying retryOn": "['strict'] by strict",
            "strict>defying retryOn": "['strict'] by strict",
        }
    ),
    # "enabled true, includeHost true, includeProtocol true, includeQueryString false", "each with its source".
    "6-cdn": NodeInForce(
        {
            "edge>shop>shop cdn.enabled": "True by on-gateway",
            "edge>shop>shop cdn.cachePolicy.includeHost": "True by on-gateway",
            "edge>shop>shop cdn.cachePolicy.includeProtocol": "True by on-gateway",
            "edge>shop>shop cdn.cachePolicy.includeQueryString": "False by on-route",
        },
        {"on-gateway": ("PartiallyEnforced", ["on-route"]), "on-route": ("Enforced", [])},
    ),
}
world = cache(load)


def name_of(path: Path) -> str:
    kinds = ("Gateway", "HTTPRoute", "Service")
    return ">".join(node.object.name for node in path if node.object.kind in kinds and not node.section)


@pytest.mark.parametrize("example", OUTCOMES)
def test_the_outcome_of_an_example(example: str) -> None:
    """On every path at whose end the kind takes effect, and on no other."""
    analysis, expected = world(f"worked-examples/{example}"), OUTCOMES[example]
    effective = [outcome for policy in analysis.policies for outcome in analysis.enforcement(policy.ref).outcomes]
    fields = {
        f"{name_of(outcome.path)} {'.'.join(field)}": f"{leaf.value} by {leaf.source.object.name}"
        for outcome in effective
        for field, leaf in leaves(outcome.resolution.spec)
    }
    assert fields == expected.fields
    assert expected.states is None or enforcement(analysis) == expected.states
    for name, policies in (expected.affected or {}).items():
        assert affecting(analysis, name) == policies


def changes(found: BlastRadius) -> Changes:
    fields: Changes = {}
    for change in found.difference.effects:
        assert change.where == "kept"
        for path in change.paths:
            for field in change.fields:
                key = f"{name_of(path)} {field.field}"
                assert key not in fields
                fields[key] = (_valued(field.before), _valued(field.after))
    return fields


def _valued(value: EffectiveValue | None) -> str:
    return f"{value.value} by {value.source.object.name}" if value else NOTHING


CDN: Final = "edge>shop>shop cdn"


@pytest.mark.parametrize(
    ("example", "policy", "expected", "states"),
    [
        # Rule: None is "established; the challenger is rejected", so that without p1 it is p2 that stands.
        ("1-direct", "p1", {"g1>r1>b1 color": ("red by p1", "blue by p2")}, {"p2": ("Conflicted", "Enforced")}),
        ("1-direct", "p2", {}, {}),
        # Rule: Atomic defaults is the "challenger", Atomic overrides the "established".
        ("2-atomic", "p1", {"g1>r2>b1 color": ("red by p1", NOTHING)}, {}),
        ("2-atomic", "p2", {"g1>r1>b1 color": ("blue by p2", "red by p1")}, {"p1": ("PartiallyEnforced", "Enforced")}),
        (
            "2-atomic",
            "p3",
            {"g2>r3>b1 color": ("yellow by p3", NOTHING), "g2>r4>b2 color": ("yellow by p3", "green by p4")},
            {"p4": ("Overridden", "Enforced")},
        ),
        ("2-atomic", "p4", {}, {}),
        # Rule: Patch overrides is "RFC 7386: established onto challenger", an Atomic default is replaced whole: p2 had
        # replaced all of p1 on r1, and kept dark out there; p3 patches, so dark was p4's before.
        ("3-merge", "p1", {"g1>r2>b1 dark": ("brown by p1", NOTHING), "g1>r2>b1 light": ("red by p1", NOTHING)}, {}),
        (
            "3-merge",
            "p2",
            {"g1>r1>b1 dark": (NOTHING, "brown by p1"), "g1>r1>b1 light": ("blue by p2", "red by p1")},
            {"p1": ("PartiallyEnforced", "Enforced")},
        ),
        (
            "3-merge",
            "p3",
            {"g2>r3>b1 light": ("yellow by p3", NOTHING), "g2>r4>b2 light": ("yellow by p3", "green by p4")},
            {"p4": ("PartiallyEnforced", "Enforced")},
        ),
        ("3-merge", "p4", {"g2>r4>b2 dark": ("olive by p4", NOTHING)}, {}),
        # Rule: "c1 has m1 in the context of b1, m1+m2 in the context of b2; c2 has m1+m2": each takes its own away.
        ("4-process", "m1", {f"a1>{way} dark": ("brown by m1", NOTHING) for way in ("b1>c1", "b2>c1", "b2>c2")}, {}),
        ("4-process", "m2", {f"a1>{way} light": ("blue by m2", NOTHING) for way in ("b2>c1", "b2>c2")}, {}),
        # Of two defaults the lower one wins, then the next lower one.
        ("5-retry-on", "namespace", {}, None),
        (
            "5-retry-on",
            "relaxed",
            {"relaxed>plain retryOn": ("['gateway'] by relaxed", "['namespace'] by namespace")},
            None,
        ),
        ("5-retry-on", "tuned", {"relaxed>tuned retryOn": ("['route'] by tuned", "['gateway'] by relaxed")}, None),
        # A value in the route beats every default, and any override beats that; of two overrides the higher one wins.
        (
            "5-retry-on",
            "strict",
            {
                "strict>obeying retryOn": ("['strict'] by strict", "['own'] by obeying"),
                "strict>defying retryOn": ("['strict'] by strict", "['defied'] by defying"),
            },
            None,
        ),
        ("5-retry-on", "insisting", {}, None),
        (
            "5-retry-on",
            "insisted",
            {"relaxed>insisted retryOn": ("['override'] by insisted", "['own'] by insisted")},
            None,
        ),
        ("5-retry-on", "defying", {}, None),
        # Two at one level: first created, then the one that is left.
        ("5-retry-on", "first", {"relaxed>twice retryOn": ("['first'] by first", "['second'] by a-second")}, None),
        ("5-retry-on", "a-second", {}, None),
        # Three of the four fields are the Gateway's, and nothing else sets them; of two defaults the lower one wins.
        (
            "6-cdn",
            "on-gateway",
            {
                f"{CDN}.{field}": ("True by on-gateway", NOTHING)
                for field in ("enabled", "cachePolicy.includeHost", "cachePolicy.includeProtocol")
            },
            {},
        ),
        (
            "6-cdn",
            "on-route",
            {f"{CDN}.cachePolicy.includeQueryString": ("False by on-route", "True by on-gateway")},
            {"on-gateway": ("PartiallyEnforced", "Enforced")},
        ),
    ],
)
def test_what_deleting_a_policy_changes(example: str, policy: str, expected: Changes, states: States | None) -> None:
    """What the example's own rules say of the rest: of fields, and of the policies that are left."""
    analysis = world(f"worked-examples/{example}")
    (ref,) = (found.ref for found in analysis.policies if found.ref.name == policy)
    found = blast_radius(analysis, ref)
    assert changes(found) == expected
    left = {
        change.policy.name: (change.before, change.after) for change in found.difference.enforcement if change.after
    }
    assert states is None or left == states


HTTP_ROUTE: Final = TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"))
RETRY: Final = PolicyKindProfile(
    GroupKind("example.com", "RetryOnPolicy"),
    "inherited",
    "profile",
    effective_targets=(HTTP_ROUTE,),
    stanzas="singular",
    object_fields={"retryOn": "spec.retryOn"},
)
LEVELS: Final = {
    "Namespace": target("default", "Namespace", group=""),
    "Gateway": target("g"),
    "HTTPRoute": target("r", "HTTPRoute"),
}


STANZAS: Final = ("none", "default", "override")


class Cell(NamedTuple):
    """One cell of the table: what each level has, the value in the route, and who wins (empty: nobody)."""

    namespace: str
    gateway: str
    httproute: str
    in_route: bool
    winner: str


def _winner(levels: dict[str, str], *, in_route: bool) -> str:
    """Apply "A override > B override > C override", then the route, then "C default > B default > A default"."""
    for level in ("Namespace", "Gateway", "HTTPRoute"):
        if levels[level] == "override":
            return level
    if in_route:
        return "the route itself"
    for level in ("HTTPRoute", "Gateway", "Namespace"):
        if levels[level] == "default":
            return level
    return ""


CELLS: Final = [
    Cell(*levels, in_route, _winner(dict(zip(LEVELS, levels, strict=True)), in_route=in_route))
    for levels in product(STANZAS, STANZAS, STANZAS)
    for in_route in (False, True)
]
# Some cells written out by hand, so that the rule above is not the only judge of the table.
BY_HAND: Final = {
    ("none", "none", "none", False): "",
    ("none", "none", "none", True): "the route itself",
    ("default", "none", "none", False): "Namespace",
    ("default", "none", "none", True): "the route itself",
    ("default", "default", "default", False): "HTTPRoute",
    ("default", "default", "default", True): "the route itself",
    ("override", "override", "override", True): "Namespace",
    ("default", "override", "default", True): "Gateway",
    ("none", "default", "override", True): "HTTPRoute",
    ("override", "none", "default", False): "Namespace",
    ("default", "default", "none", False): "Gateway",
}


def retry(name: str, level: str, stanza: str, age: int | None = None) -> Resource:
    spec: dict[str, Json] = {"targetRefs": [LEVELS[level]], stanza: {"retryOn": [name]}}
    return resource("RetryOnPolicy", name, spec, group="example.com", age=age)


def analysed(*policies: Resource, own: Json = None) -> Analysis:
    """The world of the policies, whose route has a value of its own."""
    plain_route = route("r").raw["spec"]
    assert isinstance(plain_route, dict)
    objects = (
        namespace("default"),
        gateway("g"),
        resource("HTTPRoute", "r", {**plain_route, "retryOn": own}),
        service("s"),
        *policies,
    )
    return analyze(snapshot(*objects, complete=True), profiles=[RETRY])


def on_route(*policies: Resource, own: Json = None) -> EffectivePolicy | None:
    """The effective RetryOnPolicy at the route, whose own value is `own`; None if no policy contributes."""
    found = analysed(*policies, own=own).effective(node("HTTPRoute", "r"))
    return found[0] if found else None


def winner(effective: EffectivePolicy | None, own: Json) -> str:
    """Whose list is in force: a policy's, the route's, or nobody's; the value and its source agree."""
    if effective is None:
        return "the route itself" if own else ""
    ((field, leaf),) = leaves(effective.resolution.spec)
    assert field == ("retryOn",)
    if leaf.source.object.kind == "HTTPRoute":
        assert leaf.value == own
        return "the route itself"
    assert leaf.value == [leaf.source.object.name]
    return leaf.source.object.name


@pytest.mark.parametrize("empty", [None, [], ""], ids=["absent", "empty list", "empty text"])
def test_an_empty_value_in_the_route_beats_nothing(empty: Json) -> None:
    """Only a value that is set counts: "{empty, set} value in the HTTPRoute"."""
    assert winner(on_route(retry("Gateway", "Gateway", "default"), own=empty), empty) == "Gateway"


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_every_cell_of_the_table(cell: Cell) -> None:
    """Outcome: "Any override beats any default and the value in the route".

    "Of two overrides the higher one wins; of two defaults the lower one wins; a value in the route beats every
    default".
    """
    policies = [
        retry(level, level, stanza)
        for level, stanza in zip(LEVELS, (cell.namespace, cell.gateway, cell.httproute), strict=True)
        if stanza != "none"
    ]
    own: Json = ["own"] if cell.in_route else []
    assert winner(on_route(*policies, own=own), own) == cell.winner


@pytest.mark.parametrize(("cell", "expected"), BY_HAND.items(), ids=str)
def test_the_table_says_what_people_read_in_the_sentences(cell: tuple[str, str, str, bool], expected: str) -> None:
    """The rule that fills the table agrees with cells that were filled in by hand."""
    assert Cell(*cell, expected) in CELLS


def test_the_table_is_complete() -> None:
    """Every one of "{none, default, override} x {Namespace, Gateway, HTTPRoute} x {empty, set}": 27 twice."""
    assert len(set(CELLS)) == 54


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("stanza", ["default", "override"])
class TestTwoAtOneLevel:
    """Outcome: "Two at one level: first created, then alphabetical"."""

    def test_the_first_created_wins(self, level: str, stanza: str) -> None:
        effective = on_route(retry("a", level, stanza, age=2), retry("z", level, stanza, age=1))
        assert winner(effective, None) == "z"
        assert effective is not None
        assert effective.resolution.doubts == set()

    @pytest.mark.parametrize("age", [None, 1], ids=["unknown age", "same age"])
    def test_then_the_first_in_the_alphabet(self, level: str, stanza: str, age: int | None) -> None:
        """Names decide between equals; where the age is unknown, the answer says so."""
        effective = on_route(retry("z", level, stanza, age=age), retry("a", level, stanza, age=age))
        assert winner(effective, None) == "a"
        assert effective is not None
        assert effective.resolution.doubts == ({"age unknown"} if age is None else set())


def test_a_default_and_an_override_in_one_policy() -> None:
    """Outcome: "Which one policy may both have": the override counts, the default beside it is superseded by it."""
    both = policy(
        "both", LEVELS["Gateway"], kind="RetryOnPolicy", override={"retryOn": ["both"]}, default={"retryOn": ["less"]}
    )
    assert winner(on_route(both, retry("HTTPRoute", "HTTPRoute", "override")), None) == "both"
