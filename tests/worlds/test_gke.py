"""GKE: nothing is merged; each policy changes its target, and of two on one target the older one applies."""

from __future__ import annotations

from typing import Final

from kubectl_policy import analyze
from kubectl_policy.model import Json
from kubectl_policy.questions.describe.objects import describe
from tests import build
from tests.implementations import added, affecting, edited, fixture_world, policy, reported, spec_at, states

GROUP: Final = "networking.gke.io"
HOME: Final = "radio"
ANTENNA: Final = build.node("Gateway", "antenna", namespace=HOME)
STUDIO: Final = build.node("Service", "studio", namespace=HOME, group="")
STUDIO_HTTP: Final = build.node("Service", "studio", "http", HOME, group="")
ARCHIVE: Final = build.node("ServiceImport", "archive", namespace=HOME, group="net.gke.io")
STUDIO_POD: Final = build.node("Pod", "studio-0", namespace=HOME, group="")
MIXER_POD: Final = build.node("Pod", "mixer-0", namespace=HOME, group="")
world: Final = fixture_world("gke")


def test_of_two_on_one_service_the_older_one_applies() -> None:
    """Nothing of the newer one is added; without the older one it applies."""
    analysis = analyze(world("GCPBackendPolicy radio/studio"))
    assert spec_at(analysis, f"GCPBackendPolicy.{GROUP}", STUDIO) == [
        {"default": {"logging": {"enabled": True, "sampleRate": 1000000}}}
    ]
    assert states(analysis)["GCPBackendPolicy radio/election"] == ("Enforced", [])


def test_all_authorization_policies_apply_to_what_they_select() -> None:
    """By name or by the labels of Pods; none beats another."""
    more = policy(
        f"GCPAuthzPolicy.{GROUP}",
        "more",
        {"action": "ALLOW", "targetRefs": [{"group": "", "kind": "Pod", "selector": {"matchLabels": {}}}]},
        namespace=HOME,
    )
    analysis = analyze(added(world(), more))
    assert [name for name in affecting(analysis, STUDIO_POD) if "Authz" in name] == [
        "GCPAuthzPolicy radio/mixer-only",
        "GCPAuthzPolicy radio/more",
    ]
    assert [name for name in affecting(analysis, MIXER_POD) if "Authz" in name] == ["GCPAuthzPolicy radio/more"]
    assert [name for name in affecting(analysis, ANTENNA) if "Authz" in name] == ["GCPAuthzPolicy radio/no-robots"]


def test_of_two_for_a_pod_the_older_one_counts_and_the_answer_doubts_it() -> None:
    """That one by labels goes before one for the whole namespace is known in words alone."""
    whole = policy(
        f"GCPServerTLSPolicy.{GROUP}",
        "whole",
        {"mtlsMode": "Disabled", "targetRefs": [{"group": "", "kind": "Pod", "selector": {}}]},
        namespace=HOME,
    )
    newer = policy(
        f"GCPServerTLSPolicy.{GROUP}",
        "newer",
        {
            "mtlsMode": "Permissive",
            "targetRefs": [{"group": "", "kind": "Pod", "selector": {"matchLabels": {"app": "mixer"}}}],
        },
        namespace=HOME,
        age=2,
    )
    analysis = analyze(added(world(), whole, newer))
    assert spec_at(analysis, f"GCPServerTLSPolicy.{GROUP}", MIXER_POD) == [{"mtlsMode": "Disabled"}]
    assert states(analysis)["GCPServerTLSPolicy radio/newer"] == ("Conflicted", ["radio/whole"])
    (group,) = describe(analysis, MIXER_POD).in_force
    assert group.profile.approximate


def test_a_client_policy_reaches_the_services_of_its_namespace() -> None:
    """And nothing else in it: a Pod, a Gateway or a ServiceImport is no place where it takes effect."""
    analysis = analyze(world("GCPClientTLSPolicy radio/from-outside"))
    assert spec_at(analysis, f"GCPClientTLSPolicy.{GROUP}", STUDIO_HTTP) == [{"tlsMode": "MutualTLS"}]
    for node in (MIXER_POD, ARCHIVE, ANTENNA):
        assert "GCPClientTLSPolicy radio/everything" not in affecting(analysis, node)
    assert describe(analysis, MIXER_POD).policies == ()


def test_a_reference_stays_in_its_namespace() -> None:
    """Although the reference has a field for another one."""
    elsewhere: Json = {"group": "", "kind": "Service", "name": "studio", "namespace": "television"}
    snapshot = edited(world(), "HealthCheckPolicy radio/studio", targetRef=elsewhere)
    assert states(analyze(snapshot))["HealthCheckPolicy radio/studio"] == ("NotPermitted", [])


def test_a_missing_target_is_reported() -> None:
    gone: Json = {"group": "", "kind": "Service", "name": "gone"}
    analysis = analyze(edited(world(), "HealthCheckPolicy radio/studio", targetRef=gone))
    assert reported(analysis, "HealthCheckPolicy radio/studio") == {"": {"Attached": ("False", "TargetNotFound", ())}}


def test_another_controllers_gateway_is_left_alone() -> None:
    """Services behind it as well; Pods and the mesh have no Gateway."""
    other = build.gateway_class("gke-l7-global-external-managed", "example.com/other")
    analysis = analyze(added(world("GatewayClass gke-l7-global-external-managed"), other))
    assert {name for name, (state, _) in states(analysis).items() if state != "NoEffect"} == {
        "GCPAuthzPolicy radio/mixer-only",
        "GCPClientTLSPolicy radio/everything",
        "GCPClientTLSPolicy radio/from-outside",
        "GCPServerTLSPolicy radio/studio",
    }
