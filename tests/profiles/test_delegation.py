"""What profile files say of routes that delegate to routes."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile
from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import Registry, load
from kubectl_policy.profiles.controllers import ByLabel, DelegationProfile
from kubectl_policy.profiles.load import ProfileFile, built_in_delegations, profiles_in
from kubectl_policy.profiles.reading import file_fields, problems
from tests.build import index

ROUTE = GroupKind(GATEWAY_API, "HTTPRoute")
KINDS = {"ColorPolicy": {"class": "direct", "evidence": ["https://example.com"]}}
FULL: Mapping[str, Any] = {
    "everyRoute": "*",
    "byLabel": {"group": "label.example.com", "kind": "label", "label": "example.com/label", "allNamespaces": "all"},
    "inheritMatches": "example.com/inherit",
    "grantRequired": False,
    "evidence": ["https://example.com/routes"],
}


def decoded(delegation: Mapping[str, Any], **fields: Any) -> PolicyKindProfile:  # noqa: ANN401 (what a file may hold)
    """The profile in a file that says how routes delegate."""
    document: dict[str, Any] = {"group": "example.com", "kinds": KINDS, "delegation": delegation, **fields}
    assert list(problems(document, ProfileFile)) == []
    (found,) = profiles_in(document, Origin("f.yaml", 1))
    return found


def test_everything_that_a_file_can_say() -> None:
    label = ByLabel(GroupKind("label.example.com", "label"), "example.com/label", "all")
    assert decoded(FULL, controllers=["example.com/c"]).delegation == DelegationProfile(
        group="example.com",
        controllers=frozenset({"example.com/c"}),
        every_route="*",
        by_label=label,
        inherit_matches="example.com/inherit",
        grant_required=False,
        evidence=("https://example.com/routes",),
    )
    assert FULL.keys() == file_fields(DelegationProfile).keys()


def test_the_least_that_a_file_says() -> None:
    """A reference by name, for any controller, with a ReferenceGrant."""
    evidence = {"evidence": FULL["evidence"]}
    expected = DelegationProfile(
        group="example.com",
        controllers=frozenset(),
        every_route="",
        by_label=None,
        inherit_matches="",
        grant_required=True,
        evidence=tuple(FULL["evidence"]),
    )
    assert decoded(evidence).delegation == expected
    label = {"group": "g", "kind": "k", "label": "l"}
    assert decoded({**evidence, "byLabel": label}).delegation == replace(
        expected, by_label=ByLabel(GroupKind("g", "k"), "l", "")
    )


def test_settings_are_filled_in() -> None:
    found = decoded(FULL, controllers=["example.com/{name}"], settings={"name": {"default": "c", "description": "d"}})
    for values, name in (({}, "c"), ({"name": "other"}, "other")):
        (first, *_) = Registry(index(), [found], values).delegations([ROUTE])
        assert first.controllers == {f"example.com/{name}"}


def test_a_file_of_one_s_own_comes_first() -> None:
    """And takes the place of the built-in one of its group; a file that says nothing of it does not."""
    built_in = built_in_delegations([ROUTE])
    assert [found.group for found in built_in] == ["gateway.kgateway.dev", "gateway.solo.io"]
    assert Registry(index(), [replace(decoded(FULL), delegation=None)]).delegations([ROUTE]) == built_in
    own = decoded(FULL).delegation
    assert own
    assert Registry(index(), [decoded(FULL)]).delegations([ROUTE]) == (own, *built_in)
    instead = replace(decoded(FULL), delegation=replace(own, group="gateway.solo.io"))
    assert [found.by_label for found in Registry(index(), [instead]).delegations([ROUTE])] == [
        own.by_label,
        built_in[0].by_label,
    ]


@pytest.mark.parametrize(
    ("kinds", "read"),
    [
        ([], False),
        ([GroupKind("example.com", "Backend")], False),
        ([GroupKind("delegation.kgateway.dev", "label")], True),
        ([GroupKind("example.com", "Backend"), ROUTE], True),
    ],
)
def test_files_are_taken_apart_only_if_a_reference_may_mean_routes(
    kinds: list[GroupKind], *, read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most worlds have none, and reading them takes time."""
    asked: list[str] = []
    known = load.built_in_profiles

    def count(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
        asked.append(group)
        return known(group)

    monkeypatch.setattr(load, "built_in_profiles", count)
    assert bool(built_in_delegations(kinds)) == read
    assert bool(asked) == read


@pytest.mark.parametrize("found", built_in_delegations([ROUTE]), ids=lambda found: found.group)
def test_what_is_built_in_names_its_sources(found: DelegationProfile) -> None:
    """Whose it is, and where each choice was read."""
    assert found.controllers
    assert found.by_label
    assert found.inherit_matches.startswith(found.by_label.group_kind.group)
    assert not found.grant_required
    assert len(found.evidence) >= 4
