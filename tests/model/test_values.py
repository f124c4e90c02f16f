"""Values without generated code are what frozen dataclasses are."""

from __future__ import annotations

from dataclasses import KW_ONLY, FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

from kubectl_policy.model.values import value


@value()
class Pair:
    """Two things."""

    left: str
    right: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many there are on the right."""
        return len(self.right)


@value()
class Named:
    """One thing with more of it."""

    name: str
    _: KW_ONLY
    fields: dict[str, str] = field(default_factory=lambda: {"a": "b"})
    more: str = ""


@value(kw_only=True)
class Own:
    """A thing with a hash of its own."""

    name: str

    def __hash__(self) -> int:
        """Any."""
        return 7


def test_what_it_holds() -> None:
    """By place or by name, with defaults."""
    assert Pair("a", ("b",)) == Pair(right=("b",), left="a") != Pair("a")
    assert (Pair("a").right, Pair("a", ("b", "c")).width, Named("n").fields) == ((), 2, {"a": "b"})
    assert Named("n", fields={}).fields == {}
    others: tuple[object, ...] = (Named("a"), "a", Pair("b"))
    assert Pair("a") not in others
    assert [each.name for each in fields(Named)] == ["name", "fields", "more"]
    assert replace(Pair("a"), right=("b",)) == Pair("a", ("b",))
    assert repr(Pair("a")) == "Pair(left='a', right=())"
    assert (len({Pair("a"), Pair("a"), Pair("b")}), hash(Own(name="n"))) == (2, 7)


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "left"),
        (("a",), {"middle": 1}, "middle"),
        (("a", (), "c"), {}, "3 without names"),
    ],
)
def test_what_it_does_not_hold(given: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    """A field too many, or one too few."""
    with pytest.raises(TypeError, match=f"Pair has other fields than it is given: {message}"):
        Pair(*given, **named)


def test_it_never_changes() -> None:
    """Neither by assignment nor by deletion."""
    found: Any = Pair("a")
    with pytest.raises(FrozenInstanceError, match="left"):
        found.left = "b"
    with pytest.raises(FrozenInstanceError, match="left"):
        del found.left


def test_of_which_there_are_many() -> None:
    """They are what the first ones are, and so is what they refuse."""
    first = Named("n"), Named("n", fields={}, more="m")
    for _ in range(500):
        Named("n")
    assert (Named(name="n"), Named("n", more="m", fields={})) == first
    assert Named("n").fields is not Named("n").fields
    assert (repr(Named("n")), replace(Named("n"), more="m").more) == (repr(first[0]), "m")
    refused: tuple[Any, ...] = ({}, {"name": "n", "middle": 1})
    for named in refused:
        with pytest.raises(TypeError, match=r"__init__\(\) (missing|got an unexpected)"):
            Named(**named)
