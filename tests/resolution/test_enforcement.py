"""Enforcement of policies over their paths, and contentions for entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY, GATEWAY_API, HTTP_ROUTE, SERVICE
from kubectl_policy.profiles.merging import IgnoredPart
from kubectl_policy.resolution import takes_effect_below
from tests import build
from tests.build import (
    backend,
    gateway,
    gateway_class,
    grant,
    listener,
    namespace,
    node,
    parent,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)

COLOR: Final = GroupKind("example.com", "ColorPolicy")
GATEWAY_NODE, LISTENER_NODE = node("Gateway", "g"), node("Gateway", "g", "http")
AT_LISTENERS: Final = TargetLevel(GATEWAY, section=True)
INHERITED: Final = PolicyKindProfile(COLOR, "inherited", "profile", stanzas="plural", strategy_field="spec.mode")
DIRECT: Final = PolicyKindProfile(COLOR, "direct", "profile", stanzas="none")
ON_SERVICE: Final = target("s", "Service", group="")


def world(*policies: Resource, profile: PolicyKindProfile = INHERITED, complete: bool = True) -> Analysis:
    objects = (
        namespace("default"),
        gateway_class(),
        gateway("g"),
        route("r"),
        service("s", ("http", 8080), ("admin", 1)),
    )
    return analyze(snapshot(*objects, *policies, complete=complete), profiles=[profile])


def verdict(analysis: Analysis, name: str = "p") -> tuple[str, list[str]]:
    """The state of a policy, and the names of those that beat it."""
    found = analysis.enforcement(ref("ColorPolicy", name, group="example.com"))
    return found.state, [winner.name for winner in found.by]


class TestNotAttached:
    @pytest.mark.parametrize(
        ("found", "state"),
        [
            pytest.param(policy("p", a=1), "Invalid", id="no reference"),
            pytest.param(
                policy("p", {"group": "", "kind": "Service"}), "TargetNotFound", id="a reference without a name"
            ),
            pytest.param(policy("p", target("s", "Service", group="v1/x")), "Invalid", id="unsupported"),
            pytest.param(policy("p", target("ghost")), "TargetNotFound", id="no such object"),
            pytest.param(policy("p", target("g", section="ghost")), "TargetNotFound", id="no such section"),
            pytest.param(policy("p", target("s", namespace="other")), "NotPermitted", id="another namespace"),
            pytest.param(
                policy("p", target("s", namespace="other"), target("ghost")), "TargetNotFound", id="two reasons"
            ),
        ],
    )
    def test_in_a_complete_world(self, found: Resource, state: str) -> None:
        """The state says why; nobody beats the policy."""
        assert verdict(world(found)) == (state, [])

    def test_a_kind_that_may_attach_otherwise(self) -> None:
        """Without any reference nothing is known of it; a reference that fails is one."""
        partly = replace(INHERITED, attachment="partly")
        assert verdict(world(policy("p", a=1), profile=partly)) == ("Unknown", [])
        assert verdict(world(policy("p", target("ghost")), profile=partly)) == ("TargetNotFound", [])
        assert verdict(world(policy("p", a=1), profile=replace(INHERITED, attachment="none"))) == ("Unknown", [])

    def test_what_another_controller_manages(self) -> None:
        """The policy has no effect there; a target that is missing weighs more."""
        theirs = replace(INHERITED, controllers=frozenset({"example.org/other"}))
        assert verdict(world(policy("p", target("g"), a=1), profile=theirs)) == ("NoEffect", [])
        both = policy("p", target("g"), target("ghost"))
        assert verdict(world(both, profile=theirs)) == ("TargetNotFound", [])

    def test_in_an_open_world(self) -> None:
        elsewhere = policy("p", target("d", "Deployment", group="apps"))
        assert verdict(world(elsewhere, complete=False)) == ("Unknown", [])

    def test_an_object_that_is_no_policy(self) -> None:
        """There is nothing to enforce."""
        with pytest.raises(NotFoundError):
            world().enforcement(ObjectRef(GroupKind(GATEWAY_API, "Gateway"), "default", "g"))


class TestNoEffect:
    """Attached, but nothing below the target to affect."""

    def test_a_gateway_class_without_gateways(self) -> None:
        alone = gateway_class("alone")
        assert verdict(world(alone, policy("p", target("alone", "GatewayClass")))) == ("NoEffect", [])

    def test_a_namespace_without_anything(self) -> None:
        empty = policy("p", target("empty", "Namespace", group=""))
        assert verdict(world(namespace("empty"), empty)) == ("NoEffect", [])

    @pytest.mark.parametrize("profile", [INHERITED, DIRECT], ids=["inherited", "direct"])
    def test_a_route_that_is_attached_to_nothing(self, profile: PolicyKindProfile) -> None:
        alone = route("alone", parents=[])
        found = policy("p", target("alone", "HTTPRoute"), a=1)
        assert verdict(world(alone, found, profile=profile)) == ("NoEffect", [])

    def test_a_namespace_with_only_missing_things(self) -> None:
        """A Service that is referred to and does not exist is not affected by anything."""
        far = route("far", rules=[rule(backend("ghost", namespace="empty"))])
        granted = grant(namespace="empty")
        found = policy("p", target("empty", "Namespace", group=""), a=1)
        assert verdict(world(namespace("empty"), far, granted, found)) == ("NoEffect", [])

    def test_a_target_below_the_effective_level(self) -> None:
        """A kind that works at listeners does nothing when attached to a Service, and nothing on paths without one."""
        level = TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True)
        profile = PolicyKindProfile(COLOR, "inherited", "profile", effective_targets=(level,))
        orphan = route("orphan", parents=[], rules=[rule()])
        found = policy("p", ON_SERVICE, target("orphan", "HTTPRoute"))
        assert verdict(world(orphan, found, profile=profile)) == ("NoEffect", [])


class TestBeaten:
    """None of its fields is effective anywhere, or only some are."""

    def test_overridden_by_each_object_that_says_the_same_itself(self) -> None:
        """Where the settings of one beat the policy, so do those of the others."""
        at_routes = (TargetLevel(HTTP_ROUTE),)
        profile = replace(INHERITED, object_fields={"a": "metadata.name"}, effective_targets=at_routes)
        analysis = analyze(
            snapshot(gateway("g"), route("r"), route("q"), policy("p", target("g"), a=1)), profiles=[profile]
        )
        assert verdict(analysis) == ("Overridden", ["q", "r"])

    def test_refused_on_one_path_and_overridden_on_another(self) -> None:
        """A conflict is one on all of its paths."""
        refusing, above = policy("q", target("g"), mode="None", b=1), policy("o", target("h"), overrides={"a": 2})
        other = gateway("h"), route("other", parents=[parent("h")])
        assert verdict(world(*other, refusing, above, policy("p", ON_SERVICE, a=1))) == ("Overridden", ["o", "q"])

    def test_in_conflict_with_one_that_refuses_others_elsewhere(self) -> None:
        """What is in force is the same on both paths, and who is refused is not: each path counts for itself."""
        section = target("s", "Service", "http", group="")
        refusing = policy("q", target("g"), mode="None", b=1)
        found, other = policy("p", ON_SERVICE, a=1), policy("o", section, a=1)
        replacing = replace(INHERITED, sections="replace")
        to_admin = route("admin", rules=[rule(backend("s", 1))])
        assert verdict(world(refusing, found, other, to_admin, profile=replacing)) == ("Conflicted", ["q"])


class TestIgnored:
    on_http: Final = target("g", section="http")
    sections: Final = (target("two", section="http"), target("two", section="https"))
    two: Final = (
        gateway("two", listener("http"), listener("https", "HTTPS", 443)),
        route("two", parents=[{"group": GATEWAY_API, "kind": "Gateway", "name": "two"}]),
    )
    silenced: Final = replace(
        INHERITED, ignored=(IgnoredPart(levels=(AT_LISTENERS,), fields=(), protocols=frozenset({"HTTP"})),)
    )
    some: Final = replace(INHERITED, ignored=(IgnoredPart(levels=(TargetLevel(GATEWAY), AT_LISTENERS), fields=("a",)),))

    @pytest.mark.parametrize("found", [policy("p", on_http, a=1), policy("p", on_http)], ids=["with a field", "empty"])
    def test_all_of_it(self, found: Resource) -> None:
        """It has no effect, and nobody beats it; so it is also beside others that are in force."""
        above = policy("q", target("g"), a=2)
        assert verdict(world(found, profile=self.silenced)) == ("NoEffect", [])
        both = world(above, found, profile=self.silenced)
        assert (verdict(both), verdict(both, "q")) == (("NoEffect", []), ("Enforced", []))

    def test_on_some_paths(self) -> None:
        """Elsewhere it counts."""
        analysis = world(*self.two, policy("p", *self.sections, a=1), profile=self.silenced)
        assert verdict(analysis) == ("PartiallyEnforced", [])
        outcomes = analysis.enforcement(ref("ColorPolicy", "p", group="example.com")).outcomes
        assert [len(outcome.resolution.ignored_sources) for outcome in outcomes] == [1, 0]

    def test_on_some_paths_and_beaten_on_the_others(self) -> None:
        above, found = policy("q", target("two"), overrides={"a": 2}), policy("p", *self.sections, age=2, a=1)
        assert verdict(world(*self.two, above, found, profile=self.silenced)) == ("Overridden", ["q"])
        refusing = policy("q", self.sections[1], age=1, mode="None", a=2)
        assert verdict(world(*self.two, refusing, found, profile=self.silenced)) == ("Conflicted", ["q"])

    def test_some_of_its_fields(self) -> None:
        assert verdict(world(policy("p", target("g"), a=1, b=1), profile=self.some)) == ("PartiallyEnforced", [])
        assert verdict(world(policy("p", target("g"), b=1), profile=self.some)) == ("Enforced", [])
        assert verdict(world(policy("p", target("g"), a=1), profile=self.some)) == ("NoEffect", [])
        above = policy("q", target("g"), overrides={"c": 1})
        assert verdict(world(above, policy("p", self.on_http, a=1, b=1), profile=self.some)) == ("Overridden", ["q"])

    def test_what_is_refused_is_in_conflict(self) -> None:
        """Although nobody would have looked at it."""
        one = replace(self.silenced, same_level="one-applies")
        older, newer = (policy(name, self.on_http, age=age, a=1) for age, name in enumerate("op"))
        assert verdict(world(older, newer, profile=one)) == ("Conflicted", ["o"])
        assert verdict(world(older, newer, profile=one), "o") == ("NoEffect", [])


@pytest.mark.parametrize(
    ("at", "levels", "below"),
    [
        (GATEWAY_NODE, (), True),
        (GATEWAY_NODE, (TargetLevel(GATEWAY),), False),
        (GATEWAY_NODE, (AT_LISTENERS,), True),
        (LISTENER_NODE, (AT_LISTENERS,), False),
        (LISTENER_NODE, (TargetLevel(GATEWAY),), False),
        (LISTENER_NODE, (TargetLevel(GATEWAY), TargetLevel(HTTP_ROUTE)), True),
        (node("HTTPRoute", "r"), (TargetLevel(HTTP_ROUTE, section=True),), True),
        (node("HTTPRoute", "r"), (TargetLevel(GroupKind(GATEWAY_API, "GRPCRoute"), section=True),), False),
        (node("Service", "s", group=""), (TargetLevel(HTTP_ROUTE),), False),
        (node("Namespace", "n", group=""), (TargetLevel(GATEWAY),), True),
    ],
)
def test_where_a_kind_may_take_effect_further_down(
    at: NodeRef, levels: tuple[TargetLevel, ...], *, below: bool
) -> None:
    """It may everywhere, if nobody has said where it does."""
    assert takes_effect_below(at, replace(INHERITED, effective_targets=levels)) == below


class TestDirect:
    """A policy of a direct kind takes effect at its target, or at each of its sections."""

    def test_a_kind_that_does_not_know_sections(self) -> None:
        """The target itself is where it takes effect."""
        profile = PolicyKindProfile(COLOR, "direct", "profile", effective_targets=(TargetLevel(SERVICE),))
        analysis = world(policy("p", ON_SERVICE, a=1), profile=profile)
        (outcome,) = analysis.enforcement(ref("ColorPolicy", "p", group="example.com")).outcomes
        assert outcome.target.section == ""


class TestOutsideTheHierarchy:
    """A kind that takes effect at objects to which no traffic leads."""

    SERVER: Final = GroupKind("example.com", "Server")
    PROFILE: Final = replace(
        INHERITED, strategy_field="", strategy=MergeStrategy.ALL_APPLY, effective_targets=(TargetLevel(SERVER),)
    )

    def test_a_policy_on_a_namespace_reaches_what_is_in_it(self) -> None:
        """Each object of such a kind there, and none elsewhere; another kind is not reached."""
        here, there = (
            resource("Server", name, group="example.com", namespace=where)
            for name, where in (("a", "default"), ("b", "other"))
        )
        other = resource("Widget", "c", group="example.com")
        p = policy("p", target("default", "Namespace", group=""), color="red")
        found = world(p, here, there, other, profile=self.PROFILE).enforcement(p.ref)
        assert (found.state, [effective.target.object for effective in found.outcomes]) == ("Enforced", [here.ref])

    def test_without_such_objects_there_is_nothing_to_affect(self) -> None:
        """The traffic that runs through the namespace is no concern of the kind; nor is a Server of a Gateway."""
        p = policy("p", target("default", "Namespace", group=""), color="red")
        assert verdict(world(p, profile=self.PROFILE)) == ("NoEffect", [])
        server = resource("Server", "a", group="example.com")
        on_gateway = policy("p", target("g"), color="red")
        assert verdict(world(on_gateway, server, profile=self.PROFILE)) == ("NoEffect", [])

    def test_a_backend_of_such_a_kind_counts_once_for_each_path(self) -> None:
        """Where a route leads to it, the way there is its path, also for a policy on the Namespace."""
        server = resource("Server", "a", group="example.com")
        leading = route("to-server", rules=[rule(backend("a", kind="Server", group="example.com"))])
        p = policy("p", target("default", "Namespace", group=""), color="red")
        found = world(p, server, leading, profile=self.PROFILE).enforcement(p.ref)
        assert [effective.path[-1].object for effective in found.outcomes] == [server.ref]


KIND: Final = GroupKind("example.com", "KeyPolicy")
PROFILE: Final = PolicyKindProfile(
    KIND,
    "direct",
    "profile",
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True),),
    exclusive_field="tls.certificateRefs",
)


def keys(name: str, *targets: Mapping[str, Json], age: int = 1) -> Resource:
    return build.policy(name, *targets, kind="KeyPolicy", age=age, issuer=name)


def https(name: str, *certificates: Json) -> dict[str, Json]:
    """A listener with references to certificates; text is the name of a Secret."""
    references: list[Json] = [
        {"name": found_contentions} if isinstance(found_contentions, str) else found_contentions
        for found_contentions in certificates
    ]
    return build.listener(name, "HTTPS", 443, hostname=f"{name}.example.com", tls={"certificateRefs": references})


def world_of_keys(*resources: Resource, profile: PolicyKindProfile = PROFILE) -> Analysis:
    return analyze(build.snapshot(*resources), profiles=[profile])


def found_contentions(analysis: Analysis, name: str = "p") -> list[tuple[str, str, str, str]]:
    """The contentions of a policy: its section, the entry, the other section, and the policy that holds it."""
    policy = build.ref("KeyPolicy", name, group="example.com")
    return [
        (one.section.section, one.entry, one.rival_section.section, one.holder.name)
        for one in analysis.contentions(policy)
    ]


def test_different_certificates_are_in_nobodys_way() -> None:
    """Nor the same one named twice by one listener, nor one in another namespace, nor of another kind."""
    listeners = [
        https("a", "one", "one"),
        https("b", "two"),
        https("c", {"name": "one", "namespace": "far"}),
        https("d", {"name": "one", "kind": "Store"}),
    ]
    analysis = world_of_keys(build.gateway("g", *listeners), keys("p", build.target("g")))
    assert found_contentions(analysis) == []
    assert analysis.enforcement(build.ref("KeyPolicy", "p", group="example.com")).state == "Enforced"


def test_a_kind_without_such_a_field_has_no_contentions() -> None:
    shared = build.gateway("g", https("a", "one"), https("b", "one"))
    plain = PolicyKindProfile(KIND, "direct", "profile", effective_targets=PROFILE.effective_targets)
    assert found_contentions(world_of_keys(shared, keys("p", build.target("g")), profile=plain)) == []


def test_the_listeners_of_one_policy_are_in_each_others_way() -> None:
    """Both are told, each with the other one; a third one is in the way of the first."""
    gateway = build.gateway("g", https("a", "one"), https("b", "one"), https("c", "other", "one"))
    analysis = world_of_keys(gateway, keys("p", build.target("g")))
    assert found_contentions(analysis) == [
        ("b", "Secret default/one", "a", "p"),
        ("a", "Secret default/one", "b", "p"),
        ("c", "Secret default/one", "a", "p"),
        ("a", "Secret default/one", "c", "p"),
    ]
    enforcement = analysis.enforcement(build.ref("KeyPolicy", "p", group="example.com"))
    assert (enforcement.state, enforcement.by) == ("PartiallyEnforced", ())


def test_of_two_policies_the_later_one_is_in_the_way() -> None:
    """The older one keeps the entry and is enforced, on whichever Gateway; a namespace may be left out or not."""
    gateways = [
        build.gateway("g", https("a", "one")),
        build.gateway("h", https("a", {"name": "one", "namespace": "default", "kind": "Secret"})),
    ]
    older, younger = keys("older", build.target("h"), age=1), keys("p", build.target("g"), age=2)
    analysis = world_of_keys(*gateways, older, younger)
    assert found_contentions(analysis) == [("a", "Secret default/one", "a", "older")]
    assert found_contentions(analysis, "older") == []
    assert analysis.enforcement(older.ref).state == "Enforced"
    late = analysis.enforcement(younger.ref)
    assert (late.state, [ref.name for ref in late.by]) == ("PartiallyEnforced", ["older"])


def test_a_listener_on_which_a_policy_is_not_in_force_is_no_concern_of_it() -> None:
    """A listener with a policy of its own is that one's; the entry is shared all the same."""
    gateway = build.gateway("g", https("a", "one"), https("b", "one"))
    own = keys("own", build.target("g", section="b"), age=2)
    analysis = world_of_keys(gateway, keys("p", build.target("g")), own)
    assert found_contentions(analysis) == []
    assert found_contentions(analysis, "own") == [("b", "Secret default/one", "a", "p")]
    refused = keys("refused", build.target("g"), age=3)
    assert found_contentions(world_of_keys(gateway, keys("p", build.target("g")), own, refused), "refused") == []


def test_every_shared_entry_is_told_in_the_order_of_the_listener() -> None:
    """So that two runs over the same input say the same."""
    names = [f"key-{number}" for number in range(9, 0, -1)]
    gateway = build.gateway("g", https("a", *names), https("b", *names))
    analysis = world_of_keys(gateway, keys("p", build.target("g", section="b")), keys("old", build.target("g"), age=0))
    assert [entry for _, entry, _, _ in found_contentions(analysis)] == [f"Secret default/{name}" for name in names]


HOSTILE: Final[list[Json]] = [
    None,
    "one",
    1,
    {"name": "one"},
    [],
    [None, 1, "one", ["one"], {}, {"name": 1}, {"name": ""}, {"name": None}],
]


@pytest.mark.parametrize("references", HOSTILE, ids=str)
def test_what_names_no_certificate_is_shared_with_nobody(references: Json) -> None:
    listeners = [
        build.listener("a", "HTTPS", 443, tls={"certificateRefs": references}),
        build.listener("b", "HTTPS", 444, tls={"certificateRefs": references}),
        build.listener("c", "HTTPS", 445, tls=references),
    ]
    assert found_contentions(world_of_keys(build.gateway("g", *listeners), keys("p", build.target("g")))) == []


def test_an_object_without_listeners_shares_nothing() -> None:
    profile = PolicyKindProfile(KIND, "direct", "profile", exclusive_field="ports")
    service = build.service("s", 1)
    assert (
        found_contentions(world_of_keys(service, keys("p", build.target("s", "Service", group="")), profile=profile))
        == []
    )


def test_a_number_that_orders_policies_orders_contentions_too() -> None:
    """Age only decides between equal numbers."""
    gateway = build.gateway("g", https("a", "one"), https("b", "one"))
    profile = replace(PROFILE, order_field="spec.weight")
    older = build.policy("older", build.target("g", section="a"), kind="KeyPolicy", age=1, weight=2)
    first = build.policy("p", build.target("g", section="b"), kind="KeyPolicy", age=2, weight=1)
    analysis = world_of_keys(gateway, older, first, profile=profile)
    assert found_contentions(analysis) == []
    assert found_contentions(analysis, "older") == [("a", "Secret default/one", "b", "p")]
