"""Attachments of a policy by its target references, also by those with unknown members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, PolicyKindProfile, Topology, analyze
from kubectl_policy.attachment import MEANINGS, Attachment, State, attach
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.controllers import Event
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.policy_rows import policy_row
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.resolution.enforcement import ENFORCEMENT, EnforcementState
from tests.build import (
    gateway,
    gateway_class,
    grant,
    index,
    namespace,
    node,
    policy,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)
from tests.render.shown import document_of, headline, shown

COLOR: Final = GroupKind("example.com", "ColorPolicy")
ANY: Final = PolicyKindProfile(COLOR, "inherited", "profile")


def attachments(
    found: Resource,
    *others: Resource,
    profile: PolicyKindProfile = ANY,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
) -> tuple[Attachment, ...]:
    return attach(found, profile, Topology(index(found, *others, complete=complete, gaps=gaps)))


def outcome(*others: Resource, to: Mapping[str, Json], profile: PolicyKindProfile = ANY) -> tuple[str, str]:
    """State and message of a policy's only attachment in a complete world."""
    (found,) = attachments(policy("p", to), *others, profile=profile)
    return found.state, found.message


class TestUnusable:
    def test_no_kind(self) -> None:
        assert outcome(to={"name": "g"}) == ("target missing", "spec.targetRefs[0] names no kind")

    def test_neither_name_nor_labels(self) -> None:
        assert outcome(to={"kind": "Gateway"}) == (
            "target missing",
            "spec.targetRefs[0] names no object and selects none",
        )

    def test_a_version_in_the_group(self) -> None:
        """A common mistake: `apiVersion` where a group belongs."""
        assert outcome(to=target("d", "Deployment", group="apps/v1")) == (
            "kind unsupported",
            "spec.targetRefs[0].group apps/v1 has a version; a target reference names only a group",
        )

    def test_a_kind_that_the_policy_kind_does_not_take(self) -> None:
        profile = replace(
            ANY,
            declared_targets=frozenset({GroupKind("", "Service")}),
            virtual_targets=frozenset({GroupKind("v.io", "Ghost")}),
        )
        assert outcome(gateway("g"), to=target("g"), profile=profile) == (
            "kind unsupported",
            "ColorPolicy cannot target a Gateway.gateway.networking.k8s.io; it takes Ghost.v.io, Service",
        )
        selecting: dict[str, Json] = {"kind": "Gateway", "group": GATEWAY_API, "matchLabels": {"a": "b"}}
        assert outcome(gateway("g"), to=selecting, profile=profile)[0] == "kind unsupported"
        assert outcome(service("s"), to=target("s", "Service", group=""), profile=profile) == ("attached", "")


class TestByName:
    def test_missing(self) -> None:
        assert outcome(to=target("g")) == ("target missing", "Gateway default/g does not exist")

    def test_unknown(self) -> None:
        """In an open world, what was not read may exist."""
        (found,) = attachments(policy("p", target("g")), complete=False)
        assert (found.state, found.message) == ("target unknown", "Gateway default/g is not in the input")
        assert found.target == node("Gateway", "g")

    @pytest.mark.parametrize(
        ("to", "message"),
        [
            (target("g", section="tls"), "Gateway default/g has no section tls; it has http"),
            (target("r", "HTTPRoute", "rule[1]"), "HTTPRoute default/r has no section rule[1]; it has rule[0]"),
            (target("s", "Service", "web", group=""), "Service default/s has no section web; it has http, 81"),
            (target("default", "Namespace", "x", group=""), "Namespace default has no section x; it has no sections"),
        ],
        ids=str,
    )
    def test_section_missing(self, to: Mapping[str, Json], message: str) -> None:
        """Says: "A section that does not exist does not attach the policy to the whole object"."""
        world = (namespace("default"), gateway("g"), route("r"), service("s", ("http", 80), 81))
        assert outcome(*world, to=to) == ("section missing", message)

    @pytest.mark.parametrize(
        ("to", "expected"),
        [
            (target("g"), node("Gateway", "g")),
            (target("g", section="http"), node("Gateway", "g", "http")),
            (target("r", "HTTPRoute", "named"), node("HTTPRoute", "r", "named")),
            (target("r", "HTTPRoute", "rule[1]"), node("HTTPRoute", "r", "rule[1]")),
            (target("s", "Service", "81", group=""), node("Service", "s", "81", group="")),
            (target("s", "Service", group="core"), node("Service", "s", group="")),
            (target("default", "Namespace", group=""), node("Namespace", "default", group="")),
        ],
        ids=str,
    )
    def test_attached(self, to: Mapping[str, Json], expected: NodeRef) -> None:
        """Objects and sections, cluster-scoped ones without a namespace, the core group by either name."""
        world = (namespace("default"), gateway("g"), route("r", rules=[rule(name="named"), rule()]), service("s", 81))
        (found,) = attachments(policy("p", to), *world)
        assert (found.state, found.target, found.message, found.virtual) == ("attached", expected, "", False)


class TestAcrossNamespaces:
    """References that leave their namespace, and the handshake that lets them."""

    far = target("g", namespace="infra")
    there = gateway("g", namespace="infra")
    lets_in = grant(
        namespace="infra", sources=[("example.com", "ColorPolicy", "default")], targets=[(GATEWAY_API, "Gateway")]
    )

    def test_the_kind_does_not_allow_it(self) -> None:
        """Even with a grant."""
        profile = replace(ANY, cross_namespace=False)
        assert outcome(self.there, self.lets_in, to=self.far, profile=profile) == (
            "not permitted",
            "ColorPolicy can only target its own namespace default, not infra",
        )

    def test_without_a_grant(self) -> None:
        """Says: "MUST be paired with a handshake"; nothing is said of whether the target exists."""
        message = "no ReferenceGrant in namespace infra lets ColorPolicy of default target Gateway infra/g"
        assert outcome(self.there, to=self.far) == ("not permitted", message)
        assert outcome(to=self.far) == ("not permitted", message)

    @pytest.mark.parametrize("gap", [Gap("ReferenceGrant", "infra", "forbidden"), Gap("", "", "forbidden")], ids=str)
    def test_whether_there_is_a_grant_is_unknown(self, gap: Gap) -> None:
        (found,) = attachments(policy("p", self.far), self.there, gaps=[gap])
        assert (found.state, found.message) == (
            "target unknown",
            (
                "whether ColorPolicy of default may target Gateway infra/g is unknown: "
                "no ReferenceGrant in the input says so"
            ),
        )

    def test_with_a_grant(self) -> None:
        assert outcome(self.there, self.lets_in, to=self.far) == ("attached", "")

    def test_where_no_grant_is_required(self) -> None:
        assert outcome(self.there, to=self.far, profile=replace(ANY, grant_required=False)) == ("attached", "")

    def test_a_namespace_that_is_the_policy_s_own(self) -> None:
        profile = replace(ANY, cross_namespace=False)
        assert outcome(gateway("g"), to=target("g", namespace="default"), profile=profile) == ("attached", "")

    def test_a_cluster_scoped_policy(self) -> None:
        found = policy("p", self.far)
        free = replace(found, ref=replace(found.ref, namespace=""))
        assert [one.state for one in attachments(free, self.there)] == ["attached"]


class TestByLabels:
    by_tier: Final[Mapping[str, Json]] = {
        "group": GATEWAY_API,
        "kind": "HTTPRoute",
        "selector": {"matchLabels": {"tier": "web"}},
    }

    def test_nothing_is_selected(self) -> None:
        """In a complete world; labels of another namespace do not count."""
        elsewhere = route("r", namespace="infra", labels={"tier": "web"})
        (found,) = attachments(policy("p", self.by_tier), elsewhere, route("other", labels={"tier": "db"}))
        assert (found.state, found.target) == ("target missing", None)
        assert found.message == "spec.targetRefs[0] selects no HTTPRoute in namespace default"

    def test_nothing_that_was_read_is_selected(self) -> None:
        """In an open world there may be others."""
        (found,) = attachments(policy("p", self.by_tier), complete=False)
        assert found.state == "target unknown"

    def test_no_cluster_scoped_object_is_selected(self) -> None:
        everything: Mapping[str, Json] = {"kind": "Namespace", "selector": {"matchLabels": {"a": "b"}}}
        (found,) = attachments(policy("p", everything), namespace("default"))
        assert found.message == "spec.targetRefs[0] selects no Namespace"

    def test_every_object_that_is_selected(self) -> None:
        web = [route(name, labels={"tier": "web"}) for name in ("z", "a")]
        found = attachments(policy("p", {**self.by_tier, "sectionName": "rule[0]"}), *web, route("other"))
        assert [(one.state, one.target) for one in found] == [
            ("attached", node("HTTPRoute", "a", "rule[0]")),
            ("attached", node("HTTPRoute", "z", "rule[0]")),
        ]

    def test_cluster_scoped_objects(self) -> None:
        everything: Mapping[str, Json] = {"kind": "Namespace", "selector": {"matchLabels": {"team": "edge"}}}
        found = attachments(policy("p", everything), namespace("a", {"team": "edge"}), namespace("b"))
        assert [one.target for one in found] == [node("Namespace", "a", group="")]


class TestVirtual:
    to = target("ghost", "Ghost", group="v.io")

    def test_not_in_an_open_world(self) -> None:
        (found,) = attachments(policy("p", self.to), complete=False)
        assert (found.state, found.virtual) == ("target unknown", False)

    def test_not_where_the_group_is_served(self) -> None:
        """An object of the group was read: the target is missing."""
        (found,) = attachments(policy("p", self.to), resource("Real", "x", group="v.io"))
        assert (found.state, found.virtual) == ("target missing", False)

    def test_not_an_object_that_was_read(self) -> None:
        (found,) = attachments(policy("p", self.to), resource("Ghost", "ghost", group="v.io"))
        assert (found.state, found.virtual) == ("attached", False)

    def test_in_a_complete_world_without_the_group(self) -> None:
        """Attached to a node of its own, and marked."""
        (found,) = attachments(policy("p", self.to))
        assert (found.state, found.virtual) == ("attached", True)
        assert found.message == "Ghost.v.io is a virtual kind: no API serves it"

    def test_where_the_profile_says_so(self) -> None:
        profile = replace(ANY, virtual_targets=frozenset({GroupKind("v.io", "Ghost")}))
        (found,) = attachments(policy("p", self.to), profile=profile, complete=False)
        assert (found.state, found.virtual, found.target) == ("attached", True, node("Ghost", "ghost", group="v.io"))


def test_every_reference_becomes_an_attachment() -> None:
    """In the order in which they are declared, also the ones that fail."""
    found = attachments(policy("p", target("g"), target("ghost"), target("g", section="http")), gateway("g"))
    assert [(one.declared.field, one.state) for one in found] == [
        ("spec.targetRefs[0]", "attached"),
        ("spec.targetRefs[1]", "target missing"),
        ("spec.targetRefs[2]", "attached"),
    ]


PORT: Final = "what spec.targetRefs[0].port means is not known"


def world(*targets: dict[str, Json]) -> Analysis:
    """A Gateway with a route, and a policy with these targets."""
    everything = (gateway_class(), gateway(), route(), service(), policy("p", *targets, color="red"))
    return analyze(snapshot(*everything, complete=True))


def attached(analysis: Analysis) -> tuple[Attachment, ...]:
    return analysis.attachments[analysis.policies[0].ref]


class TestWhatIsNotUnderstood:
    """Members that nothing is known of, and what a kind cannot have."""

    def test_a_port(self) -> None:
        """It may be for that port alone."""
        (found,) = attached(world(target("g", port=80)))
        assert (found.state, found.doubtful, found.message) == ("attached", True, PORT)

    def test_several_members(self) -> None:
        (found,) = attached(world(target("g", port=80, mode="x")))
        assert found.message == f"what spec.targetRefs[0].mode means is not known; {PORT}"

    def test_a_namespace_where_there_is_none(self) -> None:
        (found,) = attached(world(target("public", "GatewayClass", namespace="infra")))
        assert (found.state, found.doubtful) == ("attached", True)
        assert found.message == "spec.targetRefs[0].namespace is infra, and a GatewayClass has no namespace"

    @pytest.mark.parametrize("member", ["namespace", "sectionName"])
    def test_what_is_understood(self, member: str) -> None:
        """Members that every reference may have, and any that is null."""
        said: dict[str, Json] = {member: {"namespace": "default", "sectionName": "http"}[member], "port": None}
        (found,) = attached(world({**target("g"), **said}))
        assert (found.state, found.doubtful, found.message) == ("attached", False, "")

    def test_by_labels(self) -> None:
        selecting: dict[str, Json] = {"group": GATEWAY_API, "kind": "Gateway", "selector": {}, "port": 80}
        (found,) = attached(world(selecting))
        assert (found.state, found.message) == ("attached", PORT)

    def test_one_that_fails_has_its_own_reason(self) -> None:
        (found,) = attached(world(target("ghost", port=80)))
        assert (found.state, found.doubtful) == ("target missing", False)


class TestAnswers:
    """Whoever reads them is told."""

    def test_describe_the_policy(self) -> None:
        """At its target, and in the first sentence."""
        analysis = world(target("g", port=80))
        answer = describe_policy(analysis, analysis.policies[0].ref)
        text = " ".join(shown(answer, "tree").split())
        assert f"Gateway default/g attached: {PORT}" in text
        assert f"all that spec.targetRefs[0] of ColorPolicy default/p says: {PORT}." in text
        assert "as far as could be read" in headline(answer)
        document: Any = document_of(answer)
        assert document["complete"] is False
        assert document["targets"][0]["message"] == PORT

    def test_describe_what_it_affects(self) -> None:
        """The setting is there, and so is the doubt."""
        answer = describe(world(target("g", port=80)), node("HTTPRoute", "r"))
        assert answer.policies
        assert [thing.reason for thing in answer.unseen] == [PORT]

    def test_get(self) -> None:
        analysis = world(target("g", port=80))
        assert [thing.reason for thing in policy_row(analysis, analysis.policies[0]).unseen] == [PORT]

    def test_why_not(self) -> None:
        """Also where it has no effect for another reason."""
        analysis = world(target("g", port=80))
        other = policy("q", target("r", "HTTPRoute"), color="blue")
        analysis = analyze(snapshot(*analysis.snapshot.resources, other, complete=True))
        found = next(each.ref for each in analysis.policies if each.ref.name == "p")
        assert PORT in {thing.reason for thing in why_not(analysis, found, node("HTTPRoute", "r")).unseen}

    def test_blast_radius(self) -> None:
        analysis = world(target("g", port=80))
        assert PORT in {thing.reason for thing in blast_radius(analysis, analysis.policies[0].ref).difference.unseen}

    def test_several_targets_with_the_same_doubt(self) -> None:
        analysis = world(target("g", port=80), target("r", "HTTPRoute", port=80))
        assert len(describe_policy(analysis, analysis.policies[0].ref).unseen) == 2


def test_every_state_has_a_row() -> None:
    assert MEANINGS.keys() == {*get_args(State)}
    assert ENFORCEMENT.keys() == {*get_args(EnforcementState)}


def test_what_is_reported_is_an_event() -> None:
    """Nothing is reported of what is not known, or is another controller's."""
    reported = {meaning.event for meaning in MEANINGS.values()} | {meaning.event for meaning in ENFORCEMENT.values()}
    assert reported - {None} <= {*get_args(Event)}
    assert [MEANINGS[state].event for state in ("attached", "target unknown", "not managed")] == [None, None, None]
    assert ENFORCEMENT["Unknown"].event is None


def test_rules_and_reasons_are_words_of_their_own() -> None:
    assert len({meaning.rule for meaning in MEANINGS.values()}) == len(MEANINGS)
    reasons = [meaning.why for meaning in MEANINGS.values() if meaning.why]
    assert len({*reasons}) == len(reasons) == len(MEANINGS) - 2


def test_what_is_not_known() -> None:
    """What was not read, and what is not computed."""
    assert {state for state, meaning in MEANINGS.items() if not meaning.known} == {"target unknown", "not computed"}
    assert {state for state, meaning in ENFORCEMENT.items() if not meaning.known} == {"Unknown"}
    assert {state for state, meaning in ENFORCEMENT.items() if meaning.in_force} == {"Enforced", "PartiallyEnforced"}
