"""Values are declared like dataclasses, and keep what is computed once."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_policy.model.values import cached_property, compact, defaults_of, field, fields_of, replace, value


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
    fields: dict[str, str] = field(default_factory=lambda: {"a": "b"})
    more: str = ""


@value(kw_only=True)
class Own:
    """A thing with a hash of its own."""

    name: str

    def __hash__(self) -> int:
        """Any."""
        return 7


@value()
class Counted:
    """A text that says how often its length was computed."""

    text: str
    asked: list[str] = field(default_factory=list[str])

    @cached_property
    def length(self) -> int:
        """It."""
        self.asked.append(self.text)
        return len(self.text)


@compact
class Small:
    """A thing that many are made of."""

    name: str
    line: int = 0
    notes: tuple[str, ...] = ()


@value()
class Wide(Pair):
    """Two things and another one."""

    third: str = "c"


def test_what_it_holds() -> None:
    """By place or by name, with defaults."""
    assert Pair("a", ("b",)) == Pair(right=("b",), left="a") != Pair("a")
    assert (Pair("a").right, Pair("a", ("b", "c")).width, Named("n").fields) == ((), 2, {"a": "b"})
    assert Named("n", fields={}).fields == {}
    others: tuple[object, ...] = (Named("a"), "a", Pair("b"))
    assert Pair("a") not in others
    assert replace(Pair("a"), right=("b",)) == Pair("a", ("b",))
    assert Wide("a", ("b",), "c") == Wide("a", ("b",)) == replace(Wide("b", third="c"), left="a", right=("b",))
    assert repr(Pair("a")) == "Pair(left='a', right=())"
    assert (len({Pair("a"), Pair("a"), Pair("b")}), hash(Own(name="n"))) == (2, 7)


def test_what_takes_less_room() -> None:
    """With slots a value is like any other, but has no place for anything else."""
    assert Small("a", 1, ()) == Small(line=1, name="a") == replace(Small("a"), line=1) != Small("a")
    assert (repr(Small("a", notes=("b",))), len({Small("a"), Small("a", 0)})) == (
        "Small(name='a', line=0, notes=('b',))",
        1,
    )
    assert not hasattr(Small("a"), "__dict__")
    wrong: Any = Small
    with pytest.raises(TypeError, match="positional arguments"):
        wrong("a", 1, (), 2)
    with pytest.raises(AttributeError, match="immutable"):
        wrong("a").line = 2


def test_what_is_declared() -> None:
    """The fields in their order, and the defaults of those that have any, also where a value inherits them."""
    assert (fields_of(Wide), defaults_of(Wide)) == (("left", "right", "third"), {"right": (), "third": "c"})
    assert (fields_of(Own), defaults_of(Own)) == (("name",), {})
    assert [*defaults_of(Named)] == ["fields", "more"]


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "left"),
        (("a",), {"middle": 1}, "middle"),
        (("a", (), "c"), {}, "Extra positional arguments"),
    ],
)
def test_what_it_does_not_hold(given: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    """A field too many, or one too few."""
    with pytest.raises(TypeError, match=message):
        Pair(*given, **named)


def test_what_is_computed_once() -> None:
    """When it is asked for first; a value that computes nothing has no room for it."""
    counted = Counted("abc")
    assert (counted.length, counted.length, counted.asked, vars(Counted)["length"].__doc__) == (3, 3, ["abc"], "It.")
    assert Counted.length is vars(Counted)["length"]
    assert (vars(Counted("b")), hasattr(Pair("a"), "__dict__")) == ({}, False)
    assert replace(counted, text="b").length == 1


def test_a_default_that_is_made() -> None:
    """It is made for each value."""
    assert Named("n").fields is not Named("n").fields
    assert (repr(Named("n")), replace(Named("n"), more="m").more) == (
        "Named(name='n', fields={'a': 'b'}, more='')",
        "m",
    )


def test_fields_with_names_alone() -> None:
    """The fields of some values are given by name."""
    wrong: Any = Own
    with pytest.raises(TypeError, match="Extra positional arguments"):
        wrong("n")
