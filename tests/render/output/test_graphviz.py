"""Pictures by Graphviz, and what is said where it is missing or fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_policy.errors import PolicyError
from kubectl_policy.render.output.formats import drawn
from tests.programs import needs_dot

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_without_graphviz_it_is_said_how_to_get_it(form: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And what needs none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PolicyError) as raised:
        drawn("digraph {}", form)
    assert raised.value.message == f"-o {form} needs the program dot of Graphviz, which is not installed"
    assert raised.value.hint == (
        "apt install graphviz, dnf install graphviz, brew install graphviz or winget install graphviz;"
        " without it there are -o html, mermaid, dot, tree and json"
    )


def test_what_graphviz_does_not_take_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With what it says."""
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho 'no memory' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(PolicyError, match="Graphviz could not draw this: no memory"):
        drawn("digraph {}", "svg")


@needs_dot
def test_pictures_are_what_their_formats_begin_with() -> None:
    """SVG is text, all others are bytes."""
    svg = drawn("digraph {a -> b}", "svg")
    assert isinstance(svg, str)
    assert svg.startswith("<?xml")
    assert drawn("digraph {a -> b}", "png")[:4] == b"\x89PNG"
    assert drawn("digraph {a -> b}", "pdf")[:5] == b"%PDF-"
