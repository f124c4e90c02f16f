"""Paths as lines: columns, shared beginnings, groups and cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.wording.paths import path_lines
from tests.build import node

if TYPE_CHECKING:
    from kubectl_policy.topology import Path

ROUTE = node("HTTPRoute", "r")


def _path(listener: str, rule: str = "rule[0]", gateway: str = "g") -> Path:
    return (
        node("Namespace", "default", group=""),
        node("Gateway", gateway),
        node("Gateway", gateway, listener),
        ROUTE,
        node("HTTPRoute", "r", rule),
        node("Service", "s", group=""),
        node("Service", "s", "8080", group=""),
    )


def _shown(paths: tuple[Path, ...], view: View, *, numbered: bool = False) -> str:
    return to_text(path_lines(paths, ROUTE, view, numbered=numbered), view.width)


def test_a_path_leaves_out_what_goes_without_saying() -> None:
    """Namespaces, and the owner of a section that follows its owner."""
    assert (
        _shown((_path("http"),), View(200)).strip()
        == "Gateway default/g ▸ listener http ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080"
    )


def test_a_section_without_its_owner_before_it_is_named_in_full() -> None:
    """A port that a path enters by itself."""
    assert (
        _shown(((node("Service", "s", "8080", group=""), ROUTE),), View(200)).strip()
        == "Service default/s:8080 ▸ HTTPRoute default/r"
    )


def test_a_path_of_a_namespace_alone_shows_it() -> None:
    assert _shown(((node("Namespace", "default", group=""),),), View(200)).strip() == "Namespace default"


def test_paths_of_one_shape_stand_in_columns() -> None:
    assert _shown((_path("http"), _path("https")), View(100)).splitlines() == [
        "  Gateway default/g ▸ listener http  ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
        "  Gateway default/g ▸ listener https ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
    ]


def test_a_common_beginning_stands_once_where_lines_are_too_long() -> None:
    assert _shown((_path("http"), _path("https")), View(80)).splitlines() == [
        "  Gateway default/g",
        "    ▸ listener http  ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
        "    ▸ listener https ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
    ]


def test_a_common_beginning_that_is_too_long_itself_goes_on_below() -> None:
    """And what follows stands further in than its continuation."""
    assert _shown((_path("http", "api"), _path("http", "web")), View(50)).splitlines() == [
        "  Gateway default/g ▸ listener http",
        "    ▸ HTTPRoute default/r",
        "      ▸ rule api ▸ Service default/s:8080",
        "      ▸ rule web ▸ Service default/s:8080",
    ]


def test_a_long_path_that_is_alone_is_continued() -> None:
    assert _shown((_path("http"),), View(60)).splitlines() == [
        "  Gateway default/g ▸ listener http ▸ HTTPRoute default/r",
        "    ▸ rule[0] ▸ Service default/s:8080",
    ]


def test_paths_of_different_shapes_have_no_columns() -> None:
    assert _shown((_path("http"), (ROUTE,)), View(100)).splitlines() == [
        "  Gateway default/g ▸ listener http ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
        "  HTTPRoute default/r",
    ]


def test_numbered_paths_are_never_put_together() -> None:
    """Each number names one path."""
    shown = _shown(tuple(_path(f"l{number}") for number in range(1, 8)), View(80), numbered=True).splitlines()
    assert shown[0] == "      Gateway default/g"
    assert shown[1] == "   1    ▸ listener l1 ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080"
    assert len(shown) == 8


def test_many_paths_that_differ_in_one_place_share_a_line() -> None:
    paths = tuple(_path(listener, rule) for listener in ("a", "b") for rule in ("p", "q", "r", "s"))
    assert _shown(paths, View(120)) == (
        "  Gateway default/g ▸ listeners a, b ▸ HTTPRoute default/r ▸ 4 rules ▸ Service default/s:8080\n"
    )


def test_unnamed_rules_share_a_line_by_their_numbers() -> None:
    """`rules [0], [1]`; a path of another length is left as it is."""
    gateways = tuple(_path("a", f"rule[{rule}]", gateway) for gateway in ("g", "h", "i") for rule in range(2))
    shown = _shown((*gateways, (ROUTE,)), View(120)).splitlines()
    assert shown == [
        *(
            f"  Gateway default/{name} ▸ listener a ▸ HTTPRoute default/r ▸ rules [0], [1] ▸ Service default/s:8080"
            for name in "ghi"
        ),
        "  HTTPRoute default/r",
    ]
    former = tuple(_path("a", f"former rule[{rule}]", gateway) for gateway in ("g", "h", "i") for rule in range(2))
    assert "▸ former rules [0], [1] ▸" in _shown((*former, (ROUTE,)), View(120))


def test_more_than_a_dozen_lines_are_cut_at_a_terminal_only() -> None:
    paths = tuple((node("Gateway", f"g{number}"), node("HTTPRoute", f"r{number}")) for number in range(14))
    assert len(_shown(paths, View(100)).splitlines()) == 14
    shown = _shown(paths, View(100, terminal=True)).splitlines()
    assert shown[12] == "  and 2 more lines of paths; --show-all shows all 14"
    assert len(shown) == 13
    assert len(_shown(paths, View(100, terminal=True, everything=True)).splitlines()) == 14


def test_the_subject_is_marked() -> None:
    spans = [span for line in path_lines((_path("http"),), ROUTE, View(100)) for span in line.spans]
    assert [span.text.strip(" ▸") for span in spans if span.style == "subject"] == ["HTTPRoute default/r"]
