"""What commands print where documents are recognised and worlds are asked narrowly, and where all is read."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

import pytest

from kubectl_policy.cli import run
from kubectl_policy.model import index
from kubectl_policy.sources import stored
from tests.text.recognising import NEVER, recognise_with

if TYPE_CHECKING:
    from collections.abc import Sequence


class Printed(NamedTuple):
    """What came out of a command."""

    code: int
    out: str
    err: str


def printed(arguments: Sequence[str], patience: int, much: int | None = None) -> Printed:
    """What a command prints if so many documents alike make a shape, and no world of which so much was read is asked.

    Worlds that are as small as these are read as a whole sooner than they are asked, unless `much` is nothing.
    """
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        recognise_with(patience, patched)
        if much is not None:
            patched.setattr(stored, "_MUCH", much)
            patched.setattr(stored, "_OFTEN", NEVER)
            patched.setattr(stored, "_FEW", 0)
            patched.setattr(index, "MANY", NEVER)
        code = run(arguments)
    return Printed(code, out.getvalue(), err.getvalue())


def says_the_same(arguments: Sequence[str], patience: int = 1, much: int | None = 0) -> str:
    """What a command prints; it is the same and ends in the same way, whatever was recognised."""
    in_full = printed(arguments, NEVER)
    assert printed(arguments, patience, much) == in_full
    return in_full.out
