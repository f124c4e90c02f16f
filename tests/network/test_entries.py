"""Tests of `network/entries.py`."""

from __future__ import annotations

import pytest

from kubectl_policy.model import FieldPath, Json
from kubectl_policy.model.selectors import selects
from kubectl_policy.network.entries import entries_at, parse_cidr, selector_at


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (None, []),
        ({}, []),
        ("to be done", []),
        (7, []),
        ([], []),
        ([7, "a", [], {"a": 1}], [("spec.to[3]", {"a": 1})]),
        # JSON leaves a field of Go as it is for null: a list of them has an empty entry.
        ([None], [("spec.to[0]", {})]),
        (["${ENTRY}", {}], [("spec.to[0]", "${ENTRY}"), ("spec.to[1]", {})]),
        ("${ENTRIES}", [("spec.to", "${ENTRIES}")]),
    ],
)
def test_entries_of_a_list(entries: Json, expected: list[tuple[str, Json]]) -> None:
    found = entries_at({"to": entries}, FieldPath.parse("spec"), "to")
    assert [(str(field), entry) for field, entry in found] == expected


def test_entries_of_nothing() -> None:
    assert list(entries_at("spec", FieldPath(), "spec.to")) == []


@pytest.mark.parametrize(
    ("selector", "verdict"),
    [({}, True), ({"matchLabels": {"app": "b"}}, False), ("${SELECTOR}", None)],
)
def test_a_selector_may_be_to_be_filled_in(selector: Json, verdict: bool | None) -> None:  # noqa: FBT001 (a case)
    read = selector_at({"pods": selector}, "pods")
    assert read is not None
    assert selects(read, {"app": "a"}) is verdict


@pytest.mark.parametrize("selector", [None, "app=a", [], 7])
def test_what_is_no_selector(selector: Json) -> None:
    assert selector_at({"pods": selector}, "pods") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.0", None),
        ("10.0.0.0/33", None),
        ("10.0.0.0/-1", None),
        ("10.0.0.0/255.0.0.0", None),
        ("10.0.0.0/8/8", None),
        ("10.0.0/8", None),
        ("fe80::%eth0/64", None),
        (f"10.0.0.0/{'9' * 5_000}", None),
        ("10.0.0.0/8", "10.0.0.0/8"),
        # "Host bits" are masked.
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("010.0.0.01/32", "10.0.0.1/32"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("FD00::1/8", "fd00::/8"),
        ("::/0", "::/0"),
        # IPv4 addresses in the notation of IPv6.
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
        ("::ffff:0:0/95", "::fffe:0:0/95"),
    ],
)
def test_ranges_of_addresses(text: str, expected: str | None) -> None:
    network = parse_cidr(text)
    assert (network and str(network)) == expected
