"""The choices of a profile about merging, as values: what a level, a scope, a joint field and a choice mean."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from kubectl_policy import MergeStrategy, TargetLevel
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE
from kubectl_policy.profiles.merging import IgnoredPart, Inheritance, ListedFields, MergeScope, RouteChoice, SharedField
from tests.build import node

LISTENERS = TargetLevel(GATEWAY, section=True)


def test_a_level_is_of_objects_or_of_their_sections() -> None:
    """Not of both."""
    whole, section = node("Gateway", "g"), node("Gateway", "g", "http")
    assert (TargetLevel(GATEWAY).includes(whole), TargetLevel(GATEWAY).includes(section)) == (True, False)
    assert (LISTENERS.includes(whole), LISTENERS.includes(section)) == (False, True)
    assert not TargetLevel(HTTP_ROUTE).includes(whole)


@pytest.mark.parametrize(
    ("protocols", "protocol", "included"),
    [
        ((), "", True),
        ((), "HTTP", True),
        (("HTTP", "TLS"), "TLS", True),
        (("HTTP",), "HTTPS", False),
        (("TLS",), "", False),
    ],
)
def test_a_scope_may_be_one_below_some_listeners(protocols: tuple[str, ...], protocol: str, *, included: bool) -> None:
    """And so may what is passed over."""
    levels = (TargetLevel(HTTP_ROUTE), LISTENERS)
    for part in (
        MergeScope(levels, frozenset(protocols)),
        IgnoredPart(levels=levels, fields=("f",), protocols=frozenset(protocols)),
    ):
        assert part.includes(node("Gateway", "g", "http"), protocol) == included
        assert not part.includes(node("Gateway", "g"), protocol)


def test_a_joint_field_may_depend_on_a_setting() -> None:
    """Without a setting it is always one."""
    deep = SharedField(field="acl", within=("level",), by="*", unless=(), setting="merge", value="deep")
    assert [deep.holds(values) for values in ({"merge": "deep"}, {"merge": "shallow"}, {}, {"other": "deep"})] == [
        True,
        False,
        False,
        False,
    ]
    assert SharedField(field="acl", within=("level",)).holds({})


class TestRouteChoice:
    """What a value of an annotation means."""

    parent = Inheritance(MergeStrategy.PATCH_OVERRIDES)
    plain = RouteChoice("a", MappingProxyType({"parent": parent}))
    listing = RouteChoice(
        "a", MappingProxyType({"*": parent}), ListedFields("spec.options", MergeStrategy.PATCH_DEFAULTS)
    )

    @pytest.mark.parametrize(("value", "means"), [("parent", parent), ("Parent", None), ("", None), ("*", None)])
    def test_of_values(self, value: str, means: Inheritance | None) -> None:
        """Others mean nothing."""
        assert self.plain.means(value) == means

    @pytest.mark.parametrize(
        ("value", "names"),
        [
            ("cors", ["cors"]),
            (" Cors ,retries,", ["cors", "retries"]),
            ("", []),
            (" , ", []),
            ("*,cors", ["*", "cors"]),
        ],
    )
    def test_of_lists(self, value: str, names: list[str]) -> None:
        """Of names in any case, below a field; a value that has a meaning is no list."""
        fields = frozenset(("spec", "options", name) for name in names)
        assert self.listing.means(value) == Inheritance(MergeStrategy.PATCH_DEFAULTS, None, fields)
        assert self.listing.means("*") == self.parent
