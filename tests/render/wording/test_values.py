"""Values in one line: lists of named things by their names."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.model import Json
from kubectl_policy.render.wording.values import brief, brief_change

LONG: Final = "x" * 90
ACME: Final[dict[str, Json]] = {"name": "acme", "issuer": "https://acme.example", "keys": {"uri": LONG, "cache": 1}}
GUILD: Final[dict[str, Json]] = {"name": "guild", "issuer": "https://guild.example"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"name": "acme"}], '[{"name": "acme"}]'),
        ([ACME, GUILD], "[acme] issuer https://acme.example …, [guild] issuer https://guild.example"),
        ([{"name": "a", "b": LONG}], "[a] b …"),
        ([{"action": "Deny", "b": LONG}], "action Deny …"),
        ([{"name": name * 20} for name in "abcdef"], ", ".join(f"[{name * 20}]" for name in "abcd") + ", and 2 more"),
        ([LONG], f'["{LONG}"]'),
        ({"a": LONG}, f'{{"a": "{LONG}"}}'),
        (LONG, LONG),
    ],
)  # fmt: skip
def test_in_short(value: Json, expected: str) -> None:
    """Only what is long, and lists objects."""
    assert brief(value) == expected


def test_what_differs() -> None:
    """Objects that differ come first, with the fields that do; those of one list alone have their names."""
    moved: Json = {**ACME, "keys": {"uri": "u", "cache": 1}}
    assert brief_change([GUILD, ACME], [GUILD, moved]) == (
        f"[acme] keys.uri {LONG}, [guild]",
        "[acme] keys.uri u, [guild]",
    )
    assert brief_change([GUILD, ACME], [ACME]) == ("[guild], [acme]", "[acme]")
    less: Json = {"name": "acme", "issuer": "https://acme.example"}
    full = '{"uri": "' + LONG + '", "cache": 1}'
    assert brief_change([ACME], [less]) == (f"[acme] keys {full}", "[acme] no keys")


@pytest.mark.parametrize("value", [[GUILD, {"issuer": LONG}], [ACME, ACME], [ACME, 7], {"a": ACME}, LONG], ids=str)
def test_what_has_no_names_is_shown_whole(value: Json) -> None:
    before, after = brief_change(value, [ACME])
    assert (len(before) > 80, after.startswith('[{"name": "acme"')) == (True, True)


def test_what_is_short_is_shown_whole() -> None:
    assert brief_change([{"name": "a"}], [{"name": "b"}]) == ('[{"name": "a"}]', '[{"name": "b"}]')
