"""Settings that controllers ignore, and settings that protect nothing: every question agrees that they do not help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from kubectl_policy.analysis import Analysis, analyze
from kubectl_policy.model import Json, ObjectRef, Resource
from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.profiles.protection import PermissiveSetting
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.matrix import MatrixOptions, matrix
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.render.output.text import View
from kubectl_policy.resolution import plain
from kubectl_policy.resolution.traced import SplitList, trace, with_element_apart
from tests import build
from tests.questions.build import color_kind
from tests.render.shown import shown
from tests.resolution.build import source

ENVOY: Final = "gateway.envoyproxy.io"
BACKEND: Final[Json] = {"name": "gone", "port": 80}
PRESENT: Final[Json] = {"name": "s", "port": 8080}
NAMED: Final[Json] = {"name": "gone", "kind": "Secret", "group": ""}
CORS: Final[Json] = {"maxAge": "1h"}
LUA: Final[Json] = [{"inline": "x"}]
PARTLY: Final = "PartiallyEnforced"
RULE: Final = build.node("HTTPRoute", "r", "rule[0]")


def world(
    *resources: Resource, controller: str = f"{ENVOY}/gatewayclass-controller", complete: bool = True
) -> Analysis:
    base = (build.gateway_class(controller=controller), build.gateway(), build.route(), build.service())
    return analyze(build.snapshot(*base, *resources, complete=complete))


def on(kind: str, spec: Mapping[str, Json], *, group: str = ENVOY, name: str = "p", where: Json = None) -> Resource:
    """A policy on the route, or on another target."""
    targets: Json = [where or build.ON_ROUTE]
    return build.resource(kind, name, {"targetRefs": targets, **spec}, group=group, age=1)


def in_force(analysis: Analysis, policy: ObjectRef) -> dict[str, Json]:
    (effective,) = analysis.effective(RULE, policy.group_kind)
    return plain(effective.resolution.spec)


def lacking(analysis: Analysis, *kinds: str, fields: tuple[str, ...] = ()) -> list[str]:
    found = matrix(analysis, MatrixOptions(kinds=kinds, fields=fields, missing=True))
    return [row.subject.section for row in found.items]


OPEN_AUTH: Final[Json] = {"failOpen": True, "http": {"backendRefs": [BACKEND]}}
OPEN: Final[Json] = {"flag": True, "ref": {"name": "gone"}}
OPEN_WASM: Final[Json] = [{"failOpen": True, "code": {"image": {"pullSecretRef": NAMED}}}]


class TestMissingObjects:
    """A setting that fails open without an object that it names is not in force once that object is missing."""

    @pytest.mark.parametrize(
        ("kind", "spec", "remaining", "state"),
        [
            ("SecurityPolicy", {"extAuth": OPEN_AUTH}, {}, "NoEffect"),
            ("SecurityPolicy", {"extAuth": OPEN_AUTH, "cors": CORS}, {"cors": CORS}, PARTLY),
            ("EnvoyExtensionPolicy", {"extProc": [{"failOpen": True, "backendRefs": [BACKEND]}]}, {}, "NoEffect"),
            ("EnvoyExtensionPolicy", {"wasm": OPEN_WASM, "lua": LUA}, {"lua": LUA}, PARTLY),
            (
                "EnvoyExtensionPolicy",
                {"extProc": [{"failOpen": True, "backendRefs": [BACKEND]}, {"backendRefs": [PRESENT]}]},
                {"extProc": [{"backendRefs": [PRESENT]}]},
                PARTLY,
            ),
        ],
        ids=str,
    )  # fmt: skip
    def test_is_not_in_force(self, kind: str, spec: dict[str, Json], remaining: dict[str, Json], state: str) -> None:
        policy = on(kind, spec)
        analysis = world(policy)
        assert in_force(analysis, policy.ref) == remaining
        assert analysis.enforcement(policy.ref).state == state
        assert lacking(analysis, kind) == ([] if remaining else ["rule[0]"])
        (effective,) = analysis.effective(RULE, policy.ref.group_kind)
        reasons = {fate.because for fate in effective.resolution.fates if fate.state == "unheeded"}
        assert len(reasons) == 1
        assert reasons.pop().endswith("names, does not exist")

    def test_with_the_object_it_is(self) -> None:
        policy = on("SecurityPolicy", {"extAuth": OPEN_AUTH})
        analysis = world(policy, build.service("gone", 80))
        assert in_force(analysis, policy.ref) == {"extAuth": OPEN_AUTH}
        assert (analysis.enforcement(policy.ref).state, lacking(analysis, "SecurityPolicy")) == ("Enforced", [])

    def test_without_the_permission_to_name_it(self) -> None:
        away: Json = {"failOpen": True, "http": {"backendRefs": [{"name": "s", "port": 8080, "namespace": "far"}]}}
        policy = on("SecurityPolicy", {"extAuth": away})
        far = build.service("s", namespace="far")
        assert in_force(world(policy, far), policy.ref) == {}
        granted = build.grant(namespace="far", sources=[(ENVOY, "SecurityPolicy", "default")])
        assert in_force(world(policy, far, granted), policy.ref) == {"extAuth": away}

    def test_an_object_that_was_not_read(self) -> None:
        """It may be there: the setting is shown, and what is unknown is named."""
        policy = on("SecurityPolicy", {"extAuth": OPEN_AUTH})
        analysis = world(policy, complete=False)
        assert in_force(analysis, policy.ref) == {"extAuth": OPEN_AUTH}
        reasons = [blind_spot.reason for blind_spot in describe(analysis, build.node("HTTPRoute", "r")).unseen]
        field = "spec.extAuth.http.backendRefs[0]"
        expected = f"{field} of SecurityPolicy default/p names it, and without it spec.extAuth is ignored"
        assert any(expected in reason for reason in reasons)

    def test_the_policy_above_stays_replaced(self) -> None:
        """Controllers find out what is missing after they have chosen the policy, so that nothing takes its place."""
        above = on("SecurityPolicy", {"basicAuth": {"users": {"name": "u"}}}, name="above", where=build.ON_GATEWAY)
        below = on("SecurityPolicy", {"extAuth": OPEN_AUTH})
        secret = build.resource("Secret", "u", group="")
        analysis = world(above, below, secret)
        assert in_force(analysis, below.ref) == {}
        (effective,) = analysis.effective(RULE, below.ref.group_kind)
        fates = {fate.source.object.name: fate for fate in effective.resolution.fates}
        assert (fates["above"].state, fates["p"].state) == ("superseded", "unheeded")
        assert [winner.object.name for winner in fates["above"].superseded_by] == ["p"]
        assert analysis.enforcement(above.ref).state == "Overridden"
        assert lacking(analysis, "SecurityPolicy") == ["rule[0]"]

    def test_a_merge_takes_the_ignored_setting_first(self) -> None:
        """What the policy below says of it wins over the one above, and is ignored then."""
        ours: Mapping[str, Json] = {
            "extProc": [{"failOpen": True, "backendRefs": [BACKEND]}, {"backendRefs": [PRESENT]}]
        }
        theirs: Mapping[str, Json] = {
            "extProc": [{"backendRefs": [PRESENT], "messageTimeout": "9s"}],
            "lua": [{"inline": "x"}],
        }
        above = on("EnvoyExtensionPolicy", theirs, name="above", where=build.ON_GATEWAY)
        for merge_type in ("JSONMerge", "StrategicMerge"):
            below = on("EnvoyExtensionPolicy", {"mergeType": merge_type, **ours})
            merged = in_force(world(above, below), below.ref)
            assert merged == {"extProc": [{"backendRefs": [PRESENT]}], "lua": [{"inline": "x"}]}

    def test_what_the_route_says_itself_is_apart(self) -> None:
        policy = on("SecurityPolicy", {"extAuth": OPEN_AUTH, "cors": CORS})
        cors: Json = {"type": "CORS", "cors": {"maxAge": 5}}
        route = build.route(rules=[build.rule(build.backend(), filters=[cors])])
        base = (build.gateway_class(controller=f"{ENVOY}/gatewayclass-controller"), build.gateway(), build.service())
        analysis = analyze(build.snapshot(*base, route, policy, complete=True))
        (effective,) = analysis.effective(RULE, policy.ref.group_kind)
        assert plain(effective.resolution.spec) == {"cors": {"maxAge": 5}}
        states = {fate.field: fate.state for fate in effective.resolution.fates}
        assert (states["cors.maxAge"], states["extAuth.failOpen"]) == ("superseded", "unheeded")

    def test_what_describe_says(self) -> None:
        policy = on(
            "EnvoyExtensionPolicy",
            {"extProc": [{"failOpen": True, "backendRefs": [BACKEND]}, {"backendRefs": [PRESENT]}]},
        )
        analysis = world(policy)
        why = "controllers ignore it: Service default/gone, which spec.extProc[0].backendRefs[0] names, does not exist"
        route = shown(describe(analysis, build.node("HTTPRoute", "r")), "tree", View(width=300))
        assert (
            f'no effect: extProc[0] {{"failOpen": true, "backendRefs": [{{"name": "gone", "port": 80}}]}} ({why})'
            in route
        )
        assert '  extProc   [{"backendRefs": [{"name": "s", "port": 8080}]}]' in route
        described = shown(describe_policy(analysis, policy.ref), "tree", View(width=300))
        assert f"in effect nowhere\n    {why}\n" in described

    def test_a_policy_of_which_nothing_is_left(self) -> None:
        policy = on("SecurityPolicy", {"extAuth": OPEN_AUTH})
        analysis = world(policy)
        gone = "Service default/gone, which spec.extAuth.http.backendRefs[0] names, does not exist"
        first, *_ = shown(describe_policy(analysis, policy.ref), "tree", View(width=300)).splitlines()
        ignored = "controllers ignore everything that it sets there"
        assert first == f"SecurityPolicy default/p → HTTPRoute default/r has no effect: {ignored}: {gone}."
        answer = why_not(analysis, policy.ref, RULE)
        (reason,) = answer.reasons
        assert answer.obstacle == "what the setting names has to be there first"
        assert reason.message == f"controllers ignore extAuth.failOpen, extAuth.http.backendRefs: {gone}"
        assert [(found.severity, found.message.rpartition("; ")[2]) for found in analysis.problems_of(policy.ref)] == [
            ("warning", "controllers ignore spec.extAuth without it")
        ]

    def test_an_element_is_one_change_of_its_list(self) -> None:
        elements: Json = [{"failOpen": True, "backendRefs": [BACKEND]}, {"backendRefs": [PRESENT]}]
        policy = on("EnvoyExtensionPolicy", {"extProc": elements})
        radius = blast_radius(world(policy, build.service("gone", 80)), build.ref("Service", "gone", group=""))
        (change,) = [field for effect in radius.difference.effects for field in effect.fields]
        assert change.before
        assert change.after
        assert (change.field, change.sort) == ("extProc", "changed")
        assert (change.before.value, change.after.value) == (elements, [{"backendRefs": [PRESENT]}])
        assert str(change.after.declared_in) == "spec.extProc"

    def test_deleting_the_object_loses_the_setting(self) -> None:
        policy = on("SecurityPolicy", {"extAuth": OPEN_AUTH})
        analysis = world(policy, build.service("gone", 80))
        radius = blast_radius(analysis, build.ref("Service", "gone", group=""))
        lost = [(change.security, {field.field for field in change.fields}) for change in radius.difference.effects]
        assert lost == [(True, {"extAuth.failOpen", "extAuth.http.backendRefs"})]


@pytest.mark.parametrize(
    ("profile", "spec", "remaining"),
    [
        ({"stanzas": "plural"}, {"defaults": {"open": OPEN, "a": 1}, "overrides": {"b": 2}}, {"a": 1, "b": 2}),
        ({"strategy": MergeStrategy.ALL_APPLY}, {"open": OPEN, "a": 1}, {"default/p": {"a": 1}}),
        # Strategies and targets are no settings.
        ({"strategy_field": "spec.open"}, {"open": OPEN, "a": 1}, {"a": 1}),
    ],
    ids=str,
)
def test_kinds_of_other_forms(profile: dict[str, Any], spec: dict[str, Json], remaining: dict[str, Json]) -> None:
    """The setting is ignored wherever it stands; a target that does not exist has nothing to do with it."""
    need = RequiredObject(field="spec.open.ref", group="", kinds=("Secret",), optional=True, fail_open="spec.open.flag")
    kind = color_kind("inherited", needs=(need,), **profile)
    targets: Json = [build.ON_ROUTE, build.target("gone", "HTTPRoute")]
    policy = build.resource("ColorPolicy", "p", {"targetRefs": targets, **spec}, group="example.com")
    base = (build.gateway_class(), build.gateway(), build.route(), build.service())
    analysis = analyze(build.snapshot(*base, policy, complete=True), profiles=[kind])
    assert in_force(analysis, policy.ref) == remaining
    assert [len(attachment.ignored) for attachment in analysis.attachments[policy.ref]] == [1, 0]


DENYING: Final[Mapping[str, Json]] = {"action": "DENY", "rules": [{}]}


def istio_policy(name: str, spec: Mapping[str, Json]) -> Resource:
    return on("AuthorizationPolicy", spec, group="security.istio.io", name=name, where=build.ON_GATEWAY)


class TestDryRun:
    @pytest.mark.parametrize(
        ("value", "heeded"), [("true", False), ("1", False), ("false", True), ("yes", True), ("", True)]
    )
    def test_an_annotation(self, value: str, *, heeded: bool) -> None:
        policy = istio_policy("p", DENYING)
        annotated = build.with_metadata(policy, annotations={"istio.io/dry-run": value, "other": "true"})
        analysis = world(annotated, controller="istio.io/gateway-controller")
        assert in_force(analysis, policy.ref) == ({"default/p": {"action": "DENY", "rules": [{}]}} if heeded else {})
        assert analysis.enforcement(policy.ref).state == ("Enforced" if heeded else "NoEffect")
        assert lacking(analysis, "AuthorizationPolicy.security.istio.io") == ([] if heeded else ["rule[0]"])
        (effective,) = analysis.effective(RULE, policy.ref.group_kind)
        because = f"annotation istio.io/dry-run of AuthorizationPolicy default/p is {value}"
        assert {fate.because for fate in effective.resolution.fates} == {"" if heeded else because}


SECURITY: Final = f"SecurityPolicy.{ENVOY}"
TRAFFIC: Final = f"BackendTrafficPolicy.{ENVOY}"
KGATEWAY: Final = "TrafficPolicy.gateway.kgateway.dev"
NGINX: Final = "RateLimitPolicy.gateway.nginx.org"
KUADRANT: Final = "AuthPolicy.kuadrant.io"
CONTROLLERS: Final = {
    ENVOY: f"{ENVOY}/gatewayclass-controller",
    "gateway.kgateway.dev": "kgateway.dev/kgateway",
    "gateway.nginx.org": "gateway.nginx.org/nginx-gateway-controller",
    "kuadrant.io": "istio.io/gateway-controller",
}


class TestPermissiveSettings:
    """What lets every request through protects nothing, though it is in force."""

    @pytest.mark.parametrize(
        ("kind", "field", "spec"),
        [
            (SECURITY, "authorization", {"authorization": {"defaultAction": "Allow"}}),
            (SECURITY, "authorization", {"authorization": {"defaultAction": "Allow", "rules": [{"action": "Allow"}]}}),
            (SECURITY, "jwt", {"jwt": {"optional": True, "providers": [{"name": "a"}]}}),
            (TRAFFIC, "rateLimit", {"rateLimit": {"type": "Global", "global": {"rules": [{"shadowMode": True}]}}}),
            (KGATEWAY, "extAuth", {"extAuth": {"disable": {}}}),
            (KGATEWAY, "csrf", {"csrf": {"percentageShadowed": 100}}),
            (KGATEWAY, "acl", {"acl": {"defaultAction": "allow", "rules": [{"action": "allow"}]}}),
            (NGINX, "rateLimit", {"rateLimit": {"dryRun": True, "local": {"rules": [{"rate": "1r/s"}]}}}),
            (
                KUADRANT,
                "rules.authentication",
                {"rules": {"authentication": {"a": {"anonymous": {}}, "b": {"jwt": {}}}}},
            ),
        ],
        ids=str,
    )
    def test_count_as_missing(self, kind: str, field: str, spec: dict[str, Json]) -> None:
        target = build.target("r", "HTTPRoute")
        # Not every kind has lists of targets, and all take one reference.
        name, _, group = kind.partition(".")
        policy = build.resource(name, "p", {"targetRef": target, "targetRefs": [target], **spec}, group=group)
        analysis = world(policy, controller=CONTROLLERS[group])
        assert analysis.enforcement(policy.ref).state == "Enforced"
        assert lacking(analysis, kind) == ["rule[0]"]
        assert lacking(analysis, fields=(field,)) == ["rule[0]"]
        found = matrix(analysis, MatrixOptions(kinds=(kind,)))
        assert [part.permissive for row in found.items for cell in row.cells for part in cell.parts] == [True]
        settings = [
            setting
            for group_ in describe(analysis, RULE).in_force
            for setting in group_.settings
            if group_.kind == policy.ref.group_kind
        ]
        assert {setting.security for setting in settings} == {False}

    @pytest.mark.parametrize(
        "spec",
        [
            {"authorization": {"defaultAction": "Deny"}},
            {"authorization": {}},
            {"authorization": {"defaultAction": "Allow", "rules": [{"action": "Allow"}, {"action": "Deny"}]}},
            {"jwt": {"optional": False, "providers": [{"name": "a"}]}},
            {"jwt": {"optional": True, "providers": [{"name": "a"}]}, "authorization": {"defaultAction": "Deny"}},
        ],
        ids=str,
    )
    def test_what_protects(self, spec: dict[str, Json]) -> None:
        assert lacking(world(on("SecurityPolicy", spec)), "SecurityPolicy") == []

    def test_policies_that_all_apply_are_looked_at_one_by_one(self) -> None:
        kind = "AuthorizationPolicy.security.istio.io"
        audit = istio_policy("audit", {"action": "AUDIT", "rules": [{}]})
        deny = istio_policy("deny", DENYING)
        empty = istio_policy("empty", {})
        istio = "istio.io/gateway-controller"
        assert lacking(world(audit, controller=istio), kind) == ["rule[0]"]
        for other in (deny, empty):
            assert lacking(world(audit, other, controller=istio), kind) == []

    def test_losing_one_is_no_loss_of_protection(self) -> None:
        for action, security in (("Allow", False), ("Deny", True)):
            policy = on("SecurityPolicy", {"authorization": {"defaultAction": action}})
            radius = blast_radius(world(policy), policy.ref)
            assert [change.security for change in radius.difference.effects] == [security]


@pytest.mark.parametrize(
    ("setting", "spec", "expected"),
    [
        (PermissiveSetting(field="a"), {}, True),
        (PermissiveSetting(field="a", given="a.*.b"), {"a": {"x": {}, "y": {"b": {}}}}, True),
        (PermissiveSetting(field="a", given="a.*.b"), {"a": {"x": {"b": None}}}, False),
        (PermissiveSetting(field="a", given="a[]"), {"a": 7}, False),
        (PermissiveSetting(field="a", when={"a[].b": ("1", "x")}), {"a": [{"b": 1}, {"b": "x"}]}, True),
        (PermissiveSetting(field="a", when={"a[].b": ("1",)}), {"a": [{"b": 1}, {}]}, False),
        (PermissiveSetting(field="a", when={"a[].b": ("1",)}), {"a": []}, False),
        (PermissiveSetting(field="a", when={"a.b": ("true",)}), {"a": {"b": True}}, True),
        (PermissiveSetting(field="a", unless={"a.*.when": ("*",)}), {"a": {"x": {"when": []}}}, False),
        (PermissiveSetting(field="a", unless={"a.*.when": ("*",)}), {"a": {"x": {}}}, True),
        (PermissiveSetting(field="a", unless={"a.b": ("no",)}), {"a": {"b": "yes"}}, True),
    ],
    ids=str,
)  # fmt: skip
def test_conditions(setting: PermissiveSetting, spec: dict[str, Json], *, expected: bool) -> None:
    assert setting.lets_through(spec) is expected


@pytest.mark.parametrize(
    ("steps", "field"),
    [
        (("a",), ("a",)),
        (("a", "b"), ("a", "b")),
        (("a", "gone"), ()),
        (("gone", "b"), ()),
        (("list", 1), ("list", "default/p[1]")),
        (("list", 0, "inner", 0), ("list", "default/p[0]", "inner", "default/p[0]")),
        (("list", 7), ()),
        (("text", 0), ("text",)),
    ],
    ids=str,
)
def test_an_element_of_a_list_is_set_apart(steps: tuple[str | int, ...], field: tuple[str, ...]) -> None:
    """With all other elements of the list; where there is no such list, the field stands for what is in it."""
    spec = trace({"a": {"b": 1}, "list": [{"inner": [1, 2]}, {"x": 1}], "text": "t"}, source("p"))
    apart, found = with_element_apart(spec, steps)
    assert found == field
    assert plain(apart) == plain(spec)
    assert isinstance(apart["list"], SplitList) is (field[:1] == ("list",))
