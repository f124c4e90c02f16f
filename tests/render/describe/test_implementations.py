"""Answers about the worlds of implementations, the words for what is theirs alone, and fields that they ignore."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, NodeRef, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.fields import mappings_at, text_at, value_at
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.render.output.text import View
from tests import build
from tests.implementations import manifests, policy_ref
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, headline, shown
from tests.render.worlds import about, about_policy, colourful

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource
    from tests.render.shown import Answer

COLOR: Final = GroupKind("example.com", "ColorPolicy")
OURS: Final = "example.com/gateway"
WIDE: Final = 160


def tree(answer: Answer, width: int = 100) -> str:
    return shown(answer, "tree", View(width))


ENVOY_GATEWAY: Final = [
    build.ref("HTTPRoute", "booking", "tickets"),
    build.ref("HTTPRoute", "programme", "festival"),
    build.ref("Gateway", "front", "platform"),
]
KUADRANT: Final = [
    build.ref("HTTPRoute", "tours", "visits"),
    build.ref("HTTPRoute", "letters", "archive"),
    build.ref("Gateway", "entrance", "platform"),
]


@pytest.mark.parametrize(
    ("world", "subject"),
    [
        *(("envoy-gateway", ref) for ref in ENVOY_GATEWAY),
        *(("kuadrant", ref) for ref in KUADRANT),
        ("gloo", build.ref("HTTPRoute", "orders", "orders")),
        ("linkerd", build.ref("Server", "telescope", "observatory", "policy.linkerd.io")),
        ("gke", build.ref("HTTPRoute", "programme", "radio")),
        ("aws", build.ref("GRPCRoute", "boarding", "ferries")),
        ("azure", build.ref("HTTPRoute", "tickets", "box-office")),
        ("kong", build.ref("Service", "catalogue", "library", "")),
        ("kuma", build.ref("Mesh", "default", "default", "kuma.io")),
        ("nginx-gateway-fabric", build.ref("HTTPRoute", "comments", "newsroom")),
        ("nginx-gateway-fabric", build.ref("Gateway", "desk", "platform")),
        ("kgateway", build.ref("HTTPRoute", "tickets", "sailings")),
        ("kgateway", build.ref("HTTPRoute", "north", "islands")),
    ],
    ids=str,
)
def test_the_tree_of_an_object(world: str, subject: ObjectRef, snapshot: SnapshotAssertion) -> None:
    assert tree(describe(analyze(manifests(world)), NodeRef(subject))) == snapshot


@pytest.mark.parametrize(
    ("world", "name"),
    [
        ("envoy-gateway", "BackendTrafficPolicy platform/house"),
        ("envoy-gateway", "BackendTrafficPolicy tickets/booking"),
        ("envoy-gateway", "BackendTrafficPolicy tickets/premiere"),
        ("envoy-gateway", "ClientTrafficPolicy platform/clients"),
        ("envoy-gateway", "SecurityPolicy platform/login"),
        ("kuadrant", "AuthPolicy platform/house"),
        ("kuadrant", "RateLimitPolicy visits/tours"),
        ("kuadrant", "TLSPolicy platform/certificates"),
        ("gloo", "RouteOption orders/mothers-day"),
        ("linkerd", "HTTPLocalRateLimitPolicy observatory/perseids"),
        ("gke", "GCPTrafficDistributionPolicy radio/nearby"),
        ("aws", "VpcAssociationPolicy ferries/old-pier"),
        ("azure", "RoutePolicy box-office/tickets"),
        ("kuma", "MeshTimeout newspaper/house"),
        ("nginx-gateway-fabric", "ProxySettingsPolicy newsroom/pages"),
        ("nginx-gateway-fabric", "RateLimitPolicy newsroom/writers"),
        ("nginx-gateway-fabric", "WAFPolicy platform/basics"),
        ("kgateway", "ListenerPolicy platform/names"),
        ("kgateway", "TrafficPolicy platform/house"),
    ],
)
def test_the_tree_of_a_policy(world: str, name: str, snapshot: SnapshotAssertion) -> None:
    analysis = analyze(manifests(world))
    assert tree(describe_policy(analysis, policy_ref(analysis, name))) == snapshot


def kind(strategy: MergeStrategy | None = None) -> PolicyKindProfile:
    rules = TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True)
    return PolicyKindProfile(
        COLOR, "inherited", "profile", effective_targets=(rules,), strategy=strategy, stanzas="none"
    )


def analysis_of(profile: PolicyKindProfile, *resources: Resource, complete: bool = False) -> Analysis:
    world = (
        build.gateway_class("public", OURS),
        build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443)),
        build.route("r"),
        build.service(),
    )
    return analyze(build.snapshot(*world, *resources, complete=complete), profiles=[profile])


def colours(name: str, target: dict[str, Json], *, age: int | None = 1, **spec: Json) -> Resource:
    return build.resource("ColorPolicy", name, {"targetRefs": [target], **spec}, group="example.com", age=age)


TO_ROUTE: Final = build.ON_ROUTE
TO_GATEWAY: Final = build.ON_GATEWAY


class TestOneApplies:
    """Of several policies on one target one alone applies, and the others are refused."""

    def test_the_refused_policy_says_who_came_first(self) -> None:
        """In its headline and at each field."""
        profile = replace(kind(), same_level="one-applies")
        policies = [colours("old", TO_ROUTE, color="red"), colours("p", TO_ROUTE, age=2, color="blue")]
        answer = about_policy(analysis_of(profile, *policies), "p")
        assert headline(answer) == (
            "ColorPolicy default/p → HTTPRoute default/r has no effect: it is refused everywhere, because only one "
            "policy applies to a target, and ColorPolicy default/old came first."
        )
        text = tree(answer, WIDE)
        assert (
            "  in effect nowhere\n"
            "    refused in favour of ColorPolicy default/old → HTTPRoute default/r on both paths\n"
            "    color   blue\n"
        ) in text

    def test_a_conflict_elsewhere_is_called_a_conflict(self) -> None:
        """One that the strategy None refuses because of a policy further up has another reason."""
        profile = replace(kind(MergeStrategy.NONE), same_level="one-applies")
        policies = [colours("above", TO_GATEWAY, color="red"), colours("p", TO_ROUTE, age=2, color="blue", size=1)]
        analysis = analysis_of(profile, *policies)
        assert "conflicts with ColorPolicy default/above → Gateway default/g" in tree(about_policy(analysis, "p"), WIDE)
        text = tree(about(analysis, "HTTPRoute", "r"), WIDE)
        assert "instead of blue, default/p → HTTPRoute default/r (conflict: refused)\n" in text
        assert (
            "ColorPolicy default/above → Gateway default/g   test.yaml:1\n"
            "  color   red   instead of blue, default/p → HTTPRoute default/r (conflict: refused)\n"
            "  default/p → HTTPRoute default/r has no effect: size 1 (refused for the conflict)\n"
        ) in text
        assert "default/above → Gateway default/g; default/p is refused\n" in text

    @pytest.mark.parametrize(
        ("ages", "order_field", "expected"),
        [
            ((1, 2), "", "the oldest"),
            ((None, None), "", "the first by name"),
            ((1, 2), "spec.weight", "the first by spec.weight and age"),
            ((None, None), "spec.weight", "the first by spec.weight and name"),
        ],
    )
    def test_the_object_says_which_one_applies(
        self, ages: tuple[int | None, int | None], order_field: str, expected: str
    ) -> None:
        """By age, or by what stands for it; a field that both have and one that the refused one has alone."""
        profile = replace(kind(), same_level="one-applies", order_field=order_field)
        policies = [
            colours("a", TO_ROUTE, age=ages[0], color="red"),
            colours("b", TO_ROUTE, age=ages[1], color="blue", size=1, shade=2),
        ]
        text = " ".join(tree(about(analysis_of(profile, *policies), "HTTPRoute", "r"), WIDE).split())
        assert f"instead of blue, default/b → HTTPRoute default/r (refused: {expected} applies)" in text
        assert (
            "default/b → HTTPRoute default/r has no effect: size 1, shade 2 "
            f"(refused: of several on one target {expected} applies)"
        ) in text


class TestChoosing:
    """Policies that say themselves whether they merge."""

    def test_a_policy_that_merges_says_with_what(self) -> None:
        """The object names it; of the policy, also by which field it chose; with the closest one, or with all."""
        upper = colours("above", TO_GATEWAY, color="red")
        direct = colours("p", TO_ROUTE, age=2, merge="StrategicMerge", size=1)
        closest = replace(kind(), chooser="challenger", merges_with="closest", strategy_field="spec.merge")
        analysis = analysis_of(closest, upper, direct)
        heading = "ColorPolicy.example.com · strategic merge with the closest policy above it (spec.merge)"
        together = "default/p → HTTPRoute default/r, merged with default/above → Gateway default/g\n"
        assert together in tree(about(analysis, "HTTPRoute", "r"), WIDE)
        assert f"\n{heading}   test.yaml:1\n" in tree(about_policy(analysis, "p"), WIDE)
        every = analysis_of(replace(kind(MergeStrategy.PATCH_DEFAULTS), chooser="challenger"), upper, direct)
        assert together in tree(about(every, "HTTPRoute", "r"), WIDE)
        assert "· patch defaults with the policies above it   test.yaml:1\n" in tree(about_policy(every, "p"), WIDE)

    def test_a_policy_with_nothing_above_it_merges_with_nothing(self) -> None:
        """So nothing is said of what it would merge with."""
        profile = replace(kind(), chooser="challenger", merges_with="closest", strategy_field="spec.merge")
        direct = colours("p", TO_ROUTE, merge="StrategicMerge", size=1)
        text = tree(about(analysis_of(profile, direct), "HTTPRoute", "r"), WIDE)
        assert "  ColorPolicy  size 1  default/p → HTTPRoute default/r\n" in text

    def test_elements_of_lists_are_told_apart(self) -> None:
        """By their keys, without repeating these; an element that has nothing but its key is shown by that."""
        profile = replace(
            kind(), chooser="challenger", strategy_field="spec.merge", list_keys={"paints": "name", "strokes": ""}
        )
        upper = colours("above", TO_GATEWAY, paints=[{"name": "red", "opaque": True}], strokes=[1])
        direct = colours("p", TO_ROUTE, age=2, merge="StrategicMerge", paints=[{"name": "blue"}], strokes=[2])
        text = tree(about(analysis_of(profile, upper, direct), "HTTPRoute", "r"), WIDE)
        rows = [line.split()[:2] for line in text.splitlines() if line.startswith(("  paints", "  strokes"))]
        assert rows == [
            ["paints[blue].name", "blue"],
            ["strokes[1]", "2"],
            ["paints[red].opaque", "true"],
            ["strokes[0]", "1"],
        ]

    def test_a_list_of_which_a_part_is_beaten(self) -> None:
        """It is one field of its policy, in effect in part where another policy has some of its elements."""
        profile = replace(kind(), chooser="challenger", strategy_field="spec.merge", list_keys={"paints": "name"})
        paints: Json = [{"name": "red", "x": 1}, {"name": "blue"}]
        direct = colours("own", TO_ROUTE, age=2, merge="StrategicMerge", paints=[{"name": "red", "x": 2}])
        rival = build.route("other")
        analysis = analysis_of(profile, colours("p", TO_GATEWAY, paints=paints), direct, rival)
        text = tree(about_policy(analysis, "p"), WIDE)
        assert "in effect on HTTPRoute default/other only, in part on HTTPRoute default/r only\n" in text
        assert "in part replaced by ColorPolicy default/own → HTTPRoute default/r\n" in text
        unopposed = tree(about_policy(analysis_of(profile, colours("p", TO_GATEWAY, paints=paints), direct), "p"), WIDE)
        assert "in effect in part on both paths\n" in unopposed


def test_where_all_apply_each_policy_has_its_own_settings() -> None:
    """Under the names that it gave them, with itself as the source; nothing is said to beat anything."""
    profile = kind(MergeStrategy.ALL_APPLY)
    policies = [colours("a", TO_GATEWAY, color="red"), colours("b", TO_ROUTE, color="blue"), colours("c", TO_ROUTE)]
    analysis = analysis_of(profile, *policies)
    text = tree(about(analysis, "HTTPRoute", "r"), WIDE)
    together = "together with default/b → HTTPRoute default/r and default/a → Gateway default/g"
    assert f"  ColorPolicy  color red, color blue  default/c → HTTPRoute default/r, {together}\n" in text
    assert text.endswith(
        "ColorPolicy default/c → HTTPRoute default/r   test.yaml:1\n"
        "  sets no field\n"
        "ColorPolicy default/b → HTTPRoute default/r   test.yaml:1\n"
        "  color   blue\n"
        "ColorPolicy default/a → Gateway default/g     test.yaml:1\n"
        "  color   red\n"
    )
    assert "  in effect on both paths\n    color   red\n" in tree(about_policy(analysis, "a"), WIDE)
    assert "is enforced on both of its paths" in headline(about_policy(analysis, "c"))


def test_a_policy_on_anothers_gateway_says_whose_it_is() -> None:
    """Once, in the headline; below a target that is attached as well, at the target."""
    profile = replace(kind(), controllers=frozenset({"example.com/ours"}))
    text = tree(about_policy(analysis_of(profile, colours("p", TO_GATEWAY, color="red")), "p"), WIDE)
    assert text.startswith(
        "ColorPolicy default/p has no effect: ColorPolicy applies only to what example.com/ours manages"
    )
    assert text.count("example.com/ours") == 1
    assert "  Gateway default/g   not managed\n" in text
    both = build.policy("p", TO_GATEWAY, build.target("own"), age=1, color="red")
    direct = (build.gateway_class("ours", "example.com/ours"), build.gateway("own", class_name="ours"))
    text = tree(about_policy(analysis_of(profile, both, *direct), "p"), WIDE)
    assert "  Gateway default/g     not managed: ColorPolicy applies only to what" in text


def test_a_policy_on_anothers_gateway_is_not_in_doubt() -> None:
    """What else could not be seen does not change that it has no effect."""
    profile = replace(kind(), controllers=frozenset({"example.com/ours"}))
    far = build.route("far", parents=[build.parent("unread", namespace="x")])
    both = build.policy("p", TO_GATEWAY, build.target("unknown", "GRPCRoute"), age=1, color="red")
    answer = about_policy(analysis_of(profile, both, far), "p")
    assert headline(answer).startswith("Whether ColorPolicy default/p has an effect is unknown: ")
    answer = about_policy(analysis_of(profile, colours("p", TO_GATEWAY, color="red"), far), "p")
    assert headline(answer).startswith("ColorPolicy default/p has no effect: ")


def test_how_a_kind_attaches_may_not_be_computed() -> None:
    """That is not the same as a target that was not read; what is known in words is said."""
    profile = replace(kind(), attachment="none", notes="It selects Pods.")
    text = tree(about_policy(analysis_of(profile, build.policy("p", age=1, color="red")), "p"))
    assert text == (
        "Whether ColorPolicy default/p has an effect is unknown: how it attaches is not computed.\n"
        "\n"
        "ColorPolicy.example.com   test.yaml:1\n"
        "  note: It selects Pods.\n"
    )


def test_a_section_with_a_policy_of_its_own_is_not_the_whole_objects() -> None:
    """Of a direct kind nothing is merged there; the answer says which policy applies instead, and where."""
    profile = PolicyKindProfile(COLOR, "direct", "profile", effective_targets=TestWhatTargetsLack.LISTENERS)
    direct = colours("own", build.target("g", section="https"), age=2, color="blue")
    text = tree(about_policy(analysis_of(profile, colours("p", TO_GATEWAY, color="red"), direct), "p"), WIDE)
    assert (
        "  in effect on listener http only\n"
        "    color   red\n"
        "  not on listener https, where ColorPolicy default/own applies\n"
    ) in text
    rival = colours("too", build.target("g", section="https"), age=3, shade="dark")
    merged = replace(profile, strategy=MergeStrategy.PATCH_DEFAULTS, same_level="newest-challenges")
    both = tree(about_policy(analysis_of(merged, colours("p", TO_GATEWAY, color="red"), direct, rival), "p"), WIDE)
    assert "not on listener https, where ColorPolicy default/own and ColorPolicy default/too apply\n" in both
    listeners = [
        build.policy("own", *(build.target("g", section=name) for name in ("http", "https")), age=2, color="b")
    ]
    everywhere = about_policy(analysis_of(profile, colours("p", TO_GATEWAY, color="red"), *listeners), "p")
    assert tree(everywhere).endswith(
        "ColorPolicy.example.com   test.yaml:1\n  ColorPolicy default/own applies instead\n"
    )
    assert headline(everywhere).endswith("has no effect: it is replaced everywhere, by ColorPolicy default/own.")
    assert "not on" not in tree(about_policy(analysis_of(profile, colours("p", TO_GATEWAY, color="red")), "p"), WIDE)


def test_several_policies_together_replace_a_field() -> None:
    """What is in force instead is what both say, and neither of them overrides the field by itself."""
    profile = replace(kind(), stanzas="plural", fold="bottom-up")
    on_rule = build.target("r", "HTTPRoute", "rule[0]")
    policies = [
        colours("above", TO_GATEWAY, overrides={"strategy": "merge", "size": 1}),
        colours("p", TO_ROUTE, age=2, color="red"),
        colours("rule", on_rule, age=3, shade=2),
    ]
    analysis = analysis_of(profile, *policies)
    sources = (
        "ColorPolicy default/above → Gateway default/g",
        "ColorPolicy default/rule → HTTPRoute default/r, rule[0]",
    )
    both = " and ".join(sources)
    assert f"gives way to {both} on both paths\n" in tree(about_policy(analysis, "p"), WIDE)
    text = " ".join(tree(about(analysis, "HTTPRoute", "r"), WIDE).split())
    assert "with others instead of all of default/p → HTTPRoute default/r: color" in text
    assert "merged with default/above → Gateway default/g, replaces default/p " in text


def test_a_guess_about_a_kind_with_a_profile_is_not_for_want_of_one() -> None:
    """Its profile does not say; what the profile says in words comes with it."""
    profile = replace(kind(), assumed=("merge strategy",), notes="It may be cached.")
    policies = [colours("above", TO_GATEWAY, color="red"), colours("p", TO_ROUTE, age=2, color="blue")]
    text = tree(about(analysis_of(profile, *policies), "HTTPRoute", "r"), WIDE)
    assert (
        "  assumed, because its profile does not say: a policy that does not say how it merges gives way to a nearer "
        "one as a whole\n"
        "  note: It may be cached.\n"
    ) in text
    sure = replace(profile, assumed=())
    assert "note" not in tree(about(analysis_of(sure, *policies), "HTTPRoute", "r"), WIDE)
    doubtful = replace(sure, approximate=True)
    assert "  not everything about ColorPolicy is computed: It may be cached.\n" in tree(
        about(analysis_of(doubtful, *policies), "HTTPRoute", "r"), WIDE
    )


class TestWhatTargetsLack:
    """Enforced policies that nevertheless do nothing, or not all that they should."""

    LISTENERS: Final = (TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),)

    def test_a_target_without_what_is_needed(self) -> None:
        """The headline does not leave it at `enforced`; where nothing is known of the status, it says nothing."""
        profile = PolicyKindProfile(
            COLOR, "direct", "profile", effective_targets=self.LISTENERS, target_status="status.addresses"
        )
        p = colours("p", TO_GATEWAY, color="red")
        pending = build.resource("Gateway", "g", {"listeners": [build.listener()]}, status={"addresses": []})
        analysis = analyze(build.snapshot(pending, p), profiles=[profile])
        assert headline(about_policy(analysis, "p")) == (
            "ColorPolicy default/p → Gateway default/g is enforced on its only path; it affects 1 Gateway, "
            "but does nothing on Gateway default/g, for lack of status.addresses."
        )
        unknown = headline(about_policy(analyze(build.snapshot(build.gateway("g"), p), profiles=[profile]), "p"))
        assert (
            unknown == "ColorPolicy default/p → Gateway default/g is enforced on its only path; it affects 1 Gateway."
        )

    def test_listeners_that_share_what_each_needs_for_itself(self) -> None:
        """Every field is in effect, and still the policy is enforced in part alone."""
        profile = PolicyKindProfile(
            COLOR, "direct", "profile", effective_targets=self.LISTENERS, exclusive_field="tls.certificateRefs"
        )
        tls: Json = {"certificateRefs": [{"name": "shared"}]}
        gateway = build.gateway("g", *(build.listener(name, "HTTPS", 443, tls=tls) for name in "ab"))
        analysis = analyze(build.snapshot(gateway, colours("p", TO_GATEWAY, color="red")), profiles=[profile])
        text = tree(about_policy(analysis, "p"), WIDE)
        assert text.startswith(
            "ColorPolicy default/p → Gateway default/g is enforced in part, because listeners share what each needs "
            "for itself; it affects 1 Gateway.\n"
        )
        assert "Gateway default/g#b uses Secret default/shared like Gateway default/g#a; each needs its own\n" in text


class TestExpected:
    def test_words_of_its_own_are_shown_with_their_place(self) -> None:
        """Without a place they are the policy's own; what goes without saying has no reason."""
        analysis = analyze(manifests("kuadrant"))
        answer = describe_policy(analysis, policy_ref(analysis, "RateLimitPolicy platform/doors"))
        assert "Its controllers should report\n  Accepted True, Enforced True\n" in tree(answer, WIDE) + "\n"
        (entry,) = mappings_at(document_of(answer), "expected")
        assert value_at(entry, "place") is None
        assert [text_at(condition, "type") for condition in mappings_at(entry, "conditions")] == [
            "Accepted",
            "Enforced",
        ]

    def test_what_any_controller_may_report_is_left_to_the_document(self) -> None:
        """The API's own words tell a person nothing about this policy."""
        answer = about_policy(colourful(), "own")
        assert "should report" not in tree(answer, WIDE)
        (entry,) = mappings_at(document_of(answer), "expected")
        assert text_at(entry, "ancestor.name") == "g"
        assert [text_at(condition, "reason") for condition in mappings_at(entry, "conditions")] == ["Accepted"]

    def test_conditions_on_an_object_are_shown_as_well(self) -> None:
        """Only of kinds that report on what they are about, and where everything is asked for."""
        analysis = analyze(manifests("kuadrant"))
        answer = describe(analysis, NodeRef(build.ref("HTTPRoute", "letters", "archive")))
        first, *_ = answer.expected
        assert (first.type, first.status) == ("kuadrant.io/AuthPolicyAffected", "True")
        expected = "Controllers of policies should report\n  kuadrant.io/AuthPolicyAffected True (Accepted: attached"
        assert expected in shown(answer, "tree", View(WIDE, everything=True))
        assert "should report" not in tree(answer, WIDE)
        assert text_at(mappings_at(document_of(answer), "expected")[0], "type") == first.type
        assert about(colourful(), "HTTPRoute", "r").expected == ()


class TestOverridesOfOneTarget:
    """What beats a default by overriding it need not be above it."""

    def superseded(self, profile: PolicyKindProfile, *policies: Resource) -> str:
        return " ".join(tree(about(analysis_of(profile, *policies), "HTTPRoute", "r"), WIDE).split())

    def test_of_two_overrides_on_one_target_the_older_one_wins(self) -> None:
        """Nothing is above anything; the younger one gives way."""
        profile = replace(kind(MergeStrategy.PATCH_OVERRIDES), same_level="first-wins")
        policies = [colours("old", TO_ROUTE, color="red"), colours("p", TO_ROUTE, age=2, color="blue")]
        text = self.superseded(profile, *policies)
        assert "instead of blue, default/p → HTTPRoute default/r (the older policy wins)" in text
        text = tree(about_policy(analysis_of(profile, *policies), "p"), WIDE)
        assert "gives way to ColorPolicy default/old → HTTPRoute default/r on both paths\n" in text

    def test_an_override_further_down_is_not_above(self) -> None:
        """On a rule it beats the default of its route, and on one target it beats a default of any age."""
        profile = replace(kind(), stanzas="singular")
        on_rule = build.target("r", "HTTPRoute", "rule[0]")
        for target, age in ((on_rule, 2), (TO_ROUTE, 2), (TO_ROUTE, 0)):
            text = self.superseded(
                profile,
                colours("p", TO_ROUTE, default={"color": "blue"}),
                colours("o", target, age=age, override={"color": "red"}),
            )
            assert "instead of blue, default/p → HTTPRoute default/r (an override wins over a default)" in text

    def test_an_override_above_is(self) -> None:
        """On the Gateway, or on the Namespace of the route."""
        profile = replace(kind(), stanzas="singular")
        for target in (TO_GATEWAY, build.target("default", "Namespace", group="")):
            text = self.superseded(
                profile,
                colours("p", TO_ROUTE, default={"color": "blue"}),
                colours("o", target, age=2, override={"color": "red"}),
            )
            assert "instead of blue, default/p → HTTPRoute default/r (overridden from above)" in text


KGATEWAY: Final = "gateway.kgateway.dev"
NGINX: Final = "gateway.nginx.org"
IDLE: Final[dict[str, Json]] = {"httpSettings": {"idleTimeout": "1s"}}


def world(controller: str, *policies: Resource, complete: bool = True) -> Analysis:
    """A Gateway with a listener for HTTP and one for HTTPS, and a route to a Service."""
    secret = build.resource("Secret", "c", group="")
    tls: Json = {"certificateRefs": [{"name": "c"}]}
    edge = build.gateway("g", build.listener("http"), build.listener("https", "HTTPS", 443, tls=tls))
    above = (build.namespace("default"), build.gateway_class("public", controller), edge, secret)
    return analyze(build.snapshot(*above, build.route("r"), build.service("s"), *policies, complete=complete))


def on(kind: str, group: str, name: str, *targets: dict[str, Json], spec: dict[str, Json]) -> Resource:
    return build.resource(kind, name, {"targetRefs": list(targets), **spec}, group=group, age=1)


def told(answer: Answer) -> str:
    """What people read, with single spaces."""
    return " ".join(shown(answer, "tree", View()).split())


def loaded(answer: Answer) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(shown(answer, "json", View()))
    VALIDATOR.validate(document)
    return document


class TestListenerPolicy:
    """On listeners for HTTP policies are passed over whole, on others some of their fields."""

    http: Final = on("ListenerPolicy", KGATEWAY, "on-http", build.target("g", section="http"), spec={"default": IDLE})
    both: Final = on(
        "ListenerPolicy",
        KGATEWAY,
        "both",
        build.target("g", section="http"),
        build.target("g", section="https"),
        spec={"default": {**IDLE, "tcpKeepalive": {"keepAliveTime": "1s"}}},
    )
    wide: Final = on(
        "ListenerPolicy", KGATEWAY, "wide", build.ON_GATEWAY, spec={"default": {"httpSettings": {"idleTimeout": "3s"}}}
    )
    controller: Final = "kgateway.dev/kgateway"

    @pytest.mark.parametrize("complete", [True, False])
    def test_a_policy_of_which_nothing_counts(self, *, complete: bool) -> None:
        """It has no effect, for nobody's sake, also if there may be more below."""
        answer = describe_policy(world(self.controller, self.http, self.wide, complete=complete), self.http.ref)
        text = told(answer)
        assert "listener http has no effect: controllers ignore everything that it sets there" in text
        assert "in effect nowhere controllers ignore it default.httpSettings.idleTimeout 1s" in text
        data = loaded(answer)
        assert (data["enforcement"], data["affected"]) == ({"state": "NoEffect", "by": [], "undecidedWith": []}, [])
        assert [(field["unheededOn"], field["superseded"], field["rejected"]) for field in data["fields"]] == [
            ([path["number"] for path in data["paths"]], [], False)
        ]

    def test_a_policy_of_which_some_counts_somewhere(self) -> None:
        """Where it does not is said."""
        answer = describe_policy(world(self.controller, self.both), self.both.ref)
        text = told(answer)
        assert "is enforced in part, on 1 of its 2 paths" in text
        # By way of the listener for HTTP nothing, by way of the other one all but a field.
        nowhere = text.partition(" in effect nowhere through ")[2].partition("in effect on")[0]
        assert nowhere.startswith("Gateway default/g, listener http controllers ignore it")
        assert text.count("controllers ignore it") == 2
        assert answer.enforcement.state == "PartiallyEnforced"
        assert "0/2" in shown(answer, "wide", View(200))

    def test_of_the_listener(self) -> None:
        """What would have beaten another value has not, and what nothing stands for has no effect."""
        analysis = world(self.controller, self.http, self.wide)
        with_listener = told(describe(analysis, build.node("Gateway", "g", "http")))
        assert "instead of 1s, default/on-http → listener http" in with_listener
        assert "(controllers ignore it here)" in with_listener
        unlistened = describe(world(self.controller, self.http), build.node("Gateway", "g", "http"))
        assert "ListenerPolicy nothing default/on-http is ignored" in told(unlistened)
        assert "default/on-http → listener http has no effect: " in told(unlistened)
        assert "default.httpSettings.idleTimeout 1s (controllers ignore it here)" in told(unlistened)
        (group,) = loaded(unlistened)["inForce"]
        assert (group["policies"], group["settings"]) == ([], [])
        assert [(fate["state"], fate["supersededBy"]) for fate in group["withoutEffect"]] == [("unheeded", [])]

    def test_the_listeners_of_a_gateway_are_told_apart(self) -> None:
        """Also where the same settings come of it."""
        section = on(
            "ListenerPolicy",
            KGATEWAY,
            "same",
            build.target("g", section="https"),
            spec={"default": {"tcpKeepalive": {}}},
        )
        groups = describe(world(self.controller, self.wide, section), build.node("Gateway", "g")).in_force
        assert [(len(group.extent.at), len(group.without_effect)) for group in groups] == [(1, 0), (1, 1)]


class TestRateLimitPolicy:
    """A `dryRun` of false is not written down, so that it does not undo another one."""

    wide: Final = on("RateLimitPolicy", NGINX, "wide", build.ON_GATEWAY, spec={"rateLimit": {"dryRun": True}})
    mine: Final = on(
        "RateLimitPolicy", NGINX, "mine", build.ON_ROUTE, spec={"rateLimit": {"dryRun": False, "rejectCode": 429}}
    )
    controller: Final = "gateway.nginx.org/nginx-gateway-controller"

    def test_of_the_policy(self) -> None:
        answer = describe_policy(world(self.controller, self.wide, self.mine), self.mine.ref)
        assert "in effect nowhere controllers ignore it rateLimit.dryRun false" in told(answer)
        assert "is enforced in part" in told(answer)
        assert {field["field"]: field["unheededOn"] for field in loaded(answer)["fields"]} == {
            "rateLimit.dryRun": [1, 2],
            "rateLimit.rejectCode": [],
        }

    def test_of_the_route(self) -> None:
        answer = describe(world(self.controller, self.wide, self.mine), build.node("HTTPRoute", "r"))
        assert "instead of false, default/mine" in told(answer)
        (group,) = loaded(answer)["inForce"]
        (setting,) = [setting_ for setting_ in group["settings"] if setting_["field"] == "rateLimit.dryRun"]
        assert (setting["value"], setting["source"]["object"]["name"]) == (True, "wide")
        assert [fate["state"] for fate in setting["insteadOf"]] == ["unheeded"]

    def test_alone(self) -> None:
        unlistened = on("RateLimitPolicy", NGINX, "mine", build.ON_ROUTE, spec={"rateLimit": {"dryRun": False}})
        analysis = world(self.controller, unlistened)
        assert analysis.enforcement(unlistened.ref).state == "NoEffect"
        assert analysis.affected_by(build.node("HTTPRoute", "r")) == ()
