"""The law that the directions of folding agree where there are two contributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import MergeStrategy
from kubectl_policy.resolution.merging import fold
from tests.property.rfc7386 import PATCHES
from tests.resolution.specs import declares

if TYPE_CHECKING:
    from kubectl_policy.model import Json

STRATEGIES = st.sampled_from(MergeStrategy)


@given(above=PATCHES, below=PATCHES, strategy=STRATEGIES, other=STRATEGIES)
def test_two_policies_fold_alike(
    above: dict[str, Json], below: dict[str, Json], strategy: MergeStrategy, other: MergeStrategy
) -> None:
    """There is only one pair to merge first."""
    parts = [declares("p", above, strategy), declares("q", below, other)]
    up, down = fold(parts, "bottom-up"), fold(parts, "top-down")
    assert (up.spec, up.members, up.rejected) == (down.spec, down.members, down.rejected)
