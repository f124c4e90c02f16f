"""The answers about several objects at once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Diagnostic
from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
from kubectl_policy.questions.describe.description import Descriptions
from tests.render.worlds import about, about_policy, colourful

ONE, TWO, BOTH = (Diagnostic("yaml", "error", words) for words in ("one", "two", "both"))
HERE, THERE, EVERYWHERE = (BlindSpot(what=words, reason="forbidden") for words in ("here", "there", "everywhere"))


def test_what_is_said_of_several_is_said_once() -> None:
    """In the order in which it is met; each of them says it all the same."""
    world = colourful()
    route = replace(about(world, "HTTPRoute", "r"), problems=(BOTH, ONE), unseen=(HERE, EVERYWHERE))
    policy = replace(about_policy(world, "base"), problems=(TWO, BOTH), unseen=(EVERYWHERE, THERE, THERE))
    both = Descriptions((route, policy))
    assert both.problems == (BOTH, ONE, TWO)
    assert both.unseen == (HERE, EVERYWHERE, THERE)
    assert [item.problems for item in both.items] == [(BOTH, ONE), (TWO, BOTH)]
    assert Descriptions((policy, route)).problems == (TWO, BOTH, ONE)


@pytest.mark.parametrize("number", [0, 2])
def test_of_what_is_in_order_nothing_is_said(number: int) -> None:
    """Nor of no object at all."""
    item = replace(about(colourful(), "HTTPRoute", "r"), problems=(), unseen=())
    answer = Descriptions((item,) * number)
    assert (answer.problems, answer.unseen) == ((), ())
