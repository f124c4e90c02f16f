"""Builders of workloads for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from kubectl_policy.model import Json, Resource
from kubectl_policy.model.index import Index
from kubectl_policy.model.kind_roles import KINDS
from kubectl_policy.topology.workloads import Workloads
from kubectl_policy.topology.workloads.pod_sets import PodSet, positions_in
from tests import build


def pod(
    name: str,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    address: str = "",
    status: Mapping[str, Json] | None = None,
    **spec: Json,
) -> Resource:
    """A Pod; further fields are those of its spec."""
    fields: dict[str, Json] = {"podIP": address} if address else {}
    return build.resource(
        "Pod", name, spec, group="", namespace=namespace, labels=labels, status={**fields, **(status or {})}
    )


def controller(kind: str, name: str, labels: Json = None, namespace: str = "default", **fields: Json) -> Resource:
    """A controller with the labels of its Pod template; further fields are those of its metadata."""
    group_kind = next(group_kind for group_kind in KINDS if group_kind.kind == kind)
    template: Json = {"metadata": {"labels": labels}} if labels is not None else {}
    spec: Json = {"template": template}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    return build.with_metadata(build.resource(kind, name, spec, group=group_kind.group, namespace=namespace), **fields)


def workloads(*resources: Resource, source: str = "the input", complete: bool = False) -> Workloads:
    """The workloads of some objects."""
    index = build.index(*resources, complete=complete)
    return Workloads(Index(replace(index.snapshot, source=source)))


def names(found: Workloads, members: int | Iterable[int]) -> list[str]:
    """The names of workloads by their positions."""
    positions = positions_in(members) if isinstance(members, int) else members
    return [found.all[position].ref.name for position in positions]


def split(found: Workloads, members: PodSet) -> tuple[list[str], list[str]]:
    """The names of certain members of a set, and of those that are not certain."""
    return names(found, members.certain), names(found, members.undecided)
