"""The law that strategies are idempotent: a policy merged with itself is itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import MergeStrategy
from kubectl_policy.resolution.strategies import merge
from tests.property.rfc7386 import PATCHES
from tests.resolution.specs import declares, layer

if TYPE_CHECKING:
    from kubectl_policy.model import Json


@given(spec=PATCHES, strategy=st.sampled_from(MergeStrategy))
def test_merging_with_itself_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    """For every strategy, sources included."""
    one = layer(declares("p", spec, strategy))
    again = merge(one, one)
    assert (again.spec, again.strategy, again.members) == (one.spec, one.strategy, one.members)


@given(above=PATCHES, below=PATCHES, strategy=st.sampled_from(MergeStrategy))
def test_merging_once_more_with_what_is_above_changes_nothing(
    above: dict[str, Json], below: dict[str, Json], strategy: MergeStrategy
) -> None:
    """What an established policy has done to a challenger, it does once."""
    established, challenger = layer(declares("p", above, strategy)), layer(declares("q", below))
    once = merge(established, challenger)
    assert merge(established, once).spec == once.spec
