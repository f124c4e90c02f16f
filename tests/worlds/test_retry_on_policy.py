"""The worked example of `RetryOnPolicy` in the experimental GEP-713 text, cell by cell."""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

import pytest

from kubectl_policy import Analysis, EffectivePolicy, PolicyKindProfile, TargetLevel, analyze, leaves
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.build import gateway, namespace, node, policy, resource, route, service, snapshot, target

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
