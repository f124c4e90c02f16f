"""Tests of `questions/explain.py`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, PolicyKindProfile, analyze
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import Gap, GroupKind, Origin, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API, NAMESPACE
from kubectl_policy.questions.explain import Explanation, NamedLevel, explain
from tests import build
from tests.profiles.everything import profile as everything
from tests.questions.build import analyzed

COLOR = GroupKind("example.com", "ColorPolicy")
GATEWAY = GroupKind(GATEWAY_API, "Gateway")
HTTP_ROUTE = GroupKind(GATEWAY_API, "HTTPRoute")
LABEL = "gateway.networking.k8s.io/policy"


def analysis(*resources: Resource, profiles: Iterable[PolicyKindProfile] = ()) -> Analysis:
    return analyzed(*resources, profiles=profiles)


def asked(type_name: str, *resources: Resource, profiles: Iterable[PolicyKindProfile] = ()) -> Explanation:
    return explain(analysis(*resources, profiles=profiles), type_name)


class TestMeant:
    @pytest.mark.parametrize(
        ("type_name", "hint"),
        [
            ("frobnicator", "--offline PATH shows its definition or one of its policies, --profiles PATH says what it"),
            ("", "--offline PATH shows its definition or one of its policies, --profiles PATH says what it is"),
            ("colorpolicy.example.org", "did you mean colorpolicy.example.com"),
            ("backendtlpolicy", "did you mean backendtlspolicy"),
        ],
    )
    def test_no_such_kind(self, type_name: str, hint: str) -> None:
        with pytest.raises(NotFoundError, match=f'there is no policy kind "{type_name}"') as missing:
            asked(type_name, build.policy("p", build.ON_GATEWAY))
        assert missing.value.hint.startswith(hint)

    @pytest.mark.parametrize("type_name", ["httproute", "ns", "widget"])
    def test_a_kind_that_is_no_policy(self, type_name: str) -> None:
        with pytest.raises(NotFoundError, match="is not a policy kind") as missing:
            asked(type_name, build.crd("Widget"), build.route())
        assert "a profile can say that it is one" in missing.value.hint

    def test_several_kinds_of_one_name(self) -> None:
        both = [build.policy("p", build.ON_GATEWAY, group=group) for group in ("b.com", "a.com")]
        with pytest.raises(UsageError, match='"colorpolicies" names several policy kinds') as ambiguous:
            asked("colorpolicies", *both)
        assert ambiguous.value.hint == "say which one: colorpolicy.a.com, colorpolicy.b.com"
        assert asked("colorpolicies.b.com", *both).profile.group_kind.group == "b.com"
        assert asked("colorpolicy.v1alpha1.b.com", *both).profile.group_kind.group == "b.com"

    def test_several_built_in_kinds_of_one_name(self) -> None:
        with pytest.raises(UsageError, match='"BackendTLSPolicy" names several policy kinds') as ambiguous:
            asked("BackendTLSPolicy")
        assert "backendtlspolicy.gateway.networking.k8s.io" in ambiguous.value.hint

    def test_a_kind_of_kubernetes_comes_before_others_of_its_name(self) -> None:
        """As for kubectl; unless an object of another one was read."""
        assert asked("networkpolicy").profile.group_kind == GroupKind("networking.k8s.io", "NetworkPolicy")
        calico = build.resource("NetworkPolicy", "p", {}, group="projectcalico.org")
        assert asked("networkpolicy", calico).profile.group_kind == calico.ref.group_kind
        with pytest.raises(UsageError, match='"cnp" names several policy kinds'):
            asked("cnp")

    def test_a_group_is_no_version(self) -> None:
        """Of two groups, one of which ends with the other."""
        for name, group in (
            ("networkpolicy.projectcalico.org", "projectcalico.org"),
            ("networkpolicy.crd.projectcalico.org", "crd.projectcalico.org"),
            ("networkpolicy.v3.projectcalico.org", "projectcalico.org"),
            ("networkpolicy.v1.crd.projectcalico.org", "crd.projectcalico.org"),
        ):
            assert asked(name).profile.group_kind == GroupKind(group, "NetworkPolicy")

    def test_a_kind_that_occurs_comes_first(self) -> None:
        own = PolicyKindProfile(GroupKind("other.com", "ColorPolicy"), "direct", "profile")
        assert asked("colorpolicy", build.policy("p", build.ON_GATEWAY), profiles=[own]).profile.group_kind == COLOR
        assert asked("colorpolicy", profiles=[own]).profile == own

    def test_a_defined_kind_needs_no_objects(self) -> None:
        definition = build.crd("ColorPolicy", labels={LABEL: "direct"})
        found = asked("colorpolicys", definition)
        assert (found.profile.known_by, found.origin, found.policies) == ("label", definition.origin, 0)
        assert found.names.plural == "colorpolicys"

    @pytest.mark.parametrize("type_name", ["xbackendtrafficpolicy", "xbtrafficpolicy", "XBackendTrafficPolicies"])
    def test_a_built_in_profile_needs_no_input(self, type_name: str) -> None:
        found = asked(type_name)
        assert str(found.profile.group_kind) == "XBackendTrafficPolicy.gateway.networking.x-k8s.io"
        assert found.origin is not None
        assert found.origin.source == "built-in profile gateway.networking.x-k8s.io"
        assert asked("trafficpolicy.gateway.kgateway.dev").names.plural == "trafficpolicies"


class TestTargets:
    def test_of_policies_without_references(self) -> None:
        found = asked("colorpolicy", build.crd("ColorPolicy", labels={LABEL: "true"}), build.policy("p", color="red"))
        assert (found.policies, found.targets) == (1, ())

    def test_each_level_with_the_number_of_references(self) -> None:
        """Sections apart from whole objects, whether or not they exist; a reference without a kind names nothing."""
        found = asked(
            "colorpolicy",
            build.policy("p", build.ON_GATEWAY, build.target("g", section="http"), build.target("x", "", group="")),
            build.policy("q", build.target("other"), build.target("app", "Namespace", group="core")),
        )
        assert found.targets == (
            NamedLevel(NAMESPACE, references=1),
            NamedLevel(GATEWAY, references=2),
            NamedLevel(GATEWAY, section=True, references=1),
        )
        assert found.policies == 2
        assert [(named.group, named.kind, named.section) for named in found.targets] == [
            ("", "Namespace", False),
            (GATEWAY.group, "Gateway", False),
            (GATEWAY.group, "Gateway", True),
        ]

    def test_rules_whose_filters_name_policies(self) -> None:
        named = PolicyKindProfile(COLOR, "inherited", "profile", filter_routes=frozenset({HTTP_ROUTE}))
        rules = [build.rule(filters=[build.names("p")])]
        routes = [build.route("r", kind=kind, rules=rules) for kind in ("HTTPRoute", "GRPCRoute")]
        world = [build.policy("p", build.ON_GATEWAY), *routes]
        found = asked("colorpolicy", *world, profiles=[named])
        assert found.targets == (NamedLevel(GATEWAY, references=1), NamedLevel(HTTP_ROUTE, section=True, references=1))
        unnamed = replace(named, filter_routes=frozenset())
        assert asked("colorpolicy", *world, profiles=[unnamed]).targets == (NamedLevel(GATEWAY, references=1),)


class TestBasis:
    def test_of_a_profile(self) -> None:
        found = asked("retrypolicy", profiles=[everything(Origin("f.yaml", 3))])
        assert found.origin == Origin("f.yaml", 3)
        assert found.basis("policy_class") == "profile"
        assert found.basis("fold") == "profile"
        assert found.basis("map_fields") == "default"
        assert found.basis("map_fields", "whole_fields") == "profile"

    def test_of_a_profile_that_leaves_the_strategy_open(self) -> None:
        own = PolicyKindProfile(COLOR, "inherited", "profile", assumed=("merge strategy",))
        found = asked("colorpolicy", profiles=[own])
        assert (found.basis("strategy"), found.basis("same_level", "strategy"), found.basis("same_level")) == (
            "assumed",
            "assumed",
            "default",
        )

    def test_of_a_label(self) -> None:
        """It says the class, unless it is `true`; the schema says which stanzas there are."""
        schema = {"properties": {"spec": {"properties": {"targetRef": {}, "defaults": {"type": "object"}}}}}
        direct = asked("colorpolicy", build.crd("ColorPolicy", schema=schema, labels={LABEL: "direct"}))
        assert (direct.basis("policy_class"), direct.basis("stanzas")) == ("label", "schema")
        true = asked("colorpolicy", build.crd("ColorPolicy", labels={LABEL: "true"}))
        assert (true.basis("policy_class"), true.basis("stanzas")) == ("assumed", "default")

    def test_of_a_shape(self) -> None:
        policy = build.policy("p", build.ON_GATEWAY)
        found = asked("colorpolicy", policy)
        assert (found.basis("policy_class"), found.origin) == ("assumed", policy.origin)
        assert found.basis("declared_targets") == "default"

    def test_of_a_class_that_nobody_doubts(self) -> None:
        own = PolicyKindProfile(COLOR, "inherited", "shape")
        assert asked("colorpolicy", profiles=[own]).basis("policy_class") == "shape"
        assert asked("colorpolicy", profiles=[own]).origin is None


def test_what_could_not_be_read_is_part_of_the_answer() -> None:
    snapshot = build.snapshot(build.policy("p", build.ON_GATEWAY), gaps=[Gap("", "", "broken")] * 2)
    assert [thing.reason for thing in explain(analyze(snapshot), "colorpolicy").unseen] == ["broken"]
