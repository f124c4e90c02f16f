"""Changes to the input, as the command line tells of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.cli.states import deletions, retargetings
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API, NAMESPACE
from kubectl_policy.profiles import PolicyKindProfile
from tests.build import (
    backend,
    crd,
    gateway,
    gateway_class,
    listener,
    names,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)

if TYPE_CHECKING:
    from kubectl_policy import Analysis, Resource
    from kubectl_policy.model import Json

COLOR: Final = GroupKind("example.com", "ColorPolicy")
WORLD: Final = (
    gateway_class("public"),
    gateway("g", listener("http"), listener("https", "HTTPS", 443)),
    gateway("far", namespace="other"),
    route("r", rules=[rule(backend(), name="named"), rule(backend())]),
    service("s"),
)
FIELDS: Final[list[tuple[Json, Json]]] = [
    ({"targetRef": target("x")}, {"targetRef": target("g")}),
    ({"targetRef": [target("x")]}, {"targetRef": [target("g")]}),
    ({"targetRefs": target("x")}, {"targetRefs": target("g")}),
    ({"targetRef": None, "targetRefs": [target("x")]}, {"targetRefs": [target("g")]}),
    ({"targetRef": target("x"), "targetRefs": [target("y")], "a": 1}, {"targetRef": target("g"), "a": 1}),
    ({"targetRefs": [target("x")], "targetSelectors": [{"kind": "Gateway"}]}, {"targetRefs": [target("g")]}),
    ({"targetSelectors": [{"kind": "Gateway", "matchLabels": {}}]}, {"targetRefs": [target("g")]}),
]


def _world(*policies: Resource, profile: PolicyKindProfile | None = None) -> Analysis:
    return analyze(snapshot(*policies, *WORLD), profiles=[profile] if profile else [])


def _policy(spec: Json) -> Resource:
    return resource("ColorPolicy", "p", spec, group="example.com")


def _spec(argument: str, *policies: Resource, profile: PolicyKindProfile | None = None) -> Json:
    (changed,) = retargetings(_world(*policies, profile=profile), [argument], "default")
    return changed.raw["spec"]


class TestDeletions:
    @pytest.mark.parametrize(
        "argument", ["", "gateway", "gateway/", "/g", "gateway/a/b/g", "gateway/g/", "gateway//g", "//"]
    )
    def test_what_names_no_object(self, argument: str) -> None:
        with pytest.raises(UsageError, match="--delete takes TYPE/NAME, not") as caught:
            deletions(analyze(snapshot(*WORLD)), ["gateway/g", argument], "default")
        assert caught.value.hint == "for example: --delete retrypolicy/own"

    def test_what_is_not_there(self) -> None:
        with pytest.raises(NotFoundError, match='gateway "far" not found in namespace default') as caught:
            deletions(analyze(snapshot(*WORLD)), ["gateway/far"], "default")
        assert caught.value.hint == "it exists in namespace other: use gateway/other/far"
        with pytest.raises(UsageError, match='there is no resource type "teapot"'):
            deletions(analyze(snapshot(*WORLD)), ["teapot/a"], "default")

    def test_each_object_once(self) -> None:
        arguments = ["svc/s", "gatewayclass/public", "services/s", "gateway.gateway.networking.k8s.io/g"]
        result = deletions(analyze(snapshot(*WORLD)), arguments, "default")
        assert [str(one) for one in result] == ["Service default/s", "GatewayClass public", "Gateway default/g"]
        assert deletions(analyze(snapshot(*WORLD)), [], "default") == ()

    def test_a_name_with_a_namespace(self) -> None:
        assert [str(one) for one in deletions(analyze(snapshot(*WORLD)), ["gateway/other/far"], "x")] == [
            "Gateway other/far"
        ]


class TestRetargeted:
    @pytest.mark.parametrize(
        "argument",
        ["", "colorpolicy/p", "=", "colorpolicy/p=", "=gateway/g", "p=g", "colorpolicy/p=gateway/g#", "a/b=c/d/e/f"],
    )
    def test_what_is_no_pair(self, argument: str) -> None:
        with pytest.raises(UsageError, match="--retarget takes POLICY=TARGET, not") as caught:
            _spec(argument, policy("p", target("g")))
        assert caught.value.hint == "for example: --retarget retrypolicy/own=gateway/edge#https"

    @pytest.mark.parametrize(
        ("argument", "message"),
        [
            ("colorpolicy/q=gateway/g", 'colorpolicy "q" not found in namespace default'),
            ("colorpolicy/p=gateway/q", 'gateway "q" not found in namespace default'),
            ("colorpolicy/p=gateway/far", 'gateway "far" not found in namespace default'),
        ],
    )
    def test_what_is_not_there(self, argument: str, message: str) -> None:
        with pytest.raises(NotFoundError, match=message):
            _spec(argument, policy("p", target("g")))

    def test_what_is_no_policy(self) -> None:
        """Nor a Namespace that is known by what is in it alone, whatever is said of its kind."""
        with pytest.raises(UsageError, match="Service default/s is not a policy") as caught:
            _spec("svc/s=gateway/g")
        assert "--profiles" in caught.value.hint
        with pytest.raises(UsageError, match="Namespace other is not a policy"):
            _spec("namespace/other=gatewayclass/public", profile=PolicyKindProfile(NAMESPACE, "direct", "profile"))

    def test_what_names_no_targets(self) -> None:
        unknown = PolicyKindProfile(COLOR, "inherited", "profile", attachment="none")
        with pytest.raises(UsageError, match="it is not known how its kind attaches") as caught:
            _spec("colorpolicy/p=gateway/g", policy("p"), profile=unknown)
        assert "--profiles" in caught.value.hint
        routes = frozenset({GroupKind(GATEWAY_API, "HTTPRoute")})
        by_filters = PolicyKindProfile(COLOR, "inherited", "profile", attachment="filters", filter_routes=routes)
        with pytest.raises(UsageError, match="filters of routes name it") as caught:
            _spec("colorpolicy/p=gateway/g", policy("p"), profile=by_filters)
        assert caught.value.hint == "change the routes instead"
        known = PolicyKindProfile(COLOR, "inherited", "profile")
        for without in (policy("p"), policy("p", targetRefs=[7]), policy("p", targetRefs="x")):
            with pytest.raises(UsageError, match="ColorPolicy default/p has no target reference") as caught:
                _spec("colorpolicy/p=gateway/g", without, profile=known)
            assert caught.value.hint
        selecting = PolicyKindProfile(COLOR, "inherited", "profile", reference_fields=("spec.targetSelectors",))
        with pytest.raises(UsageError, match="selects its targets by labels, and cannot name one"):
            _spec("colorpolicy/p=gateway/g", policy("p", targetSelectors=[{"kind": "Gateway"}]), profile=selecting)

    @pytest.mark.parametrize(
        ("argument", "message", "hint"),
        [
            ("gateway/g#ftp", "Gateway default/g has no section ftp", "it has http, https"),
            ("httproute/r#x", "HTTPRoute default/r has no section x", "it has named"),
            ("gatewayclass/public#x", "GatewayClass public has no section x", "it has no sections"),
            ("httproute/r#rule[1]", "ColorPolicy cannot target a rule without a name", "give the rule a name first"),
        ],
    )
    def test_sections_that_are_not_there(self, argument: str, message: str, hint: str) -> None:
        """With those that are."""
        with pytest.raises(UsageError) as caught:
            _spec(f"colorpolicy/p={argument}", policy("p", target("g")))
        assert caught.value.message.startswith(message)
        assert caught.value.hint == hint

    @pytest.mark.parametrize(
        ("argument", "section"),
        [
            ("gateway/g#https", "https"),
            ("httproute/r#named", "named"),
            ("httproute/r#rule-2", "rule-2"),
            ("httproute/r#rule[1]", "rule-2"),
            ("svc/s#8080", "8080"),
        ],
    )
    def test_sections(self, argument: str, section: str) -> None:
        """As the kind calls them, also where the user goes by what answers show."""
        profile = PolicyKindProfile(COLOR, "inherited", "profile", unnamed_rules="rule-{n}")
        analysis = _world(policy("p", target("g")), profile=profile)
        (changed,) = retargetings(analysis, [f"colorpolicy/p={argument}"], "default")
        (attached,) = _world(changed, profile=profile).attachments[changed.ref]
        assert (attached.state, attached.declared.section) == ("attached", section)

    def test_nothing_else_changes(self) -> None:
        """Nor does the policy that was read; all references but one are gone, and one stands where they stood."""
        before = policy("p", target("r", "HTTPRoute"), target("g"), age=3, color="red")
        alias = resource("Service", "alias", before.raw["spec"], group="")
        kept = copy.deepcopy(before.raw)
        (after,) = retargetings(_world(before, alias), ["colorpolicy/p=gateway/g#http"], "default")
        assert before.raw == kept
        assert alias.raw["spec"] == kept["spec"]
        assert (after.ref, after.origin, after.created) == (before.ref, before.origin, before.created)
        assert after.raw == {**kept, "spec": {"targetRefs": [target("g", section="http")], "color": "red"}}
        assert list(after.raw["spec"] if isinstance(after.raw["spec"], dict) else ()) == ["targetRefs", "color"]

    @pytest.mark.parametrize(("spec", "expected"), FIELDS)
    def test_the_field_that_is_used(self, spec: Json, expected: Json) -> None:
        """A list stays one; a policy that selects by labels names its target instead."""
        profile = PolicyKindProfile(COLOR, "inherited", "profile")
        assert _spec("colorpolicy/p=gateway/g", _policy(spec), profile=profile) == expected

    def test_fields_in_other_places(self) -> None:
        fields = ("spec.to.targetRef", "spec.at.targetSelectors")
        profile = PolicyKindProfile(COLOR, "inherited", "profile", reference_fields=fields)
        spec: Json = {"at": {"targetSelectors": [{"kind": "Gateway"}], "a": 1}}
        result = _spec("colorpolicy/p=gateway/g", _policy(spec), profile=profile)
        assert result == {"at": {"a": 1}, "to": {"targetRef": target("g")}}
        named: Json = {"to": {"targetRef": target("x")}}
        result = _spec("colorpolicy/p=gateway/g", _policy(named), profile=profile)
        assert result == {"to": {"targetRef": target("g")}}

    def test_a_group_that_is_left_out(self) -> None:
        """By kinds that take another one for it, as long as it is that one."""
        profile = PolicyKindProfile(COLOR, "inherited", "profile", target_group=GATEWAY_API)
        bare: dict[str, Json] = {"kind": "Gateway", "name": "x"}
        result = [
            _spec(f"colorpolicy/p={argument}", policy("p", targetRef=bare), profile=profile)
            for argument in ("gateway/g", "svc/s")
        ]
        assert result[0] == {"targetRef": {"kind": "Gateway", "name": "g"}}
        assert result[1] == {"targetRef": {"group": "", "kind": "Service", "name": "s"}}

    def test_namespaces(self) -> None:
        """Of a target that has one, if the policy's references say it or the policy has another one or none."""
        near = policy("p", target("g", namespace="default"))
        assert _spec("colorpolicy/p=svc/s", near) == {
            "targetRefs": [{"group": "", "kind": "Service", "name": "s", "namespace": "default"}]
        }
        assert _spec("colorpolicy/p=gatewayclass/public", near) == {"targetRefs": [target("public", "GatewayClass")]}
        far = policy("c", target("x"), kind="ClusterColorPolicy", namespace="")
        definition = crd("ClusterColorPolicy", cluster_scoped=True)
        assert _spec("clustercolorpolicy/c=gateway/g", far, definition) == {
            "targetRefs": [{**target("g"), "namespace": "default"}]
        }

    def test_sections_by_a_list(self) -> None:
        """If the policy's own references have one, or the definition of the kind."""
        expected: Json = {"targetRef": {**target("g"), "sectionNames": ["http"]}}
        argument = "colorpolicy/p=gateway/g#http"
        assert _spec(argument, policy("p", targetRef={**target("x"), "sectionNames": ["a", "b"]})) == expected
        reference: Json = {"type": "object", "properties": {"kind": {}, "sectionNames": {"type": "array"}}}
        schema: Json = {"properties": {"spec": {"type": "object", "properties": {"targetRef": reference}}}}
        assert _spec(argument, policy("p", targetRef=target("x")), crd("ColorPolicy", schema=schema)) == expected

    def test_what_filters_name_as_well(self) -> None:
        """A policy of such a kind that has references of its own gets another one; the filters stay."""
        routes = frozenset({GroupKind(GATEWAY_API, "HTTPRoute")})
        profile = PolicyKindProfile(COLOR, "inherited", "profile", filter_routes=routes)
        filtered = route("f", rules=[rule(backend(), filters=[names("p")])])
        result = _spec("colorpolicy/p=gateway/g", policy("p", target("x")), filtered, profile=profile)
        assert result == {"targetRefs": [target("g")]}


def test_a_target_is_looked_for_where_the_policy_is() -> None:
    world = _world(policy("p", target("x"), namespace="other"))
    (changed,) = retargetings(world, ["colorpolicy/p=gateway/far"], "other")
    assert changed.ref == ref("ColorPolicy", "p", "other", "example.com")
    assert changed.raw["spec"] == {"targetRefs": [target("far")]}
