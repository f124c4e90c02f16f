"""Builders of network policies and workloads for tests of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests import build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, Resource

_GROUP: Final = "policy.networking.k8s.io"
EVERYTHING: Final[Json] = {"namespaces": {}}


def labelled(**labels: str) -> Json:
    """A selector by labels."""
    return {"matchLabels": {**labels}}


def network_policy(name: str, subject: Json = None, *, namespace: str = "default", **spec: Json) -> Resource:
    """A NetworkPolicy; for all Pods of its namespace unless a selector is given."""
    fields = {"podSelector": subject or {}, **{key: value for key, value in spec.items() if value is not None}}
    return build.resource("NetworkPolicy", name, fields, group="networking.k8s.io", namespace=namespace)


def admin_policy(name: str, priority: int, subject: Json = EVERYTHING, **spec: Json) -> Resource:
    """An AdminNetworkPolicy; for all Pods unless a subject is given."""
    return build.resource("AdminNetworkPolicy", name, {"priority": priority, "subject": subject, **spec}, group=_GROUP)


def baseline_policy(name: str = "default", subject: Json = EVERYTHING, **spec: Json) -> Resource:
    """A BaselineAdminNetworkPolicy; for all Pods unless a subject is given."""
    return build.resource("BaselineAdminNetworkPolicy", name, {"subject": subject, **spec}, group=_GROUP)


def cluster_policy(name: str, priority: int, *, tier: str = "Admin", **spec: Json) -> Resource:
    """A ClusterNetworkPolicy for all Pods."""
    fields: Json = {"tier": tier, "priority": priority, "subject": EVERYTHING, **spec}
    return build.resource("ClusterNetworkPolicy", name, fields, group=_GROUP, apiVersion=f"{_GROUP}/v1alpha2")


def pod(
    name: str, labels: Mapping[str, str] | None = None, *, namespace: str = "default", ip: str = "", **spec: Json
) -> Resource:
    """A Pod; `app: NAME` is its label unless others are given."""
    status: Json = {"phase": "Running", "podIP": ip} if ip else None
    return build.resource(
        "Pod", name, spec or {}, group="", namespace=namespace, labels=labels or {"app": name}, status=status
    )


def with_ports(**ports: int | tuple[int, str]) -> Json:
    """Containers with named ports: their numbers, or numbers and protocols."""
    pairs = {name: port if isinstance(port, tuple) else (port, "TCP") for name, port in ports.items()}
    entries: Json = [
        {"name": name, "containerPort": number, "protocol": protocol} for name, (number, protocol) in pairs.items()
    ]
    return [{"name": "main", "ports": entries}]
