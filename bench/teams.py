"""A world of any size as people have it: teams that share a GatewayClass, each with a Gateway, routes and policies."""

from __future__ import annotations

from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUTES_PER_TEAM: Final = 30

_MANIFESTS: Final = Path(__file__).parent / "manifests"


def _read(name: str) -> list[str]:
    """The documents of a file; names in braces are filled in."""
    text = (_MANIFESTS / f"{name}.yaml").read_text("utf-8")
    return text.split("---\n")


def _endless() -> Iterator[str]:
    shared, of_team, of_route = map(_read, ("shared", "team", "route"))
    yield from shared
    for team in count():
        for document in of_team:
            yield document.format(team=team)
        for route in range(ROUTES_PER_TEAM):
            for document in of_route:
                yield document.format(team=team, route=route)


def reported(size: int) -> Iterator[str]:
    """The same objects as `documents`, with what controllers reported on them."""
    reports = [document.partition("status:") for document in _read("reports")]
    for document in documents(size):
        report = next((status + rest for kind, status, rest in reports if f"\n{kind}" in document), "")
        yield document + report


def documents(size: int) -> Iterator[str]:
    """Exactly `size` objects, one YAML document each; the same ones for the same size.

    From a size of 6 on, HTTPRoute `route-0` in namespace `team-0` is among them, under a policy on its Gateway.
    """
    return islice(_endless(), size)
