"""What is known of the objects that objects of a kind create."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.makers import creations_of
from tests import build, fast_yaml
from tests.test_only_data import PACKAGE

if TYPE_CHECKING:
    from kubectl_policy.model import Resource

SECRET: Final = GroupKind("", "Secret")
GROUPS: Final[dict[str, Any]] = fast_yaml.load((PACKAGE / "profiles" / "makers.yaml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("kind", "created"),
    [
        # A kind that no file has may create anything.
        ("VirtualMachine.kubevirt.io", None),
        ("Cluster.postgresql.cnpg.io", None),
        ("HelmRelease.helm.toolkit.fluxcd.io", None),
        # Policies, by a profile or by their names, and what else has a profile.
        ("CiliumNetworkPolicy.cilium.io", {}),
        ("NoPolicy.example.com", {}),
        ("DestinationRule.networking.istio.io", {}),
        ("HTTPRouteFilter.gateway.envoyproxy.io", {}),
        ("EnvoyProxy.gateway.envoyproxy.io", {}),
        ("Backend.gateway.envoyproxy.io", {}),
        # Operators.
        ("ServiceMonitor.monitoring.coreos.com", {}),
        ("OCIRepository.source.toolkit.fluxcd.io", {}),
        ("Certificate.cert-manager.io", {SECRET: "spec.secretName"}),
        ("Certificate.example.com", None),
        ("ExternalSecret.external-secrets.io", {SECRET: "spec.target.name"}),
        (
            "ScaledObject.keda.sh",
            {GroupKind("autoscaling", "HorizontalPodAutoscaler"): ("spec.advanced.horizontalPodAutoscalerConfig.name")},
        ),
    ],
)
def test_what_a_kind_creates(kind: str, created: dict[GroupKind, str] | None) -> None:
    name, _, group = kind.partition(".")
    assert creations_of(())(GroupKind(group, name)) == created


def test_kinds_of_the_user() -> None:
    kind = GroupKind("example.com", "Machine")
    assert creations_of(())(kind) is None
    assert creations_of([PolicyKindProfile(kind, "direct", "profile")])(kind) == {}


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_evidence(group: str) -> None:
    content = GROUPS[group]
    assert content.keys() == {"evidence", "kinds"}
    assert all(source.startswith("https://") for source in content["evidence"])


def test_the_file_is_sorted() -> None:
    assert [*GROUPS] == sorted(GROUPS)


@pytest.mark.parametrize(
    ("maker", "hint"),
    [
        (("CiliumNetworkPolicy", "cilium.io"), ""),
        (("ServiceMonitor", "monitoring.coreos.com"), ""),
        (("Certificate", "cert-manager.io"), ""),
        (("VirtualMachine", "kubevirt.io"), "; VirtualMachine default/web may create it"),
    ],
)
def test_suspects(maker: tuple[str, str], hint: str) -> None:
    """Only what can create a Service is said to."""
    kind, group = maker
    policy: Resource = build.policy("p", build.target("web", "Service", group=""))
    world = analyze(build.snapshot(policy, build.resource(kind, "web", {"a": 1}, group=group)))
    message = world.index.absence.message(build.ref("Service", "web", group=""))
    assert message == f"Service default/web is not in the input{hint}"
    later = world.of_state(world.snapshot)
    assert later.index.absence.message(build.ref("Service", "web", group="")) == message
