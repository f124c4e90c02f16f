"""Linkerd: every AuthorizationPolicy on the way authorizes, and a Server has one rate limit."""

from __future__ import annotations

from typing import Final

from kubectl_policy import Analysis, analyze
from kubectl_policy.model import Json, NodeRef
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import build
from tests.implementations import added, affecting, fixture_world, policy, policy_ref, reported, spec_at, states

GROUP: Final = "policy.linkerd.io"
AUTHORIZATION: Final = f"AuthorizationPolicy.{GROUP}"
LIMIT: Final = f"HTTPLocalRateLimitPolicy.{GROUP}"
HOME: Final = "observatory"
PICTURES: Final = build.node("HTTPRoute", "pictures", namespace=HOME)
ASTRONOMERS: Final[Json] = [{"group": GROUP, "kind": "MeshTLSAuthentication", "name": "astronomers"}]
VISITORS: Final[Json] = [{"group": GROUP, "kind": "NetworkAuthentication", "name": "visitors"}]
world: Final = fixture_world("linkerd")


def server(name: str) -> NodeRef:
    return build.node("Server", name, namespace=HOME, group=GROUP)


def authorizations(analysis: Analysis, node: NodeRef) -> dict[str, Json]:
    (spec,) = spec_at(analysis, AUTHORIZATION, node)
    found: dict[str, Json] = {}
    for name, said in spec.items():
        assert isinstance(said, dict)
        found[name] = said["requiredAuthenticationRefs"]
    return found


def test_a_policy_on_a_route_authorizes_there_alone() -> None:
    """Beside that of the Namespace; those of the Server are not tied to the route, which the answer says."""
    analysis = analyze(world())
    assert authorizations(analysis, PICTURES) == {f"{HOME}/astronomers": ASTRONOMERS, f"{HOME}/visitors": VISITORS}
    assert f"AuthorizationPolicy {HOME}/visitors" not in affecting(analysis, server("telescope"))
    (group,) = describe(analysis, PICTURES).in_force
    assert group.profile.approximate
    assert "Servers are not related to their routes" in group.profile.notes


def test_a_policy_on_the_namespace_affects_every_server_and_no_other_namespaces() -> None:
    elsewhere = build.resource("Server", "elsewhere", group=GROUP, namespace="university")
    analysis = analyze(added(world(), elsewhere))
    answer = describe_policy(analysis, policy_ref(analysis, f"AuthorizationPolicy {HOME}/astronomers"))
    assert {str(node) for node in answer.affected} == {
        f"HTTPRoute {HOME}/pictures",
        f"Server {HOME}/archive",
        f"Server {HOME}/telescope",
    }
    for node in answer.affected:
        assert f"AuthorizationPolicy {HOME}/astronomers" in affecting(analysis, node)
    assert affecting(analysis, build.node("Server", "elsewhere", namespace="university", group=GROUP)) == []


def test_a_server_has_one_rate_limit() -> None:
    """The oldest one; without it, the one that was refused."""
    analysis = analyze(world(f"HTTPLocalRateLimitPolicy {HOME}/telescope"))
    assert spec_at(analysis, LIMIT, server("telescope")) == [{"total": {"requestsPerSecond": 1000}}]
    assert states(analysis)[f"HTTPLocalRateLimitPolicy {HOME}/perseids"] == ("Enforced", [])


def test_a_server_may_have_an_authorization_of_the_older_kind() -> None:
    """Its answer says so, and does not say that there is none."""
    unseen = describe(analyze(world()), server("archive")).unseen
    assert [(blind_spot.what, blind_spot.reason) for blind_spot in unseen] == [
        (f"ServerAuthorization {HOME}/metrics", f"whether it is attached to Server {HOME}/archive is not computed")
    ]


def test_a_missing_server_is_reported() -> None:
    lost = policy(LIMIT, "lost", {"targetRef": {"group": GROUP, "kind": "Server", "name": "gone"}}, namespace=HOME)
    assert reported(analyze(added(world(), lost)), f"HTTPLocalRateLimitPolicy {HOME}/lost") == {
        "": {"Accepted": ("False", "NoMatchingTarget", ())}
    }


def test_the_authentications_that_a_policy_names_are_followed() -> None:
    """Of which kind and namespace they are; what happens without them is not known."""
    analysis = analyze(world())
    for name, namespace, kind in (
        ("astronomers", HOME, "MeshTLSAuthentication"),
        ("visitors", HOME, "NetworkAuthentication"),
        ("guest", "university", "ServiceAccount"),
    ):
        group = "" if kind == "ServiceAccount" else GROUP
        found = analysis.references_to(build.ref(kind, name, namespace, group=group))
        assert {(each.without, each.guessed) for each in found} == {("unknown", False)}
