"""What each sort of answer can be shown as, and what a format needs of it."""

from __future__ import annotations

from importlib import import_module

import pytest
from msgspec.structs import replace

from kubectl_policy.render.describe import OBJECT
from kubectl_policy.render.output.formats import FORMATS, Forms, remarks_on, render
from kubectl_policy.render.output.text import View
from tests.render.shown import FORMS
from tests.render.worlds import about, colourful

PARTS = [name for name, hint in Forms.__annotations__.items() if hint == "str" and name != "redirected"]


@pytest.mark.parametrize("forms", FORMS.values(), ids=[sort.__name__ for sort in FORMS])
def test_every_part_of_an_answer_is_a_function(forms: Forms) -> None:
    """They are named, so that nothing is imported that nobody asks for."""
    for part in filter(None, (getattr(forms, name) for name in PARTS)):
        module, _, function = part.partition(":")
        assert callable(getattr(import_module(f"kubectl_policy.render.{module}"), function))


def test_every_format_is_made_of_a_part() -> None:
    """An answer without it is not offered in the format, nor shown in it."""
    assert {row.part for row in FORMATS.values()} <= set(PARTS)
    without = replace(OBJECT, table="")
    assert set(OBJECT.formats) - set(without.formats) == {"table", "wide", "csv"}
    with pytest.raises(KeyError):
        render(without, about(colourful(), "HTTPRoute", "r"), "wide", View())


def test_what_rows_cannot_say_is_said_next_to_them() -> None:
    """The headline, unless the rows are all there is and speak for themselves; next to other formats nothing."""
    answer = about(colourful(), "HTTPRoute", "r")
    headline = OBJECT.part("headline", answer)

    def said(name: str, forms: Forms = OBJECT, *, shown: str = "red", complete: bool = True) -> list[str]:
        return remarks_on(forms, answer, name, shown, complete=complete)

    assert said("table") == said("tree", complete=False) == said("json", shown="") == []
    assert said("table", complete=False) == said("name", shown="") == [headline]
    assert said("wide", replace(OBJECT, rows_suffice=False)) == [headline]
