"""The laws of filling one spec from another: nothing is lost or invented, and how it is bracketed does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from kubectl_policy import leaves
from kubectl_policy.resolution.contributions import taken_apart
from kubectl_policy.resolution.traced import only_field, trace, with_defaults
from tests.property.stacks import TYPED, WILD, joints
from tests.resolution.specs import source

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.profiles.merging import SharedField
    from kubectl_policy.resolution import Traced

WHOLE = st.frozensets(st.sampled_from((("m",), ("m", "l"), ("l",), ("w", "a"), ("p",), ("r",))))


def said(name: str, spec: dict[str, Json], fields: tuple[SharedField, ...]) -> Traced:
    """A spec as a policy of that name declares it."""
    whole = [tuple(joint.field.split(".")) for joint in fields]
    return taken_apart(trace(spec, source(name), whole), fields)


@given(specs=st.tuples(WILD, WILD), fields=joints, whole=WHOLE)
def test_nothing_of_the_first_one_is_lost(
    specs: tuple[dict[str, Json], dict[str, Json]],
    fields: tuple[SharedField, ...],
    whole: frozenset[tuple[str, ...]],
) -> None:
    """Every leaf stays where it is, but for an empty map or list, which may be filled."""
    first, later = (said(name, spec, fields) for name, spec in zip("pq", specs, strict=True))
    found = dict(leaves(with_defaults(first, later, whole)))
    for field, leaf in leaves(first):
        assert found.get(field) == leaf or (
            leaf.value in ({}, []) and only_field(with_defaults(first, later, whole), field)
        )


@given(specs=st.tuples(WILD, WILD), fields=joints, whole=WHOLE)
def test_nothing_is_invented(
    specs: tuple[dict[str, Json], dict[str, Json]],
    fields: tuple[SharedField, ...],
    whole: frozenset[tuple[str, ...]],
) -> None:
    """Every leaf of the result is one of theirs, at its place; and to fill it again changes nothing."""
    first, later = (said(name, spec, fields) for name, spec in zip("pq", specs, strict=True))
    merged = with_defaults(first, later, whole)
    theirs = [*leaves(first), *leaves(later)]
    assert all(leaf in theirs for leaf in leaves(merged))
    assert (
        with_defaults(merged, later, whole)
        == with_defaults(merged, first, whole)
        == with_defaults(first, merged, whole)
        == merged
    )


@given(spec=WILD, fields=joints, whole=WHOLE)
def test_a_spec_fills_itself_with_nothing(
    spec: dict[str, Json], fields: tuple[SharedField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """And nothing fills it, nor does it change by being what fills nothing."""
    found = said("p", spec, fields)
    assert (
        with_defaults(found, found, whole)
        == with_defaults(found, {}, whole)
        == with_defaults({}, found, whole)
        == found
    )


@given(specs=st.tuples(TYPED, TYPED, TYPED), fields=joints, whole=WHOLE)
def test_of_three_it_does_not_matter_which_two_meet_first(
    specs: tuple[dict[str, Json], ...], fields: tuple[SharedField, ...], whole: frozenset[tuple[str, ...]]
) -> None:
    """Where one schema holds for all, so that what stands at a field is of one sort."""
    a, b, c = (said(name, spec, fields) for name, spec in zip("pqr", specs, strict=True))
    assert with_defaults(with_defaults(a, b, whole), c, whole) == with_defaults(a, with_defaults(b, c, whole), whole)
