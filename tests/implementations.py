"""The fixture worlds of implementations, and their answers as plain values: settings, sources, states, conditions."""

from __future__ import annotations

from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from kubectl_policy import GroupKind, NodeRef, leaves, load_manifests, plain
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.model.kind_roles import GATEWAY, LISTENER_SETS, ROUTES
from kubectl_policy.questions.predicted_conditions import PolicyStatuses, target_conditions
from kubectl_policy.questions.shared.effects import affecting_or_undecided, covered_paths
from kubectl_policy.resolution import field_name
from tests import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy import Analysis, EffectivePolicy, ObjectRef, Resource, Snapshot
    from kubectl_policy.model import Json
    from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition

FIXTURES: Final = Path(__file__).parent.parent / "fixtures"
# A condition as people compare it: its status, its reason and what it is about.
Condition: TypeAlias = tuple[str, str, tuple[str, ...]]


@cache
def manifests(*worlds: str) -> Snapshot:
    """Return the objects of fixture worlds, as listed by a cluster; files are named from the root of the project."""
    paths = [path for world in worlds for path in sorted((FIXTURES / world).glob("*.yaml"))]
    with chdir(FIXTURES.parent):
        return build.listed(load_manifests([path.relative_to(FIXTURES.parent) for path in paths]))


def without(snapshot: Snapshot, *names: str) -> Snapshot:
    """A snapshot without some objects, given as `Kind namespace/name`; each of them is in it."""
    assert set(names) <= {str(resource.ref) for resource in snapshot.resources}
    return replace(
        snapshot, resources=tuple(resource for resource in snapshot.resources if str(resource.ref) not in names)
    )


def fixture_world(name: str) -> Callable[..., Snapshot]:
    """Return a function that returns a fixture world without the objects that are passed by name."""

    def world(*deleted: str) -> Snapshot:
        return without(manifests(name), *deleted)

    return world


def _changed(snapshot: Snapshot, name: str, change: Callable[[Resource], Resource]) -> Snapshot:
    assert name in {str(resource.ref) for resource in snapshot.resources}
    resources = (change(resource) if str(resource.ref) == name else resource for resource in snapshot.resources)
    return replace(snapshot, resources=tuple(resources))


def edited(snapshot: Snapshot, name: str, **fields: Json) -> Snapshot:
    """A snapshot in which fields of one object's spec are others; None takes a field away."""

    def edit(resource: Resource) -> Resource:
        spec = {**mapping_at(resource.raw, "spec"), **fields}
        kept: dict[str, Json] = {key: value for key, value in spec.items() if value is not None}
        return replace(resource, raw={**resource.raw, "spec": kept})

    return _changed(snapshot, name, edit)


def annotated(snapshot: Snapshot, name: str, annotations: Json) -> Snapshot:
    """A snapshot in which one object has annotations."""
    return _changed(snapshot, name, lambda resource: build.with_metadata(resource, annotations=annotations))


def added(snapshot: Snapshot, *resources: Resource) -> Snapshot:
    """Return a snapshot with more objects."""
    return replace(snapshot, resources=(*snapshot.resources, *resources))


def policy_ref(analysis: Analysis, name: str) -> ObjectRef:
    """The policy that is written `Kind namespace/name`."""
    (match,) = (ref for ref in analysis.attachments if str(ref) == name)
    return match


def places(analysis: Analysis) -> Iterator[NodeRef]:
    """Yield every listener and every rule."""
    for kind in (GATEWAY, *LISTENER_SETS, *ROUTES):
        for resource in analysis.index.of_kind(kind):
            for section in analysis.topology.sections(resource.ref):
                yield NodeRef(resource.ref, section)


def words(path: tuple[NodeRef, ...]) -> str:
    """Return the names of the nodes of a path, without Namespaces and the class."""
    left_out = {"Namespace", "GatewayClass"}
    return " > ".join(node.section or node.object.name for node in path if node.kind not in left_out)


def effective(analysis: Analysis, kind: str) -> dict[str, EffectivePolicy]:
    """The effective policy of a kind on every path at whose end it takes effect."""
    found = (effective for node in places(analysis) for effective in analysis.effective(node))
    return {
        words(each.path): each for each in found if str(each.resolution.kind) == kind and _takes_effect(analysis, each)
    }


def _takes_effect(analysis: Analysis, effective_policy: EffectivePolicy) -> bool:
    """Whether the kind takes effect at the end of the path itself, and not further down alone."""
    levels = analysis.registry.profile(effective_policy.resolution.kind).effective_targets
    return any(level.includes(effective_policy.target) for level in levels)


def settings(analysis: Analysis, kind: str) -> dict[str, dict[str, Json]]:
    """Return the effective settings of a kind on every path."""
    return {
        path: plain(effective_policy.resolution.spec) for path, effective_policy in effective(analysis, kind).items()
    }


def sources(analysis: Analysis, kind: str, path: str) -> dict[str, str]:
    """Return the policy that set each effective field of a kind on one path."""
    effective_policy = effective(analysis, kind)[path]
    return {
        field_name(field): leaf.source.object.qualified_name for field, leaf in leaves(effective_policy.resolution.spec)
    }


def states(analysis: Analysis) -> dict[str, tuple[str, list[str]]]:
    """Return the state of every policy, and the policies that beat it."""
    enforcements = {ref: analysis.enforcement(ref) for ref in analysis.attachments}
    return {
        str(ref): (outcome.state, [by.qualified_name for by in outcome.by]) for ref, outcome in enforcements.items()
    }


def reported(analysis: Analysis, policy: str) -> dict[str, dict[str, Condition]]:
    """Return the conditions that would be reported on a policy, by ancestor; "" is the policy's own status."""
    statuses = PolicyStatuses(analysis).of(policy_ref(analysis, policy))
    return {_place(found): _conditions(found.conditions) for found in statuses}


def affected(analysis: Analysis, node: NodeRef) -> dict[str, list[str]]:
    """The conditions that would be written on a target, with the policies that each names."""
    return {found.type: [str(related) for related in found.related] for found in target_conditions(analysis, node)}


def policy(kind: str, name: str, spec: dict[str, Json], *, namespace: str = "default", age: int = 1) -> Resource:
    """A policy of a kind, given as `Kind.group`."""
    short, _, group = kind.partition(".")
    return build.resource(short, name, spec, group=group, namespace=namespace, age=age)


def _place(status: AncestorStatus) -> str:
    return str(status.ancestor) if status.ancestor else ""


def _conditions(conditions: Iterable[PolicyCondition]) -> dict[str, Condition]:
    return {
        condition.type: (condition.status, condition.reason, tuple(map(str, condition.related)))
        for condition in conditions
    }


def spec_at(analysis: Analysis, kind: str, node: NodeRef) -> list[dict[str, Json]]:
    """Return the effective specs of a kind, given as `Kind.group`, at a node: each different one once, path by path."""
    short, _, group = kind.partition(".")
    found = [plain(each.resolution.spec) for each in analysis.effective(node, GroupKind(group, short))]
    return [spec for position, spec in enumerate(found) if spec not in found[:position]]


def affecting(analysis: Analysis, node: NodeRef) -> list[str]:
    """The policies that an answer about a node says it is affected by, as `Kind namespace/name`."""
    return [str(ref) for ref in affecting_or_undecided(analysis, node, covered_paths(analysis, node))[0]]
