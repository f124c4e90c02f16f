"""Methods whose results are kept, and regular expressions compiled at first use."""

from __future__ import annotations

import re

from kubectl_policy.lazy import cached_method, pattern


class Squares:
    """An object that counts what it computes."""

    def __init__(self) -> None:
        """Begin with nothing computed."""
        self.computed: list[int] = []

    @cached_method
    def square(self, number: int) -> int:
        """Return the square of a number."""
        self.computed.append(number)
        return number**2


def test_result_is_kept_for_each_argument() -> None:
    """Each object has its own results, and computes each once."""
    one, other = Squares(), Squares()
    assert [one.square(number) for number in (2, 3, 2, 3)] == [4, 9, 4, 9]
    assert other.square(2) == 4
    assert (one.computed, other.computed) == ([2, 3], [2])


def test_method_of_the_class_computes_anew() -> None:
    """What is asked of the class is the function itself, with its documentation."""
    squares = Squares()
    assert [Squares.square(squares, 2), Squares.square(squares, 2)] == [4, 4]
    assert squares.computed == [2, 2]
    assert Squares.square.__doc__ == "Return the square of a number."


def test_it_is_compiled_when_it_is_used() -> None:
    """A mistake shows no sooner."""
    found = pattern("(a|b)+C", re.IGNORECASE)
    assert (bool(found.fullmatch("abc")), bool(found.match("c")), found.findall("ac bc")) == (True, False, ["a", "b"])
    assert found.match is found.match
    pattern("(")
