"""The built-in profiles agree with what is recorded of other projects' policy kinds, where the record is at hand."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.load import built_in_profiles
from tests import fast_yaml

FACTS: Final = Path(__file__).parent.parent.parent.parent / "shared" / "facts" / "policy-kinds.yaml"
POLICIES: Final = {"policy", "policy_like"}
REFERENCES: Final = {"target_ref", "target_refs", "target_selectors"}
# Where a profile says more than the record, which is of one text alone.
WIDER: Final = {
    "BackendLBPolicy.gateway.networking.k8s.io",  # GEP-1619 names ServiceImport as well
    "ClientTrafficPolicy.gateway.envoyproxy.io",  # these three take XListenerSets, like every ListenerSet
    "BackendTrafficPolicy.gateway.envoyproxy.io",
    "SecurityPolicy.gateway.envoyproxy.io",
    "EnvoyExtensionPolicy.gateway.envoyproxy.io",
}
# Where a profile gives another class. The first one patches all that is behind its Gateway. The next two change their
# target and nothing that has policies of its own. The others are labelled direct, and yet they reach routes, or
# listeners of ListenerSets, below the Gateway that they name.
OTHER_CLASS: Final = {
    "EnvoyPatchPolicy.gateway.envoyproxy.io": "inherited",
    "DNSPolicy.kuadrant.io": "direct",
    "TLSPolicy.kuadrant.io": "direct",
    "SnippetsPolicy.gateway.nginx.org": "inherited",
    "ListenerPolicy.gateway.kgateway.dev": "inherited",
    "HTTPListenerPolicy.gateway.kgateway.dev": "inherited",
    "ListenerOption.gateway.solo.io": "inherited",
    "HttpListenerOption.gateway.solo.io": "inherited",
}


@cache
def recorded() -> list[dict[str, Any]]:
    if not FACTS.is_file():
        pytest.skip("the record of other projects' policy kinds is not next to this project")
    document = fast_yaml.load(FACTS.read_text("utf-8"))
    return [kind for profile in document["profiles"] for kind in profile["kinds"]]


def kind_of(kind: dict[str, Any]) -> GroupKind:
    return GroupKind(kind["group"], kind["kind"])


def policies() -> list[tuple[dict[str, Any], PolicyKindProfile]]:
    """The kinds that are policies, all of which have a profile."""
    kinds = [kind for kind in recorded() if kind["category"] in POLICIES]
    return [(kind, built_in_profiles(kind["group"])[kind_of(kind)]) for kind in kinds]


def test_nothing_else_is_known_as_a_policy() -> None:
    """Filters and parameters are known as what they are; bindings, grants, parts of the hierarchy are not known."""
    others = {kind_of(kind): kind["category"] for kind in recorded() if kind["category"] not in POLICIES}
    known = {kind: profile for kind in others if (profile := built_in_profiles(kind.group).get(kind))}
    assert {kind: profile.role for kind, profile in known.items()} == {kind: others[kind] for kind in known}


def test_classes_agree() -> None:
    for kind, profile in policies():
        assert profile.policy_class == OTHER_CLASS.get(str(kind_of(kind)), kind["policy_class"]), kind_of(kind)


def test_target_kinds_agree() -> None:
    """Where the record says `*`, any kind may be a target."""
    for kind, profile in policies():
        targets = {GroupKind(target["group"], target["kind"]) for target in kind["targets"]}
        if GroupKind("*", "*") in targets:
            assert profile.declared_targets == frozenset(), kind_of(kind)
        elif str(kind_of(kind)) in WIDER:
            assert profile.declared_targets > targets, kind_of(kind)
        else:
            assert profile.declared_targets == targets, kind_of(kind)


def test_target_fields_agree() -> None:
    """A kind without target references has none in its profile either."""
    for kind, profile in policies():
        fields = {
            attachment["path"].removesuffix("[]")
            for attachment in kind["attachment"]
            if attachment["mode"] in REFERENCES
        }
        assert fields <= set(profile.target_fields), kind_of(kind)
        assert bool(fields) == bool(profile.target_fields), kind_of(kind)


def test_other_namespaces_agree() -> None:
    """A kind whose references stay at home says so."""
    for kind, profile in policies():
        rule = kind["namespaces"]["rule"]
        if profile.target_fields:
            assert profile.cross_namespace is (rule == "explicit_namespace"), kind_of(kind)


def test_short_names_agree() -> None:
    for kind, profile in policies():
        assert sorted(profile.short_names) == sorted(kind["short_names"] or []), kind_of(kind)


# Of these the profiles say how the controllers report, and the record has all of it.
REPORTING: Final = {
    "policy.linkerd.io",
    "networking.gke.io",
    "application-networking.k8s.aws",
    "alb.networking.azure.io",
    "configuration.konghq.com",
}


def reporting() -> list[tuple[PolicyKindProfile, dict[str, Any]]]:
    """The profiles that expect conditions, each with the status in the record."""
    found = ((profile, kind["status"]) for kind, profile in policies())
    return [
        (profile, status)
        for profile, status in found
        if status and profile.status.conditions and profile.group_kind.group in REPORTING
    ]


def test_conditions_agree() -> None:
    """What a profile expects to be reported is in the record, with its reason where the record lists any."""
    for profile, status in reporting():
        conditions = {found["type"]: found for found in status["conditions"] or ()}
        for words in (each for said in profile.status.conditions.values() for each in said) if conditions else ():
            assert words.type in conditions, (profile.group_kind, words)
            reasons = conditions[words.type][f"{words.status.lower()}_reasons"]
            assert not reasons or words.reason in reasons, (profile.group_kind, words)


def test_where_conditions_stand_agrees() -> None:
    """In the policy's own status or in that of ancestors; where the record has both, one of them is enough."""
    for profile, status in reporting():
        wanted = "status.conditions" if profile.status.placement == "policy" else "status.ancestors"
        assert wanted in (status["path"] or wanted), profile.group_kind
