"""What commands print whichever reader reads, and however much of the objects is kept."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

from kubectl_policy.cli import run
from tests.text.readings import MODES, Mode, reading

if TYPE_CHECKING:
    from collections.abc import Sequence


class Printed(NamedTuple):
    """What came out of a command."""

    code: int
    out: str
    err: str


def printed(arguments: Sequence[str], mode: Mode = "usual") -> Printed:
    """What a command prints if its input is read in a mode."""
    out, err = io.StringIO(), io.StringIO()
    with reading(mode), redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return Printed(code, out.getvalue(), err.getvalue())


def says_the_same(arguments: Sequence[str]) -> str:
    """What a command prints; it is the same and ends in the same way in all modes."""
    usual, *others = (printed(arguments, mode) for mode in MODES)
    assert [usual] * len(others) == others
    return usual.out
