"""How the built-in kinds merge: what is in force where several policies of one kind meet."""

from __future__ import annotations

import pytest

from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.build import node, policy, target
from tests.profiles.claims import CLAIMS, GKE, GLOO, Claim
from tests.profiles.meetings import FIRST, GATEWAY, LISTENER, ROUTE, asked, by_filters, on, one_target, settings


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.merges == "None"], ids=lambda claim: str(claim.kind)
)
def test_the_older_of_two_on_one_target_applies(claim: Claim) -> None:
    """And the newer one is refused as conflicted, where the kind does not merge."""
    analysis = one_target(claim)
    policies = (found.ref for found in analysis.policies if found.ref.group_kind == claim.kind)
    states = {policy.name: analysis.enforcement(policy).state for policy in policies}
    assert states == {"older": "Enforced", "newer": "Conflicted"}


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.merges == "All apply"], ids=lambda claim: str(claim.kind)
)
def test_two_on_one_target_apply_together(claim: Claim) -> None:
    """None beats another, where all apply."""
    analysis = one_target(claim)
    found = [ref for ref in analysis.attachments if ref.group_kind == claim.kind]
    assert {analysis.enforcement(ref).state for ref in found} == {"Enforced"}


class TestGloo:
    """Gloo Gateway: by the fields of `options`."""

    def test_a_virtual_host_option_of_a_listener_goes_first(self) -> None:
        """The Gateway's fills what it leaves."""
        kind = "VirtualHostOption"
        analysis = asked(
            GLOO,
            on(GATEWAY, kind, GLOO, 1, options={"cors": {"a": 1}, "retries": {"b": 1}}),
            on(LISTENER, kind, GLOO, 2, options={"cors": {"c": 2}}),
        )
        assert settings(analysis, node("Gateway", "g", "web"), kind, GLOO) == [
            {"options": {"cors": {"c": 2}, "retries": {"b": 1}}}
        ]

    def test_the_older_route_option_keeps_its_field(self) -> None:
        """The newer one on the same route fills what it leaves."""
        older = on(ROUTE, "RouteOption", GLOO, 1, options={"timeout": "1s", "cors": {"a": 1}})
        newer = on(ROUTE, "RouteOption", GLOO, 2, options={"timeout": "2s", "cors": {"b": 2}, "faults": {"c": 2}})
        assert settings(asked(GLOO, newer, older), FIRST, "RouteOption", GLOO) == [
            {"options": {"timeout": "1s", "cors": {"a": 1}, "faults": {"c": 2}}}
        ]

    def test_a_route_option_of_a_filter_goes_first(self) -> None:
        """Of two filters the first; older ones on the route fill what they leave."""
        assert by_filters(GLOO, "RouteOption") == {"options": {"a": "second", "b": "first", "c": "old"}}

    @pytest.mark.parametrize("kind", ["ListenerOption", "HttpListenerOption"])
    def test_a_listener_has_one_listener_option(self, kind: str) -> None:
        """Its own, else the Gateway's."""
        wide, narrow = on(GATEWAY, kind, GLOO, 1, options={"a": 1}), on(LISTENER, kind, GLOO, 2, options={"b": 2})
        web = node("Gateway", "g", "web")
        assert settings(asked(GLOO, wide), web, kind, GLOO) == [{"options": {"a": 1}}]
        assert settings(asked(GLOO, wide, narrow), web, kind, GLOO) == [{"options": {"b": 2}}]


class TestGke:
    """GKE: nothing is merged."""

    def test_the_narrowest_client_policy_counts(self) -> None:
        """A port's before its Service's before the Namespace's; of two on one Service the older one."""
        kind = "GCPClientTLSPolicy"
        everywhere, older, newer, port = (
            policy(f"p{age}", where, kind=kind, group=GKE, age=age, by=age)
            for where, age in (
                (target("default", "Namespace", group=""), 1),
                (target("s", "Service", group=""), 2),
                (target("s", "Service", group=""), 3),
                (target("s", "Service", "https", group=""), 4),
            )
        )
        analysis = asked(GKE, everywhere, older, newer, port)
        found = {
            section: {str(each) for each in settings(analysis, node("Service", "s", section, group=""), kind, GKE)}
            for section in ("http", "https")
        }
        assert found == {"http": {"{'by': 2}"}, "https": {"{'by': 4}"}}
        assert analysis.enforcement(newer.ref).state == "Conflicted"

    def test_the_settings_stand_in_default(self) -> None:
        """Which is no stanza of defaults."""
        kind, where = "GCPBackendPolicy", target("s", "Service", group="")
        older, newer = (on(where, kind, GKE, age, default={"a": age}) for age in (1, 2))
        found = settings(asked(GKE, newer, older), node("Service", "s", group=""), kind, GKE)
        assert {str(each) for each in found} == {str({"default": {"a": 1}})}


def test_an_istio_policy_on_a_service_leaves_the_gateway_s_in_force() -> None:
    """All that are on the way of a request are evaluated."""
    group = "security.istio.io"
    policies = [
        policy(name, where, kind="AuthorizationPolicy", group=group, action=name)
        for name, where in (("allow", target("g")), ("deny", target("s", "Service", group="core")))
    ]
    analysis = asked(group, *policies)
    assert {analysis.enforcement(found.ref).state for found in policies} == {"Enforced"}
    through = [
        found
        for found in analysis.effective(node("Service", "s", "http", group=""), GroupKind(group, "AuthorizationPolicy"))
        if node("Gateway", "g", group=GATEWAY_API) in found.path
    ]
    assert {len(found.resolution.policies_in_force) for found in through} == {2}
