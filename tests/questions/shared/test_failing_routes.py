"""Routes of which requests get an error response, since a policy that would hold there is not valid."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, PolicyKindProfile, analyze, what_if
from kubectl_policy.attachment.attachments import AsIfValid
from kubectl_policy.model import GroupKind, Resource
from kubectl_policy.model.kind_roles import GATEWAY, HTTP_ROUTE, SERVICE
from kubectl_policy.profiles.merging import MergeStrategy, TargetLevel
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.diff import diff
from kubectl_policy.questions.shared.failing_routes import FailingRoute, failing_routes
from tests import build
from tests.questions.build import analyzed
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, headline, shown

KEY: Final = RequiredObject(
    field="spec.key", group="", kinds=("Secret",), optional=True, competes=True, fail_open="spec.open"
)
LOCKING: Final = PolicyKindProfile(
    GroupKind("example.com", "LockPolicy"),
    "inherited",
    "profile",
    effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
    needs=(KEY,),
    when_invalid="errors",
    strategy=MergeStrategy.ATOMIC_DEFAULTS,
    stanzas="none",
    security_fields=frozenset({"*"}),
)
SECRET: Final = build.resource("Secret", "k", group="")
TWO_RULES: Final = build.route(
    rules=[build.rule(build.backend(), name=name, matches=[{"path": {"value": f"/{name}"}}]) for name in ("a", "b")]
)


def locking(name: str = "p", to: str = "g", kind: str = "Gateway", section: str = "", **spec: object) -> Resource:
    found: dict[str, object] = {"key": {"name": "k"}, "lock": name, **spec}
    return build.policy(name, build.target(to, kind, section), kind="LockPolicy", **found)  # type: ignore[arg-type]


def world(*objects: Resource, profile: PolicyKindProfile = LOCKING, complete: bool = True) -> Analysis:
    return analyzed(build.gateway(), TWO_RULES, build.service(), *objects, complete=complete, profiles=[profile])


def failing(analysis: Analysis) -> list[tuple[str, list[str], bool, str]]:
    """The routes that fail: which rules, whether these are all, and by which policy."""
    found: tuple[FailingRoute, ...] = failing_routes(analysis)
    return [(each.route.name, [it.section for it in each.rules], each.whole, each.policy.name) for each in found]


def test_every_route_below_the_target() -> None:
    assert failing(world(locking())) == [("r", ["a", "b"], True, "p")]
    assert failing(world(locking(), SECRET)) == failing(world(locking(), complete=False)) == []
    (found,) = failing_routes(world(locking()))
    assert found.message == "Secret default/k, which spec.key names, does not exist"


def test_attachments_as_if_all_were_valid() -> None:
    """Those of the policies of one kind that make requests fail hold; every other one is as it is."""
    analysis = world(locking(), locking("q", "gone"))
    found, lost = build.ref("LockPolicy", "p", group="example.com"), build.ref("LockPolicy", "q", group="example.com")
    assert [each.state for each in analysis.attachments[found]] == ["policy invalid"]
    valid = AsIfValid(analysis.attachments, found.group_kind)
    assert [each.state for each in valid[found]] == ["attached"]
    assert valid.to(build.ref("Gateway", "g")) == valid[found]
    assert valid[lost] == analysis.attachments[lost]
    other = AsIfValid(analysis.attachments, GroupKind("example.com", "Shed"))
    assert other[found] == analysis.attachments[found]


def test_what_counts_as_a_failure() -> None:
    """Only where requests get an error response for it: not by its profile, nor where it lets requests through."""
    assert failing(world(locking(), profile=replace(LOCKING, when_invalid="ignored"))) == []
    assert failing(world(locking(open=True))) == []
    # What it may not target is none of its own.
    assert failing(world(locking(kind="Shed"))) == []


def test_a_route_that_no_request_gets_to() -> None:
    lost = build.route("lost", parents=[build.parent("gone")], rules=[build.rule(build.backend(), name="a")])
    assert failing(world(lost, locking("p", "lost", "HTTPRoute"))) == []


def test_a_route_that_may_be_attached_is_said_of_all_above_it() -> None:
    """Whether requests fail there is not known: the answer about the Gateway is not that none do."""
    at = build.parent("g", "${LISTENER}")
    perhaps = build.route("perhaps", parents=[at], rules=[build.rule(build.backend(), name="a")])
    analysis = world(perhaps, build.gateway_class(), locking("p", "perhaps", "HTTPRoute"))
    of_class = build.node("GatewayClass", "public", namespace="")
    for above in (build.node("Gateway", "g"), build.node("Gateway", "g", "http"), of_class):
        assert not describe(analysis, above).failing
        assert "HTTPRoute default/perhaps" in {spot.what for spot in describe(analysis, above).unseen}, above
    elsewhere = build.gateway("other")
    found = describe(world(perhaps, elsewhere, locking("p", "perhaps", "HTTPRoute")), build.node("Gateway", "other"))
    assert found.unseen == ()


def test_a_nearer_policy_that_replaces_it() -> None:
    """Stands instead, so that requests get through; one that is not valid either fails them itself."""
    nearer = locking("own", "r", "HTTPRoute", "a", key=None)
    assert failing(world(locking(), nearer)) == [("r", ["b"], False, "p")]
    whole = locking("own", "r", "HTTPRoute")
    assert failing(world(locking(), whole)) == [("r", ["a", "b"], True, "own")]


def test_policies_that_merge() -> None:
    """Fail requests whatever others set, since the whole of what is merged is looked at."""
    merging = replace(LOCKING, strategy=MergeStrategy.PATCH_DEFAULTS)
    nearer = locking("own", "r", "HTTPRoute", lock="other", key={"name": "other"})
    other = build.resource("Secret", "other", group="")
    assert failing(world(locking(), nearer, other, profile=merging)) == [("r", ["a", "b"], True, "p")]


def test_where_a_kind_takes_effect_above_routes() -> None:
    above = replace(LOCKING, effective_targets=(TargetLevel(GATEWAY, section=True),))
    assert failing(world(locking(), profile=above)) == []
    assert failing(world(profile=LOCKING)) == []


def test_where_a_kind_takes_effect_below_routes() -> None:
    below = replace(LOCKING, policy_class="direct", effective_targets=(TargetLevel(SERVICE),), strategy=None)
    split = build.route(
        "split",
        rules=[
            build.rule(build.backend(), build.backend("t"), name="a"),
            build.rule(build.backend(), build.backend("t", weight=0), name="b"),
        ],
    )
    on_service, on_other = (
        build.policy(name, build.target(to, "Service", group=""), kind="LockPolicy", key={"name": "k"}, lock=name)
        for name, to in (("p", "s"), ("q", "t"))
    )
    found = failing(world(split, build.service("t"), on_service, profile=below))
    assert found == [("r", ["a", "b"], True, "p"), ("split", ["b"], False, "p")]
    both = failing(world(split, build.service("t"), on_service, on_other, profile=below))
    assert both[1:] == [("split", ["a", "b"], True, "p"), ("split", ["a"], True, "q")]


@pytest.mark.parametrize(
    "subject", [build.node("HTTPRoute", "r"), build.node("Gateway", "g"), build.node("Gateway", "g", "http")], ids=str
)
def test_describe_says_it_first(subject: object) -> None:
    described = describe(world(locking()), subject)  # type: ignore[arg-type]
    assert [each.policy.name for each in described.failing] == ["p"]
    first = "All requests to HTTPRoute default/r get an error response, since LockPolicy default/p is not valid. "
    assert headline(described).startswith(first)
    assert "HTTPRoute default/r: LockPolicy default/p is not valid: Secret default/k, which" in shown(described, "tree")
    VALIDATOR.validate(document_of(described))


def test_describe_of_a_part() -> None:
    analysis = world(locking(), locking("own", "r", "HTTPRoute", "a", key=None))
    assert headline(describe(analysis, build.node("HTTPRoute", "r"))).startswith(
        "Some requests to HTTPRoute default/r get "
    )
    assert describe(analysis, build.node("HTTPRoute", "r", "a")).failing == ()
    other = build.route("s", rules=[build.rule(build.backend())])
    two = world(locking("p", "r", "HTTPRoute"), locking("q", "s", "HTTPRoute"), other)
    found = headline(describe(two, build.node("Gateway", "g")))
    assert found.startswith("All requests to 2 routes get an error response, since 2 policies are not valid. ")
    assert "HTTPRoute default/r (b): LockPolicy" in shown(describe(analysis, build.node("HTTPRoute", "r")), "tree")


class TestBlastRadius:
    @pytest.mark.parametrize("complete", [True, False])
    def test_the_object(self, *, complete: bool) -> None:
        answer = blast_radius(world(locking(), SECRET, complete=complete), SECRET.ref)
        assert headline(answer).startswith(
            "Deleting Secret default/k ends all traffic for HTTPRoute default/r (any hostname), since LockPolicy "
            "default/p becomes invalid"
        )
        assert answer.difference.effects == ()
        assert [(each.policy.name, each.without) for each in answer.referred_to_by] == [("p", "requests fail")]
        assert answer.changes
        assert build.ref("HTTPRoute", "r").kind in {counted.kind for counted in answer.counts.kinds}
        text = shown(answer, "tree")
        assert "all of its requests get 500: LockPolicy default/p is not valid: Secret" in " ".join(text.split())
        assert "Policies that lose a target" not in text
        assert "Referred to by" not in text
        VALIDATOR.validate(document_of(answer))

    def test_a_grant(self) -> None:
        far = build.resource("Secret", "k", group="", namespace="far")
        lets_in = build.grant(
            namespace="far", sources=[("example.com", "LockPolicy", "default")], targets=[("", "Secret")]
        )
        analysis = world(locking(key={"name": "k", "namespace": "far"}), far, lets_in)
        answer = blast_radius(analysis, lets_in.ref)
        assert "ends all traffic for HTTPRoute default/r (any hostname), since LockPolicy" in headline(answer)
        (found,) = answer.difference.failing
        assert found.message.startswith("no ReferenceGrant in namespace far lets LockPolicy default/p refer to")

    def test_a_part_of_the_route(self) -> None:
        one_rule = blast_radius(world(locking(to="r", kind="HTTPRoute", section="a"), SECRET), SECRET.ref)
        (found,) = one_rule.difference.traffic.lost.some
        assert [(each.rule.section, each.failing, each.total) for each in found.failing] == [("a", 1, 1)]
        assert found.failing[0].message.startswith("LockPolicy default/p is not valid: Secret default/k")
        two = build.gateway("two", build.listener("a"), build.listener("b", port=81))
        there = build.route("t", rules=[build.rule(build.backend())], parents=[build.parent("two")])
        one_listener = blast_radius(world(two, there, locking(to="two", section="a"), SECRET), SECRET.ref)
        (found,) = one_listener.difference.traffic.lost.some
        assert [str(place) for place in found.lost] == ["Gateway default/two#a"]
        assert found.failing == ()
        assert ", since LockPolicy default/p becomes invalid" in headline(one_listener)

    def test_a_policy_that_comes_without_what_it_needs(self) -> None:
        comes = diff(what_if(world(build.service("other")), applied=[locking()]))
        assert [str(each.route) for each in comes.traffic.lost.all] == ["HTTPRoute default/r"]
        goes = blast_radius(world(locking()), build.ref("LockPolicy", "p", group="example.com")).difference
        assert [str(each.route) for each in goes.traffic.gained.all] == ["HTTPRoute default/r"]

    def test_a_route_that_answers_nothing_anyway(self) -> None:
        nowhere = build.route("r", rules=[build.rule(build.backend("gone"))])
        state = build.snapshot(build.gateway(), nowhere, locking(), SECRET, complete=True)
        answer = blast_radius(analyze(state, profiles=[LOCKING]), SECRET.ref)
        assert headline(answer).startswith(
            "Deleting Secret default/k makes LockPolicy default/p invalid (requests to HTTPRoute default/r fail "
            "already)"
        )

    def test_when_the_hierarchy_differs_too(self) -> None:
        need = replace(KEY, kinds=("Service",))
        answer = blast_radius(
            world(locking(), build.service("k"), profile=replace(LOCKING, needs=(need,))),
            build.ref("Service", "k", group=""),
        )
        assert "ends all traffic for HTTPRoute default/r" in headline(answer)

    def test_two_policies(self) -> None:
        other = build.route("s", rules=[build.rule(build.backend())])
        analysis = world(locking("p", "r", "HTTPRoute"), locking("q", "s", "HTTPRoute"), other, SECRET)
        assert ", since 2 policies become invalid" in headline(blast_radius(analysis, SECRET.ref))

    def test_what_lets_requests_through(self) -> None:
        answer = blast_radius(world(locking(open=True), SECRET), SECRET.ref)
        assert answer.difference.failing == ()
        assert "LockPolicy default/p refers to it (spec.key); without it, requests go on without that" in shown(
            answer, "tree"
        )

    def test_what_fails_already(self) -> None:
        assert blast_radius(world(locking()), build.ref("Service", "s", group="")).difference.failing == ()

    def test_other_kinds_are_compared_as_ever(self) -> None:
        other = replace(LOCKING, group_kind=GroupKind("example.com", "ColorPolicy"), needs=(), when_invalid="ignored")
        colours = build.policy("c", build.target("g"), colour="red", keyRef={"name": "k"})
        state = build.snapshot(build.gateway(), TWO_RULES, build.service(), locking(), SECRET, colours, complete=True)
        answer = blast_radius(analyze(state, profiles=[LOCKING, other]), SECRET.ref)
        assert answer.difference.effects == ()
        assert "ColorPolicy default/c refers to it (keyRef)" not in shown(answer, "tree")


def test_diff_says_it_first() -> None:
    difference = diff(what_if(world(locking(), SECRET), deleted=[SECRET.ref]))
    assert headline(difference).startswith(
        "Traffic ends for HTTPRoute default/r (any hostname), since LockPolicy default/p becomes invalid"
    )
    assert "all of its requests get 500: LockPolicy default/p is not valid" in shown(difference, "tree")
    assert difference.changes
    VALIDATOR.validate(document_of(difference))


class TestGuesses:
    plain: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile")

    @pytest.mark.parametrize(
        ("policies", "first"),
        [
            (1, "ColorPolicy default/p0 seems to refer to Secret default/k (spec.secretRef): what deleting it changes"),
            (2, "2 policies seem to refer to Secret default/k (spec.secretRef): what deleting it changes is not known"),
        ],
    )
    def test_blast_radius(self, policies: int, first: str) -> None:
        found = [build.policy(f"p{number}", build.target("g"), secretRef={"name": "k"}) for number in range(policies)]
        answer = blast_radius(world(*found, SECRET, profile=self.plain), SECRET.ref)
        assert headline(answer).startswith(first)
        assert "seems to refer to it (spec.secretRef); what happens without it is not known" in shown(answer, "tree")
        assert answer.changes

    def test_with_a_namespace(self) -> None:
        found = build.policy("p", build.target("g"), secretRef={"name": "k", "namespace": "far"})
        far = build.resource("Secret", "k", group="", namespace="far")
        answer = blast_radius(world(found, far, profile=self.plain), build.ref("Namespace", "far", group=""))
        assert "ColorPolicy default/p seems to refer to Secret far/k (spec.secretRef.name)" not in shown(answer, "tree")
        assert "ColorPolicy default/p seems to refer to Secret far/k (spec.secretRef)" in shown(answer, "tree")
