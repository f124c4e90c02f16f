"""From fields to profiles, and back."""

from collections.abc import Mapping
from typing import Any, cast

import pytest
from msgspec.structs import replace

from kubectl_policy.model import GroupKind, Json, Origin
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.profiles.controllers import STANDARD_STATUS, ConditionWords
from kubectl_policy.profiles.fields import TARGET_FIELDS
from kubectl_policy.profiles.load import ProfileFile, built_in_groups, built_in_profiles, profile_file, profiles_in
from kubectl_policy.profiles.merging import IgnoredPart, Inheritance, ListedFields, RouteChoice
from kubectl_policy.profiles.needs import RequiredParameter
from kubectl_policy.profiles.reading import file_fields, problems, write
from tests.profiles.everything import FIELDS, GATEWAY, KIND, ROUTE, profile

ORIGIN = Origin("f.yaml", 3)
LEAST: Mapping[str, Any] = {"class": "inherited", "evidence": ["https://example.com/docs"]}
BUILT_IN = [found for group in sorted(built_in_groups()) for found in built_in_profiles(group).values()]


def decoded(kind: Mapping[str, Any], **shared: Any) -> PolicyKindProfile:  # noqa: ANN401 (what a file may hold)
    (found,) = profiles_in({"group": KIND.group, "kinds": {KIND.kind: kind}, **shared}, ORIGIN)
    return found


def choices(found: PolicyKindProfile) -> PolicyKindProfile:
    """A profile without where it came from, and without what the rest of its file says."""
    return replace(found, origin=None, delegation=None, gateways=None, backends={}, routes={}, assumed=())


def test_the_least_that_a_profile_says() -> None:
    """Class and evidence; that the merge strategy is assumed is said with the answer."""
    assert decoded(LEAST) == PolicyKindProfile(
        KIND, "inherited", "profile", evidence=("https://example.com/docs",), origin=ORIGIN, assumed=("merge strategy",)
    )


def test_everything_that_a_profile_can_say() -> None:
    """Every field of the format reaches the profile, also those that are nested or named otherwise in code."""
    assert FIELDS.keys() == file_fields(PolicyKindProfile).keys()
    found = profile(ORIGIN)
    attributes = {field.attribute: field.default for field in file_fields(PolicyKindProfile).values()}
    same = [name for name, default in attributes.items() if getattr(found, name) == default]
    assert same == ["attachment"]
    on_gateway = IgnoredPart(levels=(TargetLevel(GATEWAY),), fields=("labels",), values=frozenset({"false"}))
    assert (found.origin, found.settings["controller"].default, found.ignored[0]) == (ORIGIN, "gateway", on_gateway)
    assert found.effective_targets == (TargetLevel(ROUTE, section=True), TargetLevel(SERVICE))
    assert found.enabled_by == RequiredParameter(GroupKind("example.com", "Settings"), "retries.enable", "allowed")
    assert found.needs[2].namespace_of == GroupKind("example.com", "Operator")
    assert found.route_choice == RouteChoice(
        "example.com/inherit",
        {
            "Parent": Inheritance(MergeStrategy.PATCH_OVERRIDES),
            "Deep": Inheritance(MergeStrategy.PATCH_DEFAULTS, MergeStrategy.PATCH_OVERRIDES),
        },
        ListedFields("options", MergeStrategy.PATCH_DEFAULTS),
    )
    assert [variant.targets for variant in found.variants] == [{SERVICE}, {ROUTE}]
    assert found.variants[1].fields == frozenset({"retries", "retryOn"})
    assert found.status.target_annotation == "example.io/retrypolicy"
    assert found.status.conditions == {
        "accepted": (ConditionWords("Ready", "True", "Programmed"), ConditionWords("Seen", "True", "Yes")),
        "target missing": (ConditionWords("RetryPolicyReady", "False", "Nowhere"),),
    }


def test_a_kind_that_filters_alone_attach() -> None:
    """It has no target references, and yet it is known how it attaches; so how it merges is assumed."""
    routes = [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}]
    found = decoded({**LEAST, "attachment": "filters", "filterRoutes": routes})
    assert (found.target_fields, found.attaches_as_known, found.backend_filters) == ((), True, False)
    assert found.assumed == ("merge strategy",)
    assert (write(found)["attachment"], write(found)["filterRoutes"]) == ("filters", routes)
    assert not decoded({**LEAST, "attachment": "none"}).attaches_as_known


def test_a_kind_whose_attaching_is_not_computed() -> None:
    """It has no target references, and so nothing about merging has to be assumed."""
    found = decoded({**LEAST, "attachment": "none"})
    assert (found.target_fields, found.assumed) == ((), ())
    assert decoded({**LEAST, "attachment": "references"}).target_fields == TARGET_FIELDS
    partly = decoded({**LEAST, "attachment": "partly"})
    assert (partly.target_fields, partly.references_alone, write(partly)["attachment"]) == (
        TARGET_FIELDS,
        False,
        "partly",
    )


@pytest.mark.parametrize("chosen", [{"strategy": "None"}, {"strategyField": "spec.mode"}, {"stanzas": "plural"}])
def test_a_strategy_that_is_chosen_is_not_assumed(chosen: dict[str, str]) -> None:
    assert decoded({**LEAST, **chosen}).assumed == ()


def test_what_holds_for_all_kinds_of_a_file() -> None:
    status = {"placement": "targets"}
    found = decoded(LEAST, controllers=["a", "b"], status=status)
    assert (found.controllers, found.status.placement) == (frozenset({"a", "b"}), "targets")
    assert found.status.conditions == STANDARD_STATUS.conditions
    kind_profile = decoded(
        {**LEAST, "controllers": ["c"], "status": {"conditions": {}}}, controllers=["a"], status=status
    )
    assert (kind_profile.controllers, kind_profile.status.placement, kind_profile.status.conditions) == (
        frozenset({"c"}),
        "gateways",
        {},
    )


def test_a_variant_changes_what_it_names() -> None:
    """The rest is that of the kind; where it takes effect on other kinds, nothing changes."""
    found = profile(ORIGIN)
    at_service = found.at(GroupKind("", "Service"))
    assert (at_service.strategy, at_service.chooser, at_service.whole_fields) == (
        MergeStrategy.ALL_APPLY,
        "established",
        found.whole_fields,
    )
    assert found.at(ROUTE).whole_fields == frozenset()
    assert found.at(GroupKind("", "Pod")) is found


def test_what_is_not_said_is_not_written() -> None:
    assert write(PolicyKindProfile(KIND, "direct", "shape")) == {"class": "direct"}
    assert write(PolicyKindProfile(KIND, "direct", "label", attachment="none")) == {
        "class": "direct",
        "attachment": "none",
    }


def test_everything_is_written_as_a_file_writes_it() -> None:
    """In the same words; a variant comes once for each kind, and `{kind}` is filled in."""
    written = write(profile(ORIGIN))
    conditions = {**FIELDS["status"]["conditions"]}
    conditions["targetMissing"] = {**conditions["targetMissing"], "type": "RetryPolicyReady"}
    expected = {name: value for name, value in FIELDS.items() if name != "attachment"}
    status = {**FIELDS["status"], "conditions": conditions, "targetAnnotation": "example.io/retrypolicy"}
    assert written == {**expected, "status": status}


def test_what_is_written_is_read_as_the_same() -> None:
    for found in (profile(ORIGIN), *BUILT_IN):
        document = profile_file(found)
        assert list(problems(cast("Json", document), ProfileFile)) == []
        (again,) = profiles_in(document, ORIGIN)
        assert choices(again) == choices(found), found.group_kind
