"""Sizes that must not be less than others: how they are read and compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import PolicyKindProfile, Topology
from kubectl_policy.attachment import attach
from kubectl_policy.attachment.validity import why_too_small
from kubectl_policy.model import GroupKind
from tests.build import gateway, index, policy, resource, target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

LEAST: Final[Mapping[str, tuple[str, ...]]] = {"buffers.most": ("buffers.one", "two")}


def flaw(most: Json, one: Json = None, two: Json = None, least: Mapping[str, tuple[str, ...]] = LEAST) -> str:
    """What is wrong with the sizes of a policy."""
    buffers: Json = {"most": most, "one": one}
    return why_too_small(policy("p", buffers=buffers, two=two), least)


@pytest.mark.parametrize(
    ("most", "one"),
    [
        ("1", "2"),
        (1, 2),
        ("1023", "1k"),
        ("1023k", "1m"),
        ("1023m", "1g"),
        ("8k", "16k"),
        ("8K", "16k"),
        ("7k", "8K"),
        ("999999999", "1g"),
        (0, "1"),
    ],
)
def test_less(most: Json, one: Json) -> None:
    """With any of the units, in either case, and as a number."""
    assert flaw(most, one) == f"spec.buffers.most ({most}) is less than spec.buffers.one ({one})"
    assert flaw(one, most) == ""


@pytest.mark.parametrize(("most", "one"), [("1k", "1024"), ("1m", "1024k"), ("1g", "1024m"), ("8k", "8K"), (8, "8")])
def test_the_same(most: Json, one: Json) -> None:
    """In whatever unit: that is enough, on either side."""
    assert flaw(most, one) == flaw(one, most) == ""


@pytest.mark.parametrize(
    "size",
    [None, "", "k", "1 k", "1kb", "1.5k", "-1", "1t", " 1", "1\n", "9999999999k", "٣", True, 1.5, -1, [], {}, ["1"]],
    ids=repr,
)
def test_what_is_no_size_is_not_compared(size: Json) -> None:
    """On either side; nothing raises."""
    assert flaw(size, "1g") == flaw("1", size) == ""


def test_the_first_of_several_is_told() -> None:
    """In the order of the profile; a field that is large enough for one may be too small for another."""
    assert flaw("8k", "4k", "16k") == "spec.buffers.most (8k) is less than spec.two (16k)"
    assert flaw("8k", "32k", "16k") == "spec.buffers.most (8k) is less than spec.buffers.one (32k)"
    several = {"two": ("buffers.most",), **LEAST}
    assert flaw("8k", "32k", "4k", least=several) == "spec.two (4k) is less than spec.buffers.most (8k)"


def test_a_kind_without_such_fields() -> None:
    """Compares nothing."""
    assert flaw("1", "2", "3", least={}) == ""


@pytest.mark.parametrize("spec", [None, 7, "x", []], ids=str)
def test_a_policy_of_another_shape(spec: Json) -> None:
    """Has no sizes."""
    assert why_too_small(resource("ColorPolicy", "p", spec, group="example.com"), LEAST) == ""


def test_a_policy_whose_sizes_do_not_fit_is_attached_to_nothing() -> None:
    """It is invalid on all of its targets; one that is missing is told first."""
    profile = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", least_sizes=LEAST)
    buffers: Json = {"most": "1k", "one": "2k"}
    found = policy("p", target("g"), target("ghost"), buffers=buffers)
    here, ghost = attach(found, profile, Topology(index(found, gateway("g"), complete=True)))
    message = "spec.buffers.most (1k) is less than spec.buffers.one (2k)"
    assert (here.state, here.message, here.competes) == ("policy invalid", message, False)
    assert ghost.state == "target missing"
