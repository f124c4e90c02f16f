"""What routes themselves say: which fields of a rule are settings, and how they meet those of policies."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, EffectivePolicy, MergeStrategy, PolicyKindProfile, Resource, TargetLevel, analyze
from kubectl_policy.model import FieldPath, GroupKind, Json, NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_API, HTTP_ROUTE
from kubectl_policy.profiles import Registry
from kubectl_policy.profiles.merging import ConditionalField
from kubectl_policy.resolution import leaves, plain
from kubectl_policy.resolution.object_settings import RuleSettings
from kubectl_policy.topology import Topology
from tests.build import backend, gateway, index, node, policy, resource, route, rule, service, snapshot, target
from tests.profiles.test_built_in import PROFILES
from tests.resolution.build import set_by

COLOR: Final = GroupKind("example.com", "ColorPolicy")
AT_RULES: Final = (TargetLevel(HTTP_ROUTE, section=True),)
OWN: Final = PolicyKindProfile(
    COLOR,
    "inherited",
    "profile",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
    same_level="first-wins",
    effective_targets=AT_RULES,
    object_fields=MappingProxyType({"timeout": "rule.timeouts.request", "retry": "rule.retry", "cors": "rule.cors"}),
)


def world(*rules: Json, policies: tuple[Resource, ...] = (), profile: PolicyKindProfile = OWN) -> Analysis:
    """A Gateway with a route of some rules, and policies."""
    held = resource("HTTPRoute", "r", {"parentRefs": [{"name": "g"}], "rules": list(rules)})
    return analyze(snapshot(gateway("g"), service("s"), held, *policies, complete=True), profiles=[profile])


def said(analysis: Analysis, section: str = "rule[0]", kind: str = "HTTPRoute") -> dict[str, Json]:
    found = outcome(analysis, section, kind)
    return {".".join(field): leaf.value for field, leaf in leaves(found.resolution.spec)} if found else {}


def outcome(analysis: Analysis, section: str = "rule[0]", kind: str = "HTTPRoute") -> EffectivePolicy | None:
    path = analysis.topology.paths_through(node(kind, "r", section))[0]
    found = list(analysis.resolver.rule_settings(path))
    assert all(each.resolution.kind == GroupKind(GATEWAY_API, kind) for each in found)
    return found[0] if found else None


class TestSettings:
    def test_time_outs_and_retries(self) -> None:
        own = rule(
            backend(),
            timeouts={"request": "120s", "backendRequest": "5s"},
            retry={"attempts": 2, "codes": [503]},
            sessionPersistence={"sessionName": "id", "type": "Header"},
        )
        assert said(world(own)) == {
            "timeouts.request": "120s",
            "timeouts.backendRequest": "5s",
            "retry.attempts": 2,
            "retry.codes": [503],
            "sessionPersistence.sessionName": "id",
            "sessionPersistence.type": "Header",
        }

    def test_filters(self) -> None:
        """By the field of the filter that holds what it does; names of headers stand for their values."""
        filters: list[Json] = [
            {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}},
            {
                "type": "RequestHeaderModifier",
                "requestHeaderModifier": {
                    "set": [{"name": "x-env", "value": "prod"}],
                    "add": [{"name": "x", "value": "1"}],
                    "remove": ["y"],
                },
            },
            {"type": "URLRewrite", "urlRewrite": {"path": {"type": "ReplaceFullPath", "replaceFullPath": "/"}}},
            {"type": "CORS", "cors": {"allowOrigins": ["https://a"], "maxAge": 7}},
            {"type": "ExtensionRef", "extensionRef": {"group": "example.com", "kind": "Other", "name": "o"}},
        ]
        assert said(world(rule(filters=filters))) == {
            "requestRedirect.scheme": "https",
            "requestRedirect.statusCode": 301,
            "requestHeaderModifier.set.x-env": "prod",
            "requestHeaderModifier.add.x": "1",
            "requestHeaderModifier.remove": ["y"],
            "urlRewrite.path.type": "ReplaceFullPath",
            "urlRewrite.path.replaceFullPath": "/",
            "cors.allowOrigins": ["https://a"],
            "cors.maxAge": 7,
        }

    def test_mirrors(self) -> None:
        """There may be several: each is known by where it sends requests."""
        one: dict[str, Json] = {"group": "", "kind": "Service", "name": "shadow", "port": 80}
        other: dict[str, Json] = {"group": "", "kind": "Service", "name": "s", "namespace": "labs"}
        custom: dict[str, Json] = {"group": "example.com", "kind": "Backend", "name": "b"}
        filters: list[Json] = [
            {"type": "RequestMirror", "requestMirror": {"backendRef": one, "percent": 10}},
            {"type": "RequestMirror", "requestMirror": {"backendRef": other}},
            {"type": "RequestMirror", "requestMirror": {"backendRef": custom}},
        ]
        assert said(world(rule(backend(), filters=filters))) == {
            "requestMirror.shadow:80.backendRef": {"name": "shadow", "port": 80},
            "requestMirror.shadow:80.percent": 10,
            "requestMirror.labs/s.backendRef": {"name": "s", "namespace": "labs"},
            "requestMirror.Backend/b.backendRef": custom,
        }

    @pytest.mark.parametrize(
        "mirrors",
        [[{"backendRef": {"name": "a"}}, {"backendRef": {"name": "a"}}], [{"backendRef": {}}], [{}, {}], [7]],
        ids=str,
    )
    def test_mirrors_that_cannot_be_told_apart(self, mirrors: list[Json]) -> None:
        filters: list[Json] = [{"type": "RequestMirror", "requestMirror": mirror} for mirror in mirrors]
        assert list(said(world(rule(backend(), filters=filters)))) == ["requestMirror"]

    def test_weights(self) -> None:
        """Where there are several backends; the weight that is left out is filled in."""
        weights = rule({"name": "a", "port": 1, "weight": 9}, {"name": "a", "port": 2}, {"name": "b", "kind": "Shop"})
        analysis = world(weights)
        assert said(analysis) == {
            "backendRefs.a:1.weight": 9,
            "backendRefs.a:2.weight": 1,
            "backendRefs.Shop/b.weight": 1,
        }
        found = outcome(analysis)
        assert found
        assert [leaf.defaulted for _, leaf in leaves(found.resolution.spec)] == [False, True, True]

    def test_weights_that_are_all_1(self) -> None:
        """Say nothing: that is how it is without any."""
        assert said(world(rule(backend(), backend("t")))) == {}

    def test_the_weight_of_a_single_backend(self) -> None:
        """Says something only if it is 0."""
        assert said(world(rule(backend(weight=3)))) == {}
        assert said(world(rule(backend(weight=0)))) == {"backendRefs.s:8080.weight": 0}

    def test_backends_that_cannot_be_told_apart(self) -> None:
        backends: list[Json] = [backend(weight=3), backend(), 7]
        assert said(world({"backendRefs": backends})) == {"backendRefs.0.weight": 3, "backendRefs.1.weight": 1}

    def test_filters_of_a_backend(self) -> None:
        header: Json = {"set": [{"name": "x", "value": "1"}, {"name": "y", "value": "2"}]}
        own = rule(backend(filters=[{"type": "RequestHeaderModifier", "requestHeaderModifier": header}]))
        assert said(world(own)) == {
            "backendRefs.s:8080.requestHeaderModifier.set.x": "1",
            "backendRefs.s:8080.requestHeaderModifier.set.y": "2",
        }

    @pytest.mark.parametrize("kind", ["GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"])
    def test_other_kinds_of_routes(self, kind: str) -> None:
        """Have weights; time-outs are no field of theirs."""
        own = rule(backend(), backend("t", weight=3), timeouts={"request": "1s"})
        analysis = analyze(snapshot(gateway("g"), route("r", kind=kind, rules=[own])))
        assert said(analysis, kind=kind) == {"backendRefs.s:8080.weight": 1, "backendRefs.t:8080.weight": 3}

    HOSTILE: Final[tuple[Json, ...]] = (
        7,
        None,
        [],
        "x",
        {"timeouts": 7},
        {"timeouts": {"request": None}},
        {"filters": 7},
        {"backendRefs": [{"weight": []}, 7]},
    )

    @pytest.mark.parametrize("hostile", HOSTILE, ids=str)
    def test_whatever_a_rule_is(self, hostile: Json) -> None:
        """It is asked by its place, and what no API server lets in is shown as it is."""
        analysis = world(hostile, rule(timeouts={"request": "1s"}))
        assert said(analysis) == ({"timeouts": 7} if hostile == {"timeouts": 7} else {})
        assert said(analysis, "rule[1]") == {"timeouts.request": "1s"}

    def test_a_route_of_which_nothing_was_read(self) -> None:
        """Says nothing, nor does a rule that it has not, nor a section of something else."""
        rules = RuleSettings(Topology(index(service("s"), route("r"))), Registry(index()))
        for place in (node("HTTPRoute", "gone", "rule[0]"), node("HTTPRoute", "r", "ghost")):
            assert (rules.fields(place), rules.at_end((place,), frozenset())) == ({}, None)
        port = node("Service", "s", "8080", group="")
        assert (rules.fields(port), rules.at_end((port,), frozenset())) == ({}, None)

    def test_a_file_of_a_user_s_own(self) -> None:
        color = Registry(index()).route_settings_of(HTTP_ROUTE)
        assert color
        assert color.route_settings
        own = replace(
            color.route_settings, fields=MappingProxyType({"timeouts": "limit"}), filters=MappingProxyType({})
        )
        profile = replace(OWN, routes=MappingProxyType({HTTP_ROUTE: own}))
        redirect: Json = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https"}}
        analysis = world(rule(timeouts={"request": "1s"}, retry={"attempts": 1}, filters=[redirect]), profile=profile)
        assert said(analysis) == {"timeouts.request": "1s"}
        assert (own.setting_name("rule.timeouts.request"), own.setting_name("rule.retry")) == ("limit", "setting")
        assert color.route_settings.setting_name("rule.cors.maxAge") == "CORS filter"


class TestPlaces:
    """Where a route says what counts as a setting."""

    header: Final[dict[str, Json]] = {"set": [{"name": "x-env", "value": "prod"}], "remove": ["y"]}
    mirrors: Final[list[Json]] = [
        {"type": "RequestMirror", "requestMirror": {"backendRef": {"name": name}, "percent": 10}} for name in "ab"
    ]

    @pytest.mark.parametrize(
        ("own", "expected"),
        [
            ({"timeouts": {"request": "1s"}}, ["timeouts.request"]),
            ({"filters": [{}, {"cors": {"maxAge": 7}}]}, ["filters[1].cors.maxAge"]),
            (
                {"filters": [{"requestHeaderModifier": header}]},
                [f"filters[0].requestHeaderModifier.{name}" for name in ("set[0].value", "remove")],
            ),
            (
                {"filters": mirrors},
                [f"filters[{n}].requestMirror.{field}" for n in (0, 1) for field in ("backendRef", "percent")],
            ),
            ({"filters": [mirrors[0], mirrors[0]]}, ["filters[0].requestMirror"]),
            (
                {"backendRefs": [{"name": "s", "weight": 2}, {"name": "t"}]},
                ["backendRefs[0].weight", "backendRefs[1].weight"],
            ),
            (
                {"backendRefs": [{"name": "s", "weight": 2}, {"name": "s", "filters": [{"cors": {"maxAge": 1}}]}]},
                ["backendRefs[0].weight", "backendRefs[1].weight", "backendRefs[1].filters[0].cors.maxAge"],
            ),
        ],
        ids=str,
    )
    def test_of_a_setting(self, own: Json, expected: list[str]) -> None:
        """Of each that a rule says: the field as a file has it."""
        analysis = world(rule(), own)
        found = outcome(analysis, "rule[1]")
        assert found
        place = analysis.resolver.rules.place
        assert [str(place(node("HTTPRoute", "r", "rule[1]"), field)) for field, _ in leaves(found.resolution.spec)] == [
            f"spec.rules[1].{field}" for field in expected
        ]

    @pytest.mark.parametrize(
        "place", [node("HTTPRoute", "r", "ghost"), node("Service", "s", "8080", group="")], ids=str
    )
    def test_of_nothing(self, place: NodeRef) -> None:
        assert str(world(rule()).resolver.rules.place(place, ("timeouts",))) == ""


class TestBesidePolicies:
    """A rule's own settings and those of policies that they stand for."""

    timeouts: Final[dict[str, Json]] = {"request": "1s"}

    def test_it_beats_those_of_policies(self) -> None:
        """At that rule alone, and whoever set it first; it is then among theirs, and not said twice."""
        on_route = policy("p", target("r", "HTTPRoute"), timeout="9s", a=1)
        rules = (rule(backend(), timeouts=self.timeouts, retry={"attempts": 1}), rule(name="named"))
        analysis = world(*rules, policies=(on_route,))
        (found,) = analysis.effective(node("HTTPRoute", "r", "rule[0]"))
        assert set_by(found.resolution.spec) == {"timeout": ("1s", "r"), "a": (1, "p"), "retry.attempts": (1, "r")}
        (fate,) = [fate for fate in found.resolution.fates if fate.field == "timeout"]
        assert (fate.state, [one.object.kind for one in fate.superseded_by]) == ("superseded", ["HTTPRoute"])
        assert [fate.state for _, _, fate in found.resolution.object_fates] == ["effective", "effective"]
        (other,) = analysis.effective(node("HTTPRoute", "r", "named"))
        assert set_by(other.resolution.spec) == {"timeout": ("9s", "p"), "a": (1, "p")}
        assert (said(analysis), said(analysis, "named")) == ({}, {})

    def test_where_no_policy_is(self) -> None:
        assert said(world(rule(backend(), timeouts=self.timeouts))) == {"timeouts.request": "1s"}

    def test_a_kind_that_nobody_compares_with_routes(self) -> None:
        """Nothing is said about which one counts: both are there."""
        on_route = policy("p", target("r", "HTTPRoute"), timeout="9s")
        profile = replace(OWN, object_fields=MappingProxyType({}))
        analysis = world(rule(backend(), timeouts=self.timeouts), policies=(on_route,), profile=profile)
        (found,) = analysis.effective(node("HTTPRoute", "r", "rule[0]"))
        assert set_by(found.resolution.spec) == {"timeout": ("9s", "p")}
        assert said(analysis) == {"timeouts.request": "1s"}

    @pytest.mark.parametrize("levels", [(TargetLevel(HTTP_ROUTE),), ()], ids=["at routes", "at backends"])
    def test_a_kind_that_takes_effect_elsewhere(self, levels: tuple[TargetLevel, ...]) -> None:
        on_route = policy("p", target("r", "HTTPRoute"), timeout="9s")
        profile = replace(OWN, effective_targets=levels)
        analysis = world(rule(backend(), timeouts=self.timeouts), policies=(on_route,), profile=profile)
        assert said(analysis) == {"timeouts.request": "1s"}

    def test_a_direct_policy_on_the_rule(self) -> None:
        on_rule = policy("p", target("r", "HTTPRoute", section="named"), timeout="9s")
        profile = replace(OWN, policy_class="direct", strategy=MergeStrategy.NONE, same_level=None)
        analysis = world(rule(backend(), name="named", timeouts=self.timeouts), policies=(on_rule,), profile=profile)
        assert said(analysis, "named") == {}

    def test_an_override(self) -> None:
        """Beats it; the rule's value has its fate among those of the policies."""
        on_route = policy("p", target("r", "HTTPRoute"), timeout="9s")
        profile = replace(OWN, strategy=MergeStrategy.PATCH_OVERRIDES, same_level=None)
        analysis = world(rule(backend(), timeouts=self.timeouts), policies=(on_route,), profile=profile)
        (found,) = analysis.effective(node("HTTPRoute", "r", "rule[0]"))
        assert set_by(found.resolution.spec) == {"timeout": ("9s", "p")}
        ((field, _, fate),) = found.resolution.object_fates
        assert (field, fate.value, fate.state) == (("timeout",), "1s", "superseded")
        assert [one.object.name for one in fate.superseded_by] == ["p"]
        assert said(analysis) == {}

    def test_what_filters_hold(self) -> None:
        on_route = policy("p", target("r", "HTTPRoute"), cors={"maxAge": 1, "allow": ["a"]})
        filters: list[Json] = [{"type": "CORS", "cors": {"maxAge": 9}}, {"type": "CORS", "cors": {"maxAge": 8}}]
        analysis = world(rule(backend(), filters=filters), policies=(on_route,))
        (found,) = analysis.effective(node("HTTPRoute", "r", "rule[0]"))
        assert set_by(found.resolution.spec) == {"cors.maxAge": (9, "r")}
        assert {fate.state for fate in found.resolution.fates} == {"superseded"}


class TestConditions:
    """Fields of the object that stand for a setting only where another field has, or has not, a value."""

    profile = replace(
        OWN,
        conditional_object_fields=(
            ConditionalField(field="timeout", object_field="rule.timeouts.backendRequest", absent="rule.retry"),
            ConditionalField(field="retry.timeout", object_field="rule.timeouts.backendRequest", given="rule.retry"),
        ),
    )
    both: Final[dict[str, Json]] = {"request": "9s", "backendRequest": "2s"}

    def spec(self, **own: dict[str, Json]) -> dict[str, Json]:
        """What is in force at a rule that says something itself, with a policy on its route."""
        on_route = policy("p", target("r", "HTTPRoute"), timeout="15s", retry={"attempts": 1, "on": "reset"})
        analysis = world({"backendRefs": [backend()], **own}, policies=(on_route,), profile=self.profile)
        (found,) = analysis.effective(node("HTTPRoute", "r", "rule[0]"))
        return plain(found.resolution.spec)

    def test_the_field_must_be_absent(self) -> None:
        assert self.spec(timeouts=self.both)["timeout"] == "2s"
        assert self.spec(timeouts={"backendRequest": "2s"})["retry"] == {"attempts": 1, "on": "reset"}

    def test_the_field_must_be_there(self) -> None:
        expected = {"timeout": "9s", "retry": {"attempts": 3, "timeout": "2s"}}
        assert self.spec(timeouts=self.both, retry={"attempts": 3}) == expected

    def test_an_empty_field_is_none(self) -> None:
        """As everywhere where a field stands for a setting."""
        assert self.spec(timeouts=self.both, retry={})["timeout"] == "2s"


@pytest.mark.parametrize(
    ("profile", "field", "own"),
    [
        pytest.param(profile, field, own, id=f"{profile.group_kind} {field}")
        for profile in PROFILES
        for field, own in profile.object_fields.items()
        if own.startswith("rule.")
    ],
)
def test_of_a_built_in_kind(profile: PolicyKindProfile, field: str, own: str) -> None:
    """What a rule says itself counts there, and what the policy says about the same counts elsewhere."""
    rules: dict[str, dict[str, Json]] = {
        "rule.timeouts.request": {"timeouts": {"request": "1s"}},
        "rule.retry": {"retry": {"attempts": 1}},
        "rule.cors": {"filters": [{"type": "CORS", "cors": {"maxAge": 1}}]},
    }
    theirs: dict[str, Json] = {"rule.retry": {"attempts": 9}, "rule.cors": {"maxAge": 9}}
    on_it: Json = {"targetRefs": [target("r", "HTTPRoute")]}
    kind = profile.group_kind
    spec = FieldPath.parse(field).put(on_it, theirs.get(own, "9s"))
    assert isinstance(spec, dict)
    on_route = resource(kind.kind, "p", spec, group=kind.group)
    with_own: dict[str, Json] = {"backendRefs": [backend()], **rules[own]}
    held = route("r", rules=[with_own, rule(name="named")])
    analysis = analyze(snapshot(gateway("g"), service("s"), held, on_route))
    at = [analysis.effective(node("HTTPRoute", "r", section)) for section in ("rule[0]", "named")]
    assert [{name for _, name in set_by(found.resolution.spec).values()} for (found,) in at] == [{"r"}, {"p"}]
