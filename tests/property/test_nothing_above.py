"""The law that merging with nothing above changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import MergeStrategy
from kubectl_policy.resolution.strategies import fold, merge
from kubectl_policy.resolution.traced import patched, trace
from tests.property.rfc7386 import PATCHES
from tests.resolution.specs import declares, layer, source

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.profile import Fold

PATCHING = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES))


@given(spec=PATCHES, strategy=st.sampled_from(MergeStrategy), direction=st.sampled_from(("bottom-up", "top-down")))
def test_one_policy_alone_is_what_it_declares(spec: dict[str, Json], strategy: MergeStrategy, direction: Fold) -> None:
    """Whatever its strategy and the direction of folding are."""
    alone = declares("p", spec, strategy)
    assert fold([alone], direction) == layer(alone)


@given(spec=PATCHES, strategy=PATCHING)
def test_an_empty_policy_above_changes_nothing(spec: dict[str, Json], strategy: MergeStrategy) -> None:
    """Of those that patch: what declares nothing sets nothing and removes nothing."""
    below = declares("p", spec)
    assert merge(layer(declares("q", {}, strategy)), layer(below)).spec == below.spec


@given(spec=PATCHES)
def test_an_empty_spec_is_neutral(spec: dict[str, Json]) -> None:
    """On either side of a patch."""
    traced = trace(spec, source("p"))
    assert patched({}, traced) == patched(traced, {}) == traced
