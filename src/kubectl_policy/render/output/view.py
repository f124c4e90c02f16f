"""How an answer is to be shown: the circumstances that a renderer may know of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class View:
    """The place where an answer is shown.

    `width` is in terminal cells. At a `terminal` long values and lists are cut and next commands are offered; anywhere
    else everything is shown. Without `unicode` only ASCII can be written. `program` is the command as the user calls
    it, `options` are those that a next command needs to see the same input. A table has its `headers`, and a column
    for the `namespaces` of its rows if these are from several; `everything` also shows what is as it should be.
    """

    width: int = DEFAULT_WIDTH
    terminal: bool = False
    unicode: bool = True
    program: str = "kubectl policy"
    options: tuple[str, ...] = ()
    headers: bool = True
    namespaces: bool = False
    everything: bool = False
