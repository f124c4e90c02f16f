"""Which kinds are policies: a profile beats the label, the label beats the shape, and some kinds never are."""

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind, Json, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.model.kinds import KindNames
from kubectl_policy.profiles import Registry, load, registry
from kubectl_policy.profiles.controllers import STANDARD_GATEWAYS, GatewayProfile
from kubectl_policy.questions.shared.selection import find
from tests.build import crd, gateway, index, policy, resource, route, service, snapshot, target

COLOR: Final = GroupKind("example.com", "ColorPolicy")
REFERENCE: Final[Json] = {"type": "object", "properties": {"group": {}, "kind": {}, "name": {}}}

WITH_REFERENCES: Final[list[Mapping[str, Json]]] = [
    {"targetRef": target("g")},
    {"targetRefs": [7, target("g")]},
    {"targetSelectors": [{"group": GATEWAY_API, "kind": "Gateway", "matchLabels": {}}]},
]


def schema_of(**spec: Json) -> Json:
    """A definition's schema with these properties in the spec."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}


def labelled(value: str, **spec: Json) -> Resource:
    """A definition of ColorPolicy with the policy label."""
    return crd(
        "ColorPolicy", labels={"gateway.networking.k8s.io/policy": value}, schema=schema_of(**spec) if spec else None
    )


def found(*resources: Resource) -> PolicyKindProfile | None:
    """What is known of ColorPolicy, without a profile of the user."""
    return Registry(index(*resources)).profile_of(COLOR)


def known(*resources: Resource) -> PolicyKindProfile:
    """What is known of ColorPolicy, which is a policy kind."""
    return Registry(index(*resources)).profile(COLOR)


class TestNotPolicies:
    """Kinds that look like policies and are none."""

    @pytest.mark.parametrize(
        "reference",
        [
            pytest.param({"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}, id="VerticalPodAutoscaler"),
            pytest.param({"name": "x"}, id="no kind"),
            pytest.param("x", id="no mapping"),
            pytest.param(7, id="a number"),
            pytest.param(None, id="null"),
        ],
    )
    def test_an_object_whose_reference_is_of_another_sort(self, reference: Json) -> None:
        """A `targetRef` with an apiVersion names a workload; one without a kind names nothing."""
        assert found(resource("ColorPolicy", "p", {"targetRef": reference}, group="example.com")) is None

    def test_a_definition_whose_reference_has_an_api_version(self) -> None:
        """As in the definition of VerticalPodAutoscaler; its schema counts, whatever the objects say."""
        workload: Json = {"properties": {"apiVersion": {}, "kind": {}, "name": {}}}
        assert found(crd("ColorPolicy", schema=schema_of(targetRef=workload)), policy("p", target("g"))) is None

    def test_a_definition_without_references(self) -> None:
        """A schema without target references is not one of a policy kind."""
        assert found(crd("ColorPolicy", schema=schema_of(color={"type": "string"}))) is None

    def test_a_label_of_another_value(self) -> None:
        """Only direct, inherited and true are values of the label."""
        assert found(labelled("false")) is None

    @pytest.mark.parametrize("kind", ["ServerRegistration", "GatewayExtension", "PolicyBinding", "GatewayParameters"])
    def test_what_refers_to_gateways_and_is_called_something_else(self, kind: str) -> None:
        """Registrations and extensions have a `targetRef` as well; a label or a profile says if they are policies."""
        named = GroupKind("example.com", kind)
        found = policy("p", target("g"), kind=kind)
        world = index(found)
        assert Registry(world).profile_of(named) is None
        said = "has target references, but no label of a policy, and is called something else"
        assert Registry(world).why_not_policy_kind(named) == said
        label = crd(kind, labels={"gateway.networking.k8s.io/policy": "true"})
        own = PolicyKindProfile(named, "direct", "profile")
        for known in (Registry(index(found, label)), Registry(world, [own])):
            assert known.profile_of(named) is not None
            assert not known.why_not_policy_kind(named)

    @pytest.mark.parametrize("kind", ["Bar", "GatewayExtensionPolicy", "Timeouts"])
    def test_what_refers_to_gateways_and_is_called_anything_else_is_a_guess(self, kind: str) -> None:
        """Nobody has to call a policy a policy; that it is one is then assumed."""
        profile = Registry(index(policy("p", target("g"), kind=kind))).profile(GroupKind("example.com", kind))
        assert "being a policy" in profile.assumed

    def test_a_label_on_a_definition_without_target_references(self) -> None:
        """Parameters of Gateways carry the label in some releases; a spec that nobody describes may have references."""
        known = Registry(index(labelled("direct", image={"type": "string"})))
        assert known.profile_of(COLOR) is None
        assert (
            "label gateway.networking.k8s.io/policy, but its spec has no target references"
            in known.why_not_policy_kind(COLOR)
        )
        assert found(labelled("direct")) is not None
        assert found(labelled("direct", targetSelectors={})) is not None

    def test_why_other_kinds_are_none(self) -> None:
        """What policies target, what Kubernetes defines itself, and what has nothing of a policy."""
        known = Registry(index(gateway(), service()))
        assert known.why_not_policy_kind(GroupKind(GATEWAY_API, "Gateway")) == "is a kind that policies target"
        own = policy("p", target("g"), kind="OddPolicy", group="apps")
        assert Registry(index(own)).why_not_policy_kind(own.ref.group_kind) == "is a kind of Kubernetes itself"
        assert known.why_not_policy_kind(COLOR) == "has no profile, no label of a policy and no target references"

    @pytest.mark.parametrize("kind", ["Gateway", "HTTPRoute", "ReferenceGrant"])
    def test_the_api_s_own_kinds(self, kind: str) -> None:
        """A Gateway with a field `targetRef` is a Gateway."""
        odd = resource(kind, "x", {"targetRef": {"group": "", "kind": "Service", "name": "s"}})
        assert Registry(index(odd)).profile_of(odd.ref.group_kind) is None

    def test_nothing_in_an_ordinary_world_is_a_policy(self) -> None:
        """Gateways, routes and Services are no policies."""
        assert Registry(index(gateway(), route(), service())).policy_kinds == ()


class TestByShape:
    """The last resort, which is a guess and is shown as one."""

    @pytest.mark.parametrize("spec", WITH_REFERENCES, ids=str)
    def test_an_object_with_a_reference(self, spec: Mapping[str, Json]) -> None:
        """Without a schema, one object with a target reference makes a policy kind."""
        assert found(resource("ColorPolicy", "p", spec, group="example.com")) == PolicyKindProfile(
            COLOR, "inherited", "shape", assumed=("being a policy", "class", "merge strategy")
        )

    @pytest.mark.parametrize("field", ["targetRef", "targetRefs", "targetSelectors"])
    def test_a_schema_with_references(self, field: str) -> None:
        """The definition decides, as an object or as a list of them; stanzas that it lacks are known to be absent."""
        declared: Json = REFERENCE if field == "targetRef" else {"type": "array", "items": REFERENCE}
        profile = known(crd("ColorPolicy", schema=schema_of(**{field: declared})))
        assert (profile.known_by, profile.stanzas) == ("shape", "none")

    def test_the_stanzas_and_maps_of_a_schema(self) -> None:
        """`default` and `override` are stanzas if they are objects; maps of scalars are found below them."""
        stanza: Json = {
            "type": "object",
            "properties": {
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                "limits": {"type": "object", "additionalProperties": {"type": "object", "properties": {"rate": {}}}},
                "deep": {"type": "object", "properties": {"labels": {"additionalProperties": {"type": "integer"}}}},
                "open": {"type": "object", "additionalProperties": True},
                "odd": "text",
            },
        }
        profile = known(crd("ColorPolicy", schema=schema_of(targetRef=REFERENCE, default=stanza)))
        assert profile.stanzas == "singular"
        assert profile.map_fields == {"default.headers", "default.deep.labels"}


class TestByLabel:
    """`gateway.networking.k8s.io/policy` on the definition."""

    @pytest.mark.parametrize("value", ["direct", "Direct", "DIRECT", "inherited", "Inherited"])
    def test_a_class_in_any_case(self, value: str) -> None:
        """The label says the class; the strategy is assumed."""
        profile = known(labelled(value))
        assert (profile.policy_class, profile.known_by) == (value.lower(), "label")
        assert profile.assumed == ("merge strategy",)

    def test_true_says_that_it_is_a_policy_and_no_more(self) -> None:
        """Older definitions; the class is a guess as well."""
        assert found(labelled("True")) == PolicyKindProfile(
            COLOR, "inherited", "label", assumed=("class", "merge strategy")
        )

    @pytest.mark.parametrize(
        ("targets", "doubted"),
        [
            ((target("g"), target("r", "HTTPRoute")), True),
            ((target("g"), target("s", "Service", group="")), False),
            ((target("r", "HTTPRoute"), target("r", "GRPCRoute")), False),
            ((target("g"),), False),
        ],
    )
    def test_direct_on_gateways_and_on_routes_is_in_doubt(
        self, targets: Sequence[Mapping[str, Json]], *, doubted: bool
    ) -> None:
        """Those of many an inherited kind say Direct: the class is then one of what is assumed."""
        policies = [policy(f"p{number}", found) for number, found in enumerate(targets)]
        profile = known(labelled("Direct"), *policies)
        assert (profile.policy_class, "class" in profile.assumed) == ("direct", doubted)
        assert "class" not in known(labelled("Inherited"), *policies).assumed

    def test_the_label_beats_the_shape(self) -> None:
        """A labelled kind is known by its label, though it has the shape as well; its stanzas come from the schema."""
        profile = known(labelled("direct", targetRef=REFERENCE, defaults={"type": "object"}), policy("p", target("g")))
        assert (profile.known_by, profile.policy_class, profile.stanzas) == ("label", "direct", "plural")

    def test_the_label_of_another_kind_s_definition_is_none_of_its_business(self) -> None:
        """Definitions are told apart by group and kind, malformed ones are skipped."""
        other = crd("ColorPolicy", "example.org", labels={"gateway.networking.k8s.io/policy": "direct"})
        broken = resource("CustomResourceDefinition", "a", {"names": 3}, group="apiextensions.k8s.io")
        assert found(broken, other) is None
        assert found(broken, other, labelled("direct")) is not None


class TestStrategyField:
    """`spec.strategy` of a kind without a profile: GEP-713's strategies, or a setting like any other."""

    ATOMIC, PATCH = MergeStrategy.ATOMIC_DEFAULTS, MergeStrategy.PATCH_DEFAULTS

    @pytest.mark.parametrize(
        ("said", "meanings"),
        [
            (["atomic"], {"atomic": ATOMIC}),
            (["Patch", "merge"], {"Patch": PATCH, "merge": PATCH}),
            (["atomic", "RoundRobin"], {}),
            (["atomic", {"type": "atomic"}], {}),
            ([], {}),
        ],
    )
    def test_by_what_policies_say(self, said: Sequence[Json], meanings: Mapping[str, MergeStrategy]) -> None:
        """All values that occur have to be strategies; there is no schema, or one that does not list them."""
        policies = [policy(f"p{number}", target("g"), strategy=value) for number, value in enumerate(said)]
        described = crd("ColorPolicy", schema=schema_of(targetRefs={"items": REFERENCE}, strategy={"type": "string"}))
        for world in (policies, [described, *policies]):
            profile = known(*world, policy("p", target("g")))
            assert (profile.strategy_field, dict(profile.strategy_values)) == (
                "spec.strategy" * bool(meanings),
                meanings,
            )

    def test_by_the_schema(self) -> None:
        for field, has_field in (
            ({"enum": ["atomic", "merge"]}, True),
            ({"enum": ["atomic", "least"]}, False),
            (None, False),
        ):
            properties = {"targetRefs": {"items": REFERENCE}} | ({"strategy": field} if field else {})
            profile = known(
                crd("ColorPolicy", schema=schema_of(**properties)), policy("p", target("g"), strategy="atomic")
            )
            assert bool(profile.strategy_field) is has_field


class TestByProfile:
    def test_the_user_s_profile_beats_the_built_in_one(self) -> None:
        """Who writes a profile knows better."""
        kind = GroupKind(GATEWAY_API, "BackendTLSPolicy")
        own = PolicyKindProfile(kind, "inherited", "profile", strategy=MergeStrategy.PATCH_DEFAULTS)
        assert Registry(index(), [own]).profile_of(kind) is own
        color = PolicyKindProfile(COLOR, "inherited", "profile")
        assert Registry(index(labelled("direct")), [color]).profile_of(COLOR) is color
        assert Registry(index()).profile(kind).policy_class == "direct"

    def test_the_built_in_profile_beats_the_label_and_the_shape(self) -> None:
        """A definition of BackendTLSPolicy that claims to be inherited."""
        claim = crd("BackendTLSPolicy", GATEWAY_API, labels={"gateway.networking.k8s.io/policy": "inherited"})
        built_in = Registry(index(claim)).profile(GroupKind(GATEWAY_API, "BackendTLSPolicy"))
        assert (built_in.known_by, built_in.policy_class) == ("profile", "direct")

    def test_a_later_profile_beats_an_earlier_one(self) -> None:
        """As files are given on the command line."""
        first, second = (PolicyKindProfile(COLOR, "direct", "profile", fold=fold) for fold in ("top-down", "bottom-up"))
        assert Registry(index(), [first, second]).profile_of(COLOR) is second


def test_the_policy_kinds_of_a_snapshot_are_sorted() -> None:
    """Only kinds of which an object was read, by group and kind."""
    objects = [
        policy("p", target("g"), kind=kind, group=group)
        for group, kind in (("b.io", "PPolicy"), ("a.io", "QPolicy"), ("a.io", "PPolicy"))
    ]
    kinds = Registry(index(*objects, gateway(), crd("UnusedPolicy"))).policy_kinds
    assert [str(profile.group_kind) for profile in kinds] == ["PPolicy.a.io", "QPolicy.a.io", "PPolicy.b.io"]


def test_built_in_profiles_are_read_only_for_groups_that_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world without a policy kind's group never opens the file of that group."""
    asked: list[str] = []

    def reading(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
        asked.append(group)
        return {}

    monkeypatch.setattr(registry, "built_in_profiles", reading)
    known = Registry(index(policy("p", target("g")), gateway()))
    assert known.policy_kinds == known.policy_kinds
    assert asked == ["example.com"]


def treated(
    *features: str,
    kind: str = "ColorPolicy",
    group: str = "example.com",
    controllers: Sequence[str] = ("example.com/g",),
) -> PolicyKindProfile:
    """A user's profile whose file says that some features are not supported."""
    gateways = GatewayProfile(unsupported_features=frozenset(features))
    found = PolicyKindProfile(GroupKind(group, kind), "direct", "profile", controllers=frozenset(controllers))
    return replace(found, gateways=gateways)


class TestGateways:
    """How a controller treats Gateways: what the first file says that is about it."""

    BUILT_IN: Final = "gateway.nginx.org/nginx-gateway-controller"
    GROUP: Final = "gateway.nginx.org"

    def test_whom_a_user_s_file_is_for(self) -> None:
        """The controllers that it names; one for every controller would else be about all Gateways."""
        silent = replace(treated(kind="OtherPolicy", controllers=("example.com/i",)), gateways=None)
        known = Registry(index(), [treated("A", controllers=("example.com/g", "example.com/h")), silent])
        for controller in ("example.com/g", "example.com/h"):
            assert known.gateway_profile(controller).unsupported_features == {"A"}
        for controller in ("example.com/other", "example.com/i", ""):
            assert known.gateway_profile(controller) is STANDARD_GATEWAYS
        for_all = Registry(index(), [treated("A", controllers=())])
        assert for_all.gateway_profile("example.com/g") is STANDARD_GATEWAYS

    def test_of_several_of_the_users_files_the_later_one(self) -> None:
        """As with kinds, also where it says something of a kind that an earlier one is about as well."""
        first, second = treated("A"), treated("B", kind="OtherPolicy", group="example.org")
        for files, expected in (([first, second], "B"), ([second, first], "A"), ([first, second, first], "A")):
            assert Registry(index(), files).gateway_profile("example.com/g").unsupported_features == {expected}

    def test_the_built_in_file(self) -> None:
        """Found by the name of the controller, which a setting of its implementation, and of no other, may change."""
        assert Registry(index()).gateway_profile(self.BUILT_IN).ignores_invalid
        known = Registry(index(), settings={"nginxGatewayFabric.controllerName": "example.com/mine"})
        assert known.gateway_profile("example.com/mine").ignores_invalid
        assert known.gateway_profile(self.BUILT_IN) is STANDARD_GATEWAYS
        known = Registry(index(), settings={"envoyGateway.controllerName": "example.com/mine"})
        assert known.gateway_profile(self.BUILT_IN).ignores_invalid

    def test_the_users_file_comes_before_the_built_in_one(self) -> None:
        for group in ("example.com", self.GROUP):
            known = Registry(index(), [treated("A", group=group, controllers=(self.BUILT_IN,))])
            assert known.gateway_profile(self.BUILT_IN) == GatewayProfile(unsupported_features=frozenset({"A"}))

    def test_the_users_file_takes_the_place_of_the_built_in_one_of_its_group(self) -> None:
        """Also for the controllers that it does not name; without `gateways` it takes no place."""
        own = treated("A", group=self.GROUP)
        assert Registry(index(), [own]).gateway_profile(self.BUILT_IN) is STANDARD_GATEWAYS
        assert Registry(index(), [replace(own, gateways=None)]).gateway_profile(self.BUILT_IN).ignores_invalid

    @pytest.mark.parametrize("controller", ["", "example.com/gateway", "konghq.com/kic-gateway-controller"])
    def test_files_of_other_implementations_are_not_read(
        self, monkeypatch: pytest.MonkeyPatch, controller: str
    ) -> None:
        asked: list[str] = []

        def reading(group: str) -> Mapping[GroupKind, PolicyKindProfile]:
            asked.append(group)
            return {}

        monkeypatch.setattr(load, "built_in_profiles", reading)
        assert Registry(index()).gateway_profile(controller) is STANDARD_GATEWAYS
        assert asked == []
        assert Registry(index()).gateway_profile(self.BUILT_IN) is STANDARD_GATEWAYS
        assert asked == [self.GROUP]


def test_short_names_are_known_without_a_definition() -> None:
    """The user's profile counts before the built-in one, and of two of the user's the later one."""
    kind = GroupKind("gateway.networking.k8s.io", "BackendTLSPolicy")
    own = PolicyKindProfile(kind, "direct", "profile", short_names=("mine",))
    profiled = GroupKind("gateway.envoyproxy.io", "SecurityPolicy")
    assert Registry(index()).kind_names(GroupKind("example.com", "ColorPolicy")).short_names == ()
    assert Registry(index()).kind_names(profiled) == KindNames(profiled, "securitypolicies", ("sp",))
    assert Registry(index()).kind_names(kind).short_names == ("btlspolicy",)
    mine = replace(own, group_kind=profiled)
    assert Registry(index(), [replace(mine, short_names=()), mine]).kind_names(profiled).short_names == ("mine",)
    color = PolicyKindProfile(COLOR, "direct", "profile", short_names=("col",))
    found = resource("ColorPolicy", "p", {}, group=COLOR.group)
    assert find(analyze(snapshot(found), profiles=[color]), "col", "p", "default") == found.ref


SERVICE_REF: Final[Json] = {"group": "", "kind": "Service", "name": "s"}
CLUSTERS: Final = "cluster.open-cluster-management.io"

# Each with a spec as its documentation writes it: none of them looks like a policy, and no profile takes it for one.
NOT_POLICIES: Final[list[tuple[GroupKind, Mapping[str, Json]]]] = [
    (GroupKind(GATEWAY_API_EXPERIMENTAL, "XListenerSet"), {"parentRef": {"kind": "Gateway", "name": "g"}}),
    (GroupKind(GATEWAY_API, "ReferenceGrant"), {"from": [{"kind": "HTTPRoute"}], "to": [SERVICE_REF]}),
    (GroupKind("gateway.k8s.aws", "TargetGroupConfiguration"), {"targetReference": SERVICE_REF}),
    (GroupKind("configuration.konghq.com", "KongPlugin"), {}),
    (
        GroupKind("configuration.konghq.com", "KongPluginBinding"),
        {"targets": {"routeRef": {"group": "", "kind": "KongRoute", "name": "r"}}, "pluginRef": {"name": "p"}},
    ),
    (GroupKind("policy.open-cluster-management.io", "PlacementBinding"), {}),
    (GroupKind(CLUSTERS, "Placement"), {"predicates": [{"requiredClusterSelector": {}}]}),
    (GroupKind(CLUSTERS, "PlacementDecision"), {}),
    (GroupKind(CLUSTERS, "ManagedCluster"), {"hubAcceptsClient": True}),
    (GroupKind(CLUSTERS, "ManagedClusterSet"), {"clusterSelector": {"selectorType": "LabelSelector"}}),
    (GroupKind(CLUSTERS, "ManagedClusterSetBinding"), {"clusterSet": "x"}),
    (GroupKind("policy.linkerd.io", "Server"), {"podSelector": {}, "port": 80}),
    (GroupKind("policy.linkerd.io", "HTTPRoute"), {"parentRefs": [{"kind": "Server", "name": "s"}]}),
    (GroupKind("policy.linkerd.io", "EgressNetwork"), {"trafficPolicy": "Allow"}),
    (GroupKind("networking.istio.io", "DestinationRule"), {"host": "s", "workloadSelector": {"matchLabels": {}}}),
    (GroupKind("networking.istio.io", "Sidecar"), {"workloadSelector": {"labels": {}}}),
    (GroupKind("networking.istio.io", "ProxyConfig"), {"selector": {"matchLabels": {}}}),
    (GroupKind("gateway.kgateway.dev", "GatewayExtension"), {"type": "ExtAuth"}),
    (GroupKind("policy.linkerd.io", "MeshTLSAuthentication"), {"identities": ["*"]}),
    (GroupKind("policy.linkerd.io", "NetworkAuthentication"), {"networks": [{"cidr": "0.0.0.0/0"}]}),
    (GroupKind("application-networking.k8s.aws", "ServiceExport"), {}),
    (GroupKind("networking.gke.io", "GCPSessionAffinityFilter"), {"statefulGeneratedCookie": {"cookieTtlSeconds": 1}}),
    (GroupKind("kuma.io", "Mesh"), {}),
    (GroupKind("kuma.io", "Dataplane"), {"networking": {"inbound": [{"port": 80}]}}),
    (GroupKind("traefik.io", "Middleware"), {"headers": {}}),
    (GroupKind("projectcontour.io", "HTTPProxy"), {"routes": [{"services": [{"name": "s", "port": 80}]}]}),
    (GroupKind("ingress.v3.haproxy.org", "Backend"), {"name": "b"}),
    (GroupKind("ingress.v3.haproxy.org", "Defaults"), {"name": "d"}),
    (GroupKind("ingress.v3.haproxy.org", "Global"), {"name": "g"}),
]


def test_a_kind_beside_the_policies_is_none() -> None:
    """Neither by a built-in profile nor by its shape; PlacementBinding has its references outside of `spec`."""
    world = index(
        *(
            resource(
                kind.kind,
                "x",
                dict(spec),
                group=kind.group,
                placementRef={"kind": "Placement", "name": "p"},
                subjects=[{"kind": "Policy", "name": "p"}],
            )
            for kind, spec in NOT_POLICIES
        )
    )
    assert Registry(world).policy_kinds == ()
