"""Findings of a change that could not be decided: which of them count, and as what."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.lint.changes.novelty import with_undecided
from kubectl_policy.lint.finding import Finding
from kubectl_policy.model import Origin
from tests import build

LINE = Origin("shop.yaml", 9)
UNDECIDED = Finding(
    subject=build.ref("HTTPRoute", "r"),
    field="spec.rules[0]",
    message="Service shop/cart is not in the input",
    certain=False,
    rule="GWP5001",
    severity="error",
    origin=Origin("shop.yaml", 1),
    fingerprint="a",
)


def located(origin: Origin | None, field: str) -> Origin | None:
    """The line of a field, which all have."""
    return LINE if field == "spec.rules[0]" else origin


@pytest.mark.parametrize(
    ("finding", "in_base", "counts"),
    [
        (UNDECIDED, (), True),
        (UNDECIDED, (replace(UNDECIDED, fingerprint="b", message="m"),), True),
        (UNDECIDED, (UNDECIDED,), False),
        # It is decided no longer, and was bad before.
        (UNDECIDED, (replace(UNDECIDED, certain=True),), False),
        (replace(UNDECIDED, severity="info"), (), False),
        # The same is unknown of a neighbour, or of an object of another namespace.
        (UNDECIDED, (replace(UNDECIDED, fingerprint="b", message=UNDECIDED.message),), False),
        (UNDECIDED, (replace(UNDECIDED, fingerprint="b", subject=build.ref("HTTPRoute", "r", "x")),), True),
        (replace(UNDECIDED, subject=None), (), True),
    ],
)
def test_an_undecided_finding_counts_if_a_change_adds_it(
    finding: Finding, in_base: tuple[Finding, ...], *, counts: bool
) -> None:
    (result,) = with_undecided([finding], in_base, located)
    expected = replace(
        finding, is_likely=True, severity="warning", origin=LINE, message=f"{finding.message} (undecided)"
    )
    assert result == (expected if counts else finding)
    assert result.counts is counts


def test_a_certain_finding_stays_as_it_is() -> None:
    certain = replace(UNDECIDED, certain=True)
    assert [*with_undecided([certain], (), located)] == [certain]
