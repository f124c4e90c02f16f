"""The law that what one policy overrides makes no override of what another one says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy.resolution.merging import fold
from tests.resolution.specs import declares, set_by

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.profile import Fold

DIRECTIONS: Final[tuple[Fold, ...]] = ("bottom-up", "top-down")
SPECS: Final[st.SearchStrategy[dict[str, Json]]] = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2))
POLICIES: Final = st.lists(st.tuples(st.sampled_from(("Patch defaults", "Patch overrides")), SPECS), min_size=1)


@given(policies=POLICIES)
def test_a_default_gives_way_to_all_that_is_below_it(policies: list[tuple[str, dict[str, Json]]]) -> None:
    """Whatever stands between the two, and in whichever direction one goes."""
    parts = [declares(str(place), spec, strategy) for place, (strategy, spec) in enumerate(policies)]
    for direction in DIRECTIONS:
        for field, (_, name) in set_by(fold(parts, direction).spec).items():
            place = int(name)
            below = (spec for _, spec in policies[place + 1 :])
            assert policies[place][0] == "Patch overrides" or not any(field in spec for spec in below)
