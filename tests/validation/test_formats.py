"""Formats of text."""

from __future__ import annotations

import pytest

from kubectl_policy.validation.schema import format_of, is_of_format

WRONG = [
    ("ipv4", "1.2.3"),
    ("ipv4", "1.2.3.256"),
    ("ipv4", "::1"),
    ("ipv6", "1.2.3.4"),
    ("ipv6", "::1::"),
    ("cidr", "10.0.0.0"),
    ("cidr", "10.0.0.0/33"),
    ("byte", "a"),
    ("byte", ""),
    ("date", "2026-02-29"),
    ("date", "20260228"),
    ("date", "2026-02-28T00:00:00Z"),
    ("date-time", "2026-02-28"),
    ("date-time", "2026-02-28 10:00:00Z"),
    ("date-time", "2026-02-28T24:00:00Z"),
    ("date-time", "2026-02-28T10:00:00"),
]
RIGHT = [
    ("ipv4", "1.2.3.4"),
    ("ipv4", "010.2.3.004"),
    ("ipv4", "::ffff:1.2.3.4"),
    ("ipv6", "fe80::1"),
    ("cidr", "10.0.0.0/8"),
    ("cidr", "fe80::/64"),
    ("byte", "aGk="),
    ("date", "2024-02-29"),
    ("date-time", "2026-02-28T23:59:59Z"),
    ("date-time", "2026-02-28t10:00:00.5+01:00"),
    ("email", "nobody checks this"),
]


@pytest.mark.parametrize(("form", "text"), WRONG)
def test_a_text_that_is_not_of_a_format(form: str, text: str) -> None:
    """As an API server finds."""
    assert not is_of_format(text, form)


@pytest.mark.parametrize(("form", "text"), RIGHT)
def test_a_text_of_a_format(form: str, text: str) -> None:
    """What cannot be told here counts as right."""
    assert is_of_format(text, form)


@pytest.mark.parametrize(
    ("kind", "form", "expected"),
    [
        ("string", "date-time", "date-time"),
        ("", "ipv4", "ipv4"),
        ("integer", "int32", "int32"),
        ("number", "double", "double"),
        ("string", "int32", ""),
        ("integer", "int128", ""),
        ("object", "date", ""),
    ],
)
def test_a_format_needs_its_type(kind: str, form: str, expected: str) -> None:
    """Any other is ignored."""
    assert format_of({"type": kind, "format": form}) == expected
