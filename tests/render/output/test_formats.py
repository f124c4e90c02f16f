"""What each sort of answer can be shown as, and what a format needs of it."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_policy.render.forms import OBJECT_DESCRIPTION
from kubectl_policy.render.output.formats import FORMATS, Forms, remarks_on, render
from kubectl_policy.render.output.text import View
from tests.render.worlds import about, colourful


class WithHeadline(type(OBJECT_DESCRIPTION)):  # type: ignore[misc]  # private to its slice
    """Forms of objects whose rows need a headline."""

    rows_suffice = False


class WithoutTable(Forms[Any]):
    """Forms without a table."""


def test_an_answer_is_offered_in_the_formats_of_its_parts() -> None:
    """It is not offered in others, nor shown in them."""
    assert WithoutTable().formats == ("yaml", "json")
    assert {row.part for row in FORMATS.values()} <= {*vars(Forms), *Forms.__annotations__}
    assert OBJECT_DESCRIPTION.formats == ("tree", "table", "wide", "csv", "yaml", "json", "name")
    with pytest.raises(AttributeError):
        render(WithoutTable(), about(colourful(), "HTTPRoute", "r"), "wide", View())


def test_what_rows_cannot_say_is_said_next_to_them() -> None:
    """The headline, unless the rows are all there is and speak for themselves; next to other formats nothing."""
    answer = about(colourful(), "HTTPRoute", "r")
    headline = OBJECT_DESCRIPTION.headline(answer)

    def said(
        name: str, forms: Forms[Any] = OBJECT_DESCRIPTION, *, shown: str = "red", complete: bool = True
    ) -> list[str]:
        return remarks_on(forms, answer, name, shown, complete=complete)

    assert said("table") == said("tree", complete=False) == said("json", shown="") == []
    assert said("table", complete=False) == said("name", shown="") == [headline]
    assert said("wide", WithHeadline()) == [headline]
