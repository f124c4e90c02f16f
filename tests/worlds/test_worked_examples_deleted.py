"""What deleting each policy of the worked examples changes: what the example's own rules say of the rest."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import pytest

from kubectl_policy import analyze
from kubectl_policy.questions.blast_radius import blast_radius
from tests.build import gateway, namespace, ref, resource, route, service, snapshot
from tests.worlds.test_fixtures import load
from tests.worlds.test_worked_examples_experimental import CELLS, RETRY, Cell, retry

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.differences.effects import EffectiveValue

# By path and field: the value before, and after, each with who sets it.
Changes: TypeAlias = dict[str, tuple[str, str]]
NOTHING: Final = "nothing"


world = cache(load)


def without(name: str, policy: str) -> BlastRadius:
    """What deleting a policy of an example does."""
    analysis = world(f"worked-examples/{name}")
    (found,) = (one.ref for one in analysis.policies if one.ref.name == policy)
    return blast_radius(analysis, found)


def changes(found: BlastRadius) -> Changes:
    """Every field that differs on every path, named by the objects between class and port."""
    told: Changes = {}
    for change in found.difference.effects:
        assert change.where == "kept"
        for path in change.paths:
            kinds = ("Gateway", "HTTPRoute", "Service")
            names = [node.object.name for node in path if node.object.kind in kinds and not node.section]
            for field in change.fields:
                key = f"{'>'.join(names)} {field.field}"
                assert key not in told
                told[key] = (said(field.before), said(field.after))
    return told


def said(value: EffectiveValue | None) -> str:
    """A value and who set it."""
    return f"{value.value} by {value.source.object.name}" if value else NOTHING


def enforcement(found: BlastRadius) -> dict[str, tuple[str | None, str | None]]:
    """What becomes of the policies that are left."""
    return {one.policy.name: (one.before, one.after) for one in found.difference.enforcement if one.after}


@pytest.mark.parametrize(
    ("policy", "expected", "others"),
    [
        pytest.param(
            "p1",
            {"g1>r1>b1 color": ("red by p1", "blue by p2")},
            {"p2": ("Conflicted", "Enforced")},
            id="p2 conflicts with p1 alone",
        ),
        pytest.param("p2", {}, {}, id="p2 is not enforced"),
    ],
)
def test_example_1(policy: str, expected: Changes, others: dict[str, tuple[str, str]]) -> None:
    """Rule: None is "established; the challenger is rejected", so that without p1 it is p2 that stands."""
    found = without("1-direct", policy)
    assert changes(found) == expected
    assert enforcement(found) == others


@pytest.mark.parametrize(
    ("policy", "expected", "others"),
    [
        pytest.param("p1", {"g1>r2>b1 color": ("red by p1", NOTHING)}, {}, id="on g1>r1 p2 is the challenger"),
        pytest.param(
            "p2",
            {"g1>r1>b1 color": ("blue by p2", "red by p1")},
            {"p1": ("PartiallyEnforced", "Enforced")},
            id="p1 is the only one left",
        ),
        pytest.param(
            "p3",
            {"g2>r3>b1 color": ("yellow by p3", NOTHING), "g2>r4>b2 color": ("yellow by p3", "green by p4")},
            {"p4": ("Overridden", "Enforced")},
            id="p4 is overridden by p3 alone",
        ),
        pytest.param("p4", {}, {}, id="p4 is overridden"),
    ],
)
def test_example_2(policy: str, expected: Changes, others: dict[str, tuple[str, str]]) -> None:
    """Rule: Atomic defaults is the "challenger", Atomic overrides the "established"."""
    found = without("2-atomic", policy)
    assert changes(found) == expected
    assert enforcement(found) == others


@pytest.mark.parametrize(
    ("policy", "expected", "others"),
    [
        pytest.param(
            "p1",
            {"g1>r2>b1 dark": ("brown by p1", NOTHING), "g1>r2>b1 light": ("red by p1", NOTHING)},
            {},
            id="p2 had replaced all of p1 on r1",
        ),
        pytest.param(
            "p2",
            {"g1>r1>b1 dark": (NOTHING, "brown by p1"), "g1>r1>b1 light": ("blue by p2", "red by p1")},
            {"p1": ("PartiallyEnforced", "Enforced")},
            id="with p2 goes what kept dark out",
        ),
        pytest.param(
            "p3",
            {"g2>r3>b1 light": ("yellow by p3", NOTHING), "g2>r4>b2 light": ("yellow by p3", "green by p4")},
            {"p4": ("PartiallyEnforced", "Enforced")},
            id="p3 patches, so dark was p4's before",
        ),
        pytest.param("p4", {"g2>r4>b2 dark": ("olive by p4", NOTHING)}, {}, id="light was p3's before and is so after"),
    ],
)
def test_example_3(policy: str, expected: Changes, others: dict[str, tuple[str, str]]) -> None:
    """Rule: Patch overrides is "RFC 7386: established onto challenger", an Atomic default is replaced whole."""
    found = without("3-merge", policy)
    assert changes(found) == expected
    assert enforcement(found) == others


@pytest.mark.parametrize(
    ("policy", "field", "value", "paths"),
    [
        pytest.param("m1", "dark", "brown by m1", ["b1>c1", "b2>c1", "b2>c2"], id="m1 is in every context"),
        pytest.param("m2", "light", "blue by m2", ["b2>c1", "b2>c2"], id="m2 is in the context of b2 alone"),
    ],
)
def test_example_4(policy: str, field: str, value: str, paths: list[str]) -> None:
    """Rule: "c1 has m1 in the context of b1, m1+m2 in the context of b2; c2 has m1+m2": each takes its own away."""
    found = without("4-process", policy)
    assert changes(found) == {f"a1>{path} {field}": (value, NOTHING) for path in paths}
    assert enforcement(found) == {}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("namespace", {}, id="of two defaults the lower one wins"),
        pytest.param(
            "relaxed",
            {"relaxed>plain retryOn": ("['gateway'] by relaxed", "['namespace'] by namespace")},
            id="then the next lower one",
        ),
        pytest.param(
            "strict",
            {
                "strict>obeying retryOn": ("['strict'] by strict", "['own'] by obeying"),
                "strict>defying retryOn": ("['strict'] by strict", "['defied'] by defying"),
            },
            id="a value in the route beats every default, and any override beats that",
        ),
        pytest.param(
            "tuned",
            {"relaxed>tuned retryOn": ("['route'] by tuned", "['gateway'] by relaxed")},
            id="the Gateway's default is next",
        ),
        pytest.param("insisting", {}, id="a value in the route beats every default"),
        pytest.param(
            "insisted",
            {"relaxed>insisted retryOn": ("['override'] by insisted", "['own'] by insisted")},
            id="without the override it is the value in the route",
        ),
        pytest.param(
            "first",
            {"relaxed>twice retryOn": ("['first'] by first", "['second'] by a-second")},
            id="two at one level: the one that is left",
        ),
        pytest.param("a-second", {}, id="two at one level: first created"),
        pytest.param("defying", {}, id="of two overrides the higher one wins"),
    ],
)
def test_example_5(policy: str, expected: Changes) -> None:
    """The rule that the parameter's name quotes."""
    assert changes(without("5-retry-on", policy)) == expected


def _pick(cell: Cell, *levels: str) -> Cell:
    """A cell with the policies of some levels alone."""
    names = ("Namespace", "Gateway", "HTTPRoute")
    stanzas = [stanza if name in levels else "none" for name, stanza in zip(names, cell[:3], strict=True)]
    left = (*stanzas, cell.in_route)
    return next(other for other in CELLS if other[:4] == left)


def _levels(cell: Cell) -> dict[str, str]:
    """The stanzas of the levels that have a policy."""
    found = zip(("Namespace", "Gateway", "HTTPRoute"), cell[:3], strict=True)
    return {level: stanza for level, stanza in found if stanza != "none"}


@pytest.mark.parametrize(("cell", "level"), [(cell, level) for cell in CELLS for level in _levels(cell)], ids=str)
def test_example_5_in_every_cell_of_the_table(cell: Cell, level: str) -> None:
    """Without one of its policies a cell is the one that has "none" at that level."""
    own: Json = ["own"] if cell.in_route else []
    spec = route("r").raw["spec"]
    assert isinstance(spec, dict)
    here = resource("HTTPRoute", "r", {**spec, "retryOn": own})
    policies = [retry(name, name, stanza) for name, stanza in _levels(cell).items()]
    objects = (namespace("default"), gateway("g"), here, service("s"), *policies)
    analysis = analyze(snapshot(*objects, complete=True), profiles=[RETRY])
    found = changes(blast_radius(analysis, ref("RetryOnPolicy", level, group="example.com")))
    left = _pick(cell, *(name for name in _levels(cell) if name != level))
    before = _winner(cell.winner)
    # Where no policy is left there is no outcome; what the route itself says lasts all the same.
    lasts = cell.winner == "the route itself"
    after = _winner(left.winner) if _levels(left) else before if lasts else NOTHING
    assert found == ({} if before == after else {"g>r retryOn": (before, after)})


def _winner(name: str) -> str:
    """Who wins in a cell, and with what: each policy's list holds its name."""
    return "['own'] by r" if name == "the route itself" else f"['{name}'] by {name}"


def test_example_6_without_the_gateways_policy() -> None:
    """Rule: "each with its source"; three of the four are the Gateway's, and nothing else sets them."""
    assert changes(without("6-cdn", "on-gateway")) == {
        "edge>shop>shop cdn.enabled": ("True by on-gateway", NOTHING),
        "edge>shop>shop cdn.cachePolicy.includeHost": ("True by on-gateway", NOTHING),
        "edge>shop>shop cdn.cachePolicy.includeProtocol": ("True by on-gateway", NOTHING),
    }


def test_example_6_without_the_routes_policy() -> None:
    """Rule: "of two defaults the lower one wins"; without that the Gateway's `includeQueryString: true` counts."""
    assert changes(without("6-cdn", "on-route")) == {
        "edge>shop>shop cdn.cachePolicy.includeQueryString": ("False by on-route", "True by on-gateway")
    }
