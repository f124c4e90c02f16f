"""What unquoted YAML scalars mean to kubectl."""

import pytest

from kubectl_policy.text.scalars import PlainScalars, key_of, plain_scalar

# Dates, numbers to base 60, and whatever JSON has no number for.
TEXTS = (
    "1:30 12:30:45 190:20:30.15 2026-01-01 2026-01-01T00:00:00Z = << yEs tRUE nULL - + . .. _1 .1_0 1.2.3 1e v1.10 0o8"
)
MORE_TEXTS = "0b2 0xg 1e400 1٣ .inf -.Inf .NaN None"


@pytest.mark.parametrize(
    "text", [*TEXTS.split(), *MORE_TEXTS.split(), "2001-12-14 21:59:43.10 -5", "9" * 5000, "0x" + "f" * 400]
)
def test_a_string_stays_as_it_is_written(text: str) -> None:
    """Dates, numbers to base 60 and whatever JSON has no number for are text, exactly as written."""
    assert plain_scalar(text) == text


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
        (["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
        (["", "~", "null", "Null", "NULL"], None),
    ],
)
def test_every_spelling_of_a_word(texts: list[str], *, value: bool | None) -> None:
    """All of go-yaml v2's, the one-letter ones too; an empty value is null as well."""
    assert [plain_scalar(text) for text in texts] == [value] * len(texts)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["0", "-0", "-0.0"], 0),
        (["+12"], 12),
        (["1_000", "1e3"], 1000),
        (["0x1F"], 31),
        (["-0X1f"], -31),
        (["0b101"], 5),
        (["-0b101"], -5),
        (["0o777", "0777"], 511),
        (["0_7"], 7),
        (["08"], 8),
        (["1.0"], 1),
        (["9223372036854775807"], 2**63 - 1),
        (["-9223372036854775808"], -(2**63)),
        ([".5", "5e-1"], 0.5),
        (["-.5"], -0.5),
        (["1_000.5"], 1000.5),
        (["1.10"], 1.1),
        (["1E-3"], 0.001),
        (["18446744073709551616"], float(2**64)),
        (["0xffffffffffffffffff"], float(2**72 - 1)),
    ],
)
def test_numbers(texts: list[str], value: float) -> None:
    """Decimal, hexadecimal, octal in both spellings, binary; integers where JSON writes no point."""
    numbers = [plain_scalar(text) for text in texts]
    assert [(number, type(number)) for number in numbers] == [(value, type(value))] * len(texts)


def test_keys_are_text_in_json() -> None:
    """As sigs.k8s.io/yaml converts them; it refuses a null key. What an alias repeats may stand as a key."""
    texts = ["a", "true", "y", "off", "1", "0x10", "1.5", "1.0", "1234.5", "0.00001", "0.1", "1e20", "~"]
    keys = ["a", "true", "true", "false", "1", "16", "1.5", "1", "1234.5", "1e-05", "0.1", "1e+20"]
    assert [key_of(plain_scalar(text)) for text in texts] == [*keys, None]
    assert [key_of(value) for value in (True, False, None, 3, "x")] == ["true", "false", None, "3", "x"]


def test_what_was_met_before_is_the_same_object() -> None:
    """The text of ten thousand equal scalars is in memory once."""
    scalars = PlainScalars()
    first, second = (b"name".decode() for _ in range(2))
    assert first is not second
    assert scalars[first] is scalars[second]
