"""The laws of filling one spec from another: nothing is lost or invented, and how it is bracketed does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import leaves
from kubectl_policy.resolution.joint import filled, only, opened
from kubectl_policy.resolution.traced import trace
from tests.property.stacks import TYPED, WILD, joints
from tests.resolution.specs import source

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.merging import SharedField
    from kubectl_policy.resolution import Traced

WHOLE = st.frozensets(st.sampled_from((("m",), ("m", "l"), ("l",), ("w", "a"), ("p",), ("r",))))


def said(name: str, spec: dict[str, Json], taken_apart: tuple[SharedField, ...]) -> Traced:
    """A spec as a policy of that name declares it."""
    whole = [tuple(joint.field.split(".")) for joint in taken_apart]
    return opened(trace(spec, source(name), whole), taken_apart)


@given(specs=st.tuples(WILD, WILD), taken_apart=joints, whole=WHOLE)
def test_nothing_of_the_first_one_is_lost(
    specs: tuple[dict[str, Json], dict[str, Json]],
    taken_apart: tuple[SharedField, ...],
    whole: frozenset[tuple[str, ...]],
) -> None:
    """Every leaf stays where it is, but for an empty map or list, which may be filled."""
    first, later = (said(name, spec, taken_apart) for name, spec in zip("pq", specs, strict=True))
    found = dict(leaves(filled(first, later, whole)))
    for field, leaf in leaves(first):
        assert found.get(field) == leaf or (leaf.value in ({}, []) and only(filled(first, later, whole), field))


@given(specs=st.tuples(WILD, WILD), taken_apart=joints, whole=WHOLE)
def test_nothing_is_invented(
    specs: tuple[dict[str, Json], dict[str, Json]],
    taken_apart: tuple[SharedField, ...],
    whole: frozenset[tuple[str, ...]],
) -> None:
    """Every leaf of the result is one of theirs, at its place; and to fill it again changes nothing."""
    first, later = (said(name, spec, taken_apart) for name, spec in zip("pq", specs, strict=True))
    merged = filled(first, later, whole)
    theirs = [*leaves(first), *leaves(later)]
    assert all(leaf in theirs for leaf in leaves(merged))
    assert filled(merged, later, whole) == filled(merged, first, whole) == filled(first, merged, whole) == merged


@given(spec=WILD, taken_apart=joints, whole=WHOLE)
def test_a_spec_fills_itself_with_nothing(
    spec: dict[str, Json], taken_apart: tuple[SharedField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """And nothing fills it, nor does it change by being what fills nothing."""
    found = said("p", spec, taken_apart)
    assert filled(found, found, whole) == filled(found, {}, whole) == filled({}, found, whole) == found


@given(specs=st.tuples(TYPED, TYPED, TYPED), taken_apart=joints, whole=WHOLE)
def test_of_three_it_does_not_matter_which_two_meet_first(
    specs: tuple[dict[str, Json], ...], taken_apart: tuple[SharedField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """Where one schema holds for all, so that what stands at a field is of one sort."""
    a, b, c = (said(name, spec, taken_apart) for name, spec in zip("pqr", specs, strict=True))
    assert filled(filled(a, b, whole), c, whole) == filled(a, filled(b, c, whole), whole)
