"""Mermaid: what its own parser takes, whatever things are called, and not more than it draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.render.graph.mermaid import graph_mermaid
from kubectl_policy.render.output.text import View
from tests import build
from tests.programs import mermaid_problems, needs_mermaid
from tests.render.graph.pictures import WORLDS, hostile_world, picture, picture_of

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

EXAMPLES = tuple(world for world in WORLDS if world.startswith("worked-examples"))


@pytest.mark.parametrize("world", EXAMPLES)
def test_worked_examples(world: str, snapshot: SnapshotAssertion) -> None:
    """The examples of GEP-713."""
    assert graph_mermaid(picture_of(world, effective=True), View()) == snapshot


def test_what_is_wrong_is_dotted_and_says_why() -> None:
    """Arrows name a section only where there are others."""
    lines = graph_mermaid(picture_of("bakery"), View()).splitlines()
    names = {line.split("[")[0].strip(): line for line in lines if "[" in line and "-->" not in line}
    gateway = next(name for name, line in names.items() if "Gateway edge" in line)
    old = next(name for name, line in names.items() if "HTTPRoute old" in line)
    assert f'  {gateway} -.->|"NoMatchingParent"| {old}' in lines
    assert any(line.strip().startswith(f'{gateway} -->|"listener https"|') for line in lines)


def test_states_are_told_by_shape_and_word() -> None:
    """Of each state in the bakery."""
    text = graph_mermaid(picture_of("bakery"), View())
    assert '(["RetryPolicy own<br/>enforced"])' in text
    assert '[/"RetryPolicy resilience<br/>partially enforced"/]' in text
    assert '[\\"RetryPolicy global<br/>overridden by RetryPolicy baker/resilience"\\]' in text
    assert '{{"CircuitBreakerPolicy till-rush-hour<br/>conflicted"}}' in text
    assert '("RetryPolicy wedding<br/>not known")' in text


def test_what_was_not_applied_may_be_different() -> None:
    """A policy and a route that patches change have dotted frames, and say so."""
    text = graph_mermaid(picture_of("repositories/kustomize"), View())
    assert '(["PacePolicy booking<br/>enforced, may be different"])' in text
    (doubtful,) = [line for line in text.splitlines() if line.startswith("  class ") and line.endswith(" doubtful")]
    assert len(doubtful.split()[1].split(",")) == 5


def test_it_is_folded_until_mermaid_draws_it() -> None:
    """Which it does up to 500 edges and 50,000 characters; a node says that, and how to see more."""
    routes = [build.route(f"r{place}", rules=[build.rule(build.backend(f"s{place}"))]) for place in range(700)]
    crowded = picture(build.gateway(), *routes)
    for everything in (False, True):
        text = graph_mermaid(crowded, View(everything=everything))
        assert len(text) < 50_000
        assert sum("-->" in line for line in text.splitlines()) < 500
        assert "700 HTTPRoutes" in text
        assert 'folded>"Too much to draw singly' in text


def test_names_are_names() -> None:
    """No character that is syntax of anything is in a label."""
    text = graph_mermaid(picture(*hostile_world()), View())
    labels = [part for line in text.splitlines() if "%%" not in line for part in line.split('"')[1::2]]
    assert labels
    assert not any(
        character in label.replace("<br/>", "") for label in labels for character in "<>&`{}[]|%\\\x1b\u202e"
    )


@needs_mermaid
def test_mermaid_takes_every_world(tmp_path: Path) -> None:
    """Also one in which everything has a hostile name."""
    files: list[Path] = []
    for world in (*WORLDS, "hostile"):
        made = picture(*hostile_world()) if world == "hostile" else picture_of(world, effective=True)
        files.append(tmp_path / f"{world.replace('/', '-')}.mmd")
        files[-1].write_text(graph_mermaid(made, View()), "utf-8")
    assert mermaid_problems(*files) == []
