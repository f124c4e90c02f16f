"""The shortest phrase that is true of some paths and of no other."""

from __future__ import annotations

import pytest

from kubectl_policy.questions.shared.path_phrases import PathPhrases, Phrase
from kubectl_policy.topology import Path
from tests.build import node

GATEWAYS = {"edge": ("http", "https"), "inner": ("web", "https")}


def _path(listener: str, route: str = "r", rule: str = "rule[0]", gateway: str = "edge") -> Path:
    return (
        node("GatewayClass", "public"),
        node("Gateway", gateway),
        node("Gateway", gateway, listener),
        node("HTTPRoute", route),
        node("HTTPRoute", route, rule),
    )


TWO = (_path("http"), _path("https"))
FOUR = tuple(_path(listener, rule=rule) for listener in ("http", "https") for rule in ("api", "web"))
MANY = tuple(_path(listener) for listener in ("a", "b", "c", "d"))
TWO_GATEWAYS = tuple(
    _path(listener, gateway=gateway) for gateway, listeners in GATEWAYS.items() for listener in listeners
)
CROSSED = tuple(_path(listener, rule=rule) for listener in ("a", "b", "c") for rule in ("x", "y", "z"))


@pytest.mark.parametrize(
    ("positions", "paths", "expected"),
    [
        ((0,), TWO[:1], ""),
        ((), (), ""),
        ((), TWO, "no path"),
        ((0, 1), TWO, "both paths"),
        ((0, 1, 2, 3), FOUR, "all 4 paths"),
        ((1,), TWO, "listener https only"),
        ((0, 2), FOUR, "rule api only"),
        ((0, 1), MANY, "listeners a and b only"),
        ((0, 1, 2), MANY, "3 of 4 listeners"),
        ((3,), FOUR, "listener https with rule web only"),
        ((0, 1), TWO_GATEWAYS, "Gateway default/edge only"),
        ((2,), TWO_GATEWAYS, "listener web only"),
        ((3,), TWO_GATEWAYS, "listener https of Gateway default/inner only"),
        ((1, 2), CROSSED, "listener a but not rule x"),
        ((0, 1, 2, 3, 5, 6, 7, 8), CROSSED, "paths 1-4, 6-9"),
        ((0, 4, 8), CROSSED, "paths 1, 5, 9"),
    ],
)
def test_paths_are_named_by_what_distinguishes_them(
    positions: tuple[int, ...], paths: tuple[Path, ...], expected: str
) -> None:
    """Listeners, rules, Gateways, pairs of them; path numbers only where nothing else is true."""
    assert PathPhrases(paths).words(positions) == expected


def test_a_phrase_may_say_what_is_left_out() -> None:
    paths = tuple(_path(listener, route) for listener in ("a", "b") for route in ("p", "q", "r", "s"))
    assert PathPhrases(paths).words((0, 1, 2, 4, 5, 6)) == "3 of 4 HTTPRoutes"
    mixed = (_path("a", "p"), _path("b", "p"), _path("a", "q"), _path("b", "r"), _path("c", "q"))
    assert PathPhrases(mixed).phrase((0, 1, 3, 4)) == Phrase("paths 1-2, 4-5", numbered=True)


def test_backends_are_told_apart_by_name() -> None:
    """Not by a port of which both have one, nor by a Namespace while something better will do."""
    ports = [
        (
            *_path("http"),
            node("Namespace", name, "", "", ""),
            *(node("Service", name, at, group="") for at in ("", "web")),
        )
        for name in ("cream", "oven")
    ]
    assert PathPhrases(ports).words((1,)) == "Service default/oven only"
    across = [(node("Namespace", name, "", "", ""), node("HTTPRoute", "r")) for name in ("cream", "oven")]
    assert PathPhrases(across).words((1,)) == "Namespace oven only"


def test_only_numbers_need_numbered_paths() -> None:
    assert not PathPhrases(TWO).phrase((1,)).numbered
    assert PathPhrases(CROSSED).phrase((0, 4, 8)).numbered


def test_a_single_path_is_named_in_the_singular() -> None:
    """`path 2`, where two paths through the same nodes differ in their order alone."""
    one = (node("Service", "s"), node("HTTPRoute", "r"))
    assert PathPhrases((one, tuple(reversed(one)), one)).phrase((1,)) == Phrase("path 2", numbered=True)


def test_rules_without_a_name_are_called_what_they_are() -> None:
    """`rule[0]` needs no noun before it, and a named one beside it keeps its own."""
    unnamed = tuple(_path("http", rule=f"rule[{number}]") for number in range(3))
    assert PathPhrases(unnamed).words((0, 2)) == "rule[0] and rule[2] only"
    mixed = tuple(_path("http", rule=rule) for rule in ("rule[0]", "cart", "pages"))
    assert PathPhrases(mixed).words((0, 1)) == "rule cart and rule[0] only"
