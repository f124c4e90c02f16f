"""The list that a type name asks for."""

from __future__ import annotations

import pytest

from kubectl_policy.model import Gap
from kubectl_policy.questions.listing.lists import list_names, list_type
from kubectl_policy.questions.listing.objects import GatewayRow
from kubectl_policy.questions.listing.policies import KindRow, PolicyRow
from kubectl_policy.questions.shared.selection import Selection
from tests.render.worlds import colourful, world


@pytest.mark.parametrize(("word", "row"), [("policies", PolicyRow), ("policykinds", KindRow), ("gtw", GatewayRow)])
def test_each_type_has_its_own_rows(word: str, row: type) -> None:
    """Policies, kinds, and objects."""
    assert {type(found) for found in list_type(colourful(), word, Selection()).rows} == {row}


@pytest.mark.parametrize("word", ["policies", "policykinds", "routes", "colorpolicy"])
def test_the_names_are_those_of_the_list(word: str) -> None:
    """In the same order, whatever the selection."""
    for selection in (Selection(), Selection("default"), Selection("far")):
        named, listed = list_names(colourful(), word, selection), list_type(colourful(), word, selection)
        assert [row.ref for row in named.rows] == [row.ref for row in listed.rows]
        assert (named.type, named.namespace, named.elsewhere) == (listed.type, listed.namespace, listed.elsewhere)


def test_names_are_incomplete_where_something_could_not_be_read() -> None:
    """There may be more of them."""
    assert [thing.reason for thing in list_names(world(gaps=[Gap("", "", "x")]), "routes", Selection()).unseen] == ["x"]
