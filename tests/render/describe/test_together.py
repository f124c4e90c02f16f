"""Fields that share a row: as much as there is room for of one thing, before two things are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.model import NodeRef
from kubectl_policy.questions.shared.in_force import Setting
from kubectl_policy.render.describe.rows import FieldRow, parent_of, together, words_of
from kubectl_policy.resolution import Source
from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

SOURCE = Source(build.ref("ColorPolicy", "p", group="example.com"), NodeRef(build.ref("Gateway", "g")))
RETRY: Final[Mapping[str, Json]] = {
    "retry.times": 2,
    "retry.each.timeout": "2s",
    "retry.each.pause.least": "1s",
    "retry.each.pause.most": "9s",
}


def rows(values: Mapping[str, Json], room: int) -> list[str]:
    """The rows of some fields, where so many characters of values have room in one."""
    settings = (
        Setting(field=field, value=value, source=SOURCE, removed=False, defaulted=False, certain=True, instead_of=())
        for field, value in values.items()
    )
    apart = [FieldRow(setting=setting, positions={0}) for setting in settings]
    shared = together(apart, lambda some: bool(parent_of(some)) and len(words_of(some)) <= room)
    return [f"{row.setting.field}: {row.setting.value}" for row in shared]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (80, ["retry: times 2, each.timeout 2s, each.pause.least 1s, each.pause.most 9s"]),
        (50, ["retry.times: 2", "retry.each: timeout 2s, pause.least 1s, pause.most 9s"]),
        (30, ["retry: times 2, each.timeout 2s", "retry.each.pause: least 1s, most 9s"]),
        (10, [f"{field}: {value}" for field, value in RETRY.items()]),
    ],
)
def test_things_are_divided_only_where_they_have_to_be(room: int, expected: list[str]) -> None:
    """And what is left of one may stand with its neighbour."""
    assert rows(RETRY, room) == expected


def test_what_has_nothing_in_common_stays_apart() -> None:
    """So does what is no plain value."""
    assert rows({"color": "red", "shade": "dark"}, 80) == ["color: red", "shade: dark"]
    assert rows({"a.b": 1, "a.c": {}, "a.d": 2}, 80) == ["a.b: 1", "a.c: {}", "a.d: 2"]
