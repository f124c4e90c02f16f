"""The law that a removed field is never effective again, whatever is merged over it afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, leaves
from kubectl_policy.resolution.merging import fold
from kubectl_policy.resolution.traced import keyed, patched, trace
from tests.property.rfc7386 import PATCHES, SPECS
from tests.property.strategic import KEYS, documents
from tests.resolution.specs import declares, source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.profiles.profile import Fold
    from kubectl_policy.resolution.traced import Field

DIRECTIONS: Final[tuple[Fold, ...]] = ("bottom-up", "top-down")


WAYS = st.sampled_from((MergeStrategy.PATCH_DEFAULTS, MergeStrategy.STRATEGIC_MERGE))
SETTINGS = st.one_of(SPECS, documents(nulls=False))
CHANGES = st.one_of(PATCHES, documents(nulls=True))


@given(above=SETTINGS, below=CHANGES, lowest=SETTINGS, strategy=WAYS)
def test_what_is_removed_below_does_not_come_back_from_above(
    above: dict[str, Json], below: dict[str, Json], lowest: dict[str, Json], strategy: MergeStrategy
) -> None:
    """Neither the field nor anything in it, whatever a third policy sets there; also inside elements of lists."""
    keys: Mapping[Field, str] = KEYS if strategy is MergeStrategy.STRATEGIC_MERGE else {}
    declared = [
        declares(name, spec, strategy) for name, spec in (("above", above), ("below", below), ("lowest", lowest))
    ]
    parts = [replace(part, spec=keyed(part.spec, keys)) for part in declared]
    removed = {field for field, leaf in leaves(parts[1].spec) if leaf.removed}
    for direction in DIRECTIONS:
        for field, leaf in leaves(fold(parts, direction).spec):
            inside = {field[:length] for length in range(1, len(field) + 1)}
            assert not inside & removed or leaf.source.object.name != "above"


@given(target=SPECS, patch=PATCHES)
def test_a_removal_has_a_source(target: dict[str, Json], patch: dict[str, Json]) -> None:
    """Every tombstone in what comes out is one that the patch put there."""
    merged = patched(trace(target, source("old")), trace(patch, source("new")))
    declared = dict(leaves(trace(patch, source("new"))))
    for field, leaf in leaves(merged):
        assert leaf.removed == (leaf.value is None)
        assert not leaf.removed or declared[field] == leaf
