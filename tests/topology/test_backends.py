"""Backends: what the references of routes resolve to, also to kinds with ports that a profile names."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.analysis import Analysis
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.fields import value_at
from kubectl_policy.profiles.controllers import BackendProfile
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.retargeting import retargeted
from kubectl_policy.questions.why_not.answer import why_not
from kubectl_policy.topology import Implementation, Topology
from kubectl_policy.topology.backends import Backend
from tests.build import (
    backend,
    crd,
    gateway,
    grant,
    index,
    node,
    policy,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    target,
)


def resolve(
    reference: dict[str, Json], *others: Resource, complete: bool = True, gaps: tuple[Gap, ...] = ()
) -> Backend:
    """What the only backendRef of a route comes to."""
    found = route(rules=[rule(reference)])
    world = index(found, *others, complete=complete, gaps=gaps)
    (only,) = Topology(world).backends(found.ref)
    return only


@pytest.mark.parametrize(
    ("reference", "reason", "message"),
    [
        (backend(kind="Deployment", group="apps"), "InvalidKind", "a Deployment.apps cannot be a backend"),
        (backend(kind="Nothing"), "InvalidKind", "a Nothing cannot be a backend"),
        (backend(kind="Bucket", group="x.io"), "InvalidKind", "a Bucket.x.io cannot be a backend"),
        (
            backend(namespace="x"),
            "RefNotPermitted",
            "no ReferenceGrant in namespace x lets HTTPRoute default/r refer to Service x/s",
        ),
        (backend("t"), "BackendNotFound", "Service default/t does not exist"),
        (backend("s", 81), "BackendNotFound", "Service default/s has no port 81"),
        (backend("s", None), "BackendNotFound", "it names no port of Service default/s"),
    ],
)
def test_a_broken_reference_says_why(reference: dict[str, Json], reason: str, message: str) -> None:
    """The kind is looked at first, then the grant, then the object, then its port."""
    found = resolve(reference, service("s"))
    assert (found.state, found.reason, found.message) == ("broken", reason, message)


def test_what_was_not_read_is_unknown() -> None:
    """In an open world neither a Service nor a kind can be said to be missing."""
    found = resolve(backend(), complete=False)
    assert (found.state, found.reason, found.message) == ("unknown", "", "Service default/s is not in the input")
    assert resolve(backend(kind="Bucket", group="x.io"), complete=False).state == "unknown"


def test_unseen_grants_are_a_doubt() -> None:
    """They may permit the reference."""
    found = resolve(backend(namespace="x"), gaps=(Gap("ReferenceGrant", "", "forbidden"),))
    message = "whether Service x/s may be referred to is unknown: no ReferenceGrant in the input says so"
    assert (found.state, found.message) == ("unknown", message)


def test_a_backend_with_a_port_is_that_port() -> None:
    assert resolve(backend("s", 80), service("s", ("http", 80))).node == node("Service", "s", "http", group="")
    assert resolve(backend("s", 81), service("s", ("http", 80))).node == node("Service", "s", group="")


def test_a_grant_lets_a_reference_leave_its_namespace() -> None:
    """Then the Service is looked up where it is."""
    found = resolve(backend(namespace="x"), service("s", namespace="x"), grant(namespace="x"))
    assert (found.state, found.node) == ("resolved", node("Service", "s", "8080", "x", ""))


@pytest.mark.parametrize("definition", [True, False])
def test_other_kinds_need_no_port(*, definition: bool) -> None:
    """A kind that an API serves, or of which an object was read, may be a backend of an implementation."""
    bucket = resource("Bucket", "b", group="x.io")
    found = resolve(
        backend("b", None, kind="Bucket", group="x.io"), bucket, *([crd("Bucket", "x.io")] if definition else [])
    )
    assert (found.state, found.node) == ("resolved", node("Bucket", "b", group="x.io"))


@pytest.mark.parametrize(
    ("protocol", "state"), [("kubernetes.io/h2c", "broken"), ("http", "resolved"), (None, "resolved")]
)
def test_an_app_protocol_may_not_be_supported(protocol: str | None, state: str) -> None:
    """By the features that the settings leave out (RouteReasonUnsupportedProtocol)."""
    found = route()
    world = index(found, service("s", {"port": 8080, "appProtocol": protocol}))
    implementation = Implementation(frozenset({"HTTPRouteBackendProtocolH2C"}))
    (only,) = Topology(world, implementation).backends(found.ref)
    assert only.state == state
    assert only.reason == ("UnsupportedProtocol" if state == "broken" else "")


@pytest.mark.parametrize(
    ("reference", "port", "message"),
    [
        (backend() | {"port": "${P}"}, 8080, "which port of Service default/s ${P} is cannot be known yet"),
        (backend(), "${P}", "which port of Service default/s 8080 is cannot be known yet"),
        (backend(kind="${K}"), 8080, "what kind of object ${K} default/s is cannot be known yet"),
        (backend(group="{{ .G }}"), 8080, "what kind of object Service default/s is cannot be known yet"),
    ],
)
def test_what_is_to_be_filled_in_is_unknown(reference: dict[str, Json], port: Json, message: str) -> None:
    """Whatever decides: the kind, or the port on either side."""
    found = resolve(reference, service("s", {"port": port}))
    assert (found.state, found.reason, found.message) == ("unknown", "", message)


def test_equal_placeholders_are_equal() -> None:
    """As for names."""
    found = resolve(backend() | {"port": "${P}"}, service("s", {"name": "web", "port": "${P}"}))
    assert (found.state, found.node.section) == ("resolved", "web")


POOL: Final = GroupKind("example.com", "Pool")
COLOR: Final = GroupKind("example.com", "ColorPolicy")
PORTS: Final = BackendProfile(ports=("spec.endpoints.ip.port", "spec.port"), evidence=("a test of this project",))
UNKNOWN: Final = PolicyKindProfile(COLOR, "direct", "profile")
KNOWN: Final = PolicyKindProfile(COLOR, "direct", "profile", backends={POOL: PORTS})
ENDPOINTS: Final[Json] = [{"ip": {"port": 443}}, {"ip": {"port": 443}}, {"ip": {"port": 80}}, {"unix": {}}]


def world(*others: Resource, profile: PolicyKindProfile = KNOWN, port: int | None = 443) -> Analysis:
    pool = resource("Pool", "p", {"endpoints": ENDPOINTS}, group="example.com")
    to = backend("p", port, kind="Pool", group="example.com")
    return analyze(snapshot(gateway(), route(rules=[rule(to)]), pool, *others, complete=True), profiles=[profile])


def pool_node(section: str = "") -> NodeRef:
    return node("Pool", "p", section, group="example.com")


def on(section: str) -> Resource:
    return policy("c", target("p", "Pool", section, group="example.com"), color="red")


class TestKnown:
    """A file says where the ports stand."""

    def test_the_sections_are_the_ports(self) -> None:
        assert world().topology.sections(pool_node().object) == ("80", "443")

    def test_one_port_at_a_plain_path(self) -> None:
        only = resource("Pool", "q", {"port": 8080}, group="example.com")
        assert world(only).topology.sections(ref("Pool", "q", group="example.com")) == ("8080",)

    def test_a_rule_leads_to_the_port_that_it_names(self) -> None:
        analysis = world()
        paths = analysis.topology.paths_through(node("HTTPRoute", "r"))
        assert [path[-2:] for path in paths] == [(pool_node(), pool_node("443"))]
        assert [len(analysis.topology.paths(pool_node(name))) for name in ("443", "80")] == [1, 1]
        assert analysis.topology.paths(pool_node("80"))[0][0] != analysis.topology.paths(pool_node("443"))[0][0]

    def test_a_rule_that_names_no_port_leads_to_all(self) -> None:
        """Nor does one that names a port that there is not lead to another."""
        ends = {path[-1] for path in world(port=None).topology.paths_through(node("HTTPRoute", "r"))}
        assert ends == {pool_node("443"), pool_node("80")}

    def test_a_policy_on_a_port(self) -> None:
        """It takes effect there, and not at the other port."""
        analysis = world(on("443"))
        assert analysis.enforcement(ref("ColorPolicy", "c", group="example.com")).state == "Enforced"
        assert analysis.affected_by(pool_node("443"))
        assert not analysis.affected_by(pool_node("80"))

    def test_a_port_that_there_is_not(self) -> None:
        (found,) = world(on("8443")).attachments[ref("ColorPolicy", "c", group="example.com")]
        assert found.state == "section missing"
        assert found.message.endswith("it has 80, 443")

    def test_of_two_files_the_later_one_counts(self) -> None:
        """As for kinds."""
        other = PolicyKindProfile(
            GroupKind("example.com", "OtherPolicy"),
            "direct",
            "profile",
            backends={POOL: BackendProfile(ports=("spec.port",), evidence=("a test of this project",))},
        )
        analysis = analyze(snapshot(), profiles=[KNOWN, other])
        assert analysis.registry.port_fields(POOL) == ("spec.port",)
        assert analyze(snapshot(), profiles=[other, KNOWN]).registry.port_fields(POOL) == PORTS.ports


class TestUnknown:
    def test_whether_a_policy_is_attached_is_unknown(self) -> None:
        """Instead of: the section is missing."""
        analysis = world(on("443"), profile=UNKNOWN)
        (found,) = analysis.attachments[ref("ColorPolicy", "c", group="example.com")]
        assert found.state == "target unknown"
        assert found.message == (
            "whether Pool default/p has a section 443 is unknown: what sections of a Pool are is not known"
        )
        assert analysis.enforcement(found.policy).state == "Unknown"
        (unseen,) = describe_policy(analysis, found.policy).unseen
        assert unseen.what == "section 443 of Pool default/p"
        assert "--profiles" in unseen.remedy

    def test_a_section_cannot_be_asked_about(self) -> None:
        with pytest.raises(NotFoundError) as raised:
            describe(world(profile=UNKNOWN), pool_node("443"))
        assert raised.value.hint == "what sections of a Pool are is not known"

    @pytest.mark.parametrize("of", [service("s"), gateway("s"), resource("Deployment", "s", group="apps")])
    def test_of_other_kinds_it_is_known(self, of: Resource) -> None:
        found = policy("c", target("s", of.ref.kind, "x", group=of.ref.group_kind.group))
        analysis = analyze(snapshot(of, found, complete=True), profiles=[UNKNOWN])
        assert [each.state for each in analysis.attachments[found.ref]] == ["section missing"]

    def test_the_whole_object_is_attached(self) -> None:
        analysis = world(on(""), profile=UNKNOWN)
        assert [each.state for each in analysis.attachments[ref("ColorPolicy", "c", group="example.com")]] == [
            "attached"
        ]


def test_a_backend_of_envoy_gateway() -> None:
    group = "gateway.envoyproxy.io"
    spec: Json = {"endpoints": [{"fqdn": {"hostname": "example.com", "port": 443}}, {"unix": {"path": "/x"}}]}
    tls = policy(
        "tls", target("b", "Backend", "443", group=group), kind="BackendTLSPolicy", group="gateway.networking.k8s.io"
    )
    to = route(rules=[rule(backend("b", 443, kind="Backend", group=group))])
    analysis = analyze(snapshot(gateway(), to, resource("Backend", "b", spec, group=group), tls, complete=True))
    assert [each.state for each in analysis.attachments[tls.ref]] == ["attached"]
    assert [path[-1].section for path in analysis.topology.paths_through(node("HTTPRoute", "r"))] == ["443"]


class TestEdits:
    """What would let a policy have an effect on a port, and a policy that is given another target."""

    def test_a_policy_that_names_a_port(self) -> None:
        elsewhere = policy("c", target("g"), color="red")
        edit = why_not(world(elsewhere), elsewhere.ref, pool_node("443")).edits[0]
        assert edit.after is not None
        assert value_at(edit.after.raw, "spec.targetRefs[1]") == target("p", "Pool", "443", group="example.com")

    def test_another_target(self) -> None:
        """A port that is known, one that is not there, and one of which nothing is known."""
        found = policy("c", target("g"), color="red")
        pool = pool_node().object
        moved = retargeted(world(found), found.ref, pool, "443")
        assert value_at(moved.raw, "spec.targetRefs[0].sectionName") == "443"
        for profile, hint in ((KNOWN, "it has 80, 443"), (UNKNOWN, "what sections of a Pool are is not known")):
            with pytest.raises(UsageError) as raised:
                retargeted(world(found, profile=profile), found.ref, pool, "8443")
            assert raised.value.hint == hint
